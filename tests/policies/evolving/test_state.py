"""The policy's state: plain data that survives JSON to the bit, and is never changed in place."""

import copy
import json
from typing import Any

import numpy as np
import pytest

from crewlearn.beliefs.evolving.allocation import REPLAY_DAYS
from crewlearn.beliefs.evolving.model import (
    ANCHORS,
    CLASSES,
    CROWD,
    DAYS_KEPT,
    RAMPS,
    REPLAYABLE,
    ROWS,
    SLOTS,
    Evolving,
)
from crewlearn.beliefs.evolving.packing import pack, pack_array, unpack, unpack_array
from crewlearn.policies.contract import Report, Situation
from crewlearn.policies.evolving.policy import EvolvingState, ValueOfReplacementEvolving
from support.evolving import EXPERIENCED
from support.hostile import EvolvingSite

POLICY = ValueOfReplacementEvolving()


def day_of(seed: int, day: int, workers: int) -> dict[int, float]:
    """Make up a day's output of some of the workers."""
    random = np.random.default_rng([seed, day])
    present = random.permutation(workers)[: random.integers(1, workers)]
    return {int(worker): float(np.clip(random.normal(0.5 + 0.04 * worker, 0.06), 0.0, 1.0)) for worker in present}


def restored(state: EvolvingState) -> EvolvingState:
    return POLICY.state_from_json(json.loads(json.dumps(POLICY.state_to_json(state))))


def bits(arrays: Any) -> list[bytes]:
    """Return the bytes of all arrays of a nested tuple."""
    return [part for item in arrays for part in (bits(item) if isinstance(item, tuple) else [item.tobytes()])]


@pytest.mark.parametrize("prior", [[], [(0, 0.0), (3, 1.8), (2, 0.9), (0, 0.0), (20, 13.0), (7, 3.5)]])
@pytest.mark.parametrize("days", [0, 1, 30, 90])
def test_a_state_survives_json_to_the_bit_and_goes_on_alike(days: int, prior: list[tuple[int, float]]) -> None:
    """90 days are beyond what is kept to be learned again."""
    site = EvolvingSite(POLICY, 6, 3, [EXPERIENCED, 0, 4], prior)
    for day in range(days):
        site.learn(day + 1, day_of(3, day, 6))
    state, again = site.state, restored(site.state)
    assert again == state
    assert POLICY.state_to_json(again) == POLICY.state_to_json(state)
    for part in ("numbers", "counts", "people"):
        assert bits((getattr(state.learned, part),)) == bits((getattr(again.learned, part),))
    now = site.situation()
    for day in range(days, days + 12):
        assert POLICY.decide(again, now)[0] == POLICY.decide(state, now)[0]
        assert POLICY.levels(again, now) == POLICY.levels(state, now)
        assert POLICY.readings(again, now) == POLICY.readings(state, now)
        report = Report(day + 1, day_of(3, day, 6), left=(2,) if day % 5 == 0 else ())
        again, state = restored(POLICY.observe(again, report)), POLICY.observe(state, report)
        assert again == state


def test_restarting_every_day_changes_nothing() -> None:
    """Also while the first days are learned again, and when people join."""
    through, restarted = EvolvingSite(POLICY, 4, 2, [0]), EvolvingSite(POLICY, 4, 2, [0])
    for day in range(40):
        for site in (through, restarted):
            if day in (10, 20):
                site.join(day, day - 10, 0.6 * (day - 10))
            site.learn(day + 1, day_of(8, day, len(site.experience)))
        restarted.state = restored(restarted.state)
    assert restarted.state == through.state
    assert bits(restarted.state.learned.people) == bits(through.state.learned.people)


def test_states_differ_by_what_was_learned() -> None:
    site = EvolvingSite(POLICY, 4, 2, [0])
    before = site.state
    site.learn(1, {0: 0.5})
    assert site.state != before
    assert before == EvolvingState(before.stream_key, before.learned)
    assert before != EvolvingState(before.stream_key + 1, before.learned)
    assert before != "a state"


