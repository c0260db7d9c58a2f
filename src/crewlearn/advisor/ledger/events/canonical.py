"""The one JSON form in which data are hashed."""

import json
from typing import Any

from crewlearn.problem.errors import InvalidInput


def canonical(data: Any) -> str:
    """Write plain data in the form that is hashed; numbers that JSON does not know are refused.

    >>> canonical({"b": [1, 2.5], "a": "ä"})
    '{"a":"ä","b":[1,2.5]}'
    """
    try:
        return json.dumps(
            data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_plain
        )
    except ValueError as error:
        raise InvalidInput("payload", "NaN or infinity", "cannot be put on record; give finite numbers") from error


def _plain(value: Any) -> Any:
    """Return the plain number in a NumPy scalar, which rules over arrays return."""
    if not callable(getattr(value, "item", None)):
        raise TypeError(f"{type(value).__name__} {value!r} cannot be put on record")
    return value.item()
