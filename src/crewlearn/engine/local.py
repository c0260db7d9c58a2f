"""Many runs of several policies in the same worlds."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

from crewlearn.engine.blocks import Block, blocks_of, is_compiled, loop_kind, play_block
from crewlearn.engine.caching.identity import classes_of
from crewlearn.engine.caching.sources import is_covered
from crewlearn.engine.compiled.forms import loop_problem, own_laws, policy_form
from crewlearn.engine.results import KEEP, ORACLE, Collector, PolicyResult, SimulationResult
from crewlearn.engine.scale_out.player import Player, choose_player
from crewlearn.engine.tuning import settled
from crewlearn.policies.compilable import rule_of
from crewlearn.policies.contract import Policy
from crewlearn.policies.registry import make_policy, with_parameters
from crewlearn.problem.errors import InvalidInput, whole
from crewlearn.problem.instances import followed_conventions
from crewlearn.problem.model import Problem

MOST_RUNS = 10**8

Policies = Sequence[str | Policy[Any]] | Mapping[str, str | Policy[Any]]
"""Policies to compare, by name or as objects; a mapping labels them."""


@dataclass(frozen=True)
class Simulation:
    """Policies, by label, to play in the same worlds. `prepare` makes it and checks everything in it.

    `at` are the checkpoints in order; `player` plays the blocks of each policy.
    """

    problem: Problem
    policies: Mapping[str, Policy[Any]]
    runs: int
    seed: int
    at: tuple[int, ...]
    conventions: str
    engine: str
    player: Player

    def only(self, label: str) -> "Simulation":
        """Return the simulation of one of the policies, or of one of the ends of the scale."""
        return dataclasses.replace(self, policies={label: self.to_play[label]})

    @property
    def to_play(self) -> dict[str, Policy[Any]]:
        """The policies and, where people or days change, the ends of the scale on which they are read."""
        return {**{self._label_of(name): end for name, end in self._ends.items()}, **self.policies}

    @property
    def _ends(self) -> dict[str, Policy[Any]]:
        return {name: make_policy(name) for name in (KEEP, ORACLE)} if self.problem.changes else {}

    def _label_of(self, end: str) -> str:
        """Return the label of an end of the scale: its name, unless that is listed for something else."""
        return end if self.policies.get(end, self._ends[end]) == self._ends[end] else f"{end} without brakes"

    def in_problem(self, problem: Problem) -> "Simulation":
        """Return the simulation of the same policies in another problem, read at its horizon."""
        return dataclasses.replace(self, problem=problem, at=(problem.horizon,))

    def compile(self) -> None:
        """Compile or load the loops that this process does not have yet; a cluster's workers see to it themselves."""
        load_loops(self.engine, self.problem, self.to_play.values(), self.seed)

    def run(self, progress: Callable[[int], None] | None = None) -> SimulationResult:
        """Play all policies; `progress` is as in `simulate`."""
        self.compile()
        quiet = None if progress is None else lambda runs: progress(0)  # runs of the ends of the scale do not count
        return self.result_of(
            {label: self.play(label, progress if label in self.policies else quiet) for label in self.to_play}
        )

    def play(self, label: str, progress: Callable[[int], None] | None = None) -> PolicyResult:
        """Play one of the policies or ends of the scale."""
        waiting = None if progress is None else partial(progress, 0)
        policy = settled(self.to_play[label], self.problem, self.seed, self.player, waiting)
        collector = Collector(policy, self.runs, self.at, self.problem.horizon)
        blocks = blocks_of(self.problem, policy, self.runs, self.seed, self.at)
        with closing(self.player(blocks, waiting)) as played:
            for result, seconds in played:
                collector.add(result, seconds)
                if progress is not None:
                    progress(len(result.regret))
        return collector.result()

    def result_of(self, results: Mapping[str, PolicyResult]) -> SimulationResult:
        """Return the results of all that was to be played, by label, as the result of the simulation."""
        listed = {label: results[label] for label in self.policies}
        ends = {name: results[self._label_of(name)] for name in self._ends}
        return SimulationResult(self.problem, self.runs, self.seed, self.at, self.conventions, listed, ends=ends)


