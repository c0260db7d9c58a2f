"""Backtests against the truth: the same firm, had the advice been followed from day 31 on."""

from collections.abc import Sequence

import numpy as np

from calibration.futures import DELAY, RUNS, firm, from_day, record_of, true_output
from calibration.parts import Case, Limit, Line, Part, Row
from calibration.plan import cases
from crewlearn.planning.backtest.replay import ADVICE, KEPT, replay
from crewlearn.planning.futures.worlds import Terms
from crewlearn.policies.baselines import KeepTeam
from crewlearn.policies.evolving.policy import ValueOfReplacementEvolving

FIRST = 31


def measure(case: Case) -> Row:
    """Return the true gain of advice over real practice and over keeping the team, and the intervals of both."""
    problem, seed, run = firm(case["firm"]), case["seed"], case["run"]
    policy = ValueOfReplacementEvolving()
    record, _ = record_of(problem, seed, run, problem.warmup)
    terms = Terms(problem.team, problem.warmup - FIRST + 1, problem.cost, DELAY, problem.rolling)
    replayed = replay(record, policy, terms, FIRST, runs=RUNS, seed=run)
    real = replayed.real_output - problem.cost * replayed.real_arrivals
    other, before = from_day(problem, FIRST), float(np.nansum(record.output[:, : FIRST - 1]))
    true = {}
    for name, played in ((ADVICE, policy), (KEPT, KeepTeam())):
        output, hires = true_output(other, played, seed, run)
        true[name] = output - before - problem.cost * hires
    row: Row = {"on_record": replayed.on_record}
    for name, against, truth in (
        ("practice", real, true[ADVICE] - real),
        ("keeping", replayed.played[KEPT].net, true[ADVICE] - true[KEPT]),
    ):
        gain = replayed.played[ADVICE].net - against
        low, high = np.percentile(gain, (5.0, 95.0))
        row[name] = {"true": truth, "expected": float(gain.mean()), "low": float(low), "high": float(high)}
    return row


def table(rows: Sequence[Row]) -> list[Line]:
    """Return coverage and right signs by firm, against practice and against keeping the team."""
    lines = []
    for name in dict.fromkeys(row["case"]["firm"] for row in rows):
        own = [row for row in rows if row["case"]["firm"] == name]
        for against in ("practice", "keeping"):
            true, expected, low, high = (
                np.array([row[against][key] for row in own]) for key in ("true", "expected", "low", "high")
            )
            clear = (low > 0.0) | (high < 0.0)
            right = (expected > 0.0) == (true > 0.0)
            figures = {
                "firms": float(len(own)),
                "true gain": float(true.mean()),
                "expected": float(expected.mean()),
                "covered": float(np.mean((low <= true) & (true <= high))),
                "right sign": float(right.mean()),
                "excludes 0": float(clear.mean()),
                "right where it does": float(right[clear].mean()) if clear.any() else 1.0,
                "on record": float(np.mean([row["on_record"] for row in own])),
            }
            limits = {"covered": Limit(0.85, 0.95), "right where it does": Limit(0.95, 1.0)}
            lines.append(Line(f"backtest against {against}, {name}", figures, limits))
    return lines


PART = Part(cases, measure, table)
