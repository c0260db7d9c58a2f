"""Small worlds in which people and days change: with all tables together, and with each alone."""

from dataclasses import replace
from typing import Any

from crewlearn.problem.laws import TruncatedNormalOutput, UniformDelay
from crewlearn.problem.model import Problem, Start
from crewlearn.problem.people import Drift, Presence, Ramp
from crewlearn.problem.recipes import Recipe, Stars

TEAM = (0, 1, 2, 3)

POOL = Recipe("clipped-normal", 12, 0.6, 0.12, per_run=True, generator="counter")
WORK = TruncatedNormalOutput(0.05, day_effect_sd=0.05)

QUIET = Problem(
    team=4,
    horizon=60,
    cost=0.4,
    workers=POOL,
    delay=UniformDelay(0, 4),
    output=WORK,
    start=Start(TEAM),
)
"""The world without any table."""

ALONE: dict[str, dict[str, Any]] = {
    "ramp": {"ramp": Ramp(0.3, 4.0)},
    "own ramps": {"ramp": Ramp({"mean": 0.3, "sd": 0.1}, 6.0, (3, 0, 9, 1, 0, 0, 0, 0, 2, 0, 0, 40))},
    "ramps in a range": {"ramp": Ramp((0.1, 0.6), 2.0, "none")},
    "drift": {"drift": Drift(0.02)},
    "decliners": {"drift": Drift(0.0, ((0, 10, -0.01, 0.6), (5, 1, 0.02, 0.0)))},
    "absences": {"presence": Presence(absence=0.2)},
    "quits": {"presence": Presence(quits=0.03)},
    "quits on a date": {"presence": Presence(quit_at=(5, 30, 31))},
    "declines": {"presence": Presence(declines=0.4)},
    "relative spreads": {"output": replace(WORK, relative=("day", "noise"))},
    "weekdays": {"output": replace(WORK, weekdays=(-0.1, 0.05, 0.1))},
    "shocks": {"output": replace(WORK, shocks=((10, 14, -0.4), (12, 30, 0.1)))},
    "warm-up": {"start": Start(TEAM, warmup=20)},
    "turnover": {"start": Start(TEAM, warmup=20, turnover=5, gone=0.4, spared=(0,))},
    "rolling": {"rolling": 25},
    "stars": {"workers": replace(POOL, stars=Stars(2, 0.8, 0.95), fixed=((0, 0.69),))},
}
"""Changes to the quiet world, each of one table."""

TOGETHER = replace(
    QUIET,
    workers=ALONE["stars"]["workers"],
    output=replace(
        WORK,
        relative=("day", "noise"),
        weekdays=(-0.1, 0.05, 0.1),
        shocks=((10, 14, -0.4), (33, 37, 0.1)),
    ),
    ramp=ALONE["own ramps"]["ramp"],
    drift=Drift(0.01, ((0, 10, -0.01, 0.6), (5, 40, -0.02, 0.0))),
    presence=Presence(absence=0.1, quits=0.01, quit_at=(8, 25, 40), declines=0.2),
    start=ALONE["turnover"]["start"],
    rolling=25,
)
"""The world with all tables."""

NEUTRAL = replace(
    QUIET,
    output=replace(WORK, weekdays=(0.0, 0.0), shocks=((3, 9, 0.0),)),
    ramp=Ramp(0.0, 4.0, "none"),
    drift=Drift(0.0, ((3, 5, 0.0, 0.5),)),
    presence=Presence(),
    start=Start(TEAM, warmup=0, turnover=5, gone=0.5, spared=(1,)),
)
"""The world with all tables, none of which does anything."""
