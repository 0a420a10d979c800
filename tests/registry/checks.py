"""What must hold for every op: one function per law, run by the tests and by the mutation script.

Each takes the name of an op or composite, tries all its samples, and raises AssertionError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError, TraceError
from symgrad.ir.graph import Graph
from symgrad.ir.op import OPS, Nothing
from symgrad.ir.symbol import Symbol, constant, placeholder
from symgrad.ir.text import arrays_of, parse, print_graph
from symgrad.ir.verify import verify
from symgrad.ir.walk import reachable
from symgrad.testing import check_grads
from symgrad.testing.gradients import normal_direction, paired
from symgrad.transform.vjp import contribution_of
from symgrad.types import DTYPES, Dim, TupleType, is_complex, is_inexact
from tests.registry.running import run, same_bits
from tests.registry.samples import (
    BROADCASTS,
    Sample,
    flat,
    has_dims,
    is_elementwise,
    named,
    samples_of,
)

LEVELS = ("none", None)

FREE_OF_DERIVATIVE = {
    "stop_gradient": "cuts the derivative by definition",
}
"""Ops that vary and yet claim to have no derivative, and why."""


# --- values of other types ------------------------------------------------------------------------


def in_dtype(value: np.ndarray, dtype: Any) -> np.ndarray:
    """The same numbers in another element type, as near as it comes."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return value.real > np.median(value.real) if value.size else value.astype(bool)
    if dtype.kind in "iu":
        scaled = value.real * 4 if value.dtype.kind in "fc" else value
        low = 0 if dtype.kind == "u" else -100
        return np.rint(np.clip(np.nan_to_num(scaled), low, 100)).astype(dtype)
    if dtype.kind == "f":
        return value.real.astype(dtype)
    bump = 0.25j if value.dtype.kind != "c" else 0
    return (value + bump).astype(dtype)


def placeholders(values: Sequence[np.ndarray], shapes: Sequence[Any] | None = None) -> list[Symbol]:
    """One placeholder per value, of its type."""
    kept = shapes or [v.shape for v in values]
    return [
        placeholder(f"x{k}", s, v.dtype) for k, (s, v) in enumerate(zip(kept, values, strict=True))
    ]


def typed(name: str, sample: Sample) -> Iterator[list[np.ndarray]]:
    """The operands of a sample in all element types, together and mixed."""
    values = [np.asarray(v) for v in sample.operands]
    if name in NONNEGATIVE:
        values = [np.abs(v) for v in values]
    floats = [k for k, v in enumerate(values) if v.dtype.kind in "fc"]
    if is_elementwise(name):
        floats = list(range(len(values)))
    for dtype in DTYPES.values():
        if sample.structured and not is_inexact(dtype):
            continue
        cast = [in_dtype(v, dtype) if k in floats else v for k, v in enumerate(values)]
        yield cast
        if len(floats) > 1:
            for other in ("float32", "complex64") if sample.structured else ("float32", "int16", "complex64"):
                mixed = list(cast)
                mixed[floats[-1]] = in_dtype(values[floats[-1]], other)
                yield mixed
    integers = [k for k, v in enumerate(values) if v.dtype.kind in "iu"]
    for dtype in ("int8", "int32", "uint8", "uint64") if integers else ():
        yield [in_dtype(v, dtype) if k in integers else v for k, v in enumerate(values)]


NONNEGATIVE = ("pow", "bitwise_left_shift", "bitwise_right_shift")
"""Ops that numpy refuses for negative integers."""


def layouts(value: np.ndarray) -> Iterator[np.ndarray]:
    """The same array, laid out in memory in other ways."""
    backwards = (slice(None, None, -1),) * value.ndim
    yield value[backwards].copy()[backwards]
    yield value.copy(order="F")
    doubled = np.repeat(value[..., None], 2, axis=-1)
    yield doubled[..., 0]
    if value.ndim == 0:
        yield value[()]


# --- kernel and type rule -------------------------------------------------------------------------


def admitted(name: str) -> set[str]:
    """The element types that an op takes; each kernel result is checked on the way."""
    found: set[str] = set()
    for sample in samples_of(name):
        for values in typed(name, sample):
            xs = placeholders(values)
            try:
                outputs = sample.apply(named(name), xs)
            except DTypeError:
                continue
            outputs = symbols_of(outputs)
            run(outputs, dict(zip(xs, values, strict=True)))
            found.add(values[0].dtype.name if values else outputs[0].dtype.name)
    return found


