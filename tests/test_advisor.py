"""A site's life through commands: what is advised, answered, recorded, corrected, changed and taken back."""

import math
import pickle
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from crewlearn.advisor import commands, documents, imports
from crewlearn.advisor.calendar import WorkCalendar
from crewlearn.advisor.config import SiteConfig
from crewlearn.advisor.conflict import Conflict, Stale
from crewlearn.advisor.csv_in import OutputRow, WorkerRow
from crewlearn.advisor.explain import explain, members, place, sentence, what_changed
from crewlearn.advisor.facts import facts
from crewlearn.advisor.gain import Gain, gain_by_period, gain_over_first_team
from crewlearn.advisor.identities import People, read_people
from crewlearn.advisor.reasons import estimates_of
from crewlearn.advisor.record import read_proposals
from crewlearn.advisor.site import PROPOSED, Proposal, Site
from crewlearn.advisor.stints import Stint, read_stints
from crewlearn.advisor.store import Store, open_store
from crewlearn.advisor.units import Units
from crewlearn.advisor.verify import verify
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import InvalidInput

WEEKDAYS = WorkCalendar(date(2026, 1, 5))
GOOD, BAD = 0.9, 0.1


class Life:
    """A site and shorthand for what people do to it; the store is checked at the end of each test."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def create(self, workers: int = 6, team: int = 2, active: int | None = None, **changes: Any) -> None:
        settings: dict[str, Any] = {
            "team": team,
            "fee": 1.0,
            "units": Units(0.0, 1.0),
            "calendar": WEEKDAYS,
            "horizon": 200,
            "mean_delay": 2.0,
            "policy": "value-of-replacement:noise_sd=0.05,between_sd=0.3,centre=0.5",
        }
        commands.create_site(self.store, "s", SiteConfig(**{**settings, **changes}), "ann")
        seats = team if active is None else active
        rows = [WorkerRow(f"w{n}", f"Name {n}", active=n < seats) for n in range(workers)]
        imports.import_workers(self.store, "s", rows, b"file", "ann")

    @property
    def site(self) -> Site:
        with self.store.reading() as connection:
            return self.store.site(connection, "s")[1]

    @property
    def people(self) -> People:
        with self.store.reading() as connection:
            return read_people(connection, self.store.site(connection, "s")[0])

    @property
    def events(self) -> int:
        with self.store.reading() as connection:
            return self.store.site(connection, "s")[2]

    def open(self) -> list[tuple[int, int]]:
        return [(one.out, one.into) for one in self.site.open_proposals(PROPOSED)]

    def first(self) -> Proposal:
        return self.site.open_proposals(PROPOSED)[0]

    def record(self, period: int | None = None, correct: bool = False, **outputs: Any) -> imports.Done:
        """Import one period's output by worker: a number, or attendance for those who gave none."""
        when = self.site.period if period is None else period
        rows = [
            OutputRow(
                place,
                None,
                when,
                worker,
                value if isinstance(value, float) else None,
                None,
                "worked" if isinstance(value, float) else value,
            )
            for place, (worker, value) in enumerate(outputs.items(), start=2)
        ]
        return imports.import_output(self.store, "s", rows, b"file", "ann", correct=correct)

    def days(self, count: int, **outputs: Any) -> None:
        for _ in range(count):
            self.record(**outputs)


@pytest.fixture
def life(tmp_path: Path) -> Any:
    store = open_store(f"sqlite:///{tmp_path}/s.db", clock=lambda: datetime(2027, 6, 1, tzinfo=UTC))
    one = Life(store)
    yield one
    if store.names():
        checked = verify(store, "s")
        assert checked.sound, checked.faults
    store.engine.dispose()


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
    assert life.record(period=1, w0=0.5, w1=0.6) == imports.Done(known=2)
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
        kept = {one.id: one for one in read_proposals(connection, life.store.site(connection, "s")[0])}
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
    assert number not in [one.id for one in life.site.open_proposals(PROPOSED)]


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
    assert into not in [one for _, one in life.open()]


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
    for wrong in ({"policy": "oracle"}, {"team": 0}, {"colour": 1}, {"units": Units(0.0, 2.0).to_json()}):
        with pytest.raises(InvalidInput):
            commands.change_site(life.store, "s", wrong, "ann")
    assert life.events == before


