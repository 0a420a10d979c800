"""Rows of normalisations, attention, and layers that look up or drop."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad as sg
from tests.registry.sampling import KEY, S, Sample, between, called, keyed, kink, normal, rigid

_MASK = np.arange(35).reshape(5, 7) % 3 > 0
_NONE_SEEN = np.arange(5)[:, None] > np.zeros(7)
_ROWS = np.array([[0, 2], [2, 4]])

SAMPLES: dict[str, list[Sample]] = {
    "standardized": [
        S(normal(5, 7), axis=(1,), eps=1e-5),
        S(normal(5, 7, 6), axis=(0, 2), eps=0.5),
        S(normal(5, 7), axis=(0, 1), eps=0.0),
        S(np.full((2, 3), 0.1), axis=(1,), eps=1e-3),
        S(np.array(0.7), axis=(), eps=1e-3),
    ],
}

COMPOSITE_SAMPLES: dict[str, list[Sample]] = {
    "layer_norm": [
        S(normal(5, 7)),
        S(normal(5, 7), normal(7), normal(7, seed=1), eps=0.1),
        S(normal(4, 5, 7), normal(5, 7), axis=(-2, -1)),
        S(normal(4, 5, 7), normal(5), normal(5, seed=1), axis=1),
    ],
    "rms_norm": [
        S(normal(5, 7)),
        S(normal(5, 7), normal(7), eps=0.1),
        S(normal(4, 5, 7), normal(5, 7), axis=(-2, -1), eps=1e-6),
    ],
    "group_norm": [
        Sample((normal(5, 6, 7),), {"num_groups": 3}, fixed={6: "cut in three"}),
        called(
            lambda op, x, w, b: op(x, 2, w, b, eps=0.1),
            normal(5, 6),
            normal(6),
            normal(6, seed=1),
            fixed={6: "cut in two"},
        ),
    ],
    "instance_norm": [S(normal(5, 4, 7)), S(normal(5, 4, 7, 6), normal(4), normal(4, seed=1))],
    "batch_norm": [
        S(normal(5, 7)),
        S(normal(5, 4, 7), normal(4), between(0.5, 2, 4), normal(4, seed=1), normal(4, seed=2)),
        S(normal(5, 4, 7), normal(7), between(0.5, 2, 7), axis=-1, eps=0.1),
    ],
    "local_response_norm": [
        S(normal(5, 6, 7), size=3, alpha=0.5),
        S(normal(5, 6), size=4, alpha=0.5, beta=0.5, k=2.0),
        S(normal(5, 6), size=1),
    ],
    "scaled_dot_product_attention": [
        S(normal(5, 4), normal(7, 4), normal(7, 3)),
        S(normal(2, 5, 4), normal(2, 7, 4), normal(2, 7, 3), is_causal=True, scale=0.3),
        S(normal(5, 4), normal(7, 4), normal(7, 3), _MASK),
        S(normal(2, 5, 4), normal(7, 4), normal(7, 3), normal(5, 7)),
        kink(S(normal(5, 4), normal(7, 4), normal(7, 3), _NONE_SEEN)),
    ],
    "embedding": [
        rigid(S(_ROWS, normal(5, 3))),
        rigid(S(np.array(-1), normal(5, 3, 2))),
        kink(rigid(S(_ROWS, normal(5, 3), padding_idx=2))),
        kink(rigid(S(_ROWS, normal(5, 3), padding_idx=-1))),
    ],
    "dropout": [
        keyed(called(lambda op, key, x: op(key, x, 0.3), KEY, normal(5, 7))),
        keyed(called(lambda op, key, x: op(key, x, axis=(0,)), KEY, normal(5, 7))),
        keyed(called(lambda op, key, x: op(key, x, 1.0), KEY, normal(5, 7))),
        keyed(called(lambda op, key, x: op(key, x, 0), KEY, normal(5, 7))),
    ],
}

# --- definitions ----------------------------------------------------------------------------------


def _standardized(x: Any, axis: Any, eps: float) -> Any:
    return (x - x.mean(axis=axis, keepdims=True)) / np.sqrt(x.var(axis=axis, keepdims=True) + eps)


def _layer(x: Any, w: Any = 1.0, b: Any = 0.0, axis: Any = -1, eps: float = 1e-5) -> Any:
    if axis == 1:
        w, b = w[:, None], b[:, None]
    return _standardized(x, axis, eps) * w + b


def _rms(x: Any, w: Any = 1.0, axis: Any = -1, eps: float = 2.0**-52) -> Any:
    return x / np.sqrt(np.mean(x * x, axis=axis, keepdims=True) + eps) * w


def _per_channel(f: Callable[[Any], Any], x: Any, w: Any, b: Any) -> Any:
    """A function of each channel by itself; with weight and bias."""
    result = np.stack([f(x[:, c]) for c in range(x.shape[1])], axis=1)
    for c in range(x.shape[1]):
        result[:, c] = result[:, c] * (1 if w is None else w[c]) + (0 if b is None else b[c])
    return result


def _group(x: Any, num_groups: int) -> Any:
    y = np.empty_like(x)
    for row, out in zip(x, y, strict=True):
        for part, place in zip(np.split(row, num_groups), np.split(out, num_groups), strict=True):
            place[...] = (part - part.mean()) / np.sqrt(part.var() + 1e-5)
    return y


def _instance(x: Any, w: Any = None, b: Any = None) -> Any:
    y = np.array([[(c - c.mean()) / np.sqrt(c.var() + 1e-5) for c in row] for row in x])
    return _per_channel(lambda channel: channel, y, w, b)


def _batch(
    x: Any,
    m: Any = None,
    v: Any = None,
    w: Any = None,
    b: Any = None,
    axis: int = 1,
    eps: float = 1e-5,
) -> Any:
    x = np.moveaxis(x, axis, 1)
    y = np.empty_like(x)
    for c in range(x.shape[1]):
        mean = x[:, c].mean() if m is None else m[c]
        var = x[:, c].var() if v is None else v[c]
        y[:, c] = (x[:, c] - mean) / np.sqrt(var + eps)
    return np.moveaxis(_per_channel(lambda channel: channel, y, w, b), 1, axis)


def _response(x: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Any:
    y = np.empty_like(x)
    for c in range(x.shape[1]):
        near = x[:, max(0, c - size // 2) : c + (size - 1) // 2 + 1]
        y[:, c] = x[:, c] / (k + alpha / size * np.sum(near**2, axis=1)) ** beta
    return y


def _attention(
    q: Any, k: Any, v: Any, mask: Any = None, is_causal: bool = False, scale: Any = None
) -> Any:
    scores = q @ k.mT * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    seen = np.ones(scores.shape[-2:], bool) if mask is None or mask.dtype != bool else mask
    if mask is not None and mask.dtype != bool:
        scores = scores + mask
    if is_causal:
        seen = seen & np.tril(np.ones_like(seen))
    powers = np.exp(scores) * seen
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total) @ v


REFERENCES: dict[str, Callable[..., Any]] = {
    "standardized": _standardized,
    "layer_norm": _layer,
    "rms_norm": _rms,
    "group_norm": _group,
    "instance_norm": _instance,
    "batch_norm": _batch,
    "local_response_norm": _response,
    "scaled_dot_product_attention": _attention,
    "embedding": lambda indices, weight, padding_idx=None: weight[indices],
}

ROWS: list[tuple[str, Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = [
    (
        "the padding row of an embedding",
        lambda w: sg.sum(sg.embedding(sg.asarray([0, 1, 1]), w, padding_idx=0)),
        ([1.0, 1.0, 1.0],),
        ([0.0, 2.0, 0.0],),
    ),
    (
        "a query that no key answers",
        lambda v: sg.sum(
            sg.scaled_dot_product_attention(
                sg.ones_like(v), sg.ones_like(v), v, sg.asarray([[False, False], [True, False]])
            )
        ),
        ([[1.0], [2.0]],),
        ([[1.0], [0.0]],),
    ),
]
