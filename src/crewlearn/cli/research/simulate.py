"""`crewlearn simulate`: compare policies in the same simulated worlds."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crewlearn.cli.options import (
    DEFAULT_POLICIES,
    AtOption,
    EngineOption,
    JsonOption,
    PolicyOption,
    ProblemConventionsOption,
    ProblemOption,
    SeedOption,
    ThreadsOption,
    read_at_option,
    read_problem_option,
)
from crewlearn.cli.output import check_writable, plain_errors, print_json, print_table, progress_bar

if TYPE_CHECKING:
    from crewlearn.engine.results import SimulationResult


def simulate_command(
    problem: ProblemOption = None,
    policy: PolicyOption = None,
    runs: Annotated[int, typer.Option(help="Simulated runs per policy.")] = 50,
    seed: SeedOption = 1,
    at: AtOption = None,
    conventions: ProblemConventionsOption = None,
    engine: EngineOption = "local",
    threads: ThreadsOption = None,
    out: Annotated[Path | None, typer.Option(help="Parquet file for the numbers of every run.")] = None,
    trace: Annotated[
        Path | None, typer.Option(help="Folder for traces of the first runs: a file per policy, a row per event.")
    ] = None,
    trace_runs: Annotated[int, typer.Option(help="Number of runs to trace per policy.")] = 3,
    json: JsonOption = False,
) -> None:
    """Simulate policies in the same worlds and compare their regret."""
    with plain_errors():
        from crewlearn.engine.local import MOST_RUNS, prepare
        from crewlearn.problem.errors import whole
        from crewlearn.problem.instances import MONTHS

        chosen = policy or list(DEFAULT_POLICIES)
        whole_problem, periods = read_problem_option(problem, conventions), read_at_option(at)
        if problem is None and periods is None:
            periods = list(MONTHS.values())
        simulation = prepare(whole_problem, chosen, runs, seed, periods, conventions, threads=threads, engine=engine)
        if out is not None:
            check_writable("out", out)
        if trace is not None:
            whole("runs", trace_runs, 1, MOST_RUNS)
            _make_folder(trace)
        simulation.compile()  # before the progress bar, since compiling prints its own messages
        with progress_bar("simulating", len(chosen) * runs) as done:
            result = simulation.run(done)
        if out is not None:
            result.to_parquet(out)
        if trace is not None:
            _write_traces(result, trace, min(trace_runs, runs))
    if json:
        print_json(result.to_json())
        return
    headings, rows = result.table()
    setting = whole_problem.setting
    print_table(
        f"Team of {setting.team} from {setting.workers} workers, {whole_problem.horizon} periods, fee "
        f"{setting.cost:g}, mean delay {setting.mean_delay:g}.\n"
        f"Regret by number of periods, mean ± SD over {runs} runs:",
        headings,
        rows,
    )
    print("Regret: output lost against the best team, plus fees.\nLoss: regret in percent of the best team's output.")
    scale = result.scale_table()
    if scale is not None:
        counted = (
            f"after {whole_problem.warmup} periods of warm-up" if whole_problem.warmup else "from the first period on"
        )
        print()
        print_table(f"Earned {counted}, mean ± SE:", *scale)
        print(
            "Net: expected output of those present, less fees.\n"
            "Captured: share of the oracle's gain over keep-team. Worse: share of worlds with less net than keep-team."
        )


def _make_folder(folder: Path) -> None:
    """Make the folder of the traces, and check that it can be written, before any work is done."""
    from crewlearn.problem.errors import InvalidInput

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        remedy = f"cannot be made ({error.strerror}); give a folder, or the path of a new one"
        raise InvalidInput("trace", str(folder), remedy) from error
    check_writable("trace", folder / "trace.parquet")


def _write_traces(result: "SimulationResult", folder: Path, runs: int) -> None:
    """Write the first runs of each policy, event by event."""
    from crewlearn.engine.trace import events_of, write_trace

    for name, ours in result.policies.items():
        rows = events_of(result.problem, ours.policy, runs, result.seed)
        path = folder / f"{re.sub(r'[^A-Za-z0-9.+-]+', '-', name)}.parquet"
        write_trace(rows, path, made_by={**result.made_by(), "runs": runs, "policy": name})
