"""Half precision: where it is added up, it is in single.

A sum in half precision stands still as soon as an element is below half an ulp of it: a sum of
ones at 2048.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def working_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The element type to add up in: single precision for half, else the type itself."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype
