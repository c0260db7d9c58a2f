"""The vector environment: equal to one environment after the other, to the last bit, in every mode of resets."""

from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from crewlearn import ReplacementEnv, ReplacementVectorEnv, simulate
from crewlearn.engine.gym import REPLACEMENT_ID, vector
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.model import Problem
from support.environments import EMPTY, PROBLEMS, SLOW
from support.floors import ALONE, QUIET, TOGETHER
from support.own_code import Notice, Pulled, Spelled, Triangular

N = 3

FLOORS = {name: replace(QUIET, **change) for name, change in ALONE.items()}
EVERY = {**PROBLEMS, **FLOORS, "together": TOGETHER, "empty stations": EMPTY}
COUNTED = {"requests": "requested", "completions": "completed", "declines": "declined"}


def alike(mine: Any, theirs: Any) -> bool:
    """Return whether two arrays have the same type and bits."""
    mine, theirs = np.asarray(mine), np.asarray(theirs)
    same: bool = mine.dtype == theirs.dtype and mine.shape == theirs.shape and mine.tobytes() == theirs.tobytes()
    return same


def compare_infos(mine: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Compare infos where both have them; where one environment lists pairs, the vector counts them."""
    for name in set(mine) - {"final_obs", "_final_obs", "final_info", "_final_info"}:
        if name.startswith("_"):
            continue
        told, has = COUNTED.get(name, name), mine[f"_{name}"]
        assert (has == theirs.get(f"_{told}", np.zeros(N, dtype=bool))).all(), name
        for index in np.flatnonzero(has):
            value = theirs[told][index]
            assert np.array_equal(mine[name][index], len(value) if name in COUNTED else value), name
    assert set(theirs) <= {*mine, *COUNTED.values(), *(f"_{name}" for name in COUNTED.values()), *HIDDEN}


HIDDEN = {"absent", "_absent", "quit", "_quit"}
"""What only a single environment tells."""


def compare(problem: Problem, mode: AutoresetMode, episodes: float, seed: Any = 7) -> int:
    """Play both with the same actions, legal and not; return how many requests there were."""
    mine = ReplacementVectorEnv(N, problem, autoreset_mode=mode)
    theirs = SyncVectorEnv([lambda: ReplacementEnv(problem)] * N, autoreset_mode=mode)
    assert mine.observation_space == theirs.observation_space
    assert mine.action_space == theirs.action_space
    assert mine.single_observation_space == theirs.single_observation_space
    mine.single_action_space.seed(5)
    (seen, infos), (shown, told) = mine.reset(seed=seed), theirs.reset(seed=seed)
    steps, requests = int(episodes * (problem.horizon - problem.warmup)), 0
    for step in range(steps):
        assert seen.keys() == shown.keys()
        assert all(alike(seen[name], shown[name]) for name in seen)
        compare_infos(infos, told)
        legal = [tuple(mask.astype(np.int8)) if step % 3 else None for mask in infos["action_mask"]]
        actions = np.array([mine.single_action_space.sample(mask=mask) for mask in legal])
        actions[:, 1:] *= (step + np.arange(N))[:, None] % 4 == 0  # few at a time
        seen, rewards, over, cut, infos = mine.step(actions)
        shown, *rest, told = theirs.step(actions)
        assert all(map(alike, (rewards, over, cut), rest))
        requests += int(infos["requests"].sum())
        if "final_obs" in told:
            assert (infos["_final_obs"] == told["_final_obs"]).all()
            for index in np.flatnonzero(over):
                ours, others = infos["final_obs"][index], told["final_obs"][index]
                assert all(alike(ours[name], others[name]) for name in ours)
            compare_infos(infos["final_info"], told["final_info"])
        if mode is AutoresetMode.DISABLED and over.any():
            options = {"reset_mask": over}
            (seen, infos), (shown, told) = mine.reset(options=dict(options)), theirs.reset(options=dict(options))
    return requests


@pytest.mark.parametrize("problem", EVERY.values(), ids=EVERY.keys())
def test_many_at_once_are_each_as_alone(problem: Problem) -> None:
    assert compare(problem, AutoresetMode.NEXT_STEP, 1.3) > 0 or problem.horizon == 1


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("problem", [SLOW, TOGETHER], ids=["quiet", "floor"])
def test_resets_of_every_mode(problem: Problem, mode: AutoresetMode) -> None:
    assert compare(problem, mode, 3.2) > 0


def test_a_seed_for_each() -> None:
    assert compare(SLOW, AutoresetMode.NEXT_STEP, 2.5, seed=[4, 4, 99]) > 0


def test_a_user_s_own_laws(monkeypatch: pytest.MonkeyPatch) -> None:
    """In plain Python, for compiling takes long; `test_own_laws` shows that compiled laws draw the same."""
    problem = Problem(3, 20, 0.5, QUIET.workers, Notice(), Triangular(), drift=Pulled())
    monkeypatch.setattr(vector, "compiled_in_memory", lambda function: function)
    monkeypatch.setattr(vector, "frozen_laws", lambda form: form)
    assert compare(problem, AutoresetMode.NEXT_STEP, 1.5) > 0


def test_a_law_that_cannot_be_compiled_is_named_with_a_way_out() -> None:
    problem = replace(SLOW, output=Spelled())
    with pytest.raises(InvalidInput, match=r"line \d+, cannot be compiled.*vectorization_mode='sync'"):
        ReplacementVectorEnv(2, problem)
    envs = gymnasium.make_vec(REPLACEMENT_ID, num_envs=2, vectorization_mode="sync", problem=problem)
    envs.reset(seed=1)
    assert envs.step(np.zeros((2, 2), dtype=np.int64))[1].shape == (2,)


@pytest.mark.parametrize("problem", [PROBLEMS["fees at completion"], TOGETHER], ids=["quiet", "floor"])
def test_the_runs_of_one_seed_are_those_of_a_simulation(problem: Problem) -> None:
    """Nobody is requested, as under keep-team, in two rounds of five runs; a quitter's place stays empty here."""
    problem = replace(problem, presence=None)
    envs = ReplacementVectorEnv(5, problem)
    result = simulate(problem, ["keep-team"], runs=10, seed=3)
    idle = np.zeros((5, problem.team), dtype=np.int64)
    live = problem.horizon - problem.warmup
    envs.reset(seed=3, options={"run": 0})
    for first in (0, 5):
        regret = np.zeros(5)
        for _ in range(live):
            _, _, over, _, infos = envs.step(idle)
            regret += infos["regret"]
        assert over.all()
        assert regret.tolist() == result.policies["keep-team"].regret[first : first + 5, -1].tolist()
        envs.step(idle)  # begins the next round


def test_without_a_seed_every_environment_draws_its_own() -> None:
    envs, again = ReplacementVectorEnv(3, SLOW), ReplacementVectorEnv(3, SLOW)
    envs.np_random, again.np_random = np.random.default_rng(1), np.random.default_rng(1)
    envs.reset()
    again.reset()
    assert len(set(envs._seeds)) == 3
    assert envs._seeds == again._seeds


def test_arrays_that_were_returned_do_not_change() -> None:
    envs = ReplacementVectorEnv(2, SLOW)
    seen, infos = envs.reset(seed=1)
    copies = {name: array.copy() for name, array in {**seen, **infos}.items()}
    seen["action_mask"][:, :, 1:] *= 1
    for _ in range(SLOW.horizon + 3):
        envs.step(np.full((2, 2), 4))
    assert all(np.array_equal({**seen, **infos}[name], copies[name]) for name in copies)


def test_what_a_learner_writes_into_its_observation_changes_nothing() -> None:
    envs, other = ReplacementVectorEnv(2, SLOW), ReplacementVectorEnv(2, SLOW)
    (seen, _), _ = envs.reset(seed=1), other.reset(seed=1)
    for array in seen.values():
        array[:] = 1
    for action in (3, 5, 1):
        mine, theirs = envs.step(np.full((2, 2), action)), other.step(np.full((2, 2), action))
        assert all(np.array_equal(mine[0][name], theirs[0][name]) for name in mine[0])
        assert mine[4]["dropped"].tolist() == theirs[4]["dropped"].tolist()


@pytest.mark.parametrize("actions", [[0, 0], [[0, 0]], [[0, 6], [0, 0]], [[0, -1], [0, 0]], [[0.0, 1.0]] * 2, None])
def test_bad_actions_are_named_and_change_nothing(actions: Any) -> None:
    envs = ReplacementVectorEnv(2, SLOW)
    envs.reset(seed=1)
    with pytest.raises(InvalidInput, match=r"action = .*2 rows of 2 whole numbers, one per station, from 0 \(keep\)"):
        envs.step(actions)
    assert envs._worlds.period.tolist() == [1, 1]


def test_other_bad_calls_are_named() -> None:
    with pytest.raises(InvalidInput, match="num_envs = 0"):
        ReplacementVectorEnv(0, SLOW)
    envs = ReplacementVectorEnv(2, SLOW, autoreset_mode="Disabled")
    idle = np.zeros((2, 2), dtype=np.int64)
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
        envs.step(idle)
    with pytest.raises(gymnasium.error.ResetNeeded, match="reset all of them first"):
        envs.reset(seed=1, options={"reset_mask": np.array([True, False])})
    for seed, options, said in (
        ([1], None, "a list of 2"),
        (-1, None, "seed = -1"),
        (2**64 - 1, None, "seed = "),
        (1, {"reset_mask": np.array([True])}, "an array of 2 booleans"),
        (1, {"reset_mask": np.array([False, False])}, "at least one of them true"),
    ):
        with pytest.raises(InvalidInput, match=said):
            envs.reset(seed=seed, options=options)
    envs.reset(seed=1)
    for _ in range(SLOW.horizon):
        over = envs.step(idle)[2]
    assert over.all()
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.step(idle)
