"""Every study end to end with few runs: its numbers are those of the engine and of the paper."""

import json
import math
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from crewlearn.engine.local import simulate
from crewlearn.policies.registry import make_policy
from crewlearn.problem.instances import benchmark, design_choices, gamma_curve
from crewlearn.problem.model import CONVENTIONS
from crewlearn.study.paper import differences, paper_numbers
from crewlearn.study.report import figures
from crewlearn.study.studies import STUDIES
from crewlearn.theory.bounds import instance_bound, instance_lower_limit, regret_bound
from crewlearn.theory.gamma import gamma1, gamma2, gamma_star
from support.study_runs import RUNS, rows_of, run

PRINTED = json.loads(files("crewlearn.study.paper").joinpath("paper_numbers.json").read_text())
ROW = {"policy", "setting", "at", "paper_mean", "paper_std", "ours_mean", "ours_std", "z"}


@pytest.mark.parametrize(
    ("name", "conventions"),
    [(name, kind) for name, study in STUDIES.items() for kind in (CONVENTIONS[:1] if study.one_part else CONVENTIONS)],
)
def test_every_study_runs_from_end_to_end(name: str, conventions: str, tmp_path: Path) -> None:
    """Pictures are not drawn here: test_report draws them all, in both conventions."""
    outcome = run(name, tmp_path, conventions)
    document = json.loads(json.dumps(outcome.to_json()))
    assert document["study"] == name
    assert document["seconds"] > 0.0
    assert document["rows"]
    assert document["findings"]
    for row in document["rows"]:
        assert row.keys() >= ROW
        assert math.isfinite(row["ours_mean"])
        assert row["ours_std"] >= 0.0
    names = [(row["policy"], row["setting"], row["at"]) for row in document["rows"]]
    assert len(set(names)) == len(names)


def test_the_headline_is_what_the_engine_gives(tmp_path: Path) -> None:
    outcome = run("headline", tmp_path, runs=40)
    names = list(PRINTED["benchmark"]["10"]["365"])
    result = simulate(benchmark(10, "as-released"), names, 40, 3, [365], "as-released")
    for name in names:
        (row,) = rows_of(outcome, policy=name)
        ours, printed = result.policies[name].regret[:, 0], PRINTED["benchmark"]["10"]["365"][name]
        assert (row["paper_mean"], row["paper_std"]) == tuple(printed["regret"])
        assert row["ours_mean"] == pytest.approx(ours.mean(), rel=1e-12)
        assert row["ours_std"] == pytest.approx(ours.std(), rel=1e-12)
        error = math.sqrt(ours.var(ddof=1) / 40 + printed["regret"][1] ** 2 / 250)
        assert row["z"] == pytest.approx((ours.mean() - printed["regret"][0]) / error, rel=1e-9)
        loss = row["normalized_loss"]
        assert (loss["paper_mean"], loss["paper_std"]) == tuple(printed["normalized_loss_percent"])
        assert loss["ours_mean"] == pytest.approx(result.policies[name].normalized_loss.mean(), rel=1e-12)
    for comparison in outcome.main.comparisons:
        difference = result.policies["dr-ucb"].regret[:, 0] - result.policies[comparison.rival].regret[:, 0]
        half = 2.022691 * difference.std(ddof=1) / math.sqrt(40)  # Student with 39 degrees of freedom
        assert comparison.difference == pytest.approx(difference.mean())
        assert (comparison.low, comparison.high) == pytest.approx((difference.mean() - half, difference.mean() + half))
        assert (comparison.wins, comparison.losses) == ((difference < 0).sum(), (difference > 0).sum())


