"""Policies that are chosen by simulating the problem before play."""

from functools import lru_cache
from typing import Any

from crewlearn.engine.blocks import Block, blocks_of, play_block
from crewlearn.policies.contract import Policy
from crewlearn.problem.chance import mix
from crewlearn.problem.model import Problem

RUNS = 64
"""Runs by which each candidate is judged."""

APART = 0x7475_6E65
"""Sets the seeds of tuning apart from all that are reported."""


def settled(policy: Policy[Any], problem: Problem, seed: int) -> Policy[Any]:
    """Return the policy to play: the best of its candidates if it has any, else itself.

    Candidates are judged by their mean net over the same runs, with a seed derived from the one of the simulation.
    """
    return _best(policy, problem, seed) if policy.candidates(problem.setting) else policy


@lru_cache(maxsize=256)
def _best(policy: Policy[Any], problem: Problem, seed: int) -> Policy[Any]:
    tuning_seed = mix(mix(APART, seed), APART)
    earned = {
        candidate: sum(_net(block) for block in blocks_of(problem, candidate, RUNS, tuning_seed, (problem.horizon,)))
        for candidate in policy.candidates(problem.setting)
    }
    return max(earned, key=lambda candidate: earned[candidate])


def _net(block: Block) -> float:
    return float(play_block(block).net.sum())
