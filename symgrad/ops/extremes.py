"""The largest and smallest elements together with where they stand.

Results are elements of the operand, gathered: the derivative goes to the elements that the indices
name, and what was not chosen has no influence, whatever its own slope would be. Of equal elements
the first is chosen. A NaN counts as larger than every number; only where the smallest *one* is
asked for, as in `min`, it wins as well.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.ir.op import ops
from symgrad.ops.families import Array, composite, nondifferentiable, require_kind
from symgrad.ops.reduce import require_nonempty
from symgrad.ops.running import axis_to_run_along
from symgrad.ops.take import chosen_along
from symgrad.types import Dim, TensorType, normalize_axis


class ValuesAndIndices(NamedTuple):
    """Elements of an array along one axis, and their positions on it."""

    values: Any
    indices: Any


# --- of all elements ------------------------------------------------------------------------------


def _with_indices(name: str, find: Any, x: Any, axis: Any, keepdims: bool) -> ValuesAndIndices:
    x = ops.asarray(x)
    require_kind(name, x.dtype, "real or bool")
    kept = (1,) * x.ndim
    if axis is None:
        x = ops.reshape(x, (-1,))
    place = 0 if axis is None else normalize_axis(axis, x.ndim, name)
    require_nonempty(name, x.shape, (place,))
    indices = find(x, axis=place, keepdims=True)
    values = chosen_along(x, indices, axis=place, unique=True)
    if axis is None and keepdims:
        return ValuesAndIndices(ops.reshape(values, kept), ops.reshape(indices, kept))
    if not keepdims:
        values, indices = ops.squeeze(values, axis=place), ops.squeeze(indices, axis=place)
    return ValuesAndIndices(values, indices)


@composite
def max_with_indices(
    x: Array, /, *, axis: int | None = None, keepdims: bool = False
) -> ValuesAndIndices:
    """The largest element along an axis, and where it stands: the first of several; NaN wins.

    The derivative goes to that element alone; `max` shares it among ties.

    Args:
        x: array of real numbers or booleans.
        axis: the axis to search; None searches all, and counts positions in row-major order.
        keepdims: keep the reduced axes, with size 1.
    Returns:
        a named tuple: ``values``, and ``indices`` as `argmax` gives them.
    Raises:
        ShapeError: a searched axis is empty or does not exist. DTypeError: complex numbers.

    >>> import symgrad as sg
    >>> sg.max_with_indices(sg.asarray([[1.0, 5.0], [4.0, 4.0]]), axis=1)
    ValuesAndIndices(values=Tensor([5., 4.]), indices=Tensor([1, 0]))
    """
    return _with_indices("max_with_indices", ops.argmax, x, axis, keepdims)


@composite
def min_with_indices(
    x: Array, /, *, axis: int | None = None, keepdims: bool = False
) -> ValuesAndIndices:
    """The smallest element along an axis, and where it stands: the first of several; NaN wins.

    Arguments, results and errors are those of `max_with_indices`.

    >>> import symgrad as sg
    >>> sg.min_with_indices(sg.asarray([[1.0, 5.0], [4.0, 4.0]]), axis=1)
    ValuesAndIndices(values=Tensor([1., 4.]), indices=Tensor([0, 0]))
    """
    return _with_indices("min_with_indices", ops.argmin, x, axis, keepdims)


# --- so far ---------------------------------------------------------------------------------------


def _places_type(x: TensorType, *, axis: int, smallest: bool) -> TensorType:
    return TensorType(x.shape, "int64")


@nondifferentiable(type=_places_type, reason="integer output", warns=False, namespace=None)
def running_places(x: Array, /, *, axis: int, smallest: bool) -> Array:
    """Where the largest (or smallest) element up to each position stands, the first of several.

    >>> running_places(np.array([1.0, 3.0, 3.0, 2.0]), axis=0, smallest=False)
    Tensor([0, 1, 1, 1])
    """
    rows = np.moveaxis(x, axis, -1)
    extreme = np.minimum if smallest else np.maximum
    before, now = extreme.accumulate(rows, axis=-1)[..., :-1], rows[..., 1:]
    newer = now < before if smallest else now > before
    if x.dtype.kind == "f":
        newer |= np.isnan(now) & ~np.isnan(before)
    places = np.zeros(rows.shape, np.int64)
    places[..., 1:] = np.where(newer, np.arange(1, rows.shape[-1]), 0)
    return np.moveaxis(np.maximum.accumulate(places, axis=-1), -1, axis)


def _so_far(name: str, x: Any, axis: Any, smallest: bool) -> ValuesAndIndices:
    x = ops.asarray(x)
    require_kind(name, x.dtype, "real or bool")
    place = axis_to_run_along(name, axis, x.type)
    indices = running_places(x, axis=place, smallest=smallest)
    return ValuesAndIndices(chosen_along(x, indices, axis=place), indices)


@composite
def cumulative_max(x: Array, /, *, axis: int | None = None) -> Any:
    """The largest element up to each position of an axis; from a NaN on, NaN.

    The derivative goes to the first of equal elements.

    Args:
        x: array of real numbers or booleans, of at least one axis.
        axis: the axis; it may be left out if there is only one.
    Raises:
        ShapeError: the axis does not exist, or is left out. DTypeError: complex numbers.

    >>> import symgrad as sg
    >>> sg.cumulative_max(sg.asarray([1.0, 3.0, 2.0]))
    Tensor([1., 3., 3.])
    """
    return _so_far("cumulative_max", x, axis, smallest=False).values


@composite
def cumulative_min(x: Array, /, *, axis: int | None = None) -> Any:
    """The smallest element up to each position of an axis; from a NaN on, NaN.

    Arguments and errors are those of `cumulative_max`.

    >>> import symgrad as sg
    >>> sg.cumulative_min(sg.asarray([2.0, 3.0, 1.0]))
    Tensor([2., 2., 1.])
    """
    return _so_far("cumulative_min", x, axis, smallest=True).values


@composite
def cumulative_max_with_indices(x: Array, /, *, axis: int | None = None) -> ValuesAndIndices:
    """`cumulative_max`, and where each of these elements stands: the first of several.

    Returns:
        a named tuple: ``values``; ``indices`` along the axis, int64.

    >>> import symgrad as sg
    >>> sg.cumulative_max_with_indices(sg.asarray([1.0, 3.0, 3.0])).indices
    Tensor([0, 1, 1])
    """
    return _so_far("cumulative_max_with_indices", x, axis, smallest=False)


@composite
def cumulative_min_with_indices(x: Array, /, *, axis: int | None = None) -> ValuesAndIndices:
    """`cumulative_min`, and where each of these elements stands: the first of several.

    Returns:
        a named tuple: ``values``; ``indices`` along the axis, int64.

    >>> import symgrad as sg
    >>> sg.cumulative_min_with_indices(sg.asarray([2.0, 3.0, 1.0])).indices
    Tensor([0, 0, 2])
    """
    return _so_far("cumulative_min_with_indices", x, axis, smallest=True)


# --- some -----------------------------------------------------------------------------------------


def _outmost_type(x: TensorType, *, k: Any, axis: int, smallest: bool) -> TensorType:
    return TensorType((*x.shape[:axis], k, *x.shape[axis + 1 :]), "int64")


@nondifferentiable(type=_outmost_type, reason="integer output", warns=False, namespace=None)
def outmost_places(x: Array, /, *, k: Any, axis: int, smallest: bool) -> Array:
    """Where the ``k`` largest (or smallest) elements stand, in order.

    >>> outmost_places(np.array([1.0, 3.0, 2.0, 3.0]), k=3, axis=0, smallest=False)
    Tensor([1, 3, 2])
    """
    rows = np.moveaxis(x, axis, -1)
    count = rows.shape[-1]
    if k > count:
        raise ValueError(f"top_k: {k} of {count} elements are asked for")
    if smallest:
        order = np.argsort(rows, axis=-1, kind="stable")
    else:
        # From behind: equal elements keep their order, and NaNs come first.
        order = count - 1 - np.argsort(rows[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    return np.moveaxis(order[..., :k], -1, axis)


def _number_of(k: Any, size: Any) -> Any:
    """How many elements are asked for: from 0 to as many as there are."""
    if isinstance(k, Dim):
        return k
    try:
        k = operator.index(k)
    except TypeError:
        raise ArgumentError("top_k", "k counts elements", expected="an int", got=repr(k)) from None
    if k < 0 or (isinstance(size, int) and k > size):
        raise ArgumentError("top_k", "k elements are not there", expected=f"0 to {size}", got=k)
    return k


@composite
def top_k(x: Array, /, k: Any, *, axis: int = -1, mode: str = "largest") -> ValuesAndIndices:
    """The ``k`` largest or smallest elements along an axis, in order.

    Equal elements come in the order in which they stand. NaN counts as larger than every number.

    Args:
        x: array of real numbers or booleans, of at least one axis.
        k: how many; 0 to the size of the axis.
        axis: which axis.
        mode: "largest", the largest first, or "smallest", the smallest first.
    Returns:
        a named tuple: ``values``; ``indices`` along the axis, int64.
    Raises:
        ArgumentError: ``k`` is negative, or larger than the axis (ValueError where only running
            tells); an unknown mode. ShapeError: no such axis. DTypeError: complex numbers.

    >>> import symgrad as sg
    >>> sg.top_k(sg.asarray([2.0, 9.0, 5.0]), 2)
    ValuesAndIndices(values=Tensor([9., 5.]), indices=Tensor([1, 2]))
    """
    x = ops.asarray(x)
    require_kind("top_k", x.dtype, "real or bool")
    if mode not in ("largest", "smallest"):
        raise ArgumentError("top_k", "mode", expected="'largest' or 'smallest'", got=repr(mode))
    place = normalize_axis(axis, x.ndim, "top_k")
    count = _number_of(k, x.shape[place])
    indices = outmost_places(x, k=count, axis=place, smallest=mode == "smallest")
    return ValuesAndIndices(chosen_along(x, indices, axis=place, unique=True), indices)
