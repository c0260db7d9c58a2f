"""The bounds of theory and the measured regret, as functions of the horizon."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from crewlearn.engine.results import Summary
from crewlearn.problem.instances import benchmark
from crewlearn.problem.laws import BernoulliOutput
from crewlearn.problem.model import Problem
from crewlearn.problem.recipes import Recipe
from crewlearn.study.lab import Lab, counted, row_of
from crewlearn.study.outcome import Line, Number, Panel, Part, Picture, StudyRow
from crewlearn.theory.bounds import instance_bound, instance_lower_limit, minimax_lower_bound, regret_bound
from crewlearn.theory.gamma import gamma_star

HORIZONS = tuple(2**power for power in range(7, 16))


def bounds(lab: Lab) -> Part:
    """The bound with its terms, the lower bounds, and DR-UCB's measured regret, on log axes over T."""
    problems = [benchmark(10, lab.conventions, horizon=horizon) for horizon in HORIZONS]
    any_rows, any_promised = [], []
    pool_rows, pool_promised = [], []
    for problem in problems:
        setting = problem.setting
        bound = regret_bound(setting, gamma_star(setting))
        lower = minimax_lower_bound(setting).rate
        promised = {**bound.terms(), "bound": bound.total, "minimax rate": lower}
        any_promised.append(promised)
        any_rows.append(_measured(lab, problem, "benchmark", promised))
    for problem in map(_one_pool, problems):
        setting, means = problem.setting, problem.means().tolist()
        bound_here = instance_bound(setting, gamma_star(setting), means)
        lower = instance_lower_limit(means, setting.team) * math.log(setting.horizon)
        promised = {**bound_here.terms(), "bound": bound_here.total, "lower bound": lower}
        pool_promised.append(promised)
        pool_rows.append(_measured(lab, problem, "one pool, 0/1 output", promised))
    panels = (
        _panel("Every instance", any_rows, any_promised, {"minimax rate": "minimax rate (× unknown constant)"}),
        _panel("One pool, 0/1 output", pool_rows, pool_promised, {"lower bound": "lower bound (as T grows)"}),
    )
    caption = (
        f"DR-UCB at gamma*, mean over {counted(lab.runs, 'run')}. Above: the benchmark, and the bound that holds on "
        "every instance, with its terms in grey; the minimax rate is known only up to a constant, drawn as 1 here. "
        "Below: one fixed pool with 0/1 output, and the bounds for these means; the lower bound holds for large T."
    )
    ratios = [row.numbers["bound"].ours.mean / row.numbers["regret"].ours.mean for row in any_rows]
    first, last = any_rows[0].numbers["regret"].ours.mean, any_rows[-1].numbers["regret"].ours.mean
    power = math.log(last / first) / math.log(HORIZONS[-1] / HORIZONS[0])
    findings = (
        f"On the benchmark the bound is {min(ratios):.1f} to {max(ratios):.1f} times the measured regret.",
        f"From T = {HORIZONS[0]:,} to {HORIZONS[-1]:,} the measured regret grows like T to the power {power:.2f}.",
    )
    picture = Picture("bounds", caption, panels, abreast=1)
    return lab.part((*any_rows, *pool_rows), (picture,), (), findings)


def _one_pool(problem: Problem) -> Problem:
    """Return the problem with the pool of the printed tables and 0/1 output, for which the lower bound is stated."""
    pool = Recipe("clipped-normal", count=25, mean=0.5, sd=0.3, seed=12345)
    return replace(problem, workers=pool, output=BernoulliOutput())


def _measured(lab: Lab, problem: Problem, setting: str, promised: Mapping[str, float]) -> StudyRow:
    result = lab.simulate(problem, ["dr-ucb"])
    row = row_of(result, "dr-ucb", setting, problem.horizon, {"regret": None})
    exact = {name: Number(Summary(value, 0.0, 0.0, value), lab.runs, exact=True) for name, value in promised.items()}
    return replace(row, numbers={**row.numbers, **exact})


def _panel(title: str, rows: list[StudyRow], promised: list[dict[str, float]], labels: Mapping[str, str]) -> Panel:
    x = np.array(HORIZONS, dtype=float)
    ours = [row.numbers["regret"].ours for row in rows]
    lines = [
        Line(
            "measured",
            x,
            np.array([summary.mean for summary in ours]),
            np.array([summary.std for summary in ours]),
            policy="dr-ucb",
        )
    ]
    for name in promised[0]:
        y = np.array([terms[name] for terms in promised])
        style = name if name in ("bound", *labels) else "term"
        lines.append(Line(labels.get(name, name.replace("_", " ")), x, y, policy=style))
    return Panel(title, "horizon T", "regret", tuple(lines), log_x=True, log_y=True)
