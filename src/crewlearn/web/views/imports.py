"""The imports of output on record, as text."""

from dataclasses import dataclass

from crewlearn.advisor.files.recording.recorded_imports import RecordedImport
from crewlearn.web.views.reading import Reading


@dataclass(frozen=True)
class ImportLine:
    """An import of output; `state` says why it cannot be undone, if it cannot."""

    number: int
    days: str
    rows: str
    recorded: str
    can_undo: bool
    state: str


def import_line(reading: Reading, imported: RecordedImport) -> ImportLine:
    """Return an import as the page lists it."""
    ends = imported.ends(reading.site.config.calendar)
    first, last = (reading.day(period) for period in ends)
    corrections = f", {imported.corrected:,} of them corrections" if imported.corrected else ""
    return ImportLine(
        number=imported.number,
        days=first if first == last else f"{first} to {last}",
        rows=f"{imported.rows:,}{corrections}",
        recorded=f"{imported.actor}, {reading.moment(imported.at)}",
        can_undo=not imported.obstacle,
        state=_state(imported),
    )


def _state(imported: RecordedImport) -> str:
    if imported.undone is not None:
        return f"undone by {imported.undone.actor}"
    if imported.replaced:
        return f"{imported.replaced:,} corrected since"
    if imported.answered is not None:
        return "answered since"
    return "" if imported.team is None else "team taken from it"
