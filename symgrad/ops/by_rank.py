"""Functions named after a number of spatial axes: conv1d, conv2d and conv3d from one body."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from symgrad.errors import ShapeError, SymgradError
from symgrad.ir.op import Composite, ops
from symgrad.ops.families import composite

Trio = tuple[Composite, Composite, Composite]


def by_rank(name: str, images: int = 1) -> Callable[[Callable[..., Any]], Trio]:
    """Declare ``{name}1d``, ``{name}2d`` and ``{name}3d`` by one function of any number of axes.

    The number of axes that a name states makes the batch optional: what comes without one is taken
    for a batch of one image, and the result loses that axis again.

    Args:
        name: what stands before the number.
        images: how many of the first operands have a batch.

    In the documentation, ``{name}`` and ``{axes}`` stand for the name and the number,
    ``{ones}`` for a call that makes an image of 4 by 4 ... ones, ``{twos}``, ``{fours}`` and
    ``{eights}`` for spatial sizes in a shape.
    """

    def declare(body: Callable[..., Any]) -> Trio:
        return (
            _of_rank(body, name, 1, images),
            _of_rank(body, name, 2, images),
            _of_rank(body, name, 3, images),
        )

    return declare


def _of_rank(body: Callable[..., Any], general: str, axes: int, images: int) -> Composite:
    name = f"{general}{axes}d"

    @functools.wraps(body)
    def of_rank(*args: Any, **kwargs: Any) -> Any:
        called = declared.signature.called.bind(*args, **kwargs).arguments
        alone = False
        for operand in list(called)[:images]:
            image = ops.asarray(called[operand])
            alone = _without_batch(name, operand, image, axes)
            called[operand] = ops.expand_dims(image, axis=0) if alone else image
        try:
            result = body(**called)
        except SymgradError as error:
            if error.where == general:
                error.where = name
            raise
        return _first(result) if alone else result

    words = {
        "name": name,
        "axes": "one spatial axis" if axes == 1 else f"{axes} spatial axes",
        "ones": f"sg.ones((1, 1{', 4' * axes}))",
        "twos": ", 2" * axes,
        "fours": ", 4" * axes,
        "eights": ", 8" * axes,
    }
    of_rank.__doc__ = (body.__doc__ or "").format(**words)
    declared: Composite = composite(name=name)(of_rank)
    return declared


def _without_batch(name: str, operand: str, image: Any, axes: int) -> bool:
    """Whether the batch is left out; a ShapeError, if the number of axes is another."""
    if image.ndim not in (axes + 1, axes + 2):
        raise ShapeError(
            name,
            f"{operand} needs a channel and {axes} spatial {'axis' if axes == 1 else 'axes'}",
            expected=f"{axes + 2} axes, or {axes + 1} without a batch",
            got=image.type,
        )
    return image.ndim == axes + 1


def _first(result: Any) -> Any:
    """The only image of a batch, or of each of several results."""
    if isinstance(result, tuple):
        return type(result)(*map(_first, result))
    return ops.squeeze(result, axis=0)
