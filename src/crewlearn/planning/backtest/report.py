"""What a backtest says, in money and in words."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from crewlearn.advisor.ledger.text import counted
from crewlearn.advisor.wording.doubt import chance
from crewlearn.planning.backtest.replay import ADVICE, KEPT, Replay
from crewlearn.planning.outcomes import Expected

COLUMNS = ("advice against", "gain", "9 of 10 draws", "simulation, 95%", "chance of a gain")
"""The headings of `Backtest.rows`."""


@dataclass(frozen=True)
class Backtest:
    """What advice from a day on would have brought by the end of the record, in money, net of fees.

    `over_practice` is against what was really done, `over_keeping` against keeping the team as it was on the day before
    the first. `on_record` is the share of the days at stations, under advice, on which that person really held one: the
    rest is the model's. `fees` and `replacements` are those of advice, the others those of real practice.
    """

    policy: str
    first_day: str
    first_period: int
    periods: int
    over_practice: Expected
    over_keeping: Expected
    chance_over_practice: float
    chance_over_keeping: float
    fees: float
    replacements: float
    real_fees: float
    real_replacements: int
    on_record: float
    runs: int
    seed: int
    notes: tuple[str, ...]

    @property
    def headline(self) -> str:
        """The result with its range in a line; where zero lies in the range, it says that nothing is sure."""
        gain = self.over_practice
        said = f"Had you followed the advice from {self.first_day} on: {gain.expected} by now"
        said = f"{said}, in 9 of 10 draws {gain.likely}"
        if gain.likely_low <= 0.0 <= gain.likely_high:
            return f"{said}; it could as well have been nothing."
        return f"{said}." if gain.mean > 0.0 else f"{said}; what you did was better."

    @property
    def details(self) -> str:
        """The chance of a gain and what it rests on, in words."""
        return (
            f"Against what was really done, over {counted(self.periods, 'working day')}, fees paid: a gain with a "
            f"chance of {chance(self.chance_over_practice)}. {self.on_record:.0%} of the days at stations are of "
            f"people who really held one then; the other {1.0 - self.on_record:.0%} rest on the model. More draws "
            f"would move the mean by about {self.over_practice.reach} at most."
        )

    def rows(self) -> list[tuple[str, ...]]:
        """Return a text table with the columns `COLUMNS`."""
        compared = (
            ("what was really done", self.over_practice, self.chance_over_practice),
            ("keeping the team of the day before", self.over_keeping, self.chance_over_keeping),
        )
        return [(name, gain.expected, gain.likely, gain.simulated, chance(share)) for name, gain, share in compared]

    def to_json(self) -> dict[str, Any]:
        """Describe the backtest as plain data."""
        return {"headline": self.headline, "details": self.details, **asdict(self)}


def in_money(
    replayed: Replay,
    policy: str,
    first_day: str,
    *,
    money_of_one: float,
    fee: float,
    paid_on_completion: bool,
    runs: int,
    seed: int,
    notes: tuple[str, ...] = (),
) -> Backtest:
    """Return the results of a replay in money; every hire, real or advised, costs the same fee."""
    net = {name: played.net * money_of_one for name, played in replayed.played.items()}
    real_fees = fee * replayed.real_arrivals
    gain = net[ADVICE] - (replayed.real_output * money_of_one - real_fees)
    over = net[ADVICE] - net[KEPT]
    advised = replayed.played[ADVICE]
    paid = advised.completed if paid_on_completion else advised.initiated
    return Backtest(
        policy=policy,
        first_day=first_day,
        first_period=replayed.first,
        periods=replayed.days,
        over_practice=Expected.of(gain, replayed.sets),
        over_keeping=Expected.of(over, replayed.sets),
        chance_over_practice=float(np.mean(gain > 0.0)),
        chance_over_keeping=float(np.mean(over > 0.0)),
        fees=float(fee * paid.mean()),
        replacements=float(advised.initiated.mean()),
        real_fees=real_fees,
        real_replacements=replayed.real_arrivals,
        on_record=replayed.on_record,
        runs=runs,
        seed=seed,
        notes=notes,
    )
