"""`crewlearn simulate`: play policies against each other in the same simulated worlds."""

from pathlib import Path
from typing import Annotated

import typer

from crewlearn.cli.output import (
    CONVENTIONS_OPTION,
    JSON_OPTION,
    plain_errors,
    print_json,
    print_table,
    progress_bar,
)


def simulate_command(
    problem: Annotated[
        Path | None, typer.Option(help="Problem file (TOML); the paper's benchmark if left out.")
    ] = None,
    policy: Annotated[
        list[str] | None, typer.Option(help="Policy, as name or name:parameter=value,…; repeat for several.")
    ] = None,
    runs: Annotated[int, typer.Option(help="Simulated runs of each policy.")] = 50,
    seed: Annotated[int, typer.Option(help="Seed of the worlds; the same for all policies.")] = 1,
    at: Annotated[
        str | None, typer.Option(help="Periods to read regret at, such as 91,365; the horizon if left out.")
    ] = None,
    conventions: str = CONVENTIONS_OPTION,
    engine: Annotated[str, typer.Option(help="local, dask, or the address of a Dask scheduler (tcp://…).")] = "local",
    threads: Annotated[int | None, typer.Option(help="Threads of the local engine; one a core if left out.")] = None,
    out: Annotated[Path | None, typer.Option(help="Parquet file for the numbers of every run.")] = None,
    json: bool = JSON_OPTION,
) -> None:
    """Simulate policies in the same worlds and compare their regret."""
    with plain_errors():
        from crewlearn.engine.local import simulate
        from crewlearn.problem.errors import InvalidInput
        from crewlearn.problem.instances import MONTHS, benchmark
        from crewlearn.problem.toml import read_problem

        chosen = policy or ["dr-ucb", "keep-team", "oracle"]
        whole_problem = benchmark(conventions=conventions) if problem is None else read_problem(problem)
        try:
            periods = [int(part) for part in at.split(",")] if at else None
        except ValueError as error:
            raise InvalidInput(
                "at", at, "must be whole numbers of periods with commas between, such as 91,365"
            ) from error
        if problem is None and periods is None:
            periods = list(MONTHS.values())
        with progress_bar("simulating", len(chosen) * max(runs, 0)) as done:
            result = simulate(
                whole_problem, chosen, runs, seed, periods, conventions, threads=threads, engine=engine, progress=done
            )
        if out is not None:
            result.to_parquet(out)
    if json:
        print_json(result.to_json())
        return
    rows = [
        [
            name,
            *(
                f"{summary.mean:,.0f} ± {summary.std:,.0f}"
                for summary in (result.regret(name, at=t) for t in result.at)
            ),
            f"{ours.normalized_loss[:, -1].mean():.1f}%",
            f"{ours.replacements.mean():,.1f}",
        ]
        for name, ours in result.policies.items()
    ]
    setting = whole_problem.setting
    print_table(
        f"Team of {setting.team} from {setting.workers} workers, {setting.horizon} periods, fee {setting.cost:g}, "
        f"mean delay {setting.mean_delay:g}.\nRegret after so many periods, mean ± SD over {runs} runs:",
        ["policy", *(str(period) for period in result.at), "loss", "replaced"],
        rows,
    )
    print("Regret: output lost against the best team, plus fees.\nLoss: regret in percent of the best team's output.")
