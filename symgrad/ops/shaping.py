"""The same elements in another arrangement: transposes, flips, quarter turns, more axes."""

from __future__ import annotations

from typing import Any

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ops
from symgrad.ops.families import Array, composite
from symgrad.ops.movement import permute_dims, reshape, together
from symgrad.types import normalize_axes, normalize_axis

# --- other orders of axes -------------------------------------------------------------------------


@composite
def transpose(x: Array, /, axes: Any = None, axis2: int | None = None) -> Any:
    """The axes in reverse order, in a given one, or with two of them exchanged.

    Args:
        x: an array of any element type.
        axes: axis ``k`` of the result is axis ``axes[k]`` of ``x``; None reverses them.
        axis2: if it is given, ``axes`` is one axis, and the two change places: see `swapaxes`.
    Raises:
        ShapeError: ``axes`` is not a permutation of the axes of ``x``.

    >>> import symgrad as sg
    >>> sg.transpose(sg.zeros((2, 3, 4))).shape
    (4, 3, 2)
    >>> sg.transpose(sg.zeros((2, 3, 4)), 0, 1).shape
    (3, 2, 4)
    """
    x = ops.asarray(x)
    if axis2 is not None:
        return swapaxes(x, axes, axis2)
    return permute_dims(x, tuple(reversed(range(x.ndim))) if axes is None else axes)


@composite
def swapaxes(x: Array, /, axis1: int, axis2: int) -> Any:
    """Two axes exchanged.

    Raises:
        ShapeError: no such axis.

    >>> import symgrad as sg
    >>> sg.swapaxes(sg.zeros((2, 3, 4)), 0, -1).shape
    (4, 3, 2)
    """
    x = ops.asarray(x)
    first, second = (normalize_axis(axis, x.ndim, "swapaxes") for axis in (axis1, axis2))
    order = list(range(x.ndim))
    order[first], order[second] = second, first
    return permute_dims(x, tuple(order))


@composite
def ravel(x: Array, /) -> Any:
    """All elements along one axis, in row-major order.

    >>> import symgrad as sg
    >>> sg.ravel(sg.asarray([[1, 2], [3, 4]]))
    Tensor([1, 2, 3, 4])
    """
    return reshape(x, (-1,))


# --- flips and turns ------------------------------------------------------------------------------


def _flipped(where: str, x: Any, axis: int) -> Any:
    x = ops.asarray(x)
    if x.ndim <= axis:
        raise ShapeError(where, "too few axes", expected=f"at least {axis + 1}", got=x.type)
    return ops.flip(x, axis=axis)


@composite
def flipud(x: Array, /) -> Any:
    """The order of the rows reversed: `flip` along the first axis.

    Raises:
        ShapeError: no axis.

    >>> import symgrad as sg
    >>> sg.flipud(sg.asarray([[1, 2], [3, 4]]))
    Tensor([[3, 4],
            [1, 2]])
    """
    return _flipped("flipud", x, 0)


@composite
def fliplr(x: Array, /) -> Any:
    """The order of the columns reversed: `flip` along the second axis.

    Raises:
        ShapeError: fewer than two axes.

    >>> import symgrad as sg
    >>> sg.fliplr(sg.asarray([[1, 2], [3, 4]]))
    Tensor([[2, 1],
            [4, 3]])
    """
    return _flipped("fliplr", x, 1)


@composite
def rot90(x: Array, /, k: int = 1, *, axes: Any = (0, 1)) -> Any:
    """A plane turned by ``k`` quarters, from the first of its axes towards the second.

    Args:
        x: an array of at least two axes.
        k: how many quarter turns; negative ones turn the other way.
        axes: the two axes of the plane.
    Raises:
        ShapeError: not two different axes of ``x``. ArgumentError: ``k`` is no int.

    >>> import symgrad as sg
    >>> sg.rot90(sg.asarray([[1, 2], [3, 4]]))
    Tensor([[2, 4],
            [1, 3]])
    """
    x = ops.asarray(x)
    if not isinstance(k, int):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentError("rot90", "k counts quarter turns", expected="an int", got=repr(k))
    plane = normalize_axes(axes, x.ndim, "rot90")
    if len(plane) != 2:
        raise ShapeError("rot90", "a plane has two axes", expected="2 axes", got=axes)
    if k % 4 == 0:
        return x
    if k % 4 == 2:
        return ops.flip(x, axis=plane)
    first, second = plane
    if k % 4 == 1:
        return swapaxes(ops.flip(x, axis=second), first, second)
    return ops.flip(swapaxes(x, first, second), axis=second)


# --- at least so many axes ------------------------------------------------------------------------


def _made_up(arrays: Any, before: tuple[int, ...]) -> Any:
    """Each array with new axes of size 1: of the missing ones, ``before[ndim]`` come first."""
    rank = len(before)
    made: list[Any] = []
    for x in together(arrays):
        front = before[x.ndim] if x.ndim < rank else 0
        behind = max(rank - x.ndim, 0) - front
        made.append(reshape(x, (*(1,) * front, *x.shape, *(1,) * behind)) if x.ndim < rank else x)
    return made[0] if len(made) == 1 else tuple(made)


@composite
def atleast_1d(*arrays: Array) -> Any:
    """Numbers as vectors of one element; other arrays as they are.

    Args:
        arrays: numbers and arrays; several give a tuple.

    >>> import symgrad as sg
    >>> sg.atleast_1d(7)
    Tensor([7])
    """
    return _made_up(arrays, (0,))


@composite
def atleast_2d(*arrays: Array) -> Any:
    """Numbers and vectors as matrices of one row; other arrays as they are.

    Args:
        arrays: numbers and arrays; several give a tuple.

    >>> import symgrad as sg
    >>> [x.shape for x in sg.atleast_2d(7, sg.ones(3))]
    [(1, 1), (1, 3)]
    """
    return _made_up(arrays, (0, 1))


@composite
def atleast_3d(*arrays: Array) -> Any:
    """Arrays of fewer than three axes in three: a vector of n stands along the middle one.

    A matrix gets a new last axis. Arrays of three or more axes stay as they are.

    Args:
        arrays: numbers and arrays; several give a tuple.

    >>> import symgrad as sg
    >>> [x.shape for x in sg.atleast_3d(7, sg.ones(3), sg.ones((3, 4)))]
    [(1, 1, 1), (1, 3, 1), (3, 4, 1)]
    """
    return _made_up(arrays, (0, 1, 0))
