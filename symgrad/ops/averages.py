"""Weighted means, ranges, and how quantities vary together: average, ptp, cov, corrcoef."""

from __future__ import annotations

from typing import Any

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ops
from symgrad.ops.families import Array, composite, require_kind
from symgrad.ops.interpolation import as_floating, count_of
from symgrad.ops.loss_reduction import require_shape
from symgrad.ops.moments import wide
from symgrad.types import DType, is_complex, is_inexact, normalize_axes, promote, real_dtype

# --- one quantity ---------------------------------------------------------------------------------


def _narrow(x: Any, dtype: DType) -> Any:
    """``x``, computed in single precision, in half again, if that is its type."""
    return x if x.dtype == dtype else ops.astype(x, dtype)


def _as_weights(where: str, argument: str, weights: Any, dtype: DType) -> Any:
    """Weights; integers get the type of what they weigh."""
    weights = ops.asarray(weights)
    require_kind(where, weights.dtype, "numeric", argument)
    return weights if is_inexact(weights.dtype) else ops.astype(weights, dtype)


def _in_place(weights: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """Weights in the rank of ``x``: of size 1 along what is not averaged."""
    if weights.ndim == x.ndim:
        require_shape("average", "weights", weights.shape, x.shape, "x")
        return weights
    wanted = tuple(x.shape[k] for k in axes)
    require_shape("average", "weights", weights.shape, wanted, "the axes that are averaged")
    order = tuple(sorted(range(len(axes)), key=axes.__getitem__))
    sizes = [weights.shape[axes.index(k)] if k in axes else 1 for k in range(x.ndim)]
    return ops.reshape(ops.permute_dims(weights, order), tuple(sizes))


@composite
def average(
    x: Array, /, *, axis: Any = None, weights: Array | None = None, keepdims: bool = False
) -> Any:
    """The mean of the elements along axes, or their weighted mean ``sum(w * x) / sum(w)``.

    Args:
        x: an array; integers and booleans are cast to the default float type.
        axis: an axis, a tuple of axes, or None for all.
        weights: numbers in the shape of ``x``, or with one axis for each of ``axis``.
        keepdims: keep the reduced axes, with size 1.
    Raises:
        ShapeError: an axis does not exist or is given twice; weights have another shape.

    >>> import symgrad as sg
    >>> sg.average(sg.asarray([1.0, 2.0, 4.0]), weights=sg.asarray([1, 1, 2]))
    Tensor(2.75)
    """
    x = as_floating("average", "x", x, real=False)
    if weights is None:
        return ops.mean(x, axis=axis, keepdims=keepdims)
    given = _as_weights("average", "weights", weights, x.dtype)
    axes = normalize_axes(axis, x.ndim, "average")
    dtype = promote(x.dtype, given.dtype)
    w = wide(_in_place(given, x, axes))
    total = ops.sum(w * wide(x), axis=axes, keepdims=keepdims)
    return _narrow(total / ops.sum(w, axis=axes, keepdims=keepdims), dtype)


@composite
def ptp(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """From peak to peak: the largest element along axes less the smallest. Ties share the slope.

    Args:
        x: real numbers.
        axis: an axis, a tuple of axes, or None for all.
        keepdims: keep the reduced axes, with size 1.
    Raises:
        ShapeError: a reduced axis is empty, does not exist or is given twice.
        DTypeError: complex numbers or booleans.

    >>> import symgrad as sg
    >>> sg.ptp(sg.asarray([[1.0, 5.0], [3.0, 4.0]]), axis=1)
    Tensor([4., 1.])
    """
    x = ops.asarray(x)
    require_kind("ptp", x.dtype, "real")
    highest = ops.max(x, axis=axis, keepdims=keepdims)
    return highest - ops.min(x, axis=axis, keepdims=keepdims)


# --- several quantities ---------------------------------------------------------------------------


def _variables(where: str, argument: str, x: Any, rowvar: bool) -> Any:
    """A matrix with a row for each variable; a vector is one variable."""
    x = as_floating(where, argument, x, real=False)
    if x.ndim > 2:
        raise ShapeError(where, f"axes of {argument}", expected="at most 2", got=x.type)
    if x.ndim < 2:
        return ops.reshape(x, (1, -1))
    return x if rowvar else ops.matrix_transpose(x)


def _all_variables(where: str, x: Any, y: Any, rowvar: bool) -> Any:
    rows = _variables(where, "x", x, rowvar)
    if y is None:
        return rows
    more = _variables(where, "y", y, rowvar)
    counts = rows.shape[1], more.shape[1]
    if all(isinstance(count, int) for count in counts) and counts[0] != counts[1]:
        raise ShapeError(where, "numbers of observations", expected=counts[0], got=counts[1])
    return ops.concat([rows, more], axis=0)


def _centred(rows: Any) -> Any:
    if is_complex(rows.dtype):
        return rows - ops.mean(rows, axis=1, keepdims=True)
    return ops.centred(rows, axis=(1,))


def _alone(matrix: Any) -> Any:
    """A number where there is but one variable."""
    return ops.reshape(matrix, ()) if matrix.shape[0] == 1 else matrix


def _observed(rows: Any, fweights: Any, aweights: Any) -> tuple[Any, Any]:
    """The weight of each observation, and its part that is no count."""
    found: list[Any] = []
    for argument, weights in (("fweights", fweights), ("aweights", aweights)):
        if weights is None:
            found.append(1)
            continue
        if argument == "fweights":
            require_kind("cov", ops.asarray(weights).dtype, "integer", argument)
        weights = _as_weights("cov", argument, weights, real_dtype(rows.dtype))
        require_kind("cov", weights.dtype, "floating", argument)
        require_shape("cov", argument, weights.shape, rows.shape[1:], "the observations")
        found.append(wide(weights))
    return found[0] * found[1], found[1]


def _if_any(freedom: Any) -> Any:
    """What is divided by: 0 where nothing is left."""
    return max(freedom, 0) if isinstance(freedom, (int, float)) else ops.maximum(freedom, 0)


@composite
def cov(
    x: Array,
    /,
    y: Array | None = None,
    *,
    rowvar: bool = True,
    correction: float = 1.0,
    fweights: Array | None = None,
    aweights: Array | None = None,
) -> Any:
    """The covariance matrix of variables: ``mean((x - mean(x)) * conj(y - mean(y)))`` of each two.

    Args:
        x: a row per variable and a column per observation, or a vector, which is one variable.
        y: more variables, in the same form.
        rowvar: False: a column per variable and a row per observation.
        correction: subtracted from the number of observations before dividing; 1 gives the unbiased
            estimate. If nothing is left, the result is NaN or infinite.
        fweights: integers, how often each observation was made.
        aweights: real numbers, how much each observation weighs.
    Returns:
        a matrix, or a number if there is but one variable.
    Raises:
        ShapeError: more than two axes, or numbers of observations differ.
        DTypeError: ``fweights`` are no integers. ArgumentError: ``correction`` is no number.

    >>> import symgrad as sg
    >>> sg.cov(sg.asarray([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
    Tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    if not isinstance(correction, (int, float)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentError("cov", "correction is no number", got=repr(correction))
    given = _all_variables("cov", x, y, rowvar)
    rows = wide(given)
    if fweights is None and aweights is None:
        far = _centred(rows)
        others, freedom = far, count_of(rows.shape[1], real_dtype(rows.dtype)) - correction
    else:
        w, a = _observed(rows, fweights, aweights)
        number = ops.sum(w)
        far = rows - ops.sum(rows * w, axis=1, keepdims=True) / number
        others = far * w
        freedom = number - correction * ops.sum(w * a) / number
    products = ops.matmul(others, ops.conj(ops.matrix_transpose(far)))
    return _alone(_narrow(products / _if_any(freedom), given.dtype))


@composite
def corrcoef(x: Array, /, y: Array | None = None, *, rowvar: bool = True) -> Any:
    """The correlation coefficients of variables: their covariances, each divided by both spreads.

    A variable that does not vary has none: NaN.

    Args:
        x, y, rowvar: as for `cov`.
    Returns:
        a matrix of numbers from -1 to 1, or a number if there is but one variable.
    Raises:
        ShapeError: more than two axes, or numbers of observations differ.

    >>> import symgrad as sg
    >>> sg.corrcoef(sg.asarray([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])).shape
    (2, 2)
    """
    given = _all_variables("corrcoef", x, y, rowvar)
    far = _centred(wide(given))
    unit = far / ops.vector_norm(far, axis=1, keepdims=True)
    products = ops.matmul(unit, ops.conj(ops.matrix_transpose(unit)))
    if not is_complex(products.dtype):
        products = ops.clip(products, -1.0, 1.0)
    return _alone(_narrow(products, given.dtype))
