"""The demo's floor, as floors are: the world of a problem, in which people and days change.

People are absent, newcomers ramp up, levels wander, one of the first team declines, and people quit. The spreads are
those of the `floor` family: a picker's days differ about as much as pickers do, and some days are good or bad for
everybody. Who works when is up to the demo's office; everything else is drawn as in a simulation.
"""

from collections.abc import Sequence

import numpy as np

from crewlearn.engine.streams import ABSENCE, DAY, OUTPUT, floor_keys, seed_root
from crewlearn.engine.world import World
from crewlearn.problem.chance import mix, normal, uniform
from crewlearn.problem.floor import begin_run, centre_of, day_effect_of, empty_floor, floor_form, put_out
from crewlearn.problem.laws import NoDelay, TruncatedNormalOutput
from crewlearn.problem.model import Problem, Start
from crewlearn.problem.people import Drift, Presence, Ramp
from crewlearn.problem.recipes import Recipe

TEAM, PEOPLE, DAYS = 10, 24, 125
BEST_RATE = 130.0
"""Lines an hour at a level of 1."""

QUITS = (75, 104)
"""The days on which somebody quits."""

DECLINES_FROM = 60
"""The day from which one of the best of the first team declines."""

PARTIAL_DAYS = 0.015
"""The probability that somebody who came leaves half-way."""

_PARTIAL, _FORMER = range(1, 3)
"""Purposes of draws that a problem does not have."""


def floor_problem(team: tuple[int, ...]) -> Problem:
    """Return the floor as a problem: the first of the team declines, and one week is bad for everybody."""
    return Problem(
        team=TEAM,
        horizon=DAYS,
        cost=1.85,
        workers=Recipe(
            "truncated-normal", PEOPLE, mean=0.63, sd=0.054, per_run=True, generator="counter", fixed=((team[0], 0.69),)
        ),
        delay=NoDelay(),  # the office decides when people start
        output=TruncatedNormalOutput(sd=0.05, day_effect_sd=0.03, relative=("day",), shocks=((88, 92, -0.18),)),
        start=Start(stations=team),
        ramp=Ramp(depth=0.3, days=4.0),
        drift=Drift(sd=0.001, decliners=((team[0], DECLINES_FROM, -0.004, 0.6),)),
        presence=Presence(absence=0.04, quit_at=QUITS),
    )


class DemoFloor:
    """The people of the floor and what they put out, a function of the seed and of who worked when."""

    def __init__(self, seed: int, team: tuple[int, ...]) -> None:
        problem = floor_problem(team)
        root = seed_root(seed)
        self._keys, self._own = floor_keys(root, 0), mix(root, PEOPLE)
        self._world, self._form = World(problem, seed, 0), floor_form(problem)
        self._floor = empty_floor(PEOPLE, DAYS)
        everybody = np.ones(PEOPLE, dtype=np.bool_)
        begin_run(self._form, self._keys, self._floor, self._world.means, np.array(team), everybody)

    def is_absent(self, period: int, worker: int) -> bool:
        """Return whether a worker does not come on a day."""
        return uniform(mix(self._world.keys[ABSENCE], period), worker) < self._form.absence

    def leaves_early(self, period: int, worker: int) -> bool:
        """Return whether a worker who came works half a day."""
        return uniform(mix(mix(self._own, _PARTIAL), period), worker) < PARTIAL_DAYS

    def rate(self, period: int, worker: int) -> float:
        """Return what a worker does in an hour of a day, in lines."""
        world = self._world
        day = day_effect_of(world.output_form, world.keys[DAY], period)
        centre = centre_of(self._form, world.output_form, self._floor, worker, period, day)
        key = mix(mix(world.keys[OUTPUT], period), worker)
        return BEST_RATE * float(put_out(self._form, world.output_form, self._floor, worker, period, centre, key))

    def worked(self, workers: Sequence[int]) -> None:
        """Give workers a day of experience."""
        for worker in workers:
            self._floor.experience[worker] += 1

    def quitter(self, period: int, team: Sequence[int]) -> int:
        """Return who of the team quits on a day on which somebody does."""
        place = int(uniform(mix(self._keys.quit, 2 * period + 1), 0) * len(team))
        return team[place]

    def former_rate(self, worker: int, days: int) -> float:
        """Return the mean hourly lines of so many days that a newcomer worked elsewhere, as an experienced worker."""
        noise = 0.08 * normal(mix(self._own, _FORMER), worker) / days**0.5
        return round(BEST_RATE * float(self._world.means[worker]) * (1.0 + float(noise)), 1)
