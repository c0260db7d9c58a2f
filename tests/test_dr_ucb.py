"""DR-UCB: the paper's cycle, its choices by name, failures, revisions, vacancies, and what it tells people."""

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pytest

from crewlearn.engine.interpreted import play
from crewlearn.engine.world import World
from crewlearn.policies.baselines import KeepTeam, Oracle
from crewlearn.policies.contract import Hidden, Situation
from crewlearn.policies.dr_ucb import DRUCB, Bounds
from crewlearn.policies.estimates import mean, no_data, record, variance, with_prior
from crewlearn.policies.radii import RADII, radius
from crewlearn.policies.registry import REGISTRY, make_policy
from crewlearn.policies.rounds import replacement_threshold
from crewlearn.policies.timing import block_threshold, on_track
from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.instances import benchmark
from crewlearn.problem.laws import GeometricDelay, NoDelay
from crewlearn.problem.model import Setting
from crewlearn.problem.roster import Roster
from live_site import LiveSite

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
    assert make_policy("crewlearn.policies.dr_ucb:DRUCB:gamma=3") == DRUCB(gamma=3.0)


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


def test_estimates_and_radii() -> None:
    """Running sums against the plain formulas; prior data count like observations of the largest spread."""
    rng = np.random.default_rng(3)
    drawn = rng.random(50)
    estimates = no_data(2)
    for output in drawn:
        record(estimates, 1, output)
    assert mean(estimates, 1) == pytest.approx(drawn.mean())
    assert variance(estimates, 1) == pytest.approx(drawn.var())
    assert variance(estimates, 0) == 0.0
    prior = with_prior(np.array([0, 4]), np.array([0.9, 0.25]))
    record(prior, 1, 1.0)
    assert (prior.counts[1], mean(prior, 0)) == (5, 0.0)
    assert mean(prior, 1) == pytest.approx(np.mean([0, 0, 0, 1, 1]))
    assert variance(prior, 1) == pytest.approx(np.var([0, 0, 0, 1, 1]))
    log_t = math.log(730)
    assert radius(RADII["log-T"], 50, 0.1, log_t) == pytest.approx(math.sqrt(log_t / 50))
    assert radius(RADII["log-T"], 0, 0.0, log_t) == math.inf
    assert radius(RADII["empirical-bernstein"], 400, 0.0, log_t) == pytest.approx(3 * log_t / 400)
    for n in (1, 5, 50):
        assert radius(RADII["empirical-bernstein"], n, 0.25, log_t) == pytest.approx(math.sqrt(log_t / n))


def test_the_released_radius_knows_only_completed_periods() -> None:
    policy = DRUCB(radius="log-t")
    for period, log_value in ((1, 0.0), (2, 0.0), (3, math.log(2)), (366, math.log(365))):
        estimates = with_prior(np.array([4, 0]), np.array([0.5, 0.0]))
        situation = Situation.open_to_all(period, Setting(2, 1, 730, 5.0, 3.0), Roster.start(2, [0]), estimates)
        ucb, lcb = policy.bounds(situation)
        assert ucb.tolist() == pytest.approx([0.5 + math.sqrt(log_value / 4), math.inf])
        assert lcb.tolist() == pytest.approx([0.5 - math.sqrt(log_value / 4), -math.inf])


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
    # Pairs that outlast a date complete against a newer target; that is no reason to ask for anything off the dates.
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
        """Goes through JSON at every call."""

        def decide(self, state: Any, situation: Situation) -> Any:
            import json

            return super().decide(self.state_from_json(json.loads(json.dumps(self.state_to_json(state)))), situation)

    policy = make_policy(name, "as-released")
    broken = Restoring(**vars(policy))
    for run in range(2):
        world = World(benchmark(5, "as-released", horizon=200), seed=4, run=run)
        assert list(play(world, policy)) == list(play(world, broken))


def test_a_decline_brings_the_next_candidate() -> None:
    site = LiveSite(DRUCB(gamma=3.0), Setting(8, 2, 730, 5.0, 1.0), [0, 1])
    site.run(3)
    first = site.ask()
    assert [into for _, into in first] == [2, 3]
    site.initiate(first)
    site.decline(2)
    site.may_enter[2] = False
    site.work()
    cycle = site.state.cycle
    again = site.ask()
    assert again == [(first[0][0], 4)]  # 3 is still awaited, 2 may not come: 4 is next for the same place
    assert site.state.cycle == cycle  # the same cycle, another target
    assert set(site.state.target) == {3, 4}
    site.initiate(again)
    site.arrive(3)
    site.arrive(4)
    site.work()
    assert site.policy.cycle(site.state, site.situation()).phase == "exploration"


