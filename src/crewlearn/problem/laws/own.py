"""Laws of a user's own: a static method that draws, and the numbers that it takes as a named tuple.

The named tuple's class carries the method. So plain Python calls it through the numbers, and the compiler, which tells
types apart, finds it by their type.
"""

import dataclasses
import typing
from collections import namedtuple
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from crewlearn.problem.errors import InvalidInput

Draw = Callable[..., Any]


class NoNumbers(NamedTuple):
    """The numbers of a built-in law: none, since they stand in its form."""


NO_NUMBERS = NoNumbers()


def numbers_of(part: Any, draw: Draw) -> Any:
    """Return the numeric fields of a dataclass as a named tuple that carries how to draw with them.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Lunch:
    ...     minutes: float = 30
    >>> numbers_of(Lunch(), lambda numbers: numbers.minutes / 60)
    Lunch(minutes=30.0)
    """
    numbers, hints = {}, typing.get_type_hints(type(part))
    bases = [base for base in type(part).__mro__ if base.__module__.startswith("crewlearn.")]
    ours = {name for base in bases for name in getattr(base, "__dataclass_fields__", ())}  # such as weekdays
    for field in dataclasses.fields(part):
        value, kind = getattr(part, field.name), hints.get(field.name)
        if isinstance(value, (bool, int, float, np.number)) and not field.name.startswith("_"):
            numbers[field.name] = kind(value) if kind in (bool, int, float) else value
        elif field.name not in ours:
            remedy = "a law's draw is given numbers only; make it a number, with a name that begins with a letter"
            raise InvalidInput(f"{type(part).__name__} {field.name}", value, remedy)
    return _carrier(type(part).__name__, tuple(numbers), draw)(**numbers)


def carrying(numbers: Any, draw: Draw) -> Any:
    """Return the same numbers, carrying another function."""
    return _carrier(type(numbers).__name__, numbers._fields, draw)(*numbers)


@lru_cache(maxsize=256)
def _carrier(name: str, fields: tuple[str, ...], draw: Draw) -> Any:
    """Return a named tuple type that carries `draw`, the same for the same name, fields and function."""
    make: Any = namedtuple  # its fields are known only now
    return type(name, (make(name, fields),), {"__slots__": (), "draw": staticmethod(draw)})


def own_draw(part: Any, built_in: tuple[type[Any], ...], method: str) -> Draw | None:
    """Return the function by which a law of a user's own draws, or None for a built-in law.

    A subclass of a built-in law that does not draw for itself is refused: it would be played as its parent. So is one
    with a parent's name: what is written of it would be read as its parent.
    """
    kind = type(part)
    if kind in built_in:
        return None
    names = [base.law for base in built_in if hasattr(base, "law")]
    if names and getattr(kind, "law", names[0]) in names:
        remedy = f"must have a name of its own as `law`, other than {', '.join(names)}"
        raise InvalidInput(f"law {kind.__name__}", part, remedy)
    for base in kind.__mro__:
        if base in built_in:
            remedy = f"is a subclass of {base.__name__}, as which it would be played; give it a static method {method}"
            raise InvalidInput(f"law {kind.__name__}", part, remedy)
        if method in vars(base):
            function = vars(base)[method]
            if isinstance(function, staticmethod):
                return function.__func__
            raise InvalidInput(f"law {kind.__name__}", part, f"{method} must be a static method")
    raise InvalidInput(f"law {kind.__name__}", part, f"must have a static method {method}")
