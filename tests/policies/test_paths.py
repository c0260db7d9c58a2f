"""Invariants on every path: in simulated worlds, and at live sites where anything may happen."""

import itertools
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from crewlearn.engine.interpreted import Step, play
from crewlearn.engine.world import World
from crewlearn.policies.contract import Pair, Policy, Situation
from crewlearn.policies.dr_ucb.policy import DRUCB, DRUCBState
from crewlearn.policies.registry import REGISTRY, make_policy
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.laws import (
    AvailabilityDelay,
    BernoulliOutput,
    DelayLaw,
    FixedDelay,
    GeometricDelay,
    NoDelay,
    OutputLaw,
    TruncatedNormalOutput,
    UniformDelay,
    UniformOutput,
)
from crewlearn.problem.model import CONVENTIONS, Pool, Problem, Setting
from crewlearn.theory.bounds import cycles_bound
from support.live_site import LiveSite

OUTPUTS: list[OutputLaw] = [UniformOutput(), BernoulliOutput(), TruncatedNormalOutput(0.2)]
DELAYS: list[DelayLaw] = [
    NoDelay(),
    FixedDelay(3),
    GeometricDelay(4.0),
    AvailabilityDelay(0.2),
    UniformDelay(0, 9),
]


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    workers = draw(st.integers(2, 9))
    means = tuple(draw(st.lists(st.floats(0.0, 1.0), min_size=workers, max_size=workers)))
    prior = draw(st.booleans())
    return Problem(
        team=draw(st.integers(1, workers - 1)),
        horizon=draw(st.integers(1, 90)),
        cost=draw(st.sampled_from([0.0, 0.2, 1.0, 8.0])),
        workers=Pool(
            means,
            prior_n=tuple(draw(st.lists(st.integers(0, 40), min_size=workers, max_size=workers))) if prior else (),
            prior_mean=means if prior else (),
        ),
        delay=draw(st.sampled_from(DELAYS)),
        output=draw(st.sampled_from(OUTPUTS)),
        fee_due=draw(st.sampled_from(["initiation", "completion"])),
    )


def check_path(problem: Problem, world: World, steps: list[Step], up_front: float) -> None:
    """Replay a run from its requests alone and check it against the model of Section 3."""
    active = set(world.starting_team().tolist())
    pending: list[tuple[int, int, int]] = []
    paid = 0.0
    for step in steps:
        for out, into in step.requested:
            busy = {worker for a, b, _ in pending for worker in (a, b)}
            assert into not in active | busy
            assert out == -1 or out in active - busy
            assert len(pending) < problem.team
            pending.append((out, into, step.period + world.delay(step.period, out, into)))
        due = [(out, into) for out, into, when in pending if when == step.period]
        assert [into for _, into in step.completed + step.failed] == [into for _, into in due]
        for (out, into), (promised, _) in zip(step.completed, due, strict=False):
            assert promised in (-1, out)
            assert out in active
            active = active - {out} | {into}
        pending = [item for item in pending if item[2] > step.period]
        assert len(step.stations) == problem.team
        assert set(step.stations) == active == set(step.output)
        assert all(value == world.output(step.period, worker) for worker, value in step.output.items())
        paying = step.requested if problem.fee_due == "initiation" else step.completed
        assert step.fees == problem.cost * len(paying) + (up_front if step.period == 1 else 0.0)
        paid += step.fees
        missed = sum(sorted(world.means, reverse=True)[: problem.team]) - sum(world.means[i] for i in active)
        assert step.regret == pytest.approx(missed + step.fees, abs=1e-9)
        assert not (step.requested and step.period >= problem.horizon > 1)
    requested = sum(len(step.requested) for step in steps)
    completed = sum(len(step.completed) for step in steps)
    charged = problem.cost * (requested if problem.fee_due == "initiation" else completed)
    assert paid == pytest.approx(charged + up_front)
    assert requested == completed + len(pending)


class Watched(DRUCB):
    """DR-UCB that logs its states."""

    seen: ClassVar[list[DRUCBState]] = []

    def decide(self, state: DRUCBState, situation: Situation) -> tuple[list[Pair], DRUCBState]:
        pairs, after = super().decide(state, situation)
        self.seen.append(after)
        return pairs, after


@pytest.mark.parametrize("name", list(REGISTRY))
@settings(max_examples=20)
@given(problem=problems(), run=st.integers(0, 3))
def test_every_policy_keeps_the_rules_of_the_model(name: str, problem: Problem, run: int) -> None:
    for policy in dict.fromkeys(make_policy(name, conventions) for conventions in CONVENTIONS):
        world = World(problem, seed=5, run=run)
        interview = policy.interview(problem.setting)
        steps = list(play(world, policy))
        assert [step.period for step in steps] == list(range(1, problem.horizon + 1))
        check_path(problem, world, steps, 0.0 if interview is None else interview.fee)


@settings(max_examples=60)
@given(
    problem=problems(), gamma=st.one_of(st.none(), st.floats(0.05, 40.0)), radius=st.sampled_from(["log-T", "log-t"])
)
def test_cycles_and_fees_stay_below_their_bound(problem: Problem, gamma: float | None, radius: str) -> None:
    Watched.seen.clear()
    policy = Watched(gamma=gamma, radius=radius)
    pace = policy.pace(problem.setting)
    steps = list(play(World(problem, seed=2, run=0), policy))
    cycles = Watched.seen[-1].cycle
    requested = sum(len(step.requested) for step in steps)
    assert requested <= problem.team * cycles
    if pace > 0.0:
        assert cycles <= cycles_bound(problem.setting, pace)
        assert sum(step.fees for step in steps) <= problem.cost * problem.team * cycles_bound(problem.setting, pace)
    # A cycle ends no sooner than its least-observed worker was seen N more times.
    for before, after in itertools.pairwise(Watched.seen):
        if after.cycle > before.cycle > 0:
            assert after.decided_at >= before.decided_at + before.needed


