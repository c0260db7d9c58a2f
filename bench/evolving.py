"""Benchmark of value-of-replacement-evolving: what it captures on floors, and what it costs where nothing changes.

Parts can be named: `floors` (captured, worlds worse than keep-team), `harm` (wrong replacements, good newcomers let go,
coverage of intervals, when a decliner leaves), `stationary` (regret beside the stationary rule), `stars`, `drift` and
`speed` (of a run, and of days at live sites). Limits marked as targets in docs/evidence/evolving.md that
are out of reach are reported there, not here.
"""

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from crewlearn.beliefs.evolving.model import DAY_MEAN, Evolving, variance_now
from crewlearn.beliefs.posterior import TWO_SIDED_95
from crewlearn.engine.blocks import Block, play_block
from crewlearn.engine.compiled.loops import compiled_rule
from crewlearn.engine.course import Arrivals, Course
from crewlearn.engine.local import simulate
from crewlearn.engine.streams import policy_key, seed_root
from crewlearn.engine.world import World
from crewlearn.policies.contract import Pair, Report
from crewlearn.policies.evolving.policy import ValueOfReplacementEvolving
from crewlearn.policies.rule import Happened, facts_of, happened_in
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.chance import normal
from crewlearn.problem.instances import benchmark
from crewlearn.problem.laws import AvailabilityDelay, TruncatedNormalOutput, UniformOutput
from crewlearn.problem.model import Pool, Problem
from crewlearn.problem.people import Drift, LevelPath
from crewlearn.problem.recipes import Recipe
from crewlearn.study.families import FAMILIES
from limits import Results, part_options, report
from live_days import live_days

OURS, STATIONARY, RIVAL = "value-of-replacement-evolving", "value-of-replacement", "dr-ucb"
FLOORS = [name for name in FAMILIES if name.startswith("floor")]
AHEAD = 120
"""Periods over which a replacement is judged."""


def floors(runs: int, seed: int) -> Results:
    """Return the share captured of the oracle's gain, and the share of worlds worse than keep-team, by floor."""
    results: Results = {}
    for name in FLOORS:
        problem = FAMILIES[name].problem()
        played = simulate(problem, [OURS], runs=runs, seed=seed)
        captured = played.captured(OURS, at=problem.horizon)
        assert captured is not None
        results[name] = {
            "captured": captured.mean,
            "stderr": captured.stderr,
            "worse": played.worse_than_keep_team(OURS, at=problem.horizon),
            "replacements": float(played.policies[OURS].replacements.mean()),
        }
    return results


class Decision(NamedTuple):
    """A replacement decided on, and its expected net gain by the true levels, ramps and declines."""

    period: int
    out: int
    into: int
    gain: float


class Story(NamedTuple):
    """What happened in a world: decisions, whether intervals covered, and good newcomers let go."""

    decisions: list[Decision]
    covered: list[bool]
    covered_absolutely: list[bool]
    good_let_go: int


def told_by_world(problem: Problem, seed: int, run: int, rule: dict[str, Callable[..., Any]]) -> Story:
    """Play a world with compiled rule functions, and judge every decision by the truth."""
    policy, course = ValueOfReplacementEvolving(), Course(World(problem, seed, run))
    parameters = policy.parameters(problem.setting)
    memory = rule["fresh"](parameters, facts_of(policy, course.situation()), policy_key(seed_root(seed), run))
    learned: Evolving = memory.learned
    outs, ins = np.zeros(problem.team, dtype=np.int64), np.zeros(problem.team, dtype=np.int64)
    story = Story([], [], [], 0)
    good = 0
    begun: dict[int, int] = {}
    for _ in range(problem.horizon):
        quit = course.begin().quit
        arrivals, pairs = Arrivals(), list[Pair]()
        if course.t >= 1:
            facts = facts_of(policy, course.situation())
            n = rule["decide"](parameters, memory, course.t, facts, outs, ins)
            pairs = list(zip(outs[:n].tolist(), ins[:n].tolist(), strict=True))
            if course.t % 20 == 0:
                _cover(course, learned, story)
            story.decisions.extend(_judged(course, learned, out, into) for out, into in pairs if out != NOBODY)
            course.request(pairs)
            arrivals = course.arrive(lambda into: NOBODY)
            level = course.floor.levels[:, course.period - 1]
            for out, into in arrivals.completed:
                if out in begun and course.floor.experience[out] - begun[out] <= 15 and level[out] > level[into]:
                    good += 1
                begun[into] = int(course.floor.experience[into])
        work = course.work()
        happened = happened_in(Report(course.t, work.output, arrivals.completed, arrivals.failed, quit))
        rule["observe"](parameters, memory, _contiguous(happened))
    return story._replace(good_let_go=good)


