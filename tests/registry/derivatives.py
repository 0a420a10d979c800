"""Derivatives against differences of values, and against each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.errors import DTypeError
from symgrad.ir.op import Nothing
from symgrad.ir.symbol import Symbol, constant, placeholder
from symgrad.ir.walk import reachable
from symgrad.ops.families import unpack
from symgrad.testing import check_grads
from symgrad.testing.gradients import normal_direction, paired
from symgrad.transform.vjp import contribution_of
from symgrad.types import TupleType, is_inexact
from tests.registry.families import gathered
from tests.registry.graphs import gradient_of_squares
from tests.registry.running import run
from tests.registry.samples import INDEXED, Sample, named, samples_of
from tests.registry.variants import in_dtype, inexact, placeholders, symbols_of

LEVELS = ("none", None)

FREE_OF_DERIVATIVE = {
    "stop_gradient": "cuts the derivative by definition",
    **dict(gathered("FREE_OF_DERIVATIVE")),
}
"""Ops that vary and yet claim to have no derivative, and why."""


def cases(name: str, dtype: Any) -> Iterator[tuple[Sample, list[np.ndarray]]]:
    """Samples at which an op is differentiable, in an element type, as far as it takes it."""
    for sample in samples_of(name):
        values = [np.asarray(v) for v in sample.operands]
        kinds = {v.dtype.kind for v in values}
        wanted = np.dtype(dtype)
        if "c" in kinds and wanted.kind != "c":
            wanted = np.result_type(wanted, np.complex64)
        rigid = sample.structured and name not in INDEXED
        if wanted.kind == "c" and rigid and "c" not in kinds:
            continue
        cast = [in_dtype(v, wanted) if v.dtype.kind in "fc" else v for v in values]
        if any(is_inexact(v.dtype) for v in cast) and is_differentiable(name, sample, cast):
            yield sample, cast


def is_differentiable(name: str, sample: Sample, values: Sequence[np.ndarray]) -> bool:
    """Whether the op takes these types and gives something of floating-point type."""
    try:
        results = sample.apply(named(name), placeholders(values))
    except DTypeError:
        return False
    outputs = [y for y in results if isinstance(y, Symbol)]
    return any(is_inexact(y.dtype) for y in outputs) and all(map(_has_known_sizes, outputs))


def _has_known_sizes(symbol: Symbol) -> bool:
    """Differences need a shape beforehand; `tests/ops/test_found.py` tries what has none."""
    return all(isinstance(size, int) for size in symbol.shape)


def derivatives_match_differences(name: str, dtype: Any = "float64", order: int = 2) -> None:
    """First and second derivatives in both modes, with and without rewrites.

    An op that claims to have no derivative has none in the differences either.
    """
    if name in FREE_OF_DERIVATIVE:
        vanishes(name)
        return
    for sample, values in cases(name, dtype):
        if not sample.smooth or (not sample.narrow and np.dtype(dtype).name not in WIDE):
            continue
        for level in LEVELS if np.dtype(dtype).name in WIDE else LEVELS[:1]:
            limit = TOLERANCES.get(np.dtype(dtype).name)
            _compare(name, sample, values, min(order, sample.order), level, limit)


def _compare(
    name: str,
    sample: Sample,
    values: Sequence[np.ndarray],
    order: int,
    level: str | None,
    limit: float | None,
) -> None:
    def f(*xs: Symbol) -> list[Symbol]:
        return inexact(sample.differentiated(named(name), xs))

    options: dict[str, Any] = {"level": level, "tolerance": limit, "direction": sample.direction}
    try:
        check_grads(f, tuple(values), order, **options)
    except AssertionError as error:
        where = f"{name}({', '.join(f'{v.dtype}{list(v.shape)}' for v in values)}) {sample.attrs}"
        raise AssertionError(f"{where} {sample.note}, level {level}: {error}") from error


def vanishes(name: str) -> None:
    """All derivatives of an op are zero."""
    for sample, values in cases(name, "float64"):
        xs = placeholders(values)
        ys = inexact(sample.apply(named(name), xs))
        forward = sg.jvp(ys, xs, [constant(np.ones(v.shape)) for v in values])
        found = run([*gradient_of_squares(ys, xs), *forward], dict(zip(xs, values, strict=True)))
        assert all(np.all(value == 0) for value in found)


TOLERANCES = {"float16": 0.05, "float32": 1e-3}
"""Narrow types are checked loosely: their rounding is no matter of the rules."""


def complex_derivatives_match_differences(name: str) -> None:
    """The same at complex points, where the op takes them."""
    derivatives_match_differences(name, "complex128")


def float32_derivatives_match_differences(name: str) -> None:
    """The same in single precision, loosely: the types are what matters."""
    derivatives_match_differences(name, "float32")


def float16_derivatives_match_differences(name: str) -> None:
    """First derivatives in half precision."""
    derivatives_match_differences(name, "float16", order=1)


def mixed_derivatives_match_differences(name: str) -> None:
    """The first derivatives by operands of different types: a gradient has its operand's type."""
    for first, second in (
        ("float64", "complex128"),
        ("complex128", "float64"),
        ("float32", "float64"),
    ):
        for sample in samples_of(name):
            values = [np.asarray(v) for v in sample.operands]
            floats = [k for k, v in enumerate(values) if v.dtype.kind == "f"]
            if len(floats) < 2 or not sample.smooth or not sample.narrow:
                continue
            kinds = dict.fromkeys(floats, second) | {floats[0]: first}
            cast = [in_dtype(v, kinds.get(k, v.dtype)) for k, v in enumerate(values)]
            if sample.structured and name not in INDEXED and "complex128" in (first, second):
                continue
            if is_differentiable(name, sample, cast):
                _compare(name, sample, cast, 1, "none", 1e-3 if first == "float32" else None)


