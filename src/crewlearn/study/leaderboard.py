"""The leaderboard: all policies on all families, the winners, and where DR-UCB is worse than keeping the team."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from crewlearn.engine.local import Simulation, prepare
from crewlearn.engine.results import Summary
from crewlearn.policies.registry import REGISTRY, make_policy
from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.errors import unknown_name
from crewlearn.problem.model import Problem
from crewlearn.study.families import FAMILIES, settings_of
from crewlearn.study.paired import paired_difference
from crewlearn.study.result_cache import ResultCache

ORACLE, KEEP, PAPERS = "oracle", "keep-team", "dr-ucb"
"""The two ends of the scale and the paper's policy, which are always played."""


class PlannedSetting(NamedTuple):
    """A setting of a family, and the simulation of the policies in it."""

    family: str
    label: str
    simulation: Simulation


@dataclass(frozen=True)
class PolicyScore:
    """A policy's regret in a setting.

    `relative` is the position in percent between the oracle (0) and keep-team (100); None if those two are equal.
    """

    regret: Summary
    relative: float | None
    over_best_rival: float | None
    """Mean regret divided by the smaller of DR-UCB's and keep-team's; None if that is 0."""


@dataclass(frozen=True)
class SettingStandings:
    """The policies' scores in a setting of a family, in the same worlds."""

    family: str
    setting: str
    entries: Mapping[str, PolicyScore]
    against_keeping: Summary
    """DR-UCB's regret less that of keeping the team, world by world."""
    level_with_winner: tuple[str, ...]
    """Policies within 2 standard errors of the winner."""

    winner: str
    """The policy with the lowest mean regret, oracles excluded."""

    @property
    def dr_ucb_harms(self) -> bool:
        """Whether DR-UCB is worse than keeping the team by more than 2 standard errors."""
        return self.against_keeping.mean > 2.0 * self.against_keeping.stderr

    def to_json(self) -> dict[str, Any]:
        """Return the standings as plain data."""
        return {
            "family": self.family,
            "setting": self.setting,
            "winner": self.winner,
            "level_with_winner": list(self.level_with_winner),
            "dr_ucb_worse_than_keep_team": self.dr_ucb_harms,
            "dr_ucb_less_keep_team": {"mean": self.against_keeping.mean, "stderr": self.against_keeping.stderr},
            "policies": {
                name: {
                    "regret": vars(entry.regret),
                    "relative": entry.relative,
                    "over_min_of_dr_ucb_and_keep_team": entry.over_best_rival,
                }
                for name, entry in self.entries.items()
            },
        }


@dataclass(frozen=True)
class Leaderboard:
    """The standings in every setting, with the runs, seed and conventions behind them."""

    runs: int
    seed: int
    conventions: str
    standings: tuple[SettingStandings, ...]

    def policies(self) -> list[str]:
        """Return the names of the policies, best score first."""
        summary = self.summary()
        return sorted(summary, key=lambda name: math.inf if (score := summary[name]) is None else score)

    def family_places(self, name: str) -> dict[str, float | None]:
        """Return a policy's mean position between oracle (0) and keep-team (100) in each family."""
        places: dict[str, list[float]] = {}
        for standing in self.standings:
            relative = standing.entries[name].relative
            places.setdefault(standing.family, []).extend([] if relative is None else [relative])
        return {family: math.fsum(known) / len(known) if known else None for family, known in places.items()}

    def summary(self) -> dict[str, float | None]:
        """Return each policy's score: the geometric mean over all settings of `over_best_rival`."""
        names = self.standings[0].entries
        ratios = {name: [standing.entries[name].over_best_rival for standing in self.standings] for name in names}
        return {name: _geometric_mean(values) for name, values in ratios.items()}

    def wins(self) -> dict[str, int]:
        """Return the number of settings that each policy wins."""
        winners = [standing.winner for standing in self.standings]
        return {name: winners.count(name) for name in self.standings[0].entries}

    def to_json(self) -> dict[str, Any]:
        """Return the leaderboard as plain data."""
        return {
            "runs": self.runs,
            "seed": self.seed,
            "conventions": self.conventions,
            "summary": self.summary(),
            "wins": self.wins(),
            "dr_ucb_worse_than_keep_team": [
                {"family": standing.family, "setting": standing.setting}
                for standing in self.standings
                if standing.dr_ucb_harms
            ],
            "settings": [standing.to_json() for standing in self.standings],
        }


def knows_hidden(name: str) -> bool:
    """Return whether a policy is an oracle, which uses hidden facts."""
    return make_policy(name).oracle


def chosen_policies(policies: Sequence[str] | None) -> list[str]:
    """Return the policies to play: all, or those named plus the ones that are always played."""
    return list(dict.fromkeys([*(policies or REGISTRY), PAPERS, KEEP, ORACLE]))


def chosen_settings(families: Sequence[str] | None) -> list[tuple[str, str, Problem]]:
    """Return the settings of the named families, by default of all."""
    for name in families or ():
        if name not in FAMILIES:
            raise unknown_name("family", name, FAMILIES)
    names = list(dict.fromkeys(families or FAMILIES))
    return [(name, label, problem) for name in names for label, problem in settings_of(FAMILIES[name])]


def planned_settings(
    settings: Sequence[tuple[str, str, Problem]], policies: Sequence[str], runs: int, seed: int, conventions: str
) -> list[PlannedSetting]:
    """Return the simulation of the policies in each setting, checked once for all of them."""
    simulation = prepare(settings[0][2], policies, runs, seed, None, conventions)
    return [PlannedSetting(family, label, simulation.in_problem(problem)) for family, label, problem in settings]


def standings_of(
    planned: Sequence[PlannedSetting], kept: ResultCache, tell: Callable[[str], None] = lambda what: None
) -> Iterator[SettingStandings]:
    """Play the policies in each setting, one standing after the other."""
    for family, label, simulation in planned:

        def tell_where(name: str, where: str = f"{family}, {label}") -> None:
            tell(f"{where}: {name}")

        result = kept.run(simulation, tell_where)
        yield standing(family, label, {name: ours.regret[:, -1] for name, ours in result.policies.items()})


def standing(family: str, label: str, regret: Mapping[str, FloatArray]) -> SettingStandings:
    """Score the policies by their regret in the same worlds."""
    best, worst = float(regret[ORACLE].mean()), float(regret[KEEP].mean())
    rival = min(float(regret[PAPERS].mean()), worst)
    entries = {}
    for name, values in regret.items():
        mean = float(values.mean())
        entries[name] = PolicyScore(
            Summary.of(values),
            100.0 * (mean - best) / (worst - best) if worst - best > 1e-9 else None,
            mean / rival if rival > 0.0 else None,
        )
    playing = [name for name in regret if not knows_hidden(name)]
    winner = min(playing, key=lambda name: entries[name].regret.mean)
    behind = {name: paired_difference(regret[name], regret[winner]) for name in playing if name != winner}
    level = tuple(name for name, difference in behind.items() if difference.mean <= 2.0 * difference.stderr)
    return SettingStandings(family, label, entries, paired_difference(regret[PAPERS], regret[KEEP]), level, winner)


def _geometric_mean(values: Sequence[float | None]) -> float | None:
    """Return the geometric mean of the values that are not None; 0 if any is 0, None if there are none.

    >>> round(_geometric_mean([1.0, None, 4.0]), 12)
    2.0
    """
    known = [value for value in values if value is not None]
    if not known:
        return None
    if any(value <= 0.0 for value in known):
        return 0.0
    return math.exp(math.fsum(math.log(value) for value in known) / len(known))
