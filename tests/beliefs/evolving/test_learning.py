"""Learning day by day: what must not matter does not, and learning again is learning."""

import copy
from typing import Any

import numpy as np
import pytest

from crewlearn.beliefs.evolving.learning import _forget as restart
from crewlearn.beliefs.evolving.model import (
    DAY_VAR,
    DAY_VAR_USED,
    DAYS_LEARNED,
    LAST_DAY,
    NOISE,
    NOISE_USED,
    RAMPS,
    REPLAYABLE,
    ROWS,
    Evolving,
    Told,
)
from support.evolving import EXPERIENCED, NOTHING_TOLD, fresh, learn, told

WORKERS, TEAM = 9, 5
EXPERIENCE = [EXPERIENCED, EXPERIENCED, 0, 0, 7, 0, 0, EXPERIENCED, 0]
PRIOR = [(0, 0.0), (0, 0.0), (0, 0.0), (3, 2.1), (0, 0.0), (0, 0.0), (5, 2.0), (0, 0.0), (0, 0.0)]

Record = list[tuple[int, dict[int, float]]]


def record(days: int = 45) -> Record:
    """Make up a record in which people ramp up, come and go, and days and weeks are missing."""
    random = np.random.default_rng(12)
    worked, made, period = np.array(EXPERIENCE, dtype=float), [], 0
    for day in range(days):
        period += int(random.choice([1, 1, 1, 3, 12]))
        crew = [(day // 6 + place) % WORKERS for place in range(TEAM)]
        effect = 1.0 + random.normal(0.0, 0.03) - (0.25 if day == 20 else 0.0)
        output = {}
        for worker in crew:
            share = 1.0 - 0.3 * np.exp(-worked[worker] / 4.0)
            output[worker] = float(share * (0.5 + 0.03 * worker) * effect + random.normal(0.0, 0.05))
            worked[worker] += 1
        made.append((period, output))
    return made


def learned_from(
    days: Record, experience: Any = EXPERIENCE, prior: Any = PRIOR, known: Told = NOTHING_TOLD
) -> Evolving:
    learned = fresh(list(experience), known, list(prior), TEAM)
    for period, output in days:
        learn(learned, NOTHING_TOLD, period, output)
    return learned


@pytest.fixture(scope="module")
def reference() -> Evolving:
    return learned_from(record())


def test_the_record_shows_a_ramp_and_is_learned_again(reference: Evolving) -> None:
    """The record exercises what the other tests are about."""
    assert reference.counts[REPLAYABLE] == 1
    assert reference.counts[ROWS] == 45 * TEAM
    assert reference.numbers[NOISE_USED] < 0.1**2
    assert sum(reference.days.unusual) >= 1
    assert 1 < sum(reference.pool.live) < RAMPS


@pytest.mark.parametrize("seed", range(3))
def test_numbers_of_workers_do_not_matter(seed: int, reference: Evolving) -> None:
    """Sums are taken in another order, so rounding differs."""
    place = np.random.default_rng(seed).permutation(WORKERS)  # worker i is now number place[i]
    named = np.argsort(place)
    days = [(period, {int(place[w]): made for w, made in output.items()}) for period, output in record()]
    shuffled = [(period, dict(sorted(output.items()))) for period, output in days]
    learned = learned_from(shuffled, [EXPERIENCE[w] for w in named], [PRIOR[w] for w in named])
    for name in ("means", "variances", "drift", "days", "last_seen"):
        mine, theirs = getattr(learned.people, name), getattr(reference.people, name)
        assert [mine[place[w]] for w in range(WORKERS)] == pytest.approx(theirs, rel=1e-6)
    assert learned.pool.weights == pytest.approx(reference.pool.weights, rel=1e-6, abs=1e-12)
    assert learned.numbers == pytest.approx(reference.numbers, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("shift", [1, -500, 10**12])
def test_the_date_does_not_matter(shift: int, reference: Evolving) -> None:
    learned = learned_from([(period + shift, output) for period, output in record()])
    assert learned.numbers == reference.numbers
    assert learned.pool == reference.pool
    assert learned.filters == reference.filters
    assert learned.people._replace(last_seen=reference.people.last_seen) == reference.people
    assert learned.days._replace(periods=reference.days.periods) == reference.days
    assert learned.counts[LAST_DAY] == reference.counts[LAST_DAY] + shift


def test_people_never_seen_do_not_matter(reference: Evolving) -> None:
    more = [0, EXPERIENCED, 40]
    learned = learned_from(record(), [*EXPERIENCE, *more], [*PRIOR, *[(0, 0.0)] * 3])
    assert learned.numbers == reference.numbers
    assert learned.pool == reference.pool
    for mine, theirs in zip(learned.people, reference.people, strict=True):
        assert mine[:WORKERS] == theirs
    # All of them are believed to be like the pool.
    assert len(set(learned.people.means[WORKERS:])) == len(set(learned.people.variances[WORKERS:])) == 1


def test_arrays_and_lists_learn_alike_to_the_bit(reference: Evolving) -> None:
    """Simulations learn in arrays, and live sites in lists."""
    learned = fresh(EXPERIENCE, NOTHING_TOLD, PRIOR, TEAM, lists=False)
    for period, output in record():
        learn(learned, NOTHING_TOLD, period, output)
    assert learned.people.means.tolist() == reference.people.means
    assert learned.people.variances.tolist() == reference.people.variances
    assert learned.pool.weights.tolist() == reference.pool.weights


def test_what_is_learned_again_is_as_if_it_had_been_known_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same noise and spread of days from the beginning, and nothing learned again, give the same."""
    days = record()
    learned = learned_from(days)
    assert learned.numbers[NOISE_USED] < 0.25**2 / 4  # far from the guess
    again = fresh(EXPERIENCE, NOTHING_TOLD, PRIOR, TEAM)
    monkeypatch.setattr("crewlearn.beliefs.evolving.learning._noise_moved", lambda learned: False)
    again.numbers[NOISE], again.numbers[DAY_VAR] = learned.numbers[NOISE_USED], learned.numbers[DAY_VAR_USED]
    restart(again, NOTHING_TOLD)
    for period, output in days:
        learn(again, NOTHING_TOLD, period, output)
    assert again.people.means == pytest.approx(learned.people.means, rel=1e-9)
    assert again.people.variances == pytest.approx(learned.people.variances, rel=1e-9)
    assert again.pool.weights == pytest.approx(learned.pool.weights, rel=1e-9, abs=1e-15)
    assert again.numbers == pytest.approx(learned.numbers, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(("people", "again"), [(3, True), (400, False)])
def test_the_spread_of_days_is_learned_again_only_where_it_matters(people: int, again: bool) -> None:
    """Many people show a day's effect well, whatever days are like; a few do not."""
    learned = fresh([EXPERIENCED] * people, told(noise_sd=0.05), team=people)
    random = np.random.default_rng(2)
    for day in range(7):
        effect = 1.0 + (0.06 if day % 2 else -0.06)
        learn(learned, told(noise_sd=0.05), day, {w: 0.5 * effect + random.normal(0.0, 0.05) for w in range(people)})
    assert learned.counts[REPLAYABLE] == 1
    assert learned.numbers[DAY_VAR] > 2.0 * 0.02**2
    assert (learned.numbers[DAY_VAR_USED] > 0.02**2) == again


def test_more_people_than_stations_only_shorten_what_is_kept() -> None:
    """Rows for 64 days of a full team are kept; a day that no longer fits ends it, and learning goes on."""
    learned = fresh([EXPERIENCED] * 8, team=1)
    for day in range(12):
        learn(learned, NOTHING_TOLD, day, {worker: 0.5 + 0.01 * worker for worker in range(8)})
    assert learned.counts[ROWS] == 64
    assert learned.counts[REPLAYABLE] == 0
    assert learned.counts[DAYS_LEARNED] == 12
    assert learned.people.days == [EXPERIENCED + 12] * 8


def test_a_correction_learned_anew_is_as_if_it_had_been_right_at_first(reference: Evolving) -> None:
    wrong = copy.deepcopy(record())
    wrong[10][1][next(iter(wrong[10][1]))] = 0.0
    assert learned_from(wrong).people.means != reference.people.means
    assert learned_from(record()).people.means == reference.people.means
