"""Whether a function does the same in both modes: computed at once, and as a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symgrad.eager.kernels import Kernel, Watch, watching_kernels
from symgrad.eager.plans import Plan
from symgrad.eager.pullbacks import COMPILED_AT
from symgrad.eager.tensor import Tensor
from symgrad.ir.graph import Graph
from symgrad.ir.modes import enable_grad, no_grad
from symgrad.ir.op import Op
from symgrad.ir.symbol import CONSTANT, Symbol
from symgrad.ops.conversion import values_of
from symgrad.testing.runs import Eager, Program, Static, flat, literal, rewritten, run, seeds_of
from symgrad.types import Dim, is_complex, is_inexact

Array: TypeAlias = NDArray[Any]


def check_modes(f: Program, *args: Any, ulps: float = 16.0) -> None:
    """Compare a function's eager run with its graph: values, and gradients by reverse mode.

    The graph as the rules describe it, unshared and not rewritten, must give the same bits. The one
    that users get, shared and rewritten, must give the same but for rounding.

    Args:
        f: takes the arguments, gives an array or a nested sequence of them; written in ops, so that
            it can be called on tensors and on symbols.
        args: arrays, tensors or numbers; those of floating-point type are differentiated.
        ulps: how far a rewritten graph may be off, in units of the last place of the result's
            largest element. Allow more where the eager run loses digits that a rewrite keeps.

    Raises:
        AssertionError: something differs; the message names the first symbol that does.

    >>> import symgrad as sg
    >>> sg.testing.check_modes(lambda x, y: sg.sum(sg.sin(x) * y), [0.5, 1.0], 2.0)
    """
    values = [values_of("check_modes", a.numpy() if isinstance(a, Tensor) else a) for a in args]
    with enable_grad():
        with no_grad():
            seeds = seeds_of(flat(f(*map(Tensor, values))))
        seen: Seen = {}
        with watching_kernels(_noting(seen)):
            eager = run(f, values, seeds, create_graph=True)
        found = eager.values()
        feeds = [*values, *seeds]
        static = literal(f, values)
        _compare_literal(static, eager, feeds, seen)
        for _ in range(COMPILED_AT):  # by the last of them, rules run as compiled code
            again = run(f, values, seeds).values()
            _compare_passes(again, found, len(eager.outputs))
        _compare_rewritten(rewritten(f, values).values(feeds, level="exact"), eager, ulps)


Seen: TypeAlias = dict[Op, set[Any]]
"""What eager calls gave, per op."""


def _noting(seen: Seen) -> Watch:
    def note(plan: Plan, kernel: Kernel, operands: tuple[Any, ...]) -> Any:
        result = kernel(*operands)
        if not plan.several:  # the items of a pack are seen when they are taken
            seen.setdefault(plan.op, set()).add(_content(np.asarray(result)))
        return result

    return note


def _content(array: Array) -> Any:
    """What an array holds; whatever NaN it is."""
    if is_inexact(array.dtype):
        with np.errstate(all="ignore"):
            array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return array.dtype, array.shape, array.tobytes()


# --- the comparison -------------------------------------------------------------------------------


def _compare_literal(static: Static, eager: Eager, feeds: Sequence[Any], seen: Seen) -> None:
    symbols = [*static.outputs, *static.gradients]
    _compare_types(static.outputs, eager.outputs)
    expected = static.values(feeds, level="none")
    for k, (ours, theirs) in enumerate(zip(expected, eager.values(), strict=True)):
        if _content(ours) != _content(theirs):
            raise AssertionError(
                f"{_named(k, len(eager.outputs))} differs in its bits: the graph gives "
                f"{_shown(ours, theirs)}; the first symbol that differs: "
                f"{_first_different(static, symbols[k], feeds, seen)}"
            )


def _compare_types(symbols: Sequence[Symbol], tensors: Sequence[Tensor]) -> None:
    if len(symbols) != len(tensors):
        raise AssertionError(f"the graph has {len(symbols)} outputs, eager {len(tensors)}")
    for k, (symbol, tensor) in enumerate(zip(symbols, tensors, strict=True)):
        sizes = zip(symbol.shape, tensor.shape, strict=False)
        fits = symbol.ndim == tensor.ndim and symbol.dtype == tensor.dtype
        fits = fits and all(isinstance(size, Dim) or size == n for size, n in sizes)
        if not fits:
            raise AssertionError(
                f"output {k} is of another type: the graph gives {symbol.type}, eager {tensor.type}"
            )


def _first_different(static: Static, output: Symbol, feeds: Sequence[Any], seen: Seen) -> str:
    """The first symbol below an output whose value no eager call of its op gave."""
    graph = Graph([*static.inputs, *static.seeds], [*static.outputs, *static.gradients])
    below = Graph([*static.inputs, *static.seeds], [output])
    computed = [
        s for s in below.symbols if s.args and s.op is not CONSTANT and hasattr(s.type, "dtype")
    ]
    computed.sort(key=lambda s: s.serial)
    values = static.values_of(computed, feeds) if computed else []
    for symbol, value in zip(computed, values, strict=True):
        if _content(value) not in seen.get(symbol.op, ()):
            return _described(graph, symbol)
    return _described(graph, output)


def _described(graph: Graph, symbol: Symbol) -> str:
    operands = ", ".join(graph.name_of(arg) for arg in symbol.args)
    text = f"{graph.name_of(symbol)} = {symbol.op.name}({operands}) : {symbol.type}"
    origin = symbol.origin
    of = "" if origin is None else f", in the derivative of {origin.primal.op.name}"
    return f"{text}{of}, created at {symbol.site}"


def _compare_passes(found: Sequence[Array], expected: Sequence[Array], outputs: int) -> None:
    for k, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        if _content(ours) != _content(theirs):
            raise AssertionError(
                f"{_named(k, outputs)} differs between a pass that is recorded and one that is "
                f"not: {_shown(theirs, ours)}"
            )


def _compare_rewritten(found: Sequence[Array], eager: Eager, ulps: float) -> None:
    for k, (ours, theirs) in enumerate(zip(found, eager.values(), strict=True)):
        if np.any(far(ours, theirs, ulps)):
            raise AssertionError(
                f"{_named(k, len(eager.outputs))} differs by more than {ulps:g} ulps: the "
                f"rewritten graph gives {_shown(ours, theirs)}"
            )


def far(a: Array, b: Array, ulps: float, floor: float = 0.0) -> Array:
    """Where two arrays of one type differ by more than so many units of the largest element.

    Args:
        floor: a size that elements have on the way, where they cancel at the end.
    """
    if not is_inexact(a.dtype):
        return np.asarray(a != b)
    with np.errstate(all="ignore"):
        sizes = np.abs(b)
        least = max(floor, np.finfo(a.dtype).tiny)
        unit = np.spacing(np.max(sizes[np.isfinite(sizes)], initial=sizes.dtype.type(least)))
        alike = (a == b) | (np.isnan(a) & np.isnan(b))
        return np.asarray(~(alike | (np.abs(a - b) <= ulps * unit)))


def _named(k: int, outputs: int) -> str:
    return f"output {k}" if k < outputs else f"gradient {k - outputs}"


def _shown(ours: Array, theirs: Array) -> str:
    worst = tuple(int(i) for i in np.argwhere(_unlike(ours, theirs))[0])
    place = f" at {list(worst)}" if worst else ""
    return f"{ours[worst]!s}, eager {theirs[worst]!s}{place}"


def _unlike(a: Array, b: Array) -> Array:
    """Where two arrays differ in their bits."""
    if not is_inexact(a.dtype):
        return np.asarray(a != b)
    parts: Any = [a, b]
    if is_complex(a.dtype):
        return _unlike(parts[0].real, parts[1].real) | _unlike(parts[0].imag, parts[1].imag)
    alike = (a == b) & (np.signbit(a) == np.signbit(b))
    return np.asarray(~(alike | (np.isnan(a) & np.isnan(b))))
