"""Crash safety: a writer killed at any statement or commit leaves its whole command on record, or none of it.

The parent closes its connections before it forks, and the child opens its own: a connection must not be shared.
"""

import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from crewlearn.advisor.advice import commands, pilots, remarks, team
from crewlearn.advisor.advice.answering import answer_many, approval
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.advice.remarks import Term
from crewlearn.advisor.files import imports, output_imports, worker_imports
from crewlearn.advisor.files.columns import OUTPUT, OutputRow, WorkerRow
from crewlearn.advisor.files.intake import profiles
from crewlearn.advisor.files.intake.import_file import ImportFile, ImportOptions
from crewlearn.advisor.files.recording.recorded_imports import undo_import
from crewlearn.advisor.ledger.site import FAILURES
from crewlearn.advisor.ledger.site.request_keys import RequestKey
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.team.recording import TeamRow
from support import holds
from support.forking import forked
from support.pilots import pilot_plan
from support.stores import (
    BACKENDS,
    ME,
    Database,
    config,
    contents,
    day,
    nothing,
    proposed,
    site_with_proposals,
    sound,
    workers,
)


def stages(store: Store) -> None:
    """Create a site at every stage, so that each command finds one to work on."""
    commands.create_site(store, "bare", config(), ME)
    site_with_proposals(store, "proposed")
    site_with_proposals(store, "under way")
    commands.approve(store, "under way", proposed(store, "under way")[0], ME)
    site_with_proposals(store, "recorded")
    output_imports.import_output(store, "recorded", [*day(1), *day(2)], b"", ME)
    site_with_proposals(store, "two approve", second_approver=True)
    site_with_proposals(store, "half approved", second_approver=True)
    commands.approve(store, "half approved", 1, "ben")
    site_with_proposals(store, "profiled")
    imports.take_in(store, "profiled", EXPORT, ME)
    site_with_proposals(store, "in a pilot")
    pilots.start_pilot(store, PILOT, ME)
    site_with_proposals(store, "learning", policy="support.learners:Recent")
    commands.approve(store, "learning", proposed(store, "learning")[0], ME)
    for period in (1, 2, 3):
        output_imports.import_output(store, "learning", day(period), b"", ME)
    output_imports.import_output(store, "learning", [*day(3, "c", 70.0), *day(4, "a")], b"", ME, correct=True)


EXPORT = ImportFile(
    OUTPUT.kind,
    b"Report\n\nDay,Badge,Name,Area,Pieces\n"
    b"2024-01-03,a,,Pick,30\n2024-01-03,a,,Pack,25\n2024-01-03,new,New Person,Pick,50\nTotal,,,,105\n",
    ImportOptions(yes=True),
)
"""A file with a title, two areas, a newcomer and a total, whose reading becomes a profile."""


PILOT = pilot_plan("in a pilot", stations=2, first=date(2024, 1, 1), days=20, looks=(date(2024, 1, 9),))


def offer(outcome: str) -> tuple[str, Callable[[Store], object]]:
    return "under way", lambda store: commands.record_offer(store, "under way", 1, outcome, ME)


def arrive(store: Store) -> None:
    """Record that whoever was approved is in the team, and nobody else."""
    with store.reading() as connection:
        into = store.site(connection, "under way")[1].proposals[1].into
    team.set_team(store, "under way", ["abcdef"[into]], ME)


