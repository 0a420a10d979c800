"""Determinants and their derivatives: det, slogdet."""

from __future__ import annotations

from collections.abc import Sequence
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

    The gradient is the matrix of cofactors, for singular matrices too; the second derivative is
    right for them as well.

    Args:
        x: square matrices in the last two axes, of float32 or wider.
    Raises:
        ShapeError: not square. DTypeError: float16. LinAlgError: a third derivative at a singular
        matrix of more than three rows, when it runs.

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
    """The third derivative of a determinant, from that of ``log(det)``: for regular matrices.

    With Y = inv(x)^T and the pairing <a, b> = sum(a * b), `cofactor_slope` is
    det(x) * (<t, Y> Y - Y t^T Y); what follows is its derivative paired with ``ct``. For three rows
    it is linear in ``x`` as it is in ``t``, so its derivative is the same everywhere.
    """
    if x.shape[-1] in (0, 1, 2):
        return ZERO  # the determinant is quadratic at most
    if x.shape[-1] == 3:
        return cofactor_slope(t, ct)
    inverse = transposed(ops.inv(x))
    first, second = inverse @ transposed(t) @ inverse, inverse @ transposed(ct) @ inverse
    t_part, ct_part = _paired(t, inverse), _paired(ct, inverse)
    slope = (t_part * ct_part - _paired(ct, first)) * inverse
    slope = slope - ct_part * first - t_part * second
    slope = slope + second @ transposed(t) @ inverse + first @ transposed(ct) @ inverse
    return column(column(det(x))) * slope


def _cofactor_slope_by_direction(ct: Any, y: Any, x: Any, t: Any) -> Any:
    return cofactor_slope(x, ct)


def _paired(a: Any, b: Any) -> Any:
    return ops.sum(a * b, axis=(-2, -1), keepdims=True)


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
