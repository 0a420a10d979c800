"""Ops on axes as wholes: new ones, other orders, flips, rolls, triangles."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import Attrs, ops
from symgrad.ops.families import Array, composite, linear
from symgrad.ops.movement import permute_dims, reshape
from symgrad.types import TensorType, broadcast_shapes, normalize_axes, normalize_axis


@composite
def expand_dims(x: Array, /, axis: Any = 0) -> Any:
    """A new axis of size 1 at each position of ``axis``, counted in the result.

    Raises:
        ShapeError: a position is out of range or given twice.

    >>> import symgrad as sg
    >>> sg.expand_dims(sg.zeros((2, 3)), axis=1).shape
    (2, 1, 3)
    """
    x = ops.asarray(x)
    new = axis if isinstance(axis, tuple) else (axis,)
    positions = normalize_axes(new, x.ndim + len(new), "expand_dims")
    sizes = iter(x.shape)
    shape = tuple(1 if k in positions else next(sizes) for k in range(x.ndim + len(new)))
    return reshape(x, shape)


@composite
def squeeze(x: Array, /, axis: Any) -> Any:
    """Without the axes of size 1 at ``axis``.

    Raises:
        ShapeError: such an axis has another size.

    >>> import symgrad as sg
    >>> sg.squeeze(sg.zeros((2, 1, 3)), axis=1).shape
    (2, 3)
    """
    x = ops.asarray(x)
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
            "matrix_transpose", "x has no matrices", expected="2 or more axes", got=x.ndim
        )
    return permute_dims(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


@composite
def moveaxis(x: Array, source: Any, destination: Any, /) -> Any:
    """Axes at ``source`` moved to ``destination``; the others keep their order.

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


def _flip_attrs(types: list[TensorType], attrs: Attrs) -> Attrs:
    return {"axis": normalize_axes(attrs["axis"], types[0].ndim, "flip")}


@linear(
    type=lambda x, *, axis: x,
    transpose=lambda ct, x, *, axis: flip(ct, axis=axis),
    normalize=_flip_attrs,
    warns=False,
    view=True,
)
def flip(x: Array, /, *, axis: Any = None) -> Array:
    """The order of the elements reversed along the given axes (None: all).

    >>> import symgrad as sg
    >>> sg.flip(sg.asarray([1, 2, 3]))
    Tensor([3, 2, 1])
    """
    return np.flip(x, axis)


def _roll_attrs(types: list[TensorType], attrs: Attrs) -> Attrs:
    shift, axis = attrs["shift"], attrs["axis"]
    if axis is None:
        if not isinstance(shift, int):
            raise ArgumentError("roll", "several shifts need as many axes", got=repr(shift))
        return {"shift": shift, "axis": None}
    axes = axis if isinstance(axis, tuple) else (axis,)
    shifts = shift if isinstance(shift, tuple) else (shift,) * len(axes)
    if len(shifts) != len(axes):
        raise ArgumentError("roll", "one shift per axis", expected=len(axes), got=len(shifts))
    # An axis may be named twice: the shifts add up.
    return {"shift": shifts, "axis": tuple(normalize_axis(a, types[0].ndim, "roll") for a in axes)}


def _roll_back(ct: Any, x: Any, *, shift: Any, axis: Any) -> Any:
    back = -shift if isinstance(shift, int) else tuple(-s for s in shift)
    return roll(ct, back, axis=axis)


@linear(type=lambda x, *, shift, axis: x, transpose=_roll_back, normalize=_roll_attrs, warns=False)
def roll(x: Array, /, shift: Any, *, axis: Any = None) -> Array:
    """The elements moved ``shift`` places on; what leaves the end comes in at the front.

    Args:
        shift: an int, or one per axis.
        axis: the axes; None rolls the flattened array.

    >>> import symgrad as sg
    >>> sg.roll(sg.asarray([1, 2, 3]), 1)
    Tensor([3, 1, 2])
    """
    return np.roll(x, shift, axis)


