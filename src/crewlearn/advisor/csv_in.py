"""Placeholder."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class WorkerRow:
    worker_id: str
    name: str | None = None
    active: bool | None = None
    fee: float | None = None
    prior_n: int | None = None
    prior_mean: float | None = None
    status: str | None = None
    interview: float | None = None


@dataclass(frozen=True)
class OutputRow:
    line: int
    day: date | None
    period: int | None
    worker_id: str
    units: float | None
    hours: float | None
    attendance: str
