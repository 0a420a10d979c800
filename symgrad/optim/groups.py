"""Groups of parameters, and the numbers that steer their updates."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from symgrad.eager.records import Record
from symgrad.eager.tensor import Tensor
from symgrad.errors import ArgumentError, DTypeError, GradientError, TraceError
from symgrad.ir.op import SYMBOL_RANK
from symgrad.ir.storage import Storage


class NoParameters(ArgumentError, DTypeError):
    """Something else was given where parameters were expected."""


class NoLeaf(ArgumentError, GradientError):
    """A parameter was computed by a recorded call, so that changing it would be without effect."""


class NoNumber(ArgumentError, DTypeError):
    """An option that is a number was given something else."""


class Group(MutableMapping[str, Any]):
    """Parameters that share their options: a mapping from names to values.

    A number (``lr``, ``momentum``, both ``betas``) lives in a storage, which compiled steps read as
    a variable: assign it, and the next call of a compiled step uses it.

    >>> import symgrad as sg
    >>> group = sg.optim.SGD([sg.ones(2, requires_grad=True)], lr=0.1).param_groups[0]
    >>> group["lr"] *= 0.5
    >>> group["lr"], group["nesterov"]
    (0.05, False)

    Attributes:
        where: the optimiser's name, for messages.
        built: the numbers that are 0 and were left out of steps which are compiled already.
    """

    def __init__(self, where: str, options: Mapping[str, Any], numbers: Sequence[str]) -> None:
        self.where = where
        self.built: frozenset[str] = frozenset()
        self._values: dict[str, Any] = {}
        self._storages: dict[str, tuple[Storage, ...]] = {}
        for name, value in options.items():
            if name in numbers:
                several = isinstance(value, (tuple, list))
                given: Iterable[Any] = cast("Iterable[Any]", value) if several else [value]
                arrays = [_number(where, name, one) for one in given]
                self._storages[name] = tuple(map(Storage, arrays))
                self._values[name] = several
            else:
                self._values[name] = value

    # a mapping ----------------------------------------------------------------------------------
    def __getitem__(self, name: str) -> Any:
        value = self._values[name]
        storages = self._storages.get(name)
        if storages is None:
            return value
        numbers = tuple(storage.array.item() for storage in storages)
        return numbers if value else numbers[0]

    def __setitem__(self, name: str, value: Any) -> None:
        storages = self._storages.get(name)
        if storages is None:
            self._values[name] = value
            return
        given: Sequence[Any] = value if self._values[name] else [value]
        arrays = [_number(self.where, name, one) for one in given]
        if len(arrays) != len(storages):
            raise ArgumentError(self.where, name, expected=f"{len(storages)} numbers", got=value)
        if name in self.built and any(arrays):
            warnings.warn(
                f"{self.where}: {name} was 0 when a step was compiled, which therefore goes on"
                " without it; call updates again and compile anew",
                UserWarning,
                stacklevel=2,
            )
        for storage, array in zip(storages, arrays, strict=True):
            storage.assign(array)

    def __delitem__(self, name: str) -> None:
        if name in self._storages or name == "params":
            raise ArgumentError(self.where, f"{name!r} cannot be taken out of a group")
        del self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr({name: self[name] for name in self})

    # what a rule is told ------------------------------------------------------------------------
    def left_out(self, switches: Sequence[str]) -> frozenset[str]:
        """Those of the numbers that are 0, so that the rule works without them."""
        return frozenset(name for name in switches if not self._storages[name][0].array)

    def numbers(self, left_out: frozenset[str]) -> list[tuple[str, Storage]]:
        """The storages of the numbers that count, each under its option's name."""
        return [
            (name, storage)
            for name, storages in self._storages.items()
            if name not in left_out
            for storage in storages
        ]

    def structure(self, flags: Sequence[str]) -> tuple[tuple[str, Any], ...]:
        """The options that decide how a rule is built."""
        return tuple((name, self._values[name]) for name in flags)

    def options(self, switches: Sequence[str], flags: Sequence[str]) -> Any:
        """The options as they are now, as attributes."""
        numbers = self.numbers(self.left_out(switches))
        values = [(name, storage.array.item()) for name, storage in numbers]
        return options_of(values, self.structure(flags))


def options_of(named: Iterable[tuple[str, Any]], structure: Iterable[tuple[str, Any]]) -> Any:
    """What a rule is told: an attribute per option, None for a number that was left out.

    Args:
        named: numbers under their option's names; a name that comes twice makes a pair.
        structure: options that are no numbers.
    """
    options = _Options(**dict(structure))
    for name, value in named:
        present = getattr(options, name)
        setattr(options, name, value if present is None else (present, value))
    return options


