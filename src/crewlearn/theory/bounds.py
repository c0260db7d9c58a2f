"""Upper and lower bounds on regret, with named terms.

Regret is the paper's pseudo-regret over the horizon. Gaps are Delta_{i,j} = mu_i - mu_j with workers ordered from the
best; m is the team size.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

from crewlearn.problem.errors import InvalidInput, real
from crewlearn.problem.model import Setting
from crewlearn.theory.gamma import friction_weight, split_ratio


class _NamedTerms:
    """A bound that is the sum of named terms."""

    @property
    def total(self) -> float:
        """The bound: the sum of its terms."""
        return math.fsum(self.terms().values())

    def terms(self) -> dict[str, float]:
        """Return the terms by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]  # subclasses are dataclasses


@dataclass(frozen=True)
class RegretBound(_NamedTerms):
    """The full bound of the appendix "Statement of the Main Theorem With Exact Constants".

    Logarithms below 0 count as 0; see `regret_bound`.
    """

    learning: float
    """5 sqrt(m (k-m) T log T): distinguishing good workers from bad, as without frictions."""
    last_periods: float
    """(c+1)(k-m) + (k-m) c log(cmT / ((k-m) log T)): near the end, a replacement no longer pays for itself."""
    burn_in: float
    """k (gamma+1) + 4mk/T: everybody must be observed."""
    blocking: float
    """2 (k-m) sqrt(4 gamma log T) (1 + log(mT / ((k-m) log T)) / 2): keeping the team fixed slows learning."""
    friction: float
    """(mean delay + c) m sqrt(kT / gamma): delays and fees over the cycles."""
    first_cycles: float
    """(mean delay + c) m k: delays and fees of the first cycle of each worker."""


@dataclass(frozen=True)
class InstanceBound(_NamedTerms):
    """The instance-dependent bound of the appendix; the best m workers must be strictly better than the rest."""

    learning: float
    """sum of 8 log T / Delta_{m,j} over the workers j outside the best team."""
    friction: float
    """sum of 4 / Delta_{m,j}, times (mean delay + c) m sqrt(k log T / gamma)."""
    blocking: float
    """sum of 2 sqrt(4 gamma log T) (1 + log(Delta_{1,j} / Delta_{m,j}))."""
    last_periods: float
    """sum of c log(c / Delta_{m,j}), plus (c+1)(k-m)."""
    burn_in: float
    """sum of Delta_{1,j} (gamma + 1 + 4m/T)."""
    first_cycles: float
    """2 (mean delay + c) m k (1 + 1/k + k/(gamma T) + k^2/T^2)."""


@dataclass(frozen=True)
class UpToConstant:
    """A rate whose constant the paper does not give: compare growth rates, not values."""

    rate: float
    unit: str = "times an unstated positive constant"


def regret_bound(setting: Setting, gamma: float) -> RegretBound:
    """Return the bound on DR-UCB's regret over the horizon, whatever the workers' means.

    The printed formula holds where its derivation does (`bound_holds`): m T >= (k-m) log T, so that the gap at which
    the proof splits the workers is at most 1. Its fee term also needs c m T >= (k-m) log T; otherwise the harmonic sum
    behind it is empty. Elsewhere the logarithms are negative, and the formula may be too. Here they count as 0, since
    the sums they stand for are empty. The result is always an upper bound, never negative, and equals the printed
    formula where that holds. Outside `bound_holds` it is above `trivial_bound` and therefore uninformative.

    >>> bound = regret_bound(Setting(workers=25, team=10, horizon=730, cost=5.0, mean_delay=3.0), gamma=15.8)
    >>> round(bound.friction), round(bound.total)
    (2719, 11851)
    """
    k, m, horizon, cost = _checked_setting(setting)
    real("gamma", gamma, 0.0, above=True)
    log_horizon, ratio = math.log(horizon), split_ratio(setting)
    friction = setting.mean_delay + cost
    slope = 4.0 * (k - m) * math.sqrt(log_horizon) * (1.0 + 0.5 * math.log(max(1.0, ratio)))
    return RegretBound(
        learning=5.0 * math.sqrt(m * (k - m) * horizon * log_horizon),
        last_periods=(cost + 1.0) * (k - m) + (k - m) * (cost * math.log(max(1.0, cost * ratio))),
        burn_in=k * (gamma + 1.0) + 4.0 * m * k / horizon,
        blocking=slope * math.sqrt(gamma),
        friction=friction_weight(setting) / math.sqrt(gamma),
        first_cycles=friction * m * k,
    )


def trivial_bound(setting: Setting, gamma: float) -> float:
    """Return the trivial bound on DR-UCB's regret: m T of output, and c m for each possible cycle.

    A regret bound above it is valid but uninformative.

    >>> round(trivial_bound(Setting(workers=25, team=10, horizon=730, cost=5.0, mean_delay=3.0), gamma=15.8))
    10249
    """
    return setting.team * setting.horizon + setting.cost * setting.team * cycles_bound(setting, gamma)


