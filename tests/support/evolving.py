"""What tests of the evolving model share: beliefs to begin with, days to learn from, and the same in linear algebra."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from crewlearn.beliefs.evolving.learning import fresh_evolving, learn_day
from crewlearn.beliefs.evolving.model import FADED, Evolving, Told
from crewlearn.beliefs.posterior import LEARN
from crewlearn.policies.rule import as_lists

EXPERIENCED = FADED
"""Days worked after which nobody ramps up any more."""

NOTHING_TOLD = Told(0.25, 2.0, LEARN, LEARN, LEARN, LEARN, LEARN)


def told(**known: float) -> Told:
    """Return what is told beforehand; everything else is learned."""
    return NOTHING_TOLD._replace(**known)


def fresh(
    days: Sequence[int],
    known: Told = NOTHING_TOLD,
    prior: Sequence[tuple[int, float]] = (),
    team: int = 20,
    lists: bool = True,
) -> Evolving:
    """Return beliefs before any output about people with so many days worked and prior data (count, sum)."""
    counts = np.array([count for count, _ in prior] or [0] * len(days), dtype=np.int64)
    sums = np.array([total for _, total in prior] or [0.0] * len(days), dtype=np.float64)
    learned = fresh_evolving(known, np.array(days, dtype=np.int64), counts, sums, team, len(days))
    return as_lists(learned) if lists else learned


def learn(learned: Evolving, known: Told, period: int, output: Mapping[int, float], quits: int = 0) -> None:
    """Learn one day's output by worker."""
    learn_day(learned, known, period, list(output), list(output.values()), quits)  # type: ignore[arg-type]  # as live


class Person(NamedTuple):
    """A person's record: outputs, each with its variance, days since the last one, share of the level and fading."""

    output: Any
    noise: Any
    gaps: Any
    shares: Any
    fading: Any


class Dense(NamedTuple):
    """What a person's outputs tell, given that the first level is normal; `own` is the depth of their own ramp."""

    level: float
    variance: float
    own: float
    log_likelihood: float


def dense(person: Person, centre: float, between: float, drift: float, own: float) -> Dense:
    """Condition the joint normal of level, own ramp and outputs on the outputs, by plain linear algebra.

    `between` is the variance of the first level, `drift` the variance of its change a day, `own` that of the depth of
    the person's own ramp, which takes `fading` times itself off an output.
    """
    n = len(person.output)
    ages = np.cumsum(person.gaps)
    levels = between + drift * np.minimum.outer(ages, ages)
    design = np.hstack([np.diag(person.shares), -np.asarray(person.fading)[:, None]])
    hidden = np.zeros((n + 1, n + 1))
    hidden[:n, :n] = levels
    hidden[n, n] = own
    expected = design @ np.append(np.full(n, centre), 0.0)
    of_output = design @ hidden @ design.T + np.diag(person.noise)
    off = np.asarray(person.output) - expected
    gain = np.linalg.solve(of_output, design @ hidden).T
    mean = np.append(np.full(n, centre), 0.0) + gain @ off
    after = hidden - gain @ design @ hidden
    _, log_det = np.linalg.slogdet(of_output)
    fit = -0.5 * (log_det + off @ np.linalg.solve(of_output, off))
    return Dense(float(mean[n - 1]), float(after[n - 1, n - 1]), float(mean[n]), float(fit))


def log_sum(logs: Sequence[float]) -> float:
    """Return the logarithm of a sum of exponentials."""
    best = max(logs)
    return best + math.log(sum(math.exp(log - best) for log in logs))
