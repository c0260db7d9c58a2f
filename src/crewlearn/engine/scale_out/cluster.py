"""Playing blocks on an existing Dask cluster, with results bit-identical to a local run."""

import importlib.metadata
import math
import os
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from crewlearn.engine.blocks import Block, BlockResult
from crewlearn.engine.scale_out.player import Player
from crewlearn.engine.scale_out.threads import timed
from crewlearn.problem.errors import InvalidInput, unknown_name

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 10.0
WORKER_SECONDS = 5.0
PATIENCE_SECONDS = 30.0
"""How long to wait for the scheduler, then for a first worker, and for a task before checking for live workers."""

TASK_SECONDS = 0.25
"""Minimum duration of a task to aim for, which keeps the overhead of submitting it small."""

LARGEST_TASK = 64
TASK_BYTES = 32_000_000
"""Upper limits on the blocks in a task and on the bytes of results it returns."""

TASKS_AHEAD = 4
"""Tasks in flight per thread of the cluster."""

RETRIES = 3


def cluster_player(engine: str) -> Player:
    """Return a player for a cluster, after checking that its scheduler answers and has workers.

    `engine` is "dask" (the scheduler named by DASK_SCHEDULER_ADDRESS or Dask's configuration) or an address such as
    "tcp://host:port".
    """
    address = scheduler_address(engine)
    with connect(address) as client:
        _check_workers(client, address)
    return lambda blocks, waiting: play_on_cluster(blocks, address)


def scheduler_address(engine: str) -> str:
    """Return the address of the scheduler that `engine` names."""
    if engine != "dask" and "://" not in engine:
        raise unknown_name("engine", engine, ["local", "processes", "dask", "tcp://host:port"])
    try:
        import dask
        import distributed  # noqa: F401  # dask may be installed without it
    except ImportError as error:
        raise InvalidInput("engine", engine, "needs Dask; pip install 'crewlearn[dask]'") from error
    if engine != "dask":
        return engine
    address = os.environ.get("DASK_SCHEDULER_ADDRESS") or dask.config.get("scheduler-address", None)
    if not address:
        raise InvalidInput(
            "engine",
            engine,
            "no scheduler is configured; give an address (tcp://host:port) as the engine, or set "
            "DASK_SCHEDULER_ADDRESS",
        )
    return str(address)


def connect(address: str) -> "Client":
    """Connect to a scheduler; an error names the address that cannot be reached."""
    from distributed import Client

    try:
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False)  # type: ignore[no-untyped-call]  # distributed has no types
    except Exception as error:  # a wrong scheme, port, host or certificate and a timeout each have their own type
        raise InvalidInput(
            "engine",
            address,
            f"tried to connect for up to {CONNECT_SECONDS:g} s and failed ({error}); start a scheduler there "
            "(dask scheduler), give the address of a running one, or use --engine local",
        ) from error


def play_on_cluster(blocks: Sequence[Block], address: str) -> Generator[tuple[BlockResult, float], None, None]:
    """Play blocks in tasks of several, with a bounded number of tasks in flight to bound memory.

    Tasks grow until the overhead of submitting them is small. How blocks are grouped into tasks does not affect the
    numbers. A task whose worker dies is retried on another worker.
    """
    waiting: deque[Any] = deque()
    begun, size = 0, 1
    with connect(address) as client:
        while waiting or begun < len(blocks):
            with _losses_told(address):
                window = TASKS_AHEAD * max(1, sum(client.nthreads().values()))  # workers come and go
                while begun < len(blocks) and len(waiting) < window:
                    task = blocks[begun : begun + max(1, min(size, TASK_BYTES // result_bytes(blocks[begun])))]
                    waiting.append(client.submit(timed_blocks, list(task), pure=False, retries=RETRIES))
                    begun += len(task)
                results = _wait_for(client, waiting.popleft(), address)
            size = next_size([seconds for _, seconds in results])
            yield from results


def next_size(seconds: Sequence[float]) -> int:
    """Return the number of blocks in the next task, given the seconds that each block of the last one took.

    >>> next_size([0.01, 0.01]), next_size([0.1, 0.1, 0.1, 0.1]), next_size([60.0])
    (4, 3, 1)
    """
    enough = math.ceil(TASK_SECONDS * len(seconds) / max(sum(seconds), 1e-6))
    return min(enough, 2 * len(seconds), LARGEST_TASK)


def timed_blocks(blocks: Sequence[Block]) -> list[tuple[BlockResult, float]]:
    """Play a task's blocks in order; this runs on the cluster's workers."""
    return [timed(block) for block in blocks]


def result_bytes(block: Block) -> int:
    """Estimate the size of a block's result: four curves, two numbers per run and checkpoint, three per run."""
    return 8 * (4 * block.problem.horizon + block.count * (2 * len(block.at) + 3))


def versions() -> dict[str, str]:
    """Return the versions of the packages that results depend on."""
    return {name: importlib.metadata.version(name) for name in ("crewlearn", "numpy", "numba")}


def _check_workers(client: "Client", address: str) -> None:
    """Check that the cluster has workers, and that their versions match this process."""
    _check_some_worker(client, address)
    try:
        by_worker = client.run(versions)
    except Exception as error:  # a worker's import error arrives as a plain Exception
        raise _not_installed(address, error) from error
    for worker, theirs in by_worker.items():
        for name, ours in versions().items():
            if theirs[name] != ours:
                raise InvalidInput(
                    "engine",
                    address,
                    f"worker {worker} has {name} {theirs[name]}, which may give different numbers than {ours} here; "
                    "install the same version on both sides",
                )


def _check_some_worker(client: "Client", address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
    except TimeoutError as error:
        raise InvalidInput(
            "engine",
            address,
            f"the scheduler answers, but no worker joined it within {WORKER_SECONDS:g} s; "
            f"start some (dask worker {address})",
        ) from error


def _wait_for(client: "Client", task: Any, address: str) -> list[tuple[BlockResult, float]]:
    """Wait for a task's results as long as the cluster has workers."""
    while True:
        try:
            results: list[tuple[BlockResult, float]] = task.result(timeout=PATIENCE_SECONDS)
            return results
        except TimeoutError:
            _check_some_worker(client, address)


@contextmanager
def _losses_told(address: str) -> Iterator[None]:
    """Convert Dask's errors for a lost cluster or a missing module to errors that name the remedy."""
    from distributed import CancelledError, KilledWorker

    try:
        yield
    except (CancelledError, KilledWorker, OSError) as error:
        remedy = f"the cluster was lost during the run ({error}); check that it is running and its logs, and try again"
        raise InvalidInput("engine", address, remedy) from error
    except (ImportError, RuntimeError) as error:  # a scheduler wraps import errors of its own
        if isinstance(error, ImportError) or isinstance(error.__cause__, ImportError):
            raise _not_installed(address, error.__cause__ or error) from error
        raise


def _not_installed(address: str, error: BaseException) -> InvalidInput:
    remedy = f"the cluster cannot import the policy's code ({error}); install it for its scheduler and workers"
    return InvalidInput("engine", address, remedy)
