"""Sweeps over the mean delay, the fee, gamma, and the quality of interviews."""

from collections.abc import Callable, Sequence

import numpy as np

from crewlearn.engine.results import SimulationResult
from crewlearn.problem.instances import MONTHS, benchmark, gamma_curve
from crewlearn.problem.model import Problem
from crewlearn.study.lab import Lab, counted, row_of, values_of
from crewlearn.study.outcome import MEASURES, Line, Mark, Panel, Part, Picture, StudyRow
from crewlearn.study.paired import Comparison, compare
from crewlearn.study.paper.benchmark import TWO_YEARS, YEAR, standing_against
from crewlearn.theory.gamma import gamma1, gamma2, gamma_star

SWEPT = ("dr-ucb", "a-aht", "a-omm", "keep-team")
"""The paper's three policies, and keep-team to show where replacing costs more than it gains."""

DELAYS = (0.0, 1.0, 3.0, 7.0)
COSTS = (3.0, 7.0, 30.0, 60.0, 90.0)
READ = {"regret": None, "normalized_loss": None, "completed": None}


def delay_sweep(lab: Lab) -> Part:
    """Mean delay 0, 1, 3, 7."""
    return _sweep(
        lab, "delay-sweep", "mean_delay", DELAYS, lambda value: benchmark(10, lab.conventions, mean_delay=value)
    )


def cost_sweep(lab: Lab) -> Part:
    """Fee 3, 7, 30, 60, 90."""
    return _sweep(lab, "cost-sweep", "cost", COSTS, lambda value: benchmark(10, lab.conventions, cost=value))


def _sweep(lab: Lab, name: str, field: str, values: Sequence[float], problem: Callable[[float], Problem]) -> Part:
    words = field.replace("_", " ")
    results = {value: lab.simulate(problem(value), SWEPT) for value in values}
    rows: list[StudyRow] = []
    comparisons: list[Comparison] = []
    for value, result in results.items():
        setting = f"{field}={value:g}"
        rows += [row_of(result, policy, setting, TWO_YEARS, READ) for policy in SWEPT]
        comparisons += compare(result, "dr-ucb", SWEPT[1:], TWO_YEARS, setting)
    panels = tuple(_panel(results, measure, words) for measure in READ)
    caption = f"After 24 months, mean ± SD over {counted(lab.runs, 'run')}, against the {words}; m = 10."
    against_keeping = [comparison for comparison in comparisons if comparison.rival == "keep-team"]
    findings = [*standing_against(against_keeping, "keep-team"), _trend(rows, words, values)]
    return lab.part(
        tuple(rows),
        (Picture(name, caption, panels),),
        tuple(comparisons),
        tuple(findings),
    )


def _panel(results: dict[float, SimulationResult], measure: str, words: str) -> Panel:
    lines = []
    for policy in SWEPT:
        by_value = [values_of(result, policy, measure, TWO_YEARS) for result in results.values()]
        mean, sd = np.array([values.mean() for values in by_value]), np.array([values.std() for values in by_value])
        lines.append(Line(policy, np.array(list(results)), mean, sd))
    title = MEASURES[measure].title
    unit = f"{title} (percent)" if measure == "normalized_loss" else title
    by_cost = words == "cost" and measure != "completed"  # these grow in proportion to the cost
    return Panel(title.capitalize(), words, unit, tuple(lines), log_x=by_cost, log_y=by_cost)


def _trend(rows: list[StudyRow], words: str, values: Sequence[float]) -> str:
    """Return a sentence on how many replacements DR-UCB completes at both ends of the sweep."""
    completed = [row.numbers["completed"].ours.mean for row in rows if row.policy == "dr-ucb"]
    first, last = (f"{completed[end]:,.1f} replacements at {words} {values[end]:g}" for end in (0, -1))
    return f"DR-UCB completes {first} and {last}."


