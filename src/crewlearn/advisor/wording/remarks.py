"""What people said of workers, in words: pins and blocks with their end and reason, and notes."""

from collections.abc import Callable
from datetime import date

from crewlearn.advisor.ledger.site import BLOCKED, Site
from crewlearn.advisor.ledger.site.remarks import Remark
from crewlearn.language import _


def pinned_words(site: Site, number: int, written: Callable[[date], str] = str) -> str:
    """Return in words that a worker is pinned, and until when; empty if they are not."""
    return _("pinned{until}", until=_until(site.protection_of(number), written)) if site.is_pinned(number) else ""


def blocked_words(site: Site, number: int, written: Callable[[date], str] = str) -> str:
    """Return in words that a worker is blocked, and until when; empty if they are not."""
    block = site.block_on(number)
    is_blocked = block is not None or site.workers[number].status == BLOCKED
    return _("blocked{until}", until=_until(block, written)) if is_blocked else ""


def _until(remark: Remark | None, written: Callable[[date], str]) -> str:
    return "" if remark is None or remark.until is None else _(" until {until}", until=written(remark.until))


def remark_lines(site: Site, number: int, written: Callable[[date], str] = str) -> list[str]:
    """Return a line for each thing that people said of a worker and that holds now: what, why, by whom and when."""
    lines = []
    for words, remark in (
        (pinned_words(site, number, written), site.protection_of(number)),
        (blocked_words(site, number, written), site.block_on(number)),
    ):
        if words and remark is not None:
            lines.append(_line(words.capitalize(), remark, written))
    for note in site.notes_on(number):
        lines.append(_line(_("Note{until}", until=_until(note, written)), note, written))
    return lines


def _line(words: str, remark: Remark, written: Callable[[date], str]) -> str:
    text = f": {remark.text}" if remark.text else ""
    return f"{words}{text} ({remark.by}, {written(date.fromisoformat(remark.at[:10]))})"
