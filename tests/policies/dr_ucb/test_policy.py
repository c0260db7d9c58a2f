"""DR-UCB: the paper's cycle, its calendar, its choices by name, and its explanations."""

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pytest

from crewlearn.engine.interpreted import play
from crewlearn.engine.world import World
from crewlearn.policies.contract import Situation
from crewlearn.policies.dr_ucb.decision import replacement_threshold
from crewlearn.policies.dr_ucb.policy import DRUCB
from crewlearn.policies.dr_ucb.timing import block_threshold
from crewlearn.policies.explanations import Bounds
from crewlearn.policies.registry import REGISTRY, make_policy
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.instances import benchmark
from crewlearn.problem.laws import GeometricDelay
from crewlearn.problem.model import Setting
from support.live_site import LiveSite

VARIANTS = [name for name in REGISTRY if name.startswith("dr-ucb")]
LIVE_VARIANTS = [name for name in VARIANTS if not make_policy(name).oracle]


def learning_cycle_site(cost: float) -> LiveSite[DRUCB]:
    """The paper's example: {1,4} active, 4 least observed, 3 uncertain; 2 is known to be poor and 0 does not exist."""
    means = {1: 0.9, 2: 0.05, 3: 0.5, 4: 0.2}
    site = LiveSite(DRUCB(gamma=4.0), Setting(5, 2, 5000, cost, 2.0), [1, 4], output=lambda t, i: means[i])
    site.may_enter[0] = False
    for worker, n in ((1, 1), (2, 1000), (3, 1)):
        site.estimates.counts[worker] = n
        site.estimates.sums[worker] = n * means[worker]
    return site


def test_the_paper_s_worked_learning_cycle() -> None:
    site = learning_cycle_site(cost=1.0)
    policy = site.policy
    seen = []
    for _ in range(15):
        pairs = site.ask()
        cycle = policy.cycle(site.state, site.situation())
        site.initiate(pairs, delay=2)
        site.work()
        seen.append((pairs, cycle.number, cycle.phase, cycle.least_observed, cycle.still_needed, site.roster.active))
    # 4 has never been seen: N = ceil(gamma) = 4 periods of waiting, then 3 replaces 4 two periods later.
    assert seen[0] == ([], 1, "exploration", 4, 4, (1, 4))
    assert seen[3] == ([], 1, "exploration", 4, 1, (1, 4))
    # 3 was seen once: N = ceil(2 sqrt(4) + 4) = 8 more observations, the first of them in period 7.
    assert seen[4] == ([(4, 3)], 2, "transition", 3, 8, (1, 4))
    assert seen[5] == ([], 2, "transition", 3, 8, (1, 4))
    assert seen[6] == ([], 2, "transition", 3, 8, (1, 3))
    assert seen[7] == ([], 2, "exploration", 3, 7, (1, 3))
    assert [number for _, number, *_ in seen] == [1] * 4 + [2] * 10 + [3]


def test_the_worked_cycle_does_not_replace_what_cannot_pay_for_itself() -> None:
    """At t = 5 the optimistic gain is 0.5 + sqrt(log T) - (0.2 - sqrt(log T / 4)) a period, for 4,995 periods."""
    gain = 0.5 + math.sqrt(math.log(5000)) - (0.2 - math.sqrt(math.log(5000) / 4))
    for cost, replaces in ((0.999 * gain * 4995, True), (1.001 * gain * 4995, False)):
        site = learning_cycle_site(cost)
        asked = site.run(5, delay=2)
        assert asked == ([(5, [(4, 3)])] if replaces else [])


def test_before_any_data_the_team_stays_and_then_the_untried_come() -> None:
    site = LiveSite(DRUCB(gamma=3.0), Setting(7, 3, 730, 5.0, 1.0), [1, 3, 5])
    asked = site.run(9)
    assert [period for period, _ in asked] == [4, 7]
    assert sorted(into for _, into in asked[0][1]) == [0, 2, 4]
    assert [into for _, into in asked[1][1]] == [6]


def test_nothing_is_initiated_in_the_last_period() -> None:
    assert replacement_threshold(5.0, 100, 90) == 0.5
    assert replacement_threshold(5.0, 100, 100) == math.inf
    for name in LIVE_VARIANTS:
        site = LiveSite(make_policy(f"{name}:gamma=1"), Setting(6, 2, 1, 0.0, 0.0), [0, 1])
        assert site.run(1) == []


