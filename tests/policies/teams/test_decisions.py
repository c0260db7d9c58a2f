"""Policies that name teams, decision by decision, against calculations by hand."""

import math
from typing import Any

import numpy as np
import pytest

from crewlearn.beliefs.estimates import no_data
from crewlearn.engine.world import World
from crewlearn.policies.contract import Situation
from crewlearn.policies.registry import make_policy
from crewlearn.policies.rule import facts_of
from crewlearn.policies.teams.aht import AAHT, blocks_in_frame
from crewlearn.policies.teams.omm import AOMM
from crewlearn.policies.teams.rules import choose_top, fresh_team_memory, request_team
from crewlearn.policies.teams.screening import InterviewScreen, WorkTrial
from crewlearn.policies.teams.simple import EpsilonGreedy, FixedScheduleGreedy, Threshold
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.instances import benchmark
from crewlearn.problem.interviews import score_interviews
from crewlearn.problem.model import Setting
from crewlearn.problem.roster import Roster
from support.live_site import LiveSite


def site_of(
    policy: Any, team: int, counts: list[int], means: list[float], active: list[int] | None = None
) -> LiveSite[Any]:
    """A site where everybody has been seen before; nobody's mean changes."""
    setting = Setting(len(means), team, 1000, 1.0, 1.0)
    site = LiveSite(policy, setting, list(range(team)) if active is None else active, lambda t, i: means[i])
    site.estimates.counts[:] = counts
    site.estimates.sums[:] = np.array(counts) * means
    return site


def test_a_omm_names_the_highest_scores_and_counts_its_decisions() -> None:
    """mean + sqrt(2 log r / n) with r = 2 at first: 0.5 + sqrt(2 log 2 / n)."""
    site = site_of(AOMM(), 1, [100, 4, 400], [0.6, 0.2, 0.7])
    bonus = [math.sqrt(2 * math.log(2) / n) for n in (100, 4, 400)]
    assert 0.2 + bonus[1] > 0.7 + bonus[2] > 0.6 + bonus[0]
    assert site.ask() == [(0, 1)]
    site = site_of(AOMM(), 1, [100, 6, 400], [0.6, 0.2, 0.7])
    assert 0.2 + math.sqrt(2 * math.log(2) / 6) < 0.7 + bonus[2]
    assert site.ask() == [(0, 2)]
    # After 20 decisions log r has grown: 0.2 + sqrt(2 log 20 / 6) beats 0.7 + sqrt(2 log 20 / 400).
    for _ in range(18):
        site.state = site.policy.decide(site.state, site.situation())[1]
    assert site.ask() == [(0, 1)]


def test_ties_at_the_edge_are_broken_uniformly() -> None:
    """6,000 choices of 2 of the 3 tied behind a clear first: each pair has 1/3, within 5 standard errors."""
    memory = fresh_team_memory(5, 3, 17, np.zeros(5))
    scores = np.array([0.5, 0.9, 0.5, 0.1, 0.5])
    seen = []
    for _ in range(6000):
        choose_top(memory, scores, 3)
        seen.append(tuple(np.flatnonzero(memory.desired).tolist()))
    shares = [seen.count(team) / 6000 for team in ((0, 1, 2), (0, 1, 4), (1, 2, 4))]
    assert sum(shares) == pytest.approx(1.0)
    assert max(abs(share - 1 / 3) for share in shares) < 5 * math.sqrt(2 / 9 / 6000)


def test_what_is_chosen_does_not_depend_on_the_order_kept_from_before() -> None:
    rng = np.random.default_rng(4)
    for _ in range(300):
        n = int(rng.integers(1, 12))
        scores = rng.choice([0.1, 0.2, 0.3, math.inf, -math.inf], n)
        size = int(rng.integers(0, n + 1))
        teams = []
        for order in (np.arange(n), rng.permutation(n)):
            memory = fresh_team_memory(n, n, 3, np.zeros(n))
            memory.order[:] = order
            choose_top(memory, scores, size)
            teams.append(memory.desired.tolist())
        assert teams[0] == teams[1]
        assert sum(teams[0]) == size
        chosen = scores[teams[0]]
        assert size in (0, n) or chosen.min() >= scores[~np.array(teams[0])].max()


