"""The code flow: from a browser to the provider, and back with a proof of who somebody is."""

import base64
import hmac
import json
import secrets
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any
from urllib.parse import urlencode

from crewlearn.advisor.ledger.errors import StoreBusy
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.auth.access import Caller
from crewlearn.web.auth.secrets import now_of
from crewlearn.web.auth.sign_on import accounts, claims, id_tokens
from crewlearn.web.auth.sign_on.provider import Provider
from crewlearn.web.auth.sign_on.refusals import SignOnRefused, not_valid, unmatched, unreachable
from crewlearn.web.settings import Settings

LONGEST_COOKIE = 4000
_AT_ONCE = threading.BoundedSemaphore(8)
"""So many threads wait for providers at a time: others need them."""


@dataclass(frozen=True)
class Pending:
    """A sign-in that was begun; the browser that began it keeps this, and nobody else has it."""

    provider: str
    state: str
    nonce: str
    verifier: str
    next: str


def redirect_uri(settings: Settings, name: str) -> str:
    """Return the address that a provider sends people back to; each provider has its own."""
    return f"{settings.url}/sign-on/{name}/callback"


def begin(settings: Settings, provider: Provider, next: str) -> tuple[str, str]:
    """Return the address at the provider to go to, and the cookie for the way back."""
    pending = Pending(provider.settings.name, _random(), _random(), _random(), next)
    with _asking():
        url = provider.authorization_url(
            redirect_uri(settings, pending.provider), pending.state, pending.nonce, pending.verifier
        )
    return url, base64.urlsafe_b64encode(json.dumps(asdict(pending)).encode()).decode()


def pending_in(cookie: str | None) -> Pending | None:
    """Return the sign-in that a cookie keeps, or None."""
    if not cookie or len(cookie) > LONGEST_COOKIE:
        return None
    try:
        data = json.loads(base64.urlsafe_b64decode(cookie.encode()))
        pending = Pending(**{name: str(value) for name, value in data.items()})
        "".join(asdict(pending).values()).encode()  # half a character is refused
        return pending
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def finish(
    store: Store, settings: Settings, provider: Provider, pending: Pending | None, answer: Mapping[str, str]
) -> tuple[Caller, str]:
    """Return the person whom a provider's answer brings back, and their new session's secret.

    The answer must fit the sign-in that this browser began, with this provider.
    """
    own = provider.settings
    if pending is None:
        raise unmatched("an answer without a sign-in that was begun")
    if pending.provider != own.name:
        raise unmatched(f"an answer at {own.name} to a sign-in with {pending.provider!r}")
    if not hmac.compare_digest(pending.state.encode(), answer.get("state", "").encode()):
        raise unmatched("an answer with another state")
    with _asking():
        _check_issuer(provider, answer)
        if "error" in answer:
            raise SignOnRefused("Single sign-on did not let you in.", f"the provider answered {answer['error']!r}", 403)
        if not answer.get("code"):
            raise not_valid("an answer without a code")
        tokens = provider.exchange(answer["code"], pending.verifier, redirect_uri(settings, own.name))
        known = id_tokens.verified(provider, tokens, pending.nonce, now_of(store))
        if not claims.complete(own, known):
            known = _with_userinfo(known, provider.userinfo(tokens.access_token))
    try:
        entry = claims.entry_of(own, known)
        begin = partial(accounts.sign_in, store, settings, own, entry, pending.state, tokens.id_token)
        try:
            return begin()
        except StoreBusy:  # such as for the same person's first sign-in in another window
            return begin()
    except StoreBusy as error:
        raise unreachable(f"the store is busy: {error}") from error
    except SignOnRefused as error:
        if error.status == 403:
            accounts.end_sessions(store, own, str(known["sub"]))
        raise


def farewell_url(settings: Settings, provider: Provider, id_token: str) -> str | None:
    """Return the address where a person ends their session with the provider too, or None if there is none."""
    if not provider.settings.log_out:
        return None
    try:
        with _asking():
            address = provider.metadata().end_session
    except SignOnRefused:
        return None
    if address is None:
        return None
    said = {
        "client_id": provider.settings.client_id,
        "id_token_hint": id_token,
        "post_logout_redirect_uri": f"{settings.url}/sign-in",
    }
    return f"{address}{'&' if '?' in address else '?'}{urlencode(said)}"


def _check_issuer(provider: Provider, answer: Mapping[str, str]) -> None:
    """Refuse an answer of another issuer: its code must not be sent to this one's endpoint (RFC 9207)."""
    issuer = answer.get("iss")
    if issuer is None and provider.metadata().names_itself:
        raise not_valid("an answer that does not name its issuer")
    if issuer is not None and issuer != provider.settings.issuer:
        raise not_valid(f"an answer of the issuer {issuer!r}")


def _with_userinfo(known: Mapping[str, Any], told: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the claims of a token with those that the provider told apart; the token's own stay."""
    if not told:
        return known
    if told.get("sub") != known["sub"]:
        raise not_valid(f"user information of {told.get('sub')!r}, not of {known['sub']!r}")
    return {**told, **known}


def _random() -> str:
    return secrets.token_urlsafe(32)


@contextmanager
def _asking() -> Iterator[None]:
    """Wait for a provider, unless too many do so already."""
    if not _AT_ONCE.acquire(blocking=False):
        raise unreachable("too many people sign in at once")
    try:
        yield
    finally:
        _AT_ONCE.release()
