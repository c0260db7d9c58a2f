"""The price of a station and the decisions of value-of-replacement-2, against brute force."""

import math

import numpy as np
import pytest

from crewlearn.beliefs.estimates import Estimates, no_data
from crewlearn.beliefs.posterior import Assumed, learned
from crewlearn.policies.rule import facts_of
from crewlearn.policies.value.policy import ValueOfReplacement, ValueOfReplacement2
from crewlearn.policies.value.price import station_price
from crewlearn.policies.value.trials import best_trial, gain_of
from crewlearn.problem.model import Setting
from support.value_site import ask, seen, situation

SEARCHING = ValueOfReplacement2()


def price_of(setting: Setting, team: list[int], estimates: Estimates, assumed: Assumed, left: float) -> float:
    """Return the price of a station in period 1."""
    workers = setting.workers
    beliefs = learned(estimates, np.zeros(workers, dtype=np.int64), np.zeros(workers), assumed)
    return station_price(beliefs, facts_of(SEARCHING, situation(setting, team, estimates)), left)


def reservation_level(centre: float, sd: float, fee: float, delay: int, periods: int) -> float:
    """Return the level at which one station with an endless pool is indifferent to one more trial.

    Backward induction over the periods left. A trial costs the fee and shows the worker's level in its first period;
    what follows it begins after the delay.
    """
    levels = np.linspace(centre - 6.0 * sd, centre + 6.0 * sd, 2001)
    weights = np.exp(-0.5 * ((levels - centre) / sd) ** 2)
    weights /= weights.sum()
    searching = np.full(periods + 1, -math.inf)
    searching[0] = -fee
    for left in range(1, periods + 1):
        rest = left - 1 - delay
        value = left * levels
        if rest > 0:
            value = np.maximum(value, (1 + delay) * levels + searching[rest])
        searching[left] = float(weights @ value) - fee
    return float(searching[periods]) / periods


@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("fee", [1.0, 5.0, 20.0])
@pytest.mark.parametrize("periods", [200, 700])
def test_in_a_large_pool_the_price_is_the_reservation_level(periods: int, fee: float, delay: int) -> None:
    """The price takes the periods left as given; in the exact search they run out. The difference is small."""
    workers, (centre, sd) = 2000, (0.5, 0.1)
    setting = Setting(workers, 1, periods, fee, float(delay))
    price = price_of(setting, [0], no_data(workers), Assumed(0.5, 4.0, centre, sd, 0.0), float(periods))
    assert price == pytest.approx(reservation_level(centre, sd, fee, delay, periods), abs=0.01)


def test_where_all_are_known_and_nothing_costs_the_price_lies_between_the_last_place_and_the_next() -> None:
    means = [0.15, 0.2, 0.3, 0.45, 0.6, 0.7, 0.85, 0.9]
    setting = Setting(8, 3, 500, 0.0, 0.0)
    price = price_of(setting, [0, 1, 2], seen(means, 400, 0.01), Assumed(0.5, 4.0, 0.5, 0.3, 0.01), 500.0)
    assert 0.6 - 0.005 <= price <= 0.7 + 0.005


def test_the_price_falls_with_the_fee_and_with_time() -> None:
    assumed = Assumed(0.5, 4.0, 0.5, 0.2, 0.1)

    def price(fee: float, left: float) -> float:
        return price_of(Setting(60, 3, 700, fee, 2.0), [0, 1, 2], no_data(60), assumed, left)

    by_fee = [price(fee, 700.0) for fee in (0.0, 5.0, 30.0, 90.0)]
    by_time = [price(10.0, left) for left in (700.0, 200.0, 50.0, 20.0)]
    assert by_fee == sorted(by_fee, reverse=True)
    assert by_time == sorted(by_time, reverse=True)
    assert by_fee[0] > by_fee[-1]
    assert by_time[0] > by_time[-1]


def test_a_trial_s_gain_is_what_it_says_it_is() -> None:
    """Simulate it: learn, decide, wait, then keep or search on at the price. By chance it fails once in 16,000."""
    rng = np.random.default_rng(4)
    mean, sd, noise, level, fee, left, wait, price = 0.5, 0.15, 0.04, 0.45, 4.0, 120.0, 3.0, 0.55
    trial = best_trial(mean, sd * sd, noise, 0.0, fee, level, left, wait, price)
    truth = rng.normal(mean, sd, 400_000)
    average = truth + rng.normal(0.0, math.sqrt(noise / trial.length), len(truth))
    posterior = (average / noise * trial.length + mean / sd**2) / (trial.length / noise + 1 / sd**2)
    rest = left - trial.length - wait
    after = np.where(posterior > price, rest * (truth - level), rest * (price - level))
    played = (trial.length + wait) * (truth - level) + after - fee
    assert gain_of(trial, level, left) == pytest.approx(played.mean(), abs=4.0 * played.std() / math.sqrt(len(played)))


def test_in_a_large_pool_one_fee_of_gain_is_enough() -> None:
    """Two fees of upside are too little if each trial pays its way back and a margin, and enough if it searches on."""
    told = {"centre": 0.5, "between_sd": 0.1, "noise_sd": 0.01}
    estimates = no_data(200)
    setting = Setting(200, 1, 400, 5.0, 0.0)
    estimates.counts[0], estimates.sums[0], estimates.squares[0] = 400, 400 * 0.535, 400 * 0.535**2
    now = situation(setting, [0], estimates)
    assert ask(now, ValueOfReplacement(**told)) == []  # type: ignore[arg-type]  # numbers by name
    assert len(ask(now, ValueOfReplacement2(**told))) == 1  # type: ignore[arg-type]  # numbers by name


def test_nobody_is_displaced_who_would_be_hired_back() -> None:
    """Of eight, three are the best; two of them are in the team, and only one trial's place is needed."""
    estimates = seen([0.2, 0.7, 0.75, 0.3, 0.35, 0.4], 40, 0.05)
    grown = no_data(8)
    for array, old in zip(grown, estimates, strict=True):
        array[:6] = old
    now = situation(Setting(8, 3, 700, 1.0, 2.0), [0, 1, 2], grown)
    assert len(ask(now)) == 2
    assert [out for out, _ in ask(now, SEARCHING)] == [0]


def test_its_reason_states_the_price_as_the_fallback() -> None:
    estimates = seen([0.2] + [0.5] * 29, 20)
    estimates.counts[5:], estimates.sums[5:], estimates.squares[5:] = 0, 0.0, 0.0
    now = situation(Setting(30, 1, 400, 5.0, 2.0), [0], estimates)
    state = SEARCHING.start(now, 7)
    pairs, state = SEARCHING.decide(state, now)
    (reason,) = SEARCHING.reasons(state, now, pairs)
    assumed = SEARCHING.parameters(now.setting).assumed
    assert reason.fallback == price_of(now.setting, [0], estimates, assumed, reason.periods)
    assert reason.fallback > max(0.5, reason.out_belief.mean)
    assert reason.value > SEARCHING.margin * reason.fee
