"""Keys of the world's random streams: every draw is a pure function of what it is for.

Worker i's output in period t of run r depends on (seed, r, t, i) alone, a delay on (seed, r, t, out, in), the starting
team on (seed, r); a policy's own ties and shuffles have a stream of their own. So every policy faces the same world,
and the order in which things are computed never matters.
"""

from crewlearn.problem.chance import mix

OUTPUT, DAY, DELAY, TEAM, POLICY, INTERVIEW = range(6)
"""What a run's streams are for."""

PURPOSES = 6


def seed_root(seed: int) -> int:
    """Give the key that all streams of a simulation grow from, as a signed 64-bit integer."""
    word = mix(0, seed)
    return word - (1 << 64) if word >= 1 << 63 else word


def run_key(root: int, run: int, purpose: int) -> int:
    """Give the key of one of a run's streams."""
    return mix(mix(root, run), purpose)


def policy_key(root: int, run: int) -> int:
    """Give the key of a policy's own stream, small enough for a signed integer."""
    return run_key(root, run, POLICY) & 0x7FFFFFFFFFFFFFFF
