"""Units of output that held before the range was changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crewlearn.advisor.ledger.settings.units import Units


@dataclass(frozen=True)
class FormerUnits:
    """Units that held until they changed: for periods before `period`, and proposals with a number below `proposal`."""

    period: int
    proposal: int
    units: Units

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "FormerUnits":
        """Rebuild what `to_json` described."""
        return cls(data["period"], data["proposal"], Units.from_json(data["units"]))

    def to_json(self) -> dict[str, Any]:
        """Describe the units as plain data."""
        return {**vars(self), "units": self.units.to_json()}
