"""Methods with a trailing underscore: they change the tensor, and give it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from symgrad.eager.inplace import change
from symgrad.eager.names.factories import drawing
from symgrad.eager.names.table import ALSO_IN_PLACE, ROWS, UNSUITABLE_IN_PLACE
from symgrad.eager.tensor import Tensor
from symgrad.errors import ArgumentError, DTypeError, ShapeError
from symgrad.ir.modes import no_grad
from symgrad.ir.op import OPS, ops
from symgrad.ir.operators import Operators
from symgrad.ops.generator import Generator


def install() -> None:
    """Give `Tensor` the methods."""
    elementwise = [name for name, op in OPS.items() if op.namespace == "" and op.partials]
    renamed = [name for name, meant in ROWS.items() if meant in elementwise]
    for name in (*elementwise, *renamed, *ALSO_IN_PLACE):
        if name not in UNSUITABLE_IN_PLACE:
            setattr(Tensor, f"{name}_", _changing(name))
    for function in _WRITTEN:
        setattr(Tensor, function.__name__, function)
    setattr(Tensor, "data", cast("Any", Tensor.data).setter(_set_data))  # noqa: B010  # as above


def _changing(name: str) -> Callable[..., Tensor]:
    """The method of this name, in place."""
    compute = vars(Operators)[name]

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return change(self, f"{name}_", lambda: compute(self, *args, **kwargs))

    method.__name__, method.__qualname__ = f"{name}_", f"Tensor.{name}_"
    method.__doc__ = f"Write the result of `{name}` into this tensor, and give it back."
    return method


_WRITTEN: list[Callable[..., Tensor]] = []


def _in_place(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    _WRITTEN.append(function)
    return function


def _replaced(target: Tensor, values: Any) -> Tensor:
    """All elements written anew: the history stays, and gets zeros for a gradient."""
    return ops.set_at(target, ..., values)


def _set_data(target: Tensor, new: Any) -> None:
    """``x.data = y``, and what ``x.data -= y`` ends with: a change that no record sees."""
    value = new if isinstance(new, Tensor) else ops.asarray(new)
    if value.storage is target.storage:
        return
    if value.shape != target.shape:
        raise ShapeError("data", "another shape", expected=target.type, got=value.type)
    with no_grad():
        vars(Tensor)["copy_"](target, value)


@_in_place
def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Write the values of another, broadcast and cast."""
    return change(self, "copy_", lambda: _replaced(self, ops.astype(ops.asarray(src), self.dtype)))


@_in_place
def fill_(self: Tensor, value: Any) -> Tensor:
    """Write one value everywhere."""
    return change(self, "fill_", lambda: _replaced(self, value))


@_in_place
def zero_(self: Tensor) -> Tensor:
    """Write zeros."""
    return change(self, "zero_", lambda: _replaced(self, 0))


@_in_place
def scatter_(
    self: Tensor,
    dim: int,
    index: Any,
    src: Any = None,
    *,
    value: Any = None,
    reduce: str | None = None,
) -> Tensor:
    """Write ``src`` (or one ``value``) at positions along an axis; or add, or multiply by it.

    With ``dim=0`` on two axes, ``self[index[i, j], j] = src[i, j]``.

    Raises:
        DTypeError: ``src`` has another element type, or the index is not of integers.
        IndexError: a position out of range.
    """
    given = value if src is None else src
    if given is None:
        raise ArgumentError("scatter_", "nothing to write", expected="src or value")
    if isinstance(given, Tensor) and given.dtype != self.dtype:
        raise DTypeError(
            "scatter_",
            "src has another element type",
            expected=self.dtype,
            got=given.dtype,
            hint="src.type_as(x)",
        )
    return change(
        self, "scatter_", lambda: ops.scatter(self, index, given, axis=dim, reduce=reduce)
    )


# --- chance ---------------------------------------------------------------------------------------


@_in_place
def normal_(
    self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Write normal numbers."""
    return _drawn(self, "normal_", generator, "normal", mean=mean, std=std)


@_in_place
def uniform_(
    self: Tensor, low: float = 0.0, high: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Write numbers spread evenly over [low, high)."""
    return _drawn(self, "uniform_", generator, "uniform", low=low, high=high)


@_in_place
def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Write numbers of the exponential distribution with this rate."""
    return _drawn(self, "exponential_", generator, "exponential", scale=1 / lambd)


@_in_place
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Write ones with probability ``p``, zeros else."""

    def compute() -> Tensor:
        ones = drawing(generator).bernoulli(p, self.shape)
        return _replaced(self, ops.astype(ones, self.dtype))

    return change(self, "bernoulli_", compute)


def _drawn(
    target: Tensor, where: str, generator: Generator | None, draw: str, **parameters: float
) -> Tensor:
    def compute() -> Tensor:
        made = getattr(drawing(generator), draw)(target.shape, dtype=target.dtype, **parameters)
        return _replaced(target, made)

    return change(target, where, compute)
