"""Concurrent writers and readers: no update is lost, no reader sees a partial write, and conflicts are reported."""

import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from crewlearn.advisor.advice import commands, remarks, team
from crewlearn.advisor.files import output_imports, worker_imports
from crewlearn.advisor.files.columns import OutputRow, WorkerRow
from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.events import REFUSALS, WorkerChanged
from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import InvalidInput
from support.forking import forked
from support.stores import ME, Database, config, contents, day, proposed, site_with_proposals, sound, state_of

PROCESSES, PERIODS = 8, 12


def in_processes(jobs: Sequence[Callable[[], Any]], folder: Path) -> list[Any]:
    """Run jobs in forked processes that begin together; return their results, which must be JSON."""
    gate_out, gate_in = os.pipe()

    def work(number: int, job: Callable[[], Any]) -> None:
        os.close(gate_in)
        os.read(gate_out, 1)  # returns when the parent closes its end
        (folder / str(number)).write_text(json.dumps(job()))

    children = [forked(partial(work, number, job)) for number, job in enumerate(jobs)]
    os.close(gate_out)
    os.close(gate_in)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * len(jobs)
    return [json.loads((folder / str(number)).read_text()) for number in range(len(jobs))]


def busy_person(database: Database, number: int) -> list[list[Any]]:
    """Record two workers' output day by day and answer open proposals; return the acknowledged answers."""
    actor, done = f"person {number}", []
    with database.open() as store:
        for period in range(1, PERIODS + 1):
            rows = [
                OutputRow(2, None, period, f"{number}-{own}", 10.0 * own + number + period, None, "worked")
                for own in range(2)
            ]
            assert output_imports.import_output(store, "site", rows, b"", actor, accept_unusual=True).recorded == 2
            remarks.add_note(store, "site", f"{number}-0", actor, f"{actor}, period {period}")
            for proposal in proposed(store):
                try:
                    if (proposal + number) % 2:
                        commands.approve(store, "site", proposal, actor)
                        done.append(["proposal-approved", proposal])
                    elif (proposal + number) % 4:
                        remarks.turn_down(store, "site", proposal, actor, REFUSALS[proposal % 3], actor)
                        done.append(["proposal-turned-down", proposal])
                    else:
                        commands.reject(store, "site", proposal, actor, actor)
                        done.append(["proposal-rejected", proposal])
                except Conflict:
                    pass  # another person answered it, or new facts withdrew it
    return done


