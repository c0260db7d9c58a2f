"""The notice that a file of output was not recorded: where it is, and what kind of fault it has."""

from typing import Any

from crewlearn.advisor.files.errors.file_errors import CsvErrors
from crewlearn.advisor.files.recording.guard import HeldOutput
from crewlearn.advisor.ledger.notices.kinds import FAILED_IMPORT, Notice


def failed_import(error: Exception | None, source: str, **where: Any) -> Notice:
    """Return the notice of a file that came from a `job` or a `folder`, with where to look.

    The reason is `errors` in its rows, `held` for a person to confirm, or `refused` as a whole. None stands for a fault
    that is not the file's. Cells are not quoted, as they may name people.
    """
    reason, errors = "refused", 1
    if isinstance(error, CsvErrors):
        reason, errors = "errors", error.total
    elif isinstance(error, HeldOutput):
        reason, errors = "held", len(error.oddities)
    return Notice(FAILED_IMPORT, {"source": source, **where, "reason": reason, "errors": errors})
