"""Zeros, infinities, NaN and ties: values as numpy's, derivatives as the documented table says."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.ir.op import OPS
from symgrad.types import is_inexact
from tests.registry.known import known
from tests.registry.running import run, same_bits
from tests.registry.samples import is_elementwise, op_names, samples_of

inf, nan = math.inf, math.nan
SPECIALS = np.array([0.0, -0.0, 1.0, -1.0, 2.5, inf, -inf, nan, 1e300, -1e300, 5e-324])

# --- values ---------------------------------------------------------------------------------------

NUMPY = {
    name: getattr(np, name)
    for name in (
        "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "square", "reciprocal", "sin", "cos",
        "tan", "sinh", "cosh", "tanh", "negative", "positive", "add", "subtract", "multiply", "divide",
        "floor_divide", "remainder", "logaddexp", "hypot", "maximum", "minimum", "copysign",
        "nextafter", "floor", "ceil", "trunc", "equal", "not_equal", "less", "less_equal", "greater",
        "greater_equal", "isnan", "isinf", "isfinite", "signbit", "sign", "abs", "real", "imag", "conj",
        "cbrt", "logical_and", "logical_or", "logical_xor", "logical_not", "bitwise_and", "bitwise_or",
        "bitwise_xor",
    )
} | {
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "atan2": np.arctan2, "pow": np.power, "round": np.round,
    "bitwise_invert": np.invert, "bitwise_left_shift": np.left_shift,
    "bitwise_right_shift": np.right_shift, "clip_to": np.clip, "stop_gradient": np.positive,
    "relu": lambda x: np.maximum(x, 0),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "logit": lambda x: np.log(x) - np.log1p(-x),
    "leaky_relu": lambda x: np.where(x > 0, x, x * 0.01),
    "xlogy": lambda a, b: np.where((a == 0) & ~np.isnan(b), 0.0, a * np.log(b)),
}  # fmt: skip
"""What numpy calls the same function, or how it says it."""

_AT = np.array([0.0, -0.0, inf, -inf, nan])
LIMITS: dict[str, tuple[dict[str, Any], list[float]]] = {
    "sigmoid": ({}, [0.5, 0.5, 1, 0, nan]),
    "sech2": ({}, [1, 1, 0, 0, nan]),
    "softplus": ({}, [math.log(2), math.log(2), inf, 0, nan]),
    "log_sigmoid": ({}, [-math.log(2), -math.log(2), 0, -inf, nan]),
    "silu": ({}, [0, 0, inf, 0, nan]),
    "gelu": ({"approximate": "none"}, [0, 0, inf, 0, nan]),
    "elu": ({"alpha": 0.5}, [0, 0, inf, -0.5, nan]),
    "erf": ({}, [0, 0, 1, -1, nan]),
    "erfc": ({}, [1, 1, 0, 2, nan]),
    "sinc": ({}, [1, 1, 0, 0, nan]),
    "sinc_derivative": ({"order": 1}, [0, 0, 0, 0, nan]),
}
"""Functions that numpy does not have: their values at 0, -0, inf, -inf and NaN."""

ELEMENTWISE = [name for name in op_names() if is_elementwise(name)]


def test_every_elementwise_op_is_compared():
    assert set(ELEMENTWISE) == set(NUMPY) | set(LIMITS)


def operands_for(name: str, dtype: str) -> list[np.ndarray]:
    """All special values, and all pairs of them; booleans and integers, where those are taken."""
    arity = len(samples_of(name)[0].operands)
    kind = samples_of(name)[0].operands[0].dtype.kind
    base = SPECIALS.astype(dtype) if kind == "f" else np.array([True, False]) if kind == "b" else np.arange(6)
    if name == "bitwise_invert":
        base = np.arange(-5, 6)
    grids = np.meshgrid(*[base] * min(arity, 2), indexing="ij")
    given = [np.ascontiguousarray(g.reshape(-1)) for g in grids]
    if arity == 3:
        given = [given[0], np.full_like(given[0], -1), np.full_like(given[0], 2)]
    return given


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", sorted(NUMPY))
def test_value_is_that_of_numpy(name: str, dtype: str, request: pytest.FixtureRequest):
    known(request, "special_value", name)
    operands = operands_for(name, dtype)
    wanted = NUMPY[name](*operands)
    attrs = samples_of(name)[0].attrs
    xs = [sg.placeholder(f"x{k}", o.shape, o.dtype) for k, o in enumerate(operands)]
    (found,) = run([OPS[name](*xs, **attrs)], dict(zip(xs, operands, strict=True)))
    assert same_bits(found, np.asarray(wanted, found.dtype)), list(zip(*operands, found, wanted, strict=True))
    assert same_bits(OPS[name](*map(sg.asarray, operands), **attrs).numpy(), found)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("name", sorted(LIMITS))
def test_value_is_the_limit(name: str, dtype: str, request: pytest.FixtureRequest):
    known(request, "special_value", name)
    attrs, wanted = LIMITS[name]
    found = OPS[name](_AT.astype(dtype), **attrs).numpy()
    np.testing.assert_allclose(found, np.array(wanted, dtype), rtol=0, atol=1e-290)


# --- derivatives ----------------------------------------------------------------------------------

ROWS: list[tuple[str, Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = [
    ("abs at 0", sg.abs, (0.0,), (0.0,)),
    ("sign", sg.sign, (0.0,), (0.0,)),
    ("relu at 0", sg.relu, (0.0,), (0.0,)),
    ("leaky_relu at 0", lambda x: sg.leaky_relu(x, 0.25), (0.0,), (0.25,)),
    ("sqrt at 0", sg.sqrt, (0.0,), (inf,)),
    ("cbrt at 0", sg.cbrt, (0.0,), (inf,)),
    ("log at 0", sg.log, (0.0,), (inf,)),
    ("2-norm at 0", sg.linalg.vector_norm, ([0.0, 0.0],), ([0.0, 0.0],)),
    ("3-norm at 0", lambda x: sg.linalg.vector_norm(x, ord=3), ([0.0, 0.0],), ([0.0, 0.0],)),
    ("Frobenius norm at 0", sg.linalg.matrix_norm, ([[0.0, 0.0]],), ([[0.0, 0.0]],)),
    ("std of equal numbers", sg.std, ([2.0, 2.0],), ([0.0, 0.0],)),
    ("var of equal numbers", sg.var, ([2.0, 2.0],), ([0.0, 0.0],)),
    ("branch not taken, sqrt at -1", lambda x: sg.where(x > 0, sg.sqrt(x), x), (-1.0,), (1.0,)),
    ("branch not taken, sqrt at 0", lambda x: sg.where(x > 0, sg.sqrt(x), x), (0.0,), (1.0,)),
    ("max shares ties", sg.max, ([1.0, 1.0, 0.0],), ([0.5, 0.5, 0.0],)),
    ("min shares ties", sg.min, ([1.0, 0.0, 0.0],), ([0.0, 0.5, 0.5],)),
    ("max along an axis shares ties", lambda x: sg.sum(sg.max(x, axis=1)), ([[1.0, 1.0, 0.0]],), ([[0.5, 0.5, 0.0]],)),
    ("sort keeps ties apart", lambda x: sg.sort(x)[0], ([1.0, 1.0],), ([1.0, 0.0],)),
    ("sort downwards keeps ties apart", lambda x: sg.sort(x, descending=True)[0], ([1.0, 1.0],), ([1.0, 0.0],)),
    ("maximum at a tie", lambda x: sg.maximum(x, 1.0), (1.0,), (0.5,)),
    ("minimum at a tie", lambda x: sg.minimum(x, 1.0), (1.0,), (0.5,)),
    ("maximum of one with itself", lambda x: sg.maximum(x, x), (1.0,), (1.0,)),
    ("clip at the lower number", lambda x: sg.clip(x, 0.0, 1.0), (0.0,), (0.0,)),
    ("clip at the upper number", lambda x: sg.clip(x, 0.0, 1.0), (1.0,), (0.0,)),
    ("clip inside", lambda x: sg.clip(x, 0.0, 1.0), (0.5,), (1.0,)),
    ("clip at an array", lambda x, low: sg.clip(x, low), (1.0, 1.0), (0.5, 0.5)),
    ("max-pool takes the first", lambda x: sg.sum(sg.max_pool(x, 2)), ([[[1.0, 1.0, 3.0, 3.0]]],), ([[[1.0, 0.0, 1.0, 0.0]]],)),
    ("max-pool of zeros, overlapping", lambda x: sg.sum(sg.max_pool(x, 3, stride=1)), (np.zeros((1, 1, 4, 4)),), ([[np.pad([[1.0, 1.0], [1.0, 1.0]], ((0, 2), (0, 2)))]],)),
    ("prod with a zero", sg.prod, ([0.0, 2.0, 3.0],), ([6.0, 0.0, 0.0],)),
    ("prod with two zeros", sg.prod, ([0.0, 0.0, 3.0],), ([0.0, 0.0, 0.0],)),
    ("cumulative_prod with a zero", lambda x: sg.sum(sg.cumulative_prod(x)), ([2.0, 0.0, 3.0],), ([1.0, 8.0, 0.0],)),
    ("x**0 at 0", lambda x: x**0.0, (0.0,), (0.0,)),
    ("x**1 at 0", lambda x: x**1.0, (0.0,), (1.0,)),
    ("x**2 at 0", lambda x: x**2.0, (0.0,), (0.0,)),
    ("x**0 at 0, both", sg.pow, (0.0, 0.0), (0.0, 0.0)),
    ("0**0.5", sg.pow, (0.0, 0.5), (inf, 0.0)),
    ("0**2", sg.pow, (0.0, 2.0), (0.0, 0.0)),
    ("(-2)**3", sg.pow, (-2.0, 3.0), (12.0, nan)),
    ("2**x", lambda x: 2.0**x, (3.0,), (8 * math.log(2),)),
    ("logsumexp of nothing finite", sg.logsumexp, ([-inf, -inf],), ([0.0, 0.0],)),
    ("logsumexp with -inf", sg.logsumexp, ([-inf, 0.0],), ([0.0, 1.0],)),
    ("softmax with -inf", lambda x: sg.softmax(x)[1], ([-inf, 0.0],), ([0.0, 0.0],)),
    ("log_softmax far apart", lambda x: sg.log_softmax(x)[0], ([0.0, 1000.0],), ([1.0, -1.0],)),
    ("logaddexp with -inf", sg.logaddexp, (-inf, 0.0), (0.0, 1.0)),
    ("hypot at the origin", sg.hypot, (0.0, 0.0), (0.0, 0.0)),
    ("atan2 at the origin", sg.atan2, (0.0, 0.0), (0.0, 0.0)),
    ("xlogy at the origin", sg.xlogy, (0.0, 0.0), (0.0, 0.0)),
    ("xlogy at 0", sg.xlogy, (0.0, 2.0), (math.log(2), 0.0)),
    ("floor", sg.floor, (1.0,), (0.0,)),
    ("round at a half", sg.round, (0.5,), (0.0,)),
    ("copysign at 0", lambda x: sg.copysign(x, 1.0), (0.0,), (1.0,)),
    ("sinc at 0", sg.sinc, (0.0,), (0.0,)),
    ("det of zeros", sg.linalg.det, ([[0.0, 0.0], [0.0, 0.0]],), ([[0.0, 0.0], [0.0, 0.0]],)),
    ("det of a singular matrix", sg.linalg.det, ([[1.0, 2.0], [2.0, 4.0]],), ([[4.0, -2.0], [-2.0, 1.0]],)),
    ("tanh far out", sg.tanh, (-400.0,), (4 * math.exp(-700) * math.exp(-100),)),
    ("sigmoid far out", sg.sigmoid, (-700.0,), (math.exp(-700.0),)),
]  # fmt: skip
"""What the documentation promises where a derivative has no or no finite value, or is easily lost."""

SECOND: list[tuple[str, Callable[..., Any], float, float]] = [
    ("abs at 0", sg.abs, 0.0, 0.0),
    ("relu at 0", sg.relu, 0.0, 0.0),
    ("x**1 at 0", lambda x: x**1.0, 0.0, 0.0),
    ("x**2 at 0", lambda x: x**2.0, 0.0, 2.0),
    ("x**3 at 0", lambda x: x**3.0, 0.0, 0.0),
    ("x**0 at 0", lambda x: x**0.0, 0.0, 0.0),
    ("branch not taken, sqrt at -1", lambda x: sg.where(x > 0, sg.sqrt(x), x), -1.0, 0.0),
    ("branch not taken, sqrt at 0", lambda x: sg.where(x > 0, sg.sqrt(x), x), 0.0, 0.0),
    ("maximum at a tie", lambda x: sg.maximum(x * x, 1.0), 1.0, 1.0),
    ("hypot at the origin", lambda x: sg.hypot(x, x), 0.0, 0.0),
    ("2-norm at 0", lambda x: sg.linalg.vector_norm(sg.stack([x, 2 * x])), 0.0, 0.0),
    ("std of equal numbers", lambda x: sg.std(sg.stack([x, x])), 1.0, 0.0),
    ("prod with a zero", lambda x: sg.prod(sg.stack([x, x, x + 3.0])), 0.0, 6.0),
    ("clip at a bound", lambda x: sg.clip(x, 0.0, 1.0) ** 2, 0.0, 0.0),
    ("sinc at 0", sg.sinc, 0.0, -math.pi**2 / 3),
    ("logsumexp of equal numbers", lambda x: sg.logsumexp(sg.stack([x, -x])), 0.0, 1.0),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("level", ["none", None])
@pytest.mark.parametrize(("label", "f", "point", "wanted"), ROWS, ids=[row[0] for row in ROWS])
def test_derivative_is_the_documented_one(
    label: str, f: Any, point: Any, wanted: Any, level: Any, dtype: str, request: pytest.FixtureRequest
):
    known(request, "special_derivative", label)
    values = [np.asarray(p, dtype) for p in point]
    xs = [sg.placeholder(f"x{k}", v.shape, dtype) for k, v in enumerate(values)]
    y = f(*xs)
    feeds = dict(zip(xs, values, strict=True))
    pulled = sg.grad(y, xs, materialize_grads=True, mode="reverse", level=level)
    for gradient, expected in zip(run(pulled, feeds), wanted, strict=True):
        compare(gradient, expected, dtype)
    for k, (value, expected) in enumerate(zip(values, wanted, strict=True)):
        along = np.zeros(value.shape, dtype)
        for index in np.ndindex(value.shape):
            unit = along.copy()
            unit[index] = 1
            tangents = [sg.constant(unit if j == k else np.zeros_like(v)) for j, v in enumerate(values)]
            (pushed,) = run(sg.jvp(y, xs, tangents, level=level), feeds)
            if label not in ZERO_TIMES_INFINITY:
                compare(pushed, np.asarray(expected)[index], dtype)


ZERO_TIMES_INFINITY = ("0**0.5", "(-2)**3")
"""A tangent of 0 along one operand meets an infinite or undefined partial of it."""


def compare(found: Any, wanted: Any, dtype: str) -> None:
    np.testing.assert_allclose(found, np.asarray(wanted, dtype), rtol=2e-15 if dtype == "float64" else 2e-6, atol=0)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("level", ["none", None])
@pytest.mark.parametrize(("label", "f", "point", "wanted"), SECOND, ids=[row[0] for row in SECOND])
def test_second_derivative(
    label: str, f: Any, point: float, wanted: float, level: Any, mode: str, request: pytest.FixtureRequest
):
    known(request, f"second_{mode}", label)
    x = sg.placeholder("x")
    (first,) = sg.grad(f(x), x, mode=mode, level=level)
    second = sg.grad(first, x, materialize_grads=True, allow_unused=True, mode=mode, level=level)
    (found,) = run(second, {x: np.asarray(point)})
    np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-15)


# --- warnings -------------------------------------------------------------------------------------

WARNS_AS_NUMPY = {"add", "subtract", "multiply", "square"}
"""Plain arithmetic runs bare, at full speed: where it overflows, numpy's own warning is seen."""


@pytest.mark.parametrize("name", [n for n in ELEMENTWISE if n not in WARNS_AS_NUMPY])
def test_compiled_code_warns_nobody(name: str, request: pytest.FixtureRequest):
    known(request, "warns", name)
    operands = operands_for(name, "float64")
    xs = [sg.placeholder(f"x{k}", o.shape, o.dtype) for k, o in enumerate(operands)]
    y = OPS[name](*xs, **samples_of(name)[0].attrs)
    outputs = [y, *sg.grad(sg.sum(y), xs, materialize_grads=True)] if is_inexact(y.dtype) else [y]
    forward, both = sg.function(xs, y), sg.function(xs, outputs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        forward(*operands)
        both(*operands)


def test_closeness_of_infinities_warns_nobody(request: pytest.FixtureRequest):
    known(request, "warns", "isclose")
    x, y = sg.placeholder("x", (2,)), sg.placeholder("y", (2,))
    close = sg.function([x, y], sg.isclose(x, y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert close([inf, 1.0], [inf, 1.0]).all()
