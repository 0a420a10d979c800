"""Activations: PyTorch's values, every order at infinity, refusals, named dimensions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError

INF, NAN = math.inf, math.nan

# PyTorch 2.13 at -2, -0.5, 0, 0.5, 3, to four digits.
PYTORCH: dict[str, tuple[Callable[..., Any], list[float]]] = {
    "gelu": (sg.gelu, [-0.0455, -0.1543, 0, 0.3457, 2.9960]),
    "silu": (sg.silu, [-0.2384, -0.1888, 0, 0.3112, 2.8577]),
    "mish": (sg.mish, [-0.2525, -0.2207, 0, 0.3753, 2.9865]),
    "elu": (sg.elu, [-0.8647, -0.3935, 0, 0.5, 3]),
    "selu": (sg.selu, [-1.5202, -0.6918, 0, 0.5254, 3.1521]),
    "celu": (sg.celu, [-0.8647, -0.3935, 0, 0.5, 3]),
    "hardsigmoid": (sg.hardsigmoid, [0.1667, 0.4167, 0.5, 0.5833, 1]),
    "hardswish": (sg.hardswish, [-0.3333, -0.2083, 0, 0.2917, 3]),
    "leaky_relu": (sg.leaky_relu, [-0.02, -0.005, 0, 0.5, 3]),
    "prelu": (lambda x: sg.prelu(x, 0.25), [-0.5, -0.125, 0, 0.5, 3]),
    "log_sigmoid": (sg.log_sigmoid, [-2.1269, -0.9741, -0.6931, -0.4741, -0.0486]),
    "softsign": (sg.softsign, [-0.6667, -0.3333, 0, 0.3333, 0.75]),
    "tanhshrink": (sg.tanhshrink, [-1.0360, -0.0379, 0, 0.0379, 2.0049]),
    "softshrink": (sg.softshrink, [-1.5, 0, 0, 0, 2.5]),
    "hardshrink": (sg.hardshrink, [-2, 0, 0, 0, 3]),
    "relu6": (lambda x: sg.relu6(3 * x), [0, 0, 0, 1.5, 6]),
    "hardtanh": (sg.hardtanh, [-1, -0.5, 0, 0.5, 1]),
}


@pytest.mark.parametrize("name", PYTORCH)
def test_values_are_those_of_pytorch(name: str) -> None:
    op, expected = PYTORCH[name]
    found = op(np.array([-2.0, -0.5, 0.0, 0.5, 3.0]))
    np.testing.assert_allclose(found.numpy(), expected, rtol=0, atol=6e-5)


# The value and the slope at minus and plus infinity; further derivatives vanish.
AT_INFINITY: dict[str, tuple[Callable[..., Any], tuple[float, float], tuple[float, float]]] = {
    "relu": (sg.relu, (0, INF), (0, 1)),
    "silu": (sg.silu, (0, INF), (0, 1)),
    "mish": (sg.mish, (0, INF), (0, 1)),
    "gelu": (sg.gelu, (0, INF), (0, 1)),
    "gelu tanh": (lambda x: sg.gelu(x, approximate="tanh"), (0, INF), (0, 1)),
    "softplus": (sg.softplus, (0, INF), (0, 1)),
    "squareplus": (sg.squareplus, (0, INF), (0, 1)),
    "log_sigmoid": (sg.log_sigmoid, (-INF, 0), (1, 0)),
    "elu": (sg.elu, (-1, INF), (0, 1)),
    "celu": (sg.celu, (-1, INF), (0, 1)),
    "hardswish": (sg.hardswish, (0, INF), (0, 1)),
    "hardsigmoid": (sg.hardsigmoid, (0, 1), (0, 0)),
    "softsign": (sg.softsign, (-1, 1), (0, 0)),
    "tanhshrink": (sg.tanhshrink, (-INF, INF), (1, 1)),
    "softshrink": (sg.softshrink, (-INF, INF), (1, 1)),
    "hardshrink": (sg.hardshrink, (-INF, INF), (1, 1)),
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("name", AT_INFINITY)
def test_every_order_at_infinity(name: str, dtype: str) -> None:
    op, values, slopes = AT_INFINITY[name]
    x = sg.placeholder("x", (), dtype)
    y = op(x)
    for order, expected in enumerate((values, slopes, (0, 0), (0, 0))):
        derivative = sg.nth_derivative(y, x, order) if order else y
        run = sg.function([x], derivative)
        assert [float(run(np.asarray(v, dtype))) for v in (-INF, INF)] == list(expected), order


@pytest.mark.parametrize("name", [n for n in PYTORCH if n not in ("relu6", "hardtanh")])
def test_nan_stays(name: str) -> None:
    assert np.isnan(PYTORCH[name][0](np.array([NAN])).numpy()).all()


@pytest.mark.parametrize(
    "op", [sg.selu, sg.celu, sg.mish, sg.softsign, sg.tanhshrink, sg.hardswish]
)
def test_integers_become_floats_and_complex_numbers_are_refused(op: Callable[..., Any]) -> None:
    assert op(sg.asarray([1, 2])).dtype == sg.float64
    with pytest.raises(DTypeError, match="expected floating, got complex128"):
        op(sg.asarray([1j]))


def test_integers_stay_between_integer_bounds() -> None:
    found = sg.relu6(sg.asarray([-1, 3, 9]))
    assert found.dtype == sg.int64
    assert found.tolist() == [0, 3, 6]


def test_refusals() -> None:
    with pytest.raises(ArgumentError, match=r"celu: alpha must not be 0"):
        sg.celu(1.0, alpha=0.0)
    with pytest.raises(ArgumentError, match=r"softshrink: lambd is negative: expected 0 or more"):
        sg.softshrink(1.0, lambd=-0.5)
    with pytest.raises(ArgumentError, match=r"squareplus: b must be positive"):
        sg.squareplus(1.0, b=0.0)
    with pytest.raises(ShapeError, match=r"glu: .*expected an even size, got 3"):
        sg.glu(np.zeros((2, 3)))


def test_glu_of_a_named_size() -> None:
    x = sg.placeholder("x", ("batch", 6))
    y = sg.glu(x)
    assert str(y.type) == "f64[batch, 3]"
    value = np.arange(12.0).reshape(2, 6)
    expected = value[:, :3] / (1 + np.exp(-value[:, 3:]))
    np.testing.assert_allclose(y.eval({x: value}), expected, rtol=1e-15)


def test_slope_per_channel() -> None:
    x = np.array([[[-1.0, 2.0], [-3.0, -4.0]]])
    weight = sg.placeholder("weight", (2, 1))
    y = sg.sum(sg.prelu(sg.constant(x), weight))
    (gradient,) = sg.grad(y, weight)
    given = {weight: np.array([[0.5], [0.1]])}
    assert sg.evaluate(y, given) == pytest.approx(-0.5 + 2 - 0.7)
    np.testing.assert_array_equal(sg.evaluate(gradient, given), [[-1.0], [-7.0]])
