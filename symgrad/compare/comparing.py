"""Running one function in several modes, and measuring."""

from __future__ import annotations

import math
import operator
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from symgrad.backends import BACKENDS, find_backend
from symgrad.compare.agreement import distance, first_different, is_same, seen_in
from symgrad.compare.programs import Call, Compiled, Recorded, compiled_calls
from symgrad.compare.report import Comparison, Refusal, Row
from symgrad.eager.tensor import Tensor
from symgrad.errors import ArgumentError, ExtraMissing, SymgradError
from symgrad.ir.modes import enable_grad
from symgrad.trace.refusals import user_line
from symgrad.trace.tracing import name_of, require_function

MODES = ("eager", "static", "jit")

Array: TypeAlias = NDArray[Any]
Program: TypeAlias = Recorded | Compiled


def compare(
    function: Callable[..., Any],
    *args: Any,
    modes: Sequence[str] = ("eager", "static"),
    order: int = 1,
    level: str = "exact",
    ulps: float = 16.0,
    repeats: int | None = None,
) -> Comparison:
    """Run a function and its derivatives in every mode and every installed backend, and compare.

    "eager" runs it on tensors and walks back over what was recorded; "static" traces it, appends
    the derivatives to the graph and compiles that; "jit" runs the compiled function on tensors,
    as one recorded call.

    The first derivative is the product of ones with the Jacobian: for a scalar result its gradient;
    several results are summed. Each further order is the same of the derivative before it: the
    second, the product of the Hessian with ones. All arrays of floating-point type among the
    arguments count as inputs, and leaves from outside that require a gradient.

    Args:
        function: takes the arguments, as `trace` does: what is no array is a constant.
        args: arrays or tensors, and lists, tuples, dicts of them. They are copied, never changed.
        modes: which of "eager", "static", "jit"; the others are held against the first.
        order: up to which order derivatives are taken.
        level: which rewrites compiled graphs get.
        ulps: how far results may differ and still agree, in units of the last place of a result's
            largest element.
        repeats: how often calls are timed, in turns; by default as often as fits into a second.

    Returns:
        a `Comparison`: ``str()`` is a table, notebooks show it, ``agrees`` is a bool, ``to_dict()``
        plain data. A function that has no graph, because Python decides on its values, has a row
        that says so, with the line and the cure.

    Raises:
        ArgumentError: an unknown mode, an order that is no count.
        What the function raises in every mode.

    >>> import symgrad as sg
    >>> found = sg.compare(lambda x: sg.sum(x * x), sg.ones(3))
    >>> found.agrees, [row.verdict for row in found.rows]
    (True, ['reference', 'bit-equal'])
    """
    order = _checked(function, modes, order)
    call = Call(function, args)
    with enable_grad():
        entries = _entries(call, modes, order, level)
        ran = [entry for entry in entries if entry.program is not None]
        times = _timed([entry.prepared() for entry in ran], repeats)
        reference = ran[0].results()
        seen = _seen(ran)
        rows: list[Row] = []
        for entry in entries:
            if entry.program is None:
                rows.append(Row(entry.mode, entry.backend, refusal=entry.refusal))
            else:
                row = _row(entry, reference, seen, ulps, times[ran.index(entry)])
                rows.append(replace(row, reference=entry is ran[0]))
    types = ", ".join(f"{n}: {t}" for n, t in zip(call.names, call.types, strict=True))
    return Comparison(f"{name_of(function)}({types})", order, tuple(rows))


def _checked(function: Any, modes: Sequence[str], order: Any) -> int:
    require_function("compare", function)
    if isinstance(modes, str) or not modes:
        raise ArgumentError(
            "compare", "modes is no sequence of modes", expected=", ".join(MODES), got=repr(modes)
        )
    for mode in modes:
        if mode not in MODES:
            raise ArgumentError(
                "compare", "no such mode", expected=", ".join(MODES), got=repr(mode)
            )
    count = operator.index(order) if hasattr(order, "__index__") and type(order) is not bool else -1
    if count < 0:
        raise ArgumentError(
            "compare", "the order is no count", expected="an int >= 0", got=repr(order)
        )
    return count


# --- the modes ------------------------------------------------------------------------------------


@dataclass
class _Entry:
    """One mode with one backend: its program, or why there is none."""

    mode: str
    backend: str | None
    program: Program | None = None
    refusal: Refusal | None = None
    error: Exception | None = None
    building: dict[str, float] = field(default_factory=dict[str, float])

    def prepared(self) -> Callable[[], list[Any]]:
        assert self.program is not None
        return self.program.prepared()

    def results(self) -> list[Array]:
        return [
            value.numpy() if isinstance(value, Tensor) else np.asarray(value)
            for value in self.prepared()()
        ]


def installed_backends() -> list[str]:
    """The names of the backends whose packages are there."""
    found: list[str] = []
    for name in BACKENDS:
        try:
            find_backend(name)
        except ExtraMissing:
            continue
        found.append(name)
    return found


