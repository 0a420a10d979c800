"""Special functions: without scipy, at special values, in other element types."""

from __future__ import annotations

import math
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError

inf, nan = float("inf"), float("nan")


def without_scipy(code: str) -> str:
    """What a program prints where scipy cannot be found."""
    head = """
        import sys
        class Hidden:
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] == "scipy":
                    raise ModuleNotFoundError(name)
        sys.meta_path.insert(0, Hidden())
        import importlib.util
        find = importlib.util.find_spec
        importlib.util.find_spec = lambda name: None if name == "scipy" else find(name)
        import symgrad as sg
        x = sg.placeholder("x")
    """
    program = textwrap.dedent(head) + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout.strip()


def test_the_library_and_the_error_function_work_without_scipy():
    code = """
        slope = sg.grad(sg.erfc(x), x)[0]
        print(float(sg.erf(0.0)), float(sg.gelu(0.0)), float(slope.eval({x: inf})))
    """
    assert without_scipy("inf = float('inf')\n" + textwrap.dedent(code)) == "0.0 0.0 -0.0"


def test_functions_that_numpy_is_enough_for():
    code = """
        for y in (sg.erfcx(x), sg.log_ndtr(x), sg.zeta(x, 1.0), sg.polygamma(1, x)):
            slope = sg.grad(y, x)[0]
            print(round(float(slope.eval({x: 2.0})), 6))
    """
    # 4*erfcx(2) - 2/sqrt(pi), the density over the share, the slope of zeta at 2, -2*(zeta(3) - 1)
    expected = ["-0.106796", "0.055248", "-0.937548", "-0.404114"]
    assert without_scipy(code).split() == expected


@pytest.mark.parametrize(
    "call",
    [
        "sg.gammainc(1.0, 2.0)",
        "sg.lgamma(2.0)",
        "sg.function(x, sg.grad(sg.lgamma(x), x))",
        "sg.evaluate(sg.erfinv(x), {x: 0.5})",
        "sg.function([], sg.digamma(sg.constant(2.0)))",
    ],
)
def test_what_needs_scipy_says_so(call: str):
    code = f"""
        try:
            {call}
        except ImportError as error:
            print(error)
    """
    found = without_scipy(code)
    assert "scipy is not installed; hint: pip install 'symgrad[special]'" in found
    assert found.split(":")[0] in ("lgamma", "digamma", "erfinv", "gammainc")


@pytest.mark.parametrize(
    ("op", "x", "value"),
    [
        (sg.lgamma, 0.0, inf),
        (sg.lgamma, -2.0, inf),
        (sg.lgamma, inf, inf),
        (sg.digamma, -1.0, nan),
        (sg.gamma, 172.0, inf),
        (sg.erfinv, 1.0, inf),
        (sg.erfinv, 1.5, nan),
        (sg.ndtri, 0.0, -inf),
        (sg.log_ndtr, -inf, -inf),
        (sg.log_ndtr, inf, 0.0),
        (sg.ndtr, -inf, 0.0),
        (sg.erfcx, inf, 0.0),
        (sg.erfcx, -inf, inf),
        (sg.log1mexp, 0.0, -inf),
        (sg.log1mexp, -inf, 0.0),
        (sg.entr, -1.0, -inf),
        (sg.entr, 0.0, 0.0),
        (sg.i0e, inf, 0.0),
        (sg.dawsn, inf, 0.0),
    ],
)
def test_special_values(op, x: float, value: float):
    assert np.array_equal(op(x).numpy(), np.asarray(value), equal_nan=True)
    assert np.isnan(op(nan).numpy())


@pytest.mark.parametrize("name", ["lgamma", "digamma", "erfinv", "ndtr", "log_ndtr", "i0e", "mish"])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_narrow_types_are_rounded_once(name: str, dtype: str):
    op = getattr(sg, name)
    x = np.array([0.1, 0.3, 0.9], dtype)
    found = op(x)
    assert found.dtype == dtype
    np.testing.assert_allclose(found.numpy(), op(x.astype("f8")).numpy(), rtol=np.finfo(dtype).eps)


def test_integers_and_complex_numbers():
    assert sg.lgamma(sg.asarray([1, 3])).dtype == sg.float64
    with pytest.raises(DTypeError, match="expected floating, got complex128"):
        sg.lgamma(sg.asarray([1j]))


def test_third_derivative_of_lgamma():
    x = sg.placeholder("x")
    third = sg.nth_derivative(sg.lgamma(x), x, 3)
    assert float(third.eval({x: 1.0})) == pytest.approx(-2.4041138063191886, rel=1e-14)


def test_bad_orders():
    for order in (-1, 1.5, True):
        with pytest.raises(ArgumentError, match="polygamma: no such order"):
            sg.polygamma(order, 1.0)
    with pytest.raises(ArgumentError, match="multigammaln: no such dimension"):
        sg.multigammaln(1.0, 0)


