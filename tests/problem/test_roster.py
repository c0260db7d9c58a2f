"""The roster: the paper's worked examples, its constraints, and hostile requests."""

import json

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.roster import Pending, Roster


def test_the_paper_s_intermediate_workforce() -> None:
    """{1,2,5} on the way to {3,4,5}: if (1,3) completes first, {2,3,5} works in between."""
    roster = Roster.start(workers=6, active=[1, 2, 5])
    roster.initiate(1, 3, period=1, due=2)
    roster.initiate(2, 4, period=1, due=5)
    seen = []
    for period in range(1, 6):
        for pending in roster.elapsed(period):
            roster.complete(pending.into)
        seen.append(roster.active)
    assert seen == [(1, 2, 5), (2, 3, 5), (2, 3, 5), (2, 3, 5), (3, 4, 5)]


def test_the_paper_s_timing_example() -> None:
    """(4,3) requested in period t with delay 2: {1,4} works in t and t+1, {1,3} from t+2."""
    t = 7
    roster = Roster.start(workers=5, active=[1, 4])
    roster.initiate(4, 3, period=t, due=t + 2)
    assert roster.elapsed(t) == roster.elapsed(t + 1) == ()
    assert roster.active == (1, 4)
    assert roster.elapsed(t + 2) == (Pending(out=4, into=3, since=t, due=t + 2),)
    assert roster.complete(3) == (4, 3)
    assert roster.active == (1, 3)


def test_no_delay_completes_in_the_same_period() -> None:
    roster = Roster.start(workers=3, active=[0])
    roster.initiate(0, 2, period=1, due=1)
    assert [roster.complete(pending.into) for pending in roster.elapsed(1)] == [(0, 2)]


def test_an_open_hire_is_settled_on_arrival() -> None:
    roster = Roster.start(workers=5, active=[0, 1, 2])
    roster.initiate(-1, 4, period=1, due=3)
    with pytest.raises(InvalidInput, match="no station is empty"):
        roster.complete(4)
    assert roster.complete(4, leaver=1) == (1, 4)
    assert roster.stations == (0, 4, 2)


def test_a_vacancy_is_filled_by_the_same_pair() -> None:
    roster = Roster.start(workers=5, active=[0, 1, 2])
    roster.initiate(1, 3, period=1)
    roster.vacate(1)
    assert roster.stations == (0, -1, 2)
    assert roster.pending == (Pending(out=-1, into=3, since=1, due=-1),)
    assert roster.elapsed(10**6) == ()  # the date is unknown: the hire arrives at any time
    roster.complete(3)
    assert roster.stations == (0, 3, 2)
    roster.check()


def test_a_person_may_choose_another_to_leave() -> None:
    roster = Roster.start(workers=5, active=[0, 1, 2])
    roster.initiate(1, 3, period=1)
    assert roster.complete(3, leaver=2) == (2, 3)
    assert roster.active == (0, 1, 3)
    roster.check()
    roster.initiate(1, 4, period=2)  # 1 is free again
    roster.check()


BAD_REQUESTS = [
    ((3, 4), "outgoing worker is not active"),
    ((0, 1), "incoming worker is in the active team"),
    ((0, 9), "incoming worker does not exist"),
    ((9, 4), "outgoing worker does not exist"),
    ((-2, 4), "outgoing worker does not exist"),
    ((0, -1), "incoming worker does not exist"),
    ((2, 4), "outgoing worker is in a pending"),
    ((0, 3), "incoming worker is in a pending"),
]


@pytest.mark.parametrize(("pair", "remedy"), BAD_REQUESTS)
def test_a_bad_request_is_named_and_changes_nothing(pair: tuple[int, int], remedy: str) -> None:
    roster = Roster.start(workers=5, active=[0, 1, 2])
    roster.initiate(2, 3, period=1)
    before = roster.to_json()
    with pytest.raises(InvalidInput, match=remedy):
        roster.initiate(*pair, period=2)
    assert roster.to_json() == before


def test_every_station_is_spoken_for_once() -> None:
    roster = Roster.start(workers=6, active=[0, 1])
    roster.initiate(-1, 2, period=1)
    roster.initiate(-1, 3, period=1)
    with pytest.raises(InvalidInput, match="as many pending replacements as stations"):
        roster.initiate(0, 4, period=1)


@pytest.mark.parametrize(
    ("active", "field", "remedy"),
    [
        ([0, 1, 0], r"active\[2\]", "name each worker once"),
        ([0, 7], r"active\[1\]", "from -1 to 4"),
        ([0, 1, 2, 3], "active", "4 workers for 3 stations"),
    ],
)
def test_a_bad_start_is_named(active: list[int], field: str, remedy: str) -> None:
    with pytest.raises(InvalidInput, match=f"{field}.*{remedy}"):
        Roster.start(workers=5, active=active, team=3)


def test_other_bad_calls_are_named() -> None:
    roster = Roster.start(workers=5, active=[0, 1, 2])
    with pytest.raises(InvalidInput, match="no pending replacement brings this worker"):
        roster.complete(4)
    with pytest.raises(InvalidInput, match="no pending replacement brings this worker"):
        roster.fail(4)
    with pytest.raises(InvalidInput, match="is not active"):
        roster.vacate(4)
    roster.initiate(0, 4, period=1)
    roster.initiate(1, 3, period=1)
    with pytest.raises(InvalidInput, match="outgoing worker is in a pending"):
        roster.complete(4, leaver=1)
    with pytest.raises(InvalidInput, match="outgoing worker does not exist"):
        roster.complete(4, leaver=77)
    with pytest.raises(InvalidInput, match="let 1 go first"):
        roster.resized(2)


