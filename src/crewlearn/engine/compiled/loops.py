"""Compilation of the kernel for a policy's rule.

The functions to compile are those that the rule's functions and the loop call, directly or not. Loops of the package's
own rules are cached on disk under a hash of their sources. A user's rule is compiled in memory from copies of its
functions, and recompiled when any of them changes, so redefining a function or constant in a notebook takes effect.
"""

import pickle
import re
import sys
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import event
from numba.core.errors import NumbaError
from numba.extending import register_jitable

from crewlearn.engine.caching.disk_cache import cache_folder, sources_digest
from crewlearn.engine.compiled import kernel
from crewlearn.engine.compiled.reach import (
    Function,
    Reached,
    constants_text,
    fingerprint,
    is_ours,
    reach,
    references,
    sources_of,
)
from crewlearn.policies.rule import Rule
from crewlearn.problem.errors import InvalidInput

Loop = Callable[..., None]

MAKERS = frozenset({"copy", "empty", "zeros", "ones", "full", "arange", "sort", "argsort", "concatenate"})
"""Names of the NumPy functions with which the package's rules allocate arrays."""

MOST_LOOPS = 64
"""Upper limit on the compiled loops of users' rules held in memory."""

FORM_ARGUMENT = 1
"""Place of the policy's form among the arguments of the loop."""

_shipped: dict[Rule, Loop] = {}
_own: OrderedDict[Any, Loop] = OrderedDict()
_registered: set[Function] = set()
_lock = threading.RLock()


def compiled_loop(rule: Rule) -> Loop:
    """Return the loop compiled for a rule; it releases the interpreter lock while it runs."""
    with _lock:
        if rule in _shipped:
            return _shipped[rule]
        own = reach(rule.functions(), enter=lambda function: not is_ours(function))
        if own.is_ours():
            _shipped[rule] = _loop_on_disk(rule)
            return _shipped[rule]
        key = fingerprint(own)
        if key not in _own:
            _own[key] = _loop_in_memory(rule, own)
            while len(_own) > MOST_LOOPS:
                _own.popitem(last=False)
        _own.move_to_end(key)
        return _own[key]


