"""The demo site: a sound record that contains every kind of event a site may see."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.advice.reasons import estimates_of
from crewlearn.advisor.evidence import exports as decided
from crewlearn.advisor.files import exports as export
from crewlearn.advisor.files.output_imports import import_output
from crewlearn.advisor.files.reading import read_output, read_workers
from crewlearn.advisor.files.worker_imports import import_workers
from crewlearn.advisor.ledger import identities
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.events import Event, OfferRecorded, WorkerChanged, WorkersImported
from crewlearn.advisor.ledger.queries import read_events, read_proposals, standing_rows
from crewlearn.advisor.ledger.site import LEFT, PROPOSED, Proposal, Site
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from crewlearn.planning.demo import FORMER_DAYS, NAMES, make_demo
from crewlearn.planning.demo_floor import DAYS, PEOPLE, QUITS, TEAM
from crewlearn.planning.plan import plan
from crewlearn.problem.arrays import NOBODY
from support.stores import FIXED_SALT

TODAY = date(2026, 11, 16)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    made = open_store(f"sqlite:///{tmp_path_factory.mktemp('demo')}/demo.db")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(identities, "new_salt", lambda: FIXED_SALT)
        make_demo(made, today=TODAY)
    yield made
    made.engine.dispose()


def site_of(store: Store) -> Site:
    with store.reading() as connection:
        return store.site(connection, "demo")[1]


def record_of(store: Store) -> tuple[list[Event], list[Proposal]]:
    with store.reading() as connection:
        key = store.site(connection, "demo")[0]
        return list(read_events(connection, key)), read_proposals(connection, key)


def test_the_record_is_sound(store: Store) -> None:
    checked = verify(store, "demo")
    assert checked.sound, checked.faults
    assert checked.rows > DAYS * TEAM * 0.95
    assert checked.advice > 100


def test_it_ends_yesterday_with_something_to_decide(store: Store) -> None:
    site = site_of(store)
    assert site.period == DAYS + 1
    assert site.config.calendar.date_of(DAYS) == date(2026, 11, 13)  # the last working day before a Monday
    assert site.config.calendar.closures
    standing = site.open_proposals(PROPOSED)
    assert standing
    assert all(proposal.out != NOBODY for proposal in standing)  # a replacement, not a vacancy
    assert len(site.roster.active) == TEAM
    assert len(site.workers) == len(NAMES) == PEOPLE == 24


def test_people_have_names_and_ids_of_their_own(store: Store) -> None:
    with store.reading() as connection:
        people = connection.execute(sa.select(schema.identities.c.external_id, schema.identities.c.name)).all()
    assert {name for _, name in people} == set(NAMES)
    assert len({worker_id for worker_id, _ in people}) == 24


def test_what_was_answered_and_how_it_went(store: Store) -> None:
    recorded, proposals = record_of(store)
    statuses = Counter(proposal.status for proposal in proposals)
    assert statuses["rejected"] == 1
    assert statuses["declined"] == 1
    assert statuses["started"] >= 4
    rejected = next(proposal for proposal in proposals if proposal.status == "rejected")
    assert rejected.reason.startswith(NAMES[rejected.into])
    site = site_of(store)
    assert site.delays[0] == statuses["started"]
    assert 2.0 <= site.delays[1] / site.delays[0] <= 5.0
    assert site.fees == 400.0 * (statuses["started"] + statuses["declined"])
    outcomes = Counter(event.fact.outcome for event in recorded if isinstance(event.fact, OfferRecorded))
    assert outcomes["accepted"] == statuses["started"]


def test_a_leaver_is_followed_by_the_next_candidate_after_a_decline(store: Store) -> None:
    recorded, proposals = record_of(store)
    left = [event.fact.worker for event in recorded if isinstance(event.fact, WorkerChanged)]
    assert len(left) == len(QUITS)
    assert all(site_of(store).workers[worker].status == LEFT for worker in left)
    vacancy = [proposal for proposal in proposals if proposal.out == NOBODY and proposal.status != "withdrawn"]
    assert [proposal.status for proposal in vacancy] == ["declined", "started", "started"]
    assert vacancy[0].into != vacancy[1].into


def test_a_newcomer_joins_with_prior_data(store: Store) -> None:
    recorded, _ = record_of(store)
    joined = [event.fact for event in recorded if isinstance(event.fact, WorkersImported)]
    assert [len(fact.workers) for fact in joined] == [23, 1]
    assert joined[1].workers[0].facts["prior_n"] == FORMER_DAYS


def test_days_are_as_days_are(store: Store) -> None:
    table = schema.output_rows
    with store.reading() as connection:
        rows = connection.execute(sa.select(table).order_by(table.c.event, table.c.period, table.c.worker)).all()
    attendance = Counter(row.attendance for row in rows)
    assert set(attendance) == {"worked", "partial", "absent", "no-show", "sent-home"}
    assert attendance["worked"] > 0.9 * len(rows)
    replaced = [row for row in rows if row.replaced_in is not None]
    assert len(replaced) == 1
    (right,) = [row for row in rows if row.event == replaced[0].replaced_in]
    assert right.units // 10.0 == replaced[0].units
    pages: dict[int, list[float]] = {}
    for row in rows:
        if row.attendance == "worked" and row.replaced_in is None:
            pages.setdefault(row.period, []).append(row.units / 7.5)
    days = [sum(page) / len(page) for page in pages.values()]
    within = [rate - sum(page) / len(page) for page in pages.values() for rate in page]
    spread = (sum(deviation * deviation for deviation in within) / len(within)) ** 0.5
    assert 70.0 < sum(days) / len(days) < 90.0
    assert 7.0 < spread < 11.0, "people and their days: the root of 6.5² + 7.0², some of it let go"
    bad, usual = min(days), sorted(days)[len(days) // 2]
    assert 0.70 < bad / usual < 0.87, "one week is 18% below"


def test_recorded_times_are_those_of_the_days(store: Store) -> None:
    recorded, _ = record_of(store)
    times = [datetime.fromisoformat(event.at) for event in recorded]
    assert times == sorted(times)
    assert times[-1].date() == TODAY
    calendar = site_of(store).config.calendar
    assert all(calendar.is_working(moment.date()) for moment in times)
    assert {event.actor for event in recorded} == {"Ines Aubert", "shift office"}


def heads(store: Store) -> list[str]:
    with store.reading() as connection:
        return list(connection.execute(sa.select(schema.sites.c.head)).scalars())


def test_the_same_seed_and_day_give_the_same_record(store: Store, tmp_path: Path) -> None:
    again = open_store(f"sqlite:///{tmp_path}/again.db", clock=lambda: datetime(2026, 11, 16, 9, 0, tzinfo=UTC))
    make_demo(again)  # today, as its clock says
    assert heads(again) == heads(store)
    assert again.clock() == datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
    with pytest.raises(Conflict, match="exists already"):
        make_demo(again)
    again.engine.dispose()


@pytest.mark.parametrize("days", [1, 5, 6])  # a Tuesday, and the weekend, when the last day was a Friday
def test_any_day_will_do(days: int, tmp_path: Path) -> None:
    made = open_store(f"sqlite:///{tmp_path}/demo.db")
    site = make_demo(made, today=TODAY + timedelta(days=days))
    assert site.config.calendar.date_of(DAYS) < TODAY + timedelta(days=days)
    assert site.open_proposals(PROPOSED)
    assert verify(made, "demo").sound
    made.engine.dispose()


def test_another_seed_tells_another_story_and_leaves_something_open(tmp_path: Path) -> None:
    made = open_store(f"sqlite:///{tmp_path}/demo.db")
    site = make_demo(made, seed=1, today=TODAY)
    checked = verify(made, "demo")
    assert checked.sound, checked.faults
    assert site.open_proposals(PROPOSED)
    _, proposals = record_of(made)
    assert {"declined", "started"} <= {proposal.status for proposal in proposals}
    made.engine.dispose()


def test_there_is_something_to_plan_with(store: Store) -> None:
    outcome = plan(site_of(store), runs=100)
    assert outcome.periods == 120
    assert outcome.own == "value-of-replacement-evolving"
    assert outcome.best.gain.mean > 0.0


def test_its_exports_make_the_same_site_again(store: Store) -> None:
    site = site_of(store)
    commands.create_site(store, "again", site.config, "ann")
    workers, output = ("".join(decided.EXPORTS[what](store, "demo")).encode() for what in ("workers", "output"))
    import_workers(store, "again", read_workers(workers), workers, "ann")
    rows = read_output(output)
    assert {row.attendance for row in rows if row.units is not None} == {"worked", "partial", "sent-home"}
    assert import_output(store, "again", rows, output, "ann", today=TODAY).recorded == len(rows)
    with store.reading() as connection:
        again = store.site(connection, "again")[1]
    assert again.estimates.sums.tolist() == site.estimates.sums.tolist()
    assert again.earned == site.earned
    assert "".join(export.output_as_csv(store, "again")).encode() == output


def test_what_is_thought_of_people_is_what_they_did(store: Store) -> None:
    """Prior data are in the site's own units, so every estimate lies near the worker's mean recorded output."""
    site = site_of(store)
    with store.reading() as connection:
        key = store.site(connection, "demo")[0]
        for number, worker in enumerate(site.workers):
            rows = [row for _, row in standing_rows(connection, key, [number])]
            seen = [row.units / row.hours for row in rows if row.attendance == "worked" and row.units and row.hours]
            if len(seen) < 30:
                continue
            assert worker.prior_n == 0 or 70.0 < (site.prior_mean_of(number) or 0.0) < 100.0
            mean = site.config.units.people_output(estimates_of(site)[0][number]["mean"])
            assert mean == pytest.approx(np.mean(seen), abs=3.0), number
