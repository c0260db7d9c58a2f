"""A site of a policy that learns by day, to which anything may happen, and checks of all that the policy says."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from crewlearn.beliefs.estimates import Prior, no_data
from crewlearn.beliefs.evolving.model import DAYS_NOTED, RAMPS, SLOTS, Evolving, has_no_filters
from crewlearn.policies.contract import Pair, Report, Situation
from crewlearn.policies.evolving.policy import ValueOfReplacementEvolving
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.model import Setting
from crewlearn.problem.roster import Roster
from crewlearn.problem.transitions import LEGAL, request_fault


class EvolvingSite:
    """A site of which only the policy's view matters: people, their experience and prior data, and its state."""

    def __init__(
        self,
        policy: ValueOfReplacementEvolving,
        workers: int,
        team: int,
        experience: list[int],
        prior: Sequence[tuple[int, float]] = (),
    ) -> None:
        self.policy, self.team = policy, team
        self.experience = np.array((experience * workers)[:workers], dtype=np.int64)
        self.prior = Prior(np.zeros(workers, dtype=np.int64), np.zeros(workers))
        for worker, (count, total) in enumerate(prior):
            self.prior.counts[worker], self.prior.sums[worker] = count, total
        self.roster = Roster.start(workers, list(range(min(team, workers))), team)
        self.state = policy.start(self.situation(), 7)

    def situation(self, period: int = 1, horizon: int = 200, cost: float = 0.5) -> Situation:
        workers = len(self.experience)
        everybody = np.ones(workers, dtype=np.bool_)
        facts = (Setting(workers, self.team, horizon, cost, 2.0), self.roster, no_data(workers), everybody, everybody)
        return Situation(period, *facts, prior=self.prior, experience=self.experience)

    def join(self, days: int, count: int, total: float) -> None:
        """Add somebody to the pool, with experience and prior data."""
        self.experience = np.append(self.experience, days)
        self.prior = Prior(np.append(self.prior.counts, count), np.append(self.prior.sums, total))
        self.roster = self.roster.grown(len(self.experience))
        self.state = self.policy.revise(self.state, self.situation())

    def learn(self, period: int, output: Mapping[int, float], left: tuple[int, ...] = ()) -> None:
        self.state = self.policy.observe(self.state, Report(period, output, left=left))
        for worker in output:
            self.experience[worker] += 1

    def check(self) -> None:
        """Check beliefs, decisions and everything said to people."""
        check_beliefs(self.state.learned)
        policy = self.policy
        for period, horizon, cost in ((1, 200, 0.5), (1, 10**6, 0.0), (199, 200, 3.0), (200, 200, 0.0)):
            now = self.situation(period, horizon, cost)
            pairs, _ = policy.decide(self.state, now)
            check_pairs(pairs, now)
            for reason in policy.reasons(self.state, now, pairs):
                assert reason.gain is not None
                assert reason.gain > cost
                assert math.isfinite(reason.gain)
                assert 0.0 <= (reason.chance_better or 0.0) <= 1.0
            waiting = policy.waiting(self.state, now)
            assert waiting.look_again == period + 1
            assert waiting.least_observed is None or (waiting.still_needed or 0) > 0
        for level in policy.levels(self.state, self.situation()):
            assert level.mean is not None
            assert 0.0 <= level.low <= level.mean <= level.high <= 1.0
        readings = policy.readings(self.state, self.situation())
        for estimate in (readings.ramp_depth, readings.ramp_days, readings.noise_sd, readings.day_sd, readings.centre):
            assert estimate is not None
            assert math.isfinite(estimate.mean)
            assert estimate.sd >= 0.0
        assert all(math.isfinite(day.effect.mean) and day.effect.sd > 0.0 for day in readings.days)
        assert all(0.0 < person.share <= 1.0 for person in readings.people)


def check_pairs(pairs: list[Pair], now: Situation) -> None:
    """Check that all pairs may be requested together."""
    roster = now.roster.copy()
    for out, into in pairs:
        assert request_fault(roster.arrays, out, into) == LEGAL
        roster.initiate(out, into, now.period, NOBODY)
        assert now.may_enter[into]


def check_beliefs(learned: Evolving) -> None:
    """Check that beliefs are finite, variances positive and weights those of a distribution."""
    pool, people, slots = learned.pool, learned.people, int(learned.counts[SLOTS])
    live = [ramp for ramp in range(RAMPS) if pool.live[ramp]]
    assert live
    for array in (
        *people,
        *learned.crowd,
        learned.numbers,
        pool.centre,
        pool.doubt,
        pool.between,
        pool.tail,
        pool.centres,
        pool.share,
    ):
        assert np.isfinite(array).all()
    assert (np.asarray(people.variances) > 0.0).all()
    assert (np.asarray(people.drift) >= 0.0).all()
    assert sum(pool.weights) == pytest.approx(1.0)
    assert min(pool.weights) >= 0.0
    assert sum(math.exp(log) for log in pool.log_shares) == pytest.approx(1.0)
    assert all(pool.doubt[ramp] >= 0.0 and pool.between[ramp] > 0.0 for ramp in live)
    for array in learned.filters:
        assert np.isfinite(array).all()
    for name in ("stiffness", "spread", "own_spread"):
        assert (np.asarray(getattr(learned.filters, name)) >= -1e-15).all(), name
    assert len({slot for slot in people.slot if not has_no_filters(slot)}) == slots
    noted = min(int(learned.counts[DAYS_NOTED]), len(learned.days.periods))
    assert all(doubt > 0.0 for doubt in learned.days.doubts[:noted])
