"""Summaries and paired tests against numpy and scipy."""

import numpy as np
import pytest
from scipy import stats

from crewlearn.engine.results import PairedDifference, Summary, student_95, student_p


def test_a_summary_is_that_of_numpy() -> None:
    values = np.random.default_rng(1).normal(50.0, 4.0, 400)
    summary = Summary.of(values)
    assert summary.mean == pytest.approx(np.mean(values))
    assert summary.std == pytest.approx(np.std(values))
    assert summary.stderr == pytest.approx(np.std(values, ddof=1) / 20.0)
    assert summary.p95 == pytest.approx(np.percentile(values, 95))


@pytest.mark.parametrize("degrees", [1, 2, 3, 5, 30, 249, 9_999])
def test_student_s_t_is_that_of_scipy(degrees: int) -> None:
    assert student_95(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), rel=2e-3)
    for t in (0.0, 0.01, 0.7, -2.1, 6.0):
        assert student_p(t, degrees) == pytest.approx(2.0 * stats.t.sf(abs(t), degrees), rel=1e-8)


def test_a_paired_difference_is_scipy_s_paired_test() -> None:
    draw = np.random.default_rng(5)
    worlds = draw.normal(0.0, 10.0, 40)
    ours, theirs = worlds + draw.normal(0.0, 1.0, 40), worlds + draw.normal(0.5, 1.0, 40)
    paired = PairedDifference.of(ours, theirs, policy="a", rival="b", measure="regret", at=9)
    test = stats.ttest_rel(ours, theirs)
    low, high = test.confidence_interval(0.95)
    assert paired.difference == pytest.approx(np.mean(ours - theirs))
    assert paired.p_value == pytest.approx(test.pvalue)
    assert (paired.low, paired.high) == pytest.approx((low, high), rel=1e-4)
    assert paired.wins + paired.losses == paired.runs == 40


def test_the_ends_of_a_paired_difference() -> None:
    equal = np.array([1.0, 2.0])
    assert PairedDifference.of(equal, equal, policy="a", rival="b", measure="net", at=1).p_value == 1.0
    assert PairedDifference.of(equal, equal + 1.0, policy="a", rival="b", measure="net", at=1).p_value == 0.0
    single = PairedDifference.of(equal[:1], equal[1:], policy="a", rival="b", measure="net", at=1)
    assert single.p_value is None
    assert single.high == np.inf
