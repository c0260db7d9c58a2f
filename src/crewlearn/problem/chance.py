"""Counter-based random numbers: pure functions of integers, so that draws can be made anywhere, in any order.

A *key* is a 64-bit word that identifies a stream; `mix(key, n)` is its n-th word. Streams nest, since a word is again
a key. The functions return the same bits in plain Python (unbounded integers) and compiled (signed or unsigned 64-bit
integers that wrap), which is why every right shift is masked.
"""

import math

from crewlearn.problem.arrays import IntArray

_WORD = 0xFFFFFFFFFFFFFFFF
_GOLDEN = 0x9E3779B97F4A7C15
_UNIT = 2.0**-52


def mix(key: int, n: int) -> int:
    """Return word `n` of the stream `key`: a Weyl step followed by a 64-bit finaliser with full avalanche."""
    x = (key + (n & _WORD) * _GOLDEN) & _WORD
    x = ((x ^ ((x >> 30) & 0x3FFFFFFFF)) * 0xBF58476D1CE4E5B9) & _WORD
    x = ((x ^ ((x >> 27) & 0x1FFFFFFFFF)) * 0x94D049BB133111EB) & _WORD
    return x ^ ((x >> 31) & 0x1FFFFFFFF)


def unit(word: int) -> float:
    """Convert a word to one of 2^52 evenly spaced numbers strictly between 0 and 1."""
    return (((word >> 12) & 0xFFFFFFFFFFFFF) + 0.5) * _UNIT


def uniform(key: int, n: int) -> float:
    """Return draw `n` of the stream `key`, uniform on (0, 1)."""
    return unit(mix(key, n))


def normal(key: int, n: int) -> float:
    """Return draw `n` of the stream `key`, standard normal (Box-Muller on draws 2n and 2n+1)."""
    radius = math.sqrt(-2.0 * math.log(uniform(key, 2 * n)))
    return radius * math.cos(2.0 * math.pi * uniform(key, 2 * n + 1))


def next_uniform(stream: IntArray) -> float:
    """Return the next draw of a policy's own stream, `[key, draws so far]`, and advance the stream."""
    stream[1] += 1
    return uniform(int(stream[0]), int(stream[1]))


def shuffle(items: IntArray, n: int, stream: IntArray) -> None:
    """Shuffle the first `n` items uniformly (Fisher-Yates) with a policy's own stream."""
    for last in range(n - 1, 0, -1):
        other = int(next_uniform(stream) * (last + 1))
        swapped = items[last]
        items[last] = items[other]
        items[other] = swapped


def choose_sorted(chosen: IntArray, team: int, workers: int, key: int) -> None:
    """Fill `chosen` with a uniformly random `team` of `workers`, in worker order (selection sampling)."""
    taken = 0
    for worker in range(workers):
        if (workers - worker) * uniform(key, worker) < team - taken:
            chosen[taken] = worker
            taken += 1
