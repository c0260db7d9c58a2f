"""The pages in the reader's language: nothing untranslated, complete catalogues, the choice, and numbers and days."""

import re
from collections.abc import Sequence
from datetime import date
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.catalog import Message
from babel.messages.pofile import read_po

from crewlearn import language
from crewlearn.advisor.ledger.store import Store
from crewlearn.language import ENGLISH, _, plural, reading_in
from crewlearn.planning.demo import CLERK, MANAGER
from crewlearn.policies.registry import REGISTRY
from crewlearn.problem.errors import InvalidInput
from crewlearn.web import formats, i18n
from crewlearn.web.job_words import progress_words
from crewlearn.web.pages.forms import decimal, written
from crewlearn.web.snapshots import snapshot
from support.waiting import until
from support.web.app import client
from support.web.pages import DEMO, browser, crawl, pages_demo, pages_store
from support.web.pseudo import PSEUDO, outside

store, demo = pages_store, pages_demo
OTHERS = [code for code in i18n.LANGUAGES if code != "en"]
NAMES = {
    "crewlearn",
    "UTC",
    MANAGER,
    CLERK,
    "demo",
    "admin 0",
    "worker_id,group",
    "date,worker_id,units",
    DEMO,
    *REGISTRY,
}
"""Names, and examples of files, that are the same in every language."""


def test_all_text_of_the_pages_is_looked_up(demo: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(i18n, "language", lambda code: PSEUDO)
    people = snapshot(demo, DEMO).people
    names = {*NAMES, *(people.label(number) for number in people.ids), *map(str, people.names.values())}
    admin = browser(demo, "admin")
    found = {(line, path) for path, page in crawl(admin).items() for line in outside(page, names)}
    assert not found, sorted(found)


def test_a_server_reads_all_catalogues_before_they_are_asked_for(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(i18n, "language", lambda code: read.append(code) or ENGLISH)  # type: ignore[func-returns-value]  # None
    with client(store):
        until(lambda: sorted(read) == sorted(i18n.LANGUAGES))


def _forms(message: Message) -> tuple[Sequence[str], Sequence[str]]:
    """Return the English forms of a message and its translations."""
    ids = [message.id] if isinstance(message.id, str) else list(message.id)
    return ids, [message.string] if isinstance(message.string, str) else list(message.string or ())


def _parts(text: str) -> list[str]:
    return sorted(re.findall(r"\{\w+\}|<[^>]+>", text))


@pytest.mark.parametrize("code", OTHERS)
def test_a_catalogue_is_complete_and_keeps_placeholders_and_tags(code: str) -> None:
    template = read_po(BytesIO((i18n.LOCALE / "messages.pot").read_bytes()))
    catalogue = read_po(BytesIO(i18n.catalogue_of(code).read_bytes()), locale=code)
    assert {message.id for message in catalogue} == {message.id for message in template}
    for message in catalogue:
        if not message.id:
            continue
        ids, strings = _forms(message)
        assert all(strings), message.id
        assert not message.fuzzy, message.id
        for text in strings:
            assert _parts(text) in [_parts(one) for one in ids], (message.id, text)
            plain = re.sub(r"<[^>]+>", "", text)
            assert '"' not in plain or '"' in ids[0], (text, "would end an attribute")


def test_every_message_in_the_code_is_in_the_template() -> None:
    known = {message.id for message in read_po(BytesIO((i18n.LOCALE / "messages.pot").read_bytes()))}
    flat = {form for found in known for form in ([found] if isinstance(found, str) else found)}
    package = Path(i18n.__file__).parents[1]
    for path in [*package.rglob("*.py"), *package.rglob("web/templates/**/*.html")]:
        for single, double in re.findall(r"""\b_\((?:'((?:[^'\\{<]){3,})'|"((?:[^"\\{<]){3,})")\)""", path.read_text()):
            text = single or double
            assert text in flat or path.name == "language.py", f"run `make messages`: {text!r} in {path}"


def test_numbers_days_and_plurals_follow_the_language() -> None:
    friday = date(2026, 11, 13)
    shown = {}
    for code in i18n.LANGUAGES:
        with reading_in(i18n.language(code)):
            parts = (formats.number(1234.5, 1), formats.number(-12345), formats.share(0.5), formats.day(friday))
            shown[code] = tuple(text.replace("\xa0", " ").replace("\u202f", " ") for text in parts)
            assert plural("{n} day", "{n} days", 1) != plural("{n} day", "{n} days", 2)
    assert shown == {
        "en": ("1,234.5", "−12,345", "50%", "Fri 13 Nov"),
        "de": ("1.234,5", "−12.345", "50 %", "Fr., 13. Nov."),
        "es": ("1234,5", "−12.345", "50 %", "vie, 13 nov"),
        "fr": ("1 234,5", "−12 345", "50 %", "ven. 13 nov."),
    }
    assert language.current() is ENGLISH


def test_a_reader_chooses_and_programs_read_english(demo: Store) -> None:
    user = browser(demo, "viewer")
    headers = {"Accept": "text/html", "Accept-Language": "fr-CH, en;q=0.5"}
    asked = user.client.get("/notifications", headers=headers).text
    assert '<html lang="fr">' in asked
    with reading_in(i18n.language("de")):
        heading = _("Notifications")
    chosen = user.send("/language", {"language": "de", "next": "/notifications"})
    assert chosen.status_code == 200
    assert '<html lang="de">' in chosen.text
    assert f"<h1>{heading}</h1>" in chosen.text
    german = user.get("/sites/Demo%20hall")
    assert "Advice for" not in german
    advice = user.client.get("/api/v1/sites/Demo%20hall/advice").json()
    assert advice["sentence"].startswith(("Proposed for", "Wait ("))
    assert user.send("/language", {"language": "xx"}).status_code == 422


@pytest.mark.parametrize(("code", "decimals", "two_ways"), [("en", "1.234", "1,234"), ("de", "1,234", "1.234")])
def test_a_typed_number_has_the_readers_decimal_mark(code: str, decimals: str, two_ways: str) -> None:
    with reading_in(i18n.language(code)):
        assert decimal("fee", decimals) == 1.234
        assert decimal("fee", written(1.234)) == 1.234
        assert decimal("fee", "12,5") == decimal("fee", "12.5") == 12.5
        with pytest.raises(InvalidInput) as refused:
            decimal("fee", two_ways)
        assert "1234" in refused.value.remedy
        assert decimals in refused.value.remedy


def test_the_progress_of_jobs_is_told_in_the_readers_language() -> None:
    with reading_in(i18n.language("de")):
        assert progress_words("1,200 of 5,000 simulated years") == "1.200 von 5.000 simulierten Jahren"
        assert progress_words("restarted (attempt 2): begun") == "neu gestartet (Versuch 2): begonnen"
        assert progress_words("cancelled by J. Doe, 2nd") == "abgebrochen von J. Doe, 2nd"
        assert progress_words("something else") == "something else"
