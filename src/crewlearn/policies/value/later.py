"""Whether deciding later gains more than acting now.

The leaver may become better known, or the entrant may be needed elsewhere.
"""

import math

from crewlearn.beliefs.posterior import NOISE, Beliefs, chance_above
from crewlearn.policies.value.trials import NO_PRICE, Trial, later_gains_more, sd_of_finding
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.transitions import PENDING, RosterArrays

WAITS = (0.5, 1.5)
"""Waiting times considered for learning about a worker, as multiples of noise / variance."""


def learning_pays(beliefs: Beliefs, leaver: int, trial: Trial, gain: float, left: float) -> bool:
    """Return whether to observe the leaver for longer before deciding.

    At a price of stations, a leaver who turns out above it stays, and the entrant is tried elsewhere for what they gain
    at the price.
    """
    mean, variance, noise = float(beliefs.means[leaver]), float(beliefs.variances[leaver]), float(beliefs.pool[NOISE])
    highest = math.inf if trial.price == NO_PRICE else max(mean, trial.price)
    for multiple in range(len(WAITS)):
        periods = math.ceil(WAITS[multiple] * noise / variance)
        if later_gains_more(trial, mean, sd_of_finding(variance, noise, periods), highest, left - periods, gain):
            return True
    return False


def needed_elsewhere(
    beliefs: Beliefs,
    roster: RosterArrays,
    entrant: int,
    hopeful: int,
    level: float,
    trial: Trial,
    gain: float,
    left_then: float,
) -> bool:
    """Return whether to reserve the entrant for a station whose pending entrant may turn out worse."""
    stations, worst = 0, NOBODY
    for slot in range(roster.counts[PENDING]):
        coming = roster.pending_in[slot]
        if beliefs.means[coming] < level:
            stations += 1
            if worst == NOBODY or beliefs.means[coming] < beliefs.means[worst]:
                worst = coming
    if stations == 0:
        return False
    better = hopeful * chance_above(trial.mean, math.sqrt(beliefs.variances[entrant]), level)
    if better > stations:
        return False
    sd = math.sqrt(beliefs.variances[worst])
    return later_gains_more(trial, float(beliefs.means[worst]), sd, level, left_then - 1.0, gain)
