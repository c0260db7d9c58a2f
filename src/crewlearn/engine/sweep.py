"""Sweeps over a grid of problem fields and policy parameters; finished cells are appended to a file.

A rerun skips the cells already in the file. A cell whose code cannot be identified completely is played every time.
"""

import dataclasses
import itertools
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from crewlearn.engine.blocks import Block, BlockResult, blocks_of
from crewlearn.engine.caching.identity import ResultIdentity, result_identity
from crewlearn.engine.local import checked_periods, checked_policies, checked_runs, choose_player, compile_first
from crewlearn.engine.results import Collector, PolicyResult, SimulationResult
from crewlearn.policies.contract import Policy
from crewlearn.policies.registry import REGISTRY, make_policy
from crewlearn.problem.errors import InvalidInput, unknown_name
from crewlearn.problem.instances import followed_conventions
from crewlearn.problem.laws import DELAY_LAWS, OUTPUT_LAWS
from crewlearn.problem.model import Pool, Problem
from crewlearn.problem.recipes import Recipe
from crewlearn.problem.toml import problem_from_table, problem_to_table

Grid = Mapping[str, Sequence[Any]]
"""Values to try by name: a field of the problem file such as "delay.mean", or "policy:parameter"."""

Table = dict[str, Any]

PolicyVariant = tuple[str, Policy[Any], tuple[tuple[str, Any], ...]]
"""A policy's name, the policy, and its grid values."""

_LAWS: Mapping[str, Sequence[type[Any]]] = {"output": OUTPUT_LAWS, "delay": DELAY_LAWS}
_LINE_START = b'{"key": "'


@dataclass(frozen=True)
class Cell:
    """One policy in one problem; `policy_name` is the policy as requested, `varied` the cell's grid values."""

    problem: Problem
    policy: Policy[Any]
    policy_name: str
    varied: tuple[tuple[str, Any], ...]
    runs: int
    seed: int
    at: tuple[int, ...]
    conventions: str

    @cached_property
    def identity(self) -> ResultIdentity:
        """The cell's key, and the reason why its numbers must not be reused, if any."""
        return result_identity(self.problem, self.policy, self.runs, self.seed, self.at, self.conventions)

    @property
    def key(self) -> str:
        """A hash of everything that the cell's numbers depend on."""
        return self.identity.key

    def blocks(self) -> list[Block]:
        """Split the cell's runs into blocks."""
        return blocks_of(self.problem, self.policy, self.runs, self.seed, self.at)

    def record(self, result: PolicyResult) -> Table:
        """Return the finished cell's record, one line of the result file; the key comes first.

        `not_reusable` is present if reruns must not skip the cell, and says why.
        """
        simulation = SimulationResult(
            self.problem, self.runs, self.seed, self.at, self.conventions, {self.policy_name: result}
        )
        document = simulation.to_json()
        summaries = document.pop("policies")[self.policy_name]
        head = {"key": self.key, "varied": dict(self.varied), "policy": self.policy_name}
        if self.identity.gap is not None:
            head["not_reusable"] = self.identity.gap
        return {**head, "parameters": asdict(self.policy), **document, "at": list(self.at), **summaries}


@dataclass(frozen=True)
class Sweep:
    """The records of all cells in planned order, and how many were skipped because the file had them.

    `not_reusable` maps a policy to the reason why its cells are played every time.
    """

    records: tuple[Table, ...]
    skipped: int
    not_reusable: Mapping[str, str] = field(default_factory=dict)


def plan_cells(
    problem: Problem,
    policies: Sequence[str | Policy[Any]],
    grid: Grid,
    runs: int = 100,
    seed: int = 1,
    at: Sequence[int] | None = None,
    conventions: str | None = None,
) -> list[Cell]:
    """Return a checked cell for every variant of the problem with every variant of each policy.

    A policy's parameter varies that policy alone. Policies given by name follow the conventions of each variant of the
    problem, unless `conventions` says otherwise.

    >>> from crewlearn.problem.instances import benchmark
    >>> cells = plan_cells(benchmark(), ["dr-ucb", "keep-team"], {"cost": [3, 7], "dr-ucb:gamma": [5, 10]})
    >>> [(cell.problem.cost, cell.policy_name) for cell in cells[:3]]
    [(3, 'dr-ucb:gamma=5'), (3, 'dr-ucb:gamma=10'), (3, 'keep-team')]
    """
    for name, values in grid.items():
        if not values:
            raise InvalidInput(f"vary {name}", list(values), "give at least one value")
    of_problem = {name: values for name, values in grid.items() if ":" not in name}
    of_policies = {name: values for name, values in grid.items() if ":" in name}
    variants_under: dict[str, list[PolicyVariant]] = {}
    _policies_under(followed_conventions(problem, conventions), policies, of_policies, variants_under)
    runs, seed = checked_runs(runs, seed)
    cells = []
    for changes in _combinations(of_problem):
        variant = _changed(problem, dict(changes))
        periods = checked_periods(variant, at)
        followed = followed_conventions(variant, conventions)
        for name, policy, parameters in _policies_under(followed, policies, of_policies, variants_under):
            varied = (*changes, *parameters)
            cells.append(Cell(variant, policy, name, varied, runs, seed, periods, followed))
    return cells


