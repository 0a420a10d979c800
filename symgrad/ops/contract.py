"""Products that sum over shared axes: matmul, einsum, tensordot and their kin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ops
from symgrad.ops.families import Array, composite, multilinear
from symgrad.ops.subscripts import LETTERS, plan, read, reordered, sizes_of, split
from symgrad.types import (
    Size,
    TensorType,
    broadcast_shapes,
    is_complex,
    is_inexact,
    normalize_axes,
    normalize_axis,
    promote,
    require_equal,
)

# --- matmul ---------------------------------------------------------------------------------------


def _matmul_type(x1: TensorType, x2: TensorType) -> TensorType:
    for name, operand in (("x1", x1), ("x2", x2)):
        if operand.ndim == 0:
            raise ShapeError(
                "matmul",
                f"{name} has no axes",
                expected="at least 1 axis",
                got=operand,
                hint="multiply by a number with *",
            )
    inner = x2.shape[-2] if x2.ndim > 1 else x2.shape[0]
    if x1.shape[-1] != inner:
        place = "second-to-last" if x2.ndim > 1 else "only"
        what = f"inner sizes (last axis of x1 {x1}, {place} axis of x2 {x2})"
        require_equal(x1.shape[-1], inner, "matmul", what)
    batch = broadcast_shapes("matmul", x1.shape[:-2], x2.shape[:-2])
    rows = x1.shape[-2:-1] if x1.ndim > 1 else ()
    columns = x2.shape[-1:] if x2.ndim > 1 else ()
    return TensorType((*batch, *rows, *columns), promote(x1.dtype, x2.dtype))


def _matmul_first(ct: Any, x1: Any, x2: Any) -> Any:
    if x2.ndim == 1:
        return ops.expand_dims(ct, axis=-1) * x2
    if x1.ndim == 1:
        if x2.ndim == 2:
            return matmul(x2, ct)
        return ops.squeeze(matmul(x2, ops.expand_dims(ct, axis=-1)), axis=-1)
    if x1.ndim == 2 and x2.ndim > 2:
        batch = tuple(range(x2.ndim - 2))
        return tensordot(ct, x2, axes=((*batch, ct.ndim - 1), (*batch, x2.ndim - 1)))
    return matmul(ct, ops.matrix_transpose(x2))


def _matmul_second(ct: Any, x1: Any, x2: Any) -> Any:
    if x1.ndim == 1:
        column = ops.expand_dims(x1, axis=-1)
        return ct * x1 if x2.ndim == 1 else column * ops.expand_dims(ct, axis=-2)
    leading = tuple(range(x1.ndim - 1))
    if x2.ndim == 1:
        return tensordot(ct, x1, axes=(leading, leading))
    if x2.ndim == 2 and x1.ndim > 2:
        return tensordot(x1, ct, axes=(leading, leading))
    return matmul(ops.matrix_transpose(x1), ct)


@multilinear(type=_matmul_type, transpose=(_matmul_first, _matmul_second))
def matmul(x1: Array, x2: Array, /) -> Array:
    """The product of matrices; further leading axes are batches, and broadcast.

    Args:
        x1: ``(…, n, k)``, or ``(k,)``, a row that the result does not show.
        x2: ``(…, k, m)``, or ``(k,)``, a column that the result does not show.
    Raises:
        ShapeError: an operand without axes; inner sizes differ; batches do not broadcast.

    >>> import symgrad as sg
    >>> sg.matmul(sg.asarray([[1.0, 2.0], [3.0, 4.0]]), sg.asarray([1.0, 1.0]))
    Tensor([3., 7.])
    """
    return np.matmul(x1, x2)


# --- sums over labelled axes ----------------------------------------------------------------------


def _without_own(labels: str, x: Array, needed: str) -> tuple[str, Array]:
    """Take diagonals of repeated labels, and sum over those that nobody else has."""
    own = "".join(a for a in dict.fromkeys(labels) if a in needed)
    return own, (x if own == labels else np.einsum(f"{labels}->{own}", x))


def contract_pair(first: str, second: str, output: str, x: Array, y: Array) -> Array:
    """Contract two arrays: by a matrix product where there is one, which goes to BLAS."""
    first, x = _without_own(first, x, second + output)
    second, y = _without_own(second, y, first + output)
    groups = plan(first, second, output)
    if groups is None:
        return np.einsum(f"{first},{second}->{output}", x, y)
    batch, rows, inner, columns = groups
    sizes = sizes_of((first, second), (x.shape, y.shape))
    left = np.transpose(x, reordered(first, batch + rows + inner))
    right = np.transpose(y, reordered(second, batch + inner + columns))
    m, k, n = [math.prod([sizes[a] for a in group]) for group in (rows, inner, columns)]
    leading = [math.prod([sizes[a] for a in batch])] if batch else []
    product = np.matmul(left.reshape([*leading, m, k]), right.reshape([*leading, k, n]))
    made = batch + rows + columns
    product = product.reshape([sizes[a] for a in made])
    return np.transpose(product, reordered(made, output))


def contract_all(subscripts: str, operands: Sequence[Array]) -> Array:
    """Contract any number of arrays."""
    inputs, output = split(subscripts)
    dtype = np.result_type(*operands)
    if dtype == np.float16:
        single = contract_all(subscripts, [x.astype(np.float32) for x in operands])
        return single.astype(dtype)
    if len(operands) == 2:
        return contract_pair(inputs[0], inputs[1], output, operands[0], operands[1])
    result = np.einsum(subscripts, *operands, optimize=len(operands) > 2)
    # numpy gives a view for a diagonal.
    return result.copy() if len(operands) == 1 else result


def _contract_type(types: list[TensorType], *, subscripts: str) -> TensorType:
    inputs, output = split(subscripts)
    sizes: dict[str, Size] = {}
    places: dict[str, str] = {}
    for k, (labels, operand) in enumerate(zip(inputs, types, strict=True)):
        for axis, (letter, size) in enumerate(zip(labels, operand.shape, strict=True)):
            place = f"axis {axis} of operand {k}"
            if letter in sizes:
                what = f"sizes of label {letter!r} ({places[letter]} and {place})"
                size = require_equal(sizes[letter], size, "einsum", what)
            sizes[letter] = size
            places.setdefault(letter, place)
    return TensorType([sizes[letter] for letter in output], promote(*[t.dtype for t in types]))


def _on_diagonal(value: Any, distinct: str, labels: str) -> Any:
    """Write values that have one axis per label onto the diagonal of one that has some repeated."""
    free = (letter for letter in LETTERS if letter not in labels)
    pieces, inputs, output = [value], [distinct], ""
    for letter in labels:
        if letter not in output:
            output += letter
            continue
        twin = next(free)
        size = value.shape[distinct.index(letter)]
        pieces.append(ops.eye(size, dtype=value.dtype))
        inputs.append(letter + twin)
        output += twin
    return contract(pieces, subscripts=f"{','.join(inputs)}->{output}")


def _contract_transpose(i: int, ct: Any, operands: Sequence[Any], *, subscripts: str) -> Any:
    inputs, output = split(subscripts)
    labels, shape = inputs[i], operands[i].shape
    others = [k for k in range(len(inputs)) if k != i]
    known = "".join([output, *[inputs[k] for k in others]])
    distinct = "".join(dict.fromkeys(labels))
    present = "".join(a for a in distinct if a in known)
    value = _contracted(
        [output, *[inputs[k] for k in others]], present, [ct, *[operands[k] for k in others]]
    )
    if present != distinct:
        sizes = dict(zip(labels, shape, strict=True))
        kept = [sizes[a] if a in present else 1 for a in distinct]
        value = ops.broadcast_to(ops.reshape(value, kept), [sizes[a] for a in distinct])
    return value if distinct == labels else _on_diagonal(value, distinct, labels)


def _contracted(inputs: Sequence[str], output: str, operands: Sequence[Any]) -> Any:
    """`contract`, or a plainer op if it says the same."""
    labels = inputs[0]
    if len(inputs) > 1 or len(set(labels)) < len(labels):
        return contract(list(operands), subscripts=f"{','.join(inputs)}->{output}")
    (x,) = operands
    summed = tuple(axis for axis, a in enumerate(labels) if a not in output)
    if summed:
        x = ops.sum(x, axis=summed, dtype=x.dtype)
        labels = "".join(a for a in labels if a in output)
    return x if labels == output else ops.permute_dims(x, reordered(labels, output))


@multilinear(type=_contract_type, transpose=_contract_transpose, namespace=None)
def contract(operands: Sequence[Array], /, *, subscripts: str) -> Array:
    """The sum of products over labelled axes. `einsum` is its public face.

    Args:
        operands: arrays; axes with one label have one size.
        subscripts: one letter per axis of each, and the labels of the result: ``"ab,bc->ac"``.

    >>> contract([np.ones((2, 3)), np.ones((3, 2))], subscripts="ab,bc->ac")
    Tensor([[3., 3.],
            [3., 3.]])
    """
    return contract_all(subscripts, operands)


@composite
def einsum(subscripts: str, /, *operands: Array) -> Any:
    """The sum of products over labelled axes, in Einstein's notation.

    Args:
        subscripts: a letter per axis of each operand, operands divided by commas, then ``->`` and
            the labels of the result. A label that the result does not have is summed over; one that
            an operand has twice means its diagonal; ``...`` stands for the axes not labelled, which
            broadcast. Without ``->``, the result has the labels that occur once, in alphabetical
            order.
        operands: arrays of any element types.
    Raises:
        ArgumentError: malformed subscripts. ShapeError: sizes of one label differ, or an operand
            has another number of axes.

    >>> import symgrad as sg
    >>> a = sg.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> sg.einsum("ij,jk->ik", a, a)
    Tensor([[ 7., 10.],
            [15., 22.]])
    >>> float(sg.einsum("ii", a))
    5.0
    """
    if not isinstance(subscripts, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        got = type(subscripts).__name__
        raise ArgumentError("einsum", "the subscripts come first", expected='"ij,jk->ik"', got=got)
    if not operands:
        raise ArgumentError("einsum", "there are no operands", expected="at least one array")
    arrays = [x if isinstance(x, _NUMBERS) else ops.asarray(x) for x in operands]
    shapes = [() if isinstance(x, _NUMBERS) else x.shape for x in arrays]
    inputs, output, dropped = read(subscripts, shapes)
    arrays = [
        ops.squeeze(x, axis=tuple(a)) if a else x for x, a in zip(arrays, dropped, strict=True)
    ]
    if len(arrays) == 1 and isinstance(arrays[0], _NUMBERS):
        arrays = [ops.asarray(arrays[0])]
    return _contracted(inputs, output, arrays)


_NUMBERS = (bool, int, float, complex)


# --- tensordot and its kin ------------------------------------------------------------------------


def _paired_axes(x1: Any, x2: Any, axes: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if isinstance(axes, int):
        if not 0 <= axes <= min(x1.ndim, x2.ndim):
            raise ShapeError(
                "tensordot",
                "axes is out of range",
                expected=f"0 to {min(x1.ndim, x2.ndim)}",
                got=axes,
            )
        return tuple(range(x1.ndim - axes, x1.ndim)), tuple(range(axes))
    pair = [tuple(side) if isinstance(side, (tuple, list)) else (side,) for side in axes]
    if len(pair) != 2 or len(pair[0]) != len(pair[1]):
        raise ShapeError(
            "tensordot", "axes are not in pairs", expected="two sequences of one length", got=axes
        )
    return normalize_axes(pair[0], x1.ndim, "tensordot"), normalize_axes(
        pair[1], x2.ndim, "tensordot"
    )


@composite
def tensordot(x1: Array, x2: Array, /, *, axes: Any = 2) -> Any:
    """The sum of products over pairs of axes.

    Args:
        x1, x2: arrays.
        axes: how many of the last axes of ``x1`` meet the first of ``x2``; or two sequences, the
            axes of ``x1`` and their partners in ``x2``.
    Returns:
        an array with the remaining axes of ``x1``, then those of ``x2``.
    Raises:
        ShapeError: an axis does not exist, is given twice or has no partner; sizes of a pair
            differ.

    >>> import symgrad as sg
    >>> sg.tensordot(sg.ones((2, 3, 4)), sg.ones((4, 3, 5)), axes=((2, 1), (0, 1))).shape
    (2, 5)
    """
    x1, x2 = ops.asarray(x1), ops.asarray(x2)
    first, second = _paired_axes(x1, x2, axes)
    if x1.ndim + x2.ndim - len(first) > len(LETTERS):
        raise ShapeError("tensordot", "too many axes", expected=len(LETTERS), got=x1.ndim + x2.ndim)
    left = LETTERS[: x1.ndim]
    fresh = iter(LETTERS[x1.ndim :])
    partner = dict(zip(second, first, strict=True))
    right = "".join(left[partner[k]] if k in partner else next(fresh) for k in range(x2.ndim))
    rest1 = "".join(a for k, a in enumerate(left) if k not in first)
    rest2 = "".join(a for k, a in enumerate(right) if k not in second)
    return contract([x1, x2], subscripts=f"{left},{right}->{rest1}{rest2}")


def _to_last(x: Any, axis: int) -> Any:
    place = normalize_axis(axis, x.ndim, "vecdot")
    order = (*[k for k in range(x.ndim) if k != place], place)
    return x if place == x.ndim - 1 else ops.permute_dims(x, order)


@composite
def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Any:
    """The sum of ``conj(x1) * x2`` along an axis; the other axes broadcast.

    Args:
        x1, x2: arrays with equal sizes along ``axis``.
        axis: the axis that is summed.
    Raises:
        ShapeError: the axis does not exist; sizes differ.

    >>> import symgrad as sg
    >>> sg.vecdot(sg.asarray([[1.0, 2.0], [3.0, 4.0]]), sg.asarray([1.0, 1.0]))
    Tensor([3., 7.])
    """
    x1, x2 = ops.asarray(x1), ops.asarray(x2)
    first = ops.conj(x1) if is_complex(x1.dtype) else x1
    if x1.ndim == 1 and x1.shape == x2.shape and x1.dtype == x2.dtype and is_inexact(x1.dtype):
        normalize_axis(axis, 1, "vecdot")
        return matmul(first, x2)  # which for plain vectors is quicker
    return einsum("...a,...a->...", _to_last(first, axis), _to_last(x2, axis))


@composite
def outer(x1: Array, x2: Array, /) -> Any:
    """All products of an element of one vector and an element of another.

    Raises:
        ShapeError: an operand is not a vector.

    >>> import symgrad as sg
    >>> sg.outer(sg.asarray([1.0, 2.0]), sg.asarray([3.0, 4.0]))
    Tensor([[3., 4.],
            [6., 8.]])
    """
    x1, x2 = ops.asarray(x1), ops.asarray(x2)
    for name, x in (("x1", x1), ("x2", x2)):
        if x.ndim != 1:
            raise ShapeError("outer", f"{name} is not a vector", expected="1 axis", got=x.type)
    return ops.expand_dims(x1, axis=-1) * x2
