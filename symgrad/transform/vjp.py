"""Reverse mode: appends cotangent symbols, from the outputs back to the inputs.

One iterative walk over the active symbols in reverse topological order. What every rule would
have to repeat is done here, once: skipping structural zeros, summing cotangents, un-broadcasting,
casting back, conjugating, guarding branches that were not taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, cast

from symgrad.errors import GradientError, RuleMissing
from symgrad.ir.op import ZERO, Attrs, Nothing, Op, ops
from symgrad.ir.operators import Operators
from symgrad.ir.site import Site
from symgrad.ir.symbol import Origin, Symbol, building
from symgrad.transform.activity import active_symbols, carries
from symgrad.transform.guards import (
    FREE,
    Guard,
    apart,
    as_predicate,
    before,
    bends,
    differ,
    either,
    select,
)
from symgrad.types import TensorType, TupleType, is_complex

FAN_IN = "fan_in"
"""The rule that sums what comes from several users of a symbol."""


class _Cotangents:
    """What has arrived at each symbol so far: contributions and their guards, per output."""

    def __init__(self, order: Sequence[Symbol]) -> None:
        self.parts: dict[Symbol, list[tuple[int, Symbol, Guard]]] = {}
        self._order = order
        self._bending: set[Symbol] | None = None

    def add(self, symbol: Symbol, contribution: Any, guard: Guard, index: int = 0) -> None:
        self.parts.setdefault(symbol, []).append((index, contribution, guard))

    def take(self, symbol: Symbol) -> tuple[Any, Guard]:
        """The sum of all contributions; for a tuple, one sum or ZERO per output."""
        parts = self.parts[symbol]
        kind: Any = symbol.type
        if isinstance(kind, TupleType):
            sums: list[Any] = [ZERO] * len(kind.items)
            for index, ct, _ in parts:
                sums[index] = ct if sums[index] is ZERO else sums[index] + ct
            return tuple(sums), FREE
        guards = [guard for _, _, guard in parts]
        cts = [ct for _, ct, _ in parts]
        if differ(guards) and self._bends(symbol):
            cts = apart(cts, guards)
        total = cts[0]
        for ct in cts[1:]:
            total = total + ct
        return total, either(guards)

    def _bends(self, symbol: Symbol) -> bool:
        """Whether a partial that may be infinite lies here or further back."""
        if self._bending is None:
            self._bending = set()
            for s in self._order:
                if bends(s.op) or any(arg in self._bending for arg in s.args):
                    self._bending.add(s)
        return symbol in self._bending


def pull_back(outputs: Sequence[Symbol], cts: Sequence[Any], inputs: Sequence[Symbol]) -> list[Any]:
    """The cotangents of ``inputs``, given those of ``outputs``.

    Args:
        outputs: where the cotangents start.
        cts: one symbol of the output's type each, or ZERO.
        inputs: symbols anywhere below the outputs.

    Returns:
        per input a symbol of its type, or ZERO where no derivative path leads to it.

    Raises:
        RuleMissing: an op on the way has no derivative rule yet.
    """
    order = active_symbols(outputs, inputs)
    active, wanted = set(order), set(inputs)
    arrived = _Cotangents(order)
    for output, ct in zip(outputs, cts, strict=True):
        if ct is not ZERO and output in active:
            arrived.add(output, ct, FREE)
    results: dict[Symbol, Any] = {}
    for symbol in reversed(order):
        if symbol not in arrived.parts:
            continue
        building.origin = Origin(symbol, FAN_IN)
        ct, guard = arrived.take(symbol)
        building.origin = Origin(symbol, symbol.op.name)
        if symbol in wanted:
            results[symbol] = ct
        arrived.parts[symbol] = []
        _spread(symbol, ct, guard, active, arrived)
    building.origin = None
    return [results.get(x, ZERO) for x in inputs]


def _spread(
    symbol: Symbol, ct: Any, guard: Guard, active: set[Symbol], arrived: _Cotangents
) -> None:
    """Hand the cotangent of one symbol on to its operands."""
    wanted = [i for i, arg in enumerate(symbol.args) if arg in active and carries(arg)]
    kind: Any = symbol.type
    y: Any = symbol
    if isinstance(kind, TupleType):
        y = tuple(ops.item(symbol, index=k) for k in range(len(kind.items)))
    for i, part, passed, index in contributions(symbol, y, ct, guard, wanted):
        arrived.add(symbol.args[i], part, passed, index)


class Application(Protocol):
    """An op applied to operands: a symbol, or a recorded call on tensors."""

    @property
    def op(self) -> Op: ...
    @property
    def args(self) -> Sequence[Any]: ...
    @property
    def attrs(self) -> Attrs: ...
    @property
    def type(self) -> Any: ...
    @property
    def site(self) -> Site | None: ...


def contributions(
    applied: Application, y: Any, ct: Any, guard: Guard, wanted: Iterable[int]
) -> Iterator[tuple[int, Any, Guard, int]]:
    """What the cotangent of a result gives to operands, by the op's rule.

    Args:
        applied: the application.
        y: its result; for an op that has several, a tuple of them.
        ct: the cotangent; for several results, a tuple of cotangents or ZERO.
        guard: under which the cotangent is live.
        wanted: positions of the operands that want one.

    Yields:
        the operand's position, the contribution in its type, its guard, and for an operand that is
        a tuple, which item of it is meant.
    """
    op, args, attrs = applied.op, applied.args, applied.attrs
    if op.joint is not None:
        wanted = list(wanted)
        for i, part in zip(wanted, op.joint(wanted, ct, y, args, attrs), strict=True):
            if part is not ZERO:
                yield i, part, FREE, 0
        return
    for i in wanted:
        contribution = contribution_of(applied, i, ct, y)
        if isinstance(contribution, Nothing):
            if contribution.kind == "todo":
                problem = f"vjp not written yet: {contribution.reason}"
                raise RuleMissing(op.name, problem, site=str(applied.site))
            continue
        if isinstance(contribution, tuple):
            # The ct of one output of an op that has several.
            index, part = cast("tuple[int, Any]", contribution)
            yield i, part, FREE, index
            continue
        passed = before(op, i, guard, y, args, attrs)
        if passed is not FREE or guard is not FREE:
            partial = op.partials[i] if op.partials else None
            factor = partial(y, *args, **attrs) if callable(partial) else None
            contribution = select(op, i, guard, factor, contribution)
            kind = args[i].type
            passed = Guard(*(p if p is None else unbroadcast_predicate(p, kind) for p in passed))
        yield i, fit(contribution, args[i].type), passed, 0


def contribution_of(applied: Application, i: int, ct: Any, y: Any) -> Any:
    """What the rule gives for operand ``i``: conjugated where the op is holomorphic."""
    op = applied.op
    conjugate = op.holomorphic and _has_complex(applied, i)
    if not conjugate:
        return op.vjp(i, ct, y, applied.args, applied.attrs)
    ct = _conjugated(ct)
    contribution = op.vjp(i, ct, y, applied.args, applied.attrs)
    if isinstance(contribution, Nothing):
        return contribution
    if isinstance(contribution, tuple):
        return contribution[0], ops.conj(contribution[1])
    return ops.conj(contribution)


def _conjugated(ct: Any) -> Any:
    if isinstance(ct, tuple):
        return tuple(c if c is ZERO else ops.conj(c) for c in cast("tuple[Any, ...]", ct))
    return ops.conj(ct)


def _has_complex(applied: Application, i: int) -> bool:
    kinds: list[Any] = [applied.type, applied.args[i].type]
    for kind in kinds:
        items: tuple[TensorType, ...] = kind.items if isinstance(kind, TupleType) else (kind,)
        if any(is_complex(item.dtype) for item in items):
            return True
    return False


def fit(ct: Any, kind: TensorType) -> Any:
    """A contribution in the operand's type: un-broadcast, and cast back."""
    if not isinstance(ct, Operators):
        raise GradientError("vjp", "a rule gave no symbol", got=repr(ct))
    if ct.shape != kind.shape:
        ct = unbroadcast(ct, kind)
    if ct.dtype != kind.dtype:
        if is_complex(ct.dtype) and not is_complex(kind.dtype):
            ct = ops.real(ct)
        if ct.dtype != kind.dtype:
            ct = ops.astype(ct, kind.dtype)
    return ct


def unbroadcast(ct: Any, kind: TensorType) -> Any:
    """Sum over the axes along which the operand was broadcast.

    A named dimension is never 1 by surprise, so which axes these are is known while building.
    """
    extra = ct.ndim - kind.ndim
    kept = tuple(
        axis + extra
        for axis, size in enumerate(kind.shape)
        if size == 1 and ct.shape[axis + extra] != 1
    )
    axes = (*range(extra), *kept)
    if axes:
        ct = ops.sum(ct, axis=axes, keepdims=True) if kept else ops.sum(ct, axis=axes)
        if kept and extra:
            ct = ops.reshape(ct, kind.shape)
    if ct.shape != kind.shape:
        # Equal by a recorded constraint, under another name.
        ct = ops.broadcast_to(ct, kind.shape)
    return ct


def unbroadcast_predicate(predicate: Any, kind: TensorType) -> Any:
    """The same for a guard: it holds where any of the copies' guards does."""
    return (
        predicate if predicate.shape == kind.shape else as_predicate(unbroadcast(predicate, kind))
    )
