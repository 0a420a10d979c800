"""Attention: averages of values, weighted by how well keys answer a query."""

from __future__ import annotations

import math
from typing import Any

from symgrad.errors import ShapeError
from symgrad.ir.op import ops
from symgrad.ops.families import Array, composite
from symgrad.ops.loss_reduction import as_floats
from symgrad.ops.scalar import astype, where
from symgrad.ops.softmax import share
from symgrad.types import is_bool


@composite
def scaled_dot_product_attention(
    query: Array,
    key: Array,
    value: Array,
    /,
    mask: Array | None = None,
    *,
    is_causal: bool = False,
    scale: Any = None,
) -> Any:
    """``softmax(query @ key.T * scale + mask) @ value``.

    Source: Vaswani and others, Attention is all you need (2017).

    Args:
        query: (…, queries, n) numbers.
        key: (…, keys, n) numbers.
        value: (…, keys, m) numbers.
        mask: an array that broadcasts to (…, queries, keys): booleans, true where a key takes part;
            or numbers that are added. A query that no key answers gets zeros, not NaN.
        is_causal: query i sees the keys up to i alone.
        scale: a number; None: ``1 / sqrt(n)``.
    Returns:
        (…, queries, m) numbers.
    Raises:
        ShapeError: shapes do not fit.

    >>> import symgrad as sg
    >>> q, k, v = sg.asarray([[0.0]]), sg.asarray([[1.0], [2.0]]), sg.asarray([[3.0], [5.0]])
    >>> sg.scaled_dot_product_attention(q, k, v)
    Tensor([[4.]])
    >>> sg.scaled_dot_product_attention(q, k, v, sg.asarray([False, True]))
    Tensor([[5.]])
    """
    name = "scaled_dot_product_attention"
    query, key, value = (
        _vectors(name, argument, x)
        for argument, x in (("query", query), ("key", key), ("value", value))
    )
    scaled = query * (_usual_scale(query) if scale is None else scale)
    scores = ops.matmul(scaled, ops.matrix_transpose(key))
    if mask is not None:
        scores = _masked(scores, ops.asarray(mask))
    if is_causal:
        rows, columns = ops.arange(scores.shape[-2]), ops.arange(scores.shape[-1])
        scores = _masked(scores, ops.expand_dims(rows, axis=-1) >= columns)
    weights = share(scores, axis=(scores.ndim - 1,))
    return ops.matmul(weights, value)


def _vectors(name: str, argument: str, x: Any) -> Any:
    x = as_floats(name, argument, x)
    if x.ndim < 2:
        raise ShapeError(name, f"{argument} has too few axes", expected="2 or more", got=x.type)
    return x


def _usual_scale(query: Any) -> Any:
    width = query.shape[-1]
    if isinstance(width, int):
        return 1 / math.sqrt(width) if width else 1.0
    return ops.rsqrt(ops.size(width, dtype=query.dtype))


def _masked(scores: Any, mask: Any) -> Any:
    if is_bool(mask.dtype):
        return where(mask, scores, -math.inf)
    return scores + (mask if mask.dtype == scores.dtype else astype(mask, scores.dtype))
