"""Computing long arrays in pieces that stay in the cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = Any

BLOCK = 16384


def in_blocks(function: Callable[..., Array], x: Array, *options: Any) -> Array:
    """An element-wise function of double-precision numbers, on an array of any shape and type.

    A formula of many steps costs about half of what it does on the whole array at once.
    """
    flat = np.reshape(x, -1)
    result = np.empty(flat.shape, flat.dtype)
    for start in range(0, flat.size, BLOCK):
        block = flat[start : start + BLOCK].astype(np.float64)
        result[start : start + BLOCK] = function(block, *options)
    return result.reshape(np.shape(x))


def in_blocks_together(
    function: Callable[..., Array], operands: Sequence[Array], *options: Any
) -> Array:
    """The same for a function of several numbers, on arrays whose shapes broadcast."""
    wide = np.broadcast_arrays(*operands)
    flat = [np.reshape(x, -1) for x in wide]
    result = np.empty(flat[0].shape, np.result_type(*operands))
    for start in range(0, result.size, BLOCK):
        blocks = [x[start : start + BLOCK].astype(np.float64) for x in flat]
        result[start : start + BLOCK] = function(*blocks, *options)
    return result.reshape(wide[0].shape)


def replaced(values: Array, mask: Array, function: Callable[..., Array], x: Array) -> Array:
    """The values, with those of ``function(x)`` where the mask holds, computed there alone."""
    result = np.array(values)
    if np.any(mask):
        result[mask] = function(np.asarray(x)[mask])
    return result
