"""A tiny interpreter for graphs, and the values that rules are tried on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symgrad.ir.symbol import CONSTANT, VARIABLE, Symbol
from symgrad.ir.walk import reachable


def run(outputs: Sequence[Symbol], feeds: Mapping[Symbol, Any]) -> list[Any]:
    """The values of ``outputs`` by the reference kernels, one symbol after the other."""
    values: dict[Symbol, Any] = {s: np.asarray(v) for s, v in feeds.items()}
    with np.errstate(all="ignore"):
        for symbol in reachable(outputs, stop=values):
            if symbol in values:
                continue
            if symbol.op in (CONSTANT, VARIABLE):
                values[symbol] = symbol.value
            else:
                result = symbol.op.run([values[a] for a in symbol.args], symbol.attrs)
                values[symbol] = np.asarray(result)
    return [values[output] for output in outputs]


def same_bits(a: Any, b: Any) -> bool:
    """Equal element types, shapes and elements; NaNs are equal, zeros of unlike sign are not."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind == "c":
        return same_bits(a.real, b.real) and same_bits(a.imag, b.imag)
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    alike = (a == b) & (np.signbit(a) == np.signbit(b))
    return bool(np.all(alike | (np.isnan(a) & np.isnan(b))))


def specials(dtype: Any) -> list[Any]:
    """Values at which identities fail."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return [False, True]
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return sorted({info.min, info.max, info.min + 1, info.max - 1, 0, 1, 2, 3, 7, 100})
    info = np.finfo(dtype)
    some = [0.0, 1.0, 0.5, 2.0, 3.0, 1e-3, 0.1, 17.25, 700.0, np.inf]
    extreme = [info.max, info.smallest_normal, info.smallest_subnormal, 1 - info.epsneg, info.eps]
    with np.errstate(all="ignore"):
        floats = [dtype.type(v) for v in some + extreme]
    return floats + [-v for v in floats] + [dtype.type(np.nan)]


def samples(dtype: Any, count: int, shape: tuple[int, ...] = (240,), seed: int = 0) -> list[Any]:
    """Arrays of special and of random values, for ``count`` variables."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    table = np.array(specials(dtype), dtype)
    arrays: list[Any] = []
    for _ in range(count):
        picked = random.choice(table, shape)
        if dtype.kind == "f":
            with np.errstate(all="ignore"):
                spread = random.normal(size=shape) * 10.0 ** random.uniform(-6, 6, shape)
                picked = np.where(random.random(shape) < 0.5, picked, spread.astype(dtype))
        arrays.append(picked.astype(dtype))
    return arrays