def instance_bound(setting: Setting, gamma: float, means: Sequence[float]) -> InstanceBound:
    """Return the bound on DR-UCB's regret for workers with these means.

    The fee term of a worker whose gap exceeds the fee is 0, because the harmonic sum behind it is empty.
    """
    k, m, horizon, cost = _checked_setting(setting)
    real("gamma", gamma, 0.0, above=True)
    gaps = _gaps(means, k, m)
    log_horizon, friction = math.log(horizon), setting.mean_delay + cost
    inverse = math.fsum(1.0 / to_last for to_last, _ in gaps)
    return InstanceBound(
        learning=8.0 * log_horizon * inverse,
        friction=4.0 * inverse * friction * m * math.sqrt(k * log_horizon / gamma),
        blocking=math.fsum(
            2.0 * math.sqrt(4.0 * gamma * log_horizon) * (1.0 + math.log(to_best / to_last))
            for to_last, to_best in gaps
        ),
        last_periods=math.fsum(cost * math.log(max(1.0, cost / to_last)) for to_last, _ in gaps)
        + (cost + 1.0) * (k - m),
        burn_in=math.fsum(to_best * (gamma + 1.0 + 4.0 * m / horizon) for _, to_best in gaps),
        first_cycles=2.0 * friction * m * k * (1.0 + 1.0 / k + k / (gamma * horizon) + (k / horizon) ** 2),
    )


def instance_limit(means: Sequence[float], team: int) -> float:
    """Return the limit of the instance-dependent bound over log T: the sum of 8 / Delta_{m,j}.

    >>> round(instance_limit([0.9, 0.7, 0.5], team=1), 6)
    60.0
    """
    return math.fsum(8.0 / to_last for to_last, _ in _gaps(means, len(means), team))


def minimax_lower_bound(setting: Setting) -> UpToConstant:
    """Return the minimax lower bound, which no policy beats on every instance: min(sqrt(mkT), mT), up to a constant."""
    m, horizon = setting.team, setting.horizon
    return UpToConstant(min(math.sqrt(m * setting.workers * horizon), float(m * horizon)))


def instance_lower_limit(means: Sequence[float], team: int) -> float:
    """Return the lower bound on the limit of regret / log T of any consistent policy, for Bernoulli output.

    It is the sum of Delta_{m,j} / kl(mu_j, mu_m) over the workers outside the best team. On the paper's instance (the
    best at 1/2, the others Delta below) it is at least (k-m) / (4 Delta).
    """
    last_best = sorted(means, reverse=True)[team - 1]
    return math.fsum(
        to_last / _bernoulli_divergence(last_best - to_last, last_best) for to_last, _ in _gaps(means, len(means), team)
    )


def cost_growth(setting: Setting) -> UpToConstant:
    """Return the cost up to which the rate sqrt(mkT) holds: max(0, (T / (mk))^(1/4) - mean delay), up to a constant."""
    root = (setting.horizon / (setting.team * setting.workers)) ** 0.25
    return UpToConstant(max(0.0, root - setting.mean_delay))


def cycles_bound(setting: Setting, gamma: float) -> float:
    """Return the bound on DR-UCB's number of cycles that holds on every sample path: sqrt(kT / gamma) + k."""
    real("gamma", gamma, 0.0, above=True)
    return math.sqrt(setting.workers * setting.horizon / gamma) + setting.workers


def expected_cycles_bound(setting: Setting, gamma: float, means: Sequence[float]) -> float:
    """Return the instance-dependent bound on the expected number of cycles."""
    k, m, horizon, _ = _checked_setting(setting)
    real("gamma", gamma, 0.0, above=True)
    inverse = math.fsum(2.0 / to_last for to_last, _ in _gaps(means, k, m))
    growth = inverse * math.sqrt(math.log(horizon) / (k * gamma))
    return 2.0 * k * (growth + 1.0 + 1.0 / k + k / (gamma * horizon) + (k / horizon) ** 2)


def _checked_setting(setting: Setting) -> tuple[int, int, int, float]:
    """Check that the theorems apply to the setting: k > m and more than one period."""
    if setting.workers <= setting.team:
        raise InvalidInput(
            "team", setting.team, f"the bounds need more workers than stations; workers = {setting.workers}"
        )
    if setting.horizon < 2:
        raise InvalidInput("horizon", setting.horizon, "the bounds need at least 2 periods")
    return setting.workers, setting.team, setting.horizon, setting.cost


def _gaps(means: Sequence[float], k: int, m: int) -> list[tuple[float, float]]:
    """Return (Delta_{m,j}, Delta_{1,j}) for each worker j outside the best m."""
    if len(means) != k:
        raise InvalidInput("means", list(means), f"must have one entry for each of the {k} workers")
    if not 1 <= m < k:
        raise InvalidInput("team", m, f"must be from 1 to {k - 1}, below the number of workers")
    ordered = sorted((real(f"means[{index}]", mean, 0.0, 1.0) for index, mean in enumerate(means)), reverse=True)
    if ordered[m - 1] <= ordered[m]:
        raise InvalidInput(
            "means",
            list(means),
            f"the best {m} must be strictly better than the rest; an instance-dependent bound needs a gap",
        )
    return [(ordered[m - 1] - mean, ordered[0] - mean) for mean in ordered[m:]]


def _bernoulli_divergence(p: float, q: float) -> float:
    """Return the Kullback-Leibler divergence of Bernoulli(p) from Bernoulli(q)."""
    return sum(x * math.log(x / y) if y > 0.0 else math.inf for x, y in ((p, q), (1.0 - p, 1.0 - q)) if x > 0.0)
