"""Families of instances beyond the paper's benchmark, each with a description and a fresh pool in every run.

Delays are as in the paper's text: an incoming worker is free in each later period with probability 1/mean. Spreads
between and within workers follow public logs of real workplaces.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

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


@dataclass(frozen=True)
class Family:
    """A family of instances; `between_sd` is the spread of the means around 0.5 before truncation to [0, 1]."""

    name: str
    story: str
    between_sd: float
    output: OutputLaw
    workers: int = 25
    team: int = 10

    def problem(self) -> Problem:
        """Return the family's base setting: 24 months, fee 5, mean delay 3.

        >>> FAMILIES["big-pool"].problem().setting
        Setting(workers=500, team=50, horizon=730, cost=5.0, mean_delay=3.0)
        """
        return Problem(
            team=self.team,
            horizon=730,
            cost=5.0,
            workers=Recipe("truncated-normal", count=self.workers, mean=0.5, sd=self.between_sd, per_run=True),
            output=self.output,
            delay=_delay(3.0),
        )


FAMILIES = {
    family.name: family
    for family in (
        Family("paper", "the paper's benchmark as its text states it: gaps wide, noise small", 0.3, UniformOutput(0.1)),
        Family("bernoulli", "a shift succeeds or fails: the paper's pool with 0/1 output", 0.3, BernoulliOutput()),
        Family(
            "narrow-bernoulli",
            "0/1 output and workers hardly apart: learning is slow and may not pay",
            0.08,
            BernoulliOutput(),
        ),
        Family(
            "warehouse",
            "order picking: own noise twice the gaps, and days good or bad for everybody",
            0.05,
            TruncatedNormalOutput(sd=0.11, day_effect_sd=0.09),
        ),
        Family(
            "call-centre", "calls handled: workers further apart than their days", 0.15, TruncatedNormalOutput(0.11)
        ),
        Family("sewing", "sewing lines: days three times as far apart as workers", 0.05, TruncatedNormalOutput(0.15)),
        Family("big-pool", "an agency's whole list: 500 workers for 50 stations", 0.3, UniformOutput(0.1), 500, 50),
    )
}
"""The families by name."""


def settings_of(family: Family) -> Iterator[tuple[str, Problem]]:
    """Yield the family's settings with labels: the base, then other fees, team sizes and delays, one at a time.

    >>> [label for label, problem in settings_of(FAMILIES["sewing"])]
    ['base', 'fee 1', 'fee 30', 'm = 5', 'm = 20', 'no delay', 'mean delay 14']
    """
    base = family.problem()
    yield "base", base
    for fee in (1.0, 30.0):
        yield f"fee {fee:g}", replace(base, cost=fee)
    for team in (5, 20):
        yield f"m = {team}", replace(base, team=team)
    for mean in (0.0, 14.0):
        yield f"mean delay {mean:g}" if mean else "no delay", replace(base, delay=_delay(mean))


def _delay(mean: float) -> DelayLaw:
    return AvailabilityDelay(1.0 / mean) if mean else NoDelay()
