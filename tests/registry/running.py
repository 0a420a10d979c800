"""A strict interpreter: it runs a graph op by op and trusts no declaration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symgrad.backends.numpy.interpreter import bind_result, concrete_attrs
from symgrad.ir.symbol import CONSTANT, PLACEHOLDER, VARIABLE, Symbol
from symgrad.ir.walk import reachable
from symgrad.types import Dim, TensorType, TupleType, solve_dims


def run(outputs: Sequence[Symbol], feeds: Mapping[Symbol, Any]) -> list[Any]:
    """The values of ``outputs`` by the reference kernels, checked against all that is declared.

    Raises:
        AssertionError: a kernel's result is not of the declared type, an operand was changed, or a
            result shares memory with an operand although the op does not say so.
    """
    bindings: dict[str, int] = {}
    values: dict[Symbol, Any] = {}
    for symbol, value in feeds.items():
        assert (value.dtype, len(value.shape)) == (symbol.dtype, symbol.ndim), symbol
        solve_dims(symbol.shape, value.shape, bindings)
        values[symbol] = frozen(value)
    with np.errstate(all="ignore"):
        for symbol in reachable(outputs):
            if symbol in values:
                continue
            if symbol.op is CONSTANT or symbol.op is VARIABLE:
                values[symbol] = symbol.payload if symbol.op is CONSTANT else symbol.value
                continue
            assert symbol.op is not PLACEHOLDER, f"{symbol!r} has no value"
            operands = [values[arg] for arg in symbol.args]
            values[symbol] = checked_call(symbol, operands, bindings)
    return [values[output] for output in outputs]


def frozen(value: Any) -> Any:
    """A view of an array that a kernel cannot write to."""
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return value


def checked_call(symbol: Symbol, operands: list[Any], bindings: dict[str, int]) -> Any:
    """What the kernel gives; every declaration about it is checked."""
    op = symbol.op
    before = [contents(o) for o in operands]
    value = op.run(operands, concrete_attrs(symbol.attrs, bindings))
    assert [contents(o) for o in operands] == before, f"{op.name} changed an operand"
    bind_result(symbol.type, value, bindings)
    kinds = symbol.type.items if isinstance(symbol.type, TupleType) else (symbol.type,)
    parts = tuple(value) if isinstance(symbol.type, TupleType) else (value,)
    assert len(parts) == len(kinds), f"{op.name}: {len(parts)} outputs, not {len(kinds)}"
    for part, kind in zip(parts, kinds, strict=True):
        require_type(op.name, part, kind, bindings)
        shared = [k for k, o in enumerate(operands) if shares(part, o)]
        assert op.view or not shared, f"{op.name}: the result is a view of operand {shared}"
        assert shared in ([], [0]), f"{op.name}: the result is a view of operand {shared}"
    return tuple(map(frozen, parts)) if isinstance(symbol.type, TupleType) else frozen(value)


def contents(value: Any) -> Any:
    """What an operand holds, to the last bit."""
    if isinstance(value, tuple):
        return tuple(map(contents, value))
    return np.asarray(value).tobytes()


def shares(result: Any, operand: Any) -> bool:
    """Whether writing to one would change the other."""
    arrays = operand if isinstance(operand, tuple) else (operand,)
    if not isinstance(result, np.ndarray):
        return False
    return any(isinstance(a, np.ndarray) and np.may_share_memory(result, a) for a in arrays)


def require_type(name: str, value: Any, kind: TensorType, bindings: Mapping[str, int]) -> None:
    """A kernel's result is an array or a numpy scalar of exactly the declared type."""
    assert isinstance(value, (np.ndarray, np.generic)), f"{name} gave {type(value).__name__}"
    wanted = concrete_shape(kind.shape, bindings)
    assert (value.dtype, value.shape) == (kind.dtype, wanted), (
        f"{name}: declared {kind} = {list(wanted)}, "
        f"the kernel gave {value.dtype}{list(value.shape)}"
    )


def concrete_shape(shape: Sequence[Any], bindings: Mapping[str, int]) -> tuple[int, ...]:
    """A shape with its dimensions replaced by their sizes."""
    return tuple(s.evaluate(bindings) if isinstance(s, Dim) else s for s in shape)


def same_bits(a: Any, b: Any) -> bool:
    """Whether two values are the same array, NaNs and signs of zero included."""
    a, b = np.asarray(a), np.asarray(b)
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    if a.dtype.kind not in "fc":
        return np.array_equal(a, b)
    parts = [(a.real, b.real), (a.imag, b.imag)]
    # Which bit pattern and sign a NaN has is nobody's promise.
    return all(
        np.array_equal(x, y, equal_nan=True)
        and np.array_equal(np.signbit(x) & ~np.isnan(x), np.signbit(y) & ~np.isnan(y))
        for x, y in parts
    )
