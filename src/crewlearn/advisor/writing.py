"""Writing to a site: events with their rows, and what follows from them, within one transaction."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor import advice, schema, stints
from crewlearn.advisor.events import ADVISED, UNDONE, Event, Row, canonical, next_event
from crewlearn.advisor.fold import apply
from crewlearn.advisor.record import AT_ONCE, batches, proposal_row, standing_rows, state_text
from crewlearn.advisor.site import Site

ROWS_AT_ONCE = 20_000

Clock = Callable[[], datetime]


@dataclass
class Writing:
    """What a command writes to one site within its transaction."""

    connection: sa.Connection
    key: int
    state: Site | None
    number: int
    head: str
    actor: str
    clock: Clock
    changed: set[int] = field(default_factory=set)
    added: set[str] = field(default_factory=set)

    @property
    def site(self) -> Site:
        """The state so far."""
        assert self.state is not None
        return self.state

    def add(
        self,
        kind: str,
        payload: Mapping[str, Any],
        rows: Sequence[Row] = (),
        replaced: Collection[tuple[int, int, int]] = (),
    ) -> Event:
        """Put an event on record, with the rows of an import, and take it into the state.

        `replaced` names the rows that these correct, by worker, period and the event that brought them.
        """
        before = {} if self.state is None else dict(self.state.proposals)
        seats = [] if self.state is None else self.state.seats
        at = self.clock().astimezone(UTC).isoformat(timespec="milliseconds")
        event = next_event(self.number + 1, at, self.actor, kind, payload, self.head)
        self.connection.execute(
            schema.events.insert().values(**{**vars(event), "payload": canonical(event.payload), "site": self.key})
        )
        if rows:
            self._write_rows(event.number, rows, replaced)
        self.state = apply(self.state, event, rows, self._history)
        self.number, self.head = event.number, event.hash
        self.added.add(kind)
        self.changed |= {number for number, one in self.site.proposals.items() if before.get(number) != one}
        for change in stints.changes(seats, self.site, undone=kind == UNDONE):
            stints.write(self.connection, self.key, change)
        return event

    def finish(self) -> None:
        """Derive advice if it is due; write the state. Without an event nothing changed, and nothing is written."""
        if not self.added:
            return
        if advice.is_due(self.site):
            self.add(ADVISED, advice.derive(self.site))
        self._write_proposals()
        self.connection.execute(
            schema.sites.update()
            .where(schema.sites.c.id == self.key)
            .values(events=self.number, head=self.head, state=state_text(self.site))
        )

    def identities(self, among: Collection[str] | None = None) -> dict[str, int]:
        """Give the numbers of workers by the firm's own ids, of all or of a few."""
        return {external: number for external, (number, _) in self.people(among).items()}

    def people(self, among: Collection[str] | None = None) -> dict[str, tuple[int, str | None]]:
        """Give the numbers and names of workers by the firm's own ids, of all or of a few."""
        table = schema.identities
        query = sa.select(table.c.external_id, table.c.worker, table.c.name).where(
            table.c.site == self.key, table.c.external_id.is_not(None)
        )
        if among is not None and len(among) <= AT_ONCE:
            query = query.where(table.c.external_id.in_(among))
        return {row.external_id: (row.worker, row.name) for row in self.connection.execute(query)}

    def standing(self, given: Sequence[Row]) -> dict[tuple[int, int], tuple[int, Row]]:
        """Give the rows that stand where the given ones would, with their event, by worker and period.

        Rows later than anything known of their worker meet none, so a new day is not looked up at all.
        """
        workers = self.site.workers
        met = [row for row in given if row.period <= workers[row.worker].recorded_to]
        if not met:
            return {}
        first, last = min(row.period for row in met), max(row.period for row in met)
        found = standing_rows(self.connection, self.key, sorted({row.worker for row in met}), range(first, last + 1))
        return {(row.worker, row.period): (event, row) for event, row in found}

    def _write_rows(self, number: int, rows: Sequence[Row], replaced: Collection[tuple[int, int, int]]) -> None:
        """Write the rows of an import, in the order they are kept in; those they correct stay, marked as replaced."""
        table = schema.output_rows
        if replaced:
            self.connection.execute(
                table.update()
                .where(
                    table.c.site == self.key,
                    table.c.worker == sa.bindparam("of_worker"),
                    table.c.period == sa.bindparam("of_period"),
                    table.c.event == sa.bindparam("of_event"),
                )
                .values(replaced_in=number),
                [
                    {"of_worker": worker, "of_period": period, "of_event": event}
                    for worker, period, event in sorted(replaced)
                ],
            )
        for batch in batches(sorted(rows, key=lambda row: (row.worker, row.period)), ROWS_AT_ONCE):
            self.connection.execute(
                table.insert(), [{"site": self.key, "event": number, **row._asdict()} for row in batch]
            )

    def _history(self, worker: int) -> list[Row]:
        return [row for _, row in standing_rows(self.connection, self.key, [worker])]

    def _write_proposals(self) -> None:
        table = schema.proposals
        numbers = [number for number in sorted(self.changed) if number in self.site.proposals]
        if not numbers:
            return
        self.connection.execute(table.delete().where(table.c.site == self.key, table.c.id.in_(numbers)))
        self.connection.execute(
            table.insert(), [proposal_row(self.site.proposals[number], self.key) for number in numbers]
        )
