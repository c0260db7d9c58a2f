"""Rebuilding a site's state and proposals from its events."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.db.engine import begun_to_write, clear_errors
from crewlearn.advisor.ledger.db.upgrade import make_tables, migrate, other_schema, schema_version
from crewlearn.advisor.ledger.errors import UnusablePolicy
from crewlearn.advisor.ledger.events import (
    DERIVABLE,
    FIRST_HASH,
    KINDS,
    LEARNED_OTHERWISE,
    Advised,
    Event,
    ImportUndone,
    LedgerEntry,
    RecordedRow,
    WorkersImported,
    canonical,
)
from crewlearn.advisor.ledger.events.fold import apply
from crewlearn.advisor.ledger.learned.checkpoints import Checkpoint
from crewlearn.advisor.ledger.learned.learning import (
    LearnedState,
    LearnedText,
    RecordedPeriod,
    learned_anew,
    make_reports,
)
from crewlearn.advisor.ledger.learned.stored_states import write_anew
from crewlearn.advisor.ledger.queries import proposal_row, read_entries, rows_of_event, state_text, unusable_policy
from crewlearn.advisor.ledger.site import Proposal, Site
from crewlearn.advisor.ledger.team import stints
from crewlearn.advisor.ledger.transaction import DeriveAdvice
from crewlearn.policies.contract import Policy
from crewlearn.problem.errors import InvalidInput


def upgrade(engine: sa.Engine) -> str | None:
    """Upgrade a store to the newest revision and rebuild every site from its events.

    Returns its revision before, or None if the database was empty.
    """
    with clear_errors(engine):
        version = schema_version(engine)
        if version is None:
            make_tables(engine)
        elif version > schema.SCHEMA:
            raise other_schema(engine, version)
        with begun_to_write(engine) as connection:
            migrate(connection)
            rebuild(connection)
    return version


def rebuild(connection: sa.Connection) -> None:
    """Rewrite every site's state, proposals and stints from its events; raise if a record is damaged."""
    sites, proposals = schema.sites, schema.proposals
    for kept in connection.execute(sa.select(sites).order_by(sites.c.id).with_for_update()).all():
        rebuilt, faults = rebuilt_from(connection, kept, None)
        if rebuilt.missing is not None:
            raise rebuilt.missing
        if faults or rebuilt.site is None:
            remedy = f"has a damaged record ({faults[0]}); nothing was done: restore a sound backup"
            raise InvalidInput("site", kept.name, remedy)
        connection.execute(sites.update().where(sites.c.id == kept.id).values(state=state_text(rebuilt.site)))
        connection.execute(proposals.delete().where(proposals.c.site == kept.id))
        if rebuilt.proposals:
            rows = [proposal_row(proposal, kept.id) for _, proposal in sorted(rebuilt.proposals.items())]
            connection.execute(proposals.insert(), rows)
        write_anew(connection, kept.id, _learned_again(rebuilt))
        connection.execute(schema.stints.delete().where(schema.stints.c.site == kept.id))
        if rebuilt.stints:
            held = [{"site": kept.id, **vars(stint)} for _, stint in sorted(rebuilt.stints.items())]
            connection.execute(schema.stints.insert(), held)


def _learned_again(rebuilt: "Rebuilt") -> list[LearnedText]:
    """Return the learned states of a rebuilt site; none if its policy cannot be used here, so that they wait for it."""
    try:
        return list(rebuilt.learned_again())
    except UnusablePolicy:
        return []


Progress = Callable[[int, int], None]
"""Called with the number of events applied and their total; an exception that it raises ends the work."""


def rebuilt_from(
    connection: sa.Connection, kept: Any, derive: DeriveAdvice | None, progress: Progress | None = None
) -> tuple["Rebuilt", list[str]]:
    """Rebuild a site, given its row in the table of sites; return it with the faults of its record."""
    rebuilt = Rebuilt(kept.name, derive)
    faults: list[str] = []
    for entry in read_entries(connection, kept.id):
        kind = KINDS.get(entry.type)
        has_rows = kind is not None and kind.has_rows
        faults += rebuilt.take(entry, rows_of_event(connection, kept.id, entry.number) if has_rows else [])
        if progress is not None:
            progress(rebuilt.number, kept.events)
    if rebuilt.number != kept.events or rebuilt.head != kept.head:
        faults.append(
            f"the record ends at event {rebuilt.number}, the site says {kept.events}: events were added or lost"
        )
    if rebuilt.site is None and rebuilt.missing is None:
        faults.append("the record does not begin with the site's creation")
    return rebuilt, faults


