"""The event that records an import of output."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crewlearn.advisor.ledger.advice_record import Cause
from crewlearn.advisor.ledger.events.fact import FoldStep, Happening, Names, event_kind
from crewlearn.advisor.ledger.events.learning import ObservedRow, add_rows, sum_again
from crewlearn.advisor.ledger.events.rows import RecordedRow, digest_of_rows, observation
from crewlearn.advisor.ledger.site import OPEN, REJECTED, WITHDRAWN, Proposal, Site
from crewlearn.advisor.ledger.text import counted
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
    heading = "Output"
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
        rows, units, late = step.rows, site.config.units, False
        values = [observation(units, row) for row in rows] if step.observed is None else step.observed
        by_worker: dict[int, list[int]] = {}
        for place, row in enumerate(rows):
            by_worker.setdefault(row.worker, []).append(place)
            late = late or row.period < site.period
        for number, places in by_worker.items():
            worker = site.workers[number]
            places.sort(key=lambda place: rows[place].period)
            if rows[places[0]].period > worker.recorded_to:
                add_rows(site, number, ((rows[place], values[place]) for place in places))
            else:
                new = {rows[place].period: values[place] for place in places}
                history = step.history(number)
                pairs = ((row, new[row.period] if row.period in new else observation(units, row)) for row in history)
                sum_again(site, number, pairs)
            site.set_worker(number, recorded_to=max(worker.recorded_to, rows[places[-1]].period))
        first, last = min(row.period for row in rows), max(row.period for row in rows)
        site.forget_from(first)
        if not site.has_begun or first <= site.began:
            _take_first_team(site, first, zip(rows, values, strict=True))
        if last >= site.period:
            seen = {row.worker: value for row, value in zip(rows, values, strict=True) if row.period == last}
            site.last_output = {worker: value for worker, value in seen.items() if value is not None}
            site.period = last + 1
            for number in [proposal.id for proposal in site.proposals.values() if _is_past(site, proposal)]:
                del site.proposals[number]
        site.changed = site.changed or late

    def tell(self, names: Names) -> str:
        """Return what was done, in words."""
        corrected = f", {self.corrected:,} of them corrections" if self.corrected else ""
        return f"recorded {counted(self.rows, 'row of output', 'rows of output')}{corrected}"

    @classmethod
    def retell(cls, details: Mapping[str, Any], names: Names) -> str:
        """Describe the import."""
        return "output was recorded"

    def fault(self, site: str, number: int, rows: Sequence[RecordedRow]) -> str | None:
        """Return a fault if the rows do not match their digest."""
        return None if _have_digest(rows, self.rows_digest) else f"the rows of event {number} were altered"


def _take_first_team(site: Site, first: int, rows: Iterable[ObservedRow]) -> None:
    """Note who was at work on the first day, where no first team was named."""
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
