"""Policies' explanations through the contract: what is recorded of them, and what they mean."""

import dataclasses
import math

import numpy as np
import pytest

from crewlearn.beliefs.estimates import no_data, record
from crewlearn.policies.contract import Situation
from crewlearn.policies.dr_ucb.policy import DRUCB
from crewlearn.policies.explanations import Level
from crewlearn.policies.registry import make_policy
from crewlearn.policies.value.policy import ValueOfReplacement
from crewlearn.problem.model import Setting
from crewlearn.problem.roster import Roster

TIMES = 2000
"""Observed so often that even the optimistic bounds stay within the range of output."""

EXPLAINED = ("dr-ucb", "value-of-replacement", "thompson", "knowledge-gradient")


def situation(period: int = 41, horizon: int = 141, cost: float = 2.0) -> Situation:
    """Two stations held by 0 (poor) and 1 (good); 2 was seen to be good, 3 never seen."""
    estimates = no_data(4)
    for _ in range(TIMES):
        for worker, output in ((0, 0.2), (1, 0.8), (2, 0.9)):
            record(estimates, worker, output)
    return Situation.open_to_all(period, Setting(4, 2, horizon, cost, 0.0), Roster.start(4, [0, 1]), estimates)


def test_the_recorded_fields_of_reasons_are_those_of_the_policy_in_their_order() -> None:
    now = situation()
    (bounds,) = DRUCB().reasons(DRUCB().start(now, 1), now, [(0, 2)])
    names = ["out", "into", "leaver", "optimistic_gain", "threshold", "out_bounds", "in_bounds"]
    assert list(bounds.to_json()) == names
    assert list(bounds.to_json()["in_bounds"]) == ["lower", "upper"]
    value = ValueOfReplacement()
    (belief,) = value.reasons(value.start(now, 1), now, [(0, 2)])
    names = ["out", "into", "out_belief", "in_belief", "chance_better"]
    assert list(belief.to_json()) == [*names, "periods", "trial", "fallback", "gain", "fee"]
    assert list(belief.to_json()["in_belief"]) == ["mean", "sd"]


def test_each_fee_sets_its_own_threshold() -> None:
    now, policy = situation(), DRUCB()
    state = policy.start(now, 1)
    pairs = [(0, 2), (1, 3)]
    assert [reason.threshold for reason in policy.reasons(state, now, pairs)] == [2.0 / 100] * 2
    assert [reason.threshold for reason in policy.reasons(state, now, pairs, [2.0, 7.0])] == [2.0 / 100, 7.0 / 100]


@pytest.mark.parametrize("name", EXPLAINED)
def test_a_pair_is_asked_for_below_its_break_even_fee_and_not_above(name: str) -> None:
    """Find it by the policy's own decisions, with worker 3 blocked so that only one pair is possible."""
    policy = make_policy(name if name != "dr-ucb" else "dr-ucb:gamma=1")
    now = situation()
    (reason,) = policy.reasons(policy.start(now, 1), now, [(0, 2)]) or ()
    fee = policy.break_even(now, reason)
    assert fee is not None
    for cost, asked in ((0.9 * fee, True), (1.2 * fee, False)):
        then = situation(cost=cost)
        open_to_two = dataclasses.replace(then, may_enter=np.array([True, True, True, False]))
        pairs, _ = policy.decide(policy.start(open_to_two, 1), open_to_two)
        assert ((0, 2) in pairs) is asked, (cost, pairs)


def test_nothing_breaks_even_in_the_last_period() -> None:
    now, policy = situation(period=141), DRUCB()
    (reason,) = policy.reasons(policy.start(now, 1), now, [(0, 2)])
    assert policy.break_even(now, reason) is None


def test_levels_are_intervals_within_the_range_of_output() -> None:
    now = situation()
    dr_ucb, value = DRUCB(), ValueOfReplacement()
    by_bounds = dr_ucb.levels(dr_ucb.start(now, 1), now)
    radius = math.sqrt(math.log(141) / TIMES)
    assert by_bounds[0].mean == pytest.approx(0.2)
    assert by_bounds[0].low == pytest.approx(0.2 - radius)
    assert by_bounds[0].high == pytest.approx(0.2 + radius)
    assert by_bounds[3] == Level(None, 0.0, 1.0)
    by_beliefs = value.levels(value.start(now, 1), now)
    _, beliefs = value.beliefs(value.start(now, 1), now)
    assert [(level.mean, level.sd) for level in by_beliefs] == [(belief.mean, belief.sd) for belief in beliefs]
    assert by_beliefs[0].high == pytest.approx(beliefs[0].mean + 1.96 * beliefs[0].sd, abs=1e-4)


@pytest.mark.parametrize(("name", "fields"), [("dr-ucb", 4), ("value-of-replacement", 1)])
def test_what_is_waited_for_is_recorded_as_far_as_it_is_said(name: str, fields: int) -> None:
    now, policy = situation(), make_policy(name)
    _, after = policy.decide(policy.start(now, 1), now)
    waiting = policy.waiting(after, now)
    assert waiting is not None
    assert len(waiting.to_json()) == fields
    assert policy.weighs_fees


def test_a_policy_that_leaves_them_out_does_not_say() -> None:
    now, policy = situation(), make_policy("a-omm")
    state = policy.start(now, 1)
    assert policy.reasons(state, now, [(0, 2)]) is None
    assert policy.waiting(state, now) is None
    assert policy.levels(state, now) is None
    assert not policy.weighs_fees