def test_a_rolling_horizon_never_comes_nearer(life: Life) -> None:
    life.create(rolling=True, horizon=50)
    assert life.site.setting().horizon == 50
    life.days(5, w0=GOOD, w1=GOOD)
    assert life.site.setting().horizon - life.site.period == 49


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
    imports.import_workers(life.store, "s", [WorkerRow("new", prior_n=10, prior_mean=12.0)], b"", "ann")
    assert life.site.workers[6].prior_mean == pytest.approx(0.7)


def test_workers_have_their_own_fee(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=BAD)
    into = life.first().into
    commands.change_worker(life.store, "s", f"w{into}", "ann", fee=2.5)
    number = next(one.id for one in life.site.open_proposals(PROPOSED) if one.into == into)
    commands.approve(life.store, "s", number, "bo")
    assert life.site.fees == 2.5


def test_newcomers_join_with_earlier_encounters_in_people_s_units(life: Life) -> None:
    life.create(units=Units(20.0, 80.0))
    row = WorkerRow("new", "Newcomer", prior_n=30, prior_mean=65.0)
    done = imports.import_workers(life.store, "s", [row], b"more", "ann")
    assert done.recorded == 1
    assert life.site.estimates.counts[6] == 30
    assert life.site.estimates.sums[6] == 30 * 0.75
    assert imports.import_workers(life.store, "s", [row], b"more", "ann") == imports.Done(known=1)


def test_erasing_removes_the_person_and_not_the_record(life: Life) -> None:
    life.create()
    life.days(3, w0=GOOD, w1=0.5)
    commands.erase_worker(life.store, "s", "w1", "ann")
    assert life.people.label(1) == "worker 1 (erased)"
    assert life.site.estimates.counts[1] == 3
    raw = Path(str(life.store.engine.url.database)).read_bytes()
    with pytest.raises(InvalidInput, match="a worker known here"):
        life.record(w1=0.5)
    imports.import_workers(life.store, "s", [WorkerRow("w1", "Somebody else")], b"", "ann")
    assert life.people.label(6) == "Somebody else (w1)"
    assert raw


def test_dates_are_of_the_calendar_and_not_in_the_future(life: Life) -> None:
    life.create()

    def on(day: date) -> imports.Done:
        return imports.import_output(life.store, "s", [OutputRow(2, day, None, "w0", 0.5, None, "worked")], b"", "ann")

    assert on(date(2026, 1, 6)).recorded == 1
    assert life.site.period == 3  # the 6th is the second working day
    for wrong, said in (
        (date(2026, 1, 10), "2026-01-10"),
        (date(2026, 1, 1), "2026-01-01"),
        (date(2027, 6, 2), "future"),
    ):
        with pytest.raises(InvalidInput, match=said):
            on(wrong)


def test_an_explanation_has_the_numbers_of_the_day_it_was_made(life: Life) -> None:
    life.create(units=Units(20.0, 80.0))
    life.days(5, w0=70.0, w1=26.0)
    proposal = life.first()
    lines = explain(life.site, life.people, proposal)
    text = " ".join(lines)
    assert "after 5 days" in text
    assert "never seen here" in text
    assert "the fee is 1.00" in text
    commands.approve(life.store, "s", proposal.id, "bo")
    life.days(5, w0=70.0, w1=80.0)
    with life.store.reading() as connection:
        kept = read_proposals(connection, life.store.site(connection, "s")[0])[0]
    assert explain(life.site, life.people, kept)[1:] == lines[1:]


@pytest.mark.parametrize("policy", ["dr-ucb", "a-omm", "threshold"])
def test_every_policy_is_explained_as_far_as_it_can(life: Life, policy: str) -> None:
    life.create(policy=policy, horizon=400, fee=0.1)
    for _ in range(60):
        life.record(w0=0.05, w1=0.06)
        if life.open():
            break
    assert all(isinstance(line, str) for line in explain(life.site, life.people, life.first()))


