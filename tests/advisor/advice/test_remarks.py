"""Saying no well: a rejection concerns one of the two people at most, and what is said of people ends on its day."""

from datetime import date, timedelta
from typing import Any

import pytest

from crewlearn.advisor.advice import commands, remarks
from crewlearn.advisor.advice.remarks import A_WHILE, FOR_GOOD, Term
from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.site import BLOCKED, POOL, Proposal
from crewlearn.advisor.ledger.site.remarks import Remark
from crewlearn.advisor.wording.explain import members
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import InvalidInput
from support import holds
from support.lives import BAD, GOOD, WEEKDAYS, Life

POLICIES = (
    "value-of-replacement:noise_sd=0.05,between_sd=0.3,centre=0.5",
    "dr-ucb:gamma=1",
    "value-of-replacement-evolving",
)


def proposed(life: Life, workers: int = 6, **changes: Any) -> Proposal:
    """Return the proposal to replace w1, who is bad."""
    life.create(workers, **changes)
    life.days(9, w0=GOOD, w1=BAD)
    return life.first()


def turned_down(life: Life, number: int, how: str, term: Term = A_WHILE) -> date | None:
    return remarks.turn_down(life.store, "s", number, "bo", how, "because", term=term)


@pytest.mark.parametrize("policy", POLICIES)
def test_keeping_a_person_leaves_the_candidate_available(life: Life, policy: str) -> None:
    proposal = proposed(life, policy=policy)
    until = turned_down(life, proposal.id, "keep", Term(days=14))
    site = life.site
    assert until == site.day + timedelta(days=14)
    assert not site.may_leave(proposal.out)
    assert site.protection_of(proposal.out) == Remark("because", "bo", "2027-06-01T00:00:00.000+00:00", until)
    assert site.may_enter(proposal.into)
    assert site.workers[proposal.into].barred_until == 0
    assert all(out != proposal.out for out, _ in life.open())
    assert life.proposals[proposal.id - 1].reason == "because"


@pytest.mark.parametrize("policy", POLICIES)
def test_refusing_a_candidate_leaves_the_person_replaceable(life: Life, policy: str) -> None:
    proposal = proposed(life, policy=policy)
    until = turned_down(life, proposal.id, "not-candidate", Term(until=date(2026, 3, 1)))
    site = life.site
    assert until == date(2026, 3, 1)
    assert site.may_leave(proposal.out)
    assert not site.may_enter(proposal.into)
    assert site.workers[proposal.into].status == POOL
    assert proposal.out in [out for out, _ in life.open()], "the next best is proposed at once"
    assert proposal.into not in [into for _, into in life.open()]


@pytest.mark.parametrize("policy", POLICIES)
def test_not_now_bars_the_exchange_and_nobody(life: Life, policy: str) -> None:
    proposal = proposed(life, policy=policy)
    ends = life.site.period + life.site.config.ask_again_after
    assert turned_down(life, proposal.id, "not-now") == WEEKDAYS.date_of(ends)
    pair = (proposal.out, proposal.into)
    while life.site.period < ends:
        assert life.site.may_leave(proposal.out)
        assert life.site.may_enter(proposal.into)
        assert life.site.is_set_aside(*pair)
        assert pair not in life.open()
        life.record(w0=GOOD, w1=BAD)
    assert not life.site.is_set_aside(*pair)


def test_not_now_lets_the_candidate_come_in_for_another_and_the_leaver_go_for_another(life: Life) -> None:
    """With one good candidate and two bad people, the candidate is proposed for the other one."""
    life.create(workers=3, team=2)
    life.days(9, w0=0.2, w1=BAD)
    first = life.first()
    assert (first.out, first.into) == (1, 2)
    turned_down(life, first.id, "not-now")
    assert life.open() == [(0, 2)]
    commands.undo(life.store, "s", "bo")
    assert life.open() == [(1, 2)]


