"""Everybody's level on every day, drawn from what a record tells: forward filtering, backward sampling."""

import math

import numpy as np

from crewlearn.problem.arrays import FloatArray, IntArray


def draw_paths(
    output: FloatArray,
    expected: FloatArray,
    noise: FloatArray,
    known: FloatArray,
    first: FloatArray,
    drifts: FloatArray,
    log_drifts: FloatArray,
    uniforms: FloatArray,
    normals: FloatArray,
    levels: FloatArray,
    kinds: IntArray,
) -> None:
    """Fill in the levels of all workers (rows) on all days (columns), and the kind of each worker.

    On a day with output y, y is normal around `expected` times the level, with variance `noise`. `known` has the number
    and the sum of earlier observations of each, and the variance of one. A first level comes from one of several parts
    of the pool: `first` has a row for each with its log share, mean and variance. From the first day worked, it moves
    by one of `drifts` a day. The kind is the part times the number of drifts, plus the drift. Each worker takes one of
    `uniforms` and a row of `normals`.
    """
    workers, days = output.shape
    parts, classes = len(first), len(drifts)
    means, variances = np.empty((parts * classes, days)), np.empty((parts * classes, days))
    logs = np.empty(parts * classes)
    for worker in range(workers):
        start = 0
        while start < days and math.isnan(output[worker, start]):
            start += 1
        for kind in range(parts * classes):
            part, step = kind // classes, drifts[kind % classes]
            mean, variance = first[part, 1], first[part, 2]
            log = first[part, 0] + log_drifts[kind % classes]
            if known[worker, 0] > 0.0:
                doubt = known[worker, 2] / known[worker, 0]
                surprise, total = known[worker, 1] / known[worker, 0] - mean, variance + doubt
                log -= 0.5 * (math.log(total) + surprise * surprise / total)
                mean += variance / total * surprise
                variance *= doubt / total
            for day in range(days):
                if day > start:
                    variance += step * step
                if not math.isnan(output[worker, day]):
                    share = expected[worker, day]
                    total = share * share * variance + noise[worker, day]
                    surprise = output[worker, day] - share * mean
                    log -= 0.5 * (math.log(total) + surprise * surprise / total)
                    mean += share * variance / total * surprise
                    variance *= noise[worker, day] / total
                means[kind, day] = mean
                variances[kind, day] = variance
            logs[kind] = log
        kind = _chosen(logs, uniforms[worker])
        kinds[worker] = kind
        step = drifts[kind % classes]
        for day in range(days - 1, -1, -1):
            mean, variance = means[kind, day], variances[kind, day]
            if day < days - 1:
                if day < start or step <= 0.0:
                    levels[worker, day] = levels[worker, day + 1]
                    continue
                pull = variance / (variance + step * step)
                mean += pull * (levels[worker, day + 1] - mean)
                variance *= 1.0 - pull
            levels[worker, day] = mean + math.sqrt(variance) * normals[worker, day]


def _chosen(logs: FloatArray, uniform: float) -> int:
    """Return a place drawn with weights given by their logarithms."""
    best = -math.inf
    for place in range(len(logs)):
        best = max(best, float(logs[place]))
    whole = 0.0
    for place in range(len(logs)):
        whole += math.exp(float(logs[place]) - best)
    rest = uniform * whole
    for place in range(len(logs)):
        rest -= math.exp(float(logs[place]) - best)
        if rest < 0.0:
            return place
    return len(logs) - 1
