"""The event that opens days outside the regular calendar, because somebody worked on them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from crewlearn.advisor.ledger.events.fact import Fact, FoldStep, Names, event_kind
from crewlearn.advisor.ledger.settings.opened_days import DayNumbers, numbers_from_json, numbers_to_json
from crewlearn.advisor.ledger.site import Site
from crewlearn.language import _, plural


@event_kind("days-opened")
@dataclass(frozen=True)
class DaysOpened(Fact):
    """Days before the calendar's start, on other weekdays or in closures were worked; each with its shifts' numbers."""

    days: DayNumbers

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "DaysOpened":
        """Rebuild the fact from its wire form."""
        return cls(numbers_from_json(payload["days"]))

    def to_payload(self) -> dict[str, Any]:
        """Return the wire form."""
        return {"days": numbers_to_json(self.days)}

    def apply(self, site: Site, step: FoldStep) -> Site:
        """Number the days; what was learned from later ones is forgotten, as their places in time move."""
        open_days(site, self.days, worked=True)
        site.undo = None
        return site

    def tell(self, names: Names) -> str:
        """Return what was done, in words."""
        first, last = min(self.days), max(self.days)
        when = f"{first}" if first == last else _("{first} to {last}", first=first, last=last)
        return _(
            "recorded {days} beside the planned ones as worked ({when})",
            days=plural("{n} day", "{n} days", len(self.days)),
            when=when,
        )


def open_days(site: Site, days: DayNumbers, *, worked: bool) -> None:
    """Number days in a site's calendar."""
    if not days:
        return
    calendar = site.config.calendar.with_opened(days, worked=worked)
    site.config = replace(site.config, calendar=calendar)
    if worked:
        site.forget_from(calendar.period_at(calendar.order_on(min(days))))