def run_sweep(
    cells: Sequence[Cell],
    path: Path | str,
    *,
    engine: str = "local",
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Sweep:
    """Play the cells that the file does not have, appending each to it as soon as it is finished.

    All cells are played in one stream of blocks, which keeps threads and clusters busy even if cells are small. Each
    cell is synced to disk before the next one finishes, so an interrupted sweep can be resumed by running it again.
    Cells whose code cannot be identified completely are always played. `progress` is called with the number of runs
    just finished or skipped.
    """
    path = Path(path)
    report = progress or (lambda runs: None)
    known = read_results(path)
    skipped = [cell for cell in cells if cell.identity.gap is None and cell.key in known]
    reused = {cell.key for cell in skipped}
    to_do = list({cell.key: cell for cell in cells if cell.key not in reused}.values())
    report(sum(cell.runs for cell in cells) - sum(cell.runs for cell in to_do))
    if to_do:
        policies = [cell.policy for cell in to_do]
        player = choose_player(engine, threads)
        with _open_results(path) as file:
            if engine == "local":
                compile_first(to_do[0].problem, policies, to_do[0].seed)
            with closing(player([block for cell in to_do for block in cell.blocks()], None)) as results:
                for cell in to_do:
                    known[cell.key] = cell.record(_collect(cell, results, report))
                    _append(file, known[cell.key])
    gaps = {cell.policy.name: cell.identity.gap for cell in cells if cell.identity.gap is not None}
    return Sweep(tuple(known[cell.key] for cell in cells), len(skipped), gaps)


def read_results(path: Path) -> dict[str, Table]:
    """Return the finished cells by key, and repair the torn last line that a killed process may have left.

    Any other line that is not a finished cell raises an error and leaves the file unchanged: it is not a result file.
    """
    try:
        data = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise _unusable(path, error) from error
    *lines, rest = data.split(b"\n")
    records = {}
    for number, line in enumerate(lines, start=1):
        record = _record_of(line)
        if record is None:
            raise InvalidInput("out", str(path), f"line {number} is not a sweep result; give another file")
        records[record["key"]] = record
    if rest:
        record = _record_of(rest)
        if record is None and not (rest.startswith(_LINE_START) or _LINE_START.startswith(rest)):
            raise InvalidInput("out", str(path), "the last line is not a sweep result; give another file")
        with _open_results(path) as file:
            if record is None:
                file.truncate(len(data) - len(rest))
            else:  # complete except for the line end
                records[record["key"]] = record
                file.write(b"\n")
    return records


def problem_fields() -> list[str]:
    """Return the dotted names of all fields of a problem file.

    >>> problem_fields()[:3]
    ['team', 'horizon', 'cost']
    """
    sections: dict[str, list[str]] = {"workers": [*_names(Pool), *_names(Recipe)]}
    for section, laws in _LAWS.items():
        sections[section] = ["law", *(name for law in laws for name in _names(law))]
    dotted = [f"{section}.{name}" for section, names in sections.items() for name in dict.fromkeys(names)]
    return [*(name for name in _names(Problem) if name not in sections), *dotted]


def _changed(problem: Problem, changes: Table) -> Problem:
    """Return the problem with some fields changed; a new law keeps the old law's parameters that it shares."""
    table = problem_to_table(problem)
    known = problem_fields()
    for name in changes:
        if name not in known:
            raise unknown_name("vary", name, known)
    for section, laws in _LAWS.items():
        law = changes.get(f"{section}.law")
        for kind in laws:
            if kind.law == law:
                table[section] = {key: value for key, value in table[section].items() if key in _names(kind)}
    for name, value in changes.items():
        section, _, key = name.rpartition(".")
        (table[section] if section else table)[key] = value
    return problem_from_table(table)


def _policies_under(
    conventions: str,
    policies: Sequence[str | Policy[Any]],
    grid: Grid,
    variants_under: dict[str, list[PolicyVariant]],
) -> list[PolicyVariant]:
    """Return the policies' variants under these conventions, cached in `variants_under`."""
    if conventions not in variants_under:
        variants_under[conventions] = list(_policy_variants(policies, grid, conventions))
    return variants_under[conventions]


def _policy_variants(policies: Sequence[str | Policy[Any]], grid: Grid, conventions: str) -> Iterator[PolicyVariant]:
    """Yield every variant of every policy."""
    checked = checked_policies(policies, conventions)
    heads = [_split(given)[0] if isinstance(given, str) else given.name for given in policies]
    for name in grid:
        if name.rpartition(":")[0] not in heads:
            raise unknown_name(f"vary {name}: policy", name.rpartition(":")[0], dict.fromkeys(heads))
    for given, head, (label, policy) in zip(policies, heads, checked.items(), strict=True):
        own_grid = {name: values for name, values in grid.items() if name.rpartition(":")[0] == head}
        for varied in _combinations(own_grid):
            parameters = {name.rpartition(":")[2]: value for name, value in varied}
            if not parameters:
                yield label, policy, varied
            elif isinstance(given, str):
                spec = _with_parameters(given, parameters)
                yield spec, make_policy(spec, conventions), varied
            else:
                yield _with_parameters(given.name, parameters), _replaced(given, parameters), varied


def _split(spec: str) -> tuple[str, str]:
    """Split a policy's specification into its name (or module:Class) and its parameters."""
    name, _, rest = spec.partition(":")
    if name in REGISTRY:
        return name, rest
    class_name, _, rest = rest.partition(":")
    return f"{name}:{class_name}", rest


def _with_parameters(spec: str, parameters: Table) -> str:
    """Return the policy's specification with some parameters replaced.

    >>> _with_parameters("dr-ucb:gamma=20,radius=log-t", {"gamma": 5})
    'dr-ucb:radius=log-t,gamma=5'
    """
    name, rest = _split(spec) if ":" in spec else (spec, "")
    kept = [item for item in rest.split(",") if item and item.partition("=")[0].strip() not in parameters]
    return f"{name}:{','.join([*kept, *(f'{key}={_text(value)}' for key, value in parameters.items())])}"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)


