"""The plan of a pilot as it is sealed in the record before it begins, and a pilot under way.

Groups of stations, or whole sites, are assigned to *waves*. Wave j gets advice from the first day of step j on; the
last wave stays with usual practice to the end. Two waves are parallel groups; more are a stepped design.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

from crewlearn.problem.errors import InvalidInput, one_of, real, whole

NET, OUTPUT = "net", "output"
MEASURES = (NET, OUTPUT)
"""What is compared: output in money net of fees, or output in money alone."""

ADVICE, USUAL = "advice", "usual"
"""The two arms."""

LOOK_LEVEL = 0.001
"""The level of an early look; each one takes so much of the level of the analysis at the end."""

MOST_GROUPS, MOST_WAVES, MOST_LOOKS = 200, 20, 4


@dataclass(frozen=True)
class PilotGroup:
    """Stations of a site, counted from 0, that are assigned together."""

    name: str
    site: str
    stations: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Describe the group as plain data."""
        return {"name": self.name, "site": self.site, "stations": list(self.stations)}


@dataclass(frozen=True)
class SealedPlan:
    """What is compared, how, and when; fixed before the pilot begins.

    `baseline` is the first day whose output serves as baseline, which ends before `steps[0]`, the first day of the
    pilot. `last` is its last day. In the first `run_in` calendar days after a group turns to advice its output does not
    count. `carried` is the share of a group's baseline that is taken off its output in the pilot. `outside_fee` is
    charged for each change of a station's holder outside advice. `looks` are the days from which an early look may be
    taken. `promised_gain` is the gain a station and day that the pilot detects with probability `promised_power`.
    """

    groups: tuple[PilotGroup, ...]
    baseline: date
    steps: tuple[date, ...]
    last: date
    run_in: int
    measure: str
    outside_fee: float
    carried: float
    alpha: float
    looks: tuple[date, ...]
    promised_gain: float
    promised_power: float

    def __post_init__(self) -> None:
        whole("groups", len(self.groups), 2, MOST_GROUPS)
        whole("waves", self.waves, 2, min(MOST_WAVES, len(self.groups)))
        whole("run_in", self.run_in, 0)
        whole("looks", len(self.looks), 0, MOST_LOOKS)
        one_of("measure", self.measure, MEASURES)
        real("alpha", self.alpha, 0.0, 0.5, above=True)
        real("outside_fee", self.outside_fee, 0.0)
        days = [self.baseline, *self.steps, self.last]
        if any(later <= earlier for earlier, later in pairwise(days)):
            raise InvalidInput("days", [str(day) for day in days], "must be baseline, steps and last day in order")
        if any(not self.steps[0] < look <= self.last for look in self.looks) or list(self.looks) != sorted(self.looks):
            raise InvalidInput("looks", [str(day) for day in self.looks], "must be days of the pilot, in order")
        places = [(group.site, station) for group in self.groups for station in group.stations]
        if not all(group.stations for group in self.groups) or len(set(places)) != len(places):
            raise InvalidInput("groups", len(self.groups), "must have stations, each of them in one group only")

    @property
    def waves(self) -> int:
        """The number of waves: one turns to advice at each step, and the last not before the end."""
        return len(self.steps) + 1

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of groups in each wave, as equal as can be."""
        least, over = divmod(len(self.groups), self.waves)
        return tuple(least + (wave < over) for wave in range(self.waves))

    @property
    def sites(self) -> tuple[str, ...]:
        """The sites that take part, in order of their first group."""
        return tuple(dict.fromkeys(group.site for group in self.groups))

    @property
    def final_level(self) -> float:
        """The level of the analysis at the end: what the early looks leave of `alpha`."""
        return self.alpha - LOOK_LEVEL * len(self.looks)

    def turns_on(self, wave: int) -> date:
        """Return the first day on which a wave gets advice; for the last one it is after the pilot."""
        return self.steps[wave] if wave < len(self.steps) else self.last + timedelta(days=1)

    def to_json(self) -> dict[str, Any]:
        """Describe the plan as plain data, which is hashed."""
        return {
            **vars(self),
            "groups": [group.to_json() for group in self.groups],
            "baseline": self.baseline.isoformat(),
            "steps": [day.isoformat() for day in self.steps],
            "last": self.last.isoformat(),
            "looks": [day.isoformat() for day in self.looks],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "SealedPlan":
        """Rebuild what `to_json` described."""
        days = {name: tuple(map(date.fromisoformat, data[name])) for name in ("steps", "looks")}
        groups = tuple(PilotGroup(group["name"], group["site"], tuple(group["stations"])) for group in data["groups"])
        ends = {name: date.fromisoformat(data[name]) for name in ("baseline", "last")}
        return cls(**{**data, **days, **ends, "groups": groups})


@dataclass(frozen=True)
class RunningPilot:
    """A pilot under way at a site: the plan, this site's name, the wave of each group, and the looks taken so far.

    `may_stop` says whether the last look allows to end it early.
    """

    plan: SealedPlan
    site: str
    waves: tuple[int, ...]
    looks: int = 0
    may_stop: bool = False

    def withheld(self, day: date) -> frozenset[int]:
        """Return this site's stations that stay with usual practice on a day."""
        if not self.plan.steps[0] <= day <= self.plan.last:
            return frozenset()
        return frozenset(
            station
            for group, wave in zip(self.plan.groups, self.waves, strict=True)
            if group.site == self.site and day < self.plan.turns_on(wave)
            for station in group.stations
        )

    def to_json(self) -> dict[str, Any]:
        """Describe the pilot as plain data."""
        return {**vars(self), "plan": self.plan.to_json(), "waves": list(self.waves)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "RunningPilot":
        """Rebuild what `to_json` described."""
        return cls(**{**data, "plan": SealedPlan.from_json(data["plan"]), "waves": tuple(data["waves"])})


def wave_names(waves: Sequence[int], last: int) -> list[str]:
    """Return the arm or step of each group in words.

    >>> wave_names([0, 1], 1), wave_names([0, 1, 2], 2)
    (['advice', 'usual practice'], ['advice from step 1 on', 'advice from step 2 on', 'usual practice'])
    """
    parallel = last == 1
    return [
        "usual practice" if wave == last else "advice" if parallel else f"advice from step {wave + 1} on"
        for wave in waves
    ]
