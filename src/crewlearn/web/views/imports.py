"""The imports of output on record, as text."""

from dataclasses import dataclass

from crewlearn.advisor.files.recording.recorded_imports import RecordedImport
from crewlearn.language import _, localized
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
    corrections = (
        _(", {corrected} of them corrections", corrected=localized(f"{imported.corrected:,}"))
        if imported.corrected
        else ""
    )
    return ImportLine(
        number=imported.number,
        days=first if first == last else _("{first} to {last}", first=first, last=last),
        rows=f"{imported.rows:,}{corrections}",
        recorded=f"{imported.actor}, {reading.moment(imported.at)}",
        can_undo=not imported.obstacle,
        state=_state(imported),
    )


def _state(imported: RecordedImport) -> str:
    if imported.undone is not None:
        return _("undone by {actor}", actor=imported.undone.actor)
    if imported.replaced:
        return _("{replaced} corrected since", replaced=localized(f"{imported.replaced:,}"))
    if imported.answered is not None:
        return _("answered since")
    return "" if imported.team is None else _("team taken from it")
