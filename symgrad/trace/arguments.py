"""What a traced function is called with: arrays, options, and nests of these.

Arrays are told apart by type, everything else by value.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Sequence
from types import EllipsisType
from typing import Any, TypeAlias, cast

import numpy as np

from symgrad.eager.tensor import Tensor
from symgrad.errors import ArgumentError, TraceError
from symgrad.ir.interning import attribute_key
from symgrad.ir.symbol import PLACEHOLDER, Symbol, new_symbol
from symgrad.ops.conversion import is_known, values_of
from symgrad.types import Dim, TensorType

Key: TypeAlias = list[Any]

_PLAIN = (bool, int, float, complex, str, bytes, type(None), EllipsisType, np.dtype, type, Dim)
_ARRAYS = (np.ndarray, np.generic)


class SymbolMet(Exception):
    """A symbol is among the arguments: the call is part of a graph that is being built."""


class Parameters:
    """The parameters of a function: how a call's arguments are put in order, and their names.

    Args:
        where: who is named in errors.
        function: any callable.
        static: the names of parameters that are taken as they are, whatever they hold.
    """

    __slots__ = ("_names", "_simple", "_where", "signature", "static")

    def __init__(self, where: str, function: Callable[..., Any], static: Collection[str]) -> None:
        self._where, self.static = where, frozenset(static)
        try:
            self.signature = inspect.signature(function)
        except (TypeError, ValueError):  # a builtin that does not say
            self.signature = None
        found = list(self.signature.parameters.values()) if self.signature else []
        variadic = any(p.kind is p.VAR_KEYWORD for p in found)
        known = [p.name for p in found]
        for name in static:
            if name not in known and not variadic:
                listed = ", ".join(known) or "no parameters"
                raise ArgumentError(
                    where, f"there is no parameter {name!r}", expected=listed, got=repr(name)
                )
        positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        self._simple = len(found) if found and all(p.kind in positional for p in found) else -1
        self._names = known

    def ordered(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments in one form, however they were given; defaults filled in.

        Raises:
            TypeError: the function does not take these.
        """
        if self.signature is None or (not kwargs and len(args) == self._simple):
            return args, kwargs
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.args, dict(sorted(bound.kwargs.items()))

    def name(self, position: int) -> str:
        """What the argument at a position is called."""
        if self.signature is None:
            return f"argument {position}"
        found = list(self.signature.parameters.values())
        for k, parameter in enumerate(found):
            if parameter.kind is parameter.VAR_POSITIONAL:
                return f"{parameter.name}[{position - k}]"
            if k == position:
                return parameter.name
        return f"argument {position}"

    def is_static(self, position: int) -> bool:
        """Whether the argument at a position is taken as it is."""
        return bool(self.static) and self.name(position).partition("[")[0] in self.static

    # --- three readings of one call -----------------------------------------------------------

    def key(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Any, list[Any]]:
        """What tells a call's types and options, and the arrays and tensors in it.

        Raises:
            SymbolMet: a symbol is among them.
            TraceError: what is neither an array nor plain.
        """
        key: Key = []
        leaves: list[Any] = []
        static = self.static
        for k, value in enumerate(args):
            if static and self.is_static(k):
                _note_static(self._where, self.name(k), value, key)
            else:
                _note(self, k, value, key, leaves)
        for name, value in kwargs.items():
            key.append(name)
            if name in static:
                _note_static(self._where, name, value, key)
            else:
                _note(self, name, value, key, leaves)
        return tuple(key), leaves

    def stand_ins(
        self, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any], list[Symbol]]:
        """The same call on symbols: a placeholder for each array; and these, in order."""
        inputs: list[Symbol] = []
        given = [
            value if self.is_static(k) else _stand_in(self._where, self.name(k), value, inputs)
            for k, value in enumerate(args)
        ]
        options = {
            name: value if name in self.static else _stand_in(self._where, name, value, inputs)
            for name, value in kwargs.items()
        }
        return given, options, inputs

    def described(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, str]:
        """In words, per name, what the arguments are: types of arrays, other values."""
        words: dict[str, str] = {}
        for k, value in enumerate(args):
            _describe(self.name(k), value, words, whole=self.is_static(k))
        for name, value in kwargs.items():
            _describe(name, value, words, whole=name in self.static)
        return words


# --- one argument ---------------------------------------------------------------------------------


def _note(owner: Parameters, place: int | str, value: Any, key: Key, leaves: list[Any]) -> None:
    if isinstance(value, Tensor):
        array: Any = value.storage.array
        key.append(array.dtype)
        key.append(array.shape)
        leaves.append(value)
    elif isinstance(value, _ARRAYS):
        array = values_of("jit", value)
        key.append(array.dtype)
        key.append(array.shape)
        leaves.append(array)
    elif isinstance(value, (list, tuple)):
        items = cast("Sequence[Any]", value)
        key.append((cast("Any", type(items)), len(items)))
        for item in items:
            _note(owner, place, item, key, leaves)
    elif isinstance(value, dict):
        entries = cast("dict[Any, Any]", value)
        key.append((cast("Any", type(entries)), *map(attribute_key, entries)))
        for item in entries.values():
            _note(owner, place, item, key, leaves)
    elif isinstance(value, TensorType):
        key.append(value.dtype)
        key.append(value.shape)
        leaves.append(value)
    elif isinstance(value, Symbol):
        raise SymbolMet
    else:
        _note_plain(owner, place, value, key)


