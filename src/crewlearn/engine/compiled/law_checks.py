"""Whether the functions of a user's own laws can be compiled; if not, the problem is played in plain Python."""

import sys
import threading
from typing import Any

from crewlearn.problem.extras import extra_for

with extra_for("simulating"):
    import numba
    from numba.core import types

from crewlearn.engine.compiled.forms import own_laws
from crewlearn.engine.compiled.loops import MOST_LOOPS, frozen_laws
from crewlearn.engine.compiled.messages import compiler_message
from crewlearn.problem.laws.own import numbers_of
from crewlearn.problem.model import Problem

_KEY = types.int64
_ARGUMENTS = {
    "output": (types.float64, types.float64, _KEY),
    "delay": (types.int64, types.int64, _KEY),
    "drift": (types.float64, types.float64, types.int64, types.int64, _KEY),
}
"""What the loops call the function of a law with, after its numbers."""

_faults: dict[Any, str | None] = {}
_told: set[str] = set()
_lock = threading.RLock()


def law_fault(problem: Problem) -> str | None:
    """Return which function of the problem's own laws cannot be compiled and why; None if all can be."""
    for part, draw in own_laws(problem).items():
        law = getattr(problem, part)
        numbers = frozen_laws(numbers_of(law, draw))
        key = (part, _type_of(numbers))
        with _lock:
            if key not in _faults:
                if len(_faults) >= MOST_LOOPS:
                    _faults.clear()
                _faults[key] = _fault_of(draw, numbers.draw, (key[1], *_ARGUMENTS[part]))
            fault = _faults[key]
        if fault is not None:
            return fault
    return None


def tell_law_fault(problem: Problem) -> None:
    """Print once, to standard error, that a problem is played in plain Python and why."""
    fault = law_fault(problem)
    with _lock:
        if fault is None or fault in _told:
            return
        _told.add(fault)
    print(
        f"crewlearn: {fault}. The problem is played in plain Python, which is slower by far; "
        "--engine processes uses all cores",
        file=sys.stderr,
    )


_type_of: Any = numba.typeof  # numba has no types of its own


def _fault_of(draw: Any, copy: Any, arguments: tuple[Any, ...]) -> str | None:
    """Compile the function by itself, which is quicker than a loop and tells a law's faults from a rule's."""
    try:
        compiled: Any = numba.njit(boundscheck=True)(copy)
        compiled.compile(arguments)
        returned = compiled.overloads[arguments].signature.return_type
    except Exception as error:  # the compiler has many ways to fail, and not all are errors of its own
        return compiler_message(draw, [draw], error)
    if not isinstance(returned, (types.Number, types.Boolean)):
        line = draw.__code__.co_firstlineno
        return f"{draw.__qualname__}, line {line}, cannot be compiled: it returns {returned}, which is no number"
    return None
