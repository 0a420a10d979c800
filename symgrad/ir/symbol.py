"""Symbol: one application of an op to symbols; immutable and interned.

Equal construction gives the same object, so common sub-expressions are shared from the start and
equality is identity. Serial numbers count constructions: an argument's serial is always smaller
than its user's, so sorting by serial is a topological order.
"""

from __future__ import annotations

import itertools
import struct
import threading
import weakref
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from symgrad.errors import ArgumentError, DTypeError, ShapeError, SymgradError, TraceError
from symgrad.ir.late import late
from symgrad.ir.op import (
    FRONT_ENDS,
    OPS,
    SYMBOL_RANK,
    Attrs,
    Op,
    Signature,
    no_derivative,
    register,
)
from symgrad.ir.operators import Operators
from symgrad.ir.site import Site, here
from symgrad.ir.storage import Storage
from symgrad.types import (
    DTYPES,
    Constraint,
    Dim,
    Size,
    TensorType,
    as_dtype,
    as_shape,
    default_float,
    is_inexact,
    is_integer,
    promote,
    take_constraints,
)

INTERNED_CONSTANT = 64
"""Constants of up to so many elements are equal by value, larger ones by identity."""


class Origin(NamedTuple):
    """The differentiator made a symbol: the derivative of which one, by which rule."""

    primal: Symbol
    rule: str


class _Building(threading.local):
    """What construction depends on besides its arguments; one per thread."""

    builder: Callable[[Op, tuple[Symbol, ...], Attrs], Symbol] | None = None
    origin: Origin | None = None
    site: Site | None = None
    share: bool = True


building = _Building()


@contextmanager
def constructing(
    *,
    builder: Callable[[Op, tuple[Symbol, ...], Attrs], Symbol] | None = None,
    site: Site | None = None,
    share: bool | None = None,
) -> Generator[_Building]:
    """Set how symbols are built inside the block.

    Args:
        builder: called instead of `make`, to simplify while building; None builds literally.
        site: the line of code that new symbols are said to come from.
        share: False gives every call a fresh symbol, for tests that compare whole data flows.
    """
    saved = building.builder, building.site, building.share, building.origin
    building.builder = builder
    if site is not None:
        building.site = site
    if share is not None:
        building.share = share
    try:
        yield building
    finally:
        building.builder, building.site, building.share, building.origin = saved


class Symbol(Operators):
    """A node of a graph: an op applied to symbols, or a leaf.

    Attributes:
        op: the operation.
        args: its operands.
        attrs: its attributes; never changed.
        type: element type and shape of the value.
        serial: the construction counter; arguments have smaller ones.
        site: the user's line that made it first, or None.
        origin: what it is the derivative of, if the differentiator made it.
        constraints: equalities between dimensions that this symbol needs.
        payload: a constant's array, a variable's storage.
        name: the label of a placeholder or variable.
    """

    __slots__ = (
        "__weakref__",
        "args",
        "attrs",
        "constraints",
        "name",
        "op",
        "origin",
        "payload",
        "serial",
        "site",
        "type",
    )
    __front_rank__ = SYMBOL_RANK

    op: Op
    args: tuple[Symbol, ...]
    attrs: Attrs
    type: TensorType
    serial: int
    site: Site | None
    origin: Origin | None
    constraints: tuple[Constraint, ...]
    payload: Any
    name: str | None

    @property
    def shape(self) -> tuple[Size, ...]:
        """The sizes of the axes: ints, or symbolic dimensions."""
        return self.type.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type."""
        return self.type.dtype

    @property
    def is_leaf(self) -> bool:
        """Whether it is a placeholder, a variable or a constant."""
        return self.op.family == "leaf"

    @property
    def value(self) -> NDArray[Any]:
        """The present value of a variable or constant, as a read-only view."""
        if self.op is VARIABLE:
            return self.payload.read()
        if self.op is CONSTANT:
            return self.payload
        raise TraceError(
            str(self), "a symbol has no value", hint="run it: symbol.eval({...}) or sg.function"
        )

    @value.setter
    def value(self, new: Any) -> None:
        if self.op is not VARIABLE:
            raise TraceError(str(self), "only a variable can be assigned a value")
        array = _array_like(self, new)
        with self.payload.lock:
            self.payload.replace(array)

    def eval(self, feeds: Any = None, **options: Any) -> Any:
        """The value of this symbol, given values for placeholders (or any other symbols).

        >>> import symgrad as sg
        >>> x = sg.placeholder("x")
        >>> float((x * x).eval({x: 3.0}))
        9.0
        """
        return late.evaluate(self, feeds, **options)

    def __copy__(self) -> Symbol:
        return self  # immutable, and equal only to itself

    def __deepcopy__(self, memo: Any) -> Symbol:
        return self

    def __repr__(self) -> str:
        label = f" {self.name!r}" if self.name else ""
        return f"<{self.op.name}{label}: {self.type}>"


def _array_like(variable: Symbol, new: Any) -> NDArray[Any]:
    """A fresh array of the variable's type holding ``new``, or an error and no change."""
    where = f"variable {variable.name!r}" if variable.name else "variable"
    array = _own_array(where, new, None)
    kind = TensorType(array.shape, array.dtype)
    site = str(variable.site)
    if kind.shape != variable.shape:
        raise ShapeError(
            where, "the new value's shape differs", expected=variable.type, got=kind, site=site
        )
    cast = array.astype(variable.dtype)
    fits = np.can_cast(array.dtype, variable.dtype, "same_kind")
    if not fits or (is_integer(array.dtype) and np.any(cast != array)):
        raise DTypeError(
            where, "the new value does not fit", expected=variable.type, got=kind, site=site
        )
    return cast


