"""Users and their tokens as pages show them."""

from dataclasses import dataclass
from urllib.parse import quote

from crewlearn.advisor.ledger.store import Store
from crewlearn.language import _, plural
from crewlearn.web import formats
from crewlearn.web.auth import users
from crewlearn.web.auth.users import User


@dataclass(frozen=True)
class TokenView:
    """A token: what it is for, when it ends, and whether it is valid now."""

    id: int
    label: str
    expires: str
    state: str
    valid: bool


@dataclass(frozen=True)
class UserView:
    """A user with their tokens, the newest first."""

    name: str
    url: str
    role: str
    sites: str
    disabled: bool
    tokens: tuple[TokenView, ...]
    valid: str
    origin: str | None


def user_url(name: str) -> str:
    """Return the URL of a user's page."""
    return f"/users/{quote(name, safe='')}"


def listed_users(store: Store) -> list[UserView]:
    """Return all users, by name."""
    return [user_view(store, user) for user in sorted(users.list_users(store), key=lambda user: user.name.casefold())]


def user_view(store: Store, user: User) -> UserView:
    """Return a user as pages show them."""
    now = store.clock()
    tokens = []
    for token in reversed(user.tokens):
        valid = token.revoked is None and token.expires > now
        state = "valid" if valid else "revoked" if token.revoked is not None else "expired"
        when = token.expires.astimezone(now.tzinfo).date()
        tokens.append(TokenView(token.id, token.label, formats.day(when, now.date()), state, valid))
    count = sum(token.valid for token in tokens)
    return UserView(
        name=user.name,
        url=user_url(user.name),
        role=user.role,
        sites=_("all sites") if user.sites is None else ", ".join(user.sites),
        disabled=user.disabled,
        tokens=tuple(tokens),
        valid=plural("{n} token", "{n} tokens", count) if count else _("no token"),
        origin=user.origin,
    )
