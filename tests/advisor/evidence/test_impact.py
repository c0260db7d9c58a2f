"""Selection rates by group and Fisher's exact test."""

from itertools import combinations

import pytest

from crewlearn.advisor.evidence.impact import fisher, rates, stages, tables
from crewlearn.advisor.ledger.site import Proposal
from crewlearn.advisor.wording.impact import verdicts
from crewlearn.problem.arrays import NOBODY


@pytest.mark.parametrize(
    ("hits", "size", "other_hits", "other_size"), [(1, 4, 3, 4), (0, 3, 2, 5), (2, 2, 0, 6), (1, 5, 1, 3)]
)
def test_fisher_is_brute_force(hits: int, size: int, other_hits: int, other_size: int) -> None:
    """Enumerate all selections of the same size; add up the outcomes at most as likely as the observed one."""
    people, drawn = range(size + other_size), hits + other_hits
    counts = [sum(person < size for person in chosen) for chosen in combinations(people, drawn)]
    chance = {k: counts.count(k) / len(counts) for k in set(counts)}
    expected = sum(share for share in chance.values() if share <= chance[hits] + 1e-12)
    assert fisher(hits, size, other_hits, other_size) == pytest.approx(expected)


def test_rates_and_their_ratios() -> None:
    groups = {**dict.fromkeys(range(40), "a"), **dict.fromkeys(range(40, 50), "b")}
    first, second = rates(groups, {0, 1, 2, 3, 40}, favourable=True)
    assert (first.group, first.people, first.chosen, first.rate, first.small) == ("a", 40, 4, 0.1, False)
    assert (second.rate, second.ratio, second.small) == (0.1, 1.0, True)
    first, second = rates(groups, {40, 41, 42, 43, 44}, favourable=False)
    assert (first.ratio, second.ratio) == (1.0, 0.5)  # kept: all of a, half of b
    assert first.p_value == second.p_value < 0.001
    assert rates({}, set(), favourable=True) == []


def test_ratios_have_an_interval_against_the_best_group_and_small_groups_a_mark() -> None:
    groups = {
        **dict.fromkeys(range(40), "a"),
        **dict.fromkeys(range(40, 120), "b"),
        **dict.fromkeys(range(120, 125), "c"),
    }
    chosen = {*range(36), *range(40, 56), *range(120, 122)}  # Koopman's example of 36 in 40 and 16 in 80
    best, other, few = rates(groups, chosen, favourable=True)
    assert (best.ratio, best.low, best.high) == (1.0, None, None)
    assert (other.low, other.high) == pytest.approx((1 / 7.15, 1 / 2.94), rel=1e-3)
    assert verdicts([best, other, few]) == ["compared with", "lower, beyond chance", "too small to tell"]
    alike = rates(groups, set(), favourable=True)
    assert verdicts(alike) == ["nothing to compare"] * 3


def test_people_are_counted_once_at_each_stage_and_withdrawn_proposals_not_at_all() -> None:
    proposals = [
        Proposal(1, 1, 3, 4, "withdrawn"),
        Proposal(2, 1, NOBODY, 5),
        Proposal(3, 2, 1, 6, "rejected"),
        Proposal(4, 2, 1, 6, "started", leaver=2),
        Proposal(5, 3, 0, 7, "declined"),
        Proposal(6, 3, 0, 8, "offered"),
        Proposal(7, 4, NOBODY, 9, "started", leaver=NOBODY),
    ]
    assert stages(proposals) == {
        "coming in": {"proposed": {5, 6, 7, 8, 9}, "approved": {6, 7, 8, 9}, "started": {6, 9}},
        "going out": {"proposed": {0, 1}, "let go": {2}},
    }


def test_going_out_is_told_of_those_who_were_in_the_team() -> None:
    groups = {0: "a", 1: "a", 2: "b", 3: "b", 4: "b"}
    proposals = [Proposal(1, 1, 0, 3, status="started", leaver=0), Proposal(2, 1, 2, 4, status="withdrawn")]
    by_stage = tables(groups, proposals, {0, 1, 2, 3})
    let_go, started = by_stage["going out"]["let go"], by_stage["coming in"]["started"]
    assert {rate.group: (rate.people, rate.chosen) for rate in let_go} == {"a": (2, 1), "b": (2, 0)}
    assert {rate.group: (rate.people, rate.chosen) for rate in started} == {"a": (2, 0), "b": (3, 1)}
