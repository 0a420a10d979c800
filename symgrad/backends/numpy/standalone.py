"""The text of a program: for running, for reading, and as a file that imports only numpy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad.backends.numpy.emit import Listing
from symgrad.backends.numpy.literals import array_text, dtype_text
from symgrad.backends.numpy.names import identifier
from symgrad.backends.numpy.sources import Sources
from symgrad.ir.graph import Graph
from symgrad.ir.symbol import Symbol
from symgrad.types import code

READABLE = 16
"""Constants of up to so many elements are written out in numbers."""

DERIVATIVES = "# derivatives"


def _indented(lines: Sequence[str], depth: int) -> list[str]:
    pad = "    " * depth
    return [f"{pad}{line}" for line in lines]


def _tuple(items: Sequence[str]) -> str:
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def executable(listing: Listing) -> tuple[str, int]:
    """The code that runs, and the line of its first statement.

    It takes the values of inputs and variables, and gives a tuple of all outputs. Who calls it
    switches warnings off.
    """
    names = [*listing.inputs, *listing.variables.values()]
    head = [f"def call({', '.join(names)}):", *_indented(listing.dimensions, 1)]
    body = [text for text, _ in listing.statements] + [f"return {_tuple(listing.results)}"]
    return "\n".join([*head, *_indented(body, 1), ""]), len(head) + 1


# --- comments ---------------------------------------------------------------------------------


def _commented(statements: Sequence[tuple[str, Symbol]]) -> list[str]:
    """The statements, with the user's lines, and a mark where the derivative half begins."""
    lines: list[str] = []
    last, in_derivatives = "", False
    for text, symbol in statements:
        if symbol.origin is not None and not in_derivatives:
            in_derivatives = True
            lines.append(DERIVATIVES)
        site = "" if symbol.site is None else str(symbol.site)
        lines.append(f"{text}  # {site}" if site and site != last else text)
        last = site
    return lines


# --- a whole file -----------------------------------------------------------------------------


def embedded(array: NDArray[Any]) -> str:
    """An expression for an array, exact in every bit."""
    if array.size <= READABLE:
        return array_text(array)
    # A large one as bytes, the lowest first on every machine.
    order = array.dtype.newbyteorder("<")
    data = array.astype(order, copy=False).tobytes().hex()
    text = f'np.frombuffer(bytes.fromhex("{data}"), "{order.str}").reshape({array.shape})'
    return f"{text}.astype({dtype_text(array.dtype)})"


def abridged(array: NDArray[Any]) -> str:
    """The same for reading: large arrays are left out."""
    if array.size <= READABLE:
        return array_text(array)
    shape = ", ".join(map(str, array.shape))
    return f"...  # {code(array.dtype)}[{shape}]: a file written by export_python holds it"


class Standalone:
    """The text of a module that defines ``call`` and needs numpy only.

    Args:
        graph: what it computes.
        listing: its statements.
        updates: for each variable that a call advances, which output is its new value.
        bare: its only output is returned as it is, not in a list.
    """

    def __init__(
        self, graph: Graph, listing: Listing, updates: Mapping[Symbol, int], *, bare: bool
    ) -> None:
        self._graph, self._listing = graph, listing
        self._updates, self._bare = updates, bare

    def text(self, *, whole: bool) -> str:
        """The module's text.

        Args:
            whole: with the values of large arrays.
        """
        array = embedded if whole else abridged
        sources = Sources(self._listing.references, self._listing.constants, strict=whole)
        variables = self._variable_names()
        parts = [["import numpy as np", *sources.imports()]]
        parts += [
            [f"{name} = {array(np.asarray(v))}"] for name, v in self._listing.constants.items()
        ]
        if variables:
            rows = [f'    "{name}": {_entry(array(s.value))}' for s, name in variables.items()]
            parts.append(["variables = {", *rows, "}"])
        parts += sources.definitions()
        parts.append(self._function(variables))
        return _joined(parts)

    def _variable_names(self) -> dict[Symbol, str]:
        """Variables that are read, and those that are only written, which have other names."""
        names = dict(self._listing.variables)
        for variable in self._updates:
            if variable not in names:
                name = wish = identifier(variable.name or "variable")
                number = 2
                while name in names.values():
                    name, number = f"{wish}_{number}", number + 1
                names[variable] = name
        return names

    def _function(self, variables: Mapping[Symbol, str]) -> list[str]:
        listing = self._listing
        lines = [f"def call({', '.join(listing.inputs)}):", *_indented(self._documentation(), 1)]
        for name, symbol in zip(listing.inputs, self._graph.inputs, strict=True):
            cast = f'astype({dtype_text(symbol.dtype)}, order="C", casting="same_kind", copy=False)'
            lines.append(f"    {name} = np.asarray({name}).{cast}")
        lines += [f'    {name} = variables["{name}"]' for name in listing.variables.values()]
        lines += _indented(listing.dimensions, 1)
        body = [*_commented(listing.statements), *self._ending(variables)]
        if listing.quiet:
            return [*lines, '    with np.errstate(all="ignore"):', *_indented(body, 2)]
        return [*lines, *_indented(body, 1)]

    def _documentation(self) -> list[str]:
        """What the function takes and gives."""
        given = zip(self._listing.inputs, self._graph.inputs, strict=True)
        takes = ", ".join(f"{name}: {symbol.type}" for name, symbol in given)
        gives = ", ".join(str(output.type) for output in self._outputs())
        text = f"Takes ({takes}). Gives {gives if self._bare else f'[{gives}]'}."
        return [f'"""{text}"""'.replace("\\", "")]

    def _outputs(self) -> list[Symbol]:
        new_values = set(self._updates.values())
        return [s for k, s in enumerate(self._graph.outputs) if k not in new_values]

    def _ending(self, variables: Mapping[Symbol, str]) -> list[str]:
        """The statements that store new values and return the outputs."""
        results, new_values = self._listing.results, set(self._updates.values())
        shown = [text for k, text in enumerate(results) if k not in new_values]
        result = shown[0] if self._bare else f"[{', '.join(shown)}]"
        if not self._updates:
            return [f"return {result}"]
        new = ", ".join(f"{variables[v]}={results[k]}" for v, k in self._updates.items())
        return [f"result = {result}", f"variables.update({new})", "return result"]


def _entry(text: str) -> str:
    """An expression as an entry of a dictionary: the comma comes before a comment."""
    value, mark, comment = text.partition("  #")
    return f"{value},{mark}{comment}"


def _joined(parts: Sequence[Sequence[str]]) -> str:
    """Blocks of lines as a module: two empty lines around functions, none between constants."""
    text, before = "", ""
    for part in parts:
        if not part:
            continue
        big = part[0].startswith(("def ", "class ", "@")) or before == "big"
        text += "\n\n" if big else ("\n" if before == "imports" else "")
        text += "\n".join(part) + "\n"
        is_big = part[0].startswith(("def ", "class ", "@"))
        before = "imports" if not before else ("big" if is_big else "small")
    return text
