"""A language in which every message stands in brackets, so that text outside of them was never looked up."""

import re
from collections.abc import Iterable
from datetime import date
from gettext import NullTranslations
from html.parser import HTMLParser

from crewlearn.language import Language

OPEN, CLOSE = "⟦", "⟧"


class _Bracketed(NullTranslations):
    def gettext(self, message: str) -> str:
        return f"{OPEN}{message}{CLOSE}"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return f"{OPEN}{msgid1 if n == 1 else msgid2}{CLOSE}"


def _day(when: date, year: bool, weekday: bool) -> str:
    return f"{OPEN}{when:%a %d %b %Y}{CLOSE}"


PSEUDO = Language("en", _Bracketed(), day=_day, months=tuple(f"{OPEN}{number}{CLOSE}" for number in range(1, 13)))

_SPOKEN = ("aria-label", "title", "placeholder", "alt", "data-label", "aria-description")
"""Attributes that people read or hear."""

_SILENT = ("script", "style", "code", "kbd", "textarea")
"""Elements whose text is no language: what is typed, and names for programs."""

_VOID = ("meta", "link", "input", "br", "hr", "img")


class _Text(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._silent: list[bool] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        named = tag != "html" and "lang" in known  # a language, named in itself
        shape = {"mono", "span-text"} & set((known.get("class") or "").split())  # a hash, or initials
        if tag not in _VOID:
            self._silent.append(tag in _SILENT or named or bool(shape))
        example = tag == "textarea" or known.get("id") == "where"
        self.pieces += [
            f"\n{value}\n"
            for name, value in attrs
            if name in _SPOKEN and value and not (example and name == "placeholder")
        ]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass  # parts of drawings, without words

    def handle_endtag(self, tag: str) -> None:
        self._silent.pop()

    def handle_data(self, data: str) -> None:
        if not any(self._silent):
            self.pieces.append(data)


def outside(page: str, known: Iterable[str] = ()) -> list[str]:
    """Return the lines of a page that stand outside all brackets and have words, other than known names."""
    kept, depth = [], 0
    names = re.compile("|".join(map(re.escape, sorted(known, key=len, reverse=True))) or "(?!)")
    for character in "\n".join(_Text(page).pieces):
        depth += (character == OPEN) - (character == CLOSE)
        assert depth >= 0, "a bracket was closed that was not open"
        if not depth and character != CLOSE:
            kept.append(character)
    assert not depth, "a bracket was left open"
    lines = (names.sub("", line).strip() for line in "".join(kept).split("\n"))
    return [line for line in lines if re.search(r"[^\W\d_]{2,}", line)]