def test_eight_processes_write_to_one_site_and_nothing_is_lost(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock timeout is long enough for a slow machine; another test covers a timeout."""
    monkeypatch.setattr("crewlearn.advisor.ledger.db.engine.LOCK_SECONDS", 600.0)
    with database.open() as store:
        commands.create_site(store, "site", config(team=4), ME)
        people = [
            WorkerRow(f"{number}-{own}", active=number < 4 and own == 0, prior_n=5, prior_mean=own * 60.0 + number)
            for number in range(PROCESSES)
            for own in range(2)
        ]
        worker_imports.import_workers(store, "site", people, b"", ME)
    done = in_processes([partial(busy_person, database, number) for number in range(PROCESSES)], tmp_path)
    with database.open() as store:
        sound(store)
        tables = contents(store)
        rows = {row[1:3]: row[4] for row in tables["output_rows"]}
        expected = {
            (2 * number + own, period): 10.0 * own + number + period
            for number in range(PROCESSES)
            for own in range(2)
            for period in range(1, PERIODS + 1)
        }
        assert rows == expected
        notes = {worker: [note.text for note in listed] for worker, listed in state_of(store).remarks.notes.items()}
        assert notes == {
            2 * number: [f"person {number}, period {period}" for period in range(1, PERIODS + 1)]
            for number in range(PROCESSES)
        }
        answers = [
            [row[3], row[5], json.loads(row[6])["proposal"]]
            for row in tables["events"]
            if row[5] in ("proposal-approved", "proposal-rejected", "proposal-turned-down")
        ]
        acknowledged = [[f"person {number}", *answer] for number, own in enumerate(done) for answer in own]
        assert sorted(answers) == sorted(acknowledged)
        assert len({answer[2] for answer in answers}) == len(answers) > 0, "each proposal is answered once"


def import_or_conflict(database: Database, rows: list[OutputRow]) -> Any:
    with database.open() as store:
        try:
            done = output_imports.import_output(store, "site", rows, b"", ME)
        except Conflict as error:
            return str(error)
    return [done.recorded, done.known]


def keeper_of_the_team(database: Database, number: int) -> list[list[Any]]:
    """Record history, of days that others record too, and take stations on past days."""
    actor, worker, done = f"person {number}", f"{number}-0", list[list[Any]]()
    with database.open() as store:
        for step in range(6):
            when = date(2023, 12, 20) - timedelta(days=number % 3 + 3 * step)
            row = OutputRow(2, when, None, worker, 40.0 + number, None, "worked")
            output_imports.import_output(store, "site", [row], b"", actor, team_from_output=step == 5)
            done.append([worker, str(when)])
            try:
                team.add_to_team(store, "site", worker, actor, station=number % 4 + 1, on=when + timedelta(days=40))
                if step % 2:
                    team.remove_from_team(store, "site", worker, actor, on=when + timedelta(days=50))
            except Conflict:
                pass  # somebody else has the station by now
    return done


def test_eight_processes_change_the_team_and_open_days_at_once(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Days opened at once share their numbers, and nobody is at two stations."""
    monkeypatch.setattr("crewlearn.advisor.ledger.db.engine.LOCK_SECONDS", 600.0)
    with database.open() as store:
        commands.create_site(store, "site", config(team=4), ME)
        people = [WorkerRow(f"{number}-0", active=number < 4) for number in range(PROCESSES)]
        worker_imports.import_workers(store, "site", people, b"", ME)
    done = in_processes([partial(keeper_of_the_team, database, number) for number in range(PROCESSES)], tmp_path)
    with database.open() as store:
        sound(store)
        site = state_of(store)
        calendar = site.config.calendar
        numbers = [number for day in calendar.opened for number in day.numbers]
        assert len(numbers) == len(set(numbers))
        rows = {(worker, str(calendar.date_of(period))) for _, worker, period, *_ in contents(store)["output_rows"]}
    assert rows == {(int(worker[0]), when) for several in done for worker, when in several}
    site.roster.check()


def test_two_import_the_same_file_at_once(database: Database, tmp_path: Path) -> None:
    with database.open() as store:
        site_with_proposals(store)
    job = partial(import_or_conflict, database, day(1))
    assert sorted(in_processes([job, job], tmp_path)) == [[0, 2], [2, 0]]
    with database.open() as store:
        sound(store)


def test_two_import_other_values_at_once(database: Database, tmp_path: Path) -> None:
    with database.open() as store:
        site_with_proposals(store)
    jobs = [partial(import_or_conflict, database, day(1, units=units)) for units in (50.0, 60.0)]
    answers = in_processes(jobs, tmp_path)
    assert [2, 0] in answers
    assert any("`correct` replaces them" in answer for answer in answers)
    with database.open() as store:
        sound(store)


def create_or_conflict(database: Database) -> str:
    with database.open() as store:
        try:
            commands.create_site(store, "site", config(), ME)
        except Conflict as error:
            return str(error)
    return "made"


def test_two_make_the_store_and_the_same_site_at_once(empty_database: Database, tmp_path: Path) -> None:
    answers = in_processes([partial(create_or_conflict, empty_database)] * 4, tmp_path)
    assert answers.count("made") == 1
    assert sum("exists already" in answer for answer in answers) == 3
    with empty_database.open() as store:
        sound(store)


def test_a_reader_sees_the_old_state_during_a_write_and_one_view_throughout(store: Store, database: Database) -> None:
    site_with_proposals(store)
    before = contents(store)
    with database.open() as other:
        with store.writing("site", ME) as work:
            work.add(WorkerChanged(0, {"pinned": True}))
            assert contents(other) == before
            assert not state_of(other).workers[0].pinned
            sound(other)
        assert state_of(other).workers[0].pinned
        with other.reading() as connection:
            count = other.site(connection, "site")[2]
            output_imports.import_output(store, "site", day(1), b"", ME)
            assert other.site(connection, "site")[2] == count, "a view that has begun stays as it is"
        assert state_of(other).period == 2


def test_whoever_cannot_get_the_lock_is_told(store: Store, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    site_with_proposals(store)
    monkeypatch.setattr("crewlearn.advisor.ledger.db.engine.LOCK_SECONDS", 0.2)
    with database.open() as other:
        with store.writing("site", ME) as work:
            work.add(WorkerChanged(0, {"pinned": True}))
            started = time.perf_counter()
            with pytest.raises(
                Conflict, match=r"locked by another writer for more than 0\.2 s; nothing was done, try again"
            ):
                output_imports.import_output(other, "site", day(1), b"", ME)
            assert 0.15 < time.perf_counter() - started < 5.0
        output_imports.import_output(other, "site", day(1), b"", ME)
        sound(other)
    assert state_of(store).workers[0].pinned


def test_a_writer_waits_for_the_lock(store: Store, database: Database) -> None:
    site_with_proposals(store)
    with database.open() as other:
        late = threading.Thread(target=output_imports.import_output, args=(other, "site", day(1), b"", "late"))
        with store.writing("site", "early") as work:
            late.start()
            time.sleep(0.3)
            work.add(WorkerChanged(0, {"pinned": True}))
        late.join()
    actors = [row[3] for row in sorted(contents(store)["events"], key=lambda row: row[1])]
    assert actors == [ME, ME, ME, "early", "early", "late", "late"]
    sound(store)


def test_writers_of_other_sites_do_not_lose_each_other(store: Store, database: Database, tmp_path: Path) -> None:
    names = ["one", "two", "three"]
    for name in names:
        site_with_proposals(store, name)
    store.close()

    def record(name: str) -> int:
        with database.open() as own:
            return sum(output_imports.import_output(own, name, day(period), b"", ME).recorded for period in range(1, 5))

    assert in_processes([partial(record, name) for name in names], tmp_path) == [8, 8, 8]
    for name in names:
        sound(store, name)


def test_a_failing_command_gives_the_lock_back(store: Store, database: Database) -> None:
    site_with_proposals(store)
    before = contents(store)

    def fail() -> None:
        with store.writing("site", ME) as work:
            work.add(WorkerChanged(0, {"pinned": True}))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert contents(store) == before
    with database.open() as other:
        output_imports.import_output(other, "site", day(1), b"", ME)
        sound(other)


def test_a_lost_connection_is_told_and_the_next_command_works(prepared: Any) -> None:
    with prepared("postgresql", site_with_proposals).open() as store:
        before = contents(store)

        def cut_off() -> None:
            with store.writing("site", ME) as work:
                number = work.connection.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()
                with store.engine.connect() as other:
                    other.execute(sa.text(f"SELECT pg_terminate_backend({number})"))
                time.sleep(0.1)
                work.add(WorkerChanged(0, {"pinned": True}))

        with pytest.raises(InvalidInput, match=r"lost the connection .*try again"):
            cut_off()
        assert contents(store) == before
        output_imports.import_output(store, "site", day(1), b"", ME)
        with store.engine.connect() as victim, store.engine.connect() as killer:
            number = victim.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()
            killer.execute(sa.text(f"SELECT pg_terminate_backend({number})"))
            victim.invalidate()
        output_imports.import_output(store, "site", day(2), b"", ME)
        sound(store)


def test_clashes_are_conflicts(prepared: Any) -> None:
    """Of two transactions in a deadlock, one raises a conflict."""
    with prepared("postgresql", site_with_proposals).open() as store:
        commands.create_site(store, "other", config(), ME)
        gate = threading.Barrier(2)
        conflicts: list[str] = []

        def take(first: str, second: str) -> None:
            try:
                with store.writing(first, ME) as work:
                    gate.wait()
                    query = "SELECT id FROM sites WHERE name = :name FOR UPDATE"
                    work.connection.execute(sa.text(query), {"name": second})
            except Conflict as error:
                conflicts.append(str(error))

        threads = [threading.Thread(target=take, args=pair) for pair in (("site", "other"), ("other", "site"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(conflicts) == 1
        assert "deadlock detected" in conflicts[0]
        sound(store)
