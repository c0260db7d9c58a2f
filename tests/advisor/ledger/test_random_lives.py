"""Random sequences of commands: the rebuilt state equals the stored one, money adds up, nobody is at two stations."""

import shutil
import tempfile
from datetime import UTC, date, datetime, timedelta
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from crewlearn.advisor.advice import commands, pilots, remarks, team
from crewlearn.advisor.advice.answering import CommonAnswer, answer_many, approval, outcome_of_offers, refusal
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.advice.remarks import A_WHILE, FOR_GOOD, Term
from crewlearn.advisor.files import imports, output_imports, worker_imports
from crewlearn.advisor.files.columns import OUTPUT, OutputRow, WorkerRow
from crewlearn.advisor.files.intake import profiles
from crewlearn.advisor.files.intake.import_file import ImportFile, ImportOptions
from crewlearn.advisor.files.recording.recorded_imports import recorded_imports, undo_import
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.events import REFUSALS
from crewlearn.advisor.ledger.learned.learning import LearnedState, LearnedText, learned_anew
from crewlearn.advisor.ledger.learned.stored_states import StoredDays, policy_state
from crewlearn.advisor.ledger.queries import read_events, read_proposals, state_of, state_text
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.site import FAILURES, PROPOSED, UNDER_WAY, Site
from crewlearn.advisor.ledger.site.request_keys import RequestKey, RequestRepeated
from crewlearn.advisor.ledger.team.recording import TeamRow
from crewlearn.advisor.ledger.team.stints import read_stints
from crewlearn.advisor.ledger.verify import verify
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import InvalidInput
from support import holds
from support.pilots import pilot_plan

POLICIES = (
    "value-of-replacement",
    "dr-ucb:gamma=1",
    "a-omm",
    "threshold:level=0.6,trial=2",
    "dr-ucb+late-pairing:gamma=1",
    "support.learners:Recent",
    "value-of-replacement-evolving",
)
CHANGES: list[dict[str, Any]] = [
    *({"status": status} for status in ("left", "blocked", "pool")),
    {"pinned": True},
    {"fee": 1.5},
]


DATES = st.integers(-40, 60).map(lambda day: date(2026, 1, 5) + timedelta(days=day))
TERMS = [A_WHILE, FOR_GOOD, Term(days=1), Term(days=4), Term(until=date(2026, 1, 12))]
SAID = [holds.pin, holds.block, remarks.add_note]


