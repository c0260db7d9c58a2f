"""Studies with few runs, for tests of their outcomes."""

import math
from pathlib import Path
from typing import Any

from crewlearn.engine.results import Summary
from crewlearn.study.outcome import Number, Outcome
from crewlearn.study.paper import paper_numbers
from crewlearn.study.result_cache import ResultCache
from crewlearn.study.studies import STUDIES, Request, StudyRunner

RUNS = 6


def run(name: str, folder: Path, conventions: str = "as-released", runs: int | None = RUNS, seed: int = 3) -> Outcome:
    return StudyRunner(Request(conventions, runs, seed), ResultCache(folder=folder)).run(STUDIES[name])


def rows_of(outcome: Outcome, **wanted: Any) -> list[dict[str, Any]]:
    rows = outcome.to_json()["rows"]
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def number(mean: float, std: float, runs: int, paper: tuple[float, float] | None = None) -> Number:
    summary = Summary(mean, std, std / math.sqrt(max(runs - 1, 1)), mean)
    return Number(summary, runs, None if paper is None else paper_numbers.Printed(*paper))
