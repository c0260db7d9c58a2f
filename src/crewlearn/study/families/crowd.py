"""Real workers: how often members of a crowd answered right, in two public data sets.

The counts are of Snow, O'Connor, Jurafsky and Ng (2008): `rte`, whether one sentence follows from another, and `temp`,
which of two events came first. A worker's mean is their share of right answers. A period is a single answer, right or
wrong, or a day of ten answers, whose output is the share that was right. Nobody changes: the counts do not say in
which order the answers came.
"""

import json
from importlib.resources import files
from typing import Any

from crewlearn.problem.laws import BernoulliOutput, BetaOutput
from crewlearn.problem.model import Pool, Problem
from crewlearn.study.families.family import Family
from crewlearn.study.families.stationary import base_delay

ANSWERS_A_DAY = 10

SINGLE_ANSWERS = BernoulliOutput()

DAYS_OF_TEN = BetaOutput(concentration=ANSWERS_A_DAY - 1.0)
"""Its variance p (1 - p) / 10 is that of ten answers averaged; its values are not confined to tenths."""


def crowd_pool(name: str) -> Pool:
    """Return the workers of a data set, with their share of right answers as mean.

    >>> crowd_pool("rte").count, crowd_pool("temp").count
    (40, 31)
    """
    return Pool(tuple(right / answers for answers, right in _data()["pools"][name]))


def _data() -> dict[str, Any]:
    text = files("crewlearn.study.families").joinpath("crowd_workers.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def _settings() -> tuple[tuple[str, Problem], ...]:
    """Return both data sets, each as single answers and as days; the rest is as in the stationary families' base."""
    return tuple(
        (f"{name}, {label}", Problem(10, 730, 5.0, crowd_pool(name), base_delay(), output))
        for name in ("rte", "temp")
        for label, output in (("single answers", SINGLE_ANSWERS), ("days of ten", DAYS_OF_TEN))
    )


CROWD = Family("crowd", "real crowd workers: most are good, a few answer at random", _settings())
