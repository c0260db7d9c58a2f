"""Plans against the truth: the range of 9 in 10 futures, and what the next days brought in the same firm."""

from collections.abc import Sequence

import numpy as np

from calibration.futures import COLD, DELAY, FIRMS, FIRST_SEED, QUICK_WORLDS, RUNS, WORLDS, firm, record_of, true_net
from calibration.parts import Case, Limit, Line, Part, Row
from crewlearn.planning.futures.worlds import Seats, Terms, continued, draw_all, draws_for, future_of, play_all
from crewlearn.policies.baselines import KeepTeam
from crewlearn.policies.evolving.policy import ValueOfReplacementEvolving


def cases(quick: bool) -> list[Case]:
    """Return the firms; a part of them has all kinds."""
    worlds = QUICK_WORLDS if quick else WORLDS
    return [{"firm": name, "seed": FIRST_SEED, "run": run} for run in range(worlds) for name in (*FIRMS, COLD)]


def measure(case: Case) -> Row:
    """Return the true gain of the next days and the plan's range of it."""
    problem, seed, run = firm(case["firm"]), case["seed"], case["run"]
    policy = ValueOfReplacementEvolving()
    record, gone = record_of(problem, seed, run, problem.warmup)
    terms = Terms(problem.team, problem.horizon - problem.warmup, problem.cost, DELAY, problem.rolling)
    everybody = (True,) * record.workers
    seats = Seats(tuple(record.stations[:, -1].tolist()), tuple((~gone).tolist()), everybody, (), record.worked[:, -1])
    drawn = draw_all(record, policy, draws_for(RUNS), run)
    problems = [
        future_of(draw, record, terms, seats, np.random.default_rng((run, number, 1)))
        for number, draw in enumerate(drawn)
    ]
    played = play_all(problems, continued({"advice": policy, "keep": KeepTeam()}, record), RUNS, run)
    gain = played["advice"].net - played["keep"].net
    low, high = np.percentile(gain, (5.0, 95.0))
    true = true_net(problem, policy, seed, run) - true_net(problem, KeepTeam(), seed, run)
    return {"true": true, "expected": float(gain.mean()), "low": float(low), "high": float(high)}


def table(rows: Sequence[Row]) -> list[Line]:
    """Return coverage by firm."""
    lines = []
    for name in dict.fromkeys(row["case"]["firm"] for row in rows):
        own = [row for row in rows if row["case"]["firm"] == name]
        true, expected, low, high = (np.array([row[key] for row in own]) for key in ("true", "expected", "low", "high"))
        figures = {
            "firms": float(len(own)),
            "true gain": float(true.mean()),
            "expected": float(expected.mean()),
            "half-width": float((high - low).mean()) / 2.0,
            "covered": float(np.mean((low <= true) & (true <= high))),
        }
        lines.append(Line(f"plan, {name}", figures, {"covered": Limit(0.85, 0.95)}))
    return lines


PART = Part(cases, measure, table)
