"""Writing to a site: events, their rows and all derived data, in one transaction."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.events import (
    RULE_VERSION,
    Advised,
    Cached,
    Event,
    Fact,
    ImportUndone,
    RecordedRow,
    canonical,
    next_entry,
)
from crewlearn.advisor.ledger.events.fold import apply
from crewlearn.advisor.ledger.learned.learning import DayRecord
from crewlearn.advisor.ledger.learned.stored_states import StoredDays
from crewlearn.advisor.ledger.notices import outbox, sources
from crewlearn.advisor.ledger.notices.kinds import FOUND_TREND
from crewlearn.advisor.ledger.queries import AT_ONCE, batches, proposal_row, rows_of_event, standing_rows, state_text
from crewlearn.advisor.ledger.site import Site
from crewlearn.advisor.ledger.site.request_keys import RequestKey
from crewlearn.advisor.ledger.team import stints
from crewlearn.advisor.ledger.text import some_of
from crewlearn.problem.errors import InvalidInput

ROWS_AT_ONCE = 20_000

Clock = Callable[[], datetime]

DeriveAdvice = Callable[[Site, str, DayRecord], Advised]
"""Derives the advice for a site's coming period from its state under a version of the rules; the state stays.

A policy that learns by day is told of the recorded days.
"""


@dataclass
class SiteTransaction:
    """A transaction that adds events to one site.

    `derive` is called when the transaction ends, if advice is due. `changed` are the numbers of changed proposals,
    `invalidated` is the cached data that became stale. `request` is the key of the request until it is kept with an
    event: the first one, or if it is `waiting`, the first one after its answer is known. `batch` is the first of
    several answers given together, which are undone together. `learned` says whether learned states were stored before,
    `recorded` whether rows of output were added or corrected.
    """

    connection: sa.Connection
    key: int
    state: Site | None
    number: int
    head: str
    actor: str
    clock: Clock
    derive: DeriveAdvice
    changed: set[int] = field(default_factory=set)
    added: int = 0
    invalidated: set[Cached] = field(default_factory=set)
    request: RequestKey | None = None
    waiting: bool = False
    batch: int | None = None
    recorded: bool = False
    learned: bool = field(init=False)

    def __post_init__(self) -> None:
        self.learned = self.state is not None and bool(self.state.checkpoints)

    @property
    def site(self) -> Site:
        """The state so far."""
        assert self.state is not None
        return self.state

    def add(
        self,
        fact: Fact,
        rows: Sequence[RecordedRow] = (),
        replaced: Collection[tuple[int, int, int]] = (),
        observed: Sequence[float | None] | None = None,
    ) -> Event:
        """Record a fact as the next event, with the rows of an import, and apply it to the state.

        `replaced` names the rows that these correct, by worker, period and the event that recorded them; `observed` are
        the rows' observations, if they were measured already.
        """
        before = {} if self.state is None else dict(self.state.proposals)
        seats = [] if self.state is None else self.state.seats
        at = self.clock().astimezone(UTC).isoformat(timespec="milliseconds")
        request = None if self.waiting else self.request
        batch = None if self.batch == self.number + 1 else self.batch
        entry = next_entry(self.number + 1, at, self.actor, fact, self.head, request, batch)
        self.request = None if request is self.request else self.request
        self.connection.execute(
            schema.events.insert().values(**{**vars(entry), "payload": canonical(entry.payload), "site": self.key})
        )
        event = Event.of(entry)
        if rows:
            self._write_rows(event.number, rows, replaced)
        if isinstance(fact, ImportUndone):
            rows = self._take_rows_back(event.number, fact)
        self.state = apply(self.state, event, rows, self._history, observed, self.stints)
        self.number, self.head = event.number, event.hash
        self.added += 1
        self.recorded = self.recorded or fact.has_rows
        self.changed |= {number for number, now in self.site.proposals.items() if before.get(number) != now}
        for change in fact.stint_changes(self.stints, seats, self.site):
            stints.write(self.connection, self.key, change)
        self._invalidate(fact.invalidates)
        return event

    def begin_batch(self) -> None:
        """Record what follows, up to the advice, as answers given together."""
        self.batch = self.number + 1

    def await_answer(self) -> None:
        """Keep the key of the request, if there is one, with no event before `keep_answer`."""
        self.waiting = True

    def keep_answer(self, **counts: int) -> None:
        """Keep counts of the answer with the key of the request, if there is one, so that it can be given again."""
        self.waiting = False
        if self.request is not None:
            self.request = replace(self.request, answer=counts)

    def _invalidate(self, stale: Collection[Cached]) -> None:
        """Note what became stale; finished jobs that may quote an erased person are deleted at once."""
        self.invalidated.update(stale)
        if Cached.QUOTATIONS in stale:
            jobs = schema.jobs
            self.connection.execute(jobs.delete().where(jobs.c.site == self.key, jobs.c.finished.is_not(None)))

    def finish(self) -> None:
        """Derive advice if it is due, write the state, and put what is to be told in the outbox.

        Does nothing if no event was added.
        """
        if not self.added:
            return
        self.batch = None
        days, before, advised = StoredDays(self.connection, self.key), self.site.advice, None
        if self.site.needs_advice:
            advised = self.add(self.derive(self.site, RULE_VERSION, days))
        self._write_proposals()
        if self.learned or self.site.checkpoints:
            days.write(self.site)
        self.connection.execute(
            schema.sites.update()
            .where(schema.sites.c.id == self.key)
            .values(events=self.number, head=self.head, state=state_text(self.site))
        )
        notices = [] if advised is None else sources.new_advice(before, self.site, advised)
        if self.recorded and FOUND_TREND in outbox.subscribed(self.connection, self.key):
            notices += sources.found_trends(self.connection, self.key, self.site)
        outbox.put(self.connection, self.key, notices)

    def identities(self, among: Collection[str] | None = None) -> dict[str, int]:
        """Return worker numbers by the firm's ids: all, or those in `among`."""
        return {external: number for external, (number, _) in self.people(among).items()}

    def people(self, among: Collection[str] | None = None) -> dict[str, tuple[int, str | None]]:
        """Return worker numbers and names by the firm's ids: all, or those in `among`."""
        table = schema.identities
        query = sa.select(table.c.external_id, table.c.worker, table.c.name).where(
            table.c.site == self.key, table.c.external_id.is_not(None)
        )
        if among is not None and len(among) <= AT_ONCE:
            query = query.where(table.c.external_id.in_(among))
        return {row.external_id: (row.worker, row.name) for row in self.connection.execute(query)}

    def check_interviews(self) -> None:
        """Refuse to start a policy that ranks by interview scores while some are missing."""
        site = self.site
        if site.memory is not None or not site.workers or site.policy.interview(site.setting()) is None:
            return
        without = set(site.not_interviewed())
        if without:
            ids = sorted(external for external, number in self.identities().items() if number in without)
            missing = "the one that is" if len(without) == 1 else f"the {len(without)} that are"
            remedy = f"needs an interview score for everybody; import {missing} missing ({some_of(ids)})"
            raise InvalidInput("policy", site.config.policy, remedy)

    def rows_in_place_of(self, rows: Sequence[RecordedRow]) -> dict[tuple[int, int], tuple[int, RecordedRow]]:
        """Return the rows on record for the same workers and periods, with their event, by worker and period.

        A row later than its worker's last one has none, so a new day needs no query.
        """
        workers, order_of = self.site.workers, self.site.config.calendar.order_of
        met = [row for row in rows if order_of(row.period) <= order_of(workers[row.worker].recorded_to)]
        if not met:
            return {}
        first, last = min(row.period for row in met), max(row.period for row in met)
        standing = standing_rows(
            self.connection, self.key, sorted({row.worker for row in met}), [range(first, last + 1)]
        )
        return {(row.worker, row.period): (event, row) for event, row in standing}

    def _write_rows(self, number: int, rows: Sequence[RecordedRow], replaced: Collection[tuple[int, int, int]]) -> None:
        """Write the rows of an import in storage order; the rows they correct stay, marked as replaced."""
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

    def stints(self) -> list[stints.Stint]:
        """Return who held which station when."""
        return stints.read_stints(self.connection, self.key)

    def _take_rows_back(self, number: int, fact: ImportUndone) -> list[RecordedRow]:
        """Mark the rows of an import as replaced by event `number`; those that they corrected stand again."""
        table = schema.output_rows
        rows = rows_of_event(self.connection, self.key, fact.number)
        mine = table.c.site == self.key
        self.connection.execute(table.update().where(mine, table.c.event == fact.number).values(replaced_in=number))
        if fact.corrected:
            self.connection.execute(
                table.update().where(mine, table.c.replaced_in == fact.number).values(replaced_in=None)
            )
        return rows

    def _history(self, worker: int) -> list[RecordedRow]:
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
