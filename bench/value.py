"""Benchmark of the value rules' regret outside the paper and the leaderboard; prints Markdown tables.

Run `python bench/value.py` for everything (a few minutes), or name parts: `others`, settings chosen before the policy
was first measured; `random` and `random-2`, settings drawn at random; `limit`, the published policies against the
lower bound on any policy's regret; `constants`, one default changed at a time. The limits are just above the figures in
docs/theory/value-of-replacement.md and docs/theory/limit.md.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from crewlearn.engine.local import simulate
from crewlearn.engine.results import ORACLE
from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.laws import (
    AvailabilityDelay,
    BernoulliOutput,
    BetaOutput,
    DelayLaw,
    NoDelay,
    OutputLaw,
    TruncatedNormalOutput,
    UniformOutput,
)
from crewlearn.problem.model import Pool, Problem
from crewlearn.problem.recipes import Recipe
from crewlearn.study.limit.bound import limit
from crewlearn.study.limit.settings import published_settings
from crewlearn.study.limit.standing import PUBLISHED, standings, to_play
from limits import Results, part_options, report

OURS, RIVAL, IDLE = "value-of-replacement", "dr-ucb", "keep-team"
SEARCHING = "value-of-replacement-2"
Case = tuple[str, Problem, str, tuple[int, ...]]
"""A label, the problem, the conventions, and the checkpoints in periods."""


def other_cases() -> Iterator[Case]:
    """Yield settings that the policy was not developed on."""
    for label, problem in OTHERS.items():
        yield label, problem, "as-written", (problem.horizon,)


def _delay(mean: float) -> DelayLaw:
    return AvailabilityDelay(1.0 / mean) if mean else NoDelay()


def _pool(draw: str, count: int, mean: float, sd: float) -> Recipe:
    return Recipe(draw, count, mean, sd, per_run=True)


def _groups(low: float, high: float, bad: int, good: int) -> Pool:
    return Pool((low,) * bad + (high,) * good)


def _known() -> Pool:
    """Return a pool with prior data, of up to 59 observations, for two thirds of the workers."""
    rng = np.random.default_rng(77)
    means = rng.normal(0.5, 0.15, 25).clip(0.05, 0.95)
    seen = rng.integers(0, 60, 25)
    seen[::3] = 0
    rates = [float(rng.binomial(n, mean) / n) if n else 0.0 for n, mean in zip(seen, means, strict=True)]
    return Pool(tuple(means.tolist()), tuple(seen.tolist()), tuple(rates))


def _case(
    team: int, horizon: int, cost: float, workers: Pool | Recipe, output: OutputLaw, mean_delay: float = 3.0
) -> Problem:
    return Problem(team, horizon, cost, workers, _delay(mean_delay), output)


_NORMAL, _BERNOULLI = "truncated-normal", BernoulliOutput()
OTHERS = {
    "15 at 0.5, 10 at 0.6, 0/1, fee 1": _case(10, 730, 1.0, _groups(0.5, 0.6, 15, 10), _BERNOULLI),
    "10 at 0.5, 15 at 0.6, 0/1, fee 1": _case(10, 730, 1.0, _groups(0.5, 0.6, 10, 15), _BERNOULLI),
    "15 at 0.5, 10 at 0.6, 0/1, fee 5": _case(10, 730, 5.0, _groups(0.5, 0.6, 15, 10), _BERNOULLI),
    "15 at 0.4, 10 at 0.5, fee 1": _case(10, 730, 1.0, _groups(0.4, 0.5, 15, 10), UniformOutput(0.1)),
    "5 at 0.4, 20 at 0.5, m = 20, fee 1": _case(20, 730, 1.0, _groups(0.4, 0.5, 5, 20), UniformOutput(0.1)),
    "20 at 0.3, 5 at 0.7, m = 5, fee 10": _case(
        5, 365, 10.0, _groups(0.3, 0.7, 20, 5), TruncatedNormalOutput(0.2), 5.0
    ),
    "22 at 0.4, 3 at 0.9, m = 3, 0/1": _case(3, 365, 5.0, _groups(0.4, 0.9, 22, 3), _BERNOULLI),
    "uniform pool": _case(10, 365, 5.0, _pool("uniform", 25, 0.5, 0.17), TruncatedNormalOutput(0.2)),
    "beta pool and output": _case(8, 365, 5.0, _pool("beta", 30, 0.3, 0.2), BetaOutput(3.0)),
    "beta pool around 0.8, 0/1": _case(10, 730, 3.0, _pool("beta", 25, 0.8, 0.1), _BERNOULLI),
    "beta pool around 0.2": _case(10, 365, 2.0, _pool("beta", 40, 0.2, 0.1), UniformOutput(0.2)),
    "day effect 0.25": _case(10, 730, 5.0, _pool(_NORMAL, 25, 0.5, 0.1), TruncatedNormalOutput(0.1, 0.25)),
    "day effect 0.3, little else": _case(10, 365, 2.0, _pool(_NORMAL, 25, 0.5, 0.15), UniformOutput(0.05, 0.3)),
    "mean delay 30, T = 365": _case(10, 365, 5.0, _pool(_NORMAL, 25, 0.5, 0.2), TruncatedNormalOutput(0.15), 30.0),
    "mean delay 60, 0/1": _case(10, 730, 2.0, _pool(_NORMAL, 25, 0.5, 0.15), _BERNOULLI, 60.0),
    "T = 90, 0/1": _case(10, 90, 5.0, _pool(_NORMAL, 25, 0.5, 0.3), _BERNOULLI),
    "T = 90, fee 1": _case(10, 90, 1.0, _pool(_NORMAL, 25, 0.5, 0.3), UniformOutput(0.1), 1.0),
    "T = 2000, sewing": _case(10, 2000, 5.0, _pool(_NORMAL, 25, 0.5, 0.05), TruncatedNormalOutput(0.15)),
    "T = 2000, narrow, 0/1, fee 1": _case(10, 2000, 1.0, _pool(_NORMAL, 25, 0.5, 0.05), _BERNOULLI),
    "m = 1, 0/1": _case(1, 730, 5.0, _pool(_NORMAL, 25, 0.5, 0.2), _BERNOULLI),
    "m = 1": _case(1, 730, 5.0, _pool(_NORMAL, 25, 0.5, 0.2), UniformOutput(0.1)),
    "m = 1, k = 3, fee 1": _case(1, 365, 1.0, _pool("uniform", 3, 0.5, 0.2), TruncatedNormalOutput(0.2), 2.0),
    "m = 24, k = 25, 0/1": _case(24, 730, 5.0, _pool(_NORMAL, 25, 0.5, 0.2), _BERNOULLI),
    "m = 24, k = 25, fee 1": _case(24, 730, 1.0, _pool(_NORMAL, 25, 0.5, 0.1), TruncatedNormalOutput(0.1)),
    "no fee, 0/1": _case(10, 730, 0.0, _pool(_NORMAL, 25, 0.5, 0.15), _BERNOULLI),
    "no fee": _case(10, 365, 0.0, _pool(_NORMAL, 25, 0.5, 0.2), UniformOutput(0.1)),
    "fee 100": _case(10, 730, 100.0, _pool(_NORMAL, 25, 0.5, 0.15), TruncatedNormalOutput(0.15)),
    "fee 300, 0/1": _case(10, 730, 300.0, _pool(_NORMAL, 25, 0.5, 0.3), _BERNOULLI),
    "two thirds seen before, 0/1": _case(10, 365, 5.0, _known(), _BERNOULLI),
    "two thirds seen before": _case(10, 365, 5.0, _known(), TruncatedNormalOutput(0.1)),
    "k = 100, m = 5, narrow, 0/1": _case(5, 730, 3.0, _pool(_NORMAL, 100, 0.5, 0.05), _BERNOULLI),
    "k = 100, m = 5, 0/1": _case(5, 730, 3.0, _pool(_NORMAL, 100, 0.5, 0.2), _BERNOULLI),
    "all alike, 0/1": _case(10, 730, 3.0, _groups(0.5, 0.5, 20, 5), _BERNOULLI),
    "all alike": _case(10, 730, 1.0, _groups(0.5, 0.5, 20, 5), UniformOutput(0.1)),
}


def random_cases(draw: int = 1) -> Iterator[Case]:
    """Yield 120 settings drawn at random, including high fees and pools of nearly equal workers."""
    rng = np.random.default_rng(draw)
    outputs = (_BERNOULLI, UniformOutput(0.1), UniformOutput(0.3), BetaOutput(4.0), TruncatedNormalOutput(0.15, 0.1))
    for _ in range(120):
        horizon, workers = int(rng.choice((60, 90, 180, 365, 730, 1500))), int(rng.choice((5, 10, 25, 60)))
        team = min(workers - 1, int(rng.choice((1, 2, 5, 10, 20, 59))))
        cost = float(rng.choice((0.0, 0.5, 2.0, 5.0, 15.0, 40.0, 100.0, 0.02 * horizon, 0.1 * horizon, 0.3 * horizon)))
        mean, sd = float(rng.choice((0.3, 0.5, 0.7))), float(rng.choice((0.03, 0.05, 0.1, 0.2, 0.3)))
        delay, output = float(rng.choice((0.0, 1.0, 3.0, 10.0, 30.0))), outputs[rng.integers(len(outputs))]
        label = (
            f"T = {horizon}, k = {workers}, m = {team}, fee {cost:g}, means {mean} ± {sd}, delay {delay:g}, {output}"
        )
        yield (
            label,
            _case(team, horizon, cost, _pool(_NORMAL, workers, mean, sd), output, delay),
            "as-written",
            (horizon,),
        )


def compare(title: str, cases: Iterator[Case], runs: int, seed: int, ours: str = OURS, quiet: bool = False) -> Results:
    """Print a row for each case and checkpoint; return a summary of regret relative to the better rival."""
    if not quiet:
        print(f"\n## {title}, {runs} runs, seed {seed}\n")
        print("| setting | period | ours | dr-ucb | keep-team | of dr-ucb | of the better | z | 95th of dr-ucb's |")
        print("|---|---|---|---|---|---|---|---|---|")
    logs, worst, higher, above = [], -math.inf, 0.0, 0
    for label, problem, conventions, at in cases:
        result = simulate(problem, [ours, RIVAL, IDLE], runs, seed, at, conventions, threads=1)
        for column, period in enumerate(at):
            regret, rival, idle = (result.policies[name].regret[:, column] for name in (ours, RIVAL, IDLE))
            better = rival if rival.mean() <= idle.mean() else idle
            tail = float(np.quantile(regret, 0.95) / np.quantile(rival, 0.95))
            z, share = _z(regret - better), regret.mean() / better.mean() if better.mean() > 0.0 else math.inf
            if math.isfinite(share):
                logs.append(math.log(share))
                worst, higher, above = max(worst, z), max(higher, tail), above + (z > 2.0)
            if not quiet:
                figures = f"{regret.mean():,.0f} | {rival.mean():,.0f} | {idle.mean():,.0f}"
                shares = f"{regret.mean() / rival.mean():.2f} | {share:.2f} | {z:+.1f} | {tail:.2f}"
                print(f"| {label} | {period} | {figures} | {shares} |", flush=True)
    mean = math.exp(sum(logs) / len(logs))
    print(
        f"{'' if quiet else chr(10)}{ours}: geometric mean {mean:.3f}, largest z {worst:+.1f}, "
        f"largest 95th {higher:.2f}; above the better of the two by more than 2 standard errors: {above} of {len(logs)}"
    )
    return {"geometric_mean": mean, "largest_z": worst, "largest_95th": higher, "settings_above": above}


def _z(difference: FloatArray) -> float:
    """Return the mean paired difference in standard errors."""
    error = float(difference.std()) / math.sqrt(len(difference))
    return float(difference.mean()) / error if error > 0.0 else 0.0


POOLS, SLOW_POOLS = 200, 24
"""Pools that a limit is averaged over; the second where it takes long: with 0/1 output, or more than 100 workers."""


def compare_with_limit(runs: int, seed: int) -> Results:
    """Print the policies' regret beside the limit, in its settings; return the means of their ratios, and the times."""
    print(f"\n## Against the limit, {runs} runs, seed {seed}\n")
    print(f"| setting | {ORACLE} | limit | {' | '.join(PUBLISHED)} | of {OURS} | gap left: {OURS} | {SEARCHING} |")
    print("|" + "---|" * (len(PUBLISHED) + 6))
    ratios: dict[str, list[float]] = {name: [] for name in PUBLISHED}
    seconds = dict.fromkeys((OURS, SEARCHING), 0.0)
    worst = 0.0
    for label, problem in published_settings().items():
        slow = isinstance(problem.output, BernoulliOutput) or problem.workers.count > 100
        found = limit(problem, SLOW_POOLS if slow else POOLS, seed)
        result = simulate(problem, to_play(PUBLISHED), runs, seed, threads=1)
        for name in seconds:  # all loops are compiled by now
            begun = time.process_time()
            simulate(problem, [name], runs, seed, threads=1)
            seconds[name] += time.process_time() - begun
        rows = {row.policy: row for row in standings(found, result)}
        for name in PUBLISHED:
            ratios[name].append(rows[name].regret.mean / found.regret.mean)
        share = rows[SEARCHING].regret.mean / rows[OURS].regret.mean
        worst = max(worst, share)
        limit_text = f"{found.regret.mean:,.0f} ± {found.regret.stderr:,.1f}"
        regrets = " | ".join(f"{rows[name].regret.mean:,.0f}" for name in PUBLISHED)
        gaps = " | ".join(f"{rows[name].gap_left:.1%}" for name in (OURS, SEARCHING))
        print(
            f"| {label} | {rows[ORACLE].regret.mean:,.0f} | {limit_text} | {regrets} | {share:.2f} | {gaps} |",
            flush=True,
        )
    means = {name: sum(shares) / len(shares) for name, shares in ratios.items()}
    slower = seconds[SEARCHING] / seconds[OURS]
    print(f"\nmean ratios to the limit: {means}; {slower:.2f} times the time")
    return {
        "value_of_replacement": {"ratio": means[OURS]},
        "searching": {"ratio": means[SEARCHING], "at_most": 1.35},
        "largest_share": {"ratio": worst, "at_most": 1.02},
        "time": {"ratio": slower, "at_most": 2.0},
    }


