"""Tensor: a value, with the array API's methods and operators, and PyTorch's for its gradient."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from symgrad.eager.records import HookHandle, Leaf, Record
from symgrad.eager.views import Extra, renew, retain
from symgrad.errors import (
    ArgumentError,
    DTypeError,
    GradientError,
    InPlaceError,
    NotDifferentiable,
    ShapeError,
    TraceError,
)
from symgrad.ir.late import late
from symgrad.ir.modes import MET, MODE, TRACING
from symgrad.ir.op import FRONT_ENDS, OPS, TENSOR_RANK
from symgrad.ir.operators import Operators
from symgrad.ir.storage import Storage
from symgrad.ir.symbol import Symbol, constant, variable_on
from symgrad.ops.conversion import is_known, require_cpu, values_of
from symgrad.types import TensorType, as_dtype, is_inexact

_PACKAGE = __name__.partition(".")[0]


class Tensor(Operators):
    """An array with a value: what an op gives when no operand is a symbol.

    ``Tensor(value, dtype=None)`` holds a copy of an array, a number or nested lists of numbers;
    `asarray` may share the memory of an array.

    Attributes:
        storage: where the value lives.
    """

    __slots__ = ("__weakref__", "_edge", "storage")
    __front_rank__ = TENSOR_RANK

    storage: Storage
    _edge: Record | Leaf | Extra | None

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
        # numpy's own, on the values: it reads them and gives its own arrays.
        plain = {name: _plain(value) for name, value in kwargs.items()}
        result = function(*map(_plain, args), **plain)
        kind = getattr(result, "dtype", None)
        if self.requires_grad and kind is not None and is_inexact(kind):
            raise GradientError(
                f"numpy.{function.__name__}",
                "no function of symgrad means the same, and the gradient would be lost",
                got=self.type,
                hint="x.detach() is taken as plain values",
            )
        return result

    def _without_ufunc(self, ufunc: np.ufunc, method: str, kwargs: dict[str, Any]) -> Any:
        return NotImplemented  # somebody else's operand may know

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

    # its gradient -------------------------------------------------------------------------------
    @property
    def edge(self) -> Record | Leaf | None:
        """Where a gradient that arrives here goes: a record, a leaf, or nowhere."""
        edge = self._edge
        if edge.__class__ is not Extra:
            return cast("Record | Leaf | None", edge)
        extra = cast("Extra", edge)
        if extra.is_stale:
            renew(self)
        return extra.edge

    @edge.setter
    def edge(self, new: Record | Leaf | None) -> None:
        if isinstance(self._edge, Extra):
            self._edge.edge = new
        else:
            self._edge = new

    @property
    def requires_grad(self) -> bool:
        """Whether calls on it are recorded; may be set on a leaf.

        Raises (where set):
            GradientError: it is no leaf, or not of floating-point type.
        """
        return self.edge is not None

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        edge = self.edge
        if isinstance(edge, Record):
            if wanted:
                return
            raise GradientError(
                "requires_grad",
                f"the result of {edge.name()} is no leaf",
                hint="x.detach() gives one that requires nothing",
                site=str(edge.site),
            )
        if bool(wanted) is (edge is not None):
            return
        if edge is not None:
            edge.accepts = False
            self._edge = edge.extra
            return
        if not is_inexact(self.dtype):
            raise NotDifferentiable(
                "requires_grad",
                "only floating-point and complex tensors can require a gradient",
                got=self.type,
                hint="sg.astype(x, sg.float64) or a float literal",
            )
        self._edge = Leaf(self, self.extra)  # which keeps what stood there

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set `requires_grad`, and give the tensor itself."""
        self.requires_grad = requires_grad
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether it is no result of a recorded call."""
        return not isinstance(self.edge, Record)

    @property
    def grad_fn(self) -> Record | None:
        """The record of the call that made it, or None."""
        edge = self.edge
        return edge if isinstance(edge, Record) else None

    @property
    def grad(self) -> Tensor | None:
        """The gradient that `backward` added up; may be set, to None as well.

        Raises (where set):
            ShapeError, DTypeError: the new gradient is not of this tensor's type.
        """
        edge = self._edge
        extra = edge.extra if isinstance(edge, Leaf) else edge
        grad = extra.grad if isinstance(extra, Extra) else None
        if grad is None and isinstance(self.edge, Record) and not self.retains_grad:
            warnings.warn(
                "only leaves keep a gradient; call retain_grad() on this result before backward()",
                UserWarning,
                stacklevel=2,
            )
        return grad

    @grad.setter
    def grad(self, new: Tensor | None) -> None:
        if new is not None:
            if not isinstance(new, Tensor):  # pyright: ignore[reportUnnecessaryIsInstance]
                got = type(new).__name__
                raise DTypeError("grad", "no tensor", expected=self.type, got=got)
            if new.shape != self.shape:
                raise ShapeError("grad", "another shape", expected=self.type, got=new.type)
            if new.dtype != self.dtype:
                raise DTypeError("grad", "another type", expected=self.type, got=new.type)
        self.extra.grad = new

    @grad.deleter
    def grad(self) -> None:
        self.extra.grad = None

    @property
    def extra(self) -> Extra:
        """What is kept beside value and edge; made when it is first asked for."""
        present = self._edge
        if isinstance(present, Leaf):
            return present.extra
        if not isinstance(present, Extra):
            self._edge = present = Extra(present)
        return present

    @property
    def retains_grad(self) -> bool:
        """Whether a result that is no leaf keeps its gradient."""
        return isinstance(self._edge, Extra) and self._edge.retains

    def retain_grad(self) -> None:
        """Have ``.grad`` filled by `backward`, though this is no leaf. For a leaf it does nothing.

        Raises:
            GradientError: it requires no gradient.
        """
        if not self.requires_grad:
            raise GradientError(
                "retain_grad", "the tensor requires no gradient", got=self.type, hint=_REQUIRE
            )
        record = self.grad_fn
        if record is not None and not self.retains_grad:
            retain(record, self.extra)

    def detach(self) -> Tensor:
        """The same value without its history: it shares memory and counts the same changes."""
        if MODE.get() & TRACING and self.edge is not None:
            return OPS["stop_gradient"](self)
        return tensor_on(self.storage)

    def detach_(self) -> Tensor:
        """Forget the history; the tensor becomes a leaf that requires nothing.

        Raises:
            InPlaceError: it is a view, whose history is its base's.
        """
        if self.extra.source is not None:
            raise InPlaceError(
                "detach_", "a view has its base's history", got=self.type, hint="use detach()"
            )
        if isinstance(self._edge, Leaf):
            self.requires_grad = False
        self.edge = None
        return self

    @property
    def data(self) -> Tensor:
        """The same as ``detach()``: changes are counted, so none goes unnoticed."""
        return self.detach()

    def clone(self) -> Tensor:
        """A copy, through which gradients pass."""
        return OPS["clone"](self)

    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradients of this tensor to ``.grad`` of the leaves that it depends on.

        Args:
            gradient: the cotangent of this tensor, of its shape; 1 if None, for one element.
            retain_graph: keep the saved values, for another pass; None means ``create_graph``.
            create_graph: record the pass itself, so that gradients can be differentiated again. A
                leaf then holds its gradient, whose history ends at the leaf: what is freed by the
                garbage collector only. `symgrad.grad` forms no such circle.
            inputs: only to these tensors.

        Raises:
            GradientError: the tensor requires no gradient; it has several elements and no
                ``gradient`` is given; what it needs was freed by an earlier pass.
            InPlaceError: a value that is needed was changed since.
            ShapeError: ``gradient`` has another shape.

        When it raises, no ``.grad`` has changed; values that the pass had used already are freed.
        """
        seeds = None if gradient is None else [gradient]
        late.backward(self, seeds, retain_graph, create_graph, inputs)

    def register_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call ``hook(grad)`` when the gradient of this tensor is complete.

        What it returns, if not None, takes the gradient's place. Hooks run in the order of their
        registration. The handle's ``remove()`` takes the hook out.

        Raises:
            GradientError: the tensor requires no gradient.
        """
        edge = self.edge
        if edge is None:
            raise GradientError(
                "register_hook", "the tensor requires no gradient", got=self.type, hint=_REQUIRE
            )
        return (edge if isinstance(edge, Leaf) else edge.watched()).hooks.add(hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call ``hook(tensor)`` each time after a gradient was added to this leaf's ``.grad``.

        Raises:
            GradientError: it is no leaf that requires a gradient.
        """
        edge = self.edge
        if not isinstance(edge, Leaf):
            raise GradientError(
                "register_post_accumulate_grad_hook",
                "no leaf that requires a gradient",
                got=self.type,
            )
        return edge.after.add(hook)

    @property
    def _version(self) -> int:
        """How often the value was changed in place."""
        return self.storage.version

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


_REQUIRE = "x.requires_grad_() on a leaf before it is used"
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
