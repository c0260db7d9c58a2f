"""Opening, creating and upgrading a store, on SQLite and on PostgreSQL."""

import json
import os
import pickle
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from typer.testing import CliRunner

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.files import output_imports
from crewlearn.advisor.ledger.db import migrations, schema
from crewlearn.advisor.ledger.db.engine import make_engine
from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.rebuild import upgrade
from crewlearn.cli.main import app
from crewlearn.problem.errors import InvalidInput
from support.stores import (
    ME,
    Database,
    busy_site,
    config,
    contents,
    day,
    site_with_proposals,
    sound,
    state_of,
)


def _plain_engine(url: str) -> sa.Engine:
    """A plain engine, without our settings."""
    return sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))


def _tables(url: str) -> dict[str, Any]:
    engine = _plain_engine(url)
    with engine.connect() as connection:
        names = sa.inspect(connection).get_table_names()
        rows = {name: _rows(connection, name) for name in names}
    engine.dispose()
    return rows


def _rows(connection: sa.Connection, table: str) -> list[str]:
    """The rows of a table without empty columns, as later schemas have columns that older ones do not."""
    rows = connection.execute(sa.text(f"SELECT * FROM {table}")).mappings()
    return sorted(repr({name: value for name, value in row.items() if value is not None}) for row in rows)


def _files(database: Database) -> dict[str, bytes]:
    if database.backend != "sqlite":
        return {}
    return {path.name: path.read_bytes() for path in Path(database.url.removeprefix("sqlite:///")).parent.iterdir()}


@pytest.mark.parametrize(
    ("version", "match"),
    [
        ("0000", f"has schema 0000, and {schema.SCHEMA} is needed; back it up, then run: crewlearn store upgrade"),
        ("9999", "a newer crewlearn made it"),
    ],
)
def test_another_schema_is_refused_and_left_alone(database: Database, version: str, match: str) -> None:
    with database.open() as store:
        busy_site(store)
        with store.engine.connect() as connection, connection.begin():
            connection.execute(sa.text(f"UPDATE {schema.VERSION_TABLE} SET version_num = '{version}'"))
    before, files = _tables(database.url), _files(database)
    with pytest.raises(InvalidInput, match=match):
        database.open()
    assert _tables(database.url) == before
    assert _files(database) == files


OLDER = Path(__file__).parents[3] / "data" / "store_0001.json"


"""The rows of `busy_site` as the code of schema 0001 wrote them."""


def _make_older(url: str, **changes: str) -> None:
    """Create a store of schema 0001; `changes` are applied to the site's row."""
    rows: dict[str, list[dict[str, Any]]] = json.loads(OLDER.read_text(encoding="utf-8"))
    rows["sites"][0].update(changes)
    location = Config()
    location.set_main_option("script_location", str(Path(migrations.__file__).parent))
    engine = _plain_engine(url)
    with engine.connect() as connection, connection.begin():
        location.attributes["connection"] = connection
        command.upgrade(location, "0001")
        then = sa.MetaData()
        then.reflect(connection)
        for name, stored in rows.items():
            connection.execute(then.tables[name].insert(), stored)
    engine.dispose()


def _upgrade(url: str) -> None:
    engine = make_engine(url)
    try:
        upgrade(engine)
    finally:
        engine.dispose()


def test_an_older_store_is_refused_upgraded_and_sound(empty_database: Database) -> None:
    _make_older(empty_database.url, state="{}")  # as if the state's format had changed
    before = _tables(empty_database.url)
    assert "users" not in before
    with pytest.raises(InvalidInput, match=f"0001, and {schema.SCHEMA} is needed; back it up, then run: crewlearn"):
        empty_database.open()
    assert _tables(empty_database.url) == before
    done = CliRunner().invoke(app, ["store", "upgrade", "--db", empty_database.url])
    assert (done.exit_code, done.stdout) == (0, f"Schema 0001 -> {schema.SCHEMA}.\n")
    with empty_database.open() as store:
        sound(store)
        assert state_of(store).fees == json.loads(json.loads(OLDER.read_text())["sites"][0]["state"])["fees"]
        output_imports.import_output(store, "site", day(4, "cd"), b"", ME)
        sound(store)
    after = _tables(empty_database.url)
    assert all(set(before[name]) <= set(after[name]) for name in ("events", "output_rows", "identities"))


def test_a_second_upgrade_changes_nothing(database: Database) -> None:
    with database.open() as store:
        busy_site(store)
        before = contents(store)
        upgrade(store.engine)
        assert contents(store) == before
        with store.engine.connect() as connection, connection.begin():
            connection.execute(schema.sites.update().values(state="{}"))
            connection.execute(schema.proposals.delete().where(schema.proposals.c.id == 1))
            connection.execute(schema.proposals.update().values(status="spoiled"))
        upgrade(store.engine)
        assert contents(store) == before


def test_a_damaged_store_is_not_upgraded(empty_database: Database) -> None:
    _make_older(empty_database.url, head="x")
    before = _tables(empty_database.url)
    with pytest.raises(InvalidInput, match=r"site = 'site': has a damaged record \(.*added or lost.*nothing was done"):
        _upgrade(empty_database.url)
    assert _tables(empty_database.url) == before


