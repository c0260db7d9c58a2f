"""Compilation of the kernel for a policy's rule.

The functions to compile are those that the rule's functions and the loop call, directly or not. Loops of the package's
own rules are cached on disk under a hash of their sources. A user's rule is compiled in memory from copies of its
functions, and recompiled when any of them changes, so redefining a function or constant in a notebook takes effect.
"""

import sys
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np

from crewlearn.problem.extras import extra_for

with extra_for("simulating"):
    import llvmlite
    import numba
    from numba.core import event
    from numba.extending import overload, register_jitable

from crewlearn.engine.caching.disk_cache import cache_folder, sources_digest
from crewlearn.engine.compiled import floor_kernel, kernel
from crewlearn.engine.compiled.code_files import seal
from crewlearn.engine.compiled.counting import OwnCompiler
from crewlearn.engine.compiled.inlining import InlinedCompiler
from crewlearn.engine.compiled.messages import compiler_message, is_from_compiler
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
from crewlearn.problem.floor import own_step
from crewlearn.problem.laws.delay import own_delay
from crewlearn.problem.laws.output import own_output
from crewlearn.problem.laws.own import Draw, carrying

Loop = Callable[..., None]

MAKERS = frozenset({"copy", "empty", "zeros", "ones", "full", "arange", "sort", "argsort", "concatenate"})
"""Names of the NumPy functions with which the package's rules allocate arrays."""

MOST_LOOPS = 64
"""Upper limit on the compiled loops of users' rules held in memory, and on the functions of their laws."""

