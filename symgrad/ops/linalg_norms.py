"""Lengths of vectors and matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ZERO, ops
from symgrad.ops.families import Array, composite, reduction, require_kind
from symgrad.ops.matrices import as_inexact
from symgrad.ops.spectral import svdvals
from symgrad.types import (
    Size,
    TensorType,
    float16,
    float32,
    is_complex,
    normalize_axes,
    normalize_axis,
    real_dtype,
)


def _kept(shape: Sequence[Size], axes: Sequence[int]) -> tuple[Size, ...]:
    """The shape with these axes reduced to size 1."""
    return tuple(1 if k in axes else size for k, size in enumerate(shape))


def _length_axes(types: Sequence[TensorType], attrs: dict[str, Any]) -> dict[str, Any]:
    axes = normalize_axes(attrs["axis"], types[0].ndim, "vector_norm")
    return {**attrs, "axis": tuple(sorted(axes))}


def _length_type(x: TensorType, *, axis: tuple[int, ...], keepdims: bool) -> TensorType:
    require_kind("vector_norm", x.dtype, "inexact")
    shape = (
        _kept(x.shape, axis) if keepdims else [s for k, s in enumerate(x.shape) if k not in axis]
    )
    return TensorType(shape, real_dtype(x.dtype))


def _direction(y: Any, x: Any, axis: tuple[int, ...]) -> Any:
    """The slope of a length: the unit vector, and 0 for the vector of zeros."""
    y = ops.reshape(y, _kept(x.shape, axis))
    return ops.where(y == 0, 0, x / y)


def _length_vjp(ct: Any, y: Any, x: Any, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    return ops.reshape(ct, _kept(x.shape, axis)) * _direction(y, x, axis)


def _length_jvp(tangents: Sequence[Any], y: Any, args: Any, attrs: dict[str, Any]) -> Any:
    (t,), (x,) = tangents, args
    if t is ZERO:
        return ZERO
    direction = _direction(y, x, attrs["axis"])
    along = ops.real(ops.conj(direction) * t) if is_complex(x.dtype) else direction * t
    return ops.sum(along, axis=attrs["axis"], keepdims=attrs["keepdims"])


@reduction(
    type=_length_type,
    vjp=(_length_vjp,),
    jvp=_length_jvp,
    normalize=_length_axes,
    integers="float",
    holomorphic=False,
    namespace=None,
)
def euclidean_length(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """The square root of the sum of squares over some axes; its slope at 0 is 0.

    >>> import symgrad as sg
    >>> float(euclidean_length(sg.asarray([3.0, 4.0])))
    5.0
    """
    return np.linalg.vector_norm(x, axis=axis, keepdims=keepdims)


@composite(namespace="linalg")
def vector_norm(x: Array, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Any:
    """The length of vectors, ``sum(abs(x)**ord)**(1/ord)``.

    Its slope at the vector of zeros is 0; where several elements attain an extreme, they share it.

    Args:
        x: an array; integers are cast to the default float type.
        axis: which axes form the vector; all of them if None.
        keepdims: keep these axes with size 1.
        ord: a number; ``inf`` gives the largest absolute value, ``-inf`` the smallest, 0 counts the
            elements that are not 0 (its derivative is 0).
    Returns:
        real numbers.
    Raises:
        ShapeError: no such axis; a vector of no elements, for infinite orders.

    >>> import symgrad as sg
    >>> float(sg.linalg.vector_norm(sg.asarray([3.0, -4.0])))
    5.0
    >>> float(sg.linalg.vector_norm(sg.asarray([3.0, -4.0]), ord=1))
    7.0
    """
    x = as_inexact(x)
    if x.dtype == float16:  # squares of numbers above 256 overflow
        wide = vector_norm(ops.astype(x, float32), axis=axis, keepdims=keepdims, ord=ord)
        return ops.astype(wide, float16)
    if ord == 2:
        return euclidean_length(x, axis=axis, keepdims=keepdims)
    axes = normalize_axes(axis, x.ndim, "vector_norm")
    if ord == 0:
        return ops.sum(ops.astype(x != 0, real_dtype(x.dtype)), axis=axes, keepdims=keepdims)
    size = ops.abs(x)
    if ord == math.inf:
        return ops.max(size, axis=axes, keepdims=keepdims)
    if ord == -math.inf:
        return ops.min(size, axis=axes, keepdims=keepdims)
    if ord == 1:
        return ops.sum(size, axis=axes, keepdims=keepdims)
    total = ops.sum(size**ord, axis=axes, keepdims=keepdims)
    return ops.where(total == 0, 0, total ** (1 / ord))


@composite(namespace="linalg")
def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Norms of the matrices in the last two axes.

    Args:
        x: an array of two or more axes; integers are cast to the default float type.
        keepdims: keep the two axes with size 1.
        ord: "fro" (root of the sum of squares), "nuc" (sum of the singular values), 2 and -2 (the
            largest and smallest singular value), 1 and -1 (largest and smallest sum of a column's
            absolute values), ``inf`` and ``-inf`` (of a row's).
    Returns:
        real numbers.
    Raises:
        ShapeError: fewer than two axes. ArgumentError: an unknown ``ord``.

    >>> import symgrad as sg
    >>> float(sg.linalg.matrix_norm(sg.asarray([[1.0, 2.0], [3.0, -4.0]]), ord=1))
    6.0
    """
    if x.ndim < 2:
        raise ShapeError("matrix_norm", "x is no matrix", expected="2 or more axes", got=x.type)
    last = normalize_axis(-1, x.ndim, "matrix_norm")
    if ord == "fro":
        return euclidean_length(x, axis=(last - 1, last), keepdims=keepdims)
    x = as_inexact(x)
    if ord in (1, -1):
        sums = ops.sum(ops.abs(x), axis=last - 1)
    elif ord in (math.inf, -math.inf):
        sums = ops.sum(ops.abs(x), axis=last)
    elif ord in (2, -2, "nuc"):
        sums = svdvals(x)
    else:
        raise ArgumentError(
            "matrix_norm", "ord", expected="fro, nuc, 1, -1, 2, -2, inf or -inf", got=repr(ord)
        )
    combine = ops.sum if ord == "nuc" else ops.max if ord > 0 else ops.min
    norm = combine(sums, axis=-1)
    return ops.reshape(norm, (*norm.shape, 1, 1)) if keepdims else norm
