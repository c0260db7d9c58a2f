"""The command itself: its version and shell completion."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import crewlearn
from crewlearn.cli.main import app

RUNNER = CliRunner()


def test_the_version_is_shown() -> None:
    outcome = RUNNER.invoke(app, ["--version"])
    assert (outcome.exit_code, outcome.stdout) == (0, f"crewlearn {crewlearn.__version__}\n")


def test_the_version_is_written_in_one_place() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "crewlearn.__version__"}


def test_shell_completion_is_offered() -> None:
    text = RUNNER.invoke(app, ["--help"], env={"COLUMNS": "200"}).stdout
    assert "--install-completion" in text
    assert "--show-completion" in text


@pytest.mark.parametrize(("words", "completions"), [("sim", {"simulate"}), ("ledger ver", {"verify"})])
def test_a_shell_completes_commands(words: str, completions: set[str]) -> None:
    line = f"crewlearn {words}"
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" ")), "_CREWLEARN_COMPLETE": "complete_bash"}
    program = "import sys; sys.argv = ['crewlearn']; from crewlearn.cli.main import main; main()"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env={**os.environ, **asked}, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == completions
