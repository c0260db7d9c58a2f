"""Reading a site's state, its events with their rows, and its proposals from the database."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.errors import Retold, UnusablePolicy
from crewlearn.advisor.ledger.events import ADDED_COLUMNS, Event, Fact, LedgerEntry, RecordedRow
from crewlearn.advisor.ledger.identities import read_people
from crewlearn.advisor.ledger.site import FAILURES, REJECTED, STARTED, Proposal, Site
from crewlearn.advisor.ledger.site.advice_record import NO_REASONS, Reasons
from crewlearn.problem.errors import InvalidInput

AT_ONCE = 500
"""The most values in one SQL statement."""

T = TypeVar("T")


def state_of(row: Any) -> Site:
    """Parse a site's stored state; raise an error with a remedy if it is corrupt."""
    try:
        return Site.from_json(json.loads(row.state))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError) as error:
        missing = unusable_policy(error)
        if missing is not None:
            raise InvalidInput("site", row.name, f"has policy {missing.value}, which {missing.remedy}") from error
        remedy = f"has a stored state that cannot be read ({error}); see: crewlearn ledger verify, and restore a backup"
        raise InvalidInput("site", row.name, remedy) from error


def unusable_policy(error: Exception) -> InvalidInput | None:
    """Return the policy error behind `error`, with a remedy, or None; such an error is no fault of the record."""
    if not isinstance(error, UnusablePolicy):
        return None
    why = f"cannot be used here ({error.__cause__ or error.remedy})"
    remedy = f"{why}; install what it names on this machine and restart; nothing on record is lost"
    return UnusablePolicy(error.field, error.value, remedy)


def state_text(site: Site) -> str:
    """Return a state in its stored form."""
    return json.dumps(site.to_json(), allow_nan=False)


def read_entries(
    connection: sa.Connection,
    key: int,
    after: int | None = None,
    *,
    before: int | None = None,
    kinds: Sequence[type[Fact]] | None = None,
    newest_first: bool = False,
    limit: int | None = None,
) -> Iterator[LedgerEntry]:
    """Yield a site's events as they are stored, in order.

    `after` and `before` bound their numbers; `kinds` and `limit` restrict them further.
    """
    table = schema.events
    query = _numbered(table, key, table.c.number, after, before, newest_first, limit)
    if kinds is not None:
        query = query.where(table.c.type.in_([kind.type for kind in kinds]))
    for row in connection.execute(query):
        payload = _object_in(row.payload)
        yield LedgerEntry(row.number, row.at, row.actor, row.rule_version, row.type, payload, row.previous, row.hash)


def read_events(
    connection: sa.Connection,
    key: int,
    after: int | None = None,
    *,
    before: int | None = None,
    kinds: Sequence[type[Fact]] | None = None,
    newest_first: bool = False,
    limit: int | None = None,
) -> Iterator[Event]:
    """Yield a site's events, as `read_entries` does, with their facts parsed."""
    entries = read_entries(connection, key, after, before=before, kinds=kinds, newest_first=newest_first, limit=limit)
    return map(Event.of, entries)


def retold(connection: sa.Connection, key: int, site: Site, events: Iterable[Event]) -> Retold:
    """Return events with what describing them takes."""
    listed = tuple(events)
    people, proposals = read_people(connection, key), proposals_in(connection, key, listed)
    return Retold(listed, people, proposals, site.config.calendar)


def _numbered(
    table: sa.Table,
    key: int,
    number: sa.Column[int],
    after: int | None,
    before: int | None,
    newest_first: bool,
    limit: int | None,
) -> sa.Select[Any]:
    """Select a site's rows by number: between `after` and `before`, and at most `limit`."""
    query = sa.select(table).where(table.c.site == key).limit(limit)
    if after is not None:
        query = query.where(number > after)
    if before is not None:
        query = query.where(number < before)
    return query.order_by(number.desc() if newest_first else number)


def _object_in(text: str) -> dict[str, Any]:
    """Parse a stored JSON object; a corrupt one becomes an object that no event or proposal has."""
    try:
        parsed = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        parsed = None
    return parsed if isinstance(parsed, dict) else {"unreadable": text}


def rows_of_event(connection: sa.Connection, key: int, number: int) -> list[RecordedRow]:
    """Return the rows of an import, in the order in which they were hashed."""
    table = schema.output_rows
    rows = connection.execute(
        sa.select(*(table.c[name] for name in RecordedRow._fields))
        .where(table.c.site == key, table.c.event == number)
        .order_by(table.c.period, table.c.worker)
    )
    return [RecordedRow(*row) for row in rows]