def test_a_team_is_asked_for_at_random_and_ghosts_take_their_pair_with_them() -> None:
    """Outgoing in worker order; of two incoming and one ghost, each stands first in a third of 3,000 shuffles."""
    roster = Roster.start(8, [1, 4, 6])
    facts = facts_of(AOMM(), Situation.open_to_all(1, Setting(8, 3, 1000, 1.0, 0.0), roster, no_data(8)))
    memory = fresh_team_memory(8, 3, 5, np.zeros(8))
    memory.desired[[0, 7]] = True
    outs, ins = np.empty(3, dtype=np.int64), np.empty(3, dtype=np.int64)
    firsts = []
    for _ in range(3000):
        n = request_team(memory, 1, facts, outs, ins)
        assert n == 2
        pairs = dict(zip(outs[:n].tolist(), ins[:n].tolist(), strict=True))
        assert set(pairs) < {1, 4, 6}
        assert set(pairs.values()) == {0, 7}
        firsts.append(pairs.get(1, -1))
    for first in (-1, 0, 7):
        assert abs(firsts.count(first) / 3000 - 1 / 3) < 5 * math.sqrt(2 / 9 / 3000)
    roster.initiate(4, 7, period=1)
    assert request_team(memory, 1, facts, outs, ins) <= 1  # 7 and 4 are taken


def test_a_aht_s_frames() -> None:
    assert [blocks_in_frame(frame, 25) for frame in range(4)] == [25, 25 * 1, 25 * 7, 25 * 166]
    assert blocks_in_frame(9, 25) > 10**18


def test_a_aht_s_clean_start_sees_everybody_in_groups() -> None:
    site = LiveSite(AAHT(), Setting(7, 3, 1000, 1.0, 0.0), [0, 3, 6])
    teams = []
    for _ in range(9):
        site.initiate(site.ask(), delay=0)
        site.work()
        teams.append(set(site.roster.active))
    assert teams[0] == teams[1] == teams[2] == {0, 1, 2}
    assert teams[3] == teams[5] == {3, 4, 5}
    assert 6 in teams[6]  # the last group is filled up with two others
    assert teams[6] == teams[8]


def test_a_aht_s_released_start_asks_for_one_based_numbers_every_m_periods() -> None:
    """k = 4, m = 2: {0,1} at t = 0, {2,3} at t = 2, {4,5} at t = 4, {6,7} at t = 6; 0 and above 4 do not exist."""
    site = LiveSite(AAHT(begin="as-released"), Setting(4, 2, 1000, 1.0, 0.0), [2, 3])
    asked: dict[int, list[tuple[int, int]]] = {}
    for completed in range(8):
        asked[completed] = site.ask()
        if completed in (0, 2, 4, 6):
            desired = {0: {0}, 2: {1, 2}, 4: {3}, 6: set()}[completed]
            wanted = desired - set(site.roster.active)
            # What is asked for is in the group; a pair whose incoming number does not exist is dropped.
            assert {into for _, into in asked[completed]} <= wanted
            assert len(asked[completed]) == len(wanted)
        site.initiate(asked[completed], delay=0)
        site.work()
    # The block that begins in period 2 (frame 0, length 1) ends before period 4: period 3 belongs to the start.
    assert site.state.numbers[2:4] == (1, 0)  # the four blocks of the first frame began in periods 2, 4, 6 and 8


def test_a_aht_s_interrupted_block_goes_on_afterwards() -> None:
    policy = AAHT(begin="as-released")
    site = LiveSite(policy, Setting(3, 2, 1000, 1.0, 0.0), [0, 1])
    started = []
    for period in range(1, 40):
        before = site.state.numbers[2:4]
        site.initiate(site.ask(), delay=0)
        if site.state.numbers[2:4] != before:
            started.append(period)
        site.work()
    # Group requests in periods 1, 3 and 5. Frames 0 and 1 (3 blocks of length 1 each), then frame 2: 21 blocks of 2.
    assert started[:10] == [2, 4, 6, 7, 8, 9, 10, 12, 14, 16]