# --- interning --------------------------------------------------------------------------------


class _Entry(weakref.ref[Symbol]):
    """A weak reference that knows its key, so that its death can clear the table."""

    __slots__ = ("key",)
    key: Any


_table: dict[Any, _Entry] = {}
_lock = threading.RLock()
_serials = itertools.count()


def _forget(entry: weakref.ref[Symbol], table: dict[Any, _Entry] = _table) -> None:
    # The default argument keeps the table reachable while the interpreter shuts down.
    key = entry.key  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
    if table.get(key) is entry:
        del table[key]


def attribute_key(value: Any) -> Any:
    """A hashable form that tells True, 1, 1.0 and -0.0 apart, and knows NaN as equal to itself."""
    kind = cast("Any", type(value))
    if kind is int or kind is str or value is None:
        return value
    if kind is tuple:
        return (tuple, *map(attribute_key, value))
    if kind is float:
        return (float, struct.pack("<d", value))
    if kind is complex:
        return (complex, struct.pack("<dd", value.real, value.imag))
    return (kind, value)


def _key(op: Op, args: tuple[Symbol, ...], attrs: Attrs) -> Any:
    if not attrs:
        return (id(op), *map(id, args))
    return (id(op), *map(id, args), *map(attribute_key, attrs.values()))


def exists(op: Op, args: tuple[Symbol, ...]) -> bool:
    """Whether somebody holds this application, of an op without attributes, at the moment."""
    return _key(op, args, {}) in _table


def make(op: Op, args: tuple[Symbol, ...], attrs: Attrs) -> Symbol:
    """The interning constructor: the symbol of this application, as it stands.

    Raises:
        ShapeError, DTypeError: the op refuses these operands; the message names the call's site.
    """
    try:
        if op.normalize is not None:
            attrs = op.normalize([a.type for a in args], attrs)
        if not building.share:
            return _create(op, args, attrs, None)
        key = _key(op, args, attrs)
        entry = _table.get(key)
        found = None if entry is None else entry()
        return _create(op, args, attrs, key) if found is None else found
    except SymgradError as error:
        take_constraints()
        if error.site is None:
            site = building.site or here()
            error.site = None if site is None else str(site)
        raise


def _create(op: Op, args: tuple[Symbol, ...], attrs: Attrs, key: Any) -> Symbol:
    kind = op.infer([a.type for a in args], attrs)
    return intern(key, new_symbol(op, args, attrs, kind, take_constraints()))


def new_symbol(
    op: Op,
    args: tuple[Symbol, ...],
    attrs: Attrs,
    kind: TensorType,
    constraints: tuple[Constraint, ...] = (),
    *,
    payload: Any = None,
    name: str | None = None,
) -> Symbol:
    """A symbol outside the table. Only the constructors here and the loader call this."""
    symbol = Symbol()
    symbol.op, symbol.args, symbol.attrs, symbol.type = op, args, attrs, kind
    symbol.payload, symbol.name = payload, name
    symbol.origin = building.origin
    symbol.site = building.site or here()
    symbol.constraints = tuple(c.at(str(symbol.site)) for c in constraints)
    symbol.serial = next(_serials)
    return symbol


