"""Decisions, phases and events of a run, as used by the studies of DR-UCB's mechanics."""

import numpy as np
import pytest

from crewlearn.engine.event_log import ARRIVAL, DECISION, REQUEST, events_of_runs
from crewlearn.engine.interpreted import play
from crewlearn.engine.local import simulate
from crewlearn.engine.world import World
from crewlearn.policies.contract import Pair, Situation
from crewlearn.policies.dr_ucb.policy import DRUCB, DRUCBState
from crewlearn.policies.registry import make_policy
from crewlearn.problem.instances import benchmark
from crewlearn.problem.model import CONVENTIONS
from crewlearn.study.paper import mechanics


class LoggedDRUCB(DRUCB):
    """DR-UCB that logs its states in STATES."""

    def decide(self, state: DRUCBState, situation: Situation) -> tuple[list[Pair], DRUCBState]:
        pairs, after = super().decide(state, situation)
        STATES.append((situation.period, after, after.decided_at == situation.period))
        return pairs, after


STATES: list[tuple[int, DRUCBState, bool]] = []


def test_decisions_and_phases_are_those_of_a_run_in_plain_python() -> None:
    """A run explores while the producing team is the target."""
    for conventions, problem in ((name, benchmark(10, name, horizon=300)) for name in CONVENTIONS):
        plain = make_policy("dr-ucb:gamma=3,always_build_frontier=true", conventions)
        assert isinstance(plain, DRUCB)
        events = events_of_runs(problem, plain, 2, 5)
        STATES.clear()
        watched = LoggedDRUCB(**vars(plain))
        steps = list(play(World(problem, 5, 1), watched))
        ours = events[events[:, 0] == 1]
        decisions = [(int(row[1]), int(row[3]), int(row[4])) for row in ours if row[2] == DECISION]
        assert decisions == [
            (period, state.frontier_states, state.largest_frontier) for period, state, decided in STATES if decided
        ]
        assert max(size for _, _, size in decisions) > 1
        cycles = mechanics.cycles_of(events, 1, problem.horizon)
        assert [cycle.decided for cycle in cycles] == [period for period, _, _ in decisions]
        in_transition = 0
        for step, (period, state, _) in zip(steps, STATES, strict=True):
            cycle = max(
                (candidate for candidate in cycles if candidate.decided <= period),
                key=lambda candidate: candidate.decided,
            )
            assert cycle.end > period
            assert (period >= cycle.complete) == (set(step.stations) == set(state.target)), period
            in_transition += period < cycle.complete
        assert in_transition > 0


def test_events_find_room_however_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, policy = benchmark(5, "as-released", horizon=100), make_policy("a-omm")
    every = events_of_runs(problem, policy, 3, 1)
    monkeypatch.setattr("crewlearn.engine.event_log.FIRST_ROOM", 1)
    assert np.array_equal(events_of_runs(problem, policy, 3, 1), every)
    result = simulate(problem, [policy], 3, 1).policies["a-omm"]
    for kind, counted in ((REQUEST, result.replacements), (ARRIVAL, result.completed)):
        assert [int(((every[:, 0] == run) & (every[:, 2] == kind)).sum()) for run in range(3)] == counted.tolist()


def test_the_smoothed_trend_is_a_weighted_mean() -> None:
    rng = np.random.default_rng(1)
    x, y, at = rng.integers(0, 50, 400).astype(float), rng.integers(1, 5, 400).astype(float), np.array([3.0, 40.0])
    weights = np.exp(-((x - at[:, None]) ** 2) / (2 * 7.0**2))
    assert mechanics.smoothed(x, y, at, 7.0) == pytest.approx((weights @ y) / weights.sum(axis=1))
