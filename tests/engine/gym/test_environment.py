"""The first environment: Gymnasium's own checker, worlds bit-identical to the engine's, and a learner."""

import copy
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import FlattenObservation, RescaleObservation

from crewlearn.engine.gym import ID, KEEP, DelayedReplacement
from crewlearn.engine.interpreted import play
from crewlearn.engine.streams import policy_key, seed_root
from crewlearn.engine.world import World
from crewlearn.policies.contract import Policy, Report, Situation
from crewlearn.policies.dr_ucb.policy import DRUCB
from crewlearn.policies.teams.simple import EpsilonGreedy
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.instances import benchmark
from crewlearn.problem.laws import NoDelay, UniformOutput
from crewlearn.problem.model import Pool, Problem
from crewlearn.problem.transitions import LEGAL, request_fault
from support.environments import EMPTY, PROBLEMS, SLOW
from support.floors import QUIET, TOGETHER

every_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())


def make(problem: Problem) -> DelayedReplacement:
    env = gymnasium.make(ID, problem=problem).unwrapped
    assert isinstance(env, DelayedReplacement)
    return env


@every_problem
def test_gymnasium_s_own_checker_has_nothing_to_say(problem: Problem) -> None:
    check_env(make(problem))  # its warnings are errors here


def test_the_id_alone_plays_the_paper_s_benchmark() -> None:
    env = gymnasium.make(f"crewlearn.engine.gym:{ID}")
    assert env.get_wrapper_attr("problem") == benchmark()


def driven(env: DelayedReplacement, policy: Policy[Any]) -> Iterator[tuple[float, dict[str, Any]]]:
    """Play the current run with a policy's decisions; yield the reward and info of each step."""
    key, over = policy_key(seed_root(env.world.seed), env.world.run), False
    state = policy.start(env.situation(), key)
    while not over:
        period = env.period
        pairs, state = policy.decide(state, env.situation())
        _, reward, over, _, info = env.step(env.action_of(pairs))
        state = policy.observe(state, Report(period, completed=info["completed"]))
        yield reward, info


@every_problem
@pytest.mark.parametrize("policy", [DRUCB(gamma=2.0), EpsilonGreedy()], ids=["dr-ucb", "epsilon-greedy"])
def test_a_policy_meets_the_same_world_to_the_last_bit(problem: Problem, policy: Policy[Any]) -> None:
    env = make(problem)
    for run in range(3):
        env.reset(seed=11 if run == 0 else None)
        steps = list(play(World(problem, 11, run), policy))
        seen = list(driven(env, policy))
        assert [info["regret"] for _, info in seen] == [step.regret for step in steps]
        assert [info["fees"] for _, info in seen] == [step.fees for step in steps]
        assert [reward for reward, _ in seen] == [sum(step.output.values()) - step.fees for step in steps]
        assert [set(info["requested"]) for _, info in seen] == [set(step.requested) for step in steps]
        assert [set(info["completed"]) for _, info in seen] == [set(step.completed) for step in steps]
        if problem.horizon > 1:
            assert sum(len(step.completed) for step in steps) > 0, "nothing happened, so nothing was compared"


def driven_on_a_floor(env: DelayedReplacement, policy: Policy[Any], first: Situation) -> Iterator[dict[str, Any]]:
    """Play the run under way as `driven` does; the policy learns of quits and declines."""
    key, over = policy_key(seed_root(env.world.seed), env.world.run), False
    state = policy.start(first, key)
    quit: tuple[int, ...] = ()
    while not over:
        situation = env.situation()
        if quit:
            state = policy.revise(state, situation)
        pairs, state = policy.decide(state, situation)
        _, reward, over, _, info = env.step(env.action_of(pairs))
        assert not info["dropped"]
        report = Report(situation.period, completed=info["completed"], failed=info["declined"])
        state, quit = policy.observe(state, report), info["quit"]
        yield {"reward": reward, **info}


@pytest.mark.parametrize("fee_due", ["initiation", "completion"])
@pytest.mark.parametrize("policy", [DRUCB(gamma=1.0), EpsilonGreedy()], ids=["dr-ucb", "epsilon-greedy"])
def test_a_policy_meets_the_same_floor_to_the_last_bit(policy: Policy[Any], fee_due: str) -> None:
    problem = replace(TOGETHER, fee_due=fee_due)
    env, declined = make(problem), 0
    for run in range(6):
        env.reset(seed=5 if run == 0 else None)
        steps = list(play(World(problem, 5, run), policy))[problem.warmup :]
        assert env.period == problem.warmup + 1
        seen = list(driven_on_a_floor(env, policy, env.situation()))
        assert [info["regret"] for info in seen] == [step.regret for step in steps]
        assert [info["net"] for info in seen] == [step.net for step in steps]
        assert [info["reward"] for info in seen] == [sum(step.output.values()) - step.fees for step in steps]
        for name in ("completed", "declined", "absent"):
            assert [set(info[name]) for info in seen] == [set(getattr(step, name)) for step in steps]
        assert [info["quit"] for info in seen[:-1]] == [step.quit for step in steps[1:]]
        declined += sum(len(step.declined) for step in steps)
    assert declined > 0


