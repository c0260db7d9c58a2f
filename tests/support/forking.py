"""Forked children of the test process."""

import gc
import os
import traceback
import warnings
from collections.abc import Callable


def forked(run: Callable[[], object]) -> int:
    """Run a function in a forked child and return the child's process id.

    The child freezes the parent's objects for the garbage collector: some finalizers would wait for threads that the
    child does not have.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # pytest has threads; the child uses none of them
        child = os.fork()
    if child == 0:
        try:
            gc.freeze()
            run()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    return child
