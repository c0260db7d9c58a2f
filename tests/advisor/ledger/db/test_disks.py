"""What becomes of an SQLite store when the power fails, the disk is full, nobody may write, or somebody reads on."""

import resource
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from typer.testing import CliRunner

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.files import output_imports, worker_imports
from crewlearn.advisor.files.columns import WorkerRow
from crewlearn.advisor.ledger.errors import StoreUnavailable
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from crewlearn.cli.main import app
from crewlearn.web.notices.rounds import Rounds
from crewlearn.web.settings import Settings
from support.stores import ME, busy_site, contents, day, fixed_clock, proposed, site_with_proposals, sound, state_of

FRAME, HEADER = 24, 32
"""Bytes before each page in SQLite's log, and before the first of them."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "site.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{path}", fixed_clock) as opened:
        yield opened


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def events_of(store: Store) -> int:
    """How many events a sound store has; 0 before its site was made."""
    if not store.names():
        return 0
    sound(store)
    return verify(store, "site").events


def days_acknowledged(store: Store, path: Path) -> Iterator[tuple[int, int]]:
    """Record things at a site; yield the size of the log and the number of events after each command returned."""
    site_with_proposals(store)
    yield log_of(path).stat().st_size, events_of(store)
    for what in (
        lambda: output_imports.import_output(store, "site", day(1), b"", ME),
        lambda: commands.approve(store, "site", proposed(store)[0], ME),
        lambda: worker_imports.import_workers(store, "site", [WorkerRow("new")], b"", ME),
        lambda: output_imports.import_output(store, "site", [*day(1, "a", 60.0), *day(2)], b"", ME, correct=True),
    ):
        what()
        yield log_of(path).stat().st_size, events_of(store)


@pytest.mark.parametrize("torn", ["ends there", "has zeros after that", "has other bytes after that"])
def test_after_a_power_failure_the_store_has_what_was_acknowledged(store: Store, path: Path, torn: str) -> None:
    """The log reached the disk up to some byte: every command that had returned by then is on record."""
    store.scrub()  # tables alone, and an empty log
    made = path.read_bytes()
    acknowledged = list(days_acknowledged(store, path))
    log = log_of(path).read_bytes()
    with closing(sqlite3.connect(path)) as connection:
        frame = FRAME + connection.execute("PRAGMA page_size").fetchone()[0]
    assert path.read_bytes() == made, "all of it is in the log"
    frames = (len(log) - HEADER) // frame
    ends = {size for size, _ in acknowledged}
    cuts = sorted({0, 7, HEADER, *ends, *(end - 1 for end in ends), *(HEADER + n * frame for n in range(0, frames, 9))})
    assert len(cuts) > 15
    seen = set()
    for number, cut in enumerate(cuts):
        copy = path.with_name(f"copy-{number}.db")
        copy.write_bytes(made)
        rest = len(log) - cut
        tail = {"e": b"", "z": bytes(rest), "o": bytes(255 - byte for byte in log[cut:])}
        log_of(copy).write_bytes(log[:cut] + tail[{"ends there": "e", "has zeros after that": "z"}.get(torn, "o")])
        with open_store(f"sqlite:///{copy}", fixed_clock) as again:
            found = events_of(again)
            least = max([events for size, events in acknowledged if size <= cut], default=0)
            most = min([events for size, events in acknowledged if size > cut], default=acknowledged[-1][1])
            assert least <= found <= most, (cut, found, least, most)
            seen.add(found)
            if found:
                commands.change_site(again, "site", {"fee": 6.5}, ME)
                sound(again)
    assert {events for _, events in acknowledged} <= seen


def test_a_power_failure_while_the_log_is_written_back_loses_nothing(store: Store, path: Path) -> None:
    store.scrub()
    before = path.read_bytes()
    acknowledged = list(days_acknowledged(store, path))
    log = log_of(path).read_bytes()
    with closing(sqlite3.connect(path)) as connection:
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    assert store.scrub()
    after = path.read_bytes()
    pages = len(after) // size
    for written in range(0, pages + 1, max(1, pages // 8)):
        copy = path.with_name(f"copy-{written}.db")
        copy.write_bytes(after[: written * size] + before[written * size :])
        log_of(copy).write_bytes(log)
        with open_store(f"sqlite:///{copy}", fixed_clock) as again:
            assert events_of(again) == acknowledged[-1][1]


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """Let this process write no file beyond a size: like a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_that_takes_no_more_is_told_and_nothing_is_half_written(store: Store, path: Path) -> None:
    busy_site(store)
    before, room = contents(store), log_of(path).stat().st_size
    for more in (0, 5_000, 20_000):
        with (
            no_file_larger_than(room + more),
            pytest.raises(StoreUnavailable, match="nothing was done: the disk takes no more, or a limit on the size"),
        ):
            output_imports.import_output(store, "site", day(4, "cd"), b"", ME)
        assert contents(store) == before
    output_imports.import_output(store, "site", day(4, "cd"), b"", ME)
    assert contents(store) != before
    assert log_of(path).stat().st_size > room + 20_000
    sound(store)


