"""The fair gain: against a second computation on plain cases, and its parts."""

import math
from dataclasses import replace

import numpy as np
import pytest

from crewlearn.advisor.evidence.chances import Stream
from crewlearn.advisor.evidence.comparison import Comparison, absence_of, shared_draws
from crewlearn.advisor.evidence.gain import chains_of, chance_of, fair_gain
from crewlearn.advisor.evidence.levels import CLASSES, Learned, Ramped, infer, path_covariance
from crewlearn.advisor.evidence.record import Advised, Spent, WorkRecord, outsiders_of
from crewlearn.problem.arrays import NOBODY, FloatArray

DAYS, CHANGED = 60, 30
PLAIN = Learned(noise=0.0004, day_variance=1e-12, between=0.01, tail=0.0, ramps=(Ramped(1.0, 0.0, 1.0),))
"""No ramp, all days alike, noise of 0.02 around levels that differ by 0.1."""


def record_of(
    levels: dict[int, float], holders: FloatArray, *advised: Advised, spent: tuple[Spent, ...] = ()
) -> WorkRecord:
    """Return a record in which everybody alternates by 0.02 around their level."""
    held = holders.astype(np.int64)
    rows = [(int(held[s, d]), d) for d in range(held.shape[1]) for s in range(len(held)) if held[s, d] != NOBODY]
    output = np.array([levels[worker] + (0.02 if day % 2 else -0.02) for worker, day in rows])
    earned = np.zeros(held.shape)
    for (worker, day), made in zip(rows, output, strict=True):
        earned[np.flatnonzero(held[:, day] == worker)[0], day] = 10.0 * made
    people = 1 + max(levels)
    return WorkRecord(
        holders=held,
        worker=np.array([worker for worker, _ in rows]),
        day=np.array([day for _, day in rows]),
        output=output,
        earned=earned,
        worth=np.full(held.shape, 10.0),
        offset=np.zeros(held.shape),
        experience=np.full(people, 10**6),
        outsiders=np.zeros(0, dtype=np.int64),
        advised=advised,
        spent=spent,
        quits=0,
        delays=(2,),
        fee=5.0,
        exposure=10**9,
    )


def two_stations() -> FloatArray:
    """Worker 0 stays; worker 1 is followed by worker 2."""
    return np.array([[0.0] * DAYS, [1.0] * CHANGED + [2.0] * (DAYS - CHANGED)])


def test_a_replacement_brings_the_difference_of_levels_less_the_fee() -> None:
    record = record_of({0: 0.6, 1: 0.5, 2: 0.7}, two_stations(), Advised(1, 1, CHANGED, 1, 2, 5.0, CHANGED - 3))
    told = fair_gain(record, PLAIN)
    days = DAYS - CHANGED
    assert told.whole.expected == pytest.approx(10.0 * days * 0.2 - 5.0, abs=1.5)
    # doubt of a level from 30 days, and own noise on 30 days, each 10 * 0.02 * sqrt(30); drift adds to it
    least = 1.96 * 10.0 * math.sqrt(2.0 * 30.0 * 0.0004)
    assert least * 0.9 < (told.whole.high - told.whole.low) / 2.0 < 4.0 * least
    assert told.by_day.fees.tolist() == [0.0] * (CHANGED - 3) + [5.0] * (DAYS - CHANGED + 3)
    assert told.by_day.expected[CHANGED - 4] == 0.0
    [result] = told.results
    assert result.gain == told.whole
    assert result.even_on is not None
    assert CHANGED < result.even_on < CHANGED + 8  # 2 a day against a fee of 5
    assert told.paid > 0.99


def test_the_same_record_gives_the_same_gain() -> None:
    record = record_of({0: 0.6, 1: 0.5, 2: 0.7}, two_stations(), Advised(1, 1, CHANGED, 1, 2, 5.0, CHANGED))
    assert fair_gain(record, PLAIN).whole == fair_gain(record, PLAIN).whole


