"""Lengths of vectors and matrices, and condition numbers: vector_norm, matrix_norm, cond."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ZERO, ops
from symgrad.ops.determinants import inverse_or_infinite
from symgrad.ops.families import Array, composite, reduction, require_kind
from symgrad.ops.matrices import as_inexact, largest, require_square
from symgrad.ops.spectral import svdvals
from symgrad.types import (
    Size,
    TensorType,
    float16,
    float32,
    is_complex,
    normalize_axes,
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
    y = np.linalg.vector_norm(x, axis=axis, keepdims=keepdims)
    kind = np.finfo(x.dtype)
    # Squares neither overflow nor lose digits where the result lies between these.
    safe = (y > math.sqrt(kind.tiny / kind.eps)) & (y < np.inf)
    if np.all(safe):
        return y
    peak = np.max(np.abs(x), axis=axis, keepdims=True, initial=0)
    scale = np.where((peak > 0) & (peak < np.inf), peak, 1).astype(peak.dtype)
    scaled = np.linalg.vector_norm(x / scale, axis=axis, keepdims=True) * scale
    return np.where(safe, y, scaled.reshape(np.shape(y)))


def _scale(size: Any, axes: tuple[int, ...]) -> Any:
    """The largest number of each vector, or 1 instead of 0 and infinity.

    A length does not depend on the scale that it is computed in, and so no derivative does.
    """
    peak = ops.stop_gradient(largest(size, axes, True))
    return ops.where((peak > 0) & ops.isfinite(peak), peak, 1)


def _root(total: Any, scale: Any, keepdims: bool, ord: float) -> Any:
    """``scale * total**(1/ord)``, without a slope where nothing was summed."""
    nothing = 0 if ord > 0 else math.inf
    root = ops.where(total == 0, nothing, ops.where(total == 0, 1, total) ** (1 / ord))
    return root * (scale if keepdims else ops.reshape(scale, root.shape))


def _any_order(size: Any, axes: tuple[int, ...], keepdims: bool, ord: float) -> Any:
    """``sum(size**ord)**(1/ord)`` of numbers >= 0, safe from overflow; a 0 has no slope."""
    nonzero = ops.where(size == 0, 1, size)
    scale = _scale(size, axes) if ord > 0 else 1 / _scale(1 / nonzero, axes)
    power = (nonzero / scale) ** ord
    if ord > 0:
        power = ops.where(size == 0, 0, power)
    length = _root(ops.sum(power, axis=axes, keepdims=keepdims), scale, keepdims, ord)
    if ord > 0:
        return length
    return ops.where(ops.any(size == 0, axis=axes, keepdims=keepdims), 0, length)


def _even_order(x: Any, axes: tuple[int, ...], keepdims: bool, ord: int) -> Any:
    """The same for 4, 6, ...: the root of a polynomial, smooth also where an element is 0."""
    scale = _scale(ops.abs(x), axes)
    x = x / scale
    square = ops.real(x * ops.conj(x)) if is_complex(x.dtype) else x * x
    total = ops.sum(square ** (ord // 2), axis=axes, keepdims=keepdims)
    return _root(total, scale, keepdims, ord)


@composite(namespace="linalg")
def vector_norm(x: Array, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Any:
    """The length of vectors, ``sum(abs(x)**ord)**(1/ord)``, safe from overflow.

    Its slope at the vector of zeros is 0, and so it is along an element that is 0, unless the
    function is smooth there; where several elements attain an extreme, they share it.

    Args:
        x: an array; integers are cast to the default float type.
        axis: which axes form the vector; all of them if None.
        keepdims: keep these axes with size 1.
        ord: a number; ``inf`` gives the largest absolute value, ``-inf`` the smallest, 0 counts the
            elements that are not 0 (its derivative is 0).
    Returns:
        real numbers.
    Raises:
        ShapeError: no such axis; a vector of no elements, for ``-inf``. ArgumentError: ``ord`` is
        no number.

    >>> import symgrad as sg
    >>> float(sg.linalg.vector_norm(sg.asarray([3.0, -4.0])))
    5.0
    >>> float(sg.linalg.vector_norm(sg.asarray([3.0, -4.0]), ord=1))
    7.0
    """
    if not isinstance(ord, Real):
        raise ArgumentError("vector_norm", "ord", expected="a real number", got=repr(ord))
    x = as_inexact(x)
    if x.dtype == float16:  # squares of numbers above 256 overflow
        wide = vector_norm(ops.astype(x, float32), axis=axis, keepdims=keepdims, ord=ord)
        return ops.astype(wide, float16)
    if ord == 2:
        return euclidean_length(x, axis=axis, keepdims=keepdims)
    axes = normalize_axes(axis, x.ndim, "vector_norm")
    if ord == 0:
        return ops.sum(ops.astype(x != 0, real_dtype(x.dtype)), axis=axes, keepdims=keepdims)
    if 2 < ord < math.inf and ord % 2 == 0:
        return _even_order(x, axes, keepdims, int(ord))
    size = ops.abs(x)
    if ord == math.inf:
        return largest(size, axes, keepdims)
    if ord == -math.inf:
        return ops.min(size, axis=axes, keepdims=keepdims)
    if ord == 1:
        return ops.sum(size, axis=axes, keepdims=keepdims)
    return _any_order(size, axes, keepdims, float(ord))


@composite(namespace="linalg")
def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Norms of the matrices in the last two axes.

    Where several columns, rows or singular values attain an extreme, they share its slope; the
    slope of a singular value that is 0 is 0.

    Args:
        x: an array of two or more axes; integers are cast to the default float type.
        keepdims: keep the two axes with size 1.
        ord: "fro" or None (root of the sum of squares), "nuc" (sum of the singular values), 2 and
            -2 (the largest and smallest singular value), 1 and -1 (largest and smallest sum of a
            column's absolute values), ``inf`` and ``-inf`` (of a row's).
    Returns:
        real numbers.
    Raises:
        ShapeError: fewer than two axes; a smallest of nothing. ArgumentError: an unknown ``ord``.
        DTypeError: float16, for singular values.

    >>> import symgrad as sg
    >>> float(sg.linalg.matrix_norm(sg.asarray([[1.0, 2.0], [3.0, -4.0]]), ord=1))
    6.0
    """
    x = as_inexact(x)
    if x.ndim < 2:
        raise ShapeError("matrix_norm", "x is no matrix", expected="2 or more axes", got=x.type)
    last = x.ndim - 1
    if ord is None or ord == "fro":
        return vector_norm(x, axis=(last - 1, last), keepdims=keepdims)
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
    if ord == "nuc":
        norm = ops.sum(sums, axis=-1)
    else:
        norm = largest(sums, (last - 1,), False) if ord > 0 else ops.min(sums, axis=-1)
    return ops.reshape(norm, (*norm.shape, 1, 1)) if keepdims else norm