def symbols_of(outputs: Sequence[Any]) -> list[Symbol]:
    """Outputs as symbols: what was computed at once becomes a constant."""
    return [y if isinstance(y, Symbol) else constant(np.asarray(y)) for y in outputs]


def kernel_has_declared_type(name: str) -> None:
    """In every admitted element type, the kernel's result has the type that the type rule says."""
    assert admitted(name)


def kernel_takes_any_layout(name: str) -> None:
    """Negative strides, column-major order and numpy scalars make no difference."""
    for sample in samples_of(name):
        values = [np.asarray(v) for v in sample.operands]
        xs = placeholders(values)
        outputs = symbols_of(sample.apply(named(name), xs))
        if not values:
            continue
        expected = run(outputs, dict(zip(xs, values, strict=True)))
        for other in zip(*(list(layouts(v)) for v in values), strict=False):
            found = run(outputs, dict(zip(xs, other, strict=True)))
            for a, b in zip(found, expected, strict=True):
                close(a, b, 1e-12)


def close(a: Any, b: Any, tolerance: float) -> None:
    """Two arrays of one type, equal but for rounding."""
    a, b = np.asarray(a), np.asarray(b)
    assert (a.dtype, a.shape) == (b.dtype, b.shape)
    if a.dtype.kind in "fc":
        with np.errstate(all="ignore"):
            scale = np.nanmax(np.abs(b[np.isfinite(b)]), initial=1.0)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * scale)
    else:
        np.testing.assert_array_equal(a, b)


def kernel_takes_any_size(name: str) -> None:
    """Axes of size 0 and 1: what the type rule admits, the kernel computes."""
    for sample in samples_of(name):
        for values, attrs in resized(name, sample):
            xs = placeholders(values)
            try:
                outputs = sample.apply(named(name), xs, **attrs)
            except (ShapeError, ArgumentError, IndexError):
                continue
            outputs = symbols_of(outputs)
            run(outputs, dict(zip(xs, values, strict=True)))
            gradient = gradient_of_squares(outputs, xs)
            run(gradient, dict(zip(xs, values, strict=True)))


def resized(name: str, sample: Sample) -> Iterator[tuple[list[np.ndarray], dict[str, Any]]]:
    """The sample with one of its sizes replaced by 0 or 1; for element-wise ops, all broadcasts."""
    values = [np.asarray(v) for v in sample.operands]
    if is_elementwise(name) and len(values) > 1:
        for shapes in BROADCASTS:
            given = (*shapes, *((1,),) * (len(values) - 2))
            yield [np.resize(v, s) for v, s in zip(values, given, strict=True)], {}
    if sample.structured:
        return
    for old in sorted({n for v in values for n in v.shape}):
        for new in (0, 1):
            shapes = [tuple(new if n == old else n for n in v.shape) for v in values]
            attrs = {k: substituted(k, v, {old: new}) for k, v in sample.attrs.items()}
            yield [np.resize(v, s) for v, s in zip(values, shapes, strict=True)], attrs
    if is_elementwise(name):
        yield [v.reshape(-1)[0] for v in values], {}


SIZE_ATTRIBUTES = ("shape", "kernel")
"""Attributes that hold sizes of axes."""


def substituted(name: str, value: Any, sizes: dict[int, Any]) -> Any:
    """An attribute in which sizes are replaced."""
    if name != "shape":
        return value
    if isinstance(value, tuple):
        return tuple(substituted(name, item, sizes) for item in value)
    return sizes.get(value, value) if type(value) is int else value


# --- derivatives ----------------------------------------------------------------------------------


def cases(name: str, dtype: Any) -> Iterator[tuple[Sample, list[np.ndarray]]]:
    """Samples at which an op is differentiable, in an element type, as far as it takes it."""
    for sample in samples_of(name):
        values = [np.asarray(v) for v in sample.operands]
        kinds = {v.dtype.kind for v in values}
        if "c" in kinds and np.dtype(dtype).kind != "c":
            dtype = np.result_type(dtype, np.complex64)
        if np.dtype(dtype).kind == "c" and sample.structured and "c" not in kinds:
            continue
        cast = [in_dtype(v, dtype) if v.dtype.kind in "fc" else v for v in values]
        if any(is_inexact(v.dtype) for v in cast) and is_differentiable(name, sample, cast):
            yield sample, cast


