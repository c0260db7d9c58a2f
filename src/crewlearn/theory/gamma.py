"""The paper's three choices of gamma, the pace of the replacement rule."""

import math

from crewlearn.problem.model import Setting


def gamma1(setting: Setting) -> float:
    """Give the gamma of the main theorem's rate: (mean delay + c)^2 m."""
    return (setting.mean_delay + setting.cost) ** 2 * setting.team


def gamma2(setting: Setting) -> float:
    """Give the gamma of the instance-dependent bound: (mean delay + c) m."""
    return (setting.mean_delay + setting.cost) * setting.team


def blocking_slope(setting: Setting) -> float:
    """Give the factor of sqrt(gamma) in the full bound: 4 (k-m) sqrt(log T) (1 + log(mT / ((k-m) log T)) / 2).

    It vanishes, as its limit does, where nobody is left to hire or the horizon is one period.
    """
    outside, log_horizon = setting.workers - setting.team, math.log(setting.horizon)
    if outside <= 0 or log_horizon <= 0.0:
        return 0.0
    spread = math.log(setting.team * setting.horizon / (outside * log_horizon))
    return 4.0 * outside * math.sqrt(log_horizon) * (1.0 + 0.5 * spread)


def friction_weight(setting: Setting) -> float:
    """Give the factor of 1/sqrt(gamma) in the full bound: (mean delay + c) m sqrt(kT)."""
    return (setting.mean_delay + setting.cost) * setting.team * math.sqrt(setting.workers * setting.horizon)


def gamma_star(setting: Setting) -> float:
    """Give the gamma that minimises the full bound of the paper's appendix.

    In x = sqrt(gamma) the bound is k x^2 + a x + b/x plus a constant, so x is the one positive root of the cubic
    2k x^3 + a x^2 - b = 0, taken here in closed form. Without cost and delay (b = 0) the best gamma is 0.

    >>> round(gamma_star(Setting(workers=25, team=10, horizon=730, cost=5.0, mean_delay=3.0)), 2)
    15.8
    """
    k, a, b = max(setting.workers, 1), blocking_slope(setting), friction_weight(setting)
    root = _positive_root(a / (2.0 * k), b / (2.0 * k))
    return root * root


def _positive_root(a: float, b: float) -> float:
    """Solve x^3 + a x^2 = b for x > 0, with b >= 0."""
    if b <= 0.0:
        return max(0.0, -a)
    # With x = y - a/3 the cubic is y^3 + 3 p y = 2 q; Cardano or Vieta, by the sign of the discriminant.
    p, q = -((a / 3.0) ** 2), 0.5 * b - (a / 3.0) ** 3
    discriminant = q * q + p**3
    if discriminant >= 0.0:
        s = math.cbrt(abs(q) + math.sqrt(discriminant))
        y = math.copysign(s - p / s if s > 0.0 else 0.0, q)
    else:
        y = 2.0 * math.sqrt(-p) * math.cos(math.acos(max(-1.0, min(1.0, q / (-p) ** 1.5))) / 3.0)
    x = y - a / 3.0
    for _ in range(3):  # Newton's steps give back the digits that the subtraction of a/3 may have cost
        x = max(x, 1e-300)
        x -= (x * x * (x + a) - b) / (x * (3.0 * x + 2.0 * a))
    return x
