"""Graphviz's language: a drawing as text, and the colours and shapes that all drawings share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_HEAD = """\
digraph symgrad {
  rankdir=TB
  node [shape=box, style="filled,rounded", color="#5f6b7a", fillcolor="#ffffff"]
  node [fontname="Helvetica", fontsize=11]
  edge [color="#5f6b7a", fontname="Helvetica", fontsize=9, arrowsize=0.7]
"""
_LONGEST = 40

PLACEHOLDER = 'shape=ellipse, style=filled, fillcolor="#cfe3f7"'
VARIABLE = 'shape=cylinder, style=filled, fillcolor="#d5edc8"'
CONSTANT = 'shape=note, style=filled, fillcolor="#f0f0f0"'
CUT = 'shape=ellipse, style="filled,dashed", fillcolor="#cfe3f7"'
DERIVED = 'fillcolor="#fde3cf"'
LEAF = 'style=filled, fillcolor="#cfe3f7"'
DOUBLE = "peripheries=2"
"""For what comes out."""


class Drawing:
    """Nodes and arrows, in the order in which they are added."""

    def __init__(self) -> None:
        self._nodes: list[str] = []
        self._framed: list[str] = []
        self._arrows: list[str] = []

    def node(self, name: str, lines: Iterable[str], *styles: str, framed: bool = False) -> None:
        """Add a node.

        Args:
            name: by which arrows find it.
            lines: what it says.
            styles: further attributes, such as `LEAF`.
            framed: whether it stands in the frame of derivatives.
        """
        label = "\\n".join([_escaped(line) for line in lines])
        listed = ", ".join([f'label="{label}"', *filter(None, styles)])
        (self._framed if framed else self._nodes).append(f'  "{name}" [{listed}]\n')

    def arrow(self, start: str, end: str, head: str = "", tail: str = "") -> None:
        """Add an arrow, with a number at its head and one at its tail."""
        labels = [f"{end}label={n}" for end, n in (("head", head), ("tail", tail)) if n]
        shown = f" [{', '.join(labels)}]" if labels else ""
        self._arrows.append(f'  "{start}" -> "{end}"{shown}\n')

    def text(self) -> str:
        """The drawing as text for ``dot -Tsvg``."""
        lines = [_HEAD, *self._nodes]
        if self._framed:
            lines.append(_FRAME)
            lines += [f"  {line}" for line in self._framed] + ["  }\n"]
        return "".join([*lines, *self._arrows, "}\n"])


_FRAME = """\
  subgraph cluster_derivative {
    label="derivative"
    labeljust=l
    fontname="Helvetica"
    style="dashed,rounded"
    color="#c05a00"
"""


def _escaped(text: str) -> str:
    shown = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    # Graphviz reads &…; as in HTML.
    return shown.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")


def places(count: int, commutative: bool) -> Sequence[str]:
    """What stands at the heads of the arrows into a node: the operand's place, where it matters."""
    numbered = count > 1 and not commutative
    return [str(place) if numbered else "" for place in range(count)]
