"""The cells of a sweep: every variant of a problem with every variant of each policy, over a grid of values."""

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from crewlearn.engine.blocks import Block, blocks_of
from crewlearn.engine.caching.identity import ResultIdentity, result_identity
from crewlearn.engine.compiled.forms import own_laws
from crewlearn.engine.local import Policies, checked_periods, checked_policies, checked_runs
from crewlearn.engine.results import KEEP, ORACLE, PolicyResult, SimulationResult
from crewlearn.engine.scale_out.player import Player
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

Record = dict[str, Any]
"""A finished cell as plain data: a line of the result file."""

PolicyVariant = tuple[str, Policy[Any], tuple[tuple[str, Any], ...]]
"""A policy's name, the policy, and its grid values."""

_LAWS: Mapping[str, Sequence[type[Any]]] = {"output": OUTPUT_LAWS, "delay": DELAY_LAWS}


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

    def result(self, played: PolicyResult, ends: Mapping[str, PolicyResult]) -> SimulationResult:
        """Return the finished cell's result; `ends` are those of the ends of the scale."""
        return SimulationResult(
            self.problem, self.runs, self.seed, self.at, self.conventions, {self.policy_name: played}, ends=ends
        )

    def record(self, result: SimulationResult) -> Record:
        """Return the finished cell's record; the key comes first.

        `not_reusable` is present if reruns must not skip the cell, and says why.
        """
        document = result.to_json()
        summaries = document.pop("policies")[self.policy_name]
        head = {"key": self.key, "varied": dict(self.varied), "policy": self.policy_name}
        if self.identity.gap is not None:
            head["not_reusable"] = self.identity.gap
        return {**head, "parameters": asdict(self.policy), **document, "at": list(self.at), **summaries}


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


def _changed(problem: Problem, changes: Mapping[str, Any]) -> Problem:
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


def _replaced(policy: Policy[Any], parameters: Mapping[str, Any]) -> Policy[Any]:
    for name in parameters:
        if name not in _names(type(policy)):
            raise unknown_name(f"policy {policy.name} parameter", name, _names(type(policy)))
    return dataclasses.replace(policy, **parameters)


def _combinations(grid: Grid) -> list[tuple[tuple[str, Any], ...]]:
    return [tuple(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def _names(part: type[Any]) -> list[str]:
    return [field.name for field in dataclasses.fields(part)]
