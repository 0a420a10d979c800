"""The documented table of derivatives where there is none, an infinite one, or one easily lost."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad as sg
from tests.registry.families import gathered
from tests.registry.running import run

inf, nan = math.inf, math.nan

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
    (
        "max along an axis shares ties",
        lambda x: sg.sum(sg.max(x, axis=1)),
        ([[1.0, 1.0, 0.0]],),
        ([[0.5, 0.5, 0.0]],),
    ),
    ("sort keeps ties apart", lambda x: sg.sort(x)[0], ([1.0, 1.0],), ([1.0, 0.0],)),
    (
        "sort downwards keeps ties apart",
        lambda x: sg.sort(x, descending=True)[0],
        ([1.0, 1.0],),
        ([1.0, 0.0],),
    ),
    ("maximum at a tie", lambda x: sg.maximum(x, 1.0), (1.0,), (0.5,)),
    ("minimum at a tie", lambda x: sg.minimum(x, 1.0), (1.0,), (0.5,)),
    ("maximum of one with itself", lambda x: sg.maximum(x, x), (1.0,), (1.0,)),
    ("clip at the lower number", lambda x: sg.clip(x, 0.0, 1.0), (0.0,), (0.0,)),
    ("clip at the upper number", lambda x: sg.clip(x, 0.0, 1.0), (1.0,), (0.0,)),
    ("clip inside", lambda x: sg.clip(x, 0.0, 1.0), (0.5,), (1.0,)),
    ("clip at an array", lambda x, low: sg.clip(x, low), (1.0, 1.0), (0.5, 0.5)),
    (
        "max-pool takes the first",
        lambda x: sg.sum(sg.max_pool(x, 2)),
        ([[[1.0, 1.0, 3.0, 3.0]]],),
        ([[[1.0, 0.0, 1.0, 0.0]]],),
    ),
    (
        "max-pool of zeros, overlapping",
        lambda x: sg.sum(sg.max_pool(x, 3, stride=1)),
        (np.zeros((1, 1, 4, 4)),),
        ([[np.pad([[1.0, 1.0], [1.0, 1.0]], ((0, 2), (0, 2)))]],),
    ),
    ("prod with a zero", sg.prod, ([0.0, 2.0, 3.0],), ([6.0, 0.0, 0.0],)),
    ("prod with two zeros", sg.prod, ([0.0, 0.0, 3.0],), ([0.0, 0.0, 0.0],)),
    (
        "cumulative_prod with a zero",
        lambda x: sg.sum(sg.cumulative_prod(x)),
        ([2.0, 0.0, 3.0],),
        ([1.0, 8.0, 0.0],),
    ),
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
    (
        "det of a singular matrix",
        sg.linalg.det,
        ([[1.0, 2.0], [2.0, 4.0]],),
        ([[4.0, -2.0], [-2.0, 1.0]],),
    ),
    ("tanh far out", sg.tanh, (-400.0,), (4 * math.exp(-700) * math.exp(-100),)),
    ("sigmoid far out", sg.sigmoid, (-700.0,), (math.exp(-700.0),)),
]
"""What is promised where a derivative has no value, no finite one, or one that is easily lost."""
ROWS += gathered("ROWS")

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
    ("sinc at 0", sg.sinc, 0.0, -(math.pi**2) / 3),
    ("logsumexp of equal numbers", lambda x: sg.logsumexp(sg.stack([x, -x])), 0.0, 1.0),
]
SECOND += gathered("SECOND")


ZERO_TIMES_INFINITY = ("0**0.5", "(-2)**3")
"""A tangent of 0 along one operand meets an infinite or undefined partial of it."""


def derivative_is_documented(row: tuple[Any, ...], level: str | None, dtype: str) -> None:
    """One row in both modes: the gradient, and the slope along each axis."""
    label, f, point, wanted = row
    values = [np.asarray(p, dtype) for p in point]
    xs = [sg.placeholder(f"x{k}", v.shape, dtype) for k, v in enumerate(values)]
    y = f(*xs)
    feeds = dict(zip(xs, values, strict=True))
    pulled = sg.grad(y, xs, materialize_grads=True, mode="reverse", level=level)
    for gradient, expected in zip(run(pulled, feeds), wanted, strict=True):
        compare(gradient, expected, dtype)
    if label in ZERO_TIMES_INFINITY:
        return
    for k, expected in enumerate(wanted):
        for index in np.ndindex(values[k].shape):
            tangents = [np.zeros_like(v) for v in values]
            tangents[k][index] = 1
            seeds = [sg.constant(t) for t in tangents]
            (pushed,) = run(sg.jvp(y, xs, seeds, level=level), feeds)
            compare(pushed, np.asarray(expected)[index], dtype)


def second_is_documented(row: tuple[Any, ...], level: str | None, mode: str) -> None:
    """One row of second derivatives, both taken in one mode."""
    _, f, point, wanted = row
    x = sg.placeholder("x")
    options: Any = {"mode": mode, "level": level, "materialize_grads": True}
    (first,) = sg.grad(f(x), x, **options)
    (found,) = run(sg.grad(first, x, **options), {x: np.asarray(point)})
    np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-15)


def compare(found: Any, wanted: Any, dtype: str) -> None:
    """Equal but for the last bits, in every element, NaN and infinities included."""
    tolerance = 2e-15 if dtype == "float64" else 2e-6
    np.testing.assert_allclose(found, np.asarray(wanted, dtype), rtol=tolerance, atol=0)
