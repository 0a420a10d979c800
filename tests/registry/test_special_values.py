"""Zeros, infinities, NaN and ties: values as numpy's, derivatives as the documented table says."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.ir.op import OPS
from symgrad.types import is_inexact
from tests.registry.conventions import (
    ROWS,
    SECOND,
    derivative_is_documented,
    second_is_documented,
)
from tests.registry.families import gathered
from tests.registry.known import known
from tests.registry.running import run, same_bits
from tests.registry.samples import is_elementwise, op_names, samples_of

inf, nan = math.inf, math.nan
SPECIALS = np.array([0.0, -0.0, 1.0, -1.0, 2.5, inf, -inf, nan, 1e300, -1e300, 5e-324])

# --- values ---------------------------------------------------------------------------------------

NUMPY = {
    name: getattr(np, name)
    for name in (
        "exp",
        "expm1",
        "log",
        "log1p",
        "log2",
        "log10",
        "sqrt",
        "square",
        "reciprocal",
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "tanh",
        "negative",
        "positive",
        "add",
        "subtract",
        "multiply",
        "divide",
        "floor_divide",
        "remainder",
        "fmod",
        "logaddexp",
        "hypot",
        "maximum",
        "minimum",
        "copysign",
        "nextafter",
        "floor",
        "ceil",
        "trunc",
        "equal",
        "not_equal",
        "less",
        "less_equal",
        "greater",
        "greater_equal",
        "isnan",
        "isinf",
        "isfinite",
        "signbit",
        "sign",
        "abs",
        "real",
        "imag",
        "conj",
        "cbrt",
        "logical_and",
        "logical_or",
        "logical_xor",
        "logical_not",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
    )
} | {
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "atan2": np.arctan2,
    "pow": np.power,
    "round": np.round,
    "bitwise_invert": np.invert,
    "bitwise_left_shift": np.left_shift,
    "bitwise_right_shift": np.right_shift,
    "clip_to": np.clip,
    "stop_gradient": np.positive,
    "relu": lambda x: np.maximum(x, 0),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "logit": lambda x: np.log(x) - np.log1p(-x),
    "leaky_relu": lambda x: np.where(x > 0, x, x * 0.01),
    "xlogy": lambda a, b: np.where((a == 0) & ~np.isnan(b), 0.0, a * np.log(b)),
}
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

NUMPY.update(gathered("NUMPY"))
LIMITS.update(gathered("LIMITS"))

APPROXIMATE = frozenset(gathered("APPROXIMATE"))
"""Ops that are not bit for bit what the table says, but within some units in the last place."""

ELEMENTWISE = [name for name in op_names() if is_elementwise(name)]


def test_every_elementwise_op_is_compared():
    assert set(ELEMENTWISE) == set(NUMPY) | set(LIMITS)


def operands_for(name: str, dtype: str) -> list[np.ndarray]:
    """All special values, and all pairs of them; booleans and integers, where those are taken."""
    arity = len(samples_of(name)[0].operands)
    kind = samples_of(name)[0].operands[0].dtype.kind
    base = (
        SPECIALS.astype(dtype)
        if kind == "f"
        else np.array([True, False])
        if kind == "b"
        else np.arange(6)
    )
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
    if name in APPROXIMATE:
        tolerance = 100 * np.finfo(found.dtype).eps
        exact = np.asarray(wanted, found.dtype)
        np.testing.assert_allclose(found, exact, rtol=tolerance, atol=1e-320)
    else:
        assert same_bits(found, np.asarray(wanted, found.dtype)), list(
            zip(*operands, found, wanted, strict=True)
        )
    assert same_bits(OPS[name](*map(sg.asarray, operands), **attrs).numpy(), found)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("name", sorted(LIMITS))
def test_value_is_the_limit(name: str, dtype: str, request: pytest.FixtureRequest):
    known(request, "special_value", name)
    attrs, wanted = LIMITS[name]
    found = OPS[name](_AT.astype(dtype), **attrs).numpy()
    np.testing.assert_allclose(found, np.array(wanted, dtype), rtol=0, atol=1e-290)


# --- derivatives ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("level", ["none", None])
@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_derivative_is_the_documented_one(
    row: Any, level: Any, dtype: str, request: pytest.FixtureRequest
):
    known(request, "special_derivative", row[0])
    derivative_is_documented(row, level, dtype)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("level", ["none", None])
@pytest.mark.parametrize("row", SECOND, ids=[row[0] for row in SECOND])
def test_second_derivative(row: Any, level: Any, mode: str, request: pytest.FixtureRequest):
    known(request, f"second_{mode}", row[0])
    second_is_documented(row, level, mode)


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
