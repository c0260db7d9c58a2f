"""The canonical JSON form that is hashed."""

import json
from typing import Any

from crewlearn.problem.errors import InvalidInput


def canonical(data: Any) -> str:
    """Return plain data as canonical JSON; NaN and infinity are refused.

    >>> canonical({"b": [1, 2.5], "a": "ä"})
    '{"a":"ä","b":[1,2.5]}'
    """
    try:
        return json.dumps(
            data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_plain
        )
    except ValueError as error:
        raise InvalidInput("payload", "NaN or infinity", "cannot be recorded; give finite numbers") from error


def _plain(value: Any) -> Any:
    """Return the plain number of a NumPy scalar, which array rules return."""
    if not callable(getattr(value, "item", None)):
        raise TypeError(f"{type(value).__name__} {value!r} cannot be recorded")
    return value.item()
