"""Text on its way into a spreadsheet: shown, never run."""

import re

_RUN = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")


def neutralised(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet would take for a formula; plain numbers stay as they are.

    >>> neutralised("=1+1"), neutralised("-3.5"), neutralised("Ann")
    ("'=1+1", '-3.5', 'Ann')
    """
    return f"'{text}" if text.startswith(_RUN) and not _NUMBER.fullmatch(text) else text