def test_dr_ucb_says_whom_it_waits_for(life: Life) -> None:
    life.create(policy="dr-ucb:gamma=5")
    assert "must be seen on 5 more days" in sentence(life.site, life.people)


def test_names_that_are_tricks_are_text(life: Life) -> None:
    for name in ("../../etc", "a'; DROP TABLE sites;--", "", "x" * 101, "a\nb"):
        with pytest.raises(InvalidInput, match="site"):
            commands.create_site(life.store, name, SiteConfig(1, 1.0, Units(0, 1), WEEKDAYS, 10, 1.0), "ann")
    life.create()
    row = WorkerRow("'; DROP TABLE events;--", "=HYPERLINK(1)")
    imports.import_workers(life.store, "s", [row], b"", "ann")
    assert life.people.label(6) == "=HYPERLINK(1) ('; DROP TABLE events;--)"


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
    made_since = {one.id for one in after.proposals.values()} - {one.id for one in before.proposals.values()}
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
    assert stints_of(life) == [Stint(0, 0, 1), Stint(1, 1, 1)]


def stints_of(life: Life) -> list[Stint]:
    with life.store.reading() as connection:
        return read_stints(connection, life.store.site(connection, "s")[0])


def proposals_of(life: Life) -> list[Proposal]:
    with life.store.reading() as connection:
        return read_proposals(connection, life.store.site(connection, "s")[0])


def test_who_held_which_station_when(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=BAD)
    into = life.first().into
    commands.approve(life.store, "s", life.first().id, "bo")
    life.days(2, w0=GOOD, w1=BAD)
    commands.record_offer(life.store, "s", 1, "started", "bo", period=7)
    after = [Stint(0, 0, 1), Stint(1, 1, 1, 7), Stint(1, into, 7)]
    assert stints_of(life) == after
    commands.undo(life.store, "s", "bo")
    assert stints_of(life) == [Stint(0, 0, 1), Stint(1, 1, 1)]
    commands.record_offer(life.store, "s", 1, "started", "bo", period=7)
    commands.change_worker(life.store, "s", "w0", "ann", status="left")
    assert stints_of(life) == [Stint(0, 0, 1, 8), *after[1:]]
    for proposal in life.site.open_proposals(PROPOSED):
        commands.reject(life.store, "s", proposal.id, "bo")
    commands.change_site(life.store, "s", {"team": 1}, "ann")
    assert stints_of(life) == [Stint(0, 0, 1, 8), Stint(0, into, 8), Stint(1, 1, 1, 7), Stint(1, into, 7, 8)]


def test_the_gain_over_the_first_team_is_that_of_each_day_added_up(life: Life) -> None:
    life.create(units=Units(20.0, 80.0, value_per_unit=2.0), fee=10.0)
    life.days(5, w0=70.0, w1=26.0)
    into = life.first().into
    commands.approve(life.store, "s", life.first().id, "bo")
    commands.record_offer(life.store, "s", 1, "started", "bo")
    life.days(3, w0=70.0, **{f"w{into}": 60.0})
    commands.change_site(life.store, "s", {"units": Units(20.0, 80.0, value_per_unit=3.0).to_json()}, "ann")
    life.days(2, w0=70.0, **{f"w{into}": 60.0})
    commands.change_worker(life.store, "s", "w0", "ann", status="left")  # a first team would have lost them too
    life.days(4, **{f"w{into}": 60.0})
    means = {number: member.estimate.mean for member in members(life.site, life.people) for number in [member.number]}
    spreads = [said["sd"] for said in estimates_of(life.site)[0]]
    weight = 3 * 2.0 + (2 + 4) * 3.0
    expected = weight * (means[into] - means[1]) - 10.0
    gain = gain_over_first_team(life.site, stints_of(life), proposals_of(life))
    assert gain.expected == pytest.approx(expected)
    assert gain.high - gain.expected == pytest.approx(1.959964 * weight * 60.0 * math.hypot(spreads[into], spreads[1]))
    assert gain.expected - gain.low == pytest.approx(gain.high - gain.expected)
    series = gain_by_period(life.site, stints_of(life), proposals_of(life))
    assert len(series.expected) == 14
    assert series.fees.tolist() == [0.0] * 5 + [10.0] * 9