def test_an_exported_file_needs_numpy_and_scipy_alone(tmp_path: Path):
    x = sg.placeholder("x", (2,))
    slope = sg.grad(sg.sum(sg.lgamma(x)), x)[0]
    path = tmp_path / "exported.py"
    sg.function([x], [sg.lgamma(x), slope]).export_python(path)
    text = path.read_text()
    assert "import scipy.special" in text
    assert "symgrad" not in text
    code = f"""
import sys, runpy
sys.modules["symgrad"] = None
print(*[v.tolist() for v in runpy.run_path({str(path)!r})["call"]([1.0, 3.0])])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    values = [float(word) for word in re.findall(r"[-\d.]+", done.stdout)]
    np.testing.assert_allclose(
        values, [0.0, math.log(2), -0.5772156649015329, 0.9227843350984671], rtol=1e-15, atol=1e-300
    )


def test_beta_of_negative_numbers_has_its_sign():
    assert float(sg.beta(-0.5, 3.0)) == pytest.approx(-16 / 3, rel=1e-15)
    assert float(sg.betaln(-0.5, 3.0)) == pytest.approx(math.log(16 / 3), rel=1e-15)


@pytest.mark.parametrize(
    ("op", "point", "orders"),
    [
        (sg.gammainc, (2.5, 1.5), (3, 0)),
        (sg.gammainc, (2.5, 4.5), (2, 1)),
        (sg.gammaincc, (2.5, 4.5), (1, 2)),
        (sg.betainc, (2.0, 3.0, 0.3), (1, 2, 0)),
        (sg.betainc, (2.0, 3.0, 0.7), (1, 1, 1)),
        (sg.betainc, (0.5, 0.5, 0.7), (0, 1, 2)),
        (sg.zeta, (2.5, 1.5), (1, 2)),
        (sg.betaln, (2.5, 1e-6), (1, 2)),
        (sg.xlogy, (2.0, 3.0), (1, 2)),
    ],
)
def test_mixed_third_derivatives(op, point: tuple[float, ...], orders: tuple[int, ...]):
    xs = [sg.placeholder(f"x{k}") for k in range(len(point))]
    y = op(*xs)
    for x, order in zip(xs, orders, strict=True):
        for _ in range(order):
            (y,) = sg.grad(y, x)
    found = float(sg.evaluate(y, dict(zip(xs, point, strict=True))))
    with mpmath.workdps(80):
        wanted = mpmath.diff(ORACLES[op.name], point, orders, h=mpmath.mpf(10) ** -20)
    assert found == pytest.approx(float(wanted), rel=1e-9)


ORACLES = {
    "gammainc": lambda a, x: mpmath.gammainc(a, 0, x, regularized=True),
    "gammaincc": lambda a, x: mpmath.gammainc(a, x, regularized=True),
    "betainc": lambda a, b, x: mpmath.betainc(a, b, 0, x, regularized=True),
    "zeta": mpmath.zeta,
    "betaln": lambda a, b: mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b),
    "xlogy": lambda a, b: a * mpmath.log(b),
}


@pytest.mark.parametrize("order", [3, 4, 5])
@pytest.mark.parametrize("name", ["j1", "i1", "i1e", "dawsn", "erfcx", "log_ndtr", "log1mexp"])
@pytest.mark.parametrize("point", [1e-6, 0.7, 9.0])
def test_derivatives_of_higher_order(name: str, order: int, point: float):
    x = sg.placeholder("x")
    y = sg.nth_derivative(getattr(sg, name)(x), x, order)
    with mpmath.workdps(120):
        step = mpmath.mpf(10) ** -20 * point
        wanted = mpmath.diff(ONE_NUMBER[name], mpmath.mpf(point), order, h=step)
    assert float(sg.evaluate(y, {x: point})) == pytest.approx(float(wanted), rel=1e-9, abs=1e-9)


ONE_NUMBER = {
    "j1": lambda x: mpmath.besselj(1, x),
    "i1": lambda x: mpmath.besseli(1, x),
    "i1e": lambda x: mpmath.exp(-x) * mpmath.besseli(1, x),
    "dawsn": lambda x: mpmath.exp(-x * x) * mpmath.erfi(x) * mpmath.sqrt(mpmath.pi) / 2,
    "erfcx": lambda x: mpmath.exp(x * x) * mpmath.erfc(x),
    "log_ndtr": lambda x: mpmath.log(mpmath.erfc(-x / mpmath.sqrt(2)) / 2),
    "log1mexp": lambda x: mpmath.log1p(-mpmath.exp(-x)),
}


@pytest.mark.parametrize(("point", "slopes"), [(-1e12, (1e12, -1.0)), (-1e100, (1e100, -1.0))])
def test_log_ndtr_far_out(point: float, slopes: tuple[float, float]):
    x = sg.placeholder("x")
    y = sg.log_ndtr(x)
    for order, wanted in enumerate(slopes, 1):
        found = sg.evaluate(sg.nth_derivative(y, x, order), {x: point})
        assert float(found) == pytest.approx(wanted, rel=1e-14)


@pytest.mark.parametrize(
    ("op", "shapes", "wanted"),
    [
        (sg.gammainc, [("n", 1), (3,)], "f64[n, 3]"),
        (sg.betainc, [("n",), (), ("m", "n")], "f64[m, n]"),
        (sg.zeta, [("n",), ("n",)], "f64[n]"),
        (sg.logaddexp2, [("n", 1), (3,)], "f64[n, 3]"),
    ],
)
def test_named_sizes_broadcast(op, shapes, wanted: str):
    xs = [sg.placeholder(f"x{k}", shape) for k, shape in enumerate(shapes)]
    assert str(op(*xs).type) == wanted
