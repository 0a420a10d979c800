"""Draws of counts: how many events, successes or trials. They have no derivative."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.errors import ShapeError
from symgrad.ops.count_kernels import binomial_values, poisson_values
from symgrad.ops.draws import DRAW, draw_attrs, require_key, strictly_between, words
from symgrad.ops.families import Array, composite, nondifferentiable
from symgrad.ops.parameters import (
    array_parameter,
    as_operand,
    counts_dtype,
    draws_shape,
    is_number,
    require_probability,
    require_range,
)
from symgrad.types import TensorType, broadcast_shapes, float64

_REASON = "a count does not change continuously with its parameters"


def _counts_type(name: str) -> Any:
    def infer(key: TensorType, *parameters: TensorType, shape: Any, dtype: Any) -> TensorType:
        require_key(name, key)
        if broadcast_shapes(name, shape, *(p.shape for p in parameters)) != shape:
            raise ShapeError(name, "the parameters broadcast to more than shape", expected=shape)
        return TensorType(shape, dtype)

    return infer


def in_type(counts: Array, valid: Array, shape: Any, dtype: Any) -> Array:
    """Counts in an element type: the largest number of integers where they go beyond.

    Where there is none, -1, or NaN in floating types.
    """
    if dtype.kind == "f":
        return np.where(valid, counts, np.nan).astype(dtype).reshape(shape)
    largest = np.iinfo(dtype).max
    beyond = counts >= float(largest)
    whole = np.where(valid & ~beyond, counts, -1).astype(dtype)
    return np.where(valid & beyond, largest, whole).astype(dtype).reshape(shape)


def flat_parameters(shape: Any, *parameters: Array) -> list[Array]:
    """Parameters of the shape of the draws, in one row."""
    return [np.broadcast_to(p, shape).reshape(-1).astype(np.float64) for p in parameters]


@nondifferentiable(
    type=_counts_type("random.poisson"),
    reason=_REASON,
    normalize=draw_attrs,
    promotes=(1,),
    namespace=None,
)
def poisson_counts(key: Array, rate: Array, /, *, shape: Any, dtype: Any) -> Array:
    """Counts of the Poisson distribution; `poisson` is their public face.

    >>> import symgrad as sg
    >>> poisson_counts(sg.random.key(0), 0.0, shape=(2,), dtype=sg.int64)
    Tensor([0, 0])
    """
    (rates,) = flat_parameters(shape, rate)
    valid = (rates >= 0) & (rates < np.inf)
    return in_type(poisson_values(key, np.where(valid, rates, 0)), valid, shape, dtype)


@composite(namespace="random")
def poisson(key: Array, rate: Array, shape: Any = None, *, dtype: Any = None) -> Any:
    """How many of many rare events happen, where ``rate`` do on average.

    Args:
        key: (2,) words.
        rate: numbers of at least 0. Where an array holds others, the result is -1, or NaN in
            floating types.
        shape: the shape of the result; that of ``rate`` if None.
        dtype: a signed integer type or a real floating one; the default integer if None. Counts
            that integers cannot hold are replaced by the largest.
    Raises:
        ArgumentError: rate is a negative number, infinite or NaN.
        DTypeError: dtype is of another kind, or the key no key.
        ShapeError: rate does not broadcast to ``shape``.

    >>> import symgrad as sg
    >>> x = sg.random.poisson(sg.random.key(0), 100.0, (10_000,))
    >>> abs(float(sg.mean(x)) - 100) < 0.5
    True
    """
    name, rate = "random.poisson", as_operand(rate)
    in_range = is_number(rate) and 0 <= rate < math.inf
    require_range(name, "rate", rate, in_range, "a finite number, not negative")
    shape, dtype = draws_shape(name, shape, rate), counts_dtype(dtype)
    return poisson_counts(key, array_parameter(rate, float64), shape=shape, dtype=dtype)


@nondifferentiable(
    type=_counts_type("random.binomial"),
    reason=_REASON,
    normalize=draw_attrs,
    promotes=(1, 2),
    namespace=None,
)
def binomial_counts(key: Array, n: Array, p: Array, /, *, shape: Any, dtype: Any) -> Array:
    """Counts of the binomial distribution; `binomial` is their public face.

    >>> import symgrad as sg
    >>> binomial_counts(sg.random.key(0), 5.0, 1.0, shape=(2,), dtype=sg.int64)
    Tensor([5, 5])
    """
    numbers, shares = flat_parameters(shape, n, p)
    valid = (numbers >= 0) & (numbers < np.inf) & (numbers == np.floor(numbers))
    valid &= (shares >= 0) & (shares <= 1)
    counts = binomial_values(key, np.where(valid, numbers, 0), np.where(valid, shares, 0))
    return in_type(counts, valid, shape, dtype)


@composite(namespace="random")
def binomial(key: Array, n: Array, p: Array, shape: Any = None, *, dtype: Any = None) -> Any:
    """How many of ``n`` trials succeed, where each does with probability ``p``.

    Args:
        key: (2,) words.
        n: whole numbers of at least 0, up to 2**53.
        p: numbers in [0, 1]. Where an array holds others, or n is no such number, the result is -1,
            or NaN in floating types.
        shape: the shape of the result; if None, that to which ``n`` and ``p`` broadcast.
        dtype: a signed integer type or a real floating one; the default integer if None.
    Raises:
        ArgumentError: n or p is a number out of range.
        DTypeError: dtype is of another kind, or the key no key.
        ShapeError: n or p does not broadcast to ``shape``.

    >>> import symgrad as sg
    >>> x = sg.random.binomial(sg.random.key(0), 10, 0.25, (10_000,))
    >>> abs(float(sg.mean(x)) - 2.5) < 0.1
    True
    """
    name, n, p = "random.binomial", as_operand(n), as_operand(p)
    whole = is_number(n) and 0 <= n < math.inf and n == int(n)
    require_range(name, "n", n, whole, "a whole number, not negative")
    require_probability(name, p)
    shape, dtype = draws_shape(name, shape, n, p), counts_dtype(dtype)
    n, p = array_parameter(n, float64), array_parameter(p, float64)
    return binomial_counts(key, n, p, shape=shape, dtype=dtype)


@nondifferentiable(
    type=_counts_type("random.geometric"),
    reason=_REASON,
    normalize=draw_attrs,
    promotes=(1,),
    namespace=None,
)
def geometric_counts(key: Array, p: Array, /, *, shape: Any, dtype: Any) -> Array:
    """Counts of the geometric distribution; `geometric` is their public face.

    >>> import symgrad as sg
    >>> geometric_counts(sg.random.key(0), 1.0, shape=(2,), dtype=sg.int64)
    Tensor([1, 1])
    """
    (shares,) = flat_parameters(shape, p)
    valid = (shares > 0) & (shares <= 1)
    u = strictly_between(words(key, DRAW, shares.size))
    counts = np.ceil(np.log(u) / np.log1p(-np.where(valid, shares, 0.5)))
    return in_type(np.maximum(counts, 1), valid, shape, dtype)


@composite(namespace="random")
def geometric(key: Array, p: Array, shape: Any = None, *, dtype: Any = None) -> Any:
    """How many trials it takes until one succeeds, where each does with probability ``p``.

    Args:
        key: (2,) words.
        p: numbers in (0, 1]. Where an array holds others, the result is -1, or NaN in floating
            types.
        shape: the shape of the result; that of ``p`` if None.
        dtype: a signed integer type or a real floating one; the default integer if None. Counts
            that integers cannot hold are replaced by the largest.
    Raises:
        ArgumentError: p is a number outside (0, 1].
        DTypeError: dtype is of another kind, or the key no key.
        ShapeError: p does not broadcast to ``shape``.

    >>> import symgrad as sg
    >>> x = sg.random.geometric(sg.random.key(0), 0.25, (10_000,))
    >>> int(sg.min(x)), abs(float(sg.mean(x)) - 4) < 0.1
    (1, True)
    """
    name, p = "random.geometric", as_operand(p)
    require_range(name, "p", p, is_number(p) and 0 < p <= 1, "a probability above 0")
    shape, dtype = draws_shape(name, shape, p), counts_dtype(dtype)
    return geometric_counts(key, array_parameter(p, float64), shape=shape, dtype=dtype)
