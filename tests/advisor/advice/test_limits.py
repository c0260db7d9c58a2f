"""Limits in a week and month, of replacements and of money; filling an empty station is free of all of them."""

from datetime import date
from typing import Any

import pytest

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.answering import answer_many, approval
from crewlearn.advisor.advice.limits import Limit, holding_back, limits_of
from crewlearn.advisor.ledger.events import canonical
from crewlearn.advisor.ledger.settings.config import BUDGETS, SiteConfig
from crewlearn.advisor.ledger.site import PROPOSED
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import InvalidInput
from support.lives import BAD, GOOD, WEEKDAYS, Life


def bad_team(life: Life, days: int = 5, **changes: Any) -> None:
    """Make a site whose three people are all bad, and whose pool is large."""
    life.create(workers=40, team=3, **{"most_a_week": None, **changes})
    life.days(days, w0=BAD, w1=BAD, w2=BAD)


def work(life: Life) -> None:
    outputs: dict[str, Any] = {f"w{number}": BAD if number < 3 else GOOD for number in life.site.roster.active}
    life.record(**outputs)


@pytest.mark.parametrize(
    ("changes", "proposed"),
    [
        ({}, 3),
        ({"most_a_month": 2}, 2),
        ({"budget_a_week": 2.5}, 2),
        ({"budget_a_month": 1.0}, 1),
        ({"budget_a_month": 0.99}, 0),
        ({"most_a_week": 2, "budget_a_month": 1.5}, 1),
        ({"most_a_week": 1, "budget_a_month": 9.0, "most_a_month": 2}, 1),
    ],
)
def test_each_limit_holds_back_what_is_beyond_it(life: Life, changes: dict[str, Any], proposed: int) -> None:
    bad_team(life, **changes)
    assert len(life.open()) == proposed
    assert len(life.site.held_back) == 3 - proposed


def test_a_month_s_limit_holds_to_the_end_of_the_month_and_approvals_use_it(life: Life) -> None:
    """January 2026 has 20 working days after the first fifteen on record, so approvals must be kept that long."""
    bad_team(life, days=3, most_a_month=1)
    commands.approve(life.store, "s", life.first().id, "bo")
    commands.record_offer(life.store, "s", 1, "started", "bo")
    while life.site.day < date(2026, 2, 1):
        assert life.open() == []
        assert [(limit.most, limit.used) for limit in limits_of(life.site)] == [(1, 1.0)]
        work(life)
    assert len(life.open()) == 1
    assert [limit.used for limit in limits_of(life.site)] == [0.0]


def test_money_counts_when_it_is_agreed_and_not_for_offers_that_failed(life: Life) -> None:
    bad_team(life, budget_a_week=2.0, fee_due="completion")
    first, second = life.site.open_proposals(PROPOSED)
    answer_many(life.store, "s", [first.id, second.id], approval(), "bo")
    assert limits_of(life.site) == [Limit("budget_a_week", "week", True, 2.0, 2.0)]
    assert life.open() == []
    commands.record_offer(life.store, "s", first.id, "declined", "bo")
    assert limits_of(life.site)[0].left == 1.0
    assert len(life.open()) == 1, "a decline brings the next candidate"


def test_a_dear_candidate_does_not_hold_back_a_cheap_one(life: Life) -> None:
    life.create(workers=6, team=2, most_a_week=None, budget_a_week=1.5, policy="a-omm")
    for number in range(2, 6):
        commands.change_worker(life.store, "s", f"w{number}", "ann", fee=1.0 if number % 2 else 9.0)
    for _ in range(20):
        work(life)
        if life.site.held_back:
            break
    wanted = [*life.open(), *life.site.held_back]
    assert life.site.held_back
    assert all(life.site.fee_of(into) == 9.0 or len(life.open()) == 1 for _, into in life.site.held_back)
    assert len(wanted) >= len(life.open())


def test_filling_an_empty_station_is_free_of_every_limit(life: Life) -> None:
    none_left = {"most_a_week": 0, "most_a_month": 0, "budget_a_week": 0.0, "budget_a_month": 0.0}
    life.create(workers=9, team=4, active=2, **none_left)
    assert [out for out, _ in life.open()] == [NOBODY, NOBODY]
    answer_many(life.store, "s", [p.id for p in life.site.open_proposals(PROPOSED)], approval(), "bo")
    assert all(limit.used == 0.0 for limit in limits_of(life.site))


def test_the_limit_that_holds_back_is_named(life: Life) -> None:
    bad_team(life, most_a_week=3, budget_a_month=1.0)
    assert [limit.setting for limit in holding_back(life.site)] == ["budget_a_month"]


def test_budgets_are_on_record_only_where_they_are_set(life: Life) -> None:
    life.create()
    plain = life.site.config
    assert plain.to_json().keys().isdisjoint(BUDGETS)
    assert SiteConfig.from_json(plain.to_json()) == plain
    commands.change_site(life.store, "s", {"budget_a_month": 500.0, "most_a_month": 3}, "ann")
    assert (life.site.config.budget_a_month, life.site.config.most_a_month) == (500.0, 3)
    commands.change_site(life.store, "s", {"budget_a_month": None, "most_a_month": None}, "ann")
    assert life.site.config == plain
    assert canonical(life.site.config.to_json()) == canonical(plain.to_json())
    with pytest.raises(InvalidInput, match="budget_a_week = -1"):
        commands.change_site(life.store, "s", {"budget_a_week": -1}, "ann")
    with pytest.raises(InvalidInput, match=r"most_a_month = 1\.5"):
        commands.change_site(life.store, "s", {"most_a_month": 1.5}, "ann")


def test_a_month_is_that_of_the_calendar() -> None:
    assert WEEKDAYS.month_of(1) == (2026, 1)
    assert WEEKDAYS.date_of(20) == date(2026, 1, 30)
    assert (WEEKDAYS.month_of(20), WEEKDAYS.month_of(21)) == ((2026, 1), (2026, 2))
