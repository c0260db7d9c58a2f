"""The policy that plays a trained agent does in simulations what the agent does in the environment."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from crewlearn import AgentPolicy, Braked, ReplacementEnv, check_policy, leaderboard, simulate
from crewlearn.engine.interpreted import play
from crewlearn.engine.world import World
from crewlearn.policies.learned.view import Observation, share
from crewlearn.problem.chance import mix, uniform
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.model import Problem
from support.environments import EMPTY, PROBLEMS
from support.floors import TOGETHER


@dataclass(frozen=True)
class Restless:
    """Chooses by a hash of what it sees, often what is not legal; a change of any bit of what it sees would show."""

    key: int = 5

    def __call__(self, observation: Observation) -> Any:
        mask = observation["action_mask"]
        word = self.key
        for array in observation.values():
            for value in np.asarray(array, dtype=np.float64).ravel().view(np.int64).tolist():
                word = mix(word, value & 0x7FFFFFFFFFFFFFFF)
        chosen = [int(uniform(word, station) * 3 * mask.shape[1]) for station in range(len(mask))]
        return np.array([choice if choice < mask.shape[1] else 0 for choice in chosen])


@dataclass(frozen=True)
class BestMean:
    """Replaces the worst who was seen ten times by the best of those who were not seen, or were seen to be better."""

    def __call__(self, observation: Observation) -> Any:
        mask, means = observation["action_mask"], observation["means"]
        action = np.zeros(len(mask), dtype=np.int64)
        holders = observation["stations"].astype(bool)
        promise = np.where(observation["seen"] > 0, means, 0.6)
        for station, row in enumerate(mask):
            choice = int(np.argmax(np.where(row[1:] > 0, promise, -1.0)))
            mine = means[holders[station]].sum() if holders[station].any() else -1.0
            settled = observation["seen"][holders[station]].sum() >= share(10.0, 10.0) or not holders[station].any()
            if row[1:].any() and settled and promise[choice] > mine + 0.05:
                action[station] = choice + 1
                promise[choice] = -1.0
        return action


PLAYED = {**PROBLEMS, "a floor": TOGETHER, "empty stations": EMPTY}


@pytest.mark.parametrize("problem", PLAYED.values(), ids=PLAYED.keys())
@pytest.mark.parametrize("agent", [Restless(), BestMean()], ids=["restless", "best mean"])
def test_an_agent_plays_as_in_the_environment(agent: Any, problem: Problem) -> None:
    env, requests = ReplacementEnv(problem), 0
    for run in range(2):
        seen, _ = env.reset(seed=9, options={"run": run})
        steps = list(play(World(problem, 9, run), AgentPolicy(agent)))[problem.warmup :]
        for step in steps:
            seen, reward, _, _, info = env.step(agent(seen))
            assert info["requested"] == step.requested
            assert info["completed"] == step.completed
            assert (info["fees"], info["regret"]) == (step.fees, step.regret)
            assert reward == pytest.approx(sum(step.output.values()) - step.fees, abs=1e-12)
            requests += len(step.requested)
    assert requests > 0 or problem.horizon == 1


@pytest.mark.parametrize("agent", [Restless(), BestMean()], ids=["restless", "best mean"])
def test_the_policy_keeps_the_contract(agent: Any) -> None:
    check_policy(AgentPolicy(agent, label="trained"), [TOGETHER])


def test_agents_are_compared_with_policies() -> None:
    problem = PROBLEMS["fees at completion"]
    agents = [AgentPolicy(BestMean(), label="mine"), Braked(AgentPolicy(BestMean()), 0, 1)]
    result = simulate(problem, [*agents, "keep-team"], runs=3, seed=2)
    env = ReplacementEnv(problem)
    for run in range(3):
        (seen, _), over, regret = env.reset(seed=2, options={"run": run}), False, 0.0
        while not over:
            seen, _, over, _, info = env.step(BestMean()(seen))
            regret += info["regret"]
        assert result.policies["mine"].regret[run, -1] == regret
    board = leaderboard({"mine": AgentPolicy(BestMean())}, ["bernoulli"], runs=2)
    assert "mine" in board.standings[0].entries


def test_a_wrong_answer_of_an_agent_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"action = \[1\]: must be 10 whole numbers"):
        simulate(PROBLEMS["the benchmark"], [AgentPolicy(_too_short)], runs=1)


def _too_short(observation: Observation) -> Any:
    return [1]
