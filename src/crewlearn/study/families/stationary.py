"""Families in which nobody changes, each with a fresh pool in every run.

Delays are as in the paper's text: an incoming worker is free in each later period with probability 1/mean. Spreads
between and within workers follow public logs of real workplaces.
"""

from collections.abc import Iterator
from dataclasses import replace

from crewlearn.problem.laws import (
    AvailabilityDelay,
    BernoulliOutput,
    DelayLaw,
    NoDelay,
    OutputLaw,
    TruncatedNormalOutput,
    UniformOutput,
)
from crewlearn.problem.model import Problem
from crewlearn.problem.recipes import Recipe
from crewlearn.study.families.family import Family


def base_delay() -> DelayLaw:
    """Return the delay of the base settings, mean 3."""
    return _delay(3.0)


def stationary_family(
    name: str, story: str, between_sd: float, output: OutputLaw, workers: int = 25, team: int = 10
) -> Family:
    """Return a family whose base setting has 24 months, fee 5 and mean delay 3.

    `between_sd` is the spread of the means around 0.5 before truncation to [0, 1].
    """
    base = Problem(
        team=team,
        horizon=730,
        cost=5.0,
        workers=Recipe("truncated-normal", count=workers, mean=0.5, sd=between_sd, per_run=True),
        output=output,
        delay=base_delay(),
    )
    return Family(name, story, tuple(_settings(base)))


def _settings(base: Problem) -> Iterator[tuple[str, Problem]]:
    """Yield the base, then other fees, team sizes and delays, one at a time."""
    yield "base", base
    for fee in (1.0, 30.0):
        yield f"fee {fee:g}", replace(base, cost=fee)
    for team in (5, 20):
        yield f"m = {team}", replace(base, team=team)
    for mean in (0.0, 14.0):
        yield f"mean delay {mean:g}" if mean else "no delay", replace(base, delay=_delay(mean))


def _delay(mean: float) -> DelayLaw:
    return AvailabilityDelay(1.0 / mean) if mean else NoDelay()


STATIONARY = (
    stationary_family(
        "paper", "the paper's benchmark as its text states it: gaps wide, noise small", 0.3, UniformOutput(0.1)
    ),
    stationary_family(
        "bernoulli", "a shift succeeds or fails: the paper's pool with 0/1 output", 0.3, BernoulliOutput()
    ),
    stationary_family(
        "narrow-bernoulli",
        "0/1 output and workers hardly apart: learning is slow and may not pay",
        0.08,
        BernoulliOutput(),
    ),
    stationary_family(
        "warehouse",
        "order picking: own noise twice the gaps, and days good or bad for everybody",
        0.05,
        TruncatedNormalOutput(sd=0.11, day_effect_sd=0.09),
    ),
    stationary_family(
        "call-centre", "calls handled: workers further apart than their days", 0.15, TruncatedNormalOutput(0.11)
    ),
    stationary_family(
        "sewing", "sewing lines: days three times as far apart as workers", 0.05, TruncatedNormalOutput(0.15)
    ),
    stationary_family(
        "big-pool", "an agency's whole list: 500 workers for 50 stations", 0.3, UniformOutput(0.1), 500, 50
    ),
)
"""The families of the default leaderboard."""