def challenged(counts: list[int], means: list[float], period: int, candidate: int) -> set[int]:
    """The team A-AHT names for a candidate at the start of a period, from a team of two of four."""
    site = site_of(AAHT(), 2, counts, means)
    site.period = period
    numbers = list(site.state.numbers)
    numbers[2:7] = [2, candidate + 1, 99, period, candidate]
    site.state = type(site.state)(tuple(numbers), (), (), site.state.stream)
    site.ask()
    return set(site.state.desired)


def test_a_aht_s_leaders_and_challengers() -> None:
    means = [0.9, 0.8, 0.5, 0.1]
    assert challenged([500] * 4, means, 1001, candidate=0) == {0, 1}  # a leader challenges nobody
    # UCB of 3: 0.1 + sqrt(2 log 1000 / 500) = 0.27, below both leaders' means
    assert challenged([500] * 4, means, 1001, candidate=3) == {0, 1}
    # UCB of 2 with 100 observations: 0.5 + sqrt(2 log 1000 / 100) = 0.87 > 0.8: it takes the place of the last leader
    assert challenged([500, 500, 130, 500], means, 1001, candidate=2) == {0, 2}
    assert challenged([500, 500, 200, 500], means, 1001, candidate=2) == {0, 1}
    # Leaders need n >= t / (2k) = 125: with 124 the best worker is none, with 125 it is
    assert challenged([124, 500, 500, 500], means, 1001, candidate=1) == {1, 2}
    assert challenged([125, 500, 500, 500], means, 1001, candidate=1) == {0, 1}
    # If fewer than m qualify, the best means of all lead
    assert challenged([3, 3, 3, 500], means, 1001, candidate=0) == {0, 1}
    assert 2 in challenged([500, 500, 0, 500], means, 1001, candidate=2)  # untried: +inf


@pytest.mark.parametrize("rho", [-1.0, -0.5, 0.0, 0.3, 0.9, 1.0])
def test_interview_scores_have_the_correlation_exactly(rho: float) -> None:
    for run in range(20):
        world = World(benchmark(), seed=2, run=run)
        scores = world.interview(rho)
        assert np.corrcoef(scores, world.means)[0, 1] == pytest.approx(rho, abs=1e-9)
        assert scores.mean() == pytest.approx(world.means.mean())
        assert scores.std() == pytest.approx(world.means.std())
        assert (scores == world.interview(rho)).all()
    other = World(benchmark(), seed=2, run=99).interview(rho)
    assert (other != scores).any()
    equal = np.empty(4)
    score_interviews(np.full(4, 0.5), rho, 7, equal)
    assert equal.tolist() == pytest.approx([0.5] * 4)


def test_interviews_are_paid_once_or_for_each_candidate() -> None:
    setting = Setting(25, 10, 730, 5.0, 3.0)
    assert make_policy("interview-screen").interview(setting) == (0.3, 5.0)
    assert make_policy("work-trial", "as-released").interview(setting) == (0.3, 125.0)
    with pytest.raises(InvalidInput, match="rho"):
        InterviewScreen(rho=1.5)


def with_scores(policy: Any, team: int, scores: list[float], means: list[float]) -> LiveSite[Any]:
    site = LiveSite(policy, Setting(len(scores), team, 1000, 1.0, 1.0), list(range(team)), lambda t, i: means[i])
    site.state = policy.start(site.situation(), 99, np.array(scores))
    return site


def test_interview_screen_hires_the_best_scores_for_good() -> None:
    site = with_scores(InterviewScreen(), 2, [0.1, 0.9, 0.4, 0.8], [0.9, 0.1, 0.9, 0.1])
    assert site.ask() == [(0, 3)]
    site.initiate([(0, 3)], delay=2)
    site.work()
    assert site.run(30) == []
    assert site.roster.active == (1, 3)
    site.leave(3)
    site.run(3)
    assert site.roster.active == (1, 2)  # somebody leaves: the next best score


