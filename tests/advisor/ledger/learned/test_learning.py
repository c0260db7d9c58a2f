"""Policies that learn by day: told of every recorded day, whatever the order in which people record and correct it."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.files import output_imports, worker_imports
from crewlearn.advisor.files.columns import OutputRow, WorkerRow
from crewlearn.advisor.ledger import transaction
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.db.backup import back_up, restore
from crewlearn.advisor.ledger.db.engine import make_engine
from crewlearn.advisor.ledger.events import LEARNED_OTHERWISE, envelope
from crewlearn.advisor.ledger.learned.checkpoints import Checkpoint, thinned
from crewlearn.advisor.ledger.learned.stored_states import policy_state
from crewlearn.advisor.ledger.rebuild import upgrade
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.site import PROPOSED
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from crewlearn.beliefs.evolving import packing
from crewlearn.policies.contract import Report
from crewlearn.problem.floor import EXPERIENCED
from support.learners import Recent, RecentState
from support.lives import BAD, GOOD, Life
from support.stores import CALENDAR, ME, Database, config, fixed_clock, payload_of, sound, state_of, types_of

RECENT = "support.learners:Recent"
EVOLVING = "value-of-replacement-evolving"


def learned(life: Life) -> RecentState:
    with life.store.reading() as connection:
        key, site, _ = life.store.site(connection, "s")
        state = policy_state(connection, key, site)
    assert isinstance(state, RecentState)
    return state


def begun(life: Life, workers: int = 6, team: int = 2, **changes: Any) -> None:
    life.create(workers, team, **{"policy": RECENT, **changes})


def outputs(*days: dict[str, Any], first: int = 1) -> list[OutputRow]:
    """Rows of several days, by worker: output, or attendance of those who gave none."""
    return [
        OutputRow(
            2,
            None,
            period,
            worker,
            made if isinstance(made, float) else None,
            None,
            "worked" if isinstance(made, float) else made,
        )
        for period, day in enumerate(days, start=first)
        for worker, made in day.items()
    ]


def take(life: Life, rows: list[OutputRow], **options: Any) -> None:
    output_imports.import_output(life.store, "s", rows, b"", "ann", accept_unusual=True, **options)


def facts(life: Life) -> tuple[Any, ...]:
    """What advice and learning amount to, apart from numbers of events and proposals."""
    site, state = life.site, learned(life)
    return state, site.memory, site.period, life.open(), site.advice.kind, site.advice.waiting


@pytest.fixture
def other(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Another empty store, to compare with."""
    store = open_store(f"sqlite:///{tmp_path_factory.mktemp('other')}/s.db")
    yield Life(store)
    if store.names():
        checked = verify(store, "s")
        assert checked.sound, checked.faults
    store.close()


def test_every_day_of_an_import_is_told_in_order(life: Life) -> None:
    begun(life)
    days = outputs({"w0": 0.4, "w1": 0.6}, {"w0": "absent", "w1": "absent"}, {"w1": 0.5, "w4": 0.7})
    take(life, days[::-1])
    state = learned(life)
    assert state.told == ("1: 0 1", "2: ", "3: 1 4")
    assert state.asked == 0
    assert state.levels == (0.45, 0.525, 0.5, 0.5, 0.6, 0.5)
    assert state.days == (EXPERIENCED + 1, EXPERIENCED + 2, 0, 0, 1, 0)
    take(life, outputs({"w0": 0.4}, first=6))
    assert learned(life).told[3:] == ("6: 0",)


def test_days_recorded_before_the_first_advice_are_told(life: Life) -> None:
    life.create()
    life.days(3, w0=GOOD, w1=BAD)
    commands.change_site(life.store, "s", {"policy": RECENT}, "ann")
    assert learned(life).told == ("1: 0 1", "2: 0 1", "3: 0 1")
    assert life.open() == [(1, 2)]
    commands.change_site(life.store, "s", {"policy": "keep-team"}, "ann")
    assert life.site.checkpoints == []
    assert stored(life.store) == []


def test_two_imports_of_a_day_each_equal_one_of_both(life: Life, other: Life) -> None:
    first, second = {"w0": GOOD, "w1": 0.3}, {"w0": "absent", "w1": 0.2}
    for site in (life, other):
        begun(site)
    take(life, outputs(first))
    take(life, outputs(second, first=2))
    take(other, outputs(first, second))
    assert facts(life) == facts(other)


@pytest.mark.parametrize("day", [1, 4, 9, 12])
def test_a_correction_equals_the_right_import(life: Life, other: Life, day: int) -> None:
    days = [{"w0": (n % 7) / 10.0, "w1": (n % 5) / 10.0} for n in range(12)]
    for site in (life, other):
        begun(site)
    for n, wrong in enumerate(days, start=1):
        take(life, outputs(wrong, first=n))
    right = {"w0": 1.0, "w1": "absent"}
    take(life, outputs(right, first=day), correct=True)
    take(other, outputs(*[right if n == day else made for n, made in enumerate(days, start=1)]))
    assert facts(life) == facts(other)


