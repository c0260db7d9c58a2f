"""Options that several commands share, and their parsers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from crewlearn.problem.model import Problem

ProblemOption = Annotated[Path | None, typer.Option(help="Problem file (TOML); by default the paper's benchmark.")]
PolicyOption = Annotated[list[str] | None, typer.Option(help="Policy, as name or name:parameter=value,…; repeatable.")]
SeedOption = Annotated[int, typer.Option(help="Random seed of the worlds, common to all policies.")]
AtOption = Annotated[
    str | None, typer.Option(help="Periods after which to report regret, such as 91,365; by default the horizon.")
]
ConventionsOption = Annotated[
    str, typer.Option(help="as-written (the paper's text) or as-released (its printed tables).")
]
ProblemConventionsOption = Annotated[
    str | None,
    typer.Option(
        help="Conventions of the benchmark and of policies given by name: as-written (the paper's text) or as-released "
        "(its printed tables); by default those of the problem file."
    ),
]
EngineOption = Annotated[str, typer.Option(help="local, dask, or the address of a Dask scheduler, tcp://host:port.")]
ThreadsOption = Annotated[int | None, typer.Option(help="Threads of the local engine; by default one per core.")]
FreshOption = Annotated[bool, typer.Option("--fresh", help="Ignore cached results and compute them again.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]

DEFAULT_POLICIES = ("dr-ucb", "keep-team", "oracle")


def read_problem_option(path: Path | None, conventions: str | None = None) -> "Problem":
    """Read the problem file, or return the paper's benchmark."""
    from crewlearn.problem.instances import benchmark
    from crewlearn.problem.toml import read_problem

    return benchmark(conventions=conventions or "as-written") if path is None else read_problem(path)


def read_at_option(at: str | None) -> list[int] | None:
    """Parse the periods to report at."""
    from crewlearn.problem.errors import InvalidInput

    try:
        return [int(part) for part in at.split(",")] if at else None
    except ValueError as error:
        remedy = "must be whole numbers separated by commas, such as 91,365"
        raise InvalidInput("at", at, remedy) from error
