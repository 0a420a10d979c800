"""Element-wise arithmetic: element types, kinds of zeros, whole periods, refusals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import DTypeError, ShapeError
from tests.ops.front_ends import check_everywhere

INF, NAN = math.inf, math.nan
RNG = np.random.default_rng(9)


@pytest.mark.parametrize(
    ("call", "dtype"),
    [
        (lambda: sg.exp2(np.array([3], "int8")), "float64"),
        (lambda: sg.exp2(np.array([3], "float16")), "float16"),
        (lambda: sg.fmax(np.array([3], "int8"), 2), "int8"),
        (lambda: sg.fmin(np.array([True]), np.array([False])), "bool"),
        (lambda: sg.fmax(np.array([3], "float32"), np.array([2], "float16")), "float32"),
        (lambda: sg.heaviside(np.array([3]), np.array([2])), "float64"),
        (lambda: sg.lerp(np.array([3], "float32"), 2, 0.5), "float32"),
        (lambda: sg.lerp(1, 2, np.array([0.5], "complex64")), "complex64"),
        (lambda: sg.float_power(np.array([2], "float16"), 2), "float64"),
        (lambda: sg.float_power(np.array([2], "complex64"), 2), "complex128"),
        (lambda: sg.deg2rad(np.array([180], "float16")), "float16"),
        (lambda: sg.rad2deg(np.array([1], "uint8")), "float64"),
        (lambda: sg.angle(np.array([1j], "complex64")), "float32"),
        (lambda: sg.unwrap(np.array([1, 9], "float32")), "float32"),
    ],
)
def test_element_types(call: Any, dtype: str) -> None:
    assert call().dtype == dtype


@pytest.mark.parametrize("quotient", [3, 7, 300, 4999])
def test_slope_of_fmod_just_below_a_multiple(quotient: int) -> None:
    divisors = RNG.uniform(0.1, 1.0, size=2000)
    below = np.nextafter(quotient * divisors, -INF)
    exact = list(map(_whole, below.tolist(), divisors.tolist()))
    a, b = sg.placeholder("a", (2000,)), sg.placeholder("b", (2000,))
    (slope,) = sg.grad(sg.sum(sg.fmod(a, b)), b)
    np.testing.assert_array_equal(slope.eval({a: below, b: divisors}), np.negative(exact))


def _whole(a: float, b: float) -> int:
    """The quotient without its fraction, of doubles as the fractions that they are."""
    (n, d), (m, e) = a.as_integer_ratio(), b.as_integer_ratio()
    return n * e // (d * m)


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.5, 1.0, 1.75, -2.0])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_lerp_goes_on_beyond_its_ends(weight: float, dtype: str) -> None:
    a, b = np.array([1.0, -2.0, 3.0], dtype), np.array([5.0, 7.0, 3.0], dtype)
    check_everywhere(lambda x, y: sg.lerp(x, y, weight), a + weight * (b - a), a, b, named=False)


def test_lerp_is_exact_at_its_ends() -> None:
    a, b = np.array([0.1, -INF, 1e300, 7.0]), np.array([0.7, 2.0, -1e308, INF])
    np.testing.assert_array_equal(sg.lerp(a, b, 0.0).numpy(), a)
    np.testing.assert_array_equal(sg.lerp(a, b, 1.0).numpy(), b)
    assert float(sg.lerp(-1.5e308, 1.5e308, 0.5)) == 0.0
    assert float(sg.lerp(INF, INF, 0.25)) == INF
    assert math.isnan(sg.lerp(2.0, 2.0, NAN))


def test_powers_of_integers_may_be_negative() -> None:
    assert sg.float_power(np.array([2, 4]), -1).numpy().tolist() == [0.5, 0.25]
    assert complex(sg.float_power(-1 + 0j, 0.5)) == pytest.approx(1j)


@pytest.mark.parametrize("x", [1.0, -1.0, 0.0, -0.0, INF, -INF, NAN, 1j, -1j, -2 - 2j, 0j])
def test_angles_are_those_of_numpy(x: Any) -> None:
    np.testing.assert_array_equal(sg.angle(x).numpy(), np.angle(x))
    np.testing.assert_array_equal(sg.angle(x, deg=True).numpy(), np.angle(x, deg=True))


def test_slope_of_an_angle() -> None:
    z = sg.placeholder("z", (), "complex128")
    (slope,) = sg.grad(sg.angle(z), z)
    # A turn by t moves the point z to z * (1 + 1j*t): the steepest way is 1j*z / |z|**2.
    assert complex(slope.eval({z: 3 + 4j})) == pytest.approx((-4 + 3j) / 25)
    assert complex(slope.eval({z: 0j})) == 0


@pytest.mark.parametrize(
    "options", [{}, {"period": 6.0}, {"discont": 4.0}, {"period": 5, "discont": 1.0}]
)
@pytest.mark.parametrize(("shape", "axis"), [((50,), -1), ((6, 7), 0), ((0,), 0), ((1, 3), 0)])
def test_unwrapped(shape: Any, axis: int, options: Any) -> None:
    x = np.cumsum(4 * RNG.normal(size=shape), axis=axis)
    wanted = np.unwrap(x, axis=axis, **options)
    check_everywhere(lambda v: sg.unwrap(v, axis=axis, **options), wanted, x, atol=1e-12)


def test_half_a_period_keeps_its_sign() -> None:
    x = np.array([0.0, 3.0, 0.0, -3.0, 0.0, 6.0, 0.0])
    np.testing.assert_array_equal(sg.unwrap(x, period=6).numpy(), np.unwrap(x, period=6))


def test_numpy_functions_find_these() -> None:
    x = sg.placeholder("x", (3,))
    for name in ("exp2", "deg2rad", "rad2deg", "angle", "unwrap"):
        assert getattr(np, name)(x) is getattr(sg, name)(x)
    for name in ("fmax", "fmin", "fmod", "heaviside", "float_power"):
        assert getattr(np, name)(x, 2.0) is getattr(sg, name)(x, 2.0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: sg.exp2(x * 1j), DTypeError, "exp2: element type of operand 0"),
        (lambda x: sg.fmax(x, x * 1j), DTypeError, "fmax: element type of operand 1"),
        (lambda x: sg.heaviside(x, x[:2]), ShapeError, "heaviside: shapes do not broadcast"),
        (lambda x: sg.deg2rad(x * 1j), DTypeError, "deg2rad: element type of x: expected real"),
        (lambda x: sg.unwrap(x * 1j), DTypeError, "unwrap: element type of x: expected real"),
        (lambda x: sg.unwrap(x, axis=1), ShapeError, "unwrap: axis out of range"),
        (lambda x: sg.unwrap(x[0]), ShapeError, "unwrap: axis out of range"),
        (lambda x: sg.float_power(x, x[:2]), ShapeError, "pow: shapes do not broadcast"),
    ],
)
def test_refusals(call: Any, error: Any, message: str) -> None:
    for x in (sg.ones(3), sg.placeholder("x", (3,))):
        with pytest.raises(error, match=message):
            call(x)
