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


def unseen(cursor: str | None, listing: str, limit: int, order: Sequence[int]) -> tuple[Sequence[int], str | None]:
    """Return a page of a list whose order may change meanwhile, such as by estimate, and the next cursor.

    The cursor holds the numbers listed already, so that each is listed exactly once.
    """
    seen = _numbers_in(place_in(cursor, listing, _is_set))
    left = [number for number in order if number not in seen]
    piece = left[:limit]
    return piece, written(listing, _as_set(seen | set(piece))) if len(left) > limit else None


def _as_set(numbers: Collection[int]) -> str:
    bits = sum(1 << number for number in numbers)
    packed = zlib.compress(bits.to_bytes((bits.bit_length() + 7) // 8, "little"), 9)
    return base64.urlsafe_b64encode(packed).decode()


def _is_set(place: Any) -> bool:
    if not isinstance(place, str):
        return False
    try:
        _unpacked(place)
    except (ValueError, zlib.error, binascii.Error):
        return False
    return True


def _unpacked(place: str) -> bytes:
    """Decompress a set; refuse one larger than any pool of workers."""
    unpacking = zlib.decompressobj()
    data = unpacking.decompress(base64.urlsafe_b64decode(place), 1 << 20)
    if unpacking.unconsumed_tail:
        raise ValueError("too large")
    return data


def _numbers_in(place: str | None) -> set[int]:
    data = b"" if place is None else _unpacked(place)
    return {8 * at + bit for at, byte in enumerate(data) for bit in range(8) if byte >> bit & 1}
