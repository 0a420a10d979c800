"""Tensor: a value, with the array API's methods and operators, and PyTorch's for its gradient."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from symgrad.eager.records import Leaf, Record
from symgrad.eager.tracked import Tracked
from symgrad.errors import (
    ArgumentError,
    DTypeError,
    GradientError,
    ShapeError,
    TraceError,
)
from symgrad.ir.late import late
from symgrad.ir.modes import MET, MODE, TRACING
from symgrad.ir.op import FRONT_ENDS, OPS, TENSOR_RANK
from symgrad.ir.storage import Storage
from symgrad.ir.symbol import Symbol, constant, variable_on
from symgrad.ops.conversion import is_known, require_cpu, values_of
from symgrad.types import as_dtype, is_inexact

_PACKAGE = __name__.partition(".")[0]


class Tensor(Tracked):
    """An array with a value: what an op gives when no operand is a symbol.

    ``Tensor(value, dtype=None)`` holds a copy of an array, a number or nested lists of numbers;
    `asarray` may share the memory of an array.

    Attributes:
        storage: where the value lives.
    """

    __slots__ = ()
    __front_rank__ = TENSOR_RANK

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        FRONT_ENDS.tensors.add(cls)

    def __init__(self, value: Any, *, dtype: Any = None, requires_grad: bool = False) -> None:
        if type(value) is not Storage:
            wanted = None if dtype is None else as_dtype(dtype)
            value = Storage(values_of("Tensor", value, wanted, copy=True))
        self.storage, self._edge = value, None
        if requires_grad:
            self.requires_grad = True

    # the value ----------------------------------------------------------------------------------
    def numpy(self) -> NDArray[Any]:
        """The value as a numpy array: a read-only view, not a copy."""
        return self.storage.read()

    def item(self) -> Any:
        """The value of a tensor of one element, as a Python number.

        Raises:
            ShapeError: it does not have exactly one element.
        """
        return self._single("item").item()

    def tolist(self) -> Any:
        """The value as nested lists of Python numbers; a number, if there are no axes."""
        return self.storage.array.tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.storage.read(), dtype=dtype, copy=copy)

    def _without_op(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self._of_values(function.__name__, function, args, kwargs)

    def _of_values(
        self, name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """What a function of numpy's makes of the values: it gives its own arrays."""
        lost = GradientError(
            f"numpy.{name}",
            "no function of symgrad means the same, and the gradient would be lost",
            got=self.type,
            hint="x.detach() is taken as plain values",
        )
        wanted = any(t.requires_grad for t in _tensors_in(args))
        if wanted and "out" in kwargs:  # before anything is written
            raise lost
        plain = {key: v if key == "out" else _plain(v) for key, v in kwargs.items()}
        result = function(*map(_plain, args), **plain)
        kind = getattr(result, "dtype", None)
        if wanted and kind is not None and is_inexact(kind):
            raise lost
        return result

    def _without_ufunc(
        self, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        known = (Tensor, np.ndarray, np.generic, bool, int, float, complex, list, tuple)
        outs = kwargs.get("out", ())
        if any(isinstance(out, Tensor) for out in outs) or not all(
            isinstance(v, known) for v in inputs
        ):
            return NotImplemented  # somebody else's operand may know
        return self._of_values(ufunc.__name__, getattr(ufunc, method), inputs, kwargs)

    def __as_symbol__(self) -> Symbol:
        edge = self.edge
        if edge is None:
            return constant(self.storage.array)
        if isinstance(edge, Leaf):
            symbol = variable_on(self.storage)
            met = MET.get()
            if met is not None:
                met.setdefault(symbol, self)
            return symbol
        raise TraceError(
            "tensor in a graph",
            f"it was computed eagerly, by {edge.name()}, and its gradient cannot follow it there",
            got=self.type,
            hint="x.detach() makes it a constant; a leaf that requires a gradient is a variable",
        )

    # its history --------------------------------------------------------------------------------
    def detach(self) -> Tensor:
        """The same value without its history: it shares memory and counts the same changes."""
        if MODE.get() & TRACING and self.edge is not None:
            return OPS["stop_gradient"](self)
        return tensor_on(self.storage)

    # what it looks like -------------------------------------------------------------------------
    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        return self.storage.array.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type."""
        return self.storage.array.dtype

    @property
    def device(self) -> str:
        """Where the value lives: always ``"cpu"``."""
        return "cpu"

    def to_device(self, device: Any, /, *, stream: Any = None) -> Tensor:
        """The same tensor: there is one device.

        Raises:
            ArgumentError: the device is not "cpu", or a stream is given.
        """
        require_cpu("to_device", device)
        if stream is not None:
            raise ArgumentError("to_device", "the cpu has no streams", expected="None", got=stream)
        return self

    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        namespace = sys.modules[_PACKAGE]
        if api_version not in (None, *_API_VERSIONS):
            raise ArgumentError(
                "__array_namespace__",
                "unknown version",
                expected=_API_VERSIONS[-1],
                got=api_version,
            )
        return namespace

    def __dlpack__(self, **options: Any) -> Any:
        array = self.storage.array
        # A protocol without read-only memory must not hand out what others share.
        return (array if array.flags.writeable else array.copy()).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.storage.array.__dlpack_device__()

    def __repr__(self) -> str:
        width = np.get_printoptions()["linewidth"] - 1
        text = np.array_repr(self.storage.array, max_line_width=width)
        # One letter more than in "array(", so every further line moves by one.
        text = text.replace("array(", "Tensor(", 1).replace("\n ", "\n  ")
        edge = self.edge
        if edge is None:
            return text
        note = "requires_grad=True" if isinstance(edge, Leaf) else f"grad_fn={edge!r}"
        return f"{text[:-1]}, {note})"

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec else str(self)

    def __reduce__(self) -> Any:
        # A copy and a pickle hold the value; the lock of a storage stays where it is.
        if isinstance(self.edge, Record):
            raise GradientError(
                "copy",
                "the result of a recorded call has a history that cannot be copied",
                hint="x.detach() or x.clone()",
            )
        return _restored, (self.storage.array.copy(), self.requires_grad, self.extra.grad)

    # Python numbers -----------------------------------------------------------------------------
    def _single(self, what: str) -> NDArray[Any]:
        array = self.storage.array
        if array.size != 1:
            raise ShapeError(
                what, "only one element is a number", expected="1 element", got=self.type
            )
        return array

    def __bool__(self) -> bool:
        return bool(self._single("bool").item())

    def __int__(self) -> int:
        return int(self._real("int"))

    def __float__(self) -> float:
        return float(self._real("float"))

    def __complex__(self) -> complex:
        return complex(self._single("complex").item())

    def __index__(self) -> int:
        value = self._single("index").item()
        if type(value) is not int:
            raise DTypeError(
                "index", "an index is an integer", expected="an integer", got=self.type
            )
        return value

    def _real(self, what: str) -> Any:
        array = self._single(what)
        if array.dtype.kind == "c":
            raise DTypeError(
                what,
                "a complex number",
                expected="a real one",
                got=self.type,
                hint="take sg.real or sg.abs",
            )
        return array.item()

    # sequences ----------------------------------------------------------------------------------
    def __len__(self) -> int:
        shape = self.storage.array.shape
        if not shape:
            raise TraceError("len", "a tensor without axes has no length")
        return shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __contains__(self, item: Any) -> bool:
        return bool(np.any(np.equal(self.storage.array, np.asarray(item))))


_API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
_new = object.__new__


def tensor_on(storage: Any, edge: Record | Leaf | None = None) -> Tensor:
    """A tensor on a storage."""
    tensor = _new(Tensor)
    tensor.storage, tensor._edge = storage, edge  # pyright: ignore[reportPrivateUsage]
    return tensor


def _revived(leaf: Leaf) -> Tensor:
    return tensor_on(leaf.storage, leaf)


late.revive = _revived


def _restored(array: NDArray[Any], requires_grad: bool, grad: Tensor | None) -> Tensor:
    tensor = Tensor(Storage(array), requires_grad=requires_grad)
    if grad is not None:
        tensor.extra.grad = grad
    return tensor


def as_tensor(value: Any) -> Tensor:
    """The tensor that holds an array, which is not copied if its element type is known.

    Raises:
        DTypeError: an array of objects, texts, dates.
    """
    array = value if is_known(value) else values_of("asarray", value)
    return tensor_on(Storage(np.asarray(array)))


def _tensors_in(value: Any) -> Iterator[Tensor]:
    """The tensors of an argument, which may be a nested list."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in cast("Sequence[Any]", value):
            yield from _tensors_in(item)


def _plain(value: Any) -> Any:
    """The arrays for all tensors in an argument of a numpy function."""
    if isinstance(value, Tensor):
        return value.numpy()
    if isinstance(value, (list, tuple)):
        items = cast("Sequence[Any]", value)
        return [_plain(item) for item in items]
    return value


FRONT_ENDS.tensors.add(Tensor)
late.as_tensor = as_tensor
