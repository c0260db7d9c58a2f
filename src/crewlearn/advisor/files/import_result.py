"""The result of an import."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ImportResult:
    """How many facts an import recorded, how many were on record already, and warnings.

    `corrected` counts the recorded facts that replace others, `skipped` the rows of unknown workers, `enrolled` the
    people who were not known before. `reading` says in sentences how a file was read that is not laid out as ours.
    """

    recorded: int = 0
    known: int = 0
    warnings: tuple[str, ...] = ()
    corrected: int = 0
    skipped: int = 0
    enrolled: int = 0
    reading: tuple[str, ...] = ()
