"""How commands speak: tables for people, one JSON document for programs, errors that end the command."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn bad input into one line on standard error and exit code 2."""
    from crewlearn.problem.errors import InvalidInput

    try:
        yield
    except InvalidInput as error:
        print(f"crewlearn: {error}", file=sys.stderr)
        raise typer.Exit(2) from error


def print_json(document: Any) -> None:
    """Print a document for programs."""
    print(json.dumps(document, indent=2))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table for people; every column but the first is a number, flush right, and none is ever cut."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if index else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console = Console()
    console.width = max(console.width, console.measure(table, options=console.options.update(width=1000)).maximum)
    print(title)
    console.print(table)


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Any]:
    """Show progress on standard error; yields the function to tell of work done."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=total)
        yield lambda done: progress.advance(task, done)
