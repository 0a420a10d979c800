"""Functions of whole matrices: expm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.ir.op import ZERO, ops
from symgrad.ops.families import Array, opaque
from symgrad.ops.matrices import square_type, transposed


def _slope(x: Any, t: Any) -> Any:
    """The derivative of `expm` at ``x`` along ``t``: the corner of the exponential of a block.

    R. Mathias, "A chain rule for matrix functions" (1996). It is linear in ``t``, so ``t`` may be
    brought to a size that does not disturb the exponential.
    """
    n = x.shape[-1]
    size = ops.stop_gradient(ops.sum(ops.abs(t), axis=(-2, -1), keepdims=True))
    size = ops.where(size == 0, 1, size)
    upper = ops.concat([x, t / size], axis=-1)
    lower = ops.concat([ops.zeros_like(x), x], axis=-1)
    return size * expm(ops.concat([upper, lower], axis=-2))[..., :n, n:]


def _expm_vjp(ct: Any, y: Any, x: Any) -> Any:
    return _slope(transposed(x), ct)


def _expm_jvp(tangents: Sequence[Any], y: Any, args: Sequence[Any], attrs: Any) -> Any:
    return ZERO if tangents[0] is ZERO else _slope(args[0], tangents[0])


# Of the polynomial p for which p(x)/p(-x) agrees with exp(x) to 26 terms; and up to which norm.
COEFFICIENTS = tuple(
    math.comb(13, k) * math.factorial(26 - k) / math.factorial(26) for k in range(14)
)
REACH = 5.371920351148152
# The first term by which the two differ, relative to the spacing of double precision.
EXCESS = math.factorial(13) ** 2 / (math.factorial(26) * math.factorial(27)) * 2.0**53


def norm_of(x: Array) -> Array:
    """The largest sum of a column's absolute values."""
    return np.max(np.sum(np.abs(x), axis=-2), axis=-1, initial=0)


def halvings(x: Array, x4: Array, x6: Array) -> Array:
    """How often a matrix must be halved so that the quotient is exact to rounding.

    A. H. Al-Mohy and N. J. Higham, "A new scaling and squaring algorithm for the matrix
    exponential" (2009): roots of the norms of powers, where the norm itself exaggerates.
    """
    d6, d8 = norm_of(x6) ** (1 / 6), norm_of(x4 @ x4) ** (1 / 8)
    d10 = norm_of(x4 @ x6) ** (1 / 10)
    size = np.minimum(np.maximum(d6, d8), np.maximum(d8, d10))
    count = np.ceil(np.log2(np.maximum(size / REACH, 1)))
    # The norm of abs(x)**27, by a row of ones; of a matrix of norm 1, so that nothing overflows.
    halved = np.abs(x) * (0.5**count)[..., None, None]
    norm = norm_of(halved)
    halved = halved / np.where(norm == 0, 1, norm)[..., None, None]
    sums = np.ones((*x.shape[:-2], 1, x.shape[-1]))
    for _ in range(27):
        sums = sums @ halved
    excess = np.log2(EXCESS * np.max(sums, axis=(-2, -1), initial=0)) + 26 * np.log2(norm)
    count = count + np.ceil(np.maximum(excess, 0) / 26)
    return np.where(np.isfinite(count), count, 0).astype(int)


@opaque(
    type=square_type("expm"),
    vjp=(_expm_vjp,),
    jvp=_expm_jvp,
    integers="float",
    namespace="linalg",
)
def expm(x: Array, /) -> Array:
    """The exponentials of square matrices, ``I + x + x @ x / 2 + ...``.

    By scaling, a quotient of polynomials, and squaring; N. J. Higham (2005).

    Args:
        x: square matrices in the last two axes, of float32 or wider.
    Raises:
        ShapeError: not square. DTypeError: float16.

    >>> import symgrad as sg
    >>> sg.linalg.expm(sg.asarray([[0.0, 1.0], [0.0, 0.0]]))
    Tensor([[1., 1.],
            [0., 1.]])
    """
    a = x.astype(np.result_type(x, np.float64))
    c, one = COEFFICIENTS, np.eye(x.shape[-1])
    x2 = a @ a
    x4 = x2 @ x2
    x6 = x4 @ x2
    count = halvings(a, x4, x6)
    half = (0.5**count)[..., None, None]
    a, x2, x4, x6 = a * half, x2 * half**2, x4 * half**4, x6 * half**6
    odd = x6 @ (c[13] * x6 + c[11] * x4 + c[9] * x2)
    odd = a @ (odd + c[7] * x6 + c[5] * x4 + c[3] * x2 + c[1] * one)
    even = x6 @ (c[12] * x6 + c[10] * x4 + c[8] * x2)
    even = even + c[6] * x6 + c[4] * x4 + c[2] * x2 + one
    y = np.linalg.solve(even - odd, even + odd)
    for k in range(int(np.max(count, initial=0))):
        y = np.where((k < count)[..., None, None], y @ y, y)
    return y.astype(x.dtype)
