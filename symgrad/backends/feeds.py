"""What a call is given, made into what a program takes: cast, shapes checked, dimensions bound.

Nothing is computed before all of a call's values are known to fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad.backends.dimensions import rename, solve
from symgrad.errors import DTypeError, FeedError, ShapeError
from symgrad.ir.symbol import Symbol
from symgrad.types import Constraint, Dim, Size, TensorType, is_integer

_RANK = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}

Arrays = Sequence[NDArray[Any]]


class Feeds:
    """The inputs of a function: how they are given, and what they must fulfil together.

    Args:
        inputs: the symbols that are given.
        constraints: which dimensions must be equal.
    """

    __slots__ = ("_constraints", "_inputs", "_labels", "_solutions", "fits")

    def __init__(self, inputs: Sequence[Symbol], constraints: Sequence[Constraint]) -> None:
        self._inputs = tuple(inputs)
        self._labels = [repr(s.name) if s.name else f"number {k}" for k, s in enumerate(inputs)]
        self._solutions = solve([s.shape for s in inputs])
        known = {solution.name for solution in self._solutions}
        self._constraints = [c for c in constraints if _names(c.left) | _names(c.right) <= known]
        self.fits: Callable[[tuple[Any, ...]], bool] = self._quick_check(known)

    # --- the quick way ------------------------------------------------------------------------

    def _quick_check(self, known: set[str]) -> Callable[[tuple[Any, ...]], bool]:
        """A function that tells whether a call's values are right as they are, in little time.

        It is generated: a loop over the inputs would cost more than a small function itself.
        """
        kinds = [s.type for s in self._inputs]
        if not all(_names(size) <= known for kind in kinds for size in kind.shape):
            return lambda arrays: False
        dims = {name: f"d{k}" for k, name in enumerate(sorted(known))}
        arrays = [f"a{k}" for k in range(len(kinds))]
        lines = [f"if len(arrays) != {len(kinds)}: return False"]
        if arrays:
            lines.append(f"{', '.join(arrays)}, = arrays")
        refusals = [_mismatch(f"a{k}", f"t{k}", kind) for k, kind in enumerate(kinds)]
        lines += [f"if {refusal}: return False" for refusal in refusals]
        for s in self._solutions:
            lines.append(f"{dims[s.name]} = {s.text(f'a{s.argument}', rename(s.offset, dims))}")
        for array, kind in zip(arrays, kinds, strict=True):
            for axis, size in enumerate(kind.shape):
                if isinstance(size, Dim):
                    lines.append(f"if {array}.shape[{axis}] != {rename(size, dims)}: return False")
        lines += [f"if {name} < 0: return False" for name in dims.values()]
        for c in self._constraints:
            left, right = rename(c.left, dims), rename(c.right, dims)
            lines.append(f"if {left} != {right}: return False")
        text = "\n    ".join(["def fits(arrays):", *lines, "return True"])
        scope: dict[str, Any] = {f"t{k}": kind.dtype for k, kind in enumerate(kinds)}
        scope["ndarray"] = np.ndarray
        exec(compile(text, "<symgrad feeds>", "exec"), scope)
        return scope.pop("fits")  # out of its own globals, so that there is no cycle

    # --- the thorough way ---------------------------------------------------------------------

    def admit(self, arrays: Sequence[Any], by_name: Mapping[str, Any]) -> tuple[NDArray[Any], ...]:
        """The values of all inputs, in order, as arrays of exactly their types.

        Raises:
            FeedError: a value is missing, given twice or not wanted.
            DTypeError: a value is of another kind of element type.
            ShapeError: shapes do not fit, alone or together.
        """
        given = self._in_order(arrays, by_name)
        cast = [_cast(self._where(k), value, self._inputs[k]) for k, value in enumerate(given)]
        bindings = self.bindings(cast)
        self._check(bindings)
        return tuple(cast)

    def _where(self, position: int) -> str:
        return f"input {self._labels[position]}"

    def _in_order(self, arrays: Sequence[Any], by_name: Mapping[str, Any]) -> list[Any]:
        listed = ", ".join(self._labels) or "none"
        if len(arrays) > len(self._inputs):
            raise FeedError("function", "too many values", expected=listed, got=len(arrays))
        given: dict[int, Any] = dict(enumerate(arrays))
        for name, value in by_name.items():
            places = [k for k, s in enumerate(self._inputs) if s.name == name]
            if not places:
                raise FeedError("function", f"no input is called {name!r}", expected=listed)
            if len(places) > 1:
                raise FeedError(
                    "function",
                    f"{len(places)} inputs are called {name!r}",
                    hint="give them in order",
                )
            if places[0] in given:
                raise FeedError("function", f"input {name!r} is given twice")
            given[places[0]] = value
        missing = [k for k in range(len(self._inputs)) if k not in given]
        if missing:
            wanted = ", ".join(f"{self._labels[k]}: {self._inputs[k].type}" for k in missing)
            raise FeedError("function", "a value is missing", expected=wanted)
        return [given[k] for k in range(len(self._inputs))]

    # --- shapes -------------------------------------------------------------------------------

    def bindings(self, arrays: Arrays) -> dict[str, int]:
        """The sizes of all dimensions that the inputs tell; every axis is checked."""
        for k, array in enumerate(arrays):
            if array.ndim != len(self._inputs[k].shape):
                self._refuse(k, "wrong number of axes", array, {})
        bindings: dict[str, int] = {}
        for s in self._solutions:
            offset = s.offset.evaluate(bindings) if isinstance(s.offset, Dim) else s.offset
            size, rest = divmod(arrays[s.argument].shape[s.axis] - offset, s.slope)
            if rest or size < 0:
                problem = f"shape does not fit on axis {s.axis}"
                self._refuse(s.argument, problem, arrays[s.argument], bindings)
            bindings[s.name] = size
        for k, array in enumerate(arrays):
            for axis, (declared, size) in enumerate(
                zip(self._inputs[k].shape, array.shape, strict=True)
            ):
                if not _names(declared) <= bindings.keys():
                    self._refuse(k, f"the size of axis {axis} does not follow", array, bindings)
                if _value(declared, bindings) != size:
                    self._refuse(k, f"shape does not fit on axis {axis}", array, bindings)
        return bindings

    def _refuse(
        self, position: int, problem: str, array: NDArray[Any], bindings: Mapping[str, int]
    ) -> None:
        symbol = self._inputs[position]
        names = sorted({name for size in symbol.shape for name in _names(size)})
        known = [self._origin(name, bindings[name], position) for name in names if name in bindings]
        raise ShapeError(
            self._where(position),
            problem,
            expected=f"{symbol.type}{' with ' if known else ''}{', '.join(known)}",
            got=f"shape {array.shape}",
            site=None if symbol.site is None else str(symbol.site),
        )

    def _origin(self, name: str, value: int, reader: int | None = None) -> str:
        """Where a dimension got its size."""
        s = next(s for s in self._solutions if s.name == name)
        site = self._inputs[s.argument].site
        created = "" if reader is not None or site is None else f", created at {site}"
        return f"{name} = {value} (axis {s.axis} of {self._labels[s.argument]}{created})"

    def _check(self, bindings: Mapping[str, int]) -> None:
        for c in self._constraints:
            left, right = _value(c.left, bindings), _value(c.right, bindings)
            if left != right:
                raise ShapeError(
                    c.where,
                    f"{c.what} differ",
                    expected=self._side(c.left, left, bindings),
                    got=self._side(c.right, right, bindings),
                    site=None if c.site is None else str(c.site),
                )

    def _side(self, size: Size, value: int, bindings: Mapping[str, int]) -> str:
        if isinstance(size, int):
            return str(value)
        known = [self._origin(name, bindings[name]) for name in sorted(size.names)]
        return known[0] if size.name else f"{size} = {value}, {', '.join(known)}"


def _names(size: Size) -> frozenset[str]:
    return size.names if isinstance(size, Dim) else frozenset()


def _value(size: Size, bindings: Mapping[str, int]) -> int:
    return size.evaluate(bindings) if isinstance(size, Dim) else size


def _mismatch(array: str, dtype: str, kind: TensorType) -> str:
    """A condition under which the array is not right as it is."""
    tests = [f"type({array}) is not ndarray", f"{array}.dtype is not {dtype}"]
    if all(isinstance(size, int) for size in kind.shape):
        tests.append(f"{array}.shape != {kind.shape}")
    else:
        tests.append(f"len({array}.shape) != {len(kind.shape)}")
        sizes = enumerate(kind.shape)
        tests += [f"{array}.shape[{k}] != {size}" for k, size in sizes if isinstance(size, int)]
    if len(kind.shape) > 1:
        tests.append(f"not {array}.flags.c_contiguous")
    return " or ".join(tests)


# --- one value --------------------------------------------------------------------------------


def _cast(where: str, value: Any, symbol: Symbol) -> NDArray[Any]:
    """The value as an array of the symbol's element type, in row-major order."""
    array, dtype = _as_array(where, value), symbol.dtype
    site = None if symbol.site is None else str(symbol.site)
    if array.dtype.kind not in _RANK:
        raise DTypeError(
            where, "not an array of numbers", expected=symbol.type, got=array.dtype, site=site
        )
    if _RANK[array.dtype.kind] > _RANK[dtype.kind]:
        raise DTypeError(
            where,
            "another kind of element type",
            expected=dtype,
            got=array.dtype,
            hint="a value is cast within its kind only; convert it with astype",
            site=site,
        )
    if is_integer(dtype) and array.size and is_integer(array.dtype):
        limits = np.iinfo(dtype)
        for extreme in (int(array.min()), int(array.max())):
            if not limits.min <= extreme <= limits.max:
                raise DTypeError(
                    where, f"{extreme} does not fit", expected=dtype, got=array.dtype, site=site
                )
    with np.errstate(all="ignore"):
        return array.astype(dtype, order="C", copy=False)


def _as_array(where: str, value: Any) -> NDArray[Any]:
    if isinstance(value, Symbol):
        raise FeedError(
            where,
            "a symbol has no value",
            got=repr(value),
            hint="build one graph with sg.substitute",
        )
    if hasattr(value, "__array_namespace__") and hasattr(value, "numpy"):
        value = value.numpy()
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ShapeError(where, "not an array", got=str(error)) from None
