"""The operands of a sample in other element types, memory layouts and sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from symgrad.ir.symbol import Symbol, constant, placeholder
from symgrad.types import DTYPES, Dim, is_inexact
from tests.registry.samples import BROADCASTS, INDEXED, Sample, is_elementwise


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
    rigid = sample.structured and name not in INDEXED
    for dtype in DTYPES.values():
        if rigid and not is_inexact(dtype):
            continue
        cast = [in_dtype(v, dtype) if k in floats else v for k, v in enumerate(values)]
        yield cast
        if len(floats) > 1:
            for other in ("float32", "complex64") if rigid else ("float32", "int16", "complex64"):
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
    yield value if value.ndim else value[()]


def symbols_of(outputs: Sequence[Any]) -> list[Symbol]:
    """Outputs as symbols: what was computed at once becomes a constant."""
    return [y if isinstance(y, Symbol) else constant(np.asarray(y)) for y in outputs]


def inexact(outputs: Sequence[Any]) -> list[Symbol]:
    """The outputs that a derivative can come out of."""
    return [y for y in outputs if isinstance(y, Symbol) and is_inexact(y.dtype)]


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


def substituted(name: str, value: Any, sizes: dict[int, Any]) -> Any:
    """An attribute in which sizes are replaced."""
    if name != "shape":
        return value
    if isinstance(value, tuple):
        return tuple(substituted(name, item, sizes) for item in value)
    return sizes.get(value, value) if type(value) is int else value


def named_sizes(sample: Sample) -> tuple[list[Any], dict[str, Any]] | None:
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
