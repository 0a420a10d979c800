"""Records: a graph as a list of plain entries, which name each other by position.

Texts and files are written from records and read into them, so the two agree on what a graph is and
refuse the same mistakes.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from symgrad.errors import FormatError
from symgrad.ir.op import OPS, Attrs, Op
from symgrad.ir.signature import canonical
from symgrad.ir.storage import Storage
from symgrad.ir.symbol import (
    CONSTANT,
    INTERNED_CONSTANT,
    PLACEHOLDER,
    VARIABLE,
    Origin,
    Symbol,
    constant_of,
    constructing,
    make,
    new_symbol,
    variable_on,
)
from symgrad.types import Dim, Size, TensorType, TupleType, is_made_up, items_of, take_constraints

if TYPE_CHECKING:
    from symgrad.ir.graph import Graph

Kind: TypeAlias = TensorType | TupleType


@dataclass(slots=True)
class Record:
    """One symbol.

    Attributes:
        op: the op's name.
        type: what the symbol's value looks like.
        args: positions of the operands; smaller than the record's own.
        attrs: the attributes; where read, a missing one has its default.
        name: the label of a placeholder or variable.
        array: the name under which a variable's value or a large constant is kept.
        value: a small constant.
        origin: position of the symbol that it is the derivative of (or a word for one outside the
            graph), and the rule.
        symbol: where written, the symbol itself.
    """

    op: str
    type: Kind
    args: tuple[int, ...] = ()
    attrs: Attrs = field(default_factory=dict[str, Any])
    name: str | None = None
    array: str | None = None
    value: NDArray[Any] | None = None
    origin: tuple[int | str, str] | None = None
    symbol: Symbol | None = None


# --------------------------------------------------------------------------- writing


def derived_symbols(graph: Graph) -> list[Symbol]:
    """The symbols that the differentiator made from the graph's inputs and variables.

    What is made of constants alone is shared with all other graphs: who made it first says nothing.
    """
    border = {symbol for symbol in graph.inputs if symbol.op is not CONSTANT}
    own = set(border)
    derived: list[Symbol] = []
    for symbol in graph.symbols:
        if symbol.op is VARIABLE or any(arg in own for arg in symbol.args):
            own.add(symbol)
            if symbol.origin is not None and symbol.args and symbol not in border:
                derived.append(symbol)
    return derived


def records_of(graph: Graph) -> tuple[list[Record], dict[str, Symbol]]:
    """The records of a graph, and the variables and large constants that they refer to."""
    position = graph.positions
    derived = set(derived_symbols(graph))
    cut = {symbol for symbol in graph.inputs if symbol.args}
    labels = _labels(graph, cut)
    records: list[Record] = []
    arrays: dict[str, Symbol] = {}
    counts: Counter[str] = Counter()
    for symbol in position:
        if symbol in cut:
            record = Record("placeholder", symbol.type, name=labels[symbol])
        elif symbol.op.family == "leaf":
            record = _leaf(symbol, arrays, counts)
        else:
            args = tuple([position[a] for a in symbol.args])
            origin = _origin(symbol, position) if symbol in derived else None
            record = Record(symbol.op.name, symbol.type, args, symbol.attrs, origin=origin)
        record.symbol = symbol
        records.append(record)
    return records, arrays


def _labels(graph: Graph, cut: set[Symbol]) -> dict[Symbol, str]:
    """Names for the inputs at which the graph is cut: there it begins, with a placeholder."""
    taken = {symbol.name for symbol in graph.inputs}
    labels: dict[Symbol, str] = {}
    for symbol in graph.inputs:
        if symbol in cut:
            label, count = symbol.op.name, 1
            while label in taken:
                count += 1
                label = f"{symbol.op.name}_{count}"
            taken.add(label)
            labels[symbol] = label
    return labels


def _leaf(symbol: Symbol, arrays: dict[str, Symbol], counts: Counter[str]) -> Record:
    record = Record(symbol.op.name, symbol.type, name=symbol.name)
    if symbol.op is CONSTANT and symbol.payload.size <= INTERNED_CONSTANT:
        record.value = symbol.payload
    elif symbol.op is not PLACEHOLDER:
        letter = "v" if symbol.op is VARIABLE else "c"
        record.array = f"{letter}{counts[letter]}"
        counts[letter] += 1
        arrays[record.array] = symbol
    return record


_WORD = re.compile(r"\w+")


def _origin(symbol: Symbol, position: Mapping[Symbol, int]) -> tuple[int | str, str]:
    primal, rule = cast(Origin, symbol.origin)
    rule = re.sub(r"[^\w .,+*/-]", "_", rule)
    if primal in position:
        return position[primal], rule
    named = primal.op is PLACEHOLDER and _WORD.fullmatch(primal.name or "")
    return (cast(str, primal.name) if named else primal.op.name), rule


# --------------------------------------------------------------------------- reading


class Assembler:
    """Builds the symbols of records, one after the other; each mistake is a `FormatError`.

    Args:
        arrays: what the records refer to: arrays; or variables, constants and storages as they are.
        hint: the cure where an array is missing.
    """

    def __init__(self, arrays: Mapping[str, Any], hint: str | None = None) -> None:
        self.symbols: list[Symbol] = []
        self._hint = hint
        self._arrays = arrays
        self._made: set[Symbol] = set()
        self._origins: list[tuple[Symbol, tuple[int | str, str]]] = []
        # Symbols with a greater serial are new; others were there before, found by interning.
        self._start = new_symbol(PLACEHOLDER, (), {}, TensorType((), "bool")).serial

    def add(self, record: Record, where: str) -> None:
        """Build the symbol of the next record; ``where`` names it in errors."""
        if record.op == "placeholder":
            kind = cast("Any", record.type)
            symbol = new_symbol(PLACEHOLDER, (), {}, kind, name=record.name or "")
        elif record.op == "variable":
            symbol = self._variable(record, where)
        elif record.op == "constant":
            symbol = self._constant(record, where)
        else:
            symbol = self._application(record, where)
            if record.origin is not None:
                self._origins.append((symbol, record.origin))
        self.symbols.append(symbol)

    def finish(self, names: Mapping[str, int] | None = None) -> list[Symbol]:
        """All symbols, by position. Those that are new learn what they are the derivative of.

        Args:
            names: the positions of the names by which origins are given, if they are.
        """
        outside: dict[str, Symbol] = {}
        for symbol, (given, rule) in self._origins:
            primal = (names or {}).get(given, given) if isinstance(given, str) else given
            if symbol.serial <= self._start or symbol.origin is not None:
                continue
            if isinstance(primal, int):
                symbol.origin = Origin(self.symbols[primal], rule)
            elif primal[0] != "%":
                if primal not in outside:
                    kind = TensorType((), "bool")
                    outside[primal] = new_symbol(PLACEHOLDER, (), {}, kind, name=primal)
                symbol.origin = Origin(outside[primal], rule)
        return self.symbols

    def _variable(self, record: Record, where: str) -> Symbol:
        given = self._array(record, where)
        if isinstance(given, Symbol) and given.op is VARIABLE:
            given = given.payload
        storage = given if isinstance(given, Storage) else None
        array = _checked(given if storage is None else storage.array, record, where)
        if storage is None:
            storage = Storage(np.array(array, copy=True, order="C"))
        return variable_on(storage, name=record.name)

    def _constant(self, record: Record, where: str) -> Symbol:
        if record.value is not None:
            return constant_of(record.value)
        given = self._array(record, where)
        if isinstance(given, Symbol) and given.op is CONSTANT:
            _checked(given.payload, record, where)
            return given
        return constant_of(np.array(_checked(given, record, where), copy=True, order="C"))

    def _array(self, record: Record, where: str) -> Any:
        if record.array is None or record.array not in self._arrays:
            raise FormatError(where, f"the array {record.array!r} is missing", hint=self._hint)
        return self._arrays[record.array]

    def _application(self, record: Record, where: str) -> Symbol:
        op = OPS.get(record.op)
        if op is None or op.family == "leaf":
            raise FormatError(where, "unknown op", got=repr(record.op))
        args = tuple([self.symbols[position] for position in record.args])
        require_arity(op, len(args), where)
        try:
            attrs = _attributes(op, record.attrs, where)
            symbol = make(op, args, attrs)
            if symbol in self._made:
                # Written twice, so it was built without sharing.
                with constructing(share=False):
                    symbol = make(op, args, attrs)
        except FormatError:
            raise
        except Exception as error:  # the text chose the attributes: a type rule may stumble anyhow
            take_constraints()
            raise FormatError(where, f"{op.name} refuses its operands: {error}") from error
        if symbol.type != record.type:
            symbol = _renamed(symbol, record.type, where)
        self._made.add(symbol)
        return symbol


def _plain(record: Record, where: str) -> TensorType:
    if isinstance(record.type, TupleType):
        raise FormatError(where, f"a {record.op} is no tuple", got=record.type)
    return record.type


def _checked(array: Any, record: Record, where: str) -> NDArray[Any]:
    """An array that was given, if it has the record's type."""
    kind = _plain(record, where)
    given = cast("NDArray[Any]", array)
    if not isinstance(array, np.ndarray):
        got = type(array).__name__
    elif given.dtype != kind.dtype or given.shape != kind.shape:
        got = f"{given.dtype}{list(given.shape)}"
    else:
        return given
    raise FormatError(where, f"array {record.array!r} has another type", expected=kind, got=got)


