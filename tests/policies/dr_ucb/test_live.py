"""DR-UCB when things do not go to plan: failures, leavers, newcomers, revisions and vacancies."""

from typing import Any

import numpy as np

from crewlearn.policies.dr_ucb.policy import DRUCB
from crewlearn.policies.dr_ucb.timing import on_track
from crewlearn.policies.explanations import Bounds
from crewlearn.problem.model import Setting
from crewlearn.problem.roster import Roster
from support.live_site import LiveSite


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
