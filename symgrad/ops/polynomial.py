"""Polynomials by their coefficients, the highest power first: polyval, vander."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import ShapeError
from symgrad.ir.op import ZERO, Attrs, ops
from symgrad.ops.families import Array, composite, opaque, require_kind
from symgrad.types import TensorType, as_size, promote


def _polyval_type(p: TensorType, x: TensorType) -> TensorType:
    for name, kind in (("p", p), ("x", x)):
        require_kind("polyval", kind.dtype, "numeric", name)
    if p.ndim != 1:
        raise ShapeError("polyval", "coefficients are a vector", expected="1 axis", got=p)
    return TensorType(x.shape, promote(p.dtype, x.dtype))


def _derivative(p: Any) -> Any:
    """The coefficients of the derivative; of a constant, none."""
    powers = ops.flip(ops.arange(p.shape[0]))
    return (p * ops.astype(powers, p.dtype))[:-1]


def _by_coefficients(ct: Any, y: Any, p: Any, x: Any) -> Any:
    points = ops.reshape(ops.astype(x, ct.dtype), (-1,))
    return ops.matmul(ops.reshape(ct, (-1,)), vander(points, p.shape[0]))


def _polyval_jvp(tangents: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    (tp, tx), (p, x) = tangents, args
    terms = [] if tp is ZERO else [polyval(tp, x)]
    if tx is not ZERO:
        terms.append(polyval(_derivative(p), x) * tx)
    return sum(terms[1:], terms[0]) if terms else ZERO


@opaque(
    type=_polyval_type,
    vjp=(_by_coefficients, lambda ct, y, p, x: ct * ops.polyval(_derivative(p), x)),
    jvp=_polyval_jvp,
)
def polyval(p: Array, x: Array, /) -> Array:
    """The polynomial ``p[0] * x**(n-1) + … + p[n-1]`` at each element of ``x``, by Horner's rule.

    Args:
        p: coefficients, the highest power first; of none, the value is 0.
        x: numbers of any shape.
    Raises:
        ShapeError: ``p`` is no vector. DTypeError: booleans.

    >>> import symgrad as sg
    >>> sg.polyval(sg.asarray([1.0, 0.0, 2.0]), sg.asarray([3.0, -1.0]))
    Tensor([11.,  3.])
    """
    y = np.zeros(x.shape, np.result_type(p, x))
    for k in range(p.shape[0]):
        y = np.add(np.multiply(y, x), p[k])
    return np.asarray(y)


@composite
def vander(x: Array, /, n: Any = None, *, increasing: bool = False) -> Any:
    """The matrix whose columns are the powers of a vector, the highest first.

    Args:
        x: a vector of numbers.
        n: how many columns, an int or a dimension; None: as many as rows.
        increasing: the lowest power first.
    Raises:
        ShapeError: ``x`` is no vector, or ``n`` is negative. DTypeError: booleans.

    >>> import symgrad as sg
    >>> sg.vander(sg.asarray([1, 2, 3]))
    Tensor([[1, 1, 1],
            [4, 2, 1],
            [9, 3, 1]])
    """
    x = ops.asarray(x)
    require_kind("vander", x.dtype, "numeric")
    if x.ndim != 1:
        raise ShapeError("vander", "x is no vector", expected="1 axis", got=x.type)
    size = x.shape[0] if n is None else as_size(n, "vander")
    powers = ops.arange(size)
    if not increasing:
        powers = ops.flip(powers)
    return ops.pow(ops.expand_dims(x, axis=-1), ops.astype(powers, x.dtype))
