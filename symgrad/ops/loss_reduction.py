"""What losses share: arguments that must fit, and the mean or sum of their elements."""

from __future__ import annotations

from typing import Any

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ops
from symgrad.ops.declaring import require_kind
from symgrad.ops.moments import mean
from symgrad.ops.scalar import astype
from symgrad.types import Shape, default_float, is_inexact, promote


def require_reduction(name: str, reduction: str, *more: str) -> None:
    """Refuse another reduction than "mean", "sum", "none" or those that a loss has besides."""
    known = ("mean", "sum", "none", *more)
    if reduction not in known:
        listed = ", ".join(map(repr, known[:-1])) + f" or {known[-1]!r}"
        raise ArgumentError(name, "unknown reduction", expected=listed, got=repr(reduction))


def require_shape(name: str, argument: str, shape: Shape, expected: Shape, of: str) -> None:
    """Refuse shapes that differ, also those that would broadcast: a loss of the wrong pairs."""
    differs = len(shape) != len(expected)
    for size, wanted in zip(shape, expected, strict=False):
        known = isinstance(size, int) and isinstance(wanted, int)
        differs = differs or (size != wanted and (known or 1 in (size, wanted)))
    if differs:
        raise ShapeError(
            name, f"{argument} has another shape than {of}", expected=expected, got=shape
        )


def alike(name: str, reduction: str, **arrays: Any) -> list[Any]:
    """The arrays of a loss, which must have one shape, and its reduction, which must exist.

    Integers, the usual targets, get the floating type of the others.
    """
    require_reduction(name, reduction)
    found = {argument: ops.asarray(value) for argument, value in arrays.items()}
    (first, model), *others = found.items()
    for argument, value in others:
        require_shape(name, argument, value.shape, model.shape, first)
    for argument, value in found.items():
        require_kind(name, value.dtype, "real or bool", argument)
    kinds = [x.dtype for x in found.values() if is_inexact(x.dtype)]
    dtype = promote(*kinds) if kinds else default_float()
    return [x if is_inexact(x.dtype) else astype(x, dtype) for x in found.values()]


def reduced(loss: Any, reduction: str, weight: Any = None) -> Any:
    """The losses of all elements, weighted, as one number or as they are."""
    if weight is not None:
        loss = loss * weight
    if reduction == "mean":
        return mean(loss)
    return ops.sum(loss) if reduction == "sum" else loss


def as_floats(name: str, argument: str, x: Any) -> Any:
    """An operand as real floating numbers: integers and booleans in the default float type."""
    x = ops.asarray(x)
    require_kind(name, x.dtype, "real or bool", argument)
    return x if is_inexact(x.dtype) else astype(x, default_float())


def require_number(name: str, argument: str, value: Any, within: bool, expected: str) -> None:
    """Refuse a number out of range."""
    if not isinstance(value, (int, float)) or not within:
        raise ArgumentError(name, f"{argument} is out of range", expected=expected, got=repr(value))
