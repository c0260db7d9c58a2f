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
from crewlearn.engine.compiled.forms import own_laws
from crewlearn.engine.local import Policies, checked_periods, checked_policies, checked_runs, load_loops
from crewlearn.engine.results import KEEP, ORACLE, Collector, PolicyResult, SimulationResult
from crewlearn.engine.scale_out.player import Player, choose_player
from crewlearn.engine.tuning import settled
from crewlearn.policies.contract import Policy
from crewlearn.policies.registry import make_policy, split_spec, with_parameters
from crewlearn.problem.errors import InvalidInput, unknown_name
from crewlearn.problem.instances import followed_conventions
from crewlearn.problem.laws import DELAY_LAWS, OUTPUT_LAWS
from crewlearn.problem.model import Pool, Problem
from crewlearn.problem.recipes import Recipe
from crewlearn.problem.toml import TABLES, problem_from_table, problem_to_table

Grid = Mapping[str, Sequence[Any]]
"""Values to try by name: a field of the problem file such as "delay.mean" or "ramp.depth", or "policy:parameter"."""

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

    def blocks(self, player: Player) -> list[Block]:
        """Split the cell's runs into blocks; `player` plays what it takes to tune a policy before."""
        policy = settled(self.policy, self.problem, self.seed, player)
        return blocks_of(self.problem, policy, self.runs, self.seed, self.at)

    @property
    def worlds(self) -> tuple[Problem, int, int, tuple[int, ...]]:
        """What the cell's worlds depend on, and when they are read."""
        return self.problem, self.runs, self.seed, self.at

    def ends(self) -> dict[str, "Cell"]:
        """Return the ends of the scale of `captured` in the cell's worlds; none where nothing changes."""
        names = (KEEP, ORACLE) if self.problem.changes else ()
        return {name: dataclasses.replace(self, policy=make_policy(name), policy_name=name) for name in names}

    def record(self, result: PolicyResult, ends: Mapping[str, PolicyResult]) -> Table:
        """Return the finished cell's record, one line of the result file; the key comes first.

        `ends` are the results of the ends of the scale. `not_reusable` is present if reruns must not skip the cell, and
        says why.
        """
        simulation = SimulationResult(
            self.problem, self.runs, self.seed, self.at, self.conventions, {self.policy_name: result}, ends=ends
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
    policies: Policies,
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

    All cells are played in one stream of blocks, which keeps threads, processes and clusters busy even if cells are
    small. `engine` and `threads` are as in `simulate`. Each cell is synced to disk before the next one finishes, so an
    interrupted sweep can be resumed by running it again. Cells whose code cannot be identified completely are always
    played. Where people or days change, keep-team and the oracle are played once for the cells of a problem, as
    `captured` needs them. `progress` is called with the number of runs just finished or skipped; theirs do not count.
    """
    path = Path(path)
    report = progress or (lambda runs: None)
    known = read_results(path)
    skipped = [cell for cell in cells if cell.identity.gap is None and cell.key in known]
    reused = {cell.key for cell in skipped}
    to_do = list({cell.key: cell for cell in cells if cell.key not in reused}.values())
    report(sum(cell.runs for cell in cells) - sum(cell.runs for cell in to_do))
    if to_do:
        groups = [_Group.of(list(cells)) for _, cells in itertools.groupby(to_do, key=lambda cell: cell.worlds)]
        to_play = [cell for group in groups for cell in group.to_play()]
        player = choose_player(engine, threads)
        with _open_results(path) as file:
            _load_all_loops(engine, to_play)
            with closing(player([block for cell in to_play for block in cell.blocks(player)], None)) as results:
                for group in groups:
                    for record in group.records(results, report):
                        known[record["key"]] = record
                        _append(file, record)
    gaps = {cell.policy.name: cell.identity.gap for cell in cells if cell.identity.gap is not None}
    return Sweep(tuple(known[cell.key] for cell in cells), len(skipped), gaps)


@dataclass(frozen=True)
class _Group:
    """Cells in the same worlds, and the ends of their scale, by name."""

    cells: list[Cell]
    ends: dict[str, Cell]

    @classmethod
    def of(cls, cells: list[Cell]) -> "_Group":
        return cls(cells, cells[0].ends())

    def to_play(self) -> list[Cell]:
        """Return what is to be played: the ends of the scale, then the cells that are not one of them."""
        return [*self.ends.values(), *(cell for cell in self.cells if self._end_of(cell) is None)]

    def records(self, results: Iterator[tuple[BlockResult, float]], report: Callable[[int], None]) -> Iterator[Table]:
        """Collect the group from the stream and yield the records of its cells."""
        ends = {name: _collect(end, results, lambda runs: report(0)) for name, end in self.ends.items()}
        for cell in self.cells:
            end = self._end_of(cell)
            result = _collect(cell, results, report) if end is None else ends[end]
            yield cell.record(result, ends)
            if end is not None:
                report(cell.runs)

    def _end_of(self, cell: Cell) -> str | None:
        """Return the name of the end of the scale that a cell is, if it is one."""
        return next((name for name, end in self.ends.items() if cell.policy == end.policy), None)


def _load_all_loops(engine: str, cells: Sequence[Cell]) -> None:
    """Load the loops of all cells; problems that change are played by other loops than those that do not."""
    for changes in (False, True):
        alike = [cell for cell in cells if cell.problem.changes == changes]
        if alike:
            load_loops(engine, alike[0].problem, [cell.policy for cell in alike], alike[0].seed)


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
    sections |= {section: _names(part) for section, part in TABLES.items()}
    dotted = [f"{section}.{name}" for section, names in sections.items() for name in dict.fromkeys(names)]
    return [*(name for name in _names(Problem) if name not in sections), *dotted]


def _changed(problem: Problem, changes: Table) -> Problem:
    """Return the problem with some fields changed; a new law keeps the old law's parameters that it shares.

    A table that may be left out can be changed as a whole, too. Laws of a user's own, which no table can hold, are
    changed as they are.
    """
    table = problem_to_table(problem)
    for section in TABLES:  # those at neutral values were left out, but their other fields count once they are not
        if section not in table and getattr(problem, section) is not None:
            table[section] = dataclasses.asdict(getattr(problem, section))
    own = {part: getattr(problem, part) for part in own_laws(problem) if not {part, f"{part}.law"} & set(changes)}
    known = [*problem_fields(), *TABLES, *(f"{part}.{name}" for part, law in own.items() for name in _names(type(law)))]
    for name in changes:
        if name not in known:
            raise unknown_name("vary", name, known)
    for section, laws in _LAWS.items():
        law = changes.get(f"{section}.law")
        for kind in laws:
            if kind.law == law:
                table[section] = {key: value for key, value in table[section].items() if key in _names(kind)}
    for name, value in sorted(changes.items(), key=lambda change: "." in change[0]):  # whole tables before fields
        section, _, key = name.rpartition(".")
        if not section:
            table[key] = value
        elif section not in own:
            table[section] = {**(table.get(section) or {}), key: value}
        elif key in _names(type(own[section])):
            own[section] = dataclasses.replace(own[section], **{key: value})
        else:
            raise unknown_name(f"vary {section}", key, _names(type(own[section])))
    built_in = {name: value for name, value in table.items() if name not in own}
    return dataclasses.replace(problem_from_table(built_in), **own)


def _policies_under(
    conventions: str,
    policies: Policies,
    grid: Grid,
    variants_under: dict[str, list[PolicyVariant]],
) -> list[PolicyVariant]:
    """Return the policies' variants under these conventions, cached in `variants_under`."""
    if conventions not in variants_under:
        variants_under[conventions] = list(_policy_variants(policies, grid, conventions))
    return variants_under[conventions]


def _policy_variants(policies: Policies, grid: Grid, conventions: str) -> Iterator[PolicyVariant]:
    """Yield every variant of every policy."""
    checked = checked_policies(policies, conventions)
    labelled = isinstance(policies, Mapping)
    given_policies = list(policies.values() if isinstance(policies, Mapping) else policies)
    heads = [
        label if labelled else split_spec(given)[0] if isinstance(given, str) else given.name
        for label, given in zip(checked, given_policies, strict=True)
    ]
    for name in grid:
        if name.rpartition(":")[0] not in heads:
            raise unknown_name(f"vary {name}: policy", name.rpartition(":")[0], dict.fromkeys(heads))
    for given, head, (label, policy) in zip(given_policies, heads, checked.items(), strict=True):
        own_grid = {name: values for name, values in grid.items() if name.rpartition(":")[0] == head}
        for varied in _combinations(own_grid):
            parameters = {name.rpartition(":")[2]: value for name, value in varied}
            if not parameters:
                yield label, policy, varied
            elif isinstance(given, str):
                spec = with_parameters(given, parameters)
                yield with_parameters(label, parameters) if labelled else spec, make_policy(spec, conventions), varied
            else:
                yield with_parameters(label, parameters), _replaced(given, parameters), varied


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
