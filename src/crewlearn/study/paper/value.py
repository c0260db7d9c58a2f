"""Value-of-replacement compared with DR-UCB and keep-team, on the paper's benchmark and its sweeps."""

from collections.abc import Sequence

import numpy as np

from crewlearn.engine.results import SimulationResult
from crewlearn.problem.instances import MONTHS, benchmark, design_choices
from crewlearn.study.lab import Lab, counted, row_of
from crewlearn.study.outcome import Line, Panel, Part, Picture, StudyRow
from crewlearn.study.paired import Comparison, compare
from crewlearn.study.paper.benchmark import TEAMS, TWO_YEARS, YEAR
from crewlearn.study.paper.sweeps import COSTS, DELAYS

OURS, PAPERS, KEEP = "value-of-replacement", "dr-ucb", "keep-team"
PLAYED = (OURS, PAPERS, KEEP)
MEASURES = ("regret", "completed")


def against_dr_ucb(lab: Lab) -> Part:
    """Regret at 12 and 24 months for m = 10, 5, 20, all fees and delays of the sweeps, and a fee of 168."""
    months = list(MONTHS.values())
    teams = {f"m={team}": lab.simulate(benchmark(team, lab.conventions), PLAYED, months) for team in TEAMS}
    costs = {cost: lab.simulate(benchmark(10, lab.conventions, cost=cost), PLAYED, months) for cost in COSTS}
    delays = {mean: lab.simulate(benchmark(10, lab.conventions, mean_delay=mean), PLAYED, months) for mean in DELAYS}
    high_fee = lab.simulate(design_choices(YEAR, lab.conventions, cost=168.0), PLAYED)
    settings = {
        **teams,
        **{f"cost={cost:g}": result for cost, result in costs.items()},
        **{f"mean_delay={mean:g}": result for mean, result in delays.items()},
        "c=168": high_fee,
    }
    rows: list[StudyRow] = []
    comparisons: list[Comparison] = []
    for setting, result in settings.items():
        for at in (period for period in (YEAR, TWO_YEARS) if period in result.at):
            rows += [row_of(result, policy, setting, at, dict.fromkeys(MEASURES)) for policy in PLAYED]
            comparisons += compare(result, OURS, PLAYED[1:], at, setting)
    pictures = (
        Picture(
            "value-of-replacement",
            f"Regret after 24 months, mean ± SD over {counted(lab.runs, 'run')}, m = 10.",
            (
                _swept("Against the fee", "cost", costs, log=True),
                _swept("Against the mean delay", "mean delay", delays),
            ),
        ),
        Picture(
            "value-of-replacement-curves",
            f"Mean over {counted(lab.runs, 'run')} with bands of ±1 SD.",
            tuple(_curves(setting, result) for setting, result in teams.items()),
        ),
    )
    return lab.part(rows, pictures, comparisons, findings(rows, comparisons))


def findings(rows: Sequence[StudyRow], comparisons: Sequence[Comparison]) -> list[str]:
    """Return sentences on regret as a share of DR-UCB's, and on settings where it is significantly larger."""
    means = {(row.policy, row.setting, row.at): row.numbers["regret"].ours.mean for row in rows}
    shares = {
        (setting, at): means[OURS, setting, at] / mean
        for (policy, setting, at), mean in means.items()
        if policy == PAPERS and mean > 0.0
    }
    sentences = [
        f"At {setting} its mean regret is {shares[setting, YEAR]:.0%} of DR-UCB's after 12 months and "
        f"{shares[setting, TWO_YEARS]:.0%} after 24."
        for setting in dict.fromkeys(setting for setting, _ in shares if setting.startswith("m="))
    ]
    (setting, at), worst = max(shares.items(), key=lambda item: item[1])
    sentences.append(f"Its largest share of DR-UCB's regret is {worst:.0%}, at {setting} after {at} periods.")
    lost = [
        f"At {comparison.setting} it loses more than {comparison.rival} after {comparison.at} periods, "
        f"by {comparison.difference:,.0f} (95% interval {comparison.low:,.0f} to {comparison.high:,.0f})."
        for comparison in comparisons
        if comparison.worse
    ]
    return sentences + (lost or ["In no setting does it lose significantly more than DR-UCB or keep-team."])


def _swept(title: str, words: str, results: dict[float, SimulationResult], *, log: bool = False) -> Panel:
    x = np.array(list(results))
    lines = []
    for policy in PLAYED:
        summaries = [result.regret(policy, TWO_YEARS) for result in results.values()]
        means, sds = (np.array([getattr(summary, name) for summary in summaries]) for name in ("mean", "std"))
        lines.append(Line(policy, x, means, sds))
    return Panel(title, words, "regret", tuple(lines), log_x=log, log_y=log)


def _curves(setting: str, result: SimulationResult) -> Panel:
    x = np.arange(1.0, TWO_YEARS + 1.0)
    curves = {name: played.regret_curve for name, played in result.policies.items()}
    lines = (Line(name, x, curve.mean, curve.std) for name, curve in curves.items())
    return Panel(f"Cumulative regret, {setting}", "period", "regret", tuple(lines))