def test_not_now_proposes_the_next_best_where_that_is_better(life: Life) -> None:
    proposal = proposed(life)
    turned_down(life, proposal.id, "not-now")
    (out, into), *_ = life.open()
    assert out == proposal.out, "w0 is good, so w1 leaves for somebody else"
    assert into != proposal.into


def test_the_old_form_still_bars_the_candidate(life: Life) -> None:
    proposal = proposed(life)
    commands.reject(life.store, "s", proposal.id, "bo", "no")
    assert not life.site.may_enter(proposal.into)
    assert not life.site.remarks


@pytest.mark.parametrize("policy", POLICIES)
def test_what_is_kept_or_blocked_until_a_day_ends_by_itself_on_that_day(life: Life, policy: str) -> None:
    """The end may be a day on which nobody works; the first advice after it takes it into account."""
    life.create(workers=3, team=2, policy=policy)
    life.days(9, w0=GOOD, w1=BAD)
    saturday = next(life.site.day + timedelta(days=days) for days in range(7, 14) if _is_saturday(life, days))
    holds.pin(life.store, "s", "w1", "ann", "trains the others", term=Term(until=saturday))
    holds.block(life.store, "s", "w2", "ann", "on holiday", term=Term(until=saturday))
    while life.site.day < saturday:
        assert life.open() == []
        assert (life.site.may_leave(1), life.site.may_enter(2)) == (False, False)
        life.record(w0=GOOD, w1=BAD)
    assert (life.site.may_leave(1), life.site.may_enter(2)) == (True, True)
    if not policy.startswith("dr-ucb"):  # which first completes its cycle of learning
        assert life.open() == [(1, 2)], "the policy looks again at once, however long it meant to wait"


def _is_saturday(life: Life, days: int) -> bool:
    return (life.site.day + timedelta(days=days)).weekday() == 5


def test_for_good_uses_the_flags_that_there_were_and_says_why(life: Life) -> None:
    proposal = proposed(life)
    assert turned_down(life, proposal.id, "not-candidate", FOR_GOOD) is None
    site = life.site
    assert site.workers[proposal.into].status == BLOCKED
    assert (block := site.block_on(proposal.into)) is not None
    assert (block.text, block.by, block.until) == ("because", "bo", None)
    commands.change_worker(life.store, "s", f"w{proposal.into}", "ann", status="pool")
    assert life.site.block_on(proposal.into) is None
    holds.pin(life.store, "s", "w1", "ann", "trains the others")
    assert life.site.workers[1].pinned
    assert life.site.protection_of(1) is not None
    assert not life.open()
    commands.change_worker(life.store, "s", "w1", "ann", pinned=False)
    assert life.site.protection_of(1) is None
    assert life.open()


def test_a_pin_with_an_end_is_lifted_or_replaced_like_any_other(life: Life) -> None:
    proposed(life)
    holds.pin(life.store, "s", "w1", "ann", term=Term(days=30))
    assert (life.site.is_pinned(1), life.site.workers[1].pinned) == (True, False)
    assert commands.change_worker(life.store, "s", "w1", "ann", pinned=False) == {"pinned": (True, False)}
    assert not life.site.is_pinned(1)
    holds.pin(life.store, "s", "w1", "ann", term=Term(days=30))
    assert commands.change_worker(life.store, "s", "w1", "ann", pinned=True) == {"pinned": (True, True)}
    assert life.site.workers[1].pinned
    assert commands.change_worker(life.store, "s", "w1", "ann", pinned=True) == {}
    holds.block(life.store, "s", "w5", "ann", term=Term(days=30))
    assert commands.change_worker(life.store, "s", "w5", "ann", status="pool") == {"status": ("blocked", "pool")}
    assert life.site.may_enter(5)


@pytest.mark.parametrize("how", ["keep", "not-candidate", "not-now"])
def test_undo_takes_back_the_answer_and_what_it_said(life: Life, how: str) -> None:
    proposal = proposed(life)
    before = life.site.to_json()
    turned_down(life, proposal.id, how)
    commands.undo(life.store, "s", "bo")
    after = life.site.to_json()
    assert (proposal.out, proposal.into) in life.open()
    assert "remarks" not in after
    assert after["workers"] == before["workers"]


