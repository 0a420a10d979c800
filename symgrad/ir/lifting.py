"""The symbolic front end: foreign operands become symbols, and the call becomes one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from symgrad.errors import SymgradError
from symgrad.ir.interning import attribute_key
from symgrad.ir.modes import MODE, RECORDING, TRACING
from symgrad.ir.op import FRONT_ENDS, OPS, SYMBOL_RANK, Attrs, Op
from symgrad.ir.site import here
from symgrad.ir.symbol import Symbol, build, building, constant, constant_of
from symgrad.types import Dim, TensorType, default_float, is_inexact, promote


def lift(operand: Any, dtype: np.dtype[Any] | None = None) -> Symbol:
    """The symbol for a foreign operand: an array, a number, a dimension, a tensor."""
    if isinstance(operand, Symbol):
        return operand
    if hasattr(operand, "__as_symbol__"):
        return operand.__as_symbol__()
    if isinstance(operand, Dim):
        return build(OPS["size"], (), {"dim": operand, "dtype": dtype or np.dtype("int64")})
    if dtype is not None and type(operand) in _WEAK:
        return _number(operand, dtype)
    return constant(operand, dtype)


_numbers: dict[Any, Symbol] = {}
_NUMBERS_KEPT = 4096


def _number(value: Any, dtype: np.dtype[Any]) -> Symbol:
    """The constant of a Python number; the last few thousand are kept, as loops repeat them."""
    key = (attribute_key(value), dtype)
    symbol = _numbers.get(key)
    if symbol is None:
        if len(_numbers) >= _NUMBERS_KEPT:
            _numbers.clear()
        symbol = _numbers[key] = constant_of(np.array(value, dtype))
    return symbol


_WEAK = (bool, int, float, complex)


def weak_dtype(op: Op, operands: Sequence[Any]) -> np.dtype[Any] | None:
    """The element type that Python numbers among the operands take from the others."""
    shared = operands if op.promotes is None else [operands[i] for i in op.promotes]
    if all(type(o) not in _WEAK and type(o) is not Dim for o in shared):
        return None
    strong = [_dtype_of(o) for o in shared if type(o) not in _WEAK and type(o) is not Dim]
    weak = [0 if type(o) is Dim else o for o in shared if type(o) in _WEAK or type(o) is Dim]
    return promote(*strong, *weak)


def _dtype_of(operand: Any) -> np.dtype[Any]:
    return operand.dtype if hasattr(operand, "dtype") else np.asarray(operand).dtype


def apply_symbolic(op: Op, operands: Sequence[Any], attrs: Attrs) -> Symbol:
    """Carry out a call with a symbol among its operands: build the symbol."""
    if all(type(o) is Symbol for o in operands):
        args: tuple[Symbol, ...] = tuple(operands)
    else:
        try:
            args = lift_all(op, operands)
        except SymgradError as error:
            if error.where == "constant":  # the caller never wrote one
                error.where = op.name
            if error.site is None:
                error.site = str(building.site or here())
            raise
    if op.integers == "float":
        args = _as_floats(args)
    symbol = build(op, args, attrs)
    if MODE.get() & (TRACING | RECORDING) == TRACING and _is_differentiable(symbol):
        return build(OPS["stop_gradient"], (symbol,), {})  # traced within no_grad
    return symbol


def _is_differentiable(symbol: Symbol) -> bool:
    """Whether a derivative could pass through: not a tuple, whose items are asked, nor integers."""
    return isinstance(symbol.type, TensorType) and is_inexact(symbol.type.dtype)  # pyright: ignore[reportUnnecessaryIsInstance]


def lift_all(op: Op, operands: Sequence[Any]) -> tuple[Symbol, ...]:
    """Symbols for all operands of one call; Python numbers take the others' element type."""
    weak = weak_dtype(op, operands)
    return tuple(lift(o, weak if type(o) in _WEAK or type(o) is Dim else None) for o in operands)


def _as_floats(args: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
    """Cast integer operands of an op that computes in floats."""
    if all(is_inexact(a.dtype) for a in args):
        return args
    dtype = float_of(a.dtype for a in args)
    return tuple(a if is_inexact(a.dtype) else OPS["astype"](a, dtype) for a in args)


def float_of(dtypes: Iterable[np.dtype[Any]]) -> np.dtype[Any]:
    """The inexact element type in which operands of these types are computed."""
    dtype = promote(*dtypes)
    return dtype if is_inexact(dtype) else default_float()


FRONT_ENDS.by_rank[SYMBOL_RANK] = apply_symbolic
