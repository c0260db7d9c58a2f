"""Results: loss against its definition, the tables for people, and what may be left out or labelled."""

import numpy as np
import pytest

from crewlearn import DRUCB, FAMILIES, InvalidInput, KeepTeam, simulate
from crewlearn.problem.instances import benchmark


def test_loss_is_regret_in_percent_of_the_best_team_s_output() -> None:
    problem = benchmark(horizon=50)
    result = simulate(problem, ["keep-team"], runs=5, seed=2, at=[20, 50])
    ours = result.policies["keep-team"]
    for run in range(5):
        best = np.sort(problem.means(2, run))[-10:].sum()
        assert ours.normalized_loss[run].tolist() == pytest.approx(
            (100 * ours.regret[run] / (best * np.array([20, 50]))).tolist()
        )


def test_the_checkpoint_may_be_left_out_where_there_is_one() -> None:
    result = simulate(benchmark(horizon=20), ["keep-team"], runs=3)
    assert result.regret("keep-team") == result.regret("keep-team", at=20)
    several = simulate(benchmark(horizon=20), ["keep-team"], runs=3, at=[10, 20])
    with pytest.raises(InvalidInput, match=r"choose one of \[10, 20\]"):
        several.regret("keep-team")


def test_labels_and_names_give_the_same_numbers() -> None:
    problem = benchmark(horizon=40)
    by_label = simulate(problem, {"slow": DRUCB(gamma=20.0), "fast": "dr-ucb:gamma=5"}, runs=4)
    by_list = simulate(problem, [DRUCB(gamma=20.0), DRUCB(gamma=5.0)], runs=4)
    assert list(by_label.policies) == ["slow", "fast"]
    assert list(by_list.policies) == ["dr-ucb:gamma=20.0", "dr-ucb:gamma=5.0"]
    for ours, theirs in zip(by_label.policies.values(), by_list.policies.values(), strict=True):
        assert np.array_equal(ours.regret, theirs.regret)


def test_the_same_policy_twice_is_refused() -> None:
    with pytest.raises(InvalidInput, match="is named twice"):
        simulate(benchmark(horizon=5), [KeepTeam(), KeepTeam()])
    with pytest.raises(InvalidInput, match="a label must be text"):
        simulate(benchmark(horizon=5), {" ": KeepTeam()})


def test_a_result_is_shown_as_its_tables() -> None:
    quiet = simulate(benchmark(horizon=20), {"a <b>": KeepTeam()}, runs=3)
    regret = quiet.regret("a <b>")
    assert f"{regret.mean:,.0f} ± {regret.std:,.0f}" in repr(quiet)
    assert "<td>a &lt;b&gt;</td>" in quiet._repr_html_()
    floor = simulate(FAMILIES["floor-small"].problem(), ["keep-team"], runs=2)
    assert "worse than keep-team" in repr(floor)
    assert floor._repr_html_().count("<table>") == 2


def test_the_heuristic_is_reported_where_it_was_used() -> None:
    problem = benchmark(horizon=300)
    exact, capped = (
        simulate(problem, [DRUCB(gamma=2.0, frontier_cap=cap)], runs=3).policies["dr-ucb"] for cap in (100_000, 2)
    )
    assert exact.heuristics.sum() == 0
    assert exact.loss_bound.max() == 0.0
    assert capped.heuristics.min() > 0
    assert capped.loss_bound.min() >= 0.0
