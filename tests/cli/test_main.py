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


def program(*arguments: str | bytes, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "crewlearn", *arguments]
    with open("/dev/full", "w") as full:
        return subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, env={**os.environ, **environment}, text=True, check=False
        )


def test_a_full_disk_is_told_as_such() -> None:
    for arguments in (["policies"], ["--version"]):  # one flushes as it prints, the other at the end
        done = program(*arguments)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
        assert "the disk is full" in done.stderr


def test_an_argument_that_is_no_text_here_is_refused() -> None:
    done = program("users", "disable", b"Z\xfcrich", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "is not text in this locale" in done.stderr


def test_places_that_nothing_can_be_written_to_are_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for command in (
        ["simulate", "--trace", str(tmp_path / "file")],
        ["simulate", "--trace", str(tmp_path / "file" / "folder")],
        ["sweep", "--out", "/dev/null"],
    ):
        done = RUNNER.invoke(app, [*command, "--policy", "keep-team", "--runs", "1"])
        assert done.exit_code == 2, done.output
        assert f"crewlearn: {command[1].strip('-')} = " in done.output
