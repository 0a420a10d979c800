"""The numpy backend: one straight-line Python function over numpy, which runs without symgrad."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from symgrad.backends.base import Backend
from symgrad.backends.numpy.emit import Listing
from symgrad.backends.numpy.standalone import Standalone, executable
from symgrad.ir.graph import Graph
from symgrad.ir.quiet import quietly
from symgrad.ir.symbol import Symbol

_numbers = itertools.count()


class NumpyProgram:
    """A graph as generated Python code.

    Attributes:
        variables: the variables whose values ``run`` takes after those of the inputs.
        call: the generated function; who calls it switches warnings off.
        run: the same without warnings.
    """

    __slots__ = ("_bare", "_file", "_first_line", "_graph", "_updates", "call", "run", "variables")

    def __init__(
        self, graph: Graph, updates: Mapping[Symbol, int], *, bare: bool, fresh: bool = True
    ) -> None:
        self._graph, self._updates, self._bare = graph, updates, bare
        listing = Listing(graph, fresh=fresh)
        text, self._first_line = executable(listing)
        self._file = f"<symgrad call {next(_numbers)}>"
        namespace: dict[str, Any] = {"np": np, **listing.constants, **listing.references}
        exec(compile(text, self._file, "exec"), namespace)
        self.variables: Sequence[Symbol] = tuple(listing.variables)
        # Out of its own globals: so the program dies with its last user, without a cycle.
        self.call: Callable[..., tuple[Any, ...]] = namespace.pop("call")
        self.run = partial(quietly, self.call) if listing.quiet else self.call

    @property
    def source(self) -> str:
        """The code as a module, without the values of large arrays."""
        return self._standalone().text(whole=False)

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the code as a module that imports only numpy.

        Its function ``call`` takes the inputs and gives what the compiled function gives. The
        present values of variables are in its dictionary ``variables``, which a call with updates
        changes.
        """
        Path(path).write_text(self._standalone().text(whole=True), encoding="utf-8")

    def symbol_at(self, traceback: TracebackType | None) -> Symbol | None:
        """The symbol that was being computed when an error was raised, if the code raised it."""
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == self._file:
                position = traceback.tb_lineno - self._first_line
                statements = Listing(self._graph).statements
                return statements[position][1] if 0 <= position < len(statements) else None
            traceback = traceback.tb_next
        return None

    def _standalone(self) -> Standalone:
        # Written anew: most programs are never shown, and the text of a deep graph is large.
        return Standalone(self._graph, Listing(self._graph), self._updates, bare=self._bare)


class NumpyBackend:
    """Compiles graphs to Python code over numpy."""

    name = "numpy"

    def compile(
        self, graph: Graph, updates: Mapping[Symbol, int] | None = None, *, bare: bool = False
    ) -> NumpyProgram:
        """Compile ``graph``; see `symgrad.backends.base.Backend`."""
        return NumpyProgram(graph, dict(updates or {}), bare=bare)


BACKEND: Backend = NumpyBackend()