def test_every_printed_number_stands_in_its_row(tmp_path: Path) -> None:
    benchmark_rows = run("benchmark", tmp_path).to_json()["rows"]
    assert len(benchmark_rows) == 60
    for row in benchmark_rows:
        cell = PRINTED["benchmark"][row["setting"].removeprefix("m=")][str(row["at"])][row["policy"]]
        assert [row["paper_mean"], row["paper_std"]] == cell["regret"]
        loss = row["normalized_loss"]
        assert [loss["paper_mean"], loss["paper_std"]] == cell["normalized_loss_percent"]
    designs = [row for row in run("design-choices", tmp_path).to_json()["rows"] if row["paper_mean"] is not None]
    assert len(designs) == 8
    for row in designs:
        assert [row["paper_mean"], row["paper_std"]] == PRINTED["design_choices"][row["policy"]][str(row["at"])]
    dear = [row for row in run("high-cost", tmp_path).to_json()["rows"] if row["paper_mean"] is not None]
    assert {row["policy"]: [row["paper_mean"], row["paper_std"]] for row in dear} == PRINTED["high_cost_c168_365"]
    for name, times in PRINTED["runtime_ms_per_run"].items():
        for row in rows_of(run("runtime", tmp_path), policy=name):
            assert [row["paper_mean"], row["paper_std"]] == times
            assert row["z"] is None  # a time measured on another machine is no replicate
    choices = {row["setting"]: row["paper_mean"] for row in run("choose-target-runtime", tmp_path).to_json()["rows"]}
    assert choices["compiled"] == choices["plain Python"] == PRINTED["choose_target_ms"]["mean"]
    assert choices["compiled, longest"] == choices["plain Python, longest"] == PRINTED["choose_target_ms"]["max"]
    assert run("frontier-size", tmp_path).to_json()["rows"][0]["paper_mean"] == PRINTED["largest_frontier"]


def test_the_benchmark_reads_other_tables_problems_where_they_ran_others(tmp_path: Path) -> None:
    for name, problem, policy, at in (
        ("design-choices", design_choices(90, "as-released"), "dr-ucb+fixed-calendar", 90),
        ("high-cost", design_choices(365, "as-released", cost=168.0), "dr-ucb", 365),
    ):
        expected = simulate(problem, [policy], RUNS, 3, None, "as-released").regret(policy, at)
        (row,) = rows_of(run(name, tmp_path), policy=policy, at=at)
        assert row["ours_mean"] == expected.mean


@pytest.mark.parametrize(
    ("name", "field", "values"),
    [("delay-sweep", "mean_delay", [0, 1, 3, 7]), ("cost-sweep", "cost", [3, 7, 30, 60, 90])],
)
def test_sweeps_give_regret_and_completed_replacements(
    name: str, field: str, values: list[int], tmp_path: Path
) -> None:
    outcome = run(name, tmp_path)
    assert {row["setting"] for row in outcome.to_json()["rows"]} == {f"{field}={value}" for value in values}
    value = values[-1]
    changed: dict[str, Any] = {field: float(value)}
    result = simulate(benchmark(10, "as-released", **changed), ["a-omm", "dr-ucb"], RUNS, 3, None, "as-released")
    for policy in result.policies:
        (row,) = rows_of(outcome, policy=policy, setting=f"{field}={value}")
        assert row["at"] == 730
        assert (row["ours_mean"], row["ours_std"]) == (result.regret(policy, 730).mean, result.regret(policy, 730).std)
        assert row["completed"]["ours_mean"] == result.policies[policy].completed.mean()
        assert row["normalized_loss"]["ours_mean"] == result.policies[policy].normalized_loss[:, -1].mean()
    (picture,) = outcome.main.pictures
    for panel, measure in zip(picture.panels, ("regret", "normalized_loss", "completed"), strict=True):
        for line in panel.lines:
            drawn = [row.numbers[measure].ours for row in outcome.main.rows if row.policy == line.label]
            assert line.x.tolist() == values
            assert line.sd is not None
            assert line.y.tolist() == [summary.mean for summary in drawn]
            assert line.sd.tolist() == [summary.std for summary in drawn]


def test_the_gamma_curve_tries_the_papers_values(tmp_path: Path) -> None:
    outcome = run("gamma-curve", tmp_path)
    (picture,) = outcome.main.pictures
    (panel,) = picture.panels
    setting = gamma_curve("as-released").setting
    choices = [gamma1(setting), gamma2(setting), gamma_star(setting)]
    assert {mark.label: mark.x for mark in panel.marks} == dict(
        zip(("gamma1", "gamma2", "gamma*"), choices, strict=True)
    )
    for x, y, row in zip(panel.lines[0].x, panel.lines[0].y, outcome.main.rows, strict=True):
        assert row.setting.startswith(f"gamma={x:.2f}")
        assert y == row.numbers["regret"].ours.mean
    grid = [x for x in panel.lines[0].x if x not in choices]
    assert len(grid) == 25
    assert np.log2(grid) == pytest.approx(np.linspace(0.0, np.log2(2.0 * max(choices)), 25), abs=1e-9)
    assert {row["at"] for row in outcome.to_json()["rows"]} == {1825}


