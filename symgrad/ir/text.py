"""The text form of graphs: print and parse. What is printed can be read back, and prints the same.

    %0 = placeholder "x" : f64[batch, 784]
    %1 = variable "W" @v0 : f64[784, 10]
    %2 = matmul(%0, %1) : f64[batch, 10]
    %3 = constant [1.0, 0.5] : f64[2]
    %4 = sum(%2, axis=(0, 1)) : f64[]  # a comment
    return %4

One line per symbol: its name, the op with operands and attributes, the type. Attributes at their
default are left out; the values are literals (`symgrad.ir.literals`). ``@v0`` and ``@c0`` stand for
the values of variables and of constants of more than 64 elements, which are no part of the text.
Placeholders are the inputs, in their order; if other symbols are inputs too, a line
``inputs %0, %1`` before the last one lists them all. Input symbols with operands,
at which a graph is cut, print as placeholders.

A comment ``# d %2 (rule matmul)`` tells that the differentiator made a symbol, and from what. It is
taken as such where it has exactly this form; all other comments are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from symgrad.errors import ArgumentError, FeedError, FormatError
from symgrad.ir.graph import Graph
from symgrad.ir.literals import (
    STRING,
    closing,
    read_elements,
    read_literal,
    read_string,
    read_type,
    split,
)
from symgrad.ir.op import Attrs
from symgrad.ir.printing import print_graph
from symgrad.ir.records import Assembler, Kind, Record, records_of
from symgrad.ir.symbol import PLACEHOLDER, Symbol
from symgrad.types import TensorType

__all__ = ["arrays_of", "parse", "print_graph"]


def arrays_of(graph: Graph) -> dict[str, Symbol]:
    """The variables and large constants that a graph's text refers to, as `parse` takes them.

    >>> import symgrad as sg
    >>> w = sg.variable([1.0, 2.0], name="w")
    >>> arrays_of(Graph([], [w * 2.0]))
    {'v0': <variable 'w': f64[2]>}
    """
    return records_of(graph)[1]


def parse(text: str, arrays: Mapping[str, Any] | None = None) -> Graph:
    """The graph that a text describes.

    Args:
        text: as `print_graph` writes it.
        arrays: what ``@v0``, ``@c0`` … stand for: arrays, or variables and constants as they are.

    Raises:
        FormatError: with the number of the line and what was expected there.

    >>> import symgrad as sg
    >>> graph = parse('''
    ...     %a = placeholder "a" : f64[n]
    ...     %b = multiply(%a, %a) : f64[n]
    ...     return %b
    ... ''')
    >>> graph.outputs
    (<multiply: f64[n]>,)
    >>> parse("%a = sin(%b) : f64[]")
    Traceback (most recent call last):
        ...
    symgrad.errors.FormatError: line 1: unknown symbol: expected the name of a line above, got '%b'
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentError("parse", "no text", expected="a str", got=type(text).__name__)
    reader = _Reader(arrays or {})
    number = 0
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            reader.read(line)
        except FormatError as error:
            raise _on_line(number, error) from None
    return reader.finish(number)


def _on_line(number: int, error: FormatError) -> FormatError:
    return FormatError(
        f"line {number}", error.problem, expected=error.expected, got=error.got, hint=error.hint
    )


_HEAD = re.compile(r"(%\w+)\s*=\s*([^\W\d]\w*)\s*")
_CALL = re.compile(r'\(([^()\[\]"#]*)\)')
_TYPE = re.compile(r"\s*:([^#]*)")
_LABEL = re.compile(rf"({STRING})\s*")
_ARRAY = re.compile(r"@(\w+)\s*")
_VALUE = re.compile(rf'(\[[^\]"#]*\]|bytes\s+{STRING}|[^:\[\]"#@]+)')
_LIST = re.compile(r"(inputs|return)\b([^#]*)")
_ATTRIBUTE = re.compile(r"([^\W\d]\w*)\s*=(.*)", re.DOTALL)
_ORIGIN = re.compile(r"#\s*d (%?\w+) \(rule ([^()]*)\)")


