"""The scaled environment: Gymnasium's checker, its numbers by hand, its mask by brute force, and its ids."""

import copy
import itertools
import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from crewlearn import ReplacementEnv, ReplacementVectorEnv
from crewlearn.engine.gym import ID, KEEP, REPLACEMENT_ID, DelayedReplacement
from crewlearn.engine.interpreted import play
from crewlearn.engine.streams import policy_key, seed_root
from crewlearn.engine.world import World
from crewlearn.policies.contract import Report
from crewlearn.policies.dr_ucb.policy import DRUCB
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.instances import benchmark
from crewlearn.problem.model import Pool, Problem, Start
from crewlearn.problem.people import Ramp
from support.environments import EMPTY, PROBLEMS, SLOW
from support.floors import TOGETHER

EVERY = {**PROBLEMS, "a floor": TOGETHER, "empty stations": EMPTY}

every_problem = pytest.mark.parametrize("problem", EVERY.values(), ids=EVERY.keys())


@every_problem
def test_gymnasium_s_own_checker_has_nothing_to_say(problem: Problem) -> None:
    check_env(gymnasium.make(REPLACEMENT_ID, problem=problem).unwrapped)  # its warnings are errors here


@pytest.mark.parametrize("first", ["crewlearn", "gymnasium"])
def test_the_ids_are_known_once_both_packages_are_imported(first: str) -> None:
    """In whichever order, without a word of the module, and without loading what is not used."""
    second = {"crewlearn": "gymnasium", "gymnasium": "crewlearn"}[first]
    ids = [REPLACEMENT_ID, ID, f"crewlearn.engine.gym:{ID}"]
    code = f"""
import {first}, importlib.util, json, sys
importlib.util.find_spec("gymnasium")  # who only looks does not spoil it
alone = "gymnasium" in sys.modules
import {second}
quiet = not any(name.startswith(("crewlearn.engine", "numba")) for name in sys.modules)
kinds = [type(gymnasium.make(name).unwrapped).__name__ for name in {ids}]
hooks = [finder for finder in sys.meta_path if "crewlearn" in type(finder).__module__]
print(json.dumps([alone, quiet, kinds, len(hooks)]))
"""
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, check=True, timeout=120, capture_output=True, text=True)
    kinds = ["ReplacementEnv", "DelayedReplacement", "DelayedReplacement"]
    assert json.loads(done.stdout) == [first == "gymnasium", True, kinds, 0]
    assert not done.stderr


def test_the_ids_make_both_kinds() -> None:
    assert REPLACEMENT_ID == "crewlearn/Replacement-v0"
    assert gymnasium.make(REPLACEMENT_ID).get_wrapper_attr("problem") == benchmark()
    envs = gymnasium.make_vec(REPLACEMENT_ID, num_envs=3, problem=SLOW)
    assert isinstance(envs, ReplacementVectorEnv)
    assert (envs.num_envs, envs.problem) == (3, SLOW)
    assert type(gymnasium.make(ID).unwrapped) is DelayedReplacement


def test_every_number_is_scaled_as_it_is_said_to_be() -> None:
    problem = replace(SLOW, cost=3.0, ramp=Ramp(0.3, 4.0, (10, 0, 0, 40, 0)), start=Start((0, 1)))
    env = ReplacementEnv(problem)
    seen, _ = env.reset(seed=1)
    assert seen["worked"].tolist() == pytest.approx([0.5, 0, 0, 0.8, 0])
    assert seen["may_enter"].tolist() == seen["may_leave"].tolist() == [1] * 5
    assert seen["fee"][0] == pytest.approx(3 / 4)
    assert seen["delay"][0] == pytest.approx(3 / 13)
    assert seen["periods_left"][0] == pytest.approx(12 / 112)
    assert seen["time_left"].tolist() == [1.0]
    seen, _, _, _, _ = env.step(np.array([KEEP, 3]))
    for _ in range(2):
        seen, _, _, _, _ = env.step(np.array([KEEP, KEEP]))
    assert seen["seen"].tolist() == pytest.approx([3 / 13, 3 / 13, 0, 0, 0])
    assert seen["worked"].tolist() == pytest.approx([13 / 23, 3 / 13, 0, 0.8, 0])
    assert seen["means"].tolist() == pytest.approx(env.estimates.means().tolist())
    assert seen["stations"].tolist() == [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0]]
    assert seen["arriving"].tolist() == [[0] * 5, [0, 0, 1, 0, 0]]
    assert seen["waiting"].tolist() == pytest.approx([0, 3 / 13])
    assert seen["periods_left"][0] == pytest.approx(9 / 109)
    assert seen["time_left"][0] == pytest.approx(9 / 12)
    assert seen["action_mask"].tolist() == [[1, 0, 0, 0, 1, 1], [1, 0, 0, 0, 0, 0]]