@pytest.mark.parametrize("name", VARIANTS)
def test_names_and_choices_agree(name: str) -> None:
    assert make_policy(name).name == name
    assert make_policy(name, "as-released").name == name


def test_conventions_fill_in_and_explicit_fields_win() -> None:
    assert make_policy("dr-ucb") == DRUCB(radius="log-T", pairing="rank-lcb")
    assert make_policy("dr-ucb", "as-released") == DRUCB(radius="log-t", pairing="rank-ucb")
    assert make_policy("dr-ucb:radius=log-T", "as-released") == DRUCB(radius="log-T", pairing="rank-ucb")
    assert make_policy("dr-ucb+random-pairing", "as-released") == DRUCB(radius="log-t", pairing="random")
    built = make_policy("dr-ucb:gamma=20,always_build_frontier=true,frontier_cap=9")
    assert built == DRUCB(gamma=20.0, always_build_frontier=True, frontier_cap=9)
    assert make_policy("crewlearn.policies.dr_ucb.policy:DRUCB:gamma=3") == DRUCB(gamma=3.0)


@pytest.mark.parametrize(
    ("spec", "remedy"),
    [
        ("dr-ubc", "did you mean 'dr-ucb'"),
        ("dr-ucb:gama=3", "did you mean 'gamma'"),
        ("dr-ucb:gamma=x", "must be a number"),
        ("dr-ucb:gamma=-1", "> 0"),
        ("dr-ucb:gamma", "name=value"),
        ("dr-ucb:radius=log-x", "log-T, log-t, empirical-bernstein"),
        ("dr-ucb:frontier_cap=2.5", "must be a whole number"),
        ("dr-ucb:always_build_frontier=maybe", "true or false"),
        ("nowhere:Policy", "neither a registered name"),
        ("math:pi", "derive from crewlearn.Policy"),
        (":X", "neither a registered name"),
        (".x:Y", "neither a registered name"),
        ("crewlearn.policies.contract:Policy", "cannot be built"),
        ("dr-ucb:gamma=1e19", r"<= 1e\+12"),
    ],
)
def test_a_bad_policy_is_named(spec: str, remedy: str) -> None:
    with pytest.raises(InvalidInput, match=remedy):
        make_policy(spec)


def test_the_fixed_calendar_keeps_its_dates() -> None:
    gamma, dates, b = 5.0, [], 0
    while b < 300:
        dates.append(1 + b)
        b += math.ceil(2 * math.sqrt(gamma * b) + gamma)
    policy = DRUCB(gamma=gamma, timing="fixed-calendar")
    site = LiveSite(policy, Setting(9, 3, 400, 0.0, 5.0), [0, 1, 2])
    decided = []
    for _ in range(300):
        before = site.state.cycle
        site.initiate(site.ask(), delay=5)
        if site.state.cycle > before:
            decided.append(site.period)
        site.work()
    assert decided == dates
    # Pairs that outlast a date complete against a newer target; that must not cause requests off the dates.
    slow = dataclasses.replace(benchmark(conventions="as-released"), delay=GeometricDelay(20.0))
    asked = [
        step.period
        for run in range(4)
        for step in play(World(slow, 1, run), make_policy("dr-ucb+fixed-calendar:gamma=5", "as-released"))
        if step.requested
    ]
    assert len(asked) > 40
    assert {period for period in asked if period < 300} <= set(dates)


def test_the_fixed_calendar_chooses_as_if_nothing_were_pending_and_drops_conflicts() -> None:
    policy = DRUCB(gamma=2.0, timing="fixed-calendar", radius="log-t")
    site = LiveSite(policy, Setting(3, 1, 10_000, 0.0, 9.0), [0])
    site.estimates.counts[:] = 900
    site.estimates.sums[:] = (90, 450, 180)
    assert site.ask() == [(0, 1)]
    site.initiate([(0, 1)])
    site.work()
    site.estimates.sums[2] = 800  # now 2 is the better one, while 1 is still on the way
    cycle = site.state.cycle
    while site.state.cycle == cycle:
        assert site.ask() == []
        site.work()
    assert site.state.target == (2,)  # chosen as if nothing were pending; the pair (0, 2) conflicts and is dropped


def test_the_block_threshold() -> None:
    for gamma, n in itertools.product((0.3, 4.0, 15.8), (0, 1, 7, 300)):
        assert block_threshold(gamma, n) == math.ceil(2 * math.sqrt(gamma * n) + gamma)
    assert block_threshold(0.0, 50) == 1


