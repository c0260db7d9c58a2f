"""Policies that are tuned by simulating the problem before play."""

import dataclasses
import threading
import time
from collections import OrderedDict
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

from crewlearn.engine import tuning
from crewlearn.engine.blocks import Block, BlockResult, blocks_of, play_block
from crewlearn.engine.local import prepare, simulate
from crewlearn.engine.results import same_numbers
from crewlearn.engine.scale_out.player import Waiting, choose_player
from crewlearn.engine.sweep import plan_cells, run_sweep
from crewlearn.engine.trace import trace
from crewlearn.engine.tuning import APART, RUNS, settled
from crewlearn.policies.contract import Policy
from crewlearn.policies.dr_ucb.policy import DRUCB
from crewlearn.policies.dr_ucb.tuned import STEPS, TunedDRUCB
from crewlearn.policies.registry import is_tuned_by_simulation, live_policies, make_policy
from crewlearn.problem.chance import mix
from crewlearn.problem.instances import benchmark
from crewlearn.problem.recipes import Recipe
from crewlearn.theory.gamma import gamma_star
from support.interrupting import check_an_interrupt_ends

PROBLEM = benchmark(team=5, horizon=120)
TUNED = make_policy("dr-ucb-tuned")
LARGE = dataclasses.replace(
    PROBLEM, workers=Recipe("uniform", 3000, 0.5, 0.2, generator="counter"), team=20, horizon=200_000
)
"""A problem of which a block is one run, so that each candidate has many, and tuning takes minutes."""


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test tune anew."""
    monkeypatch.setattr(tuning, "_known", OrderedDict())


def test_the_gamma_is_the_best_of_the_grid_on_seeds_of_its_own() -> None:
    seed = 4
    grid = [gamma_star(PROBLEM.setting) * 2.0**step for step in STEPS]
    tuning_seed = mix(mix(APART, seed), APART)
    assert tuning_seed > 2**32, "no seed that people choose"
    specs = [f"dr-ucb:gamma={gamma!r}" for gamma in grid]
    result = simulate(PROBLEM, specs, RUNS, tuning_seed)
    best = min(grid, key=lambda gamma: result.regret(f"dr-ucb:gamma={gamma!r}", 120).mean)
    tuned = settled(make_policy("dr-ucb-tuned"), PROBLEM, seed)
    assert isinstance(tuned, TunedDRUCB)
    assert tuned.gamma == pytest.approx(best)


def test_it_plays_as_dr_ucb_with_that_gamma() -> None:
    ours = simulate(PROBLEM, ["dr-ucb-tuned"], 6, 4).policies["dr-ucb-tuned"]
    assert isinstance(ours.policy, TunedDRUCB)
    theirs = simulate(PROBLEM, [DRUCB(gamma=ours.policy.gamma)], 6, 4).policies["dr-ucb"]
    assert ours.regret.tolist() == theirs.regret.tolist()


def test_no_live_site_offers_it() -> None:
    assert is_tuned_by_simulation(make_policy("dr-ucb-tuned"))
    assert not is_tuned_by_simulation(make_policy("dr-ucb-tuned:gamma=3"))
    assert "dr-ucb-tuned" not in live_policies()


def test_a_trace_is_of_the_tuned_policy() -> None:
    tuned, plain = (list(trace(PROBLEM, name, seed=4)) for name in ("dr-ucb-tuned", "dr-ucb"))
    settled_at = settled(make_policy("dr-ucb-tuned"), PROBLEM, 4)
    assert tuned == list(trace(PROBLEM, settled_at, seed=4))
    assert (tuned == plain) == (isinstance(settled_at, TunedDRUCB) and settled_at.gamma == gamma_star(PROBLEM.setting))


def one_by_one(policy: Policy[Any], seed: int) -> Policy[Any]:
    """Tune in this thread, block after block."""
    tuning_seed, at = mix(mix(APART, seed), APART), (PROBLEM.horizon,)
    earned = {
        candidate: sum(
            float(play_block(block).net.sum()) for block in blocks_of(PROBLEM, candidate, RUNS, tuning_seed, at)
        )
        for candidate in policy.candidates(PROBLEM.setting)
    }
    return max(earned, key=lambda candidate: earned[candidate])


@pytest.mark.parametrize(("engine", "workers"), [("local", 1), ("local", 2), ("local", 5), ("processes", 2)])
def test_the_choice_does_not_depend_on_who_plays(engine: str, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crewlearn.engine.blocks.LARGEST_BLOCK", 10)  # several blocks a candidate
    for seed in (1, 2):
        assert settled(TUNED, PROBLEM, seed, choose_player(engine, workers)) == one_by_one(TUNED, seed)
        assert len(tuning._known) == seed, "kept for the next time"
    first = simulate(PROBLEM, ["dr-ucb-tuned"], 5, 9, threads=1)
    tuning._known.clear()
    assert same_numbers(first, simulate(PROBLEM, ["dr-ucb-tuned"], 5, 9, engine=engine, threads=workers))


def test_a_simulation_and_a_sweep_tune_with_their_own_player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[set[int]] = []

    def player(blocks: Sequence[Block], waiting: Waiting | None) -> Generator[tuple[BlockResult, float], None, None]:
        seeds.append({block.seed for block in blocks})
        yield from choose_player("local", 2)(blocks, waiting)

    tuning_seed = mix(mix(APART, 4), APART)
    dataclasses.replace(prepare(PROBLEM, ["dr-ucb-tuned"], 3, 4), player=player).run()
    assert seeds == [{tuning_seed}, {4}]
    tuning._known.clear()
    seeds.clear()
    monkeypatch.setattr("crewlearn.engine.sweep.running.choose_player", lambda engine, threads: player)
    run_sweep(plan_cells(PROBLEM, ["dr-ucb-tuned"], {}, 3, 4), tmp_path / "cells.jsonl")
    assert seeds == [{tuning_seed}, {4}]


class Enough(Exception):
    """Raised by a progress callback to end the work."""


def test_what_progress_raises_ends_tuning_at_once() -> None:
    simulate(PROBLEM, ["dr-ucb"], 1)  # so that compiling does not count
    threads, told = threading.active_count(), []

    def third_time(done: int) -> None:
        told.append(done)
        if len(told) == 3:
            raise Enough

    started = time.perf_counter()
    with pytest.raises(Enough):
        simulate(LARGE, ["dr-ucb-tuned"], 1, progress=third_time)
    assert time.perf_counter() - started < 10  # a second where the machine is free; not a benchmark
    assert told == [0, 0, 0], "no run of the simulation itself was finished"
    assert threading.active_count() == threads
    assert not tuning._known, "half a choice is none"


def test_an_interrupt_ends_tuning(tmp_path: Path) -> None:
    simulate(PROBLEM, ["dr-ucb"], 1)  # so that the other process finds compiled code
    check_an_interrupt_ends(LARGE, "dr-ucb-tuned", tmp_path)
