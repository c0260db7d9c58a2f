"""The study of the limit: bound and policies side by side."""

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
from crewlearn.study.outcome import Number, Part, StudyRow
from crewlearn.study.result_cache import Arrays

SHOWN = ("base", "c = 30", "m = 5", "T = 90")
"""The settings of the report; docs/theory/limit.md has all."""

MOST_POOLS = 40
"""Pools in the report, so that it stays quick."""

PLAYED = (*PUBLISHED, KEEP, ORACLE)


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
    return lab.part(rows, findings=findings)
