"""Floors: families in which people and days change.

`floor` is the base. Its team is on record for 110 periods, in which places change hands and one good worker begins to
decline; 120 live periods follow. Newcomers ramp up, days differ for everybody, people are absent, one quits in the
live part, and some offers are declined. Every other floor differs from it in one point.
"""

from dataclasses import replace
from typing import Any

from crewlearn.problem.laws import TruncatedNormalOutput, UniformDelay
from crewlearn.problem.model import Problem, Start
from crewlearn.problem.people import Drift, Presence, Ramp
from crewlearn.problem.recipes import Recipe, Stars
from crewlearn.study.families.family import Family

_WARMUP = 110
_WORKERS = Recipe(
    "clipped-normal", count=60, mean=0.63, sd=0.054, per_run=True, generator="counter", fixed=((0, 0.69),)
)
_OUTPUT = TruncatedNormalOutput(
    sd=0.05,
    day_effect_sd=0.03,
    relative=("day",),
    weekdays=(-0.03, 0.01, 0.03, 0.01, -0.02),
    shocks=((70, 74, -0.18), (121, 125, -0.18)),
)
_RAMP = Ramp(depth=0.30, days=4.0, veterans="team")
_DRIFT = Drift(sd=0.0, decliners=((0, 35, -0.003, 0.6),))
_PRESENCE = Presence(absence=0.04, quit_at=(118,), declines=0.08)
_START = Start(stations=tuple(range(14)), warmup=_WARMUP, turnover=8, gone=0.6, spared=(0,))

FLOOR = Problem(
    team=14,
    horizon=230,
    cost=1.85,  # about three days of one person's output
    rolling=120,
    workers=_WORKERS,
    output=_OUTPUT,
    delay=UniformDelay(low=2, high=5),
    ramp=_RAMP,
    drift=_DRIFT,
    presence=_PRESENCE,
    start=_START,
)
"""The base of the floors."""


def _floor(name: str, story: str, **changes: Any) -> Family:
    return Family(name, story, (("base", replace(FLOOR, **changes)),))


def _of_size(team: int, workers: int) -> dict[str, Any]:
    """Return what another team and pool change; the decliner stays worker 0, at station 0."""
    return {
        "team": team,
        "workers": replace(_WORKERS, count=workers),
        "start": replace(_START, stations=tuple(range(team))),
    }


FLOORS = (
    _floor("floor", "a floor as they are: ramps, weekdays, shocks, absences, a quit, declined offers, one decliner"),
    _floor(
        "floor-clean",
        "no ramp, all days alike, and nobody's level declines",
        output=TruncatedNormalOutput(sd=0.05),
        ramp=None,
        drift=None,
    ),
    _floor("floor-no-ramp", "newcomers are at their level at once", ramp=None),
    _floor("floor-ramp-45", "newcomers begin 45% below their level", ramp=replace(_RAMP, depth=0.45)),
    _floor("floor-slow-ramp", "newcomers need 15 days for what takes 4 elsewhere", ramp=replace(_RAMP, days=15.0)),
    _floor(
        "floor-own-ramps",
        "everybody has a ramp of their own, its depth 30% around the mean",
        ramp=replace(_RAMP, depth={"mean": 0.30, "sd": 0.09}),
    ),
    _floor("floor-day-10", "days differ by 10% for everybody", output=replace(_OUTPUT, day_effect_sd=0.10)),
    _floor(
        "floor-noise-15",
        "own noise is 15% of the level",
        output=replace(_OUTPUT, sd=0.15, relative=("day", "noise")),
    ),
    _floor("floor-drift", "all levels wander by 0.5% a period", drift=replace(_DRIFT, sd=0.005)),
    _floor(
        "floor-live-decline",
        "the decline begins in the live part, which lasts 240 periods",
        drift=replace(_DRIFT, decliners=((0, 120, -0.003, 0.6),)),
        horizon=350,
    ),
    _floor("floor-narrow", "workers hardly apart", workers=replace(_WORKERS, sd=0.025)),
    _floor("floor-fee-0.41", "a replacement costs 0.41", cost=0.41),
    _floor("floor-fee-4.1", "a replacement costs 4.1", cost=4.1),
    _floor(
        "floor-stars",
        "4 of 60 far above the rest, who are nearly alike",
        workers=replace(_WORKERS, mean=0.615, sd=0.016, stars=Stars(count=4, low=0.72, high=0.82)),
    ),
    _floor("floor-quits", "everybody quits with chance 0.5% a period", presence=replace(_PRESENCE, quits=0.005)),
    _floor("floor-small", "5 stations, 30 workers", **_of_size(5, 30)),
    _floor("floor-large", "40 stations, 150 workers", **_of_size(40, 150)),
    _floor("floor-long", "240 live periods", horizon=_WARMUP + 240),
    _floor(
        "floor-cold-start",
        "no record: the policy acts from the first period, for 120",
        horizon=120,
        output=replace(_OUTPUT, shocks=((11, 15, -0.18),)),
        drift=replace(_DRIFT, decliners=((0, 1, -0.003, 0.6),)),
        presence=replace(_PRESENCE, quit_at=(8,)),
        start=Start(stations=_START.stations),
    ),
)
"""The floors, the base first."""
