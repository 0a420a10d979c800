"""What numpy says of the same call: an independent value for ops that are not element-wise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.registry.families import gathered


def _kept(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis=None, keepdims=False: f(x, axis=axis, keepdims=keepdims)


def _moment(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis=None, correction=0, keepdims=False: f(
        x, axis=axis, ddof=correction, keepdims=keepdims
    )


def _logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    peak = np.max(x, axis=axis, keepdims=True)
    peak = np.where(np.isfinite(peak), peak, 0)
    total = np.log(np.sum(np.exp(x - peak), axis=axis, keepdims=True)) + peak
    return total if keepdims else np.squeeze(total, axis=axis)


def _sorted(x: Any, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    found = np.sort(x, axis=axis)
    return np.flip(found, axis=axis) if descending else found


def _cumulative(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis=None, dtype=None, include_initial=False: f(
        x, axis=axis, dtype=dtype, include_initial=include_initial
    )


def _recurrence(x: Any, b: Any, axis: int, reverse: bool) -> Any:
    n = x.shape[axis]
    rows = range(n - 1, -1, -1) if reverse else range(n)
    state: dict[int, Any] = {}
    for i in rows:
        factor, before = (i + 1, i + 1) if reverse else (i, i - 1)
        carried = np.take(x, factor, axis) * state[before] if before in state else 0
        state[i] = np.take(b, i, axis) + carried
    return np.stack([state[i] for i in range(n)], axis)


def _cofactor(x: Any) -> Any:
    """By definition: signed determinants of what is left without a row and a column."""
    n = x.shape[-1]
    result = np.empty_like(x)
    for i, j in np.ndindex(n, n):
        minor = np.delete(np.delete(x, i, -2), j, -1)
        result[..., i, j] = (-1) ** (i + j) * np.linalg.det(minor)
    return result


def _tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    return np.tensordot(a, b, axes)


REFERENCES: dict[str, Callable[..., Any]] = {
    "clone": np.copy,
    "reshape": np.reshape,
    "permute_dims": lambda x, axes: np.transpose(x, axes),
    "broadcast_to": lambda x, shape: np.broadcast_to(x, shape),
    "flip": lambda x, axis=None: np.flip(x, axis),
    "roll": lambda x, shift, axis=None: np.roll(x, shift, axis),
    "tril": lambda x, k=0: np.tril(x, k),
    "triu": lambda x, k=0: np.triu(x, k),
    "join": lambda *xs, axis: np.concatenate(xs, axis),
    "pad_constant": lambda x, widths, value: np.pad(x, widths, constant_values=value),
    "sum": np.sum,
    "prod": np.prod,
    "mean": np.mean,
    "var": _moment(np.var),
    "std": _moment(np.std),
    "max": _kept(np.max),
    "min": _kept(np.min),
    "any": np.any,
    "all": np.all,
    "count_nonzero": _kept(np.count_nonzero),
    "argmax": _kept(np.argmax),
    "argmin": _kept(np.argmin),
    "euclidean_length": lambda x, axis=None, keepdims=False: np.sqrt(
        np.sum(x * x, axis=axis, keepdims=keepdims)
    ),
    "logsumexp": _logsumexp,
    "cumulative_sum": _cumulative(np.cumulative_sum),
    "cumulative_prod": _cumulative(np.cumulative_prod),
    "recurrence": _recurrence,
    "softmax": lambda x, axis=-1: np.exp(x - _logsumexp(x, axis, True)),
    "log_softmax": lambda x, axis=-1: x - _logsumexp(x, axis, True),
    "matmul": np.matmul,
    "contract": lambda *xs, subscripts: np.einsum(subscripts, *xs),
    "take": lambda x, i, axis=None: np.take(x, i, axis),
    "sort": _sorted,
    "take_along_axis": lambda x, i, axis=-1: np.take_along_axis(x, i, axis),
    "where": np.where,
    "insertion_points": lambda a, v, side="left": np.searchsorted(a, v, side),
    "diagonal": lambda x, offset=0: np.diagonal(x, offset, -2, -1),
    "inv": np.linalg.inv,
    "det": np.linalg.det,
    "solve": np.linalg.solve,
    "cofactor": _cofactor,
    "cholesky": lambda x, upper=False: np.linalg.cholesky(x, upper=upper),
    "pinv": np.linalg.pinv,
    "eigvalsh": np.linalg.eigvalsh,
    "svdvals": lambda x: np.linalg.svd(x, compute_uv=False),
    "filled": lambda shape, fill_value, dtype=None: np.full(shape, fill_value, dtype),
    "counted": lambda start, stop, step, dtype=None: np.arange(start, stop, step, dtype),
    "identity_like": lambda n_rows, n_cols, k, dtype: np.eye(n_rows, n_cols, k, dtype),
    # functions made of ops
    "expand_dims": lambda x, axis: np.expand_dims(x, axis),
    "squeeze": lambda x, axis: np.squeeze(x, axis),
    "matrix_transpose": np.matrix_transpose,
    "concat": lambda *xs, axis=0: np.concatenate(xs, axis),
    "stack": lambda *xs, axis=0: np.stack(xs, axis),
    "broadcast_arrays": np.broadcast_arrays,
    "meshgrid": np.meshgrid,
    "tensordot": _tensordot,
    "outer": np.outer,
    "diag": lambda x, k=0: np.diag(x, k),
    "vecdot": lambda a, b, axis=-1: np.vecdot(a, b, axis=axis),
    "trace": lambda x, offset=0: np.trace(x, offset, -2, -1),
    "vector_norm": lambda x, axis=None, keepdims=False, ord=2: np.linalg.vector_norm(
        x, axis=axis, keepdims=keepdims, ord=ord
    ),
    "matrix_norm": np.linalg.matrix_norm,
    "linalg.norm": np.linalg.norm,
    "cross": lambda a, b, axis=-1: np.cross(
        np.broadcast_to(a, np.broadcast_shapes(a.shape, b.shape)),
        np.broadcast_to(b, np.broadcast_shapes(a.shape, b.shape)),
        axis=axis,
    ),
    "isclose": np.isclose,
    "allclose": np.allclose,
    "diff": lambda x, axis=-1, n=1: np.diff(x, n, axis),
    "mse_loss": lambda a, b, reduction: {"mean": np.mean, "sum": np.sum, "none": lambda v: v}[
        reduction
    ]((a - b) ** 2),
}
REFERENCES.update(gathered("REFERENCES"))
