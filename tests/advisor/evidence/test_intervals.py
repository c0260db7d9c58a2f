"""Intervals: against exact enumeration of their coverage, and against theory."""

import math
from itertools import product

import pytest

from crewlearn.advisor.evidence.intervals import ratio_of_rates, ratio_of_shares, share_interval, wilson


def chance(hits: int, size: int, share: float) -> float:
    return math.comb(size, hits) * share**hits * (1.0 - share) ** (size - hits)


@pytest.mark.parametrize(("size", "share"), [(9, 0.1), (12, 0.5), (25, 0.93)])
def test_an_exact_interval_of_a_share_covers_at_least_19_times_in_20(size: int, share: float) -> None:
    """Summed over everything that can be seen, each side misses at most once in 40 times."""
    ends = {hits: share_interval(hits, size) for hits in range(size + 1)}
    assert sum(chance(hits, size, share) for hits in ends if ends[hits][0] > share) <= 0.025
    assert sum(chance(hits, size, share) for hits in ends if ends[hits][1] < share) <= 0.025
    low, high = ends[size // 3]  # the ends are those at which a tail has a chance of one in 40
    assert sum(chance(hits, size, low) for hits in range(size // 3, size + 1)) == pytest.approx(0.025)
    assert sum(chance(hits, size, high) for hits in range(size // 3 + 1)) == pytest.approx(0.025)


@pytest.mark.parametrize(("share", "other"), [(0.1, 0.1), (0.2, 0.5), (0.9, 0.97), (0.5, 0.25)])
def test_the_interval_of_a_ratio_of_shares_covers_nearly_19_times_in_20(share: float, other: float) -> None:
    size, other_size, covered = 30, 24, 0.0
    for hits, others in product(range(size + 1), range(other_size + 1)):
        ratio = ratio_of_shares(hits, size, others, other_size)
        high = math.inf if ratio.high is None else ratio.high
        if ratio.low <= share / other <= high:
            covered += chance(hits, size, share) * chance(others, other_size, other)
    assert 0.93 < covered < 0.99  # a score interval is right on average, not for every share


def test_ratios_with_zeros_and_ones() -> None:
    nobody = ratio_of_shares(0, 20, 10, 20)
    assert (nobody.value, nobody.low) == (0.0, 0.0)
    assert nobody.high is not None
    assert 0.0 < nobody.high < 0.5
    assert ratio_of_shares(10, 20, 0, 20).high is None
    assert ratio_of_shares(0, 20, 0, 20).value is None
    both = ratio_of_shares(40, 40, 40, 40)
    assert both.high is not None
    assert both.low == pytest.approx(1.0 / both.high)
    assert both.low < 1.0 < both.high


def test_the_interval_of_a_ratio_of_rates_is_the_exact_one() -> None:
    """At its ends, the binomial count of the first events among all has a tail of one in 40."""
    events, days, others, other_days = 7, 300, 5, 700
    ratio = ratio_of_rates(events, days, others, other_days)
    assert ratio.value == pytest.approx((events / days) / (others / other_days))
    for end, seen in ((ratio.low, range(events, events + others + 1)), (ratio.high, range(events + 1))):
        assert end is not None
        share = end * days / (end * days + other_days)
        assert sum(chance(hits, events + others, share) for hits in seen) == pytest.approx(0.025)
    assert ratio_of_rates(3, 10, 0, 90).value is None
    assert ratio_of_rates(3, 10, 0, 90).low > 0.0
    assert ratio_of_rates(0, 10, 0, 90).low == 0.0


def test_wilson_ends_where_the_normal_score_is_two_sided_5_percent() -> None:
    for share, size in ((0.0, 12.0), (0.4, 35.5), (1.0, 7.0)):
        for end in wilson(share, size):
            if end not in (0.0, 1.0):
                assert abs(share - end) / math.sqrt(end * (1.0 - end) / size) == pytest.approx(1.959964, rel=1e-6)