class _Reader:
    """Reads a text line by line."""

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self._assembler = Assembler(arrays, hint="pass arrays={name: value}")
        self._positions: dict[str, int] = {}
        self._types: dict[str, Kind] = {}
        self._lists: dict[str, list[Symbol]] = {}
        self._line, self._at = "", 0

    def read(self, line: str) -> None:
        """Take in one line."""
        self._line, self._at = line.strip(), 0
        if not self._line or self._line[0] == "#":
            return
        if "return" in self._lists:
            raise self._refusal("more after the return", "the end")
        if head := self._next(_HEAD):
            self._symbol(head[1], head[2])
        elif names := self._next(_LIST):
            if names[1] in self._lists:
                raise FormatError("text", "a second list of inputs")
            positions = [self._position(name) for name in split(names[2])]
            self._lists[names[1]] = [self._assembler.symbols[k] for k in positions]
        else:
            raise self._refusal(
                "not a line of a graph", "'%name = op(…) : type', 'inputs …' or 'return …'"
            )

    def finish(self, number: int) -> Graph:
        """The graph, after the last line."""
        if "return" not in self._lists:
            raise FormatError(f"line {number}", "the text ends early", expected="'return …'")
        symbols = self._assembler.finish(self._positions)
        inputs = self._lists.get("inputs")
        if inputs is None:
            inputs = [symbol for symbol in symbols if symbol.op is PLACEHOLDER]
        try:
            return Graph(inputs, self._lists["return"])
        except (ArgumentError, FeedError) as error:
            raise FormatError(f"line {number}", error.problem) from None

    def _next(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self._line, self._at)
        if match is not None:
            self._at = match.end()
        return match

    def _refusal(self, problem: str, expected: str) -> FormatError:
        rest = self._line[self._at :] or "the end of the line"
        got = repr(rest if len(rest) <= _LONGEST_SHOWN else rest[: _LONGEST_SHOWN - 1] + "…")
        return FormatError("text", problem, expected=expected, got=got)

    def _symbol(self, name: str, op: str) -> None:
        if name in self._positions:
            raise FormatError("text", "the name is taken", expected="a new one", got=repr(name))
        match op:
            case "placeholder":
                record = self._placeholder()
            case "variable":
                record = self._variable()
            case "constant":
                record = self._constant()
            case _:
                record = self._application(op)
        if origin := self._next(_ORIGIN):
            record.origin = (origin[1], origin[2])
        elif self._line[self._at : self._at + 1] not in ("", "#"):
            raise self._refusal("the line goes on", "its end, or a comment after #")
        self._assembler.add(record, "text")
        self._positions[name] = len(self._positions)

    def _placeholder(self) -> Record:
        label = self._next(_LABEL)
        if label is None:
            raise self._refusal("a placeholder needs a label", "a string in quotes")
        return Record("placeholder", self._type(), name=read_string(label[1]))

    def _variable(self) -> Record:
        label, array = self._next(_LABEL), self._next(_ARRAY)
        if array is None:
            raise self._refusal("a variable needs a value", "the name of an array, as in @v0")
        name = None if label is None else read_string(label[1])
        return Record("variable", self._type(), name=name, array=array[1])

    def _constant(self) -> Record:
        if array := self._next(_ARRAY):
            return Record("constant", self._type(), array=array[1])
        value = self._next(_VALUE)
        if value is None:
            raise self._refusal("a constant needs a value", "a number, '[…]', or @c0")
        kind = self._type()
        if not isinstance(kind, TensorType):
            raise FormatError("text", "a constant is no tuple", got=kind)
        elements = read_elements(value[1], kind.dtype, kind.shape)
        return Record("constant", kind, value=elements)

    def _application(self, op: str) -> Record:
        if call := self._next(_CALL):
            parts = split(call[1])
        else:
            if self._line[self._at : self._at + 1] != "(":
                raise self._refusal("no operands", "'(' and operands")
            end = closing(self._line, self._at)
            parts = split(self._line[self._at + 1 : end])
            self._at = end + 1
        args: list[int] = []
        attrs: Attrs = {}
        for part in parts:
            if part[:1] == "%" and not attrs:
                args.append(self._position(part))
            elif (attribute := _ATTRIBUTE.fullmatch(part)) and attribute[1] not in attrs:
                attrs[attribute[1]] = read_literal(attribute[2])
            else:
                expected = "operands such as %0, then attributes as name=value"
                raise FormatError("text", "not an argument", expected=expected, got=repr(part))
        return Record(op, self._type(), tuple(args), attrs)

    def _position(self, name: str) -> int:
        position = self._positions.get(name)
        if position is None:
            expected = "the name of a line above"
            raise FormatError("text", "unknown symbol", expected=expected, got=repr(name))
        return position

    def _type(self) -> Kind:
        match = self._next(_TYPE)
        if match is None:
            raise self._refusal("no type", "':' and a type")
        text = match[1].strip()
        kind = self._types.get(text)
        if kind is None:
            kind = self._types.setdefault(text, read_type(text))
        return kind


_LONGEST_SHOWN = 60