def test_results_of_a_chain_add_up_to_the_whole() -> None:
    holders = two_stations()
    holders[1, 45:] = 3.0
    first, second = Advised(1, 1, CHANGED, 1, 2, 5.0, CHANGED), Advised(2, 1, 45, 2, 3, 5.0, 44)
    record = record_of({0: 0.6, 1: 0.5, 2: 0.45, 3: 0.7}, holders, first, second, spent=(Spent(50, 5.0),))
    told = fair_gain(record, PLAIN)
    assert sum(result.gain.expected for result in told.results) - 5.0 == pytest.approx(told.whole.expected, abs=0.01)
    # the second is judged against the first newcomer, not against the leaver
    assert told.results[1].gain.expected == pytest.approx(10.0 * 15 * 0.25 - 5.0, abs=1.5)
    assert told.results[0].gain.expected == pytest.approx(-10.0 * 30 * 0.05 - 5.0, abs=1.5)


def test_a_quitters_place_is_refilled_in_the_comparison_too() -> None:
    holders = two_stations()
    holders[1, 28:CHANGED] = NOBODY
    filled = Advised(1, 1, CHANGED, NOBODY, 2, 5.0, 28)
    record = record_of({0: 0.6, 1: 0.6, 2: 0.6}, holders, filled)
    told = fair_gain(record, PLAIN)
    # as good as anybody, at the same fee and after the same days: no gain, where an empty place would be 180
    assert told.whole.low < 0.0 < told.whole.high
    assert abs(told.whole.expected) < 60.0


def test_days_are_as_they_were() -> None:
    worse = replace(PLAIN, day_variance=0.01)
    record = record_of({0: 0.6, 1: 0.5, 2: 0.7}, two_stations(), Advised(1, 1, CHANGED, 1, 2, 0.0, CHANGED))
    late = record.day >= CHANGED
    slump = replace(record, output=np.where(late, 0.8 * record.output, record.output), earned=record.earned.copy())
    slump.earned[:, CHANGED:] *= 0.8
    told = fair_gain(slump, worse)
    assert told.whole.expected == pytest.approx(0.8 * 10.0 * 30 * 0.2, rel=0.1)


def test_a_change_outside_advice_happens_in_both() -> None:
    holders = two_stations()
    holders[1, 50:] = 3.0
    record = record_of({0: 0.6, 1: 0.5, 2: 0.7, 3: 0.1}, holders, Advised(1, 1, CHANGED, 1, 2, 0.0, CHANGED))
    [chain] = chains_of(record)
    assert chain.end == 50
    assert fair_gain(record, PLAIN).whole.expected == pytest.approx(10.0 * 20 * 0.2, abs=1.5)


def test_absence_is_the_sites_own() -> None:
    record = record_of({0: 0.6, 1: 0.5, 2: 0.7}, two_stations(), Advised(1, 1, CHANGED, 1, 2, 0.0, CHANGED))
    assert absence_of(record) == 0.0
    there = ~((record.worker != 0) & (record.day % 10 == 0))
    fewer = replace(record, worker=record.worker[there], day=record.day[there], output=record.output[there])
    assert absence_of(fewer) == pytest.approx(0.1)


def test_a_probability_is_never_certain() -> None:
    assert 0.999 < chance_of(np.ones(1000)) < 1.0
    assert 0.0 < chance_of(-np.ones(1000)) < 0.001


def test_a_paths_covariance_is_that_of_summed_slopes() -> None:
    kind = CLASSES[-1]
    steps = 2000
    times = np.linspace(0.0, 50.0, steps + 1)
    middle, width = 0.5 * (times[1:] + times[:-1]), 50.0 / steps
    slopes = kind.slope**2 * np.exp(-np.abs(middle[:, None] - middle[None, :]) / 60.0)
    brute = [[slopes[: s * 40, : t * 40].sum() * width * width for t in (20, 50)] for s in (20, 50)]
    ours = path_covariance(kind, np.array([20.0, 50.0]), np.array([20.0, 50.0]))
    assert np.allclose(ours, brute, rtol=1e-3)