def test_bounds_in_the_study_are_those_of_the_theory(tmp_path: Path) -> None:
    outcome = run("bounds", tmp_path)
    for row in rows_of(outcome, setting="benchmark"):
        setting = benchmark(10, "as-released", horizon=row["at"]).setting
        assert row["bound"]["ours_mean"] == regret_bound(setting, gamma_star(setting)).total
        assert row["bound"]["ours_mean"] > row["ours_mean"]
        assert row["minimax rate"]["ours_mean"] == pytest.approx(math.sqrt(10 * 25 * row["at"]))
    means = np.clip(np.random.default_rng(12345).normal(0.5, 0.3, 25), 0, 1).tolist()
    for row in rows_of(outcome, setting="one pool, 0/1 output"):
        setting = benchmark(10, "as-released", horizon=row["at"]).setting
        assert row["bound"]["ours_mean"] == instance_bound(setting, gamma_star(setting), means).total
        assert row["lower bound"]["ours_mean"] == pytest.approx(instance_lower_limit(means, 10) * math.log(row["at"]))
    ratios = [row["bound"]["ours_mean"] / row["ours_mean"] for row in rows_of(outcome, setting="benchmark")]
    assert f"the bound is {min(ratios):.1f} to {max(ratios):.1f} times" in outcome.main.findings[0]
    ends = rows_of(outcome, setting="benchmark", at=128)[0], rows_of(outcome, setting="benchmark", at=32768)[0]
    power = math.log2(ends[1]["ours_mean"] / ends[0]["ours_mean"]) / 8
    assert f"to the power {power:.2f}" in outcome.main.findings[1]
    labels = [line.label for panel in outcome.main.pictures[0].panels for line in panel.lines]
    assert any("unknown constant" in label for label in labels)
    assert all(panel.log_x and panel.log_y for panel in outcome.main.pictures[0].panels)


def test_interviews_run_from_worthless_to_perfect(tmp_path: Path) -> None:
    outcome = run("interviews", tmp_path, runs=30)
    rhos = [f"rho={round(0.1 * step, 1)}" for step in range(11)]
    for policy in ("interview-screen", "work-trial"):
        assert [row["setting"] for row in rows_of(outcome, policy=policy, at=365)] == rhos
    (picture,) = outcome.main.pictures
    for panel, at in zip(picture.panels, (365, 730), strict=True):
        for line in panel.lines:
            drawn = [row for row in outcome.main.rows if (row.policy, row.at) == (line.label, at)]
            assert set(line.y.tolist()) == {row.numbers["regret"].ours.mean for row in drawn}
            reference = next(candidate.y[0] for candidate in panel.lines if candidate.label == "dr-ucb")
            if len(line.y) == 11:
                better = [f"{rho:g}" for rho, mean in zip(line.x, line.y, strict=True) if mean < reference]
                where = f"rho = {', '.join(better)}" if better else "no rho"
                finding = f"After {at} periods {line.label} does better than DR-UCB at {where}."
                assert finding in outcome.main.findings
    perfect, worthless = (
        rows_of(outcome, policy="interview-screen", setting=setting, at=730)[0]["ours_mean"]
        for setting in ("rho=1.0", "rho=0.0")
    )
    oracle = simulate(benchmark(10, "as-released"), ["oracle"], 30, 3).regret("oracle", 730).mean
    assert (
        oracle < perfect < oracle + 25 * 5.0 + 50.0 < worthless
    )  # interviews cost 25 fees; then the best team is hired


def test_curves_are_drawn_from_every_period(tmp_path: Path) -> None:
    outcome = run("curves", tmp_path)
    result = simulate(benchmark(5, "as-released"), ["work-trial"], RUNS, 3, None, "as-released")
    picture = next(candidate for candidate in outcome.main.pictures if candidate.name == "curves-m5")
    curves = (result.policies["work-trial"].regret_curve, result.policies["work-trial"].loss_curve)
    for panel, curve in zip(picture.panels, curves, strict=True):
        line = next(line for line in panel.lines if line.label == "work-trial")
        assert line.sd is not None
        first = int(line.x[0]) - 1
        assert line.x[-1] == 730
        assert line.y == pytest.approx(curve.mean[first:])
        assert line.sd == pytest.approx(curve.std[first:])


