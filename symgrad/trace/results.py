"""What a traced function gives: symbols in a nest, and how to make the nest of other values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from symgrad.eager.tensor import Tensor
from symgrad.errors import TraceError
from symgrad.ir.symbol import Symbol, constant
from symgrad.trace.arguments import rebuilt

Build: TypeAlias = Callable[[Iterator[Any]], Any]


def taken_apart(where: str, result: Any) -> tuple[list[Symbol], Build]:
    """The symbols in a result, and what puts values in their places.

    Tensors and arrays that were computed at once become constants, leaves that require a gradient
    their variables; numbers, texts and None stay as they are.

    Raises:
        TraceError: something else was returned.
    """
    symbols: list[Symbol] = []
    return symbols, _build_of(where, "the result", result, symbols)


def _build_of(where: str, place: str, value: Any, symbols: list[Symbol]) -> Build:
    if isinstance(value, (Symbol, Tensor, np.ndarray, np.generic)):
        symbols.append(_symbol(value))
        return next
    if isinstance(value, (list, tuple)):
        items = cast("Sequence[Any]", value)
        parts = [_build_of(where, f"{place}[{k}]", v, symbols) for k, v in enumerate(items)]
        return _nest(items, parts)
    if isinstance(value, dict):
        entries = cast("dict[Any, Any]", value)
        parts = [_build_of(where, f"{place}[{k!r}]", v, symbols) for k, v in entries.items()]
        return _nest(entries, parts)
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return lambda values: value
    raise TraceError(
        where,
        f"{place} is nothing that a compiled function can give",
        expected="tensors, and lists, tuples, dicts of these",
        got=type(value).__name__,
    )


def _symbol(value: Any) -> Symbol:
    if isinstance(value, Symbol):
        return value
    return value.__as_symbol__() if isinstance(value, Tensor) else constant(np.asarray(value))


def _nest(model: Any, parts: Sequence[Build]) -> Build:
    model = rebuilt(model, [None] * len(parts))  # what it held is not kept

    def build(values: Iterator[Any]) -> Any:
        return rebuilt(model, [part(values) for part in parts])

    return build
