"""One program in both modes: its graph with the gradient, and the eager run with its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from symgrad.eager.autograd import gradients
from symgrad.eager.tensor import Tensor, tensor_on
from symgrad.function import evaluate
from symgrad.ir.storage import Storage
from symgrad.ir.symbol import Symbol, constant, constructing, placeholder
from symgrad.testing.gradients import normal_direction
from symgrad.transform import grad
from symgrad.types import is_inexact

Array: TypeAlias = NDArray[Any]
Program: TypeAlias = Callable[..., Any]
"""Takes symbols or tensors, gives one or a nested sequence of them."""


def flat(outputs: Any) -> list[Any]:
    """The items of nested sequences."""
    if isinstance(outputs, (tuple, list)):
        return [one for item in cast("Sequence[Any]", outputs) for one in flat(item)]
    return [outputs]


@dataclass(frozen=True)
class Static:
    """A program as a graph.

    Attributes:
        inputs, seeds: placeholders: of the arguments, and of a cotangent per floating output.
        outputs, gradients: symbols; gradients of the inputs of floating-point type.
    """

    inputs: list[Symbol]
    seeds: list[Symbol]
    outputs: list[Symbol]
    gradients: list[Symbol]

    def values(self, feeds: Sequence[Any], *, level: str) -> list[Array]:
        """The values of outputs and gradients."""
        return self.values_of([*self.outputs, *self.gradients], feeds, level=level)

    def values_of(
        self, symbols: Sequence[Symbol], feeds: Sequence[Any], *, level: str = "none"
    ) -> list[Array]:
        """The values of any symbols of the graph.

        Args:
            feeds: values of the inputs, then of the seeds.
        """
        given = dict(zip([*self.inputs, *self.seeds], feeds, strict=True))
        return evaluate(list(symbols), given, level=level)


@dataclass(frozen=True)
class Eager:
    """A program that was run.

    Attributes:
        inputs, seeds, outputs, gradients: tensors, as the symbols of `Static`.
    """

    inputs: list[Any]
    seeds: list[Any]
    outputs: list[Any]
    gradients: list[Any]

    def values(self) -> list[Array]:
        """The values of outputs and gradients."""
        return [np.asarray(t) for t in (*self.outputs, *self.gradients)]


def literal(program: Program, values: Sequence[Array]) -> Static:
    """The graph that the rules describe, written down call by call: nothing is shared."""
    return _graph(program, values, share=False, mode="reverse", level="none")


def rewritten(program: Program, values: Sequence[Array]) -> Static:
    """The graph as users get it: shared, stabilised, simplified."""
    return _graph(program, values, share=True)


def _graph(program: Program, values: Sequence[Array], *, share: bool, **options: Any) -> Static:
    with constructing(share=share):
        inputs = [placeholder(f"x{k}", v.shape, v.dtype) for k, v in enumerate(values)]
        outputs = list(map(_symbol, flat(program(*inputs))))
        ys = [y for y in outputs if is_inexact(y.dtype)]
        seeds = [placeholder(f"ct{k}", y.shape, y.dtype) for k, y in enumerate(ys)]
        wanted = [x for x in inputs if is_inexact(x.dtype)]
        found: Sequence[Any] = ()
        if ys and wanted:
            found = grad(ys, wanted, seeds, materialize_grads=True, **options)
    return Static(inputs, seeds, outputs, list(found))


def _symbol(output: Any) -> Symbol:
    """An output as a symbol: what was computed at once is a constant."""
    return output if isinstance(output, Symbol) else constant(np.asarray(output))


def leaves(values: Sequence[Array]) -> list[Tensor]:
    """Tensors that hold copies, and require a gradient where they can."""
    return [Tensor(v, requires_grad=is_inexact(v.dtype)) for v in values]


def seeds_of(outputs: Sequence[Any]) -> list[Array]:
    """A cotangent of random numbers for each output of floating-point type."""
    rng = np.random.default_rng(5)
    arrays = [np.asarray(y) for y in outputs]
    return [normal_direction(rng, y) for y in arrays if is_inexact(y.dtype)]


def run(program: Program, values: Sequence[Array], seeds: Sequence[Array], **options: Any) -> Eager:
    """The program and its gradient, computed at once.

    Args:
        options: of `symgrad.grad`.
    """
    return run_on(program, leaves(values), leaves(seeds), **options)


def run_on(program: Program, inputs: list[Tensor], seeds: list[Tensor], **options: Any) -> Eager:
    """The same on tensors that are there already."""
    with np.errstate(all="ignore"):
        outputs = [_tensor(y) for y in flat(program(*inputs))]
    floating = [y for y in outputs if is_inexact(y.dtype)]
    pairs = [(y, s) for y, s in zip(floating, seeds, strict=True) if y.requires_grad]
    wanted = [x for x in inputs if x.requires_grad]
    found: Sequence[Any] = ()
    if pairs:
        ys, cts = ([*column] for column in zip(*pairs, strict=True))
        found = gradients(ys, wanted, cts, materialize_grads=True, **options)
    elif floating and wanted:
        found = [tensor_on(Storage(np.zeros(x.shape, x.dtype))) for x in wanted]
    return Eager(inputs, seeds, outputs, list(found))


def _tensor(output: Any) -> Tensor:
    return output if isinstance(output, Tensor) else Tensor(output)
