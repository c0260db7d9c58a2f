"""Options that several commands share, and their parsers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from crewlearn.problem.model import Problem

ProblemOption = Annotated[Path | None, typer.Option(help="Problem file (TOML); the paper's benchmark if left out.")]
PolicyOption = Annotated[
    list[str] | None, typer.Option(help="Policy, as name or name:parameter=value,…; repeat for several.")
]
SeedOption = Annotated[int, typer.Option(help="Seed of the worlds; the same for all policies.")]
AtOption = Annotated[
    str | None, typer.Option(help="Periods to read regret at, such as 91,365; the horizon if left out.")
]
ConventionsOption = Annotated[
    str, typer.Option(help="as-written (the paper's text) or as-released (what its printed tables ran).")
]
ProblemConventionsOption = Annotated[
    str | None,
    typer.Option(
        help="Conventions of the benchmark and of policies given by name: as-written (the paper's text) or as-released "
        "(what its printed tables ran); those of the problem file if left out."
    ),
]
EngineOption = Annotated[str, typer.Option(help="local, dask, or the address of a Dask scheduler, tcp://host:port.")]
ThreadsOption = Annotated[int | None, typer.Option(help="Threads of the local engine; one a core if left out.")]
FreshOption = Annotated[bool, typer.Option("--fresh", help="Compute anew what earlier calls have kept.")]
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
        remedy = "must be whole numbers of periods with commas between, such as 91,365"
        raise InvalidInput("at", at, remedy) from error
