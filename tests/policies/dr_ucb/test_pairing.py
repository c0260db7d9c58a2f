"""Pairing: the paper's two propositions against every permutation, and each rule's own definition."""

import itertools
import math

import numpy as np
import pytest

from crewlearn.policies.dr_ucb.candidates import Candidates, list_going
from crewlearn.policies.dr_ucb.pairing import PAIRINGS, choose_leaver, keep_legal, pair_by_delay, pair_up
from crewlearn.problem.arrays import FloatArray, IntArray
from crewlearn.problem.roster import Roster


def candidates_of(out_lcb: FloatArray, in_lcb: FloatArray, spread: float = 0.3) -> Candidates:
    r = len(out_lcb)
    return Candidates(np.arange(r), out_lcb + spread, out_lcb, np.arange(r, 2 * r), in_lcb + spread, in_lcb)


def pairs_of(rule: str, candidates: Candidates, stream: IntArray | None = None) -> list[tuple[int, int]]:
    r = len(candidates.out_worker)
    some_stream = np.array([1, 0], dtype=np.int64) if stream is None else stream
    outs, ins = np.empty(r, dtype=np.int64), np.empty(r, dtype=np.int64)
    leaving, entering = np.arange(r)[::-1].copy(), np.arange(r)[::-1].copy()
    keys, order = np.empty(r), np.empty(r, dtype=np.int64)
    pair_up(PAIRINGS[rule], candidates, leaving, entering, r, some_stream, outs, ins, keys, order)
    return list(zip(outs.tolist(), ins.tolist(), strict=True))


@pytest.mark.parametrize("r", range(1, 7))
def test_rank_matching_has_the_least_variance_and_every_pairing_the_same_mean(r: int) -> None:
    """Delays uniform on {0, 1, 2}: Z = sum of w LCB_i + (2 - w) LCB_j over the pairs, w independent."""
    delay_mean, delay_variance, longest = 1.0, 2.0 / 3.0, 2.0
    rng = np.random.default_rng(r)
    for case in range(5):
        out_lcb, in_lcb = rng.normal(0.4, 0.2, r), rng.normal(0.5, 0.2, r)
        if case == 0:
            out_lcb, in_lcb = np.round(out_lcb, 1), np.round(in_lcb, 1)  # ties
        matched = [into - r for _, into in sorted(pairs_of("rank-lcb", candidates_of(out_lcb, in_lcb)))]

        def mean(pairing: tuple[int, ...], a: FloatArray = out_lcb, b: FloatArray = in_lcb) -> float:
            return float(sum(delay_mean * a[i] + (longest - delay_mean) * b[j] for i, j in enumerate(pairing)))

        def variance(pairing: tuple[int, ...], a: FloatArray = out_lcb, b: FloatArray = in_lcb) -> float:
            return float(delay_variance * sum((a[i] - b[j]) ** 2 for i, j in enumerate(pairing)))

        every = list(itertools.permutations(range(r)))
        assert variance(tuple(matched)) <= min(map(variance, every)) + 1e-12
        assert np.ptp([mean(pairing) for pairing in every]) < 1e-12


def test_variances_of_the_propositions_are_those_of_the_transition_itself() -> None:
    """The closed forms above, against enumerating every combination of delays for r = 2."""
    out_lcb, in_lcb = np.array([0.3, 0.6]), np.array([0.2, 0.9])
    for pairing in itertools.permutations(range(2)):
        outcomes = [
            sum(w[i] * out_lcb[i] + (2 - w[i]) * in_lcb[j] for i, j in enumerate(pairing))
            for w in itertools.product(range(3), repeat=2)
        ]
        assert np.mean(outcomes) == pytest.approx(sum(out_lcb) + sum(in_lcb))
        assert np.var(outcomes) == pytest.approx(
            2 / 3 * sum((out_lcb[i] - in_lcb[j]) ** 2 for i, j in enumerate(pairing))
        )


def test_rank_matching_ranks_by_the_chosen_bound_and_breaks_ties_by_number() -> None:
    out_lcb, in_lcb = np.array([0.1, 0.5, 0.5]), np.array([0.2, 0.2, 0.7])
    candidates = candidates_of(out_lcb, in_lcb)._replace(in_ucb=np.array([math.inf, 0.9, 0.8]))
    assert pairs_of("rank-lcb", candidates) == [(1, 5), (2, 3), (0, 4)]
    assert pairs_of("rank-ucb", candidates) == [(1, 3), (2, 4), (0, 5)]


