"""The Makefile: its list of targets, and the demo server as a process."""

import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

from support.waiting import PATIENCE

ROOT = Path(__file__).parents[1]
MAKE = ["make", "--no-print-directory", "--old-file=.venv/.ready", f"BIN={Path(sys.executable).parent}"]
"""Use the tests' own environment as .venv, so that it is not created again."""


def test_help_lists_every_target() -> None:
    listed = subprocess.run([*MAKE, "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    targets = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert targets is not None
    assert {line.split()[1] for line in listed.splitlines()} == set(targets[1].split())
    assert all(len(line.split()) > 3 for line in listed.splitlines())


def test_the_demo_is_served_at_the_link_and_leaves_nothing_behind(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [*MAKE, "demo"], cwd=ROOT, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as demo:
        try:
            assert demo.stderr is not None
            link = next(line.strip() for line in demo.stderr if "/sign-in/once?code=" in line)
            assert len(list(tmp_path.iterdir())) == 1
            with urllib.request.urlopen(link, timeout=PATIENCE) as answer:
                assert answer.status == 200
        finally:
            os.killpg(demo.pid, signal.SIGINT)  # as Ctrl-C does
            demo.communicate(timeout=PATIENCE)
    assert not list(tmp_path.iterdir())
