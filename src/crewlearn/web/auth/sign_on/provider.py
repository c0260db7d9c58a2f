"""A provider of single sign-on: its metadata, its keys, and its token endpoint."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import requests
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.discovery import get_well_known_url
from joserfc.errors import JoseError
from joserfc.jwk import Key, KeySet

from crewlearn.advisor.ledger.notices.addresses import checked_url
from crewlearn.problem.errors import InvalidInput
from crewlearn.web.auth.sign_on.refusals import not_valid, unreachable
from crewlearn.web.settings import SignOn

SECONDS = 5.0
"""Seconds that the provider has to answer, and to send the next part of an answer."""

METADATA_SECONDS = 3600.0
KEYS_SECONDS = 600.0
"""How long metadata and keys are used without asking again: a key that was withdrawn is good for so long at most."""

REFETCH_SECONDS = 20.0
"""Keys are not fetched again sooner, however many tokens name keys that are not known."""

_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_OTHER_ENDPOINTS = ("userinfo_endpoint", "end_session_endpoint")


@dataclass(frozen=True)
class Metadata:
    """What a provider publishes of itself, as far as it is used."""

    authorization: str
    token: str
    keys: str
    userinfo: str | None
    end_session: str | None
    names_itself: bool
    """Whether its answers carry the `iss` parameter (RFC 9207)."""
    token_methods: tuple[str, ...]


@dataclass(frozen=True)
class Tokens:
    """What the token endpoint gives for a code."""

    id_token: str
    access_token: str


class Provider:
    """A provider, with what it publishes cached; threads may share it."""

    def __init__(self, settings: SignOn, clock: Callable[[], float] = time.monotonic) -> None:
        self.settings = settings
        self._clock = clock
        self._lock = threading.Lock()
        self._metadata: tuple[float, Metadata] | None = None
        self._keys: tuple[float, KeySet] | None = None

    def metadata(self) -> Metadata:
        """Return what the provider publishes, fetched at most an hour ago."""
        with self._lock:
            if self._metadata is None or self._clock() - self._metadata[0] > METADATA_SECONDS:
                address = get_well_known_url(self.settings.issuer, external=True)
                self._metadata = self._clock(), _metadata_of(self._get(address), self.settings.issuer)
            return self._metadata[1]

    def key(self, kid: str | None) -> Key:
        """Return the public key that a token names; one that is not known is looked for at the provider, now and then.

        A token without a name for its key is accepted only while the provider has a single one for signing.
        """
        address = self.metadata().keys
        with self._lock:
            age = float("inf") if self._keys is None else self._clock() - self._keys[0]
            if self._keys is None or age > KEYS_SECONDS or (age > REFETCH_SECONDS and not _chosen(self._keys[1], kid)):
                self._keys = self._clock(), _keys_of(self._get(address))
            key = _chosen(self._keys[1], kid)
        if key is None:
            raise not_valid(f"no key {kid!r} at {address}")
        return key

    def authorization_url(self, redirect_uri: str, state: str, nonce: str, verifier: str) -> str:
        """Return the address at the provider where a person signs in."""
        with self._session(redirect_uri) as session:
            url, _ = session.create_authorization_url(
                self.metadata().authorization, state=state, code_verifier=verifier, nonce=nonce
            )
        return str(url)

    def exchange(self, code: str, verifier: str, redirect_uri: str) -> Tokens:
        """Return the tokens for a code."""
        try:
            with self._session(redirect_uri) as session:
                answer = session.fetch_token(
                    self.metadata().token,
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=verifier,
                    allow_redirects=False,
                )
        except OAuthError as error:
            raise not_valid(f"the token endpoint refused the code ({error.error!r})") from error
        except (requests.RequestException, ValueError, KeyError, TypeError) as error:
            raise unreachable(f"the token endpoint failed ({type(error).__name__}: {error})") from error
        id_token, access_token = answer.get("id_token"), answer.get("access_token")
        if not isinstance(id_token, str):
            raise not_valid("the token endpoint gave no id_token")
        return Tokens(id_token, access_token if isinstance(access_token, str) else "")

    def userinfo(self, access_token: str) -> Mapping[str, Any]:
        """Return the claims that the provider tells apart from the token; none if it has no place for them."""
        address = self.metadata().userinfo
        if address is None or not access_token:
            return {}
        return self._get(address, {"Authorization": f"Bearer {access_token}"})

    def _session(self, redirect_uri: str) -> OAuth2Session:
        settings, methods = self.settings, self.metadata().token_methods
        method = "client_secret_basic" if not methods or "client_secret_basic" in methods else "client_secret_post"
        return OAuth2Session(
            settings.client_id,
            settings.client_secret or None,
            token_endpoint_auth_method=method if settings.client_secret else "none",
            scope=" ".join(settings.scopes),
            redirect_uri=redirect_uri,
            code_challenge_method="S256",
            default_timeout=SECONDS,
        )

    def _get(self, address: str, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return a JSON object at an address, without following redirects."""
        sent = {"Accept": "application/json", **(headers or {})}
        try:
            response = requests.get(address, headers=sent, auth=_as_it_is, timeout=SECONDS, allow_redirects=False)
            data = response.json() if response.status_code == 200 else None
        except (requests.RequestException, ValueError, RecursionError) as error:
            raise unreachable(f"{address} failed ({type(error).__name__}: {error})") from error
        if not isinstance(data, dict):
            raise unreachable(f"{address} answered {response.status_code} without a JSON object")
        return data


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Keep a request's own authorization, where requests would look for one in a .netrc file."""
    return request


def _metadata_of(data: Mapping[str, Any], issuer: str) -> Metadata:
    """Return a provider's metadata, which must be this issuer's own and lead to addresses that are safe to use."""
    if data.get("issuer") != issuer:
        raise unreachable(f"the metadata are of issuer {data.get('issuer')!r}, not of {issuer!r}")
    for name in (*_ENDPOINTS, *(name for name in _OTHER_ENDPOINTS if data.get(name) is not None)):
        try:
            checked_url(name, data.get(name) or "")
        except (InvalidInput, TypeError, AttributeError) as error:
            raise unreachable(f"the metadata have a bad address ({error})") from error
    methods = data.get("token_endpoint_auth_methods_supported")
    return Metadata(
        authorization=data["authorization_endpoint"],
        token=data["token_endpoint"],
        keys=data["jwks_uri"],
        userinfo=data.get("userinfo_endpoint"),
        end_session=data.get("end_session_endpoint"),
        names_itself=data.get("authorization_response_iss_parameter_supported") is True,
        token_methods=tuple(methods) if isinstance(methods, list) else (),
    )


def _keys_of(data: Mapping[str, Any]) -> KeySet:
    """Return the public keys for signatures; those of unknown kinds, and secret ones, are left out."""
    listed = data.get("keys")
    keys = []
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict) and one.get("kty") in ("RSA", "EC", "OKP") and one.get("use", "sig") == "sig":
            try:
                keys += KeySet.import_key_set({"keys": [one]}).keys
            except (JoseError, ValueError, TypeError, KeyError):
                continue
    return KeySet(keys)


def _chosen(keys: KeySet, kid: str | None) -> Key | None:
    fitting = [key for key in keys if kid is None or key.kid == kid]
    return fitting[0] if len(fitting) == 1 else None
