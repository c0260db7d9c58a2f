"""The event that records an import of output."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crewlearn.advisor.ledger.events.fact import FoldStep, Happening, Names, event_kind
from crewlearn.advisor.ledger.events.output.learning import ObservedRow, add_rows, in_order, sum_again
from crewlearn.advisor.ledger.events.rows import RecordedRow, digest_of_rows, observation
from crewlearn.advisor.ledger.site import OPEN, REJECTED, WITHDRAWN, Proposal, Site
from crewlearn.advisor.ledger.site.advice_record import Cause
from crewlearn.language import _, localized, noted, plural
from crewlearn.problem.errors import InvalidInput

KEPT_PERIODS = 15
"""Periods that settled proposals stay in the state; those of this week stay longer, for the weekly limit.

Rejected and withdrawn ones stay for one period: at a firm that never answers they would pile up. The record has all.
"""


@event_kind("output-imported")
@dataclass(frozen=True)
class OutputImported(Happening):
    """An import of output: the file's digest, the number of rows, their digest, and how many were corrections."""

    digest: str
    rows: int
    rows_digest: str
    corrected: int
    warnings: tuple[str, ...]

    has_rows = True
    heading = noted("Output")
    invalidates = frozenset()

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "OutputImported":
        """Rebuild the fact from its wire form."""
        return cls(**{**payload, "warnings": tuple(payload["warnings"])})

    def to_payload(self) -> dict[str, Any]:
        """Return the wire form."""
        return {**vars(self), "warnings": list(self.warnings)}

    def cause(self) -> Cause:
        """Return the cause, without details."""
        return Cause(self.type, {})

    def change(self, site: Site, step: FoldStep) -> None:
        """Apply the rows: newer ones are added; corrected or late ones recompute the worker's sums by period."""
        rows, units, calendar = step.rows, site.config.units, site.config.calendar
        values = [observation(units, row) for row in rows] if step.observed is None else step.observed
        had_begun = site.has_begun
        place = {period: calendar.order_of(period) for period in {row.period for row in rows}}
        by_worker: dict[int, list[int]] = {}
        for index, row in enumerate(rows):
            by_worker.setdefault(row.worker, []).append(index)
        for number, indices in by_worker.items():
            worker = site.workers[number]
            indices.sort(key=lambda index: place[rows[index].period])
            if place[rows[indices[0]].period] > calendar.order_of(worker.recorded_to):
                add_rows(site, number, ((rows[index], values[index]) for index in indices))
            else:
                new = {rows[index].period: values[index] for index in indices}
                history = in_order(site, step.history(number))
                pairs = ((row, new[row.period] if row.period in new else observation(units, row)) for row in history)
                sum_again(site, number, pairs)
            newest = max(worker.recorded_to, rows[indices[-1]].period, key=calendar.order_of)
            site.set_worker(number, recorded_to=newest)
        first, last, coming = (*_ends(place), calendar.order_of(site.period))
        site.forget_from(first)
        if not had_begun or _is_earlier(site, first):
            if had_begun and not site.began:
                site.named_team = site.first_team
            _take_first_team(site, first, zip(rows, values, strict=True))
        if place[last] >= coming:
            seen = {row.worker: value for row, value in zip(rows, values, strict=True) if row.period == last}
            site.last_output = {worker: value for worker, value in seen.items() if value is not None}
            site.period = calendar.following(last)
            for number in [proposal.id for proposal in site.proposals.values() if _is_past(site, proposal)]:
                del site.proposals[number]
        site.changed = site.changed or place[first] < coming

    def tell(self, names: Names) -> str:
        """Return what was done, in words."""
        corrected = (
            _(", {corrected} of them corrections", corrected=localized(f"{self.corrected:,}")) if self.corrected else ""
        )
        return _(
            "recorded {rows}{corrected}",
            rows=plural("{n} row of output", "{n} rows of output", self.rows),
            corrected=corrected,
        )

    @classmethod
    def retell(cls, details: Mapping[str, Any], names: Names) -> str:
        """Describe the import."""
        return _("output was recorded")

    def fault(self, site: str, number: int, rows: Sequence[RecordedRow]) -> str | None:
        """Return a fault if the rows do not match their digest."""
        return (
            None
            if _have_digest(rows, self.rows_digest)
            else _("the rows of event {number} were altered", number=number)
        )


def _ends(place: Mapping[int, int]) -> tuple[int, int]:
    """Return the first and the last of periods, given their places in time."""
    return min(place, key=place.__getitem__), max(place, key=place.__getitem__)


def _is_earlier(site: Site, first: int) -> bool:
    """Return whether a day tells who was there first: no later than the first one so far, or before a named team."""
    order_of = site.config.calendar.order_of
    return order_of(first) <= order_of(site.began) if site.began else order_of(first) < 1


def _take_first_team(site: Site, first: int, rows: Iterable[ObservedRow]) -> None:
    """Note who was at work on the first day, where no first team was named by then."""
    team = set(site.first_team) if first == site.began else set[int]()
    for row, value in rows:
        if row.period == first and value is not None:
            team.add(row.worker)
        elif row.period == first:
            team.discard(row.worker)
    site.first_team, site.began = sorted(team), first


def _have_digest(rows: Sequence[RecordedRow], digest: str) -> bool:
    try:
        return digest_of_rows(rows) == digest
    except InvalidInput:  # PostgreSQL can hold NaN, which is never recorded
        return False


def _is_past(site: Site, proposal: Proposal) -> bool:
    """Return whether a proposal can be dropped from the state."""
    if proposal.status in OPEN:
        return False
    if proposal.status in (REJECTED, WITHDRAWN):
        return proposal.period + 1 < site.period
    calendar = site.config.calendar
    spans = (calendar.week_of, calendar.month_of) if site.config.limits_months else (calendar.week_of,)
    counts = any(span(proposal.decided_in) == span(site.period) for span in spans)
    return proposal.period + KEPT_PERIODS < site.period and not counts
