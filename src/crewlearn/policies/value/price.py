"""The price of a station: what a place in the team is worth per period to whoever searches the pool.

At a given price, a worker in the team keeps the place if their mean exceeds the price. A worker outside takes one if a
trial, with the fee and the delays paid and every period charged at the price, gains; they keep it if the trial finds
them above the price. The price is the level at which the expected number of places taken is the number of stations. In
a large pool it is the reservation level of a search, at which one more trial just pays its fee. In a small pool it is
about the m-th best level to be found.

So a station whose worker is below the price goes on searching after a failed trial, and is worth the price meanwhile:
the fee of the next trial is paid by what that trial gains. A worker above the price would be hired back later.
"""

import math

from crewlearn.beliefs.posterior import BETWEEN, CENTRE, CENTRE_DOUBT, NOISE, Beliefs, chance_above
from crewlearn.policies.rule import RuleFacts
from crewlearn.policies.value.trials import Trial, best_trial, gain_of, sd_of_finding
from crewlearn.problem.transitions import ARRIVING, FREE

HALVINGS = 10
"""Steps of the bisection, after which the price is known to 1/2048."""

CLEAR = 4.0
"""Standard deviations from the price beyond which a worker is taken to be above or below it."""


def station_price(beliefs: Beliefs, facts: RuleFacts, left: float) -> float:
    """Return the price at which as many places are expected to be taken as there are stations.

    Trials have the length that is best for an untried worker if the price is the pool's centre.
    """
    pool = beliefs.pool
    centre, variance = float(pool[CENTRE]), float(pool[BETWEEN] + pool[CENTRE_DOUBT])
    untried = best_trial(centre, variance, float(pool[NOISE]), 0.0, facts.cost, centre, left, facts.mean_delay, centre)
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        price = 0.5 * (low + high)
        if _more_than_stations(beliefs, facts, untried, price, left):
            low = price
        else:
            high = price
    return 0.5 * (low + high)


def _more_than_stations(beliefs: Beliefs, facts: RuleFacts, untried: Trial, price: float, left: float) -> bool:
    """Return whether more places are expected to be taken at this price than there are stations."""
    means, variances, noise = beliefs.means, beliefs.variances, float(beliefs.pool[NOISE])
    station_of, role, may_enter, counts = (
        facts.roster.station_of,
        facts.roster.role,
        facts.may_enter,
        facts.estimates.counts,
    )
    room = float(len(facts.roster.stations))
    share_untried = share_taken(untried.mean, untried.sd, untried, price, left)
    taken = 0.0
    for worker in range(len(means)):
        if taken > room:
            break
        inside = (station_of[worker] >= 0 and role[worker] == FREE) or role[worker] == ARRIVING
        if not inside and not may_enter[worker]:
            continue
        if not inside and counts[worker] == 0:
            taken += share_untried
            continue
        above = float(means[worker]) - price
        sd = math.sqrt(variances[worker])
        if inside and above >= CLEAR * sd:
            taken += 1.0
        elif above > -CLEAR * sd:
            if inside:
                taken += chance_above(above, sd, 0.0)
            else:
                finding = sd_of_finding(float(variances[worker]), noise, untried.length)
                taken += share_taken(float(means[worker]), finding, untried, price, left)
    return taken > room


def share_taken(mean: float, sd: float, like: Trial, price: float, left: float) -> float:
    """Return the chance that a worker outside ends up with a place at this price; 0 if a trial does not pay.

    The trial is `like` another, in length, fee and delay, and `sd` is that of the worker's mean after it.

    >>> like = Trial(0.5, 0.2, 1.0, 0.0, 5.0, 3.0, 0.5)
    >>> round(share_taken(0.5, 0.2, like, 0.7, 700.0), 4), share_taken(0.5, 0.2, like, 0.95, 700.0)
    (0.1587, 0.0)
    """
    trial = Trial(mean, sd, like.length, 0.0, like.fee, like.wait, price)
    return chance_above(mean, sd, price) if gain_of(trial, price, left) > 0.0 else 0.0