@pytest.mark.parametrize("name", VARIANTS)
def test_a_state_saved_and_restored_at_any_period_goes_on_as_the_unbroken_run(name: str) -> None:
    class Restoring(DRUCB):
        """Passes its state through JSON at every call."""

        def decide(self, state: Any, situation: Situation) -> Any:
            import json

            return super().decide(self.state_from_json(json.loads(json.dumps(self.state_to_json(state)))), situation)

    policy = make_policy(name, "as-released")
    broken = Restoring(**vars(policy))
    for run in range(2):
        world = World(benchmark(5, "as-released", horizon=200), seed=4, run=run)
        assert list(play(world, policy)) == list(play(world, broken))


def test_late_pairing_lets_the_worst_of_the_marked_go_on_arrival() -> None:
    output = {0: 0.3, 1: 0.2, 2: 0.9}
    policy = DRUCB(gamma=3.0, pairing="late")
    site = LiveSite(policy, Setting(5, 3, 730, 1.0, 3.0), [0, 1, 2], lambda t, i: output.get(i, 0.5))
    site.run(3)
    pairs = site.ask()
    assert pairs == [(-1, 3), (-1, 4)]
    assert set(site.state.marked) - {-1} == {0, 1}
    reasons = policy.reasons(site.state, site.situation(), pairs)
    assert [reason.leaver for reason in reasons] == [1, 0]  # the lowest LCB first
    assert reasons[0].out_bounds.upper == pytest.approx(0.2 + math.sqrt(math.log(730) / 3))
    site.initiate(pairs)
    site.arrive(4)
    assert site.roster.active == (0, 2, 4)
    site.decline(3)
    site.work()
    assert site.ask() == [(-1, 3)]  # asked again: still the best there is
    site.initiate([(-1, 3)])
    site.arrive(3)
    assert site.roster.active == (2, 3, 4)


def test_what_is_said_of_a_proposed_pair() -> None:
    site = LiveSite(DRUCB(gamma=3.0), Setting(4, 2, 103, 5.0, 1.0), [0, 1], lambda t, i: 0.25 + 0.5 * (i == 1))
    site.run(3)
    pairs = site.ask()
    reasons = site.policy.reasons(site.state, site.situation(), pairs)
    spread = math.sqrt(math.log(103) / 3)
    worst = next(reason for reason in reasons if reason.out == 0)
    assert worst.threshold == 5.0 / 99
    assert worst.out_bounds.lower == pytest.approx(0.25 - spread)
    assert worst.out_bounds.upper == pytest.approx(0.25 + spread)
    assert worst.in_bounds == Bounds(-math.inf, math.inf)
    assert worst.optimistic_gain == math.inf


def test_past_the_frontier_s_cap_the_cycle_says_so() -> None:
    rng = np.random.default_rng(2)
    means = rng.uniform(0.4, 0.6, 30)
    site = LiveSite(DRUCB(gamma=2.0, frontier_cap=2), Setting(30, 12, 400, 200.0, 1.0), range(12))
    site.estimates.counts[:] = rng.integers(2, 400, 30)
    site.estimates.sums[:] = means * site.estimates.counts
    site.ask()
    cycle = site.policy.cycle(site.state, site.situation())
    assert not cycle.exact
    assert cycle.loss_bound >= 0.0


def test_the_oracle_s_pairing_is_what_it_says_in_a_real_run() -> None:
    """Outgoing from the lowest true mean up, each has the quickest of the incoming that are left to it."""
    checked = 0
    for run in range(6):
        world = World(benchmark(conventions="as-released"), seed=3, run=run)
        for step in play(world, make_policy("dr-ucb+oracle-delayed-pairing", "as-released")):
            left = {into for _, into in step.requested}
            for out, into in sorted(step.requested, key=lambda pair: world.means[pair[0]]):
                assert world.delay(step.period, out, into) == min(world.delay(step.period, out, j) for j in left)
                left.remove(into)
                checked += len(left)
    assert checked > 200


def test_the_phase_is_transition_while_anything_is_pending() -> None:
    site = LiveSite(DRUCB(gamma=3.0), Setting(6, 3, 730, 5.0, 1.0), [0, 1, 2])
    site.run(1)
    site.initiate([(0, 5)])
    assert site.policy.cycle(site.state, site.situation()).phase == "transition"
