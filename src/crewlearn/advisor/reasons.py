"""What spoke for advice, in numbers, as it was when the advice was derived; kept with it on record.

All numbers are in the policy's units; `explain` puts them into people's.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from crewlearn.advisor.site import Site
from crewlearn.policies.contract import Pair, Policy, Situation
from crewlearn.policies.dr_ucb import DRUCB
from crewlearn.policies.posterior import LEARN, NOISE, Assumed, fresh_beliefs, learn
from crewlearn.policies.trials import chance_above
from crewlearn.policies.value import ValueOfReplacement
from crewlearn.problem.arrays import NOBODY

_ASSUMED = Assumed(ValueOfReplacement.noise_guess, ValueOfReplacement.guess_weight, LEARN, LEARN, LEARN)


def estimates_of(site: Site) -> tuple[list[dict[str, float]], float]:
    """Give everybody's estimate (days observed, expected output, its standard deviation) and the spread of a day.

    It is the posterior that the pool's own data give, whatever the policy: so people see one estimate everywhere.
    """
    counts = np.array([worker.prior_n for worker in site.workers], dtype=np.int64)
    sums = np.array([worker.prior_n * worker.prior_mean for worker in site.workers], dtype=np.float64)
    beliefs = fresh_beliefs(counts, sums)
    learn(beliefs, site.estimates, _ASSUMED)
    everybody = [
        {"days": int(site.estimates.counts[number]), "mean": float(mean), "sd": math.sqrt(variance)}
        for number, (mean, variance) in enumerate(zip(beliefs.means, beliefs.variances, strict=True))
    ]
    return everybody, math.sqrt(float(beliefs.pool[NOISE]))


def reasons_of(
    site: Site, policy: Policy[Any], after: Any, situation: Situation, pairs: Sequence[Pair]
) -> list[dict[str, Any]]:
    """Give, for each pair, both workers' estimates, the chance that the incoming is better, and the policy's why."""
    if not pairs:
        return []
    everybody, _ = estimates_of(site)
    nobody = {"days": 0, "mean": 0.0, "sd": 0.0}
    own: list[Any] = [None] * len(pairs)
    if isinstance(policy, (DRUCB, ValueOfReplacement)):
        own = [_finite(asdict(reason)) for reason in policy.reasons(after, situation, pairs)]
    left = max(0, situation.setting.horizon - situation.period + 1)
    reasons = []
    for (out, into), said in zip(pairs, own, strict=True):
        leaving, entering = nobody if out == NOBODY else everybody[out], everybody[into]
        reasons.append(
            {
                "out": leaving,
                "into": entering,
                "chance_better": chance_above(
                    entering["mean"], math.hypot(entering["sd"], leaving["sd"]), leaving["mean"]
                ),
                "periods_left": left,
                "mean_delay": situation.setting.mean_delay,
                "cost": situation.setting.cost,
                "policy": said,
            }
        )
    return reasons


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
