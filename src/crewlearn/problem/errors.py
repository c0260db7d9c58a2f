"""Errors that name the field, the value and the remedy."""

import difflib
import math
from collections.abc import Iterable


class InvalidInput(ValueError):
    """A value that cannot be used; raised before anything runs.

    >>> str(InvalidInput("cost", -1.0, "must be a number >= 0"))
    'cost = -1.0: must be a number >= 0'
    """

    def __init__(self, field: str, value: object, remedy: str) -> None:
        super().__init__(f"{field} = {value!r}: {remedy}")
        self.field = field
        self.value = value
        self.remedy = remedy

    def __reduce__(self) -> tuple[type["InvalidInput"], tuple[str, object, str]]:
        """Rebuild the error from its three parts when unpickled in another process."""
        return InvalidInput, (self.field, self.value, self.remedy)


class Unknown(InvalidInput):
    """A name or number that does not exist."""

    def __reduce__(self) -> tuple[type[InvalidInput], tuple[str, object, str]]:
        """Keep the class when unpickled in another process."""
        return Unknown, (self.field, self.value, self.remedy)


def unknown_name(field: str, value: str, known: Iterable[str]) -> InvalidInput:
    """Return the error for an unknown name, suggesting the closest known one.

    >>> unknown_name("[delay] law", "geometrc", ["none", "geometric"]).remedy
    "unknown; did you mean 'geometric'? Known: none, geometric"
    """
    names = list(dict.fromkeys(known))
    near = difflib.get_close_matches(value, names, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return InvalidInput(field, value, f"unknown; {hint}Known: {', '.join(names)}")


def whole(field: str, value: object, low: int, high: int | None = None) -> int:
    """Check that `value` is a whole number from `low` to `high`, and return it."""
    allowed = f"must be a whole number >= {low}" if high is None else f"must be a whole number from {low} to {high}"
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InvalidInput(field, value, allowed)
    number = int(value.__index__())
    if number < low or (high is not None and number > high):
        raise InvalidInput(field, value, allowed)
    return number


def real(field: str, value: object, low: float = -math.inf, high: float = math.inf, *, above: bool = False) -> float:
    """Check that `value` is a finite number from `low` (strictly above it if `above`) to `high`, and return it."""
    if type(value) is float and low < value < high:  # a fast path, since files have millions of values
        return value
    lower = f"{'>' if above else '>='} {low:g}" if low > -math.inf else ""
    upper = f"<= {high:g}" if high < math.inf else ""
    allowed = " ".join(["must be a finite number", " and ".join(part for part in (lower, upper) if part)]).rstrip()
    if isinstance(value, (bool, str)) or not hasattr(value, "__float__"):
        raise InvalidInput(field, value, allowed)
    try:
        number = float(value.__float__())
    except OverflowError:  # a whole number with hundreds of digits
        raise InvalidInput(field, "a huge number", allowed) from None
    inside = low < number <= high if above else low <= number <= high
    if not math.isfinite(number) or not inside:
        raise InvalidInput(field, value, allowed)
    return number


def one_of(field: str, value: object, known: Iterable[str]) -> str:
    """Check that `value` is one of the known names, and return it."""
    names = list(known)
    if not isinstance(value, str) or value not in names:
        raise unknown_name(field, str(value), names)
    return value
