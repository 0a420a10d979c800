"""Draws of the gamma distribution, and of those that are made of it.

They are made by rejection (Marsaglia and Tsang, "A simple method for generating gamma variables",
2000), which has no useful derivative. The derivative by the shape is that of the quantile which a
draw is: ``dx/da = -(dF/da) / (dF/dx)`` at fixed ``F``, the share below (Figurnov, Mohamed and Mnih,
"Implicit reparameterization gradients", 2018). It is exact, and has derivatives of every order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import ShapeError
from symgrad.ir.op import no_derivative, ops
from symgrad.ops.blocks import in_blocks_together
from symgrad.ops.draws import (
    CONSTANT_IN_KEY,
    DRAW,
    draw_attrs,
    require_key,
    strictly_between,
    words,
)
from symgrad.ops.families import Array, composite, elementwise, opaque, require_kind
from symgrad.ops.gamma_kernels import from_cumulants, gamma_ratio_values
from symgrad.ops.parameters import (
    array_parameter,
    as_operand,
    draws_dtype,
    draws_shape,
    moved,
    require_positive,
)
from symgrad.ops.random import normal, split
from symgrad.ops.rejection import by_rejection, normal_pairs
from symgrad.ops.scalar import exp, log, sigmoid, where
from symgrad.ops.zeta import polygamma_of
from symgrad.types import TensorType, broadcast_shapes

# --- how quantiles move ---------------------------------------------------------------------------


def _log_and_power(x: Any, is_log: bool) -> tuple[Any, Any]:
    return (x, exp(x)) if is_log else (log(x), x)


def _above_digamma(a: Any, x: Any, is_log: bool) -> Any:
    return _log_and_power(x, is_log)[0] - polygamma_of(a, order=0)


def _ratio_by_shape(r: Any, a: Any, x: Any, *, order: int, is_log: bool) -> Any:
    following = ops.gamma_ratio(a, x, order=order + 1, is_log=is_log)
    return following - r * _above_digamma(a, x, is_log)


def _ratio_by_point(r: Any, a: Any, x: Any, *, order: int, is_log: bool) -> Any:
    # The density's n-th derivative by the shape, over it, follows from those of its logarithm.
    cumulants = [_above_digamma(a, x, is_log)]
    cumulants += [-polygamma_of(a, order=k) for k in range(1, order)]
    _, power = _log_and_power(x, is_log)
    slope = from_cumulants(cumulants, order) - r * (a - power)
    return slope if is_log else slope / x


@elementwise(
    partials=(_ratio_by_shape, _ratio_by_point),
    takes="floating",
    restricts_domain=True,
    namespace=None,
)
def gamma_ratio(a: Array, x: Array, /, *, order: int, is_log: bool) -> Array:
    """How the share of the gamma distribution below a point changes with the shape ``a``.

    The derivative of that share by ``a``, of some order, divided by its derivative by the point's
    logarithm; with ``is_log``, the operand is that logarithm.

    >>> round(gamma_ratio(np.asarray(1.0), np.asarray(1.0), order=1, is_log=False).item(), 12)
    -1.173563027225
    """
    return in_blocks_together(ratio_at, (a, x), order, is_log)


def ratio_at(a: Array, x: Array, order: int, is_log: bool) -> Array:
    """`gamma_ratio` of double-precision numbers."""
    if is_log:
        return gamma_ratio_values(a, x, np.exp(x), order)
    x = np.where(x >= 0, x, np.nan)
    return gamma_ratio_values(a, np.log(x), x, order)


# --- draws ----------------------------------------------------------------------------------------


def gamma_values(key: Array, a: Array, is_log: bool) -> Array:
    """Draws for positive finite shapes (n,), or their logarithms."""
    raised = np.where(a < 1, a + 1, a)
    d = raised - 1 / 3
    c = 1 / np.sqrt(9 * d)

    def attempt(positions: Array, blocks: Array) -> tuple[Array, Array]:
        found = np.zeros(len(positions))
        accepted = np.zeros(len(positions), bool)
        for k, z in enumerate(normal_pairs(blocks)):
            y = np.maximum(c[positions] * z, -1)
            beyond = y * (3 + y * (3 + y))  # (1 + y)**3 - 1
            limit = 0.5 * z * z + d[positions] * (np.log1p(beyond) - beyond)
            found = np.where(accepted, found, y)
            accepted |= np.log(strictly_between(blocks[:, 2 + k])) < limit
        return found, accepted

    y = by_rejection(key, a.size, attempt)
    # A draw for the shape a + 1 times u**(1/a) is one for the shape a.
    power = np.zeros(a.size)
    small = a < 1
    if small.any():
        power[small] = np.log(strictly_between(words(key, DRAW, a.size)))[small] / a[small]
    if is_log:
        return np.log(d) + 3 * np.log1p(y) + power
    return d * (1 + y) ** 3 * np.exp(power)


def _gamma_type(
    key: TensorType, a: TensorType, *, shape: Any, dtype: Any, is_log: bool
) -> TensorType:
    require_key("random.gamma", key)
    require_kind("random", a.dtype, "floating", "a")
    require_kind("random", dtype, "floating", "the result")
    if broadcast_shapes("random.gamma", shape, a.shape) != shape:
        raise ShapeError("random.gamma", "a broadcasts to more than shape", expected=shape, got=a)
    return TensorType(shape, dtype)


def _gamma_slope(y: Any, a: Any, is_log: bool) -> Any:
    if is_log:
        return -ops.gamma_ratio(a, y, order=1, is_log=True)
    # A draw for a small shape may be too small for the type.
    return where(y == 0, 0, -y * ops.gamma_ratio(a, y, order=1, is_log=False))


@opaque(
    type=_gamma_type,
    vjp=(
        no_derivative(CONSTANT_IN_KEY),
        lambda ct, y, key, a, *, is_log, **_: ct * _gamma_slope(y, a, is_log),
    ),
    normalize=draw_attrs,
    promotes=(1,),
    namespace=None,
)
def standard_gamma(key: Array, a: Array, /, *, shape: Any, dtype: Any, is_log: bool) -> Array:
    """Draws of the gamma distribution of shape ``a`` and scale 1, or their logarithms.

    >>> import symgrad as sg
    >>> x = standard_gamma(sg.random.key(0), 2.0, shape=(9999,), dtype=sg.float64, is_log=False)
    >>> abs(float(sg.mean(x)) - 2) < 0.05
    True
    """
    shapes = np.broadcast_to(np.asarray(a, np.float64), shape).reshape(-1)
    usual = (shapes > 0) & (shapes < np.inf)
    draws = gamma_values(key, np.where(usual, shapes, 1.0), is_log)
    none = -np.inf if is_log else 0.0
    edge = np.where(shapes == 0, none, np.where(shapes == np.inf, np.inf, np.nan))
    return np.where(usual, draws, edge).astype(dtype).reshape(shape)


def _log_gamma(key: Any, a: Any, shape: Any, dtype: Any) -> Any:
    return standard_gamma(key, array_parameter(a, dtype), shape=shape, dtype=dtype, is_log=True)


@composite(namespace="random", name="random.gamma")
def gamma(key: Array, a: Array, shape: Any = None, *, dtype: Any = None, scale: Array = 1.0) -> Any:
    """Numbers of the gamma distribution: its density is as ``x**(a-1) * exp(-x/scale)``.

    They have derivatives by ``a`` and ``scale``: a draw moves as the quantile which it is.

    Args:
        key: (2,) words.
        a: the shape of the distribution: positive numbers. Where an array holds 0, the draw is 0;
            where it holds a negative number or NaN, it is NaN.
        shape: the shape of the result; if None, that to which ``a`` and ``scale`` broadcast.
        dtype: a real floating type; if None, that of the parameters, or the default float.
        scale: positive numbers.
    Raises:
        ArgumentError: a or scale is a number that is not positive.
        DTypeError: dtype is no real floating type, or the key no key.
        ShapeError: a parameter does not broadcast to ``shape``.

    >>> import symgrad as sg
    >>> x = sg.random.gamma(sg.random.key(0), 3.0, (10_000,), scale=2.0)
    >>> abs(float(sg.mean(x)) - 6) < 0.1
    True
    """
    a, scale = as_operand(a), as_operand(scale)
    require_positive("random.gamma", a=a, scale=scale)
    shape, dtype = draws_shape("random.gamma", shape, a, scale), draws_dtype(dtype, a, scale)
    x = standard_gamma(key, array_parameter(a, dtype), shape=shape, dtype=dtype, is_log=False)
    return moved(x, 0, scale)


@composite(namespace="random")
def loggamma(key: Array, a: Array, shape: Any = None, *, dtype: Any = None) -> Any:
    """The logarithms of numbers of the gamma distribution, also where these underflow.

    For small ``a`` most numbers of the distribution are smaller than floats can be. With one key,
    they are the logarithms of what `gamma` gives. Arguments and errors are those of ``gamma``.

    >>> import symgrad as sg
    >>> x = sg.random.loggamma(sg.random.key(0), 1e-5, (100,))
    >>> bool(sg.all(sg.isfinite(x))), bool(sg.min(x) < -1000)
    (True, True)
    """
    a = as_operand(a)
    require_positive("random.loggamma", a=a)
    shape, dtype = draws_shape("random.loggamma", shape, a), draws_dtype(dtype, a)
    return _log_gamma(key, a, shape, dtype)


# --- what is made of them -------------------------------------------------------------------------


@composite(namespace="random", name="random.beta")
def beta(key: Array, a: Array, b: Array, shape: Any = None, *, dtype: Any = None) -> Any:
    """Numbers in [0, 1] of the beta distribution: its density is as ``x**(a-1) * (1-x)**(b-1)``.

    They have derivatives by ``a`` and ``b``.

    Args:
        key: (2,) words.
        a, b: positive numbers; where an array holds others, the draw is NaN.
        shape: the shape of the result; if None, that to which ``a`` and ``b`` broadcast.
        dtype: a real floating type; if None, that of the parameters, or the default float.
    Raises:
        ArgumentError: a or b is a number that is not positive.
        DTypeError: dtype is no real floating type, or the key no key.
        ShapeError: a or b does not broadcast to ``shape``.

    >>> import symgrad as sg
    >>> x = sg.random.beta(sg.random.key(0), 1.0, 3.0, (10_000,))
    >>> abs(float(sg.mean(x)) - 0.25) < 0.01
    True
    """
    a, b = as_operand(a), as_operand(b)
    require_positive("random.beta", a=a, b=b)
    shape, dtype = draws_shape("random.beta", shape, a, b), draws_dtype(dtype, a, b)
    keys = split(key)
    return sigmoid(_log_gamma(keys[0], a, shape, dtype) - _log_gamma(keys[1], b, shape, dtype))


@composite(namespace="random")
def dirichlet(key: Array, alpha: Array, shape: Any = None, *, dtype: Any = None) -> Any:
    """Probabilities of the Dirichlet distribution: the last axis sums to 1.

    They have derivatives by ``alpha``. Small ``alpha`` are safe: the largest share is then 1.

    Args:
        key: (2,) words.
        alpha: (…, n) positive numbers; where an array holds a negative one, the draw is NaN.
        shape: the shape of the result without its last axis; that of ``alpha`` if None.
        dtype: a real floating type; if None, that of alpha, or the default float.
    Raises:
        ShapeError: alpha has no axis, or does not broadcast to ``shape``.
        DTypeError: dtype is no real floating type, or the key no key.

    >>> import symgrad as sg
    >>> x = sg.random.dirichlet(sg.random.key(0), [1.0, 2.0, 3.0], (4,))
    >>> x.shape, bool(sg.allclose(sg.sum(x, axis=-1), 1.0))
    ((4, 3), True)
    """
    alpha = ops.asarray(alpha)
    if alpha.ndim == 0:
        raise ShapeError("random.dirichlet", "alpha has no axis of shares", got=alpha)
    front = alpha.shape[:-1] if shape is None else draws_shape("random.dirichlet", shape)
    shape, dtype = (*front, alpha.shape[-1]), draws_dtype(dtype, alpha)
    return ops.softmax(_log_gamma(key, alpha, shape, dtype), axis=-1)


@composite(namespace="random")
def chisquare(key: Array, df: Array, shape: Any = None, *, dtype: Any = None) -> Any:
    """Numbers of the chi-square distribution: sums of ``df`` squares of normal numbers.

    They have derivatives by ``df``.

    Args:
        key: (2,) words.
        df: the degrees of freedom: positive numbers; where an array holds others, the draw is NaN.
        shape: the shape of the result; that of ``df`` if None.
        dtype: a real floating type; if None, that of df, or the default float.
    Raises:
        ArgumentError: df is a number that is not positive.
        DTypeError: dtype is no real floating type, or the key no key.
        ShapeError: df does not broadcast to ``shape``.

    >>> import symgrad as sg
    >>> x = sg.random.chisquare(sg.random.key(0), 3.0, (10_000,))
    >>> abs(float(sg.mean(x)) - 3) < 0.1
    True
    """
    df = as_operand(df)
    require_positive("random.chisquare", df=df)
    return gamma(key, df / 2, draws_shape("random.chisquare", shape, df), dtype=dtype, scale=2.0)


@composite(namespace="random")
def student_t(
    key: Array,
    df: Array,
    shape: Any = None,
    *,
    dtype: Any = None,
    loc: Array = 0.0,
    scale: Array = 1.0,
) -> Any:
    """Numbers of Student's t distribution with ``df`` degrees of freedom.

    They are ``loc + scale*t``, and have derivatives by df, loc and scale. For small ``df`` its
    tails reach beyond all floats, and a draw may be infinite.

    Args:
        key: (2,) words.
        df: positive numbers; where an array holds others, the draw is NaN.
        shape: the shape of the result; if None, that to which the parameters broadcast.
        dtype: a real floating type; if None, that of the parameters, or the default float.
        loc, scale: the centre, and the width.
    Raises:
        ArgumentError: df or scale is a number that is not positive.
        DTypeError: dtype is no real floating type, or the key no key.
        ShapeError: a parameter does not broadcast to ``shape``.

    >>> import symgrad as sg
    >>> x = sg.random.student_t(sg.random.key(0), 5.0, (10_000,))
    >>> abs(float(sg.std(x)) - (5 / 3) ** 0.5) < 0.05
    True
    """
    name = "random.student_t"
    df, loc, scale = as_operand(df), as_operand(loc), as_operand(scale)
    require_positive(name, df=df, scale=scale)
    shape = draws_shape(name, shape, df, loc, scale)
    dtype = draws_dtype(dtype, df, loc, scale)
    keys, half = split(key), array_parameter(df, dtype) / 2
    width = exp(0.5 * (log(half) - _log_gamma(keys[1], half, shape, dtype)))
    return moved(normal(keys[0], shape, dtype=dtype) * width, loc, scale)
