"""A real Dask cluster with two worker processes computes the local numbers, even when a worker is killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from crewlearn.engine.blocks import Block, blocks_of
from crewlearn.engine.local import simulate
from crewlearn.engine.results import same_numbers
from crewlearn.engine.scale_out import cluster
from crewlearn.engine.sweep import plan_cells, run_sweep
from crewlearn.policies.registry import make_policy
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.instances import benchmark
from support.floors import TOGETHER

PROBLEM = benchmark(team=3, horizon=40)
NOBODY_THERE = "tcp://127.0.0.1:9"


@dataclass
class Cluster:
    address: str
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)


@contextmanager
def running_cluster(folder: Path, workers: int) -> Iterator[Cluster]:
    """Run a scheduler and single-threaded workers; stop them by their process ids at the end."""
    ours = Cluster("")
    contact = folder / "scheduler.json"

    def start(kind: str, *options: str) -> None:
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *options, "--host=127.0.0.1", "--no-dashboard"]
        with (folder / "log").open("ab") as log:
            ours.processes.append(subprocess.Popen(command, cwd=folder, stdout=log, stderr=log))

    try:
        start("scheduler", "--port=0", f"--scheduler-file={contact}")
        deadline = time.monotonic() + 15.0
        while not ours.address:
            assert time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.05)
            text = contact.read_text() if contact.exists() else ""
            ours.address = json.loads(text)["address"] if text.endswith("}") else ""
        for _ in range(workers):
            start("worker", ours.address, "--nthreads=1", "--no-nanny", f"--local-directory={folder}")
        with cluster.connect(ours.address) as client:
            if workers:
                client.wait_for_workers(workers, timeout=15.0)
        yield ours
    finally:
        for process in reversed(ours.processes):
            process.terminate()
            try:
                process.wait(10.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_cluster(tmp_path_factory.mktemp("cluster"), workers=2) as ours:
        yield ours


def test_numbers_are_those_of_a_local_run(two_workers: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    policies = ["dr-ucb", "keep-team"]
    here = simulate(PROBLEM, policies, runs=700, seed=3, at=[10, 40], threads=1)
    there = simulate(PROBLEM, policies, runs=700, seed=3, at=[10, 40], engine=two_workers.address)
    assert same_numbers(here, there)
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", two_workers.address)
    assert same_numbers(here, simulate(PROBLEM, policies, runs=700, seed=3, at=[10, 40], engine="dask"))


def test_floors_that_change_have_the_numbers_of_a_local_run(two_workers: Cluster) -> None:
    policies = ["dr-ucb:gamma=1", "value-of-replacement"]
    here = simulate(TOGETHER, policies, runs=130, seed=3, at=[30, 60], threads=1)
    there = simulate(TOGETHER, policies, runs=130, seed=3, at=[30, 60], engine=two_workers.address)
    assert same_numbers(here, there)
    for name in policies:
        assert here.captured(name, 60) == there.captured(name, 60)


def test_a_sweep_writes_the_cells_of_a_local_one(two_workers: Cluster, tmp_path: Path) -> None:
    cells = plan_cells(PROBLEM, ["dr-ucb", "keep-team"], {"cost": [1, 5], "dr-ucb:gamma": [5, 10]}, runs=70)
    here = run_sweep(cells, tmp_path / "here.jsonl", threads=1)
    there = run_sweep(cells, tmp_path / "there.jsonl", engine=two_workers.address)
    for local, remote in zip(here.records, there.records, strict=True):
        assert local.pop("microseconds_per_run") > 0.0
        assert remote.pop("microseconds_per_run") > 0.0
        assert local == remote


def test_few_results_are_held_at_a_time(two_workers: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import Client

    handed_out: list[int] = []
    submit = Client.submit

    def counted(client: Client, function: Callable[..., Any], blocks: list[Block], **options: Any) -> Any:
        handed_out.append(len(blocks))
        return submit(client, function, blocks, **options)

    monkeypatch.setattr(Client, "submit", counted)
    blocks = blocks_of(PROBLEM, make_policy("keep-team"), 64 * 300, 1, (40,))
    results = cluster.play_on_cluster(blocks, two_workers.address)
    first, _ = next(results)
    assert len(first.regret) == 64
    assert sum(handed_out) == cluster.TASKS_AHEAD * 2  # tasks of a single block at first
    assert sum(1 for _ in results) == 299
    assert sum(handed_out) == 300
    assert max(handed_out) > 1  # then tasks of several blocks


def test_a_killed_worker_changes_nothing(tmp_path: Path) -> None:
    runs = 64 * 150
    here = simulate(PROBLEM, ["dr-ucb"], runs=runs)
    with running_cluster(tmp_path, workers=2) as ours:
        done: list[int] = []

        def kill_one(count: int) -> None:
            if not done:
                os.kill(ours.processes[-1].pid, signal.SIGKILL)
            done.append(count)

        there = simulate(PROBLEM, ["dr-ucb"], runs=runs, engine=ours.address, progress=kill_one)
        assert ours.processes[-1].wait(5.0) == -signal.SIGKILL
        assert sum(done) == runs
        assert same_numbers(here, there)


@pytest.mark.parametrize(
    ("victim", "complaint"), [(-1, "no worker joined it within 0.3 s"), (0, "the cluster was lost during the run")]
)
def test_a_cluster_that_goes_down_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, victim: int, complaint: str
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 2.0)
    with running_cluster(tmp_path, workers=1) as ours:
        blocks = blocks_of(PROBLEM, make_policy("keep-team"), 64 * 1000, 1, (40,))
        results = cluster.play_on_cluster(blocks, ours.address)
        next(results)
        monkeypatch.setattr(cluster, "PATIENCE_SECONDS", 0.3)
        monkeypatch.setattr(cluster, "WORKER_SECONDS", 0.3)
        ours.processes[victim].kill()
        with pytest.raises(InvalidInput, match=complaint):
            list(results)


def test_a_cluster_without_workers_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "WORKER_SECONDS", 0.3)
    with running_cluster(tmp_path, workers=0) as ours, pytest.raises(InvalidInput) as caught:
        cluster.cluster_player(ours.address)
    assert "no worker joined it within 0.3 s; start some (dask worker tcp://127.0.0.1:" in caught.value.remedy


def test_a_worker_with_other_versions_is_refused(two_workers: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = {**cluster.versions(), "numba": "0.1"}
    monkeypatch.setattr("distributed.Client.run", lambda client, function: {"tcp://worker": theirs})
    with pytest.raises(InvalidInput, match=r"worker tcp://worker has numba 0\.1, which .* install the same version"):
        cluster.cluster_player(two_workers.address)


def test_an_unreachable_scheduler_is_found_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    played: list[int] = []
    with pytest.raises(InvalidInput) as caught:
        simulate(PROBLEM, ["keep-team"], runs=2, engine=NOBODY_THERE, progress=played.append)
    assert (caught.value.field, caught.value.value, played) == ("engine", NOBODY_THERE, [])
    assert "tried to connect for up to 0.5 s" in caught.value.remedy
    assert "start a scheduler there (dask scheduler)" in caught.value.remedy


@pytest.mark.parametrize(
    ("engine", "complaint"),
    [
        ("dusk", "did you mean 'dask'"),
        ("locla", "did you mean 'local'"),
        ("127.0.0.1:8786", "Known: local, processes, dask, tcp://host:port"),
        ("tpc://127.0.0.1:8786", "unknown address scheme 'tpc'"),
        ("tcp://127.0.0.1", "missing port number"),
    ],
)
def test_a_wrong_engine_is_named(engine: str, complaint: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        simulate(PROBLEM, ["keep-team"], runs=1, engine=engine)
    assert complaint in str(caught.value)


def test_dask_without_a_scheduler_says_how_to_name_one(monkeypatch: pytest.MonkeyPatch) -> None:
    import dask

    monkeypatch.delenv("DASK_SCHEDULER_ADDRESS", raising=False)
    with dask.config.set({"scheduler-address": None}), pytest.raises(InvalidInput) as caught:
        cluster.scheduler_address("dask")
    assert "tcp://host:port) as the engine, or set DASK_SCHEDULER_ADDRESS" in caught.value.remedy
    with dask.config.set({"scheduler-address": NOBODY_THERE}):
        assert cluster.scheduler_address("dask") == NOBODY_THERE


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InvalidInput, match=r"pip install 'crewlearn\[dask\]'"):
        cluster.scheduler_address("dask")


def test_local_runs_do_not_load_dask() -> None:
    imports = "import sys, crewlearn.engine.local, crewlearn.engine.scale_out.cluster"
    program = f"{imports}; print('distributed' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