@pytest.mark.parametrize("problem", [TOGETHER, replace(TOGETHER, rolling=None)], ids=["rolling", "to the end"])
def test_floors_stay_in_their_spaces(problem: Problem) -> None:
    env = make(problem)
    check_env(env)
    more = env.reset(seed=1)[0].keys() - make(SLOW).reset(seed=1)[0].keys()
    assert more == {"experience", "present"}
    env.action_space.seed(4)
    seen, info = env.reset(seed=4)
    assert seen["counts"].sum() > 0  # the warm-up is on record
    gone = 0
    for period in range(problem.warmup + 1, problem.horizon + 1):
        assert env.period == period
        assert not info["action_mask"][:, 1:][:, seen["present"] == 0].any()
        assert seen["time_left"][0] == pytest.approx((61 - period) / 40 if problem.rolling is None else 1.0)
        action = env.action_space.sample(mask=tuple(info["action_mask"].astype(np.int8)) if period % 2 else None)
        seen, _, over, _, info = env.step(action)
        assert seen in env.observation_space
        assert over == (period == problem.horizon)
        env.roster.check()
        gone = max(gone, int((seen["present"] == 0).sum()))
    assert gone > 0


def test_an_empty_station_is_filled_by_its_own_choice() -> None:
    """Two stations are empty at the start, and the holder of a third quits in period 3."""
    env = make(EMPTY)
    seen, info = env.reset(seed=1)
    assert info["action_mask"][:, 1:].tolist() == [[False, True, True, True, True]] * 3
    assert not seen["stations"][[0, 2]].any()
    assert env.action_of([(-1, 4), (0, 2), (-1, 3)]).tolist() == [5, 3, 4]
    seen, _, _, _, info = env.step(np.array([5, KEEP, KEEP]))
    assert info["requested"] == ((-1, 4),)
    assert [np.flatnonzero(row).tolist() for row in seen["arriving"]] == [[4], [], []]
    assert info["action_mask"][:, 1:].any(axis=1).tolist() == [False, True, True]
    assert env.step(np.array([4, KEEP, KEEP]))[4]["dropped"] == 1  # somebody is on the way already
    seen, _, _, _, info = env.step(np.array([KEEP, KEEP, 4]))
    assert info["requested"] == ((-1, 3),)
    env.step(np.array([KEEP, KEEP, KEEP]))
    assert env.roster.stations[0] == 4  # after three periods
    quit = [worker for _ in range(6) for worker in env.step(np.array([KEEP] * 3))[4]["quit"]]
    assert quit
    assert not env.action_masks().reshape(3, 6)[:, 1:][:, quit].any()


def test_quiet_worlds_show_nothing_more() -> None:
    env = make(QUIET)
    seen, _ = env.reset(seed=1)
    assert list(seen) == ["counts", "means", "stations", "arriving", "waiting", "time_left"]
    assert "quit" not in env.step(np.zeros(4, dtype=np.int64))[4]


def test_plain_dr_ucb_on_the_benchmark_earns_the_same_regret() -> None:
    problem = benchmark(horizon=730)
    env = make(problem)
    env.reset(seed=3)
    steps = list(play(World(problem, 3, 0), DRUCB()))
    assert any(step.completed for step in steps)
    assert [info["regret"] for _, info in driven(env, DRUCB())] == [step.regret for step in steps]


def test_resets_go_through_the_runs_of_a_seed() -> None:
    env = make(SLOW)
    worlds = []
    for seed in (5, None, None, 9, None, 5):
        env.reset(seed=seed)
        worlds.append((env.world.seed, env.world.run))
    assert worlds == [(5, 0), (5, 1), (5, 2), (9, 0), (9, 1), (5, 0)]


def test_without_a_seed_one_is_drawn_once() -> None:
    env, other = make(SLOW), make(SLOW)
    env.np_random, other.np_random = np.random.default_rng(1), np.random.default_rng(2)
    env.reset()
    other.reset()
    assert env.world.seed == np.random.default_rng(1).integers(2**63)
    assert env.world.seed != other.world.seed
    first = env.world
    env.reset()
    assert (env.world.seed, env.world.run) == (first.seed, 1)


