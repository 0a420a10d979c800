"""Rows of sums over alignments, with every path of the definition written out."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from tests.registry.sampling import S, Sample, called, kink, normal, rigid

TARGETS = np.array([[1, 1], [2, 1], [1, -7], [2, 0]])
"""A pair that a blank must divide, another pair, one label and none."""
TIMES, LABELLED = np.array([5, 4, 3, 2]), np.array([2, 2, 1, 0])
_SKIPS = np.array([[False, False, True, False], [False, False, False, True]])

SAMPLES: dict[str, list[Sample]] = {
    "banded_recurrence": [
        S(*(normal(5, 2, 4, seed=k) for k in range(4)), reverse=False),
        S(*(normal(5, 2, 4, seed=k) for k in range(4)), reverse=True),
        S(normal(4, 1), normal(4, 1, seed=1), normal(4, 1, seed=2), reverse=False),
    ],
    # Only states that are reached.
    "alignment_sums": [
        rigid(called(lambda op, x, skips: op(x, skips)[2:], normal(5, 2, 4), _SKIPS)),
        rigid(called(lambda op, x, skips: op(x, skips)[..., :2], normal(1, 2, 4), _SKIPS)),
        kink(rigid(S(normal(4, 2, 4), _SKIPS))),
    ],
}

COMPOSITE_SAMPLES: dict[str, list[Sample]] = {
    "ctc_loss": [
        *(
            rigid(S(normal(5, 4, 3), TARGETS, TIMES, LABELLED, reduction=r))
            for r in ("mean", "sum", "none")
        ),
        rigid(S(normal(5, 2, 3), np.array([[0, 1], [1, 0]]), [5, 4], [2, 2], blank=2)),
        rigid(S(normal(4, 3), np.array([2, 1]), 4, 2, reduction="none")),
        rigid(S(normal(2, 1, 3), np.array([[1, 1]]), [2], [2], zero_infinity=True)),
    ],
}


def ctc(
    log_probs: Any,
    targets: Any,
    times: Any,
    labelled: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """By definition: of all paths through the classes those that say the labels."""
    if log_probs.ndim == 2:
        one = (log_probs[:, None], np.asarray(targets)[None], [times], [labelled])
        return ctc(*one, blank, reduction, zero_infinity)[0 if reduction == "none" else ...]
    losses: list[float] = []
    for n in range(log_probs.shape[1]):
        wanted = [int(k) for k in targets[n][: labelled[n]]]
        total = 0.0
        for path in itertools.product(range(log_probs.shape[2]), repeat=int(times[n])):
            merged = [c for c, _ in itertools.groupby(path) if c != blank]
            if merged == wanted:
                total += math.exp(sum(float(log_probs[t, n, c]) for t, c in enumerate(path)))
        losses.append(-math.log(total) if total else (0.0 if zero_infinity else math.inf))
    if reduction == "none":
        return np.array(losses)
    counts = np.maximum(labelled, 1) if reduction == "mean" else np.ones(len(losses))
    return (np.mean if reduction == "mean" else np.sum)(np.array(losses) / counts)


def _banded(b: Any, *w: Any, reverse: bool) -> Any:
    """As one linear system."""
    size, states = len(b), b.shape[-1]
    result = np.empty_like(b)
    for at in np.ndindex(b.shape[1:-1]):
        system = np.eye(size * states).reshape(size, states, size, states)
        for k, t, i in itertools.product(range(len(w)), range(1, size), range(states)):
            if i >= k:
                system[t, i, t - 1, i - k] -= w[k][(t, *at, i)]
        matrix = system.reshape(size * states, -1)
        inner = b[(slice(None), *at)].reshape(-1)
        solved = np.linalg.solve(matrix.T if reverse else matrix, inner)
        result[(slice(None), *at)] = solved.reshape(size, states)
    return result


def _sums(x: Any, skips: Any) -> Any:
    """By definition: every path of steps."""
    result = np.full(x.shape, -np.inf)
    for t, n in np.ndindex(x.shape[:2]):
        weights: dict[int, float] = {}
        for path in itertools.product(range(x.shape[2]), repeat=t + 1):
            steps = list(itertools.pairwise(path))
            legal = path[0] < 2 and all(
                b - a in (0, 1) or (b - a == 2 and skips[n, b]) for a, b in steps
            )
            if legal:
                weight = math.exp(sum(x[u, n, s] for u, s in enumerate(path)))
                weights[path[-1]] = weights.get(path[-1], 0.0) + weight
        for state, weight in weights.items():
            result[t, n, state] = math.log(weight)
    return result


REFERENCES = {"ctc_loss": ctc, "banded_recurrence": _banded, "alignment_sums": _sums}
