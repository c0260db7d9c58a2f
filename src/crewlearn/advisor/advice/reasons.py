"""The reasons for advice as numbers, computed when it is derived and recorded with it.

Output is in the policy's units, fees are money, and the value of a unit is the one at the time; `explain` converts all
of it to the site's units.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from crewlearn.advisor.ledger.learned.dated_readings import readings_of
from crewlearn.advisor.ledger.site import Site
from crewlearn.beliefs.posterior import LEARNED_FROM_DATA, NOISE, Beliefs, chance_above, learned
from crewlearn.policies.contract import Pair, Policy, Situation
from crewlearn.policies.explanations import Readings, Reason
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.transitions import unclaimed_stations


def estimates_of(site: Site) -> tuple[list[dict[str, float]], float]:
    """Return everybody's estimate (days observed here and before, expected output, its sd) and the sd of a day.

    It is the posterior given the pool's data, whatever the policy is, so that people see the same estimate everywhere.
    """
    beliefs = beliefs_of(site)
    everybody = [_estimate(site, beliefs, number) for number in range(len(site.workers))]
    return everybody, math.sqrt(float(beliefs.pool[NOISE]))


def _estimate(site: Site, beliefs: Beliefs, number: int, readings: Readings | None = None) -> dict[str, Any]:
    worker = site.workers[number]
    seen = {"days": int(site.estimates.counts[number]) - worker.prior_n, "prior": worker.prior_n}
    if readings is None:
        return {**seen, "mean": float(beliefs.means[number]), "sd": math.sqrt(beliefs.variances[number])}
    person = readings.people[number]
    ramp_up = None if person.ramp_days is None else {"day": person.days, "days": person.ramp_days}
    return {
        **seen,
        "mean": person.level.mean or 0.0,
        "sd": person.level.sd or 0.0,
        "after_ramp_up": True,
        "ramp_up": ramp_up,
        "trend": None if person.trend is None else asdict(person.trend),
    }


def beliefs_of(site: Site) -> Beliefs:
    """Return the posterior of the pool and of each worker, given the pool's data."""
    prior = site.prior()
    return learned(site.estimates, prior.counts, prior.sums, LEARNED_FROM_DATA)


class Knowledge(NamedTuple):
    """What is known of everybody: the policy's readings, if it offers them, and the posterior of the pool."""

    readings: Readings | None
    beliefs: Beliefs


def knowledge(
    site: Site, policy: Policy[Any], after: Any, situation: Situation, readings: Readings | None = None
) -> Knowledge:
    """Return what is known of everybody; `readings` are the policy's, if they were made already."""
    known = readings_of(site, policy, after, situation) if readings is None else readings
    return Knowledge(known, beliefs_of(site))


def reasons_of(
    site: Site,
    policy: Policy[Any],
    after: Any,
    situation: Situation,
    pairs: Sequence[Pair],
    *,
    known: Knowledge | None = None,
    with_break_even: bool = True,
) -> list[dict[str, Any]]:
    """Return why each pair is proposed: both workers' estimates, the chance of doing better, the policy's own reason.

    The estimates are the policy's own levels after ramp-up if it offers readings, and the chance is then its own too.
    `leaver` is who makes room (for a hire left open until arrival, who would go now), -1 for an empty station.
    `break_even` is the fee above which the policy would not have asked; None if it does not say, or is not asked to.
    """
    if not pairs:
        return []
    readings, beliefs = known or knowledge(site, policy, after, situation)
    units = site.config.units
    nobody = {"days": 0, "prior": 0, "mean": 0.0, "sd": 0.0}
    costs = [units.policy_cost(site.fee_of(into)) for _, into in pairs]
    answer = policy.reasons(after, situation, pairs, costs)
    own: Sequence[Reason | None] = [None] * len(pairs) if answer is None else answer
    left = max(0, situation.setting.horizon - situation.period + 1)
    vacancies = max(0, unclaimed_stations(situation.roster.arrays))
    reasons = []
    for (out, into), reason in zip(pairs, own, strict=True):
        leaver, vacancies = _makes_room(out, reason, vacancies)
        break_even = policy.break_even(situation, reason) if reason is not None and with_break_even else None
        leaving = nobody if leaver == NOBODY else _estimate(site, beliefs, leaver, readings)
        entering = _estimate(site, beliefs, into, readings)
        reasons.append(
            {
                "out": leaving,
                "into": entering,
                "leaver": leaver,
                "chance_better": _chance_better(leaving, entering, None if readings is None else reason),
                "periods_left": left,
                "mean_delay": situation.setting.mean_delay,
                "fee": site.fee_of(into),
                "break_even": None if break_even is None else units.money(break_even),
                "value_per_unit": units.value_per_unit,
                "by": site.config.policy,
                "policy": None if reason is None else _finite(reason.to_json()),
            }
        )
    return reasons


def _chance_better(leaving: Mapping[str, Any], entering: Mapping[str, Any], own: Reason | None) -> float:
    """Return the chance that whoever enters does better: the policy's own if it gives one, else by the estimates.

    A belief need not be normal: somebody never seen may be from any part of the pool.
    """
    if own is not None and own.chance_better is not None:
        return own.chance_better
    return chance_above(entering["mean"], math.hypot(entering["sd"], leaving["sd"]), leaving["mean"])


def _makes_room(out: int, reason: Reason | None, vacancies: int) -> tuple[int, int]:
    """Return who makes room, and how many empty stations remain for the following pairs."""
    if out != NOBODY:
        return out, vacancies
    if vacancies > 0:
        return NOBODY, vacancies - 1
    return (NOBODY if reason is None or reason.leaver is None else reason.leaver), 0


def too_dear(site: Site, pairs: Sequence[Pair], reasons: Sequence[dict[str, Any]]) -> set[int]:
    """Return the incoming workers whose own fee is above the site's and above what the policy would pay for them."""
    return {
        into
        for (_, into), why in zip(pairs, reasons, strict=True)
        if why["fee"] > site.config.fee and why["break_even"] is not None and why["fee"] > why["break_even"]
    }


def _finite(value: Any) -> Any:
    """Return data that JSON can hold: an infinite bound, of a worker never observed, becomes None."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def waiting_of(policy: Policy[Any], after: Any, situation: Situation) -> dict[str, Any]:
    """Return the expected arrivals, and what the policy says it waits for."""
    waiting = policy.waiting(after, situation)
    awaited = [pending.into for pending in situation.roster.pending]
    return {"awaited": awaited, **({} if waiting is None else waiting.to_json())}
