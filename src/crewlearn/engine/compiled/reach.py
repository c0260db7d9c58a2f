"""The functions, classes and constants that a function reaches through its globals and closures.

Compiled code freezes all of these, so they decide what is compiled and when the compiled code is out of date.
"""

import dis
import hashlib
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from crewlearn.engine.origins import FOLDER, in_package, in_standard_library, top_level

Function = types.FunctionType


@dataclass
class Reached:
    """Everything that some functions reach; `uses` maps each function to those it refers to."""

    functions: list[Function] = field(default_factory=list)
    classes: list[type[Any]] = field(default_factory=list)
    constants: list[tuple[str, Any]] = field(default_factory=list)
    uses: dict[Function, list[Function]] = field(default_factory=dict)

    def is_ours(self) -> bool:
        """Return whether all of it belongs to this package."""
        return all(map(is_ours, self.functions)) and all(map(is_ours, self.classes))


def reach(roots: Iterable[Callable[..., Any]], enter: Callable[[Function], bool] = lambda function: True) -> Reached:
    """Walk from functions to everything they refer to; functions that `enter` rejects are listed but not entered."""
    reached, waiting = Reached(), [root for root in roots if isinstance(root, Function)]
    while waiting:
        function = waiting.pop()
        if function in reached.uses:
            continue
        reached.functions.append(function)
        uses = reached.uses[function] = []
        if not enter(function):
            continue
        for name, value in references(function):
            if isinstance(value, Function):
                if not _is_foreign(value.__module__):
                    uses.append(value)
            elif isinstance(value, type):
                if not _is_foreign(value.__module__):
                    reached.classes.append(value)
            elif not isinstance(value, (types.ModuleType, types.BuiltinFunctionType)):
                reached.constants.append((name, value))
        waiting += uses
    return reached


def references(function: Function) -> Iterator[tuple[str, Any]]:
    """Yield what a function refers to, with names: globals, closures, defaults, and attributes of modules."""
    for name, value in _direct(function):
        yield name, value
        if isinstance(value, types.ModuleType) and not _is_foreign(value.__name__):
            for attribute in _attributes(function.__code__):
                if hasattr(value, attribute):
                    yield f"{name}.{attribute}", getattr(value, attribute)


def _direct(function: Function) -> Iterator[tuple[str, Any]]:
    for name in _global_names(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents
    for number, value in enumerate(function.__defaults__ or ()):
        yield f"default {number}", value
    for name, value in (function.__kwdefaults__ or {}).items():
        yield f"default {name}", value


def is_ours(item: Function | type[Any]) -> bool:
    """Return whether a function or class belongs to this package, whose files do not change while a process runs."""
    module = sys.modules.get(item.__module__)
    file = getattr(module, "__file__", None)
    return in_package(item.__module__) and file is not None and Path(str(file)).resolve().is_relative_to(FOLDER)


def sources_of(reached: Reached) -> list[types.ModuleType]:
    """Return the modules of our own functions and classes."""
    names = {function.__module__ for function in reached.functions if is_ours(function)}
    names |= {kind.__module__ for kind in reached.classes if is_ours(kind)}
    return [sys.modules[name] for name in sorted(names)]


def fingerprint(reached: Reached) -> tuple[Any, ...]:
    """Return a key that changes when any function, class or constant changes."""
    functions = tuple((function.__module__, function.__qualname__, function.__code__) for function in reached.functions)
    return functions, tuple(reached.classes), tuple((name, _value(value)) for name, value in reached.constants)


def constants_text(reached: Reached) -> str:
    """Return the constants as text, sorted."""
    return repr(sorted({(name, repr(_value(value))) for name, value in reached.constants}))


def _value(value: Any) -> Any:
    """Return a stand-in for a constant that compares by value where possible, else by identity."""
    if isinstance(value, np.ndarray):
        return "array", str(value.dtype), value.shape, hashlib.sha256(value.tobytes()).hexdigest()
    if isinstance(value, (bool, int, float, str, bytes, complex, type(None))):
        return type(value).__name__, repr(value)
    if isinstance(value, tuple):
        return type(value), tuple(_value(item) for item in value)
    return "object", id(value)


def _is_foreign(module: str | None) -> bool:
    """Return whether the compiler knows the functions of a module by itself, or not at all."""
    return module is not None and (in_standard_library(module) or top_level(module) in ("numpy", "numba"))


def _global_names(code: types.CodeType) -> list[str]:
    """List the global names that a function loads, including those of nested functions and comprehensions."""
    names = [step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names += _global_names(constant)
    return list(dict.fromkeys(names))


def _attributes(code: types.CodeType) -> list[str]:
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names += _attributes(constant)
    return list(dict.fromkeys(names))
