"""Where an array is not zero: results whose size only running tells.

Such a result has an axis of a made-up name, as in ``i64[_3]``; the name is bound when the result is
computed, and whatever depends on it follows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import ShapeError
from symgrad.ir.op import ops
from symgrad.ops.families import Array, composite, nondifferentiable
from symgrad.types import TensorType, fresh_dim


def _positions_type(x: TensorType) -> TensorType:
    if x.ndim == 0:
        raise ShapeError(
            "nonzero", "positions need an axis", expected="at least one axis", got=x, hint="x != 0"
        )
    return TensorType((x.ndim, fresh_dim()), np.int64)


@nondifferentiable(
    type=_positions_type, reason="positions are integers", warns=False, namespace=None
)
def true_positions(x: Array, /) -> Array:
    """The positions of what is not zero, in row-major order: one row per axis.

    >>> import symgrad as sg
    >>> true_positions(sg.asarray([[0, 7], [8, 9]]))
    Tensor([[0, 1, 1],
            [1, 0, 1]])
    """
    if x.ndim == 1:  # without a copy
        return x.nonzero()[0][np.newaxis].astype(np.int64, copy=False)
    return np.array(x.nonzero(), np.int64)


@composite
def nonzero(x: Array, /) -> Any:
    """The positions of what is not zero, in row-major order.

    Args:
        x: an array with at least one axis.
    Returns:
        a tuple of one integer array per axis, all as long as there are such elements.
    Raises:
        ShapeError: ``x`` has no axes.

    >>> import symgrad as sg
    >>> sg.nonzero(sg.asarray([0.0, 3.0, 0.0, 5.0]))
    (Tensor([1, 3]),)
    >>> x = sg.placeholder("x", ("n",))
    >>> x[x > 0].ndim
    1
    """
    positions = true_positions(x)
    return tuple(positions[k] for k in range(x.ndim))


@composite
def argwhere(x: Array, /) -> Any:
    """The positions of what is not zero, one per row.

    Args:
        x: an array with at least one axis.
    Returns:
        an integer array with a row per such element and a column per axis.
    Raises:
        ShapeError: ``x`` has no axes.

    >>> import symgrad as sg
    >>> sg.argwhere(sg.asarray([[0, 7], [8, 0]]))
    Tensor([[0, 1],
            [1, 0]])
    """
    return ops.matrix_transpose(true_positions(x))