def _note_plain(owner: Parameters, place: int | str, value: Any, key: Key) -> None:
    if isinstance(value, slice):
        cut = cast("Any", value)
        key.append((slice, *map(attribute_key, (cut.start, cut.stop, cut.step))))
    elif isinstance(value, _PLAIN):
        key.append(attribute_key(value))
    else:
        where = owner._where  # pyright: ignore[reportPrivateUsage]
        name = place if isinstance(place, str) else owner.name(place)
        if not callable(value):
            raise _refused(where, name, value)
        _note_static(where, name, value, key)


def _refused(where: str, name: str, value: Any) -> TraceError:
    return TraceError(
        where,
        f"argument {name!r} holds what is neither array nor number",
        expected="tensors, arrays, numbers, texts, and lists, tuples, dicts of these",
        got=type(value).__name__,
        hint=f"static_argnames={name!r} takes it as it is, if it can be hashed",
    )


def _note_static(where: str, name: str, value: Any, key: Key) -> None:
    noted = attribute_key(value)
    try:
        hash(noted)
    except TypeError:
        raise TraceError(
            where,
            f"argument {name!r} cannot be hashed, so calls cannot be told apart by it",
            got=type(value).__name__,
            hint="give a tuple for a list, a frozen dataclass for an object that changes",
        ) from None
    key.append(noted)


def _stand_in(where: str, name: str, value: Any, inputs: list[Symbol]) -> Any:
    if isinstance(value, Symbol):
        inputs.append(value)
        return value
    if isinstance(value, (Tensor, TensorType, *_ARRAYS)):
        kind = value if isinstance(value, TensorType) else type_of(value)
        inputs.append(new_symbol(PLACEHOLDER, (), {}, kind, name=name))
        return inputs[-1]
    if isinstance(value, (list, tuple)):
        items = cast("Sequence[Any]", value)
        made = [_stand_in(where, f"{name}[{k}]", item, inputs) for k, item in enumerate(items)]
        return rebuilt(items, made)
    if isinstance(value, dict):
        entries = cast("dict[Any, Any]", value)
        made = [_stand_in(where, f"{name}[{k!r}]", item, inputs) for k, item in entries.items()]
        return rebuilt(entries, made)
    if isinstance(value, (*_PLAIN, slice)) or callable(value):
        return cast("Any", value)
    raise _refused(where, name, value)


def type_of(value: Any) -> TensorType:
    """The type of a tensor or array."""
    array: Any = value.storage.array if isinstance(value, Tensor) else value
    array = array if is_known(array) else values_of("trace", array)
    return TensorType(array.shape, array.dtype)


def rebuilt(model: Any, items: Sequence[Any]) -> Any:
    """A list, tuple, named tuple or dict like ``model``, of other items."""
    if isinstance(model, dict):
        made = dict(zip(cast("dict[Any, Any]", model), items, strict=True))
        kind = cast("Any", type(cast("Any", model)))
        return made if kind is dict else kind(made)
    kind = cast("Any", type(model))
    return getattr(kind, "_make", kind)(items)


_LONGEST = 40


def _describe(name: str, value: Any, words: dict[str, str], *, whole: bool) -> None:
    if isinstance(value, (Tensor, TensorType, *_ARRAYS)) and not whole:
        words[name] = str(value if isinstance(value, TensorType) else type_of(value))
    elif isinstance(value, (list, tuple)) and not whole:
        items = cast("Sequence[Any]", value)
        words[name] = f"{cast('Any', type(items)).__name__} of {len(items)}"
        for k, item in enumerate(items):
            _describe(f"{name}[{k}]", item, words, whole=False)
    elif isinstance(value, dict) and not whole:
        entries = cast("dict[Any, Any]", value)
        words[name] = f"dict of {', '.join(map(repr, entries)) or 'nothing'}"
        for k, item in entries.items():
            _describe(f"{name}[{k!r}]", item, words, whole=False)
    else:
        text = repr(cast("Any", value))
        words[name] = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def difference(new: dict[str, str], old: dict[str, str]) -> list[str]:
    """In words, what differs between two calls."""
    found = [
        f"{name}: {word} was {old[name]}" if name in old else f"{name}: {word} was not there"
        for name, word in new.items()
        if old.get(name) != word
    ]
    return [*found, *(f"{name}: gone, was {old[name]}" for name in old if name not in new)]
