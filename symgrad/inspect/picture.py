"""A picture in Graphviz's language, which Graphviz makes visible where it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from symgrad.errors import ArgumentError, ExtraMissing

TEXTS = (".dot", ".gv")
FORMATS = (".svg", ".png", ".pdf")


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a graph.

    Attributes:
        dot: it as text in Graphviz's language.
    """

    dot: str

    def svg(self) -> str:
        """It as an SVG document.

        Raises:
            ExtraMissing: Graphviz is not installed.
        """
        return self._rendered("svg").decode()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file.

        Args:
            path: ends in .dot or .gv for the text, or in .svg, .png or .pdf for what Graphviz makes
                of it.

        Raises:
            ArgumentError: another ending. ExtraMissing: Graphviz is not installed.
        """
        path = Path(path)
        ending = path.suffix.lower()
        if ending in TEXTS:
            path.write_text(self.dot, encoding="utf-8")
        elif ending in FORMATS:
            path.write_bytes(self._rendered(ending[1:]))
        else:
            known = ", ".join([*TEXTS, *FORMATS])
            raise ArgumentError("save", "no such format", expected=known, got=repr(path.name))

    def _rendered(self, form: str) -> bytes:
        program = shutil.which("dot")
        if program is None:
            raise ExtraMissing(
                "draw",
                "Graphviz is not installed",
                hint='install its program "dot" (apt install graphviz); or take the text: .dot',
            )
        command = [program, f"-T{form}"]
        return subprocess.run(
            command, input=self.dot.encode(), capture_output=True, check=True
        ).stdout

    def _repr_svg_(self) -> str | None:
        # A notebook shows the text where there is no Graphviz.
        return self.svg() if shutil.which("dot") else None

    def __str__(self) -> str:
        return self.dot

    def __repr__(self) -> str:
        return f"<picture, {self.dot.count(' [label=')} nodes>"
