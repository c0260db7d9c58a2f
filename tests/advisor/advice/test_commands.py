"""Commands on a site: advising, answering, recording, correcting, changing and undoing."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from crewlearn.advisor.advice import commands
from crewlearn.advisor.files import output_imports, worker_imports
from crewlearn.advisor.files.columns import OutputRow, WorkerRow
from crewlearn.advisor.files.recording.import_result import ImportResult
from crewlearn.advisor.ledger import transaction
from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.events import LIMIT_ON_REFILLS, envelope
from crewlearn.advisor.ledger.queries import read_proposals
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.site import PROPOSED
from crewlearn.advisor.ledger.team.stints import Stint
from crewlearn.advisor.ledger.verify import verify
from crewlearn.advisor.wording.explain import members, sentence
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import InvalidInput
from support.lives import BAD, GOOD, WEEKDAYS, Life


def test_a_bad_worker_is_proposed_to_be_replaced_and_asking_changes_nothing(life: Life) -> None:
    life.create()
    assert life.open() == []
    life.days(5, w0=GOOD, w1=BAD)
    assert [out for out, _ in life.open()] == [1]
    before = life.events
    assert sentence(life.site, life.people) == sentence(life.site, life.people)
    assert "replace Name 1 (w1) by" in sentence(life.site, life.people)
    assert life.events == before


def test_the_same_file_again_changes_nothing_and_another_value_is_a_conflict(life: Life) -> None:
    life.create()
    life.record(w0=0.5, w1=0.6)
    before = life.events
    assert life.record(period=1, w0=0.5, w1=0.6) == ImportResult(known=2)
    assert life.events == before
    with pytest.raises(Conflict, match=r"line 2, worker w0: 0\.5 is on record, the file has 0\.7"):
        life.record(period=1, w0=0.7, w1=0.6)
    assert life.events == before
    assert life.record(period=1, correct=True, w0=0.7, w1=0.6).corrected == 1
    assert life.site.estimates.sums[:2].tolist() == [0.7, 0.6]


def test_corrections_and_late_rows_give_the_same_sums_as_if_recorded_in_order(life: Life) -> None:
    life.create()
    values = [0.1, 0.7, 0.30000000000000004, 0.2, 0.6]
    life.record(period=1, w0=0.1)
    life.record(period=4, w0=0.9)
    life.record(period=5, w0=0.6)
    life.record(period=3, w0=values[2])
    life.record(period=2, w0=values[1])
    life.record(period=4, correct=True, w0=0.2)
    total = squares = 0.0
    for value in values:
        total += value
        squares += value * value
    assert life.site.estimates.sums[0] == total
    assert life.site.estimates.squares[0] == squares
    assert life.site.estimates.counts[0] == 5


def test_not_worked_is_not_zero(life: Life) -> None:
    life.create()
    life.record(w0=0.5, w1="absent")
    life.record(w0="no-show", w1="sent-home")
    life.record(w0="absent", w1=0.4)
    assert life.site.estimates.counts[:2].tolist() == [1, 1]
    assert life.site.period == 4


def test_strangers_output_is_kept_learned_from_and_warned_about(life: Life) -> None:
    life.create()
    done = life.record(w0=0.5, w5=0.9)
    assert any("not in the team" in warning for warning in done.warnings)
    assert life.site.estimates.counts[5] == 1


def test_output_outside_the_range_is_clipped_for_the_policy_and_kept(life: Life) -> None:
    life.create(units=Units(20.0, 80.0))
    done = life.record(w0=95.0, w1=50.0)
    assert any("1 of 2 outputs is outside the range" in warning for warning in done.warnings)
    assert life.site.estimates.sums[:2].tolist() == [1.0, 0.5]


def test_where_less_is_better_few_errors_are_good(life: Life) -> None:
    life.create(units=Units(10.0, 0.0), fee=10.0)
    life.days(5, w0=1.0, w1=9.0)
    assert [out for out, _ in life.open()] == [1]
    best = members(life.site, life.people)[0]
    assert best.estimate.mean < 3.0
    assert best.estimate.low < best.estimate.mean < best.estimate.high


def test_a_decline_brings_the_next_candidate_and_undo_takes_it_back(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=BAD)
    proposal = life.first()
    commands.approve(life.store, "s", proposal.id, "bo")
    assert life.site.fees == 1.0
    assert life.site.roster.pending[0].into == proposal.into
    approved = life.site.to_json()
    commands.record_offer(life.store, "s", proposal.id, "declined", "bo")
    assert life.open()
    assert life.first().into != proposal.into
    assert not life.site.may_enter(proposal.into)
    commands.undo(life.store, "s", "bo")
    after = life.site
    assert after.open_proposals("approved")[0].into == proposal.into
    assert after.roster.pending[0].into == proposal.into
    assert after.may_enter(proposal.into)
    assert after.fees == approved["fees"]
    assert life.open() == []


def test_a_start_seats_the_incoming_and_undo_unseats_them(life: Life) -> None:
    life.create(learn_delay=True)
    life.days(5, w0=GOOD, w1=BAD)
    proposal = life.first()
    commands.approve(life.store, "s", proposal.id, "bo")
    life.days(2, w0=GOOD, w1=BAD)
    before = life.site
    commands.record_offer(life.store, "s", proposal.id, "started", "bo")
    after = life.site
    assert set(after.roster.active) == {0, proposal.into}
    assert after.workers[proposal.into].since == after.period
    assert after.mean_delay == pytest.approx((2.0 + 2.0) / 2)
    commands.undo(life.store, "s", "bo")
    again = life.site
    assert again.roster.stations == before.roster.stations
    assert again.mean_delay == 2.0
    commands.record_offer(life.store, "s", proposal.id, "started", "bo")
    assert set(life.site.roster.active) == {0, proposal.into}
    with pytest.raises(Conflict, match="is started"):
        commands.record_offer(life.store, "s", proposal.id, "declined", "bo")


def test_rejections_are_kept_with_their_reason_and_not_asked_again_soon(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=BAD)
    proposal = life.first()
    commands.reject(life.store, "s", proposal.id, "bo", "knows the machine")
    assert proposal.into not in [into for _, into in life.open()]
    with life.store.reading() as connection:
        kept = {proposal.id: proposal for proposal in read_proposals(connection, life.store.site(connection, "s")[0])}
    assert (kept[proposal.id].status, kept[proposal.id].reason) == ("rejected", "knows the machine")
    commands.undo(life.store, "s", "bo")
    assert (proposal.out, proposal.into) in life.open()


def test_only_the_last_answer_can_be_taken_back_and_not_after_other_facts(life: Life) -> None:
    life.create()
    with pytest.raises(InvalidInput, match="no answer to take back"):
        commands.undo(life.store, "s", "bo")
    life.days(5, w0=GOOD, w1=BAD)
    commands.approve(life.store, "s", life.first().id, "bo")
    life.record(w0=GOOD, w1=BAD)
    with pytest.raises(InvalidInput, match="no answer to take back"):
        commands.undo(life.store, "s", "bo")


def test_a_person_may_choose_another_outgoing_worker(life: Life) -> None:
    life.create()
    life.days(5, w0=0.3, w1=BAD)
    proposal = life.first()
    assert proposal.out == 1
    commands.approve(life.store, "s", proposal.id, "bo", out="w0")
    commands.record_offer(life.store, "s", proposal.id, "started", "bo")
    assert set(life.site.roster.active) == {1, proposal.into}


def test_unanswered_proposals_stand_with_their_number_as_long_as_they_are_right(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=BAD)
    number = life.first().id
    life.days(3, w0=GOOD, w1=BAD)
    assert life.first().id == number
    life.days(60, w0=GOOD, w1=1.0)
    assert number not in [proposal.id for proposal in life.site.open_proposals(PROPOSED)]


def test_leavers_leave_a_vacancy_which_the_rules_fill(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=GOOD)
    commands.change_worker(life.store, "s", "w1", "ann", status="left")
    assert life.site.roster.empty == 1
    (out, into) = life.open()[0]
    assert out == NOBODY
    assert into >= 2
    assert "bring in" in sentence(life.site, life.people)
    commands.approve(life.store, "s", life.first().id, "bo")
    commands.record_offer(life.store, "s", 1, "started", "bo")
    assert life.site.roster.empty == 0


def test_somebody_on_the_way_who_leaves_is_cancelled(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=BAD)
    proposal = life.first()
    commands.approve(life.store, "s", proposal.id, "bo")
    commands.change_worker(life.store, "s", f"w{proposal.into}", "ann", status="left")
    assert life.site.proposals[proposal.id].status == "cancelled"
    assert life.first().into != proposal.into


def test_pins_blocks_and_tenure_hold(life: Life) -> None:
    life.create(least_tenure=8)
    life.days(5, w0=GOOD, w1=BAD)
    assert life.open() == []  # too new
    life.days(4, w0=GOOD, w1=BAD)
    assert [out for out, _ in life.open()] == [1]
    commands.change_worker(life.store, "s", "w1", "ann", pinned=True)
    assert life.open() == []
    commands.change_worker(life.store, "s", "w1", "ann", pinned=False)
    into = life.first().into
    commands.change_worker(life.store, "s", f"w{into}", "ann", status="blocked")
    assert into not in [incoming for _, incoming in life.open()]


def test_no_more_are_proposed_than_a_week_allows(life: Life) -> None:
    life.create(workers=9, team=3, most_a_week=1)
    life.days(5, w0=BAD, w1=BAD, w2=BAD)
    assert len(life.open()) == 1
    assert len(life.site.held_back) >= 1
    commands.approve(life.store, "s", life.first().id, "bo")
    life.record(w0=BAD, w1=BAD, w2=BAD)
    week = WEEKDAYS.week_of(life.site.period)
    assert life.open() == []
    while WEEKDAYS.week_of(life.site.period) == week:
        life.record(w0=BAD, w1=BAD, w2=BAD)
    assert len(life.open()) == 1


def test_filling_an_empty_station_is_free_of_the_week_s_limit(life: Life) -> None:
    life.create(workers=9, team=4, active=2, most_a_week=1)
    assert [out for out, _ in life.open()] == [NOBODY, NOBODY]
    for proposal in life.site.open_proposals():
        assert proposal.filled_empty_station
        commands.approve(life.store, "s", proposal.id, "bo")
        commands.record_offer(life.store, "s", proposal.id, "started", "bo")
    outputs: dict[str, Any] = {f"w{number}": BAD for number in life.site.roster.active}
    life.days(3, **outputs)
    assert WEEKDAYS.week_of(life.site.period) == WEEKDAYS.week_of(1)
    assert len(life.open()) == 1, "the two who filled stations did not use up the limit"
    assert life.first().out != NOBODY
    assert life.site.held_back
    limited = life.first()
    commands.approve(life.store, "s", limited.id, "bo")
    assert life.open() == []
    staying = next(number for number in life.site.roster.active if number != limited.out)
    commands.change_worker(life.store, "s", f"w{staying}", "ann", status="left")
    assert [leaver for leaver, _ in life.open()] == [NOBODY], "who left is replaced, with the limit reached"


def test_advice_under_the_rules_that_limited_refills_is_verified_by_them(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        for module in (envelope, transaction):
            before.setattr(module, "RULE_VERSION", LIMIT_ON_REFILLS)
        life.create(workers=9, team=4, active=2, most_a_week=1)
        assert [out for out, _ in life.open()] == [NOBODY]
        assert [out for out, _ in life.site.held_back] == [NOBODY]
        commands.approve(life.store, "s", life.first().id, "bo")
        commands.record_offer(life.store, "s", 1, "started", "bo")
        assert life.open() == []
    advice = verify(life.store, "s").advice
    assert advice > 0
    commands.change_worker(life.store, "s", "w8", "ann", fee=0.5)
    assert [out for out, _ in life.open()] == [NOBODY], "the present rules hold from the next advice on"
    checked = verify(life.store, "s")
    assert (checked.sound, checked.advice, checked.older) == (True, advice + 1, 0)


def test_stations_without_anybody_are_filled_first(life: Life) -> None:
    life.create(active=0)
    assert [out for out, _ in life.open()] == [NOBODY, NOBODY]


def test_a_pool_smaller_than_the_team_is_allowed(life: Life) -> None:
    life.create(workers=1, team=3, active=1)
    life.record(w0=0.5)
    assert life.site.roster.empty == 2
    assert life.open() == []


def test_settings_change_from_now_on_and_the_record_says_so(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=BAD)
    commands.change_site(life.store, "s", {"fee": 10_000.0}, "ann")
    assert life.open() == []
    commands.change_site(life.store, "s", {"fee": 1.0, "team": 3}, "ann")
    assert NOBODY in [out for out, _ in life.open()]
    commands.change_site(life.store, "s", {"policy": "dr-ucb"}, "ann")
    assert life.site.config.policy == "dr-ucb"
    before = life.events
    commands.change_site(life.store, "s", {"policy": "dr-ucb"}, "ann")
    assert life.events == before
    for wrong in ({"policy": "oracle"}, {"team": 0}, {"colour": 1}):
        with pytest.raises(InvalidInput):
            commands.change_site(life.store, "s", wrong, "ann")
    assert life.events == before


def test_a_rolling_horizon_never_comes_nearer(life: Life) -> None:
    life.create(rolling=True, horizon=50)
    assert life.site.setting().horizon == 50
    life.days(5, w0=GOOD, w1=GOOD)
    assert life.site.setting().horizon - life.site.period == 49


def test_declined_offers_do_not_use_up_the_week(life: Life) -> None:
    life.create(most_a_week=1)
    life.days(5, w0=GOOD, w1=BAD)
    first = life.first()
    commands.approve(life.store, "s", first.id, "bo")
    commands.record_offer(life.store, "s", first.id, "declined", "bo")
    assert [out for out, _ in life.open()] == [1]
    assert life.first().into != first.into


def test_switches_are_true_or_false(life: Life) -> None:
    life.create()
    wrongs: list[dict[str, Any]] = [
        {"rolling": "False"},
        {"learn_delay": 1},
        {"units": 5},
        {"units": {}},
        {"calendar": {}},
    ]
    for wrong in wrongs:
        with pytest.raises(InvalidInput):
            commands.change_site(life.store, "s", wrong, "ann")


def test_earlier_encounters_at_a_rate_are_per_hour(life: Life) -> None:
    life.create(units=Units(5.0, 15.0, hours_per_period=8.0))
    worker_imports.import_workers(life.store, "s", [WorkerRow("new", prior_n=10, prior_mean=12.0)], b"", "ann")
    assert life.site.workers[6].prior_mean == pytest.approx(0.7)


def test_newcomers_join_with_earlier_encounters_in_people_s_units(life: Life) -> None:
    life.create(units=Units(20.0, 80.0))
    row = WorkerRow("new", "Newcomer", prior_n=30, prior_mean=65.0)
    done = worker_imports.import_workers(life.store, "s", [row], b"more", "ann")
    assert done.recorded == 1
    assert life.site.estimates.counts[6] == 30
    assert life.site.estimates.sums[6] == 30 * 0.75
    assert worker_imports.import_workers(life.store, "s", [row], b"more", "ann") == ImportResult(known=1)


def test_erasing_removes_the_person_and_not_the_record(life: Life) -> None:
    life.create()
    life.days(3, w0=GOOD, w1=0.5)
    commands.erase_worker(life.store, "s", "w1", "ann")
    assert life.people.label(1) == "worker 1 (erased)"
    assert life.site.estimates.counts[1] == 3
    raw = Path(str(life.store.engine.url.database)).read_bytes()
    with pytest.raises(InvalidInput, match="a worker known here"):
        life.record(w1=0.5)
    worker_imports.import_workers(life.store, "s", [WorkerRow("w1", "Somebody else")], b"", "ann")
    assert life.people.label(6) == "Somebody else (w1)"
    assert raw


def test_dates_are_of_the_calendar_and_not_in_the_future(life: Life) -> None:
    life.create()

    def on(day: date) -> ImportResult:
        return output_imports.import_output(
            life.store, "s", [OutputRow(2, day, None, "w0", 0.5, None, "worked")], b"", "ann"
        )

    assert on(date(2026, 1, 6)).recorded == 1
    assert life.site.period == 3  # the 6th is the second working day
    assert on(date(2026, 1, 10)).recorded == 1  # a Saturday, worked as overtime
    assert life.site.period == 6
    assert on(date(2026, 1, 1)).recorded == 1  # before the start
    for wrong, message in ((date(2027, 6, 2), "future"), (date(1926, 1, 6), "1926-01-06")):
        with pytest.raises(InvalidInput, match=message):
            on(wrong)


def test_undoing_a_decline_brings_back_the_other_proposals_of_the_day(life: Life) -> None:
    life.create(workers=8, team=3)
    life.days(5, w0=GOOD, w1=BAD, w2=BAD)
    first, other = life.site.open_proposals(PROPOSED)
    commands.approve(life.store, "s", first.id, "bo")
    before = life.site
    commands.record_offer(life.store, "s", first.id, "declined", "bo")
    commands.undo(life.store, "s", "bo")
    after = life.site
    assert after.open_proposals(PROPOSED) == before.open_proposals(PROPOSED) == [other]
    made_since = {proposal.id for proposal in after.proposals.values()} - {
        proposal.id for proposal in before.proposals.values()
    }
    assert all(after.proposals[number].status == "withdrawn" for number in made_since)
    for part in ("roster", "workers", "memory", "after", "fees", "failed", "completed", "delays", "advice"):
        assert after.to_json()[part] == before.to_json()[part], part


def test_what_was_said_of_a_worker_can_be_taken_back(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=0.5)
    before = life.site
    commands.change_worker(life.store, "s", "w0", "ann", status="left")
    assert life.site.roster.empty == 1
    commands.undo(life.store, "s", "ann")
    assert (life.site.roster, life.site.workers) == (before.roster, before.workers)
    assert life.stints == [Stint(0, 0, 1), Stint(1, 1, 1)]


def test_active_newcomers_take_no_station_from_hires_under_way(life: Life) -> None:
    life.create(active=0)
    commands.approve(life.store, "s", life.first().id, "bo")
    done = worker_imports.import_workers(life.store, "s", [WorkerRow("late", active=True)], b"", "ann")
    assert any("active" in warning for warning in done.warnings)
    assert len(life.site.roster.pending) == 1
    commands.record_offer(life.store, "s", 1, "started", "bo")
    assert life.site.roster.empty == 1


def test_a_week_s_limit_holds_however_many_shifts_it_has(life: Life) -> None:
    calendar = WorkCalendar(date(2026, 1, 5), shifts_per_day=4)
    life.create(workers=12, team=6, most_a_week=1, calendar=calendar, horizon=400, fee=0.1, mean_delay=0.0)
    outputs: dict[str, Any] = {f"w{number}": BAD for number in range(6)}
    life.record(**outputs)
    while not life.open():
        life.record(**outputs)
    into = life.first().into
    commands.approve(life.store, "s", life.first().id, "bo")
    commands.record_offer(life.store, "s", 1, "started", "bo")
    out = life.site.proposals[1].leaver
    outputs = {name: value for name, value in outputs.items() if name != f"w{out}"} | {f"w{into}": GOOD}
    while calendar.week_of(life.site.period) == (2026, 2):
        assert life.open() == []
        life.record(**outputs)
    assert life.site.period == 21
    assert len(life.open()) == 1


def test_undoing_a_start_at_an_empty_station_leaves_no_trace_of_it(life: Life) -> None:
    life.create()
    commands.change_worker(life.store, "s", "w1", "ann", status="left")
    commands.approve(life.store, "s", life.first().id, "bo")
    life.days(3, w0=GOOD)
    before = life.stints
    commands.record_offer(life.store, "s", 1, "started", "bo", period=2)
    assert life.stints != before
    commands.undo(life.store, "s", "bo")
    assert life.stints == before == [Stint(0, 0, 1)]