@composite(namespace="linalg", name="linalg.norm")
def norm(x: Array, /, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """numpy's `norm`: of vectors, or of matrices, as the axes say.

    Args:
        x: an array.
        ord: as for `vector_norm` or `matrix_norm`; None is the root of the sum of squares.
        axis: one axis for vectors, two for matrices; None takes all of ``x``: as one vector where
            ``ord`` is None or ``x`` has one axis, else as a matrix.
        keepdims: keep these axes with size 1.
    Raises:
        ShapeError: the axes are neither of a vector nor of a matrix. ArgumentError: an unknown
        ``ord``.

    >>> import symgrad as sg
    >>> float(sg.linalg.norm(sg.asarray([[3.0, 0.0], [0.0, -4.0]])))
    5.0
    """
    x = ops.asarray(x)
    if axis is None and (ord is None or x.ndim == 1):
        return vector_norm(x, keepdims=keepdims, ord=2 if ord is None else ord)
    axes = normalize_axes(axis, x.ndim, "norm")
    if len(axes) == 1 and ord not in ("fro", "nuc"):
        return vector_norm(x, axis=axes, keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2:
        raise ShapeError("norm", "axes", expected="1 of a vector, or 2 of a matrix", got=axis)
    first, second = (axis[0] % x.ndim, axis[1] % x.ndim) if axis is not None else axes
    found = matrix_norm(ops.moveaxis(x, (first, second), (-2, -1)), ord=ord)
    return ops.expand_dims(found, axis=axes) if keepdims else found


@composite(namespace="linalg")
def cond(x: Array, /, *, p: Any = None) -> Any:
    """The condition numbers of matrices: how much ``solve`` may amplify errors.

    Args:
        x: matrices in the last two axes, of float32 or wider; square ones, unless ``p`` is None, 2
            or -2.
        p: the norm, an ``ord`` of `matrix_norm`; None means 2.
    Returns:
        real numbers, ``norm(x) * norm(inv(x))``: for 2 the quotient of the largest and the smallest
        singular value, for -2 the inverse of that. Infinity for a singular matrix, except for -2.
    Raises:
        ShapeError: not square; no rows or columns. ArgumentError: an unknown ``p``.
        DTypeError: float16.

    >>> import symgrad as sg
    >>> float(sg.linalg.cond(sg.asarray([[8.0, 0.0], [0.0, 2.0]])))
    4.0
    """
    x = as_inexact(x)
    if p in (None, 2, -2):
        values = svdvals(x)
        above, below = values[..., 0], values[..., -1]
        if p == -2:
            above, below = below, above
        return ops.where(below == 0, math.inf, above / below)
    require_square("cond", x.type)
    norm = matrix_norm(x, ord=p)
    if p == "nuc":  # an infinite inverse has no singular values
        product = norm * ops.sum(1 / svdvals(x), axis=-1)
    else:
        product = norm * matrix_norm(inverse_or_infinite(x), ord=p)
    return ops.where(ops.isnan(product) & ~ops.isnan(norm), math.inf, product)
