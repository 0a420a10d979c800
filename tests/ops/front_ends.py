"""One function in every front end: at once, as a graph, and as a graph with named sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad as sg


def check_everywhere(
    function: Callable[..., Any],
    expected: Any,
    *arrays: Any,
    rtol: float = 1e-13,
    atol: float = 0.0,
    named: bool = True,
) -> None:
    """Compare values, shape and element type in all front ends with the expected array.

    Args:
        function: from arrays, tensors or symbols to one of them.
        expected: what numpy gives.
        arrays: the operands.
        rtol, atol: how close values must be; 0 both for equal.
        named: whether to try named sizes, one name for each axis of each operand. Axes of size 1
            keep their size: a name is never 1 by surprise.
    """
    values = [np.asarray(a) for a in arrays]
    want = np.asarray(expected)
    _compare(np.asarray(function(*values)), want, rtol, atol)
    for name_sizes in (False, True) if named else (False,):
        inputs = [
            sg.placeholder(f"x{k}", _shape(k, v.shape) if name_sizes else v.shape, v.dtype)
            for k, v in enumerate(values)
        ]
        symbol = function(*inputs)
        assert symbol.dtype == want.dtype
        assert symbol.ndim == want.ndim
        if not name_sizes:
            assert symbol.shape == want.shape
        got = sg.evaluate(symbol, dict(zip(inputs, values, strict=True)))
        _compare(np.asarray(got), want, rtol, atol)


def _shape(k: int, shape: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(1 if n == 1 else f"n{k}_{axis}" for axis, n in enumerate(shape))


def _compare(got: np.ndarray, want: np.ndarray, rtol: float, atol: float) -> None:
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)
