"""The arrays of this package."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

# float32 always: an array times a Python number stays so. NumPy's stubs lose that in a sum.
Floats: TypeAlias = NDArray[np.floating[Any]]