def test_levels_and_days_are_those_of_the_dense_normal_law() -> None:
    rng = np.random.default_rng(3)
    holders = np.array([[0.0] * 8, [1.0] * 4 + [2.0] * 4])
    record = record_of({0: 0.6, 1: 0.5, 2: 0.7}, holders)
    record = replace(record, output=record.output + rng.normal(0.0, 0.02, len(record.output)))
    learned = replace(PLAIN, day_variance=0.01)
    levels = infer(record, learned)
    views, common = levels.by_ramp[0].views, levels.by_ramp[0].common
    # unknowns: 8 days, the centre, 3 own levels; steady paths
    prior = np.diag([0.01] * 8 + [0.09] + [0.01] * 3)
    design = np.zeros((len(record.worker), 12))
    for row, (worker, day) in enumerate(zip(record.worker, record.day, strict=True)):
        assert views[int(worker)].kind == CLASSES[0]
        design[row, [day, 8, 9 + worker]] = (views[int(worker)].level, 1.0, 1.0)
    noisy = design @ prior @ design.T + 0.0004 * np.eye(len(design))
    mean = np.zeros(12)
    mean[8] = 0.5
    dense = mean + prior @ design.T @ np.linalg.solve(noisy, record.output - design @ mean)
    assert np.allclose(common.mean, dense[:9], atol=1e-9)


@pytest.mark.parametrize(("quit_on", "quits"), [(None, 0.0), (45, 0.5)])
def test_each_quit_counts_once_in_the_comparison(quit_on: int | None, quits: float) -> None:
    """Against a plain simulation of quits; means over 20,000 draws differ by over 0.02 by chance in 1 of 10,000."""
    holders = two_stations()
    if quit_on is not None:
        holders[1, quit_on:] = NOBODY
    rate, draws = 0.02, 20_000
    record = record_of({0: 0.6, 1: 0.6, 2: 0.6}, holders, Advised(1, 1, CHANGED, 1, 2, 5.0, CHANGED))
    record = replace(record, quits=10**7, exposure=round(10**7 / rate), offers=10**6)
    levels = infer(record, PLAIN)
    comparison = Comparison(record, levels, shared_draws(record, levels, draws, Stream(1)), 0.0, 1)
    hires = comparison.kept(1, 1, CHANGED, DAYS, 1).fees.sum(axis=1) / record.fee
    rng, simulated = np.random.default_rng(4), np.zeros(draws)
    for draw in range(draws):
        of_place = quit_on if rng.random() < quits else None  # half of the quits on record are due to the place
        begins = CHANGED
        for day in range(CHANGED + 1, DAYS):
            # those due to the person come at the other half of the rate, while somebody is there
            if day > begins and (day == of_place or rng.random() < 0.5 * rate):
                simulated[draw] += 1.0
                begins = day + 2
    assert hires.mean() == pytest.approx(simulated.mean(), abs=0.02)


def test_who_could_fill_a_vacancy_without_advice() -> None:
    changes = [(1, 7), (NOBODY, 8), (7, 9), (2, 5), (9, 1), (8, 2)]
    advised = [Advised(n, 0, n, out, into, 5.0, n) for n, (out, into) in enumerate(changes)]
    # 1 and 2 were let go by advice, and one of them came back by it; 8 left for good; 6 is idle
    assert outsiders_of(advised, [2, 6, 7, 9]).tolist() == [5, 6, 7, 8, 9]


def test_a_place_is_filled_again_however_often_it_is_vacated() -> None:
    """Over years with many quits the comparison must not end with an empty place, which would flatter the advice."""
    days = 1_000
    holders = np.array([[0.0] * days, [1.0] * 30 + [2.0] * (days - 30)])
    record = record_of({0: 0.6, 1: 0.6, 2: 0.6}, holders, Advised(1, 1, 30, 1, 2, 5.0, 30))
    record = replace(record, quits=60, exposure=2 * days)  # about 15 are the person's in these days
    levels = infer(record, PLAIN)
    comparison = Comparison(record, levels, shared_draws(record, levels, 200, Stream(1)), absence_of(record), 1)
    kept = comparison.kept(1, 1, 30, days, 1)
    vacant = 2.0 / (2.0 + 1.0 / 0.0125)  # two days after each quit
    assert kept.money[:, -200:].mean() == pytest.approx(6.0 * (1.0 - vacant), rel=0.05)
    assert kept.fees.sum(axis=1).mean() == pytest.approx(5.0 * 970 / (1 / 0.0125 + 2.0), rel=0.15)
