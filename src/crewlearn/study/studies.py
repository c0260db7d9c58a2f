"""Every table and figure of the paper as a named study, and how a study is run."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from crewlearn.problem.errors import unknown_name, whole
from crewlearn.problem.instances import check_conventions
from crewlearn.problem.model import CONVENTIONS
from crewlearn.study.lab import Lab
from crewlearn.study.limit.study import against_the_limit
from crewlearn.study.outcome import Outcome, Part
from crewlearn.study.paper import benchmark, differences, mechanics, promises, runtime, sweeps, value
from crewlearn.study.result_cache import ResultCache

FRESH_INSTANCES = 250
"""Runs of a study as written: the paper's number of fresh instances."""


@dataclass(frozen=True)
class Study:
    """A named study; `runs` is its default number of runs as released, large enough for small standard errors."""

    name: str
    title: str
    item: str
    make: Callable[[Lab], Part]
    runs: int
    one_part: bool = False
    """Whether a single part covers both conventions."""

    def default_runs(self, conventions: str) -> int:
        """Return the default number of runs."""
        return self.runs if conventions == "as-released" or self.one_part else min(self.runs, FRESH_INSTANCES)


HEADLINE = "headline"

STUDIES: Mapping[str, Study] = {
    study.name: study
    for study in (
        Study(HEADLINE, "12-month benchmark", "table: five policies, m = 10", benchmark.headline, 1000),
        Study(
            "conventions",
            "What the paper says, what its tables ran, what we get",
            "beyond the paper: the text and the tables, point by point",
            differences.conventions,
            2000,
            one_part=True,
        ),
        Study(
            "benchmark",
            "Benchmark at 3, 6, 12 and 24 months",
            "tables: regret and normalized loss, m = 5, 10, 20",
            benchmark.tables,
            1000,
        ),
        Study(
            "curves",
            "Regret and normalized loss over two years",
            "figures: benchmark curves with bands, m = 10, 5, 20",
            benchmark.curves,
            1000,
        ),
        Study(
            "delay-sweep",
            "The effect of delays",
            "figures: regret, loss and completed replacements against the mean delay",
            sweeps.delay_sweep,
            1000,
        ),
        Study(
            "cost-sweep",
            "The effect of the fee",
            "figures: regret, loss and completed replacements against the fee",
            sweeps.cost_sweep,
            1000,
        ),
        Study(
            "design-choices", "Design choices of DR-UCB", "table: one rule changed at a time", benchmark.design, 2000
        ),
        Study("high-cost", "A fee of 168", "table: the stress test of screening", benchmark.high_cost, 2000),
        Study("gamma-curve", "The choice of gamma", "figure: regret over five years against gamma", sweeps.gamma, 500),
        Study("runtime", "Time of a run", "table: runtime of a run", runtime.a_run, 1000),
        Study(
            "choose-target-runtime",
            "Time of ChooseTarget",
            "table: runtime of the selection rule",
            runtime.choose_target,
            20,
        ),
        Study(
            "frontier-size",
            "Size of the frontier",
            "figure: frontier sizes over time, with a smoothed trend",
            mechanics.frontier,
            2500,
        ),
        Study("timeline", "The learning cycle", "figure: the timeline, from a real run", mechanics.timeline, 1),
        Study(
            "bounds",
            "Bounds and measured regret",
            "theory: the bound with its terms, lower bounds, and what is measured",
            promises.bounds,
            250,
        ),
        Study(
            "interviews",
            "What interviews are worth",
            "beyond the paper: InterviewScreen and WorkTrial against the correlation rho",
            sweeps.interviews,
            1000,
        ),
        Study(
            "value-of-replacement",
            "A policy that weighs each trial against its fee",
            "beyond the paper: value-of-replacement against DR-UCB and keeping the team",
            value.against_dr_ucb,
            500,
        ),
        Study(
            "limit",
            "What no policy can do better than",
            "beyond the paper: a lower bound on the regret of any policy, and how close policies come",
            against_the_limit,
            500,
            one_part=True,
        ),
    )
}
"""The studies by name, in the order of the report."""


@dataclass(frozen=True)
class Request:
    """Conventions, runs and seed of a study; `runs` None means each study's own number."""

    conventions: str = "as-released"
    runs: int | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        check_conventions(self.conventions)
        if self.runs is not None:
            whole("runs", self.runs, 1, 10**8)
        whole("seed", self.seed, 0, 2**64 - 1)

    def in_order(self, study: Study) -> list[str]:
        """Return the conventions to run, the requested one first."""
        others = [name for name in CONVENTIONS if name != self.conventions]
        return [self.conventions, *([] if study.one_part else others)]


@dataclass(frozen=True)
class StudyRunner:
    """Runs studies in sequence; `tell` is called with a description of each step, `done` after each part."""

    request: Request
    kept: ResultCache = field(default_factory=ResultCache)
    tell: Callable[[str], None] = lambda what: None
    done: Callable[[int], None] = lambda parts: None

    def run(self, study: Study) -> Outcome:
        """Run a study under the requested conventions."""
        return self._with_parts(Outcome(study.name), self.request.in_order(study)[:1])

    def complete(self, outcome: Outcome) -> Outcome:
        """Run a study under the other conventions too, for a report."""
        return self._with_parts(outcome, self.request.in_order(STUDIES[outcome.study])[1:])

    def _with_parts(self, outcome: Outcome, conventions: Sequence[str]) -> Outcome:
        started = time.perf_counter()
        study, parts = STUDIES[outcome.study], dict(outcome.parts)
        for name in conventions:
            runs = self.request.runs or study.default_runs(name)

            def tell(what: str, name: str = name) -> None:
                self.tell(f"{study.name} {name}: {what}")

            parts[name] = study.make(Lab(name, runs, self.request.seed, self.kept, tell))
            self.done(1)
        return Outcome(study.name, parts, outcome.seconds + time.perf_counter() - started)


def chosen_studies(names: Sequence[str]) -> list[Study]:
    """Return the studies with these names, each once."""
    for name in names:
        if name not in STUDIES:
            raise unknown_name("study", name, STUDIES)
    return [STUDIES[name] for name in dict.fromkeys(names)]


def reproduce(
    study: str = HEADLINE,
    conventions: str = "as-released",
    runs: int | None = None,
    seed: int = 1,
    *,
    fresh: bool = False,
) -> Outcome:
    """Run a study, or read its cached results.

    >>> outcome = reproduce("high-cost", runs=20)
    >>> [row.policy for row in outcome.main.rows]
    ['dr-ucb', 'dr-ucb-without-screening', 'keep-team']
    """
    (chosen,) = chosen_studies([study])
    return StudyRunner(Request(conventions, runs, seed), ResultCache(fresh)).run(chosen)
