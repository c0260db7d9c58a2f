"""The differences between the paper's text and its printed tables, and the effect of each on the numbers."""

from dataclasses import dataclass, replace
from typing import Any

from crewlearn.problem.instances import benchmark
from crewlearn.problem.model import Problem
from crewlearn.study.lab import Lab, row_of
from crewlearn.study.outcome import Part, StudyRow
from crewlearn.study.paper.benchmark import POLICIES, YEAR
from crewlearn.study.paper.paper_numbers import benchmark_cell
from crewlearn.study.report.tables import signed

WRITTEN, RELEASED = "as-written", "as-released"


@dataclass(frozen=True)
class ConventionPoint:
    """A point of difference: what the text says, what the tables used, and how to switch it to the text.

    `policies` are those concerned. To switch, `policy_fields` are set on them and `problem_fields` are taken from the
    benchmark as written.
    """

    point: str
    written: str
    released: str
    policies: tuple[str, ...]
    policy_fields: str = ""
    problem_fields: tuple[str, ...] = ()


DIFFERENCES = (
    ConventionPoint(
        "confidence radius",
        "sqrt(log T / n)",
        "sqrt(log t / n), t = completed periods, at least 1",
        ("dr-ucb",),
        policy_fields="radius=log-T",
    ),
    ConventionPoint(
        "rank matching",
        "by LCB, both sides descending",
        "by UCB, both sides descending",
        ("dr-ucb",),
        policy_fields="pairing=rank-lcb",
    ),
    ConventionPoint(
        "worker means",
        "normal(0.5, 0.3) truncated to [0, 1], fresh in each run",
        "one pool for all runs: NumPy's default_rng(12345).normal(0.5, 0.3, 25), clipped to [0, 1]",
        POLICIES,
        problem_fields=("workers",),
    ),
    ConventionPoint(
        "delays",
        "free each later period with chance 1/3: 1, 2, 3, … with mean 3",
        "failures before a success: 0, 1, 2, … with mean 3 (in the design-choice, fee-168 and gamma studies mean 2, "
        "while gamma* is computed for 3)",
        POLICIES,
        problem_fields=("delay",),
    ),
    ConventionPoint(
        "interview cost",
        "the fee, once",
        "the fee for each of the k candidates",
        ("interview-screen", "work-trial"),
        policy_fields="interview_cost=once",
    ),
    ConventionPoint(
        "start of A-AHT",
        "every worker seen once, in groups of m",
        "groups by number that partly do not exist, requested while the frames already run",
        ("a-aht",),
        policy_fields="begin=clean",
    ),
)
"""All differences between the conventions."""


def conventions(lab: Lab) -> Part:
    """12-month regret as released, with each point alone switched to the text, and with all of them switched."""
    released = replace(lab, conventions=RELEASED)
    rows = []
    for policy in POLICIES:
        touching = [difference for difference in DIFFERENCES if policy in difference.policies]
        steps = [
            ("as released", []),
            *((f"{difference.point} as written", [difference]) for difference in touching),
            ("all as written", touching),
        ]
        for setting, switched in steps:
            fields = ",".join(difference.policy_fields for difference in switched if difference.policy_fields)
            problem = _switched(benchmark(10, RELEASED), switched)
            spec = f"{policy}:{fields}" if fields else policy
            result = released.simulate(problem, [spec], at=[YEAR])
            printed = benchmark_cell(10, YEAR, policy, "regret") if not switched else None
            rows.append(row_of(result, spec, setting, YEAR, {"regret": printed}, named=policy))
    findings = [
        f"{policy}: {base:,.0f} as released, {text:,.0f} as written; {point} has the largest effect "
        f"({signed(step, '{:,.0f}')} alone)."
        for policy in POLICIES
        for base, text, point, step in [_largest_step([row for row in rows if row.policy == policy])]
    ]
    return released.part(tuple(rows), (), (), tuple(findings))


def _switched(problem: Problem, differences: list[ConventionPoint]) -> Problem:
    """Take the fields that the differences name from the benchmark as written.

    Its conventions are taken too, since those of the policies are passed separately.
    """
    text = benchmark(10, WRITTEN)
    names = [name for difference in differences for name in difference.problem_fields]
    changes: dict[str, Any] = {name: getattr(text, name) for name in names}
    return replace(problem, conventions=text.conventions, **changes)


def _largest_step(rows: list[StudyRow]) -> tuple[float, float, str, float]:
    """Return the mean as released and as written, the point with the largest effect alone, and that effect."""
    base, *steps, text = (row.numbers["regret"].ours.mean for row in rows)
    by_point = zip((row.setting for row in rows[1:-1]), steps, strict=True)
    point, step = max(by_point, key=lambda pair: abs(pair[1] - base))
    return base, text, point.removesuffix(" as written"), step - base