def test_a_rejected_proposal_is_reconsidered_and_never_waited_for() -> None:
    site = LiveSite(DRUCB(gamma=3.0), Setting(4, 2, 730, 5.0, 1.0), [0, 1])
    site.run(3)
    for pair in site.ask():
        site.reject(pair)
    site.may_enter[:] = False
    site.work()
    assert site.ask() == []
    assert set(site.state.target) == {0, 1}
    cycles = []
    for _ in range(60):
        cycles.append(site.state.cycle)
        site.initiate(site.ask())
        site.work()
    assert cycles[-1] > cycles[0] + 2  # nobody may come, yet cycles go on


def test_a_leaver_s_station_is_filled_and_never_the_least_observed() -> None:
    site = LiveSite(DRUCB(gamma=3.0), Setting(6, 3, 730, 5.0, 1.0), [0, 1, 2])
    site.run(2)
    site.leave(1)
    pairs = site.ask()
    assert pairs == [(-1, 3)]
    reason = site.policy.reasons(site.state, site.situation(), pairs)[0]
    assert reason.out_bounds == Bounds(0.0, 0.0)
    site.initiate(pairs, delay=2)
    site.work()
    assert site.roster.stations == (0, -1, 2)
    assert site.state.least_observed == 3
    site.run(5)
    assert len(site.roster.active) == 3


def test_a_station_that_nobody_can_fill_does_not_stop_the_cycles() -> None:
    site = LiveSite(DRUCB(gamma=2.0), Setting(2, 4, 100, 5.0, 1.0), [0])
    assert site.ask() == [(-1, 1)]
    site.initiate([(-1, 1)], delay=1)
    site.work()
    asked = site.run(40)
    assert asked == []
    assert site.roster.stations == (0, 1, -1, -1)
    assert site.state.least_observed in (0, 1)
    assert site.state.cycle > 3
    site.join()
    assert site.ask() == [(-1, 2)]  # a newcomer is wanted at once, not at the end of the cycle


def test_an_empty_site_waits_for_workers_and_takes_them() -> None:
    site = LiveSite(DRUCB(), Setting(0, 2, 100, 5.0, 1.0), [])
    assert site.run(5) == []
    assert site.state.cycle == 1
    site.join(3)
    assert site.ask() == [(-1, 0), (-1, 1)]


def test_an_empty_station_stays_empty_when_nobody_can_earn_the_fee() -> None:
    site = LiveSite(DRUCB(), Setting(3, 2, 100, 500.0, 1.0), [0])
    for worker in (1, 2):
        site.estimates.counts[worker] = 50
        site.estimates.sums[worker] = 25.0
    assert site.ask() == []  # even at UCB 0.5 + sqrt(log 100 / 50) = 0.80 a period, 99 periods do not earn 500


def test_pins_and_blocks_are_respected() -> None:
    site = LiveSite(DRUCB(gamma=2.0), Setting(8, 3, 730, 1.0, 1.0), [0, 1, 2])
    site.may_leave[0] = False
    site.may_enter[[3, 4, 5]] = False
    asked = site.run(60)
    assert asked
    assert all(out != 0 and into not in (3, 4, 5) for _, pairs in asked for out, into in pairs)
    assert 0 in site.roster.active


def test_a_larger_team_is_filled_and_a_smaller_one_accepted() -> None:
    site = LiveSite(DRUCB(gamma=2.0), Setting(8, 2, 730, 1.0, 1.0), [0, 1])
    site.run(1)
    site.resize(4)
    assert len(site.ask()) == 2
    site.state = site.policy.revise(site.state, site.situation())
    site.run(6)
    assert len(site.roster.active) == 4
    for worker in site.roster.active[:3]:
        site.roster.vacate(worker)
    site.resize(1)
    site.run(20)
    assert len(site.roster.stations) == len(site.roster.active) == 1


def test_a_smaller_team_does_not_wait_for_someone_it_no_longer_wants() -> None:
    site = LiveSite(DRUCB(gamma=3.0), Setting(3, 1, 730, 0.0, 1.0), [0])
    site.run(1)
    site.resize(3)
    for pair in site.ask():
        site.reject(pair)
    site.work()
    site.resize(1)
    cycle = site.state.cycle
    site.run(30)
    assert site.state.cycle > cycle


