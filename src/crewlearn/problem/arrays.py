"""Array types that rule functions work on."""

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

NOBODY = -1
"""The worker number that means no worker: an empty station, or an outgoing worker left open."""
