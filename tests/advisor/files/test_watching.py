"""A watched folder: complete files go in once, whatever happens in between."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.files.intake.import_file import ImportOptions
from crewlearn.advisor.files.intake.watching import FolderWatch, watch
from crewlearn.advisor.ledger.errors import StoreBusy
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from crewlearn.problem.errors import InvalidInput
from support.exports import SHAPES, path_of

SHAPE = next(shape for shape in SHAPES if shape.name == "two_areas")
ROWS_A_FILE = 20


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/s.db"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with open_store(url, clock=lambda: datetime(2026, 3, 2, tzinfo=UTC)) as opened:
        config = SiteConfig(
            team=2,
            fee=1.0,
            units=Units(0.0, 900.0),
            calendar=WorkCalendar(date(2026, 1, 5)),
            horizon=200,
            mean_delay=2.0,
            policy="keep-team",
        )
        commands.create_site(opened, "s", config, "ann")
        yield opened
        assert verify(opened, "s").sound


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "in"
    path.mkdir()
    return path


def watched(store: Store, folder: Path, yes: bool = True) -> FolderWatch:
    return FolderWatch(store, "s", folder, "ann", ImportOptions(yes=yes))


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


def rows_on_record(store: Store) -> int:
    checked = verify(store, "s")
    assert checked.sound, checked.faults
    return checked.rows


def test_files_go_in_once_they_stop_growing_and_are_moved_with_a_report(store: Store, folder: Path) -> None:
    source = path_of(SHAPE, 0)
    whole = source.read_bytes()
    growing = folder / source.name
    growing.write_bytes(whole[:200])
    look = watched(store, folder)
    assert list(look.look()) == []
    growing.write_bytes(whole)
    assert list(look.look()) == []  # it has changed since
    (taken,) = look.look()
    assert taken.result is not None
    assert (taken.result.recorded, taken.result.enrolled) == (ROWS_A_FILE, 5)
    assert names(folder) == {"done"}
    report = json.loads((folder / "done" / f"{source.name}.report.json").read_text())
    assert (report["outcome"], report["recorded"]) == ("done", ROWS_A_FILE)
    assert "20 rows recorded" in (folder / "done" / f"{source.name}.report.txt").read_text()


def test_the_profile_reads_the_next_file_and_what_cannot_be_read_is_set_apart(store: Store, folder: Path) -> None:
    shutil.copy(path_of(SHAPE, 0), folder)
    list(watch(watched(store, folder), every=0.01, once=True))
    shutil.copy(path_of(SHAPE, 1), folder)
    (folder / "notes.txt").write_text("nothing here\n")
    (folder / ".hidden.csv").write_text("x")
    (folder / "linked.csv").symlink_to(path_of(SHAPE, 1))
    taken = {file.name: file for file in watch(watched(store, folder, yes=False), every=0.01, once=True)}
    assert set(taken) == {path_of(SHAPE, 1).name, "notes.txt"}
    failed = taken["notes.txt"]
    assert failed.result is None
    assert "nothing was recorded" in (folder / "failed" / "notes.txt.report.txt").read_text()
    assert rows_on_record(store) == 2 * ROWS_A_FILE
    assert names(folder) == {"done", "failed", ".hidden.csv", "linked.csv"}


def test_a_file_of_the_same_name_does_not_replace_an_earlier_one(store: Store, folder: Path) -> None:
    for _ in range(2):
        shutil.copy(path_of(SHAPE, 0), folder)
        list(watch(watched(store, folder), every=0.01, once=True))
    done = {name for name in names(folder / "done") if "report" not in name}
    assert done == {path_of(SHAPE, 0).name, path_of(SHAPE, 0).stem + "-2.csv"}
    assert rows_on_record(store) == ROWS_A_FILE


def test_a_busy_store_is_no_fault_of_the_file(store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(path_of(SHAPE, 0), folder)
    look = watched(store, folder)
    list(look.look())

    def busy(*given: object, **named: object) -> None:
        raise StoreBusy("s.db", "is busy")

    with monkeypatch.context() as patched:
        patched.setattr("crewlearn.advisor.files.intake.watching.take_in_output", busy)
        assert list(look.look()) == []
    assert names(folder) == {path_of(SHAPE, 0).name}
    assert [file.name for file in look.look()] == [path_of(SHAPE, 0).name]


def test_a_stop_between_record_and_move_records_nothing_twice(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(path_of(SHAPE, 0), folder)
    look = watched(store, folder)
    list(look.look())

    def stopped(*given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", stopped)
        with pytest.raises(KeyboardInterrupt):
            list(look.look())
    assert path_of(SHAPE, 0).name in names(folder)
    assert rows_on_record(store) == ROWS_A_FILE
    (taken,) = watch(watched(store, folder), every=0.01, once=True)
    assert taken.result is not None
    assert (taken.result.recorded, taken.result.known) == (0, ROWS_A_FILE)
    assert rows_on_record(store) == ROWS_A_FILE


def test_a_killed_watch_leaves_each_file_waiting_or_recorded(store: Store, folder: Path, url: str) -> None:
    """The process is killed at different moments; the next one ends the work."""
    command = [sys.executable, "-m", "crewlearn", "output", "watch", "s", str(folder), "--yes", "--every", "0.05"]
    for week, wait in ((0, 1.0), (1, 1.6)):
        shutil.copy(path_of(SHAPE, week), folder)
        process = subprocess.Popen([*command, "--db", url], stdout=subprocess.DEVNULL, env=os.environ)
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert rows_on_record(store) in range(0, (week + 1) * ROWS_A_FILE + 1, ROWS_A_FILE)
    list(watch(watched(store, folder), every=0.01, once=True))
    assert rows_on_record(store) == 2 * ROWS_A_FILE
    assert names(folder) <= {"done", "failed"}
    assert not names(folder / "failed")


def test_the_watch_ends_in_time_and_needs_a_folder(store: Store, folder: Path) -> None:
    begin = time.monotonic()
    assert list(watch(watched(store, folder), every=0.05, seconds=0.2)) == []
    assert 0.15 < time.monotonic() - begin < 5.0
    with pytest.raises(InvalidInput, match="must be a folder that exists"):
        watched(store, folder / "missing")


def test_unusual_output_fails_with_a_report_and_nothing_recorded(store: Store, folder: Path) -> None:
    """`yes` accepts how a file is read, not what is unusual about it."""
    days = [date(2026, 1, 5 + 7 * week + day) for week in range(2) for day in range(5)]
    lines = [f"{day},{who},{500 + place}" for day in days for place, who in enumerate("abcd")]
    (folder / "first.csv").write_text("\n".join(["date,worker_id,units", *lines]))
    wrong = [f"2026-01-19,{who},{8 if who == 'b' else 501}" for who in "abcd"]
    (folder / "second.csv").write_text("\n".join(["date,worker_id,units", *wrong, ""]))
    os.utime(folder / "first.csv", (1, 1))
    options = ImportOptions(yes=True, overtime=True)
    first, second = watch(FolderWatch(store, "s", folder, "ann", options), every=0.05, once=True)
    assert (first.result is not None, second.result) == (True, None)
    assert second.moved_to == folder / "failed" / "second.csv"
    report = (folder / "failed" / "second.csv.report.txt").read_text()
    assert "line 3, worker b, 2026-01-19: 8, usual of this person is about 501" in report
    assert "accept_unusual" in json.loads((folder / "failed" / "second.csv.report.json").read_text())["fault"]
    (folder / "failed" / "second.csv").rename(folder / "second.csv")
    accepted = FolderWatch(store, "s", folder, "ann", ImportOptions(yes=True, accept_unusual=True))
    (third,) = watch(accepted, every=0.05, once=True)
    assert third.result is not None
    assert (third.result.recorded, len(third.result.unusual)) == (4, 1)
    report = json.loads((folder / "done" / "second.csv.report.json").read_text())
    assert [odd["worker_id"] for odd in report["unusual"]] == ["b"]