COMMANDS: dict[str, tuple[str, Callable[[Store], object]]] = {
    "create": ("another", lambda store: commands.create_site(store, "another", config(), ME)),
    "import workers": ("bare", lambda store: worker_imports.import_workers(store, "bare", workers(), b"", ME)),
    "rename and join": (
        "recorded",
        lambda store: worker_imports.import_workers(
            store, "recorded", [WorkerRow("a", name="A"), WorkerRow("g")], b"", ME
        ),
    ),
    "change prior": (
        "recorded",
        lambda store: worker_imports.import_workers(
            store, "recorded", [WorkerRow("a", prior_n=12, prior_mean=70.0)], b"", ME
        ),
    ),
    "import output": ("recorded", lambda store: output_imports.import_output(store, "recorded", day(3), b"", ME)),
    "import an export": ("recorded", lambda store: imports.take_in(store, "recorded", EXPORT, ME)),
    "remove a profile": ("profiled", lambda store: profiles.remove_profile(store, "profiled", "output", ME)),
    "import output with a key": (
        "recorded",
        lambda store: output_imports.import_output(
            store.keyed(RequestKey.of(ME, "key", b"")), "recorded", day(3), b"", ME
        ),
    ),
    "correct output": (
        "recorded",
        lambda store: output_imports.import_output(
            store, "recorded", [*day(1, "a", 70.0), *day(3)], b"", ME, correct=True
        ),
    ),
    "learn a day": ("learning", lambda store: output_imports.import_output(store, "learning", day(5), b"", ME)),
    "learn a corrected day again": (
        "learning",
        lambda store: output_imports.import_output(store, "learning", day(2, "a", 70.0), b"", ME, correct=True),
    ),
    "start in the past": (
        "learning",
        lambda store: commands.record_offer(store, "learning", 1, "started", ME, period=2),
    ),
    "approve": ("proposed", lambda store: commands.approve(store, "proposed", 1, ME)),
    "reject": ("proposed", lambda store: commands.reject(store, "proposed", 1, ME, "no")),
    "approve somebody else": ("proposed", lambda store: commands.approve(store, "proposed", 1, ME, into="f")),
    "approve first": ("two approve", lambda store: commands.approve(store, "two approve", 1, ME)),
    "approve second": ("half approved", lambda store: commands.approve(store, "half approved", 1, ME)),
    "approve several": (
        "proposed",
        lambda store: answer_many(store, "proposed", proposed(store, "proposed"), approval(), ME),
    ),
    "keep the person": (
        "proposed",
        lambda store: remarks.turn_down(store, "proposed", 1, ME, "keep", "no", term=Term(days=9)),
    ),
    "not this candidate": ("proposed", lambda store: remarks.turn_down(store, "proposed", 1, ME, "not-candidate")),
    "not now": ("proposed", lambda store: remarks.turn_down(store, "proposed", 1, ME, "not-now")),
    "protect": ("recorded", lambda store: holds.pin(store, "recorded", "a", ME, "no", term=Term(days=9))),
    "block": ("recorded", lambda store: holds.block(store, "recorded", "f", ME, "no", term=Term(days=9))),
    "note": ("recorded", lambda store: remarks.add_note(store, "recorded", "a", ME, "a note")),
    "reject for good": ("proposed", lambda store: commands.reject(store, "proposed", 1, ME, "no", keep_out=True)),
    **{outcome: offer(outcome) for outcome in ("offered", "accepted", "started", *FAILURES)},
    "undo": ("under way", lambda store: commands.undo(store, "under way", ME)),
    "change site": ("recorded", lambda store: commands.change_site(store, "recorded", {"team": 3}, ME)),
    "undo an import": ("recorded", lambda store: undo_import(store, "recorded", 4, ME)),
    "undo a correction and learn again": ("learning", lambda store: undo_import(store, "learning", 11, ME)),
    "change range": (
        "recorded",
        lambda store: commands.change_site(store, "recorded", {"output_range": "0:120"}, ME),
    ),
    "learn all days in another range": (
        "learning",
        lambda store: commands.change_site(store, "learning", {"output_range": "10:120"}, ME),
    ),
    "change worker": ("recorded", lambda store: commands.change_worker(store, "recorded", "a", ME, status="left")),
    "take a station in the past": (
        "learning",
        lambda store: team.add_to_team(store, "learning", "f", ME, station=1, on=date(2023, 12, 23)),
    ),
    "leave a station": ("under way", lambda store: team.remove_from_team(store, "under way", "a", ME)),
    "arrive outside advice": ("under way", arrive),
    "correct stints": (
        "recorded",
        lambda store: team.record_stints(store, "recorded", [TeamRow("e", date(2024, 1, 1), date(2024, 1, 1), 1)], ME),
    ),
    "record history and its team": (
        "learning",
        lambda store: output_imports.import_output(
            store,
            "learning",
            [OutputRow(2, date(2023, 12, day), None, "e", 60.0, None, "worked") for day in (15, 16, 18, 19, 20)],
            b"",
            ME,
            team_from_output=True,
        ),
    ),
    "start a pilot": (
        "recorded",
        lambda store: pilots.start_pilot(store, pilot_plan("recorded", 2, date(2024, 1, 9), 20), ME),
    ),
    "look at a pilot": ("in a pilot", lambda store: pilots.record_look(store, PILOT, 1, 0.5, ME)),
    "end a pilot": ("in a pilot", lambda store: pilots.end_pilot(store, PILOT, None, ME, "no more")),
    "erase": ("recorded", lambda store: commands.erase_worker(store, "recorded", "a", ME)),
}


