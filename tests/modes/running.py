"""One program in both modes: the literal graph with its gradient, and the eager run with both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.ir.symbol import Symbol, constructing
from symgrad.testing.gradients import normal_direction
from symgrad.types import is_inexact
from tests.modes.observing import Flow, observing
from tests.registry.variants import symbols_of

Program = Callable[..., list[Any]]
"""Takes symbols or tensors, gives a list of them."""


@dataclass
class Static:
    """A program as a graph.

    Attributes:
        inputs, seeds: placeholders.
        outputs, gradients: symbols; gradients of the inputs of floating-point type.
    """

    inputs: list[Symbol]
    seeds: list[Symbol]
    outputs: list[Symbol]
    gradients: list[Symbol]

    def values(self, feeds: Sequence[Any], **options: Any) -> list[np.ndarray]:
        """The values of outputs and gradients."""
        given = dict(zip([*self.inputs, *self.seeds], feeds, strict=True))
        with np.errstate(all="ignore"):
            return sg.evaluate([*self.outputs, *self.gradients], given, **options)

    def value(self, symbol: Symbol, feeds: Sequence[Any]) -> np.ndarray:
        """The value of one symbol of the graph."""
        given = dict(zip([*self.inputs, *self.seeds], feeds, strict=True))
        return sg.evaluate(symbol, given, level="none")


@dataclass
class Eager:
    """A program that was run.

    Attributes:
        inputs, seeds: tensors.
        outputs, gradients: tensors.
    """

    inputs: list[Any]
    seeds: list[Any]
    outputs: list[Any]
    gradients: list[Any]

    def values(self) -> list[np.ndarray]:
        """The values of outputs and gradients."""
        return [np.asarray(t) for t in (*self.outputs, *self.gradients)]


def literal(program: Program, values: Sequence[np.ndarray], *, share: bool = False) -> Static:
    """The graph that the rules describe, written down call by call."""
    return _graph(program, values, share=share, mode="reverse", level="none")


def rewritten(program: Program, values: Sequence[np.ndarray]) -> Static:
    """The graph as users get it: shared, stabilised, simplified."""
    return _graph(program, values, share=True)


def _graph(
    program: Program, values: Sequence[np.ndarray], *, share: bool, **options: Any
) -> Static:
    with constructing(share=share):
        inputs = [sg.placeholder(f"x{k}", v.shape, v.dtype) for k, v in enumerate(values)]
        outputs = symbols_of(program(*inputs))
        ys = [y for y in outputs if is_inexact(y.dtype)]
        seeds = [sg.placeholder(f"ct{k}", y.shape, y.dtype) for k, y in enumerate(ys)]
        wanted = [x for x in inputs if is_inexact(x.dtype)]
        found: Sequence[Any] = ()
        if ys and wanted:
            found = sg.grad(ys, wanted, seeds, materialize_grads=True, **options)
    return Static(inputs, seeds, outputs, list(found))


def seeds_of(outputs: Sequence[Any]) -> list[np.ndarray]:
    """A cotangent for each output of floating-point type."""
    rng = np.random.default_rng(5)
    return [normal_direction(rng, np.asarray(y)) for y in outputs if is_inexact(y.dtype)]


def leaves(values: Sequence[np.ndarray]) -> list[Any]:
    """Tensors that hold copies, and require a gradient where they can."""
    return [sg.Tensor(v, requires_grad=is_inexact(v.dtype)) for v in values]


def run(
    program: Program, values: Sequence[np.ndarray], seeds: Sequence[np.ndarray], **options: Any
) -> Eager:
    """The program and its gradient, computed at once."""
    inputs, given = leaves(values), leaves(seeds)
    with np.errstate(all="ignore"):
        outputs = program(*inputs)
    return _with_gradient(inputs, given, outputs, options)


def observed(
    program: Program, values: Sequence[np.ndarray], seeds: Sequence[np.ndarray]
) -> tuple[Eager, Flow]:
    """The same, with the backward pass recorded, under the eyes of an observer."""
    inputs, given = leaves(values), leaves(seeds)
    with observing() as flow:
        for k, x in enumerate(inputs):
            flow.input(f"x{k}", x)
        for k, seed in enumerate(given):
            flow.input(f"ct{k}", seed)
        outputs = program(*inputs)
        eager = _with_gradient(inputs, given, outputs, {"create_graph": True})
    return eager, flow


def _with_gradient(
    inputs: list[Any], seeds: list[Any], outputs: list[Any], options: dict[str, Any]
) -> Eager:
    floating = [y for y in outputs if is_inexact(y.dtype)]
    pairs = [(y, s) for y, s in zip(floating, seeds, strict=True) if y.requires_grad]
    wanted = [x for x in inputs if x.requires_grad]
    found: Sequence[Any] = ()
    if pairs:
        ys, cts = zip(*pairs, strict=True)
        found = sg.grad(ys, wanted, cts, materialize_grads=True, **options)
    elif floating and wanted:
        found = [sg.zeros_like(x.detach()) for x in wanted]
    return Eager(inputs, seeds, outputs, list(found))