def is_differentiable(name: str, sample: Sample, values: Sequence[np.ndarray]) -> bool:
    """Whether the op takes these types and gives something of floating-point type."""
    try:
        outputs = sample.apply(named(name), placeholders(values))
    except DTypeError:
        return False
    return any(is_inexact(y.dtype) for y in outputs if isinstance(y, Symbol))


def derivatives_match_differences(name: str, dtype: Any = "float64", order: int = 2) -> None:
    """First and second derivatives in both modes, with and without rewrites.

    An op that claims to have no derivative has none in the differences either.
    """
    if name in FREE_OF_DERIVATIVE:
        return vanishes(name)
    for sample, values in cases(name, dtype):
        if not sample.smooth or (not sample.narrow and np.dtype(dtype).name not in WIDE):
            continue
        f = lambda *xs, s=sample: inexact(s.differentiated(named(name), xs))  # noqa: E731
        for level in LEVELS:
            try:
                check_grads(
                    f, tuple(values), order=min(order, sample.order), level=level,
                    direction=sample.direction, tolerance=TOLERANCES.get(np.dtype(dtype).name),
                )  # fmt: skip
            except AssertionError as error:
                where = f"{name}{[v.shape for v in values]}{sample.attrs} {sample.note}"
                raise AssertionError(f"{where}, level {level}: {error}") from error


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


def inexact(outputs: Sequence[Any]) -> list[Symbol]:
    """The outputs that a derivative can come out of."""
    return [y for y in outputs if isinstance(y, Symbol) and is_inexact(y.dtype)]


def complex_derivatives_match_differences(name: str) -> None:
    """The same at complex points, where the op takes them."""
    derivatives_match_differences(name, "complex128")


def float32_derivatives_match_differences(name: str) -> None:
    """The same in single precision, loosely: the types are what matters."""
    derivatives_match_differences(name, "float32")


def float16_derivatives_match_differences(name: str) -> None:
    """First derivatives in half precision."""
    derivatives_match_differences(name, "float16", order=1)


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
    """Operands of an op for which it gives nothing, of which kind."""
    found: set[tuple[str, int, str]] = set()
    for sample in samples_of(name):
        outputs = symbols_of(sample.apply(named(name), placeholders(list(map(np.asarray, sample.operands)))))
        for symbol in reachable(outputs):
            if symbol.op.name != name:
                continue
            kinds = symbol.type.items if isinstance(symbol.type, TupleType) else (symbol.type,)
            if not any(is_inexact(k.dtype) for k in kinds):
                continue
            parts = [placeholder("ct", k.shape, k.dtype) for k in kinds]
            tupled = isinstance(symbol.type, TupleType)
            ct: Any = tuple(parts) if tupled else parts[0]
            y: Any = tuple(sg.ops.families.item(symbol, index=k) for k in range(len(kinds))) if tupled else symbol
            for i, arg in enumerate(symbol.args):
                if isinstance(arg.type, TupleType) or not is_inexact(arg.dtype):
                    continue
                result = contribution_of(symbol, i, ct, y)
                if isinstance(result, Nothing):
                    found.add((name, i, result.kind))
    return found


# --- graphs ---------------------------------------------------------------------------------------


def gradient_of_squares(outputs: Sequence[Any], xs: Sequence[Symbol]) -> list[Symbol]:
    """The gradient of the sum of squares of all that is differentiable."""
    total: Any = None
    for y in inexact(outputs):
        square = sg.real(y * sg.conj(y)) if is_complex(y.dtype) else y * y
        total = sg.sum(square) if total is None else total + sg.sum(sg.astype(square, total.dtype))
    wanted = [x for x in xs if is_inexact(x.dtype)]
    if total is None or not wanted:
        return []
    return list(sg.grad(total, wanted, materialize_grads=True, mode="reverse", level="none"))


def named_sizes(sample: Sample, op: Any) -> tuple[list[Any], dict[str, Any]] | None:
    """The shapes of the operands, and attributes, with all sizes above 1 named."""
    sizes = {
        n: Dim.named(f"n{n}")
        for v in sample.operands
        for n in np.shape(v)
        if n > 1 and n not in sample.fixed
    }
    if not sizes:
        return None
    shapes = [tuple(sizes.get(n, n) for n in np.shape(v)) for v in sample.operands]
    return shapes, {k: substituted(k, v, sizes) for k, v in sample.attrs.items()}


