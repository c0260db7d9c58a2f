"""The leaderboard: all policies on families of instances, the winners, and where DR-UCB is worse than keeping the team.

Where nobody changes, policies are ranked by regret; on floors by net.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from crewlearn.engine.local import Policies, Simulation, checked_policies, prepare
from crewlearn.engine.results import Share, Summary, paired_difference
from crewlearn.policies.contract import Policy
from crewlearn.policies.registry import REGISTRY
from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.instances import check_conventions
from crewlearn.problem.model import Problem
from crewlearn.study.families import families_of
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
    floor: "FloorScore | None" = None
    """The score on a floor; None where nobody changes."""
    oracle: bool = False
    """Whether the policy uses hidden facts, so that it does not compete."""

    def to_json(self) -> dict[str, Any]:
        """Return the score as plain data; a floor's has more keys."""
        return {
            "regret": vars(self.regret),
            "relative": self.relative,
            "over_min_of_dr_ucb_and_keep_team": self.over_best_rival,
            **({} if self.floor is None else self.floor.to_json()),
        }


@dataclass(frozen=True)
class FloorScore:
    """A policy's net on a floor, and its place between keep-team and the oracle.

    `captured` is None where the oracle gains nothing. `worse` is the share of worlds with less net than keep-team.
    """

    net: Summary
    captured: Share | None
    worse: float

    def to_json(self) -> dict[str, Any]:
        """Return the score as plain data."""
        return {
            "net": vars(self.net),
            "captured": None if self.captured is None else vars(self.captured),
            "worse_than_keep_team": self.worse,
        }


@dataclass(frozen=True)
class SettingStandings:
    """The policies' scores in a setting of a family, in the same worlds."""

    family: str
    setting: str
    entries: Mapping[str, PolicyScore]
    against_keeping: Summary
    """DR-UCB's regret less that of keeping the team, world by world; on a floor, keep-team's net less DR-UCB's."""
    level_with_winner: tuple[str, ...]
    """Policies within 2 standard errors of the winner."""

    winner: str
    """The policy with the lowest mean regret, or on a floor the highest mean net; oracles do not compete."""

    @property
    def is_floor(self) -> bool:
        """Whether people or days change."""
        return self.entries[KEEP].floor is not None

    @property
    def dr_ucb_harms(self) -> bool:
        """Whether DR-UCB is worse than keeping the team by more than 2 standard errors."""
        return self.against_keeping.mean > 2.0 * self.against_keeping.stderr

    def by_net(self) -> list[str]:
        """Return the policies on a floor, the highest mean net first."""
        nets = {name: entry.floor.net.mean for name, entry in self.entries.items() if entry.floor is not None}
        return sorted(nets, key=lambda name: -nets[name])

    def to_json(self) -> dict[str, Any]:
        """Return the standings as plain data."""
        return {
            "family": self.family,
            "setting": self.setting,
            "winner": self.winner,
            "level_with_winner": list(self.level_with_winner),
            "dr_ucb_worse_than_keep_team": self.dr_ucb_harms,
            "dr_ucb_less_keep_team": {"mean": self.against_keeping.mean, "stderr": self.against_keeping.stderr},
            "policies": {name: entry.to_json() for name, entry in self.entries.items()},
        }


@dataclass(frozen=True)
class Leaderboard:
    """The standings in every setting, with the runs, seed and conventions behind them; `leaderboard` makes one."""

    runs: int
    seed: int
    conventions: str
    standings: tuple[SettingStandings, ...]

    @property
    def floors(self) -> tuple[SettingStandings, ...]:
        """The standings on floors."""
        return tuple(standing for standing in self.standings if standing.is_floor)

    def shares_captured(self, name: str) -> list[float]:
        """Return the shares that a policy captures on the floors where there is something to capture."""
        scores = [standing.entries[name].floor for standing in self.floors]
        return [score.captured.mean for score in scores if score is not None and score.captured is not None]

    def captured(self, name: str) -> float | None:
        """Return the mean of the shares that a policy captures, None if there are none."""
        shares = self.shares_captured(name)
        return math.fsum(shares) / len(shares) if shares else None

    def by_captured(self) -> list[str]:
        """Return the names of the policies, the largest mean share captured first."""
        shares = {name: self.captured(name) for name in self.standings[0].entries}
        return sorted(shares, key=lambda name: math.inf if (share := shares[name]) is None else -share)

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

    def is_oracle(self, name: str) -> bool:
        """Return whether a policy uses hidden facts, so that it does not compete."""
        return self.standings[0].entries[name].oracle

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


