"""The languages of the pages: which one a reader wants, its catalogue, and its forms of numbers and dates.

The catalogues are standard, `locale/LANGUAGE/LC_MESSAGES/messages.po`, and compiled in memory at first use.
"""

from collections.abc import Sequence
from datetime import date
from functools import cache
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path

from crewlearn.language import ENGLISH, Language, noted

LOCALE = Path(__file__).parent / "locale"

LANGUAGES = {"en": "English", "de": "Deutsch", "es": "Español", "fr": "Français"}
"""The languages of the pages by their codes, each named in itself."""

LANGUAGE_COOKIE = "crewlearn_language"
"""The cookie that keeps the language that a reader has chosen on this device."""

_GROUPS_FROM = {"es": 5}
"""Digits from which thousands are set apart, where that is not four: Spanish writes 1234 and 12.345."""


def catalogue_of(code: str) -> Path:
    """Return the file with the messages of a language."""
    return LOCALE / code / "LC_MESSAGES" / "messages.po"


def wanted(chosen: str | None, accepted: str) -> str:
    """Return the language of a reader's pages: the chosen one, else the best that the browser accepts, else English.

    >>> wanted(None, "fr-CH, fr;q=0.9, en;q=0.8"), wanted("es", "de"), wanted("xx", "nl, de;q=0.5"), wanted(None, "")
    ('fr', 'es', 'de', 'en')
    """
    if chosen in LANGUAGES:
        return str(chosen)
    return next((code for code in _accepted(accepted) if code in LANGUAGES), "en")


def _accepted(header: str) -> Sequence[str]:
    """Return the languages of an Accept-Language header, the best first, without their regions."""
    ranked = []
    for part in header.split(",")[:30]:
        tag, _, weight = part.strip().partition(";")
        try:
            quality = float(weight.strip().removeprefix("q=")) if weight else 1.0
        except ValueError:
            continue
        if quality > 0.0:
            ranked.append((quality, tag.partition("-")[0].lower()))
    return [code for _, code in sorted(ranked, key=lambda rank: -rank[0])]


@cache
def language(code: str) -> Language:
    """Return a language with its messages and forms."""
    if code == "en":
        return ENGLISH
    from babel import Locale, dates, numbers

    locale = Locale.parse(code)
    point, group = numbers.get_decimal_symbol(locale), numbers.get_group_symbol(locale)
    table, grouped = str.maketrans({".": point, ",": group}), _GROUPS_FROM.get(code, 4)

    def marks(number: str) -> str:
        whole = number.partition(".")[0]
        digits = sum(character.isdigit() for character in whole)
        return (number if digits >= grouped else number.replace(",", "")).translate(table)

    def percentage(number: str) -> str:
        return f"{number}\N{NO-BREAK SPACE}%"

    def day(when: date, year: bool, weekday: bool) -> str:
        skeleton = f"{'y' if year else ''}MMM{'E' if weekday else ''}d"
        return dates.format_skeleton(skeleton, when, locale=locale)

    months = tuple(locale.months["format"]["abbreviated"].values())
    return Language(code, _messages(code), marks, percentage, day, months)


def load() -> None:
    """Read all catalogues, so that the first page in a language does not wait for that."""
    for code in LANGUAGES:
        language(code)


def _messages(code: str) -> GNUTranslations:
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    with catalogue_of(code).open("rb") as file:
        catalogue = read_po(file, locale=code)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return GNUTranslations(compiled)


NAMES_IN_USE = (
    *(noted("viewer"), noted("manager"), noted("admin")),
    *(noted("proposed"), noted("withdrawn"), noted("rejected"), noted("offered"), noted("accepted"), noted("declined")),
    *(noted("expired"), noted("cancelled"), noted("left"), noted("blocked"), noted("learning"), noted("transition")),
    *(noted("money"), noted("Money")),
)
"""Names of roles, statuses and phases for programs, which pages put into words."""
