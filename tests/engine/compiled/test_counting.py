"""A user's functions are compiled without reference counting where they only borrow arrays, and counted elsewhere."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba.extending import register_jitable

from crewlearn.engine.compiled import counting
from crewlearn.engine.compiled.loops import OWN

WEIGHTS = np.array([0.5, 2.0, 4.0])


RUNTIME: Any = import_module("numba.core.runtime")  # its parts are not exported to type checkers


class Seen(NamedTuple):
    levels: Any
    marks: Any


@register_jitable(boundscheck=True, **OWN)
def same_levels(seen: Any) -> float:
    """Claims by its annotation to return a number."""
    return seen.levels  # type: ignore[no-any-return]  # the wrong annotation is what is tested


@register_jitable(boundscheck=True, **OWN)
def fresh_levels(seen: Any) -> Any:
    return np.full(len(seen.levels), 2.0)


def reads(seen: Any) -> float:
    """Fields, views, iteration, unpacking, constants, text in an error, and writes of numbers."""
    levels, marks = seen
    total = 0.0
    for level in levels[1:]:
        total += level
    for place in range(len(levels)):
        if levels[place] > 9.0:
            raise ValueError("too high")
        marks[place] += 1
        total += WEIGHTS[place]
    both = (levels, marks)
    seen.marks[0:2] = 3
    return float(total + both[0][-1])


def makes(seen: Any) -> float:
    kept = np.empty(len(seen.levels))
    kept[:] = seen.levels
    return float(kept.sum())


def adds(seen: Any) -> float:
    return float((seen.levels + 1.0)[0])


def picks(seen: Any) -> float:
    return float(seen.levels[seen.marks][0])


def copies_in(seen: Any) -> float:
    seen.levels[1:] = seen.levels[:-1]
    return float(seen.levels[2])


def lists(seen: Any) -> float:
    rows = [seen.levels, seen.levels[1:]]
    rows.append(seen.levels)
    return float(rows[2][0])


def is_given(seen: Any) -> float:
    return same_levels(seen)[0] + same_levels(seen)[1]  # type: ignore[index,no-any-return]  # likewise: these are arrays


def is_given_new(seen: Any) -> float:
    return float(fresh_levels(seen)[0] + fresh_levels(seen)[1])


def spaced(seen: Any) -> float:
    """Borrows by its types, but the compiler copies what is not contiguous."""
    return float(np.dot(seen.levels[::2], seen.levels[::2]))


CASES = [
    (reads, True),
    (makes, False),
    (adds, False),
    (picks, False),
    (copies_in, False),
    (lists, False),
    (is_given, False),
    (is_given_new, False),
    (spaced, True),
]


@pytest.mark.filterwarnings("ignore:.*faster on contiguous arrays")
@pytest.mark.parametrize(("function", "borrows"), CASES, ids=lambda case: getattr(case, "__name__", None))
def test_functions_are_counted_unless_they_only_borrow(
    function: Callable[[Any], float], borrows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results are those of plain Python, and every array that is made is freed once."""
    decided = {}
    decide = counting._only_borrows

    def noted(state: Any) -> bool:
        decided[state.func_id.func_name] = decide(state)
        return decided[state.func_id.func_name]

    monkeypatch.setattr(counting, "_only_borrows", noted)
    register_jitable(boundscheck=True, **OWN)(function)

    @numba.njit
    def often(seen: Any, times: int) -> float:
        total = 0.0
        for _ in range(times):
            total += function(seen)
        return total

    def seen() -> Seen:
        return Seen(np.array([1.0, 2.0, 3.0]), np.zeros(3, dtype=np.int64))

    plain, arrays = seen(), seen()
    expected = sum(function(plain) for _ in range(50))
    often(seen(), 1)
    assert decided[function.__name__] is borrows
    before = _held()
    assert often(arrays, 50) == expected
    assert _held() == before
    assert [item.tolist() for item in arrays] == [item.tolist() for item in plain]


def _held() -> int:
    """Return the number of arrays that compiled code has made and not freed."""
    RUNTIME._nrt_python.memsys_enable_stats()
    stats = RUNTIME.rtsys.get_allocation_stats()
    return int(stats.mi_alloc - stats.mi_free)


def test_an_index_out_of_range_is_refused_without_counting() -> None:
    @register_jitable(boundscheck=True, **OWN)
    def beyond(seen: Any) -> float:
        return float(seen.levels[len(seen.marks)])

    @numba.njit
    def ask(seen: Any) -> float:
        return beyond(seen)

    with pytest.raises(IndexError):
        ask(Seen(np.array([1.0, 2.0, 3.0]), np.zeros(3, dtype=np.int64)))
