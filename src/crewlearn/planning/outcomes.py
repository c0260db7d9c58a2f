"""What plans say: the results of policies played in the same futures, in money and in words."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from crewlearn.advisor.ledger.text import counted
from crewlearn.advisor.wording.doubt import chance, rounded
from crewlearn.engine.results import Summary, student_95
from crewlearn.planning.limits import KEEP
from crewlearn.planning.words import money, money_span
from crewlearn.problem.arrays import FloatArray, IntArray
from crewlearn.problem.errors import one_of

COLUMNS = (
    "policy",
    "output",
    "fees",
    "net",
    "more than keeping",
    "simulation, 95%",
    "9 of 10 worlds",
    "better in",
    "replacements",
)
"""The headings of `Plan.rows`: the doubt of the simulation stands apart from the range of outcomes."""


@dataclass(frozen=True)
class Expected:
    """An expected amount of money.

    `low` to `high` is the 95% interval of the mean: the doubt of the simulation, which shrinks with more runs. The rest
    are ranges of outcomes, which do not: `likely_low` to `likely_high` of 9 in 10 simulated worlds, and `worst` to
    `best` of 95%.
    """

    mean: float
    low: float
    high: float
    worst: float
    best: float
    likely_low: float
    likely_high: float

    @classmethod
    def of(cls, values: FloatArray, sets: IntArray | None = None) -> "Expected":
        """Summarise the amounts of all worlds; those of one of `sets` share what is unknown, so they count together."""
        mean = float(values.mean())
        reach = _doubt(values, sets)
        worst, likely_low, likely_high, best = (float(end) for end in np.percentile(values, (2.5, 5.0, 95.0, 97.5)))
        return cls(mean, mean - reach, mean + reach, worst, best, likely_low, likely_high)

    def round(self, *amounts: float) -> tuple[float, ...]:
        """Return amounts without digits that the range of outcomes makes meaningless."""
        return rounded(self.likely_low, self.likely_high, *amounts)

    @property
    def expected(self) -> str:
        """The mean, as a gain or loss in words."""
        return money(*self.round(self.mean), sign=True)

    @property
    def likely(self) -> str:
        """The range of 9 in 10 worlds in words."""
        return money_span(*self.round(self.likely_low, self.likely_high))

    @property
    def simulated(self) -> str:
        """The doubt of the simulation about the mean in words."""
        return money_span(*self.round(self.low, self.high))

    @property
    def reach(self) -> str:
        """How far more simulated worlds would move the mean at most, in words."""
        return money(*self.round((self.high - self.low) / 2.0))


def _doubt(values: FloatArray, sets: IntArray | None) -> float:
    """Return the half width of the 95% interval of a mean, from the means of sets if worlds come in sets."""
    if sets is None or len(np.unique(sets)) == len(values):
        return student_95(len(values) - 1) * Summary.of(values).stderr
    sizes = np.bincount(sets)
    off = np.bincount(sets, weights=values - values.mean()) * len(sizes) / len(values)
    stderr = math.sqrt(float((off * off).sum()) / (len(sizes) * (len(sizes) - 1)))
    return student_95(len(sizes) - 1) * stderr


@dataclass(frozen=True)
class Prospect:
    """The expected result of a policy over the simulated periods, in money.

    `gain` is its net less that of keeping the team, world by world. `chance_better` and `chance_worse` are the shares
    of worlds in which it earned more and less than keeping the team; in the rest both earned the same. Output is valued
    as the money so far is.
    """

    policy: str
    output: Expected
    fees: float
    net: Expected
    gain: Expected
    chance_better: float
    chance_worse: float
    replacements: float


@dataclass(frozen=True)
class Plan:
    """The results of policies played in the same worlds, drawn from what is known of a site; `own` is its policy.

    `prospects` are sorted by expected net, keeping the team first among equals. `lead` is the difference between the
    first and the second, world by world; None if there is no second. `notes` say what the simulation leaves out of this
    site.
    """

    own: str
    first_period: int
    periods: int
    team: int
    fee: float
    mean_delay: float
    changes: Mapping[str, Any]
    runs: int
    seed: int
    prospects: tuple[Prospect, ...]
    lead: Expected | None
    notes: tuple[str, ...]

    @property
    def best(self) -> Prospect:
        """The policy expected to earn most."""
        return self.prospects[0]

    def prospect(self, policy: str) -> Prospect:
        """Return the expected result of a policy."""
        one_of("policy", policy, [prospect.policy for prospect in self.prospects])
        return next(prospect for prospect in self.prospects if prospect.policy == policy)

    @property
    def headline(self) -> str:
        """The result in a line; a difference whose 95% interval includes 0 is called uncertain."""
        if self.best.policy == KEEP:
            same = [
                prospect for prospect in self.prospects[1:] if not prospect.chance_better and not prospect.chance_worse
            ]
            equal = [prospect.policy for prospect in same]
            also = f"; {' and '.join(equal)} would keep it too" if equal else ""
            return f"Keeping the team is expected to earn most{also}."
        gain = self.best.gain
        verdict = f"{self.best.policy}: {gain.expected} against keeping the team, in 9 of 10 worlds {gain.likely}"
        if gain.low <= 0.0:
            return f"{verdict}; it may be no better."
        if self.lead is not None and self.lead.low <= 0.0:
            return f"{verdict}; {self.prospects[1].policy} may earn as much."
        return f"{verdict}."

    @property
    def details(self) -> str:
        """How often the best policy was better and, apart from it, the doubt of the simulation, in words."""
        span = f"Expected over the next {counted(self.periods, 'period')} in {counted(self.runs, 'simulated world')}"
        if self.best.policy == KEEP:
            return f"{span}."
        best, gain = self.best, self.best.gain
        return (
            f"{span}: {best.policy} earned more than keeping the team in {chance(best.chance_better)} of the worlds, "
            f"less in {chance(best.chance_worse)}. More worlds would move the expected gain by about {gain.reach} at "
            f"most (95% interval {gain.simulated})."
        )

    def rows(self) -> list[tuple[str, ...]]:
        """Return a text table with one row per policy and the columns `COLUMNS`."""
        return [
            (
                f"{prospect.policy} (this site's)" if prospect.policy == self.own else prospect.policy,
                *map(money, prospect.net.round(prospect.output.mean, prospect.fees, prospect.net.mean)),
                "–" if prospect.policy == KEEP else prospect.gain.expected,
                "–" if prospect.policy == KEEP else prospect.gain.simulated,
                "–" if prospect.policy == KEEP else prospect.gain.likely,
                "–" if prospect.policy == KEEP else chance(prospect.chance_better),
                f"{prospect.replacements:.1f}",
            )
            for prospect in self.prospects
        ]

    def to_json(self) -> dict[str, Any]:
        """Describe the plan as plain data."""
        plain = asdict(self)
        policies = {prospect.pop("policy"): prospect for prospect in plain.pop("prospects")}
        return {"best": self.best.policy, "headline": self.headline, **plain, "policies": policies}