def simulate(
    problem: Problem,
    policies: Policies,
    runs: int = 100,
    seed: int = 1,
    at: Sequence[int] | None = None,
    conventions: str | None = None,
    *,
    threads: int | None = None,
    engine: str = "local",
    progress: Callable[[int], None] | None = None,
) -> SimulationResult:
    """Play each policy in the same `runs` worlds and report regret after the periods `at` (the horizon by default).

    Policies are given by name, with parameters as in `make_policy`, or as objects; a mapping labels them, as in
    `{"slow": DRUCB(gamma=20), "fast": DRUCB(gamma=5)}`. Names follow the problem's conventions unless `conventions`
    says otherwise. The numbers do not depend on the `engine`:

    - "local" plays on `threads` threads, by default one per core. Plain Python gains nothing from more than one.
    - "processes" plays on `threads` processes, by default one per core: for policies without a rule, and for problems
      with a law that cannot be compiled. Classes of your own must be in a module that they can import.
    - "dask" or the address of a Dask scheduler plays on a cluster.

    `progress` is called with the number of runs just finished. On threads and processes it is also called with 0
    several times a second while it waits. An exception raised by `progress` stops the work at once.

    >>> from crewlearn.problem.instances import benchmark
    >>> result = simulate(benchmark(horizon=30), ["keep-team", "oracle"], runs=3)
    >>> result.regret("oracle", at=30).mean < result.regret("keep-team", at=30).mean
    True
    """
    return prepare(problem, policies, runs, seed, at, conventions, threads=threads, engine=engine).run(progress)


def prepare(
    problem: Problem,
    policies: Policies,
    runs: int = 100,
    seed: int = 1,
    at: Sequence[int] | None = None,
    conventions: str | None = None,
    *,
    threads: int | None = None,
    engine: str = "local",
) -> Simulation:
    """Check the arguments of `simulate` and return what it runs; nothing is compiled or played yet.

    >>> from crewlearn.problem.instances import benchmark
    >>> simulation = prepare(benchmark(horizon=30), ["keep-team", "oracle"], runs=3)
    >>> list(simulation.policies), simulation.at, simulation.conventions
    (['keep-team', 'oracle'], (30,), 'as-written')
    """
    runs, seed = checked_runs(runs, seed)
    periods = checked_periods(problem, at)
    followed = followed_conventions(problem, conventions)
    chosen = checked_policies(policies, followed)
    return Simulation(problem, chosen, runs, seed, periods, followed, engine, choose_player(engine, threads))


def checked_runs(runs: int, seed: int) -> tuple[int, int]:
    """Check the number of runs and the seed; return them as plain numbers."""
    return whole("runs", runs, 1, MOST_RUNS), whole("seed", seed, 0, 2**64 - 1)


def checked_periods(problem: Problem, at: Sequence[int] | None) -> tuple[int, ...]:
    """Check the checkpoints of a simulation and return them in order: the horizon, if none is given."""
    if at is not None and not isinstance(at, Iterable):
        raise InvalidInput("at", at, "must be a list of periods")
    periods = sorted({whole("at", period, 1) for period in (() if at is None else at)}) or [problem.horizon]
    if periods[0] <= problem.warmup:
        remedy = f"lies in the warm-up; choose periods from {problem.warmup + 1} to {problem.horizon}"
        raise InvalidInput("at", periods[0], remedy)
    if periods[-1] > problem.horizon:
        remedy = f"lies beyond the horizon; choose periods from {problem.warmup + 1} to {problem.horizon}"
        raise InvalidInput("at", periods[-1], remedy)
    return tuple(periods)


