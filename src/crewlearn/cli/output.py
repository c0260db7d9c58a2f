"""Output of commands: tables for people, a JSON document for programs, progress, and errors."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer


@contextmanager
def plain_errors() -> Iterator[None]:
    """Report invalid input as one line on standard error, with options as on the command line, and exit with 2."""
    from crewlearn.advisor.ledger.text import options_said
    from crewlearn.problem.errors import InvalidInput
    from crewlearn.problem.extras import MissingExtra

    try:
        yield
    except MissingExtra as error:
        print(f"crewlearn: {error}", file=sys.stderr)
        raise typer.Exit(2) from error
    except InvalidInput as error:
        print(f"crewlearn: {options_said(str(error), option_said)}", file=sys.stderr)
        raise typer.Exit(2) from error


def option_said(name: str, value: str) -> str:
    """Return an option as it is written on the command line.

    >>> option_said("skip_unknown", ""), option_said("where", "Work area=Pick")
    ('--skip-unknown', '--where "Work area=Pick"')
    """
    written = f'"{value}"' if " " in value else value
    return f"--{name.replace('_', '-')} {written}".rstrip()


def check_writable(field: str, path: Path) -> None:
    """Check that a file can be written, before any work is done."""
    from crewlearn.problem.errors import InvalidInput

    folder = path.parent
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise InvalidInput(field, str(path), "must be a file in a folder that exists and can be written")


def print_json(document: Any) -> None:
    """Print a JSON document."""
    print(json.dumps(document, indent=2))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 1) -> None:
    """Print a table; columns after the first `words` are right-aligned numbers. Nothing is truncated."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if index >= words else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console = Console()
    console.width = max(console.width, console.measure(table, options=console.options.update(width=1000)).maximum)
    print(title)
    console.print(table)


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show progress on standard error, as a bar on a terminal, else as lines. Yield a callback that advances it."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(what, total)
        return
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda done: progress.advance(task, done)


@contextmanager
def progress_steps(total: int) -> Iterator[tuple[Callable[[str], None], Callable[[int], None]]]:
    """Show steps on standard error. Yield callbacks that set the current step and count finished ones."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _steps(total)
        return
    columns = (BarColumn(bar_width=24), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("starting", total=total)

        def tell(what: str) -> None:
            progress.update(task, description=what)

        yield tell, lambda done: progress.advance(task, done)


def _steps(total: int) -> tuple[Callable[[str], None], Callable[[int], None]]:
    """Return callbacks that print a line after a second, then at most every five seconds."""
    finished, due = 0, time.monotonic() + 1.0

    def tell(what: str) -> None:
        nonlocal due
        if time.monotonic() >= due:
            print(f"crewlearn: {finished} of {total} done; {what}", file=sys.stderr, flush=True)
            due = time.monotonic() + 5.0

    def done(more: int) -> None:
        nonlocal finished
        finished += more

    return tell, done


def _lines(what: str, total: int) -> Callable[[int], None]:
    """Return a callback that prints a line after a second, then at most every ten seconds."""
    done, due = 0, time.monotonic() + 1.0

    def tell(more: int) -> None:
        nonlocal done, due
        done += more
        if time.monotonic() >= due and done < total:
            print(f"crewlearn: {what}, {done:,} of {total:,}", file=sys.stderr, flush=True)
            due = time.monotonic() + 10.0

    return tell
