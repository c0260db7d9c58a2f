"""Situations that value of replacement is asked about in tests."""

import numpy as np

from crewlearn.policies.contract import Pair, Situation
from crewlearn.policies.estimates import Estimates, no_data, record
from crewlearn.policies.value import ValueOfReplacement
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.model import Setting
from crewlearn.problem.roster import Roster

POLICY = ValueOfReplacement()


def situation(
    setting: Setting, team: list[int], estimates: Estimates, period: int = 1, empty: int = 0, enter: str = ""
) -> Situation:
    """A situation with this team; `enter` marks who may come with a 1, everybody if left out."""
    roster = Roster.start(setting.workers, team + [NOBODY] * empty)
    may_enter = np.array([mark == "1" for mark in enter or "1" * setting.workers])
    return Situation(period, setting, roster, estimates, may_enter, np.ones(setting.workers, dtype=np.bool_))


def seen(means: list[float], times: int, spread: float = 0.1) -> Estimates:
    """Everybody seen an even number of times, their output alternating around the mean."""
    estimates = no_data(len(means))
    for worker, mean in enumerate(means):
        for turn in range(times):
            record(estimates, worker, mean + (spread if turn % 2 else -spread))
    return estimates


def ask(now: Situation, policy: ValueOfReplacement = POLICY, key: int = 7) -> list[Pair]:
    pairs, _ = policy.decide(policy.start(now, key), now)
    return pairs


def unequal(means: list[float], times: list[int]) -> Estimates:
    """Everybody seen so many times, always at their mean."""
    estimates = no_data(len(means))
    for worker, (mean, count) in enumerate(zip(means, times, strict=True)):
        for _ in range(count):
            record(estimates, worker, mean)
    return estimates
