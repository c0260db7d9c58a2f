"""The live commands as a manager uses them: a store in a folder, spreadsheet exports, and mistakes."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.ledger.settings.config import DEFAULT_LEAST_TENURE, DEFAULT_POLICY
from crewlearn.advisor.ledger.text import some_of
from crewlearn.advisor.ledger.verify import verify
from crewlearn.cli.main import app

RUNNER = CliRunner()
START = date(2026, 1, 5)


class CliWorkspace:
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
        stationary = ["--policy", "value-of-replacement", "--least-tenure", "none", "--most-a-week", "none"]
        self.run(
            "site",
            "create",
            "north",
            *arguments,
            *([] if "--policy" in more else stationary),
            "--start",
            str(START),
            *more,
        )
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
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliWorkspace:
    monkeypatch.setenv("CREWLEARN_ACTOR", "ann")
    monkeypatch.delenv("CREWLEARN_DB", raising=False)
    return CliWorkspace(tmp_path)


def test_a_morning_from_setting_up_to_the_next_candidate(desk: CliWorkspace) -> None:
    desk.create()
    assert "Wait" in desk.run("advise", "north").stdout
    assert desk.json("output", "import", "north", desk.days(8))["recorded"] == 16
    assert desk.json("output", "import", "north", desk.days(8))["known"] == 16
    advice = desk.json("advise", "north")
    assert (advice["kind"], advice["period"]) == ("propose", 9)
    assert desk.json("advise", "north") == advice
    (proposal,) = [candidate for candidate in advice["proposals"] if candidate["out"] == "2"]
    number = str(proposal["id"])
    text = desk.run("explain", "north", number).stdout
    assert "Name 2 (2), in the team now" in text
    assert "the fee is 5.00" in text
    desk.run("approve", "north", number)
    text = desk.run("offer", "north", number, "declined").stdout
    assert "Recorded: declined." in text
    after = desk.json("advise", "north")
    assert proposal["in"] not in [other["in"] for other in after["proposals"]]
    assert after["proposals"]
    assert f"({proposal['in']}) for Name 2 (2) is declined" in after["changed"]
    assert advice["changed"] is None
    desk.run("undo", "north")
    desk.run("offer", "north", number, "started", "--on", str(date(2026, 1, 15)))
    status = desk.json("status", "north")
    assert {worker["worker_id"] for worker in status["workers"] if worker["station"]} == {"1", proposal["in"]}
    assert status["fees"] == 5.0
    assert desk.json("ledger", "verify", "north")["sound"]
    decisions = list(csv.DictReader(io.StringIO(desk.run("ledger", "export", "north", "--what", "decisions").stdout)))
    assert decisions[proposal["id"] - 1]["status"] == "started"
    events = [json.loads(line) for line in desk.run("ledger", "export", "north").stdout.splitlines()]
    assert [event["number"] for event in events] == list(range(1, len(events) + 1))
    assert {event["actor"] for event in events} == {"ann"}
    assert "Name" not in json.dumps(events)


def test_everything_put_in_comes_out(desk: CliWorkspace) -> None:
    desk.create()
    desk.run("output", "import", "north", desk.days(3))
    output = list(csv.DictReader(io.StringIO(desk.run("ledger", "export", "north", "--what", "output").stdout)))
    assert [(row["date"], row["worker_id"], row["units"]) for row in output[:2]] == [
        ("2026-01-05", "1", "81.5"),
        ("2026-01-05", "2", "11.25"),
    ]
    workers = list(csv.DictReader(io.StringIO(desk.run("ledger", "export", "north", "--what", "workers").stdout)))
    assert [row["worker_id"] for row in workers if row["active"] == "yes"] == ["1", "2"]


def test_errors_in_a_file_are_listed_and_nothing_is_written(desk: CliWorkspace) -> None:
    desk.create()
    before = desk.json("status", "north")
    bad = "date,worker_id,units\n2026-01-05,1,abc\n2026-13-05,2,5\n2026-01-05,1,NaN\n"
    outcome = desk.run("output", "import", "north", desk.file("bad.csv", bad), code=2)
    for words in ("line", "column", "expected", "'abc'", "'2026-13-05'"):
        assert words in outcome.stderr
    for text, complaint in (
        ("date,worker_id,units\n2026-01-05,9,5\n", "leave such rows out (--skip-unknown)"),
        ("date,worker_id,units\n2026-01-05,,5\n", "and --skip-unknown leaves them out"),
        ("date,worker_id,units\n2199-01-07,1,5\n", "future"),
        ("date,worker_id,units,hours\n2026-01-05,1,5,-3\n", "hours"),
        ("day,units\n2026-01-05,5\n", "say with --map worker_id=HEADER which"),
        ("", "bad.csv"),
    ):
        outcome = desk.run("output", "import", "north", desk.file("bad.csv", text), code=2)
        assert complaint in outcome.stderr, (text, outcome.stderr)
    assert desk.json("status", "north") == before


def test_the_team_is_shown_and_changed(desk: CliWorkspace) -> None:
    desk.create()
    shown = desk.run("team", "north").stdout
    assert "Station 1: " in shown
    holder = desk.json("team", "north")["stations"][0]["worker_id"]
    gone = desk.run("team", "north", "remove", holder).stdout
    assert "1 change of the team recorded." in gone
    assert "Station 1: empty" in desk.run("team", "north").stdout
    desk.run("team", "north", "add", holder, "--station", "1", "--on", "2020-02-29")
    assert desk.json("team", "north")["stations"][0]["since"] == "2020-02-29"
    again = desk.run("team", "north", "add", holder, "--on", "2020-02-29").stdout
    assert "That is on record already." in again
    file = desk.file("team.csv", f"worker_id,station,from,until\n{holder},1,2019-01-07,2019-02-01\n")
    assert "1 change" in desk.run("team", "north", "import", file).stdout
    assert "one worker" in desk.run("team", "north", "add", code=2).stderr
    assert "everybody who is in the team" in desk.run("team", "north", "set", code=2).stderr
    assert "action" in desk.run("team", "north", "nonsense", code=2).stderr
    assert "sound" in desk.run("ledger", "verify", "north").stdout


def test_formulas_in_names_are_neutralised_in_exports(desk: CliWorkspace) -> None:
    desk.create()
    desk.run("workers", "import", "north", desk.file("more.csv", 'worker_id,name\n=1+1,"=HYPERLINK(""x"")"\n'))
    text = desk.run("ledger", "export", "north", "--what", "workers").stdout
    assert "'=1+1" in text
    assert "\n=" not in text


def test_wrong_use_is_said_plainly(desk: CliWorkspace) -> None:
    desk.create()
    for arguments, complaint in (
        (["advise", "south"], "there are: north"),
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
        assert complaint in desk.run(*arguments, code=2).stderr
    again = ["--team", "1", "--cost", "1", "--horizon", "9", "--mean-delay", "0", "--output-range", "0:1"]
    assert "exists already" in desk.run("site", "create", "north", *again, code=2).stderr
    assert "output range" in desk.run("site", "create", "x", *again[:-1], "1:1", code=2).stderr


def test_groups_are_compared_and_kept_nowhere(desk: CliWorkspace) -> None:
    desk.create()
    desk.run("output", "import", "north", desk.days(8))
    before = Path(desk.folder / "crewlearn.db").read_bytes()
    groups = desk.file("groups.csv", "worker_id,group\n1,purple-group\n2,purple-group\n3,green-group\n4,green-group\n")
    text = desk.run("ledger", "impact", "north", "--groups", groups).stdout
    assert "{" not in text, "nothing is left to be filled in"
    assert "not legal clearance" in text
    assert "green-group (few)" in text
    assert "ratio of staying" in text
    assert "going out, how often they stay" in text
    assert Path(desk.folder / "crewlearn.db").read_bytes() == before
    assert b"purple-group" not in before


def test_a_notice_and_a_card_are_printed(desk: CliWorkspace) -> None:
    desk.create()
    assert "Whom to ask: Ines" in desk.run("site", "notice", "north", "--contact", "Ines").stdout
    assert "value-of-replacement:" in desk.run("site", "card", "north").stdout
    assert "north" in desk.run("site", "card", "nort", code=2).stderr


def test_who_is_due_for_erasure_is_listed_and_erased_when_asked(desk: CliWorkspace) -> None:
    desk.create()
    desk.run("output", "import", "north", desk.days(2))
    desk.run("workers", "set", "north", "4", "--status", "left")
    assert "erase_after=90" in desk.run("workers", "retention", "north", code=2).stderr
    assert desk.json("workers", "retention", "north", "--days", "1") == {"due": [], "erased": 0}
    assert "erase_after=N" in desk.run("workers", "retention", "north", "--days", "0", "--erase", code=2).stderr
    desk.run("site", "set", "north", "erase_after=0")
    assert "Name 4 (4), left" in desk.run("workers", "retention", "north").stdout
    assert "nothing was erased" in desk.run("workers", "retention", "north").stdout
    assert "0 days after you have left" in desk.run("site", "notice", "north").stdout
    assert desk.json("workers", "retention", "north", "--erase")["erased"] == 1
    assert "0 people to erase" in desk.run("workers", "retention", "north").stdout
    assert "retention" in desk.run("ledger", "export", "north").stdout


def test_the_demo_and_its_plan(desk: CliWorkspace) -> None:
    desk.run("demo")
    assert desk.json("ledger", "verify", "demo")["sound"]
    planned = desk.json("plan", "demo", "--policy", "keep-team", "--runs", "20")
    assert planned
    assert "demo" in desk.run("site", "list").stdout
    assert "Stations filled" in desk.run("status", "demo", "--sheet").stdout


@pytest.mark.parametrize("wait", [0.35, 0.55, 0.7, 0.9])
def test_a_killed_command_leaves_the_store_whole(desk: CliWorkspace, wait: float) -> None:
    """A real process, killed at some point: its whole import is on record, or none of it."""
    desk.create()
    desk.run("output", "import", "north", desk.days(5))
    before = desk.json("status", "north")
    command = [sys.executable, "-m", "crewlearn", "output", "import", "north", desk.days(60, first=5), "--db", desk.url]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ)
    time.sleep(wait)
    process.send_signal(signal.SIGKILL)
    printed, _ = process.communicate()
    after = desk.json("status", "north")
    whole = after["period"] == before["period"] + 60
    assert whole or after == before
    assert whole or b"recorded" not in printed  # whatever was acknowledged is on record
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
    "reject --keep": ["reject", "north", "OPEN", "--keep", "--days", "9"],
    "workers note": ["workers", "note", "north", "5", "a note"],
    "offer": ["offer", "north", "UNDER-WAY", "started"],
    "undo": ["undo", "north"],
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_command_may_be_killed(desk: CliWorkspace, kind: str) -> None:
    """A process per command, killed about when it writes: the record stays sound and the site accepts new output."""
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
    checked = desk.json("ledger", "verify", "north")
    assert checked["sound"]
    assert not done or kind == "site create" or checked["events"] > before  # acknowledged, so on record
    desk.run("output", "import", "north", desk.days(1, first=8))
    assert desk.json("ledger", "verify", "north")["sound"]


def test_every_command_says_what_it_did_and_what_is_advised_now(desk: CliWorkspace) -> None:
    desk.create()
    text = desk.run("output", "import", "north", desk.days(8)).stdout
    assert "16 rows recorded, 0 already on record." in text
    assert "Proposed for 2026-01-15" in text
    corrected = desk.file("fix.csv", "period,worker_id,units\n1,1,50\n2,1,50\n")
    assert (
        "2 rows recorded (2 of them corrected)" in desk.run("output", "import", "north", corrected, "--correct").stdout
    )
    text = desk.run("workers", "set", "north", "1", "--pin", "--fee", "7.5").stdout
    assert "1: pinned: no → yes; fee: the site's → 7.5." in text
    assert "2026-01-15" in text
    assert desk.run("workers", "set", "north", "1", "--pin").stdout == "1: nothing changed.\n"
    assert "fee: 7.5 → the site's" in desk.run("workers", "set", "north", "1", "--fee", "none").stdout
    assert "fee" in desk.run("workers", "set", "north", "1", "--fee", "cheap", code=2).stderr
    text = desk.run("site", "set", "north", "fee=300", "closed=2026-12-24").stdout
    assert "fee: 5 a replacement → 300 a replacement, from 2026-01-15 on" in text
    assert "closed: no days → 2026-12-24, from 2026-01-15 on" in text
    assert desk.run("site", "set", "north", "fee=300").stdout == "Nothing changed.\n"
    text = desk.run("workers", "erase", "north", "5").stdout
    assert "Erased 5 from the store" in text
    shown = desk.json("site", "show", "north")
    assert shown["in_words"]["fee"] == "300 a replacement"
    assert shown["since"]["fee"] == {"day": "2026-01-15", "actor": "ann"}
    assert "300 a replacement" in desk.run("site", "show", "north").stdout


def test_answers_are_said_in_the_firm_s_words(desk: CliWorkspace) -> None:
    desk.create()
    desk.run("output", "import", "north", desk.days(8))
    first, *_ = desk.json("advise", "north")["proposals"]
    number = str(first["id"])
    desk.run("workers", "set", "north", "1", "--pin")
    outcome = desk.run("approve", "north", number, "--out", "1")
    assert "warning: 1 is pinned" in outcome.stderr
    assert f"Undone: ann approved proposal {number}" in desk.run("undo", "north").stdout
    text = desk.run("reject", "north", number, "--keep-out").stdout
    assert f"{first['in']} is blocked" in text
    waiting = [str(proposal["id"]) for proposal in desk.json("advise", "north")["proposals"]]
    refused = desk.run("approve", "north", number, code=2).stderr
    others = f"waiting for an answer: {some_of(waiting)}" if waiting else "none is waiting for an answer"
    assert f"is rejected; {others}" in refused


def test_a_proposal_is_turned_down_as_one_thing_and_until_a_day(desk: CliWorkspace) -> None:
    desk.create("--budget-a-month", "12.5")
    desk.run("output", "import", "north", desk.days(8))
    first, *_ = desk.json("advise", "north")["proposals"]
    number, into = str(first["id"]), f"Name {first['in']} ({first['in']})"
    text = desk.run("reject", "north", number, "--keep", "--until", "2026-02-01", "--reason", "trains them").stdout
    assert text.startswith("Rejected. Name 2 (2) is pinned until 2026-02-01. Wait (2026-01-15")
    assert desk.run("workers", "note", "north", "2", "speaks Polish").stdout.splitlines() == [
        f"Pinned until 2026-02-01: trains them (ann, {date.today()})",
        f"Note: speaks Polish (ann, {date.today()})",
    ]
    assert "pinned until 2026-02-01" in desk.run("status", "north").stdout
    assert "keep the person until 2026-02-01: trains them" in desk.run("undo", "north").stdout
    text = desk.run("reject", "north", number, "--not-candidate", "--days", "30").stdout
    assert text.startswith(f"Rejected. {into} is blocked until 2026-02-14. Proposed for")
    desk.run("undo", "north")
    text = desk.run("reject", "north", number, "--not-candidate", "--for-good").stdout
    assert f"{into} is blocked until you lift it." in text
    desk.run("undo", "north")
    text = desk.run("reject", "north", number, "--not-now").stdout
    assert text.startswith("Rejected. The same exchange is not proposed again before 2026-01-29.")
    following = str(desk.json("advise", "north")["proposals"][0]["id"])
    for wrong, words in (
        (["--keep", "--not-now"], "choose one of them"),
        (["--until", "2026-02-01"], "belongs to --keep"),
        (["--not-now", "--days", "3"], "leave out the end"),
        (["--keep", "--until", "2026-01-15"], "must be after 2026-01-15"),
        (["--keep", "--until", "soon"], "must be a day"),
    ):
        assert words in desk.run("reject", "north", following, *wrong, code=2).stderr
    assert "Fees this month: 0.00 of 12.50." in desk.run("status", "north").stdout
    assert desk.json("ledger", "verify", "north")["sound"]


def test_somebody_else_comes_in_and_pins_and_blocks_end(desk: CliWorkspace) -> None:
    desk.create()
    desk.run("output", "import", "north", desk.days(8))
    first, *_ = desk.json("advise", "north")["proposals"]
    number = str(first["id"])
    listed = first["candidates"]
    assert [(other["unseen"], other["alike"]) for other in listed] == [(True, 2)], "nothing tells them apart"
    assert (
        f"next best: any of 2 not seen yet, such as Name {listed[0]['worker_id']}" in desk.run("advise", "north").stdout
    )
    assert f"expected net gain {listed[0]['value']:+,.2f}" in desk.run("explain", "north", number).stdout
    text = desk.run("workers", "set", "north", "4", "--block", "--until", "2026-03-01", "--reason", "holiday").stdout
    assert text.startswith("4: blocked until 2026-03-01.")
    outcome = desk.run("approve", "north", desk_open(desk), "--in", "4")
    assert "4 is blocked until 2026-03-01, and comes in by your decision" in outcome.stderr
    assert "Name 4 (4) is on the way" in outcome.stdout
    assert "Name 4 (4) for Name 2 (2)), with a candidate of their own choice" in desk.run("undo", "north").stdout
    assert "4: status: blocked → pool." in desk.run("workers", "set", "north", "4", "--unblock").stdout
    text = desk.run("workers", "set", "north", "2", "--pin", "--days", "3", "--fee", "7").stdout
    assert "2: pinned until 2026-01-18; fee: the site's → 7." in text
    assert "reason = 'why': belongs" in desk.run("workers", "set", "north", "2", "--reason", "why", code=2).stderr
    refused = desk.run("approve", "north", "1", "2", "--in", "4", code=2).stderr
    assert "approve one proposal at a time" in refused


def desk_open(desk: CliWorkspace) -> str:
    return str(desk.json("advise", "north")["proposals"][0]["id"])


@pytest.mark.parametrize(
    ("policy", "progress"), [("dr-ucb:gamma=3", "Cycle 1, "), ("keep-team", "looks again every period")]
)
def test_the_status_shows_the_cycle_and_overdue_offers(desk: CliWorkspace, policy: str, progress: str) -> None:
    desk.create("--policy", policy)
    assert progress in desk.run("status", "north").stdout
    if policy == "keep-team":
        return
    for day in range(40):
        desk.run("output", "import", "north", desk.days(1, first=day))
        if proposals := desk.json("advise", "north")["proposals"]:
            break
    desk.run("approve", "north", str(proposals[0]["id"]))
    assert "OVERDUE" not in desk.run("status", "north").stdout
    desk.run("output", "import", "north", desk.days(8, first=day + 1))
    for arguments in (["status", "north"], ["status", "north", "--sheet"]):
        text = desk.run(*arguments).stdout
        assert f"OVERDUE: Name {proposals[0]['in']} ({proposals[0]['in']}) has been awaited for 8 periods" in text
        assert "about 2 are usual" in text
    status = desk.json("status", "north")
    assert status["proposals"][0]["overdue"]
    assert status["cycle"]["awaited"] == [proposals[0]["in"]]


READERS = (
    *(["advise", "x"], ["status", "x"], ["explain", "x", "1"], ["plan", "x"], ["site", "list"], ["site", "show", "x"]),
    *(["ledger", "verify", "x"], ["ledger", "export", "x"], ["undo", "x"], ["workers", "erase", "x", "1"]),
)


@pytest.mark.parametrize("command", READERS, ids=" ".join)
def test_a_mistyped_store_is_not_made(desk: CliWorkspace, command: list[str]) -> None:
    assert "there is no store here" in desk.run(*command, code=2).stderr
    assert not list(desk.folder.iterdir())


def test_groups_that_are_not_known_are_counted(desk: CliWorkspace) -> None:
    desk.create()
    desk.run("output", "import", "north", desk.days(8))
    groups = desk.file("groups.csv", "\ufeffBadge no;Group\n1;a\n3;b\n77;b\n")
    impact = desk.json("ledger", "impact", "north", "--groups", groups)
    assert "not legal clearance" in impact["note"]
    assert impact["warnings"] == [
        "unknown here and not counted: 1 of the file's 3 workers",
        "without a group and not counted: 3 of the site's 5 workers",
    ]
    assert [rate["people"] for rate in impact["coming in"]["proposed"]] == [1, 1]
    assert set(impact["going out"]) == {"proposed", "let go"}


def test_a_new_site_has_a_policy_and_brakes_that_can_be_set_and_lifted(desk: CliWorkspace) -> None:
    told = " ".join(RUNNER.invoke(app, ["site", "create", "--help"], env={"COLUMNS": "300"}).stdout.split())
    for default in (DEFAULT_POLICY, str(DEFAULT_LEAST_TENURE), "a fifth of the stations, at least 2"):
        assert f"by default {default}" in told, "the help cannot import the defaults, which would make it slow"
    required = ["--team", "40", "--cost", "5", "--horizon", "90", "--mean-delay", "2", "--output-range", "0:9"]
    for name, options, expected in (
        ("plain", [], ("value-of-replacement-evolving", 10, 8)),
        ("lifted", ["--least-tenure", "none", "--most-a-week", "none"], ("value-of-replacement-evolving", 0, None)),
        ("own", ["--policy", "dr-ucb", "--least-tenure", "3", "--most-a-week", "1"], ("dr-ucb", 3, 1)),
    ):
        desk.run("site", "create", name, *required, *options)
        settings = desk.json("site", "show", name)["settings"]
        assert (settings["policy"], settings["least_tenure"], settings["most_a_week"]) == expected
    for option, value in (("--least-tenure", "few"), ("--most-a-week", "-1"), ("--least-tenure", "-1")):
        said = desk.run("site", "create", "wrong", *required, f"{option}={value}", code=2).stderr
        assert option.removeprefix("--").replace("-", " ") in said.replace("_", " ")


def test_an_offer_left_open_is_under_way_for_whoever_makes_room(desk: CliWorkspace) -> None:
    desk.create("--policy", "dr-ucb+late-pairing:gamma=1", "--learn-delay")
    for day in range(40):
        desk.run("output", "import", "north", desk.days(1, first=day))
        if hires := [proposal for proposal in desk.json("advise", "north")["proposals"] if proposal["out"] is None]:
            break
    desk.run("approve", "north", str(hires[0]["id"]))
    text = desk.run("status", "north").stdout
    assert f"Name {hires[0]['in']} ({hires[0]['in']}) for whoever makes room on arrival (approved)" in text
    assert "Stations filled: 2 of 2." in text
    assert "From an offer to the first day: 2 periods as learned from 0 offers." in text
    desk.run("output", "import", "north", desk.days(4, first=day + 1))
    desk.run("offer", "north", str(hires[0]["id"]), "started")
    mean = (2 + 4) / 2  # the configured mean counts as one offer
    assert desk.json("status", "north")["mean_delay"] == mean
    shown = desk.json("site", "show", "north")
    assert shown["mean_delay"] == mean
    assert "now 3 periods as learned from 1 offer" in shown["in_words"]["mean_delay"]
    assert "stream_key" not in shown["settings"]


def test_one_of_a_thing_is_not_called_many(desk: CliWorkspace) -> None:
    desk.create()
    single = desk.file("one.csv", "period,worker_id,units\n1,1,50\n")
    assert desk.run("output", "import", "north", single).stdout.startswith("1 row recorded, 0 already on record.")
    more = desk.file("more.csv", "worker_id\n9\n")
    assert desk.run("workers", "import", "north", more).stdout.startswith("1 worker recorded")
    assert "1 row of output, " in desk.run("ledger", "verify", "north").stdout
    assert "rolling: no → yes" in desk.run("site", "set", "north", "rolling=yes").stdout
    assert "workers set" in " ".join(RUNNER.invoke(app, ["undo", "--help"]).stdout.split())


def test_imports_are_listed_and_undone(desk: CliWorkspace) -> None:
    desk.create()
    desk.run("workers", "import", "north", desk.file("w.csv", "worker_id,active\na,yes\nb,yes\n"))
    assert "No output" in desk.run("output", "list", "north").stdout
    for day in (0, 1):
        text = f"date,worker_id,units\n{START + timedelta(days=day)},a,50\n{START + timedelta(days=day)},b,60\n"
        desk.run("output", "import", "north", desk.file("o.csv", text))
    imports = desk.json("output", "list", "north")
    assert [imported["rows"] for imported in imports] == [2, 2]
    number = str(imports[-1]["number"])
    assert "2 rows no longer count" in desk.run("output", "undo", "north", number).stdout
    assert f"taken back in event {imports[-1]['number'] + 2}" in desk.run("output", "list", "north").stdout
    assert "taken back already, by ann" in desk.run("output", "undo", "north", number, "--actor", "bo", code=2).stderr
    assert "not an import" in desk.run("output", "undo", "north", "1", code=2).stderr
    assert "sound" in desk.run("ledger", "verify", "north").stdout


def test_unusual_output_is_held_until_it_is_accepted(desk: CliWorkspace) -> None:
    desk.create()
    desk.run("workers", "import", "north", desk.file("w.csv", "worker_id,active\na,yes\nb,yes\nc,\nd,\n"))

    def day(place: int, **units: int) -> str:
        made = {"a": 50, "b": 55, "c": 60, "d": 65} | units
        when = START + timedelta(days=7 * (place // 5) + place % 5)
        return desk.file("o.csv", "date,worker_id,units\n" + "".join(f"{when},{w},{u}\n" for w, u in made.items()))

    for place in range(7):
        desk.run("output", "import", "north", day(place, a=50 + place % 3))
    held = desk.run("output", "import", "north", day(7, b=550), code=2).stderr
    assert "line 3, worker b" in held
    assert "--accept-unusual records it" in held
    assert len(desk.json("output", "list", "north")) == 7
    assert (
        "unusual for this site: 1 finding"
        in desk.run("output", "import", "north", day(7, b=550), "--accept-unusual").stderr
    )


def test_a_site_has_a_currency_and_a_time_zone(desk: CliWorkspace) -> None:
    desk.create()
    desk.run("output", "import", "north", desk.days(2))
    changed = desk.run("site", "set", "north", "currency=EUR", "time_zone=Europe/Amsterdam").stdout
    assert "currency: none → EUR" in changed
    assert "time_zone: this machine's → Europe/Amsterdam" in changed
    assert "fee:" not in changed  # the amount is the same
    status = desk.run("status", "north").stdout
    assert re.search(r"Output so far is worth [\d,.]+ EUR; fees so far [\d,.]+ EUR\.", status)
    assert "such as Europe/Amsterdam" in desk.run("site", "set", "north", "time_zone=Berlin", code=2).stderr
    assert "such as EUR" in desk.run("site", "set", "north", "currency=euro", code=2).stderr
    assert desk.run("ledger", "verify", "north").stdout