def test_late_rows_and_people_who_joined_since(life: Life, other: Life) -> None:
    for site in (life, other):
        begun(site)
    take(life, outputs({"w0": 0.5}, {"w0": 0.4}, {"w0": 0.3}))
    take(life, outputs({"w1": 0.2}, first=2))
    newcomers = [WorkerRow("w6"), WorkerRow("w7", prior_n=9, prior_mean=0.9)]
    for site in (life, other):
        if site is other:
            take(other, outputs({"w0": 0.5}, {"w0": 0.4, "w1": 0.2}, {"w0": 0.3}))
        worker_imports.import_workers(site.store, "s", newcomers, b"", "ann")
    assert facts(life) == facts(other)
    assert len(learned(life).levels) == 6  # they are met in the period they were enrolled in
    late = outputs({"w6": 0.9}, first=2)
    for site in (life, other):
        take(site, outputs({"w6": 0.8, "w0": 0.2}, first=4))
    take(life, late)
    take(other, [*late, *outputs({"w0": 0.1}, first=60)])
    take(life, outputs({"w0": 0.1}, first=60))
    assert facts(life) == facts(other)
    assert learned(life).days[6:] == (2, 9)


def test_prior_data_and_the_team_are_part_of_the_facts(life: Life, other: Life) -> None:
    begun(life)
    take(life, outputs({"w0": 0.5}, {"w1": 0.4}))
    worker_imports.import_workers(life.store, "s", [WorkerRow("w3", prior_n=4, prior_mean=0.9)], b"", "ann")
    commands.change_site(life.store, "s", {"team": 3, "fee": 2.0}, "ann")
    assert learned(life).levels == (0.5, 0.45, 0.5, 0.9, 0.5, 0.5)
    assert learned(life).days == (EXPERIENCED + 1, EXPERIENCED + 1, 0, 4, 0, 0)


def test_whoever_worked_first_is_experienced_if_nobody_was_named(life: Life, other: Life) -> None:
    for site in (life, other):
        begun(site, active=0)
    take(life, outputs({"w2": 0.5}, {"w3": 0.4}))
    take(life, outputs({"w1": 0.5, "w2": "absent"}), correct=True)
    take(other, outputs({"w1": 0.5, "w2": "absent"}, {"w3": 0.4}))
    assert facts(life) == facts(other)
    assert learned(life).days == (0, EXPERIENCED + 1, 0, 1, 0, 0)


def answered(life: Life) -> int:
    """Create a site with five days on record and a proposal approved on the second; return its number."""
    begun(life)
    take(life, outputs({"w0": BAD, "w1": GOOD}))
    number = life.first().id
    commands.approve(life.store, "s", number, "ann")
    for day in range(2, 6):
        take(life, outputs({"w0": BAD, "w1": GOOD}, first=day))
    return number


def test_a_start_in_the_past_is_told_in_its_period(life: Life) -> None:
    number = answered(life)
    commands.record_offer(life.store, "s", number, "started", "ann", period=3)
    assert learned(life).told[2:4] == ("3: 1 0 0>2", "4: 1 0")  # those without a station come last
    sound(life.store, "s")
    before = facts(life)
    commands.undo(life.store, "s", "ann")
    assert learned(life).told[2:4] == ("3: 0 1", "4: 0 1")
    sound(life.store, "s")
    commands.record_offer(life.store, "s", number, "started", "ann", period=3)
    assert facts(life)[0] == before[0]
    take(life, outputs({"w2": GOOD, "w1": GOOD}, first=6))
    commands.change_worker(life.store, "s", "w1", "ann", status="left")
    assert learned(life).told[-1] == "6: 2 1"  # by station, as in a simulation
    take(life, outputs({"w5": GOOD, "w2": "absent", "w3": GOOD}, first=7))
    assert learned(life).told[-1] == "7: 3 5 -1"


def test_answers_within_a_period_and_their_undoing(life: Life) -> None:
    begun(life)
    take(life, outputs({"w0": BAD, "w1": 0.3}))
    before = facts(life)
    assert life.open() == [(0, 2), (1, 3)]
    commands.reject(life.store, "s", life.first().id, "ann", "no")
    assert life.open() == [(0, 3), (1, 4)]
    assert learned(life) == before[0]
    commands.undo(life.store, "s", "ann")
    assert facts(life) == before
    commands.reject(life.store, "s", life.first().id, "ann", "no")
    take(life, outputs({"w0": BAD}, first=2))
    assert learned(life).told == ("1: 0 1", "2: 0 0x2")


