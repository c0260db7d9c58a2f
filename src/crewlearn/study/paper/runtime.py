"""Timing of a run and of a choice of target, compiled and in plain Python, compared with the authors' times."""

import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from crewlearn.beliefs.radii import RADII, confidence_bounds, log_term
from crewlearn.engine.blocks import Block, play_block
from crewlearn.engine.caching.identity import code_digest
from crewlearn.engine.compiled.loops import compiled_rule
from crewlearn.engine.interpreted import play
from crewlearn.engine.local import compile_first
from crewlearn.engine.results import Summary
from crewlearn.engine.world import World
from crewlearn.policies.contract import Pair, Policy, Situation
from crewlearn.policies.dr_ucb.candidates import Candidates
from crewlearn.policies.dr_ucb.decision import replacement_threshold
from crewlearn.policies.dr_ucb.frontier import FRONTIER_CAP
from crewlearn.policies.dr_ucb.policy import DRUCB, DRUCBState
from crewlearn.policies.dr_ucb.selection import CONSTRAINED, DIAGNOSTICS, select
from crewlearn.policies.registry import make_policy
from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.instances import benchmark
from crewlearn.study.lab import Lab, counted
from crewlearn.study.outcome import Number, Part, StudyRow
from crewlearn.study.paper.paper_numbers import Printed, choose_target_milliseconds, milliseconds_a_run

TIMED = ("dr-ucb", "a-aht", "a-omm")
RUNS_IN_A_BLOCK = 50
PLAIN_RUNS = 5


