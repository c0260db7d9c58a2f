"""Money: fees, the value of output, and the gain of replacements."""

import pytest

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.facts import facts
from crewlearn.advisor.evidence.gain import Gain
from crewlearn.advisor.files import output_imports
from crewlearn.advisor.files.columns import OutputRow
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.site import PROPOSED
from crewlearn.advisor.ledger.team.stints import Stint
from crewlearn.advisor.wording.explain import explain, sentence
from support.lives import BAD, GOOD, Life


def test_the_fee_falls_due_when_the_site_says(life: Life) -> None:
    life.create(fee_due="completion")
    life.days(5, w0=GOOD, w1=BAD)
    commands.approve(life.store, "s", life.first().id, "bo")
    assert life.site.fees == 0.0
    commands.record_offer(life.store, "s", 1, "started", "bo")
    assert life.site.fees == 1.0


def test_a_fee_is_paid_once_whatever_is_changed_on_the_way(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=BAD)
    commands.approve(life.store, "s", life.first().id, "bo")
    commands.change_site(life.store, "s", {"fee_due": "completion"}, "ann")
    commands.record_offer(life.store, "s", 1, "started", "bo")
    assert life.site.fees == 1.0


def test_workers_have_their_own_fee(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=BAD)
    into = life.first().into
    commands.change_worker(life.store, "s", f"w{into}", "ann", fee=2.5)
    number = next(proposal.id for proposal in life.site.open_proposals(PROPOSED) if proposal.into == into)
    commands.approve(life.store, "s", number, "bo")
    assert life.site.fees == 2.5


def test_who_held_which_station_when(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=BAD)
    into = life.first().into
    commands.approve(life.store, "s", life.first().id, "bo")
    life.days(2, w0=GOOD, w1=BAD)
    commands.record_offer(life.store, "s", 1, "started", "bo", period=7)
    after = [Stint(0, 0, 1), Stint(1, 1, 1, 7), Stint(1, into, 7)]
    assert life.stints == after
    commands.undo(life.store, "s", "bo")
    assert life.stints == [Stint(0, 0, 1), Stint(1, 1, 1)]
    commands.record_offer(life.store, "s", 1, "started", "bo", period=7)
    commands.change_worker(life.store, "s", "w0", "ann", status="left")
    assert life.stints == [Stint(0, 0, 1, 8), *after[1:]]
    for proposal in life.site.open_proposals(PROPOSED):
        commands.reject(life.store, "s", proposal.id, "bo")
    commands.change_site(life.store, "s", {"team": 1}, "ann")
    assert life.stints == [Stint(0, 0, 1, 8), Stint(0, into, 8), Stint(1, 1, 1, 7), Stint(1, into, 7, 8)]


def test_the_gain_is_that_of_recorded_output_over_who_would_have_stayed(life: Life) -> None:
    life.create(units=Units(20.0, 80.0, value_per_unit=2.0), fee=10.0)
    life.days(10, w0=70.0, w1=26.0)
    into = life.first().into
    commands.approve(life.store, "s", life.first().id, "bo")
    commands.record_offer(life.store, "s", 1, "started", "bo")
    life.days(10, w0=70.0, **{f"w{into}": 60.0})
    commands.change_site(life.store, "s", {"units": Units(20.0, 80.0, value_per_unit=3.0).to_json()}, "ann")
    life.days(10, w0=70.0, **{f"w{into}": 60.0})
    record = life.track_record
    exact = (10 * 2.0 + 10 * 3.0) * (60.0 - 26.0) - 10.0
    assert record.gain.low < exact < record.gain.high
    assert record.gain.expected == pytest.approx(exact, rel=0.15)
    assert len(record.by_period.expected) == 30
    assert record.by_period.fees.tolist() == [0.0] * 10 + [10.0] * 20
    [outcome] = record.outcomes
    assert (outcome.proposal.id, outcome.days, outcome.gain) == (1, 20, record.gain)
    assert outcome.even_in is not None
    assert 10 < outcome.even_in < 15  # 68 a day against a fee of 10