class _Options(SimpleNamespace):
    def __getattr__(self, name: str) -> Any:
        return None


def _number(where: str, name: str, value: Any) -> NDArray[Any]:
    """A number, on its own, in double precision."""
    try:
        if getattr(value, "__front_rank__", 0) >= SYMBOL_RANK:
            raise TraceError(
                where, f"{name} is a symbol", hint="give a number, and assign it to change it"
            )
        return np.array(float(value), np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, TraceError):
            raise
        got = value.type if isinstance(value, Tensor) else repr(value)
        raise NoNumber(where, f"{name} is no number", got=got) from None


# --- parameters -----------------------------------------------------------------------------------


def listed(where: str, params: Any) -> list[Any]:
    """What an optimiser is given, as a list.

    Raises:
        NoParameters: a tensor that stands alone, or nothing to go through.
        ArgumentError: nothing is in it.
    """
    items = _in_order(where, params)
    if not items:
        raise ArgumentError(
            where, "there are no parameters", hint="an iterator can be gone through only once"
        )
    return items


def _in_order(where: str, params: Any) -> list[Any]:
    if isinstance(params, (Tensor, Mapping, str)) or not isinstance(params, Iterable):
        given = cast("Any", params)
        raise NoParameters(
            where,
            "no sequence of parameters",
            expected="a list of tensors, or of dicts with 'params'",
            got=given.type if isinstance(given, Tensor) else type(given).__name__,
            hint="put it into a list" if isinstance(given, (Tensor, Mapping)) else None,
        )
    if isinstance(params, (set, frozenset)):
        raise NoParameters(where, "a set has no order", expected="a list", got="a set")
    return list(cast("Iterable[Any]", params))


def tensors_of(where: str, params: Any) -> tuple[list[Tensor], list[str] | None]:
    """The parameters of one group, which may be empty, and their names, if they come with names.

    Raises:
        NoParameters: one is no tensor. NoLeaf: one is the result of a recorded call.
        ArgumentError: one comes twice; or some have names and others have none.
    """
    items = [params] if isinstance(params, Tensor) else _in_order(where, params)
    pairs = [cast("tuple[Any, Any]", i) if _is_named(i) else (None, i) for i in items]
    names = [name for name, _ in pairs if name is not None]
    if names and len(names) != len(pairs):
        raise ArgumentError(where, "some parameters have names, others have none")
    tensors = [_checked(where, k, parameter) for k, (_, parameter) in enumerate(pairs)]
    return tensors, names or None


def _is_named(item: Any) -> bool:
    if not isinstance(item, tuple):
        return False
    pair = cast("tuple[Any, ...]", item)
    return len(pair) == 2 and isinstance(pair[0], str)


def _checked(where: str, position: int, parameter: Any) -> Tensor:
    if not isinstance(parameter, Tensor):
        symbolic = getattr(parameter, "__front_rank__", 0) >= SYMBOL_RANK
        raise NoParameters(
            where,
            f"parameter {position} is no tensor",
            expected="a leaf tensor",
            got=repr(parameter) if symbolic else type(parameter).__name__,
            hint=_SYMBOL if symbolic else None,
        )
    if isinstance(parameter.edge, Record):
        raise NoLeaf(
            where,
            f"parameter {position} is the result of {parameter.edge.name()}, no leaf",
            got=parameter.type,
            hint="x.detach().requires_grad_() makes a leaf",
            site=str(parameter.edge.site),
        )
    return parameter


_SYMBOL = "sg.tensor(value, requires_grad=True) is a variable, where it is used with symbols"


def refuse_twice(where: str, parameters: Iterable[Tensor]) -> None:
    """Refuse a parameter that would be changed twice in one step.

    Raises:
        ArgumentError: it stands in two places.
    """
    seen: set[int] = set()
    for parameter in parameters:
        if id(parameter.storage) in seen:
            raise ArgumentError(
                where,
                "a parameter is given twice",
                got=parameter.type,
                hint="only one group may have it",
            )
        seen.add(id(parameter.storage))


def require(where: str, name: str, value: Any, fits: bool, expected: str) -> None:
    """Refuse an option that makes no sense.

    Raises:
        ArgumentError: it does not fit.
    """
    if not fits:
        raise ArgumentError(where, name, expected=expected, got=value)
