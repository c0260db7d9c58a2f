"""The outcome of a study: our numbers and the paper's, figures as data, comparisons, and findings as sentences."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from crewlearn.engine.results import Summary
from crewlearn.problem.arrays import FloatArray
from crewlearn.study.paired import Comparison
from crewlearn.study.paper.paper_numbers import Printed


@dataclass(frozen=True)
class Measure:
    """A quantity with its title and number format."""

    title: str
    form: str

    def text(self, value: float) -> str:
        """Format a value."""
        return self.form.format(value)


MEASURES: Mapping[str, Measure] = {
    "regret": Measure("regret", "{:,.0f}"),
    "normalized_loss": Measure("normalized loss", "{:.2f}%"),
    "completed": Measure("completed replacements", "{:,.1f}"),
    "milliseconds": Measure("milliseconds", "{:,.4f}"),
    "states": Measure("states of the frontier", "{:,.2f}"),
    "periods": Measure("periods", "{:,.1f}"),
    "bound": Measure("bound", "{:,.0f}"),
    "learning": Measure("learning", "{:,.0f}"),
    "last_periods": Measure("last periods", "{:,.0f}"),
    "burn_in": Measure("burn in", "{:,.0f}"),
    "blocking": Measure("blocking", "{:,.0f}"),
    "friction": Measure("friction", "{:,.0f}"),
    "first_cycles": Measure("first cycles", "{:,.0f}"),
    "minimax rate": Measure("minimax rate", "{:,.0f}"),
    "lower bound": Measure("lower bound", "{:,.0f}"),
}
"""The quantities that studies measure."""


@dataclass(frozen=True)
class Number:
    """A number of ours, over `runs` runs, and the paper's if it prints one."""

    ours: Summary
    runs: int
    paper: Printed | None = None
    replicate: bool = True
    """Whether both measure the same quantity, so that any difference is random; times on two machines do not."""
    exact: bool = False
    """Whether the number was computed rather than measured."""

    @property
    def difference(self) -> float | None:
        """Our number minus the paper's."""
        return None if self.paper is None else self.ours.mean - self.paper.mean

    @property
    def error(self) -> float | None:
        """The standard error of the difference, from our runs and the paper's."""
        if self.paper is None or self.paper.std is None or not self.replicate or self.runs < 2:
            return None
        return math.hypot(self.ours.stderr, self.paper.std / math.sqrt(self.paper.runs))

    @property
    def z(self) -> float | None:
        """The difference in standard errors."""
        if self.difference is None or not self.error:
            return None
        return self.difference / self.error

    @property
    def agrees(self) -> bool | None:
        """Whether the difference is within 3% or 3 standard errors, whichever is larger."""
        if self.paper is None or self.difference is None or self.error is None:
            return None
        return abs(self.difference) <= max(0.03 * abs(self.paper.mean), 3.0 * self.error)

    def to_json(self) -> dict[str, Any]:
        """Return the number as plain data."""
        return {
            "paper_mean": None if self.paper is None else self.paper.mean,
            "paper_std": None if self.paper is None else self.paper.std,
            "ours_mean": self.ours.mean,
            "ours_std": self.ours.std,
            "z": self.z,
        }


@dataclass(frozen=True)
class StudyRow:
    """A policy's numbers in a setting after period `at`; the first one is the study's main measure."""

    policy: str
    setting: str
    at: int
    numbers: Mapping[str, Number]

    def to_json(self) -> dict[str, Any]:
        """Return the row as plain data; measures after the first are nested under their names."""
        (measure, number), *others = self.numbers.items()
        return {
            "policy": self.policy,
            "setting": self.setting,
            "at": self.at,
            **number.to_json(),
            "measure": measure,
            "runs": number.runs,
            **{name: other.to_json() for name, other in others},
        }


@dataclass(frozen=True)
class Line:
    """A series to draw as points, or as a line with a band of ±1 SD if `sd` is given."""

    label: str
    x: FloatArray
    y: FloatArray
    sd: FloatArray | None = None
    points: bool = False
    policy: str = ""
    """The policy whose colour and dash to use; by default the label."""


@dataclass(frozen=True)
class Mark:
    """A value on the x axis to mark with a vertical line."""

    x: float
    label: str


@dataclass(frozen=True)
class Panel:
    """A pair of axes; with categories, x is their index and values are drawn as points with bars of ±1 SD."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...] = ()
    categories: tuple[str, ...] = ()
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class CycleSpan:
    """A learning cycle: the periods of its decision, of its complete target, and of the next decision."""

    number: int
    decided: int
    complete: int
    end: int


@dataclass(frozen=True)
class Timeline:
    """The cycles of a run; a second plot shows the periods up to `close_up` enlarged."""

    cycles: tuple[CycleSpan, ...]
    horizon: int
    close_up: int


@dataclass(frozen=True)
class Picture:
    """A figure as data: panels in rows of `abreast`, or a timeline."""

    name: str
    caption: str
    panels: tuple[Panel, ...] = ()
    timeline: Timeline | None = None
    abreast: int = 2


@dataclass(frozen=True)
class Part:
    """A study under one set of conventions."""

    conventions: str
    runs: int
    seed: int
    rows: tuple[StudyRow, ...]
    pictures: tuple[Picture, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    findings: tuple[str, ...] = ()

    def numbers(self) -> list[Number]:
        """Return all numbers of all rows."""
        return [number for row in self.rows for number in row.numbers.values()]


@dataclass(frozen=True)
class Outcome:
    """A study's parts by conventions: first the requested ones, then the others if they were run too."""

    study: str
    parts: Mapping[str, Part] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def main(self) -> Part:
        """The requested part."""
        return next(iter(self.parts.values()))

    def to_json(self) -> dict[str, Any]:
        """Return the requested part as plain data."""
        part = self.main
        return {
            "study": self.study,
            "conventions": part.conventions,
            "runs": part.runs,
            "seed": part.seed,
            "rows": [row.to_json() for row in part.rows],
            "comparisons": [comparison.to_json() for comparison in part.comparisons],
            "findings": list(part.findings),
            "seconds": self.seconds,
        }
