"""What a formula means over the real numbers: evaluation with so many digits that none is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mpmath
import numpy as np

from symgrad.ir.symbol import CONSTANT, Symbol
from symgrad.ir.walk import reachable

BITS = 2400
"""Enough that 1 + x is exact for every double x that matters."""


def _elementwise(function: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(*values: Any) -> Any:
        try:
            result = function(*values)
        except (ZeroDivisionError, ValueError):
            return mpmath.nan
        return mpmath.nan if isinstance(result, mpmath.mpc) else result

    return np.frompyfunc(guarded, function.__code__.co_argcount, 1)


def _divided(a: Any, b: Any) -> Any:
    if b == 0:
        return mpmath.nan if a == 0 or mpmath.isnan(a) else mpmath.inf * mpmath.sign(a)
    return a / b


def _softmax(x: Any, *, axis: int) -> Any:
    e = _exp(x)
    return _divide(e, np.sum(e, axis=axis, keepdims=True))


_exp = _elementwise(lambda x: mpmath.exp(x))
_log = _elementwise(lambda x: mpmath.log(x) if x != 0 else -mpmath.inf)
_divide = _elementwise(_divided)

MEANINGS: dict[str, Callable[..., Any]] = {
    "add": _elementwise(lambda a, b: a + b),
    "subtract": _elementwise(lambda a, b: a - b),
    "multiply": _elementwise(lambda a, b: a * b),
    "divide": _divide,
    "negative": _elementwise(lambda a: -a),
    "exp": _exp,
    "log": _log,
    "log1p": lambda x: _log(1 + x),
    "expm1": lambda x: _exp(x) - 1,
    "sigmoid": lambda x: _divide(mpmath.mpf(1), 1 + _exp(-x)),
    "square": lambda x: x * x,
    "abs": _elementwise(lambda a: abs(a)),
    "sum": lambda x, *, axis, dtype, keepdims: np.sum(x, axis=axis, keepdims=keepdims),
    "mean": lambda x, *, axis, keepdims: (
        np.sum(x, axis=axis, keepdims=keepdims) / int(np.prod([x.shape[k] for k in axis]))
    ),
    "logsumexp": lambda x, *, axis, keepdims: _log(np.sum(_exp(x), axis=axis, keepdims=keepdims)),
    "softmax": _softmax,
}


def _lifted(array: Any) -> Any:
    array = np.asarray(array)
    if array.dtype.kind != "f":
        return array
    return np.frompyfunc(lambda v: mpmath.mpf(float(v)), 1, 1)(array)


def true_value(output: Symbol, feeds: Mapping[Symbol, Any]) -> Any:
    """The value over the real numbers, as an array of mpmath's numbers."""
    with mpmath.workprec(BITS), np.errstate(all="ignore"):
        values: dict[Symbol, Any] = {s: _lifted(v) for s, v in feeds.items()}
        for symbol in reachable([output], stop=values):
            if symbol in values:
                continue
            if symbol.op is CONSTANT:
                values[symbol] = _lifted(symbol.value)
                continue
            operands = [values[a] for a in symbol.args]
            meaning = MEANINGS.get(symbol.op.name)
            if meaning is None:
                values[symbol] = symbol.op.run(operands, symbol.attrs)  # it only moves elements
            else:
                values[symbol] = np.asarray(meaning(*operands, **symbol.attrs), object)
        return values[output]


def error_of(found: Any, true: Any) -> Any:
    """Per element the distance of a float from the true value; infinite for NaN and infinity."""
    with mpmath.workprec(BITS), np.errstate(all="ignore"):

        def distance(f: Any, t: Any) -> float:
            f = mpmath.mpf(float(f))
            if mpmath.isnan(t):
                return 0.0 if mpmath.isnan(f) else np.inf
            if mpmath.isinf(t):
                return 0.0 if f == t else np.inf
            return float(abs(f - t)) if mpmath.isfinite(f) else np.inf

        return np.frompyfunc(distance, 2, 1)(np.asarray(found), true).astype(float)


def nearest(true: Any, dtype: Any) -> Any:
    """The true values, rounded to floats."""
    with mpmath.workprec(BITS), np.errstate(all="ignore"):
        return np.frompyfunc(float, 1, 1)(true).astype(float).astype(dtype)