def test_money_is_what_each_day_was_worth_then(life: Life) -> None:
    life.create(units=Units(20.0, 80.0, value_per_unit=0.5))
    life.record(w0=90.0, w1=50.0)  # more than counts for the policy is still paid
    assert life.site.earned == 70.0
    rows = [OutputRow(2, None, 2, "w0", 30.0, 4.0, "partial"), OutputRow(3, None, 2, "w1", None, None, "absent")]
    imports.import_output(life.store, "s", rows, b"", "ann")
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


def test_an_empty_station_gains_the_whole_output(life: Life) -> None:
    life.create(units=Units(20.0, 80.0, value_per_unit=2.0), active=1)
    proposal = next(one for one in life.site.open_proposals(PROPOSED) if one.out == NOBODY)
    said = facts(life.site, proposal)
    assert said.out is None
    assert said.gain == pytest.approx(said.periods * 2.0 * said.into.mean)
    assert "to fill an empty station" in sentence(life.site, life.people)


def test_a_hire_left_open_says_who_would_make_room(life: Life) -> None:
    life.create(policy="dr-ucb+late-pairing:gamma=1", fee=0.1)
    life.record(w0=GOOD, w1=BAD)
    proposal = life.first()
    assert proposal.out == NOBODY
    said = facts(life.site, proposal)
    assert said.settled_on_arrival
    assert said.out is not None
    assert "settled on arrival, now Name 1 (w1)" in sentence(life.site, life.people)
    assert "empty" not in " ".join(explain(life.site, life.people, proposal))


def test_waiting_says_why(life: Life) -> None:
    life.create(most_a_week=0)
    life.days(5, w0=GOOD, w1=BAD)
    assert "the limit of 0 a week is reached" in sentence(life.site, life.people)
    commands.change_site(life.store, "s", {"most_a_week": None}, "ann")
    for number in range(2, 6):
        commands.change_worker(life.store, "s", f"w{number}", "ann", status="blocked")
    assert "nobody outside the team may come in now" in sentence(life.site, life.people)
    commands.change_worker(life.store, "s", "w0", "ann", status="left")
    assert "1 station is empty, and nobody" in sentence(life.site, life.people)


def test_what_changed_names_the_fact(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=BAD)
    first = life.first()
    commands.change_worker(life.store, "s", f"w{first.into}", "ann", status="blocked")
    said = what_changed(life.site, life.people)
    assert f"Name {first.into} (w{first.into}) changed" in said
    assert "is withdrawn" in said
    commands.change_worker(life.store, "s", "w0", "ann", pinned=True)
    assert what_changed(life.site, life.people).startswith(said.partition(")")[0])  # still since it was first said


def test_somebody_who_looked_at_an_earlier_version_is_told_what_changed(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=BAD)
    seen = life.events
    commands.approve(life.store, "s", life.first().id, "bo", expected=seen)
    with pytest.raises(Stale) as stale:
        commands.change_site(life.store, "s", {"fee": 2.0}, "ann", expected=seen)
    assert [words.partition(" (")[0] for words in stale.value.changed] == ["bo approved proposal 1"]
    assert pickle.loads(pickle.dumps(stale.value)).changed == stale.value.changed
    assert life.site.config.fee == 1.0


def test_active_newcomers_take_no_station_from_hires_under_way(life: Life) -> None:
    life.create(active=0)
    commands.approve(life.store, "s", life.first().id, "bo")
    done = imports.import_workers(life.store, "s", [WorkerRow("late", active=True)], b"", "ann")
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
    before = stints_of(life)
    commands.record_offer(life.store, "s", 1, "started", "bo", period=2)
    assert stints_of(life) != before
    commands.undo(life.store, "s", "bo")
    assert stints_of(life) == before == [Stint(0, 0, 1)]