def test_money_is_what_each_day_was_worth_then(life: Life) -> None:
    life.create(units=Units(20.0, 80.0, value_per_unit=0.5))
    life.record(w0=90.0, w1=50.0)  # output beyond the range is still paid
    assert life.site.earned == 70.0
    rows = [OutputRow(2, None, 2, "w0", 30.0, 4.0, "partial"), OutputRow(3, None, 2, "w1", None, None, "absent")]
    output_imports.import_output(life.store, "s", rows, b"", "ann")
    assert life.site.earned == 85.0
    commands.change_site(life.store, "s", {"units": Units(20.0, 80.0, value_per_unit=2.0).to_json()}, "ann")
    assert life.site.earned == 85.0
    life.record(w0=10.0, w1=10.0)
    assert life.site.earned == 125.0
    life.record(period=1, correct=True, w0=80.0)
    assert life.site.earned == 120.0


def test_money_saved_where_less_is_better(life: Life) -> None:
    life.create(units=Units(30.0, 0.0, value_per_unit=2.0), fee=10.0)
    life.record(w0=6.0, w1=40.0)
    assert life.site.earned == 2.0 * (24.0 - 10.0)


def test_somebody_too_dear_is_left_out_and_said_to_be(life: Life) -> None:
    life.create(workers=4)
    life.days(5, w0=GOOD, w1=BAD)
    dear = life.first()
    worth = facts(life.site, dear).break_even
    assert worth is not None
    assert worth > 1.0
    commands.change_worker(life.store, "s", f"w{dear.into}", "ann", fee=0.9 * worth)
    assert dear.into in [into for _, into in life.open()]
    assert facts(life.site, life.first()).fee == 0.9 * worth
    assert f"the fee is {0.9 * worth:,.2f}" in " ".join(explain(life.site, life.people, life.first()))
    commands.change_worker(life.store, "s", f"w{dear.into}", "ann", fee=1.1 * worth)
    assert dear.into not in [into for _, into in life.open()]
    for into in {2, 3} - {dear.into}:
        commands.change_worker(life.store, "s", f"w{into}", "ann", fee=1.1 * worth)
    assert life.open() == []
    assert "not at the fee that they cost" in sentence(life.site, life.people)


def test_a_station_is_never_held_by_two(life: Life) -> None:
    life.create(team=1)
    life.days(4, w0=BAD)
    into = life.first().into
    commands.approve(life.store, "s", life.first().id, "bo")
    life.days(4, w0=BAD)
    commands.change_worker(life.store, "s", "w0", "ann", status="left")  # recorded after their last output
    commands.record_offer(life.store, "s", 1, "started", "bo", period=7)
    assert life.stints == [Stint(0, 0, 1, 9), Stint(0, into, 9)]


def test_nothing_is_gained_where_nobody_was_replaced(life: Life) -> None:
    life.create(team=3, policy="keep-team")
    life.days(5, w0=0.2, w1=0.5, w2=0.7)
    commands.change_worker(life.store, "s", "w0", "ann", status="left")
    commands.change_site(life.store, "s", {"team": 2}, "ann")
    life.days(15, w1=0.5, w2=0.7)
    assert life.track_record.gain == Gain(0.0, 0.0, 0.0)


def test_bringing_in_the_first_team_is_no_cost_of_replacing(life: Life) -> None:
    life.create(active=0, fee=50.0, policy="a-omm")
    for number in [proposal.id for proposal in life.site.open_proposals(PROPOSED)]:
        commands.approve(life.store, "s", number, "bo")
        commands.record_offer(life.store, "s", number, "started", "bo")
    life.days(1, **{f"w{worker}": 0.5 for worker in life.site.roster.active})
    assert life.site.fees == 100.0
    assert life.track_record.gain == Gain(0.0, 0.0, 0.0)


@pytest.mark.parametrize("fee", [0.1, 0.0])
def test_dr_ucb_leaves_out_who_could_never_be_worth_their_fee(life: Life, fee: float) -> None:
    life.create(policy="dr-ucb:gamma=1", fee=fee, workers=3)
    most = 200.0  # the best possible output in every period left
    commands.change_worker(life.store, "s", "w2", "ann", fee=most)
    life.record(w0=GOOD, w1=BAD)
    assert life.open() == []
    assert "not at the fee that they cost" in sentence(life.site, life.people)
    commands.change_worker(life.store, "s", "w2", "ann", fee=100.0)
    first_facts = facts(life.site, life.first())
    assert first_facts.needed_gain == pytest.approx(100.0 / (200 - 2))
    assert first_facts.break_even is not None
    assert first_facts.break_even > 100.0
