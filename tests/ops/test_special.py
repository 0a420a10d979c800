"""Special functions: without scipy, at special values, in other element types."""

from __future__ import annotations

import subprocess
import sys
import textwrap

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


@pytest.mark.parametrize(
    "call",
    [
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
    assert found.split(":")[0] in ("lgamma", "digamma", "erfinv")


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
