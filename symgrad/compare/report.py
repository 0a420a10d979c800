"""The report of a comparison: a table, for terminals and notebooks, and plain data."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Refusal:
    """Why a function has no program of a mode.

    Attributes:
        problem: what it does that the mode cannot.
        line: where, as ``file:line``, if that is known.
        cure: what to do instead, if something can be done.
    """

    problem: str
    line: str | None
    cure: str | None

    def __str__(self) -> str:
        line = "" if self.line is None else f", at {self.line}"
        cure = "" if self.cure is None else f"; cure: {self.cure}"
        return f"refused, {self.problem}{line}{cure}"


@dataclass(frozen=True)
class Row:
    """One mode, with one backend.

    Attributes:
        mode, backend: which.
        builds: how often the graph is built: "every call" or "once".
        agrees: whether it gives what the first mode gives, within the tolerance.
        bit_equal: whether all bits are the same.
        ulps: the greatest difference, in units of the last place of the largest element.
        worst: which value differs most, if any does.
        first: the first symbol whose value no eager call gave, if some value differs.
        symbols, rewritten: how many symbols the graph has, before and after rewrites.
        building: what building the graph took, step by step, in seconds of processor time.
        seconds: processor time of one call with its derivatives: the median.
        peak: the most memory that one call held, in bytes.
        refusal: why there is nothing of all this.
        reference: whether it is what the others are held against.
    """

    mode: str
    backend: str | None
    builds: str = ""
    agrees: bool = False
    bit_equal: bool = False
    ulps: float = math.inf
    worst: str | None = None
    first: str | None = None
    symbols: int | None = None
    rewritten: int | None = None
    building: dict[str, float] = field(default_factory=dict[str, float])
    seconds: float | None = None
    peak: int | None = None
    refusal: Refusal | None = None
    reference: bool = False

    @property
    def label(self) -> str:
        """The mode, and the backend where there is one."""
        return self.mode if self.backend is None else f"{self.mode}, {self.backend}"

    @property
    def verdict(self) -> str:
        """In words, how far it agrees."""
        if self.refusal is not None:
            return "refused"
        if self.bit_equal:
            return "reference" if self.reference else "bit-equal"
        if self.ulps == math.inf:
            return "differs"
        return f"{self.ulps:.2g} ulps" if self.agrees else f"differs, {self.ulps:.2g} ulps"

    def cells(self) -> list[str]:
        """The row of the table."""
        if self.refusal is not None:
            return [self.label, "refused", *[""] * 5]
        symbols = "" if self.symbols is None else f"{self.symbols} > {self.rewritten}"
        building = sum(self.building.values()) if self.building else None
        return [
            self.label,
            self.verdict,
            symbols,
            _duration(building),
            self.builds,
            _duration(self.seconds),
            _size(self.peak),
        ]

    def remarks(self) -> list[str]:
        """What does not fit into the table."""
        if self.refusal is not None:
            return [f"{self.label}: {self.refusal}"]
        found: list[str] = []
        if self.worst is not None:
            first = f"; the first symbol that differs: {self.first}" if self.first else ""
            found.append(f"{self.label}: {self.worst}{first}")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        refusal = None
        if self.refusal is not None:
            r = self.refusal
            refusal = {"problem": r.problem, "line": r.line, "cure": r.cure}
        return {
            "mode": self.mode,
            "backend": self.backend,
            "builds": self.builds,
            "agrees": self.agrees,
            "bit_equal": self.bit_equal,
            "ulps": self.ulps if math.isfinite(self.ulps) else None,
            "worst": self.worst,
            "first": self.first,
            "symbols": self.symbols,
            "rewritten": self.rewritten,
            "building": dict(self.building),
            "seconds": self.seconds,
            "peak": self.peak,
            "refusal": refusal,
            "reference": self.reference,
        }


HEADER = ("mode", "agrees", "symbols", "build", "is built", "call", "peak")
_RIGHT = (2, 3, 5, 6)


@dataclass(frozen=True)
class Comparison:
    """What `compare` found: ``print`` it, or look into ``rows``.

    Attributes:
        function: what was compared, with the types of its arguments.
        order: up to which order derivatives were.
        rows: one per mode and backend; the first that ran is what the others are held against.
    """

    function: str
    order: int
    rows: tuple[Row, ...]

    @property
    def agrees(self) -> bool:
        """Whether every mode ran, and gave the same values and derivatives."""
        return all(row.agrees for row in self.rows)

    @property
    def title(self) -> str:
        """One line that says what was compared."""
        what = ("value", "value and gradient")[self.order] if self.order < 2 else None
        return f"{self.function}: {what or f'value and derivatives up to order {self.order}'}"

    def __str__(self) -> str:
        table = [list(HEADER), *(row.cells() for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = [self.title, ""]
        for number, cells in enumerate(table):
            padded = [
                cell.rjust(width) if k in _RIGHT else cell.ljust(width)
                for k, (cell, width) in enumerate(zip(cells, widths, strict=True))
            ]
            lines.append("  ".join(padded).rstrip())
            if number == 0:
                lines.append("  ".join("-" * width for width in widths))
        remarks = [remark for row in self.rows for remark in row.remarks()]
        return "\n".join([*lines, *([""] if remarks else []), *remarks])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in HEADER)
        body = "".join(
            f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row.cells())}</tr>"
            for row in self.rows
        )
        remarks = "".join(
            f"<p>{html.escape(remark)}</p>" for row in self.rows for remark in row.remarks()
        )
        return (
            f"<table><caption>{html.escape(self.title)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{remarks}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, which JSON can hold."""
        return {
            "function": self.function,
            "order": self.order,
            "agrees": self.agrees,
            "rows": [row.to_dict() for row in self.rows],
        }


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e6:.2g} µs"


def _size(count: int | None) -> str:
    if count is None:
        return ""
    size = float(count)
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} GiB"
