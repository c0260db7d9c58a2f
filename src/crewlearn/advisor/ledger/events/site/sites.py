"""Events about a site as a whole: it was set up, its settings changed, or the range of its output."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crewlearn.advisor.ledger.events.fact import Fact, FoldStep, Happening, Names, event_kind
from crewlearn.advisor.ledger.events.output.learning import in_order, sum_again
from crewlearn.advisor.ledger.events.rows import RecordedRow, observation
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.site import PROPOSED, WITHDRAWN, FormerUnits, Site, Worker
from crewlearn.language import _, noted


@event_kind("site-created")
@dataclass(frozen=True)
class SiteCreated(Fact):
    """A site was set up; every record begins with this."""

    site: str
    config: SiteConfig

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "SiteCreated":
        """Rebuild the fact from its wire form."""
        return cls(payload["site"], SiteConfig.from_json(payload["config"]))

    def to_payload(self) -> dict[str, Any]:
        """Return the wire form."""
        return {"site": self.site, "config": self.config.to_json()}

    def begin(self) -> Site:
        """Return the site with nobody in it."""
        return Site.empty(self.config)

    def apply(self, site: Site, step: FoldStep) -> Site:
        """Return a new site."""
        return self.begin()

    def tell(self, names: Names) -> str:
        """Return what was done, in words."""
        return _("set the site up")

    def fault(self, site: str, number: int, rows: Sequence[RecordedRow]) -> str | None:
        """Return a fault if the record belongs to another site."""
        return None if site == self.site else _("the record is that of site {site}", site=self.site)


@event_kind("site-changed")
@dataclass(frozen=True)
class SiteChanged(Happening):
    """Settings changed: `changes` are those that did, as `SiteConfig.to_json` writes them.

    `period` is the first one they apply to; the oldest records lack it.
    """

    changes: Mapping[str, Any]
    period: int | None = None

    heading = noted("Settings")

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "SiteChanged":
        """Rebuild the fact from its wire form."""
        return cls(dict(payload["changes"]), payload.get("period"))

    def to_payload(self) -> dict[str, Any]:
        """Return the wire form."""
        plain: dict[str, Any] = {"changes": dict(self.changes)}
        return plain if self.period is None else {**plain, "period": self.period}

    def config_after(self, before: SiteConfig) -> SiteConfig:
        """Return the settings after the change; days that were opened stay open."""
        after = SiteConfig.from_json({**before.to_json(), **self.changes})
        return replace(after, calendar=replace(after.calendar, opened=before.calendar.opened))

    def change(self, site: Site, step: FoldStep) -> None:
        """Apply the new settings; a new policy starts without memory."""
        before = site.config
        site.config = self.config_after(before)
        if site.config.units.value_per_unit != before.units.value_per_unit:
            earlier = [(since, value) for since, value in site.values if since < site.period]
            site.values = [*earlier, (site.period, site.config.units.value_per_unit)]
        if site.config.team != before.team:
            site.roster = site.roster.resized(site.config.team)
            site.checkpoints = []  # what is learned may depend on the number of stations
        if (site.config.policy, site.config.conventions) != (before.policy, before.conventions):
            site.memory = site.after = None
            site.checkpoints = []
        site.revised = True

    def tell(self, names: Names) -> str:
        """Return what was done, in words."""
        return _("changed {what}", what=", ".join(_setting(name, value) for name, value in self.changes.items()))

    @classmethod
    def retell(cls, details: Mapping[str, Any], names: Names) -> str:
        """Return which settings changed."""
        return _("the site's {what} changed", what=", ".join(name.replace("_", " ") for name in details["changes"]))


@event_kind("range-changed")
@dataclass(frozen=True)
class RangeChanged(SiteChanged):
    """Settings changed, and among them what counts as 0 and as 1, or the hours of a period.

    Everything that was learned is learned anew from the units on record. Money keeps the units of its day. Reasons of
    earlier proposals stay in the former units, so proposals that wait for an answer are withdrawn and made anew.
    """

    def change(self, site: Site, step: FoldStep) -> None:
        """Apply the new settings; convert prior data, and measure every recorded row again."""
        before = site.config.units
        super().change(site, step)
        units = site.config.units
        last = max((worker.recorded_to for worker in site.workers), key=site.config.calendar.order_of, default=0)
        site.former_units.append(FormerUnits(site.period, site.next_proposal, before))
        latest = dict[int, float | None]()
        for number, worker in enumerate(site.workers):
            if worker.prior_n:
                site.set_worker(number, **_converted(before, units, worker))
            rows = [(row, observation(units, row)) for row in in_order(site, step.history(number))]
            sum_again(site, number, rows)
            if rows and rows[-1][0].period == last:
                latest[number] = rows[-1][1]
        site.last_output = {number: value for number, value in latest.items() if value is not None}
        for proposal in site.open_proposals(PROPOSED):
            site.set_proposal(proposal.id, status=WITHDRAWN)
        site.checkpoints = []
        if site.policy.interview(site.setting()) is None:  # interviews are not paid again
            site.memory = site.after = None

    @classmethod
    def retell(cls, details: Mapping[str, Any], names: Names) -> str:
        """Return what changed, in words."""
        return _("the output range changed")


def _converted(before: Units, after: Units, worker: Worker) -> dict[str, float]:
    """Return the mean of a worker's earlier observations in the new units; older records have it only as clipped."""
    given = before.people_output(worker.prior_mean) if worker.prior_given is None else worker.prior_given
    if (before.hours_per_period is None) != (after.hours_per_period is None):  # it was an amount, and is a rate now
        given *= (before.hours_per_period or 1.0) / (after.hours_per_period or 1.0)
    hour = None if after.hours_per_period is None else 1.0
    return {"prior_given": given, "prior_mean": after.policy_output(given, hour).value}


def _setting(name: str, value: Any) -> str:
    """Format a setting's new value for people.

    >>> _setting("fee", 1510.0), _setting("most_a_week", None), _setting("rolling", True), _setting("units", {})
    ('fee to 1,510', 'most a week to none', 'rolling to yes', 'units')
    """
    called = name.replace("_", " ")
    if isinstance(value, (dict, list)):
        return called
    if value is None or isinstance(value, bool):
        return _("{called} to {what}", called=called, what="none" if value is None else "yes" if value else "no")
    return _("{called} to {what}", called=called, what=value if isinstance(value, str) else f"{value:,.10g}")
