"""Determinants and their derivatives: det, slogdet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from symgrad.ir.op import ZERO, ops
from symgrad.ops.families import Array, composite, multi, opaque, unpack
from symgrad.ops.matrices import (
    INVERSE_RULES,
    adjoint,
    column,
    require_square,
    square_type,
    transposed,
)
from symgrad.types import (
    TensorType,
    TupleType,
    broadcast_shapes,
    is_complex,
    promote,
    real_dtype,
)


def _det_type(x: TensorType) -> TensorType:
    require_square("det", x)
    return TensorType(x.shape[:-2], x.dtype)


def _det_jvp(tangents: Sequence[Any], y: Any, args: Sequence[Any], attrs: Any) -> Any:
    if tangents[0] is ZERO:
        return ZERO
    return ops.sum(cofactor(args[0]) * tangents[0], axis=(-2, -1))


def _det_vjp(ct: Any, y: Any, x: Any) -> Any:
    return column(column(ct)) * cofactor(x)


@opaque(
    type=_det_type, vjp=(_det_vjp,), jvp=_det_jvp, integers="float", warns=False, namespace="linalg"
)
def det(x: Array, /) -> Array:
    """The determinants of square matrices.

    The gradient is the matrix of cofactors, for singular matrices too; the second and third
    derivatives are right for them as well.

    Args:
        x: square matrices in the last two axes, of float32 or wider.
    Raises:
        ShapeError: not square. DTypeError: float16. LinAlgError: a fourth derivative at a singular
        matrix of more than four rows, when it runs.

    >>> import symgrad as sg
    >>> round(float(sg.linalg.det(sg.asarray([[1.0, 2.0], [3.0, 4.0]]))), 12)
    -2.0
    """
    return np.linalg.det(x)


def products_without(s: Array) -> Array:
    """For each i, the product of all elements but the i-th."""
    one = np.ones((*s.shape[:-1], 1), s.dtype)
    before = np.concatenate([one, np.cumprod(s, -1)], -1)[..., :-1]
    after = np.concatenate([np.cumprod(s[..., ::-1], -1)[..., ::-1], one], -1)[..., 1:]
    return before * after


def products_without_two(s: Array) -> Array:
    """For each i and j, the product of all elements but these; zero for i == j."""
    count = s.shape[-1]
    one = np.ones((*s.shape[:-1], 1), s.dtype)
    before = np.concatenate([one, np.cumprod(s, -1)], -1)[..., :-1]
    after = np.concatenate([np.cumprod(s[..., ::-1], -1)[..., ::-1], one], -1)[..., 1:]
    # In row i, the products of the elements strictly between i and j.
    inner = np.where(np.tri(count, dtype=bool), 1, s[..., None, :])
    ones = np.ones((*s.shape, 1), s.dtype)
    between = np.concatenate([ones, np.cumprod(inner, -1)], -1)[..., :-1]
    above = np.triu(before[..., :, None] * between * after[..., None, :], 1)
    return above + np.swapaxes(above, -1, -2)


def cofactors(x: Array) -> Array:
    """The matrices of cofactors: those of a product are the product of the cofactors.

    For ``x == u @ diag(s) @ vh`` they are ``det(u) det(vh) conj(u) @ diag(products of the other s)
    @ conj(vh)``.
    """
    u, s, vh = np.linalg.svd(x)
    sign = (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    return np.asarray(sign * (u.conj() * products_without(s)[..., None, :]) @ vh.conj(), x.dtype)


def _cofactor_vjp(ct: Any, y: Any, x: Any) -> Any:
    return cofactor_slope(x, ct)


def _cofactor_jvp(tangents: Sequence[Any], y: Any, args: Sequence[Any], attrs: Any) -> Any:
    return ZERO if tangents[0] is ZERO else cofactor_slope(args[0], tangents[0])


@opaque(
    type=square_type("cofactor"),
    vjp=(_cofactor_vjp,),
    jvp=_cofactor_jvp,
    integers="float",
    warns=False,
    namespace=None,
)
def cofactor(x: Array, /) -> Array:
    """The matrices of cofactors, ``det(x) * inv(x)^T``, for singular matrices too.

    >>> import symgrad as sg
    >>> np.round(np.asarray(cofactor(sg.asarray([[2.0, 6.0], [1.0, 3.0]]))), 12)
    array([[ 3., -1.],
           [-6.,  2.]])
    """
    return cofactors(x)


def _cofactor_slope_type(x: TensorType, ct: TensorType) -> TensorType:
    require_square("cofactor_slope", x)
    return TensorType(
        broadcast_shapes("cofactor_slope", x.shape, ct.shape), promote(x.dtype, ct.dtype)
    )


def _cofactor_slope_by_matrix(ct: Any, y: Any, x: Any, t: Any) -> Any:
    if x.shape[-1] in (0, 1, 2):
        return ZERO  # the determinant is quadratic at most
    # For three rows, the slope is linear in x as it is in t, so its derivative is the same
    # everywhere.
    return cofactor_slope(t, ct) if x.shape[-1] == 3 else cofactor_curvature(x, t, ct)


def _cofactor_slope_by_direction(ct: Any, y: Any, x: Any, t: Any) -> Any:
    return cofactor_slope(x, ct)


@opaque(
    type=_cofactor_slope_type,
    vjp=(_cofactor_slope_by_matrix, _cofactor_slope_by_direction),
    integers="float",
    warns=False,
    namespace=None,
)
def cofactor_slope(x: Array, t: Array, /) -> Array:
    """The derivative of `cofactor` in the direction ``t``, for singular matrices too.

    It is its own transpose in ``t``, being a second derivative. In the frame of the singular
    vectors it is ``diag(m @ diag(t)) - m * t^T``, with m[i, j] the product of all singular values
    but two.

    >>> import symgrad as sg
    >>> slope = cofactor_slope(sg.zeros((2, 2)), sg.asarray([[1.0, 2.0], [3.0, 4.0]]))
    >>> np.round(np.asarray(slope), 12)
    array([[ 4., -3.],
           [-2.,  1.]])
    """
    u, s, vh = np.linalg.svd(x)
    sign = (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    turned = np.swapaxes(u.conj(), -1, -2) @ t @ np.swapaxes(vh.conj(), -1, -2)
    products = products_without_two(s)
    along = products @ np.diagonal(turned, 0, -2, -1)[..., None]
    middle = along * np.eye(s.shape[-1], dtype=s.dtype) - products * np.swapaxes(turned, -1, -2)
    return np.asarray(sign * (u.conj() @ middle @ vh.conj()), np.result_type(x, t))


# --- the third derivative -------------------------------------------------------------------------


def _traces(steps: Sequence[Any]) -> Any:
    """Summed over the permutations of square matrices, with their signs: the product of the traces
    of what is multiplied along each cycle."""
    if not steps:
        return 1
    first, *others = steps
    total: Any = 0
    for chain, rest in _chains(first, others):
        total = total + column(column(ops.trace(chain))) * _traces(rest)
    return total


def _chains(start: Any, others: Sequence[Any]) -> Iterator[tuple[Any, list[Any]]]:
    """All products that begin with ``start``, with signs, and the matrices that are left."""
    yield start, list(others)
    for k, step in enumerate(others):
        yield from _chains(-(start @ step), [*others[:k], *others[k + 1 :]])


def _by_inverse(x: Any, directions: Sequence[Any]) -> Any:
    """The derivative of `cofactor` of a regular matrix in several directions.

    With M_i = inv(x) T_i, the determinant of 1 + e_1 M_1 + ... + e_k M_k has the sum of `_traces`
    as its coefficient of e_1 ... e_k. Of the trace with the last matrix, that is the derivative.
    """
    inverse = ops.inv(x)
    steps = [inverse @ t for t in directions]
    total: Any = 0
    for chain, rest in _chains(ops.eye(x.shape[-1], dtype=x.dtype), steps):
        total = total + chain * _traces(rest)
    return column(column(det(x))) * transposed(total @ inverse)


def _curvature_by_matrix(ct: Any, y: Any, x: Any, a: Any, b: Any) -> Any:
    if x.shape[-1] in (0, 1, 2, 3):
        return ZERO
    return cofactor_curvature(ct, a, b) if x.shape[-1] == 4 else _by_inverse(x, [a, b, ct])


def _curvature_type(x: TensorType, a: TensorType, b: TensorType) -> TensorType:
    require_square("cofactor_curvature", x)
    shape = broadcast_shapes("cofactor_curvature", x.shape, a.shape, b.shape)
    return TensorType(shape, promote(x.dtype, a.dtype, b.dtype))


@opaque(
    type=_curvature_type,
    vjp=(
        _curvature_by_matrix,
        lambda ct, y, x, a, b: ops.cofactor_curvature(x, ct, b),
        lambda ct, y, x, a, b: ops.cofactor_curvature(x, a, ct),
    ),
    integers="float",
    warns=False,
    namespace=None,
)
def cofactor_curvature(x: Array, a: Array, b: Array, /) -> Array:
    """The second derivative of `cofactor` in two directions, for singular matrices too.

    It is the third derivative of the determinant: in the frame of the singular vectors the sum over
    three rows i, j, k and all orders of their columns of a[i, .] b[j, .] times the product of all
    singular values but three, as a matrix whose row is k.

    >>> import symgrad as sg
    >>> one = sg.eye(3)
    >>> np.round(np.asarray(cofactor_curvature(sg.zeros((3, 3)), one, one)), 12)
    array([[2., 0., 0.],
           [0., 2., 0.],
           [0., 0., 2.]])
    """
    u, s, vh = np.linalg.svd(x)
    sign = (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    left, right = np.swapaxes(u.conj(), -1, -2), np.swapaxes(vh.conj(), -1, -2)
    middle = curvature_of_diagonal(s, left @ a @ right, left @ b @ right)
    return np.asarray(sign * (u.conj() @ middle @ vh.conj()), np.result_type(x, a, b))


def curvature_of_diagonal(s: Array, a: Array, b: Array) -> Array:
    """`cofactor_curvature` at the diagonal matrix of ``s``, row by row."""
    a, b = np.broadcast_arrays(a, b)
    result = np.empty(np.broadcast_shapes((*s.shape, 1), a.shape), np.result_type(s, a, b))
    one, two = (np.diagonal(m, 0, -2, -1)[..., None] for m in (a, b))
    for k in range(s.shape[-1]):
        here = np.arange(s.shape[-1]) == k
        products = products_without_two(np.where(here, 1, s))
        products = np.where(here | here[:, None], 0, products)
        row = -a[..., k] * (products @ two)[..., 0] - b[..., k] * (products @ one)[..., 0]
        row += (products * a @ b[..., k, None])[..., 0] + (products * b @ a[..., k, None])[..., 0]
        pairs = one * np.swapaxes(two, -1, -2) - a * np.swapaxes(b, -1, -2)
        row[..., k] = np.sum(products * pairs, axis=(-2, -1))
        result[..., k, :] = row
    return result


# --- logarithms of determinants -------------------------------------------------------------------


@opaque(
    type=square_type("inv"),
    **INVERSE_RULES,
    integers="float",
    namespace=None,
)
def inverse_or_infinite(x: Array, /) -> Array:
    """The inverses of square matrices; of a singular one, the cofactors divided by 0.

    It is what the slope of ``log(abs(det(x)))`` is, and does not let one singular matrix of a batch
    spoil all.

    >>> inverse_or_infinite(np.array([[[2.0]], [[0.0]]]))
    Tensor([[[0.5]],
    <BLANKLINE>
            [[inf]]])
    """
    try:
        return np.linalg.inv(x)
    except np.linalg.LinAlgError:
        y = np.empty(x.shape, x.dtype)
    for place in np.ndindex(x.shape[:-2]):
        try:
            y[place] = np.linalg.inv(x[place])
        except np.linalg.LinAlgError:
            known = bool(np.all(np.isfinite(x[place])))
            with np.errstate(all="ignore"):
                y[place] = cofactors(x[place]).T / x.real.dtype.type(0) if known else np.nan
    return y


class SlogdetResult(NamedTuple):
    """Sign and logarithm of a determinant."""

    sign: Any
    logabsdet: Any


def _slogdet_type(x: TensorType) -> Any:
    require_square("slogdet", x)
    batch = x.shape[:-2]
    return TupleType((TensorType(batch, x.dtype), TensorType(batch, real_dtype(x.dtype))))


def _slogdet_vjp(cts: Sequence[Any], ys: Sequence[Any], x: Any) -> Any:
    ct_sign, ct = cts
    if not is_complex(x.dtype):
        ct_sign = ZERO  # a step function
    if ct_sign is not ZERO:
        # d(sign) = sign * i Im(tr(inv(x) dx))
        turned = 1j * ops.imag(ops.conj(ys[0]) * ct_sign)
        ct = turned if ct is ZERO else ct + turned
    return ZERO if ct is ZERO else column(column(ct)) * adjoint(inverse_or_infinite(x))


@multi(type=_slogdet_type, vjp=(_slogdet_vjp,), integers="float", holomorphic=False, warns=False)
def slogdet_pack(x: Array, /) -> Any:
    """The outputs of `slogdet`, packed.

    >>> import symgrad as sg
    >>> [part.shape for part in sg.linalg.slogdet(sg.ones((4, 3, 3)))]
    [(4,), (4,)]
    """
    return tuple(np.linalg.slogdet(x))


@composite(namespace="linalg")
def slogdet(x: Array, /) -> SlogdetResult:
    """Sign and logarithm of the determinants of square matrices, safe from overflow.

    Args:
        x: square matrices in the last two axes, of float32 or wider.
    Returns:
        a named tuple ``(sign, logabsdet)``: ``det(x) == sign * exp(logabsdet)``.
    Raises:
        ShapeError: not square. DTypeError: float16.

    The gradient at a singular matrix is infinite, or NaN where it has no sign.

    >>> import symgrad as sg
    >>> sign, logabsdet = sg.linalg.slogdet(sg.asarray([[0.0, 1.0], [1.0, 0.0]]))
    >>> float(sign), float(logabsdet)
    (-1.0, 0.0)
    """
    return SlogdetResult(*unpack(slogdet_pack(x), 2))
