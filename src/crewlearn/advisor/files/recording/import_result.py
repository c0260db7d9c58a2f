"""The result of an import."""

from dataclasses import dataclass
from typing import Any

from crewlearn.advisor.files.recording.guard import Oddity


@dataclass(frozen=True)
class ImportResult:
    """How many facts an import recorded, how many were on record already, and warnings.

    `corrected` counts the recorded facts that replace others, `skipped` the rows of unknown workers, `enrolled` the
    people who were not known before. `reading` says in sentences how a file was read that is not laid out as ours.
    `unusual` is what was recorded although it is far from what was expected. `differing` are the first of the rows that
    replace others.
    """

    recorded: int = 0
    known: int = 0
    warnings: tuple[str, ...] = ()
    corrected: int = 0
    skipped: int = 0
    enrolled: int = 0
    reading: tuple[str, ...] = ()
    unusual: tuple[Oddity, ...] = ()
    differing: tuple[Oddity, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Describe the result as plain data, without newcomers, reading and what is unusual where there are none."""
        left_out = ("enrolled", "reading", "unusual", "differing")
        plain = {name: value for name, value in vars(self).items() if name not in left_out}
        added: dict[str, Any] = {"enrolled": self.enrolled} if self.enrolled else {}
        if self.reading:
            added["reading"] = list(self.reading)
        if self.unusual:
            added["unusual"] = [vars(oddity) for oddity in self.unusual]
        return {**plain, "warnings": list(self.warnings), **added}