def _replaced(policy: Policy[Any], parameters: Table) -> Policy[Any]:
    for name in parameters:
        if name not in _names(type(policy)):
            raise unknown_name(f"policy {policy.name} parameter", name, _names(type(policy)))
    return dataclasses.replace(policy, **parameters)


def _combinations(grid: Grid) -> list[tuple[tuple[str, Any], ...]]:
    return [tuple(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def _names(part: type[Any]) -> list[str]:
    return [field.name for field in dataclasses.fields(part)]


def _collect(cell: Cell, results: Iterator[tuple[BlockResult, float]], report: Callable[[int], None]) -> PolicyResult:
    """Collect a cell's blocks from the stream."""
    collector = Collector(cell.policy, cell.runs, cell.at, cell.problem.horizon)
    while collector.taken < cell.runs:
        result, seconds = next(results)
        collector.add(result, seconds)
        report(len(result.regret))
    return collector.result()


def _open_results(path: Path) -> Any:
    try:
        return path.open("ab", buffering=0)
    except OSError as error:
        raise _unusable(path, error) from error


def _unusable(path: Path, error: OSError) -> InvalidInput:
    remedy = f"cannot be written ({error.strerror}); give the path of a file in a folder that exists"
    return InvalidInput("out", str(path), remedy)


def _append(file: Any, record: Table) -> None:
    """Append a line in one write and sync it to disk."""
    line = json.dumps(record).encode() + b"\n"
    if file.write(line) != len(line):
        raise OSError(f"{file.name}: a line was written only in part; free some disk space and run again")
    os.fsync(file.fileno())


def _record_of(line: bytes) -> Table | None:
    """Return the record on a line of the result file, or None if the line is not a record."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and isinstance(record.get("key"), str) else None
