"""Recorded rows of output: in the site's units, by worker number and period."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from crewlearn.advisor.ledger.events.canonical import canonical
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.language import noted


class RecordedRow(NamedTuple):
    """A row of recorded output; None where nothing was given.

    Fields without a default are hashed in every row. A column added later defaults to None and is hashed and exported
    only in rows that have it, so that the digests of earlier rows stay as they are.
    """

    period: int
    worker: int
    units: float | None
    hours: float | None
    attendance: str


ADDED_COLUMNS: tuple[str, ...] = tuple(RecordedRow._field_defaults)
"""The columns that earlier versions did not record."""

History = Callable[[int], Sequence[RecordedRow]]
"""Returns a worker's current rows by period, including those of the event being applied."""

ATTENDANCE = (noted("worked"), noted("partial"), noted("absent"), noted("no-show"), noted("sent-home"))

OBSERVED = ("worked", "partial")
"""Attendance that gives an observation; a partial day does so only where output is a rate."""

AWAY = ("absent", "no-show")
"""Attendance without output; somebody sent home may have output, which is paid but is no observation."""

_AT_ONCE = 10_000


class Observation(NamedTuple):
    """Output in the policy's units (None if there is no observation), and whether it was outside the range."""

    value: float | None
    clipped: bool


_NOTHING = Observation(None, clipped=False)


def observe(units: Units, made: float | None, hours: float | None, attendance: str) -> Observation:
    """Measure a row; raise InvalidInput for output that cannot be measured.

    A partial day gives an observation only where output is a rate.

    >>> observe(Units(0.0, 80.0), 60.0, None, "worked"), observe(Units(0.0, 80.0), 100.0, 4.0, "partial")
    (Observation(value=0.75, clipped=False), Observation(value=None, clipped=True))
    """
    if made is None or attendance not in OBSERVED:
        return _NOTHING
    measured = units.policy_output(made, hours)
    if attendance == "partial" and units.hours_per_period is None:
        return Observation(None, measured.clipped)
    return Observation(*measured)


def observation(units: Units, row: RecordedRow) -> float | None:
    """Return a row's observation in the policy's units, or None if it has none."""
    return observe(units, row.units, row.hours, row.attendance).value


def added_values(row: RecordedRow) -> dict[str, Any]:
    """Return the values of the added columns that a row has, by name."""
    return {name: value for name in row._field_defaults if (value := getattr(row, name)) is not None}


def row_document(row: RecordedRow) -> dict[str, Any]:
    """Return a row as plain data; an added column that is not set is left out.

    >>> row_document(RecordedRow(1, 0, 0.5, None, "worked"))
    {'period': 1, 'worker': 0, 'units': 0.5, 'hours': None, 'attendance': 'worked'}
    """
    return {**dict(zip(row._fields, _first_values(row), strict=False)), **added_values(row)}


def _first_values(row: RecordedRow) -> tuple[Any, ...]:
    return row[: len(row) - len(row._field_defaults)]


def _hashed(rows: Sequence[RecordedRow]) -> Sequence[tuple[Any, ...]]:
    """Return what is hashed of rows: their first columns in order, then the added ones that are set, by name."""
    if not rows[0]._field_defaults:
        return rows
    return [(*_first_values(row), added) if (added := added_values(row)) else _first_values(row) for row in rows]


def digest_of_rows(rows: Sequence[RecordedRow]) -> str:
    """Hash the rows of an import as one JSON list, in batches; the hash chain covers the digest.

    >>> rows = [RecordedRow(1, 0, 0.5, None, "worked"), RecordedRow(1, 1, None, None, "absent")]
    >>> text = '[[1,0,0.5,null,"worked"],[1,1,null,null,"absent"]]'
    >>> digest_of_rows(rows) == hashlib.sha256(text.encode()).hexdigest()
    True
    """
    digest = hashlib.sha256(b"[")
    for start in range(0, len(rows), _AT_ONCE):
        piece = canonical(_hashed(rows[start : start + _AT_ONCE]))[1:-1]
        digest.update((f",{piece}" if start else piece).encode())
    digest.update(b"]")
    return digest.hexdigest()