def test_paper_and_ours_are_drawn_side_by_side(tmp_path: Path) -> None:
    for name in ("headline", "design-choices"):
        outcome = run(name, tmp_path)
        for picture in outcome.main.pictures:
            paper, ours = picture.panels[0].lines
            at = int(picture.name.rpartition("-")[2]) if "-" in picture.name else 365
            rows = [row for row in outcome.main.rows if row.at == at]
            assert picture.panels[0].categories == tuple(row.policy for row in rows)
            numbers = [row.numbers["regret"] for row in rows]
            assert paper.sd is not None
            assert ours.sd is not None
            assert ours.y.tolist() == [number.ours.mean for number in numbers]
            assert ours.sd.tolist() == [number.ours.std for number in numbers]
            printed = [number.paper for number in numbers if number.paper is not None]
            assert paper.y.tolist() == [summary.mean for summary in printed]
            assert paper.sd.tolist() == [summary.std for summary in printed]


def test_the_phases_of_a_cycle_add_up(tmp_path: Path) -> None:
    outcome = run("timeline", tmp_path)
    timeline = outcome.main.pictures[0].timeline
    assert timeline is not None
    transition, exploration = (row["ours_mean"] * len(timeline.cycles) for row in outcome.to_json()["rows"])
    assert transition + exploration == pytest.approx(730)
    assert transition == sum(cycle.complete - cycle.decided for cycle in timeline.cycles)
    assert figures.TRANSITION != figures.EXPLORATION
    red, blue = (to_rgb(colour) for colour in (figures.TRANSITION, figures.EXPLORATION))
    assert red[0] > red[2]
    assert blue[2] > blue[0]


def test_times_are_of_what_was_timed(tmp_path: Path) -> None:
    rows = {row["setting"]: row["ours_mean"] for row in run("choose-target-runtime", tmp_path).to_json()["rows"]}
    for kind in ("compiled", "plain Python"):
        assert 0.0 < rows[kind] < rows[f"{kind}, longest"]


def test_the_list_of_differences_is_complete() -> None:
    """Applying all differences turns the as-released problem and policies into the as-written ones."""
    touching = list(differences.DIFFERENCES)
    assert differences._switched(benchmark(10, "as-released"), touching) == benchmark(10, "as-written")
    for name in ("dr-ucb", "a-aht", "a-omm", "interview-screen", "work-trial"):
        fields = ",".join(
            difference.policy_fields
            for difference in touching
            if name in difference.policies and difference.policy_fields
        )
        assert make_policy(f"{name}:{fields}" if fields else name, "as-released") == make_policy(name, "as-written")


def test_each_difference_is_switched_alone(tmp_path: Path) -> None:
    outcome = run("conventions", tmp_path)
    released = benchmark(10, "as-released")
    radius = simulate(released, ["dr-ucb:radius=log-T"], RUNS, 3, [365], "as-released")
    (row,) = rows_of(outcome, policy="dr-ucb", setting="confidence radius as written")
    assert row["ours_mean"] == radius.regret("dr-ucb:radius=log-T", 365).mean
    written = simulate(benchmark(10, "as-written"), ["a-aht"], RUNS, 3, [365], "as-written")
    (row,) = rows_of(outcome, policy="a-aht", setting="all as written")
    assert row["ours_mean"] == written.regret("a-aht", 365).mean


def test_the_same_data_give_the_same_picture(tmp_path: Path) -> None:
    for name in ("timeline", "gamma-curve", "design-choices"):
        picture = run(name, tmp_path).main.pictures[0]
        assert figures.draw(picture) == figures.draw(picture)


def test_missing_cells_are_none() -> None:
    assert paper_numbers.benchmark_cell(10, 365, "keep-team", "regret") is None
    assert paper_numbers.design_choice("dr-ucb", 91) is None
    assert paper_numbers.high_cost("keep-team") is None