def test_a_note_stands_until_its_day_and_does_not_prevent_an_undo(life: Life) -> None:
    proposal = proposed(life)
    turned_down(life, proposal.id, "keep")
    remarks.add_note(life.store, "s", "w1", "ann", " on the evening course ", term=Term(days=3))
    remarks.add_note(life.store, "s", "w1", "cy", "speaks Polish")
    assert [(note.text, note.by) for note in life.site.notes_on(1)] == [
        ("on the evening course", "ann"),
        ("speaks Polish", "cy"),
    ]
    commands.undo(life.store, "s", "bo")
    assert (proposal.out, proposal.into) in life.open()
    assert len(life.site.notes_on(1)) == 2
    life.days(3, w0=GOOD, w1=BAD)
    assert [note.text for note in life.site.notes_on(1)] == ["speaks Polish"]
    remarks.add_note(life.store, "s", "w1", "ann", "back from the course")
    assert len(life.site.remarks.notes[1]) == 2, "what ended is dropped"
    commands.erase_worker(life.store, "s", "w1", "ann")
    assert not life.site.remarks


def test_erasing_a_person_drops_what_was_said_of_them(life: Life) -> None:
    proposed(life)
    holds.pin(life.store, "s", "w1", "ann", "a reason", term=Term(days=9))
    commands.erase_worker(life.store, "s", "w1", "ann")
    assert not life.site.remarks


def test_a_person_may_let_go_somebody_who_is_kept_with_a_warning(life: Life) -> None:
    proposal = proposed(life)
    holds.pin(life.store, "s", "w0", "ann", term=Term(until=date(2026, 3, 2)))
    warnings = commands.approve(life.store, "s", proposal.id, "bo", out="w0")
    assert warnings == ["w0 is pinned until 2026-03-02, and leaves by your decision"]


def test_members_say_until_when(life: Life) -> None:
    proposal = proposed(life)
    turned_down(life, proposal.id, "keep", Term(until=date(2026, 3, 2)))
    holds.block(life.store, "s", "w5", "ann", term=Term(until=date(2026, 3, 3)))
    notes = {member.number: member.note for member in members(life.site, life.people)}
    assert notes[1] == "pinned until 2026-03-02"
    assert notes[5] == "blocked until 2026-03-03"


def test_what_makes_no_sense_is_refused_and_changes_nothing(life: Life) -> None:
    life.create(team=2, active=1)
    assert [out for out, _ in life.open()] == [NOBODY]
    number, before = life.first().id, life.events
    with pytest.raises(InvalidInput, match="as = 'keep': nobody would leave"):
        turned_down(life, number, "keep")
    with pytest.raises(InvalidInput, match=r"until = '2026-01-05': must be after 2026-01-05"):
        turned_down(life, number, "not-candidate", Term(until=date(2026, 1, 5)))
    with pytest.raises(InvalidInput, match="not-now` lasts"):
        turned_down(life, number, "not-now", Term(days=3))
    with pytest.raises(InvalidInput, match="unknown"):
        turned_down(life, number, "never")
    with pytest.raises(InvalidInput, match="choose one"):
        Term(until=date(2027, 1, 1), days=3)
    with pytest.raises(InvalidInput, match="days = 0"):
        Term(days=0)
    with pytest.raises(InvalidInput, match="note"):
        remarks.add_note(life.store, "s", "w1", "ann", "  ")
    with pytest.raises(Conflict, match="does not exist"):
        turned_down(life, 99, "not-now")
    commands.change_worker(life.store, "s", "w5", "ann", status="left")
    with pytest.raises(InvalidInput, match="has left"):
        holds.block(life.store, "s", "w5", "ann")
    assert life.events == before + 2, "the change of w5, and advice"
