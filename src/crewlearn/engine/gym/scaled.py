"""The environment to train an agent in: everything that a policy may know, as numbers in [0, 1]."""

from typing import Any

import numpy as np
from gymnasium import spaces

from crewlearn.engine.course import Work
from crewlearn.engine.gym.environment import DelayedReplacement, Observation
from crewlearn.policies.learned.view import View, empty_view, mask_all, show
from crewlearn.problem.arrays import BoolArray


def scaled_boxes(workers: int, team: int) -> dict[str, spaces.Space[Any]]:
    """Return the space of each entry of an observation: all of them are between 0 and 1."""
    arrays = empty_view(team, workers)._asdict()
    return {name: spaces.Box(0, 1, array.shape, dtype=array.dtype) for name, array in arrays.items()}


class ReplacementEnv(DelayedReplacement):
    """The problem as an environment: an episode is a run, a step a period, by default of the paper's benchmark.

    **Action**: for each of the m stations, 0 to keep its worker or j+1 to request worker j as the replacement, or to
    fill a station that is empty. Requests that `action_mask` forbids are dropped and counted; if two stations request
    the same worker, the first gets them. In the last period, all requests are dropped.

    **Observation** at the beginning of the next period: a dict of arrays with numbers in [0, 1]. What is known of each
    worker (`means`, `seen`, `worked`, `may_enter`, `may_leave`), who is where and who is coming (`stations`,
    `arriving`, `waiting`), what there is to gain (`periods_left`, `time_left`, `fee`, `delay`), and the legal choices
    (`action_mask`). `crewlearn.policies.learned.view.View` says how each is scaled.

    **Reward**: the period's profit, that is output less fees paid. The episode terminates after the horizon and is
    never truncated.

    **Info** is that of `DelayedReplacement`: `action_mask` (m, k+1) as booleans, `requested` and `completed` pairs,
    `dropped`, `fees`, `regret` and, where people or days change, `declined`, `absent`, `quit` and `net`. Regret and net
    are for scoring: they are computed from hidden means, which a learner must not see.

    `reset(seed=s, options={"run": r})` begins run r of seed s, by default run 0; further resets begin the next runs.
    These are the worlds of `crewlearn.simulate(problem, ..., seed=s)`. `AgentPolicy` plays a trained agent there.

    >>> from crewlearn import benchmark
    >>> env = ReplacementEnv(benchmark(team=2, horizon=30))
    >>> observation, info = env.reset(seed=1)
    >>> [round(float(observation[name][0]), 3) for name in ("fee", "delay", "periods_left")]  # 5, 3 and 30
    [0.833, 0.231, 0.231]
    >>> observation, reward, terminated, truncated, info = env.step([0, 0])
    >>> int((observation["seen"] > 0).sum())
    2
    """

    def _boxes(self, workers: int, team: int) -> dict[str, spaces.Space[Any]]:
        return scaled_boxes(workers, team)

    @staticmethod
    def _produced(work: Work) -> float:
        total = 0.0
        for amount in work.output.values():  # one by one: `sum` rounds otherwise in some versions of Python
            total += amount
        return total

    @property
    def _told(self) -> tuple[int, int]:
        """The period as policies count it, and the horizon that they are told."""
        t = self.period - self.problem.warmup
        return t, self.problem.setting_in(t).horizon

    def _mask(self) -> BoolArray:
        period, horizon = self._told
        if period < horizon:
            return super()._mask()
        mask = np.zeros((self.roster.team, self.roster.workers + 1), dtype=np.bool_)
        mask_all(mask)
        return mask

    def _observation(self) -> Observation:
        view, course, setting = empty_view(self.roster.team, self.roster.workers), self.course, self.problem.setting
        whom = (course.estimates, course.floor.experience, course.floor.may_enter, course.may_leave)
        show(view, self.roster.arrays, *whom, *self._told, setting.cost, setting.mean_delay)
        return _by_name(view)


def _by_name(view: View) -> Observation:
    return view._asdict()
