"""What-if plans: a site simulated with each policy, and with keeping the team, from what is known now.

Nothing about a site is known for certain, so every simulated world draws it: people's levels, how newcomers ramp up,
who drifts, how days differ, and how often people are absent, quit or decline (`planning.futures`). All policies are
played in the same worlds, from today's team, and go on learning there from what they have learned at the site. The
result is what they earn on average, between which amounts in 9 of 10 worlds, and in which share of the worlds each
beats keeping the team. Keeping the team refills the places of those who quit, at random and for the fee.

A site with few days on record is simulated from its sums alone (`planning.sums`).
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.site import POOL, UNDER_WAY, Site
from crewlearn.advisor.ledger.text import counted
from crewlearn.engine.local import Simulation, prepare
from crewlearn.planning.futures.record import Record
from crewlearn.planning.futures.worlds import (
    Played,
    Seats,
    Terms,
    continued,
    draw_all,
    draws_for,
    future_of,
    play_all,
    sets_of,
)
from crewlearn.planning.limits import KEEP, check, periods_left
from crewlearn.planning.outcomes import COLUMNS, Expected, Plan, Prospect
from crewlearn.planning.sums import delay_law, problem_of, stations_of, summed_up, tenure_of
from crewlearn.policies.brakes import PERIODS_A_WEEK, Braked
from crewlearn.policies.contract import Policy
from crewlearn.policies.evolving.policy import ValueOfReplacementEvolving
from crewlearn.policies.registry import make_policy
from crewlearn.problem.arrays import NOBODY, FloatArray, IntArray
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.model import MOST, Setting

__all__ = ["COLUMNS", "Plan", "plan", "problem_of"]

FEWEST_DAYS = 5
"""Days with output on record from which it is learned how people and days differ."""


@dataclass(frozen=True, eq=False)
class _Result:
    """What was played, in the policy's units; `sets` are the worlds that share what is unknown, `fee` is in money."""

    played: Mapping[str, Played]
    policies: Mapping[str, Policy[Any]]
    setting: Setting
    stations: tuple[int, ...]
    sets: IntArray | None
    fee: float
    notes: tuple[str, ...]


def plan(
    site: Site,
    policies: Sequence[str] | None = None,
    runs: int = 500,
    seed: int = 1,
    *,
    record: Record | None = None,
    progress: Callable[[int], None] | None = None,
    **changes: Any,
) -> Plan:
    """Play policies in worlds drawn from what is known of the site, given the days on `record`.

    By default they are the site's own and `limits.COMPARED`; keep-team is always added. `changes` are settings to try,
    as named in `limits.CHANGES`; the fee is in money. A larger team has empty stations; a smaller one keeps the workers
    with the highest expected output. `progress` is called several times a second with the number of runs just finished,
    which may be 0; an exception that it raises ends the work.
    """
    config, chosen = check(site, policies, runs, changes)
    if not site.workers:
        raise InvalidInput("workers", 0, "there is nobody to plan with; import workers first")
    periods = periods_left(site, config)
    if record is None or (~np.isnan(record.output)).any(axis=0).sum() < FEWEST_DAYS:
        result = _from_sums(site, config, chosen, runs, seed, progress)
    else:
        result = _from_record(site, config, chosen, runs, seed, record, progress)
    owed = _owed(site)
    net = {name: earned - owed for name, earned in _earned(config, periods, result).items()}
    prospects = sorted(
        (_prospect(config, result, name, net[name], net[KEEP], owed) for name in chosen),
        key=lambda prospect: (-prospect.net.mean, prospect.policy != KEEP),
    )
    first, *others = [prospect.policy for prospect in prospects]
    return Plan(
        own=config.policy,
        first_period=site.period,
        periods=periods,
        team=config.team,
        fee=config.fee,
        mean_delay=_mean_delay(site, config),
        changes=dict(changes),
        runs=runs,
        seed=seed,
        prospects=tuple(prospects),
        lead=Expected.of(net[first] - net[others[0]], result.sets) if others else None,
        notes=(*result.notes, *_notes(site, config, periods)),
    )


def _mean_delay(site: Site, config: SiteConfig) -> float:
    return site.mean_delay if config.learn_delay else config.mean_delay


