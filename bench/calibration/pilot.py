"""Pilots on simulated floors: how often they find an effect where there is none, and power against what was promised.

A floor runs in usual practice throughout: places change hands now and then, for a fee. Its first 110 days are the
record, the next 60 the pilot, with a run-in of 10. Half of the pilots are parallel, the others stepped in four waves.
With an effect, every day in advice gains the amount that the plan promised to show with 80 %.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from calibration.parts import Case, Limit, Line, Part, Row
from crewlearn.engine.interpreted import play
from crewlearn.engine.world import World
from crewlearn.planning.pilot.analysis import analyse
from crewlearn.planning.pilot.comparison import Cells
from crewlearn.planning.pilot.power import power_of
from crewlearn.planning.pilot.variation import Products, carried_share
from crewlearn.policies.baselines import KeepTeam
from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.model import Problem
from crewlearn.study.families import FAMILIES

RECORD, BASELINE, DAYS, RUN_IN = 110, 50, 60, 10
LEVEL, POWER = 0.05, 0.8
WORLDS = ("floor", "floor without a decliner", "floor-clean", "floor-quits", "floor-drift")
FIRST_SEED = 7_000_000
NULL, EFFECT = "null", "effect"


def cases(quick: bool) -> list[Case]:
    """List 2,000 pilots without effect over the worlds, and 600 with one."""
    many = {NULL: 20 if quick else 400, EFFECT: 10 if quick else 120}
    return [
        {"world": world, "what": what, "waves": 4 if number % 2 else 2, "number": number}
        for what, count in many.items()
        for world in WORLDS
        for number in range(count)
    ]


@lru_cache
def world_named(name: str) -> Problem:
    """Return a floor whose usual practice lasts for the record and the pilot."""
    floor = FAMILIES[name.removesuffix(" without a decliner")].problem()
    until = RECORD + DAYS
    assert floor.start is not None
    usual = replace(floor, horizon=until + 1, start=replace(floor.start, warmup=until))
    return replace(usual, drift=None) if "without" in name else usual


def net_output(problem: Problem, seed: int) -> FloatArray:
    """Return each station's output net of fees (stations, days)."""
    days = RECORD + DAYS
    net = np.zeros((problem.team, days))
    for step in play(World(problem, seed, 0), KeepTeam(), until=days):
        for station, worker in enumerate(step.stations):
            net[station, step.period - 1] = step.output.get(worker, 0.0)
        for _, into in step.handovers:
            net[step.stations.index(into), step.period - 1] -= problem.cost
    return net


def measure(case: Case) -> Row:
    """Play a floor, plan a pilot from its record, and analyse it; return whether it found an effect."""
    seed = FIRST_SEED + 10_000 * WORLDS.index(case["world"]) + case["number"] + 5_000 * (case["what"] == EFFECT)
    net = net_output(world_named(case["world"]), seed)
    groups, waves, steps = len(net), case["waves"], case["waves"] - 1
    sizes = tuple(groups // waves + (wave < groups % waves) for wave in range(waves))
    each = DAYS // steps
    firsts = [RECORD + each * step for step in range(steps)]
    cells = Cells.of(
        range(RECORD - BASELINE, RECORD), [range(first, first + each) for first in firsts], [RUN_IN] * steps
    )
    assigned = np.random.default_rng(seed).permutation(np.repeat(np.arange(waves), sizes))
    products = Products.of(net[:, :RECORD])
    gain = 0.0
    if case["what"] == EFFECT:
        power = power_of(products, cells, sizes, LEVEL, seed)
        carried, gain = power.carried, power.detectable(POWER)
        for group, wave in enumerate(assigned):
            if wave < steps:
                net[group, firsts[wave] :] += gain
    else:
        carried = carried_share(products.fit().covariance(cells), cells.weights(sizes))
    effect = analyse(net, cells, assigned.tolist(), carried, LEVEL)
    low, high = effect.low, effect.high
    covered = (low is None or low <= gain) and (high is None or gain <= high)
    return {"gain": gain, "found": effect.gain, "p": effect.p, "detected": effect.detected, "covered": covered}


def table(rows: Sequence[Row]) -> list[Line]:
    """Return the rate of false findings, the power by world, and how often intervals hold the truth."""
    null = [row for row in rows if row["what"] == NULL]
    effect = [row for row in rows if row["what"] == EFFECT]
    lines = [_line("no effect, all worlds", null, Limit(4.0, 6.0))]
    lines += [_line(f"no effect, {waves} waves", [row for row in null if row["waves"] == waves]) for waves in (2, 4)]
    lines.append(_line("promised 80 %, all worlds", effect, Limit(75.0, 85.0)))
    for world in WORLDS:
        lines.append(_line(f"promised 80 %, {world}", [row for row in effect if row["world"] == world]))
    return lines


def _line(title: str, rows: Sequence[Row], limit: Limit | None = None) -> Line:
    found = 100.0 * float(np.mean([row["detected"] for row in rows]))
    held = 100.0 * float(np.mean([row["covered"] for row in rows]))
    figures = {"pilots": float(len(rows)), "effect shown, %": found, "interval holds the truth, %": held}
    return Line(title, figures, {} if limit is None else {"effect shown, %": limit})


PART = Part(cases, measure, table)