def killed(run: Callable[[Callable[..., None]], object], step: int) -> bool:
    """Run `run` in a child that kills itself at `step`; return whether it was killed before the end."""
    steps = itertools.count(1)

    def tick(*_: Any) -> None:
        if next(steps) == step:
            os.kill(os.getpid(), signal.SIGKILL)

    _, status = os.waitpid(forked(lambda: run(tick)), 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0, "the command failed; see its traceback above"
    return False


def run_ticking(database: Database, run: Callable[[Store], object], tick: Callable[..., None]) -> None:
    """Run a command, calling `tick` before and after each statement and each commit."""
    store = database.open()
    dialect: Any = store.engine.dialect
    commit = dialect.do_commit

    def do_commit(connection: Any) -> None:
        tick()
        commit(connection)
        tick()

    dialect.do_commit = do_commit
    sa.event.listen(store.engine, "before_cursor_execute", tick)
    sa.event.listen(store.engine, "after_cursor_execute", tick)
    run(store)


def open_ticking(url: str, tick: Callable[..., None]) -> None:
    """Create a store, calling `tick` before each statement and each commit."""
    sa.event.listen(sa.Engine, "before_cursor_execute", tick)
    sa.event.listen(sa.Engine, "commit", tick)
    open_store(url)


PAIRS = (
    list(itertools.product(COMMANDS, BACKENDS))
    if "CREWLEARN_EVERY_KILL" in os.environ
    else list(zip(COMMANDS, itertools.cycle(BACKENDS), strict=False))
)
"""Each command with a database: the transactions are the same code on both, so they take turns but in `make soak`."""


@pytest.mark.parametrize(("name", "backend"), PAIRS)
def test_killed_at_any_step_a_command_is_done_or_not_begun(prepared: Any, backend: str, name: str) -> None:
    site, run = COMMANDS[name]
    database, undisturbed = prepared(backend, stages), prepared(backend, stages)
    with database.open() as store:
        before = contents(store)
    with undisturbed.open() as store:
        run(store)
        after = contents(store)
    assert after != before
    done, checked = [], list[Any]()
    for step in itertools.count(1):
        ended = not killed(partial(run_ticking, database, run), step)
        with database.open() as store:
            left = contents(store)
            assert left in (before, after), f"step {step} left something half done"
            if left not in checked:  # equal contents give an equal check
                checked.append(left)
                if site in store.names():
                    sound(store, site)
        done.append(left == after)
        if ended:
            break
        if left == after:
            database = prepared(backend, stages)
    assert done[-1], "what returned is on record"
    assert done == sorted(done), "once committed, it stays"
    assert done.index(True) >= 8, "there must be steps before the commit"
    assert done.count(True) >= 2, "and one after it, before the command returns"
    with database.open() as store:
        commands.change_site(store, site, {"fee": 6.5}, ME)
        sound(store, site)


@pytest.mark.parametrize("backend", BACKENDS)
def test_killed_while_the_store_is_made(make_database: Any, prepared: Any, backend: str) -> None:
    """Creating the tables is one transaction too: the next to open the store creates them, or finds them complete."""
    with prepared(backend, nothing).open() as store:
        wanted = contents(store)
    for step in itertools.count(1):
        database = make_database(backend)
        ended = not killed(partial(open_ticking, database.url), step)
        with database.open() as store:
            assert contents(store) == wanted
            commands.create_site(store, "site", config(), ME)
            sound(store)
        if ended:
            break
    assert step > 10


KINDS = [name for name in COMMANDS if name not in ("rename and join", "offered", "accepted", *FAILURES[1:])]
PROGRAM = """
import sys
import test_crash
from support.stores import FIXED_SALT, fixed_clock
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.ledger import identities
identities.new_salt = lambda: FIXED_SALT
store = open_store(sys.argv[1], fixed_clock)
print("ready", flush=True)
test_crash.COMMANDS[sys.argv[2]][1](store)
print("done", flush=True)
"""


@pytest.mark.parametrize(("kind", "backend"), list(zip(KINDS, itertools.cycle(BACKENDS), strict=False)))
def test_a_program_killed_at_any_moment_has_done_its_command_or_not(prepared: Any, kind: str, backend: str) -> None:
    site, run = COMMANDS[kind]
    database, undisturbed = prepared(backend, stages), prepared(backend, stages)
    with database.open() as store:
        before = contents(store)
    with undisturbed.open() as store:
        started = time.perf_counter()
        run(store)
        took = time.perf_counter() - started
        after = contents(store)
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, database.url, kind],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    with program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        time.sleep(took * random.Random(kind).uniform(0.0, 1.5))
        program.kill()
        acknowledged = program.stdout.read() == "done\n"
    with database.open() as store:
        wait_until_alone(store)
        left = contents(store)
        assert left == after or (left == before and not acknowledged)
        if left == before:
            run(store)
        assert contents(store) == after
        sound(store, site)


def wait_until_alone(store: Store) -> None:
    """Wait until the PostgreSQL server has noticed that its client is gone."""
    query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    while store.engine.dialect.name == "postgresql":
        with store.reading() as connection:
            if connection.execute(sa.text(query)).scalar_one() == 0:
                break
        time.sleep(0.01)
