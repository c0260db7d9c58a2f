"""The book is built strict, asks nothing of anybody, and has an entry for everything that has a name."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import crewlearn
from book import commands, http_api


class Page(HTMLParser):
    """What a page loads by itself, where its links lead, and the places that can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given["id"]} if "id" in given else set()
        self.loads += [given[name] for name in ("src", "srcset", "data", "poster") if name in given]
        if "href" in given:
            (self.links if tag == "a" else self.loads).append(given["href"])
        self.loads += re.findall(r"url\(([^)]*)\)", given.get("style", ""))


def pages(book: Path) -> Iterator[tuple[Path, Page]]:
    for path in sorted(book.rglob("*.html")):
        yield path, Page(path.read_text(encoding="utf-8"))


def test_nothing_is_asked_of_anybody(book: Path) -> None:
    """Pages and style sheets load nothing from elsewhere; scripts name no address but those that they never ask."""
    outside = [(path.name, url) for path, page in pages(book) for url in page.loads if re.match(r"(\w+:)?//", url)]
    for path in book.rglob("*.css"):
        loaded = re.findall(r"(?:url\(|@import\s+)[\"']?(?!data:)([^\"')]+)", path.read_text(encoding="utf-8"))
        outside += [(path.name, url) for url in loaded if re.match(r"(\w+:)?//", url)]
    assert not outside


def test_every_public_name_has_an_entry(book: Path) -> None:
    places = {place for _, page in pages(book / "reference" / "python") for place in page.places}
    assert not [name for name in crewlearn._HOME if f"crewlearn.{name}" not in places]
    index = (book / "reference" / "python" / "index.html").read_text(encoding="utf-8")
    rows = re.findall(r"<tr>\s*<td><a [^>]*><code>(\w+)</code></a></td>\s*<td>(.*?)</td>", index, re.DOTALL)
    assert {name for name, said in rows if said.strip()} == set(crewlearn._HOME)


def test_every_command_has_an_entry(book: Path) -> None:
    page = (book / "reference" / "commands.html").read_text(encoding="utf-8")
    known = [words for words, _ in commands.commands()]
    assert ["crewlearn", "workers", "import"] in known
    assert not [words for words in known if f'id="{"-".join(words)}"' not in page]


def test_every_path_of_the_api_has_an_entry(book: Path) -> None:
    page = (book / "reference" / "http-api.html").read_text(encoding="utf-8")
    described = http_api.document()
    operations = [item[method] for item in described["paths"].values() for method in http_api.METHODS if method in item]
    names = [*(said["operationId"] for said in operations), *described["components"]["schemas"]]
    assert "answerProposals" in names
    assert not [name for name in names if f'id="{name.lower()}"' not in page]
    links = re.findall(r'href="#([^"]+)"', page)
    assert not {link for link in links if f'id="{link}"' not in page}
