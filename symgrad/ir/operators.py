"""The operators shared by symbols, tensors and rewrite patterns.

Each looks its op up when it is used, so the graph language need not know any op.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from symgrad.errors import ChangeRefused, TraceError
from symgrad.ir.op import COMPOSITES, OPS, public
from symgrad.types import Dim, Size


def _of_ufunc(ufunc: np.ufunc) -> Any:
    """The public function that means the same as a numpy ufunc, or None."""
    found = _found.get(ufunc)
    if found is None:
        found = next((op for op in OPS.values() if op.ufunc is ufunc), None)
        if found is not None:
            _found[ufunc] = found
    # Others have the array API's name: products over core axes (matmul, vecdot), say.
    name = _ARRAY_API_NAMES.get(ufunc.__name__, ufunc.__name__)
    return found or OPS.get(name) or COMPOSITES.get(name)


_found: dict[np.ufunc, Any] = {}  # what the search gave; ops are never taken back
_ARRAY_API_NAMES = {
    "rint": "round",
    "amax": "max",
    "amin": "min",
    "concatenate": "concat",
    "cumsum": "cumulative_sum",
    "cumprod": "cumulative_prod",
}


class Operators:
    """Python's operators as calls of ops."""

    __slots__ = ()

    # arithmetic -----------------------------------------------------------------------------
    def __add__(self, other: Any) -> Any:
        return OPS["add"](self, other)

    def __radd__(self, other: Any) -> Any:
        return OPS["add"](other, self)

    def __sub__(self, other: Any) -> Any:
        return OPS["subtract"](self, other)

    def __rsub__(self, other: Any) -> Any:
        return OPS["subtract"](other, self)

    def __mul__(self, other: Any) -> Any:
        return OPS["multiply"](self, other)

    def __rmul__(self, other: Any) -> Any:
        return OPS["multiply"](other, self)

    def __truediv__(self, other: Any) -> Any:
        return OPS["divide"](self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return OPS["divide"](other, self)

    def __floordiv__(self, other: Any) -> Any:
        return OPS["floor_divide"](self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return OPS["floor_divide"](other, self)

    def __mod__(self, other: Any) -> Any:
        return OPS["remainder"](self, other)

    def __rmod__(self, other: Any) -> Any:
        return OPS["remainder"](other, self)

    def __pow__(self, other: Any) -> Any:
        return OPS["pow"](self, other)

    def __rpow__(self, other: Any) -> Any:
        return OPS["pow"](other, self)

    def __matmul__(self, other: Any) -> Any:
        return OPS["matmul"](self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return OPS["matmul"](other, self)

    def __neg__(self) -> Any:
        return OPS["negative"](self)

    def __pos__(self) -> Any:
        return OPS["positive"](self)

    def __abs__(self) -> Any:
        return OPS["abs"](self)

    # bits ------------------------------------------------------------------------------------
    def __and__(self, other: Any) -> Any:
        return OPS["bitwise_and"](self, other)

    def __rand__(self, other: Any) -> Any:
        return OPS["bitwise_and"](other, self)

    def __or__(self, other: Any) -> Any:
        return OPS["bitwise_or"](self, other)

    def __ror__(self, other: Any) -> Any:
        return OPS["bitwise_or"](other, self)

    def __xor__(self, other: Any) -> Any:
        return OPS["bitwise_xor"](self, other)

    def __rxor__(self, other: Any) -> Any:
        return OPS["bitwise_xor"](other, self)

    def __lshift__(self, other: Any) -> Any:
        return OPS["bitwise_left_shift"](self, other)

    def __rlshift__(self, other: Any) -> Any:
        return OPS["bitwise_left_shift"](other, self)

    def __rshift__(self, other: Any) -> Any:
        return OPS["bitwise_right_shift"](self, other)

    def __rrshift__(self, other: Any) -> Any:
        return OPS["bitwise_right_shift"](other, self)

    def __invert__(self) -> Any:
        return OPS["bitwise_invert"](self)

    # comparisons -------------------------------------------------------------------------------
    def __eq__(self, other: object) -> Any:
        if _is_no_value(other):
            return NotImplemented
        return OPS["equal"](self, other)

    def __ne__(self, other: object) -> Any:
        if _is_no_value(other):
            return NotImplemented
        return OPS["not_equal"](self, other)

    def __lt__(self, other: Any) -> Any:
        return OPS["less"](self, other)

    def __le__(self, other: Any) -> Any:
        return OPS["less_equal"](self, other)

    def __gt__(self, other: Any) -> Any:
        return OPS["greater"](self, other)

    def __ge__(self, other: Any) -> Any:
        return OPS["greater_equal"](self, other)

    # `==` builds a symbol or tensor; identity is what dictionaries and sets go by.
    __hash__ = object.__hash__

    @property
    def shape(self) -> tuple[Size, ...]:
        """The sizes of the axes."""
        raise NotImplementedError  # each front end has its own

    # array attributes --------------------------------------------------------------------------
    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> Any:
        """The number of elements: an int, or a symbolic dimension."""
        total: Any = 1
        for size in self.shape:
            total = total * size
        return total

    @property
    def T(self) -> Any:
        """The transpose of a matrix; for more axes, use ``mT`` or ``permute_dims``."""
        if self.ndim != 2:
            raise TraceError(
                "T",
                "only a matrix has a plain transpose",
                expected="2 axes",
                got=self.ndim,
                hint="use x.mT or permute_dims",
            )
        return OPS["permute_dims"](self, (1, 0))

    @property
    def mT(self) -> Any:
        """The transpose of the last two axes."""
        return public("matrix_transpose")(self)

    def __getitem__(self, key: Any) -> Any:
        return public("getitem")(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise ChangeRefused(
            "item assignment",
            f"{type(self).__name__.lower()}s do not change",
            hint="x = sg.set_at(x, key, value) gives a new one",
        )

    def __delitem__(self, key: Any) -> None:
        raise ChangeRefused(
            "item deletion",
            f"{type(self).__name__.lower()}s do not change",
            hint="sg.concat joins what is left",
        )

    # Python wants a value ----------------------------------------------------------------------
    def __bool__(self) -> bool:
        raise _no_value(self, "bool", "use sg.where or sg.logical_and, or evaluate it first")

    def __int__(self) -> int:
        raise _no_value(self, "int", "use sg.astype, or evaluate it first")

    def __index__(self) -> int:
        raise _no_value(
            self, "index", "index arrays with symbols through sg.take, or evaluate it first"
        )

    def __float__(self) -> float:
        raise _no_value(self, "float", f"use sg.astype, or {_EVALUATE}")

    def __complex__(self) -> complex:
        raise _no_value(self, "complex", f"use sg.astype, or {_EVALUATE}")

    def __contains__(self, item: Any) -> bool:
        raise _no_value(self, "in", "use sg.any(x == value)")

    def __len__(self) -> int:
        return self._first_size("len")

    def __iter__(self) -> Any:
        size = self._first_size("iter")
        return (self[k] for k in range(size))

    def _first_size(self, what: str) -> int:
        shape = self.shape
        if not shape:
            raise _no_value(self, what, "a 0-d array has no length")
        if isinstance(shape[0], Dim):
            raise _no_value(
                self,
                what,
                f"the size {shape[0]} is known only at run time; use x.shape[0], or whole-axis ops",
            )
        return shape[0]

    # what these classes leave to functions ----------------------------------------------------
    def __getattr__(self, name: str) -> Any:
        # Only called where there is no such attribute.
        meant = _ARRAY_API_NAMES.get(name, name)
        op = None if name.startswith("_") else OPS.get(meant) or COMPOSITES.get(meant)
        hint = f"; hint: it is a function, sg.{meant}(x)" if op and op.namespace == "" else ""
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}{hint}")

    def __round__(self, digits: int | None = None) -> Any:
        if digits is not None:
            raise TraceError("round", "digits are not supported", hint="sg.round(x * 100) / 100")
        return OPS["round"](self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __format__(self, spec: str) -> str:
        if spec:
            raise _no_value(self, f"format {spec!r}", _EVALUATE)
        return str(self)

    # numpy meets one of ours -------------------------------------------------------------------
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        op = _of_ufunc(ufunc)
        if op is None or method != "__call__" or kwargs:
            return self._without_ufunc(ufunc, method, inputs, kwargs)
        return op(*inputs)

    def _without_ufunc(
        self, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """What becomes of a ufunc that no op stands for, or of its call with options."""
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        if "out" in kwargs:
            problem, hint = "an array holds no symbols", "instead of a += x write a = a + x"
        else:
            problem, hint = f"no function of symgrad means the same for {self!r}", _EVALUATE
        raise TraceError(f"numpy.{name}", problem, hint=hint)

    def __array_function__(
        self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """``np.sum(x)`` as ``sg.sum(x)``: numpy's functions of the array API's names."""
        given: str = function.__name__
        name = _ARRAY_API_NAMES.get(given, given)
        place = (function.__module__ or "").rpartition(".")[2]
        found = COMPOSITES.get(f"{place}.{name}") or OPS.get(name) or COMPOSITES.get(name)
        if name in ("ndim", "shape", "size") and not kwargs and len(args) == 1:
            return getattr(args[0], name)
        if found is not None and found.namespace in ("", place):
            most = len(found.signature.positional)
            if len(args) > most:  # the array API takes by name what numpy also takes by place
                names = list(inspect.signature(function).parameters)[most : len(args)]
                kwargs = {**dict(zip(names, args[most:], strict=False)), **kwargs}
            return found(*args[:most], **kwargs)
        return self._without_op(function, args, kwargs)

    def _without_op(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What becomes of a function of numpy's that no op stands for."""
        raise TraceError(
            f"numpy.{function.__name__}",
            f"no function of symgrad means the same for {self!r}",
            hint=_EVALUATE,
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise _no_value(
            self, "numpy.asarray", f"{_EVALUATE}; symbols in a list become one with sg.stack"
        )


_EVALUATE = "evaluate it first with .eval({...})"


def _is_no_value(other: object) -> bool:
    """Whether a comparison is with what is never a number: then Python compares identities."""
    return other is None or isinstance(other, str)


def _no_value(owner: Operators, what: str, hint: str) -> TraceError:
    return TraceError(what, f"{owner!r} has no value while the graph is built", hint=hint)
