"""Interview scores: an imperfect signal of true means with exact sample correlation (the paper's appendix)."""

import math

import numpy as np

from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.chance import normal


def score_interviews(means: FloatArray, rho: float, key: int, scores: FloatArray) -> None:
    """Fill in scores S = avg + rho (mu - avg) + sqrt(1 - rho^2) |mu - avg| e.

    e is a random unit vector orthogonal to 1 and to mu - avg, drawn from the stream `key`, so the sample correlation of
    scores and means is rho exactly. With two workers there is no such vector, and the scores are exact up to sign.
    """
    workers = len(means)
    average = 0.0
    for worker in range(workers):
        average += means[worker]
    average /= workers
    spread = 0.0
    noise = np.empty(workers, dtype=np.float64)
    level = 0.0
    for worker in range(workers):
        spread += (means[worker] - average) * (means[worker] - average)
        noise[worker] = normal(key, worker)
        level += noise[worker]
    level /= workers
    along = 0.0
    for worker in range(workers):
        noise[worker] -= level
        along += noise[worker] * (means[worker] - average)
    length = 0.0
    for worker in range(workers):
        if spread > 0.0:
            noise[worker] -= along / spread * (means[worker] - average)
        length += noise[worker] * noise[worker]
    scale = 0.0
    if workers > 2 and length > 0.0:
        scale = math.sqrt((1.0 - rho * rho) * spread / length)
    for worker in range(workers):
        scores[worker] = average + rho * (means[worker] - average) + scale * noise[worker]