def compiled_rule(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return one of the package's rule functions compiled by itself, for timing it or calling it from Python."""
    with _lock:
        _make_compilable(reach([function]))
        compiled: Callable[..., Any] = numba.njit(function)
        return compiled


def make_compilable(functions: Iterable[Callable[..., Any]]) -> None:
    """Let compiled code call these functions of the package and everything that they call."""
    with _lock:
        _make_compilable(reach(functions))


def all_of(rule: Rule) -> Reached:
    """Return everything that the loop of one of the package's rules reaches."""
    return reach([*rule.functions(), kernel.play_runs])


def loop_folder(rule: Rule) -> str:
    """Return the part of the disk cache for a rule's loop, named by a hash of everything that the loop reaches."""
    parts = all_of(rule)
    names = [f"{function.__module__}.{function.__qualname__}" for function in rule.functions()]
    versions = [numba.__version__, llvmlite.__version__, np.__version__, *names, constants_text(parts)]
    return f"compiled/{sources_digest([*sources_of(parts), sys.modules[__name__]], versions)}"


def _loop_on_disk(rule: Rule) -> Loop:
    _make_compilable(all_of(rule))
    settings: Any = numba.config
    folder = cache_folder(loop_folder(rule), "compiled code")
    before, settings.CACHE_DIR = settings.CACHE_DIR, str(folder)
    try:
        loop: Loop = numba.njit(cache=True, nogil=True)(kernel.specialised(rule, f"play_runs_{rule.decide.__name__}"))
    finally:
        settings.CACHE_DIR = before
    return loop


def _loop_in_memory(rule: Rule, own: Reached) -> Loop:
    """Return the loop of a rule that uses the user's own functions, compiled from copies of them."""
    _make_compilable(all_of(rule))
    copies = _copied([function for function in own.functions if not is_ours(function)])
    for copy in copies.values():
        # Without bounds checks, an index out of range in a user's rule would corrupt memory.
        register_jitable(forceinline=True, boundscheck=True)(copy)
    fields = {name: copies.get(function, function) for name, function in vars(rule).items()}
    loop: Loop = numba.njit(nogil=True)(kernel.specialised(Rule(**fields), f"play_runs_{rule.decide.__name__}"))
    return loop


def _copied(functions: list[Function]) -> dict[Function, Function]:
    """Copy functions so that the copies call each other even if the original names are rebound."""
    copies: dict[Function, Function] = {}
    for function in functions:
        cells = tuple(types.CellType() for _ in function.__closure__ or ())
        copy = types.FunctionType(function.__code__, {}, function.__name__, function.__defaults__, cells or None)
        copy.__kwdefaults__, copy.__module__, copy.__qualname__ = (
            function.__kwdefaults__,
            function.__module__,
            function.__qualname__,
        )
        copies[function] = copy
    for function, copy in copies.items():
        values = {
            name: copies.get(value, value) if isinstance(value, Function) else value
            for name, value in references(function)
        }
        modules = {name for name, value in values.items() if isinstance(value, types.ModuleType)}
        for name in modules:
            parts = {part.partition(".")[2]: value for part, value in values.items() if part.startswith(f"{name}.")}
            if any(isinstance(value, Function) for value in parts.values()):
                values[name] = types.ModuleType(name)
                vars(values[name]).update(parts)
        copy.__globals__.update({"__name__": function.__module__, "__builtins__": __builtins__, **values})
        for name, cell in zip(function.__code__.co_freevars, copy.__closure__ or (), strict=True):
            cell.cell_contents = values[name]
    return copies


def _make_compilable(parts: Reached) -> None:
    """Register the package's functions with Numba, each once.

    Everything is inlined, because calls that pass tuples of arrays are slow. Reference counting takes half the time of
    a loop, so it is turned off except where arrays are allocated or returned.
    """
    for function in parts.functions:
        if function in _registered or function is kernel.play_runs or not is_ours(function):
            continue
        _registered.add(function)
        uses = parts.uses[function]
        counted = _returns_arrays(function) or any(_returns_arrays(other) for other in uses)
        counted = counted or not MAKERS.isdisjoint(function.__code__.co_names)
        register_jitable(forceinline=True, _nrt=counted)(function)


def _returns_arrays(function: Function) -> bool:
    return function.__annotations__.get("return", Any) not in (None, int, float, bool)


def is_loaded(rule: Rule, form: kernel.PolicyForm) -> bool:
    """Return whether this process has compiled or loaded the loop of a rule for parameters of these types."""
    loop: Any = compiled_loop(rule)
    signatures = getattr(loop, "signatures", ())
    return bool(signatures) and loop.typeof_pyval(form) in [signature[FORM_ARGUMENT] for signature in signatures]


def first_call(rule: Rule, name: str, call: Callable[[], object]) -> None:
    """Make the first call of a rule's loop, which compiles or loads it; report compiling, and repair a bad cache."""
    loop: Any = compiled_loop(rule)
    if getattr(loop, "signatures", None):
        call()
        return
    index = _index_of(loop)
    if index is not None and index.exists():
        try:
            call()
        except (pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError, ValueError):
            print("crewlearn: the cache of compiled code is damaged; recompiling", file=sys.stderr)
            for damaged in index.parent.glob(f"{index.stem}*"):
                damaged.unlink(missing_ok=True)
            with _lock:
                _shipped.pop(rule, None)
        else:
            return
    often = "once per process, since it is your own code" if index is None else "once for this version"
    print(f"crewlearn: compiling the loop of {name} ({often}); this can take half a minute", file=sys.stderr)
    with event.install_listener("numba:compile", _Progress()):
        call()
    if sys.stderr.isatty():
        print(file=sys.stderr)


def run_loop(rule: Rule, name: str, *arguments: Any) -> None:
    """Run the loop of the policy called `name`; raise an error that names the line if it cannot be compiled."""
    try:
        compiled_loop(rule)(*arguments)
    except NumbaError as error:
        raise _uncompilable(rule, name, error) from error


def _uncompilable(rule: Rule, name: str, error: NumbaError) -> InvalidInput:
    """Convert a compiler error to one that names the function and the line."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    own = [function for function in reach(rule.functions()).functions if not is_ours(function)]
    where, line = rule.decide, rule.decide.__code__.co_firstlineno
    for file, number in re.findall(r'File "([^"]*)", line (\d+)', text):
        inside = [function for function in own if _has_line(function, Path(file).name, int(number))]
        if inside:
            where, line = max(inside, key=lambda function: function.__code__.co_firstlineno), int(number)
            break
    before = [part.strip() for part in text.partition('File "')[0].splitlines() if part.strip()]
    remedy = (
        f"{where.__qualname__}, line {line}, cannot be compiled: {before[-1]}. Write the rule with loops over arrays, "
        "numbers and named tuples; or override `decide` to play it in plain Python"
    )
    return InvalidInput("policy", name, remedy)


def _has_line(function: Function, file: str, line: int) -> bool:
    code = function.__code__
    lines = [number for _, _, number in code.co_lines() if number is not None]
    return Path(code.co_filename).name == file and min(lines) <= line <= max(lines)


def _index_of(loop: Any) -> Path | None:
    """Return the index file of a loop's disk cache, or None if the loop is not cached on disk."""
    disk_cache = getattr(loop, "_cache", None)  # numba has no public way to ask
    file = getattr(disk_cache, "_cache_file", None)
    return None if file is None else Path(file._index_path)


class _Progress(event.Listener):
    """Shows the number of functions compiled so far on standard error."""

    def __init__(self) -> None:
        self.done = 0

    def on_start(self, event: Any) -> None:
        """Ignore the start of a compilation."""

    def on_end(self, event: Any) -> None:
        """Count a compiled function and show the total."""
        self.done += 1
        if sys.stderr.isatty():
            print(f"\r  {self.done} functions", end="", file=sys.stderr, flush=True)
