"""Text on its way into a spreadsheet: shown, never run."""

import re

_RUN = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")


def neutralised(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet would take for a formula; plain numbers stay as they are.

    Apostrophes already before such text get one more, so that `original` gives back what was there.

    >>> neutralised("=1+1"), neutralised("-3.5"), neutralised("Ann"), neutralised("'t Hoen"), neutralised("'=1")
    ("'=1+1", '-3.5', 'Ann', "'t Hoen", "''=1")
    """
    return f"'{text}" if _RUN.match(text) and not _NUMBER.fullmatch(text) else text


def original(text: str) -> str:
    """Give the text that `neutralised` made this of.

    >>> original("'=1+1"), original("'t Hoen")
    ('=1+1', "'t Hoen")
    """
    return text[1:] if text.startswith("'") and _RUN.match(text) else text
