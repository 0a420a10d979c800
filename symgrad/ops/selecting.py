"""Values by conditions, and the intervals that values fall into: masked_fill, select, digitize."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, DTypeError, ShapeError
from symgrad.ir.op import ops
from symgrad.ir.symbol import Symbol
from symgrad.ops.conversion import is_weak, strength
from symgrad.ops.families import Array, composite, require_kind
from symgrad.ops.movement import together
from symgrad.ops.scalar import where
from symgrad.ops.sorting import searchsorted, sort
from symgrad.types import promote

# --- by conditions --------------------------------------------------------------------------------


@composite
def masked_fill(x: Array, mask: Array, value: Any, /) -> Any:
    """``value`` where the mask holds, ``x`` elsewhere, in the element type of ``x``.

    Args:
        x: an array.
        mask: booleans; its shape broadcasts with that of ``x``.
        value: a number, or an array that broadcasts.
    Raises:
        DTypeError: the mask is not boolean, or ``x`` cannot hold the value. ShapeError: shapes do
            not broadcast.

    >>> import symgrad as sg
    >>> sg.masked_fill(sg.asarray([1.0, 2.0, 3.0]), sg.asarray([False, True, False]), 0)
    Tensor([1., 0., 3.])
    """
    x = ops.asarray(x)
    value = value if is_weak(value) else ops.asarray(value)
    together_in = promote(x.dtype, strength(value))
    if together_in.kind != x.dtype.kind:
        problem = "x cannot hold the value"
        raise DTypeError("masked_fill", problem, expected=x.dtype, got=together_in)
    if not is_weak(value) and value.dtype != x.dtype:
        value = ops.astype(value, x.dtype)
    return where(mask, value, x)


@composite
def select(conditions: Sequence[Array], choices: Sequence[Array], /, default: Any = 0) -> Any:
    """From each place the first of the choices whose condition holds, else the default.

    The derivative is that of what was chosen, whatever infinity or NaN the others make.

    Args:
        conditions: arrays of booleans.
        choices: as many numbers or arrays; all shapes broadcast, element types are promoted.
        default: a number or an array.
    Raises:
        ArgumentError: no condition, or not one choice for each. DTypeError: a condition is not
            boolean. ShapeError: shapes do not broadcast.

    >>> import symgrad as sg
    >>> x = sg.asarray([-2.0, 0.5, 3.0])
    >>> sg.select([x < 0, x < 1], [-x, x**2], default=1.0)
    Tensor([2.  , 0.25, 1.  ])
    """
    if len(conditions) != len(choices) or not conditions:
        problem = "one choice for each condition"
        raise ArgumentError("select", problem, expected=len(conditions) or 1, got=len(choices))
    *values, result = together([*choices, default])
    for condition, value in zip(reversed(conditions), reversed(values), strict=True):
        result = where(condition, value, result)
    return result


# --- intervals ------------------------------------------------------------------------------------


def _known_order(bins: Any) -> None:
    """Refuse edges that go up and down, where their values are known."""
    if isinstance(bins, Symbol):
        return
    values = np.asarray(bins)
    if np.any(values[1:] < values[:-1]) and np.any(values[1:] > values[:-1]):
        expected = "edges in ascending or descending order"
        raise ArgumentError("digitize", "bins", expected=expected, got=bins)


@composite(reads_values=True)
def digitize(x: Array, bins: Array, /, *, right: bool = False) -> Any:
    """Which interval each element falls into: the number of edges at or below it.

    Of descending edges, the number of those above it.

    Args:
        x: real numbers of any shape.
        bins: edges, in ascending or descending order.
        right: an interval holds its upper edge, not its lower one.
    Returns:
        int64 indices from 0 to the number of edges.
    Raises:
        ShapeError: ``bins`` is no vector. ArgumentError: edges go up and down; of a symbol this is
            not seen. DTypeError: complex numbers.

    >>> import symgrad as sg
    >>> sg.digitize(sg.asarray([0.5, 1.0, 9.0]), sg.asarray([0.0, 1.0, 2.0]))
    Tensor([1, 2, 3])
    """
    x, bins = ops.asarray(x), ops.asarray(bins)
    for name, value in (("x", x), ("bins", bins)):
        require_kind("digitize", value.dtype, "real", name)
    if bins.ndim != 1:
        raise ShapeError("digitize", "bins is no vector", expected="1 axis", got=bins.type)
    _known_order(bins)
    falling = ops.any(bins[1:] < bins[:-1])
    below = searchsorted(sort(bins), x, side="left" if right else "right")
    return where(falling, bins.shape[0] - below, below)
