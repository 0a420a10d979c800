"""Tensor: a value, with the array API's methods and operators.

Here is also the front end that carries out calls without a symbol: it computes at once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from symgrad.errors import ArgumentError, DTypeError, ShapeError, SymgradError, TraceError
from symgrad.ir.late import late
from symgrad.ir.lifting import float_of, weak_dtype
from symgrad.ir.op import FRONT_ENDS, SYMBOL_RANK, TENSOR_RANK, Attrs, Op
from symgrad.ir.operators import Operators
from symgrad.ir.quiet import quietly
from symgrad.ir.site import here
from symgrad.ir.storage import Storage
from symgrad.ir.symbol import Symbol, constant
from symgrad.ops.conversion import is_known, require_cpu, values_of
from symgrad.types import Dim, TensorType, TupleType, as_dtype, is_inexact, take_constraints

_PACKAGE = __name__.partition(".")[0]


class Tensor(Operators):
    """An array with a value: what an op gives when no operand is a symbol.

    ``Tensor(value, dtype=None)`` holds a copy of an array, a number or nested lists of numbers;
    `asarray` may share the memory of an array.

    Attributes:
        storage: where the value lives.
    """

    __slots__ = ("__weakref__", "storage")
    __front_rank__ = TENSOR_RANK

    storage: Storage

    def __init__(self, value: Any, *, dtype: Any = None) -> None:
        if type(value) is not Storage:
            wanted = None if dtype is None else as_dtype(dtype)
            value = Storage(values_of("Tensor", value, wanted, copy=True))
        self.storage = value

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
        # numpy's own, on the values: it reads them and gives its own arrays.
        plain = {name: _plain(value) for name, value in kwargs.items()}
        return function(*map(_plain, args), **plain)

    def _without_ufunc(self, ufunc: np.ufunc, method: str, kwargs: dict[str, Any]) -> Any:
        return NotImplemented  # somebody else's operand may know

    def __as_symbol__(self) -> Symbol:
        return constant(self.storage.array)

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
    def type(self) -> TensorType:
        """Element type and shape."""
        array = self.storage.array
        return TensorType(array.shape, array.dtype)

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
        return text.replace("array(", "Tensor(", 1).replace("\n ", "\n  ")

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec else str(self)

    def __reduce__(self) -> Any:
        # A copy and a pickle hold the value; the lock of a storage stays where it is.
        return as_tensor, (self.storage.array.copy(),)

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


def _plain(value: Any) -> Any:
    """The arrays for all tensors in an argument of a numpy function."""
    if isinstance(value, Tensor):
        return value.numpy()
    if isinstance(value, (list, tuple)):
        items = cast("Sequence[Any]", value)
        return [_plain(item) for item in items]
    return value


class Pack(tuple[Any, ...]):
    """The outputs of an op that has several; `item` takes it apart."""

    __slots__ = ()
    __front_rank__ = TENSOR_RANK


# --- the front end ------------------------------------------------------------------------------


def as_tensor(value: Any) -> Tensor:
    """The tensor that holds an array, which is not copied if its element type is known.

    Raises:
        DTypeError: an array of objects, texts, dates.
    """
    array = value if is_known(value) else values_of("asarray", value)
    return Tensor(Storage(np.asarray(array)))


_WEAK = (bool, int, float, complex)


def _value(op: Op, operand: Any, weak: np.dtype[Any] | None) -> Any:
    if type(operand) is Tensor:
        return operand.storage.array
    if type(operand) is Pack:
        return operand
    return values_of(op.name, operand, weak if type(operand) in _WEAK else None)


def _as_floats(values: list[Any]) -> list[Any]:
    if all(is_inexact(v.dtype) for v in values):
        return values
    dtype = float_of(v.dtype for v in values)
    return [v if is_inexact(v.dtype) else v.astype(dtype) for v in values]


def _type_of(value: Any) -> Any:
    if isinstance(value, Pack):
        return TupleType(TensorType(v.shape, v.dtype) for v in value)
    return TensorType(value.shape, value.dtype)


def compute(op: Op, operands: Sequence[Any], attrs: Attrs) -> Any:
    """Check what a symbol's construction would check, then run the kernel."""
    weak = weak_dtype(op, operands)
    values = [_value(op, operand, weak) for operand in operands]
    if op.integers == "float":
        values = _as_floats(values)
    types = [_type_of(value) for value in values]
    if op.normalize is not None:
        attrs = op.normalize(types, attrs)
        if FRONT_ENDS.choose((), attrs) is not apply_eager:
            # A name in a shape became a dimension.
            return FRONT_ENDS.by_rank[SYMBOL_RANK](op, operands, attrs)
    op.infer(types, attrs)
    if not (op.warns or op.restricts_domain):
        return wrapped(op.run(values, attrs))
    return wrapped(quietly(op.run, values, attrs))


def wrapped(result: Any) -> Any:
    """A kernel's result as a tensor, several as a pack."""
    if isinstance(result, tuple):
        return Pack(cast("tuple[Any, ...]", result))
    return Tensor(Storage(np.asarray(result)))


def apply_eager(op: Op, operands: Sequence[Any], attrs: Attrs) -> Any:
    """Carry out a call without a symbol among its operands: compute, and wrap the result."""
    if any(type(operand) is Dim for operand in operands):
        return FRONT_ENDS.by_rank[SYMBOL_RANK](op, operands, attrs)
    try:
        return compute(op, operands, attrs)
    except SymgradError as error:
        take_constraints()
        site = here()
        if error.site is None and site is not None:
            error.site = str(site)
        raise


FRONT_ENDS.by_rank[TENSOR_RANK] = apply_eager
late.apply_eager = apply_eager
late.as_tensor = as_tensor
