"""Eigenvalues and singular values: eigh, eigvalsh, svd, svdvals.

Eigenvectors and singular vectors are determined up to a sign (complex: a phase), and for repeated
values up to a rotation. The rules are right for every function that does not depend on that choice,
in reverse mode at repeated values too (see `symgrad.ops.repeated`), and finite for every other. Two
things stay open where values are equal: forward mode knows only functions that treat equal values
alike or use no more than the space of their vectors; and the second derivative of what was made of
values and vectors together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from symgrad.ir.op import ZERO, ops
from symgrad.ir.symbol import Symbol
from symgrad.ops.families import Array, composite, multi, opaque, unpack
from symgrad.ops.matrices import (
    adjoint,
    adjoint_if_any,
    column_range,
    hermitian_part,
    minus,
    negligible,
    plus,
    require_matrix,
    require_square,
    row,
    times,
    without_complement,
)
from symgrad.ops.repeated import by_differences, by_sums, by_values, slopes
from symgrad.types import TensorType, TupleType, min_size, real_dtype


class EighResult(NamedTuple):
    """Eigenvalues in ascending order, and the eigenvectors as columns."""

    eigenvalues: Any
    eigenvectors: Any


class SVDResult(NamedTuple):
    """Left singular vectors (columns), singular values in descending order, right ones (rows)."""

    U: Any
    S: Any
    Vh: Any


# --- eigenvalues ----------------------------------------------------------------------------------


def _eigh_type(x: TensorType) -> Any:
    require_square("eigh", x)
    return TupleType((TensorType(x.shape[:-1], real_dtype(x.dtype)), x))


def _eigh_vjp(cts: Sequence[Any], ys: Sequence[Any], x: Any) -> Any:
    """M. B. Giles (2008), section 3.1."""
    (ct_values, ct_vectors), (values, vectors) = cts, ys
    result: Any = ZERO
    if ct_vectors is not ZERO:
        turned = adjoint(vectors) @ ct_vectors
        (slope,) = slopes([turned], [values, eigvalsh(x)])
        result = vectors @ by_differences(turned, slope, values) @ adjoint(vectors)
    if ct_values is not ZERO:
        result = plus(result, (vectors * row(ct_values)) @ adjoint(vectors))
    return ZERO if result is ZERO else hermitian_part(result)


@multi(type=_eigh_type, vjp=(_eigh_vjp,), integers="float", holomorphic=False, warns=False)
def eigh_pack(x: Array, /) -> Any:
    """The outputs of `eigh`, packed.

    >>> import symgrad as sg
    >>> [part.shape for part in sg.linalg.eigh(sg.ones((3, 3)))]
    [(3,), (3, 3)]
    """
    return tuple(np.linalg.eigh(x))


@composite(namespace="linalg")
def eigh(x: Array, /) -> EighResult:
    """Eigenvalues and eigenvectors of symmetric (complex: Hermitian) matrices.

    The derivative is that for symmetric changes: it is symmetric itself. It is right for functions
    that do not depend on the choice of the eigenvectors, at repeated eigenvalues too.

    Args:
        x: symmetric matrices in the last two axes, of float32 or wider; only the lower triangle is
            read.
    Returns:
        a named tuple ``(eigenvalues, eigenvectors)``, eigenvalues in ascending order.
    Raises:
        ShapeError: not square. DTypeError: float16.

    >>> import symgrad as sg
    >>> sg.linalg.eigh(sg.asarray([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    Tensor([1., 2.])
    """
    return EighResult(*unpack(eigh_pack(x), 2))


def _eigvalsh_type(x: TensorType) -> TensorType:
    require_square("eigvalsh", x)
    return TensorType(x.shape[:-1], real_dtype(x.dtype))


def _eigvalsh_vjp(ct: Any, y: Any, x: Any) -> Any:
    vectors = eigh(x).eigenvectors
    return (vectors * row(ct)) @ adjoint(vectors)


@opaque(
    type=_eigvalsh_type,
    vjp=(_eigvalsh_vjp,),
    integers="float",
    holomorphic=False,
    warns=False,
    namespace="linalg",
)
def eigvalsh(x: Array, /) -> Array:
    """The eigenvalues of symmetric (complex: Hermitian) matrices, in ascending order.

    Args:
        x: symmetric matrices in the last two axes, of float32 or wider; only the lower triangle is
            read.
    Raises:
        ShapeError: not square. DTypeError: float16.

    >>> import symgrad as sg
    >>> sg.linalg.eigvalsh(sg.asarray([[2.0, 0.0], [0.0, 1.0]]))
    Tensor([1., 2.])
    """
    return np.linalg.eigvalsh(x)


# --- singular values ------------------------------------------------------------------------------


def _svd_type(x: TensorType, *, full_matrices: bool) -> Any:
    require_matrix("svd", x)
    *batch, rows, columns = x.shape
    size = min_size(rows, columns)
    left, right = (rows, columns) if full_matrices else (size, size)
    return TupleType(
        (
            TensorType((*batch, rows, left), x.dtype),
            TensorType((*batch, size), real_dtype(x.dtype)),
            TensorType((*batch, right, columns), x.dtype),
        )
    )


def _svd_vjp(cts: Sequence[Any], ys: Sequence[Any], x: Any, *, full_matrices: bool) -> Any:
    """J. Townsend, "Differentiating the singular value decomposition" (2016), in another form.

    There the skew parts p and q of U^H ct_U and V^H ct_V meet as (p s_j + s_i q) / (s_j^2 - s_i^2).
    Here it is (p + q) / 2 (s_j - s_i) + (p - q) / 2 (s_j + s_i): for a function that does not
    depend on the choice of the vectors, p + q vanishes where s_i == s_j; what is left is finite.
    """
    (ct_u, ct_s, ct_vh), (u, s, vh) = cts, ys
    v, ct_v = adjoint(vh), adjoint_if_any(ct_vh)
    rows, columns = x.shape[-2:]
    size = min_size(rows, columns)
    if full_matrices:
        ct_u, ct_v = without_complement(ct_u, u, size), without_complement(ct_v, v, size)
        u, v = column_range(u, None, size), column_range(v, None, size)
    p, q = _skew(times(adjoint(u), ct_u)), _skew(times(adjoint(v), ct_v))
    aside_u = ZERO if size == rows else _outside(ct_u, u)
    aside_v = ZERO if size == columns else _outside(ct_v, v)
    parts = [plus(p, q), plus(p, minus(q)), aside_u, aside_v]
    grown = slopes(parts, _all_that_are_values(x, s))
    middle: Any = ZERO
    if parts[0] is not ZERO:
        middle = by_differences(parts[0], grown[0], s) + by_sums(parts[1], grown[1], s)
        middle = 0.5 * middle
    if ct_s is not ZERO:
        middle = plus(middle, row(ct_s) * ops.eye(size, dtype=s.dtype))
    result = times(times(u, middle), adjoint(v))
    if aside_u is not ZERO:
        result = plus(result, by_values(aside_u, grown[2], s) @ adjoint(v))
    if aside_v is not ZERO:
        result = plus(result, u @ adjoint(by_values(aside_v, grown[3], s)))
    return result


def _all_that_are_values(x: Any, s: Any) -> list[Any]:
    """The symbols that stand for the singular values of ``x``."""
    if not isinstance(s, Symbol):
        return [s]
    packs = (svd_pack(x, full_matrices=full) for full in (True, False))
    return [*(unpack(pack, 3)[1] for pack in packs), svdvals(x)]


def _skew(x: Any) -> Any:
    return ZERO if x is ZERO else x - adjoint(x)


def _outside(x: Any, vectors: Any) -> Any:
    """The part of ``x`` that is orthogonal to these columns."""
    return ZERO if x is ZERO else x - vectors @ (adjoint(vectors) @ x)


@multi(type=_svd_type, vjp=(_svd_vjp,), integers="float", holomorphic=False, warns=False)
def svd_pack(x: Array, /, *, full_matrices: bool) -> Any:
    """The outputs of `svd`, packed.

    >>> import symgrad as sg
    >>> [part.shape for part in sg.linalg.svd(sg.ones((2, 3)))]
    [(2, 2), (2,), (3, 3)]
    """
    return tuple(np.linalg.svd(x, full_matrices=full_matrices))


@composite(namespace="linalg")
def svd(x: Array, /, *, full_matrices: bool = True) -> SVDResult:
    """The singular value decomposition, ``x == U * S @ Vh``.

    The derivative is right for functions that do not depend on the choice of the singular vectors,
    at repeated singular values and at zeros too.

    Args:
        x: matrices in the last two axes, of float32 or wider.
        full_matrices: give square ``U`` and ``Vh``, not only the vectors that belong to a value.
    Returns:
        a named tuple ``(U, S, Vh)``, singular values in descending order.
    Raises:
        ShapeError: fewer than two axes. DTypeError: float16.

    >>> import symgrad as sg
    >>> sg.linalg.svd(sg.asarray([[0.0, 2.0], [1.0, 0.0]])).S
    Tensor([2., 1.])
    """
    return SVDResult(*unpack(svd_pack(x, full_matrices=full_matrices), 3))


def _svdvals_type(x: TensorType) -> TensorType:
    require_matrix("svdvals", x)
    return TensorType((*x.shape[:-2], min_size(*x.shape[-2:])), real_dtype(x.dtype))


def _svdvals_vjp(ct: Any, y: Any, x: Any) -> Any:
    u, s, vh = svd(x, full_matrices=False)
    return (u * row(ops.where(negligible(s, s), 0, ct))) @ vh


@opaque(
    type=_svdvals_type,
    vjp=(_svdvals_vjp,),
    integers="float",
    holomorphic=False,
    warns=False,
    namespace="linalg",
)
def svdvals(x: Array, /) -> Array:
    """The singular values of matrices, in descending order.

    The slope of one that is 0, where it has a kink like that of ``abs``, is 0.

    Args:
        x: matrices in the last two axes, of float32 or wider.
    Raises:
        ShapeError: fewer than two axes. DTypeError: float16.

    >>> import symgrad as sg
    >>> sg.linalg.svdvals(sg.asarray([[0.0, 2.0], [1.0, 0.0]]))
    Tensor([2., 1.])
    """
    return np.linalg.svdvals(x)
