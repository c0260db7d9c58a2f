"""Ranking orders equal keys by place, in both modes and at every size."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crewlearn.engine.compiled.loops import compiled_rule
from crewlearn.policies.ranking import SMALL, rank_ascending, rank_descending, rank_leavers

KEYS = st.lists(st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 0.25, 0.5, np.inf]) | st.floats(0, 1), max_size=4 * SMALL)


@given(KEYS)
def test_the_lower_place_comes_first_among_equals_and_leavers_the_other_way_round(keys: list[float]) -> None:
    n = len(keys)
    order = np.full(n + 1, -7)
    rank_ascending(np.array(keys), order, n)
    assert order[:n].tolist() == sorted(range(n), key=lambda place: keys[place])
    rank_descending(np.array(keys), order, n)
    assert order[:n].tolist() == sorted(range(n), key=lambda place: -keys[place])
    rank_leavers(np.array(keys), order)
    assert order[:n].tolist() == sorted(range(n), key=lambda place: (keys[place], -place))
    assert order[n] == -7, "nothing is written beyond"


@pytest.mark.parametrize("n", [1, SMALL, SMALL + 1, 2 * SMALL, 1000])
def test_compiled_it_ranks_alike_and_lists_do_as_well_as_arrays(n: int) -> None:
    keys = np.random.default_rng(n).integers(0, 1 + n // 3, n) / 7.0
    plain, compiled = np.empty(n, np.int64), np.empty(n, np.int64)
    of_list: Any = keys.tolist()
    listed: Any = [0] * n
    rank_ascending(keys, plain, n)
    compiled_rule(rank_ascending)(keys, compiled, n)
    rank_ascending(of_list, listed, n)  # which the advisor does, for speed
    assert plain.tolist() == compiled.tolist() == listed
    rank_descending(keys, plain, n)
    compiled_rule(rank_descending)(keys, compiled, n)
    assert plain.tolist() == compiled.tolist()
    rank_leavers(keys, plain)
    compiled_rule(rank_leavers)(keys, compiled)
    assert plain.tolist() == compiled.tolist()
    assert {type(place) for place in listed} == {int}