def intern(key: Any, symbol: Symbol) -> Symbol:
    """Enter ``symbol`` under ``key``; another thread may have been first, then its symbol."""
    if key is None:
        return symbol
    entry = _Entry(symbol, _forget)
    entry.key = key
    with _lock:
        present = _table.get(key)
        winner = None if present is None else present()
        if winner is not None:
            return winner
        _table[key] = entry
    return symbol


def build(op: Op, args: tuple[Symbol, ...], attrs: Attrs) -> Symbol:
    """Construct through the active builder (which may simplify), or literally."""
    builder = building.builder
    return make(op, args, attrs) if builder is None else builder(op, args, attrs)


# --- leaves -----------------------------------------------------------------------------------


def _leaf(name: str) -> Op:
    def kernel() -> Any:
        raise TraceError(name, "a leaf has no kernel")

    nothing = no_derivative("a leaf has no operands")
    return register(
        Op(
            name=name,
            family="leaf",
            kernel=kernel,
            signature=Signature(kernel),
            type=lambda: TensorType((), default_float()),
            vjp=lambda *_: nothing,
            jvp=lambda *_: nothing,
            namespace=None,
        )
    )


PLACEHOLDER = _leaf("placeholder")
VARIABLE = _leaf("variable")
CONSTANT = _leaf("constant")


def placeholder(name: str, shape: Sequence[Any] = (), dtype: Any = None) -> Symbol:
    """An input of a graph: a symbol without a value.

    Args:
        name: the label under which it is printed and fed.
        shape: one entry per axis: an int, a dimension's name (bound at call time; equal names mean
            equal sizes), an expression in names such as ``"2*n + 1"``, or None for a fresh name.
        dtype: the element type; the default float if None.

    Raises:
        ShapeError: an axis is negative or no size.

    >>> import symgrad as sg
    >>> sg.placeholder("x", ("batch", 784))
    <placeholder 'x': f64[batch, 784]>
    """
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentError(
            "placeholder",
            "the name comes first",
            expected="a str",
            got=repr(name),
            hint='sg.placeholder("x", shape)',
            site=str(here()),
        )
    sizes = as_shape(shape, f"placeholder {name!r}")
    kind = TensorType(sizes, default_float() if dtype is None else as_dtype(dtype))
    return new_symbol(PLACEHOLDER, (), {}, kind, name=name)


def variable(value: Any, *, name: str | None = None, dtype: Any = None) -> Symbol:
    """A leaf with a value that ``function(..., updates=...)`` and ``.value`` can change.

    Args:
        value: the first value; it is copied.
        name: the label under which it is printed.
        dtype: the element type; that of the value if None (Python floats: the default float).

    >>> import symgrad as sg
    >>> w = sg.variable([1.0, 2.0], name="w")
    >>> w.value = [3.0, 4.0]
    >>> w.value
    array([3., 4.])
    """
    return variable_on(Storage(_own_array("variable", value, dtype)), name=name)


def variable_on(storage: Storage, *, name: str | None = None) -> Symbol:
    """The variable on ``storage``: the same one every time."""
    with _lock:
        present = None if storage.symbol is None else storage.symbol()
        if present is not None:
            return present
        array = storage.array
        symbol = new_symbol(
            VARIABLE, (), {}, TensorType(array.shape, array.dtype), payload=storage, name=name
        )
        storage.symbol = weakref.ref(symbol)
        return symbol


def constant(value: Any, dtype: Any = None) -> Symbol:
    """A symbol with a fixed value; small ones of equal value are the same symbol.

    Args:
        value: anything ``numpy.asarray`` takes; it is copied.
        dtype: the element type; that of the value if None (Python floats: the default float).

    >>> import symgrad as sg
    >>> sg.constant([1, 2])
    <constant: i64[2]>
    """
    if isinstance(value, Symbol) and dtype is None and value.op is CONSTANT:
        return value
    array = _own_array("constant", value, dtype)
    return constant_of(array)


def constant_of(array: NDArray[Any]) -> Symbol:
    """The constant that holds ``array``, which the caller gives away."""
    array.flags.writeable = False
    kind = TensorType(array.shape, array.dtype)
    key = None
    if array.size <= INTERNED_CONSTANT:
        key = (id(CONSTANT), kind, array.tobytes())
        entry = _table.get(key)
        found = None if entry is None else entry()
        if found is not None:
            return found
    return intern(key, new_symbol(CONSTANT, (), {}, kind, payload=array))


