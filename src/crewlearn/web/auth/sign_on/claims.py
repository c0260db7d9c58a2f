"""Claims: what a provider says of a person, and the name, role and sites that follow from it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crewlearn.web.auth.access import ROLES
from crewlearn.web.auth.sign_on.refusals import SignOnRefused
from crewlearn.web.auth.users import LONGEST_NAME
from crewlearn.web.settings import SignOn

LONGEST_SUBJECT = 255
_NOT_IN_NAMES = re.compile(r"[^\w .@+-]+")


@dataclass(frozen=True)
class Entry:
    """A person who may come in: who they are at the provider, and what they may do here (sites None: all)."""

    subject: str
    name: str
    role: str
    sites: tuple[str, ...] | None


def entry_of(settings: SignOn, claims: Mapping[str, Any]) -> Entry:
    """Return the person that claims describe; refuse one without a role or a site here."""
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT or "\0" in subject:
        raise SignOnRefused("Single sign-on does not say who you are.", f"the subject {subject!r}")
    role = role_of(settings, claims)
    if role is None:
        held = values_of(claims, settings.role_claim)
        raise SignOnRefused(
            "Your account has no role here. Ask whoever runs this server.",
            f"subject {subject!r} has no mapped role; {settings.role_claim} is {held!r}",
            403,
        )
    sites = sites_of(settings, claims)
    if sites is not None and not sites:
        held = values_of(claims, settings.site_claim)
        raise SignOnRefused(
            "Your account has no site here. Ask whoever runs this server.",
            f"subject {subject!r} has no mapped site; {settings.site_claim} is {held!r}",
            403,
        )
    return Entry(subject, name_of(settings, claims), role, sites)


def values_of(claims: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return a claim's texts: one, a list's, or the keys of an object; a dotted name leads into objects.

    >>> values_of({"groups": ["a", 7, "b"]}, "groups"), values_of({"realm": {"roles": {"a": {}}}}, "realm.roles")
    (('a', 'b'), ('a',))
    >>> values_of({"https://example.org/role": "a"}, "https://example.org/role"), values_of({}, "groups")
    (('a',), ())
    """
    value: Any = claims.get(name)
    if value is None:
        value = claims
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
    values = [value] if isinstance(value, str) else value if isinstance(value, list | Mapping) else ()
    return tuple(text for text in values if isinstance(text, str))


def role_of(settings: SignOn, claims: Mapping[str, Any]) -> str | None:
    """Return the highest role that the role claim is mapped to, or None.

    >>> crew = SignOn("crew", "https://example.org", "id", roles={"leads": "manager", "all": "viewer"})
    >>> role_of(crew, {"groups": ["all", "leads", "others"]}), role_of(crew, {"groups": ["manager"]})
    ('manager', None)
    """
    roles = [settings.roles[value] for value in values_of(claims, settings.role_claim) if value in settings.roles]
    return max(roles, key=ROLES.index, default=None)


def sites_of(settings: SignOn, claims: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the sites that the site claim is mapped to, None for all; without a mapping its values are names of sites.

    >>> crew = SignOn("crew", "https://example.org", "id", site_claim="plant", sites={"7": ("north",), "hq": None})
    >>> sites_of(crew, {"plant": "7"}), sites_of(crew, {"plant": ["7", "hq"]}), sites_of(crew, {"plant": "north"})
    (('north',), None, ())
    """
    if not settings.site_claim:
        return None
    values = values_of(claims, settings.site_claim)
    if not settings.sites:
        return tuple(dict.fromkeys(values))
    sites: list[str] = []
    for mapped in (settings.sites[value] for value in values if value in settings.sites):
        if mapped is None:
            return None
        sites += mapped
    return tuple(dict.fromkeys(sites))


def name_of(settings: SignOn, claims: Mapping[str, Any]) -> str:
    """Return the name for the record: that of the name claim, or else the address or the subject.

    >>> name_of(SignOn("crew", "https://example.org", "id"), {"preferred_username": "PLANT\\\\ann <b>", "sub": "7"})
    'PLANT_ann _b_'
    """
    for claim in (settings.name_claim, "email", "sub"):
        for value in values_of(claims, claim):
            name = _NOT_IN_NAMES.sub("_", value)[:LONGEST_NAME].strip()
            if name:
                return name
    return "somebody"  # a subject of blanks


def complete(settings: SignOn, claims: Mapping[str, Any]) -> bool:
    """Return whether the claims that settings name are all there, or must be asked for."""
    wanted = [settings.name_claim, settings.role_claim, *([settings.site_claim] if settings.site_claim else [])]
    return all(values_of(claims, claim) for claim in wanted)
