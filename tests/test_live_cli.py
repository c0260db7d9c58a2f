"""The live side as a manager uses it: commands in a folder, files as spreadsheets write them, mistakes."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from crewlearn.advisor.store import open_store
from crewlearn.advisor.verify import verify
from crewlearn.cli.main import app

RUNNER = CliRunner()
START = date(2026, 1, 5)


class Desk:
    """A folder with a store, and the command line."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"sqlite:///{folder}/crewlearn.db"

    def run(self, *arguments: str, code: int = 0) -> Any:
        outcome = RUNNER.invoke(app, [*arguments, "--db", self.url])
        assert outcome.exit_code == code, (arguments, outcome.output, outcome.exception)
        assert "Traceback" not in outcome.output
        return outcome

    def json(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments, "--json").stdout)

    def file(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def create(self, *more: str) -> None:
        arguments = ["--team", "2", "--cost", "5", "--horizon", "200", "--mean-delay", "2", "--output-range", "0:100"]
        self.run("site", "create", "north", *arguments, "--start", str(START), *more)
        workers = "worker_id;name;active\n" + "".join(f"{n};Name {n};{'x' if n < 3 else ''}\n" for n in range(1, 6))
        self.run("workers", "import", "north", self.file("workers.csv", workers))

    def days(self, count: int, first: int = 0) -> str:
        lines, day, done = ["Datum;Badge no;Menge"], START, 0
        while done < first + count:
            if day.weekday() < 5:
                done += 1
                if done > first:
                    lines += [f"{day:%d.%m.%Y};1;{80 + done % 3},5", f"{day:%d.%m.%Y};2;{10 + done % 4},25"]
            day += timedelta(days=1)
        return self.file("output.csv", "\n".join(lines) + "\n")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("CREWLEARN_ACTOR", "ann")
    monkeypatch.delenv("CREWLEARN_DB", raising=False)
    return Desk(tmp_path)


def test_a_morning_from_setting_up_to_the_next_candidate(desk: Desk) -> None:
    desk.create()
    assert "Wait" in desk.run("advise", "north").stdout
    assert desk.json("output", "import", "north", desk.days(8))["recorded"] == 16
    assert desk.json("output", "import", "north", desk.days(8))["known"] == 16
    advice = desk.json("advise", "north")
    assert (advice["kind"], advice["period"]) == ("propose", 9)
    assert desk.json("advise", "north") == advice
    (proposal,) = [one for one in advice["proposals"] if one["out"] == "2"]
    number = str(proposal["id"])
    text = desk.run("explain", "north", number).stdout
    assert "Name 2 (2), in the team now" in text
    assert "the fee is 5.00" in text
    desk.run("approve", "north", number)
    said = desk.run("offer", "north", number, "declined").stdout
    assert "Recorded: declined." in said
    after = desk.json("advise", "north")
    assert proposal["in"] not in [one["in"] for one in after["proposals"]]
    assert after["proposals"]
    assert f"({proposal['in']}) for Name 2 (2) is declined" in after["changed"]
    assert advice["changed"] is None
    desk.run("undo", "north")
    desk.run("offer", "north", number, "started", "--on", str(date(2026, 1, 15)))
    status = desk.json("status", "north")
    assert {one["worker_id"] for one in status["workers"] if one["station"]} == {"1", proposal["in"]}
    assert status["fees"] == 5.0
    assert desk.json("ledger", "verify", "north")["sound"]
    decisions = list(csv.DictReader(io.StringIO(desk.run("ledger", "export", "north", "--what", "decisions").stdout)))
    assert decisions[proposal["id"] - 1]["status"] == "started"
    events = [json.loads(line) for line in desk.run("ledger", "export", "north").stdout.splitlines()]
    assert [event["number"] for event in events] == list(range(1, len(events) + 1))
    assert {event["actor"] for event in events} == {"ann"}
    assert "Name" not in json.dumps(events)


def test_everything_put_in_comes_out(desk: Desk) -> None:
    desk.create()
    desk.run("output", "import", "north", desk.days(3))
    output = list(csv.DictReader(io.StringIO(desk.run("ledger", "export", "north", "--what", "output").stdout)))
    assert [(row["date"], row["worker_id"], row["units"]) for row in output[:2]] == [
        ("2026-01-05", "1", "81.5"),
        ("2026-01-05", "2", "11.25"),
    ]
    workers = list(csv.DictReader(io.StringIO(desk.run("ledger", "export", "north", "--what", "workers").stdout)))
    assert [row["worker_id"] for row in workers if row["active"] == "yes"] == ["1", "2"]


def test_errors_in_a_file_are_listed_and_nothing_is_written(desk: Desk) -> None:
    desk.create()
    before = desk.json("status", "north")
    bad = "date,worker_id,units\n2026-01-05,1,abc\n2026-13-05,2,5\n2026-01-05,1,NaN\n"
    outcome = desk.run("output", "import", "north", desk.file("bad.csv", bad), code=2)
    for words in ("line", "column", "expected", "'abc'", "'2026-13-05'"):
        assert words in outcome.stderr
    for text, said in (
        ("date,worker_id,units\n2026-01-05,9,5\n", "a worker known here"),
        ("date,worker_id,units\n2026-01-10,1,5\n", "2026-01-10"),
        ("date,worker_id,units\n2199-01-07,1,5\n", "future"),
        ("date,worker_id,units,hours\n2026-01-05,1,5,-3\n", "hours"),
        ("day,units\n2026-01-05,5\n", "worker_id"),
        ("", "bad.csv"),
    ):
        outcome = desk.run("output", "import", "north", desk.file("bad.csv", text), code=2)
        assert said in outcome.stderr, (text, outcome.stderr)
    assert desk.json("status", "north") == before


def test_formulas_in_names_are_neutralised_in_exports(desk: Desk) -> None:
    desk.create()
    desk.run("workers", "import", "north", desk.file("more.csv", 'worker_id,name\n=1+1,"=HYPERLINK(""x"")"\n'))
    text = desk.run("ledger", "export", "north", "--what", "workers").stdout
    assert "'=1+1" in text
    assert "\n=" not in text


def test_wrong_use_is_said_plainly(desk: Desk) -> None:
    desk.create()
    for arguments, said in (
        (["advise", "south"], "there are ['north']"),
        (["approve", "north", "7"], "does not exist"),
        (["offer", "north", "7", "started"], "does not exist"),
        (["offer", "north", "7", "eaten"], "eaten"),
        (["undo", "north"], "no answer"),
        (["explain", "north", "7"], "7"),
        (["workers", "set", "north", "99", "--status", "left"], "99"),
        (["workers", "set", "north", "1", "--status", "lost"], "lost"),
        (["workers", "import", "north", "/nowhere.csv"], "/nowhere.csv"),
        (["site", "set", "north", "policy=oracle"], "no site knows"),
        (["site", "set", "north", "team"], "setting=value"),
        (["ledger", "export", "north", "--what", "all"], "what"),
    ):
        assert said in desk.run(*arguments, code=2).stderr
    again = ["--team", "1", "--cost", "1", "--horizon", "9", "--mean-delay", "0", "--output-range", "0:1"]
    assert "exists already" in desk.run("site", "create", "north", *again, code=2).stderr
    assert "output range" in desk.run("site", "create", "x", *again[:-1], "1:1", code=2).stderr


def test_groups_are_compared_and_kept_nowhere(desk: Desk) -> None:
    desk.create()
    desk.run("output", "import", "north", desk.days(8))
    before = Path(desk.folder / "crewlearn.db").read_bytes()
    groups = desk.file("groups.csv", "worker_id,group\n1,purple-group\n2,purple-group\n3,green-group\n4,green-group\n")
    text = desk.run("ledger", "impact", "north", "--groups", groups).stdout
    assert "not legal clearance" in text
    assert "green-group (few)" in text
    assert Path(desk.folder / "crewlearn.db").read_bytes() == before
    assert b"purple-group" not in before


def test_the_demo_and_its_plan(desk: Desk) -> None:
    desk.run("demo")
    assert desk.json("ledger", "verify", "demo")["sound"]
    found = desk.json("plan", "demo", "--policy", "keep-team", "--runs", "20")
    assert found
    assert "demo" in desk.run("site", "list").stdout
    assert "Stations filled" in desk.run("status", "demo", "--sheet").stdout


@pytest.mark.parametrize("wait", [0.35, 0.55, 0.7, 0.9])
def test_a_killed_command_leaves_the_store_whole(desk: Desk, wait: float) -> None:
    """A real shell command, killed somewhere on its way: all of it is on record, or nothing."""
    desk.create()
    desk.run("output", "import", "north", desk.days(5))
    before = desk.json("status", "north")
    command = [sys.executable, "-m", "crewlearn", "output", "import", "north", desk.days(60, first=5), "--db", desk.url]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ)
    time.sleep(wait)
    process.send_signal(signal.SIGKILL)
    said, _ = process.communicate()
    after = desk.json("status", "north")
    whole = after["period"] == before["period"] + 60
    assert whole or after == before
    assert whole or b"recorded" not in said  # what was acknowledged is there
    store = open_store(desk.url)
    assert verify(store, "north").sound
    store.engine.dispose()
    desk.run("output", "import", "north", desk.days(60, first=5))
    assert desk.json("status", "north")["period"] == before["period"] + 60


