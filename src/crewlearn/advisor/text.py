"""Text that people give: checked before it is kept, so that every database keeps it as it was given."""

from crewlearn.problem.errors import InvalidInput

LONGEST_ID, LONGEST_NAME, LONGEST_REASON = 100, 200, 10_000


def checked_text(field: str, value: object, longest: int, least: int = 0) -> str:
    """Check that `value` is text which both databases can keep: not too long, no NUL, nothing that is no character.

    >>> checked_text("name", "O'Brien 🙂", 200)
    "O'Brien 🙂"
    """
    if not isinstance(value, str):
        raise InvalidInput(field, value, "must be text")
    if not least <= len(value) <= longest:
        shown = value if len(value) <= 40 else f"{value[:40]}…"
        raise InvalidInput(field, shown, f"must have from {least} to {longest} characters; this has {len(value)}")
    if "\0" in value:
        raise InvalidInput(field, value, "has a NUL character, which no database keeps; take it out")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput(field, value, "has half a character (a lone surrogate); save the file as UTF-8") from None
    return value