def leaderboard(
    policies: Policies | None = None,
    families: Sequence[str] | None = None,
    runs: int = 250,
    seed: int = 1,
    conventions: str = "as-written",
    *,
    fresh: bool = False,
    tell: Callable[[str], None] = lambda what: None,
) -> Leaderboard:
    """Play policies on families of instances and score them from the oracle (0) to keep-team (100).

    Policies are given as to `simulate`, by default all that come with crewlearn; DR-UCB, keep-team and the oracle are
    always played. Results of the package's own policies are kept on disk and reused, unless `fresh`. `tell` is called
    with what is about to be played.

    >>> from crewlearn import ValueOfReplacement
    >>> board = leaderboard({"mine": ValueOfReplacement()}, ["bernoulli"], runs=2)
    >>> board.standings[0].family, list(board.standings[0].entries)
    ('bernoulli', ['mine', 'dr-ucb', 'keep-team', 'oracle'])
    """
    planned = planned_settings(
        chosen_settings(families), chosen_policies(policies, conventions), runs, seed, conventions
    )
    return Leaderboard(runs, seed, conventions, tuple(standings_of(planned, ResultCache(fresh), tell)))


def chosen_policies(policies: Policies | None = None, conventions: str = "as-written") -> dict[str, Policy[Any]]:
    """Return the policies to play, by label: all, or those given plus the ones that are always played."""
    always = checked_policies([PAPERS, KEEP, ORACLE], check_conventions(conventions))
    if not policies:
        return {**checked_policies(list(REGISTRY), conventions), **always}
    given = checked_policies(policies, conventions)
    for label, policy in always.items():
        if given.get(label, policy) != policy:
            remedy = "is a label of the leaderboard's own; give your policy another, as in {'mine': policy}"
            raise InvalidInput("policies", label, remedy)
    return {**given, **always}


def chosen_settings(families: Sequence[str] | None) -> list[tuple[str, str, Problem]]:
    """Return the settings of the named families or groups, by default of the stationary families."""
    return [
        (family.name, label, problem) for family in families_of(families or ()) for label, problem in family.settings
    ]


def planned_settings(
    settings: Sequence[tuple[str, str, Problem]], policies: Policies, runs: int, seed: int, conventions: str
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
        regret = {name: ours.regret[:, -1] for name, ours in result.policies.items()}
        net = {name: ours.net[:, -1] for name, ours in result.policies.items()}
        oracles = {name for name, ours in result.policies.items() if ours.policy.oracle}
        yield standing(family, label, regret, net if simulation.problem.changes else None, oracles)


def standing(
    family: str,
    label: str,
    regret: Mapping[str, FloatArray],
    net: Mapping[str, FloatArray] | None = None,
    oracles: Collection[str] = (ORACLE,),
) -> SettingStandings:
    """Score the policies by their regret in the same worlds, and on a floor by their `net`; oracles do not compete."""
    best, worst = float(regret[ORACLE].mean()), float(regret[KEEP].mean())
    rival = min(float(regret[PAPERS].mean()), worst)
    entries = {}
    for name, values in regret.items():
        mean = float(values.mean())
        entries[name] = PolicyScore(
            Summary.of(values),
            100.0 * (mean - best) / (worst - best) if worst - best > 1e-9 else None,
            mean / rival if rival > 0.0 else None,
            None if net is None else floor_score(name, net),
            name in oracles,
        )
    loss = regret if net is None else {name: -values for name, values in net.items()}
    playing = [name for name in regret if name not in oracles]
    winner = min(playing, key=lambda name: float(loss[name].mean()))
    behind = {name: paired_difference(loss[name], loss[winner]) for name in playing if name != winner}
    level = tuple(name for name, difference in behind.items() if difference.mean <= 2.0 * difference.stderr)
    return SettingStandings(family, label, entries, paired_difference(loss[PAPERS], loss[KEEP]), level, winner)


def floor_score(name: str, net: Mapping[str, FloatArray]) -> FloorScore:
    """Score a policy by its net in the same worlds as keep-team and the oracle."""
    own, keep = net[name], net[KEEP]
    return FloorScore(Summary.of(own), Share.of(own - keep, net[ORACLE] - keep), float((own < keep).mean()))


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