def _attributes(op: Op, given: Attrs, where: str) -> Attrs:
    attrs: Attrs = {}
    for parameter in op.signature.parameters:
        name = parameter.name
        if parameter.is_operand:
            continue
        if name in given:
            attrs[name] = canonical(name, given[name])
        elif parameter.default is not inspect.Parameter.empty:
            attrs[name] = canonical(name, parameter.default)
        else:
            raise FormatError(where, f"{op.name} needs the attribute {name!r}")
    unknown = [name for name in given if name not in attrs]
    if unknown:
        expected = ", ".join(op.signature.attrs) or "none"
        raise FormatError(where, f"{op.name} has no attribute {unknown[0]!r}", expected=expected)
    return attrs


def require_arity(op: Op, count: int, where: str) -> None:
    """Refuse a number of operands that the op does not take."""
    if op.variadic:
        return
    roles = [p.role for p in op.signature.parameters if p.is_operand]
    least, most = roles.count("operand"), len(roles)
    if not least <= count <= most:
        expected = str(most) if least == most else f"{least} to {most}"
        raise FormatError(where, f"{op.name} has other operands", expected=expected, got=count)


# --------------------------------------------------------------------------- fresh dimensions


def _renamed(symbol: Symbol, declared: Kind, where: str) -> Symbol:
    """The symbol with the declared type, if only names of sizes found by running differ."""
    names = fresh_names(symbol.type, declared, [a.type for a in symbol.args])
    if names is None:
        raise FormatError(where, "the type is another", expected=symbol.type, got=declared)
    constraints = tuple(
        replace(c, left=_with_names(c.left, names), right=_with_names(c.right, names))
        for c in symbol.constraints
    )
    return new_symbol(symbol.op, symbol.args, symbol.attrs, cast("Any", declared), constraints)


