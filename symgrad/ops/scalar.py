"""The closed scalar instruction set and its partial derivatives: the textbook table.

The only place where calculus is typed. In a partial, ``y`` is the output and ``x`` (or ``a, b``)
are the operands; a plain number is a constant factor. A partial keeps its relative accuracy where
the function saturates: ``sech2(x)``, not ``1 - y*y``.

Source of the formulas: NIST Digital Library of Mathematical Functions, chapters 4 and 6.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from symgrad.errors import DTypeError
from symgrad.ir.op import ZERO, Op, no_derivative, ops
from symgrad.ops.families import (
    Array,
    elementwise,
    linear,
    nondifferentiable,
    require_kind,
    scalar,
    selection,
)
from symgrad.types import TensorType, broadcast_shapes, is_complex, promote

BOOLEAN = no_derivative("boolean output")
INTEGER = no_derivative("integer output")
FLAT = ZERO
"""The derivative of a step function: zero wherever it exists."""


# --- selection ----------------------------------------------------------------------------------


def _where_type(condition: TensorType, x1: TensorType, x2: TensorType) -> TensorType:
    require_kind("where", condition.dtype, "bool", "condition")
    shape = broadcast_shapes("where", condition.shape, x1.shape, x2.shape)
    return TensorType(shape, promote(x1.dtype, x2.dtype))


LARGE = 4096


def selects_against_zero(condition: Array, x1: Array, x2: Array) -> bool:
    """Whether `or_zero` gives the same, and pays."""
    return (
        np.size(condition) >= LARGE
        and np.ndim(x2) == 0
        and np.shape(condition) == np.shape(x1)
        and x1.dtype.itemsize in (4, 8)
        and np.result_type(x1, x2) == x1.dtype
        and not np.any(x2)
        and not np.signbit(np.real(x2))
    )


def or_zero(condition: Array, x: Array) -> Any:
    """``x`` where the condition holds, +0 elsewhere, by bits: a mask without a pattern makes the
    branch in ``np.where`` cost five times as much."""
    bits = np.dtype(f"u{x.dtype.itemsize}")
    kept = condition.astype(bits)
    np.negative(kept, out=kept)
    np.bitwise_and(kept, x.view(bits), out=kept)
    return kept.view(x.dtype)


def _where_jvp(tangents: Any, y: Any, args: Any, attrs: Any) -> Any:
    _, t1, t2 = tangents
    if t1 is ZERO and t2 is ZERO:
        return ZERO
    return where(args[0], 0 if t1 is ZERO else t1, 0 if t2 is ZERO else t2)


@selection(
    type=_where_type,
    vjp=(
        no_derivative("a condition has no derivative"),
        lambda ct, y, c, a, b: ops.where(c, ct, 0),
        lambda ct, y, c, a, b: ops.where(c, 0, ct),
    ),
    jvp=_where_jvp,
    promotes=(1, 2),
    guard="keep",
    live=(None, lambda y, c, a, b: c, lambda y, c, a, b: logical_not(c)),
    strong_guard=True,
)
def where(condition: Array, x1: Array, x2: Array, /) -> Array:
    """``x1`` where the condition holds, ``x2`` elsewhere.

    The derivative is that of the branch taken, at every order, whatever infinity or NaN the other
    branch makes.

    Args:
        condition: booleans; its shape broadcasts with the others.
        x1, x2: any element types; the result has their promoted type.
    Raises:
        DTypeError: the condition is not boolean. ShapeError: shapes do not broadcast.

    >>> import symgrad as sg
    >>> sg.where(sg.asarray([True, False]), 1.0, 2.0)
    Tensor([1., 2.])
    """
    if selects_against_zero(condition, x1, x2):
        return or_zero(condition, x1)
    return np.where(condition, x1, x2)


def tangent_where(live: Any) -> Any:
    """The jvp of an op that is the identity of operand 0, but for a constant, where
    ``live(y, *operands, **attrs)``, and flat elsewhere: selected, since the tangent of what does
    not matter may be infinite."""

    def jvp(tangents: Any, y: Any, args: Any, attrs: Any) -> Any:
        t = tangents[0]
        return ZERO if t is ZERO else where(live(y, *args, **attrs), t, 0)

    return jvp


# --- the table ------------------------------------------------------------------------------------

LN2, LN10 = math.log(2.0), math.log(10.0)


def _sech2(x: Array) -> Any:
    # Towards the side where the exponential is small.
    inward = -np.abs(x) if np.isrealobj(x) else np.where(np.real(x) < 0, x, -x)
    e = np.exp(2 * inward)
    return 4 * e / ((1 + e) * (1 + e))


def _sigmoid(x: Array) -> Any:
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + e), e / (1 + e))


def _nearest(x: Array) -> Any:
    # numpy makes float16 of small integers here.
    return x.copy() if x.dtype.kind in "biu" else np.rint(x)


def _exponent_partial(y: Any, a: Any, b: Any) -> Any:
    # At base 0 the factor log(a) is infinite, but the function is flat in b there: 0**b == 0.
    return where((a == 0) & (real(b) >= 0), 0, y * log(a))


def _first_wins(y: Any, a: Any, b: Any) -> Any:
    return where(a == b, 0.5, astype(a > b, y.dtype))


def _first_loses(y: Any, a: Any, b: Any) -> Any:
    return where(a == b, 0.5, astype(a < b, y.dtype))


def _tangent_of_winner(beats: Any) -> Any:
    """The tangent of the operand that wins: selected, since that of the other may be infinite."""

    def jvp(tangents: Any, y: Any, args: Any, attrs: Any) -> Any:
        total: Any = ZERO
        for t, a, b in zip(tangents, args, reversed(args), strict=True):
            if t is not ZERO:
                chosen = where(beats(a, b), t, where(a == b, 0.5 * t, 0))
                total = chosen if total is ZERO else total + chosen
        return total

    return jvp


def _length_with_one(x: Any) -> Any:
    # sqrt(1 + x**2), where a real square would overflow.
    return sqrt(1 + square(x)) if is_complex(x.dtype) else hypot(1, x)


def _angle_partial(y: Any, across: Any, a: Any, b: Any) -> Any:
    # Dividing twice by the length avoids squares, which over- and underflow.
    length = hypot(a, b)
    return where(length == 0, 0, across / length / length)


def _fmod_partial(y: Any, a: Any, b: Any) -> Any:
    # Not trunc(a / b): a quotient just below an integer may be rounded up to it.
    return -(sign(a) * sign(b) * floor_divide(abs(a), abs(b)))


def _rows(partials: Any, **facets: Any) -> Callable[..., Op]:
    """Rows that share their partials and facets: ``row(name, ufunc, summary, example)``."""

    def row(name: str, ufunc: Any, summary: str, example: str, **own: Any) -> Op:
        return scalar(name, ufunc, partials, summary, example, **(facets | own))

    return row


arithmetic = partial(scalar, takes="numeric", integers="keep", warns=False)
step = _rows(FLAT, takes="real", integers="keep")
predicate = _rows(BOOLEAN, takes="any", gives="bool", integers="keep", warns=False)
logical = _rows(BOOLEAN, takes="bool", gives="bool", integers="keep", warns=False)
bitwise = _rows(INTEGER, takes="integer or bool", integers="keep", warns=False)

# fmt: off
# exponentials, logarithms, roots
exp = scalar("exp", np.exp, lambda y, x: y,
    "The exponential e**x.", "exp(0.0) -> 1.0")
expm1 = scalar("expm1", np.expm1, lambda y, x: exp(x),
    "e**x - 1, accurate near 0.", "expm1(0.0) -> 0.0")
log = scalar("log", np.log, lambda y, x: 1 / x,
    "The natural logarithm.", "log(1.0) -> 0.0", restricts_domain=True)
log1p = scalar("log1p", np.log1p, lambda y, x: 1 / (1 + x),
    "log(1 + x), accurate near 0.", "log1p(0.0) -> 0.0", restricts_domain=True)
log2 = scalar("log2", np.log2, lambda y, x: 1 / (x * LN2),
    "The logarithm to base 2.", "log2(8.0) -> 3.0", restricts_domain=True)
log10 = scalar("log10", np.log10, lambda y, x: 1 / (x * LN10),
    "The logarithm to base 10.", "log10(100.0) -> 2.0", restricts_domain=True)
sqrt = scalar("sqrt", np.sqrt, lambda y, x: 0.5 / y,
    "The square root.", "sqrt(9.0) -> 3.0", restricts_domain=True)
square = arithmetic("square", np.square, lambda y, x: 2 * x,
    "x * x.", "square(3.0) -> 9.0")
reciprocal = scalar("reciprocal", np.reciprocal, lambda y, x: -square(y),
    "1 / x.", "reciprocal(4.0) -> 0.25", restricts_domain=True)

# trigonometric and hyperbolic
sin = scalar("sin", np.sin, lambda y, x: cos(x),
    "The sine of x in radians.", "sin(0.0) -> 0.0")
cos = scalar("cos", np.cos, lambda y, x: -sin(x),
    "The cosine of x in radians.", "cos(0.0) -> 1.0")
tan = scalar("tan", np.tan, lambda y, x: 1 + square(y),
    "The tangent of x in radians.", "tan(0.0) -> 0.0", restricts_domain=True)
asin = scalar("asin", np.arcsin, lambda y, x: 1 / sqrt((1 - x) * (1 + x)),
    "The inverse sine, in radians.", "asin(0.0) -> 0.0", restricts_domain=True)
acos = scalar("acos", np.arccos, lambda y, x: -1 / sqrt((1 - x) * (1 + x)),
    "The inverse cosine, in radians.", "acos(1.0) -> 0.0", restricts_domain=True)
atan = scalar("atan", np.arctan, lambda y, x: 1 / (1 + square(x)),
    "The inverse tangent, in radians.", "atan(0.0) -> 0.0")
sinh = scalar("sinh", np.sinh, lambda y, x: cosh(x),
    "The hyperbolic sine.", "sinh(0.0) -> 0.0")
cosh = scalar("cosh", np.cosh, lambda y, x: sinh(x),
    "The hyperbolic cosine.", "cosh(0.0) -> 1.0")
tanh = scalar("tanh", np.tanh, lambda y, x: sech2(x),
    "The hyperbolic tangent.", "tanh(0.0) -> 0.0")
sech2 = scalar("sech2", _sech2, lambda y, x: -2 * (y * tanh(x)),
    "1 / cosh(x)**2, the slope of tanh, accurate in the tails.", "sech2(0.0) -> 1.0")
asinh = scalar("asinh", np.arcsinh, lambda y, x: 1 / _length_with_one(x),
    "The inverse hyperbolic sine.", "asinh(0.0) -> 0.0")
acosh = scalar("acosh", np.arccosh, lambda y, x: 1 / (sqrt(x - 1) * sqrt(x + 1)),
    "The inverse hyperbolic cosine.", "acosh(1.0) -> 0.0", restricts_domain=True)
atanh = scalar("atanh", np.arctanh, lambda y, x: 1 / ((1 - x) * (1 + x)),
    "The inverse hyperbolic tangent.", "atanh(0.0) -> 0.0", restricts_domain=True)
sigmoid = scalar("sigmoid", _sigmoid, lambda y, x: y * sigmoid(-x),
    "The logistic function 1 / (1 + e**-x), without overflow.",
    "sigmoid(0.0) -> 0.5", takes="floating")

# arithmetic
negative = arithmetic("negative", np.negative, -1,
    "-x.", "negative(2.0) -> -2.0")
positive = arithmetic("positive", np.positive, 1,
    "+x.", "positive(2.0) -> 2.0")
add = arithmetic("add", np.add, (1, 1),
    "x1 + x2.", "add(1.0, 2.0) -> 3.0", takes="any", commutative=True)
subtract = arithmetic("subtract", np.subtract, (1, -1),
    "x1 - x2.", "subtract(3.0, 2.0) -> 1.0", warns=True)
multiply = arithmetic("multiply", np.multiply, (lambda y, a, b: b, lambda y, a, b: a),
    "x1 * x2.", "multiply(2.0, 3.0) -> 6.0", takes="any", commutative=True)
divide = scalar("divide", np.divide, (lambda y, a, b: 1 / b, lambda y, a, b: -(y / b)),
    "x1 / x2.", "divide(3.0, 2.0) -> 1.5", restricts_domain=True)
pow = scalar("pow", np.power, (
    lambda y, a, b: where(b == 0, 0, b * pow(a, b - 1)),
    _exponent_partial,
),
    "x1 ** x2.", "pow(2.0, 3.0) -> 8.0", restricts_domain=True, takes="numeric", integers="keep")
floor_divide = scalar("floor_divide", np.floor_divide, (FLAT, FLAT),
    "The largest integer not above x1 / x2.",
    "floor_divide(7.0, 2.0) -> 3.0", takes="real", integers="keep")
remainder = scalar("remainder", np.remainder, (1, lambda y, a, b: -floor_divide(a, b)),
    "x1 - floor(x1/x2)*x2, with the sign of x2.",
    "remainder(7.0, 4.0) -> 3.0", restricts_domain=True, takes="real", integers="keep")
fmod = scalar("fmod", np.fmod, (1, _fmod_partial),
    "x1 - trunc(x1/x2)*x2, with the sign of x1.",
    "fmod(-7.0, 4.0) -> -3.0", restricts_domain=True, takes="real", integers="keep")

# two operands, floating
logaddexp = scalar("logaddexp", np.logaddexp, (
    lambda y, a, b: where(y == -math.inf, 0, sigmoid(a - b)),
    lambda y, a, b: where(y == -math.inf, 0, sigmoid(b - a)),
),
    "log(e**x1 + e**x2), without overflow.",
    "logaddexp(-float('inf'), 1.0) -> 1.0", takes="floating", commutative=True)
hypot = scalar("hypot", np.hypot, (
    lambda y, a, b: where(y == 0, 0, a / y),
    lambda y, a, b: where(y == 0, 0, b / y),
),
    "sqrt(x1**2 + x2**2), without overflow; its slope at the origin is 0.",
    "hypot(3.0, 4.0) -> 5.0", takes="floating", commutative=True)
atan2 = scalar("atan2", np.arctan2, (
    lambda y, a, b: _angle_partial(y, b, a, b),
    lambda y, a, b: -_angle_partial(y, a, a, b),
),
    "The angle of the point (x2, x1), in radians; its slope at the origin is 0.",
    "atan2(0.0, 1.0) -> 0.0", takes="floating")

# the larger and the smaller
maximum = arithmetic("maximum", np.maximum, (_first_wins, _first_loses),
    "The larger of x1 and x2; NaN wins. A tie shares the slope evenly.",
    "maximum(1.0, 2.0) -> 2.0", takes="real or bool", commutative=True,
    jvp=_tangent_of_winner(lambda a, b: a > b),
    live=(lambda y, a, b: a >= b, lambda y, a, b: b >= a))
minimum = arithmetic("minimum", np.minimum, (_first_loses, _first_wins),
    "The smaller of x1 and x2; NaN wins. A tie shares the slope evenly.",
    "minimum(1.0, 2.0) -> 1.0", takes="real or bool", commutative=True,
    jvp=_tangent_of_winner(lambda a, b: a < b),
    live=(lambda y, a, b: a <= b, lambda y, a, b: b <= a))
copysign = scalar("copysign", np.copysign, (lambda y, a, b: copysign(1, a) * copysign(1, b), FLAT),
    "The size of x1 with the sign of x2.",
    "copysign(3.0, -1.0) -> -3.0", takes="floating", promotes=None)
nextafter = scalar("nextafter", np.nextafter, (1, FLAT),
    "The next float after x1 towards x2.", "nextafter(1.0, 2.0) > 1.0 -> True", takes="floating")

# steps
floor = step("floor", np.floor,
    "The largest integer not above x.", "floor(1.7) -> 1.0")
ceil = step("ceil", np.ceil,
    "The smallest integer not below x.", "ceil(1.2) -> 2.0")
trunc = step("trunc", np.trunc,
    "x without its fraction.", "trunc(-1.7) -> -1.0")
round = step("round", _nearest,
    "The nearest integer; halves go to the even one.", "round(2.5) -> 2.0", takes="numeric")

# comparisons and logic
equal = predicate("equal", np.equal,
    "Whether x1 == x2.", "equal(1.0, 1.0) -> True", commutative=True)
not_equal = predicate("not_equal", np.not_equal,
    "Whether x1 != x2.", "not_equal(1.0, 1.0) -> False", commutative=True)
less = predicate("less", np.less,
    "Whether x1 < x2.", "less(1.0, 2.0) -> True", takes="real or bool")
less_equal = predicate("less_equal", np.less_equal,
    "Whether x1 <= x2.", "less_equal(1.0, 2.0) -> True", takes="real or bool")
greater = predicate("greater", np.greater,
    "Whether x1 > x2.", "greater(1.0, 2.0) -> False", takes="real or bool")
greater_equal = predicate("greater_equal", np.greater_equal,
    "Whether x1 >= x2.", "greater_equal(1.0, 2.0) -> False", takes="real or bool")
logical_and = logical("logical_and", np.logical_and,
    "Whether both hold.", "logical_and(True, False) -> False", commutative=True)
logical_or = logical("logical_or", np.logical_or,
    "Whether one holds.", "logical_or(True, False) -> True", commutative=True)
logical_xor = logical("logical_xor", np.logical_xor,
    "Whether exactly one holds.", "logical_xor(True, True) -> False", commutative=True)
logical_not = logical("logical_not", np.logical_not,
    "Whether x does not hold.", "logical_not(True) -> False")
isnan = predicate("isnan", np.isnan,
    "Whether x is NaN.", "isnan(1.0) -> False")
isinf = predicate("isinf", np.isinf,
    "Whether x is infinite.", "isinf(1.0) -> False")
isfinite = predicate("isfinite", np.isfinite,
    "Whether x is finite.", "isfinite(1.0) -> True")
signbit = predicate("signbit", np.signbit,
    "Whether the sign bit is set, as in -0.0.", "signbit(-0.0) -> True", takes="floating")

# bits
bitwise_and = bitwise("bitwise_and", np.bitwise_and,
    "The bits set in both.", "bitwise_and(6, 3) -> 2", commutative=True)
bitwise_or = bitwise("bitwise_or", np.bitwise_or,
    "The bits set in one.", "bitwise_or(6, 3) -> 7", commutative=True)
bitwise_xor = bitwise("bitwise_xor", np.bitwise_xor,
    "The bits set in exactly one.", "bitwise_xor(6, 3) -> 5", commutative=True)
bitwise_invert = bitwise("bitwise_invert", np.invert,
    "All bits flipped.", "bitwise_invert(0) -> -1")
bitwise_left_shift = bitwise("bitwise_left_shift", np.left_shift,
    "x1 * 2**x2, by bits.", "bitwise_left_shift(1, 3) -> 8", takes="integer")
bitwise_right_shift = bitwise("bitwise_right_shift", np.right_shift,
    "floor(x1 / 2**x2), by bits.", "bitwise_right_shift(8, 3) -> 1", takes="integer")
# fmt: on


# --- complex numbers: rules that are not plain products -------------------------------------------
#
# The convention: the gradient of a real function by z = x + iy is df/dx + i df/dy, so that of
# |z|**2 is 2z. The walker conjugates for holomorphic ops; the ops below state the convention
# themselves.


def _sign_vjp(i: int, ct: Any, y: Any, args: Any, attrs: Any) -> Any:
    z = args[0]
    if not is_complex(z.dtype):
        return FLAT
    along = y * real(conj(y) * ct)
    return where(y == 0, 0, (ct - along) / abs(z))


def _sign_jvp(tangents: Any, y: Any, args: Any, attrs: Any) -> Any:
    return ZERO if tangents[0] is ZERO else _sign_vjp(0, tangents[0], y, args, attrs)


@elementwise(
    partials=FLAT,
    vjp=_sign_vjp,
    jvp=_sign_jvp,
    takes="numeric",
    integers="keep",
    holomorphic=False,
    ufunc=np.sign,
    warns=False,
)
def sign(x: Array, /) -> Array:
    """The sign of a real number; ``z / |z|`` of a complex one, 0 at 0.

    >>> import symgrad as sg
    >>> sg.sign(sg.asarray([-2.0, 0.0, 3.0]))
    Tensor([-1.,  0.,  1.])
    """
    return np.sign(x)


def _abs_jvp(tangents: Any, y: Any, args: Any, attrs: Any) -> Any:
    t, (z,) = tangents[0], args
    if t is ZERO:
        return ZERO
    return real(conj(sign(z)) * t) if is_complex(z.dtype) else sign(z) * t


@elementwise(
    partials=lambda y, x: sign(x),
    jvp=_abs_jvp,
    takes="numeric",
    gives="real",
    integers="keep",
    holomorphic=False,
    ufunc=np.abs,
    warns=False,
)
def abs(x: Array, /) -> Array:
    """The absolute value; its slope at 0 is 0.

    >>> import symgrad as sg
    >>> float(sg.abs(-2.0))
    2.0
    """
    return np.abs(x)


@elementwise(
    partials=lambda y, x: 1,
    jvp=lambda ts, y, args, attrs: ZERO if ts[0] is ZERO else ops.real(ts[0]),
    takes="numeric",
    gives="real",
    integers="keep",
    holomorphic=False,
    warns=False,
    view=True,
)
def real(x: Array, /) -> Array:
    """The real part.

    >>> import symgrad as sg
    >>> float(sg.real(sg.asarray(1 + 2j)))
    1.0
    """
    return np.real(x)


def _imag_vjp(i: int, ct: Any, y: Any, args: Any, attrs: Any) -> Any:
    return ct * 1j if is_complex(args[0].dtype) else ZERO


@elementwise(
    partials=lambda y, x: 1,
    vjp=_imag_vjp,
    jvp=lambda ts, y, args, attrs: ZERO if ts[0] is ZERO else ops.imag(ts[0]),
    takes="numeric",
    gives="real",
    integers="keep",
    holomorphic=False,
    warns=False,
    view=True,
)
def imag(x: Array, /) -> Array:
    """The imaginary part; zeros for real numbers.

    >>> import symgrad as sg
    >>> float(sg.imag(sg.asarray(1 + 2j)))
    2.0
    """
    return np.imag(x)


@elementwise(
    partials=lambda y, x: 1,
    vjp=lambda i, ct, y, args, attrs: ops.conj(ct) if is_complex(args[0].dtype) else ct,
    jvp=lambda ts, y, args, attrs: ZERO if ts[0] is ZERO else ops.conj(ts[0]),
    takes="numeric",
    integers="keep",
    holomorphic=False,
    ufunc=np.conjugate,
    warns=False,
)
def conj(x: Array, /) -> Array:
    """The complex conjugate; real numbers stay.

    >>> import symgrad as sg
    >>> sg.conj(sg.asarray(1 + 2j))
    Tensor(1.-2.j)
    """
    return np.conjugate(x)


# --- casting and cutting --------------------------------------------------------------------------


def _astype_type(x: TensorType, *, dtype: Any, copy: bool, device: Any) -> TensorType:
    if is_complex(x.dtype) and not is_complex(dtype):
        raise DTypeError(
            "astype",
            "a complex array has no cast to a real type",
            expected="complex",
            got=dtype,
            hint="take sg.real or sg.abs",
        )
    return TensorType(x.shape, dtype)


@linear(
    type=_astype_type,
    transpose=lambda ct, x, **_: ct,  # the walker casts back
    guard="keep",
    holomorphic=False,
)
def astype(x: Array, /, dtype: Any, *, copy: bool = True, device: Any = None) -> Array:
    """The same values in another element type.

    The derivative passes through casts between inexact types and is zero through integers.

    Raises:
        DTypeError: complex to real; take ``real`` or ``abs``.

    >>> import symgrad as sg
    >>> sg.astype(sg.asarray([1.7]), sg.int64)
    Tensor([1])
    """
    return x.astype(dtype)


@linear(type=lambda x: x, transpose=lambda ct, x: ct, guard="keep", warns=False)
def clone(x: Array, /) -> Array:
    """A copy: the identity, in memory of its own.

    >>> import symgrad as sg
    >>> sg.clone(sg.asarray([1.0, 2.0]))
    Tensor([1., 2.])
    """
    return x.copy()


@elementwise(partials=FLAT, takes="any", integers="keep", warns=False, view=True)
def stop_gradient(x: Array, /) -> Array:
    """The identity with derivative zero.

    >>> import symgrad as sg
    >>> x = sg.placeholder("x")
    >>> sg.grad(sg.stop_gradient(x) * x, x)[0].eval({x: 3.0})
    array(3.)
    """
    return x


def _within(y: Any, x: Any, low: Any, high: Any) -> Any:
    return (x > low) & (x < high)


@elementwise(
    partials=(
        lambda y, x, low, high: astype(_within(y, x, low, high), y.dtype),
        FLAT,
        FLAT,
    ),
    takes="real",
    integers="keep",
    ufunc=np.clip,
    warns=False,
    namespace=None,
    jvp=tangent_where(_within),
    live=(_within, None, None),
)
def clip_to(x: Array, low: Array, high: Array, /) -> Array:
    """``x`` held between two numbers; the slope on a bound is 0. `clip` is its public face.

    >>> clip_to(np.asarray([-1.0, 0.5]), 0.0, 1.0)
    Tensor([0. , 0.5])
    """
    return np.clip(x, low, high)


@nondifferentiable(
    type=lambda *, dim, dtype: TensorType((), dtype), reason="a size is an integer", warns=False
)
def size(dim: Any, *, dtype: Any = "int64") -> Array:
    """The value of a size, known when the graph runs.

    A dimension in arithmetic with a symbol becomes this by itself.

    Args:
        dim: a symbolic dimension, or an int.
        dtype: the element type.

    >>> import symgrad as sg
    >>> x = sg.placeholder("x", ("n",))
    >>> (sg.sum(x) / sg.size(x.shape[0])).eval({x: [1.0, 2.0]})
    array(1.5)
    """
    return np.asarray(dim, dtype)
