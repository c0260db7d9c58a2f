"""Situations for tests of the policy value-of-replacement."""

import dataclasses

import numpy as np

from crewlearn.beliefs.estimates import Estimates, Prior, no_data, record
from crewlearn.policies.contract import Pair, Situation
from crewlearn.policies.value.policy import ValueOfReplacement
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.model import Setting
from crewlearn.problem.roster import Roster
from crewlearn.problem.transitions import NEVER, RosterArrays

POLICY = ValueOfReplacement()


def situation(
    setting: Setting,
    team: list[int],
    estimates: Estimates,
    period: int = 1,
    empty: int = 0,
    enter: str = "",
    prior: Prior | None = None,
) -> Situation:
    """Return a situation with this team; a 1 in `enter` marks a worker who may come, by default everybody."""
    roster = Roster.start(setting.workers, team + [NOBODY] * empty)
    may_enter = np.array([mark == "1" for mark in enter or "1" * setting.workers])
    may_leave = np.ones(setting.workers, dtype=np.bool_)
    return Situation(period, setting, roster, estimates, may_enter, may_leave, prior=prior)


def initiated(now: Situation, out: int, into: int, due: int = NEVER) -> Situation:
    """Return the situation with a replacement under way since its period."""
    roster = Roster(RosterArrays(*(array.copy() for array in now.roster.arrays)))
    roster.initiate(out, into, now.period, due)
    return dataclasses.replace(now, roster=roster)


def seen(means: list[float], times: int, spread: float = 0.1) -> Estimates:
    """Return estimates after an even number of observations of each worker, alternating around the mean."""
    estimates = no_data(len(means))
    for worker, mean in enumerate(means):
        for turn in range(times):
            record(estimates, worker, mean + (spread if turn % 2 else -spread))
    return estimates


def ask(now: Situation, policy: ValueOfReplacement = POLICY, key: int = 7) -> list[Pair]:
    pairs, _ = policy.decide(policy.start(now, key), now)
    return pairs


def unequal(means: list[float], times: list[int]) -> Estimates:
    """Return estimates after `times` observations of each worker, all equal to the mean."""
    estimates = no_data(len(means))
    for worker, (mean, count) in enumerate(zip(means, times, strict=True)):
        for _ in range(count):
            record(estimates, worker, mean)
    return estimates