INLINED: Any = {
    "forceinline": True,
    "pipeline_class": InlinedCompiler,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
"""How functions are compiled that are only called from a loop."""

OWN: Any = {**INLINED, "pipeline_class": OwnCompiler}
"""How a user's functions are compiled."""

OWN_DRAWS = (own_output, own_delay, own_step)
"""Functions that draw from a law of a user's own, through its numbers."""

NOT_INLINED: set[Any] = {kernel.play_runs, floor_kernel.play_floor_runs, *OWN_DRAWS}
"""Functions of the package that are not registered as they stand."""


@dataclass(frozen=True)
class LoopKind:
    """What a loop is made of: a policy's rule, the body that plays it, and the draws of a problem's own laws."""

    rule: Rule
    body: Callable[..., None] = kernel.play_runs
    laws: tuple[Draw, ...] = ()

    def functions(self) -> tuple[Callable[..., Any], ...]:
        """Return the functions of the rule and of the laws."""
        return (*self.rule.functions(), *self.laws)


_shipped: dict[LoopKind, Loop] = {}
_own: OrderedDict[Any, Loop] = OrderedDict()
_draws: OrderedDict[Any, Draw] = OrderedDict()
_registered: set[Function] = set()
_lock = threading.RLock()


def compiled_loop(kind: LoopKind) -> Loop:
    """Return a compiled loop; it releases the interpreter lock while it runs."""
    with _lock:
        if kind in _shipped:
            return _shipped[kind]
        own = _own_parts(kind)
        if not kind.laws and own.is_ours():
            _shipped[kind] = _loop_on_disk(kind)
            return _shipped[kind]
        key = (kind.body, fingerprint(own))
        if key not in _own:
            _own[key] = _loop_in_memory(kind, own)
            while len(_own) > MOST_LOOPS:
                _own.popitem(last=False)
        _own.move_to_end(key)
        return _own[key]


def is_shipped(kind: LoopKind) -> bool:
    """Return whether a loop is made of the package's own code alone, so that it is cached on disk."""
    return not kind.laws and _own_parts(kind).is_ours()


def _own_parts(kind: LoopKind) -> Reached:
    return reach(kind.functions(), enter=lambda function: not is_ours(function))


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


def all_of(kind: LoopKind) -> Reached:
    """Return everything that a loop of the package's own reaches."""
    return reach([*kind.functions(), kind.body])


def loop_folder(kind: LoopKind) -> str:
    """Return the part of the disk cache for a loop, named by a hash of everything that the loop reaches."""
    return _folder(all_of(kind), [*kind.functions(), kind.body])


def _folder(parts: Reached, roots: Sequence[Any]) -> str:
    names = [f"{function.__module__}.{function.__qualname__}" for function in roots]
    versions = [numba.__version__, llvmlite.__version__, np.__version__, *names, constants_text(parts)]
    modules = [*sources_of(parts), sys.modules[__name__], sys.modules[seal.__module__]]
    return f"compiled/{sources_digest(modules, versions)}"


def _loop_on_disk(kind: LoopKind) -> Loop:
    _make_compilable(all_of(kind))
    return _cached_on_disk(_specialised(kind, kind.rule), loop_folder(kind))


def _cached_on_disk(function: Callable[..., Any], part: str) -> Callable[..., Any]:
    """Return a function compiled, with the compiled code kept in a part of the disk cache."""
    settings: Any = numba.config
    folder = cache_folder(part, "compiled code")
    before, settings.CACHE_DIR = settings.CACHE_DIR, str(folder)
    try:
        compiled: Callable[..., Any] = numba.njit(cache=True, nogil=True)(function)
    finally:
        settings.CACHE_DIR = before
    seal(compiled)
    return compiled


@cache
def compiled_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return one of the package's functions compiled, with the compiled code kept on disk."""
    with _lock:
        parts = reach([function])
        _make_compilable(parts)
        return _cached_on_disk(function, _folder(parts, [function]))


@cache
def compiled_in_memory(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return one of the package's functions compiled for this process, for arguments that carry a user's own laws."""
    with _lock:
        _make_compilable(reach([function]))
        compiled: Callable[..., Any] = numba.njit(nogil=True)(function)
        return compiled


def _loop_in_memory(kind: LoopKind, own: Reached) -> Loop:
    """Return a loop that uses the user's own functions, compiled from copies of them."""
    _make_compilable(all_of(kind))
    copies = _compilable_copies(own)
    fields = {name: copies.get(function, function) for name, function in vars(kind.rule).items()}
    loop: Loop = numba.njit(nogil=True)(_specialised(kind, Rule(**fields)))
    return loop


def _specialised(kind: LoopKind, rule: Rule) -> Function:
    body: Any = kind.body
    name = f"{body.__name__}_{rule.decide.__name__}"
    return kernel.specialised(body, rule, name, _may_read_experience(kind.rule))


def _may_read_experience(rule: Rule) -> bool:
    """Return whether a rule may read the days worked: the package's own do so by name."""
    parts = reach(rule.functions())
    return not parts.is_ours() or any("experience" in function.__code__.co_names for function in parts.functions)


def _compilable_copies(own: Reached) -> dict[Function, Function]:
    """Copy the user's own functions and register the copies with Numba."""
    copies = _copied([function for function in own.functions if not is_ours(function)])
    for copy in copies.values():
        # Without bounds checks, an index out of range in a user's rule would corrupt memory.
        register_jitable(boundscheck=True, **OWN)(copy)
    return copies


def frozen_laws(form: Any) -> Any:
    """Return a form whose numbers of a user's own laws carry compilable copies of the laws' functions.

    Numba keeps what it compiled by the types of the arguments. When anything that a function reaches changes, the copy
    is another one, and so is the type of the numbers that carry it.
    """
    if not isinstance(form, tuple) or not hasattr(form, "_fields"):
        return form
    if hasattr(form, "draw"):
        return carrying(form, frozen_draw(form.draw))
    values = [frozen_laws(value) for value in form]
    same = all(new is old for new, old in zip(values, form, strict=True))
    return form if same else type(form)(*values)


def frozen_draw(draw: Draw) -> Draw:
    """Return a compilable copy of a law's function, the same as long as nothing that it reaches changes."""
    own = reach([draw], enter=lambda function: not is_ours(function))
    key = fingerprint(own)
    with _lock:
        if key not in _draws:
            _make_compilable(reach([draw]))
            _draws[key] = _compilable_copies(own).get(cast(Function, draw), draw)
            while len(_draws) > MOST_LOOPS:
                _draws.popitem(last=False)
        _draws.move_to_end(key)
        return _draws[key]


def _draw_carried_by(numbers: Any) -> Draw | None:
    """Return the function that the type of a law's numbers carries; None for a built-in law."""
    draw: Draw | None = getattr(numbers.instance_class, "draw", None)
    return draw


@overload(own_output, strict=False, jit_options=INLINED)
def _compiled_output(numbers: Any, centre: float, room: float, key: int) -> Callable[..., float]:
    """Draw by the function that the type of the numbers carries; no built-in law is ever drawn from so."""
    draw = _draw_carried_by(numbers)
    if draw is None:
        return lambda numbers, centre, room, key: 0.0
    return lambda numbers, centre, room, key: float(draw(numbers, centre, room, key))


@overload(own_delay, strict=False, jit_options=INLINED)
def _compiled_delay(numbers: Any, out: int, into: int, key: int) -> Callable[..., int]:
    """Draw by the function that the type of the numbers carries; no built-in law is ever drawn from so."""
    draw = _draw_carried_by(numbers)
    if draw is None:
        return lambda numbers, out, into, key: 0
    return lambda numbers, out, into, key: int(draw(numbers, out, into, key))


@overload(own_step, strict=False, jit_options=INLINED)
def _compiled_step(
    numbers: Any, level: float, first: float, period: int, worked: int, key: int
) -> Callable[..., float]:
    """Step by the function that the type of the numbers carries; the built-in drift never steps so."""
    step = _draw_carried_by(numbers)
    if step is None:
        return lambda numbers, level, first, period, worked, key: 0.0
    return lambda numbers, level, first, period, worked, key: float(step(numbers, level, first, period, worked, key))


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
        if function in _registered or function in NOT_INLINED or not is_ours(function):
            continue
        _registered.add(function)
        uses = parts.uses[function]
        counted = _returns_arrays(function) or any(_returns_arrays(other) for other in uses)
        counted = counted or not MAKERS.isdisjoint(function.__code__.co_names)
        register_jitable(_nrt=counted, **INLINED)(function)


def _returns_arrays(function: Function) -> bool:
    return _may_hold_arrays(function.__annotations__.get("return", Any))


def _may_hold_arrays(annotation: Any) -> bool:
    """Return whether values of an annotated type may hold arrays: all but numbers and named tuples of numbers."""
    if isinstance(annotation, type) and issubclass(annotation, tuple) and hasattr(annotation, "_fields"):
        return any(_may_hold_arrays(field) for field in annotation.__annotations__.values())
    return annotation not in (None, int, float, bool)


def is_loaded(kind: LoopKind, problem: Any, policy: kernel.PolicyForm) -> bool:
    """Return whether this process has compiled or loaded a loop for forms of these types."""
    loop: Any = compiled_loop(kind)
    forms = map(frozen_laws, (problem, policy)) if kind.laws else (problem, policy)
    types_of = tuple(loop.typeof_pyval(form) for form in forms)
    return types_of in [signature[: len(types_of)] for signature in getattr(loop, "signatures", ())]


def is_missing_on_disk(kind: LoopKind) -> bool:
    """Return whether a loop that is kept on disk is not there yet; False for loops with code of a user's own."""
    index = _index_of(compiled_loop(kind))
    return index is not None and not index.exists()


def first_call(kind: LoopKind, name: str, call: Callable[[], object]) -> None:
    """Make the first call of a loop, which compiles or loads it; report compiling."""
    loop: Any = compiled_loop(kind)
    index = _index_of(loop)
    if getattr(loop, "signatures", None) or (index is not None and index.exists()):
        call()
        return
    often = "once per process, since it is your own code" if index is None else "once for this version"
    print(f"crewlearn: compiling the loop of {name} ({often}); this can take half a minute", file=sys.stderr)
    with event.install_listener("numba:compile", _Progress()):
        call()
    if sys.stderr.isatty():
        print(file=sys.stderr)


def run_loop(kind: LoopKind, name: str, problem: Any, policy: kernel.PolicyForm, *arguments: Any) -> None:
    """Run the loop of the policy called `name`; raise an error that names the line if it cannot be compiled."""
    if kind.laws:
        problem, policy = frozen_laws(problem), frozen_laws(policy)
    try:
        compiled_loop(kind)(problem, policy, *arguments)
    except Exception as error:  # not all that the compiler raises are errors of its own
        if not is_from_compiler(error):
            raise
        remedy = (
            f"{compiler_message(kind.rule.decide, kind.functions(), error)}. Write the rule with loops over arrays, "
            "numbers and named tuples; or override `decide` to play it in plain Python"
        )
        raise InvalidInput("policy", name, remedy) from error


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
