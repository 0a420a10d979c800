"""What a backend is: it compiles a graph to a program, and a program runs and shows itself."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from symgrad.ir.graph import Graph
from symgrad.ir.symbol import Symbol


class Program(Protocol):
    """A compiled graph. It is immutable: any number of threads may run it at once.

    Attributes:
        variables: the variables whose values it reads, in the order in which ``run`` takes them.
        source: the code, for reading; standalone where the backend can.
    """

    @property
    def variables(self) -> Sequence[Symbol]: ...

    @property
    def source(self) -> str: ...

    def run(self, *arrays: Any) -> tuple[Any, ...]:
        """The outputs, as fresh arrays that alias nothing.

        Args:
            arrays: values of the graph's inputs, then of ``variables``: numpy arrays of exactly the
                declared types, stored in row-major order of their axes, which it does not change.
        """
        ...

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write a program that runs without symgrad."""
        ...


class Backend(Protocol):
    """What turns graphs into programs."""

    @property
    def name(self) -> str: ...

    def compile(
        self, graph: Graph, updates: Mapping[Symbol, int] | None = None, *, bare: bool = False
    ) -> Program:
        """Compile ``graph``.

        Args:
            graph: what to run.
            updates: for each variable that a call advances, which output is its new value. The
                program only computes it; a standalone export also stores it.
            bare: a standalone export returns its only output as it is, not in a list.
        """
        ...
