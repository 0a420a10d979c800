"""Arrays as sets: the different values among the elements, and membership.

How many there are only running tells: see `symgrad.ops.searching`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from symgrad.ir.op import no_derivative, ops
from symgrad.ops.families import Array, composite, multi, nondifferentiable, unpack
from symgrad.types import TensorType, TupleType, fresh_dim, promote


class UniqueAllResult(NamedTuple):
    """What `unique_all` gives."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCountsResult(NamedTuple):
    """What `unique_counts` gives."""

    values: Any
    counts: Any


class UniqueInverseResult(NamedTuple):
    """What `unique_inverse` gives."""

    values: Any
    inverse_indices: Any


def _unique_type(x: TensorType) -> TupleType:
    count = fresh_dim()
    shapes = (count,), x.shape, (count,)
    return TupleType(TensorType(shape, np.int64) for shape in shapes)


@multi(type=_unique_type, vjp=(no_derivative("positions are integers"),), warns=False)
def unique_pack(x: Array, /) -> Any:
    """Where each different value stands first, which value each element has, and how many have it.

    >>> import symgrad as sg
    >>> unpack(unique_pack(sg.asarray([7, 5, 7])), 3)
    (Tensor([1, 0]), Tensor([1, 0, 1]), Tensor([1, 2]))
    """
    _, first, inverse, counts = np.unique(
        x.reshape(-1),
        return_index=True,
        return_inverse=True,
        return_counts=True,
        equal_nan=False,
    )
    return (
        first.astype(np.int64),
        inverse.reshape(x.shape).astype(np.int64),
        counts.astype(np.int64),
    )


def _values(x: Any, first: Any) -> Any:
    """The different values, read off the elements: so they have a derivative."""
    return ops.take(ops.reshape(x, (-1,)), first, axis=0)


@composite
def unique_all(x: Array, /) -> UniqueAllResult:
    """The different values in ascending order, with where they stand and how often they occur.

    Zeros of both signs are one value; each NaN is a value of its own. A value's derivative is that
    of the element where it stands first.

    Args:
        x: an array of any element type and shape.
    Returns:
        a named tuple: ``values``; ``indices``, where each first stands in the flattened ``x``;
        ``inverse_indices`` of the shape of ``x``, so that ``values[inverse_indices]`` is ``x``;
        ``counts``.

    >>> import symgrad as sg
    >>> found = sg.unique_all(sg.asarray([7, 5, 7]))
    >>> found.values, found.indices, found.counts
    (Tensor([5, 7]), Tensor([1, 0]), Tensor([1, 2]))
    """
    first, inverse, counts = unpack(unique_pack(x), 3)
    return UniqueAllResult(_values(x, first), first, inverse, counts)


@composite
def unique_counts(x: Array, /) -> UniqueCountsResult:
    """The different values in ascending order, and how often they occur; see `unique_all`.

    >>> import symgrad as sg
    >>> sg.unique_counts(sg.asarray([7, 5, 7])).counts
    Tensor([1, 2])
    """
    first, _, counts = unpack(unique_pack(x), 3)
    return UniqueCountsResult(_values(x, first), counts)


@composite
def unique_inverse(x: Array, /) -> UniqueInverseResult:
    """The different values in ascending order, and which one each element has; see `unique_all`.

    >>> import symgrad as sg
    >>> sg.unique_inverse(sg.asarray([7, 5, 7])).inverse_indices
    Tensor([1, 0, 1])
    """
    first, inverse, _ = unpack(unique_pack(x), 3)
    return UniqueInverseResult(_values(x, first), inverse)


@composite
def unique_values(x: Array, /) -> Any:
    """The different values in ascending order; see `unique_all`.

    >>> import symgrad as sg
    >>> sg.unique_values(sg.asarray([7, 5, 7]))
    Tensor([5, 7])
    """
    return _values(x, unpack(unique_pack(x), 3)[0])


def _isin_type(x1: TensorType, x2: TensorType, *, invert: bool) -> TensorType:
    promote(x1.dtype, x2.dtype)
    return TensorType(x1.shape, bool)


@nondifferentiable(type=_isin_type, reason="boolean output", promotes=(0, 1), warns=False)
def isin(x1: Array, x2: Array, /, *, invert: bool = False) -> Array:
    """For each element of ``x1``, whether it is among the elements of ``x2``.

    A NaN is equal to nothing.

    Args:
        x1, x2: arrays of any shapes, or numbers.
        invert: whether it is *not* among them.

    >>> import symgrad as sg
    >>> sg.isin(sg.asarray([1, 2, 3]), sg.asarray([3, 1]))
    Tensor([ True, False,  True])
    """
    return np.asarray(np.isin(x1, x2, invert=invert))