def standing_rows(
    connection: sa.Connection,
    key: int,
    workers: Sequence[int],
    periods: Sequence[range] | None = None,
    *,
    after: tuple[int, int] | None = None,
    limit: int | None = None,
) -> Iterator[tuple[int, RecordedRow]]:
    """Yield the current output of some workers, by worker and period: each row with the event that recorded it.

    The query names the workers, so that the database reads only their rows of these `periods`, given as ranges.
    `after`, a worker and a period, continues an earlier listing.
    """
    table, left = schema.output_rows, limit
    query = (
        sa.select(table.c.event, *(table.c[name] for name in RecordedRow._fields))
        .where(table.c.site == key, table.c.replaced_in.is_(None))
        .order_by(table.c.worker, table.c.period)
    )
    if periods is not None:
        query = query.where(sa.or_(*(table.c.period.between(some.start, some.stop - 1) for some in periods)))
    if after is not None:
        worker, period = after
        query = query.where(sa.or_(table.c.worker > worker, sa.and_(table.c.worker == worker, table.c.period > period)))
    numbers = sorted(number for number in workers if after is None or number >= after[0])
    for batch in batches(numbers, AT_ONCE):
        if left == 0:
            return
        rows = connection.execute(query.where(table.c.worker.in_(batch)).limit(left)).all()
        left = None if left is None else left - len(rows)
        for event, *row in rows:
            yield event, RecordedRow._make(row)


def rows_after(connection: sa.Connection, key: int, event: int) -> list[RecordedRow]:
    """Return the current rows that later events recorded."""
    table = schema.output_rows
    rows = connection.execute(
        sa.select(*(table.c[name] for name in RecordedRow._fields)).where(
            table.c.site == key, table.c.event > event, table.c.replaced_in.is_(None)
        )
    )
    return [RecordedRow._make(row) for row in rows]


def unused_columns(connection: sa.Connection, key: int, names: Sequence[str] = ADDED_COLUMNS) -> set[str]:
    """Return which of these columns no row of a site has set."""
    if not names:
        return set()
    table = schema.output_rows
    query = sa.select(*(sa.func.count(table.c[name]) for name in names)).where(table.c.site == key)
    return {name for name, count in zip(names, connection.execute(query).one(), strict=True) if not count}


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Return the items in batches, for statements that may name only so many."""
    return (items[start : start + size] for start in range(0, len(items), size))


def read_proposals(
    connection: sa.Connection,
    key: int,
    after: int | None = None,
    *,
    before: int | None = None,
    statuses: Sequence[str] | None = None,
    worker: int | None = None,
    newest_first: bool = False,
    limit: int | None = None,
) -> list[Proposal]:
    """Return proposals by number: all, or those between two numbers, with some statuses, about a worker."""
    table = schema.proposals
    query = _numbered(table, key, table.c.id, after, before, newest_first, limit)
    if statuses is not None:
        query = query.where(table.c.status.in_(statuses))
    if worker is not None:
        query = query.where(sa.or_(table.c.into == worker, table.c.out == worker, table.c.leaver == worker))
    return _proposals(connection, query)


def ended_proposals(connection: sa.Connection, key: int, first: int) -> list[Proposal]:
    """Return the proposals that started, failed or were rejected in a regular period from `first` on, or in others."""
    table = schema.proposals
    when = sa.or_(table.c.settled_in >= first, table.c.settled_in < 0)
    settled = sa.and_(table.c.status.in_((STARTED, *FAILURES)), when)
    rejected = sa.and_(table.c.status == REJECTED, table.c.decided_in >= first)
    return _proposals(connection, sa.select(table).where(table.c.site == key, sa.or_(settled, rejected)))


def proposals_in(connection: sa.Connection, key: int, events: Iterable[Event]) -> dict[int, Proposal]:
    """Return the proposals that events refer to, by number, without reading the site's others."""
    table = schema.proposals
    named = sorted({number for event in events if (number := event.fact.subject.proposal) is not None})
    query = sa.select(table).where(table.c.site == key)
    read = (_proposals(connection, query.where(table.c.id.in_(batch))) for batch in batches(named, AT_ONCE))
    return {proposal.id: proposal for several in read for proposal in several}


def count_proposals(
    connection: sa.Connection, key: int, after: int = 0, *, statuses: Sequence[str] | None = None
) -> int:
    """Count the proposals after a number, all or those with some statuses."""
    table = schema.proposals
    query = sa.select(sa.func.count()).select_from(table).where(table.c.site == key, table.c.id > after)
    if statuses is not None:
        query = query.where(table.c.status.in_(statuses))
    return int(connection.execute(query).scalar_one())


def _proposals(connection: sa.Connection, query: sa.Select[Any]) -> list[Proposal]:
    rows = connection.execute(query).mappings()
    return [
        Proposal(**{name: value for name, value in {**row, "why": _reasons(row["why"])}.items() if name != "site"})
        for row in rows
    ]


def _reasons(text: str) -> Reasons:
    """Parse stored reasons; corrupt ones are replaced, so that the rest can be read."""
    try:
        return Reasons.from_json(_object_in(text))
    except (KeyError, TypeError):
        return NO_REASONS


def proposal_row(proposal: Proposal, key: int) -> dict[str, Any]:
    """Return a proposal as a row of its table."""
    return {**vars(proposal), "why": json.dumps(proposal.why.to_json()), "site": key}
