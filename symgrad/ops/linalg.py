"""Linear equations and their kin: solve, inv, cholesky, matrix_power, cross; diagonals.

The rules are those of M. B. Giles, "Collected matrix derivative results for forward and reverse
mode algorithmic differentiation" (2008), extended to complex numbers: an op that is holomorphic
states the plain transpose, the others state the gradient ``df/dx + i df/dy`` itself. A singular
matrix raises numpy's ``LinAlgError`` when it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ZERO, ops
from symgrad.ops import (
    determinants,
    eigen,
    elimination,
    least_squares,
    linalg_factor,
    linalg_norms,
    matrix_functions,
    matrix_products,
    spectral,
    triangles,
    triangular,
)
from symgrad.ops.families import Array, composite, linear, opaque
from symgrad.ops.matrices import (
    INVERSE_RULES,
    adjoint,
    column,
    divided_right,
    equations_type,
    halved_triangle,
    hermitian_part,
    require_square,
    row,
    square_type,
    transposed,
)
from symgrad.types import (
    Size,
    TensorType,
    max_size,
    min_size,
    normalize_axis,
    require_equal,
)

__all__ = [
    "cholesky",
    "cross",
    "determinants",
    "diagonal",
    "diagonal_matrix",
    "eigen",
    "elimination",
    "inv",
    "least_squares",
    "linalg_factor",
    "linalg_norms",
    "matrix_functions",
    "matrix_power",
    "matrix_products",
    "solve",
    "spectral",
    "trace",
    "triangles",
    "triangular",
]


# --- diagonals ------------------------------------------------------------------------------------


def _diagonal_length(shape: Sequence[Size], offset: int) -> Size:
    rows, columns = shape[-2:]
    if offset >= 0:
        columns = max_size(columns - offset, 0)
    else:
        rows = max_size(rows + offset, 0)
    return min_size(rows, columns)


def _diagonal_type(x: TensorType, *, offset: int) -> TensorType:
    if x.ndim < 2:
        raise ShapeError("diagonal", "x is no matrix", expected="2 or more axes", got=x)
    return TensorType((*x.shape[:-2], _diagonal_length(x.shape, offset)), x.dtype)


def _diagonal_matrix_type(x: TensorType, *, shape: Any, offset: int) -> TensorType:
    length = _diagonal_length(shape, offset)
    require_equal(length, x.shape[-1], "diagonal_matrix", "lengths of the diagonal")
    return TensorType((*x.shape[:-1], *shape), x.dtype)


def _diagonal_transpose(ct: Any, x: Any, *, offset: int) -> Any:
    return diagonal_matrix(ct, shape=x.shape[-2:], offset=offset)


def _diagonal_matrix_transpose(ct: Any, x: Any, *, shape: Any, offset: int) -> Any:
    return diagonal(ct, offset=offset)


@linear(
    type=_diagonal_type,
    transpose=_diagonal_transpose,
    warns=False,
    view=True,
)
def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """The diagonals of the matrices in the last two axes.

    Args:
        x: an array of two or more axes, of any element type.
        offset: which diagonal; above the main one if positive, below if negative.
    Raises:
        ShapeError: fewer than two axes.

    >>> import symgrad as sg
    >>> sg.diagonal(sg.asarray([[1.0, 2.0], [3.0, 4.0]]))
    Tensor([1., 4.])
    """
    return np.diagonal(x, offset, -2, -1)


@linear(
    type=_diagonal_matrix_type,
    transpose=_diagonal_matrix_transpose,
    warns=False,
    namespace=None,
)
def diagonal_matrix(x: Array, /, *, shape: tuple[Any, ...], offset: int = 0) -> Array:
    """Zero matrices with given diagonals: the transpose of `diagonal`.

    Args:
        x: an array whose last axis is the diagonal.
        shape: rows and columns.
        offset: as for `diagonal`.
    Raises:
        ShapeError: the diagonal has another length.

    >>> import symgrad as sg
    >>> diagonal_matrix(sg.asarray([1.0, 4.0]), shape=(2, 3))
    Tensor([[1., 0., 0.],
            [0., 4., 0.]])
    """
    whole = np.zeros((*x.shape[:-1], *shape), x.dtype)
    steps = np.arange(x.shape[-1])
    whole[..., steps + max(-offset, 0), steps + max(offset, 0)] = x
    return whole


@composite(namespace="linalg")
def trace(x: Array, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """The sums along the diagonals of the matrices in the last two axes.

    Args:
        x: an array of two or more axes.
        offset: which diagonal, as for `diagonal`.
        dtype: the element type of the sum, by the rule of ``sum``.
    Raises:
        ShapeError: fewer than two axes.

    >>> import symgrad as sg
    >>> float(sg.linalg.trace(sg.asarray([[1.0, 2.0], [3.0, 4.0]])))
    5.0
    """
    return ops.sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


# --- equations ------------------------------------------------------------------------------------


@opaque(
    type=square_type("inv"),
    **INVERSE_RULES,
    integers="float",
    warns=False,
    namespace="linalg",
)
def inv(x: Array, /) -> Array:
    """The inverses of square matrices.

    Args:
        x: square matrices in the last two axes, of float32 or wider.
    Raises:
        ShapeError: not square. DTypeError: float16. LinAlgError: singular, when it runs.

    >>> import symgrad as sg
    >>> sg.linalg.inv(sg.asarray([[2.0, 0.0], [0.0, 4.0]]))
    Tensor([[0.5 , 0.  ],
            [0.  , 0.25]])
    """
    return np.linalg.inv(x)


def _solve_type(x1: TensorType, x2: TensorType) -> TensorType:
    return equations_type("solve", x1, x2)


def _solve_back(ct: Any, x1: Any, x2: Any) -> Any:
    """The cotangent of the right side, with a column for a vector."""
    return solve(transposed(x1), column(ct) if x2.ndim == 1 else ct)


def _solve_first(ct: Any, y: Any, x1: Any, x2: Any) -> Any:
    return -(_solve_back(ct, x1, x2) @ (row(y) if x2.ndim == 1 else transposed(y)))


def _solve_second(ct: Any, y: Any, x1: Any, x2: Any) -> Any:
    back = _solve_back(ct, x1, x2)
    return ops.reshape(back, back.shape[:-1]) if x2.ndim == 1 else back


def _solve_jvp(tangents: Sequence[Any], y: Any, args: Sequence[Any], attrs: Any) -> Any:
    t1, t2 = tangents
    if t1 is ZERO:
        return ZERO if t2 is ZERO else solve(args[0], t2)
    vector = args[1].ndim == 1
    right = -(t1 @ (column(y) if vector else y))
    if t2 is not ZERO:
        right = right + (column(t2) if vector else t2)
    moved = solve(args[0], right)
    return ops.reshape(moved, moved.shape[:-1]) if vector else moved


@opaque(
    type=_solve_type,
    vjp=(_solve_first, _solve_second),
    jvp=_solve_jvp,
    integers="float",
    warns=False,
    namespace="linalg",
)
def solve(x1: Array, x2: Array, /) -> Array:
    """The solutions of linear equations: ``x1 @ y == x2``.

    Args:
        x1: square matrices in the last two axes, of float32 or wider.
        x2: one vector, or matrices whose batch broadcasts with that of ``x1``.
    Raises:
        ShapeError: not square, or sizes differ. DTypeError: float16.
        LinAlgError: singular, when it runs.

    >>> import symgrad as sg
    >>> sg.linalg.solve(sg.asarray([[2.0, 0.0], [0.0, 4.0]]), sg.asarray([2.0, 2.0]))
    Tensor([1. , 0.5])
    """
    return np.linalg.solve(x1, x2)


def _cholesky_type(x: TensorType, *, upper: bool) -> TensorType:
    require_square("cholesky", x)
    return x


def _cholesky_vjp(ct: Any, y: Any, x: Any, *, upper: bool) -> Any:
    lower, ct = (adjoint(y), adjoint(ct)) if upper else (y, ct)
    middle = halved_triangle(adjoint(lower) @ ct)
    # inv(L)^H middle inv(L), by two solves.
    left = ops.solve_triangular(adjoint(lower), middle, upper=True)
    return hermitian_part(divided_right(left, lower))


def _cholesky_jvp(tangents: Sequence[Any], y: Any, args: Any, attrs: dict[str, Any]) -> Any:
    if tangents[0] is ZERO:
        return ZERO
    upper = attrs["upper"]
    lower = adjoint(y) if upper else y
    left = ops.solve_triangular(lower, hermitian_part(tangents[0]))
    # (inv(L) t) inv(L)^H, the adjoint of inv(L) (inv(L) t)^H.
    middle = adjoint(ops.solve_triangular(lower, adjoint(left)))
    moved = lower @ halved_triangle(middle)
    return adjoint(moved) if upper else moved


@opaque(
    type=_cholesky_type,
    vjp=(_cholesky_vjp,),
    jvp=_cholesky_jvp,
    integers="float",
    holomorphic=False,
    warns=False,
    namespace="linalg",
)
def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """The triangular factors L of positive definite matrices, ``x == L @ L^H``.

    The derivative is that for symmetric (complex: Hermitian) changes: it is symmetric itself.
    Source: I. Murray, "Differentiation of the Cholesky decomposition" (2016).

    Args:
        x: positive definite matrices in the last two axes, of float32 or wider; only one triangle
            is read.
        upper: give ``L^H`` instead.
    Raises:
        ShapeError: not square. DTypeError: float16.
        LinAlgError: not positive definite, when it runs.

    >>> import symgrad as sg
    >>> sg.linalg.cholesky(sg.asarray([[4.0, 2.0], [2.0, 5.0]]))
    Tensor([[2., 0.],
            [1., 2.]])
    """
    return np.linalg.cholesky(x, upper=upper)


# --- products -------------------------------------------------------------------------------------


@composite(namespace="linalg")
def matrix_power(x: Array, n: int, /) -> Any:
    """Square matrices to an integer power, by repeated squaring.

    Args:
        x: square matrices in the last two axes.
        n: the exponent; a negative one inverts first, 0 gives identities.
    Raises:
        ShapeError: not square. ArgumentError: ``n`` is no int.
        LinAlgError: a negative power of a singular matrix, when it runs.

    >>> import symgrad as sg
    >>> sg.linalg.matrix_power(sg.asarray([[1.0, 1.0], [0.0, 1.0]]), 3)
    Tensor([[1., 3.],
            [0., 1.]])
    """
    given: Any = n
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)):
        raise ArgumentError("matrix_power", "the exponent is an int", got=repr(n))
    x = ops.asarray(x)
    if x.ndim < 2 or (isinstance(x.shape[-1] - x.shape[-2], int) and x.shape[-1] != x.shape[-2]):
        raise ShapeError("matrix_power", "x is not square", expected="a square matrix", got=x.type)
    if n == 0:
        # The power depends on x in form, though on none of its values.
        return ops.where(False, x, ops.eye(x.shape[-1], dtype=x.dtype))
    base = inv(x) if n < 0 else x
    power = base
    # From the second binary digit on: square for each, and one factor more for a 1.
    for digit in bin(abs(int(n)))[3:]:
        power = power @ power
        power = power @ base if digit == "1" else power
    return power


@composite(namespace="linalg")
def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Any:
    """The cross products of vectors in space.

    Args:
        x1, x2: arrays of size 3 along ``axis``, whose other axes broadcast.
        axis: which axis holds the components, counted from the end if the numbers of axes differ.
    Raises:
        ShapeError: an axis that is not of size 3.

    >>> import symgrad as sg
    >>> sg.linalg.cross(sg.asarray([1.0, 0.0, 0.0]), sg.asarray([0.0, 1.0, 0.0]))
    Tensor([0., 0., 1.])
    """
    x1, x2 = (_in_space(ops.asarray(x), axis, name) for x, name in ((x1, "x1"), (x2, "x2")))
    return _turned(x1, 1, axis) * _turned(x2, 2, axis) - _turned(x1, 2, axis) * _turned(x2, 1, axis)


def _in_space(x: Any, axis: int, name: str) -> Any:
    """``x`` with three components; a named size becomes 3."""
    at = normalize_axis(axis, x.ndim, "cross")
    size = x.shape[at]
    if isinstance(size, int) and size != 3:
        raise ShapeError("cross", f"axis {axis} of {name}", expected="3 components", got=x.type)
    return x if size == 3 else ops.broadcast_to(x, (*x.shape[:at], 3, *x.shape[at + 1 :]))


def _turned(x: Any, by: int, axis: int) -> Any:
    return ops.roll(x, -by, axis=axis)
