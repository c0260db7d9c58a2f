"""The event that keeps, replaces or removes a profile: how the site's files of one shape are read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crewlearn.advisor.ledger.events.fact import Fact, FoldStep, Names, event_kind
from crewlearn.advisor.ledger.site import Site
from crewlearn.language import _


@event_kind("import-profile-set")
@dataclass(frozen=True)
class ImportProfileSet(Fact):
    """A profile was set under its name, or removed if `profile` is None; advice does not depend on it.

    The profile is plain data, whose meaning the readers of files know.
    """

    name: str
    profile: Mapping[str, Any] | None

    invalidates = frozenset()

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "ImportProfileSet":
        """Rebuild the fact from its wire form."""
        return cls(payload["name"], payload.get("profile"))

    def to_payload(self) -> dict[str, Any]:
        """Return the wire form."""
        plain: dict[str, Any] = {"name": self.name}
        return plain if self.profile is None else {**plain, "profile": dict(self.profile)}

    def apply(self, site: Site, step: FoldStep) -> Site:
        """Set or remove the profile; the newest is last."""
        site.profiles.pop(self.name, None)
        if self.profile is not None:
            site.profiles[self.name] = dict(self.profile)
        return site

    def tell(self, names: Names) -> str:
        """Return what was done, in words."""
        done = _("kept how files are read as") if self.profile is not None else "removed"
        return _("{done} profile “{name}”", done=done, name=self.name)
