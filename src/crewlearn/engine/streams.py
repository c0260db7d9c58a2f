"""Keys of the counter-based random streams: every draw is a pure function of its purpose and indices.

Worker i's output in period t of run r depends on (seed, r, t, i) alone, a delay on (seed, r, t, out, in), and the
starting team on (seed, r). A policy's tie-breaks and shuffles use a separate stream. So every policy faces the same
world, and results do not depend on the order of computation.
"""

from crewlearn.problem.chance import mix

OUTPUT, DAY, DELAY, TEAM, POLICY, INTERVIEW = range(6)
"""The purposes of a run's streams."""

PURPOSES = 6


def seed_root(seed: int) -> int:
    """Return the key that all streams of a simulation derive from, as a signed 64-bit integer."""
    word = mix(0, seed)
    return word - (1 << 64) if word >= 1 << 63 else word


def run_key(root: int, run: int, purpose: int) -> int:
    """Return the key of a run's stream for `purpose`."""
    return mix(mix(root, run), purpose)


def policy_key(root: int, run: int) -> int:
    """Return the key of a run's policy stream, non-negative as a signed 64-bit integer."""
    return run_key(root, run, POLICY) & 0x7FFFFFFFFFFFFFFF
