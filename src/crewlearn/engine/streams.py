"""Keys of the world's random streams: every draw is a pure function of what it is for.

Worker i's output in period t of run r depends on (seed, r, t, i) alone, a delay on (seed, r, t, out, in), the starting
team on (seed, r); a policy's own ties and shuffles have a stream of their own. So every policy faces the same world,
and the order in which things are computed never matters.
"""

from crewlearn.problem.chance import mix

OUTPUT, DAY, DELAY, TEAM, POLICY = range(5)
"""What a run's streams are for."""


def run_key(seed: int, run: int, purpose: int) -> int:
    """Give the key of one of a run's streams."""
    return mix(mix(mix(0, seed), run), purpose)


def output_key(outputs: int, period: int, worker: int) -> int:
    """Give the key of a worker's output in a period, from the run's key for outputs."""
    return mix(mix(outputs, period), worker)


def policy_key(seed: int, run: int) -> int:
    """Give the key of a policy's own stream, small enough for a signed integer."""
    return run_key(seed, run, POLICY) & 0x7FFFFFFFFFFFFFFF
