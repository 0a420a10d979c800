"""How near vectors are to each other, and vectors of length 1."""

from __future__ import annotations

from typing import Any

from symgrad.errors import ShapeError
from symgrad.ir.op import ops
from symgrad.ops.families import Array, composite
from symgrad.ops.loss_reduction import as_floats, require_number
from symgrad.types import default_float, is_inexact, normalize_axis


def _length(x: Any, p: float, axis: Any, eps: float) -> Any:
    """The p-norm with the axis kept, at least ``eps``."""
    return ops.clip(ops.vector_norm(x, axis=axis, ord=p, keepdims=True), eps)


@composite
def normalize(x: Array, /, *, p: float = 2.0, axis: Any = -1, eps: float = 1e-12) -> Any:
    """Vectors divided by their lengths: ``x / max(norm(x), eps)``.

    Args:
        x: real or complex numbers.
        p: the order of the norm, as for ``sg.linalg.vector_norm``.
        axis: the axis along which the vectors lie, or a tuple of axes.
        eps: the least length to divide by, so that zeros stay zeros.
    Raises:
        ShapeError: an axis does not exist. ArgumentError: eps is negative.

    >>> import symgrad as sg
    >>> sg.normalize(sg.asarray([[3.0, 4.0], [0.0, 0.0]]))
    Tensor([[0.6, 0.8],
            [0. , 0. ]])
    """
    require_number("normalize", "eps", eps, eps >= 0, "a number of at least 0")
    x = ops.asarray(x)
    x = x if is_inexact(x.dtype) else ops.astype(x, default_float())
    return x / _length(x, p, axis, eps)


@composite
def cosine_similarity(x1: Array, x2: Array, /, *, axis: int = -1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors: the product of both at length 1.

    Each is divided by its length, or by ``eps`` if that is less.

    Args:
        x1, x2: real numbers, in shapes that broadcast.
        axis: the axis along which the vectors lie, after broadcasting.
        eps: the least length to divide by.
    Raises:
        ShapeError: the axis does not exist, or shapes do not broadcast. ArgumentError: eps is
            negative.

    >>> import symgrad as sg
    >>> x = sg.asarray([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    >>> sg.cosine_similarity(x, sg.asarray([2.0, 0.0]))
    Tensor([1.        , 0.70710678, 0.        ])
    """
    name = "cosine_similarity"
    require_number(name, "eps", eps, eps >= 0, "a number of at least 0")
    x1, x2 = as_floats(name, "x1", x1), as_floats(name, "x2", x2)
    x1, x2 = ops.broadcast_arrays(x1, x2)
    axis = normalize_axis(axis, x1.ndim, name)
    product = (x1 / _length(x1, 2, axis, eps)) * (x2 / _length(x2, 2, axis, eps))
    return ops.sum(product, axis=axis)


@composite
def pairwise_distance(
    x1: Array, x2: Array, /, *, p: float = 2.0, eps: float = 1e-6, keepdims: bool = False
) -> Any:
    """The p-norm of ``x1 - x2 + eps`` along the last axis.

    Args:
        x1, x2: real numbers, in shapes that broadcast.
        p: the order of the norm, as for ``sg.linalg.vector_norm``.
        eps: added to each difference, so that the distance of equal vectors has a slope.
        keepdims: keep the axis, with size 1.
    Raises:
        ShapeError: there is no axis, or shapes do not broadcast.

    >>> import symgrad as sg
    >>> x = sg.pairwise_distance(sg.asarray([3.0, 4.0]), sg.asarray([0.0, 0.0]), eps=0.0)
    >>> float(x)
    5.0
    """
    name = "pairwise_distance"
    difference = as_floats(name, "x1", x1) - as_floats(name, "x2", x2)
    axis = normalize_axis(-1, difference.ndim, name)
    return ops.vector_norm(difference + eps, axis=axis, ord=p, keepdims=keepdims)


@composite
def cdist(x1: Array, x2: Array, /, *, p: float = 2.0) -> Any:
    """The p-norm of the difference of each row of ``x1`` and each row of ``x2``.

    The distance of equal rows has slope 0.

    Args:
        x1: points ``(…, n, d)``; integers are cast to the default float type.
        x2: points ``(…, m, d)``; leading axes broadcast.
        p: the order of the norm, as for ``sg.linalg.vector_norm``.
    Returns:
        distances ``(…, n, m)``.
    Raises:
        ShapeError: fewer than two axes, or shapes do not broadcast.

    >>> import symgrad as sg
    >>> sg.cdist(sg.asarray([[0.0, 0.0], [3.0, 4.0]]), sg.asarray([[0.0, 0.0]]))
    Tensor([[0.],
            [5.]])
    """
    x1, x2 = as_floats("cdist", "x1", x1), as_floats("cdist", "x2", x2)
    for name, x in (("x1", x1), ("x2", x2)):
        if x.ndim < 2:
            raise ShapeError("cdist", f"{name} has no rows", expected="2 or more axes", got=x.type)
    if x1.shape[-1] != x2.shape[-1] and 1 in (x1.shape[-1], x2.shape[-1]):
        raise ShapeError("cdist", "sizes of points", expected=x1.shape[-1], got=x2.shape[-1])
    difference = ops.expand_dims(x1, axis=-2) - ops.expand_dims(x2, axis=-3)
    return ops.vector_norm(difference, axis=-1, ord=p)