KINDS: dict[str, list[str]] = {
    "site create": [
        *("site", "create", "south", "--team", "1", "--cost", "1", "--horizon", "9", "--mean-delay", "1"),
        *("--output-range", "0:1"),
    ],
    "site set": ["site", "set", "north", "fee=7"],
    "workers import": ["workers", "import", "north", "MORE"],
    "workers set": ["workers", "set", "north", "5", "--status", "left"],
    "workers erase": ["workers", "erase", "north", "5"],
    "output import --correct": ["output", "import", "north", "CORRECTED", "--correct"],
    "approve": ["approve", "north", "OPEN"],
    "reject": ["reject", "north", "OPEN"],
    "offer": ["offer", "north", "UNDER-WAY", "started"],
    "undo": ["undo", "north"],
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_command_may_be_killed(desk: Desk, kind: str) -> None:
    """Each by its name in the shell, killed about when it writes; then the record is sound and the site goes on."""
    desk.create()
    desk.run("output", "import", "north", desk.days(8))
    number = str(desk.json("advise", "north")["proposals"][0]["id"])
    if kind in ("offer", "undo"):
        desk.run("approve", "north", number)
    more = desk.file("more.csv", "worker_id\n8\n9\n")
    corrected = desk.file("corrected.csv", "period,worker_id,units\n1,1,50\n2,1,50\n")
    places = {"MORE": more, "CORRECTED": corrected, "OPEN": number, "UNDER-WAY": number}
    command = [places.get(word, word) for word in KINDS[kind]]
    before = desk.json("ledger", "verify", "north")["events"]
    process = subprocess.Popen(
        [sys.executable, "-m", "crewlearn", *command, "--db", desk.url],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(0.6)
    process.kill()
    done = process.wait() == 0
    found = desk.json("ledger", "verify", "north")
    assert found["sound"]
    assert not done or kind == "site create" or found["events"] > before  # what was acknowledged is there
    desk.run("output", "import", "north", desk.days(1, first=8))
    assert desk.json("ledger", "verify", "north")["sound"]
