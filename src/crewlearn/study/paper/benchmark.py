"""The paper's benchmark: the headline, the tables and curves for m = 5, 10, 20, the design choices, the high fee."""

from collections.abc import Sequence

import numpy as np

from crewlearn.engine.results import SimulationResult
from crewlearn.problem.instances import MONTHS, benchmark, design_choices
from crewlearn.study.lab import Lab, counted, row_of, values_of
from crewlearn.study.outcome import MEASURES, Line, Number, Panel, Part, Picture, StudyRow
from crewlearn.study.paired import Comparison, compare, winners
from crewlearn.study.paper import paper_numbers

POLICIES = ("dr-ucb", "a-aht", "a-omm", "interview-screen", "work-trial")
TEAMS = (10, 5, 20)
YEAR, TWO_YEARS = MONTHS[12], MONTHS[24]
MAIN = ("regret", "normalized_loss")


def _simulated(lab: Lab, team: int) -> SimulationResult:
    """Simulate the benchmark once for all tables and curves of a team size."""
    return lab.simulate(benchmark(team, lab.conventions), POLICIES, at=list(MONTHS.values()))


def _rows(result: SimulationResult, at: int) -> list[StudyRow]:
    team = result.problem.team
    return [
        row_of(
            result,
            policy,
            f"m={team}",
            at,
            {measure: paper_numbers.benchmark_cell(team, at, policy, measure) for measure in MAIN},
        )
        for policy in POLICIES
    ]


def headline(lab: Lab) -> Part:
    """12 months, m = 10: the paper's main table."""
    result = _simulated(lab, 10)
    rows = _rows(result, YEAR)
    comparisons = compare(result, "dr-ucb", POLICIES[1:], YEAR, "m=10")
    first = winners({policy: values_of(result, policy, "regret", YEAR) for policy in POLICIES})
    findings = [
        *agreement(rows, lab),
        f"DR-UCB has the least regret of the five in {first['dr-ucb']:,} of {counted(lab.runs, 'world')}.",
        *(
            f"Its mean is {_below(rows, rival, 'ours')} that of {rival} (printed: {_below(rows, rival, 'paper')})."
            for rival in POLICIES[1:]
        ),
    ]
    pictures = (side_by_side("headline", "Regret after 12 months", rows),)
    return lab.part(tuple(rows), pictures, comparisons, tuple(findings))


def tables(lab: Lab) -> Part:
    """All 60 cells: five policies, m = 5, 10, 20, after 3, 6, 12, 24 months, in regret and normalized loss."""
    results = [_simulated(lab, team) for team in TEAMS]
    rows = [row for result in results for at in MONTHS.values() for row in _rows(result, at)]
    comparisons = [
        comparison
        for result in results
        for comparison in compare(result, "dr-ucb", POLICIES[1:], TWO_YEARS, f"m={result.problem.team}")
    ]
    findings = [*agreement(rows, lab), *standing_against(comparisons, "each of the four others")]
    return lab.part(rows, (), comparisons, findings)


def curves(lab: Lab) -> Part:
    """Regret and normalized loss over two years with bands of ±1 SD."""
    rows, pictures = [], []
    for team in TEAMS:
        result = _simulated(lab, team)
        rows += _rows(result, TWO_YEARS)
        panels = tuple(
            Panel(
                title=title,
                x_label="period",
                y_label=label,
                lines=tuple(
                    Line(
                        policy,
                        np.arange(first, TWO_YEARS + 1.0),
                        getattr(played, curve).mean[first - 1 :],
                        getattr(played, curve).std[first - 1 :],
                    )
                    for policy, played in result.policies.items()
                ),
            )
            for title, label, curve, first in (
                (f"Cumulative regret, m = {team}", "regret", "regret_curve", 1),
                # Before that, the initial fees are divided by very little output.
                (f"Normalized loss, m = {team}", "percent of the best team's output", "loss_curve", 30),
            )
        )
        caption = f"Mean over {counted(lab.runs, 'run')} with bands of ±1 SD, m = {team}; loss from period 30 on."
        pictures.append(Picture(f"curves-m{team}", caption, panels))
    return lab.part(tuple(rows), tuple(pictures), (), tuple(agreement(rows, lab)))


DESIGNS = (
    "dr-ucb",
    "dr-ucb+fixed-calendar",
    "dr-ucb-without-screening",
    "dr-ucb+oracle-delayed-pairing",
    "dr-ucb+random-pairing",
    "dr-ucb+late-pairing",
)


