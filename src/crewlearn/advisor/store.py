"""The store: SQLite or PostgreSQL, one code path; a writer takes the lock first, and all it does is one transaction."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor import advice, schema
from crewlearn.advisor.events import ADVISED, CREATED, FIRST_HASH, OUTPUT, Event, Row, canonical, next_event
from crewlearn.advisor.fold import apply
from crewlearn.advisor.site import Proposal, Site
from crewlearn.problem.errors import InvalidInput

DEFAULT_URL = "sqlite:///crewlearn.db"
LOCK_SECONDS = 30.0
"""How long a writer waits for another before it gives up with a clear error."""

ROWS_AT_ONCE = 20_000

Clock = Callable[[], datetime]


class Conflict(InvalidInput):
    """What is asked for contradicts what is on record."""


@dataclass
class Store:
    """An open store."""

    engine: sa.Engine
    clock: Clock = field(default=lambda: datetime.now(UTC))

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Read in one consistent view."""
        with self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self, site: str, actor: str) -> Iterator["Writing"]:
        """Write to a site: take its lock, yield what to write with, derive advice if it is due, and commit it all."""
        with self._locked() as connection:
            row = connection.execute(
                sa.select(schema.sites).where(schema.sites.c.name == site).with_for_update()
            ).one_or_none()
            if row is None:
                raise InvalidInput("site", site, f"does not exist; there are {self._names(connection)}")
            state = Site.from_json(json.loads(row.state))
            work = Writing(connection, row.id, state, row.events, row.head, actor, self.clock)
            yield work
            work.finish()

    def create(self, name: str, payload: Mapping[str, Any], actor: str) -> None:
        """Begin the record of a site."""
        with self._locked() as connection:
            taken = connection.execute(sa.select(schema.sites.c.id).where(schema.sites.c.name == name)).first()
            if taken is not None:
                raise Conflict("site", name, "exists already; choose another name")
            try:
                made = connection.execute(
                    schema.sites.insert().values(name=name, events=0, head=FIRST_HASH, state="{}")
                ).inserted_primary_key
            except sa.exc.IntegrityError as error:  # somebody else was quicker
                raise Conflict("site", name, "exists already; choose another name") from error
            assert made is not None
            work = Writing(connection, made[0], None, 0, FIRST_HASH, actor, self.clock)
            work.add(CREATED, payload)
            work.finish()

    def site(self, connection: sa.Connection, name: str) -> tuple[int, Site, int]:
        """Give a site's key, its state, and how many events it has."""
        row = connection.execute(sa.select(schema.sites).where(schema.sites.c.name == name)).one_or_none()
        if row is None:
            raise InvalidInput("site", name, f"does not exist; there are {self._names(connection)}")
        return row.id, Site.from_json(json.loads(row.state)), row.events

    def names(self) -> list[str]:
        """Name the sites."""
        with self.reading() as connection:
            return self._names(connection)

    def _names(self, connection: sa.Connection) -> list[str]:
        return list(connection.execute(sa.select(schema.sites.c.name).order_by(schema.sites.c.name)).scalars())

    @contextmanager
    def _locked(self) -> Iterator[sa.Connection]:
        """Begin a transaction that writes; on SQLite it takes the lock at once, so that no read turns into a write."""
        try:
            with self.engine.connect().execution_options(crewlearn_writes=True) as connection, connection.begin():
                yield connection
        except sa.exc.OperationalError as error:
            if "locked" in str(error) or "lock timeout" in str(error):
                remedy = f"is being written to by somebody else for more than {LOCK_SECONDS:g} s; try again"
                raise Conflict("store", self.engine.url.render_as_string(), remedy) from error
            raise


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

    @property
    def site(self) -> Site:
        """The state so far."""
        assert self.state is not None
        return self.state

    def add(self, kind: str, payload: Mapping[str, Any], rows: Sequence[Row] = ()) -> Event:
        """Put an event on record, with the rows of an import, and take it into the state."""
        before = {} if self.state is None else dict(self.state.proposals)
        event = next_event(
            self.number + 1, self.clock().isoformat(timespec="milliseconds"), self.actor, kind, payload, self.head
        )
        self.connection.execute(
            schema.events.insert().values(**{**vars(event), "payload": canonical(event.payload), "site": self.key})
        )
        if rows:
            self._write_rows(event.number, rows)
        self.state = apply(self.state, event, rows, self._history)
        self.number, self.head = event.number, event.hash
        self.changed |= {number for number, one in self.site.proposals.items() if before.get(number) != one}
        return event

    def finish(self) -> None:
        """Derive advice if it is due; write the state."""
        if advice.is_due(self.site):
            self.add(ADVISED, advice.derive(self.site))
        self._write_proposals()
        self.connection.execute(
            schema.sites.update()
            .where(schema.sites.c.id == self.key)
            .values(events=self.number, head=self.head, state=json.dumps(self.site.to_json()))
        )

    def identities(self) -> dict[str, int]:
        """Give the numbers of workers by the firm's own ids."""
        rows = self.connection.execute(
            sa.select(schema.identities.c.external_id, schema.identities.c.worker).where(
                schema.identities.c.site == self.key, schema.identities.c.external_id.is_not(None)
            )
        )
        return {row.external_id: row.worker for row in rows}

    def current_rows(self, first: int, last: int) -> dict[tuple[int, int], Row]:
        """Give the rows that stand, by worker and period, of the periods from first to last."""
        table = schema.output_rows
        rows = self.connection.execute(
            sa.select(table.c.period, table.c.worker, table.c.units, table.c.hours, table.c.attendance).where(
                table.c.site == self.key, table.c.replaced_in.is_(None), table.c.period.between(first, last)
            )
        )
        return {(row.worker, row.period): Row(*row) for row in rows}

    def _write_rows(self, number: int, rows: Sequence[Row]) -> None:
        """Write the rows of an import; those they correct stay, marked as replaced."""
        table = schema.output_rows
        first, last = min(row.period for row in rows), max(row.period for row in rows)
        standing = self.current_rows(first, last)
        replaced = [row for row in rows if (row.worker, row.period) in standing]
        for row in replaced:
            self.connection.execute(
                table.update()
                .where(
                    table.c.site == self.key,
                    table.c.worker == row.worker,
                    table.c.period == row.period,
                    table.c.replaced_in.is_(None),
                )
                .values(replaced_in=number)
            )
        for start in range(0, len(rows), ROWS_AT_ONCE):
            chunk = rows[start : start + ROWS_AT_ONCE]
            self.connection.execute(
                table.insert(),
                [
                    {
                        "site": self.key,
                        "worker": row.worker,
                        "period": row.period,
                        "event": number,
                        "place": start + place,
                        "units": row.units,
                        "hours": row.hours,
                        "attendance": row.attendance,
                        "replaced_in": None,
                    }
                    for place, row in enumerate(chunk)
                ],
            )

    def _history(self, worker: int) -> list[Row]:
        table = schema.output_rows
        rows = self.connection.execute(
            sa.select(table.c.period, table.c.worker, table.c.units, table.c.hours, table.c.attendance)
            .where(table.c.site == self.key, table.c.worker == worker, table.c.replaced_in.is_(None))
            .order_by(table.c.period)
        )
        return [Row(*row) for row in rows]

    def _write_proposals(self) -> None:
        table = schema.proposals
        numbers = [number for number in sorted(self.changed) if number in self.site.proposals]
        if not numbers:
            return
        self.connection.execute(table.delete().where(table.c.site == self.key, table.c.id.in_(numbers)))
        self.connection.execute(
            table.insert(), [_proposal_row(self.site.proposals[number], self.key) for number in numbers]
        )


