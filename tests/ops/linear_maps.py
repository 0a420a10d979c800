"""An oracle for linear ops: a map and its transpose have the same inner products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.ir.walk import reachable


def check_linear(function: Callable[..., Any], *arrays: Any, named: bool = True) -> None:
    """Compare gradients, forward derivatives and guards of a linear function with its values.

    Args:
        function: from as many arrays, tensors or symbols to one of them; linear in all together.
        arrays: the operands; they only give shapes and element types.
        named: whether to try named sizes too; axes of size 1 keep theirs.
    """
    rng = np.random.default_rng(11)
    values = [_drawn(rng, np.asarray(a)) for a in arrays]
    out = np.asarray(function(*values))
    ct = _drawn(rng, out)
    moved = [_drawn(rng, v) for v in values]
    along = np.asarray(function(*moved)).astype(out.dtype)
    zero = np.asarray(function(*[np.zeros_like(v) for v in values]))
    found = []
    for names in (False, True) if named else (False,):
        inputs = [
            sg.placeholder(f"x{k}", _named(k, v.shape) if names else v.shape, v.dtype)
            for k, v in enumerate(values)
        ]
        tangents = [sg.placeholder(f"t{k}", x.shape, x.dtype) for k, x in enumerate(inputs)]
        y = function(*inputs)
        weights = sg.placeholder("ct", y.shape, y.dtype)
        feeds = dict(zip([*inputs, *tangents, weights], [*values, *moved, ct], strict=True))
        options = {"allow_unused": True, "materialize_grads": True}
        got = sg.evaluate(list(sg.grad(y, inputs, grad_outputs=weights, **options)), feeds)
        for g, v in zip(got, values, strict=True):
            assert g.shape == v.shape
            assert g.dtype == v.dtype
        pulled = sum(np.vdot(g, t) for g, t in zip(got, moved, strict=True))
        np.testing.assert_allclose(np.real(np.vdot(ct, along - zero)), np.real(pulled), rtol=1e-10)
        pushed = sg.evaluate(sg.jvp(y, inputs, tangents)[0], feeds)
        np.testing.assert_allclose(pushed, along - zero, rtol=1e-12, atol=1e-12)
        found.append(got)
        if not names:
            _check_guards(y, feeds)
    for concrete, symbolic in zip(found[0], found[-1], strict=True):
        np.testing.assert_array_equal(concrete, symbolic)


def _check_guards(y: Any, feeds: Any) -> None:
    """A guard holds exactly where a transposed positive weight arrives."""
    rng = np.random.default_rng(12)
    for symbol in reachable([y]):
        op = symbol.op
        if op.family != "linear" or not callable(op.guard):
            continue
        predicate = rng.uniform(size=symbol.shape) < 0.5
        for i, arg in enumerate(symbol.args):
            if arg.dtype.kind not in "fc":
                continue
            guard = op.guard(i, sg.constant(predicate), symbol, symbol.args, symbol.attrs)
            if not isinstance(guard, sg.Symbol):
                continue
            weights = sg.constant(predicate.astype(np.float64))
            weight = op.vjp(i, weights, symbol, symbol.args, symbol.attrs)
            assert guard.dtype == bool
            assert guard.shape == arg.shape
            holds, arrives = sg.evaluate([guard, weight], feeds)
            np.testing.assert_array_equal(holds, arrives != 0)


def _named(k: int, shape: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(1 if n == 1 else f"n{k}_{axis}" for axis, n in enumerate(shape))


def _drawn(rng: np.random.Generator, model: Any) -> np.ndarray:
    """Small whole numbers: every element type holds them, and their products, exactly."""
    model = np.asarray(model)
    real = rng.integers(-9, 10, size=model.shape)
    return np.asarray(
        real + 1j * rng.integers(-9, 10, size=model.shape) if model.dtype.kind == "c" else real
    ).astype(model.dtype)
