"""The simulated world of one run: hidden means, outputs, delays and the starting team."""

from dataclasses import dataclass, field

import numpy as np

from crewlearn.engine.streams import DAY, DELAY, INTERVIEW, OUTPUT, PURPOSES, TEAM, run_key, seed_root
from crewlearn.problem.arrays import FloatArray, IntArray
from crewlearn.problem.chance import choose_sorted, mix
from crewlearn.problem.floor import draw_any
from crewlearn.problem.interviews import score_interviews
from crewlearn.problem.laws import DelayForm, OutputForm, day_mean, draw_day_effect, pair_delay
from crewlearn.problem.model import Problem


def best_output(means: FloatArray, team: int) -> float:
    """Return mu(A*), the mean output per period of the best team."""
    return float(np.sort(means)[::-1][:team].sum())


@dataclass(frozen=True)
class World:
    """The world of run `run` of a simulation with seed `seed`, the same for every policy.

    >>> from crewlearn.problem.instances import benchmark
    >>> World(benchmark(), seed=1, run=0).output(3, 7) == World(benchmark(), seed=1, run=0).output(3, 7)
    True
    """

    problem: Problem
    seed: int
    run: int
    means: FloatArray = field(init=False, compare=False)
    output_form: OutputForm = field(init=False, compare=False)
    delay_form: DelayForm = field(init=False, compare=False)
    keys: tuple[int, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", self.problem.means(self.seed, self.run))
        object.__setattr__(self, "output_form", self.problem.output.form())
        object.__setattr__(self, "delay_form", self.problem.delay.form(len(self.means)))
        root = seed_root(self.seed)
        object.__setattr__(self, "keys", tuple(run_key(root, self.run, purpose) for purpose in range(PURPOSES)))

    def best_output(self) -> float:
        """Return mu(A*), the mean output per period of the best team."""
        return best_output(self.means, self.problem.team)

    def starting_team(self) -> IntArray:
        """Return the worker at each station at the start: the problem's team, or a uniformly random one, sorted."""
        if self.problem.first_stations:
            return np.array(self.problem.first_stations, dtype=np.int64)
        team = np.empty(self.problem.team, dtype=np.int64)
        choose_sorted(team, self.problem.team, len(self.means), self.keys[TEAM])
        return team

    def interview(self, rho: float) -> FloatArray:
        """Return every worker's interview score; their sample correlation with the means of period 1 is `rho`.

        With a warm-up, too, the scores are of period 1: a policy is given them with the record, and levels that depend
        on days worked are not known before it.
        """
        scores = np.empty(len(self.means))
        score_interviews(self.means, rho, self.keys[INTERVIEW], scores)
        return scores

    def day_effect(self, period: int) -> float:
        """Return the period's shock, common to all workers."""
        return draw_day_effect(self.output_form.day_effect_sd, mix(self.keys[DAY], period))

    def output(self, period: int, worker: int) -> float:
        """Return a worker's output in a period, if active."""
        form = self.output_form
        key = mix(mix(self.keys[OUTPUT], period), worker)
        centre = day_mean(float(self.means[worker]), self.day_effect(period))
        return draw_any(form, centre, key)

    def delay(self, period: int, out: int, into: int) -> int:
        """Return the delay, in periods, of replacing `out` by `into` if initiated in `period`."""
        return pair_delay(self.delay_form, self.keys[DELAY], period, out, into)
