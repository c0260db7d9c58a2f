"""What a day was like for everybody, and how much output varies from day to day for one person.

A day's effect is estimated for each person from the others who worked, so that nobody explains their own day away. A
day far outside of what is usual, such as one of a shock week, counts as if it lay at the limit of the usual. The
noise comes from successive differences, as the scatter around a person's mean is inflated by drift and ramp-up.
"""

import math
from typing import NamedTuple

from crewlearn.beliefs.evolving.model import (
    DAY_MEAN,
    DAY_PRECISION,
    DAY_SUM,
    DAY_VAR,
    DAY_VAR_USED,
    DAY_WEIGHT,
    DAYS_JUDGED,
    DAYS_KEPT,
    DAYS_NOTED,
    LEAST_NOISE,
    LEAST_VARIANCE,
    NOISE,
    NOISE_SUM,
    NOISE_USED,
    NOISE_WEIGHT,
    OWN_RAMP,
    Evolving,
    Told,
    share_put_out,
)

DAY_GUESS, DAY_GUESS_WEIGHT = 0.02, 4.0
"""The prior standard deviation of days, relative to output, and its weight in days."""

DAY_MEMORY, LEAST_DAY_MEMORY = 80.0, 20.0
"""Over how many ordinary days the mean and the variance of days are averaged, and the least number for the mean."""

UNUSUAL = 6.0
"""A day is unusual if its squared distance from the mean exceeds so many variances."""

LEAST_PRECISION = 0.5
"""Output tells nothing about how days are if its sum of weights is below this: the effect could be all of the output.

So a floor that put out next to nothing and then works does not seem to have had days a thousand times as good.
"""

MOST_DOUBT = 20.0
"""Small differences between days whose doubt exceeds so many times the noise say nothing about it."""

LONGEST_GAP = 5
"""Outputs further apart than this many days say nothing about the noise."""


class DayView(NamedTuple):
    """A day as everybody's output shows it: sums of weights, and the mean and variance of days to begin with."""

    precision: float
    weighted: float
    mean: float
    variance: float


def view_day(learned: Evolving, period: int, precision: float, weighted: float) -> DayView:
    """Judge a day from the sums over those who worked before, and learn how much days differ."""
    numbers = learned.numbers
    mean, variance = float(numbers[DAY_MEAN]), max(float(numbers[DAY_VAR_USED]), LEAST_VARIANCE)
    unusual = False
    if precision >= LEAST_PRECISION:
        off, doubt = weighted / precision - mean, 1.0 / precision
        unusual = off * off > UNUSUAL * (variance + doubt)
        if unusual:
            limit = math.sqrt(UNUSUAL * (variance + doubt))
            _learn_spread_of_days(learned, limit if off > 0.0 else -limit, doubt)
            variance = off * off
        else:
            _learn_spread_of_days(learned, off, doubt)
    numbers[DAY_PRECISION] = precision
    place = int(learned.counts[DAYS_NOTED]) % DAYS_KEPT
    doubt = 1.0 / (precision + 1.0 / variance)
    learned.days.periods[place] = period
    learned.days.effects[place] = doubt * (weighted + mean / variance)
    learned.days.doubts[place] = doubt
    learned.days.unusual[place] = 1 if unusual else 0
    learned.counts[DAYS_NOTED] += 1
    return DayView(precision, weighted, mean, variance)


def _learn_spread_of_days(learned: Evolving, off: float, doubt: float) -> None:
    numbers, keep = learned.numbers, 1.0 - 1.0 / DAY_MEMORY
    numbers[DAY_SUM] = keep * float(numbers[DAY_SUM]) + off * off - doubt
    numbers[DAY_WEIGHT] = keep * float(numbers[DAY_WEIGHT]) + 1.0
    whole = DAY_GUESS_WEIGHT * DAY_GUESS * DAY_GUESS + float(numbers[DAY_SUM])
    numbers[DAY_VAR] = max(whole / (DAY_GUESS_WEIGHT + float(numbers[DAY_WEIGHT])), LEAST_NOISE)
    learned.counts[DAYS_JUDGED] += 1
    numbers[DAY_MEAN] += off / max(LEAST_DAY_MEMORY, min(float(learned.counts[DAYS_JUDGED]), DAY_MEMORY))


def learn_noise(learned: Evolving, worker: int, adjusted: float, doubt: float) -> None:
    """Learn from the difference to the person's last output, less the expected step of the ramp."""
    people, numbers = learned.people, learned.numbers
    unsure = doubt + float(people.last_doubt[worker])
    days, mean = int(people.days[worker]), float(people.means[worker])
    step = (share_put_out(learned.pool, days) - share_put_out(learned.pool, days - 1)) * mean if days > 0 else 0.0
    change = adjusted - float(people.last_output[worker]) - step
    own = OWN_RAMP * step
    if unsure > MOST_DOUBT * float(numbers[NOISE_USED]) and change * change < unsure:
        return
    numbers[NOISE_SUM] += 0.5 * (change * change - unsure - own * own)
    numbers[NOISE_WEIGHT] += 1.0


def estimate_noise(learned: Evolving, told: Told) -> None:
    """Update the estimate of the noise from the sums, unless it was told."""
    numbers = learned.numbers
    if told.noise_sd < 0.0:
        guess, weight = told.noise_guess * told.noise_guess, told.guess_weight
        total = weight * guess + float(numbers[NOISE_SUM])
        numbers[NOISE] = max(total / (weight + float(numbers[NOISE_WEIGHT])), LEAST_NOISE)