def test_illegal_requests_are_dropped_and_counted() -> None:
    env = make(SLOW)
    env.reset(seed=1)
    first, second = env.roster.stations
    a, b, c = env.roster.outside

    def ask(*choices: int) -> tuple[tuple[tuple[int, int], ...], int]:
        info = env.step(np.array(choices))[4]
        return info["requested"], info["dropped"]

    assert ask(second + 1, KEEP) == ((), 1)  # already active
    assert ask(first + 1, KEEP) == ((), 1)  # the holder itself
    assert ask(a + 1, a + 1) == (((first, a),), 1)  # named twice: the first station gets them
    assert ask(b + 1, a + 1) == ((), 2)  # the holder is already being replaced; the worker is pending
    assert ask(KEEP, b + 1) == (((second, b),), 0)
    assert ask(c + 1, c + 1) == ((), 2)  # a arrives in this period, after the requests
    assert env.roster.stations == (a, second)
    assert ask(c + 1, c + 1) == (((a, c),), 1)


def test_an_observation_shows_who_is_where_and_who_is_coming() -> None:
    env = make(SLOW)
    seen, _ = env.reset(seed=1)
    first, second = env.roster.stations
    a = env.roster.outside[0]
    assert seen["time_left"].tolist() == [1.0]
    assert [np.flatnonzero(row).tolist() for row in seen["stations"]] == [[first], [second]]
    assert not seen["arriving"].any()
    for waited in (1, 2, 3):  # requested in period 1 with delay 3: pending until period 4 is played
        seen = env.step(np.array([KEEP, a + 1 if waited == 1 else KEEP]))[0]
        assert [np.flatnonzero(row).tolist() for row in seen["arriving"]] == [[], [a]]
        assert seen["waiting"].tolist() == [0, waited]
    assert seen["counts"][[first, second, a]].tolist() == [3, 3, 0]
    seen, reward, _, _, info = env.step(np.array([KEEP, KEEP]))
    assert info["completed"] == ((second, a),)
    assert [np.flatnonzero(row).tolist() for row in seen["stations"]] == [[first], [a]]
    assert not seen["arriving"].any()
    assert not seen["waiting"].any()
    assert seen["counts"][[first, second, a]].tolist() == [4, 3, 1]
    world = World(SLOW, 1, 0)
    assert reward == world.output(4, first) + world.output(4, a)
    assert seen["means"][second] == pytest.approx(np.mean([world.output(period, second) for period in (1, 2, 3)]))
    assert seen["time_left"][0] == pytest.approx(8 / 12)


@pytest.mark.parametrize("fee_due", ["initiation", "completion"])
def test_a_fee_is_paid_when_it_is_due(fee_due: str) -> None:
    env = make(replace(SLOW, fee_due=fee_due))
    env.reset(seed=1)
    ask = env.action_of([(env.roster.stations[0], env.roster.outside[0])])
    infos = [env.step(action)[4] for action in (ask, ask * 0, ask * 0, ask * 0)]
    assert [info["fees"] for info in infos] == ([0.5, 0, 0, 0] if fee_due == "initiation" else [0, 0, 0, 0.5])


@every_problem
def test_random_play_stays_in_the_spaces_and_ends_at_the_horizon(problem: Problem) -> None:
    env = make(problem)
    env.action_space.seed(4)
    seen, info = env.reset(seed=4)
    prior = seen["counts"].copy()
    for period in range(1, problem.horizon + 1):
        arrays = env.roster.arrays
        faults = [
            [request_fault(arrays, out, into) == LEGAL for into in range(env.roster.workers)]
            for out in env.roster.stations
        ]
        assert info["action_mask"][:, 1:].tolist() == faults
        assert info["action_mask"][:, KEEP].all()
        assert env.action_masks().tolist() == info["action_mask"].ravel().tolist()
        legal = tuple(info["action_mask"].astype(np.int8))
        action = env.action_space.sample(mask=legal if period % 2 else None)
        seen, _, terminated, truncated, info = env.step(action)
        assert seen in env.observation_space
        assert (terminated, truncated) == (period == problem.horizon, False)
        assert (seen["counts"] - prior).sum() == problem.team * period
        env.roster.check()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(env.action_space.sample())


def test_hidden_means_show_only_through_output() -> None:
    """Two pools that differ only in a worker who never works are indistinguishable."""
    env = make(SLOW)
    env.reset(seed=1)
    idle = env.roster.outside[0]
    assert isinstance(SLOW.workers, Pool)
    means = tuple(0.99 if worker == idle else mean for worker, mean in enumerate(SLOW.workers.means))
    other = make(replace(SLOW, workers=Pool(means)))
    other.reset(seed=1)
    assert other.world.means.tolist() != env.world.means.tolist()
    action = env.action_of([(env.roster.stations[0], env.roster.outside[1])])
    for _ in range(SLOW.horizon):
        mine, theirs = env.step(action), other.step(action)
        assert mine[0].keys() == theirs[0].keys()
        assert all(np.array_equal(mine[0][name], theirs[0][name]) for name in mine[0])
        assert mine[1] == theirs[1]


