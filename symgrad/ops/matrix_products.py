"""Products of several matrices, and matrices made of matrices: multi_dot, kron, block_diag."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ops
from symgrad.ops.families import Array, composite
from symgrad.types import Size, broadcast_shapes


@composite(namespace="linalg")
def multi_dot(arrays: Sequence[Array], /) -> Any:
    """The matrix product of several arrays, in the order that costs least.

    Where a size is not known, the products are formed from the left.

    Args:
        arrays: at least two matrices, or batches of them; the first may be a vector, which stands
            for a row, and the last one for a column.
    Raises:
        ShapeError: a vector in between, or sizes that do not match. ArgumentError: fewer than two.

    >>> import symgrad as sg
    >>> sg.linalg.multi_dot([sg.ones((2, 3)), sg.ones((3, 4)), sg.ones(4)])
    Tensor([12., 12.])
    """
    given = [ops.asarray(x) for x in arrays]
    if len(given) < 2:
        raise ArgumentError("multi_dot", "too few arrays", expected="at least 2", got=len(given))
    for k, x in enumerate(given):
        if x.ndim < (1 if k in (0, len(given) - 1) else 2):
            raise ShapeError("multi_dot", f"arrays[{k}] is no matrix", got=x.type)
    sides = [given[0].shape[-2] if given[0].ndim > 1 else 1]
    sides += [x.shape[-2] if x.ndim > 1 else x.shape[0] for x in given[1:]]
    sides.append(given[-1].shape[-1] if given[-1].ndim > 1 else 1)
    return _multiplied(given, cheapest(sides), 0, len(given) - 1)


def cheapest(sides: Sequence[Size]) -> dict[tuple[int, int], int]:
    """For each run of factors, after which one to divide it: by dynamic programming.

    Factor k is a matrix of ``sides[k]`` rows and ``sides[k + 1]`` columns.
    """
    count = len(sides) - 1
    if not all(isinstance(side, int) for side in sides):
        return {(i, j): j - 1 for i in range(count) for j in range(i + 1, count)}
    cost = {(i, i): 0 for i in range(count)}
    division: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            totals = {
                k: cost[i, k] + cost[k + 1, j] + int(sides[i] * sides[k + 1] * sides[j + 1])
                for k in range(i, j)
            }
            division[i, j] = min(totals, key=lambda k: totals[k])
            cost[i, j] = totals[division[i, j]]
    return division


def _multiplied(given: Sequence[Any], division: dict[tuple[int, int], int], i: int, j: int) -> Any:
    if i == j:
        return given[i]
    k = division[i, j]
    return _multiplied(given, division, i, k) @ _multiplied(given, division, k + 1, j)


@composite
def kron(x1: Array, x2: Array, /) -> Any:
    """The Kronecker product: every element of ``x1`` times all of ``x2``, side by side.

    Args:
        x1, x2: arrays of any numbers of axes; the shorter shape is filled up with ones in front.

    >>> import symgrad as sg
    >>> sg.kron(sg.asarray([1, 10]), sg.asarray([[1, 2], [3, 4]]))
    Tensor([[ 1,  2, 10, 20],
            [ 3,  4, 30, 40]])
    """
    x1, x2 = ops.asarray(x1), ops.asarray(x2)
    rank = max(x1.ndim, x2.ndim)
    first, second = ((1,) * (rank - x.ndim) + x.shape for x in (x1, x2))
    apart1 = [size for n in first for size in (n, 1)]
    apart2 = [size for n in second for size in (1, n)]
    product = ops.reshape(x1, tuple(apart1)) * ops.reshape(x2, tuple(apart2))
    return ops.reshape(product, tuple(m * n for m, n in zip(first, second, strict=True)))


@composite
def block_diag(*arrays: Array) -> Any:
    """Matrices along the diagonal of one, zeros elsewhere.

    Args:
        arrays: at least one; matrices in the last two axes, whose batches broadcast; a vector
            stands for a row, a number for a matrix of one element.
    Raises:
        ArgumentError: no array. ShapeError: batches do not broadcast.

    >>> import symgrad as sg
    >>> sg.block_diag(sg.asarray([[1.0, 2.0], [3.0, 4.0]]), sg.asarray([5.0]))
    Tensor([[1., 2., 0.],
            [3., 4., 0.],
            [0., 0., 5.]])
    """
    if not arrays:
        raise ArgumentError("block_diag", "nothing to join", expected="at least one array")
    given = [ops.asarray(x) for x in arrays]
    given = [ops.reshape(x, (1,) * (2 - x.ndim) + x.shape) if x.ndim < 2 else x for x in given]
    batch = broadcast_shapes("block_diag", *(x.shape[:-2] for x in given))
    given = [ops.broadcast_to(x, (*batch, *x.shape[-2:])) for x in given]
    columns = [x.shape[-1] for x in given]
    rows = []
    for k, x in enumerate(given):
        sides = sum(columns[:k], start=0), sum(columns[k + 1 :], start=0)
        left, right = (ops.zeros((*x.shape[:-1], side), dtype=x.dtype) for side in sides)
        rows.append(ops.concat([left, x, right], axis=-1))
    return ops.concat(rows, axis=-2)
