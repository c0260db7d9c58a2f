"""The small agent learns: on runs it was not trained on, it earns more than keeping the team."""

from typing import Any

import numpy as np
import pytest

from crewlearn import AgentPolicy, ReplacementEnv, ReplacementVectorEnv, check_policy, train_agent
from crewlearn.engine.interpreted import play
from crewlearn.engine.world import World
from crewlearn.policies.learned.linear import ENTERING, LEAVING, LinearAgent, choices_of
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.instances import benchmark
from support.environments import EMPTY
from support.floors import TOGETHER

PROBLEM = benchmark(team=3, horizon=40, cost=0.3)
WISE = LinearAgent((0.3, -1.0, 0.0, 0.0, -2.0, 0.0, 1.0), (1.0, -0.4))


def profits(agent: LinearAgent, runs: int) -> Any:
    """Return what the agent earns in each run of a seed, and what keeping the team earns."""
    envs = ReplacementVectorEnv(runs, PROBLEM)
    earned = np.zeros((2, runs))
    for way in range(2):
        seen, _ = envs.reset(seed=1, options={"run": 0})
        for _ in range(PROBLEM.horizon):
            seen, rewards, _, _, _ = envs.step(agent(seen) if way else np.zeros((runs, 3), dtype=np.int64))
            earned[way] += rewards
    return earned


def test_it_learns() -> None:
    """A gain of 5 standard errors: by chance less often than once in a million."""
    told: list[int] = []
    trained = train_agent(PROBLEM, generations=12, population=32, runs=6, progress=lambda n, profit: told.append(n))
    assert told == list(range(12))
    assert len(trained.profit) == len(trained.best_profit) == 12
    assert all(best > mean for best, mean in zip(trained.best_profit, trained.profit, strict=True))
    kept, earned = profits(trained.agent, 200)
    gain = earned - kept
    assert gain.mean() > 5 * gain.std() / 200**0.5
    assert train_agent(PROBLEM, generations=2, population=4, runs=2) == train_agent(
        PROBLEM, generations=2, population=4, runs=2
    )


@pytest.mark.parametrize("problem", [PROBLEM, TOGETHER, EMPTY], ids=["benchmark", "floor", "empty stations"])
def test_a_batch_answers_as_each_alone(problem: Any) -> None:
    """Many agents at once, one at a time, and as policies: the same requests."""
    rng = np.random.default_rng(4)
    leaving, entering = rng.normal(0, 1, (5, len(LEAVING))), rng.normal(0, 1, (5, len(ENTERING)))
    agents = [
        LinearAgent(tuple(out.tolist()), tuple(into.tolist())) for out, into in zip(leaving, entering, strict=True)
    ]
    envs = ReplacementVectorEnv(5, problem)
    seen, _ = envs.reset(seed=2, options={"run": 0})
    plays = [
        list(play(World(problem, 2, run), AgentPolicy(agent)))[problem.warmup :] for run, agent in enumerate(agents)
    ]
    requests = 0
    for steps in zip(*plays, strict=True):
        actions = choices_of(leaving, entering, seen)
        for index, agent in enumerate(agents):
            assert agent({name: array[index] for name, array in seen.items()}).tolist() == actions[index].tolist()
        seen, _, _, _, infos = envs.step(actions)
        assert not infos["dropped"].any()
        assert infos["requests"].tolist() == [len(step.requested) for step in steps]
        assert infos["regret"].tolist() == [step.regret for step in steps]
        requests += int(infos["requests"].sum())
    assert requests > 0


def test_who_leaves_and_who_comes_by_hand() -> None:
    env = ReplacementEnv(EMPTY)
    seen, _ = env.reset(seed=1)
    assert env.roster.stations == (-1, 0, -1)
    assert WISE(seen).tolist() == [2, 4, 3]  # empty stations first, in order, by the first of equals
    with_fees = LinearAgent((0.3, 0.0, 0.0, 0.0, -8.0, 0.0, 0.0), (0.0, 0.0))
    assert with_fees(seen).tolist() == [0, 0, 0]  # 0.5 in 12 periods, 8 times: more than 0.3
    assert LinearAgent((0.3, 0.0, 0.0, 0.0, -7.0, 0.0, 0.0), (0.0, 0.0))(seen).all()


def test_the_agent_keeps_the_contract() -> None:
    check_policy(AgentPolicy(WISE), [TOGETHER])


@pytest.mark.parametrize("weights", [(), (1.0,), [1.0, 2.0], (1.0, float("nan")), (1.0, "2")])
def test_bad_weights_are_named(weights: Any) -> None:
    with pytest.raises(InvalidInput, match=r"entering = .*a tuple of finite weights, for level, seen"):
        LinearAgent(WISE.leaving, weights)


@pytest.mark.parametrize("wrong", [{"generations": 0}, {"population": 1}, {"runs": 0}, {"elite": 2.0}, {"seed": -1}])
def test_bad_settings_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        train_agent(PROBLEM, **wrong)