def _from_record(
    site: Site,
    config: SiteConfig,
    chosen: Sequence[str],
    runs: int,
    seed: int,
    record: Record,
    progress: Callable[[int], None] | None,
) -> _Result:
    """Play in futures drawn from the days on record."""
    waiting = None if progress is None else partial(progress, 0)
    everybody = ValueOfReplacementEvolving()
    drawn = draw_all(record, everybody, draws_for(runs), seed, waiting)
    levels = np.mean([draw.levels[:, -1] for draw in drawn], axis=0)
    seats = Seats(
        stations=stations_of(site, config.team, levels.tolist()),
        may_enter=tuple(worker.status == POOL for worker in site.workers),
        may_leave=tuple(not worker.pinned for worker in site.workers),
        tenure=tenure_of(site) if config.least_tenure > 0 else (),
        worked=record.worked[:, -1],
    )
    fee = mean_fee(site, config)
    terms = Terms(
        team=config.team,
        periods=periods_left(site, config),
        cost=config.units.policy_cost(fee),
        delay=delay_law(_mean_delay(site, config)),
        rolling=config.horizon if config.rolling else None,
        fee_due=config.fee_due,
    )
    problems = [
        future_of(draw, record, terms, seats, np.random.default_rng((seed, number, 1)))
        for number, draw in enumerate(drawn)
    ]
    policies = {name: make_policy(name, config.conventions) for name in chosen}
    played = play_all(problems, held_back(continued(policies, record), config), runs, seed, progress)
    notes = _notes_on_record(site, record, seats, fee, policies)
    return _Result(
        played, policies, problems[0].setting, seats.stations, sets_of(runs, len(problems)), fee, tuple(notes)
    )


def mean_fee(site: Site, config: SiteConfig) -> float:
    """Return the mean fee, in money, of those who may be hired, each at their own fee if they have one."""
    fees = [
        config.fee if worker.fee is None else worker.fee
        for number, worker in enumerate(site.workers)
        if worker.status == POOL and number not in site.roster.active
    ]
    return math.fsum(fees) / len(fees) if fees else config.fee


def _notes_on_record(
    site: Site, record: Record, seats: Seats, fee: float, policies: Mapping[str, Policy[Any]]
) -> Iterator[str]:
    """Yield notes on what the futures were drawn from."""
    quits, declines = int(record.quits.sum()), counted(record.declines, "decline")
    days = counted(int((~np.isnan(record.output)).sum()), "day of work", "days of work")
    left = "nobody left unasked" if quits == 0 else f"{quits} left unasked"
    yield (
        f"Drawn from {days} on record, with its doubt: levels, ramp-up, drift and days; {left} so far, "
        f"{record.absences} absences, {declines} in {counted(record.offers, 'offer')}."
    )
    empty = seats.stations.count(NOBODY)
    if empty:
        are, they = ("is", "it is") if empty == 1 else ("are", "they are")
        yield (
            f"{empty} of {counted(len(seats.stations), 'station')} {are} empty; under keeping the team {they} filled "
            "at random for the fee."
        )
    seen = set(np.flatnonzero((~np.isnan(record.output)).any(axis=1)).tolist())
    unseen = sum(worker.status == POOL and number not in seen for number, worker in enumerate(site.workers))
    if unseen:
        were = "was" if unseen == 1 else "were"
        yield f"{unseen} of {counted(len(site.workers), 'worker')} {were} never seen, and drawn from the pool."
    if any(worker.fee is not None for worker in site.workers):
        yield f"People have fees of their own: everybody who may come costs their mean here, {fee:,.2f}."
    for name, policy in policies.items():
        if policy.learns_by_day and not isinstance(policy, ValueOfReplacementEvolving):
            yield _note_on_learning(name)


def _from_sums(
    site: Site,
    config: SiteConfig,
    chosen: Sequence[str],
    runs: int,
    seed: int,
    progress: Callable[[int], None] | None,
) -> _Result:
    """Play in stationary worlds drawn from sums."""
    problem = problem_of(site, config)
    assert problem.start is not None
    simulation = prepare(problem, chosen, runs, seed, conventions=config.conventions)
    learners = [name for name, policy in simulation.policies.items() if policy.learns_by_day]
    braked = replace(simulation, policies=held_back(simulation.policies, config))
    notes = (*_notes_on_sums(site, config, problem.start.stations), *(_note_on_learning(name) for name in learners))
    played = _played_from_sums(braked, learners, progress)
    return _Result(played, simulation.policies, problem.setting, problem.start.stations, None, config.fee, notes)


def _played_from_sums(
    simulation: Simulation, learners: Sequence[str], progress: Callable[[int], None] | None
) -> dict[str, Played]:
    """Play all policies in the same worlds; those that learn by day start from the record as earlier data."""
    played = dict[str, Played]()
    for by_day in (False, True):
        policies = {name: policy for name, policy in simulation.policies.items() if (name in learners) == by_day}
        problem = summed_up(simulation.problem) if by_day else simulation.problem
        if policies:
            results = replace(simulation, problem=problem, policies=policies).run(progress).policies
            played |= {
                name: Played(result.net[:, -1], result.replacements, result.completed)
                for name, result in results.items()
            }
    return played


