"""Draws from the laws that outputs, delays and levels share, as pure functions of a key."""

import math

from crewlearn.problem.chance import mix, normal, uniform, unit


def draw_truncated_normal(spread: float, room: float, key: int) -> float:
    """Draw from a normal(0, spread) truncated to ±room, by rejection from the stream `key`.

    The proposal is normal if the interval is wide and uniform if it is narrow, so that few draws are rejected.
    """
    if spread <= 0.0 or room <= 0.0:
        return 0.0
    n = 0
    while True:
        n += 1
        if room >= spread:
            x = spread * normal(key, n)
            if abs(x) <= room:
                return x
        else:
            x = room * (2.0 * uniform(key, 2 * n) - 1.0)
            if uniform(key, 2 * n + 1) <= math.exp(-0.5 * (x / spread) * (x / spread)):
                return x


def draw_gamma(shape: float, key: int) -> float:
    """Draw from a gamma law with the given shape and scale 1 (Marsaglia and Tsang's squeeze).

    With shape 0, which a product of small numbers may round to, everything lies at 0.
    """
    if shape <= 0.0:
        return 0.0
    boost = 1.0
    if shape < 1.0:
        boost = math.exp(math.log(uniform(key, 0)) / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    scale = 1.0 / math.sqrt(9.0 * d)
    n = 0
    while True:
        n += 1
        z = normal(mix(key, 1), n)
        root = 1.0 + scale * z
        cube = root * root * root
        if cube > 0.0 and math.log(uniform(mix(key, 2), n)) < 0.5 * z * z + d - d * cube + d * math.log(cube):
            return boost * d * cube


def draw_beta(a: float, b: float, key: int) -> float:
    """Draw from a beta law; if both gammas underflow, draw from the limit, a coin with mean a/(a+b)."""
    x = draw_gamma(a, mix(key, 1))
    y = draw_gamma(b, mix(key, 2))
    if x + y <= 0.0:
        return 1.0 if unit(mix(key, 3)) < a / (a + b) else 0.0
    return x / (x + y)