def checked_policies(policies: Policies, conventions: str) -> dict[str, Policy[Any]]:
    """Build the policies of a simulation under these conventions, by label.

    Labels are those of a mapping; else the names that the policies were called by, with the parameters that differ
    where several policies of a kind were given.

    >>> from crewlearn import DRUCB
    >>> list(checked_policies([DRUCB(gamma=5), DRUCB(gamma=20), "keep-team"], "as-written"))
    ['dr-ucb:gamma=5', 'dr-ucb:gamma=20', 'keep-team']
    """
    given = list(policies.values() if isinstance(policies, Mapping) else policies)
    if isinstance(policies, str) or not all(isinstance(policy, (str, Policy)) for policy in given):
        raise InvalidInput("policies", policies, "must be a list of names or policies, or such by label")
    if not given:
        raise InvalidInput("policies", [], "name at least one policy")
    labels = list(policies) if isinstance(policies, Mapping) else _labels(given)
    for label in labels:
        if not isinstance(label, str) or not label.strip():
            raise InvalidInput("policies", label, "a label must be text")
        if labels.count(label) > 1:
            raise InvalidInput("policies", label, "is named twice; name it with parameters, such as dr-ucb:gamma=20")
    built = [make_policy(policy, conventions) if isinstance(policy, str) else policy for policy in given]
    return dict(zip(labels, built, strict=True))


def _labels(given: Sequence[str | Policy[Any]]) -> list[str]:
    """Return a label for each policy: its name, and the parameters in which it differs from others of that name."""
    objects = [policy for policy in given if not isinstance(policy, str)]
    labels = []
    for policy in given:
        name = policy if isinstance(policy, str) else policy.name
        alike = [other for other in objects if other.name == name and type(other) is type(policy)]
        if not isinstance(policy, str) and len(alike) > 1:
            differing = [
                field.name
                for field in dataclasses.fields(policy)
                if any(getattr(other, field.name) != getattr(policy, field.name) for other in alike)
            ]
            name = with_parameters(name, {field: getattr(policy, field) for field in differing})
        labels.append(name)
    return labels


def load_loops(engine: str, problem: Problem, policies: Iterable[Policy[Any]], seed: int) -> None:
    """Compile or load what an engine needs before it begins, and say what cannot be compiled.

    Other processes load from disk what this one compiled, except loops of a user's own code. A cluster's workers
    compile for themselves.
    """
    policies = list(policies)
    if own_laws(problem) and any(rule_of(policy) is not None for policy in policies):
        from crewlearn.engine.compiled.law_checks import tell_law_fault

        tell_law_fault(problem)
    if engine == "processes":
        from crewlearn.engine.scale_out.processes import check_sendable

        for policy in policies:
            check_sendable(problem, policy)
        policies = [policy for policy in policies if is_compiled(policy, problem) and _is_on_disk(policy, problem)]
    if engine in ("local", "processes"):
        compile_first(problem, policies, seed)


def _is_on_disk(policy: Policy[Any], problem: Problem) -> bool:
    from crewlearn.engine.compiled.loops import is_shipped

    return is_shipped(loop_kind(policy, problem))


def compile_first(problem: Problem, policies: Iterable[Policy[Any]], seed: int) -> None:
    """Compile or load the loops of the policies that this process does not have yet, before the clock starts.

    Where several are not in the disk cache yet, they are compiled at the same time.
    """
    compiled = [policy for policy in policies if is_compiled(policy, problem)]
    if not compiled:
        return
    from crewlearn.engine.compiled import loops
    from crewlearn.engine.compiled.warming import compile_at_once

    shipped = [policy for policy in compiled if all(map(is_covered, classes_of(problem, policy)))]
    kinds = {loop_kind(policy, problem): policy for policy in shipped}
    compile_at_once([(problem, policy) for kind, policy in kinds.items() if loops.is_missing_on_disk(kind)])
    for policy in compiled:
        compile_one(problem, policy, seed)


def compile_one(problem: Problem, policy: Policy[Any], seed: int = 1) -> None:
    """Compile or load the loop that plays a policy, if this process does not have it yet."""
    from crewlearn.engine.compiled import loops

    kind = loop_kind(policy, problem)
    if not loops.is_loaded(kind, loop_problem(policy, problem), policy_form(policy, problem)):
        dated = problem.changes or problem.output.shocks  # neutral shocks have dates, too
        short = problem if dated else dataclasses.replace(problem, horizon=1)
        loops.first_call(kind, policy.name, partial(play_block, Block(short, policy, seed, 0, 1, (short.horizon,))))