def test_a_copy_goes_on_by_itself() -> None:
    """Learners that plan ahead copy the environment and play on in the copy."""
    env = make(SLOW)
    env.reset(seed=1)
    twin = copy.deepcopy(env)
    ask = env.action_of([(env.roster.stations[0], env.roster.outside[0])])
    ahead = [twin.step(ask)[1] for _ in range(6)]
    assert env.period == 1
    assert not env.roster.pending
    assert [env.step(ask)[1] for _ in range(6)] == ahead


def test_many_at_once_and_one_vector_in_the_unit_cube() -> None:
    def flat() -> gymnasium.Env[Any, Any]:
        return RescaleObservation(
            FlattenObservation(gymnasium.make(ID, problem=SLOW)), np.float64(0.0), np.float64(1.0)
        )

    envs = gymnasium.vector.SyncVectorEnv([flat, flat])
    envs.action_space.seed(1)
    seen, infos = envs.reset(seed=7)
    for _ in range(2 * SLOW.horizon):  # beyond the end of the first episode
        assert seen.shape == (2, 5 + 5 + 10 + 10 + 2 + 1)
        assert seen.min() >= 0.0
        assert seen.max() <= 1.0
        assert infos["action_mask"].shape == (2, 2, 6)
        seen, _, _, _, infos = envs.step(envs.action_space.sample())


def test_a_learner_learns_from_what_it_is_shown() -> None:
    """Q-learning on (holder, time left) learns to hire the better of two workers, and to stop near the end."""
    problem = Problem(1, 10, 1.0, Pool((0.2, 0.8)), NoDelay(), UniformOutput(half_width=0.1))
    env, rng = make(problem), np.random.default_rng(1)
    value = np.zeros((2, 11, 3))

    def place(seen: dict[str, Any]) -> tuple[int, int]:
        return int(seen["stations"][0].argmax()), round(10 * float(seen["time_left"][0]))

    for episode in range(1500):
        seen, info = env.reset(seed=1 if episode == 0 else None)
        over = False
        while not over:
            here, legal = place(seen), info["action_mask"][0]
            best = int(np.where(legal, value[here], -np.inf).argmax())
            choice = int(rng.choice(np.flatnonzero(legal))) if rng.random() < 0.3 else best
            seen, reward, over, _, info = env.step(np.array([choice]))
            ahead = 0.0 if over else float(value[place(seen)][np.where(info["action_mask"][0])].max())
            value[(*here, choice)] += 0.1 * (reward + ahead - value[(*here, choice)])
    chosen = value.argmax(axis=2)
    assert chosen[1, 1:].tolist() == [KEEP] * 10
    # A gain of 0.6 a period pays the fee of 1 when two periods or more are left.
    assert chosen[0, 1] == KEEP
    assert chosen[0, 3:].tolist() == [2] * 8


@pytest.mark.parametrize(
    "action",
    [[0], [0, 0, 0], [0, 6], [-1, 0], [0.0, 1.0], [[0, 0]], [[0], [0, 0]], "00", None, [True, False]],
    ids=repr,
)
def test_a_bad_action_is_named_and_changes_nothing(action: Any) -> None:
    env = make(SLOW)
    env.reset(seed=1)
    with pytest.raises(InvalidInput, match=r"action = .*2 whole numbers, one per station, from 0 \(keep\) to 5"):
        env.step(action)
    assert env.period == 1
    assert not env.roster.pending


def test_other_bad_calls_are_named() -> None:
    wrong: Any = "benchmark"
    with pytest.raises(InvalidInput, match=r"problem = 'benchmark': must be a crewlearn\.Problem"):
        DelayedReplacement(wrong)
    env = make(SLOW)
    for call in (env.action_masks, env.situation, lambda: env.step(np.zeros(2, dtype=np.int64))):
        with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
            call()
    with pytest.raises(InvalidInput, match="seed = -1: must be a whole number"):
        env.reset(seed=-1)
    env.reset(seed=1)
    outside = env.roster.outside
    for pair in ((-1, outside[0]), (outside[0], outside[1])):
        with pytest.raises(InvalidInput, match="must say who leaves"):
            env.action_of([pair])
    with pytest.raises(InvalidInput, match="from 0 to 4"):
        env.action_of([(env.roster.stations[0], 5)])


def test_the_package_alone_loads_neither_gymnasium_nor_pyarrow() -> None:
    code = "import sys, crewlearn, crewlearn.engine.trace; print(sorted({'gymnasium', 'pyarrow'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], check=True, timeout=60, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