def test_a_full_database_is_told_and_nothing_is_half_written(path: Path) -> None:
    with open_store(f"sqlite:///{path}", fixed_clock) as store:
        busy_site(store)
        before = contents(store)
        sa.event.listen(store.engine, "begin", lambda connection: connection.exec_driver_sql("PRAGMA max_page_count=1"))
        people = [WorkerRow(f"new{number}", name="N" * 200) for number in range(500)]
        with pytest.raises(StoreUnavailable, match=r"is full\); nothing was done: the disk is full; free some space"):
            worker_imports.import_workers(store, "site", people, b"", ME)
        assert contents(store) == before
        sound(store)


def test_a_store_that_may_not_be_written_says_so(store: Store, path: Path) -> None:
    busy_site(store)
    before = contents(store)
    with open_store(f"sqlite:///file:{path}?mode=ro&uri=true") as reader:
        with pytest.raises(StoreUnavailable, match="nothing was done: the store is read-only here; let this account"):
            commands.change_site(reader, "site", {"fee": 6.5}, ME)
        sound(reader)
    assert contents(store) == before


def test_an_erased_name_in_the_log_is_told_of_until_it_is_gone(store: Store, path: Path, monkeypatch: Any) -> None:
    """Another program reads: the log that has the name cannot be emptied before it ends."""
    monkeypatch.setattr("crewlearn.advisor.ledger.db.engine._SCRUB_SECONDS", 0.1)
    site_with_proposals(store)
    worker_imports.import_workers(store, "site", [WorkerRow("g", name="Erika Mustermann")], b"", ME)

    def places() -> set[str]:
        return {file.name for file in path.parent.iterdir() if b"Mustermann" in file.read_bytes()}

    rounds = Rounds(store, Settings())
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchone()
        commands.erase_worker(store, "site", "g", ME)
        assert places() >= {"site.db-wal"}
        assert f"what was erased is still in {path}-wal, because another program is reading" in store.leftover
        rounds.make()
        assert store.leftover
        outcome = CliRunner().invoke(app, ["workers", "erase", "site", "f", "--db", f"sqlite:///{path}"])
        assert outcome.exit_code == 0
        assert f"warning: what was erased is still in {path}-wal" in outcome.stderr
    rounds._passed = -60.0  # a minute later
    rounds.make()
    assert (places(), store.leftover) == (set(), "")
    assert state_of(store).workers[6].status == "left"
    sound(store)


def test_copies_are_whole_while_the_store_is_written(store: Store, path: Path, tmp_path: Path) -> None:
    """Copies of the files between any two statements of a command, as a snapshot of the disk takes them."""
    site_with_proposals(store)
    before, copies = events_of(store), list[Path]()

    def copied(*_: Any) -> None:
        copy = tmp_path / f"snapshot-{len(copies)}.db"
        shutil.copy(path, copy)
        shutil.copy(log_of(path), log_of(copy))
        copies.append(copy)

    sa.event.listen(store.engine, "after_cursor_execute", copied)
    output_imports.import_output(store, "site", day(1), b"", ME)
    sa.event.remove(store.engine, "after_cursor_execute", copied)
    copied()
    after = events_of(store)
    found = []
    for copy in copies[:: max(1, len(copies) // 10)] + copies[-1:]:
        with open_store(f"sqlite:///{copy}", fixed_clock) as again:
            found.append(events_of(again))
    assert set(found) == {before, after}
    assert found == sorted(found)
