"""The textbook, in 50 digits: every element-wise function and its first derivatives, by mpmath.

The points cover each domain, its tails as far as double precision reaches, and the neighbourhood of
singular points. Nothing here is taken from the op library.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

import symgrad as sg
from symgrad.ir.op import OPS
from tests.registry.families import extend, gathered
from tests.registry.formulas import (
    LARGE,
    MIDDLE,
    POSITIVE,
    REALS,
    SMALL,
    TURNS,
    Row,
    near,
    rows,
    signed,
)
from tests.registry.running import run


def _log1pexp(x: Any) -> Any:
    return (x if x > 0 else mpf(0)) + mpmath.log1p(mpmath.exp(-abs(x)))


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + mpmath.exp(-x)) if x > 0 else mpmath.exp(x) / (1 + mpmath.exp(x))


def _sech2(x: Any) -> Any:
    return mpmath.sech(x) ** 2


def _cbrt(x: Any) -> Any:
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


def _ncdf(x: Any) -> Any:
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def _npdf(x: Any) -> Any:
    return mpmath.exp(-x * x / 2) / mpmath.sqrt(2 * mpmath.pi)


_A, _B = 2 * mpmath.sqrt(2 / mpmath.pi), mpf("0.044715")


def _gate(x: Any) -> Any:
    return _A * (x + _B * x**3)


def _gelu_tanh_slope(x: Any) -> Any:
    g = _gate(x)
    return _sigmoid(g) * (1 + x * _A * (1 + 3 * _B * x * x) * _sigmoid(-g))


def _sinc(x: Any) -> Any:
    return mpmath.sincpi(x)


def _sinc_derivative(order: int) -> Callable[[Any], Any]:
    # The Taylor series of sin(t)/t, differentiated term by term; in 120 digits, for small points.
    def value(x: Any) -> Any:
        with mpmath.workdps(120):
            t, total, k = mpmath.pi * x, mpf(0), 0
            while True:
                power = 2 * k - order
                if power >= 0:
                    term = (-1) ** k * mpmath.ff(2 * k, order) / mpmath.factorial(2 * k + 1)
                    term = term * (t**power if power else 1)
                    total += term
                    if k > 40 and abs(term) < mpf(10) ** -110:
                        return total * mpmath.pi**order
                k += 1

    return value


def _lae(a: Any, b: Any) -> Any:
    return max(a, b) + mpmath.log1p(mpmath.exp(-abs(a - b)))


def _pairs(first: Sequence[float], second: Sequence[float]) -> list[tuple[float, float]]:
    return [(a, b) for a in first for b in second]


_SPAN = [-3.0, -0.7, -1e-8, 1e-8, 0.4, 2.0, 1e5]
_WIDE = signed(1e-200, 0.3, 1.0, 4.0, 1e200)
ONE = lambda *_: mpf(1)  # noqa: E731
ZERO = lambda *_: mpf(0)  # noqa: E731

FORMULAS: dict[str, list[Row]] = {
    # exponentials, logarithms, roots
    "exp": [rows(mpmath.exp, mpmath.exp, [*MIDDLE, *SMALL, *LARGE, -745.0])],
    "expm1": [rows(mpmath.expm1, mpmath.exp, [*MIDDLE, *SMALL, *LARGE])],
    "log": [rows(mpmath.log, lambda x: 1 / x, [*POSITIVE, *near(1.0)])],
    "log1p": [
        rows(
            mpmath.log1p,
            lambda x: 1 / (1 + x),
            [*POSITIVE, -1e-300, -1e-9, -0.3, -0.7, *near(-1.0)[1:2], -1 + 1e-9],
        )
    ],
    "log2": [
        rows(lambda x: mpmath.log(x, 2), lambda x: 1 / (x * mpmath.log(2)), [*POSITIVE, *near(1.0)])
    ],
    "log10": [rows(mpmath.log10, lambda x: 1 / (x * mpmath.log(10)), [*POSITIVE, *near(1.0)])],
    "sqrt": [rows(mpmath.sqrt, lambda x: 1 / (2 * mpmath.sqrt(x)), POSITIVE)],
    "rsqrt": [
        rows(lambda x: 1 / mpmath.sqrt(x), lambda x: -1 / (2 * x * mpmath.sqrt(x)), POSITIVE)
    ],
    "cbrt": [rows(_cbrt, lambda x: 1 / (3 * _cbrt(x) ** 2), REALS)],
    "square": [rows(lambda x: x * x, lambda x: 2 * x, REALS)],
    "reciprocal": [rows(lambda x: 1 / x, lambda x: -1 / x**2, REALS)],
    # trigonometric and hyperbolic
    "sin": [rows(mpmath.sin, mpmath.cos, TURNS)],
    "cos": [rows(mpmath.cos, lambda x: -mpmath.sin(x), TURNS)],
    "tan": [rows(mpmath.tan, lambda x: 1 + mpmath.tan(x) ** 2, TURNS)],
    "asin": [
        rows(
            mpmath.asin,
            lambda x: 1 / mpmath.sqrt(1 - x * x),
            [*SMALL, *signed(0.3, 0.7, 0.99), *near(1.0)[::2], *near(-1.0)[1:2]],
        )
    ],
    "acos": [
        rows(
            mpmath.acos,
            lambda x: -1 / mpmath.sqrt(1 - x * x),
            [*SMALL, *signed(0.3, 0.7, 0.99), *near(1.0)[::2], *near(-1.0)[1:2]],
        )
    ],
    "atan": [rows(mpmath.atan, lambda x: 1 / (1 + x * x), REALS)],
    "sinh": [rows(mpmath.sinh, mpmath.cosh, [*MIDDLE, *SMALL, *LARGE])],
    "cosh": [rows(mpmath.cosh, mpmath.sinh, [*MIDDLE, *SMALL, *LARGE])],
    "tanh": [rows(mpmath.tanh, _sech2, [*MIDDLE, *SMALL, *LARGE])],
    "sech2": [rows(_sech2, lambda x: -2 * _sech2(x) * mpmath.tanh(x), [*MIDDLE, *SMALL, *LARGE])],
    "asinh": [rows(mpmath.asinh, lambda x: 1 / mpmath.sqrt(1 + x * x), REALS)],
    "acosh": [
        rows(
            mpmath.acosh,
            lambda x: 1 / (mpmath.sqrt(x - 1) * mpmath.sqrt(x + 1)),
            [1.3, 2.5, 8.0, 1e5, 1e10, 1e154, 1e155, 1e200, 1e300, *near(1.0)[1::2]],
        )
    ],
    "atanh": [
        rows(
            mpmath.atanh,
            lambda x: 1 / ((1 - x) * (1 + x)),
            [*SMALL, *signed(0.3, 0.7, 0.99), *near(1.0)[::2], *near(-1.0)[1:2]],
        )
    ],
    # arithmetic
    "negative": [rows(lambda x: -x, lambda x: mpf(-1), REALS)],
    "positive": [rows(lambda x: +x, ONE, REALS)],
    "add": [rows(lambda a, b: a + b, (ONE, ONE), _pairs(_SPAN, _SPAN))],
    "subtract": [rows(lambda a, b: a - b, (ONE, lambda a, b: mpf(-1)), _pairs(_SPAN, _SPAN))],
    "multiply": [
        rows(lambda a, b: a * b, (lambda a, b: b, lambda a, b: a), _pairs(_WIDE, [-2.0, 1e-3, 7.0]))
    ],
    "divide": [
        rows(
            lambda a, b: a / b,
            (lambda a, b: 1 / b, lambda a, b: -a / b**2),
            [*_pairs(_WIDE, [-2.0, 1e-3, 7.0]), (1e-150, 1e150), (3.0, 1e-150)],
        )
    ],
    "pow": [
        rows(
            lambda a, b: a**b,
            (lambda a, b: b * a ** (b - 1), lambda a, b: a**b * mpmath.log(a)),
            [
                *_pairs([1e-3, 0.4, 1.0, 2.5, 1e8], [-2.5, -1.0, 0.0, 0.5, 1.0, 3.0, 7.3]),
                (1e-100, 2.0),
                (1e100, -3.0),
                (1 + 1e-9, 1e5),
            ],
        )
    ],
    "remainder": [
        rows(
            lambda a, b: a - mpmath.floor(a / b) * b,
            (ONE, lambda a, b: -mpmath.floor(a / b)),
            [(7.3, 2.0), (-7.3, 2.0), (7.3, -2.0), (0.3, 5.0), (1e5, 0.75)],
        )
    ],
    "fmod": [
        rows(
            lambda a, b: mpmath.fmod(abs(a), abs(b)) * mpmath.sign(a),
            (ONE, lambda a, b: -mpmath.sign(a / b) * mpmath.floor(abs(a / b))),
            [
                (7.3, 2.0),
                (-7.3, 2.0),
                (7.3, -2.0),
                (0.3, 5.0),
                (1e5, 0.75),
                (231.9614023631541, 0.7706358882496814),
            ],
        )
    ],
    "floor_divide": [
        rows(
            lambda a, b: mpmath.floor(a / b),
            (ZERO, ZERO),
            [(7.3, 2.0), (-7.3, 2.0), (7.3, -2.0), (0.3, 5.0), (1e5, 0.75)],
        )
    ],
    "maximum": [
        rows(
            max,
            (lambda a, b: mpf(a > b), lambda a, b: mpf(b > a)),
            [(1.0, 2.0), (2.0, 1.0), (-1e300, 1e300), (-1.0, -2.0)],
        )
    ],
    "minimum": [
        rows(
            min,
            (lambda a, b: mpf(a < b), lambda a, b: mpf(b < a)),
            [(1.0, 2.0), (2.0, 1.0), (-1e300, 1e300), (-1.0, -2.0)],
        )
    ],
    "copysign": [
        rows(
            lambda a, b: abs(a) * mpmath.sign(b),
            (lambda a, b: mpmath.sign(a) * mpmath.sign(b), ZERO),
            _pairs([-2.0, 3.0], [-1e4, 1e-4]),
        )
    ],
    "abs": [rows(abs, mpmath.sign, REALS)],
    "sign": [rows(mpmath.sign, ZERO, REALS)],
    "real": [rows(lambda x: +x, ONE, MIDDLE)],
    "imag": [rows(ZERO, ZERO, MIDDLE)],
    "conj": [rows(lambda x: +x, ONE, MIDDLE)],
    "stop_gradient": [rows(lambda x: +x, ZERO, MIDDLE)],
    "floor": [rows(mpmath.floor, ZERO, [x for x in MIDDLE if x % 1])],
    "ceil": [rows(mpmath.ceil, ZERO, [x for x in MIDDLE if x % 1])],
    "trunc": [
        rows(lambda x: mpmath.sign(x) * mpmath.floor(abs(x)), ZERO, [x for x in MIDDLE if x % 1])
    ],
    "round": [rows(lambda x: mpmath.nint(x), ZERO, [x for x in MIDDLE if x % 0.5])],
    "clip_to": [
        rows(
            lambda x, a, b: min(max(x, a), b),
            (lambda x, a, b: mpf(a < x < b), ZERO, ZERO),
            [(0.5, 0.0, 1.0), (-2.0, 0.0, 1.0), (3.0, 0.0, 1.0)],
        )
    ],
    # two operands
    "logaddexp": [
        rows(
            _lae,
            (lambda a, b: _sigmoid(a - b), lambda a, b: _sigmoid(b - a)),
            [
                *_pairs([-700.0, -3.0, 0.0, 2.0, 1000.0], [-1000.0, -0.5, 0.0, 3.0, 999.0]),
                (0.0, 1e-9),
                (0.0, -45.0),
            ],
        )
    ],
    "hypot": [
        rows(
            mpmath.hypot,
            (lambda a, b: a / mpmath.hypot(a, b), lambda a, b: b / mpmath.hypot(a, b)),
            _pairs(_WIDE, _WIDE),
        )
    ],
    "atan2": [
        rows(
            mpmath.atan2,
            (lambda a, b: b / (a * a + b * b), lambda a, b: -a / (a * a + b * b)),
            _pairs(_WIDE, _WIDE),
        )
    ],
    "xlogy": [
        rows(
            lambda a, b: a * mpmath.log(b),
            (lambda a, b: mpmath.log(b), lambda a, b: a / b),
            _pairs([-2.0, 1e-200, 0.7, 1e100], [1e-100, 0.3, 1 + 1e-9, 5.0, 1e100]),
        )
    ],
    # activations
    "sigmoid": [rows(_sigmoid, lambda x: _sigmoid(x) * _sigmoid(-x), [*MIDDLE, *SMALL, *LARGE])],
    "softplus": [rows(_log1pexp, _sigmoid, [*MIDDLE, *SMALL, *LARGE, 1e300])],
    "log_sigmoid": [
        rows(lambda x: -_log1pexp(-x), lambda x: _sigmoid(-x), [*MIDDLE, *SMALL, *LARGE, -1e300])
    ],
    "silu": [
        rows(
            lambda x: x * _sigmoid(x),
            lambda x: _sigmoid(x) * (1 + x * _sigmoid(-x)),
            [*MIDDLE, *SMALL, *LARGE],
            slope_ulps=40,
        )
    ],
    "relu": [rows(lambda x: max(x, mpf(0)), lambda x: mpf(x > 0), REALS)],
    "leaky_relu": [
        rows(
            lambda x, s=s: x if x > 0 else mpf(s) * x,
            lambda x, s=s: mpf(1) if x > 0 else mpf(s),
            REALS,
            attrs={"negative_slope": s},
        )
        for s in (0.01, -0.5)
    ],
    "elu": [
        rows(
            lambda x, a=a: x if x > 0 else a * mpmath.expm1(x),
            lambda x, a=a: mpf(1) if x > 0 else a * mpmath.exp(x),
            [*MIDDLE, *SMALL, *LARGE],
            attrs={"alpha": a},
        )
        for a in (1.0, 0.5)
    ],
    "logit": [
        rows(
            lambda x: mpmath.log(x) - mpmath.log1p(-x),
            lambda x: 1 / (x * (1 - x)),
            [1e-300, 1e-9, 0.013, 0.3, 0.7, 1 - 1e-9, *near(0.5), *near(1.0)[:1]],
        )
    ],
    # the normal distribution
    "erf": [
        rows(
            mpmath.erf,
            lambda x: 2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-x * x),
            [*MIDDLE, *SMALL, *signed(5.5, 8.0)],
        )
    ],
    "erfc": [
        rows(
            mpmath.erfc,
            lambda x: -2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-x * x),
            [*MIDDLE, *SMALL, *signed(5.5, 8.0), 20.3, 26.0],
            slope_ulps=40,
        )
    ],
    "gelu": [
        rows(
            lambda x: x * _ncdf(x),
            lambda x: _ncdf(x) + x * _npdf(x),
            [*MIDDLE, *SMALL, *signed(5.5, 8.0, 20.3, 37.0)],
            attrs={"approximate": "none"},
            slope_ulps=40,
        ),
        rows(
            lambda x: x * _sigmoid(_gate(x)),
            _gelu_tanh_slope,
            [*MIDDLE, *SMALL, *signed(5.5, 8.0, 12.0)],
            attrs={"approximate": "tanh"},
            ulps=60,
            slope_ulps=60,
        ),
    ],
    # sinc
    "sinc": [rows(_sinc, _sinc_derivative(1), [*MIDDLE, *SMALL, *signed(1e-3, 0.999, 5.2)])],
    "sinc_derivative": [
        rows(
            _sinc_derivative(n),
            _sinc_derivative(n + 1),
            [*signed(0.013, 0.3, 0.7, 1.3, 2.45, 3.7, 1e-3)],
            attrs={"order": n},
        )
        for n in (1, 2, 5)
    ],
}
extend(FORMULAS, "FORMULAS")

WITHOUT_FORMULA = {
    "nextafter": "a step of the floating-point grid, not a real function",
    **dict(gathered("WITHOUT_FORMULA")),
}
"""Element-wise ops with floating results that no closed form describes, and why."""

COMPLEX_POINTS = (0.3 + 0.4j, -0.7 + 0.2j, 1.5 - 2.0j, -2.0 - 0.5j, 0.1j, 3.0 + 0.01j)
COMPLEX_FORMULAS = (
    "exp",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "sqrt",
    "rsqrt",
    "square",
    "reciprocal",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "negative",
    "multiply",
    "divide",
    "pow",
    *gathered("COMPLEX_FORMULAS"),
)
"""Functions of complex numbers whose closed form is the same."""


# --- measuring ------------------------------------------------------------------------------------


def ulps(got: Any, exact: Any, dtype: Any = np.float64) -> float:
    """How far ``got`` is from ``exact``, in units in the last place of ``exact``.

    A result too large for the type must be infinite; below the smallest normal number, absolute
    accuracy of that number's spacing is enough.
    """
    info = np.finfo(dtype)
    exact = mpf(exact)
    if abs(exact) > mpf(float(info.max)):
        return 0.0 if np.isinf(got) and mpmath.sign(exact) == np.sign(got) else float("inf")
    if not np.isfinite(got):
        return float("inf")
    size = max(float(abs(exact)), float(info.tiny))
    # np.spacing of a number of the type itself.
    unit = mpf(float(np.spacing(np.asarray(size, dtype))))
    if abs(exact) < float(info.tiny):
        unit = mpf(float(info.tiny))
    return float(abs(mpf(float(got)) - exact) / unit)


def columns(row: Row, dtype: Any) -> list[np.ndarray]:
    """The points by operand; in a narrower type, those that it holds."""
    wide = [np.array(column) for column in zip(*row.points, strict=True)]
    with np.errstate(all="ignore"):
        given = [column.astype(dtype) for column in wide]
    held = [np.isfinite(g) & ((g != 0) | (w == 0)) for g, w in zip(given, wide, strict=True)]
    held.append(in_domain(row, given))
    return [g[np.all(held, axis=0)] for g in given]


def in_domain(row: Row, given: Sequence[np.ndarray]) -> np.ndarray:
    """Rounding to single precision may leave the domain, or hit a point where it ends."""
    keep: list[bool] = []
    for point in zip(*given, strict=True):
        try:
            value = row.value(*map(mpf, map(float, point)))
            keep.append(bool(mpmath.isfinite(value)) and not isinstance(value, mpmath.mpc))
        except (ValueError, ZeroDivisionError):
            keep.append(False)
    return np.array(keep)


def exact(f: Callable[..., Any], given: Sequence[np.ndarray]) -> list[Any]:
    """A function of mpmath numbers at each point."""
    number = complex if any(np.iscomplexobj(g) for g in given) else float
    points = zip(*given, strict=True)
    return [f(*(mpmath.mpmathify(number(value)) for value in point)) for point in points]


def require_near(
    name: str, found: np.ndarray, wanted: list[Any], given: Sequence[np.ndarray], limit: float
) -> None:
    """Every result within some units in the last place."""
    errors = [ulps(g, w, found.dtype) for g, w in zip(found, wanted, strict=True)]
    k = int(np.argmax(errors))
    point = tuple(float(c[k]) for c in given)
    assert errors[k] <= limit, (
        f"{name} is {errors[k]:.1f} ulp off at {point}: "
        f"expected {mpmath.nstr(wanted[k], 20)}, got {found[k]!r}"
    )


def value_is_exact(name: str, k: int, dtype: str) -> None:
    """The kernel against the formula of row ``k``."""
    row = FORMULAS[name][k]
    given = columns(row, dtype)
    xs = [sg.placeholder(f"x{j}", c.shape, c.dtype) for j, c in enumerate(given)]
    (found,) = run([OPS[name](*xs, **row.attrs)], dict(zip(xs, given, strict=True)))
    require_near(name, found, exact(row.value, given), given, row.ulps)


def slopes_are_exact(name: str, k: int, level: str | None) -> None:
    """The partial derivatives against the formulas of row ``k``."""
    row = FORMULAS[name][k]
    given = columns(row, "float64")
    xs = [sg.placeholder(f"x{j}", c.shape) for j, c in enumerate(given)]
    total = sg.sum(OPS[name](*xs, **row.attrs))
    slopes = sg.grad(total, xs, materialize_grads=True, mode="reverse", level=level)
    found = run(slopes, dict(zip(xs, given, strict=True)))
    for j, partial in enumerate(row.partials):
        label = f"derivative of {name} by operand {j}"
        require_near(label, found[j], exact(partial, given), given, row.slope_ulps)
