"""`crewlearn site create --from`: proposals, the first advice, and one command that sets everything up."""

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from crewlearn.cli.main import app
from support.exports import SHAPES, path_of

EXPORT = str(path_of(SHAPES[0], 0))
ASKED = ("--cost", "300", "--value-per-unit", "0.2")


def run(tmp_path: Path, *arguments: str, code: int = 0) -> Any:
    outcome = CliRunner().invoke(app, [*arguments, "--db", f"sqlite:///{tmp_path}/site.db"])
    assert outcome.exit_code == code, (arguments, outcome.output, outcome.exception)
    return outcome


def test_a_site_is_created_from_an_export(tmp_path: Path) -> None:
    create = ("site", "create", "north", "--from", EXPORT)
    shown = run(tmp_path, *create).output
    assert "16 rows of 4 people on 4 days, 2026-02-02 to 2026-02-05." in shown
    assert "mon,tue,wed,thu,fri" in shown
    assert "For the first advice, add --cost AMOUNT and --value-per-unit AMOUNT." in shown
    shown = run(tmp_path, *create, *ASKED).output
    assert "nobody outside the team may come in now" in shown
    assert "Nothing was created. Add --yes" in shown
    assert "There is no site yet" in run(tmp_path, "site", "list").output
    assert "no file can tell" in run(tmp_path, *create, "--yes", code=2).output
    done = json.loads(run(tmp_path, *create, *ASKED, "--team", "3", "--yes", "--json").stdout)
    assert (done["created"], done["settings"]["team"]["value"], done["people"]) == (True, 4, 4)
    settings = json.loads(run(tmp_path, "site", "show", "north", "--json").stdout)["settings"]
    assert (settings["team"], settings["fee"], settings["rolling"], settings["horizon"]) == (3, 300.0, True, 250)
    assert settings["units"] == {"low": 0.0, "high": 110.0, "value_per_unit": 0.2, "hours_per_period": 7.12}
    assert "sound" in run(tmp_path, "ledger", "verify", "north").output
    assert "exists already" in run(tmp_path, *create, *ASKED, "--yes", code=2).output


def test_without_a_file_the_missing_options_are_named(tmp_path: Path) -> None:
    told = run(tmp_path, "site", "create", "north", "--team", "3", "--cost", "5", code=2).output
    assert "--horizon, --mean-delay, --output-range" in told
    assert "--from FILE" in told
