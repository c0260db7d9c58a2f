"""`crewlearn sweep`: policies on a grid of problems and parameters, resumable after an interruption."""

import re
import sys
import tomllib
from pathlib import Path
from typing import Annotated, Any

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
    read_at_option,
    read_problem_option,
)
from crewlearn.cli.output import plain_errors, print_json, print_table, progress_bar

_PIECE = re.compile(r"""("[^"]*"|'[^']*'|[\[\]{},]|[^"'\[\]{},]+|.)""", re.DOTALL)
_WORD = re.compile(r"[A-Za-z][\w.+-]*")


def sweep_command(
    out: Annotated[Path, typer.Option(help="Result file (JSON Lines); a rerun skips the cells already in it.")],
    problem: ProblemOption = None,
    policy: PolicyOption = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(help="Values to try, as cost=3,7,30 or delay.mean=1,3 or dr-ucb:gamma=5,10; repeat for a grid."),
    ] = None,
    runs: Annotated[int, typer.Option(help="Simulated runs per cell.")] = 50,
    seed: SeedOption = 1,
    at: AtOption = None,
    conventions: ProblemConventionsOption = None,
    engine: EngineOption = "local",
    json: JsonOption = False,
) -> None:
    """Simulate policies on a grid of problem fields and policy parameters."""
    with plain_errors():
        from crewlearn.engine.sweep import plan_cells, run_sweep

        chosen = policy or list(DEFAULT_POLICIES)
        whole_problem, periods = read_problem_option(problem, conventions), read_at_option(at)
        grid = parse_grid(vary or [])
        cells = plan_cells(whole_problem, chosen, grid, runs, seed, periods, conventions)
        with progress_bar("sweeping", sum(cell.runs for cell in cells)) as done:
            swept = run_sweep(cells, out, engine=engine, progress=done)
    if swept.skipped:
        print(f"{swept.skipped} of {len(cells)} cells were in {out} already and were skipped.", file=sys.stderr)
    for name, gap in swept.not_reusable.items():
        print(f"The cells of {name} are played every time: {gap}.", file=sys.stderr)
    if json:
        print_json({"out": str(out), "skipped": swept.skipped, "cells": swept.records})
        return
    headings, rows = swept.table()
    last = "period " + ", ".join(str(period) for period in sorted({cell.at[-1] for cell in cells}))
    print_table(
        f"{len(cells)} cells, {runs} runs each, in {out}.\nRegret after {last}, mean ± SD over runs:",
        headings,
        rows,
    )
    if "captured" in headings:
        print(
            "Net: expected output of those present, less fees. Captured: share of the oracle's gain over keep-team. "
            "Both are mean ± SE, where people or days change."
        )


def parse_grid(texts: list[str]) -> dict[str, list[Any]]:
    """Parse texts of the form `name=value,value,…`; values are TOML, and quotes around strings are optional.

    >>> parse_grid(["cost=3,7.5", "delay.law=none", "ramp.depth=[0.1,0.3],{mean=0.3,sd=0.1}"])
    {'cost': [3, 7.5], 'delay.law': ['none'], 'ramp.depth': [[0.1, 0.3], {'mean': 0.3, 'sd': 0.1}]}
    """
    from crewlearn.problem.errors import InvalidInput

    grid: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        name = name.strip()
        if not equals or not name:
            raise InvalidInput("vary", text, "is written name=value,value,… such as cost=3,7,30")
        if name in grid:
            raise InvalidInput("vary", name, "is given twice; give all its values at once")
        grid[name] = [_value(name, part.strip()) for part in _split_values(values)]
    return grid


def _split_values(text: str) -> list[str]:
    """Split at commas outside brackets and quotes."""
    parts, depth = [""], 0
    for piece in _PIECE.findall(text):
        depth += (piece in "[{") - (piece in "]}")
        if piece == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _value(name: str, text: str) -> Any:
    from crewlearn.problem.errors import InvalidInput

    try:
        table = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        table = {"value": text} if _WORD.fullmatch(text) else {}
    if table.keys() != {"value"}:
        raise InvalidInput(f"vary {name}", text, "must be a number, true or false, a word, a [list] or a {table}")
    return table["value"]
