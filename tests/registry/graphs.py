"""One graph, read in several ways: with named sizes, eagerly, as generated code, as text."""

from __future__ import annotations

import io
import re
import runpy
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.ir.graph import Graph
from symgrad.ir.symbol import Symbol
from symgrad.ir.text import arrays_of, parse, print_graph
from symgrad.ir.verify import verify
from symgrad.types import is_complex, is_inexact
from tests.registry.running import run, same_bits
from tests.registry.samples import named, samples_of
from tests.registry.variants import close, inexact, named_sizes, placeholders, symbols_of


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


def pushed(outputs: Sequence[Any], xs: Sequence[Symbol]) -> Sequence[Symbol]:
    """The tangents of all that is differentiable, along the operands themselves."""
    ys, wanted = inexact(outputs), [x for x in xs if is_inexact(x.dtype)]
    return sg.jvp(ys, wanted, wanted, level="none") if ys and wanted else []


def named_dimensions_make_no_difference(name: str) -> None:
    """The graph with named dimensions has the types, values and gradients of the concrete one."""
    for sample in samples_of(name):
        pair = named_sizes(sample)
        if pair is None:
            continue
        shapes, attrs = pair
        values = [np.asarray(v) for v in sample.operands]
        xs, ns = placeholders(values), placeholders(values, shapes)
        plain = symbols_of(sample.apply(named(name), xs))
        general = symbols_of(sample.apply(named(name), ns, **attrs))
        plain += [*gradient_of_squares(plain, xs), *pushed(plain, xs)]
        general += [*gradient_of_squares(general, ns), *pushed(general, ns)]
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
            assert same_bits(literal[k], wanted), (
                f"{name}: generated code differs: {literal[k]}, {wanted}"
            )
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
        with np.errstate(all="ignore"):
            literal = sg.function(xs, gradient, level="none")(*values)
            rewritten = sg.function(xs, gradient)(*values)
        for k, wanted in enumerate(expected):
            assert same_bits(literal[k], wanted), (
                f"{name}: generated code differs: {literal[k]}, {wanted}"
            )
            close(rewritten[k], wanted, 1e-11)


def exported_code_agrees(name: str) -> None:
    """The exported file, which knows nothing but numpy, gives the same for op and gradient."""
    for sample in samples_of(name):
        values = [np.asarray(v) for v in sample.operands]
        shapes, attrs = named_sizes(sample) or ([v.shape for v in values], {})
        xs = placeholders(values, shapes)
        outputs = symbols_of(sample.apply(named(name), xs, **attrs))
        outputs += gradient_of_squares(outputs, xs)
        compiled = sg.function(xs, outputs, level="none")
        with TemporaryDirectory() as directory, np.errstate(all="ignore"):
            path = Path(directory) / "exported.py"
            compiled.export_python(path)
            scope = runpy.run_path(str(path))
            for a, b in zip(scope["call"](*values), compiled(*values), strict=True):
                assert same_bits(a, b), f"{name}: exported code differs: {a}, {b}"


def saved_graph_loads(name: str) -> None:
    """The gradient's graph written to a file and read again prints the same."""
    for sample in samples_of(name):
        values = [np.asarray(v) for v in sample.operands]
        shapes, attrs = named_sizes(sample) or ([v.shape for v in values], {})
        xs = placeholders(values, shapes)
        outputs = symbols_of(sample.apply(named(name), xs, **attrs))
        graph = Graph(xs, [*outputs, *gradient_of_squares(outputs, xs)])
        file = io.BytesIO()
        sg.save(file, graph)
        file.seek(0)
        assert _in_order(print_graph(sg.load(file))) == _in_order(print_graph(graph))


def _in_order(text: str) -> str:
    """The text with made-up names of sizes counted from 0: a file does not keep their numbers."""
    order: dict[str, str] = {}
    return re.sub(r"\b_\d+\b", lambda m: order.setdefault(m[0], f"_{len(order)}"), text)


def text_reads_back(name: str) -> None:
    """The gradient's graph prints, parses, and prints the same; it is a legal graph."""
    for sample in samples_of(name):
        values = [np.asarray(v) for v in sample.operands]
        shapes, attrs = named_sizes(sample) or ([v.shape for v in values], {})
        xs = placeholders(values, shapes)
        outputs = symbols_of(sample.apply(named(name), xs, **attrs))
        graph = Graph(xs, [*outputs, *gradient_of_squares(outputs, xs)])
        verify(graph)
        text = print_graph(graph)
        again = parse(text, arrays_of(graph))
        assert print_graph(again) == text
        verify(again)
