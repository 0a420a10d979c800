"""Kernels against type rules. The strict interpreter of `running` does the comparing."""

from __future__ import annotations

import numpy as np

from symgrad.errors import ArgumentError, DTypeError, ShapeError
from tests.registry.graphs import gradient_of_squares
from tests.registry.running import run
from tests.registry.samples import named, samples_of
from tests.registry.variants import close, layouts, placeholders, resized, symbols_of, typed


def admitted(name: str) -> set[str]:
    """The element types that an op takes; each kernel result is checked on the way."""
    found: set[str] = set()
    for sample in samples_of(name):
        first = next((k for k, v in enumerate(sample.operands) if v.dtype.kind in "fc"), 0)
        for values in typed(name, sample):
            xs = placeholders(values)
            try:
                outputs = sample.apply(named(name), xs)
            except DTypeError:
                continue
            outputs = symbols_of(outputs)
            run(outputs, dict(zip(xs, values, strict=True)))
            found.add(values[first].dtype.name if values else outputs[0].dtype.name)
    return found


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
        for other in zip(*(layouts(v) for v in values), strict=True):
            found = run(outputs, dict(zip(xs, other, strict=True)))
            for a, b in zip(found, expected, strict=True):
                close(a, b, 1e-12)


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
