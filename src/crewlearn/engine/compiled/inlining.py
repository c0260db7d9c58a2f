"""A compiler pipeline for functions that are only ever inlined into a loop.

Numba optimises each function of a call tree, and generates machine code for it, with everything inlined that it calls.
The code of a deep tree is so processed once for every level. Here only the loop at the top is: what it calls is lowered
to LLVM's intermediate code, which is linked into the loop and inlined there. That halves the time to compile a loop.
"""

import ctypes
import importlib
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

DYNAMIC_FUNCTIONS: Any = importlib.import_module("numba._dynfunc")  # an extension module, unknown to type checkers


class InlinedLibrary(JITCodeLibrary):
    """Code that is linked into that of its callers, and neither optimised nor executed by itself."""

    def _optimize_final_module(self) -> None:
        """Leave it to the callers."""

    def _finalize_final_module(self) -> None:
        """Check that the code is complete, without generating machine code from it."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


@ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p)
def _refuse(module: object, arguments: int, keywords: int) -> object:
    """Refuse a call from Python."""
    raise TypeError("this function is compiled only as a part of others")


@register_pass(mutates_CFG=True, analysis_only=False)
class InlinedLowering(NativeLowering):
    """Lowers a function to code for its callers, with an entry point that refuses calls from Python."""

    _name = "inlined_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower the function; numba's lock on compiling protects the context from other threads."""
        context = state.targetctx
        state.library = InlinedLibrary(context.codegen(), state.func_id.func_qualname)
        context.get_executable = _entry_point
        try:
            return bool(super().run_pass(state))
        finally:
            del context.get_executable


def _entry_point(library: Any, fndesc: Any, env: Any) -> Any:
    """Return a callable that identifies a function to the compiler."""
    address = ctypes.cast(_refuse, ctypes.c_void_p).value
    return DYNAMIC_FUNCTIONS.make_function(fndesc.lookup_module(), fndesc.qualname, "", address, env, (library,))


class InlinedCompiler(CompilerBase):
    """Numba's usual passes, but for the last one."""

    lowering: type[InlinedLowering] = InlinedLowering

    def define_pipelines(self) -> list[Any]:
        """Return the only pipeline."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(self.lowering if step is NativeLowering else step, words) for step, words in passes.passes]
        passes.finalize()
        return [passes]
