"""Who is left outside as the fallback of each requested replacement, for reasons; plain Python, never compiled."""

from collections import Counter
from collections.abc import Iterator, Sequence

from crewlearn.policies.contract import Pair
from crewlearn.policies.value.rule import ENTERS, OUTSIDE, Ranked, next_outside
from crewlearn.problem.arrays import NOBODY


def fallbacks(memory: Ranked, pairs: Sequence[Pair]) -> Iterator[float]:
    """Yield the expected output of the fallback of each pair, 0 if nobody is left.

    Pairs requested together have different fallbacks, none of whom enters. Pairs with the same worker going out are
    alternatives: each is judged as if it was requested alone.
    """
    times = Counter(out for out, _ in pairs if out != NOBODY)
    for out, into in pairs:
        if times[out] <= 1:
            memory.standing[into] = ENTERS
    first = 0
    for out, into in pairs:
        before = memory.standing[into]
        memory.standing[into] = ENTERS
        place = next_outside(memory, first)
        memory.standing[into] = before
        yield float(memory.others[place]) if place < memory.numbers[OUTSIDE] else 0.0
        if times[out] <= 1:
            first = place + 1
