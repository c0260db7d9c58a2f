"""Value of replacement, decision by decision, with its explanations."""

import dataclasses
import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crewlearn.beliefs.estimates import grown, no_data, record
from crewlearn.policies.contract import Report
from crewlearn.policies.value import rule as worth
from crewlearn.policies.value import trials
from crewlearn.policies.value.policy import ValueOfReplacement
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.model import Setting
from support.value_site import POLICY, ask, initiated, seen, situation, unequal


@pytest.mark.parametrize(
    "wrong",
    [
        {"margin": -0.1},
        {"noise_guess": 0.0},
        {"guess_weight": -1.0},
        {"recheck": 0},
        {"centre": 1.5},
        {"between_sd": 0.0},
        {"between_sd": 1e-170},
    ],
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        ValueOfReplacement(**wrong)  # type: ignore[arg-type]  # what is wrong with them is the point


def test_each_pair_is_explained() -> None:
    setting = Setting(6, 2, 200, 3.0, 4.0)
    estimates = grown(seen([0.3, 0.8, 0.6, 0.65, 0.2], 30), 6)
    now = situation(setting, [0, 1], estimates, period=50)
    state = POLICY.start(now, 3)
    pairs, after = POLICY.decide(state, now)
    assert len(pairs) == 1
    assert pairs[0][0] == 0
    (reason,) = POLICY.reasons(after, now, pairs)
    _, beliefs = POLICY.beliefs(state, now)
    into = pairs[0][1]
    assert (reason.out, reason.into, reason.fee) == (0, into, 3.0)
    assert reason.periods == 200 - 50 + 1 - 4
    assert (reason.out_belief, reason.in_belief) == (beliefs[0], beliefs[into])
    difference = NormalDist(beliefs[into].mean - beliefs[0].mean, math.sqrt(beliefs[into].sd ** 2 + beliefs[0].sd ** 2))
    assert reason.chance_better == pytest.approx(1.0 - difference.cdf(0.0))
    assert reason.value == pytest.approx(reason.gain - 3.0)
    assert reason.value > POLICY.margin * reason.fee
    at_once = reason.periods * (beliefs[into].mean - beliefs[0].mean)
    most = reason.periods * (1.0 - beliefs[0].mean)
    assert at_once - 1e-9 <= reason.gain <= most
    assert POLICY.reasons(after, now, [(1, 4)])[0].value < 0.0  # a pair it did not propose, and why


KNOWN = ValueOfReplacement(centre=0.7, between_sd=0.2, noise_sd=0.1)


@pytest.mark.parametrize("cost", [0.0, 0.5, 2.0, 10.0])
def test_the_best_outside_is_not_left_there_for_being_near_the_top(cost: float) -> None:
    """Output is at most 1: a top worker must not be worth more as a fallback outside than in the team."""
    setting = Setting(4, 1, 365, cost, 0.0)
    now = situation(setting, [0], unequal([0.3, 1.0, 0.7, 0.5], [60, 2, 2, 2]), 61)
    assert ask(now, KNOWN) == [(0, 1)]


def test_pinned_workers_stay_and_the_next_worst_goes() -> None:
    setting = Setting(4, 2, 365, 2.0, 0.0)
    estimates = unequal([0.2, 0.4, 0.9, 0.85], [50, 50, 50, 50])
    now = situation(setting, [0, 1], estimates, 60)
    assert ask(now, KNOWN) == [(0, 2), (1, 3)]
    pinned = dataclasses.replace(now, may_leave=np.array([False, True, True, True]))
    assert ask(pinned, KNOWN) == [(1, 2)]


def test_somebody_blocked_is_nobody_to_go_back_to() -> None:
    """A bold trial is worth more with a star to go back to, unless the star may not come."""
    setting = Setting(3, 1, 200, 3.0, 0.0)
    now = situation(setting, [0], unequal([0.3, 0.95, 0.0], [50, 400, 0]), 60)
    blocked = situation(setting, [0], unequal([0.3, 0.95, 0.0], [50, 400, 0]), 60, enter="101")
    (free,) = KNOWN.reasons(KNOWN.start(now, 1), now, [(0, 2)])
    (alone,) = KNOWN.reasons(KNOWN.start(blocked, 1), blocked, [(0, 2)])
    assert free.fallback == pytest.approx(0.95, abs=0.01)
    assert alone.fallback == pytest.approx(0.3, abs=0.01)
    assert alone.gain < free.gain


def test_what_clears_its_fee_but_not_the_margin_is_not_proposed() -> None:
    """Both known for certain, so that a replacement gains just 100 times the difference."""
    estimates = unequal([0.50, 0.58], [10**5, 10**5])
    for cost, proposed in ((3.5, True), (4.5, False)):  # 8 exceeds twice 3.5, and 4.5 only once
        setting = Setting(2, 1, 160, cost, 0.0)
        now = situation(setting, [0], estimates, 61)
        assert bool(ask(now, KNOWN)) is proposed
        (reason,) = KNOWN.reasons(KNOWN.start(now, 1), now, [(0, 1)])
        assert reason.value == pytest.approx(8.0 - cost, abs=0.05)
        assert (reason.value > KNOWN.margin * cost) is proposed


def test_pairs_of_one_period_do_not_share_one_way_back() -> None:
    """Two untried workers enter and one good one stays outside: only the first trial may count on that one."""
    setting = Setting(5, 2, 300, 2.0, 0.0)
    now = situation(setting, [0, 1], unequal([0.2, 0.2, 0.0, 0.0, 0.6], [80, 80, 0, 0, 80]), 81)
    first, second = KNOWN.reasons(KNOWN.start(now, 1), now, [(0, 2), (1, 3)])
    assert first.fallback == pytest.approx(0.6, abs=0.01)
    assert second.fallback == pytest.approx(0.2, abs=0.01)
    assert second.gain < first.gain


@given(st.integers(0, 10**6))
def test_every_pair_proposed_clears_the_margin_by_its_own_reasons(seed: int) -> None:
    rng = np.random.default_rng(seed)
    workers, horizon = int(rng.integers(2, 12)), int(rng.integers(5, 400))
    team = int(rng.integers(1, workers))
    setting = Setting(workers, team, horizon, float(rng.choice([0.0, 0.5, 3.0, 20.0])), float(rng.choice([0.0, 4.0])))
    times = rng.integers(0, 60, workers).tolist()
    now = situation(setting, list(range(team)), unequal(rng.uniform(0, 1, workers).tolist(), times), horizon // 3 + 1)
    for reason in POLICY.reasons(POLICY.start(now, 7), now, ask(now)):
        assert reason.value > POLICY.margin * reason.fee
        assert type(reason.out_belief.mean) is type(reason.in_belief.sd) is float


def test_an_empty_station_is_filled_by_whom_most_is_expected_of() -> None:
    setting = Setting(5, 2, 100, 2.0, 0.0)
    now = situation(setting, [0], seen([0.9, 0.3, 0.6, 0.5, 0.4], 50), period=40, empty=1)
    assert ask(now) == [(NOBODY, 2)]
    (reason,) = POLICY.reasons(POLICY.start(now, 1), now, [(NOBODY, 2)])
    assert (reason.out_belief.mean, reason.out_belief.sd) == (0.0, 0.0)
    assert reason.gain == pytest.approx(61 * 0.6, rel=0.05)
    blocked = situation(setting, [0], seen([0.9, 0.3, 0.6, 0.5, 0.4], 50), period=40, empty=1, enter="11011")
    assert ask(blocked) == [(NOBODY, 3)]
    late = situation(dataclasses.replace(setting, cost=50.0), [0], seen([0.9, 0.3, 0.6, 0.5, 0.4], 50), 40, 1)
    assert ask(late) == []


def test_the_scarce_good_one_is_kept_for_the_station_that_needs_it() -> None:
    """One untried worker is left, and an untried one is on the way to a station: the good worker is not touched yet."""
    setting = Setting(4, 2, 300, 2.0, 3.0)
    estimates = grown(seen([0.75, 0.3], 40), 4)
    told = ValueOfReplacement(centre=0.5, between_sd=0.3, noise_sd=0.1)
    free = situation(setting, [0, 1], estimates, 41)
    assert {out for out, _ in ask(free, told)} == {0, 1}
    pending = initiated(free, 1, 2, 44)
    assert ask(pending, told) == []


def test_equals_come_in_a_random_order_that_the_run_fixes() -> None:
    setting = Setting(30, 1, 500, 1.0, 0.0)
    estimates = no_data(30)
    for turn in range(20):
        record(estimates, 0, 0.1 + 0.02 * (turn % 2))
    now = situation(setting, [0], estimates, 21)
    first = [ask(now, key=key)[0][1] for key in range(60)]
    assert first == [ask(now, key=key)[0][1] for key in range(60)]
    assert len(set(first)) > 15


def test_looks_again_after_anything_happened() -> None:
    setting = Setting(4, 2, 1000, 50.0, 1.0)
    now = situation(setting, [0, 1], seen([0.6, 0.6, 0.5, 0.5], 320), 400)
    pairs, state = POLICY.decide(POLICY.start(now, 1), now)
    assert pairs == []
    assert state.look_again == 400 + 1 + 320 // 16
    assert POLICY.observe(state, Report(400, {0: 0.5, 1: 0.5})) == state
    assert not POLICY.observe(state, Report(400, failed=((0, 2),))).settled
    assert not POLICY.revise(state, now).settled
    cheap = dataclasses.replace(now, setting=dataclasses.replace(setting, cost=0.0), period=401)
    assert POLICY.decide(state, cheap) == ([], state)


def count_gains(workers: int, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Return how often a gain or an upside is computed in one decision, and the number of pairs."""
    calls = 0

    def counted(function: Callable[..., float]) -> Callable[..., float]:
        def call(*arguments: float) -> float:
            nonlocal calls
            calls += 1
            return function(*arguments)

        return call

    rng = np.random.default_rng(2)
    estimates = seen(rng.uniform(0.2, 0.8, workers).tolist(), 6)
    now = situation(Setting(workers, 20, 400, 1.0, 2.0), list(range(20)), estimates, 60)
    with monkeypatch.context() as patch:
        for module, name in ((worth, "gain_of"), (trials, "upside"), (trials, "near_upside")):
            patch.setattr(module, name, counted(getattr(module, name)))
        pairs = ask(now)
    return calls, len(pairs)


def test_work_grows_no_faster_than_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """All tried and all different: four times the workers take at most four times the computations, not all pairs."""
    few, made_of_few = count_gains(250, monkeypatch)
    many, made_of_many = count_gains(1000, monkeypatch)
    assert made_of_few >= 15
    assert made_of_many >= 15
    assert many <= 4 * few
    assert many <= 1000 * 6 + 20 * 200