def test_another_worker_sent_away_on_arrival_is_noticed() -> None:
    site = LiveSite(DRUCB(gamma=2.0), Setting(6, 2, 730, 1.0, 1.0), [0, 1])
    site.run(2)
    site.may_enter[[3, 4, 5]] = False
    pairs = site.ask()
    assert pairs == [(1, 2)]  # of the equals 0 and 1 the lower number is kept
    site.initiate(pairs)
    site.completed.append(site.roster.complete(2, leaver=0))
    site.work()
    assert site.roster.active == (1, 2)
    assert site.state.disturbed
    cycle = site.state.cycle
    assert site.ask() == [(1, 0)]  # the place that worker 0 should have kept is chosen again at once
    assert site.state.cycle == cycle


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


def earned(before: set[int], after: set[int], means: FloatArray, setting: Setting) -> float:
    """What changing the team at once brings over the periods the change lasts, net of fees."""
    gain = sum(means[list(after)]) - sum(means[list(before)])
    return float(gain * (setting.horizon - setting.mean_delay) - setting.cost * len(after - before))


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


def test_a_proposal_that_nobody_decides_is_made_again_within_its_cycle() -> None:
    """A new cycle needs the whole target active, however often its least-observed worker has been seen."""
    site = LiveSite(DRUCB(gamma=2.0), Setting(4, 2, 5000, 0.1, 1.0), [0, 1], lambda t, i: (0.1, 0.6, 0.9, 0.05)[i])
    for worker, n, mean_output in ((0, 400, 0.1), (1, 1, 0.6), (2, 200, 0.9), (3, 400, 0.05)):
        site.estimates.counts[worker] = n
        site.estimates.sums[worker] = n * mean_output
    asked = []
    for _ in range(12):
        asked.append(site.ask())
        site.work()
    assert asked[0] == [(0, 2)]
    assert [(0, 2)] in asked[1:]
    assert site.state.cycle == 1


def test_on_track_sees_every_way_to_stray() -> None:
    roster = Roster.start(workers=8, active=[0, 1, 2])
    roster.initiate(1, 4, period=1)
    nobody, everybody = np.zeros(8, dtype=np.bool_), np.ones(8, dtype=np.bool_)

    def on(target: list[int], may_enter: Any = everybody) -> bool:
        return on_track(np.array(target), roster.arrays, may_enter)

    assert on([0, 2, 4])
    assert not on([0, 1, 2])  # 1 is leaving
    assert not on([0, 2, 5])  # 5 is not on the way, and 4 is not wanted
    assert not on([0, 2, -1])  # 4 is not wanted
    assert not on([0, 4, -1], nobody)  # 2 is not wanted and nobody replaces them
    assert not on([0, 2, 4, -1], nobody)  # another team size
    roster.vacate(2)
    assert on([0, 4, -1], nobody)
    assert not on([0, 4, -1])  # somebody could fill the empty station
    roster.initiate(-1, 5, period=1)
    assert on([0, 4, 5])
    assert not on([0, 4, -1], nobody)  # 5 is on the way and not wanted


def test_the_phase_is_transition_while_anything_is_pending() -> None:
    site = LiveSite(DRUCB(gamma=3.0), Setting(6, 3, 730, 5.0, 1.0), [0, 1, 2])
    site.run(1)
    site.initiate([(0, 5)])
    assert site.policy.cycle(site.state, site.situation()).phase == "transition"


def test_keep_team_and_oracle_are_the_two_ends() -> None:
    """The oracle's replacements earn the most, net of fees, over all teams: brute force at k = 7."""
    rng = np.random.default_rng(8)
    for _ in range(100):
        team = int(rng.integers(1, 7))
        setting = Setting(7, team, int(rng.integers(5, 60)), float(rng.uniform(0, 8)), float(rng.integers(0, 5)))
        means, active = rng.random(7), set(rng.choice(7, team, replace=False).tolist())
        roster, hidden = Roster.start(7, sorted(active)), Hidden(means, NoDelay().form(7), 0)
        first, second = (Situation.open_to_all(t, setting, roster, no_data(7), hidden) for t in (1, 2))
        pairs, _ = Oracle().decide(Oracle().start(first, 0), first)
        chosen = active - {out for out, _ in pairs} | {into for _, into in pairs}
        best = max(earned(active, set(other), means, setting) for other in itertools.combinations(range(7), team))
        assert earned(active, chosen, means, setting) == pytest.approx(best)
        assert Oracle().decide(Oracle().start(second, 0), second)[0] == []
        assert KeepTeam().decide(KeepTeam().start(first, 0), first)[0] == []


@pytest.mark.parametrize("policy", [Oracle(), DRUCB(pairing="oracle", gamma=1.0)])
def test_an_oracle_without_hidden_facts_is_refused(policy: Any) -> None:
    site = LiveSite(policy, Setting(6, 2, 100, 0.1, 1.0), [0, 1])
    with pytest.raises(InvalidInput, match="only a simulation has"):
        site.run(5)
