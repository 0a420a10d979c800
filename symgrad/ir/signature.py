"""How a call's arguments become operands and attributes: read off the kernel's own signature."""

from __future__ import annotations

import difflib
import inspect
import re
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.ir.spellings import has_axis_first, placed, renamed, trailing
from symgrad.types import as_dtype

Attrs = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an op's signature: an operand, or an attribute."""

    name: str
    role: str  # "operand" | "optional" | "sequence" | "attribute"
    default: Any
    keyword_only: bool
    positional_only: bool

    @property
    def is_operand(self) -> bool:
        return self.role != "attribute"


_ROLES = {"Array": "operand", "Array | None": "optional", "Sequence[Array]": "sequence"}
_MODULE_PREFIX = re.compile(r"\b\w+(\.\w+)*\.")


def _role(annotation: Any) -> str:
    """What a parameter is, by its annotation: as text, or evaluated where it was declared."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return _ROLES.get(_MODULE_PREFIX.sub("", text), "attribute")


def _call_text(signature: inspect.Signature) -> str:
    """A signature as one would call it: without annotations."""
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=signature.empty))


def _spelling(unknown: str, known: Sequence[str]) -> str | None:
    """A hint at the name that was meant."""
    near = difflib.get_close_matches(unknown, known, n=1)
    return f"it is called {near[0]!r} here" if near else None


class Signature:
    """How a call's arguments become operands and attributes; read off the kernel."""

    __slots__ = (
        "_least",
        "_most",
        "_names",
        "arity",
        "attrs",
        "called",
        "defaults",
        "most",
        "names",
        "operands",
        "parameters",
        "plain",
        "positional",
        "text",
        "trailing",
        "variadic",
    )

    def __init__(self, kernel: Callable[..., Any]) -> None:
        self.called = signature = inspect.signature(kernel)
        self.text = _call_text(signature)
        self.parameters = tuple(
            Parameter(
                p.name,
                _role(p.annotation),
                p.default,
                p.kind is inspect.Parameter.KEYWORD_ONLY,
                p.kind is inspect.Parameter.POSITIONAL_ONLY,
            )
            for p in signature.parameters.values()
        )
        self.positional = tuple(p for p in self.parameters if not p.keyword_only)
        self.operands = tuple(p.name for p in self.parameters if p.is_operand)
        self.attrs = tuple(p.name for p in self.parameters if not p.is_operand)
        self.arity = len(self.operands)
        self.variadic = any(p.role == "sequence" for p in self.parameters)
        self.defaults: Attrs = {}
        attributes = [p for p in self.parameters if not p.is_operand]
        if all(p.default is not inspect.Parameter.empty for p in attributes):
            self.defaults = {p.name: canonical(p.name, p.default) for p in attributes}
        simple = (
            len(self.defaults) == len(attributes)
            and not self.variadic
            and all(p.is_operand for p in self.positional[: self.arity])
        )
        self._least, self._most, self._names = _counts(signature)
        self.names = tuple(p.name for p in self.parameters)
        self.trailing = trailing([p.name for p in self.parameters if p.keyword_only], self.names)
        kinds = {p.kind for p in signature.parameters.values()}
        # The number of positional parameters; none is too many for ``*arrays``.
        self.most = (
            sys.maxsize if inspect.Parameter.VAR_POSITIONAL in kinds else len(self.positional)
        )
        # So many operands alone, all by position, need no further look; -1: there is no such call.
        self.plain = self.arity if simple else -1

    def accepts(self, count: int, names: Collection[str]) -> bool:
        """Whether a call of so many positional arguments and these names is complete and known.

        It may say no where a thorough look says yes, never the other way.
        """
        if not names:
            return self._least <= count <= self._most
        by_position = self._names[:count]
        return (
            count <= self._most
            and all(name in self._names and name not in by_position for name in names)
            and all(name in names for name in self._names[count : self._least])
        )

    def bind(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Sequence[Any], Attrs]:
        """Split a call into operands (in order) and canonical attributes.

        Raises:
            ArgumentError: too many, missing, unknown or doubly given arguments.
        """
        if not kwargs and len(args) == self.plain:
            return args, self.defaults
        args, kwargs = self.adapted(name, args, kwargs)
        if len(args) > len(self.positional):
            raise ArgumentError(
                name, "too many arguments", expected=f"{name}{self.text}", got=f"{len(args)} values"
            )
        given = dict(zip((p.name for p in self.positional), args, strict=False))
        for key, value in kwargs.items():
            if key in given:
                raise ArgumentError(name, f"argument {key!r} was given twice")
            given[key] = value
        return self._split(name, given)

    def adapted(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """A call in the parameters' own names and places: see `symgrad.ir.spellings`.

        Raises:
            ArgumentError: an argument was given twice, under two names.
        """
        positional = self.names[: len(self.positional)]
        by_place: dict[str, Any] = {}
        if has_axis_first(self.trailing, positional, args, kwargs):
            args, by_place = (args[0], *args[2:]), {"axis": args[1]}
        elif len(args) > self.most:
            found = placed(self.trailing, positional, args)
            args, by_place = (args, by_place) if found is None else found
        named = self._in_own_names(name, kwargs)
        for key in by_place.keys() & named.keys():
            raise ArgumentError(name, f"argument {key!r} was given twice")
        for key in positional[len(args) :]:  # those that a call cannot name
            if key not in named or not self.parameters[len(args)].positional_only:
                break
            args = (*args, named.pop(key))
        return args, {**by_place, **named}

    def _in_own_names(self, name: str, kwargs: dict[str, Any]) -> dict[str, Any]:
        named: dict[str, Any] = {}
        for key, value in kwargs.items():
            own = key if key in self.names else renamed(key, self.names)
            if own in named or (own != key and own in kwargs):
                raise ArgumentError(name, f"argument {own!r} was given twice, once as {key!r}")
            named[own] = value
        return named

    def unknown(self, name: str, given: Sequence[str] | dict[str, Any]) -> ArgumentError:
        """The error about arguments of names that the op does not have."""
        listed = ", ".join(map(repr, given))
        hint = _spelling(next(iter(given)), [p.name for p in self.parameters])
        return ArgumentError(
            name, f"unknown argument {listed}", expected=f"{name}{self.text}", hint=hint
        )

    def _split(self, name: str, given: dict[str, Any]) -> tuple[Sequence[Any], Attrs]:
        operands: list[Any] = []
        attrs: Attrs = {}
        for p in self.parameters:
            value = given.pop(p.name, p.default)
            if value is inspect.Parameter.empty:
                raise ArgumentError(
                    name, f"argument {p.name!r} is missing", expected=f"{name}{self.text}"
                )
            if p.role == "sequence":
                operands.extend(value)
            elif p.role != "optional" and p.is_operand:
                operands.append(value)
            elif p.role == "optional":
                if value is not None:
                    operands.append(value)
            else:
                attrs[p.name] = canonical(p.name, value)
        if given:
            raise self.unknown(name, given)
        return operands, attrs


def _counts(signature: inspect.Signature) -> tuple[int, int, tuple[str, ...]]:
    """How many arguments are needed, how many may stand by position, all names in order.

    What is more than that (any number of arguments, names that must be given, names that must not)
    gives counts that no call has.
    """
    kinds = inspect.Parameter
    parameters = list(signature.parameters.values())
    if any(p.kind in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD) for p in parameters):
        return 1, 0, ()
    if any(p.kind is kinds.KEYWORD_ONLY and p.default is kinds.empty for p in parameters):
        return 1, 0, ()
    named = tuple("" if p.kind is kinds.POSITIONAL_ONLY else p.name for p in parameters)
    most = sum(p.kind is not kinds.KEYWORD_ONLY for p in parameters)
    least = sum(p.default is kinds.empty for p in parameters)
    return least, most, named


def canonical(name: str, value: Any) -> Any:
    """An attribute's one form: tuples for lists, Python numbers for numpy's, dtype objects."""
    if value is None or isinstance(value, (bool, str)):
        return as_dtype(value) if name == "dtype" and value is not None else value
    if name == "dtype":
        return as_dtype(value)
    if isinstance(value, (list, tuple)):
        items = cast("Sequence[Any]", value)
        return tuple(canonical("", item) for item in items)
    if isinstance(value, np.generic):
        return cast("Any", value).item()
    return value
