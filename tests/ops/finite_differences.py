"""An oracle for derivatives: central differences along random directions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import symgrad as sg


def check_derivatives(
    function: Callable[..., Any],
    *arrays: Any,
    order: int = 2,
    tolerance: float = 1e-6,
    step: float = 1e-5,
    directions: Callable[[np.random.Generator, np.ndarray], np.ndarray] | None = None,
) -> None:
    """Compare the derivatives of ``function``, up to ``order``, with differences of its values.

    Args:
        function: from symbols to one symbol or a tuple of them.
        arrays: the point.
        directions: draws a direction for an operand; the default is a normal vector.
    """
    rng = np.random.default_rng(7)
    values = [np.asarray(a) for a in arrays]
    inputs = [sg.placeholder(f"x{k}", v.shape, v.dtype) for k, v in enumerate(values)]
    outputs = function(*inputs)
    scalar = _paired_with_weights(outputs if isinstance(outputs, tuple) else (outputs,), rng)
    for _ in range(order):
        gradients = sg.grad(scalar, inputs, materialize_grads=True, allow_unused=True)
        along = [(directions or _normal)(rng, v) for v in values]
        moved = _slope(scalar, inputs, values, along, step)
        found = [
            np.asarray(g)
            for g in sg.evaluate(list(gradients), dict(zip(inputs, values, strict=True)))
        ]
        for g, v in zip(found, values, strict=True):
            assert g.shape == v.shape
            assert g.dtype == v.dtype
        expected = sum(
            float(np.sum(np.real(np.conj(g) * t))) for g, t in zip(found, along, strict=True)
        )
        scale = 1 + abs(moved)
        assert abs(moved - expected) <= tolerance * scale, (moved, expected)
        forward = sg.jvp(scalar, inputs, along)[0]
        pushed = float(sg.evaluate(forward, dict(zip(inputs, values, strict=True))))
        assert abs(pushed - expected) <= tolerance * scale, (pushed, expected)
        scalar = _paired_with_weights(gradients, rng)


def _normal(rng: np.random.Generator, model: np.ndarray) -> np.ndarray:
    real = rng.normal(size=model.shape)
    if model.dtype.kind == "c":
        return (real + 1j * rng.normal(size=model.shape)).astype(model.dtype)
    return real.astype(model.dtype)


def _paired_with_weights(outputs: Sequence[Any], rng: np.random.Generator) -> Any:
    """A real number that depends on every element of every output."""
    total: Any = None
    for output in outputs:
        weights = rng.normal(size=output.shape)
        if output.dtype.kind == "c":
            weights = weights + 1j * rng.normal(size=output.shape)
            term = sg.sum(sg.real(sg.conj(sg.constant(weights)) * output))
        else:
            term = sg.sum(sg.constant(weights) * output)
        total = term if total is None else total + term
    return total


def _slope(
    scalar: Any, inputs: Sequence[Any], values: Sequence[Any], along: Sequence[Any], step: float
) -> float:
    """The central difference, with the leading error removed by a second one of half the step."""

    def difference(h: float) -> float:
        ends = [
            float(
                sg.evaluate(
                    scalar,
                    {x: v + sign * h * t for x, v, t in zip(inputs, values, along, strict=True)},
                )
            )
            for sign in (1, -1)
        ]
        return (ends[0] - ends[1]) / (2 * h)

    return (4 * difference(step / 2) - difference(step)) / 3