def test_work_trial_tries_both_halves_and_keeps_the_best() -> None:
    scores, means = [0.1, 0.9, 0.4, 0.8, 0.7], [1.0, 0.2, 0.6, 0.5, 0.3]
    site = with_scores(WorkTrial(trial=5), 2, scores, means)
    teams = []
    for _ in range(12):
        site.initiate(site.ask(), delay=0)
        site.work()
        teams.append(set(site.roster.active))
    assert teams[0] == teams[4] == {1, 3}
    assert teams[5] == teams[9] == {4, 2}
    assert teams[10] == teams[11] == {2, 3}  # 0 was not on the shortlist, however good
    short = with_scores(
        WorkTrial(trial=5), 3, scores, means
    )  # shortlist of 5: the second three are filled from the front
    short.run(6)
    assert set(short.roster.active) == {2, 0, 1}


def test_epsilon_greedy_decays_as_declared() -> None:
    """The frequency of exploring, over 4,000 streams, is within 5 standard errors of epsilon."""
    for policy, period, epsilon in (
        (EpsilonGreedy(), 16, 0.25),
        (EpsilonGreedy(epsilon=0.8), 4, 0.4),
        (EpsilonGreedy(decay="exponential", half_life=5.0), 11, 0.25),
        (EpsilonGreedy(decay="exponential", epsilon=0.6, half_life=5.0), 1, 0.6),
    ):
        site = site_of(policy, 2, [50] * 5, [0.9, 0.8, 0.3, 0.2, 0.1])
        site.period = period
        explored = []
        for key in range(4000):
            state = policy.start(site.situation(), key)
            pairs, _ = policy.decide(state, site.situation())
            explored += [into for out, into in pairs]
            assert all(out == 1 for out, _ in pairs)  # the worse of the team makes room
        assert abs(len(explored) / 4000 - epsilon) < 5 * math.sqrt(epsilon * (1 - epsilon) / 4000)
        shares = [explored.count(worker) / len(explored) for worker in (2, 3, 4)]
        assert max(abs(share - 1 / 3) for share in shares) < 5 * math.sqrt(2 / 9 / len(explored))


def test_epsilon_greedy_exploits_what_it_has_seen_and_nobody_else() -> None:
    site = site_of(EpsilonGreedy(epsilon=0.0), 2, [50, 50, 50, 0, 50], [0.9, 0.3, 0.4, 0.99, 0.2])
    assert site.ask() == [(1, 2)]


def test_threshold_waits_for_its_trial_and_takes_the_untried_first() -> None:
    means = [0.4, 0.6, 0.3, 0.9, 0.9]
    site = site_of(Threshold(level=0.5, trial=10), 3, [9, 50, 50, 0, 50], means)
    assert site.ask() == [(2, 3)]  # 0 has been seen 9 times only, 1 is good enough
    site = site_of(Threshold(level=0.5, trial=9), 3, [9, 50, 50, 7, 50], means)
    assert sorted(site.ask()) == [(0, 3), (2, 4)]
    worse = site_of(Threshold(level=0.5, trial=1), 1, [9, 9, 9], [0.3, 0.2, 0.1])
    assert worse.ask() == []  # nobody outside is better


def test_fixed_schedule_greedy_moves_on_its_dates() -> None:
    means = [0.4, 0.6, 0.3, 0.9, 0.8]
    site = site_of(FixedScheduleGreedy(every=4), 2, [9, 9, 9, 9, 9], means)
    assert [period for period, _ in site.run(9)] == [5]
    assert set(site.roster.active) == {3, 4}
    untried = site_of(FixedScheduleGreedy(every=4), 2, [9, 9, 0, 9, 9], means)
    asked = untried.run(5)
    assert 2 in {into for _, into in asked[0][1]}


@pytest.mark.parametrize("name", ["a-omm", "a-aht", "interview-screen", "work-trial", "epsilon-greedy", "threshold"])
def test_a_blocked_favourite_does_not_keep_a_station_empty(name: str) -> None:
    site = LiveSite(make_policy(name), Setting(6, 2, 10_000, 1.0, 1.0), [0, 1], lambda t, i: 0.5)
    site.may_enter[[2, 3]] = False  # never tried, so first in any optimistic ranking
    site.run(40, delay=1)
    site.leave(site.roster.active[0])
    site.run(60, delay=1)
    assert site.roster.empty == 0
