"""How far two runs agree, and the symbol at which they part."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symgrad.backends.feeds import Feeds
from symgrad.backends.numpy.interpreter import interpret
from symgrad.eager.kernels import Kernel, watching_kernels
from symgrad.eager.plans import Plan
from symgrad.function import Function
from symgrad.ir.symbol import Symbol
from symgrad.ir.walk import reachable
from symgrad.types import is_complex, is_inexact

Array: TypeAlias = NDArray[Any]


def is_same(a: Array, b: Array) -> bool:
    """Whether all bits are the same; whatever NaN it is."""
    return (a.dtype, a.shape) == (b.dtype, b.shape) and content(a) == content(b)


def distance(a: Array, b: Array) -> float:
    """How far ``a`` is from ``b``, in units of the last place of b's largest element."""
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return math.inf
    if not is_inexact(a.dtype):
        return 0.0 if np.array_equal(a, b) else math.inf
    if is_complex(a.dtype):
        parts: Any = (a, b)
        x, y = parts
        return max(distance(x.real, y.real), distance(x.imag, y.imag))
    with np.errstate(all="ignore"):
        sizes = np.abs(b)
        unit = np.spacing(np.max(sizes[np.isfinite(sizes)], initial=np.finfo(b.dtype).tiny))
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0, np.abs(a - b) / unit)
        worst = float(np.max(apart, initial=0))
    return math.inf if math.isnan(worst) else worst


def content(array: Any) -> Any:
    """What an array holds, in whatever shape."""
    array = np.asarray(array)
    if is_inexact(array.dtype):
        with np.errstate(all="ignore"):
            array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return array.dtype, array.tobytes()


def seen_in(run: Callable[[], Any]) -> set[Any]:
    """What the kernels of an eager run took and gave."""
    seen: set[Any] = set()

    def watch(plan: Plan, kernel: Kernel, operands: tuple[Any, ...]) -> Any:
        result = kernel(*operands)
        given: list[Any] = [value for value in operands if hasattr(value, "dtype")]
        for value in (*given, *(result if plan.several else (result,))):
            seen.add(content(value))
        return result

    with watching_kernels(watch):
        run()
    return seen


def first_different(
    compiled: Function, output: int, arrays: Sequence[Array], seen: set[Any]
) -> str | None:
    """The first symbol below an output that has a value which no eager call gave.

    Args:
        compiled: the function; its graph is run op by op, as rewritten.
        output: the position of the output.
        arrays: the inputs' values.
        seen: the values of the eager run.
    """
    graph = compiled.optimized
    below = set(reachable([graph.outputs[output]]))
    found: list[Symbol] = []

    def watch(symbol: Symbol, operands: Sequence[Any], value: Any) -> None:
        if found or symbol not in below or isinstance(value, tuple) or not symbol.args:
            return
        if content(value) not in seen:
            found.append(symbol)

    feeds = Feeds(graph.inputs, graph.constraints)
    interpret(graph, arrays, feeds.bindings(arrays), watch)
    if not found:
        return None
    symbol = found[0]
    operands = ", ".join(graph.name_of(arg) for arg in symbol.args)
    name = graph.name_of(symbol)
    return f"{name} = {symbol.op.name}({operands}) : {symbol.type}, created at {symbol.site}"