def chain_faults(entry: LedgerEntry, number: int, head: str) -> list[str]:
    """Return the faults of an event in the chain of hashes, given the number and the hash of the one before it."""
    faults = []
    if type(entry.number) is not int or entry.number != number + 1:
        faults.append(f"event {number + 1} is missing")
    if entry.previous != head or not entry.is_intact:
        faults.append(f"event {entry.number} ({entry.type}) was altered")
    return faults


class Rebuilt:
    """A site rebuilt event by event, with its rows in memory; after a fault only hashes and rows are checked.

    With `derive`, every advice is derived again and compared. `missing` says which policy cannot be used here, and
    what to do: from its event on, too, only hashes and rows are checked.
    """

    def __init__(self, name: str, derive: DeriveAdvice | None) -> None:
        self.name, self.derive = name, derive
        self.site: Site | None = None
        self.number, self.head = 0, FIRST_HASH
        self.rows = self.advice = self.older = 0
        self.broken = False
        self.missing: InvalidInput | None = None
        self.notes: list[str] = []
        self._dated: datetime | None = None
        self.underivable: set[int] = set()
        self.by_worker: dict[int, dict[int, tuple[int, RecordedRow]]] = {}
        self.by_period: dict[int, dict[int, RecordedRow]] = {}
        self.learned: dict[tuple[int, str], LearnedState] = {}
        self.replaced: dict[tuple[int, int, int], int] = {}
        self.corrected: dict[tuple[int, int, int], tuple[int, RecordedRow]] = {}
        self.erased: set[int] = set()
        self.commitments: dict[int, str] = {}
        self.proposals: dict[int, Proposal] = {}
        self.stints: dict[tuple[int, int], stints.Stint] = {}

    def take(self, entry: LedgerEntry, rows: list[RecordedRow]) -> list[str]:
        """Apply the next event; return its faults."""
        faults = chain_faults(entry, self.number, self.head)
        self._note_time(entry)
        self.number = entry.number if type(entry.number) is int else self.number + 1
        self.head = entry.hash
        if not faults:
            try:
                faults = self._facts_faults(entry, rows)
            except Exception as error:  # the hashes are right but the facts are not: not written by crewlearn
                missing = unusable_policy(error)
                if missing is not None:  # no fault of the record
                    self.missing = missing
                else:
                    faults = [f"event {entry.number} ({entry.type}) cannot follow from those before it: {error}"]
        self.broken = self.broken or bool(faults)
        return faults

    def _note_time(self, entry: LedgerEntry) -> None:
        """Note a time before that of an earlier event: a clock was set back, or was wrong before."""
        try:
            at = datetime.fromisoformat(entry.at).astimezone(UTC)
        except (TypeError, ValueError, OverflowError):
            return
        if self._dated is not None and at < self._dated:
            self.notes.append(
                f"event {entry.number} is dated {entry.at}, before the one it follows: was a clock set back?"
            )
        self._dated = at

    def _facts_faults(self, entry: LedgerEntry, rows: list[RecordedRow]) -> list[str]:
        """Apply an event whose hash is right; return the faults of its facts."""
        event = Event.of(entry)
        fact = event.fact
        fault = fact.fault(self.name, event.number, rows)
        if self.missing is not None:
            self.rows += len(rows)
            self.advice += isinstance(fact, Advised)
        if fault is not None or self.broken or self.missing is not None:
            return [] if fault is None else [fault]
        faults = self._check_advice(entry) if isinstance(fact, Advised) else []
        for row in rows:
            own = self.by_worker.setdefault(row.worker, {})
            if row.period in own:
                self.replaced[row.worker, row.period, own[row.period][0]] = event.number
                self.corrected[row.worker, row.period, event.number] = own[row.period]
            own[row.period] = (event.number, row)
            self.by_period.setdefault(row.period, {})[row.worker] = row
        self.rows += len(rows)
        if isinstance(fact, ImportUndone):
            rows = self._take_rows_back(event.number, fact)
        self.erased.update(fact.erased)
        if isinstance(fact, WorkersImported):
            self.commitments.update(fact.commitments)
        seats = [] if self.site is None else self.site.seats
        self.site = apply(self.site, event, rows, self._history, stints=self._stints)
        self.proposals.update(self.site.proposals)
        listed = {(point.period, point.digest) for point in self.site.checkpoints}
        self.learned = {place: state for place, state in self.learned.items() if place in listed}
        for change in fact.stint_changes(self._stints, seats, self.site):
            stints.taken_in(self.stints, change)
        return faults

    def _take_rows_back(self, number: int, fact: ImportUndone) -> list[RecordedRow]:
        """Remove the rows of an import; those that they corrected stand again. Return the rows removed."""
        taken = [row for own in self.by_worker.values() for event, row in own.values() if event == fact.number]
        if len(taken) != fact.rows:
            remedy = f"has {len(taken)} rows that stand; an import is taken back whole, with its {fact.rows}"
            raise InvalidInput("import", fact.number, remedy)
        for row in taken:
            place = (row.worker, row.period, fact.number)
            self.replaced[place] = number
            before = self.corrected.pop(place, None)
            if before is None:
                del self.by_worker[row.worker][row.period], self.by_period[row.period][row.worker]
            else:
                del self.replaced[row.worker, row.period, before[0]]
                self.by_worker[row.worker][row.period] = before
                self.by_period[row.period][row.worker] = before[1]
        return sorted(taken)

    def reports(self, site: Site, after: Checkpoint | None) -> Iterator[RecordedPeriod]:
        """Yield every recorded period before the coming one and after a checkpoint, oldest first."""
        periods = site.config.calendar.periods_before(site.period, 0 if after is None else after.period)
        rows = (row for period in periods for row in self.by_period.get(period, {}).values())
        return make_reports(site, rows, self.proposals, self.stints.values(), after)

    def load(self, checkpoint: Checkpoint, policy: Policy[Any]) -> LearnedState | None:
        """Return what was learned at a checkpoint."""
        return self.learned.get((checkpoint.period, checkpoint.digest))

    def keep(self, learned: LearnedText, state: LearnedState) -> None:
        """Keep what was learned for later events."""
        self.learned[learned.period, learned.digest] = state

    def learned_again(self) -> Iterator[LearnedText]:
        """Yield what was learned at the site's checkpoints, learned again from the first day on."""
        site = self.site
        if site is None or not site.checkpoints:
            return
        policy, listed = site.policy, {checkpoint.period for checkpoint in site.checkpoints}
        for learned in learned_anew(site, policy, self):
            if learned.period in listed:
                yield LearnedText.of(policy, learned)

    def older_checkpoints(self) -> set[int]:
        """Return the periods of checkpoints that advice under rules that are gone recorded."""
        checkpoints = [] if self.site is None else self.site.checkpoints
        return {checkpoint.period for checkpoint in checkpoints if checkpoint.event in self.underivable}

    def _stints(self) -> list[stints.Stint]:
        return [stint for _, stint in sorted(self.stints.items())]

    def _history(self, worker: int) -> list[RecordedRow]:
        return [row for _, (_, row) in sorted(self.by_worker.get(worker, {}).items())]

    def _check_advice(self, entry: LedgerEntry) -> list[str]:
        """Derive the advice again from the facts before it; advice under rules that are gone is only counted."""
        self.advice += 1
        assert self.site is not None
        learned_otherwise = entry.rule_version in LEARNED_OTHERWISE and self.site.policy.learns_by_day
        if learned_otherwise or entry.rule_version not in DERIVABLE:
            self.older += 1
            self.underivable.add(entry.number)
            return []
        if self.derive is None:
            return []
        again = json.loads(canonical(self.derive(self.site, entry.rule_version, self).to_payload()))
        return [] if again == entry.payload else [f"the advice of event {entry.number} does not follow from the facts"]