def test_upgrading_makes_a_store_where_there_is_none_and_leaves_a_newer_one_alone(empty_database: Database) -> None:
    _upgrade(empty_database.url)
    with empty_database.open() as store:
        busy_site(store)
        with store.engine.connect() as connection, connection.begin():
            connection.execute(sa.text(f"UPDATE {schema.VERSION_TABLE} SET version_num = '9999'"))
    before = _tables(empty_database.url)
    with pytest.raises(InvalidInput, match="a newer crewlearn made it"):
        _upgrade(empty_database.url)
    assert _tables(empty_database.url) == before


def test_an_upgraded_store_has_the_tables_of_a_new_one(database: Database, make_database: Any) -> None:
    older: Database = make_database(database.backend)
    _make_older(older.url)
    _upgrade(older.url)
    assert _columns(older.url) == _columns(database.url)
    assert {name for name, _ in _columns(database.url)} == {*schema.metadata.tables, schema.VERSION_TABLE}
    for name, table in schema.metadata.tables.items():
        columns = {column for of, column in _columns(database.url) if of == name}
        assert {column[0] for column in columns} == set(table.c.keys())


def _columns(url: str) -> set[tuple[str, tuple[Any, ...]]]:
    engine = _plain_engine(url)
    look = sa.inspect(engine)
    tables = {
        (name, (column["name"], repr(column["type"]), column["nullable"]))
        for name in look.get_table_names()
        for column in look.get_columns(name)
    }
    engine.dispose()
    return tables


@pytest.mark.parametrize("version_table", [False, True])
def test_a_database_of_something_else_is_refused_and_left_alone(empty_database: Database, version_table: bool) -> None:
    engine = _plain_engine(empty_database.url)
    with engine.connect() as connection, connection.begin():
        connection.execute(sa.text("CREATE TABLE customers (name TEXT)"))
        if version_table:
            connection.execute(sa.text(f"CREATE TABLE {schema.VERSION_TABLE} (version_num TEXT)"))
    engine.dispose()
    before, files = _tables(empty_database.url), _files(empty_database)
    with pytest.raises(InvalidInput, match="is not a crewlearn store: it has the table c"):
        empty_database.open()
    assert _tables(empty_database.url) == before
    assert _files(empty_database) == files


def test_what_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Dear diary, " * 1000)
    with pytest.raises(InvalidInput, match="file is not a database"):
        open_store(f"sqlite:///{path}")
    assert path.read_text() == "Dear diary, " * 1000


@pytest.mark.parametrize("path", ["missing/site.db", "file/site.db", "folder", "/proc/site.db"])
def test_where_nothing_can_be_written_nothing_is_made(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InvalidInput, match="unable to open database file"):
        open_store(f"sqlite:///{tmp_path / path}")


def test_a_read_only_store_can_be_read_and_not_written(database: Database) -> None:
    """As with a file on a read-only medium, or a role that may only read."""
    with database.open() as store:
        site_with_proposals(store)
    if database.backend == "sqlite":
        path = Path(database.url.removeprefix("sqlite:///"))
        url = f"sqlite:///file:{path}?mode=ro&uri=true"
    else:
        engine = make_engine(database.url)
        with engine.connect() as connection, connection.begin():
            for statement in ("DROP ROLE IF EXISTS looker", "CREATE ROLE looker LOGIN"):
                connection.execute(sa.text(statement))
            connection.execute(sa.text("GRANT SELECT ON ALL TABLES IN SCHEMA public TO looker"))
        url = sa.make_url(database.url).set(username="looker").render_as_string()
    try:
        with open_store(url) as store:
            sound(store)
            with pytest.raises(InvalidInput, match=r"cannot be used .*(readonly|permission denied).*nothing was done"):
                commands.approve(store, "site", 1, ME)
            sound(store)
    finally:
        if database.backend == "postgresql":
            with engine.connect() as connection, connection.begin():
                connection.execute(sa.text("DROP OWNED BY looker; DROP ROLE looker"))
            engine.dispose()


@pytest.mark.parametrize(
    ("url", "match"),
    [
        ("nonsense", "is not a database address"),
        ("postgresql://me:secret@host:port/x", "is not a database address"),
        ("mysql://me:secret@localhost/x", "must be an SQLite or PostgreSQL database"),
        ("postgresql://me:secret@127.0.0.1:1/x", "cannot be used"),
    ],
)
def test_an_address_that_leads_nowhere_is_explained_without_its_password(url: str, match: str) -> None:
    with pytest.raises(InvalidInput, match=match) as caught:
        open_store(url)
    assert "secret" not in str(caught.value)


def test_many_may_open_a_new_store_at_once(empty_database: Database) -> None:
    errors: list[BaseException] = []
    gate = threading.Barrier(4)

    def opens(number: int) -> None:
        try:
            gate.wait()
            with empty_database.open() as store:
                commands.create_site(store, f"site {number}", config(), ME)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=opens, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with empty_database.open() as store:
        assert store.names() == [f"site {number}" for number in range(4)]


def test_a_conflict_stays_one_across_processes() -> None:
    again = pickle.loads(pickle.dumps(Conflict("output", 3, "differ")))
    assert (type(again), str(again)) == (Conflict, "output = 3: differ")


def test_a_new_store_is_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with open_store(f"sqlite:///{tmp_path}/s.db") as store:
            busy_site(store)
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert modes == {"s.db": 0o600, "s.db-wal": 0o600, "s.db-shm": 0o600}
