"""Texts to print: a title, and sections of sentences."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    """A part of a text: its heading and its sentences."""

    heading: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class PrintedText:
    """A text to print: its title, an introduction, and sections."""

    title: str
    introduction: str
    sections: tuple[Section, ...]


def plain(text: PrintedText) -> str:
    """Return a text as Markdown, which reads well as it is.

    >>> print(plain(PrintedText("Card", "For all.", (Section("Limits", ("None a week.",)),))))
    # Card
    <BLANKLINE>
    For all.
    <BLANKLINE>
    ## Limits
    <BLANKLINE>
    - None a week.
    """
    parts = [f"# {text.title}", text.introduction, *(part for one in text.sections for part in _parts(one))]
    return "\n\n".join(parts)


def _parts(section: Section) -> Iterable[str]:
    yield f"## {section.heading}"
    yield "\n".join(f"- {line}" for line in section.lines)