def named_dimensions_make_no_difference(name: str) -> None:
    """The graph with named dimensions has the types, values and gradients of the concrete one."""
    for sample in samples_of(name):
        pair = named_sizes(sample, named(name))
        if pair is None:
            continue
        shapes, attrs = pair
        values = [np.asarray(v) for v in sample.operands]
        xs, ns = placeholders(values), placeholders(values, shapes)
        plain = symbols_of(sample.apply(named(name), xs))
        general = symbols_of(sample.apply(named(name), ns, **attrs))
        plain += gradient_of_squares(plain, xs)
        general += gradient_of_squares(general, ns)
        assert len(plain) == len(general)
        expected = run(plain, dict(zip(xs, values, strict=True)))
        found = run(general, dict(zip(ns, values, strict=True)))
        for a, b in zip(found, expected, strict=True):
            close(a, b, 1e-12)
        verify(Graph(ns, general))


def front_ends_agree(name: str) -> None:
    """An eager call, the reference kernels and generated code give the same, bit for bit."""
    for sample in samples_of(name):
        values = [np.asarray(v) for v in sample.operands]
        xs = placeholders(values)
        outputs = symbols_of(sample.apply(named(name), xs))
        expected = run(outputs, dict(zip(xs, values, strict=True)))
        with np.errstate(all="ignore"):
            literal = sg.function(xs, outputs, level="none")(*values)
            rewritten = sg.function(xs, outputs)(*values)
        eager = sample.computed(named(name))
        for k, wanted in enumerate(expected):
            assert same_bits(literal[k], wanted), f"{name}: generated code differs: {literal[k]}, {wanted}"
            assert same_bits(eager[k], wanted), f"{name}: eager differs: {eager[k]}, {wanted}"
            close(rewritten[k], wanted, 1e-12)


def gradient_code_agrees(name: str) -> None:
    """Generated code of the gradient gives what the reference kernels give."""
    for sample in samples_of(name):
        values = [np.asarray(v) for v in sample.operands]
        xs = placeholders(values)
        gradient = gradient_of_squares(sample.apply(named(name), xs), xs)
        if not gradient:
            continue
        expected = run(gradient, dict(zip(xs, values, strict=True)))
        literal = sg.function(xs, gradient, level="none")(*values)
        for k, wanted in enumerate(expected):
            assert same_bits(literal[k], wanted), f"{name}: generated code differs: {literal[k]}, {wanted}"


def text_reads_back(name: str) -> None:
    """The gradient's graph prints, parses, and prints the same; it is a legal graph."""
    for sample in samples_of(name):
        values = [np.asarray(v) for v in sample.operands]
        shapes, attrs = named_sizes(sample, named(name)) or ([v.shape for v in values], {})
        xs = placeholders(values, shapes)
        outputs = symbols_of(sample.apply(named(name), xs, **attrs))
        graph = Graph(xs, [*outputs, *gradient_of_squares(outputs, xs)])
        verify(graph)
        text = print_graph(graph)
        again = parse(text, arrays_of(graph))
        assert print_graph(again) == text
        verify(again)


# --- guards ---------------------------------------------------------------------------------------

WILD = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e308, -2.0, 5e-324])


def branch_not_taken_is_silent(name: str) -> None:
    """``where(c, g(x), 0)`` has derivative 0 where c is false, whatever g's partial is there."""
    op = OPS[name]
    for sample in samples_of(name)[:1]:
        if any(v.dtype.kind != "f" for v in sample.operands):
            return
        good = [np.resize(v, 10) for v in sample.operands]
        live = np.arange(10) % 2 == 0
        values = [np.where(live, v, np.roll(WILD, k)) for k, v in enumerate(good)]
        condition = constant(live)
        for flip in (False, True):
            xs = placeholders(values)
            y = sample.apply(op, xs)[0]
            if not is_inexact(y.dtype) or is_complex(y.dtype):
                return
            chosen = sg.where(~condition, 0, y) if flip else sg.where(condition, y, 0)
            for level in LEVELS:
                total = sg.sum(chosen)
                first = sg.grad(total, xs, mode="reverse", level=level)
                weighted = sg.sum(sum(g * constant(normal_direction(np.random.default_rng(k), good[0])) for k, g in enumerate(first)))
                second = sg.grad(weighted, xs, materialize_grads=True, mode="reverse", level=level)
                found = run([*first, *second], dict(zip(xs, values, strict=True)))
                plain = unguarded(sample, op, good, level)
                for k, (g, wanted) in enumerate(zip(found, plain, strict=True)):
                    assert np.all(g[~live] == 0), (
                        f"{name}: derivative {k} of the branch not taken is {g[~live]} at {[v[~live] for v in values]}, level {level}"
                    )
                    close(g[live], wanted[live], 1e-9)


