"""Ops that move elements without changing them: reshape, permute, broadcast.

All are linear. Each transpose also works on booleans, where a sum becomes `any`: it carries guards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from symgrad.errors import ShapeError
from symgrad.ir.lifting import lift
from symgrad.ir.op import SYMBOL_RANK, Attrs, ops
from symgrad.ir.symbol import Symbol
from symgrad.ops.conversion import is_weak, strength
from symgrad.ops.families import Array, composite, linear
from symgrad.types import (
    Dim,
    Shape,
    Size,
    TensorType,
    as_shape,
    is_bool,
    normalize_axes,
    promote,
    require_equal,
    take_constraints,
)
from symgrad.types import broadcast_shapes as shapes_together


def total(x: Any, axes: tuple[int, ...]) -> Any:
    """The sum over axes; for a predicate, whether it holds anywhere along them."""
    if not axes:
        return x
    return ops.any(x, axis=axes) if is_bool(x.dtype) else ops.sum(x, axis=axes, dtype=x.dtype)


def count(shape: Shape) -> Size:
    """The number of elements of an array of this shape."""
    product: Size = 1
    for size in shape:
        product = product * size
    return product


# --- several arguments ----------------------------------------------------------------------------


def together(arrays: Iterable[Any]) -> list[Any]:
    """Arguments of one call as tensors, or all as symbols if one of them is a symbol.

    Python numbers and dimensions take the element type of the others.
    """
    given: list[Any] = [a if is_weak(a) else ops.asarray(a) for a in arrays]
    if any(map(is_weak, given)):
        dtype = promote(*(strength(a) for a in given))
        given = [_of_type(a, dtype) if is_weak(a) else a for a in given]
    if any(isinstance(a, Symbol) for a in given):
        return [lift(a) if type(a).__front_rank__ < SYMBOL_RANK else a for a in given]
    return given


def _of_type(number: Any, dtype: Any) -> Any:
    return lift(number, dtype) if type(number) is Dim else ops.asarray(number, dtype=dtype)


def common_shape(where: str, arrays: Sequence[Any]) -> Shape:
    """The shape that arrays broadcast to, for a composite.

    The op that broadcasts them states the constraints: here is no symbol to own them.
    """
    shape = shapes_together(where, *(a.shape for a in arrays))
    take_constraints()
    return shape


# --- reshape, permute, broadcast ------------------------------------------------------------------


def _reshape_attrs(types: list[TensorType], attrs: Attrs) -> Attrs:
    """The shape without -1."""
    given = attrs["shape"] if isinstance(attrs["shape"], tuple) else (attrs["shape"],)
    unknown = [axis for axis, size in enumerate(given) if type(size) is int and size == -1]
    if len(unknown) > 1:
        raise ShapeError("reshape", "only one size can be -1", got=given)
    shape = as_shape([1 if axis in unknown else size for axis, size in enumerate(given)], "reshape")
    if unknown:
        rest, total_size = count(shape), types[0].size
        if rest == 0:
            raise ShapeError("reshape", "no size at -1 follows", expected="no size 0", got=given)
        if isinstance(rest, int) and isinstance(total_size, int) and total_size % rest:
            raise _other_count(total_size, given)
        shape = (*shape[: unknown[0]], total_size // rest, *shape[unknown[0] + 1 :])
    return {"shape": shape, "copy": attrs["copy"] or None}


def _other_count(size: Size, shape: Any) -> ShapeError:
    return ShapeError(
        "reshape", "the number of elements changes", expected=f"{size} elements", got=shape
    )


def _reshape_type(x: TensorType, *, shape: Shape, copy: bool | None) -> TensorType:
    if isinstance(x.size, int) and isinstance(count(shape), int) and x.size != count(shape):
        raise _other_count(x.size, shape)
    require_equal(x.size, count(shape), "reshape", "numbers of elements")
    return TensorType(shape, x.dtype)


def _reshape_transpose(ct: Any, x: Any, *, shape: Any, copy: Any) -> Any:
    return reshape(ct, x.shape)


@linear(
    type=_reshape_type,
    transpose=_reshape_transpose,
    normalize=_reshape_attrs,
    warns=False,
    view=True,
)
def reshape(x: Array, /, shape: Any, *, copy: bool | None = None) -> Array:
    """The same elements, in the same (row-major) order, in another shape.

    Args:
        x: array of any shape.
        shape: the new shape, with the same number of elements; one size may be -1: what is left.
        copy: True gives memory of its own, which only changes of tensors in place can tell.
    Raises:
        ShapeError: the number of elements changes.

    >>> import symgrad as sg
    >>> sg.reshape(sg.asarray([1, 2, 3, 4]), (2, -1))
    Tensor([[1, 2],
            [3, 4]])
    """
    return np.reshape(x, shape).copy() if copy else np.reshape(x, shape)


def _permute_attrs(types: list[TensorType], attrs: Attrs) -> Attrs:
    axes = normalize_axes(attrs["axes"], types[0].ndim, "permute_dims")
    if len(axes) != types[0].ndim:
        raise ShapeError(
            "permute_dims", "axes is not a permutation", expected=f"{types[0].ndim} axes", got=axes
        )
    return {"axes": axes}


def inverse_permutation(axes: tuple[int, ...]) -> tuple[int, ...]:
    """The permutation that undoes ``axes``."""
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


def _permute_transpose(ct: Any, x: Any, *, axes: tuple[int, ...]) -> Any:
    return permute_dims(ct, inverse_permutation(axes))


@linear(
    type=lambda x, *, axes: TensorType(tuple(x.shape[axis] for axis in axes), x.dtype),
    transpose=_permute_transpose,
    normalize=_permute_attrs,
    warns=False,
    view=True,
)
def permute_dims(x: Array, /, axes: Any) -> Array:
    """The axes in another order: axis ``k`` of the result is axis ``axes[k]`` of ``x``.

    Raises:
        ShapeError: ``axes`` is not a permutation of the axes of ``x``.

    >>> import symgrad as sg
    >>> sg.permute_dims(sg.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    return np.transpose(x, axes)


def _broadcast_type(x: TensorType, *, shape: Shape) -> TensorType:
    if len(shape) < x.ndim:
        raise ShapeError("broadcast_to", "too few axes", expected=f"at least {x.ndim}", got=shape)
    for axis in range(-x.ndim, 0):
        if x.shape[axis] != 1:
            require_equal(x.shape[axis], shape[axis], "broadcast_to", f"sizes of axis {axis}")
    return TensorType(shape, x.dtype)


def _broadcast_transpose(ct: Any, x: Any, *, shape: Shape) -> Any:
    new = len(shape) - x.ndim
    stretched = [
        axis
        for axis, size in enumerate(shape)
        if axis >= new and x.shape[axis - new] == 1 and size != 1
    ]
    summed = total(ct, (*range(new), *stretched))
    return summed if summed.ndim == x.ndim else reshape(summed, x.shape)


@linear(
    type=_broadcast_type,
    transpose=_broadcast_transpose,
    normalize=lambda types, attrs: {"shape": as_shape(attrs["shape"], "broadcast_to")},
    warns=False,
    view=True,
)
def broadcast_to(x: Array, /, shape: Any) -> Array:
    """``x`` repeated along new leading axes and axes of size 1 to fill ``shape``.

    Raises:
        ShapeError: an axis of ``x`` has neither size 1 nor the wanted one.

    >>> import symgrad as sg
    >>> sg.broadcast_to(sg.asarray([1, 2]), (2, 2))
    Tensor([[1, 2],
            [1, 2]])
    """
    if x.ndim:
        return np.broadcast_to(x, shape)
    # The same in a third of the time: this is the derivative of every sum.
    y = np.ndarray(shape, x.dtype, x, 0, (0,) * len(shape))
    y.flags.writeable = False
    return y


@composite
def broadcast_shapes(*shapes: Any) -> Any:
    """The shape to which arrays of these shapes broadcast.

    Args:
        shapes: tuples of sizes, which may be symbolic; such a size is never 1 by surprise.
    Raises:
        ShapeError: they do not broadcast.

    >>> import symgrad as sg
    >>> sg.broadcast_shapes((3, 1), (2,))
    (3, 2)
    """
    name = "broadcast_shapes"
    shape = shapes_together(name, *(as_shape(shape, name) for shape in shapes))
    # Equal names are demanded by the op that broadcasts, not by the question.
    take_constraints()
    return shape
