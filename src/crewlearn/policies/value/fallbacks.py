"""Who is left outside as the fallback of each requested replacement, for reasons; plain Python, never compiled."""

from collections.abc import Iterator, Sequence

from crewlearn.policies.contract import Pair
from crewlearn.policies.value.rule import ENTERS, OUTSIDE, Ranked, next_outside
from crewlearn.problem.arrays import NOBODY


def fallbacks(memory: Ranked, pairs: Sequence[Pair]) -> Iterator[float]:
    """Yield the expected output of the fallback of each pair, 0 if nobody is left.

    Pairs requested together have different fallbacks, none of whom enters. A further pair with the same worker going
    out is an alternative to the first: its fallback is the one it would have if it was requested in its place.
    """
    standing = memory.standing
    requested: dict[int, tuple[int, int, int]] = {}  # by who goes out: who comes in, their standing, and the order
    order = 0
    for out, into in pairs:
        if out == NOBODY or out not in requested:
            requested[out] = (into, int(standing[into]), order)
            standing[into] = ENTERS
            order += 1
    place, seen = 0, set[int]()
    for out, into in pairs:
        if out == NOBODY or out not in seen:
            seen.add(out)
            place = next_outside(memory, place)
            yield _output_of(memory, place)
            place += 1
            continue
        instead, stood, at = requested[out]
        before = int(standing[into])
        standing[instead], standing[into] = stood, ENTERS
        found = _place_in_order(memory, at)
        standing[into], standing[instead] = before, ENTERS
        yield _output_of(memory, found)


def _place_in_order(memory: Ranked, order: int) -> int:
    """Return the position, in `memory.outside`, of the fallback of the pair requested after `order` others."""
    place = next_outside(memory, 0)
    for _ in range(order):
        place = next_outside(memory, place + 1)
    return place


def _output_of(memory: Ranked, place: int) -> float:
    return float(memory.others[place]) if place < memory.numbers[OUTSIDE] else 0.0
