"""Compilation of a user's own functions, without reference counting where nothing can depend on it.

Each call that passes the facts counts a reference to every array in them, up and down, which takes most of the time of
a small rule. A function that only reads and writes the arrays it was given borrows them from its caller, and can leave
counting to it. Whether it does is decided by the types that the compiler inferred, not by what annotations promise.
"""

from typing import Any

from numba.core import ir, types
from numba.core.compiler_machinery import register_pass
from numba.core.errors import NumbaError

from crewlearn.engine.compiled.inlining import InlinedCompiler, InlinedLowering

BORROWING = frozenset(
    {"getattr", "getitem", "static_getitem", "getiter", "iternext", "pair_first", "pair_second", "exhaust_iter"}
    | {"build_tuple", "cast", "phi"}
)
"""Operations whose result holds only arrays that their arguments hold, as long as no array is an index."""

HELD = (types.Array, types.BaseTuple, types.ArrayIterator, types.UniTupleIter, types.Pair)
"""Types of values that may hold borrowed arrays; lists, sets, dicts and text are not among them."""

HARMLESS = (ir.Del, ir.Branch, ir.Jump, ir.Return, ir.StaticRaise)
"""Statements that store nothing."""


@register_pass(mutates_CFG=True, analysis_only=False)
class BorrowingLowering(InlinedLowering):
    """Lowers a function without reference counting if it only borrows arrays, else as usual."""

    _name = "borrowing_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower the function; what turns out to allocate memory after all is lowered again, with counting."""
        counting = state.targetctx
        if not _only_borrows(state):
            return super().run_pass(state)
        # The context keeps its runtime's interface, so the copy must get one of its own.
        state.targetctx = counting.subtarget(enable_nrt=False)
        vars(state.targetctx).pop("nrt", None)
        try:
            return super().run_pass(state)
        except NumbaError:
            state.targetctx = counting
            return super().run_pass(state)
        finally:
            state.targetctx = counting


class OwnCompiler(InlinedCompiler):
    """The pipeline for a user's own functions."""

    lowering = BorrowingLowering


def _only_borrows(state: Any) -> bool:
    """Return whether a function neither makes, stores nor returns anything that is counted."""
    if state.func_ir.is_generator or _is_counted(state, state.return_type):
        return False
    statements = [statement for block in state.func_ir.blocks.values() for statement in block.body]
    return all(_borrows(state, statement) for statement in statements)


def _borrows(state: Any, statement: Any) -> bool:
    if isinstance(statement, ir.SetItem):
        return not any(_is_counted(state, _type_of(state, part)) for part in (statement.index, statement.value))
    if isinstance(statement, ir.StaticSetItem):
        return not _is_counted(state, _type_of(state, statement.value))
    if not isinstance(statement, ir.Assign):
        return isinstance(statement, HARMLESS)
    made, value = _type_of(state, statement.target), statement.value
    if not _is_counted(state, made):
        return True
    if isinstance(value, (ir.Const, ir.Global, ir.FreeVar)):
        return isinstance(made, (*HELD, types.StringLiteral))  # constants live as long as the code
    if not isinstance(made, HELD):
        return False
    if not isinstance(value, ir.Expr):
        return True  # an argument, or another variable
    indexed_by_array = value.op == "getitem" and _is_counted(state, _type_of(state, value.index))
    return value.op in BORROWING and not indexed_by_array


def _type_of(state: Any, variable: Any) -> Any:
    return state.typemap[variable.name]


def _is_counted(state: Any, kind: Any) -> bool:
    """Return whether values of a type may hold memory whose references are counted."""
    return bool(state.targetctx.data_model_manager[kind].contains_nrt_meminfo())
