"""Training of the small agent by the cross-entropy method: many agents play the same runs, the best are followed."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from crewlearn.engine.gym.vector import ReplacementVectorEnv
from crewlearn.policies.learned.linear import ENTERING, LEAVING, LinearAgent, choices_of
from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.chance import mix
from crewlearn.problem.errors import real, whole
from crewlearn.problem.model import Problem

APART = 0x7472_6169
"""Sets the seeds of training apart from all that are reported."""

SPREAD = 1.0
"""The standard deviation of every weight in the first generation."""

NOISE = 0.2
"""What is added to the standard deviation in the first generation, less in each, and nothing in the last."""


@dataclass(frozen=True)
class Training:
    """A trained agent, and the mean profit of a run among all candidates and the best of them, by generation."""

    agent: LinearAgent
    profit: tuple[float, ...]
    best_profit: tuple[float, ...]


def train_agent(
    problem: Problem,
    *,
    seed: int = 1,
    generations: int = 40,
    population: int = 64,
    runs: int = 8,
    elite: float = 0.2,
    progress: Callable[[int, float], None] | None = None,
) -> Training:
    """Train a `LinearAgent` for a problem by the cross-entropy method.

    Each generation draws `population` agents around the mean of the `elite` share that earned most before, and lets all
    of them play the same `runs` runs, which no simulation with a seed of your own uses. `progress` is called with the
    generation and its mean profit. The same seed gives the same agent.

    >>> from crewlearn import AgentPolicy, benchmark
    >>> trained = train_agent(benchmark(team=2, horizon=20), generations=3, population=8, runs=2)
    >>> AgentPolicy(trained.agent).name, len(trained.profit)
    ('agent', 3)
    """
    seed = whole("seed", seed, 0, 2**64 - 1)
    generations, runs = whole("generations", generations, 1), whole("runs", runs, 1)
    population, elite = whole("population", population, 2), real("elite", elite, 0.0, 1.0)
    followed = max(1, round(elite * population))
    envs = ReplacementVectorEnv(population * runs, problem)
    rng, size = np.random.default_rng([APART, seed]), len(LEAVING) + len(ENTERING)
    mean, spread = np.zeros(size), np.full(size, SPREAD)
    profits, best_profits = [], []
    for generation in range(generations):
        noise = NOISE * (1.0 - generation / max(generations - 1, 1))
        weights = mean + (spread + noise) * rng.standard_normal((population, size))
        worlds = [mix(mix(mix(APART, seed), generation), run) for run in range(runs)]
        earned = _profits(envs, np.repeat(weights, runs, axis=0), worlds * population)
        earned = earned.reshape(population, runs).mean(axis=1)
        best = np.argsort(-earned, kind="stable")[:followed]
        mean, spread = weights[best].mean(axis=0), weights[best].std(axis=0)
        profits.append(float(earned.mean()))
        best_profits.append(float(earned[best].mean()))
        if progress is not None:
            progress(generation, profits[-1])
    numbers = tuple(mean.tolist())
    agent = LinearAgent(numbers[: len(LEAVING)], numbers[len(LEAVING) :])
    return Training(agent, tuple(profits), tuple(best_profits))


def _profits(envs: ReplacementVectorEnv, weights: FloatArray, seeds: list[int]) -> FloatArray:
    """Return what each environment earns in a run under the agent with its row of weights."""
    leaving, entering = weights[:, : len(LEAVING)], weights[:, len(LEAVING) :]
    observation, _ = envs.reset(seed=seeds)
    earned, over = np.zeros(envs.num_envs), False
    while not over:
        observation, rewards, terminations, _, _ = envs.step(choices_of(leaving, entering, observation))
        earned += rewards
        over = bool(terminations.all())
    return earned
