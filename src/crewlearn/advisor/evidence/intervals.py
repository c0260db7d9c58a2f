"""Intervals of shares, of ratios of shares, and of ratios of rates, all at 95%."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

LEVEL = 0.95
_Z = NormalDist().inv_cdf((1.0 + LEVEL) / 2.0)
_TAIL = (1.0 - LEVEL) / 2.0
_STEPS = 200
"""Bisections stop earlier, once the ends are neighbours."""


@dataclass(frozen=True)
class Ratio:
    """A ratio with its interval; None where there is no bound, or nothing to divide by."""

    value: float | None
    low: float
    high: float | None


def wilson(share: float, size: float) -> tuple[float, float]:
    """Return Wilson's score interval of a share of `size` people, which may be an effective size.

    >>> [round(end, 4) for end in wilson(0.1, 40.0)]
    [0.0396, 0.2305]
    """
    square = _Z * _Z
    middle = (share + square / (2.0 * size)) / (1.0 + square / size)
    half = _Z / (1.0 + square / size) * math.sqrt(share * (1.0 - share) / size + square / (4.0 * size * size))
    return max(0.0, middle - half), min(1.0, middle + half)


def ratio_of_shares(hits: int, size: int, other_hits: int, other_size: int) -> Ratio:
    """Return the ratio of two shares with Koopman's score interval (Biometrics 40, 1984), which zeros do not break.

    >>> ratio = ratio_of_shares(36, 40, 16, 80)  # Koopman's own example
    >>> round(ratio.low, 2), round(ratio.high, 2)
    (2.94, 7.15)
    """
    if not size or not other_size or not hits + other_hits:
        return Ratio(None, 0.0, None)
    value = (hits / size) / (other_hits / other_size) if other_hits else None

    def inside(log_ratio: float) -> bool:
        return _score(math.exp(log_ratio), hits, size, other_hits, other_size) <= _Z * _Z

    start = math.log(value) if value else (-50.0 if value == 0.0 else 50.0)
    low = math.exp(_last(inside, start, start - 100.0)) if hits else 0.0
    high = math.exp(_last(inside, start, start + 100.0)) if other_hits else None
    return Ratio(value, low, high)


def _score(ratio: float, hits: int, size: int, other_hits: int, other_size: int) -> float:
    """Return Pearson's statistic of two counts if the first share were `ratio` times the second, fitted at best."""
    people = size + other_size
    half = ratio * (size + other_hits) + hits + other_size
    root = math.sqrt(max(0.0, half * half - 4.0 * ratio * people * (hits + other_hits)))
    share = 2.0 * ratio * (hits + other_hits) / (half + root)  # the smaller root, without cancellation
    return _pearson(hits, size, share) + _pearson(other_hits, other_size, share / ratio)


def _pearson(hits: int, size: int, share: float) -> float:
    variance = size * share * (1.0 - share)
    off = hits - size * share
    if variance <= 0.0:
        return 0.0 if abs(off) < 1e-9 * size else math.inf
    return off * off / variance


def share_interval(hits: int, size: int) -> tuple[float, float]:
    """Return Clopper and Pearson's exact interval of a share.

    >>> [round(end, 4) for end in share_interval(0, 10)]
    [0.0, 0.3085]
    """
    low = _last(lambda share: _at_least(hits, size, share) > _TAIL, 1.0, 0.0) if hits else 0.0
    high = _last(lambda share: _at_least(size - hits, size, 1.0 - share) > _TAIL, 0.0, 1.0) if hits < size else 1.0
    return low, high


def _at_least(hits: int, size: int, share: float) -> float:
    """Return the chance of at least so many hits."""
    if share in (0.0, 1.0):
        return float(hits == 0 or share == 1.0)
    odds, miss, whole = math.log(share), math.log1p(-share), math.lgamma(size + 1)
    return math.fsum(
        math.exp(whole - math.lgamma(k + 1) - math.lgamma(size - k + 1) + k * odds + (size - k) * miss)
        for k in range(hits, size + 1)
    )


def ratio_of_rates(events: int, exposure: int, other_events: int, other_exposure: int) -> Ratio:
    """Return the ratio of two rates of rare events, with its exact interval given how many events there were.

    Given their sum, the first count is binomial, with a share that depends on the ratio and the exposures alone.
    """
    if not exposure or not other_exposure or not events + other_events:
        return Ratio(None, 0.0, None)
    scale = other_exposure / exposure
    low, high = share_interval(events, events + other_events)
    value = scale * events / other_events if other_events else None
    return Ratio(value, scale * low / (1.0 - low), scale * high / (1.0 - high) if other_events else None)


def _last(holds: Callable[[float], bool], inside: float, outside: float) -> float:
    """Return where a condition that holds at one end, and not at the other, ceases to hold."""
    for _ in range(_STEPS):
        middle = (inside + outside) / 2.0
        if middle in (inside, outside):
            break
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside
