"""The study of the limit: bound and policies side by side."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from crewlearn.engine.results import KEEP, ORACLE, Summary
from crewlearn.problem.model import Problem
from crewlearn.problem.toml import problem_to_table
from crewlearn.study.lab import Lab, row_of
from crewlearn.study.limit.bound import limit
from crewlearn.study.limit.settings import published_settings
from crewlearn.study.limit.standing import PUBLISHED
from crewlearn.study.outcome import Line, Number, Panel, Part, Picture, StudyRow
from crewlearn.study.result_cache import Arrays

SHOWN = ("base", "c = 30", "m = 5", "T = 90")
"""The settings of the report; docs/theory/limit.md has all."""

MOST_POOLS = 40
"""Pools in the report, so that it stays quick."""

PLAYED = (*PUBLISHED, KEEP, ORACLE)

DRAWN = tuple(policy for policy in PUBLISHED if policy != "dr-ucb")
"""The policies of the figure: DR-UCB lies so far above that these could not be told apart."""


def _regrets(problem: Problem, pools: int, seed: int) -> Arrays:
    return {"regrets": limit(problem, pools, seed).regrets}


def against_the_limit(lab: Lab) -> Part:
    """Regret of the policies beside the bound that no policy can undercut, on pools as written."""
    rows: list[StudyRow] = []
    findings: list[str] = []
    for setting in SHOWN:
        problem, pools = published_settings()[setting], max(2, min(lab.runs, MOST_POOLS))
        made_of = {"problem": problem_to_table(problem), "pools": pools, "seed": lab.seed}
        make = partial(_regrets, problem, pools, lab.seed)
        bound = Summary.of(np.asarray(lab.measure(f"limit, {setting}", made_of, make)["regrets"]))
        result = lab.simulate(problem, PLAYED)
        for policy in PLAYED:
            row = row_of(result, policy, setting, problem.horizon, {"regret": None})
            rows.append(replace(row, numbers={**row.numbers, "bound": Number(bound, pools)}))
        above = ", ".join(
            f"{policy} {result.regret(policy, problem.horizon).mean / bound.mean - 1.0:+.0%}" for policy in PUBLISHED
        )
        findings.append(
            f"At {setting} no policy that names leavers with hires has a mean regret below {bound.mean:,.0f} ± "
            f"{bound.stderr:,.1f} (standard error over {pools} pools). Above that lie: {above}."
        )
    return lab.part(rows, [_picture(rows)], findings=findings)


def _picture(rows: Sequence[StudyRow]) -> Picture:
    """Draw mean regrets in percent of the bound, a setting in each row, with the error of each mean."""
    lines = []
    for place, name in enumerate(("limit", *DRAWN)):
        measure = "bound" if name == "limit" else "regret"
        shown = [row for row in rows if row.policy == (PLAYED[0] if name == "limit" else name)]
        bounds = np.array([row.numbers["bound"].ours.mean for row in shown])
        means = np.array([row.numbers[measure].ours.mean for row in shown])
        errors = np.array([row.numbers[measure].ours.stderr for row in shown])
        beside = np.arange(float(len(shown))) + 0.14 * (place - len(DRAWN) / 2)
        lines.append(Line(name, beside, 100.0 * means / bounds, 100.0 * errors / bounds, points=True))
    panel = Panel("Beside the limit", "", "regret, % of the limit", tuple(lines), categories=SHOWN)
    caption = (
        "Mean regret in percent of the bound that no policy can undercut; bars are ±1 standard error. The "
        "table has DR-UCB and keep-team, which lie far to the right, and the oracle, which knows all levels."
    )
    return Picture("limit", caption, (panel,), abreast=1)
