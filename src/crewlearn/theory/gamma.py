"""The paper's three choices of gamma, the pace of the replacement rule."""

import math

from crewlearn.problem.model import Setting


def gamma1(setting: Setting) -> float:
    """Return the gamma of the main theorem's rate: (mean delay + c)^2 m.

    It is 0 without fee and delay, where the bounds do not apply: they need gamma > 0.
    """
    return (setting.mean_delay + setting.cost) ** 2 * setting.team


def gamma2(setting: Setting) -> float:
    """Return the gamma of the instance-dependent bound: (mean delay + c) m.

    Like `gamma1`, it is 0 without fee and delay.
    """
    return (setting.mean_delay + setting.cost) * setting.team


def bound_holds(setting: Setting) -> bool:
    """Return whether the full bound's derivation covers the setting: m < k, T >= 2 and m T >= (k-m) log T.

    The proof of the instance-independent bound splits the workers at the gap epsilon = sqrt((k-m) log T / (m T)) and
    bounds the cost of those with larger gaps by log(1 / epsilon). Gaps are at most 1, so this needs epsilon <= 1.

    >>> bound_holds(Setting(workers=25, team=10, horizon=730, cost=5.0, mean_delay=3.0))
    True
    >>> bound_holds(Setting(workers=1000, team=1, horizon=100, cost=5.0, mean_delay=3.0))
    False
    """
    outside = setting.workers - setting.team
    return outside > 0 and setting.horizon >= 2 and split_ratio(setting) >= 1.0


def split_ratio(setting: Setting) -> float:
    """Return 1 / epsilon^2 = m T / ((k-m) log T), for a setting with k > m and T >= 2."""
    return setting.team * setting.horizon / ((setting.workers - setting.team) * math.log(setting.horizon))


def blocking_slope(setting: Setting) -> float:
    """Return the printed factor of sqrt(gamma) in the full bound: 4 (k-m) sqrt(log T) (1 + log(1 / epsilon)).

    It is 0, its limit, if k <= m or the horizon is one period. It may be negative where the derivation does not hold.
    """
    outside, log_horizon = setting.workers - setting.team, math.log(setting.horizon)
    if outside <= 0 or log_horizon <= 0.0:
        return 0.0
    return 4.0 * outside * math.sqrt(log_horizon) * (1.0 + 0.5 * math.log(split_ratio(setting)))


def friction_weight(setting: Setting) -> float:
    """Return the factor of 1/sqrt(gamma) in the full bound: (mean delay + c) m sqrt(kT)."""
    return (setting.mean_delay + setting.cost) * setting.team * math.sqrt(setting.workers * setting.horizon)


def gamma_star(setting: Setting) -> float:
    """Return the gamma that minimises the full bound of the paper's appendix.

    In x = sqrt(gamma) the bound is k x^2 + a x + b/x plus a constant, so x is the one positive root of the cubic
    2k x^3 + a x^2 - b = 0, taken here in closed form. Without cost and delay (b = 0) the best gamma is 0.

    Where `bound_holds` is false the printed formula is not a bound. The value still minimises the formula, and DR-UCB
    uses it by default, but no theorem supports it.

    >>> round(gamma_star(Setting(workers=25, team=10, horizon=730, cost=5.0, mean_delay=3.0)), 2)
    15.8
    """
    k, a, b = max(setting.workers, 1), blocking_slope(setting), friction_weight(setting)
    root = _positive_root(a / (2.0 * k), b / (2.0 * k))
    return root * root


def _positive_root(a: float, b: float) -> float:
    """Solve x^3 + a x^2 = b for x > 0, with b >= 0, by the forms of Cardano and Vieta that avoid cancellation."""
    if b < 1e-200:
        return max(0.0, -a)
    scale = math.cbrt(b)  # rescale x so that b = 1
    third = a / (3.0 * scale)
    if third < 0.0:  # shift by a/3: the sum of the roots and the shift are both positive
        cube = -(third**3)
        s = math.cbrt(0.5 + cube + math.sqrt(0.25 + cube))
        return scale * (s + third * third / s - third)
    # z = 1/x solves z^3 - 3 third z - 1 = 0, which has no square term to shift away
    if third < 1.0 and third**3 <= 0.25:
        root = math.sqrt(0.25 - third**3)
        z = math.cbrt(0.5 + root) + math.cbrt(0.5 - root)
    else:
        z = 2.0 * math.sqrt(third) * math.cos(math.acos(0.5 * third**-1.5) / 3.0)
    return scale / z
