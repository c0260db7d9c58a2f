"""What spoke for advice, in numbers, as it was when the advice was derived; kept with it on record.

Output is in the policy's units, fees are money, and the value of a unit is as it was then; `explain` puts all of it
into people's units.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from crewlearn.advisor.site import Site
from crewlearn.policies.candidates import unclaimed_stations
from crewlearn.policies.contract import Pair, Policy, Situation
from crewlearn.policies.dr_ucb import DRUCB
from crewlearn.policies.posterior import LEARN, NOISE, Assumed, Beliefs, learned
from crewlearn.policies.rounds import replacement_threshold
from crewlearn.policies.trials import chance_above
from crewlearn.policies.value import ValueOfReplacement
from crewlearn.problem.arrays import NOBODY

_ASSUMED = Assumed(ValueOfReplacement.noise_guess, ValueOfReplacement.guess_weight, LEARN, LEARN, LEARN)


def estimates_of(site: Site) -> tuple[list[dict[str, float]], float]:
    """Give everybody's estimate (days observed here and before, expected output, its sd) and the spread of a day.

    It is the posterior that the pool's own data give, whatever the policy: so people see one estimate everywhere.
    """
    beliefs = beliefs_of(site)
    everybody = [_estimate(site, beliefs, number) for number in range(len(site.workers))]
    return everybody, math.sqrt(float(beliefs.pool[NOISE]))


def _estimate(site: Site, beliefs: Beliefs, number: int) -> dict[str, float]:
    worker = site.workers[number]
    return {
        "days": int(site.estimates.counts[number]) - worker.prior_n,
        "prior": worker.prior_n,
        "mean": float(beliefs.means[number]),
        "sd": math.sqrt(beliefs.variances[number]),
    }


def beliefs_of(site: Site) -> Beliefs:
    """Give what the pool's own data say of the pool and of everybody."""
    prior = site.prior()
    return learned(site.estimates, prior.counts, prior.sums, _ASSUMED)


def reasons_of(
    site: Site, policy: Policy[Any], after: Any, situation: Situation, pairs: Sequence[Pair]
) -> list[dict[str, Any]]:
    """Give what spoke for each pair: both workers' estimates, the chance that it is for the better, the policy's why.

    `leaver` is who makes room: for a hire left open until arrival who would go now, -1 for an empty station.
    `break_even` is the fee above which the policy would not have asked; None if it does not say.
    """
    if not pairs:
        return []
    beliefs = beliefs_of(site)
    nobody = {"days": 0, "prior": 0, "mean": 0.0, "sd": 0.0}
    own: list[Any] = [None] * len(pairs)
    if isinstance(policy, (DRUCB, ValueOfReplacement)):
        own = [asdict(reason) for reason in policy.reasons(after, situation, pairs)]
    left = max(0, situation.setting.horizon - situation.period + 1)
    vacancies = max(0, unclaimed_stations(situation.roster.arrays))
    reasons = []
    for (out, into), said in zip(pairs, own, strict=True):
        leaver, vacancies = _makes_room(out, said, vacancies)
        if isinstance(policy, DRUCB):
            said["threshold"] = _needed(site, situation, site.fee_of(into))
        leaving = nobody if leaver == NOBODY else _estimate(site, beliefs, leaver)
        entering = _estimate(site, beliefs, into)
        reasons.append(
            {
                "out": leaving,
                "into": entering,
                "leaver": leaver,
                "chance_better": chance_above(
                    entering["mean"], math.hypot(entering["sd"], leaving["sd"]), leaving["mean"]
                ),
                "periods_left": left,
                "mean_delay": situation.setting.mean_delay,
                "fee": site.fee_of(into),
                "break_even": _break_even(site, policy, situation, said),
                "value_per_unit": site.config.units.value_per_unit,
                "by": site.config.policy,
                "policy": _finite(said),
            }
        )
    return reasons


def in_full(why: Mapping[str, Any], out: int, site: Site) -> dict[str, Any]:
    """Give reasons with all they have by now; those recorded under rules 1 had no more than estimates and one cost."""
    if "leaver" in why:
        return dict(why)
    return {
        **why,
        "out": {"prior": 0, **why["out"]},
        "into": {"prior": 0, **why["into"]},
        "leaver": out,
        "fee": site.config.units.money(why["cost"]),
        "break_even": None,
        "value_per_unit": site.config.units.value_per_unit,
        "by": site.config.policy,
    }


def _needed(site: Site, situation: Situation, fee: float) -> float:
    """Give the gain a period, in the policy's units, that pays for a fee in money by DR-UCB's rule."""
    setting = situation.setting
    return replacement_threshold(site.config.units.policy_cost(fee), setting.horizon, situation.period)


def _makes_room(out: int, said: Any, vacancies: int) -> tuple[int, int]:
    """Give who makes room, and how many empty stations are left for the pairs that follow."""
    if out != NOBODY:
        return out, vacancies
    if vacancies > 0:
        return NOBODY, vacancies - 1
    return (NOBODY if said is None else int(said.get("leaver", NOBODY))), 0


def _break_even(site: Site, policy: Policy[Any], situation: Situation, said: Any) -> float | None:
    """Give the fee, in money, above which the policy would not have asked for the pair; None if it cannot be told.

    At best, somebody never seen puts out 1 a period, and somebody never seen in the team 0.
    """
    if isinstance(policy, ValueOfReplacement):
        return site.config.units.money(said["gain"] / (1.0 + policy.margin))
    if isinstance(policy, DRUCB):
        one = _needed(site, situation, site.config.units.money_of_one)
        best = min(1.0, said["in_bounds"]["upper"]) - max(0.0, said["out_bounds"]["lower"])
        return site.config.units.money(best / one) if math.isfinite(one) else None
    return None


def too_dear(site: Site, pairs: Sequence[Pair], reasons: Sequence[dict[str, Any]]) -> set[int]:
    """Name the incoming workers whose own fee is above the site's and more than their coming is worth."""
    return {
        into
        for (_, into), why in zip(pairs, reasons, strict=True)
        if why["fee"] > site.config.fee and why["break_even"] is not None and why["fee"] > why["break_even"]
    }


def _finite(value: Any) -> Any:
    """Give data that can be put on record: an infinite bound, of somebody never seen, as nothing."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def waiting_of(policy: Policy[Any], after: Any, situation: Situation) -> dict[str, Any]:
    """Give what the policy waits for: arrivals, and for DR-UCB whom it must still see how often."""
    waiting: dict[str, Any] = {"awaited": [one.into for one in situation.roster.pending]}
    if isinstance(policy, DRUCB):
        cycle = policy.cycle(after, situation)
        waiting |= {
            "cycle": cycle.number,
            "phase": cycle.phase,
            "least_observed": cycle.least_observed,
            "still_needed": cycle.still_needed,
        }
    elif isinstance(policy, ValueOfReplacement):
        waiting["look_again"] = min(int(after.look_again), situation.setting.horizon + 1)
    return waiting