def unguarded(sample: Sample, op: Any, values: Sequence[np.ndarray], level: Any) -> list[Any]:
    """The same derivatives without a selection."""
    xs = placeholders(values)
    first = sg.grad(sg.sum(sample.apply(op, xs)[0]), xs, mode="reverse", level=level)
    weighted = sg.sum(sum(g * constant(normal_direction(np.random.default_rng(k), values[0])) for k, g in enumerate(first)))
    second = sg.grad(weighted, xs, materialize_grads=True, mode="reverse", level=level)
    return run([*first, *second], dict(zip(xs, values, strict=True)))


def guard_passes_through(name: str) -> None:
    """Where a selection behind an op leaves an element of its operand without influence, an infinite
    partial before the op meets a zero that stays zero."""
    op = named(name)
    for sample in samples_of(name):
        values = [np.asarray(v) for v in sample.operands]
        if not guarded(name) or sample.structured and name not in GUARDED_STRUCTURED or not values:
            continue
        if not sample.smooth or values[0].dtype.kind != "f":
            continue
        xs = placeholders(values)
        outputs = inexact(sample.apply(op, xs))
        if not outputs or is_complex(outputs[0].dtype):
            continue
        rng = np.random.default_rng(3)
        keep = constant(rng.uniform(size=outputs[0].shape) < 0.3)
        feeds = dict(zip(xs, values, strict=True))
        options: Any = {"materialize_grads": True, "mode": "reverse", "level": "none"}
        probe = sg.grad(sg.sum(sg.where(keep, outputs[0], 0)), xs[0], **options)
        free = sg.grad(sg.sum(outputs[0]), xs[0], **options)
        dead = np.asarray((run(probe, feeds)[0] == 0) & (run(free, feeds)[0] != 0))
        # x = cbrt(u): its slope is infinite at 0 and nowhere else.
        inner = sample.apply(op, [sg.cbrt(xs[0]), *xs[1:]])[0]
        loss = sg.sum(sg.where(keep, inner, 0))
        u = np.where(dead, 0.0, values[0] ** 3)
        base = np.where(dead, 0.0, values[0])
        (gradient,) = sg.grad(loss, xs[0], **options)
        (found,) = run([gradient], {**feeds, xs[0]: u})
        (slope,) = run(probe, {**feeds, xs[0]: base})
        still_dead = dead & (slope == 0)
        assert np.all(found[still_dead] == 0), (
            f"{name}{[v.shape for v in values]}{sample.attrs}: the derivative where nothing depends is {found[still_dead]}"
        )


GUARDED_STRUCTURED = (
    "take", "gather", "scatter_add", "scatter_set", "take_along_axis", "add_along_axis",
    "diagonal_matrix", "unslice", "pool_gather", "pool_scatter",
)  # fmt: skip


def guarded(name: str) -> bool:
    """Whether an op hands guards on."""
    return name in OPS and OPS[name].guard != "drop"


# --- all of them ----------------------------------------------------------------------------------

CHECKS: dict[str, Callable[[str], None]] = {
    check.__name__: check
    for check in (
        kernel_has_declared_type,
        kernel_takes_any_layout,
        kernel_takes_any_size,
        derivatives_match_differences,
        complex_derivatives_match_differences,
        float32_derivatives_match_differences,
        float16_derivatives_match_differences,
        modes_are_transposes,
        named_dimensions_make_no_difference,
        front_ends_agree,
        gradient_code_agrees,
        text_reads_back,
        branch_not_taken_is_silent,
        guard_passes_through,
    )
}
_UNUSED = (replace, TraceError, flat, has_dims)
