"""The kernel, compiled: rule functions are made compilable from outside, and the result is kept on disk."""

import ast
import importlib
import inspect
import pickle
import sys
import textwrap
import types
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import event
from numba.extending import register_jitable

from crewlearn.engine import kernel, streams
from crewlearn.engine.cache import cache_folder, sources_digest

RULES = (
    "problem.chance",
    "problem.laws",
    "problem.interviews",
    "problem.transitions",
    "policies.estimates",
    "policies.radii",
    "policies.ranking",
    "policies.candidates",
    "policies.frontier",
    "policies.closure",
    "policies.relaxation",
    "policies.selection",
    "policies.pairing",
    "policies.timing",
    "policies.rounds",
    "policies.teams",
    "policies.adapted",
    "policies.screening",
    "policies.simple",
    "policies.posterior",
    "policies.trials",
    "policies.worth",
    "policies.baselines",
)
"""Modules whose functions the kernel calls."""

SHAPES = ("problem.arrays", "policies.contract")
"""Modules whose named tuples and constants it uses."""


def _sources() -> list[types.ModuleType]:
    """Give every module whose source takes part in the compiled code."""
    names = [f"crewlearn.{name}" for name in (*RULES, *SHAPES)]
    return [*(importlib.import_module(name) for name in names), streams, kernel, sys.modules[__name__]]


@cache
def kernel_digest() -> str:
    """Hash all that the compiled code is made of."""
    return sources_digest(_sources(), [numba.__version__, llvmlite.__version__, np.__version__])


@cache
def _prepare() -> Path:
    """Make the rules compilable; give the folder where what is compiled from them is kept."""
    rules = [importlib.import_module(f"crewlearn.{name}") for name in RULES]
    functions = [function for module in (*rules, streams, kernel) for function in _functions(module)]
    counted = _counting_references(functions)
    for function in functions:
        # Calls that pass tuples of arrays are dear and copies of code cheap, so everything is inlined. Counting
        # references to arrays takes half the time of a loop, and only where arrays are made is it needed.
        register_jitable(forceinline=True, _nrt=function.__name__ in counted)(function)
    return cache_folder(f"compiled/{kernel_digest()}", "compiled code")


@cache
def compiled_loop(kind: int) -> Callable[..., None]:
    """Give the kernel's loop for a kind of policy, compiled; it releases the interpreter lock while it runs."""
    settings: Any = numba.config
    before, settings.CACHE_DIR = settings.CACHE_DIR, str(_prepare())
    try:
        loop: Callable[..., None] = numba.njit(cache=True, nogil=True)(kernel.specialised(kind))
    finally:
        settings.CACHE_DIR = before
    return loop


@cache
def compiled_rule(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Give a rule function compiled by itself, to be timed or called from Python."""
    _prepare()
    compiled: Callable[..., Any] = numba.njit(rule)
    return compiled


def _index_of(kind: int) -> Path | None:
    """Give the file that lists what was compiled of a kind's loop; None where numba does not compile at all."""
    dispatcher: Any = compiled_loop(kind)
    kept = getattr(dispatcher, "_cache", None)  # numba has no public way to ask
    return None if kept is None else Path(kept._cache_file._index_path)


class _Progress(event.Listener):
    """Counts the functions compiled on a line of standard error."""

    def __init__(self) -> None:
        self.done = 0

    def on_start(self, event: Any) -> None:
        """Nothing to say yet."""

    def on_end(self, event: Any) -> None:
        """Show one more."""
        self.done += 1
        if sys.stderr.isatty():
            print(f"\r  {self.done} functions", end="", file=sys.stderr, flush=True)


def first_call(kind: int, name: str, call: Callable[[], object]) -> None:
    """Make the call that compiles or loads the loop of a kind; say so if it compiles, and mend a damaged cache."""
    index = _index_of(kind)
    if index is not None and index.exists():
        try:
            call()
        except (pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError, ValueError):
            print("crewlearn: the cache of compiled code is damaged; compiling anew", file=sys.stderr)
            for damaged in index.parent.glob(f"{index.stem}*"):
                damaged.unlink(missing_ok=True)
            compiled_loop.cache_clear()
        else:
            return
    print(f"crewlearn: compiling the loop of {name}; once for this version, up to half a minute", file=sys.stderr)
    with event.install_listener("numba:compile", _Progress()):
        call()
    if sys.stderr.isatty():
        print(file=sys.stderr)


def _functions(module: types.ModuleType) -> list[types.FunctionType]:
    """Give the functions that a module defines itself."""
    functions = [item for item in vars(module).values() if isinstance(item, types.FunctionType)]
    return [function for function in functions if function.__module__ == module.__name__]


def _counting_references(functions: list[types.FunctionType]) -> set[str]:
    """Name the functions that must count references: those that make arrays, or are handed new ones."""
    makers = {"copy", "empty", "zeros", "ones", "full", "arange", "sort", "argsort", "concatenate"}
    scalars = {"None", "int", "float", "bool"}
    called: dict[str, set[str]] = {}
    gives_arrays: set[str] = set()
    for function in functions:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        assert isinstance(tree, ast.FunctionDef)
        calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        called[function.__name__] = {call.attr for call in calls if isinstance(call, ast.Attribute)} & makers
        called[function.__name__] |= {call.id for call in calls if isinstance(call, ast.Name)}
        if tree.returns is None or ast.unparse(tree.returns) not in scalars:
            gives_arrays.add(function.__name__)
    return {name for name, others in called.items() if others & (makers | gives_arrays) or name in gives_arrays}
