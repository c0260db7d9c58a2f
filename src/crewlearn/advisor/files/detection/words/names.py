"""People in exports: names in either order, ids with names in one cell, and who is known already."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

_ID = r"[^\W_]{0,8}[0-9][\w./-]{0,19}"
_ID_NAME = re.compile(rf"({_ID})(?: *[-–:|] *| +)([^\W\d_].*)")
_NAME_ID = re.compile(rf"([^\W\d_].*?) *(?:[(\[] *({_ID}) *[)\]]|[-–:|] *({_ID}))")


def display_name(text: str) -> str:
    """Return a name as people say it: `Last, First` is turned round.

    >>> display_name("Ames,  Ann"), display_name("Ben Byrd"), display_name("King, Jr., Martin")
    ('Ann Ames', 'Ben Byrd', 'King, Jr., Martin')
    """
    plain = " ".join(unicodedata.normalize("NFC", text).split())
    last, comma, first = plain.partition(",")
    if comma and "," not in first and first.strip() and last.strip():
        return f"{first.strip()} {last.strip()}"
    return plain


def name_id(text: str) -> str:
    """Return the id of somebody known by name only: the name in lower case, first name first.

    >>> name_id("AMES, Ann"), name_id("Ann  Ames"), name_id("José Núñez")
    ('ann ames', 'ann ames', 'josé núñez')
    """
    return display_name(text).casefold()


def name_key(text: str) -> str:
    """Return what two spellings of a name share: its words without accents, in any order.

    >>> name_key("Ames, Ann") == name_key("ANN AMES") == "ames ann"
    True
    """
    plain = unicodedata.normalize("NFKD", text.casefold())
    words = re.findall(r"\w+", "".join(letter for letter in plain if not unicodedata.combining(letter)))
    return " ".join(sorted(words))


def split_id(cell: str, form: str) -> tuple[str, str]:
    """Return the id and name in one cell.

    >>> split_id("1001 - Ames, Ann", "id name"), split_id("Ames, Ann (1001)", "name id"), split_id("1001", "id")
    (('1001', 'Ames, Ann'), ('1001', 'Ames, Ann'), ('1001', ''))
    """
    text = cell.strip()
    if form == "id name" and (match := _ID_NAME.fullmatch(text)):
        return match[1], match[2].strip()
    if form == "name id" and (match := _NAME_ID.fullmatch(text)):
        return match[2] or match[3], match[1].strip()
    if form == "name":
        return "", text
    return text, ""


def id_form(cells: list[str]) -> str:
    """Return how most cells hold a worker: `id name`, `name id`, `name`, or `id`."""
    counts = {"id name": 0, "name id": 0, "name": 0, "id": 0}
    for cell in cells:
        text = cell.strip()
        if _ID_NAME.fullmatch(text) and " " in text:
            counts["id name"] += 1
        elif _NAME_ID.fullmatch(text) and re.search(r"[\s(\[]", text):
            counts["name id"] += 1
        elif looks_like_name(text):
            counts["name"] += 1
        else:
            counts["id"] += 1
    return max(counts, key=lambda form: (counts[form], form == "id"))


def looks_like_name(text: str) -> bool:
    """Return whether text is a person's name: two words or more, without figures.

    >>> looks_like_name("Ames, Ann"), looks_like_name("A17"), looks_like_name("Pick")
    (True, False, False)
    """
    return not any(letter.isdigit() for letter in text) and len(re.findall(r"[^\W\d_]+", text)) >= 2


@dataclass(frozen=True)
class KnownPeople:
    """The people of a site: names by the firm's ids, None where there is no name."""

    names: Mapping[str, str | None]

    @cached_property
    def _by_name(self) -> dict[str, str | None]:
        """Ids by the key of a name; None where two people share it."""
        found: dict[str, str | None] = {}
        for worker, name in self.names.items():
            for key in {name_key(text) for text in (worker, name or "") if looks_like_name(text)}:
                found[key] = worker if key not in found else None
        return found

    @cached_property
    def _by_figures(self) -> dict[str, str | None]:
        """Ids by their figures without leading zeros, which spreadsheets drop; None where two ids share them."""
        found: dict[str, str | None] = {}
        for worker in self.names:
            if worker.isdigit():
                key = worker.lstrip("0")
                found[key] = worker if key not in found else None
        return found

    def id_of(self, worker: str, name: str) -> str:
        """Return the known id of somebody with this id or, without an id, this name; else the id to give them."""
        if worker:
            if worker in self.names:
                return worker
            return (self._by_figures.get(worker.lstrip("0")) if worker.isdigit() else None) or worker
        return self._by_name.get(name_key(name)) or name_id(name)

    def has_id(self, cell: str) -> bool:
        """Return whether a cell is the id of somebody known."""
        text = cell.strip()
        return text in self.names or bool(text.isdigit() and self._by_figures.get(text.lstrip("0")))

    def has_name(self, cell: str) -> bool:
        """Return whether a cell is the name of somebody known."""
        return bool(self._by_name.get(name_key(cell)))