@pytest.mark.parametrize("outcome", ["declined", "started", "cancelled"])
def test_undoing_an_answer_about_an_earlier_day_leaves_a_sound_record(life: Life, outcome: str) -> None:
    life.create(policy=f"{EVOLVING}:noise_sd=0.05,between_sd=0.3,centre=0.5,ramp_depth=0")
    life.days(4, w0=GOOD, w1=BAD)
    proposal, period = life.first(), life.site.period
    commands.approve(life.store, "s", proposal.id, ME)
    life.days(6, w0=GOOD, w1=BAD)
    commands.record_offer(life.store, "s", proposal.id, outcome, ME, period=period)
    commands.undo(life.store, "s", ME)
    assert verify(life.store, "s").sound
    life.days(1, w0=GOOD, w1=BAD)
    assert verify(life.store, "s").sound


def test_erasing_leaves_what_was_learned(life: Life) -> None:
    begun(life)
    life.days(3, w0=GOOD, w1=BAD)
    before = learned(life)
    commands.erase_worker(life.store, "s", "w1", "ann")
    assert learned(life) == before


def test_events_and_state_hold_digests_only(life: Life) -> None:
    begun(life, 40, 4, policy=EVOLVING)
    for _ in range(4):
        life.record(w0=0.5, w1=0.4)
    advised = payload_of(life.store, life.events)
    assert advised.keys() >= {"learned", "pairs"}
    assert not advised.keys() & {"memory", "after"}
    assert life.site.memory == {"learned": advised["learned"]}
    assert life.site.checkpoints[-1].digest == advised["learned"]
    assert len(json.dumps(advised)) < 2000
    assert "filters" not in json.dumps(life.site.to_json())


@pytest.mark.parametrize("units", [Units(0.0, 64.0), Units(64.0, 0.0), Units(-8.0, 8.0)])
def test_units_do_not_matter_to_what_is_learned(life: Life, other: Life, units: Units) -> None:
    """Outputs are multiples of 1/64, so that nothing is rounded on the way."""
    states = []
    for site, unit in ((life, Units(0.0, 1.0)), (other, units)):
        scale = unit.high - unit.low
        begun(site, 6, 3, policy=EVOLVING, units=unit, fee=abs(scale))
        days = [
            {
                f"w{worker}": unit.low + scale * (20 + 8 * worker + (5 * day + 3 * worker) % 7) / 64
                for worker in range(3)
            }
            for day in range(20)
        ]
        take(site, outputs(*days))
        with site.store.reading() as connection:
            key, known, _ = site.store.site(connection, "s")
            states.append((policy_state(connection, key, known), site.open()))
    assert states[0] == states[1]


def test_other_policies_record_their_state_where_it_changes(life: Life) -> None:
    life.create(policy="dr-ucb:gamma=1")
    states = [(life.site.memory, life.site.after)]
    for _ in range(6):
        life.record(w0=0.5, w1=0.4)
        advised = payload_of(life.store, life.events)
        _, earlier = states[-1]
        states.append((life.site.memory, life.site.after))
        assert life.site.memory == advised.get("memory", earlier)
        assert life.site.after == advised.get("after", life.site.memory)
        assert ("after" in advised) == (life.site.after != life.site.memory)
        assert ("memory" in advised) == (life.site.memory != earlier)
    assert any(before == earlier for (_, earlier), (before, _) in pairwise(states))


def test_checkpoints_stay_few_and_near() -> None:
    kept: list[Checkpoint] = []
    for period in range(1, 1001):
        kept = thinned([*kept, Checkpoint(period, period, "")])
        ages = [period - checkpoint.period for checkpoint in kept][::-1]
        assert ages[0] == 0
        assert len(ages) <= 2 * period.bit_length()
        for day in range(1, period):  # to learn a changed day again takes about as many periods as have passed since
            before = [point.period for point in kept if point.period < day]
            assert period - (max(before) if before else 0) <= 3 * (period - day) + 3 or not before


# Stored states, on both databases.


def stored(store: Store) -> list[int]:
    with store.reading() as connection:
        return list(connection.execute(sa.select(schema.learned_states.c.period).order_by("period")).scalars())


def learning_site(store: Store, policy: str = RECENT) -> None:
    commands.create_site(store, "site", config(policy=policy), ME)
    rows = [WorkerRow(worker, active=worker in "ac") for worker in "abcdef"]
    worker_imports.import_workers(store, "site", rows, b"", ME)
    for period in range(1, 7):
        record(store, period)


def record(store: Store, period: int, units: float = 40.0, **options: Any) -> None:
    rows = [
        OutputRow(2, CALENDAR.date_of(period), None, "a", units + period, None, "worked"),
        OutputRow(3, CALENDAR.date_of(period), None, "c", units - period, None, "worked"),
    ]
    output_imports.import_output(store, "site", rows, b"", ME, accept_unusual=True, **options)