def gamma(lab: Lab) -> Part:
    """Regret over five years against gamma, with theory's three choices marked."""
    problem = gamma_curve(lab.conventions)
    setting = problem.setting
    choices = {"gamma1": gamma1(setting), "gamma2": gamma2(setting), "gamma*": gamma_star(setting)}
    grid = np.exp2(np.linspace(0.0, np.log2(2.0 * max(choices.values())), 25)).tolist()
    values = sorted({*grid, *choices.values()})
    specs = {value: f"dr-ucb:gamma={value!r}" for value in values}
    result = lab.simulate(problem, list(specs.values()))
    names = {value: name for name, value in choices.items()}
    rows = [
        row_of(
            result,
            spec,
            f"gamma={value:.2f}" + (f" ({names[value]})" if value in names else ""),
            problem.horizon,
            {"regret": None, "completed": None},
            named="dr-ucb",
        )
        for value, spec in specs.items()
    ]
    means = {value: result.regret(spec, problem.horizon).mean for value, spec in specs.items()}
    best = min(means, key=lambda value: means[value])
    line = Line(
        "dr-ucb",
        np.array(values),
        np.array(list(means.values())),
        np.array([result.regret(spec, problem.horizon).std for spec in specs.values()]),
    )
    panel = Panel(
        f"Regret after {problem.horizon:,} periods",
        "gamma",
        "regret",
        (line,),
        marks=tuple(Mark(value, name) for name, value in choices.items()),
        log_x=True,
    )
    caption = f"Mean over {counted(lab.runs, 'run')} with a band of ±1 SD; theory's choices are marked."
    findings = [
        f"The best of the values tried is gamma = {best:.1f} with mean regret {means[best]:,.0f}.",
        *(
            f"{name} = {value:.1f} gives {means[value]:,.0f}, {means[value] / means[best] - 1.0:.1%} above the best."
            for name, value in choices.items()
        ),
    ]
    return lab.part(
        tuple(rows),
        (Picture("gamma-curve", caption, (panel,)),),
        (),
        tuple(findings),
    )


RHOS = tuple(round(0.1 * step, 1) for step in range(11))


def interviews(lab: Lab) -> Part:
    """InterviewScreen and WorkTrial as interviews go from worthless (rho = 0) to perfect (rho = 1)."""
    problem = benchmark(10, lab.conventions)
    screens = ("interview-screen", "work-trial")
    specs = {(policy, rho): f"{policy}:rho={rho}" for policy in screens for rho in RHOS}
    others = ("dr-ucb", "keep-team")
    result = lab.simulate(problem, [*specs.values(), *others], at=list(MONTHS.values()))
    rows = []
    for at in (YEAR, TWO_YEARS):
        rows += [row_of(result, spec, f"rho={rho}", at, READ, named=policy) for (policy, rho), spec in specs.items()]
        rows += [row_of(result, policy, "no interviews", at, READ) for policy in others]
    panels = []
    for months, at in ((12, YEAR), (24, TWO_YEARS)):
        lines = []
        for policy in screens:
            summaries = [result.regret(specs[policy, rho], at) for rho in RHOS]
            lines.append(
                Line(
                    policy,
                    np.array(RHOS),
                    np.array([summary.mean for summary in summaries]),
                    np.array([summary.std for summary in summaries]),
                )
            )
        for policy in others:
            lines.append(Line(policy, np.array([0.0, 1.0]), np.full(2, result.regret(policy, at).mean)))
        panels.append(Panel(f"Regret after {months} months", "correlation rho of interviews", "regret", tuple(lines)))
    findings = []
    for policy in screens:
        for at in (YEAR, TWO_YEARS):
            dr_ucb = result.regret("dr-ucb", at).mean
            better = [rho for rho in RHOS if result.regret(specs[policy, rho], at).mean < dr_ucb]
            when = f"at rho = {', '.join(f'{rho:g}' for rho in better)}" if better else "at no rho"
            findings.append(f"After {at} periods {policy} does better than DR-UCB {when}.")
    caption = (
        f"Mean over {counted(lab.runs, 'run')} with bands of ±1 SD; DR-UCB and keeping the team hold no interviews."
    )
    return lab.part(
        tuple(rows),
        (Picture("interviews", caption, tuple(panels)),),
        (),
        tuple(findings),
    )