class AnySite(RuleBasedStateMachine):
    """Every command in any order; a refused one must change nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.store = open_store(f"sqlite:///{self.folder}/s.db", clock=lambda: datetime(2030, 1, 1, tzinfo=UTC))
        self.joined = self.sent = 0
        self.earlier: tuple[Site, str] | None = None

    def teardown(self) -> None:
        try:
            checked = verify(self.store, "s")
            assert checked.sound, checked.faults
        finally:
            self.store.engine.dispose()
            shutil.rmtree(self.folder)

    @initialize(
        policy=st.sampled_from(POLICIES),
        team=st.integers(1, 4),
        fee=st.sampled_from([0.0, 0.3, 2.0]),
        due=st.sampled_from(["initiation", "completion"]),
        weekly=st.sampled_from([None, 1]),
        tenure=st.integers(0, 2),
    )
    def begin(self, policy: str, team: int, fee: float, due: str, weekly: int | None, tenure: int) -> None:
        config = SiteConfig(
            team=team,
            fee=fee,
            units=Units(0.0, 10.0),
            calendar=WorkCalendar(date(2026, 1, 5)),
            horizon=60,
            mean_delay=1.0,
            fee_due=due,
            policy=policy,
            most_a_week=weekly,
            least_tenure=tenure,
            ask_again_after=3,
        )
        commands.create_site(self.store, "s", config, "ann")
        self.join(team + 2, active=True)

    def site(self) -> Site:
        with self.store.reading() as connection:
            return self.store.site(connection, "s")[1]

    def tried(self, call: Any) -> None:
        """Run a command that may be refused; check that a refusal changes nothing."""
        before = self.site().to_json()
        try:
            call()
        except InvalidInput:
            assert self.site().to_json() == before

    @rule(seed=st.sampled_from(["a", "b"]), days=st.integers(2, 9))
    def pilot(self, seed: str, days: int) -> None:
        site = self.site()
        stations = site.config.team
        if stations >= 2:
            plan = pilot_plan("s", stations, site.day, days)
            self.tried(lambda: pilots.start_pilot(self.store, plan, "ann", seed=seed))

    @rule()
    def end_pilot(self) -> None:
        running = self.site().pilot
        if running is not None:
            self.tried(lambda: pilots.end_pilot(self.store, running.plan, None, "ann", "enough"))

    @rule(count=st.integers(1, 2), active=st.booleans())
    def join(self, count: int, active: bool = False) -> None:
        rows = [WorkerRow(f"w{self.joined + n}", active=active and n < 1) for n in range(count)]
        worker_imports.import_workers(self.store, "s", rows, b"", "ann")
        self.joined += count

    @rule(data=st.data(), count=st.sampled_from([0, 1, 5, 40]), mean=st.integers(-1, 11))
    def change_prior(self, data: st.DataObject, count: int, mean: int) -> None:
        worker = data.draw(st.integers(0, len(self.site().workers) - 1))
        row = WorkerRow(f"w{worker}", name=f"Name {mean}", prior_n=count, prior_mean=float(mean))
        worker_imports.import_workers(self.store, "s", [row], b"", "ann")
        assert self.site().workers[worker].prior_n == count

    @rule(data=st.data(), skip=st.integers(0, 1))
    def work(self, data: st.DataObject, skip: int) -> None:
        site = self.site()
        rows = []
        for worker in site.roster.active:
            kind = data.draw(st.sampled_from(["worked", "worked", "worked", "absent"]))
            units = data.draw(st.integers(-1, 11)) * 1.0 if kind == "worked" else None
            rows.append(OutputRow(2, None, site.period + skip, f"w{worker}", units, None, kind))
        keyed = self.store.keyed(RequestKey.of("ann", f"{site.period} {skip} {self.sent}", b""))
        self.sent += 1
        output_imports.import_output(keyed, "s", rows, b"", "ann", accept_unusual=True)
        if rows:
            with pytest.raises(RequestRepeated):
                output_imports.import_output(keyed, "s", rows, b"", "ann", accept_unusual=True)

    @rule(data=st.data())
    def correct(self, data: st.DataObject) -> None:
        site = self.site()
        worker = data.draw(st.integers(0, len(site.workers) - 1))
        period = data.draw(st.integers(1, max(1, site.period - 1)))
        row = OutputRow(2, None, period, f"w{worker}", float(data.draw(st.integers(0, 10))), None, "worked")
        correct, accept = data.draw(st.booleans()), data.draw(st.booleans())
        self.tried(
            lambda: output_imports.import_output(
                self.store, "s", [row], b"", "ann", correct=correct, accept_unusual=accept
            )
        )

    @rule(data=st.data(), inferred=st.booleans())
    def work_beside_the_plan(self, data: st.DataObject, inferred: bool) -> None:
        """Record a few days by date: before the start, on weekends, or planned ones."""
        people = len(self.site().workers)
        first = data.draw(DATES)
        rows = [
            OutputRow(2, first + timedelta(days=day), None, f"w{worker}", float(worker % 7), None, "worked")
            for day in range(data.draw(st.integers(1, 4)))
            for worker in data.draw(st.sets(st.integers(0, people - 1), min_size=1, max_size=4))
        ]
        self.tried(
            lambda: output_imports.import_output(
                self.store, "s", rows, b"", "ann", correct=True, team_from_output=inferred
            )
        )

    @rule(data=st.data(), on=st.none() | DATES, station=st.none() | st.integers(1, 4))
    def take_a_station(self, data: st.DataObject, on: date | None, station: int | None) -> None:
        worker = data.draw(st.integers(0, len(self.site().workers) - 1))
        self.tried(lambda: team.add_to_team(self.store, "s", f"w{worker}", "bo", station=station, on=on))

    @rule(data=st.data(), on=st.none() | DATES)
    def leave_a_station(self, data: st.DataObject, on: date | None) -> None:
        worker = data.draw(st.integers(0, len(self.site().workers) - 1))
        self.tried(lambda: team.remove_from_team(self.store, "s", f"w{worker}", "bo", on=on))

    @rule(data=st.data(), on=st.none() | DATES)
    def name_the_team(self, data: st.DataObject, on: date | None) -> None:
        members = data.draw(st.sets(st.integers(0, len(self.site().workers) - 1), max_size=4))
        self.tried(lambda: team.set_team(self.store, "s", [f"w{worker}" for worker in members], "bo", on=on))

    @rule(data=st.data(), first=DATES, days=st.none() | st.integers(0, 30), station=st.none() | st.integers(1, 4))
    def correct_a_stint(self, data: st.DataObject, first: date, days: int | None, station: int | None) -> None:
        worker = data.draw(st.integers(0, len(self.site().workers) - 1))
        last = None if days is None else first + timedelta(days=days)
        row = TeamRow(f"w{worker}", first, last, station)
        self.tried(lambda: team.record_stints(self.store, "s", [row], "bo"))

    @rule(data=st.data(), newcomer=st.booleans())
    def take_in_an_export(self, data: st.DataObject, newcomer: bool) -> None:
        """Import a file of another layout: two areas a day, perhaps a newcomer; its reading is kept as a profile."""
        site = self.site()
        names = [f"w{worker}" for worker in site.roster.active] + [f"w{self.joined}"] * newcomer
        header = data.draw(st.sampled_from(["Pieces", "Qty"]))
        lines = [
            f"{site.period},{name},{area},{data.draw(st.integers(0, 5))}" for name in names for area in ("Pick", "Pack")
        ]
        text = "\n".join(["Report", "", f"Period,Badge,Area,{header}", *lines, "Total,,,99", ""])
        if not names:
            return
        file = ImportFile(OUTPUT.kind, text.encode(), ImportOptions(yes=True, accept_unusual=True), f"{header}.csv")
        done = imports.take_in(self.store, "s", file, "ann")
        assert (done.recorded, done.enrolled) == (len(names), int(newcomer))
        self.joined += newcomer
        assert header.lower() in self.site().profiles

    @precondition(lambda self: self.site().profiles)
    @rule(data=st.data())
    def remove_profile(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(list(self.site().profiles)))
        profiles.remove_profile(self.store, "s", name, "ann")
        assert name not in self.site().profiles

    @precondition(lambda self: self.site().open_proposals(PROPOSED))
    @rule(data=st.data(), yes=st.booleans())
    def answer(self, data: st.DataObject, yes: bool) -> None:
        number = data.draw(st.sampled_from(self.site().open_proposals(PROPOSED))).id
        if yes and data.draw(st.booleans()):
            worker = data.draw(st.integers(0, len(self.site().workers) - 1))
            self.tried(lambda: commands.approve(self.store, "s", number, "bo", into=f"w{worker}"))
        elif yes:
            actor = data.draw(st.sampled_from(["bo", "cy"]))
            self.tried(lambda: commands.approve(self.store, "s", number, actor))
        elif data.draw(st.booleans()):
            how, term = data.draw(st.sampled_from(REFUSALS)), data.draw(st.sampled_from(TERMS))
            self.tried(lambda: remarks.turn_down(self.store, "s", number, "bo", how, "no", term=term))
        else:
            commands.reject(self.store, "s", number, "bo", "no", keep_out=data.draw(st.booleans()))

    @precondition(lambda self: self.site().open_proposals(*UNDER_WAY))
    @rule(data=st.data(), outcome=st.sampled_from(["started", "started", "offered", "accepted", *FAILURES]))
    def settle(self, data: st.DataObject, outcome: str) -> None:
        proposal = data.draw(st.sampled_from(self.site().open_proposals(*UNDER_WAY)))
        period = data.draw(st.integers(proposal.decided_in, self.site().period))
        self.tried(lambda: commands.record_offer(self.store, "s", proposal.id, outcome, "bo", period=period))

    @precondition(lambda self: self.site().open_proposals(PROPOSED, *UNDER_WAY))
    @rule(answer=st.sampled_from([approval(), refusal("not-now", "no"), outcome_of_offers("started")]))
    def answer_all(self, answer: CommonAnswer) -> None:
        numbers = [proposal.id for proposal in self.site().open_proposals(PROPOSED, *UNDER_WAY)]
        self.tried(lambda: answer_many(self.store, "s", numbers, answer, "bo"))

    @rule()
    def undo(self) -> None:
        self.tried(lambda: commands.undo(self.store, "s", "bo"))

    @rule(data=st.data())
    def undo_import(self, data: st.DataObject) -> None:
        with self.store.reading() as connection:
            imports = recorded_imports(connection, self.store.key(connection, "s"))
        if imports:
            number = data.draw(st.sampled_from(imports[-4:])).number
            self.tried(lambda: undo_import(self.store, "s", number, "bo"))

    @invariant()
    def the_period_follows_the_last_row(self) -> None:
        if not self.joined:
            return
        with self.store.reading() as connection:
            table = schema.output_rows
            query = sa.select(table.c.worker, table.c.period).where(table.c.replaced_in.is_(None))
            rows = [(row.worker, row.period) for row in connection.execute(query)]
        site = self.site()
        date_of, last = site.config.calendar.date_of, dict[int, int]()
        for worker, period in sorted(rows, key=lambda row: date_of(row[1])):
            last[worker] = period
        days = [date_of(period) for _, period in rows]
        regular = [period for period in range(1, site.period + 1) if not days or date_of(period) > max(days)]
        assert site.period == min(regular)
        assert [worker.recorded_to for worker in site.workers] == [last.get(n, 0) for n in range(len(site.workers))]

    @invariant()
    def the_state_at_hand_is_the_one_on_record_and_stays_as_it_is(self) -> None:
        if not self.joined:
            return
        if self.earlier is not None:
            site, text = self.earlier
            assert state_text(site) == text, "a later event changed an earlier state"
        with self.store.reading() as connection:
            site = self.store.snapshot(connection, "s").site
            row = connection.execute(sa.select(schema.sites.c.name, schema.sites.c.state)).one()
        assert site.to_json() == state_of(row).to_json()
        self.earlier = site, row.state

    @invariant()
    def sums_are_of_what_was_brought_along_and_recorded(self) -> None:
        if not self.joined:
            return
        site = self.site()
        with self.store.reading() as connection:
            key, _, _ = self.store.site(connection, "s")
            table = schema.output_rows
            rows = connection.execute(
                sa.select(table.c.worker, table.c.units).where(
                    table.c.site == key, table.c.replaced_in.is_(None), table.c.units.is_not(None)
                )
            ).all()
        low, high = site.config.units.low, site.config.units.high
        for number, worker in enumerate(site.workers):
            seen = [min(max((units - low) / (high - low), 0.0), 1.0) for whose, units in rows if whose == number]
            assert site.estimates.counts[number] == worker.prior_n + len(seen)
            total = worker.prior_n * worker.prior_mean + sum(seen)
            assert abs(site.estimates.sums[number] - total) < 1e-9

    @invariant()
    def what_is_learned_is_a_function_of_the_facts(self) -> None:
        site = self.site() if self.joined else None
        if site is None or not site.has_output or site.memory is None or not site.policy.learns_by_day:
            return
        with self.store.reading() as connection:
            key, _, _ = self.store.site(connection, "s")
            states = list(learned_anew(site, site.policy, StoredDays(connection, key)))
            at_hand = policy_state(connection, key, site)
        digests = {learned.period: LearnedText.of(site.policy, learned).digest for learned in states}
        for checkpoint in site.checkpoints:
            assert checkpoint.digest == digests[checkpoint.period]
        last = LearnedState(states[-1].period, states[-1].workers, at_hand)
        assert LearnedText.of(site.policy, last).digest == digests[last.period]

    @rule(data=st.data(), changes=st.sampled_from(CHANGES))
    def change_worker(self, data: st.DataObject, changes: dict[str, Any]) -> None:
        worker = data.draw(st.integers(0, len(self.site().workers) - 1))
        commands.change_worker(self.store, "s", f"w{worker}", "ann", **changes)

    @rule(data=st.data(), term=st.sampled_from(TERMS), said=st.sampled_from(SAID))
    def say(self, data: st.DataObject, term: Term, said: Any) -> None:
        worker = data.draw(st.integers(0, len(self.site().workers) - 1))
        self.tried(lambda: said(self.store, "s", f"w{worker}", "ann", "because", term=term))

    @rule(
        changes=st.sampled_from(
            [
                {"budget_a_month": 2.5},
                {"most_a_month": 2, "budget_a_week": 1.0},
                {"second_approver": True},
                {"most_a_month": None, "budget_a_week": None, "budget_a_month": None},
                {"team": 2},
                {"team": 5},
                {"fee": 1.0},
                {"fee_due": "completion"},
                {"rolling": True},
                {"policy": "support.learners:Recent"},
                {"output_range": "0:20"},
                {"output_range": "-1:9"},
            ]
        )
    )
    def change_site(self, changes: dict[str, Any]) -> None:
        self.tried(lambda: commands.change_site(self.store, "s", changes, "ann"))

    @invariant()
    def nobody_is_at_two_stations(self) -> None:
        if self.joined:
            site = self.site()
            site.roster.check()
            assert len(site.workers) == site.roster.workers == len(site.estimates.counts)
            assert {proposal.into for proposal in site.open_proposals(*UNDER_WAY)} == {
                hire.into for hire in site.roster.pending
            }

    @invariant()
    def nobody_is_proposed_against_what_people_said(self) -> None:
        if not self.joined:
            return
        site = self.site()
        for proposal in site.open_proposals(PROPOSED):
            assert site.may_enter(proposal.into)
            assert proposal.out == NOBODY or site.may_leave(proposal.out)
            assert not site.is_set_aside(proposal.out, proposal.into)

    @invariant()
    def money_adds_up(self) -> None:
        if not self.joined:
            return
        site = self.site()
        with self.store.reading() as connection:
            key, _, _ = self.store.site(connection, "s")
            proposals = read_proposals(connection, key)
            assert [event.number for event in read_events(connection, key)] == list(
                range(1, self.store.site(connection, "s")[2] + 1)
            )
            table = schema.output_rows
            units = connection.execute(
                sa.select(table.c.units).where(table.c.replaced_in.is_(None), table.c.units.is_not(None))
            ).scalars()
            assert site.earned == sum(units)  # integers, so the order of the sum does not matter
        assert abs(site.fees - sum(proposal.fee for proposal in proposals if proposal.paid)) < 1e-9
        assert all(proposal.paid for proposal in proposals if proposal.status == "started")

    @invariant()
    def stints_follow_one_another(self) -> None:
        if not self.joined:
            return
        with self.store.reading() as connection:
            key, site, _ = self.store.site(connection, "s")
            stints = read_stints(connection, key)
        open_now = {stint.station: stint.worker for stint in stints if stint.until is None}
        assert open_now == {at: worker for at, worker in enumerate(site.roster.stations) if worker != NOBODY}
        moment = site.config.calendar.moment_of
        stints.sort(key=lambda stint: (stint.station, moment(stint.since)))
        for earlier, later in pairwise(stints):
            if earlier.station == later.station:
                assert earlier.until is not None
                assert moment(earlier.since) < moment(earlier.until) <= moment(later.since)
        for stint, other in combinations(stints, 2):  # nobody at two stations, ever
            if stint.worker == other.worker:
                first, second = sorted((stint, other), key=lambda either: moment(either.since))
                assert first.until is not None
                assert moment(first.until) <= moment(second.since)
        assert [seat for seat in site.seats if seat[0] != NOBODY] == [
            (stint.worker, stint.since) for stint in stints if stint.until is None
        ]


TestAnySite = AnySite.TestCase
TestAnySite.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)
