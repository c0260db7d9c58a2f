"""What plays blocks, and where."""

import os
from collections.abc import Callable, Generator, Sequence

from crewlearn.engine.blocks import Block, BlockResult
from crewlearn.problem.errors import whole

Waiting = Callable[[], None]
"""Called now and then while a block is waited for; an exception that it raises ends the work."""

Player = Callable[[Sequence[Block], Waiting | None], Generator[tuple[BlockResult, float], None, None]]
"""Plays blocks anywhere and yields their results, with the seconds each took, in the order of the blocks.

Closing it ends the work at once.
"""

WAITING_SECONDS = 0.2
"""Seconds between calls of `waiting` while a block is not done: short enough for a prompt response to cancelling."""


def choose_player(engine: str = "local", threads: int | None = None) -> Player:
    """Return what plays blocks: threads of this process, processes of this machine, or a cluster that has workers."""
    if engine not in ("local", "processes"):
        from crewlearn.engine.scale_out.cluster import cluster_player

        return cluster_player(engine)
    workers = whole("threads", threads, 1) if threads is not None else os.cpu_count() or 1
    if engine == "local":
        from crewlearn.engine.scale_out.threads import play_on_threads

        return lambda blocks, waiting: play_on_threads(blocks, workers, waiting)
    from crewlearn.engine.scale_out.processes import play_on_processes

    return lambda blocks, waiting: play_on_processes(blocks, workers, waiting)
