"""What of each op is written and tested, as a table: the text of ``docs/coverage.md``."""

from __future__ import annotations

import numpy as np

from symgrad.errors import SymgradError
from symgrad.ir.op import Composite, Op
from symgrad.types import code
from tests.registry.derivatives import cases, unwritten_rules
from tests.registry.kernels import admitted
from tests.registry.known import KNOWN
from tests.registry.samples import composite_names, named, op_names, samples_of
from tests.registry.variants import named_sizes

HEAD = """\
# Coverage

One row per op, then one per function that expands into ops. A test generated from the registry
stands behind each cell; this page is generated as well (`SYMGRAD_REFRESH=1 pytest
tests/registry/test_coverage.py` writes it), and a test fails when it is out of date.

- **samples**: at how many points the kernel is compared with the type rule, in all element types,
  memory layouts and broadcasts, and with axes of size 0 and 1.
- **vjp**, **jvp**: the derivative rules. *rule*: written for this op; *derived*: from its family;
  *none*: it has no derivative, confirmed by differences; *expands*: that of the ops it is made of.
- **second**: whether second derivatives are compared with differences, in all four combinations of
  modes.
- **element types**: of the first operand (of the result, if there is none).
- **named**: the graph with all sizes named has the same types, values and gradients; sizes that
  must be numbers are listed.
- **doctest**: the documentation holds an example that is run.
"""

COLUMNS = ("op", "family", "samples", "vjp", "jvp", "second", "element types", "named", "doctest")


def table() -> str:
    """The whole page."""
    lines = [HEAD, row(COLUMNS), row(["---"] * len(COLUMNS))]
    lines += [row(cells(name)) for name in sorted(op_names())]
    lines += ["", "## Functions made of ops", "", row(COLUMNS), row(["---"] * len(COLUMNS))]
    lines += [row(cells(name)) for name in sorted(composite_names())]
    return "\n".join([*lines, "", *known_defects()])


def row(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def known_defects() -> list[str]:
    """What the tests expect to fail, and why."""
    if not KNOWN:
        return []
    listed = [
        f"- {name}, {test.replace('_', ' ')}: {why}" for (test, name), why in sorted(KNOWN.items())
    ]
    return ["## Known defects", "", *listed, ""]


def cells(name: str) -> list[str]:
    """One row of the table."""
    op = named(name)
    public = f"{op.namespace}.{name}" if op.namespace else name
    return [
        f"`{public}`" if op.namespace is not None else f"`{name}` (internal)",
        op.family,
        str(len(samples_of(name))),
        *rules(name, op),
        "yes" if any(s.smooth and s.order > 1 for s, _ in cases(name, "float64")) else "—",
        element_types(name),
        sizes(name),
        "yes" if ">>>" in (op.__doc__ or "") else "**no**",
    ]


def rules(name: str, op: Op | Composite) -> tuple[str, str]:
    """How the vjp and the jvp come about."""
    differentiable = any(True for dtype in ("float64", "complex64") for _ in cases(name, dtype))
    if not isinstance(op, Op):
        return ("expands", "expands") if differentiable else ("—", "—")
    if not differentiable:
        return "—", "—"
    missing = unwritten_rules(name)
    if any(kind == "todo" for _, _, kind in missing):
        return "**todo**", "**todo**"
    operands = {i for _, i, kind in missing if kind != "todo"}
    if len(operands) == op.signature.arity:
        return "none", "none"
    vjp = (
        "rule" if op.family not in ("linear", "scalar", "elementwise", "multilinear") else "derived"
    )
    jvp = "derived" if op.jvp is None or vjp == "derived" else "rule"
    return vjp, jvp


CODES = (
    "b1",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
    "f16",
    "f32",
    "f64",
    "c64",
    "c128",
)
GROUPS = {
    "bool": ("b1",),
    "int": ("i8", "i16", "i32", "i64"),
    "uint": ("u8", "u16", "u32", "u64"),
    "float": ("f16", "f32", "f64"),
    "complex": ("c64", "c128"),
}


def element_types(name: str) -> str:
    """The element types that the op takes, whole kinds by one word."""
    try:
        taken = {code(np.dtype(dtype)) for dtype in admitted(name)}
    except (AssertionError, SymgradError, TypeError, ValueError, IndexError):
        return "**fails**"
    words: list[str] = []
    for group, members in GROUPS.items():
        present = [c for c in members if c in taken]
        words += [group] if len(present) == len(members) else present
    return "all" if taken == set(CODES) else " ".join(words)


def sizes(name: str) -> str:
    """Whether all sizes of the samples may be named."""
    fixed = {f"{n}: {why}" for s in samples_of(name) for n, why in s.fixed.items()}
    if any(named_sizes(s) for s in samples_of(name)):
        return "yes" if not fixed else f"but {', '.join(sorted(fixed))}"
    return f"no ({', '.join(sorted(fixed))})" if fixed else "—"