def _own_array(where: str, value: Any, dtype: Any) -> NDArray[Any]:
    if isinstance(value, Symbol):
        raise TraceError(where, "a symbol has no value to copy", hint="use it as it is")
    if hasattr(value, "__array_namespace__") and hasattr(value, "numpy"):
        value = value.numpy()
    if dtype is None and not isinstance(value, (np.ndarray, np.generic)):
        try:
            guess = np.asarray(value)
        except ValueError:
            raise ShapeError(
                where, "the rows of nested lists differ in length", site=str(here())
            ) from None
        # A Python float in a list is as weak as one alone: it takes the default element type.
        if guess.dtype == np.float64:
            dtype = default_float()
    array = np.array(value, dtype=None if dtype is None else as_dtype(dtype), copy=True, order="C")
    native = array.dtype.newbyteorder("=")
    if native.name not in DTYPES:
        raise DTypeError(
            where,
            "no such element type",
            expected=", ".join(DTYPES),
            got=array.dtype,
            site=str(here()),
        )
    return np.array(array, dtype=native, order="C") if array.dtype != native else array


# --- the symbolic front end -------------------------------------------------------------------


def lift(operand: Any, dtype: np.dtype[Any] | None = None) -> Symbol:
    """The symbol for a foreign operand: an array, a number, a dimension, a tensor."""
    if isinstance(operand, Symbol):
        return operand
    if hasattr(operand, "__as_symbol__"):
        return operand.__as_symbol__()
    if isinstance(operand, Dim):
        return build(OPS["size"], (), {"dim": operand, "dtype": dtype or np.dtype("int64")})
    if dtype is not None and type(operand) in _WEAK:
        return _number(operand, dtype)
    return constant(operand, dtype)


_numbers: dict[Any, Symbol] = {}
_NUMBERS_KEPT = 4096


def _number(value: Any, dtype: np.dtype[Any]) -> Symbol:
    """The constant of a Python number; the last few thousand are kept, as loops repeat them."""
    key = (attribute_key(value), dtype)
    symbol = _numbers.get(key)
    if symbol is None:
        if len(_numbers) >= _NUMBERS_KEPT:
            _numbers.clear()
        symbol = _numbers[key] = constant_of(np.array(value, dtype))
    return symbol


_WEAK = (bool, int, float, complex)


def weak_dtype(op: Op, operands: Sequence[Any]) -> np.dtype[Any] | None:
    """The element type that Python numbers among the operands take from the others."""
    shared = operands if op.promotes is None else [operands[i] for i in op.promotes]
    if all(type(o) not in _WEAK and type(o) is not Dim for o in shared):
        return None
    strong = [_dtype_of(o) for o in shared if type(o) not in _WEAK and type(o) is not Dim]
    weak = [0 if type(o) is Dim else o for o in shared if type(o) in _WEAK or type(o) is Dim]
    return promote(*strong, *weak)


def _dtype_of(operand: Any) -> np.dtype[Any]:
    return operand.dtype if hasattr(operand, "dtype") else np.asarray(operand).dtype


def apply_symbolic(op: Op, operands: Sequence[Any], attrs: Attrs) -> Symbol:
    """Carry out a call with a symbol among its operands: build the symbol."""
    if all(type(o) is Symbol for o in operands):
        args: tuple[Symbol, ...] = tuple(operands)
    else:
        try:
            args = lift_all(op, operands)
        except SymgradError as error:
            if error.site is None:
                error.site = str(building.site or here())
            raise
    if op.integers == "float":
        args = _as_floats(args)
    return build(op, args, attrs)


def lift_all(op: Op, operands: Sequence[Any]) -> tuple[Symbol, ...]:
    """Symbols for all operands of one call; Python numbers take the others' element type."""
    weak = weak_dtype(op, operands)
    return tuple(lift(o, weak if type(o) in _WEAK or type(o) is Dim else None) for o in operands)


def _as_floats(args: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
    """Cast integer operands of an op that computes in floats."""
    if all(is_inexact(a.dtype) for a in args):
        return args
    dtype = float_of(a.dtype for a in args)
    return tuple(a if is_inexact(a.dtype) else OPS["astype"](a, dtype) for a in args)


def float_of(dtypes: Iterable[np.dtype[Any]]) -> np.dtype[Any]:
    """The inexact element type in which operands of these types are computed."""
    dtype = promote(*dtypes)
    return dtype if is_inexact(dtype) else default_float()


FRONT_ENDS.by_rank[SYMBOL_RANK] = apply_symbolic
