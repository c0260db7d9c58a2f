"""What people said of a worker and holds now: pins, blocks and notes, each with its end, author and date."""

from dataclasses import dataclass
from datetime import date

from crewlearn.advisor.ledger.site.remarks import Remark
from crewlearn.advisor.wording.remarks import blocked_words, pinned_words
from crewlearn.language import _
from crewlearn.web.views.reading import Reading


@dataclass(frozen=True)
class RemarkView:
    """A pin, block or note: what it is with its end, the text, who said it, and when."""

    what: str
    text: str
    by: str
    on: str


def remarks(reading: Reading, number: int) -> list[RemarkView]:
    """Return what was said of a worker and holds now; a pin or block of old has no author on record."""
    site = reading.site
    listed = []
    for words, remark in (
        (pinned_words(site, number, reading.written), site.protection_of(number)),
        (blocked_words(site, number, reading.written), site.block_on(number)),
    ):
        if words:
            listed.append(_shown(reading, words.capitalize(), remark))
    for note in reversed(site.notes_on(number)):
        until = "" if note.until is None else _(" until {until}", until=reading.written(note.until))
        listed.append(_shown(reading, _("Note{until}", until=until), note))
    return listed


def _shown(reading: Reading, what: str, remark: Remark | None) -> RemarkView:
    if remark is None:
        return RemarkView(what, "", "", "")
    return RemarkView(what, remark.text, remark.by, reading.written(date.fromisoformat(remark.at[:10])))