def _contiguous(happened: Happened) -> Happened:
    """Return the events with arrays as the loop has them, so that the rule is compiled once."""
    period, *arrays = happened
    return Happened(period, *(np.ascontiguousarray(array) for array in arrays))


def _cover(course: Course, learned: Evolving, story: Story) -> None:
    """Note whether the intervals of everybody seen at least five days cover the truth."""
    people, level = learned.people, course.floor.levels[:, course.period - 1]
    team = [worker for worker in course.roster.stations if worker != NOBODY]
    ours, true = people.means[team].mean(), level[team].mean()
    for worker in np.flatnonzero((people.slot >= 0) & (people.days - people.first_days >= 5)).tolist():
        reach = TWO_SIDED_95 * math.sqrt(variance_now(learned, worker))
        story.covered.append(abs(people.means[worker] - ours - (level[worker] - true)) <= reach)
        scale = 1.0 + learned.numbers[DAY_MEAN]
        story.covered_absolutely.append(abs(scale * people.means[worker] - level[worker]) <= scale * reach)


def _judged(course: Course, learned: Evolving, out: int, into: int) -> Decision:
    gain = _true_output(course, learned, into) - _true_output(course, learned, out) - course.problem.cost
    return Decision(course.t, out, into, gain)


def _true_output(course: Course, learned: Evolving, worker: int) -> float:
    """Return a person's expected output over the next periods; the pool's mean stands for those never seen."""
    problem, floor, now = course.problem, course.floor, course.period - 1
    levels = floor.levels[worker, np.minimum(np.arange(now, now + AHEAD), problem.horizon - 1)]
    if learned.people.slot[worker] < 0:
        levels = np.full(AHEAD, float(course.world.means[1:].mean()))
    if problem.ramp is None:
        return float(levels.sum())
    days = np.minimum(floor.experience[worker] + np.arange(AHEAD), 10**4)
    return float((levels * (1.0 - floor.depth[worker] * np.exp(-days / problem.ramp.days))).sum())


def harm(runs: int, seed: int) -> Results:
    """Return what the policy does wrong on floors."""
    policy_rule = ValueOfReplacementEvolving.rule
    assert policy_rule.observe is not None
    rule = {
        "fresh": compiled_rule(policy_rule.fresh),
        "decide": compiled_rule(policy_rule.decide),
        "observe": compiled_rule(policy_rule.observe),
    }
    results: Results = {}
    for name in FLOORS:
        problem = FAMILIES[name].problem()
        stories = [told_by_world(problem, seed, run, rule) for run in range(runs)]
        decisions = [decision for story in stories for decision in story.decisions]
        covered = [hit for story in stories for hit in story.covered]
        absolutely = [hit for story in stories for hit in story.covered_absolutely]
        results[name] = {
            "wrong": float(np.mean([decision.gain < 0.0 for decision in decisions])),
            "good newcomers let go": float(np.mean([story.good_let_go for story in stories])),
            "covered": float(np.mean(covered)),
            "covered absolutely": float(np.mean(absolutely)),
            "decliner out after": float(np.median([_decliner_out(problem, story) for story in stories])),
        }
    return results


def _decliner_out(problem: Problem, story: Story) -> float:
    """Return after how many periods of decline worker 0 was let go; infinity if never."""
    decliners = problem.drift.decliners if isinstance(problem.drift, Drift) else ()
    begin = decliners[0][1] if decliners else 1
    leaves = [decision.period + problem.warmup - begin for decision in story.decisions if decision.out == 0]
    return leaves[0] if leaves else math.inf


def stationary(runs: int, seed: int) -> Results:
    """Return our regret on the paper's benchmark as a share of the stationary rule's."""
    results: Results = {}
    settings = {f"m = {team}": {"team": team} for team in (5, 10, 20)}
    for label, changes in settings.items():
        played = simulate(benchmark(conventions="as-released", **changes), [STATIONARY, OURS], runs=runs, seed=seed)
        ours, theirs = (float(played.policies[name].regret[:, -1].mean()) for name in (OURS, STATIONARY))
        results[label] = {"ours": ours, "stationary": theirs, "ratio": ours / theirs, "at_most": 1.02}
    return results


def _stars(high: float, low: float, team: int, horizon: int, noise: Any) -> Problem:
    pool = Pool((high,) * 3 + (low,) * 22)
    return Problem(team, horizon, 5.0, pool, delay=AvailabilityDelay(1.0 / 3.0), output=noise)


