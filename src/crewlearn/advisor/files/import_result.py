"""What an import did."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ImportResult:
    """What an import did: how many facts it put on record, how many were there already, and what to be warned of.

    Of those recorded, `corrected` replace others; `skipped` rows are of workers whom nobody knows here.
    """

    recorded: int = 0
    known: int = 0
    warnings: tuple[str, ...] = ()
    corrected: int = 0
    skipped: int = 0
