"""The files of a sweep: a line for each finished cell, and beside it a folder with the numbers of every run.

`FILE.runs/KEY.parquet` is written before the cell's line, so a cell on file has its numbers, unless an earlier version
wrote the file.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from crewlearn.engine.results import SimulationResult
from crewlearn.engine.sweep.cells import Record
from crewlearn.problem.errors import InvalidInput

_LINE_START = b'{"key": "'
_DIGEST = "digest"
"""The key of a line's digest, its last."""


def runs_file(path: Path, key: str) -> Path:
    """Return the file with the numbers of every run of a cell."""
    return path.with_name(f"{path.name}.runs") / f"{key}.parquet"


def write_runs(path: Path, key: str, result: SimulationResult) -> None:
    """Write the numbers of every run of a finished cell."""
    file = runs_file(path, key)
    file.parent.mkdir(exist_ok=True)
    result.to_parquet(file)


def read_results(path: Path, file: Any) -> dict[str, Record]:
    """Return the finished cells of a file, which is open to append to, by key.

    Repair the torn last line that a killed process may have left.

    Any other line that is not a finished cell raises an error and leaves the file unchanged: it is not a result file.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _unusable(path, error) from error
    *lines, rest = data.split(b"\n")
    records = {}
    for number, line in enumerate(lines, start=1):
        record = _record_of(line)
        if record is None:
            raise InvalidInput("out", str(path), f"line {number} is not a sweep result; give another file")
        if not _take_digest(record):
            remedy = f"line {number} was changed after it was written; remove the line, and its cell is played again"
            raise InvalidInput("out", str(path), remedy)
        records[record["key"]] = record
    if rest:
        record = _record_of(rest)
        if record is None and not (rest.startswith(_LINE_START) or _LINE_START.startswith(rest)):
            raise InvalidInput("out", str(path), "the last line is not a sweep result; give another file")
        if record is None or not _take_digest(record):
            file.truncate(len(data) - len(rest))
        else:  # complete except for the line end
            records[record["key"]] = record
            file.write(b"\n")
    return records


@contextmanager
def locked_results(path: Path) -> Iterator[Any]:
    """Open a result file to append to, for this sweep alone: two would play the same cells and write them twice."""
    if path.exists() and not path.is_file():  # a device or a pipe may be read without end
        raise InvalidInput("out", str(path), "is not a regular file; give another path")
    try:
        file = path.open("ab", buffering=0)
    except OSError as error:
        raise _unusable(path, error) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            remedy = "is being written by another sweep; wait until that ends, or give another file"
            raise InvalidInput("out", str(path), remedy) from None
        except OSError:  # a file system without locks
            pass
        yield file


def _unusable(path: Path, error: OSError) -> InvalidInput:
    remedy = f"cannot be written ({error.strerror}); give the path of a file in a folder that exists"
    return InvalidInput("out", str(path), remedy)


def append_record(file: Any, record: Record) -> None:
    """Append a line in one write and sync it to disk."""
    line = json.dumps({**record, _DIGEST: _digest_of(record)}).encode() + b"\n"
    if file.write(line) != len(line):
        raise OSError(f"{file.name}: a line was written only in part; free some disk space and run again")
    os.fsync(file.fileno())


def _digest_of(record: Record) -> str:
    """Hash a record as it is written."""
    return hashlib.sha256(json.dumps(record).encode()).hexdigest()[:16]


def _take_digest(record: Record) -> bool:
    """Remove a record's digest and return whether it is right; lines of earlier versions have none."""
    digest = record.pop(_DIGEST, None)
    return digest is None or digest == _digest_of(record)


def _record_of(line: bytes) -> Record | None:
    """Return the record on a line of the result file, or None if the line is not a record."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and isinstance(record.get("key"), str) else None