def state_in(store: Store) -> Any:
    with store.reading() as connection:
        key, site, _ = store.site(connection, "site")
        return policy_state(connection, key, site)


DAMAGE = {
    "missing": schema.learned_states.delete(),
    "damaged": schema.learned_states.update().values(state=b"nonsense"),
    "of others": schema.learned_states.update().values(workers=5),
    "newest missing": schema.learned_states.delete().where(schema.learned_states.c.period == 6),
}


@pytest.mark.parametrize("policy", [RECENT, EVOLVING])
@pytest.mark.parametrize("damage", list(DAMAGE))
def test_a_lost_state_is_found_and_made_again(database: Database, damage: str, policy: str) -> None:
    whole = database.copied()
    with database.open() as store, whole.open() as intact:
        for each in (store, intact):
            learning_site(each, policy)
        sound(store)
        with store.changing() as connection:
            connection.execute(DAMAGE[damage])
        assert "the learned state of period 6 is missing or damaged" in verify(store, "site").faults
        assert state_in(store) == state_in(intact)
        for each in (store, intact):
            record(each, 7)
        assert state_of(store).to_json() == state_of(intact).to_json()
        assert state_in(store) == state_in(intact)
    _upgrade(database)
    with database.open() as store, whole.open() as intact:
        sound(store)
        assert stored(store) == stored(intact)
        assert state_of(store).to_json() == state_of(intact).to_json()


def _upgrade(database: Database) -> None:
    engine = make_engine(database.url)
    try:
        upgrade(engine)
    finally:
        engine.dispose()


def test_a_wrong_digest_is_found(store: Store) -> None:
    learning_site(store)
    plain = state_of(store).to_json()
    plain["checkpoints"][-1][2] = "0" * 64
    with store.changing() as connection:
        connection.execute(schema.sites.update().values(state=json.dumps(plain)))
    assert "the stored state differs from the record in checkpoints" in verify(store, "site").faults
    table = schema.learned_states
    with store.changing() as connection:
        connection.execute(table.insert().values(site=1, period=999, workers=1, digest="", state=b""))
    faults = verify(store, "site").faults
    assert "there is a learned state of period 999, which is not on record" in faults


def test_a_restart_replays_nothing(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with database.open() as store:
        learning_site(store)
    told: list[int] = []
    observe = Recent.observe

    def counted(policy: Recent, state: RecentState, report: Report) -> RecentState:
        told.append(report.period)
        return observe(policy, state, report)

    monkeypatch.setattr(Recent, "observe", counted)
    with database.open() as store:
        state_in(store)
        assert told == []
        record(store, 7)
        assert told == [7]
        record(store, 6, 70.0, correct=True)
        assert told[1:] == [6, 7]
        assert types_of(store)[-2:] == ["output-imported", "advised"]


def test_proposals_are_answered_as_with_other_policies(store: Store) -> None:
    learning_site(store)
    open_now = state_of(store).open_proposals(PROPOSED)
    assert open_now
    commands.approve(store, "site", open_now[0].id, ME)
    commands.record_offer(store, "site", open_now[0].id, "started", ME)
    record(store, 7)
    sound(store)


def test_a_backup_holds_what_was_learned(tmp_path: Path) -> None:
    url, copy = f"sqlite:///{tmp_path}/site.db", tmp_path / "copy.db"
    with open_store(url, fixed_clock) as store:
        learning_site(store)
        before = state_in(store)
        back_up(store.engine, copy)
        record(store, 7)
    engine = make_engine(url)
    restore(engine, copy)
    engine.dispose()
    with open_store(url, fixed_clock) as store:
        assert state_in(store) == before
        assert stored(store)[-1] == 6
        sound(store)
        record(store, 7)
        sound(store)


@pytest.mark.parametrize("rebuilt", [False, True])
@pytest.mark.parametrize("rules", LEARNED_OTHERWISE)
def test_what_was_learned_otherwise_by_earlier_rules_stays_sound(
    life: Life, monkeypatch: pytest.MonkeyPatch, rules: str, rebuilt: bool
) -> None:
    """A state of another form has another digest; advice by it is counted as older, and learning begins anew."""
    with monkeypatch.context() as before:
        for module in (envelope, transaction):
            before.setattr(module, "RULE_VERSION", rules)
        before.setattr(packing, "FORM", packing.FORM - 1)
        begun(life, policy=EVOLVING)
        life.days(6, w0=GOOD, w1=BAD)
    if rebuilt:
        upgrade(life.store.engine)
    checked = verify(life.store, "s")
    assert (checked.faults, checked.older) == ((), checked.advice)
    life.days(1, w0=GOOD, w1=BAD)
    again = verify(life.store, "s")
    assert (again.sound, again.older, again.advice) == (True, checked.older, checked.advice + 1)