def test_random_pairing_keeps_outgoing_in_order_and_is_uniform() -> None:
    """3,000 shuffles of 3: each order has 1/6, within 5 standard errors (fails once in 300,000 fresh seeds)."""
    candidates = candidates_of(np.array([0.1, 0.5, 0.3]), np.array([0.2, 0.4, 0.7]))
    stream = np.array([5, 0], dtype=np.int64)
    seen = []
    for _ in range(3000):
        pairs = pairs_of("random", candidates, stream)
        assert [out for out, _ in pairs] == [0, 1, 2]
        seen.append(tuple(into for _, into in pairs))
    shares = [seen.count(order) / 3000 for order in itertools.permutations((3, 4, 5))]
    assert max(abs(share - 1 / 6) for share in shares) < 5 * math.sqrt(5 / 36 / 3000)


def test_late_pairing_leaves_everybody_open() -> None:
    assert pairs_of("late", candidates_of(np.array([0.1, 0.5]), np.array([0.2, 0.4]))) == [(-1, 2), (-1, 3)]


def test_the_oracle_lets_the_worst_go_first_to_whoever_comes_first() -> None:
    outs, ins = np.array([0, 1, 2]), np.array([7, 8, 9])
    delays = np.array([[0, 5, 5], [1, 0, 2], [4, 1, 3]])
    pair_by_delay(outs, ins, 3, np.array([0.9, 0.2, 0.5]), delays)
    assert list(zip(outs.tolist(), ins.tolist(), strict=True)) == [(0, 7), (1, 8), (2, 9)]
    ins = np.array([7, 8, 9])
    pair_by_delay(outs, ins, 3, np.array([0.1, 0.2, 0.5]), np.array([[3, 3, 1], [2, 1, 0], [0, 9, 0]]))
    assert list(zip(outs.tolist(), ins.tolist(), strict=True)) == [(0, 9), (1, 8), (2, 7)]


def test_conflicting_pairs_are_dropped_and_the_rest_keeps_its_order() -> None:
    roster = Roster.start(workers=8, active=[0, 1, 2, 3])
    roster.initiate(1, 5, period=1)
    outs, ins = np.array([0, 1, 2, 3]), np.array([4, 6, 5, 7])
    assert keep_legal(roster.arrays, outs, ins, 4) == 2
    assert (outs[:2].tolist(), ins[:2].tolist()) == ([0, 3], [4, 7])


def test_no_more_pairs_are_kept_than_stations_are_left() -> None:
    roster = Roster.start(workers=8, active=[0, 1, 2])
    roster.initiate(-1, 5, period=1)
    roster.initiate(-1, 6, period=1)
    outs, ins = np.array([0, 1]), np.array([4, 7])
    assert keep_legal(roster.arrays, outs, ins, 2) == 1
    assert (outs[0], ins[0]) == (0, 4)


def test_who_makes_room_on_arrival() -> None:
    roster = Roster.start(workers=8, active=[0, 1, 2, 3])
    lcb = np.array([0.5, 0.3, 0.3, 0.1, 0.0, 0.0, 0.0, 0.0])
    anybody = np.ones(8, dtype=np.bool_)

    def leaver(marked: list[int], target: list[int], may_leave: list[int] | None = None) -> int:
        allowed = anybody if may_leave is None else np.isin(np.arange(8), may_leave)
        return choose_leaver(roster.arrays, np.array(marked), np.array(target), lcb, allowed)

    assert leaver([0, 1, 2, -1], [3, 4, 5, 6]) == 2  # the lowest LCB of the marked; of the equals 1 and 2, 1 is kept
    assert leaver([0, 1, 2], [3, 4, 5, 6], may_leave=[0]) == 0
    assert leaver([7], [0, 1, 2, 4]) == 3  # no marked worker is active: one outside the target goes
    assert leaver([7], [0, 1, 2, 3]) == -1
    roster.initiate(2, 7, period=1)
    assert leaver([0, 1, 2], [3, 4, 5, 6]) == 1
    roster.vacate(0)
    assert leaver([1], [3, 4, 5, 6]) == -1  # an empty station first


def test_open_hires_claim_the_first_of_the_marked() -> None:
    roster = Roster.start(workers=8, active=[0, 1, 2, 3])
    roster.initiate(3, 7, period=1)
    roster.initiate(-1, 6, period=1)
    lcb = np.array([0.5, 0.3, 0.2, 0.1, 0.0, 0.0, 0.0, 0.0])
    going = np.zeros(8, dtype=np.bool_)
    list_going(roster.arrays, np.array([0, 1, 2, -1]), lcb, np.ones(8, dtype=np.bool_), going)
    assert np.flatnonzero(going).tolist() == [2, 3]
