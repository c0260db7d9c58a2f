"""Tenure by group: stays from stints, shares kept, and newcomers."""

from dataclasses import replace

import pytest

from crewlearn.advisor.evidence.intervals import wilson
from crewlearn.advisor.evidence.tenure import NEW, Stay, kept_for, newcomers, stays_of, tenures
from crewlearn.advisor.ledger.site import Proposal, Site
from crewlearn.advisor.ledger.team.stints import Stint
from support.stores import config


def test_stays_join_stations_and_end_by_advice_only_where_it_let_them_go() -> None:
    site = replace(Site.empty(config(team=3)), period=101, first_team=[0, 1])
    stints = [
        Stint(0, 0, 1, 41),  # let go
        Stint(1, 1, 1, 11),  # moves to another station, where they still are
        Stint(2, 1, 11, None),
        Stint(0, 2, 41, 61),  # ended, but not by advice
        Stint(0, 0, 71, 81),  # came back, as a newcomer
        Stint(1, 3, 51, None),
    ]
    gone = Proposal(1, 40, 0, 2, status="started", leaver=0, settled_in=41)
    asked = Proposal(2, 60, 2, 4, status="declined", settled_in=61)
    assert stays_of(site, stints, [gone, asked]) == [
        Stay(0, 40, 0, True),
        Stay(0, 10, 10, False),
        Stay(1, 100, 0, False),
        Stay(2, 20, 20, False),
        Stay(3, 50, NEW, False),
    ]


def test_without_ends_otherwise_the_share_kept_is_the_plain_share() -> None:
    stays = [Stay(n, 5 + n if n < 8 else 90, 0, n < 8) for n in range(40)]
    kept = kept_for(stays, 60)
    assert kept is not None
    assert kept.share == pytest.approx(32 / 40)
    assert (kept.low, kept.high) == pytest.approx(wilson(32 / 40, 40))  # Greenwood's variance is then the binomial one
    assert kept_for(stays, 91) is None  # nobody has been there so long
    nobody = kept_for([Stay(n, 60, 0, False) for n in range(10)], 60)
    assert nobody is not None
    assert nobody.share == 1.0
    assert nobody.low == pytest.approx(wilson(1.0, 10)[0])


def test_ends_otherwise_are_neither_kept_nor_let_go() -> None:
    """By hand: 1 of 20 goes on day 10, 8 are lost to sight on day 20, 1 of the remaining 11 goes on day 30."""
    stays = [Stay(0, 10, 0, True), *(Stay(n, 20, 0, False) for n in range(1, 9)), Stay(9, 30, 0, True)]
    kept = kept_for([*stays, *(Stay(n, 70, 0, False) for n in range(10, 20))], 60)
    assert kept is not None
    assert kept.share == pytest.approx((1 - 1 / 20) * (1 - 1 / 11))


def test_groups_are_compared_with_all_others_and_newcomers_with_themselves_later() -> None:
    stays = [Stay(0, 100, 0, True), Stay(1, 20, 20, True), Stay(2, 50, NEW, True), Stay(3, 30, NEW, False)]
    first, second = tenures({0: "a", 1: "b", 2: "b", 4: "b"}, stays, few=2)
    assert (first.group, first.people, first.days, first.let_go, first.small) == ("a", 1, 100, 1, True)
    assert (second.people, second.days, second.let_go, second.small) == (2, 70, 2, False)
    assert second.ratio.value == pytest.approx((2 / 70) / (1 / 100))
    told = newcomers(stays)
    assert (told.days, told.let_go, told.later_days, told.later_let_go) == (80, 1, 120, 2)
    assert told.ratio.value == pytest.approx((1 / 80) / (2 / 120))