def stars(runs: int, seed: int) -> Results:
    """Return mean and 95th percentile of regret where few workers are far better, beside DR-UCB's."""
    settings = {
        "3 at .95, m = 3, T = 1,825": _stars(0.95, 0.45, 3, 1825, UniformOutput(0.1)),
        "3 at .95, m = 3, T = 1,825, normal noise": _stars(0.95, 0.45, 3, 1825, TruncatedNormalOutput(0.1)),
        "3 at .95, m = 3, T = 730": _stars(0.95, 0.45, 3, 730, UniformOutput(0.1)),
        "3 at .8, m = 5, T = 730": _stars(0.8, 0.4, 5, 730, UniformOutput(0.1)),
        "3 at .8, m = 10, T = 730": _stars(0.8, 0.4, 10, 730, UniformOutput(0.1)),
    }
    return {label: _beside_rivals(problem, runs, seed) for label, problem in settings.items()}


def _beside_rivals(problem: Problem, runs: int, seed: int) -> Results:
    played = simulate(problem, [OURS, STATIONARY, RIVAL], runs=runs, seed=seed)
    regrets = {name: played.policies[name].regret[:, -1] for name in (OURS, STATIONARY, RIVAL)}
    return {
        name: {"mean": float(regret.mean()), "p95": float(np.quantile(regret, 0.95))}
        for name, regret in regrets.items()
    }


@dataclass(frozen=True)
class Walk(LevelPath):
    """Levels wander by a normal step a period."""

    sd: float = 0.01

    @staticmethod
    def step(numbers: Any, level: float, first: float, period: int, worked: int, key: int) -> float:
        """Return the level of a period."""
        return float(level + numbers.sd * normal(key, 0))


@dataclass(frozen=True)
class Redrawn(LevelPath):
    """Everybody's level is drawn anew once a year."""

    @staticmethod
    def step(numbers: Any, level: float, first: float, period: int, worked: int, key: int) -> float:
        """Return the level of a period."""
        return 0.5 + 0.3 * normal(key, 0) if period % 365 == 1 else level


@dataclass(frozen=True)
class Fatigue(LevelPath):
    """Every day worked costs a thousandth of the first level."""

    foreseeable: ClassVar[bool] = False

    @staticmethod
    def step(numbers: Any, level: float, first: float, period: int, worked: int, key: int) -> float:
        """Return the level of a period; those who began experienced are counted from then."""
        return first * (1.0 - 0.001 * (worked - 10**7 if worked >= 10**7 else worked))


def drift(runs: int, seed: int) -> Results:
    """Return regret against each period's best where levels change, beside the rivals'."""
    paths = {"walk of .01 a day": Walk(), "redrawn once a year": Redrawn(), "fatigue of .1% a day worked": Fatigue()}
    pool = Recipe("clipped-normal", 25, 0.5, 0.3, per_run=True)
    return {
        label: _beside_rivals(
            Problem(10, 730, 5.0, pool, delay=AvailabilityDelay(1.0 / 3.0), output=UniformOutput(0.1), drift=path),
            runs,
            seed,
        )
        for label, path in paths.items()
    }


def speed(runs: int, seed: int) -> Results:
    """Return the processor time of a two-year run at k = 25, m = 10, and the slowest day at large live sites."""
    problem = benchmark(10)
    block = Block(problem, ValueOfReplacementEvolving(), seed, 0, 32, (problem.horizon,))
    play_block(block)
    least = math.inf
    for _ in range(5):
        started = time.process_time()
        play_block(block)
        least = min(least, (time.process_time() - started) / 32 * 1e3)
    return {"two years, k = 25, m = 10": {"milliseconds": least, "at_most": 15.0}, **live_days()}


PARTS: dict[str, Callable[[int, int], Results]] = {
    "floors": floors,
    "harm": harm,
    "stationary": stationary,
    "stars": stars,
    "drift": drift,
    "speed": speed,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the named parts, or all."""
    parser = part_options("evolving", __doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="parts to measure; all by default")
    parser.add_argument("--runs", type=int, help="worlds a setting (200, or 40 with --quick)")
    parser.add_argument("--seed", type=int, default=1, help="the worlds' seed (1)")
    options = parser.parse_args(arguments)
    runs = options.runs or (40 if options.quick else 200)
    names: Iterator[str] = iter(options.parts or PARTS)
    report({name: PARTS[name](runs, options.seed) for name in names}, options.out)


if __name__ == "__main__":
    main(sys.argv[1:])
