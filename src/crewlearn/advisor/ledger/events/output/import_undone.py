"""The event that takes an import of output back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crewlearn.advisor.ledger.events.fact import FoldStep, Happening, Names, event_kind
from crewlearn.advisor.ledger.events.output.learning import in_order, sum_again
from crewlearn.advisor.ledger.events.rows import observation
from crewlearn.advisor.ledger.site import Site
from crewlearn.advisor.ledger.site.advice_record import Cause
from crewlearn.language import _, noted, plural


@event_kind("import-undone")
@dataclass(frozen=True)
class ImportUndone(Happening):
    """The import of event `number` was taken back: its rows no longer count, and those it corrected count again.

    The rows stay in the store. When the event is applied, its step has the rows taken back.
    """

    number: int
    rows: int
    corrected: int

    heading = noted("Imports taken back")
    invalidates = frozenset()

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "ImportUndone":
        """Rebuild the fact from its wire form."""
        return cls(payload["number"], payload["rows"], payload["corrected"])

    def to_payload(self) -> dict[str, Any]:
        """Return the wire form."""
        return dict(vars(self))

    def cause(self) -> Cause:
        """Return the cause, without details."""
        return Cause(self.type, {})

    def change(self, site: Site, step: FoldStep) -> None:
        """Count without the rows; if no row is left of the last periods, the coming period is an earlier one again.

        Days that were opened for the import stay open.
        """
        units, calendar = site.config.units, site.config.calendar
        for number in sorted({row.worker for row in step.rows}):
            rows = in_order(site, step.history(number))
            sum_again(site, number, ((row, observation(units, row)) for row in rows))
            site.set_worker(number, recorded_to=rows[-1].period if rows else 0)
        periods = {row.period for row in step.rows}
        site.forget_from(min(periods, key=calendar.order_of))
        if site.began in periods:
            _take_first_team_again(site, step)
        last = max((worker.recorded_to for worker in site.workers), key=calendar.order_of)
        coming = calendar.following(last) if last else 1
        if coming < site.period:  # both are regular periods, whose numbers follow dates
            site.period, site.decided, site.last_output = coming, min(site.decided, coming), {}
        site.changed = site.revised = True

    def tell(self, names: Names) -> str:
        """Return what was done, in words."""
        again = (
            _(
                "; {corrected} that it had corrected count again",
                corrected=plural("{n} row", "{n} rows", self.corrected),
            )
            if self.corrected
            else ""
        )
        return _(
            "took back import {number}, {rows}{again}",
            number=self.number,
            rows=plural("{n} row of output", "{n} rows of output", self.rows),
            again=again,
        )

    @classmethod
    def retell(cls, details: Mapping[str, Any], names: Names) -> str:
        """Describe the undo."""
        return _("an import of output was taken back")


def _take_first_team_again(site: Site, step: FoldStep) -> None:
    """Note who was at work on the first day that is left, unless a team was named and all days left are later."""
    order_of = site.config.calendar.order_of
    seen = [number for number, worker in enumerate(site.workers) if worker.recorded_to]
    rows = [row for number in seen for row in in_order(site, step.history(number))[:1]]
    site.began = min((row.period for row in rows), key=order_of, default=0)
    if site.named_team is not None and (not site.began or order_of(site.began) >= 1):
        site.first_team, site.began, site.named_team = site.named_team, 0, None
        return
    first = [row for row in rows if row.period == site.began]
    site.first_team = [row.worker for row in first if observation(site.config.units, row) is not None]
