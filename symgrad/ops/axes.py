"""Ops on axes as wholes: new ones, other orders, flips, rolls, diagonals, triangles, grids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import Attrs, ops
from symgrad.ops.families import Array, composite, linear
from symgrad.ops.movement import broadcast_to, common_shape, permute_dims, reshape, together
from symgrad.types import Dim, Size, TensorType, normalize_axes, normalize_axis

# --- new axes, and other orders -------------------------------------------------------------------


@composite
def expand_dims(x: Array, /, axis: Any) -> Any:
    """A new axis of size 1 at each position of ``axis``, counted in the result.

    Args:
        x: an array of any element type.
        axis: an int or a tuple of ints; negative ones count from the end of the result.
    Raises:
        ShapeError: a position is out of range or given twice.

    >>> import symgrad as sg
    >>> sg.expand_dims(sg.zeros((2, 3)), axis=1).shape
    (2, 1, 3)
    """
    x = ops.asarray(x)
    new: Sequence[Any] = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = x.ndim + len(new)
    positions = normalize_axes(tuple(new), rank, "expand_dims")
    sizes = iter(x.shape)
    return reshape(x, tuple(1 if k in positions else next(sizes) for k in range(rank)))


@composite
def squeeze(x: Array, /, axis: Any = None) -> Any:
    """Without the axes of size 1 at ``axis``.

    Args:
        x: an array of any element type.
        axis: an int or a tuple of ints; None means all axes that are known to have the size 1.
    Raises:
        ShapeError: such an axis has another size, or one that is not known: a name is never 1 by
            surprise.

    >>> import symgrad as sg
    >>> sg.squeeze(sg.zeros((2, 1, 3)), axis=1).shape
    (2, 3)
    """
    x = ops.asarray(x)
    if axis is None:
        axis = tuple(k for k, size in enumerate(x.shape) if isinstance(size, int) and size == 1)
    gone = normalize_axes(axis, x.ndim, "squeeze")
    for k in gone:
        if x.shape[k] != 1:
            raise ShapeError("squeeze", f"axis {k} cannot go", expected="size 1", got=x.shape[k])
    return reshape(x, tuple(size for k, size in enumerate(x.shape) if k not in gone))


@composite
def matrix_transpose(x: Array, /) -> Any:
    """The last two axes exchanged.

    Raises:
        ShapeError: fewer than two axes.

    >>> import symgrad as sg
    >>> sg.matrix_transpose(sg.zeros((5, 2, 3))).shape
    (5, 3, 2)
    """
    x = ops.asarray(x)
    if x.ndim < 2:
        raise ShapeError(
            "matrix_transpose", "x has no matrices", expected="2 or more axes", got=x.type
        )
    return permute_dims(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


@composite
def moveaxis(x: Array, source: Any, destination: Any, /) -> Any:
    """Axes at ``source`` moved to ``destination``; the others keep their order.

    Args:
        x: an array of any element type.
        source, destination: an int each, or as many ints each.
    Raises:
        ShapeError: the two differ in number, or an axis is out of range or given twice.

    >>> import symgrad as sg
    >>> sg.moveaxis(sg.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    x = ops.asarray(x)
    old = normalize_axes(source, x.ndim, "moveaxis")
    new = normalize_axes(destination, x.ndim, "moveaxis")
    if len(old) != len(new):
        raise ShapeError(
            "moveaxis", "source and destination differ in number", expected=old, got=new
        )
    order = [k for k in range(x.ndim) if k not in old]
    for to, come in sorted(zip(new, old, strict=True)):
        order.insert(to, come)
    return permute_dims(x, tuple(order))


# --- flip and roll --------------------------------------------------------------------------------


def _flip_attrs(types: list[TensorType], attrs: Attrs) -> Attrs:
    return {"axis": tuple(sorted(normalize_axes(attrs["axis"], types[0].ndim, "flip")))}


@linear(
    type=lambda x, *, axis: x,
    transpose=lambda ct, x, *, axis: ops.flip(ct, axis=axis),
    normalize=_flip_attrs,
    warns=False,
    view=True,
)
def flip(x: Array, /, *, axis: Any = None) -> Array:
    """The order of the elements reversed along axes.

    Args:
        x: an array of any element type.
        axis: an int or a tuple of ints; None means all axes.
    Raises:
        ShapeError: an axis is out of range or given twice.

    >>> import symgrad as sg
    >>> sg.flip(sg.asarray([1, 2, 3]))
    Tensor([3, 2, 1])
    """
    return np.flip(x, axis)


def _roll_attrs(types: list[TensorType], attrs: Attrs) -> Attrs:
    shift, axis = attrs["shift"], attrs["axis"]
    shifts = shift if isinstance(shift, tuple) else (shift,)
    for places in shifts:
        if not isinstance(places, (int, Dim)):
            raise ArgumentError("roll", "a shift is no number", expected="an int", got=repr(places))
    if axis is None:
        if isinstance(shift, tuple):
            raise ArgumentError("roll", "several shifts need as many axes", got=shift)
        return {"shift": shift, "axis": None}
    axes = axis if isinstance(axis, tuple) else (axis,)
    if not isinstance(shift, tuple):
        shifts = (shift,) * len(axes)
    if len(shifts) != len(axes):
        raise ArgumentError("roll", "one shift per axis", expected=len(axes), got=len(shifts))
    # An axis may be named twice: the shifts add up.
    total: dict[int, Size] = {}
    for places, one in zip(shifts, axes, strict=True):
        position = normalize_axis(one, types[0].ndim, "roll")
        total[position] = total.get(position, 0) + places
    order = sorted(total)
    return {"shift": tuple(total[k] for k in order), "axis": tuple(order)}


def _roll_back(ct: Any, x: Any, *, shift: Any, axis: Any) -> Any:
    back = tuple(-places for places in shift) if isinstance(shift, tuple) else -shift
    return roll(ct, back, axis=axis)


@linear(type=lambda x, *, shift, axis: x, transpose=_roll_back, normalize=_roll_attrs, warns=False)
def roll(x: Array, /, shift: Any, *, axis: Any = None) -> Array:
    """The elements moved ``shift`` places on; what leaves the end comes in at the front.

    Args:
        x: an array of any element type.
        shift: an int or a dimension, negative to move back; or one per axis.
        axis: an int or a tuple of ints; None rolls the flattened array.
    Raises:
        ArgumentError: a shift is no number, or not one per axis. ShapeError: no such axis.

    >>> import symgrad as sg
    >>> sg.roll(sg.asarray([1, 2, 3]), 1)
    Tensor([3, 1, 2])
    """
    return np.roll(x, shift, axis)


# --- diagonals and triangles ----------------------------------------------------------------------


@composite
def diag(x: Array, /, k: int = 0) -> Any:
    """The matrix with a vector on its ``k``-th diagonal, or the ``k``-th diagonal of a matrix.

    Args:
        x: a vector or a matrix of any element type.
        k: above the main diagonal if positive, below it if negative.
    Raises:
        ShapeError: neither a vector nor a matrix; `linalg.diagonal` takes more axes.

    >>> import symgrad as sg
    >>> sg.diag(sg.asarray([1, 2]))
    Tensor([[1, 0],
            [0, 2]])
    >>> sg.diag(sg.asarray([[1, 2], [3, 4]]), k=1)
    Tensor([2])
    """
    x = ops.asarray(x)
    if x.ndim == 2:
        return ops.diagonal(x, offset=k)
    if x.ndim != 1:
        raise ShapeError(
            "diag",
            "x is neither a vector nor a matrix",
            expected="1 or 2 axes",
            got=x.type,
            hint="sg.linalg.diagonal takes the diagonals of many matrices",
        )
    order = x.shape[0] + abs(k)
    return ops.diagonal_matrix(x, shape=(order, order), offset=k)


def _matrices(where: str) -> Any:
    def infer(x: TensorType, *, k: int) -> TensorType:
        if x.ndim < 2:
            raise ShapeError(where, "x has no matrices", expected="2 or more axes", got=x)
        return x

    return infer


@linear(
    type=_matrices("tril"),
    transpose=lambda ct, x, *, k: ops.tril(ct, k=k),
    warns=False,
)
def tril(x: Array, /, *, k: int = 0) -> Array:
    """The lower triangles of the last two axes, zeros above the ``k``-th diagonal.

    Args:
        x: an array of two or more axes, of any element type.
        k: above the main diagonal if positive, below it if negative.
    Raises:
        ShapeError: fewer than two axes.

    >>> import symgrad as sg
    >>> sg.tril(sg.ones((2, 2)))
    Tensor([[1., 0.],
            [1., 1.]])
    """
    return np.tril(x, k)


@linear(
    type=_matrices("triu"),
    transpose=lambda ct, x, *, k: ops.triu(ct, k=k),
    warns=False,
)
def triu(x: Array, /, *, k: int = 0) -> Array:
    """The upper triangles of the last two axes, zeros below the ``k``-th diagonal.

    Args:
        x: an array of two or more axes, of any element type.
        k: above the main diagonal if positive, below it if negative.
    Raises:
        ShapeError: fewer than two axes.

    >>> import symgrad as sg
    >>> sg.triu(sg.ones((2, 2)))
    Tensor([[1., 1.],
            [0., 1.]])
    """
    return np.triu(x, k)


# --- neighbours and grids -------------------------------------------------------------------------


@composite
def diff(
    x: Array, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None
) -> Any:
    """Differences of neighbours along an axis, ``n`` times over; of booleans, whether they differ.

    Args:
        x: an array of at least one axis.
        axis: which axis.
        n: how often; 0 gives ``x`` as it is.
        prepend, append: what is joined before the differences are taken; without axes, one element
            in every place.
    Raises:
        ArgumentError: ``n`` is negative. ShapeError: no such axis, or what is joined does not fit.

    >>> import symgrad as sg
    >>> sg.diff(sg.asarray([1, 4, 9]))
    Tensor([3, 5])
    """
    if n < 0:
        raise ArgumentError("diff", "n is negative", expected="0 or more", got=n)
    x = ops.asarray(x)
    axis = normalize_axis(axis, x.ndim, "diff")
    if n == 0:
        return x
    parts = [part for part in (prepend, x, append) if part is not None]
    if len(parts) > 1:
        slab = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        joined = [broadcast_to(a, slab) if a.ndim == 0 else a for a in together(parts)]
        x = ops.concat(joined, axis=axis)
    before, after = ((*[slice(None)] * axis, cut) for cut in (slice(None, -1), slice(1, None)))
    for _ in range(n):
        x = x[after] - x[before] if x.dtype != bool else x[after] != x[before]
    return x


@composite
def broadcast_arrays(*arrays: Any) -> Any:
    """All arrays broadcast to their common shape, as a tuple; each keeps its element type.

    Args:
        arrays: arrays of any element types; all become symbols if one is.
    Raises:
        ShapeError: they do not broadcast.

    >>> import symgrad as sg
    >>> [a.shape for a in sg.broadcast_arrays(sg.zeros((3, 1)), sg.zeros(2))]
    [(3, 2), (3, 2)]
    """
    given = together(arrays)
    shape = common_shape("broadcast_arrays", given)
    return tuple(broadcast_to(a, shape) for a in given)


@composite
def meshgrid(*arrays: Any, indexing: str = "xy") -> Any:
    """Coordinate arrays of a grid, a tuple with one per vector.

    Args:
        arrays: vectors; one without axes counts as a vector of one element.
        indexing: "ij" gives array ``k`` the vector's size on axis ``k``; "xy" exchanges the first
            two axes.
    Raises:
        ArgumentError: another indexing. ShapeError: an array of two or more axes.

    >>> import symgrad as sg
    >>> [a.shape for a in sg.meshgrid(sg.zeros(2), sg.zeros(3))]
    [(3, 2), (3, 2)]
    """
    if indexing not in ("xy", "ij"):
        raise ArgumentError("meshgrid", "unknown indexing", expected="xy or ij", got=repr(indexing))
    given = together(arrays)
    rank = len(given)
    columns: list[Any] = []
    for k, vector in enumerate(given):
        if vector.ndim > 1:
            raise ShapeError(
                "meshgrid", f"arrays[{k}] is no vector", expected="1 axis", got=vector.type
            )
        place = 1 - k if indexing == "xy" and rank > 1 and k < 2 else k
        size = vector.shape[0] if vector.ndim else 1
        columns.append(reshape(vector, (*(1,) * place, size, *(1,) * (rank - place - 1))))
    return broadcast_arrays(*columns)
