"""Summaries and normalized loss against their definitions."""

import numpy as np
import pytest

from crewlearn.engine.local import simulate
from crewlearn.engine.results import Summary
from crewlearn.problem.instances import benchmark


def test_a_summary_is_that_of_numpy() -> None:
    values = np.random.default_rng(1).normal(50.0, 4.0, 400)
    summary = Summary.of(values)
    assert summary.mean == pytest.approx(np.mean(values))
    assert summary.std == pytest.approx(np.std(values))
    assert summary.stderr == pytest.approx(np.std(values, ddof=1) / 20.0)
    assert summary.p95 == pytest.approx(np.percentile(values, 95))


def test_loss_is_regret_in_percent_of_the_best_team_s_output() -> None:
    problem = benchmark(horizon=50)
    result = simulate(problem, ["keep-team"], runs=5, seed=2, at=[20, 50])
    ours = result.policies["keep-team"]
    for run in range(5):
        best = np.sort(problem.means(2, run))[-10:].sum()
        assert ours.normalized_loss[run].tolist() == pytest.approx(
            (100 * ours.regret[run] / (best * np.array([20, 50]))).tolist()
        )