def open_store(url: str = DEFAULT_URL, clock: Clock | None = None) -> Store:
    """Open a store, made first if there is none; an older one is refused with the command that upgrades it."""
    try:
        engine = make_engine(url)
        version = schema_version(engine)
    except sa.exc.ArgumentError as error:
        raise InvalidInput("db", url, "is no database address; write sqlite:///file.db or postgresql://…") from error
    except (sa.exc.OperationalError, sa.exc.DatabaseError) as error:
        raise InvalidInput("db", url, f"cannot be opened ({error.orig})") from error
    if version is None:
        upgrade(engine)
    elif version != schema.SCHEMA:
        raise InvalidInput(
            "db",
            engine.url.render_as_string(),
            f"is of schema {version}, and {schema.SCHEMA} is needed; back it up, then run: crewlearn store upgrade",
        )
    return Store(engine) if clock is None else Store(engine, clock)


def make_engine(url: str) -> sa.Engine:
    """Give an engine whose transactions behave alike on both databases."""
    address = sa.make_url(url)
    if address.get_backend_name() == "postgresql":
        address = address.set(drivername="postgresql+psycopg")
        milliseconds = int(LOCK_SECONDS * 1000)
        return sa.create_engine(address, connect_args={"options": f"-c lock_timeout={milliseconds}"})
    if address.get_backend_name() != "sqlite":
        raise InvalidInput("db", url, "must be an SQLite or PostgreSQL database")
    engine = sa.create_engine(address, connect_args={"timeout": LOCK_SECONDS})

    @sa.event.listens_for(engine, "connect")
    def connected(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # transactions begin as we say, not as the driver guesses
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def begun(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("crewlearn_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def schema_version(engine: sa.Engine) -> str | None:
    """Give the schema's revision; None if the store is empty."""
    with engine.connect() as connection:
        if not sa.inspect(connection).has_table(schema.VERSION_TABLE):
            return None
        versions = connection.execute(sa.text(f"SELECT version_num FROM {schema.VERSION_TABLE}")).scalars().all()
    return versions[0] if versions else None


def upgrade(engine: sa.Engine) -> None:
    """Bring the tables to the newest revision."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with engine.connect().execution_options(crewlearn_writes=True) as connection, connection.begin():
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def read_events(connection: sa.Connection, key: int, after: int = 0) -> Iterator[Event]:
    """Give a site's events in order."""
    table = schema.events
    query = sa.select(table).where(table.c.site == key, table.c.number > after).order_by(table.c.number)
    for row in connection.execute(query):
        yield Event(
            row.number, row.at, row.actor, row.rule_version, row.type, json.loads(row.payload), row.previous, row.hash
        )


def rows_of_event(connection: sa.Connection, key: int, number: int) -> list[Row]:
    """Give the rows that an import brought, in the order of the file."""
    table = schema.output_rows
    rows = connection.execute(
        sa.select(table.c.period, table.c.worker, table.c.units, table.c.hours, table.c.attendance)
        .where(table.c.site == key, table.c.event == number)
        .order_by(table.c.place)
    )
    return [Row(*row) for row in rows]


def read_proposals(connection: sa.Connection, key: int) -> list[Proposal]:
    """Give every proposal ever made."""
    table = schema.proposals
    rows = connection.execute(sa.select(table).where(table.c.site == key).order_by(table.c.id)).mappings()
    return [
        Proposal(
            **{name: json.loads(value) if name == "why" else value for name, value in row.items() if name != "site"}
        )
        for row in rows
    ]


def _proposal_row(proposal: Proposal, key: int) -> dict[str, Any]:
    return {**asdict(proposal), "why": json.dumps(proposal.why), "site": key}


def is_import(event: Event) -> bool:
    """Say whether an event has rows."""
    return event.type == OUTPUT