def design(lab: Lab) -> Part:
    """DR-UCB with one rule changed at a time; the last two variants are not in the paper's table."""
    rows: list[StudyRow] = []
    comparisons: list[Comparison] = []
    for horizon in (90, YEAR):
        result = lab.simulate(design_choices(horizon, lab.conventions), DESIGNS)
        rows += [
            row_of(result, policy, f"T={horizon}", horizon, {"regret": paper_numbers.design_choice(policy, horizon)})
            for policy in DESIGNS
        ]
        comparisons += compare(result, "dr-ucb", DESIGNS[1:], horizon, f"T={horizon}")
    pictures = tuple(
        side_by_side(
            f"design-choices-{horizon}",
            f"Regret over {horizon} periods",
            [row for row in rows if row.at == horizon],
        )
        for horizon in (90, YEAR)
    )
    findings = agreement(rows, lab)
    return lab.part(tuple(rows), pictures, tuple(comparisons), tuple(findings))


def high_cost(lab: Lab) -> Part:
    """Fee 168 over 12 months, with keep-team for comparison, which is not in the paper's table."""
    policies = ("dr-ucb", "dr-ucb-without-screening", "keep-team")
    result = lab.simulate(design_choices(YEAR, lab.conventions, cost=168.0), policies)
    rows = [
        row_of(result, policy, "c=168", YEAR, {"regret": paper_numbers.high_cost(policy), "completed": None})
        for policy in policies
    ]
    ours, keep = (result.regret(policy, YEAR).mean for policy in ("dr-ucb", "keep-team"))
    findings = [
        *agreement(rows, lab),
        f"DR-UCB loses {ours / keep:.1f} times what never replacing anyone does.",
    ]
    comparisons = compare(result, "dr-ucb", policies[1:], YEAR, "c=168")
    return lab.part(tuple(rows), (), comparisons, tuple(findings))


def agreement(rows: list[StudyRow], lab: Lab) -> list[str]:
    """Return a sentence for each measure on how many of our numbers agree with the printed ones."""
    findings = []
    for measure in dict.fromkeys(name for row in rows for name in row.numbers):
        cells = [row.numbers[measure] for row in rows if measure in row.numbers]
        cells = [cell for cell in cells if cell.agrees is not None]
        if not cells:
            continue
        inside, furthest = sum(bool(cell.agrees) for cell in cells), max(cells, key=_distance)
        findings.append(
            f"{MEASURES[measure].title.capitalize()}: {inside} of {len(cells)} cells are within 3% or 3 standard "
            f"errors of the printed ones; the furthest is {_distance(furthest):.1f} standard errors off."
        )
    if findings and not lab.released:
        findings.append("The printed tables used other conventions than the text states, so agreement is not expected.")
    return findings


def standing_against(comparisons: Sequence[Comparison], rivals: str) -> list[str]:
    """Return sentences on where DR-UCB is significantly worse than rivals, and where the difference is open."""
    findings = [
        f"At {comparison.setting} DR-UCB loses more than {comparison.rival} after {comparison.at} periods, "
        f"by {comparison.difference:,.0f} (95% interval {comparison.low:,.0f} to {comparison.high:,.0f})."
        for comparison in comparisons
        if comparison.worse
    ]
    findings += [
        f"At {comparison.setting} the difference between DR-UCB and {comparison.rival} is not significant."
        for comparison in comparisons
        if not comparison.worse and not comparison.better
    ]
    return findings or [f"DR-UCB loses less than {rivals} in every setting here."]


def side_by_side(name: str, title: str, rows: list[StudyRow]) -> Picture:
    """Draw the paper's numbers and ours as points with bars of ±1 SD, policy by policy."""
    labels = tuple(row.policy for row in rows)
    cells = [row.numbers["regret"] for row in rows]
    printed = [(index, cell.paper) for index, cell in enumerate(cells) if cell.paper is not None]
    lines = (
        Line(
            "paper",
            np.array([index - 0.12 for index, _ in printed]),
            np.array([float(paper.mean) for _, paper in printed]),
            np.array([float(paper.std or 0.0) for _, paper in printed]),
            points=True,
        ),
        Line(
            "ours",
            np.arange(float(len(cells))) + 0.12,
            np.array([cell.ours.mean for cell in cells]),
            np.array([cell.ours.std for cell in cells]),
            points=True,
        ),
    )
    caption = f"{title}: bars are ±1 SD over the paper's {paper_numbers.RUNS} runs and over our {cells[0].runs:,}."
    return Picture(name, caption, (Panel(title, "", "regret", lines, categories=labels),))


def _distance(cell: Number) -> float:
    return abs(cell.z or 0.0)


def _below(rows: list[StudyRow], rival: str, whose: str) -> str:
    """Return by how much DR-UCB's mean is below or above a rival's, in our numbers or the paper's."""

    def mean(policy: str) -> float:
        number = next(row for row in rows if row.policy == policy).numbers["regret"]
        return number.ours.mean if whose == "ours" or number.paper is None else number.paper.mean

    less = 1.0 - mean("dr-ucb") / mean(rival)
    return f"{abs(less):.0%} {'below' if less >= 0 else 'above'}"
