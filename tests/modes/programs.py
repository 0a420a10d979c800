"""Random programs: any of the registry's ops on matrices of one size, and on what comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

import symgrad as sg
from symgrad.errors import SymgradError
from symgrad.ir.symbol import Symbol
from symgrad.types import Dim, TensorType, is_inexact
from tests.registry.samples import Sample, composite_names, named, op_names, samples_of

ROWS, COLUMNS = 3, 4
SIZE = 60
"""Results of more elements are not used again."""


class Step:
    """An op with the attributes of one of its samples; it takes ``count`` arrays."""

    def __init__(self, name: str, sample: Sample, place: int) -> None:
        self.name, self.sample, self.place = name, sample, place
        self.count = len(sample.operands)

    def __call__(self, *operands: Any) -> list[Any]:
        return self.sample.apply(named(self.name), operands)

    def __repr__(self) -> str:
        return f"<{self.name}, sample {self.place}: {self.sample.attrs}>"


@cache
def steps() -> tuple[Step, ...]:
    """Calls that some matrices of random numbers can be given to."""
    return tuple(_steps())


def _steps() -> Iterator[Step]:
    for name in (*op_names(), *composite_names()):
        if named(name).namespace is None:
            continue  # an internal op takes for granted what its callers have checked
        found: set[str] = set()
        for place, sample in enumerate(samples_of(name)):
            kinds = [np.asarray(v).dtype for v in sample.operands]
            attrs = repr(sample.attrs)
            if not 0 < len(kinds) < 3 or sample.structured or attrs in found:
                continue
            step = Step(name, sample, place)
            if all(map(is_inexact, kinds)) and results_of(step, [_matrix()] * len(kinds)):
                found.add(attrs)
                yield step


def _matrix(dtype: str = "float64") -> Symbol:
    return sg.placeholder("m", (ROWS, COLUMNS), dtype)


def results_of(step: Step, operands: list[Any]) -> list[Any]:
    """The results, those of a known shape; none, if the op refuses."""
    try:
        with np.errstate(all="ignore"):
            results = step(*operands)
    except (SymgradError, ValueError, TypeError, IndexError):
        return []
    return [r for r in results if isinstance(r, Symbol) and _is_usable(r)]


def _is_usable(symbol: Symbol) -> bool:
    kind: Any = symbol.type
    if not isinstance(kind, TensorType) or not is_inexact(kind.dtype):
        return False
    known = not any(isinstance(size, Dim) for size in kind.shape)
    return known and 0 < int(np.prod(kind.shape)) <= SIZE


@dataclass(frozen=True)
class Recipe:
    """A program: steps, each with the places of its operands among all values so far."""

    inputs: int
    dtype: str
    steps: tuple[tuple[Step, tuple[int, ...]], ...]

    def __call__(self, *inputs: Any) -> list[Any]:
        pool, last = list(inputs), list(inputs)
        for step, places in self.steps:
            last = [r for r in step(*[pool[k] for k in places]) if is_inexact(r.dtype)]
            pool += last
        # All that nothing uses, so that no step is idle.
        used = {k for _, places in self.steps for k in places}
        return [value for k, value in enumerate(pool) if k not in used]


@st.composite
def recipes(draw: Callable[..., Any], longest: int = 6) -> Recipe:
    """Programs of a few steps on one or two matrices."""
    inputs = draw(st.integers(1, 2))
    dtype = draw(st.sampled_from(["float64", "float64", "float32", "complex128"]))
    pool: list[Any] = [_matrix(dtype) for _ in range(inputs)]
    chosen: list[tuple[Step, tuple[int, ...]]] = []
    for _ in range(draw(st.integers(1, longest))):
        step = draw(st.sampled_from(steps()))
        places = tuple(draw(st.integers(0, len(pool) - 1)) for _ in range(step.count))
        results = results_of(step, [pool[k] for k in places])
        every = [] if not results else step(*[pool[k] for k in places])
        if results and all(map(_is_usable, every)):
            chosen.append((step, places))
            pool += results
    return Recipe(inputs, dtype, tuple(chosen))