def a_run(lab: Lab) -> Part:
    """Milliseconds per run of 730 periods: compiled on one thread, in blocks of 50 runs, and in plain Python."""
    problem = benchmark(10, lab.conventions)
    blocks = max(1, lab.runs // RUNS_IN_A_BLOCK)

    def make() -> dict[str, FloatArray]:
        times = {}
        for name in TIMED:
            policy = make_policy(name, lab.conventions)
            compile_first(problem, [policy], lab.seed)
            lab.tell(f"{name}, timed")
            firsts = range(0, blocks * RUNS_IN_A_BLOCK, RUNS_IN_A_BLOCK)
            timed = [Block(problem, policy, lab.seed, first, RUNS_IN_A_BLOCK, (problem.horizon,)) for first in firsts]
            times[f"compiled {name}"] = _milliseconds(play_block, timed) / RUNS_IN_A_BLOCK
            lab.tell(f"{name}, timed in plain Python")
            worlds = [World(problem, lab.seed, run) for run in range(min(PLAIN_RUNS, lab.runs))]
            times[f"plain {name}"] = _milliseconds(partial(_play_plainly, policy), worlds)
        return times

    times = lab.measure("runtime", {**_machine(), "lab": [lab.conventions, blocks, lab.runs]}, make)
    rows = tuple(
        _row(name, label, times[f"{key} {name}"], milliseconds_a_run(name), problem.horizon)
        for key, label in (("compiled", "compiled"), ("plain", "plain Python"))
        for name in TIMED
    )
    findings = [
        *(f"{row.policy}, {row.setting}: {_times_faster(row)} the authors' program." for row in rows),
        "The two programs ran on different machines, so these ratios are rough.",
        f"Compiled times are from {counted(blocks, 'block')} of {RUNS_IN_A_BLOCK} runs, with the standard deviation "
        f"between blocks; plain Python is timed on {counted(min(PLAIN_RUNS, lab.runs), 'run')}.",
    ]
    return lab.part(rows, (), (), findings)


def _play_plainly(policy: Policy[Any], world: World) -> None:
    for _ in play(world, policy):
        pass


def choose_target(lab: Lab) -> Part:
    """Milliseconds per choice of target, over all decisions of a few runs, with the frontier always built."""
    runs = min(lab.runs, 20)

    def make() -> dict[str, FloatArray]:
        lab.tell("collecting decisions")
        problem = benchmark(10, lab.conventions)
        chosen = make_policy("dr-ucb", lab.conventions)
        assert isinstance(chosen, DRUCB)
        watched = _RecordingDRUCB(radius=chosen.radius, pairing=chosen.pairing)
        for run in range(runs):
            _play_plainly(watched, World(problem, lab.seed, run))
        lab.tell("compiling the selection rule")
        compiled = compiled_rule(select)
        _select(compiled, watched.met[0])
        lab.tell("timing")
        return {
            "compiled": _milliseconds(lambda met: _select(compiled, met), watched.met),
            "plain": _milliseconds(lambda met: _select(select, met), watched.met),
        }

    times = lab.measure("choose-target", {**_machine(), "lab": [lab.conventions, runs, lab.seed]}, make)
    printed, longest = choose_target_milliseconds()
    horizon = benchmark(10, lab.conventions).horizon
    rows = []
    for key, label in (("compiled", "compiled"), ("plain", "plain Python")):
        rows.append(_row("dr-ucb", label, times[key], printed, horizon))
        rows.append(_row("dr-ucb", f"{label}, longest", times[key].max(keepdims=True), Printed(longest), horizon))
    findings = tuple(f"{row.policy}, {row.setting}: {_times_faster(row)} the authors' program." for row in rows)
    return Part(lab.conventions, runs, lab.seed, tuple(rows), (), (), findings)


@dataclass(frozen=True)
class _Met:
    """The input of a choice of target."""

    candidates: Candidates
    threshold: float


@dataclass(frozen=True)
class _RecordingDRUCB(DRUCB):
    """DR-UCB that records the input of its selection rule in each decision, once all active workers are observed."""

    met: list[_Met] = field(default_factory=list, compare=False)

    def decide(self, state: DRUCBState, situation: Situation) -> tuple[list[Pair], DRUCBState]:
        """Decide, and record the input of the selection rule."""
        setting, period = situation.setting, situation.period
        ucb, lcb = np.empty(setting.workers), np.empty(setting.workers)
        code = RADII[self.radius]
        confidence_bounds(code, situation.estimates, log_term(code, setting.horizon, period), ucb, lcb)
        out = np.array(sorted(situation.roster.stations), dtype=np.int64)
        pairs, after = super().decide(state, situation)
        if after.decided_at == period and np.isfinite(ucb[out]).all() and period < setting.horizon:
            into = np.setdiff1d(np.arange(setting.workers), out)
            candidates = Candidates(out, ucb[out], lcb[out], into, ucb[into], lcb[into])
            self.met.append(_Met(candidates, replacement_threshold(setting.cost, setting.horizon, period)))
        return pairs, after


def _select(rule: Callable[..., int], met: _Met) -> None:
    candidates = met.candidates
    leaving = np.empty(len(candidates.out_worker), dtype=np.int64)
    entering = np.empty(len(candidates.in_worker), dtype=np.int64)
    rule(CONSTRAINED, candidates, met.threshold, FRONTIER_CAP, True, leaving, entering, np.zeros(DIAGNOSTICS))


def _milliseconds(work: Callable[[Any], object], items: list[Any]) -> FloatArray:
    """Time `work` on each item, after a warm-up call."""
    work(items[0])
    times = []
    for item in items:
        started = time.perf_counter()
        work(item)
        times.append((time.perf_counter() - started) * 1e3)
    return np.array(times)


def _row(policy: str, setting: str, times: FloatArray, printed: Printed | None, at: int) -> StudyRow:
    """Return a row of times."""
    return StudyRow(
        policy, setting, at, {"milliseconds": Number(Summary.of(times), len(times), printed, replicate=False)}
    )


def _times_faster(row: StudyRow) -> str:
    number = row.numbers["milliseconds"]
    assert number.paper is not None
    ratio = number.paper.mean / number.ours.mean
    return f"{ratio:,.1f} times as fast as" if ratio >= 1.0 else f"{1.0 / ratio:,.1f} times as slow as"


def _machine() -> dict[str, str]:
    """Return what identifies the machine and code behind the times."""
    return {"node": platform.node(), "python": platform.python_version(), "sources": code_digest()}
