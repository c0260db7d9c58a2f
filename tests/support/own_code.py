"""Policies and laws of a user's own, in a module that other processes can import."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from crewlearn.policies.contract import Pair, Situation
from crewlearn.policies.teams.simple import Threshold
from crewlearn.problem.chance import normal, uniform, unit
from crewlearn.problem.laws.delay import DelayLaw
from crewlearn.problem.laws.output import OutputLaw
from crewlearn.problem.people import LevelPath

SCALE = 1.0


@dataclass(frozen=True)
class Plain(Threshold):
    """Decides as its parent does, in plain Python, since it overrides a method that the parent's rule replaces."""

    @property
    def name(self) -> str:
        return "plain"

    def decide(self, state: Any, situation: Situation) -> tuple[list[Pair], Any]:
        return super().decide(state, situation)


@dataclass(frozen=True)
class Stuck(Plain):
    """Leaves the number of its process in a folder, and thinks for an hour."""

    folder: str = ""

    def decide(self, state: Any, situation: Situation) -> tuple[list[Pair], Any]:
        (Path(self.folder) / str(os.getpid())).touch()
        time.sleep(3600.0)
        return [], state


class OwnError(Exception):
    """An error that cannot be pickled."""

    def __init__(self, period: int, why: str) -> None:
        super().__init__(f"{why} in period {period}")


@dataclass(frozen=True)
class Failing(Plain):
    """Raises an error, or ends the process."""

    abruptly: bool = False

    def decide(self, state: Any, situation: Situation) -> tuple[list[Pair], Any]:
        if situation.period > 3 and self.abruptly:
            os._exit(7)
        if situation.period > 3:
            raise OwnError(situation.period, "no idea")
        return [], state


def spread_of(numbers: Any, room: float) -> float:
    return SCALE * min(float(numbers.width), room)


@dataclass(frozen=True)
class Triangular(OutputLaw):
    """Mean plus the difference of two uniform draws."""

    width: float = 0.2
    law: ClassVar[str] = "triangular"

    @staticmethod
    def draw(numbers: Any, centre: float, room: float, key: int) -> float:
        return centre + spread_of(numbers, room) * (uniform(key, 0) - uniform(key, 1))


@dataclass(frozen=True)
class Outside(OutputLaw):
    """Half of all outputs lie below 0 and half above 1."""

    law: ClassVar[str] = "outside"

    @staticmethod
    def draw(numbers: Any, centre: float, room: float, key: int) -> float:
        return 3.0 if unit(key) < 0.5 else -2.0


@dataclass(frozen=True)
class Notice(DelayLaw):
    """Workers with an odd number have a period of notice more; a draw may be negative."""

    most: int = 4
    law: ClassVar[str] = "notice"

    @property
    def mean_delay(self) -> float:
        return self.most / 2.0

    @staticmethod
    def draw(numbers: Any, out: int, into: int, key: int) -> int:
        return int(unit(key) * (numbers.most + 1)) - 1 + into % 2 + (1 if out < 0 else 0)


@dataclass(frozen=True)
class Pulled(LevelPath):
    """Levels wander, pulled back to where they began, and rise with the days worked."""

    pull: float = 0.05
    sd: float = 0.02
    foreseeable: ClassVar[bool] = False

    @staticmethod
    def step(numbers: Any, level: float, first: float, period: int, worked: int, key: int) -> float:
        risen = 0.001 * min(worked, 100)
        return float(level + numbers.pull * (first + risen - level) + numbers.sd * normal(key, period % 3))


@dataclass(frozen=True)
class Spelled(OutputLaw):
    """Formats text, which compiled code cannot."""

    law: ClassVar[str] = "spelled"

    @staticmethod
    def draw(numbers: Any, centre: float, room: float, key: int) -> float:
        digits = f"{centre:.2f}"
        return float(digits) + room * (unit(key) - 0.5)
