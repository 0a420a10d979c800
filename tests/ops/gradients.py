"""The gradient of a function of symbols, evaluated at a point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad as sg


def gradient(function: Callable[..., Any], *arrays: Any, ct: Any = None) -> Any:
    """The gradient of ``function`` at a point: an array, or one per operand."""
    inputs = [
        sg.placeholder(f"x{k}", np.shape(a), np.asarray(a).dtype) for k, a in enumerate(arrays)
    ]
    cotangent = None if ct is None else np.asarray(ct)
    gradients = sg.grad(function(*inputs), inputs, grad_outputs=cotangent)
    found = sg.evaluate(list(gradients), dict(zip(inputs, arrays, strict=True)))
    return found[0] if len(found) == 1 else found
