"""The event that records the team as it is: who took, left or held a station outside advice, and when."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from crewlearn.advisor.ledger.events.advice.offers import start
from crewlearn.advisor.ledger.events.fact import FoldStep, Happening, Names, Stints, event_kind
from crewlearn.advisor.ledger.events.site.days import open_days
from crewlearn.advisor.ledger.settings.opened_days import DayNumbers, numbers_from_json, numbers_to_json
from crewlearn.advisor.ledger.site import LEFT, POOL, PROPOSED, STARTED, UNDER_WAY, WITHDRAWN, Proposal, Site
from crewlearn.advisor.ledger.site.advice_record import Cause
from crewlearn.advisor.ledger.team.stints import Change, Held, Seat, Stint, painted, rewritten, seats_of
from crewlearn.language import _, noted, plural
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import one_of

TOOK, LEAVING, NAMED, FROM_FILE, FROM_OUTPUT = "took", "left", "set", "file", "output"
SOURCES = (TOOK, LEAVING, NAMED, FROM_FILE, FROM_OUTPUT)
"""How the team is known: somebody took or left a station, the whole team was named, a file, or who had output."""

_FIRST_DAY_KNOWN = (TOOK, FROM_FILE)
_REASON = "the team changed outside advice"
_FEW = 3


@dataclass(frozen=True)
class Settled:
    """An offer under way that a change of the team settled: its outcome, and on a start who made room."""

    proposal: int
    outcome: str
    leaver: int = NOBODY


@event_kind("team-recorded")
@dataclass(frozen=True)
class TeamRecorded(Happening):
    """Who held which station outside advice: `spans` are laid over what was recorded, one after another.

    `days` are dates of these changes that have no number yet. `settled` are offers to people who hold a station now.
    """

    spans: tuple[Held, ...]
    source: str
    days: DayNumbers = field(default_factory=dict)
    settled: tuple[Settled, ...] = ()

    heading = noted("Team")

    def __post_init__(self) -> None:
        one_of("source", self.source, SOURCES)

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "TeamRecorded":
        """Rebuild the fact from its wire form."""
        return cls(
            tuple(Held(*span) for span in payload["spans"]),
            payload["source"],
            numbers_from_json(payload.get("days", {})),
            tuple(Settled(*settled) for settled in payload.get("settled", ())),
        )

    def to_payload(self) -> dict[str, Any]:
        """Return the wire form."""
        plain: dict[str, Any] = {"source": self.source}
        plain["spans"] = [[span.station, span.worker, span.since, span.until] for span in self.spans]
        if self.days:
            plain["days"] = numbers_to_json(self.days)
        if self.settled:
            plain["settled"] = [[settled.proposal, settled.outcome, settled.leaver] for settled in self.settled]
        return plain

    def cause(self) -> Cause:
        """Return the cause, without details, which would be too many."""
        return Cause(self.type, {})

    def change(self, site: Site, step: FoldStep) -> None:
        """Seat people as recorded; proposals and offers that no longer fit are withdrawn or settled."""
        open_days(site, self.days, worked=False)
        after = painted(step.stints(), self.spans, site.config.calendar)
        seats = seats_of(after, site)
        for settled in self.settled:
            self._settle(site, settled, dict(seats))
        self._reseat(site, seats)
        for proposal in site.open_proposals(PROPOSED):
            if not _fits(site, proposal):
                site.set_proposal(proposal.id, status=WITHDRAWN, reason=_REASON)
        for proposal in site.open_proposals(*UNDER_WAY):
            if proposal.out != NOBODY and proposal.out not in site.roster.active:
                site.set_proposal(proposal.id, out=NOBODY)  # the hire fills the empty station
        self._note_first_days(site, after)
        first = min((span.since for span in self.spans), key=site.config.calendar.moment_of)
        site.forget_from(first)
        site.changed = site.revised = True

    def _settle(self, site: Site, settled: Settled, since: Mapping[int, int]) -> None:
        """Settle an offer to somebody who holds a station now."""
        proposal = site.proposals[settled.proposal]
        if settled.outcome == STARTED:
            start(site, proposal, settled.leaver, since[proposal.into])
        else:
            site.failed.append((proposal.out, proposal.into))
            site.set_proposal(proposal.id, status=settled.outcome, settled_in=site.period, reason=_REASON)

    def _reseat(self, site: Site, seats: Sequence[Seat]) -> None:
        """Make the roster, and what is known of each worker, follow the seats."""
        before = set(site.roster.active)
        arrived = sum(settled.outcome == STARTED for settled in self.settled)
        site.roster, site.seats = site.roster.reseated([worker for worker, _ in seats], arrived), list(seats)
        for worker, since in seats:
            if worker != NOBODY:
                status = site.workers[worker].status
                site.set_worker(worker, since=since, status=POOL if status == LEFT else status)
        for worker in before - set(site.roster.active):
            site.set_worker(worker, since=0)

    def _note_first_days(self, site: Site, stints: Sequence[Stint]) -> None:
        """Note the first days that are known, and who was there at the start if there is no output to tell it."""
        calendar = site.config.calendar
        if self.source in _FIRST_DAY_KNOWN:
            for worker in {span.worker for span in self.spans} - {NOBODY}:
                begun = [stint.since for stint in stints if stint.worker == worker]
                if begun:
                    site.first_days[worker] = min(begun, key=calendar.moment_of)
        if not site.has_output:
            later = {worker for worker, since in site.first_days.items() if calendar.order_of(since) > 1}
            site.first_team = [worker for worker in site.roster.active if worker not in later]
        if site.checkpoints and (self.source in _FIRST_DAY_KNOWN or not site.has_output):
            site.checkpoints = []

    def stint_changes(self, stints: Stints, seats: Sequence[Seat], site: Site) -> list[Change]:
        """Return how stints change."""
        before = stints()
        return list(rewritten(before, painted(before, self.spans, site.config.calendar)))

    def leavers(self) -> Collection[int]:
        """Return nobody: who leaves a station stays in the pool."""
        return ()

    def tell(self, names: Names) -> str:
        """Return what was done, in words."""
        if self.source == FROM_OUTPUT:
            return _(
                "took the team from the output: {spans}", spans=plural("{n} change", "{n} changes", len(self.spans))
            )
        if len(self.spans) > _FEW:
            return _("recorded the team: {spans}", spans=plural("{n} change", "{n} changes", len(self.spans)))
        return _("recorded that {what}", what="; ".join(_told(span, names) for span in self.spans))

    @classmethod
    def retell(cls, details: Mapping[str, Any], names: Names) -> str:
        """Describe the change."""
        return _("the team changed outside advice")


def _fits(site: Site, proposal: Proposal) -> bool:
    """Return whether a proposal can still be followed."""
    active = site.roster.active
    return proposal.into not in active and (proposal.out == NOBODY or proposal.out in active)


def _told(span: Held, names: Names) -> str:
    until = "" if span.until is None else _(" until before {until}", until=names.day(span.until))
    if span.worker == NOBODY:
        return _(
            "station {station} is empty from {since}{until}",
            station=span.station + 1,
            since=names.day(span.since),
            until=until,
        )
    return _(
        "{person} is at station {station} from {since}{until}",
        person=names.person(span.worker),
        station=span.station + 1,
        since=names.day(span.since),
        until=until,
    )


def settlements(site: Site, seats: Sequence[Seat]) -> tuple[Settled, ...]:
    """Return how offers under way end whose incoming worker holds a station by these seats.

    Somebody who took the station after the approval has started; if they were there before, the offer is void.
    """
    since, order_of = dict(seats), site.config.calendar.order_of
    settled = []
    for proposal in site.open_proposals(*UNDER_WAY):
        if proposal.into not in since:
            continue
        if order_of(since[proposal.into]) >= order_of(proposal.decided_in):
            leaver = proposal.out if proposal.out in site.roster.active and proposal.out not in since else NOBODY
            settled.append(Settled(proposal.id, STARTED, leaver))
        else:
            settled.append(Settled(proposal.id, "cancelled"))
    return tuple(settled)
