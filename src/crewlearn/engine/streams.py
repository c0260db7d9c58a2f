"""Keys of the counter-based random streams: every draw is a pure function of its purpose and indices.

Worker i's output in period t of run r depends on (seed, r, t, i) alone, a delay on (seed, r, t, out, in), and the
starting team on (seed, r). A policy's tie-breaks and shuffles use a separate stream. So every policy faces the same
world, and results do not depend on the order of computation.
"""

from crewlearn.problem.chance import mix
from crewlearn.problem.floor import FloorKeys

OUTPUT, DAY, DELAY, TEAM, POLICY, INTERVIEW, RAMP, DRIFT, ABSENCE, QUITS, DECLINES, TURNOVER, REFILL = range(13)
"""The purposes of a run's streams."""

PURPOSES = 13


def seed_root(seed: int) -> int:
    """Return the key that all streams of a simulation derive from, as a signed 64-bit integer."""
    return signed(mix(0, seed))


def signed(word: int) -> int:
    """Return a 64-bit word as the signed integer that compiled code takes."""
    return word - (1 << 64) if word >= 1 << 63 else word


def run_key(root: int, run: int, purpose: int) -> int:
    """Return the key of a run's stream for `purpose`."""
    return mix(mix(root, run), purpose)


def policy_key(root: int, run: int) -> int:
    """Return the key of a run's policy stream, non-negative as a signed 64-bit integer."""
    return run_key(root, run, POLICY) & 0x7FFFFFFFFFFFFFFF


def floor_keys(root: int, run: int) -> FloorKeys:
    """Return the keys of a run's people."""
    return FloorKeys(
        run_key(root, run, RAMP),
        run_key(root, run, DRIFT),
        run_key(root, run, ABSENCE),
        run_key(root, run, QUITS),
        run_key(root, run, DECLINES),
        run_key(root, run, TURNOVER),
        run_key(root, run, REFILL),
    )
