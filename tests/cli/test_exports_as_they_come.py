"""The command line with files of other layouts: what is refused, what is said, and what is kept."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from crewlearn.cli.main import app
from support.exports import SHAPES, path_of

TWO_AREAS = next(shape for shape in SHAPES if shape.name == "two_areas")


class Desk:
    """A store with one site, and the command line."""

    def __init__(self, folder: Path) -> None:
        self.url = f"sqlite:///{folder}/s.db"
        settings = ["--team", "2", "--cost", "5", "--horizon", "200", "--mean-delay", "2", "--policy", "keep-team"]
        self.run("site", "create", "s", *settings, "--output-range", "0:900", "--start", "2026-01-05")

    def run(self, *arguments: str, code: int = 0) -> Any:
        outcome = CliRunner().invoke(app, [*arguments, "--db", self.url])
        assert outcome.exit_code == code, (outcome.output, outcome.exception)
        return outcome


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_without_yes_the_file_is_refused_with_the_reading_and_the_command_that_accepts_it(desk: Desk) -> None:
    file = str(path_of(TWO_AREAS, 0))
    said = desk.run("output", "import", "s", file, code=2).stderr
    for words in (
        "40 errors; the file was not used",
        "20 rows repeat their worker and day: add up what belongs to a day: --yes",
        "20 rows are of people not known here: enrol them: --yes; or leave these rows out: --skip-unknown",
        "The file can be read like this:",
        "“Associate ID” is the worker's id.",
        "“Area” has Pick and Pack: all are added up; --where Area=Pick takes one alone.",
        "40 rows added up to 20 days of people.",
        "People not known yet are enrolled: 5.",
        "To accept that, import it with --yes.",
    ):
        assert words in said
    assert json.loads(desk.run("status", "s", "--json").output)["workers"] == []
    done = json.loads(desk.run("output", "import", "s", file, "--yes", "--json").output)
    assert (done["recorded"], done["enrolled"]) == (20, 5)
    assert "A day's output is the sum of “Units”." in done["reading"]


def test_a_tidy_file_goes_in_as_ever_and_keeps_no_profile(desk: Desk, tmp_path: Path) -> None:
    people, tidy = tmp_path / "people.csv", tmp_path / "tidy.csv"
    people.write_text("worker_id\na\nb\n")
    tidy.write_text("date,worker_id,units\n2026-01-05,a,40\n2026-01-05,b,50\n")
    desk.run("workers", "import", "s", str(people))
    assert "2 rows recorded" in desk.run("output", "import", "s", str(tidy)).output
    assert "No profile yet" in desk.run("output", "profiles", "s").output


def test_profiles_are_listed_and_removed(desk: Desk) -> None:
    desk.run("output", "import", "s", str(path_of(TWO_AREAS, 0)), "--yes", "--where", "Area=Pick")
    listed = desk.run("output", "profiles", "s").output
    assert "two areas: “Associate ID” is the worker's id." in listed
    assert "Only rows where “Area” is Pick are used." in listed
    assert desk.run("output", "import", "s", str(path_of(TWO_AREAS, 1))).output.startswith(
        "Read by the profile “two areas”."
    )
    assert set(json.loads(desk.run("output", "profiles", "s", "--json").output)) == {"two areas"}
    assert "does not exist" in desk.run("output", "profiles", "s", "--remove", "other", code=2).stderr
    assert "Removed" in desk.run("output", "profiles", "s", "--remove", "two areas").output
    desk.run("output", "import", "s", str(path_of(TWO_AREAS, 1)), code=2)


def test_errors_of_reading_and_meaning_come_in_one_round_by_cause(desk: Desk, tmp_path: Path) -> None:
    people, output = tmp_path / "people.csv", tmp_path / "output.csv"
    people.write_text("worker_id\na\n")
    desk.run("workers", "import", "s", str(people))
    saturdays = [f"2026-01-{day:02},a,40" for day in (10, 17, 24, 31)] + [
        f"2026-02-{day:02},a,40" for day in (7, 14, 21, 28)
    ]
    unread = [f"2026-01-{day:02},a,x{day}" for day in range(5, 10)]
    output.write_text("\n".join(["date,worker_id,units", *saturdays, *unread, ""]))
    said = desk.run("output", "import", "s", str(output), code=2).stderr
    assert "13 errors; the file was not used" in said
    assert "- 8 rows are on Saturdays: record them as overtime: --yes" in said
    assert "- 5 rows have no readable number there" in said
    assert said.count("    line ") == 6
    assert "The file can be read like this" not in said, "that would fail as well"


def test_the_folder_is_watched_until_it_is_empty(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for week in (0, 1):
        (folder / path_of(TWO_AREAS, week).name).write_bytes(path_of(TWO_AREAS, week).read_bytes())
    said = desk.run("output", "watch", "s", str(folder), "--yes", "--once", "--every", "0.05").output
    assert said.count("20 rows recorded") == 2
    assert {path.name for path in folder.iterdir()} == {"done"}
    assert "must be a folder" in desk.run("output", "watch", "s", str(folder / "none"), "--once", code=2).stderr


def test_an_export_is_all_that_a_new_site_needs_for_advice(desk: Desk, tmp_path: Path) -> None:
    """The people are enrolled, and those who worked are its team; nobody is advised to bring them in."""
    file = tmp_path / "week.csv"
    file.write_text("Picker;Jour;Colis\nAmes, Ann;05/01/2026;400\nByrd, Ben;05/01/2026;450\nTotal;;850\n")
    asked = desk.run("output", "import", "s", str(file), code=2).stderr
    assert "errors" not in asked, "columns with other names are no errors of whoever brings the file"
    assert "Nobody is in the team yet, so it is taken from who produced." in asked
    desk.run("output", "import", "s", str(file), "--yes")
    assert [line.partition(": ")[2] for line in desk.run("team", "s").stdout.splitlines()] == [
        "Ann Ames, since 2026-01-05",
        "Ben Byrd, since 2026-01-05",
    ]
    profiles = json.loads(desk.run("output", "profiles", "s", "--json").stdout)
    assert "team_from_output" not in profiles["week"], "from then on it is entered, or asked for"


def test_errors_of_a_foreign_file_are_those_of_how_it_is_read(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "week.csv"
    file.write_text(
        "Report\nPicker;Jour;Colis\nAmes, Ann;05/01/2026;400\n"
        + "Byrd, Ben;06/01/2026;450\n" * 5
        + "Byrd, Ben;32/01/2026;450\n"
    )
    said = desk.run("output", "import", "s", str(file), code=2).stderr
    assert "week.csv: 1 error; the file was not used" in said
    assert "9     date    '32/01/2026'" in said
    assert "the row is of ben byrd" in said
    assert "The file was read like this:\n- The header is in line 2" in said
    assert "worker_id=HEADER" not in said
