"""The imports of output on record, by the number of their event, and taking one back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor.files.recording.import_result import ImportResult
from crewlearn.advisor.ledger.answers import last_standing_answer
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.events import Event, ImportUndone, OutputImported, TeamRecorded
from crewlearn.advisor.ledger.events.people.team import FROM_OUTPUT
from crewlearn.advisor.ledger.queries import read_events
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.site import Site
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.text import counted
from crewlearn.advisor.ledger.transaction import SiteTransaction
from crewlearn.problem.errors import Unknown


@dataclass(frozen=True)
class RecordedImport:
    """An import of output: its number, who recorded it and when (UTC), and its periods.

    `rows` were recorded, `corrected` of them in place of others, and `replaced` were corrected since. `undone` is the
    event that took it back, `answered` the last answer to a proposal since then, and `team` the last event that took
    the team from output with or after it; None if there is none.
    """

    number: int
    at: str
    actor: str
    rows: int
    corrected: int
    replaced: int
    periods: tuple[int, ...]
    undone: Event | None
    answered: int | None
    team: int | None

    @property
    def obstacle(self) -> str:
        """Why it cannot be taken back; empty if it can be."""
        if self.undone is not None:
            return f"was taken back already, by {self.undone.actor} in event {self.undone.number}"
        if self.replaced:
            rows = f"{counted(self.replaced, 'row')} of it {'was' if self.replaced == 1 else 'were'} corrected since"
            return f"cannot be taken back: {rows}; {_INSTEAD}, or take the correction back first"
        if self.answered is not None:
            since = f"a proposal was answered since, in event {self.answered}"
            return f"cannot be taken back: {since}; {_INSTEAD}"
        if self.team is not None:
            return f"cannot be taken back: the team was taken from the output, in event {self.team}; {_INSTEAD}"
        return ""

    def ends(self, calendar: WorkCalendar) -> tuple[int, int]:
        """Return the first and the last period."""
        return min(self.periods, key=calendar.order_of), max(self.periods, key=calendar.order_of)

    def to_json(self, site: Site) -> dict[str, Any]:
        """Describe the import as plain data, with dates."""
        calendar = site.config.calendar
        first, last = self.ends(calendar)
        return {
            **{name: getattr(self, name) for name in ("number", "at", "actor", "rows", "corrected", "replaced")},
            "from": str(calendar.date_of(first)),
            "to": str(calendar.date_of(last)),
            "undone": None if self.undone is None else self.undone.number,
            "can_undo": not self.obstacle,
        }


_INSTEAD = "import the right rows with `correct` instead"


def recorded_imports(
    connection: sa.Connection,
    key: int,
    after: int | None = None,
    *,
    before: int | None = None,
    newest_first: bool = False,
    limit: int | None = None,
) -> list[RecordedImport]:
    """Return a site's imports of output by number: all, or those between two numbers."""
    events = read_events(
        connection, key, after, before=before, kinds=(OutputImported,), newest_first=newest_first, limit=limit
    )
    return _described(connection, key, list(events))


def _described(connection: sa.Connection, key: int, events: Sequence[Event]) -> list[RecordedImport]:
    if not events:
        return []
    oldest = min(event.number for event in events)
    later = read_events(connection, key, oldest, kinds=(ImportUndone,))
    undone = {event.fact.number: event for event in later if isinstance(event.fact, ImportUndone)}
    answer, team = last_standing_answer(connection, key), _last_team(connection, key, oldest)
    table, described = schema.output_rows, []
    for event in events:
        fact = event.fact
        assert isinstance(fact, OutputImported)
        counts = connection.execute(
            sa.select(table.c.period, sa.func.count(table.c.replaced_in))
            .where(table.c.site == key, table.c.event == event.number)
            .group_by(table.c.period)
        ).all()
        described.append(
            RecordedImport(
                number=event.number,
                at=event.at,
                actor=event.actor,
                rows=fact.rows,
                corrected=fact.corrected,
                replaced=0 if event.number in undone else sum(replaced for _, replaced in counts),
                periods=tuple(period for period, _ in counts),
                undone=undone.get(event.number),
                answered=answer if answer is not None and answer > event.number else None,
                team=team if team is not None and team > event.number else None,
            )
        )
    return described


def _last_team(connection: sa.Connection, key: int, after: int) -> int | None:
    """Return the last event after another one that took the team from output; None if there is none."""
    for event in read_events(connection, key, after, kinds=(TeamRecorded,), newest_first=True):
        if isinstance(event.fact, TeamRecorded) and event.fact.source == FROM_OUTPUT:
            return event.number
    return None


def undo_import(store: Store, name: str, number: int, actor: str, *, expected: int | None = None) -> RecordedImport:
    """Take back an import of output on which nothing depends; return it.

    Advice that followed from it is derived anew. Repeating one's own undo changes nothing.
    """
    with store.writing(name, actor, expected) as work:
        imported = _import_in(work, number)
        if imported.undone is not None and imported.undone.actor == actor:
            return imported
        if imported.obstacle:
            raise Conflict("import", number, imported.obstacle)
        event = work.add(ImportUndone(number, imported.rows, imported.corrected))
        return replace(imported, undone=event)


def result_of(store: Store, name: str, number: int) -> ImportResult:
    """Return the result of an import, of output or workers, that event `number` recorded for a request with a key.

    Warnings that name people are not kept.
    """
    with store.reading() as connection:
        event = next(read_events(connection, store.key(connection, name), number - 1, limit=1))
    counts = {} if event.request is None else event.request.answer
    fact = event.fact
    done = ImportResult(
        recorded=counts.get("recorded", 0),
        known=counts.get("known", 0),
        skipped=counts.get("skipped", 0),
        enrolled=counts.get("enrolled", 0),
    )
    if isinstance(fact, OutputImported):
        return replace(done, recorded=fact.rows, warnings=fact.warnings, corrected=fact.corrected)
    return done


def _import_in(work: SiteTransaction, number: int) -> RecordedImport:
    found = recorded_imports(work.connection, work.key, number - 1, before=number + 1)
    if not found:
        remedy = "is not an import of output at this site; list the imports to see their numbers"
        raise Unknown("import", number, remedy)
    return found[0]