def test_a_rolling_horizon_always_has_as_much_left() -> None:
    env = ReplacementEnv(TOGETHER)
    seen, _ = env.reset(seed=1)
    for t in range(1, TOGETHER.horizon - TOGETHER.warmup + 1):
        assert seen["periods_left"][0] == pytest.approx(25 / 125)
        assert seen["time_left"][0] == pytest.approx(25 / (t - 1 + 25))
        seen, _, over, _, _ = env.step(np.zeros(4, dtype=np.int64))
    assert over


@every_problem
def test_the_mask_allows_what_is_not_dropped(problem: Problem) -> None:
    """Every choice of every station is tried by itself in a copy of the environment."""
    env = ReplacementEnv(problem)
    env.action_space.seed(3)
    seen, info = env.reset(seed=3)
    team, workers = env.roster.team, env.roster.workers
    live = problem.horizon - problem.warmup
    for t in range(1, live + 1):
        mask = info["action_mask"]
        assert (seen["action_mask"] == mask).all()
        assert env.action_masks().tolist() == mask.ravel().tolist()
        if t in (1, 2, 3, 5, 8, 13, 21, live - 1, live):
            for station, choice in itertools.product(range(team), range(workers + 1)):
                action = np.full(team, KEEP)
                action[station] = choice
                assert copy.deepcopy(env).step(action)[4]["dropped"] == (not mask[station, choice])
        if t == live and problem.rolling is None:
            assert not mask[:, 1:].any()
        seen, _, _, _, info = env.step(env.action_space.sample(mask=tuple(mask.astype(np.int8))))


@every_problem
def test_observations_stay_in_the_space(problem: Problem) -> None:
    env = ReplacementEnv(problem)
    env.action_space.seed(4)
    seen, info = env.reset(seed=4)
    for number, over in enumerate(iter(lambda: env.period > problem.horizon, None)):
        assert seen in env.observation_space
        assert all(array.min() >= 0 and array.max() <= 1 for array in seen.values())
        if over:
            break
        legal = tuple(info["action_mask"].astype(np.int8))
        seen, _, _, _, info = env.step(env.action_space.sample(mask=legal if number % 2 else None))
        env.roster.check()


def test_a_run_of_a_seed_can_be_chosen() -> None:
    env = ReplacementEnv(SLOW)
    worlds = []
    for seed, options in ((5, {"run": 7}), (None, None), (5, None), (6, {"else": 1})):
        env.reset(seed=seed, options=options)
        worlds.append((env.world.seed, env.world.run))
    assert worlds == [(5, 7), (5, 8), (5, 0), (6, 0)]
    with pytest.raises(InvalidInput, match=r"options run = -1: must be a whole number"):
        env.reset(seed=1, options={"run": -1})
    with pytest.raises(InvalidInput, match="give the seed as well"):
        env.reset(options={"run": 1})


def test_a_policy_meets_the_same_world_to_the_last_bit() -> None:
    problem, policy = PROBLEMS["fees at completion"], DRUCB(gamma=2.0)
    env = ReplacementEnv(problem)
    env.reset(seed=11, options={"run": 2})
    steps = list(play(World(problem, 11, 2), policy))
    state, over, regret = policy.start(env.situation(), policy_key(seed_root(11), 2)), False, []
    while not over:
        period = env.period
        pairs, state = policy.decide(state, env.situation())
        _, _, over, _, info = env.step(env.action_of(pairs))
        state = policy.observe(state, Report(period, completed=info["completed"]))
        regret.append(info["regret"])
    assert regret == [step.regret for step in steps]
    assert sum(len(step.completed) for step in steps) > 0


def test_hidden_means_show_only_through_output() -> None:
    env = ReplacementEnv(SLOW)
    env.reset(seed=1)
    idle = env.roster.outside[0]
    assert isinstance(SLOW.workers, Pool)
    means = tuple(0.99 if worker == idle else mean for worker, mean in enumerate(SLOW.workers.means))
    other = ReplacementEnv(replace(SLOW, workers=Pool(means)))
    other.reset(seed=1)
    action = env.action_of([(env.roster.stations[0], env.roster.outside[1])])
    for _ in range(SLOW.horizon):
        mine, theirs = env.step(action)[0], other.step(action)[0]
        assert all(np.array_equal(mine[name], theirs[name]) for name in mine)


def test_a_bad_problem_is_named() -> None:
    name: Any = "benchmark"
    number: Any = 3
    with pytest.raises(InvalidInput, match=r"problem = 'benchmark': must be a crewlearn\.Problem"):
        ReplacementEnv(name)
    with pytest.raises(InvalidInput, match=r"problem = 3: must be a crewlearn\.Problem"):
        ReplacementVectorEnv(2, number)
