"""Policies that are tuned by simulating the problem before play."""

import pytest

from crewlearn.engine.local import simulate
from crewlearn.engine.trace import trace
from crewlearn.engine.tuning import APART, RUNS, settled
from crewlearn.policies.dr_ucb.policy import DRUCB
from crewlearn.policies.dr_ucb.tuned import STEPS, TunedDRUCB
from crewlearn.policies.registry import is_tuned_by_simulation, live_policies, make_policy
from crewlearn.problem.chance import mix
from crewlearn.problem.instances import benchmark
from crewlearn.theory.gamma import gamma_star

PROBLEM = benchmark(team=5, horizon=120)


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
