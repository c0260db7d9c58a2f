"""Summaries of values, one per run: means with their errors, ratios of means, and paired differences."""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.errors import InvalidInput


def student_95(degrees: int) -> float:
    """Return the two-sided 95% point of Student's t: exact for 1 and 2 degrees of freedom, else a series in 1/degrees.

    >>> [round(student_95(degrees), 2) for degrees in (1, 2, 4, 10, 249)]
    [12.71, 4.3, 2.78, 2.23, 1.97]
    """
    if degrees == 1:
        return math.tan(0.475 * math.pi)
    if degrees == 2:
        return 0.95 * math.sqrt(2.0 / (1.0 - 0.95 * 0.95))
    z = NormalDist().inv_cdf(0.975)
    terms = (
        (z**3 + z) / 4.0,
        (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / 96.0,
        (3.0 * z**7 + 19.0 * z**5 + 17.0 * z**3 - 15.0 * z) / 384.0,
        (79.0 * z**9 + 776.0 * z**7 + 1482.0 * z**5 - 1920.0 * z**3 - 945.0 * z) / 92160.0,
    )
    return z + math.fsum(term / degrees**power for power, term in enumerate(terms, start=1))


@dataclass(frozen=True)
class Summary:
    """Mean, standard deviation over runs (population form), standard error of the mean, and 95th percentile."""

    mean: float
    std: float
    stderr: float
    p95: float

    @classmethod
    def of(cls, values: FloatArray) -> "Summary":
        """Summarise values, one per run."""
        std = float(values.std())
        return cls(
            mean=float(values.mean()),
            std=std,
            stderr=std / max(len(values) - 1, 1) ** 0.5,
            p95=float(np.percentile(values, 95)),
        )


@dataclass(frozen=True)
class Share:
    """A ratio of means over the same worlds, with its standard error (by the delta method)."""

    mean: float
    stderr: float

    @classmethod
    def of(cls, part: FloatArray, whole: FloatArray) -> "Share | None":
        """Return the mean of `part` over that of `whole`, one entry a run; None if the latter is not positive.

        >>> Share.of(np.array([1.0, 2.0]), np.array([2.0, 4.0]))
        Share(mean=0.5, stderr=0.0)
        """
        bottom = float(whole.mean())
        if bottom <= 0.0:
            return None
        ratio = float(part.mean()) / bottom
        return cls(ratio, Summary.of(part - ratio * whole).stderr / bottom)


def student_p(t: float, degrees: int) -> float:
    """Return the two-sided p-value of Student's t: the regularised incomplete beta function at d / (d + t²).

    >>> [round(student_p(t, degrees), 4) for t, degrees in ((12.7062, 1), (2.2281, 10), (0.0, 5))]
    [0.05, 0.05, 1.0]
    """
    if math.isnan(t):
        return math.nan
    if math.isinf(t):
        return 0.0
    return _incomplete_beta(0.5 * degrees, 0.5, degrees / (degrees + t * t))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function, by its continued fraction (Lentz's method)."""
    if x in (0.0, 1.0):
        return x
    if x > (a + 1.0) / (a + b + 2.0):  # where the fraction of the complement converges faster
        return 1.0 - _incomplete_beta(b, a, 1.0 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    tiny = 1e-300
    fraction, upper, lower = 1.0, 1.0, 0.0
    for step in range(400):
        half = step // 2
        if step == 0:
            term = 1.0
        elif step % 2 == 0:
            term = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        else:
            term = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        lower = 1.0 / (1.0 + term * lower or tiny)
        upper = 1.0 + term / upper or tiny
        change = upper * lower
        fraction *= change
        if abs(change - 1.0) < 1e-14:
            break
    return front * (fraction - 1.0)


@dataclass(frozen=True)
class PairedDifference:
    """A policy's numbers less a rival's, world by world: mean, 95% interval and p-value (paired t-test).

    `wins` and `losses` count the worlds in which the policy's number is the smaller and the larger one. With a single
    world the interval is infinite and there is no test.
    """

    policy: str
    rival: str
    measure: str
    at: int
    difference: float
    stderr: float
    low: float
    high: float
    p_value: float | None
    wins: int
    losses: int
    runs: int

    @classmethod
    def of(
        cls, ours: FloatArray, theirs: FloatArray, *, policy: str, rival: str, measure: str, at: int
    ) -> "PairedDifference":
        """Compare two policies by their numbers in the same worlds, one entry a run.

        >>> difference = PairedDifference.of(
        ...     np.array([1.0, 3.0, 2.0]), np.array([2.0, 5.0, 2.0]), policy="a", rival="b", measure="regret", at=9
        ... )
        >>> difference.difference, difference.wins, difference.losses, round(difference.p_value, 3)
        (-1.0, 2, 0, 0.225)
        """
        runs, summary = len(ours), paired_difference(ours, theirs)
        half_width = student_95(runs - 1) * summary.stderr if runs > 1 else math.inf
        return cls(
            policy=policy,
            rival=rival,
            measure=measure,
            at=at,
            difference=summary.mean,
            stderr=summary.stderr,
            low=summary.mean - half_width,
            high=summary.mean + half_width,
            p_value=_p_value(summary, runs),
            wins=int((ours < theirs).sum()),
            losses=int((ours > theirs).sum()),
            runs=runs,
        )


def _p_value(difference: Summary, runs: int) -> float | None:
    if runs < 2:
        return None
    if difference.stderr == 0.0:
        return 1.0 if difference.mean == 0.0 else 0.0
    return student_p(difference.mean / difference.stderr, runs - 1)


def paired_difference(ours: FloatArray, theirs: FloatArray) -> Summary:
    """Summarise the difference in each world.

    >>> paired_difference(np.array([1.0, 3.0]), np.array([2.0, 5.0])).mean
    -1.5
    """
    if ours.shape != theirs.shape:
        raise InvalidInput(
            "runs", ours.shape, f"a paired comparison needs the same worlds; the rival has {theirs.shape}"
        )
    return Summary.of(ours - theirs)
