"""What jobs say of themselves: in English on record and to programs, and in the reader's language on pages."""

import re

from crewlearn.language import _, localized, noted

WAITS = noted("waits for its turn")
BEGUN = noted("begun")
DONE = noted("done")
CANCELLED = noted("cancelled by {actor}")
READING = noted("reading the file")
REBUILDING = noted("rebuilding the site from its first event")
PREPARING = noted("preparing: compiling the simulation, once per machine")
DRAWING = noted("drawing pilots with the variation on record")
EVENTS = noted("{done} of {total} events replayed")
YEARS = noted("{done} of {total} simulated years")
REPLAYS = noted("{done} of {total} replays")
RESTARTED = noted("restarted (attempt {attempts}): ")

MESSAGES = (WAITS, BEGUN, DONE, CANCELLED, READING, REBUILDING, PREPARING, DRAWING, EVENTS, YEARS, REPLAYS)


def counted(message: str, done: int, total: int) -> str:
    """Return a message of progress for the record, in English.

    >>> counted(YEARS, 1200, 5000)
    '1,200 of 5,000 simulated years'
    """
    return message.format(done=f"{done:,}", total=f"{total:,}")


def _pattern(message: str) -> re.Pattern[str]:
    """Return what finds a message with its values, which are numbers, and the name of who cancelled."""
    named = re.escape(message).replace(r"\{actor\}", "(?P<actor>.+)")
    return re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[0-9,]+)", named), re.DOTALL)


_PATTERNS = tuple((message, _pattern(message)) for message in MESSAGES)
_RESTARTED = _pattern(RESTARTED)


def progress_words(message: str) -> str:
    """Return the message of a job in the reader's language; one that is not known stays as it is.

    >>> progress_words("restarted (attempt 2): 1,200 of 5,000 simulated years")
    'restarted (attempt 2): 1,200 of 5,000 simulated years'
    """
    again = _RESTARTED.match(message)
    if again:
        return _(RESTARTED, attempts=again["attempts"]) + progress_words(message[again.end() :])
    for known, pattern in _PATTERNS:
        found = pattern.fullmatch(message)
        if found:
            return _(
                known,
                **{name: text if name == "actor" else localized(text) for name, text in found.groupdict().items()},
            )
    return message


def scripted() -> dict[str, str | dict[str, str]]:
    """Return what the pages' scripts say, in the reader's language; `progress` has it by the server's English."""
    known = {message: _(message) for message in MESSAGES}
    restarted = {RESTARTED + message: _(RESTARTED) + words for message, words in known.items()}
    return {
        "asking": _("The server does not answer; asking again."),
        "drop": _("Or drop it here."),
        "hint": _("Point at the chart, or use the arrow keys, to read values."),
        "lost": _("The server does not answer. Nothing is lost: look at the page again before you repeat the answer."),
        "progress": {english: here for english, here in {**known, **restarted}.items() if english != here},
        "selected": _("{n} selected"),
        "shown": _("{rows} shown"),
        "values": _("{title}: values"),
    }
