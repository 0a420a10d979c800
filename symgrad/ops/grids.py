"""Numbers at equal ratios, positions of a grid, and triangles of ones."""

from __future__ import annotations

from typing import Any

from symgrad.errors import ArgumentError
from symgrad.ir.op import ops
from symgrad.ops.conversion import is_weak, require_cpu, strength
from symgrad.ops.families import composite
from symgrad.ops.ranges import arange, linspace
from symgrad.types import (
    as_dtype,
    as_shape,
    default_float,
    default_int,
    is_integer,
    promote,
    real_dtype,
)

# --- equal ratios ---------------------------------------------------------------------------------


def _in_type(values: Any, dtype: Any) -> Any:
    """Values in an element type; to integers they are rounded downwards."""
    wanted = values.dtype if dtype is None else as_dtype(dtype)
    if is_integer(wanted):
        values = ops.floor(values)
    return values if values.dtype == wanted else ops.astype(values, wanted)


@composite
def logspace(
    start: Any,
    stop: Any,
    /,
    num: int,
    *,
    base: Any = 10.0,
    dtype: Any = None,
    device: Any = None,
    endpoint: bool = True,
) -> Any:
    """``num`` numbers from ``base**start`` to ``base**stop`` at equal ratios.

    Args:
        start, stop: exponents; symbols without axes give a symbol.
        num: how many; a symbolic size gives a symbol.
        base: a number, or a symbol without axes.
        dtype: the element type; the default float (or complex) if None.
        endpoint: whether ``base**stop`` is the last of them.
    Raises:
        ArgumentError: ``num`` is no int, or negative.

    >>> import symgrad as sg
    >>> sg.logspace(0, 3, 4)
    Tensor([   1.,   10.,  100., 1000.])
    """
    exponents = linspace(start, stop, num, endpoint=endpoint, device=device)
    return _in_type(ops.pow(base if is_weak(base) else ops.asarray(base), exponents), dtype)


@composite
def geomspace(
    start: Any,
    stop: Any,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: Any = None,
    endpoint: bool = True,
) -> Any:
    """``num`` numbers from ``start`` to ``stop`` at equal ratios; both ends are exact.

    Args:
        start, stop: numbers of one sign, none 0, or complex ones; symbols without axes give a
            symbol.
        num: how many; a symbolic size gives a symbol.
        dtype: the element type; the default float (or complex) if None.
        endpoint: whether ``stop`` is the last of them.
    Raises:
        ArgumentError: an end is 0; ``num`` is no int, or negative.

    >>> import symgrad as sg
    >>> sg.geomspace(1.0, 8.0, 4)
    Tensor([1., 2., 4., 8.])
    """
    ends: list[Any] = [end if is_weak(end) else ops.asarray(end) for end in (start, stop)]
    if any(is_weak(end) and end == 0 for end in ends):
        raise ArgumentError("geomspace", "no ratio leads to or from 0", got=(start, stop))
    found = promote(*map(strength, ends), 0.0)
    first, last = (ops.asarray(end, dtype=found) for end in ends)
    real = real_dtype(found)
    share = linspace(0.0, 1.0, num, dtype=real, endpoint=endpoint, device=device)
    share = share if share.dtype == found else ops.astype(share, found)
    sign = ops.sign(first)
    # Powers of both ends: their ratio may be out of range.
    grown = ops.pow(ops.astype(ops.abs(first), found), 1 - share) * ops.pow(last / sign, share)
    return _in_type(sign * grown, dtype)


# --- positions and triangles ----------------------------------------------------------------------


@composite
def indices(dimensions: Any, /, *, dtype: Any = None, sparse: bool = False) -> Any:
    """The positions of a grid: per axis an array that says where along it an element stands.

    Args:
        dimensions: the shape of the grid; sizes may be symbolic.
        dtype: the element type; int64 if None.
        sparse: give arrays of size 1 along the other axes, which broadcast to the grid.
    Returns:
        one array whose first axis counts the axes; a tuple of arrays if ``sparse``.
    Raises:
        ShapeError: a size is negative.

    >>> import symgrad as sg
    >>> sg.indices((2, 3))
    Tensor([[[0, 0, 0],
             [1, 1, 1]],
    <BLANKLINE>
            [[0, 1, 2],
             [0, 1, 2]]])
    """
    shape = as_shape(dimensions, "indices")
    wanted = default_int() if dtype is None else as_dtype(dtype)
    rank = len(shape)
    columns = [
        ops.reshape(arange(size, dtype=wanted), (*(1,) * k, size, *(1,) * (rank - k - 1)))
        for k, size in enumerate(shape)
    ]
    if sparse:
        return tuple(columns)
    if not columns:
        return ops.zeros((0,), dtype=wanted)
    return ops.stack([ops.broadcast_to(column, shape) for column in columns])


@composite
def tri(
    n_rows: Any, n_cols: Any = None, /, *, k: int = 0, dtype: Any = None, device: Any = None
) -> Any:
    """A matrix of ones at and below its ``k``-th diagonal, zeros above.

    Args:
        n_rows, n_cols: its sizes, which may be symbolic; square if the second is None.
        k: which diagonal: above the main one if positive, below if negative.
        dtype: the element type; the default float if None.
    Raises:
        ShapeError: a size is negative.

    >>> import symgrad as sg
    >>> sg.tri(2, 3)
    Tensor([[1., 0., 0.],
            [1., 1., 0.]])
    """
    require_cpu("tri", device)
    shape = as_shape((n_rows, n_rows if n_cols is None else n_cols), "tri")
    return ops.tril(ops.ones(shape, dtype=default_float() if dtype is None else dtype), k=k)