def fresh_names(inferred: Kind, declared: Kind, operands: Iterable[Kind]) -> dict[str, Size] | None:
    """How to rename the dimensions that inference made up, so that ``inferred`` is ``declared``.

    Each inference makes up new names for sizes that are known only when the graph runs. None if
    the two differ in more than such names.
    """
    ours, theirs = items_of(inferred), items_of(declared)
    if type(inferred) is not type(declared) or len(ours) != len(theirs):
        return None
    known = {name for kind in operands for name in names_of(kind)}
    names: dict[str, Size] = {}
    for a, b in zip(ours, theirs, strict=True):
        for left, right in zip(a.shape, b.shape, strict=False):
            made_up, given = _sole_name(left), _sole_name(right)
            if made_up and given and is_made_up(made_up) and not {made_up, given} & known:
                names.setdefault(made_up, right)
    renamed = [[_with_names(size, names) for size in kind.shape] for kind in ours]
    same = renamed == [list(kind.shape) for kind in theirs]
    return names if same and [k.dtype for k in ours] == [k.dtype for k in theirs] else None


def _sole_name(size: Size) -> str | None:
    return size.name if isinstance(size, Dim) else None


def _with_names(size: Size, names: Mapping[str, Size]) -> Size:
    return size.substitute(names) if isinstance(size, Dim) else size


def names_of(value: Any) -> list[str]:
    """The names of dimensions in a type or an attribute's value, in order of appearance."""
    if isinstance(value, Dim):
        return [value.name] if value.name else sorted(value.names)
    if isinstance(value, TensorType):
        value = value.shape
    elif isinstance(value, TupleType):
        value = value.items
    if isinstance(value, tuple):
        return [name for item in cast("tuple[Any, ...]", value) for name in names_of(item)]
    return []