def test_a_station_is_never_held_by_two(life: Life) -> None:
    life.create(team=1)
    life.days(4, w0=BAD)
    into = life.first().into
    commands.approve(life.store, "s", life.first().id, "bo")
    life.days(4, w0=BAD)
    commands.change_worker(life.store, "s", "w0", "ann", status="left")  # recorded after they were seen last
    commands.record_offer(life.store, "s", 1, "started", "bo", period=7)
    assert stints_of(life) == [Stint(0, 0, 1, 9), Stint(0, into, 9)]


def test_nothing_is_gained_where_nobody_was_replaced(life: Life) -> None:
    life.create(team=3, policy="keep-team")
    life.days(5, w0=0.2, w1=0.5, w2=0.7)
    commands.change_worker(life.store, "s", "w0", "ann", status="left")
    commands.change_site(life.store, "s", {"team": 2}, "ann")
    life.days(15, w1=0.5, w2=0.7)
    assert gain_over_first_team(life.site, stints_of(life), proposals_of(life)) == Gain(0.0, 0.0, 0.0)


def test_bringing_in_the_first_team_is_no_cost_of_replacing(life: Life) -> None:
    life.create(active=0, fee=50.0, policy="a-omm")
    for number in [one.id for one in life.site.open_proposals(PROPOSED)]:
        commands.approve(life.store, "s", number, "bo")
        commands.record_offer(life.store, "s", number, "started", "bo")
    life.days(1, **{f"w{worker}": 0.5 for worker in life.site.roster.active})
    assert life.site.fees == 100.0
    assert gain_over_first_team(life.site, stints_of(life), proposals_of(life)) == Gain(0.0, 0.0, 0.0)


@pytest.mark.parametrize("fee", [0.1, 0.0])
def test_dr_ucb_leaves_out_who_could_never_be_worth_their_fee(life: Life, fee: float) -> None:
    life.create(policy="dr-ucb:gamma=1", fee=fee, workers=3)
    most = 200.0  # the best output there is, in every period left
    commands.change_worker(life.store, "s", "w2", "ann", fee=most)
    life.record(w0=GOOD, w1=BAD)
    assert life.open() == []
    assert "not at the fee that they cost" in sentence(life.site, life.people)
    commands.change_worker(life.store, "s", "w2", "ann", fee=100.0)
    said = facts(life.site, life.first())
    assert said.needed_gain == pytest.approx(100.0 / (200 - 2))
    assert said.break_even is not None
    assert said.break_even > 100.0


def test_waiting_says_who_may_not_be_replaced(life: Life) -> None:
    life.create(team=1, least_tenure=30)
    life.days(5, w0=BAD)
    assert "nobody in the team may be replaced now: 1 stays for the least tenure, the first to 2026-02-16" in sentence(
        life.site, life.people
    )
    commands.change_worker(life.store, "s", "w0", "ann", pinned=True)
    assert "1 is pinned" in sentence(life.site, life.people)
    commands.change_site(life.store, "s", {"policy": "keep-team", "least_tenure": 0}, "ann")
    commands.change_worker(life.store, "s", "w0", "ann", pinned=False)
    assert "policy keep-team asks for nothing now" in sentence(life.site, life.people)


def test_what_was_taken_back_is_no_reason_for_what_changed(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=BAD)
    first = life.first()
    commands.approve(life.store, "s", first.id, "bo")
    commands.undo(life.store, "s", "bo")
    commands.reject(life.store, "s", first.id, "bo", "no")
    said = what_changed(life.site, life.people)
    assert "was rejected" in said
    assert "was approved" not in said


