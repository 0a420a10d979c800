"""Section 2.7: subgradients and values at the edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from tests.seed.formulas import holds, leaf

INF, NAN = np.inf, np.nan

ROWS: list[tuple[str, Callable[[Any], Any], list[float], list[float]]] = [
    ("abs at 0", lambda x: x.abs(), [0], [0]),
    ("relu at 0", lambda x: x.relu(), [0], [0]),
    ("sqrt at 0", lambda x: x.sqrt(), [0], [INF]),
    ("norm at 0", lambda x: x.norm(), [0, 0], [0, 0]),
    ("linalg norm at 0", sg.linalg.vector_norm, [0, 0], [0, 0]),
    ("std of constants", lambda x: x.std(), [1, 1, 1], [0, 0, 0]),
    ("std of constants, unbiased", lambda x: x.std(unbiased=True), [1, 1], [0, 0]),
    ("where, below", lambda x: sg.where(x > 0, sg.sqrt(x), x), [-1], [1]),
    ("where, at 0", lambda x: sg.where(x > 0, sg.sqrt(x), x), [0], [1]),
    ("max of all", lambda x: x.max(), [1, 1, 0], [0.5, 0.5, 0]),
    ("max with indices", lambda x: sg.max_with_indices(x, axis=0)[0], [1, 1, 0], [1, 0, 0]),
    ("amax", lambda x: x.amax(0), [1, 1, 0], [0.5, 0.5, 0]),
    ("sort", lambda x: sg.sort(x, descending=True)[:1], [1, 1, 0], [1, 0, 0]),
    ("topk", lambda x: x.topk(1).values, [1, 1, 0], [1, 0, 0]),
    ("maximum", lambda x: sg.maximum(x, 1.0), [1], [0.5]),
    ("clamp at numbers", lambda x: x.clamp(0, 1), [0, 1, 0.5], [0, 0, 1]),
    (
        "clamp at tensors",
        lambda x: x.clamp(sg.zeros(3), sg.ones(3)),
        [0, 1, 0.5],
        [0.5, 0.5, 1],
    ),
    ("relu6", sg.relu6, [0, 6], [0, 0]),
    ("hardtanh", sg.hardtanh, [-1, 1], [0, 0]),
    ("prod with a zero", lambda x: x.prod(), [0, 2, 3], [6, 0, 0]),
    ("cumprod", lambda x: x.cumprod(0), [2, 0, 3], [1, 8, 0]),
    ("x**0.0 at 0", lambda x: x**0.0, [0], [0]),
    ("x**0 at 0", lambda x: x**0, [0], [0]),
    ("logsumexp of -inf", lambda x: x.logsumexp(0), [-INF, -INF], [0, 0]),
    ("max pool", lambda x: sg.max_pool1d(x.view(1, 1, 4), 2), [1, 1, 1, 1], [1, 0, 1, 0]),
]


@pytest.mark.parametrize(
    ("f", "at", "gradient"), [row[1:] for row in ROWS], ids=[r[0] for r in ROWS]
)
def test_gradient(f: Callable[[Any], Any], at: list[float], gradient: list[float]) -> None:
    x = leaf(*at)
    f(x).sum().backward()
    assert holds(x.grad, gradient)


PAIRS: list[tuple[str, Callable[..., Any], float, float, float, float]] = [
    ("pow at 0", sg.pow, 0, 0.5, INF, 0),
    ("pow of a negative number", sg.pow, -2, 3, 12, NAN),
    ("hypot at 0", sg.hypot, 0, 0, 0, 0),
    ("atan2 at 0", sg.atan2, 0, 0, 0, 0),
]


@pytest.mark.parametrize(
    ("f", "a", "b", "by_a", "by_b"), [row[1:] for row in PAIRS], ids=[row[0] for row in PAIRS]
)
def test_two_gradients(f: Callable[..., Any], a: float, b: float, by_a: float, by_b: float) -> None:
    x, y = leaf(a), leaf(b)
    f(x, y).backward()
    assert holds(x.grad, [by_a])
    assert holds(y.grad, [by_b])


def test_overlapping_windows_count_at_the_first_cell() -> None:
    x = sg.zeros(1, 1, 4, 4, requires_grad=True)
    sg.max_pool2d(x, 3, stride=1, padding=1).sum().backward()
    ends = np.array([2, 1, 1, 0])
    assert holds(x.grad, np.outer(ends, ends)[None, None])


OUTSIDE: list[Callable[[sg.Tensor], Any]] = [
    lambda x: x[5],
    lambda x: x[sg.tensor([5])],
    lambda x: sg.take(x, sg.tensor([5])),
    lambda x: sg.gather(x, 0, sg.tensor([5])),
    lambda x: x.gather(dim=0, index=sg.tensor([5])),
    lambda x: x.index_select(0, sg.tensor([2])),
    lambda x: sg.zeros(2).scatter_(0, sg.tensor([2]), x[:1]),
]


@pytest.mark.parametrize("read", OUTSIDE)
def test_an_index_out_of_range(read: Callable[[sg.Tensor], Any]) -> None:
    with pytest.raises(IndexError, match=r"out of (range|bounds)"):
        read(leaf(1, 2))