def _note_on_learning(policy: str) -> str:
    return (
        f"{policy} learns day by day: here it starts from the days and mean of each worker as earlier data, "
        "not from what it has learned at the site."
    )


def held_back(policies: Mapping[str, Policy[Any]], config: SiteConfig) -> dict[str, Policy[Any]]:
    """Return policies with the site's brakes on each but keeping the team."""
    most = _most_a_week(config)
    if config.least_tenure == 0 and most is None:
        return dict(policies)
    return {
        label: policy if label == KEEP else Braked(policy, config.least_tenure, most)
        for label, policy in policies.items()
    }


def _most_a_week(config: SiteConfig) -> int | None:
    """Return the most replacements a week, by number or by the budget at the site's fee; None for no limit."""
    limits = [] if config.most_a_week is None else [config.most_a_week]
    if config.budget_a_week is not None and config.fee > 0.0:
        limits.append(min(MOST, math.floor(config.budget_a_week / config.fee * (1.0 + 1e-9))))
    return min(limits, default=None)


def _owed(site: Site) -> float:
    """Return the fees, in money, of replacements under way that will fall due when they start."""
    return math.fsum(proposal.fee for proposal in site.open_proposals(*UNDER_WAY) if not proposal.paid)


def _earned(config: SiteConfig, periods: int, result: _Result) -> dict[str, FloatArray]:
    """Return each policy's money by world, net of fees.

    Simulated output is measured from the low end of the range; the part below it is added for the stations held at the
    start, so that the money is comparable with that of recorded output.
    """
    held = len(result.stations) - result.stations.count(NOBODY)
    below = held * periods * config.units.money_of_output(0.0)
    return {name: played.net * config.units.money_of_one + below for name, played in result.played.items()}


def _prospect(
    config: SiteConfig, result: _Result, name: str, net: FloatArray, kept: FloatArray, owed: float
) -> Prospect:
    """Summarise a policy's money by world, against that of keeping the team."""
    played, interview = result.played[name], result.policies[name].interview(result.setting)
    paid = played.completed if config.fee_due == "completion" else played.initiated
    fees = owed + result.fee * paid + (0.0 if interview is None else config.units.money(interview.fee))
    gain = net - kept
    return Prospect(
        policy=name,
        output=Expected.of(net + fees, result.sets),
        fees=float(fees.mean()),
        net=Expected.of(net, result.sets),
        gain=Expected.of(gain, result.sets),
        chance_better=float((gain > 0.0).mean()),
        chance_worse=float((gain < 0.0).mean()),
        replacements=float(played.initiated.mean()),
    )


def _notes_on_sums(site: Site, config: SiteConfig, stations: tuple[int, ...]) -> Iterator[str]:
    """Yield notes on what a simulation from sums leaves out."""
    yield "Simulated from what is known now: workers' true output is drawn from their estimates, and nobody is absent."
    empty = stations.count(NOBODY)
    if empty:
        low = config.units.low
        more = f" An empty one counts as {low:g}, so filling it gains more than is said." if low > 0.0 else ""
        are, them = ("is", "it") if empty == 1 else ("are", "them")
        yield f"{empty} of {counted(len(stations), 'station')} {are} empty; keeping the team leaves {them} so.{more}"
    unseen = sum(
        worker.status == POOL and count == 0
        for worker, count in zip(site.workers, site.estimates.counts.tolist(), strict=True)
    )
    if unseen:
        were = "was" if unseen == 1 else "were"
        yield f"{unseen} of {counted(len(site.workers), 'worker')} {were} never seen, and taken to be like the others."
    if any(worker.fee is not None and worker.fee != config.fee for worker in site.workers):
        yield "Fees of single workers are not simulated: everybody costs the site's fee."


def _notes(site: Site, config: SiteConfig, periods: int) -> Iterator[str]:
    """Yield notes on what any simulation leaves out of this site, and how to read the numbers."""
    if site.roster.pending:
        single, under_way = len(site.roster.pending) == 1, len(site.roster.pending)
        yield f"{counted(under_way, 'replacement')} under way count{'s' if single else ''} as started."
    if config.rolling:
        ahead = counted(periods, "period")
        yield f"Looked at over {ahead} as if the site ended then; later gains are not counted."
    week = len(config.calendar.weekdays) * config.calendar.shifts_per_day
    most = _most_a_week(config)
    if most is not None and week != PERIODS_A_WEEK:
        limit = counted(most, "replacement")
        yield f"The limit of {limit} a week is simulated with weeks of {PERIODS_A_WEEK} periods instead of {week}."
    if config.limits_months:
        yield "Limits a month are not simulated."
    if any(remark.until for remark in (*site.remarks.protected.values(), *site.remarks.blocked.values())):
        yield "Pins and blocks that end on a day are not simulated."
