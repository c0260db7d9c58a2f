"""Simulated firms: a world played under advice that is followed always or half of the time, with its record."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from crewlearn.advisor.evidence.record import Advised, Spent, WorkRecord, outsiders_of
from crewlearn.beliefs.evolving.model import Evolving
from crewlearn.engine.blocks import Block, play_block
from crewlearn.engine.compiled.loops import compiled_rule
from crewlearn.engine.course import Arrivals, Course
from crewlearn.engine.streams import policy_key, seed_root
from crewlearn.engine.world import World
from crewlearn.policies.contract import Pair, Report
from crewlearn.policies.evolving.policy import ValueOfReplacementEvolving
from crewlearn.policies.registry import make_policy
from crewlearn.policies.rule import Happened, facts_of, happened_in
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.chance import mix, uniform
from crewlearn.problem.model import Problem
from crewlearn.study.families import FAMILIES

FIRMS = ("floor", "floor-clean", "floor-quits", "floor-drift", "floor-cold-start")
"""The families of firms by which claims are calibrated."""

FIRST_SEED, DEVELOPMENT_SEED = 5001, 1001
"""The seeds of reported firms, and of those used in development; no two parts share worlds with the latter."""

_FOLLOWS = 0x7F4A7C159E3779B9


@dataclass(frozen=True)
class Firm:
    """A firm's record under advice, what its policy has learned, and its true gain over keeping the team."""

    record: WorkRecord
    learned: Evolving
    gain: float


def firm_problem(family: str) -> Problem:
    """Return the problem of a family of firms."""
    return FAMILIES[family].problem()


@cache
def compiled() -> dict[str, Callable[..., Any]]:
    """Return the compiled functions of the evolving rule."""
    rule = ValueOfReplacementEvolving.rule
    assert rule.observe is not None
    return {
        "fresh": compiled_rule(rule.fresh),
        "decide": compiled_rule(rule.decide),
        "observe": compiled_rule(rule.observe),
    }


def kept_team(problem: Problem, seed: int) -> float:
    """Return the net of keeping the team, with quitters' places refilled at random for the fee."""
    played = play_block(Block(problem, make_policy("keep-team"), seed, 0, 1, (problem.horizon,)))
    return float(played.net[0, -1])


def play_firm(problem: Problem, seed: int, follow: float) -> Firm:
    """Play a world, following each proposal with probability `follow`, and return its record."""
    rule, policy, course = compiled(), ValueOfReplacementEvolving(), Course(World(problem, seed, 0))
    parameters, key = policy.parameters(problem.setting), policy_key(seed_root(seed), 0)
    memory = rule["fresh"](parameters, facts_of(policy, course.situation()), key)
    outs, ins = np.zeros(problem.team, dtype=np.int64), np.zeros(problem.team, dtype=np.int64)
    experience = course.floor.experience.copy()
    holders = np.full((problem.team, problem.horizon), NOBODY, dtype=np.int64)
    earned = np.zeros((problem.team, problem.horizon))
    rows: list[tuple[int, int, float]] = []
    offered: dict[int, int] = {}
    advised: list[Advised] = []
    spent: list[Spent] = []
    delays: list[int] = []
    quits, net, declined = 0, 0.0, 0
    for day in range(problem.horizon):
        quit = course.begin().quit
        quits += len(quit)
        arrivals, begun = Arrivals(), 0
        if course.t >= 1:
            facts = facts_of(policy, course.situation())
            n = rule["decide"](parameters, memory, course.t, facts, outs, ins)
            pairs: list[Pair] = list(zip(outs[:n].tolist(), ins[:n].tolist(), strict=True))
            follows = mix(key ^ _FOLLOWS, day)
            pairs = [pair for pair in pairs if uniform(follows, pair[1]) < follow]
            requested, _ = course.request(pairs)
            begun = len(requested)
            offered |= {into: day for _, into in requested}
            arrivals = course.arrive(lambda into: NOBODY)
        work = course.work()
        holders[:, day] = course.roster.stations
        for station, worker in enumerate(course.roster.stations):
            if worker in work.output:
                earned[station, day] = work.output[worker]
                rows.append((worker, day, work.output[worker]))
        for out, into in arrivals.completed:
            since = offered.pop(into)
            station = course.roster.stations.index(into)
            delays.append(day - since)
            advised.append(Advised(len(advised) + 1, station, day, out, into, problem.cost, since))
        for _, into in arrivals.failed:
            declined += 1
            spent.append(Spent(offered.pop(into), problem.cost))
        net += work.expected - problem.cost * begun if course.t >= 1 else 0.0
        happened = happened_in(Report(course.t, work.output, arrivals.completed, arrivals.failed, quit))
        rule["observe"](parameters, memory, _contiguous(happened))
    spent += [Spent(since, problem.cost) for since in offered.values()]
    workers, days, output = (np.array(column) for column in zip(*rows, strict=True))
    idle = np.flatnonzero(~course.floor.gone & ~np.isin(np.arange(len(experience)), holders[:, -1])).tolist()
    record = WorkRecord(
        holders=holders,
        worker=workers,
        day=days,
        output=output,
        earned=earned,
        worth=np.ones(earned.shape),
        offset=np.zeros(earned.shape),
        experience=experience,
        outsiders=outsiders_of(advised, idle),
        advised=tuple(advised),
        spent=tuple(spent),
        quits=quits,
        delays=tuple(delays) or (round(problem.setting.mean_delay),),
        fee=problem.cost,
        offers=len(advised) + declined,
        declined=declined,
    )
    return Firm(record, memory.learned, net - kept_team(problem, seed))


def _contiguous(happened: Happened) -> Happened:
    """Return the events with arrays as the loop has them, so that the rule is compiled once."""
    period, *arrays = happened
    return Happened(period, *(np.ascontiguousarray(array) for array in arrays))
