"""Cursor paging: a page continues after the last item, so that none is skipped or repeated when items are added."""

import base64
import binascii
import json
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import Query

from crewlearn.problem.errors import InvalidInput
from crewlearn.web.settings import MOST_NUMBER

T = TypeVar("T")
MOST = 1000
Limit = Annotated[int, Query(ge=1, le=MOST, description="Most items in a page.")]
Cursor = Annotated[
    str | None, Query(max_length=50_000, description="The `next` of the page before; the beginning if left out.")
]


def written(listing: str, place: Any) -> str:
    """Return a cursor: its list, including filters, and the position to continue after."""
    return base64.urlsafe_b64encode(json.dumps([listing, place]).encode()).decode().rstrip("=")


def place_in(cursor: str | None, listing: str, sound: Callable[[Any], bool]) -> Any:
    """Return a cursor's position, None at the beginning; refuse a malformed one or one of another list."""
    if cursor is None:
        return None
    try:
        decoded = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
    except (ValueError, RecursionError):
        decoded = None
    if isinstance(decoded, list) and len(decoded) == 2 and decoded[0] == listing and sound(decoded[1]):
        return decoded[1]
    raise InvalidInput("cursor", cursor, "does not belong to this list; start again without it")


def is_number(place: Any) -> bool:
    """Return whether a position is a number that fits a database column."""
    return isinstance(place, int) and not isinstance(place, bool) and 0 <= place <= MOST_NUMBER


def numbered(
    cursor: str | None,
    listing: str,
    newest: bool,
    limit: int,
    read: Callable[..., Iterable[T]],
    number: Callable[[T], int],
) -> tuple[list[T], str | None]:
    """Return a page of a list whose items are numbered as they are added, and the next cursor."""
    listing = f"{listing} {'newest' if newest else 'oldest'}"
    place = place_in(cursor, listing, is_number)
    bound = {} if place is None else {"before" if newest else "after": place}
    items = list(read(newest_first=newest, limit=limit + 1, **bound))
    if len(items) <= limit:
        return items, None
    return items[:limit], written(listing, number(items[limit - 1]))


def unseen(
    cursor: str | None, listing: str, limit: int, order: Sequence[int], most: int
) -> tuple[Sequence[int], str | None]:
    """Return a page of a list whose order may change meanwhile, such as by estimate, and the next cursor.

    The cursor holds the numbers listed already, so that each is listed exactly once. Numbers are below `most`.
    """
    place = place_in(cursor, listing, lambda place: _numbers_in(place, most) is not None)
    seen = (None if place is None else _numbers_in(place, most)) or set()
    left = [number for number in order if number not in seen]
    piece = left[:limit]
    return piece, written(listing, _as_set(seen | set(piece))) if len(left) > limit else None


def _as_set(numbers: Collection[int]) -> str:
    bits = bytearray(max(numbers, default=-1) // 8 + 1)
    for number in numbers:
        bits[number // 8] |= 1 << number % 8
    return base64.urlsafe_b64encode(zlib.compress(bits, 9)).decode()


def _numbers_in(place: Any, most: int) -> set[int] | None:
    """Return the numbers of a set, None if it is malformed or has one from `most` on.

    A few characters decompress to any length, so that no more is read than the list could need.
    """
    if not isinstance(place, str):
        return None
    longest = (most + 7) // 8
    try:
        data = zlib.decompressobj().decompress(base64.urlsafe_b64decode(place), longest + 1)
    except (ValueError, zlib.error, binascii.Error):
        return None
    numbers = {8 * at + bit for at, byte in enumerate(data) for bit in range(8) if byte >> bit & 1}
    return numbers if len(data) <= longest and max(numbers, default=-1) < most else None
