"""Slots that layers further right fill once, when they are imported.

The graph language must be able to *reach* the differentiator, the executor and the eager front end
(``graph.differentiate``, ``symbol.eval``, ``sg.sin(ndarray)``) without importing them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _unset(*_args: Any, **_kwargs: Any) -> Any:
    raise RuntimeError("import symgrad, not one of its parts: this slot is filled by the package")


class Slots:
    """What reaches to the right of the graph language.

    Attributes:
        differentiate: ``(outputs, wrt) -> gradients`` by reverse or forward mode.
        push_forward: ``(outputs, inputs, tangents) -> tangents`` of the outputs, or ZERO.
        evaluate: ``(outputs, feeds) -> arrays``.
        apply_eager: ``(op, operands, attrs) -> Tensor``, the front end of calls without a symbol.
        as_tensor: ``(array) -> Tensor``.
        expand: ``(composite, args, kwargs)``, a composite's call on tensors.
        revive: ``(leaf) -> Tensor``, for the end of a graph whose tensor was dropped.
        backward: ``(tensors, gradients, retain_graph, create_graph, inputs)``, of tensors.
        tensor_gradients: ``sg.grad`` of tensors.
    """

    differentiate: Callable[..., Any] = staticmethod(_unset)
    push_forward: Callable[..., Any] = staticmethod(_unset)
    evaluate: Callable[..., Any] = staticmethod(_unset)
    apply_eager: Callable[..., Any] = staticmethod(_unset)
    as_tensor: Callable[..., Any] = staticmethod(_unset)
    expand: Callable[..., Any] = staticmethod(_unset)
    revive: Callable[..., Any] = staticmethod(_unset)
    backward: Callable[..., Any] = staticmethod(_unset)
    tensor_gradients: Callable[..., Any] = staticmethod(_unset)


late = Slots()
