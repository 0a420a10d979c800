"""Methods: every public function whose first parameter is an operand, on tensors and symbols."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.eager.names.axes import listed
from symgrad.eager.names.factories import tensor
from symgrad.eager.names.pieces import narrow
from symgrad.eager.names.table import CASTS, FROM_LINALG, NO_METHODS, ROWS
from symgrad.eager.names.values import numel
from symgrad.eager.names.variants import requiring
from symgrad.eager.names.written import WRITTEN
from symgrad.eager.tensor import Tensor
from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import COMPOSITES, OPS, ops, public
from symgrad.ir.operators import Operators
from symgrad.ops.conversion import require_cpu
from symgrad.types import as_dtype


def install() -> None:
    """Give `Operators` the methods. What it has already stays."""
    for name, function in {**OPS, **COMPOSITES}.items():
        if function.namespace == "" and _takes_operand(function):
            _add(name, function)
    for name in FROM_LINALG:
        _add(name, public(name))
    for name, meant in ROWS.items():
        if _takes_operand(public(meant)):
            _add(name, public(meant))
    for name, function in {**WRITTEN, **_METHODS}.items():
        setattr(Operators, name, function)
    for name, dtype in CASTS.items():
        setattr(Operators, name, _cast(name, as_dtype(dtype)))
    for name in ("real", "imag"):
        setattr(Operators, name, property(_called(name, public(name))))


def _takes_operand(function: Any) -> bool:
    called = list(function.signature.called.parameters.values())[:1]
    roles = [p.role for p in function.signature.parameters[:1]]
    return roles == ["operand"] and called[0].kind is not inspect.Parameter.VAR_POSITIONAL


def _add(name: str, function: Any) -> None:
    if name not in vars(Operators) and name not in NO_METHODS:
        setattr(Operators, name, _called(name, function))


def _called(name: str, function: Any) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    method.__name__, method.__qualname__ = name, f"Tensor.{name}"
    method.__doc__ = function.__doc__
    method.__wrapped__ = function  # pyright: ignore[reportFunctionMemberAccess]  # for its signature
    return method


def _cast(name: str, dtype: Any) -> Callable[..., Any]:
    def method(self: Any) -> Any:
        return _in_type(self, dtype)

    method.__name__, method.__qualname__ = name, f"Tensor.{name}"
    method.__doc__ = f"In the element type {dtype.name}; the tensor itself if it has it."
    return method


def _in_type(x: Any, dtype: Any) -> Any:
    return x if x.dtype == dtype else ops.astype(x, dtype)


# --- methods that no function stands for ----------------------------------------------------------

_METHODS: dict[str, Callable[..., Any]] = {}


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    _METHODS[function.__name__] = function
    return function


@_method
def view(self: Any, *shape: Any) -> Any:
    """The same memory in another shape; one size may be -1: what is left.

    Raises:
        ShapeError: the number of elements changes, or no view has this shape.

    >>> import symgrad as sg
    >>> sg.ones(2, 3).view(-1).shape
    (6,)
    """
    new = ops.reshape(self, listed(shape))
    if not isinstance(new, Tensor) or not new.size:
        return new
    if not np.may_share_memory(new.storage.array, self.storage.array):
        raise ShapeError(
            "view",
            "the elements do not lie in order, so this shape needs a copy",
            got=f"{self.type} to {list(new.shape)}",
            hint="x.reshape(...) copies where it must",
        )
    return new


@_method
def view_as(self: Any, other: Any) -> Any:
    """The same memory in the shape of another."""
    return view(self, other.shape)


@_method
def where(self: Any, condition: Any, other: Any) -> Any:
    """This where the condition is true, the other elsewhere."""
    return ops.where(condition, self, other)


@_method
def transpose(self: Any, *axes: Any) -> Any:
    """The axes in reverse order, with two of them exchanged, or in the order that is given."""
    if len(axes) == 2:
        return ops.swapaxes(self, *axes)
    return ops.transpose(self, listed(axes) or None)


@_method
def flip(self: Any, *dims: Any, **named: Any) -> Any:
    """The elements in reverse order, along axes; along all, if none is given."""
    return ops.flip(self, axis=listed(dims)) if dims else ops.flip(self, **named)


@_method
def select(self: Any, dim: int, index: int) -> Any:
    """The slice at one position of an axis, without the axis."""
    return narrow(self, dim, index, 1).squeeze(dim)


@_method
def to(self: Any, target: Any = None, *, dtype: Any = None, device: Any = None) -> Any:
    """In another element type, which may be that of another tensor; the tensor itself if it has it.

    Raises:
        ArgumentError: a device other than "cpu".
    """
    if isinstance(target, Operators):
        dtype = target.dtype
    elif target == "cpu":
        target = None
    elif isinstance(target, str) and target.partition(":")[0] in _DEVICES:
        device = target
    elif target is not None:
        dtype = target
    require_cpu("to", device)
    return self if dtype is None else _in_type(self, as_dtype(dtype))


_DEVICES = ("cuda", "gpu", "mps", "xpu", "meta")


@_method
def type_as(self: Any, other: Any) -> Any:
    """In the element type of another."""
    return _in_type(self, other.dtype)


@_method
def cpu(self: Any) -> Any:
    """The tensor itself: there is one device."""
    return self


@_method
def detach(self: Any) -> Any:
    """The same value, through which no derivative passes."""
    return ops.stop_gradient(self)


@_method
def contiguous(self: Any) -> Any:
    """With the elements in row-major order in memory; the tensor itself if they are."""
    return self if not isinstance(self, Tensor) or is_contiguous(self) else ops.clone(self)


def is_contiguous(self: Tensor) -> bool:
    """Whether the elements lie in row-major order in memory, without gaps."""
    return self.storage.array.flags.c_contiguous


@_method
def dim(self: Any) -> int:
    """The number of axes."""
    return self.ndim


@_method
def element_size(self: Any) -> int:
    """The size of an element in bytes."""
    return self.dtype.itemsize


_METHODS["ndimension"] = dim
_METHODS["nelement"] = numel


# --- new tensors like one -------------------------------------------------------------------------


def _new(name: str) -> Callable[..., Any]:
    """``x.new_zeros(size)``: as the factory, in the element type of ``x``."""

    def method(self: Any, *size: Any, dtype: Any = None, requires_grad: bool = False) -> Any:
        made = public(name)(listed(size), dtype=self.dtype if dtype is None else dtype)
        return requiring(f"new_{name}", made, requires_grad)

    method.__name__ = f"new_{name}"
    method.__doc__ = f"As `{name}`, in the element type of this."
    return method


for _name in ("zeros", "ones", "empty"):
    _method(_new(_name))


@_method
def new_full(
    self: Any, size: Any, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False
) -> Any:
    """As `full`, in the element type of this."""
    made = ops.full(size, fill_value, dtype=self.dtype if dtype is None else dtype)
    return requiring("new_full", made, requires_grad)


@_method
def new_tensor(self: Any, data: Any, *, dtype: Any = None, requires_grad: bool = False) -> Any:
    """As `tensor`, in the element type of this."""
    return tensor(data, dtype=self.dtype if dtype is None else dtype, requires_grad=requires_grad)


# --- where the value lies: of tensors alone -------------------------------------------------------


def stride(self: Tensor, dim: int | None = None) -> Any:
    """How many elements of memory lie between neighbours, per axis or along one."""
    steps = tuple(step // self.dtype.itemsize for step in self.storage.array.strides)
    if dim is None:
        return steps
    if not -len(steps) <= dim < len(steps):
        raise ArgumentError("stride", "no such axis", expected=self.type, got=dim)
    return steps[dim]


def data_ptr(self: Tensor) -> int:
    """The address of the first element."""
    return self.storage.array.ctypes.data


for _function in (is_contiguous, stride, data_ptr):
    setattr(Tensor, _function.__name__, _function)
