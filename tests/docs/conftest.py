"""The built book, for the tests of its pages."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built book; the workers of one run share one build."""
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared
    with (shared / "book.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "book" / "sitemap.xml").exists():
            build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(shared / "book")]
            environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
            built = subprocess.run(build, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
            assert built.returncode == 0, built.stderr
    return shared / "book"