WIDE = ("float64", "complex128")


def modes_are_transposes(name: str) -> None:
    """``<ct, J t> == <J^T ct, t>``, at kinks and ties as well."""
    for dtype in ("float64", "complex128"):
        for sample, values in cases(name, dtype):
            xs = placeholders(values)
            ys = inexact(sample.apply(named(name), xs))
            tolerance = 1e-10 if all(y.dtype.name in WIDE for y in ys) else 1e-5
            actives = [(x, v) for x, v in zip(xs, values, strict=True) if is_inexact(x.dtype)]
            rng = np.random.default_rng(5)
            ts = [normal_direction(rng, v) for _, v in actives]
            ws = [normal_direction(rng, np.zeros(y.shape, y.dtype)) for y in ys]
            inputs = [x for x, _ in actives]
            pushed = sg.jvp(ys, inputs, [constant(t) for t in ts], level="none")
            pulled = sg.grad(
                ys, inputs, [constant(w) for w in ws],
                materialize_grads=True, mode="reverse", level="none",
            )  # fmt: skip
            found = run([*pushed, *pulled], dict(zip(xs, values, strict=True)))
            there = [paired(w, p) for w, p in zip(ws, found[: len(ys)], strict=True)]
            back = [paired(g, t) for g, t in zip(found[len(ys) :], ts, strict=True)]
            scale = 1 + sum(map(abs, there)) + sum(map(abs, back))
            assert abs(sum(there) - sum(back)) <= tolerance * scale, (
                f"{name}{[v.shape for v in values]}{sample.attrs} {sample.note}: "
                f"ct·(J t) = {sum(there)}, (J^T ct)·t = {sum(back)}"
            )


def unwritten_rules(name: str) -> set[tuple[str, int, str]]:
    """Operands of an op for which it gives nothing, whatever their type, and of which kind."""
    variants = [case for dtype in ("float64", "complex128") for case in cases(name, dtype)]
    found: set[tuple[str, int, str]] = set()
    given: set[int] = set()
    for sample, values in variants:
        for symbol in reachable(symbols_of(sample.apply(named(name), placeholders(values)))):
            if symbol.op.name == name:
                for i, result in _contributions(symbol):
                    if isinstance(result, Nothing):
                        found.add((name, i, result.kind))
                    else:
                        given.add(i)
    return {entry for entry in found if entry[1] not in given}


def _contributions(symbol: Symbol) -> Iterator[tuple[int, Any]]:
    """What the vjp gives for each operand of floating-point type."""
    several = isinstance(symbol.type, TupleType)
    kinds = symbol.type.items if isinstance(symbol.type, TupleType) else (symbol.type,)
    if not any(is_inexact(k.dtype) for k in kinds):
        return
    cts = tuple(placeholder("ct", k.shape, k.dtype) for k in kinds)
    ys = unpack(symbol, len(kinds)) if several else (symbol,)
    for i, arg in enumerate(symbol.args):
        if not isinstance(arg.type, TupleType) and is_inexact(arg.dtype):
            ct, y = (cts, ys) if several else (cts[0], ys[0])
            yield i, contribution_of(symbol, i, ct, y)
