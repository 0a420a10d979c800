"""Symbol: one application of an op to symbols; immutable and interned.

Equal construction gives the same object, so common sub-expressions are shared from the start and
equality is identity. Serial numbers count constructions: an argument's serial is always smaller
than its user's, so sorting by serial is a topological order.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from symgrad.errors import ArgumentError, DTypeError, ShapeError, SymgradError, TraceError
from symgrad.ir.interning import application_key, find, intern
from symgrad.ir.late import late
from symgrad.ir.op import SYMBOL_RANK, Attrs, Op, no_derivative, register
from symgrad.ir.operators import Operators
from symgrad.ir.signature import Signature
from symgrad.ir.site import Site, here
from symgrad.ir.storage import Storage, owned_array
from symgrad.types import (
    Constraint,
    Size,
    TensorType,
    as_dtype,
    as_shape,
    default_float,
    is_integer,
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


_serials = itertools.count()
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
        where = f"variable {self.name!r}" if self.name else "variable"
        self.payload.assign(array_like(where, self, new))

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

    def __reduce__(self) -> Any:
        raise TraceError(
            repr(self), "symbols are not pickled", hint="sg.save writes graphs to files"
        )

    def __repr__(self) -> str:
        label = f" {self.name!r}" if self.name else ""
        return f"<{self.op.name}{label}: {self.type}>"


def array_like(where: str, model: Symbol, new: Any) -> NDArray[Any]:
    """A fresh array of the model's type that holds ``new``, cast within its kind only."""
    array = owned_array(where, new, None)
    kind = TensorType(array.shape, array.dtype)
    site = str(model.site)
    if kind.shape != model.shape:
        raise ShapeError(
            where, "the new value's shape differs", expected=model.type, got=kind, site=site
        )
    fits = np.can_cast(array.dtype, model.dtype, "same_kind")
    with np.errstate(all="ignore"):
        cast = array.astype(model.dtype) if fits else array
    if not fits or (is_integer(array.dtype) and is_integer(model.dtype) and np.any(cast != array)):
        raise DTypeError(
            where, "the new value does not fit", expected=model.type, got=kind, site=site
        )
    return cast


# --- constructors -----------------------------------------------------------------------------


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
        key = application_key(op, args, attrs)
        found = find(key)
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
    # Leaves are shared with other graphs; an origin would keep the first of these alive.
    symbol.origin = building.origin if args else None
    symbol.site = building.site or here()
    symbol.constraints = tuple(c.at(str(symbol.site)) for c in constraints)
    symbol.serial = next(_serials)
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
    try:
        sizes = as_shape(shape, f"placeholder {name!r}")
        kind = TensorType(sizes, default_float() if dtype is None else as_dtype(dtype))
    except SymgradError as error:
        error.where, error.site = f"placeholder {name!r}", str(here())
        raise
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
    return variable_on(Storage(owned_array("variable", value, dtype)), name=name)


_one_variable = threading.Lock()


def variable_on(storage: Storage, *, name: str | None = None) -> Symbol:
    """The variable on ``storage``: the same one every time."""
    with _one_variable:
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
    array = owned_array("constant", value, dtype)
    return constant_of(array)


def constant_of(array: NDArray[Any]) -> Symbol:
    """The constant that holds ``array``, which the caller gives away."""
    array.flags.writeable = False
    kind = TensorType(array.shape, array.dtype)
    key = None
    if array.size <= INTERNED_CONSTANT:
        key = (id(CONSTANT), kind, array.tobytes())
        found = find(key)
        if found is not None:
            return found
    return intern(key, new_symbol(CONSTANT, (), {}, kind, payload=array))