CASES: dict[str, Callable[[], Iterator[Case]]] = {
    "others": other_cases,
    "random": random_cases,
    "random-2": lambda: random_cases(2),
}


LIMITS = {"others": 0.40, "random": 0.78, "random-2": 0.73}
"""Upper limit, by part, on the geometric mean of regret relative to the better rival."""

PARTS = (*CASES, "limit", "constants")

CHANGES = (
    "margin=0",
    "margin=0.25",
    "margin=2",
    "noise_guess=0.2",
    "guess_weight=1",
    "guess_weight=16",
    "recheck=1000000",
)


def measure(parts: Sequence[str], runs: int, seed: int) -> Results:
    """Print the tables of some parts and return their figures."""
    results: Results = {}
    for part in parts:
        if part in CASES:
            results[part] = {**compare(part, CASES[part](), runs, seed), "at_most": LIMITS[part]}
    if "limit" in parts:
        results["limit"] = compare_with_limit(runs, seed)
    if "constants" in parts:
        print(f"\n## The constants, on the others, {runs} runs, seed {seed}\n")
        for change in CHANGES:
            results[change] = compare("", other_cases(), runs, seed, f"{OURS}:{change}", quiet=True)
    return results


def main() -> None:
    """Print the requested tables and report the missed limits."""
    parser = part_options("value", __doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(PARTS)}")
    parser.add_argument("--runs", type=int, default=250)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; choose from {', '.join(PARTS)}")
    parts = options.parts or (["others"] if options.quick else [*CASES, "limit"])
    report(measure(parts, options.runs, options.seed), options.out)


if __name__ == "__main__":
    main()
