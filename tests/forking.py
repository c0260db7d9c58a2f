"""Children of the test process, which go on from where it is."""

import gc
import os
import traceback
import warnings
from collections.abc import Callable


def forked(run: Callable[[], object]) -> int:
    """Run something in a child, which ends with it; give the child's number.

    What the parent left behind is not collected there: the end of some of it waits for threads that a child has not.
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
