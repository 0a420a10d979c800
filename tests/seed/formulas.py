"""The small formulas of the tutorials, and what tests say about tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

import symgrad as sg


def leaf(*values: float) -> sg.Tensor:
    """A vector that requires a gradient."""
    return sg.tensor([float(v) for v in values], requires_grad=True)


def plain(*values: float) -> sg.Tensor:
    """A vector that requires none."""
    return sg.tensor([float(v) for v in values])


def holds(tensor: Any, values: Any, *, rtol: float = 0) -> bool:
    """Whether it is a tensor of single precision with exactly these values."""
    assert isinstance(tensor, sg.Tensor)
    assert tensor.dtype == sg.float32
    assert tensor.shape == np.shape(values)
    np.testing.assert_allclose(tensor.numpy(), np.asarray(values, "float32"), rtol=rtol, atol=0)
    return True


def cubic() -> tuple[sg.Tensor, sg.Tensor, sg.Tensor]:
    """``Q = 3*a**3 - b**2`` at a = [2, 3], b = [6, 4]."""
    a, b = leaf(2, 3), leaf(6, 4)
    return a, b, 3 * a**3 - b**2


def product() -> tuple[sg.Tensor, sg.Tensor, sg.Tensor, sg.Tensor, sg.Tensor]:
    """``y = (w + x)*(w + 1)`` at w = 1, x = 2, and all on the way."""
    w, x = leaf(1), leaf(2)
    a, b = sg.add(w, x), sg.add(w, 1)
    return w, x, a, b, sg.mul(a, b)


def nodes(tensor: sg.Tensor) -> set[Any]:
    """All nodes of its recorded graph, leaves included."""
    pending, seen = [tensor.grad_fn], set[Any]()
    while pending:
        node = pending.pop()
        if node is not None and node not in seen:
            seen.add(node)
            pending.extend(before for before, _ in node.next_functions)
    return seen
