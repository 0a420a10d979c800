"""``graph.json``: a graph as plain JSON, checked entry by entry when it is read.

It lists the symbols, operands before users, each a record that names its operands by position.
Attributes, types and small constants are written as in the text form (`symgrad.ir.literals`);
constraints are not written, they follow when the ops infer their types again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from numpy.typing import NDArray

from symgrad.errors import ArgumentError, FeedError, FormatError, ShapeError
from symgrad.ir.graph import Graph
from symgrad.ir.literals import (
    read_elements,
    read_literal,
    read_type,
    write_elements,
    write_literal,
)
from symgrad.ir.op import Attrs
from symgrad.ir.records import Assembler, Kind, Record, names_of
from symgrad.types import Dim, Size, TensorType, TupleType, fresh_dim, items_of

FORMAT = "symgrad graph"
VERSION = 1


# --------------------------------------------------------------------------- writing


def write_document(graph: Graph, records: list[Record]) -> str:
    """``graph.json``: a symbol per line, so that it can be read and compared."""
    head = {"format": FORMAT, "version": VERSION, "dims": graph.dims}
    tail = {
        "inputs": [graph.positions[symbol] for symbol in graph.inputs],
        "outputs": [graph.positions[symbol] for symbol in graph.outputs],
        "primal_outputs": graph.primal_outputs,
    }
    lines = ",\n".join([json.dumps(_written_record(k, r)) for k, r in enumerate(records)])
    return f'{json.dumps(head)[:-1]}, "symbols": [\n{lines}\n],\n{json.dumps(tail)[1:]}\n'


def _written_record(position: int, record: Record) -> dict[str, Any]:
    entry: dict[str, Any] = {"op": record.op, "type": str(record.type)}
    if record.args:
        entry["args"] = record.args
    try:
        if record.attrs:
            entry["attrs"] = {name: write_literal(value) for name, value in record.attrs.items()}
    except FormatError as error:
        where = f"save: symbol %{position} ({record.op})"
        site = None if record.symbol is None else str(record.symbol.site)
        raise FormatError(where, error.problem, got=error.got, site=site) from None
    if record.value is not None:
        entry["value"] = write_elements(record.value)
    optional = {"name": record.name, "array": record.array, "origin": record.origin}
    return entry | {key: value for key, value in optional.items() if value is not None}


# --------------------------------------------------------------------------- reading


def as_object(value: Any, where: str) -> dict[str, Any]:
    """A JSON object, or a `FormatError`."""
    if not isinstance(value, dict):
        raise FormatError(where, "not an object", got=type(value).__name__)
    return cast("dict[str, Any]", value)


_KEYS = {
    "placeholder": ({"op", "type", "name"}, set[str]()),
    "variable": ({"op", "type", "array"}, {"name"}),
    "constant": ({"op", "type"}, {"array", "value"}),
}
_APPLICATION = ({"op", "type"}, {"args", "attrs", "origin"})
_TOP = {"format", "version", "dims", "symbols", "inputs", "outputs", "primal_outputs"}


class DocumentReader:
    """Checks ``graph.json`` into records, before any symbol is built."""

    def __init__(self, document: dict[str, Any], where: str) -> None:
        self._where = where
        if document.get("format") != FORMAT:
            got = repr(document.get("format"))[:60]
            raise FormatError(where, "no graph of symgrad's", expected=repr(FORMAT), got=got)
        if type(document.get("version")) is not int or document["version"] != VERSION:
            got = repr(document.get("version"))[:60]
            hint = "a newer symgrad may have written it"
            raise FormatError(where, "unknown version", expected=VERSION, got=got, hint=hint)
        if document.keys() != _TOP:
            expected, got = ", ".join(sorted(_TOP)), ", ".join(sorted(document))
            raise FormatError(where, "other entries", expected=expected, got=got[:200])
        self._names = self._dimensions(document["dims"])
        self._types: dict[str, Kind] = {}
        self._document = document
        self.records = [
            self._record(k, entry) for k, entry in enumerate(self._list(document["symbols"]))
        ]
        self.arrays = dict.fromkeys(r.array for r in self.records if r.array is not None)

    def graph(self, arrays: Mapping[str, NDArray[Any]]) -> Graph:
        """The graph, once the arrays are there."""
        assembler = Assembler(arrays)
        for position, record in enumerate(self.records):
            assembler.add(record, f"{self._where}: symbol %{position}")
        symbols = assembler.finish()
        inputs, outputs = (
            [symbols[self._position(k, len(symbols), self._where)] for k in self._list(listed)]
            for listed in (self._document["inputs"], self._document["outputs"])
        )
        primal = self._document["primal_outputs"]
        if primal is not None and (type(primal) is not int or not 0 <= primal <= len(outputs)):
            raise FormatError(self._where, "no number of outputs", got=repr(primal)[:60])
        try:
            return Graph(inputs, outputs, primal_outputs=primal)
        except (ArgumentError, FeedError) as error:
            raise FormatError(self._where, error.problem) from None

    def _dimensions(self, listed: Any) -> dict[str, Size]:
        """New names for those made up in another process that are in use in this one."""
        first = int(str(fresh_dim())[1:])
        names = [self._string(name, self._where) for name in self._list(listed)]
        table: dict[str, Size] = {}
        taken: list[str] = []
        for name in names:
            if re.fullmatch(r"_[0-9]{1,15}", name) and int(name[1:]) < first:
                taken.append(name)
                continue
            try:
                table[name] = Dim.named(name)  # keeps fresh_dim away from it
            except ShapeError:
                got = repr(name)[:60]
                raise FormatError(self._where, "no name of a dimension", got=got) from None
        return table | {name: fresh_dim() for name in taken}

    def _record(self, position: int, value: Any) -> Record:
        where = f"{self._where}: symbol %{position}"
        entry = as_object(value, where)
        op = self._string(entry.get("op"), where)
        required, optional = _KEYS.get(op, _APPLICATION)
        if not required <= entry.keys() <= required | optional:
            expected = ", ".join(sorted(required | optional))
            got = ", ".join(sorted(entry))[:200]
            raise FormatError(where, f"other entries for {op}", expected=expected, got=got)
        try:
            record = Record(op, self._type(self._string(entry["type"], where)))
            record.args = tuple(
                [self._position(k, position, where) for k in self._list(entry.get("args", []))]
            )
            record.attrs = self._attributes(as_object(entry.get("attrs", {}), where), where)
            record.value = self._elements(entry, record.type, where)
        except FormatError as error:
            raise FormatError(
                where, error.problem, expected=error.expected, got=error.got
            ) from None
        for key in ("name", "array"):
            if key in entry:
                setattr(record, key, self._string(entry[key], where))
        record.origin = self._origin(entry.get("origin"), where)
        return record

    def _attributes(self, entry: dict[str, Any], where: str) -> Attrs:
        return {
            name: self._renamed(read_literal(self._string(text, where)))
            for name, text in entry.items()
        }

    def _elements(self, entry: dict[str, Any], kind: Kind, where: str) -> NDArray[Any] | None:
        if entry["op"] == "constant" and ("value" in entry) == ("array" in entry):
            raise FormatError(where, "a constant has either a value or an array")
        if "value" not in entry:
            return None
        if isinstance(kind, TupleType):
            raise FormatError(where, "a constant is no tuple", got=kind)
        return read_elements(self._string(entry["value"], where), kind.dtype, kind.shape)

    def _origin(self, value: Any, where: str) -> tuple[int | str, str] | None:
        if value is None:
            return None
        primal, rule = (*self._list(value), None, None)[:2]
        if isinstance(primal, str) and re.fullmatch(r"\w+", primal):
            return primal, self._string(rule, where)
        count = len(self._document["symbols"])
        return self._position(primal, count, where), self._string(rule, where)

    def _type(self, text: str) -> Kind:
        kind = self._types.get(text)
        if kind is None:
            kind = read_type(text)
            kinds = [TensorType(self._renamed(k.shape), k.dtype) for k in items_of(kind)]
            kind = TupleType(kinds) if isinstance(kind, TupleType) else kinds[0]
            self._types[text] = kind
        return kind

    def _renamed(self, value: Any) -> Any:
        """A value with the names of dimensions that this process gives them."""
        if isinstance(value, tuple):
            return tuple([self._renamed(item) for item in cast("tuple[Any, ...]", value)])
        if not isinstance(value, Dim):
            return value
        unknown = [name for name in names_of(value) if name not in self._names]
        if unknown:
            raise FormatError("load", "a dimension is not listed", got=repr(unknown[0]))
        return value.substitute(self._names)

    def _list(self, value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise FormatError(self._where, "not a list", got=type(value).__name__)
        return cast("list[Any]", value)

    def _string(self, value: Any, where: str) -> str:
        if not isinstance(value, str):
            raise FormatError(where, "not a string", got=repr(value)[:60])
        return value

    def _position(self, value: Any, limit: int, where: str) -> int:
        if type(value) is not int or not 0 <= value < limit:
            expected = f"a position below {limit}" if limit else "none, at the first"
            raise FormatError(where, "unknown symbol", expected=expected, got=repr(value)[:60])
        return value
