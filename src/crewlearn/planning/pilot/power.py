"""Power of a pilot beforehand: pilots drawn with the site's own variation, each put to the very test of the end.

Few groups tell the variation only roughly. So it is fitted to many resamples of the groups, and each fit has its share
of the drawn pilots: the promise is an average over what the variation may be.
"""

from dataclasses import dataclass

import numpy as np

from crewlearn.planning.pilot.comparison import Cells, assignments, estimates, exposure, scores
from crewlearn.planning.pilot.variation import Products, Variation, carried_share
from crewlearn.problem.arrays import FloatArray

FITS, PILOTS_A_FIT = 60, 40
COMPARED = 1_000
"""The most assignments that a drawn pilot is compared with."""
_HALVINGS = 40


@dataclass(frozen=True)
class Power:
    """Drawn pilots of a design: estimates under its own and other assignments, without effect and for a gain of 1.

    `carried` is the share of the baseline that the analysis takes off.
    """

    own: FloatArray
    others: FloatArray
    moved: FloatArray
    level: float
    carried: float
    variation: Variation

    def of_gain(self, gain: float) -> float:
        """Return the probability that the pilot shows an effect if advice gains so much a station and day."""
        own = np.abs(self.own + gain) * (1 - 1e-9)
        beyond = (np.abs(self.others + gain * self.moved) >= own[:, None]).mean(axis=1)
        return float(np.mean(beyond <= self.level))

    def detectable(self, power: float) -> float:
        """Return the smallest gain that the pilot shows with this probability."""
        low, high = 0.0, max(float(np.std(self.own)), 1e-12)
        for _ in range(_HALVINGS):
            if self.of_gain(high) >= power:
                break
            low, high = high, 2.0 * high
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            low, high = (low, middle) if self.of_gain(middle) >= power else (middle, high)
            if high - low < 1e-3 * high:
                break
        return high


def power_of(products: Products, cells: Cells, sizes: tuple[int, ...], level: float, seed: int = 1) -> Power:
    """Draw pilots of a design with the variation of the groups on record."""
    random = np.random.default_rng([seed, len(cells.days), sum(sizes)])
    groups, waves, weights = sum(sizes), len(sizes), cells.weights(sizes)
    fitted = products.fit()
    carried = carried_share(fitted.covariance(cells), weights)
    draws = []
    for _ in range(FITS):
        chosen = random.integers(0, products.groups, products.groups)
        root = _root(products.fit(chosen.tolist()).covariance(cells))
        draws.append(random.normal(size=(PILOTS_A_FIT, groups, len(root))) @ root.T)
    score = scores(np.concatenate(draws), weights, carried)
    own = np.repeat(np.arange(waves, dtype=np.int8), sizes)
    listed = assignments(sizes)
    if len(listed) > COMPARED:
        listed = np.vstack([own, listed[random.choice(len(listed), COMPARED - 1, replace=False)]])
    exposed = exposure(cells)[own.astype(np.int64)] @ weights.T
    return Power(
        estimates(score, own[None, :])[:, 0],
        estimates(score, listed),
        estimates(exposed, listed),
        level,
        carried,
        fitted,
    )


def _root(covariance: FloatArray) -> FloatArray:
    """Return a square root of a covariance matrix, which may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    root: FloatArray = vectors * np.sqrt(np.maximum(values, 0.0))
    return root
