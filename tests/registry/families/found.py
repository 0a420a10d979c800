"""Ops whose results have sizes that only running tells, and membership."""

from __future__ import annotations

import numpy as np

from tests.registry.sampling import TRUE_FALSE, S, called, normal, rigid

_REPEATED = np.array([[7.0, 5.0, 7.0], [5.0, -1.0, 0.5]])
_SPECIAL = np.array([np.nan, 1.0, -0.0, np.nan, 0.0, np.inf])

SAMPLES = {
    "true_positions": [S(TRUE_FALSE), S(normal(5, 7) > 0), rigid(S(np.array([[0, 3], [2, 0]])))],
    "unique_pack": [rigid(S(_REPEATED)), rigid(S(_SPECIAL)), rigid(S(np.array(3.0)))],
    "isin": [
        S(np.array([1, 2, 3, 2]), np.array([[2], [9]])),
        S(normal(5), normal(7), invert=True),
        rigid(S(_SPECIAL, _SPECIAL[:2])),
    ],
}

COMPOSITE_SAMPLES = {
    "nonzero": [S(TRUE_FALSE), S(normal(5, 7) > 0)],
    "argwhere": [S(TRUE_FALSE), S(normal(5, 7) > 0)],
    "unique_all": [rigid(S(_REPEATED)), rigid(S(_SPECIAL))],
    "unique_counts": [rigid(S(_REPEATED))],
    "unique_inverse": [rigid(S(_REPEATED))],
    "unique_values": [rigid(S(_REPEATED)), rigid(S(np.array([3, 1, 3], np.uint8)))],
    "getitem": [
        called(lambda op, x, c: op(x, c > 0), normal(5, 7), normal(5, 7, seed=1)),
        called(lambda op, x, c: op(x, (slice(None), c > 0)), normal(5, 7), normal(7)),
    ],
}

REFERENCES = {
    "true_positions": lambda x: np.stack(np.nonzero(x)),
    "isin": lambda a, b, invert=False: np.array(
        [any(v == w for w in b.flat) != invert for v in a.flat]
    ).reshape(a.shape),
    "nonzero": np.nonzero,
    "argwhere": np.argwhere,
    "unique_all": lambda x: tuple(np.unique_all(x)),
    "unique_values": np.unique_values,
}