def test_teams_and_pools_grow_and_shrink() -> None:
    roster = Roster.start(workers=5, active=[0, 1, 2])
    roster.initiate(0, 4, period=1, due=9)
    larger = roster.resized(5).grown(8)
    assert (larger.stations, larger.workers) == ((0, 1, 2, -1, -1), 8)
    assert larger.pending == roster.pending
    larger.check()
    larger.initiate(-1, 7, period=2)
    larger.initiate(-1, 6, period=2)
    with pytest.raises(InvalidInput, match="pending hires need more stations"):
        larger.resized(4)
    larger.fail(6)
    larger.fail(7)
    larger.vacate(1)
    smaller = larger.resized(2)
    assert (smaller.stations, smaller.pending) == ((0, 2), roster.pending)
    assert (smaller.initiated, smaller.failed) == (3, 2)
    smaller.check()
    assert roster.stations == (0, 1, 2)  # the old one is untouched


def test_a_team_can_grow_while_late_paired_hires_are_pending() -> None:
    roster = Roster.start(workers=5, active=[0, 1])
    roster.initiate(-1, 2, period=1)
    roster.initiate(-1, 3, period=1)
    assert roster.resized(2) == roster
    larger = roster.resized(3)
    assert (larger.stations, len(larger.pending)) == ((0, 1, -1), 2)
    larger.check()


@pytest.mark.parametrize("pair", [(0.0, 2), (0, "2"), (True, 2)])
def test_workers_are_whole_numbers(pair: tuple[int, int]) -> None:
    with pytest.raises(InvalidInput, match="must be a whole number"):
        Roster.start(workers=5, active=[0, 1]).initiate(*pair, period=1)


class HostileRoster(RuleBasedStateMachine):
    """Any call in any order: legal ones agree with a plain model, others are refused and change nothing."""

    @initialize(workers=st.integers(1, 7), team=st.integers(1, 5))
    def begin(self, workers: int, team: int) -> None:
        self.roster = Roster.start(workers, list(range(min(workers, team))), team)
        self.active = set(range(min(workers, team)))
        self.pending: dict[int, int] = {}
        self.period = 1

    def spoken_for(self) -> set[int]:
        return set(self.pending) | {out for out in self.pending.values() if out >= 0}

    @rule(out=st.integers(-2, 7), into=st.integers(-2, 7), delay=st.integers(0, 3))
    def request(self, out: int, into: int, delay: int) -> None:
        pool, before = range(self.roster.workers), self.roster.to_json()
        legal = (
            into in pool
            and into not in self.active | self.spoken_for()
            and (out == -1 or out in self.active - self.spoken_for())
            and len(self.pending) < self.roster.team
        )
        try:
            self.roster.initiate(out, into, self.period, self.period + delay)
        except InvalidInput:
            assert not legal
            assert self.roster.to_json() == before
        else:
            assert legal
            self.pending[into] = out

    @rule()
    def next_period(self) -> None:
        self.period += 1
        for item in self.roster.elapsed(self.period):
            if item.out >= 0:
                self.roster.complete(item.into)
                self.active = self.active - {item.out} | {item.into}
                del self.pending[item.into]

    @rule(into=st.integers(-1, 7), leaver=st.integers(-2, 7))
    def arrive(self, into: int, leaver: int) -> None:
        before = self.roster.to_json()
        free = leaver in self.active - self.spoken_for() or (leaver >= 0 and leaver == self.pending.get(into))
        legal = into in self.pending and (free or (leaver == -1 and len(self.active) < self.roster.team))
        try:
            self.roster.complete(into, leaver)
        except InvalidInput:
            assert not legal
            assert self.roster.to_json() == before
        else:
            assert legal
            self.active = self.active - {leaver} | {into}
            del self.pending[into]

    @precondition(lambda self: self.pending)
    @rule(data=st.data())
    def decline(self, data: st.DataObject) -> None:
        into = data.draw(st.sampled_from(sorted(self.pending)))
        assert self.roster.fail(into) == (self.pending.pop(into), into)

    @precondition(lambda self: self.active)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        worker = data.draw(st.sampled_from(sorted(self.active)))
        self.roster.vacate(worker)
        self.active.remove(worker)
        self.pending = {into: -1 if out == worker else out for into, out in self.pending.items()}

    @rule()
    def save_and_restore(self) -> None:
        self.roster = Roster.from_json(json.loads(json.dumps(self.roster.to_json())))

    @invariant()
    def agrees_with_the_model(self) -> None:
        if not hasattr(self, "roster"):
            return
        self.roster.check()
        assert set(self.roster.active) == self.active
        assert {item.into: item.out for item in self.roster.pending} == self.pending
        assert len(self.roster.stations) == self.roster.team
        assert set(self.roster.outside) == set(range(self.roster.workers)) - self.active


HostileRoster.TestCase.settings = settings(max_examples=60, stateful_step_count=40)
TestHostileRoster = HostileRoster.TestCase
