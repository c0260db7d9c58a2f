"""Checks of the machine: versions of what is installed, and room on the disk."""

import importlib.metadata
import platform
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from crewlearn.advisor.ledger.checkup.findings import FAILURE, OK, WARNING, Finding, size_words
from crewlearn.problem.extras import can_simulate

LEAST_FREE = 100_000_000
"""Bytes below which a disk counts as full."""

_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*>=\s*([\d.]+)")


def check_versions() -> Iterator[Finding]:
    """Check that what is installed is as new as this version needs it."""
    late = [f"{name} {has} (needs {wanted})" for name, has, wanted in _installed() if _parts(has) < _parts(wanted)]
    if late:
        yield Finding("versions", FAILURE, f"too old: {', '.join(late)}", "run: pip install --upgrade crewlearn")
    own = f"crewlearn {_own_version()}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    simulates = "" if can_simulate() else "; no plans and backtests here without: pip install 'crewlearn[sim]'"
    yield Finding("versions", OK, f"{own}{simulates}")


def _own_version() -> str:
    try:
        return importlib.metadata.version("crewlearn")
    except importlib.metadata.PackageNotFoundError:  # not installed, but on the path
        return "of a version that is not installed"


def _installed() -> Iterator[tuple[str, str, str]]:
    """Yield what crewlearn requires or may use, as far as it is here: name, version and lowest version."""
    try:
        required = importlib.metadata.requires("crewlearn") or []
    except importlib.metadata.PackageNotFoundError:  # not installed, but on the path
        return
    for line in required:
        match = _REQUIREMENT.match(line)
        if match is None or "extra == 'dev'" in line.replace('"', "'"):
            continue
        try:
            yield match[1], importlib.metadata.version(match[1]), match[2]
        except importlib.metadata.PackageNotFoundError:  # of an extra that is not installed
            continue


def _parts(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, without zeros at the end.

    >>> _parts("2.0") == _parts("2"), _parts("0.115.7") > _parts("0.44rc1")
    (True, True)
    """
    numbers = [int(part) for part in re.findall(r"^\d+|(?<=\.)\d+", version)]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def check_disk(file: Path) -> Iterator[Finding]:
    """Check that there is room for the store to grow and for a copy of it, and for files that are being read."""
    folder = file.absolute().parent
    if not folder.is_dir():
        yield Finding("disk", FAILURE, f"there is no folder {folder}", "create it, or name another store with --db")
        return
    size = sum(part.stat().st_size for part in (file, Path(f"{file}-wal")) if part.is_file())
    free = shutil.disk_usage(folder).free
    detail = f"{size_words(free)} free in {folder}, where the store takes {size_words(size)}"
    if free < LEAST_FREE:
        yield Finding("disk", FAILURE, detail, "free some space: a write that finds no room is refused")
    elif free < 2 * size:
        yield Finding("disk", WARNING, detail, "free some space: a backup takes one more copy there, a restore two")
    else:
        yield Finding("disk", OK, detail)
    passing = Path(tempfile.gettempdir())
    if (free := shutil.disk_usage(passing).free) < LEAST_FREE:
        remedy = "free some space, or set TMPDIR: files that people send are kept there while they are read"
        yield Finding("disk", WARNING, f"{size_words(free)} free in {passing}", remedy)