LIVE = [name for name in REGISTRY if not make_policy(name).oracle]


class HostileSite(RuleBasedStateMachine):
    """A live site where offers fail, people leave and join, and settings change; then calm returns."""

    name: ClassVar[str]

    @initialize(
        conventions=st.sampled_from(["as-written", "as-released"]),
        workers=st.integers(1, 8),
        team=st.integers(1, 4),
        gamma=st.sampled_from(["none", "1", "5"]),
        cost=st.sampled_from([0.0, 0.5, 4.0]),
    )
    def begin(self, conventions: str, workers: int, team: int, gamma: str, cost: float) -> None:
        spec = f"{self.name}:gamma={gamma}" if self.name.startswith("dr-ucb") else self.name
        self.policy: Policy[object] = make_policy(spec, conventions)
        rng = np.random.default_rng(workers)
        means = rng.random(100)
        setting = Setting(workers, team, 400, cost, 2.0)
        self.site: LiveSite[Any] = LiveSite(
            self.policy, setting, list(range(min(workers, team))), lambda t, i: float(means[i])
        )
        self.approved = 0

    @rule(data=st.data())
    def a_period_with_people_in_it(self, data: st.DataObject) -> None:
        site = self.site
        for pair in site.ask():
            if data.draw(st.booleans(), label=f"approve {pair}"):
                self.approved += 1
                site.initiate([pair], data.draw(st.sampled_from([None, 0, 1, 3])))
            else:
                site.reject(pair)
        for pending in site.roster.pending:
            if pending.due == -1 or pending.due > site.period:
                fate = data.draw(st.sampled_from(["wait", "wait", "arrive", "decline"]))
                if fate == "arrive":
                    site.arrive(pending.into)
                elif fate == "decline":
                    site.decline(pending.into)
        absent = [worker for worker in site.roster.active if data.draw(st.integers(0, 9)) == 0]
        site.work(absent)

    @rule(data=st.data())
    def somebody_leaves(self, data: st.DataObject) -> None:
        if self.site.setting.workers:
            self.site.leave(data.draw(st.integers(0, self.site.setting.workers - 1)))

    @rule()
    def somebody_joins(self) -> None:
        if self.site.setting.workers < 12:
            self.site.join()

    @rule(data=st.data())
    def pins_and_blocks(self, data: st.DataObject) -> None:
        workers = self.site.setting.workers
        self.site.may_leave[:] = data.draw(st.lists(st.booleans(), min_size=workers, max_size=workers))
        self.site.may_enter[:] = data.draw(st.lists(st.booleans(), min_size=workers, max_size=workers))
        self.site.revise()

    @rule(cost=st.sampled_from([0.0, 1.0, 20.0]), horizon=st.sampled_from([30, 400, 5000]), mean_delay=st.floats(0, 9))
    def the_setting_changes(self, cost: float, horizon: int, mean_delay: float) -> None:
        self.site.revise(cost=cost, horizon=horizon, mean_delay=mean_delay)

    @rule(team=st.integers(1, 5))
    def the_team_changes(self, team: int) -> None:
        roster = self.site.roster
        claimed = min(roster.empty, sum(pending.out < 0 for pending in roster.pending))
        if team >= roster.team or team >= max(len(roster.active) + claimed, len(roster.pending)):
            self.site.resize(team)
        else:
            with pytest.raises(InvalidInput):
                self.site.resize(team)

    @precondition(lambda self: self.site.roster.active)
    @rule(data=st.data())
    def a_person_sends_another_away_on_arrival(self, data: st.DataObject) -> None:
        roster = self.site.roster
        if roster.pending:
            busy = {pending.out for pending in roster.pending}
            free = [worker for worker in roster.active if worker not in busy]
            if free:
                into = data.draw(st.sampled_from([pending.into for pending in roster.pending]))
                self.site.completed.append(roster.complete(into, data.draw(st.sampled_from(free))))

    @invariant()
    def the_books_are_straight(self) -> None:
        if hasattr(self, "site"):
            self.site.roster.check()
            assert len(self.site.roster.stations) == self.site.setting.team
            assert self.site.roster.initiated == self.approved  # only approved hires start, each once

    def teardown(self) -> None:
        """Without further events, pending hires are resolved, cycles go on and stations are filled."""
        if not hasattr(self, "site") or self.name == "keep-team":
            return
        site = self.site
        if not isinstance(self.policy, DRUCB):
            site.setting = replace(site.setting, horizon=100_000)
            for pending in site.roster.pending:
                site.arrive(pending.into)
            site.run(100, delay=0)
            outside = [worker for worker in site.roster.outside if site.may_enter[worker]]
            assert site.roster.empty == 0 or not outside, (site.roster, outside)
            return
        site.setting = replace(site.setting, horizon=100_000)
        for pending in site.roster.pending:
            site.arrive(pending.into)
        site.run(2)
        state = site.state
        if not site.roster.active and not site.roster.pending:
            return
        within = state.needed + 12 if self.policy.timing == "adaptive" else max(0, state.next_date - site.period) + 2
        if within > 3000:
            return  # a worker seen very often needs a long block; nothing to learn from playing it out
        site.run(within, delay=1)
        assert site.state.cycle > state.cycle, (state, site.roster)


@pytest.mark.parametrize("name", LIVE)
def test_every_policy_survives_a_hostile_site(name: str) -> None:
    machine = type("Machine", (HostileSite,), {"name": name})
    run_state_machine_as_test(machine, settings=settings(max_examples=15, stateful_step_count=25))
