"""From a graph as given to a graph that runs well: the passes of each level, in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from symgrad.errors import ArgumentError
from symgrad.ir.graph import Graph
from symgrad.rewrite import rewrite

Pass: TypeAlias = Callable[[Graph], Graph]


def exact_rewrites(graph: Graph) -> Graph:
    """Simplify and stabilise: equal bit for bit, or closer to the real numbers."""
    return _rewritten(graph, "exact")


def fast_rewrites(graph: Graph) -> Graph:
    """The same, and identities of the real numbers that round differently."""
    return _rewritten(graph, "fast")


def _rewritten(graph: Graph, level: str) -> Graph:
    outputs = rewrite(graph.outputs, level, keep=graph.inputs)
    return Graph(graph.inputs, outputs, primal_outputs=graph.primal_outputs)


PASSES: dict[str, tuple[Pass, ...]] = {
    "none": (),
    "exact": (exact_rewrites,),
    "fast": (fast_rewrites,),
}


def optimize(graph: Graph, level: str) -> Graph:
    """The graph after all passes of a level."""
    if level not in PASSES:
        raise ArgumentError(
            "function", "no such level", expected=", ".join(PASSES), got=repr(level)
        )
    for one in PASSES[level]:
        graph = one(graph)
    return graph
