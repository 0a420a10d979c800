"""What layers do besides arithmetic: look up a row per index, drop elements by chance."""

from __future__ import annotations

import operator
from typing import Any

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ops
from symgrad.ops.families import Array, composite
from symgrad.ops.parameters import is_number, require_probability
from symgrad.ops.random import bernoulli
from symgrad.ops.scalar import stop_gradient, where
from symgrad.types import default_float, is_inexact, normalize_axes


@composite
def embedding(indices: Array, weight: Array, /, *, padding_idx: int | None = None) -> Any:
    """The rows of ``weight`` at the indices.

    Args:
        indices: integers of any shape; negative ones count from the end.
        weight: (rows, …) numbers.
        padding_idx: a row that gets no gradient.
    Returns:
        The shape of ``indices``, followed by that of a row.
    Raises:
        ShapeError: weight has no axis. DTypeError: indices are no integers.
        ArgumentError: there is no row ``padding_idx``.
        IndexError: an index is out of range, when it runs.

    >>> import symgrad as sg
    >>> sg.embedding(sg.asarray([2, 0]), sg.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    Tensor([[5., 6.],
            [1., 2.]])
    """
    name = "embedding"
    indices, weight = ops.asarray(indices), ops.asarray(weight)
    if weight.ndim == 0:
        raise ShapeError(name, "weight has no axis of rows", expected="1 axis or more", got=weight)
    found = ops.take(weight, indices, axis=0)
    if padding_idx is None:
        return found
    row, rows = operator.index(padding_idx), weight.shape[0]
    if isinstance(rows, int) and not -rows <= row < rows:
        raise ArgumentError(
            name, "padding_idx is no row", expected=f"-{rows} to {rows - 1}", got=padding_idx
        )
    row = row + rows if row < 0 else row
    padding = (indices == row) | (indices == row - rows)
    shape = (*indices.shape, *[1] * (weight.ndim - 1))
    return where(ops.reshape(padding, shape), stop_gradient(found), found)


@composite(namespace="random")
def dropout(key: Array, x: Array, p: float = 0.5, *, axis: Any = None) -> Any:
    """Zeros with probability ``p``, all other elements divided by ``1 - p``.

    Source: Srivastava and others, Dropout (2014).

    Args:
        key: (2,) words.
        x: real or complex numbers.
        p: a number from 0 to 1; with 1, all is 0.
        axis: the axes along which positions are dropped by themselves, those of other axes together
            with them: ``(0, 1)`` drops whole channels of (batch, channels, …). None: all axes.
    Raises:
        ArgumentError: p is no probability. ShapeError: an axis does not exist.
        DTypeError: the key is no key.

    >>> import symgrad as sg
    >>> x = sg.random.dropout(sg.random.key(0), sg.ones((1000,)), 0.25)
    >>> bool(sg.all((x == 0) | (x == 4 / 3))), abs(float(sg.mean(x == 0)) - 0.25) < 0.05
    (True, True)
    """
    name = "random.dropout"
    if not is_number(p):
        raise ArgumentError(name, "p is no number", expected="0 to 1", got=repr(p))
    require_probability(name, p)
    x = ops.asarray(x)
    x = x if is_inexact(x.dtype) else ops.astype(x, default_float())
    if p == 0:
        return x
    axes = normalize_axes(axis, x.ndim, name)
    shape = tuple([size if k in axes else 1 for k, size in enumerate(x.shape)])
    kept = bernoulli(key, 1 - p, shape)
    return where(kept, x / (1 - p) if p < 1 else x, 0)
