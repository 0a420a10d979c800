"""Rows of losses, and of how near vectors are, with definitions in plain loops."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import mpmath
import numpy as np

import symgrad as sg
from tests.registry.formulas import near, rows
from tests.registry.sampling import S, Sample, between, called, kink, normal, on, rigid

REDUCTIONS = ("mean", "sum", "none")
_SIGNS = np.where(np.arange(35).reshape(5, 7) % 3 == 0, -1, 1)
_CLASSES = np.array([0, 2, 1, 2, 0])
_SETS = np.array([[0, 2, -1], [1, -1, 0], [-1, 1, 2], [1, 0, 2], [2, -1, -1]])


def _pairs(*more: Sample) -> list[Sample]:
    """A loss of two arrays of one shape, in every reduction."""
    usual = [S(normal(5, 7), normal(5, 7, seed=1), reduction=r) for r in REDUCTIONS]
    return [*usual, S(normal(), normal(seed=1)), S(normal(5), np.arange(5)), *more]


COMPOSITE_SAMPLES: dict[str, list[Sample]] = {
    "l1_loss": _pairs(kink(S(normal(5), normal(5)))),
    "huber_loss": _pairs(
        S(normal(5, 7), normal(5, 7, seed=1), delta=0.3),
        kink(S(np.array([1.5, -0.5, 0.0]), np.array([0.5, 0.5, 0.0]))),
    ),
    "smooth_l1_loss": _pairs(
        S(normal(5, 7), normal(5, 7, seed=1), beta=0.3),
        S(normal(5, 7), normal(5, 7, seed=1), beta=0),
        kink(S(np.array([1.5, -0.5, 0.0]), np.array([0.5, 0.5, 0.0]))),
    ),
    "poisson_nll_loss": [
        *(S(normal(5, 7), between(0, 4, 5, 7), reduction=r, full=True) for r in REDUCTIONS),
        S(between(0.2, 3, 5), np.arange(5), log_input=False, full=True),
        S(normal(5), between(0, 4, 5)),
    ],
    "gaussian_nll_loss": [
        *(
            S(normal(5, 7), normal(5, 7, seed=1), between(0.2, 3, 5, 7), reduction=r)
            for r in REDUCTIONS
        ),
        S(normal(5, 7), normal(5, 7, seed=1), between(0.2, 3, 5, 1), full=True),
        S(normal(5, 7), normal(5, 7, seed=1), between(0.2, 3, 5)),
        S(normal(5, 7), normal(5, 7, seed=1), between(0.2, 3), eps=1e-3),
        kink(S(normal(3), normal(3, seed=1), np.array([0.0, 0.001, 2.0]), eps=0.01)),
    ],
    "kl_div": [
        *(S(normal(5, 7), between(0.1, 1, 5, 7), reduction=r) for r in (*REDUCTIONS, "batchmean")),
        S(normal(5, 7), normal(5, 7, seed=1), log_target=True),
        kink(S(np.array([-1.0, -math.inf, -2.0]), np.array([0.5, 0.0, 0.0]))),
    ],
    "binary_cross_entropy": [
        *(S(between(0.1, 0.9, 5, 7), between(0, 1, 5, 7), reduction=r) for r in REDUCTIONS),
        rigid(called(on("weight"), between(0.1, 0.9, 5, 7), between(0, 1, 5, 7), normal(7))),
        kink(S(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0, 1, 0, 1]), reduction="none")),
    ],
    "soft_margin_loss": [S(normal(5, 7), _SIGNS, reduction=r) for r in REDUCTIONS],
    "hinge_embedding_loss": [
        *(S(normal(5, 7), _SIGNS, reduction=r, margin=0.3) for r in REDUCTIONS),
        kink(S(np.array([1.0, 1.0]), np.array([-1, 1]))),
    ],
    "margin_ranking_loss": [
        *(S(normal(5, 7), normal(5, 7, seed=1), _SIGNS, reduction=r) for r in REDUCTIONS),
        S(normal(5, 7), normal(5, 7, seed=1), _SIGNS, margin=0.5),
        kink(S(np.array([1.0, 2.0]), np.array([1.0, 2.0]), np.array([1, -1]))),
    ],
    "cosine_embedding_loss": [
        *(
            S(normal(5, 7), normal(5, 7, seed=1), _SIGNS[:, 0], reduction=r, margin=0.1)
            for r in REDUCTIONS
        ),
        S(normal(7), normal(7, seed=1), np.array(-1), margin=-0.5),
    ],
    "triplet_margin_loss": [
        *(
            S(normal(5, 7), normal(5, 7, seed=1), normal(5, 7, seed=2), reduction=r)
            for r in REDUCTIONS
        ),
        S(normal(5, 7), normal(5, 7, seed=1), normal(5, 7, seed=2), swap=True, margin=3.0, p=1.0),
        S(normal(5, 7), normal(5, 7, seed=1), normal(5, 7, seed=2), p=3.0, eps=0.1),
    ],
    "multi_margin_loss": [
        *(rigid(S(normal(5, 3), _CLASSES, reduction=r)) for r in REDUCTIONS),
        rigid(S(normal(5, 3), _CLASSES, between(0.5, 2, 3), p=2, margin=0.5)),
        rigid(S(normal(3), np.array(1))),
        rigid(S(normal(2, 4, 3), np.array([[0, 1, 2, 2], [2, 1, 0, 0]]), reduction="none")),
    ],
    "multilabel_margin_loss": [
        *(rigid(S(normal(5, 3), _SETS, reduction=r)) for r in REDUCTIONS),
        rigid(S(normal(3), np.array([2, 1, -1]))),
    ],
    "multilabel_soft_margin_loss": [
        *(S(normal(5, 7), between(0, 1, 5, 7), reduction=r) for r in REDUCTIONS),
        S(normal(7), between(0, 1, 7), between(0.5, 2, 7)),
    ],
    "normalize": [
        S(normal(5, 7)),
        S(normal(5, 7), p=1.0, axis=0),
        S(normal(5, 7, 6), axis=(0, 2), eps=3.0),
        kink(S(np.zeros((2, 3)))),
    ],
    "cosine_similarity": [
        S(normal(5, 7), normal(5, 7, seed=1)),
        S(normal(5, 1, 6), normal(7, 6), axis=-1),
        S(normal(5, 7), normal(5, 7, seed=1), axis=0, eps=2.0),
        kink(S(np.zeros((2, 3)), normal(2, 3))),
    ],
    "pairwise_distance": [
        S(normal(5, 7), normal(5, 7, seed=1)),
        S(normal(5, 7), normal(7), p=1.0, keepdims=True),
        S(normal(6, 5, 7), normal(5, 1), p=math.inf, eps=0.0),
        kink(S(normal(5), normal(5))),
    ],
}

# --- logarithms that are held ---------------------------------------------------------------------

DOMAINS = {"bounded_log": ((0.3, 2.0),), "bounded_log1p": ((-0.6, 2.0),)}

FORMULAS = {
    "bounded_log": [
        rows(mpmath.log, lambda x: 1 / x, [1e-9, 0.013, 0.5, 0.9, *near(1.0), 2.5, 1e100])
    ],
    "bounded_log1p": [
        rows(mpmath.log1p, lambda x: 1 / (1 + x), [-0.999, -0.5, -1e-9, 1e-300, 0.3, 1e100])
    ],
}


def _bce(x: Any, target: float) -> Any:
    return sg.binary_cross_entropy(x, sg.full_like(x, target))


ROWS: list[tuple[str, Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = [
    ("l1_loss of equal numbers", lambda x: sg.l1_loss(x, x + 0.0), (1.0,), (0.0,)),
    ("binary_cross_entropy at 0, yes", lambda x: _bce(x, 1.0), (0.0,), (-1e12,)),
    ("binary_cross_entropy at 1, no", lambda x: _bce(x, 0.0), (1.0,), (1e12,)),
    ("binary_cross_entropy at 0, no", lambda x: _bce(x, 0.0), (0.0,), (1.0,)),
    ("huber_loss at its turn", lambda x: sg.huber_loss(x, 0 * x), (1.0,), (1.0,)),
    ("smooth_l1_loss at its turn", lambda x: sg.smooth_l1_loss(x, 0 * x), (-1.0,), (-1.0,)),
    ("margin reached", lambda x: sg.hinge_embedding_loss(x, -sg.ones_like(x)), (1.0,), (0.0,)),
    ("variance below eps", lambda v: sg.gaussian_nll_loss(0.0, 0.0, v, eps=0.25), (0.0,), (2.0,)),
    ("normalize at 0", lambda x: sg.sum(sg.normalize(x, eps=0.5)), ([0.0, 0.0],), ([2.0, 2.0],)),
]

# --- definitions ----------------------------------------------------------------------------------


def _reduced(losses: Any, reduction: str = "mean") -> Any:
    losses = np.asarray(losses, np.float64)
    return {"mean": np.mean, "sum": np.sum, "none": lambda v: v}[reduction](losses)


def _each(f: Callable[..., float]) -> Callable[..., Any]:
    """A loss by its definition for one element; the operands broadcast."""

    def loss(*arrays: Any, reduction: str = "mean", **attrs: Any) -> Any:
        cells = np.broadcast(*arrays)
        values = [f(*map(float, cell), **attrs) for cell in cells]
        return _reduced(np.reshape(values, cells.shape), reduction)

    return loss


def _rows(f: Callable[..., float]) -> Callable[..., Any]:
    """A loss by its definition for one vector of each operand."""

    def loss(*arrays: Any, reduction: str = "mean", **attrs: Any) -> Any:
        front = arrays[0].shape[:-1]
        values = [f(*(a[place] for a in arrays), **attrs) for place in np.ndindex(front)]
        return _reduced(np.reshape(values, front), reduction)

    return loss


def _huber(x: float, t: float, delta: float = 1.0) -> float:
    d = abs(x - t)
    return d * d / 2 if d <= delta else delta * (d - delta / 2)


def _smooth(x: float, t: float, beta: float = 1.0) -> float:
    d = abs(x - t)
    return d * d / 2 / beta if d < beta else d - beta / 2


def _poisson(x: float, t: float, log_input: bool = True, full: bool = False) -> float:
    loss = math.exp(x) - t * x if log_input else x - t * math.log(x + 1e-8)
    more = t * math.log(t) - t + math.log(2 * math.pi * t) / 2 if full and t > 1 else 0.0
    return loss + more


def _gaussian(x: Any, t: Any, v: Any, full: bool = False, eps: float = 1e-6, **more: Any) -> Any:
    v = v[:, None] if v.ndim == 1 and x.ndim == 2 else v
    v = np.maximum(v, eps)
    losses = 0.5 * (np.log(v) + (x - t) ** 2 / v) + full * 0.5 * math.log(2 * math.pi)
    return _reduced(losses, **more)


def _kl(logs: Any, t: Any, log_target: bool = False, reduction: str = "mean") -> Any:
    p = np.exp(t) if log_target else t
    with np.errstate(all="ignore"):
        losses = np.where(p > 0, p * (np.log(p) - logs), 0.0)
    if reduction == "batchmean":
        return np.sum(losses) / len(losses)
    return _reduced(losses, reduction)


def _bce_of(x: float, t: float) -> float:
    yes = max(math.log(x), -100) if x > 0 else -100.0
    no = max(math.log1p(-x), -100) if x < 1 else -100.0
    return -(t * yes + (1 - t) * no)


def _cosine(a: Any, b: Any) -> float:
    return float(a @ b / math.sqrt((a @ a + 1e-12) * (b @ b + 1e-12)))


def _cosine_embedding(a: Any, b: Any, t: Any, margin: float) -> float:
    return 1 - _cosine(a, b) if t == 1 else max(0.0, _cosine(a, b) - margin)


def _distance(a: Any, b: Any, p: float = 2.0, eps: float = 1e-6) -> float:
    return float(np.linalg.norm(a - b + eps, p))


def _triplet(a: Any, b: Any, c: Any, margin: float = 1.0, swap: bool = False, **how: Any) -> float:
    far = min(_distance(a, c, **how), _distance(b, c, **how)) if swap else _distance(a, c, **how)
    return max(0.0, margin + _distance(a, b, **how) - far)


def _multi_margin(
    x: Any, targets: Any, w: Any = None, p: int = 1, margin: float = 1.0, reduction: str = "mean"
) -> Any:
    def one(row: Any, y: int) -> float:
        terms = [max(0.0, margin - row[y] + row[i]) ** p for i in range(len(row)) if i != y]
        return sum(terms) * (1 if w is None else w[y]) / len(row)

    values = [one(x[place], int(targets[place])) for place in np.ndindex(targets.shape)]
    return _reduced(np.reshape(values, targets.shape), reduction)


def _chosen(targets: Any) -> Iterator[int]:
    for t in targets:
        if t < 0:
            return
        yield int(t)


def _multilabel(row: Any, targets: Any) -> float:
    wanted = list(_chosen(targets))
    others = [i for i in range(len(row)) if i not in wanted]
    return sum(max(0.0, 1 - (row[t] - row[i])) for t in wanted for i in others) / len(row)


def _multilabel_soft(x: Any, t: Any, w: Any = 1.0, **how: Any) -> Any:
    p = 1 / (1 + np.exp(-x))
    return _reduced(np.mean(-w * (t * np.log(p) + (1 - t) * np.log(1 - p)), axis=-1), **how)


def _normalized(x: Any, p: float = 2.0, axis: Any = -1, eps: float = 1e-12) -> Any:
    lengths = np.sum(np.abs(x) ** p, axis=axis, keepdims=True) ** (1 / p)
    return x / np.maximum(lengths, eps)


def _similarity(a: Any, b: Any, axis: int = -1, eps: float = 1e-8) -> Any:
    a, b = np.broadcast_arrays(a, b)
    return np.sum(_normalized(a, 2, axis, eps) * _normalized(b, 2, axis, eps), axis=axis)


REFERENCES: dict[str, Callable[..., Any]] = {
    "l1_loss": _each(lambda x, t: abs(x - t)),
    "huber_loss": _each(_huber),
    "smooth_l1_loss": _each(_smooth),
    "poisson_nll_loss": _each(_poisson),
    "gaussian_nll_loss": _gaussian,
    "kl_div": _kl,
    "binary_cross_entropy": _each(_bce_of),
    "soft_margin_loss": _each(lambda x, t: math.log1p(math.exp(-t * x))),
    "hinge_embedding_loss": _each(lambda x, t, margin=1.0: x if t == 1 else max(0.0, margin - x)),
    "margin_ranking_loss": _each(lambda a, b, t, margin=0.0: max(0.0, -t * (a - b) + margin)),
    "cosine_embedding_loss": _rows(_cosine_embedding),
    "triplet_margin_loss": _rows(_triplet),
    "multi_margin_loss": _multi_margin,
    "multilabel_margin_loss": _rows(_multilabel),
    "multilabel_soft_margin_loss": _multilabel_soft,
    "normalize": _normalized,
    "cosine_similarity": _similarity,
    "pairwise_distance": lambda a, b, p=2.0, eps=1e-6, keepdims=False: np.linalg.vector_norm(
        a - b + eps, ord=p, axis=-1, keepdims=keepdims
    ),
}

LIMITS = {
    "bounded_log": ({}, [-100, -100, math.inf, math.nan, math.nan]),
    "bounded_log1p": ({}, [0, 0, math.inf, math.nan, math.nan]),
}
