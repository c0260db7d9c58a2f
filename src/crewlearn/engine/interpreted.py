"""One run of one policy in plain Python, period by period."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from crewlearn.beliefs.estimates import Estimates, Prior, record
from crewlearn.engine.streams import DELAY, policy_key, seed_root
from crewlearn.engine.world import World
from crewlearn.policies.contract import Hidden, Pair, Policy, Report, Situation
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.roster import Roster
from crewlearn.problem.transitions import LEGAL, completion_fault


@dataclass(frozen=True)
class Step:
    """What happened in a period; `regret` is the pseudo-regret of this period alone, fees included."""

    period: int
    requested: tuple[Pair, ...]
    completed: tuple[Pair, ...]
    failed: tuple[Pair, ...]
    stations: tuple[int, ...]
    output: Mapping[int, float]
    fees: float
    regret: float


def play(world: World, policy: Policy[Any], until: int | None = None) -> Iterator[Step]:
    """Play a policy in a world to the end of period `until` (the horizon by default), yielding a step per period.

    >>> from crewlearn.policies.baselines import KeepTeam
    >>> from crewlearn.problem.instances import benchmark
    >>> steps = list(play(World(benchmark(), seed=1, run=0), KeepTeam(), until=3))
    >>> [len(step.output) for step in steps]
    [10, 10, 10]
    """
    problem, setting = world.problem, world.problem.setting
    roster = Roster.start(setting.workers, world.starting_team().tolist())
    estimates, prior = Estimates(*problem.seen_before()), Prior(*problem.unknown_spread())
    hidden = Hidden(world.means, world.delay_form, world.keys[DELAY]) if policy.oracle else None
    may_enter, may_leave = problem.may_enter(), problem.may_leave()
    best = world.best_output()

    def situation(period: int) -> Situation:
        return Situation(period, setting, roster, estimates, may_enter, may_leave, hidden, prior)

    interview = policy.interview(setting)
    scores = None if interview is None else world.interview(interview.rho)
    state = policy.start(situation(1), policy_key(seed_root(world.seed), world.run), scores)
    for period in range(1, (setting.horizon if until is None else until) + 1):
        now = situation(period)
        pairs, state = policy.decide(state, now)
        for out, into in pairs:
            roster.initiate(out, into, period, due=period + world.delay(period, out, into))
        completed, failed = [], []
        for pending in roster.elapsed(period):
            leaver = pending.out if pending.out != NOBODY else policy.assign(state, now, pending.into)
            if leaver == NOBODY and completion_fault(roster.arrays, 0, leaver) != LEGAL:
                failed.append(roster.fail(pending.into))  # nobody makes room: the hire lapses, its fee is lost
            else:
                completed.append(roster.complete(pending.into, leaver))
        output = {worker: world.output(period, worker) for worker in roster.stations if worker != NOBODY}
        for worker, amount in output.items():
            record(estimates, worker, amount)
        fees = setting.cost * len(pairs if problem.fee_due == "initiation" else completed)
        if interview is not None and period == 1:
            fees += interview.fee
        expected_output = sum(float(world.means[worker]) for worker in output)
        step = Step(
            period=period,
            requested=tuple(pairs),
            completed=tuple(completed),
            failed=tuple(failed),
            stations=roster.stations,
            output=output,
            fees=fees,
            regret=best - expected_output + fees,
        )
        state = policy.observe(state, Report(period, output, step.completed, step.failed))
        yield step
