"""How well the gain held on simulated firms: figures that `make calibrate RECORD=1` writes, and the docs repeat."""

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

FILE = "calibration.json"
"""The figures, beside this module: for each part of the calibration, its lines with figures and limits."""


@dataclass(frozen=True)
class CalibratedLine:
    """The gain of some simulated firms against the truth.

    `firms` is how many there were, `covered` the share whose 95% interval held the true gain, which is to lie between
    the ends of `wanted`. `excludes_zero` is the share whose interval excluded zero, `right_sign` how many of these had
    the sign right, None if there was none; at least `sign_wanted` of them are to have it right.
    """

    title: str
    firms: int
    covered: float
    wanted: tuple[float, float]
    excludes_zero: float
    right_sign: float | None
    sign_wanted: float

    @property
    def holds(self) -> bool:
        """Whether the interval covered the truth as often as it is meant to."""
        return self.wanted[0] <= self.covered <= self.wanted[1]

    @property
    def sign_holds(self) -> bool:
        """Whether the sign was right as often as it is meant to be."""
        return self.right_sign is None or self.right_sign >= self.sign_wanted


@cache
def calibrated_gain() -> tuple[CalibratedLine, ...]:
    """Return the calibration of the gain, by kind of firm."""
    text = resources.files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    return tuple(
        CalibratedLine(
            title=line["title"],
            firms=round(line["figures"]["firms"]),
            covered=line["figures"]["covered"],
            wanted=(line["limits"]["covered"][0], line["limits"]["covered"][1]),
            excludes_zero=line["figures"]["excludes 0"],
            right_sign=line["figures"].get("right sign"),
            sign_wanted=line["limits"].get("right sign", [0.0, 1.0])[0],
        )
        for line in json.loads(text)["gain"]
    )
