"""Random numbers as pure functions of a key.

A key is two words of 64 bits. The same key and shape give the same numbers, in every mode and in
every run; other numbers need another key, from `split` or `fold_in`. So sharing, rewriting and
running again stay sound, and a training step that is compiled once advances its key as it advances
its weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.ir.op import ops
from symgrad.ops.draws import (
    fold_in,
    key,
    random_integers,
    sizes_of,
    split_key,
    standard_normal,
    standard_uniform,
)
from symgrad.ops.families import Array, composite
from symgrad.ops.parameters import (
    as_operand,
    draws_dtype,
    draws_shape,
    equals,
    is_number,
    moved,
    parameter,
    require_probability,
)
from symgrad.types import Dim, as_dtype, default_int, float32, is_integer, promote

__all__ = ["bernoulli", "fold_in", "key", "normal", "randint", "split", "uniform"]


@composite(namespace="random", name="random.split")
def split(key: Array, n: int = 2) -> Any:
    """New keys from one, which is then used up: draw from the new ones alone.

    The streams of the new keys are unrelated to each other and to that of the old one.

    Args:
        key: (2,) words.
        n: how many: an int of at least 1, or a dimension.
    Returns:
        (n, 2) words: one key per row.
    Raises:
        ArgumentError: n is no count. DTypeError, ShapeError: the key is no key.

    >>> import symgrad as sg
    >>> key, spare = sg.random.split(sg.random.key(0))
    >>> sg.random.normal(key, (3,)).shape
    (3,)
    """
    if not isinstance(n, Dim) and (type(n) is not int or n < 1):
        raise ArgumentError("random.split", "n is no count", expected="an int >= 1", got=repr(n))
    return split_key(key, count=n)


@composite(namespace="random")
def uniform(
    key: Array, shape: Any = None, *, dtype: Any = None, low: Array = 0.0, high: Array = 1.0
) -> Any:
    """Numbers spread evenly over [low, high).

    They are ``low + (high - low)*u`` with u from [0, 1), so they have derivatives by low and high;
    where rounding would give high, they are the float before it.

    Args:
        key: (2,) words.
        shape: the shape of the result; dimensions may stand in it. If None, that to which low and
            high broadcast.
        dtype: a real floating type; if None, that of low and high, or the default float.
        low, high: numbers, or arrays that broadcast to ``shape``.
    Raises:
        DTypeError: dtype is no real floating type, or the key no key.
        ShapeError: low or high does not broadcast to ``shape``.

    >>> import symgrad as sg
    >>> x = sg.random.uniform(sg.random.key(0), (100,), low=-1.0)
    >>> bool(sg.all((x >= -1) & (x < 1)))
    True
    """
    low, high = as_operand(low), as_operand(high)
    shape, dtype = draws_shape("random.uniform", shape, low, high), draws_dtype(dtype, low, high)
    u = standard_uniform(key, shape=shape, dtype=dtype)
    if equals(low, 0) and equals(high, 1):
        return u
    low, high = parameter(low, shape, dtype), parameter(high, shape, dtype)
    return u * high if equals(low, 0) else _below(low + u * (high - low), low, high)


def _below(x: Any, low: Any, high: Any) -> Any:
    """``x``, and the float before ``high`` where it is ``high``."""
    if is_number(low) and is_number(high):
        one = x.dtype.type(1)
        largest = np.nextafter(one, 0 * one) * x.dtype.type(high - low) + x.dtype.type(low)
        if largest != high:
            return x
    high = ops.asarray(high, dtype=x.dtype) if is_number(high) else high
    low = ops.asarray(low, dtype=x.dtype) if is_number(low) else low
    return ops.where(x == high, ops.nextafter(high, low), x)


@composite(namespace="random")
def normal(
    key: Array, shape: Any = None, *, dtype: Any = None, mean: Array = 0.0, std: Array = 1.0
) -> Any:
    """Numbers of the normal distribution.

    They are ``mean + std*z`` with z of the standard one, so they have derivatives by mean and std.

    Args:
        key: (2,) words.
        shape: the shape of the result; dimensions may stand in it. If None, that to which mean and
            std broadcast.
        dtype: a real floating type; if None, that of mean and std, or the default float.
        mean, std: numbers, or arrays that broadcast to ``shape``.
    Raises:
        DTypeError: dtype is no real floating type, or the key no key.
        ShapeError: mean or std does not broadcast to ``shape``.

    >>> import symgrad as sg
    >>> x = sg.random.normal(sg.random.key(0), (10_000,), mean=3.0)
    >>> abs(float(sg.mean(x)) - 3) < 0.05
    True
    """
    mean, std = as_operand(mean), as_operand(std)
    shape, dtype = draws_shape("random.normal", shape, mean, std), draws_dtype(dtype, mean, std)
    return moved(standard_normal(key, shape=shape, dtype=dtype), mean, std)


@composite(namespace="random")
def bernoulli(key: Array, p: Array = 0.5, shape: Any = None) -> Any:
    """Booleans that are true with probability p.

    Args:
        key: (2,) words.
        p: a number in [0, 1], or an array that broadcasts to ``shape``.
        shape: the shape of the result; that of p if None.
    Raises:
        ArgumentError: p is a number outside [0, 1]. DTypeError: the key is no key.
        ShapeError: p does not broadcast to ``shape``.

    >>> import symgrad as sg
    >>> sg.random.bernoulli(sg.random.key(0), 1.0, (3,))
    Tensor([ True,  True,  True])
    """
    p = as_operand(p)
    require_probability("random.bernoulli", p)
    shape = draws_shape("random.bernoulli", shape, p)
    # Half precision would round small probabilities to multiples of 1/2048.
    dtype = promote(draws_dtype(None, p), float32)
    return ops.less(standard_uniform(key, shape=shape, dtype=dtype), parameter(p, shape, dtype))


@composite(namespace="random")
def randint(key: Array, shape: Any, low: Array, high: Array, *, dtype: Any = None) -> Any:
    """Integers from low to high - 1, all equally likely.

    Args:
        key: (2,) words.
        shape: the shape of the result; dimensions may stand in it.
        low, high: integers, or arrays of them that broadcast to ``shape``. Arrays are not checked:
            where high is not above low, the result is low.
        dtype: an integer type; the default integer if None.
    Raises:
        ArgumentError: high is not above low, or the integers do not fit dtype.
        DTypeError: low, high or dtype is of another type. ShapeError: shapes do not broadcast.

    >>> import symgrad as sg
    >>> x = sg.random.randint(sg.random.key(0), (100,), 1, 7)
    >>> int(sg.min(x)), int(sg.max(x))
    (1, 6)
    """
    dtype = default_int() if dtype is None else as_dtype(dtype)
    if isinstance(low, int) and isinstance(high, int):
        if high <= low:
            raise ArgumentError(
                "random.randint", "high is not above low", expected=f"more than {low}", got=high
            )
        if is_integer(dtype) and not np.iinfo(dtype).min <= low < high <= np.iinfo(dtype).max + 1:
            raise ArgumentError(
                "random.randint", f"the integers do not fit {dtype}", got=f"{low} to {high - 1}"
            )
    return random_integers(key, low, high, shape=sizes_of("random.randint", shape), dtype=dtype)
