"""Who is left outside as the fallback of each requested replacement, for reasons; plain Python, never compiled."""

from collections.abc import Iterator, Sequence

from crewlearn.policies.contract import Pair
from crewlearn.policies.value.rule import ENTERS, OUTSIDE, Ranked, next_outside
from crewlearn.problem.arrays import NOBODY


def fallbacks(memory: Ranked, pairs: Sequence[Pair]) -> Iterator[float]:
    """Yield the expected output of the fallback of each pair, 0 if nobody is left.

    Pairs requested together have different fallbacks, none of whom enters. A further pair with the same worker going
    out is an alternative to the first. It has none but the way back to that worker: with the first one's entrant as
    its fallback, somebody poor would seem to bring what a better one brings after them.
    """
    requested = set[int]()
    for out, into in pairs:
        if out == NOBODY or out not in requested:
            requested.add(out)
            memory.standing[into] = ENTERS
    place, seen = 0, set[int]()
    for out, _ in pairs:
        if out != NOBODY and out in seen:
            yield 0.0
            continue
        seen.add(out)
        place = next_outside(memory, place)
        yield float(memory.others[place]) if place < memory.numbers[OUTSIDE] else 0.0
        place += 1