def _matrices(where: str) -> Any:
    def infer(x: TensorType, *, k: int) -> TensorType:
        if x.ndim < 2:
            raise ShapeError(where, "x has no matrices", expected="2 or more axes", got=x)
        return x

    return infer


@linear(
    type=_matrices("tril"), transpose=lambda ct, x, *, k: tril(ct, k=k), guard="keep", warns=False
)
def tril(x: Array, /, *, k: int = 0) -> Array:
    """The lower triangle of the last two axes, zeros above the ``k``-th diagonal.

    >>> import symgrad as sg
    >>> sg.tril(sg.ones((2, 2)))
    Tensor([[1., 0.],
            [1., 1.]])
    """
    return np.tril(x, k)


@linear(
    type=_matrices("triu"), transpose=lambda ct, x, *, k: triu(ct, k=k), guard="keep", warns=False
)
def triu(x: Array, /, *, k: int = 0) -> Array:
    """The upper triangle of the last two axes, zeros below the ``k``-th diagonal.

    >>> import symgrad as sg
    >>> sg.triu(sg.ones((2, 2)))
    Tensor([[1., 1.],
            [0., 1.]])
    """
    return np.triu(x, k)


@composite
def diff(
    x: Array, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None
) -> Any:
    """Differences of neighbours along an axis, ``n`` times over.

    Raises:
        ArgumentError: ``n`` is negative.

    >>> import symgrad as sg
    >>> sg.diff(sg.asarray([1, 4, 9]))
    Tensor([3, 5])
    """
    if n < 0:
        raise ArgumentError("diff", "n is negative", expected="0 or more", got=n)
    x = ops.asarray(x)
    axis = normalize_axis(axis, x.ndim, "diff")
    parts = [ops.asarray(part) for part in (prepend, x, append) if part is not None]
    x = ops.concat(parts, axis=axis) if len(parts) > 1 else x
    before, after = ((*[slice(None)] * axis, cut) for cut in (slice(None, -1), slice(1, None)))
    for _ in range(n):
        x = x[after] - x[before] if x.dtype != bool else x[after] != x[before]
    return x


@composite
def broadcast_arrays(*arrays: Any) -> Any:
    """All arrays broadcast to their common shape.

    Raises:
        ShapeError: they do not broadcast.

    >>> import symgrad as sg
    >>> [a.shape for a in sg.broadcast_arrays(sg.zeros((3, 1)), sg.zeros(2))]
    [(3, 2), (3, 2)]
    """
    given = [ops.asarray(a) for a in arrays]
    shape = broadcast_shapes("broadcast_arrays", *(a.shape for a in given))
    return tuple(ops.broadcast_to(a, shape) for a in given)


@composite
def meshgrid(*arrays: Any, indexing: str = "xy") -> Any:
    """Coordinate arrays of a grid, one per vector.

    Args:
        indexing: "ij" gives array ``k`` the vector's size on axis ``k``; "xy" exchanges the first two.

    >>> import symgrad as sg
    >>> [a.shape for a in sg.meshgrid(sg.zeros(2), sg.zeros(3))]
    [(3, 2), (3, 2)]
    """
    if indexing not in ("xy", "ij"):
        raise ArgumentError("meshgrid", "unknown indexing", expected="xy or ij", got=repr(indexing))
    rank = len(arrays)
    swap = indexing == "xy" and rank > 1
    columns: list[Any] = []
    for k, array in enumerate(arrays):
        place = (1 - k) if swap and k < 2 else k
        vector = (
            reshape(ops.asarray(array), (-1,))
            if ops.asarray(array).ndim == 0
            else ops.asarray(array)
        )
        columns.append(
            reshape(vector, (*(1,) * place, vector.shape[0], *(1,) * (rank - place - 1)))
        )
    return broadcast_arrays(*columns)