def test_nothing_changes_a_state_in_place() -> None:
    site = EvolvingSite(POLICY, 5, 2, [0, EXPERIENCED])
    for day in range(6):
        site.learn(day + 1, day_of(1, day, 5))
    state, now = site.state, site.situation()
    kept = copy.deepcopy(state.learned)
    POLICY.observe(state, Report(7, {0: 0.9, 7: 0.1}))
    pairs, _ = POLICY.decide(state, now)
    POLICY.reasons(state, now, [*pairs, (0, 4)])
    POLICY.waiting(state, now)
    POLICY.levels(state, now)
    POLICY.readings(state, now)
    POLICY.state_to_json(state)
    site.join(3, 4, 2.0)
    POLICY.revise(state, site.situation())
    assert bits(state.learned) == bits(kept)


def _packed_length(text: str) -> int:
    return len(unpack_array(text))


def test_only_what_cannot_matter_is_dropped() -> None:
    site = EvolvingSite(POLICY, 6, 2, [EXPERIENCED, 0, 0])
    for day in range(20):
        site.learn(day + 1, {0: 0.5, 1: 0.55 + 0.001 * day} if day < 15 else {0: 0.5, 2: 0.3 + 0.02 * day})
    learned: Evolving = site.state.learned
    live = sum(int(flag) for flag in learned.pool.live)
    data = pack(learned)
    assert learned.counts[REPLAYABLE] == 1
    assert learned.counts[SLOTS] == 3
    assert _packed_length(data["history"]["output"]) == learned.counts[ROWS] == 40
    assert _packed_length(data["days"]["effects"]) == 20
    # Whoever began experienced has the same filters under all ramps; the others under each that is not ruled out.
    assert _packed_length(data["filters"]["base"]) == CLASSES * (1 + 2 * live)
    assert _packed_length(data["anchors"]["means"]) == 3 * ANCHORS
    again = unpack(data)
    for worker in (1, 2):
        for ramp in range(RAMPS):
            if learned.pool.live[ramp]:
                first = (int(learned.people.slot[worker]) * RAMPS + ramp) * CLASSES
                for mine, theirs in zip(learned.filters, again.filters, strict=True):
                    assert mine[first : first + CLASSES].tobytes() == theirs[first : first + CLASSES].tobytes()
    assert again.pool.fading.tobytes() == learned.pool.fading.tobytes()


def test_people_with_prior_data_alone_need_no_filters() -> None:
    """The state stays small, however many they are, and each is told apart by what is believed of them."""
    people = 300
    prior = [(0, 0.0), (0, 0.0), *((1 + n % 9, (1 + n % 9) * 0.002 * n) for n in range(2, people))]
    site = EvolvingSite(POLICY, people, 2, [EXPERIENCED] * 2 + [0] * (people - 2), prior)
    for day in range(5):
        site.learn(day + 1, {0: 0.5, 1: 0.6, 2 + day: 0.4})
    learned = site.state.learned
    assert learned.counts[SLOTS] == 7
    assert learned.counts[CROWD] == people - 7
    assert len(learned.filters.base) == 7 * RAMPS * CLASSES
    assert len(set(learned.people.means[7:])) == people - 7
    site.check()


def test_a_long_record_is_not_kept() -> None:
    """The state does not grow with the record: rows and days are limited."""
    site = EvolvingSite(POLICY, 3, 2, [EXPERIENCED])
    sizes = []
    for day in range(DAYS_KEPT + 40):
        site.learn(day + 1, {0: 0.5, 1: 0.6})
        if day in (DAYS_KEPT, DAYS_KEPT + 39):
            sizes.append(len(json.dumps(POLICY.state_to_json(site.state))))
    assert sizes[0] == sizes[1]
    assert site.state.learned.counts[REPLAYABLE] == 0
    assert len(site.state.learned.history.worker) == 2 * REPLAY_DAYS


@pytest.mark.parametrize("array", [[], [0.1, -0.0, 1e-320, 1.7e308], [float("inf")], [2**62, -(2**62)]])
def test_arrays_survive_packing_to_the_bit(array: list[float]) -> None:
    plain: Any = np.array(array, dtype=np.int64 if array and isinstance(array[0], int) else np.float64)
    assert unpack_array(pack_array(plain)).tobytes() == plain.tobytes()


def test_what_is_learned_does_not_depend_on_setting_fee_or_horizon() -> None:
    site = EvolvingSite(POLICY, 4, 2, [0])
    other: Situation = site.situation(horizon=7, cost=20.0)
    assert POLICY.start(other, 7) == POLICY.start(site.situation(), 7)
