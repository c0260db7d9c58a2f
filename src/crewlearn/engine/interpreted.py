"""One run of one policy in plain Python, period by period."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from crewlearn.engine.course import Arrivals, Course
from crewlearn.engine.streams import policy_key, seed_root
from crewlearn.engine.world import World
from crewlearn.policies.brakes import Brakes
from crewlearn.policies.contract import Pair, Policy, Report, read_only


@dataclass(frozen=True)
class Step:
    """The events of a period; `regret` and `net` are those of this period alone, fees included.

    `period` includes the warm-up, in which nothing is requested and results do not count; `handovers` are the pairs
    (out, in) of places that changed hands there. `failed` are pairs for which nobody made room, `declined` offers that
    were, and `held_back` pairs that brakes did not let begin. `best` is the output of the best team.
    """

    period: int
    requested: tuple[Pair, ...]
    completed: tuple[Pair, ...]
    failed: tuple[Pair, ...]
    stations: tuple[int, ...]
    output: Mapping[int, float]
    fees: float
    regret: float
    net: float = 0.0
    best: float = 0.0
    quit: tuple[int, ...] = ()
    handovers: tuple[Pair, ...] = ()
    absent: tuple[int, ...] = ()
    declined: tuple[Pair, ...] = ()
    held_back: tuple[Pair, ...] = ()


def play(world: World, policy: Policy[Any], until: int | None = None) -> Iterator[Step]:
    """Play a policy in a world to the end of period `until` (default: the horizon), and yield one step per period.

    >>> from crewlearn.policies.baselines import KeepTeam
    >>> from crewlearn.problem.instances import benchmark
    >>> steps = list(play(World(benchmark(), seed=1, run=0), KeepTeam(), until=3))
    >>> [len(step.output) for step in steps]
    [10, 10, 10]
    """
    problem = world.problem
    course = Course(world, brakes=Brakes.of(policy), refilled=policy.refilled, oracle=policy.oracle)
    interview = policy.interview(problem.setting)
    scores = None if interview is None else read_only(world.interview(interview.rho))
    state = policy.start(course.situation(), policy_key(seed_root(world.seed), world.run), scores)
    for _ in range(problem.horizon if until is None else until):
        opening = course.begin()
        live, arrivals = course.t >= 1, Arrivals()
        requested: tuple[Pair, ...] = ()
        held_back: tuple[Pair, ...] = ()
        if live:
            situation = course.situation()
            if opening.quit:
                state = policy.revise(state, situation)
            pairs, state = policy.decide(state, situation)
            requested, held_back = course.request(pairs)
            arrivals = course.arrive(partial(policy.assign, state, situation))
        work = course.work()
        fees = problem.setting.cost * len(requested if problem.fee_due == "initiation" else arrivals.completed)
        if interview is not None and course.t == 1:
            fees += interview.fee
        failed = (*held_back, *arrivals.failed)
        state = policy.observe(state, Report(course.t, work.output, arrivals.completed, failed, opening.quit))
        yield Step(
            period=course.period,
            requested=requested,
            completed=arrivals.completed,
            failed=arrivals.lapsed,
            stations=course.roster.stations,
            output=work.output,
            fees=fees,
            regret=work.possible - work.made + fees if live else 0.0,
            net=work.expected - fees if live else 0.0,
            best=work.possible if live else 0.0,
            quit=opening.quit,
            handovers=opening.handovers,
            absent=work.absent,
            declined=arrivals.declined,
            held_back=held_back,
        )
