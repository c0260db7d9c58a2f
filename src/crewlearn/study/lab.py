"""The context of a study: conventions, number of runs, seed, and cached simulations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import crewlearn
from crewlearn.engine.caching.identity import digest_of
from crewlearn.engine.local import prepare
from crewlearn.engine.results import SimulationResult, Summary
from crewlearn.policies.contract import Policy
from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.model import Problem
from crewlearn.study.outcome import Number, Part, Picture, StudyRow
from crewlearn.study.paired import Comparison
from crewlearn.study.paper.paper_numbers import Printed
from crewlearn.study.result_cache import Arrays, ResultCache


@dataclass(frozen=True)
class Lab:
    """Simulations under one set of conventions; `tell` is called with the name of each step."""

    conventions: str
    runs: int
    seed: int = 1
    kept: ResultCache = field(default_factory=ResultCache)
    tell: Callable[[str], None] = lambda name: None

    @property
    def released(self) -> bool:
        """Whether the conventions are those of the printed tables."""
        return self.conventions == "as-released"

    def simulate(
        self, problem: Problem, policies: Sequence[str | Policy[Any]], at: Sequence[int] | None = None
    ) -> SimulationResult:
        """Simulate policies in the same worlds, or read cached results."""
        return self.kept.run(prepare(problem, policies, self.runs, self.seed, at, self.conventions), self.tell)

    def measure(self, name: str, made_of: Mapping[str, Any], make: Callable[[], Arrays]) -> Arrays:
        """Compute other arrays, or read them from the cache; `made_of` is what they depend on."""

        def announced() -> Arrays:
            self.tell(name)
            return make()

        return self.kept.arrays(digest_of({"name": name, "version": crewlearn.__version__, **made_of}), announced)

    def part(
        self,
        rows: Sequence[StudyRow],
        pictures: Sequence[Picture] = (),
        comparisons: Sequence[Comparison] = (),
        findings: Sequence[str] = (),
    ) -> Part:
        """Assemble a part of the study."""
        return Part(
            self.conventions,
            self.runs,
            self.seed,
            tuple(rows),
            tuple(pictures),
            tuple(comparisons),
            tuple(findings),
        )


def counted(number: int, noun: str) -> str:
    """Format a count with its noun.

    >>> counted(1, "run"), counted(2000, "run")
    ('1 run', '2,000 runs')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def values_of(result: SimulationResult, policy: str, measure: str, at: int) -> FloatArray:
    """Return a measure of each run: regret or normalized loss after period `at`, or completed replacements."""
    played = result.policies[policy]
    if measure == "completed":
        return played.completed.astype(float)
    values: FloatArray = getattr(played, measure)[:, result.at.index(at)]
    return values


def row_of(
    result: SimulationResult,
    policy: str,
    setting: str,
    at: int,
    paper: Mapping[str, Printed | None],
    *,
    named: str | None = None,
) -> StudyRow:
    """Return a policy's row with the measures in `paper`, each with the printed number if there is one."""
    numbers = {
        measure: Number(Summary.of(values_of(result, policy, measure, at)), result.runs, printed)
        for measure, printed in paper.items()
    }
    return StudyRow(named or policy, setting, at, numbers)
