"""Random bits, signs, orders and choices: what has no density."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ops
from symgrad.ops.draws import random_bits, sizes_of
from symgrad.ops.families import Array, composite, require_kind
from symgrad.ops.movement import count
from symgrad.ops.parameters import as_operand, counts_dtype, evenly, require_same, together
from symgrad.ops.random import bernoulli, randint
from symgrad.types import (
    Dim,
    Size,
    as_dtype,
    default_int,
    float64,
    normalize_axis,
)

# --- bits and signs -------------------------------------------------------------------------------


@composite(namespace="random")
def bits(key: Array, shape: Any = (), *, dtype: Any = np.uint64) -> Any:
    """Unsigned integers all of whose bits are random.

    Args:
        key: (2,) words.
        shape: the shape of the result; dimensions may stand in it.
        dtype: uint8, uint16, uint32 or uint64.
    Raises:
        ArgumentError: another dtype. DTypeError: the key is no key.

    >>> import symgrad as sg
    >>> sg.random.bits(sg.random.key(0), (3,), dtype=sg.uint8).dtype
    dtype('uint8')
    """
    dtype = as_dtype(dtype)
    if dtype.kind != "u":
        raise ArgumentError("random.bits", "no unsigned integers", expected="uint8 …", got=dtype)
    found = random_bits(key, shape=sizes_of("random.bits", shape))
    if dtype == np.uint64:
        return found
    shift = np.asarray(64 - 8 * dtype.itemsize, np.uint64)
    return ops.astype(ops.bitwise_right_shift(found, ops.asarray(shift)), dtype)


@composite(namespace="random")
def rademacher(key: Array, shape: Any = (), *, dtype: Any = None) -> Any:
    """1 and -1, equally likely.

    Args:
        key: (2,) words.
        shape: the shape of the result; dimensions may stand in it.
        dtype: a signed integer type, or a real floating one; the default integer if None.
    Raises:
        DTypeError: dtype has no -1, or the key is no key.

    >>> import symgrad as sg
    >>> x = sg.random.rademacher(sg.random.key(0), (100,))
    >>> bool(sg.all(abs(x) == 1))
    True
    """
    dtype = counts_dtype(dtype)
    heads = bernoulli(key, 0.5, sizes_of("random.rademacher", shape))
    return 2 * ops.astype(heads, dtype) - 1


# --- orders ---------------------------------------------------------------------------------------


def _as_count(n: Any) -> Any:
    """An int or a dimension, or None where ``n`` is an array of other things."""
    if isinstance(n, Dim):
        return n
    if isinstance(n, bool) or getattr(n, "shape", ()) != ():
        return None
    try:
        return operator.index(n)
    except TypeError:
        return None


@composite(namespace="random")
def permutation(key: Array, x: Any, axis: int = 0, *, independent: bool = False) -> Any:
    """The integers from 0 to x - 1, or the slices of an array along an axis, in random order.

    The derivative follows the elements to their places.

    Args:
        key: (2,) words.
        x: an int or a dimension: how many integers; or an array of at least one axis.
        axis: along which axis of the array.
        independent: give each line along the axis an order of its own.
    Raises:
        ShapeError: x is no count, or the axis does not exist. DTypeError: the key is no key.

    >>> import symgrad as sg
    >>> sg.sort(sg.random.permutation(sg.random.key(0), 5))
    Tensor([0, 1, 2, 3, 4])
    """
    where = "random.permutation"
    n = _as_count(x)
    if n is not None:
        return ops.argsort(random_bits(key, shape=sizes_of(where, (n,))))
    x = ops.asarray(x)
    if x.ndim == 0:
        raise ShapeError(where, "a number without axes is no count", expected="an int", got=x.type)
    axis = normalize_axis(axis, x.ndim, where)
    if independent:
        return ops.take_along_axis(
            x, ops.argsort(random_bits(key, shape=x.shape), axis=axis), axis=axis
        )
    return ops.take(x, ops.argsort(random_bits(key, shape=(x.shape[axis],))), axis=axis)


# --- choices --------------------------------------------------------------------------------------


def standard_gumbel(key: Any, shape: Any) -> Any:
    """Numbers of the standard Gumbel distribution, in double precision; all are finite."""
    return -ops.log(-ops.log(evenly(key, shape)))


@composite(namespace="random")
def categorical(key: Array, logits: Array, axis: int = -1, shape: Any = None) -> Any:
    """Indices along an axis, drawn with the probabilities ``softmax(logits)``.

    The largest of the logits with Gumbel noise wins. An entry of -inf never does, unless all are;
    where one is NaN, its index is the result.

    Args:
        key: (2,) words.
        logits: unnormalised logarithms of probabilities.
        axis: the axis whose indices are drawn.
        shape: the shape of the result, to which that of ``logits`` without the axis broadcasts; if
            None, it is that.
    Raises:
        ShapeError: the axis does not exist, or ``logits`` does not broadcast to ``shape``.
        DTypeError: logits are complex, or the key is no key.

    >>> import symgrad as sg
    >>> sg.random.categorical(sg.random.key(0), [0.0, -float("inf"), 1000.0], shape=(3,))
    Tensor([2, 2, 2])
    """
    where = "random.categorical"
    logits = ops.asarray(logits)
    require_kind(where, logits.dtype, "real or bool", "logits")
    axis = normalize_axis(axis, logits.ndim, where)
    batch = (*logits.shape[:axis], *logits.shape[axis + 1 :])
    shape = batch if shape is None else sizes_of(where, shape)
    if together(where, shape, batch) != shape:
        raise ShapeError(where, "logits broadcast to more than shape", expected=shape, got=batch)
    # The axis of classes last, where its place does not depend on how many axes the shape has.
    scores = ops.moveaxis(logits, axis, -1)
    noise = standard_gumbel(key, (*shape, scores.shape[-1]))
    return ops.argmax(ops.astype(scores, float64) + noise, axis=-1)


@composite(namespace="random", reads_values=True)
def choice(
    key: Array,
    x: Any,
    shape: Any = (),
    replace: bool = True,
    p: Array | None = None,
    axis: int = 0,
) -> Any:
    """Integers from 0 to x - 1, or slices of an array along an axis, drawn from all of them.

    The derivative follows the slices to their places.

    Args:
        key: (2,) words.
        x: an int or a dimension: how many integers; or an array of at least one axis.
        shape: how many are drawn: the shape that stands for the axis in the result.
        replace: whether one can be drawn twice.
        p: (n,) their probabilities; None: all are equally likely. An array is divided by its sum,
            and not checked.
        axis: along which axis of the array.
    Raises:
        ArgumentError: more are drawn without replacement than there are, none is there to be drawn,
            or a list of probabilities has negative ones or another sum than 1.
        ShapeError: p has another shape, or the axis does not exist.
        DTypeError: p are no real numbers, or the key is no key.

    >>> import symgrad as sg
    >>> sg.sort(sg.random.choice(sg.random.key(0), 4, (4,), replace=False))
    Tensor([0, 1, 2, 3])
    >>> sg.random.choice(sg.random.key(0), [2.0, 3.0, 5.0], (2,), p=[0.0, 1.0, 0.0])
    Tensor([3., 3.])
    """
    where = "random.choice"
    shape, n = sizes_of(where, shape), _as_count(x)
    if n is None:
        x = ops.asarray(x)
        axis = normalize_axis(axis, x.ndim, where)
    size = sizes_of(where, (x.shape[axis] if n is None else n,))[0]
    _require_enough(size, shape, replace)
    p = None if p is None else _probabilities(p, size)
    index = _with_replacement(key, size, shape, p) if replace else _order(key, size, shape, p)
    return ops.take(x, index, axis=axis) if n is None else index


def _require_enough(size: Size, shape: tuple[Size, ...], replace: bool) -> None:
    drawn = count(shape)
    enough = size if not replace else (drawn if size != 0 else 0)
    if isinstance(drawn, int) and isinstance(enough, int) and drawn > enough:
        raise ArgumentError(
            "random.choice", "more are drawn than there are", expected=f"at most {size}", got=drawn
        )


def _probabilities(p: Any, size: Size) -> Any:
    where = "random.choice"
    listed = isinstance(p, (list, tuple))
    p = as_operand(p)
    require_kind(where, p.dtype, "real", "p")
    if p.ndim != 1:
        raise ShapeError(where, "p has another number of axes", expected=1, got=p.type)
    require_same(where, p.shape[0], size, "sizes of p and the axis")
    if listed and not hasattr(p, "op"):
        values = np.asarray(p, np.float64)
        if not (values >= 0).all() or abs(values.sum() - 1) > 1e-6:
            raise ArgumentError(
                where, "p are no probabilities", expected="0 or more, of sum 1", got=values.tolist()
            )
    p = ops.astype(p, float64)
    return p if p.shape == (size,) else ops.broadcast_to(p, (size,))


def _with_replacement(key: Any, size: Size, shape: tuple[Size, ...], p: Any) -> Any:
    if size == 0:
        return ops.zeros(shape, dtype=default_int())
    if p is None:
        return randint(key, shape, 0, size)
    sums = ops.cumulative_sum(p)
    # Less than the last sum, so that what follows it, with probability 0, is never found.
    return ops.searchsorted(sums, evenly(key, shape) * sums[-1], side="right")


def _order(key: Any, size: Size, shape: tuple[Size, ...], p: Any) -> Any:
    """The first of all in an order that prefers the likely ones: the largest by Gumbel noise."""
    if p is None:
        order = permutation(key, size)
    else:
        order = ops.argsort(ops.log(p) + standard_gumbel(key, (size,)), descending=True)
    return ops.reshape(order[: count(shape)], shape)
