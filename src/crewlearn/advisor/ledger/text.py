"""Text: checks that every database can store it unchanged; counts and lists in words."""

import re
import unicodedata
from collections.abc import Callable, Sequence

from crewlearn.language import _, localized
from crewlearn.problem.errors import InvalidInput

LONGEST_ID, LONGEST_NAME, LONGEST_REASON = 100, 200, 10_000


def counted(many: int, one: str, more: str | None = None) -> str:
    """Format a count with its noun.

    >>> counted(1, "day"), counted(2, "day"), counted(1200, "person", "people")
    ('1 day', '2 days', '1,200 people')
    """
    return f"{many:,} {one if many == 1 else more or one + 's'}"


_OPTION = re.compile(r"`(accept_unusual|correct|map|out|skip_unknown|team_from_output|where|yes)(=[^`]*)?`")


def options_said(text: str, how: Callable[[str, str], str]) -> str:
    """Replace the options named in an error by the words of the interface, which `how` returns.

    Errors name options in backquotes; commands, pages and the API each have their own words for them.

    >>> options_said("choose with `map=units=HEADER`", lambda name, value: f"--{name} {value}")
    'choose with --map units=HEADER'
    """
    return _OPTION.sub(lambda match: how(match[1], (match[2] or "=")[1:]), text)


def some_of(names: Sequence[str], shown: int = 5) -> str:
    """List the first names, and how many more there are.

    >>> some_of(["a", "b"]), some_of(["a", "b", "c", "d"], 2)
    ('a and b', 'a, b and 2 more')
    """
    if len(names) > shown:
        return _("{names} and {more} more", names=", ".join(names[:shown]), more=localized(f"{len(names) - shown:,}"))
    if len(names) > 1:
        return _("{names} and {last}", names=", ".join(names[:-1]), last=names[-1])
    return "".join(names)


def checked_text(field: str, value: object, longest: int, least: int = 0) -> str:
    """Check that `value` is text that both databases can store: not too long, no NUL, no lone surrogate.

    >>> checked_text("name", "O'Brien 🙂", 200)
    "O'Brien 🙂"
    """
    if not isinstance(value, str):
        raise InvalidInput(field, value, "must be text")
    if not least <= len(value) <= longest:
        shown = value if len(value) <= 40 else f"{value[:40]}…"
        raise InvalidInput(field, shown, f"must have from {least} to {longest} characters; this has {len(value)}")
    if "\0" in value:
        raise InvalidInput(field, value, "has a NUL character, which databases cannot store; remove it")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput(field, value, "has half a character (a lone surrogate); save the file as UTF-8") from None
    return value


def is_worker_id(text: str) -> bool:
    """Return whether text can be a worker's id: printable, without blanks around it, with accents composed (NFC).

    So an id is the same after an export and an import, and no two ids look alike because of invisible characters.

    >>> is_worker_id("A 17"), is_worker_id(" A17"), is_worker_id("A\u200b17"), is_worker_id("Zoe\u0308")
    (True, False, False, False)
    """
    plain = 0 < len(text) <= LONGEST_ID and text.isprintable() and text == text.strip()
    return plain and unicodedata.is_normalized("NFC", text)


def spelled_alike(name: str) -> str:
    """Return what all spellings of a name have in common: without case, blanks around it and invisible characters.

    >>> {spelled_alike(name) for name in ("Ann", "ANN", "ann ", "ann\\u200b")}
    {'ann'}
    """
    seen = "".join(letter for letter in unicodedata.normalize("NFKC", name) if unicodedata.category(letter) != "Cf")
    return " ".join(unicodedata.normalize("NFKC", seen.casefold()).split())