def test_whose_place_is_taken_is_told_as_it_is_and_as_it_was(life: Life) -> None:
    life.create(policy="dr-ucb+late-pairing:gamma=1", fee=0.1)
    life.record(w0=GOOD, w1=BAD)
    number = life.first().id
    told = documents.proposal(life.site, life.people, life.first())
    assert (told["out"], told["place"]) == (None, "settled on arrival")
    commands.approve(life.store, "s", number, "ann")
    assert place(life.people, life.site.proposals[number]) == "whoever makes room on arrival"
    commands.change_worker(life.store, "s", "w1", "ann", status="left")
    commands.record_offer(life.store, "s", number, "started", "ann")
    done = life.site.proposals[number]
    assert done.leaver == NOBODY
    text = explain(life.site, life.people, done)
    assert "in the place of an empty station" in text[0]
    assert "Name 1 (w1), who would make room then" in text[1]
    told = documents.proposal(life.site, life.people, done)
    assert (told["out"], told["place"]) == (None, "empty station")


def test_what_was_settled_is_told_of_then(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=BAD)
    number = life.first().id
    assert "Name 1 (w1), in the team now" in explain(life.site, life.people, life.first())[1]
    commands.approve(life.store, "s", number, "ann")
    commands.record_offer(life.store, "s", number, "started", "ann", out="w0")
    done = life.site.proposals[number]
    text = explain(life.site, life.people, done)
    assert "in the place of Name 0 (w0)" in text[0]
    assert "Name 1 (w1), in the team then" in text[1]
    commands.erase_worker(life.store, "s", "w0", "ann")
    told = documents.proposal(life.site, life.people, done)
    assert (told["out"], told["place"]) == (None, "worker")


def test_what_the_policy_asks_for_is_said_beside_what_it_is_worth(life: Life) -> None:
    life.create(policy="value-of-replacement:noise_sd=0.05,between_sd=0.3,centre=0.5,margin=0.5")
    life.days(5, w0=GOOD, w1=BAD)
    said = facts(life.site, life.first())
    assert said.trial_value is not None
    text = explain(life.site, life.people, life.first())[-1]
    assert "The policy asks for a gain of 1.5 times the fee" in text
    assert f"above about {said.trial_value / 1.5:,.2f}" in text


def test_advice_and_status_agree_on_who_is_awaited(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=BAD)
    first = life.first()
    commands.approve(life.store, "s", first.id, "ann")
    told = documents.advice("s", life.site, life.people)
    assert told["waiting"]["awaited"] == [f"w{first.into}"]
    assert documents.status("s", life.site, life.people, Gain(0.0, 0.0, 0.0))["cycle"] == told["waiting"]


def test_nobody_is_better_than_an_empty_station(life: Life) -> None:
    life.create(active=1)
    vacancy = next(one for one in life.site.open_proposals(PROPOSED) if one.out == NOBODY)
    told = documents.proposal(life.site, life.people, vacancy)
    assert (told["out"], told["place"], told["why"]["chance_better"]) == (None, "empty station", None)


def test_only_who_may_come_is_said_to_come_not_before_a_day(life: Life) -> None:
    life.create()
    life.days(5, w0=GOOD, w1=BAD)
    first = life.first()
    commands.reject(life.store, "s", first.id, "ann")
    notes = {one.number: one.note for one in members(life.site, life.people)}
    assert notes[first.into].startswith("not before 2026-01-")
    commands.change_worker(life.store, "s", f"w{first.into}", "ann", status="blocked")
    notes = {one.number: one.note for one in members(life.site, life.people)}
    assert notes[first.into] == "blocked"


def test_why_nothing_can_be_taken_back_is_true(life: Life) -> None:
    life.create()
    with pytest.raises(Conflict, match="no answer to take back yet"):
        commands.undo(life.store, "s", "ann")
    life.days(5, w0=GOOD, w1=BAD)
    commands.approve(life.store, "s", life.first().id, "ann")
    commands.undo(life.store, "s", "ann")
    with pytest.raises(Conflict, match="the last one was, and only one can be"):
        commands.undo(life.store, "s", "ann")
    commands.approve(life.store, "s", life.first().id, "ann")
    life.record(w0=GOOD, w1=BAD)
    with pytest.raises(Conflict, match="other facts were recorded since"):
        commands.undo(life.store, "s", "ann")
