# ruff: noqa: E501  # a table: one case a line
"""More cases of the kinds that public bug reports are about, each with its answer from mathematics.

Edge points of powers, ties, empty arrays, wrapping integers, half precision, selections with invalid
branches, second and third derivatives, nested derivatives, sizes known only when it runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.reports.symgrad_adapter import make

NAN, INF = np.nan, np.inf
a = np.array


def half(values: Any) -> np.ndarray:
    return np.array(values, np.float16)


def signed_root(A: Any) -> Callable[[Any], Any]:
    return lambda x: A.xp.where(x > 0, A.xp.sqrt(x), -A.xp.sqrt(-x))


def nested(A: Any) -> Any:
    """D of 12 x**4, made of derivatives by z at y, and by y at x, of x y**2 z**3."""
    return A.grad(lambda x: A.D(lambda y: A.D(lambda z: x * y**2 * z**3)(y))(x), a(1.5))


SECH2_20 = 4 * math.exp(-40) / (1 + math.exp(-40)) ** 2

# fmt: off
CASES: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "pow at (0, 0)": (lambda A, xp: A.grad(xp.pow, a(0.0), a(0.0), wrt=(0, 1)), (0.0, 0.0)),
    "pow of a negative base": (lambda A, xp: A.grad(xp.pow, a(-2.0), a(3.0), wrt=(0, 1)), (12.0, NAN)),
    "square at 0, orders 1 to 3": (lambda A, xp: [A.nth(lambda x: x**2.0, a(0.0), k) for k in (1, 2, 3)], [0.0, 2.0, 0.0]),
    "x**2.5 at 0": (lambda A, xp: [A.nth(lambda x: x**2.5, a(0.0), k) for k in (1, 2)], [0.0, 0.0]),
    "unsigned difference wraps": (lambda A, xp: A.value(lambda x, y: x - y, a([1], np.uint8), a([2], np.uint8)), [255]),
    "abs of the least int8": (lambda A, xp: A.value(xp.abs, a([-128], np.int8)), [-128]),
    "floor division of negatives": (lambda A, xp: A.value(lambda x: x // 3, a([-7, 7])), [-3, 2]),
    "remainder of negatives": (lambda A, xp: A.value(lambda x: xp.remainder(x, 3), a([-7, 7])), [2, 1]),
    "slopes of the remainder": (lambda A, xp: A.grad(xp.remainder, a(-7.0), a(3.0), wrt=(0, 1)), (1.0, 3.0)),
    "mean of nothing": (lambda A, xp: A.value(xp.mean, np.zeros(0)), NAN),
    "mean of uint8": (lambda A, xp: A.value(xp.mean, a([250, 251], np.uint8)), 250.5),
    "cube of abs at 0": (lambda A, xp: [A.nth(lambda x: xp.abs(x) ** 3, a(0.0), k) for k in (1, 2)], [0.0, 0.0]),
    "x abs(x) at 0": (lambda A, xp: A.nth(lambda x: x * xp.abs(x), a(0.0), 1), 0.0),
    "signed root, second order": (lambda A, xp: A.nth(signed_root(A), a(-4.0), 2), 0.03125),
    "length, second order": (lambda A, xp: A.hessian(lambda p: xp.sqrt(p[0] ** 2 + p[1] ** 2), a([3.0, 4.0])), [[0.128, -0.096], [-0.096, 0.072]]),
    "angle, second order": (lambda A, xp: A.hessian(lambda p: xp.atan2(p[0], p[1]), a([3.0, 4.0])), [[-0.0384, -0.0112], [-0.0112, 0.0384]]),
    "repeated negative indices": (lambda A, xp: A.grad(lambda x: xp.sum(x[a([-1, 2, -1])] ** 2), a([1.0, 2.0, 3.0])), [0.0, 0.0, 18.0]),
    "repeated index pairs": (lambda A, xp: A.grad(lambda x: xp.sum(x[a([0, 0]), a([1, 1])] * x[1, 0]), a([[1.0, 2.0], [3.0, 4.0]])), [[0.0, 6.0], [4.0, 0.0]]),
    "deviation of equals, second order": (lambda A, xp: A.hessian(xp.std, a([2.0, 2.0])), np.zeros((2, 2))),
    "product with zeros, second order": (lambda A, xp: A.hessian(xp.prod, a([0.0, 2.0, 0.0])), [[0, 0, 2], [0, 0, 0], [2, 0, 0]]),
    "running product with a zero": (lambda A, xp: A.vjp(xp.cumulative_prod, (a([2.0, 0.0, 3.0]),), np.ones(3))[0], [1.0, 8.0, 0.0]),
    "stable descending sort": (lambda A, xp: A.vjp(lambda x: xp.sort(x, descending=True), (a([1.0, 2.0, 1.0, 2.0]),), a([1.0, 2.0, 3.0, 4.0]))[0], [3.0, 1.0, 4.0, 2.0]),
    "logsumexp of rows of -inf": (lambda A, xp: A.grad(lambda x: xp.sum(xp.logsumexp(x, axis=1)), a([[-INF, -INF], [0.0, -INF]])), [[0, 0], [1, 0]]),
    "softmax in half precision": (lambda A, xp: A.value(xp.softmax, half([6e4, 6e4, -6e4])), half([0.5, 0.5, 0.0])),
    "length in half precision": (lambda A, xp: A.value(xp.linalg.vector_norm, half([300, 400])), half(500)),
    "determinant at zero": (lambda A, xp: A.grad(xp.linalg.det, np.zeros((3, 3))), np.zeros((3, 3))),
    "determinant of nothing": (lambda A, xp: A.value(xp.linalg.det, np.zeros((0, 0))), 1.0),
    "inverse, second order": (lambda A, xp: A.hessian(lambda m: xp.linalg.inv(m)[0, 0], a([[2.0]])), [[[[0.25]]]]),
    "tanh far out": (lambda A, xp: [A.nth(xp.tanh, a(20.0), k) for k in (1, 2)], [SECH2_20, -2 * SECH2_20 * math.tanh(20)]),
    "quotient under a selection": (lambda A, xp: A.grad(lambda x: xp.sum(xp.where(x != 0, x / xp.sqrt(xp.abs(x)), 0.0)), a([0.0, 4.0])), [0.0, 0.25]),
    "derivatives nested three deep": (lambda A, xp: nested(A), 162.0),
    "mean over a named size": (lambda A, xp: A.poly(lambda x: xp.mean(x, axis=0) + xp.sum(x[1:]), [("n", 2)], [(np.ones((1, 2)),), (np.ones((3, 2)),)]), [[1, 1], [5, 5]]),
    "joining nothing of a named size": (lambda A, xp: A.poly(lambda x: xp.sum(xp.concat([x, x[::-1]])), [("n",)], [(np.ones(0),), (np.ones(3),)]), [0.0, 6.0]),
    "diagonal by labels": (lambda A, xp: A.grad(lambda m: xp.sum(xp.einsum("ii->i", m) ** 2), a([[1.0, 2.0], [3.0, 4.0]])), [[2, 0], [0, 8]]),
    "halves round to even": (lambda A, xp: A.value(xp.round, a([0.5, 1.5, -0.5])), [0.0, 2.0, -0.0]),
    "gather under a selection": (lambda A, xp: A.grad(lambda x: xp.sum(xp.where(a([True, False]), xp.log(xp.take(x, a([1, 0]), axis=0)), 0.0)), a([0.0, 2.0])), [0.0, 0.5]),
    "product under a selection": (lambda A, xp: A.grad(lambda x: xp.where(x > 1, x * xp.log(x - 1), 0.0), a(0.5)), 0.0),
}
# fmt: on


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("variant", [None, "plain"])
@pytest.mark.parametrize("name", CASES)
def test_more_reports(name: str, variant: str | None) -> None:
    adapter = make(variant)
    work, want = CASES[name]
    got = work(adapter, adapter.xp)
    pairs = zip(got, want, strict=True) if isinstance(got, (list, tuple)) else [(got, want)]
    for value, expected in pairs:
        np.testing.assert_allclose(value, expected, rtol=1e-9)
        assert np.shape(value) == np.shape(expected)
