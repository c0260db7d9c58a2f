"""The file that describes a provider of single sign-on."""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crewlearn.advisor.ledger.notices.addresses import checked_url
from crewlearn.advisor.ledger.text import checked_text
from crewlearn.problem.errors import InvalidInput, one_of, real, whole
from crewlearn.web.auth.access import ROLES
from crewlearn.web.settings import SignOn

SECRET = "CREWLEARN_SIGN_ON_SECRET"
"""The environment variable of a client's secret; `_` and a provider's name in capitals make it that provider's."""

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")
_LONGEST = 500
_TEXTS = ("client_id", "label", "name_claim", "role_claim", "site_claim")
_KEYS = {
    *("name", "issuer", "client_secret_file", "scopes", "roles", "sites"),
    *("clock_skew_seconds", "session_hours", "log_out"),
    *_TEXTS,
}


def read_sign_on(path: Path, environment: Mapping[str, str] = os.environ) -> SignOn:
    """Return a provider as a TOML file describes it; its secret comes from the environment or a file of its own."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput("sign_on", str(path), f"cannot be read as TOML ({str(error)[:200]})") from error
    for key in data:
        if key not in _KEYS:
            raise InvalidInput("sign_on", key, f"is not a setting of single sign-on. Known: {', '.join(sorted(_KEYS))}")
    name = _text("name", data.get("name", "company"))
    if not _NAME.fullmatch(name):
        raise InvalidInput("name", name, "must be at most 40 small letters, digits and hyphens, for the addresses")
    values: dict[str, Any] = {key: _text(key, data[key]) for key in _TEXTS if key in data}
    if not values.get("client_id"):
        raise InvalidInput("client_id", data.get("client_id"), "must be the id that the provider gave this server")
    return SignOn(
        name=name,
        issuer=_issuer(data.get("issuer")),
        client_secret=_secret(name, data, path, environment),
        scopes=_scopes(data.get("scopes", list(SignOn.scopes))),
        roles=_roles(data.get("roles")),
        sites=_sites(data),
        clock_skew=whole("clock_skew_seconds", data.get("clock_skew_seconds", 60), 0, 600),
        session_hours=real("session_hours", data.get("session_hours", 12.0), 0, 24 * 31, above=True),
        log_out=_flag("log_out", data.get("log_out", True)),
        **values,
    )


def _issuer(value: Any) -> str:
    issuer = _text("issuer", value if value is not None else "")
    checked_url("issuer", issuer)
    if "?" in issuer:
        raise InvalidInput("issuer", issuer, "must be the provider's issuer, which has no query")
    return issuer


def _secret(name: str, data: Mapping[str, Any], path: Path, environment: Mapping[str, str]) -> str:
    """Return the client's secret; none is needed by a provider that knows the server as a public client."""
    if "client_secret_file" in data:
        file = path.parent / _text("client_secret_file", data["client_secret_file"])
        try:
            return file.read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            raise InvalidInput("client_secret_file", str(file), f"cannot be read ({error})") from error
    own = f"{SECRET}_{name.upper().replace('-', '_')}"
    return environment.get(own) or environment.get(SECRET, "")


def _scopes(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or "openid" not in value:
        raise InvalidInput("scopes", value, 'must be a list with "openid" in it')
    for scope in value:
        if not isinstance(scope, str) or not scope.isascii() or not scope.isprintable() or " " in scope or not scope:
            raise InvalidInput("scopes", scope, "must be a word")
    return tuple(value)


def _roles(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not value:
        raise InvalidInput(
            "roles", value, "must map values of the role claim to roles: without any, nobody could sign in"
        )
    return {claim: one_of(f"roles.{claim}", role, ROLES) for claim, role in value.items()}


def _sites(data: Mapping[str, Any]) -> dict[str, tuple[str, ...] | None]:
    value = data.get("sites", {})
    if not isinstance(value, dict):
        raise InvalidInput("sites", value, 'must map values of the site claim to lists of sites, or to "*" for all')
    if value and not data.get("site_claim"):
        raise InvalidInput("site_claim", data.get("site_claim"), "must name the claim that sites are mapped from")
    sites: dict[str, tuple[str, ...] | None] = {}
    for claim, names in value.items():
        if names != "*" and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            raise InvalidInput(f"sites.{claim}", names, 'must be a list of sites, or "*" for all')
        sites[claim] = None if names == "*" else tuple(names)
    return sites


def _flag(field: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(field, value, "must be true or false")
    return value


def _text(field: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidInput(field, value, "must be a text")
    return checked_text(field, value, _LONGEST)