def _entries(call: Call, modes: Sequence[str], order: int, level: str) -> list[_Entry]:
    """All modes in turn, each with every backend.

    Raises:
        what the first one met, if none can be carried out.
    """
    entries: list[_Entry] = []
    leaves: list[Tensor] | None = None
    for mode in modes:
        for backend in [None] if mode == "eager" else installed_backends():
            entry = _Entry(mode, backend)
            entries.append(entry)
            start = time.process_time()
            try:
                program = entry.program = _program(call, entry, order, level, leaves)
                entry.results()
                leaves = program.leaves
                if mode != "eager":
                    static = isinstance(program, Compiled)
                    took = time.process_time() - start
                    entry.building = program.seconds if static else {"first call": took}
            except Exception as error:
                entry.program, entry.error = None, error
                entry.refusal = _refusal(error)
    if all(entry.program is None for entry in entries):
        raise cast("Exception", entries[0].error)
    return entries


def _program(
    call: Call, entry: _Entry, order: int, level: str, leaves: list[Tensor] | None
) -> Program:
    backend = entry.backend or ""
    if entry.mode == "static":
        return Compiled(call, order, leaves, level=level, backend=backend)
    jitted = entry.mode == "jit"
    run = compiled_calls(call, level, backend) if jitted else call.function
    return Recorded(call, order, run, builds="once" if jitted else "every call")


def _refusal(error: Exception) -> Refusal:
    line = user_line(error.__traceback__)
    if isinstance(error, SymgradError):
        return Refusal(f"{error.where}: {error.problem}", error.site or line, error.hint)
    return Refusal(f"{type(error).__name__}: {error}", line, None)


# --- agreement ------------------------------------------------------------------------------------


def _seen(ran: Sequence[_Entry]) -> set[Any] | None:
    """The values of the eager run, by content; None if there is none."""
    for entry in ran:
        if entry.mode == "eager":
            program = cast("Recorded", entry.program)
            return seen_in(program.prepared(watched=True))
    return None


def _row(
    entry: _Entry, reference: Sequence[Array], seen: set[Any] | None, ulps: float, seconds: float
) -> Row:
    program = cast("Program", entry.program)
    results = entry.results()
    if len(results) != len(reference):
        worst, apart, same = f"{len(results)} values against {len(reference)}", math.inf, False
        where = None
    else:
        pairs = list(zip(results, reference, strict=True))
        distances = [distance(a, b) for a, b in pairs]
        same = all(is_same(a, b) for a, b in pairs)
        apart = max(distances, default=0.0)
        where = None if same else _worst(pairs, distances)
        worst = None if where is None else f"{program.names[where]} differs most"
    first = None
    if where is not None and seen is not None and isinstance(program, Compiled):
        first = first_different(program.compiled, where, program.arrays, seen)
    static = program if isinstance(program, Compiled) else None
    return Row(
        entry.mode,
        entry.backend,
        builds=program.builds,
        agrees=apart <= ulps,
        bit_equal=same,
        ulps=apart,
        worst=worst,
        first=first,
        symbols=None if static is None else static.before,
        rewritten=None if static is None else static.after,
        building=entry.building,
        seconds=seconds,
        peak=_peak(entry.prepared()),
    )


def _worst(pairs: Sequence[tuple[Array, Array]], distances: Sequence[float]) -> int:
    """The position of the value that differs most; of equals in value, of the first in bits."""
    worst = max(range(len(pairs)), key=lambda k: distances[k])
    if distances[worst] > 0:
        return worst
    return next(k for k, (a, b) in enumerate(pairs) if not is_same(a, b))


# --- cost -----------------------------------------------------------------------------------------

_SAMPLE = 2e-3
"""The least processor time of a sample, in seconds: the clock's steps are small beside it."""

_TOTAL = 1.0
_FEWEST, _MOST = 3, 15


def _timed(runs: Sequence[Callable[[], Any]], repeats: int | None) -> list[float]:
    """The median time of a call of each; they take turns, so that all share the noise."""
    clock = time.process_time
    counts: list[int] = []
    total = 0.0
    for run in runs:
        start = clock()
        run()
        once = max(clock() - start, 1e-6)
        counts.append(max(1, math.ceil(_SAMPLE / once)))
        total += counts[-1] * once
    rounds = repeats or min(_MOST, max(_FEWEST, int(_TOTAL / total)))
    samples: list[list[float]] = [[] for _ in runs]
    for _ in range(rounds):
        for run, count, found in zip(runs, counts, samples, strict=True):
            start = clock()
            for _ in range(count):
                run()
            found.append((clock() - start) / count)
    return [float(np.median(found)) for found in samples]


def _peak(run: Callable[[], Any]) -> int:
    """The most memory that a call holds beside what is there; numpy reports its arrays as well."""
    mine = not tracemalloc.is_tracing()
    if mine:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        run()
        return max(0, tracemalloc.get_traced_memory()[1] - before)
    finally:
        if mine:
            tracemalloc.stop()
