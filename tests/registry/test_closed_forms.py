"""Every element-wise function and its first derivatives against 50 digits."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad.ir.op import OPS
from symgrad.types import TensorType, is_inexact
from tests.registry.closed_forms import (
    COMPLEX_FORMULAS,
    COMPLEX_POINTS,
    FORMULAS,
    WITHOUT_FORMULA,
    Row,
    ulps,
)
from tests.registry.known import known
from tests.registry.running import run
from tests.registry.samples import is_elementwise, samples_of

ROWS = [(name, k) for name, rows in FORMULAS.items() for k in range(len(rows))]


def row_of(name: str, k: int) -> Row:
    return FORMULAS[name][k]


def columns(row: Row, dtype: Any) -> list[np.ndarray]:
    """The points by operand; in a narrower type, those that it holds."""
    wide = [np.array(column) for column in zip(*row.points, strict=True)]
    with np.errstate(all="ignore"):
        given = [column.astype(dtype) for column in wide]
    held = [np.isfinite(g) & ((g != 0) | (w == 0)) for g, w in zip(given, wide, strict=True)]
    return [g[np.all(held, axis=0)] for g in given]


def exact(f: Any, columns: list[np.ndarray]) -> list[Any]:
    return [f(*map(mpmath.mpmathify, map(type_of_number, point))) for point in zip(*columns, strict=True)]


def type_of_number(value: Any) -> Any:
    return complex(value) if np.iscomplexobj(value) else float(value)


def worst(found: np.ndarray, wanted: list[Any], columns: list[np.ndarray]) -> tuple[float, str]:
    errors = [ulps(g, w, found.dtype) for g, w in zip(found, wanted, strict=True)]
    k = int(np.argmax(errors))
    point = tuple(float(c[k]) for c in columns)
    return errors[k], f"at {point}: expected {mpmath.nstr(wanted[k], 20)}, got {found[k]!r}"


def floating_elementwise() -> list[str]:
    names: list[str] = []
    for name, op in OPS.items():
        if is_elementwise(name):
            sample = samples_of(name)[0]
            kind = op.infer([TensorType(v.shape, v.dtype) for v in sample.operands], sample.attrs)
            if is_inexact(kind.dtype):
                names.append(name)
    return names


def test_every_floating_function_has_a_closed_form():
    wanted = set(floating_elementwise())
    assert wanted - set(FORMULAS) - set(WITHOUT_FORMULA) == set()
    assert (set(FORMULAS) | set(WITHOUT_FORMULA)) - wanted == set(), "rows of ops that do not exist"


@pytest.mark.parametrize(("name", "k"), ROWS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_value(name: str, k: int, dtype: str, request: pytest.FixtureRequest):
    known(request, f"value_{dtype}", name)
    row = row_of(name, k)
    given = columns(row, dtype)
    xs = [sg.placeholder(f"x{j}", c.shape, c.dtype) for j, c in enumerate(given)]
    (found,) = run([OPS[name](*xs, **row.attrs)], dict(zip(xs, given, strict=True)))
    keep = in_domain(row, given)
    error, where = worst(found[keep], exact(row.value, [c[keep] for c in given]), [c[keep] for c in given])
    assert error <= row.ulps, f"{name}: {error:.1f} ulp {where}"


def in_domain(row: Row, given: list[np.ndarray]) -> np.ndarray:
    """Rounding to single precision may leave the domain, or hit a point where it ends."""
    keep: list[bool] = []
    for point in zip(*given, strict=True):
        try:
            value = row.value(*map(mpmath.mpf, map(float, point)))
            keep.append(bool(mpmath.isfinite(value)) and not isinstance(value, mpmath.mpc))
        except (ValueError, ZeroDivisionError):
            keep.append(False)
    return np.array(keep)


@pytest.mark.parametrize(("name", "k"), ROWS)
@pytest.mark.parametrize("level", ["none", None])
def test_partial_derivatives(name: str, k: int, level: str | None, request: pytest.FixtureRequest):
    known(request, "slope", name)
    row = row_of(name, k)
    given = columns(row, "float64")
    xs = [sg.placeholder(f"x{j}", c.shape) for j, c in enumerate(given)]
    total = sg.sum(OPS[name](*xs, **row.attrs))
    slopes = sg.grad(total, xs, materialize_grads=True, mode="reverse", level=level)
    found = run(slopes, dict(zip(xs, given, strict=True)))
    for j, partial in enumerate(row.partials):
        error, where = worst(found[j], exact(partial, given), given)
        assert error <= row.slope_ulps, f"{name}, operand {j}: {error:.1f} ulp {where}"


@pytest.mark.parametrize("name", COMPLEX_FORMULAS)
def test_complex_value_and_derivative(name: str, request: pytest.FixtureRequest):
    known(request, "complex", name)
    row = row_of(name, 0)
    arity = len(row.partials)
    given = [np.roll(np.array(COMPLEX_POINTS), j) for j in range(arity)]
    xs = [sg.placeholder(f"x{j}", c.shape, c.dtype) for j, c in enumerate(given)]
    y = OPS[name](*xs)
    # A holomorphic function's cotangent is conj(f').
    slopes = sg.grad([y], xs, [sg.ones_like(y)], mode="reverse", level="none")
    value, *found = run([y, *slopes], dict(zip(xs, given, strict=True)))
    np.testing.assert_allclose(value, np.array(exact(row.value, given), complex), rtol=1e-13)
    for j, partial in enumerate(row.partials):
        wanted = np.conj(np.array(exact(partial, given), complex))
        np.testing.assert_allclose(found[j], wanted, rtol=1e-13)
