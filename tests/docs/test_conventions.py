"""The table of subgradients in docs/conventions.md, row by row, in every way to get a gradient."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from tests.docs.pages import ROOT

_ROW = re.compile(r"^\| (`.+?`) \| `(.+?)` \| `(.+?)` \| .+ \|$", re.MULTILINE)
_NAMES = {"sg": sg, "inf": math.inf, "nan": math.nan}

PAGE = (ROOT / "docs" / "conventions.md").read_text()
ROWS = [
    (expression, at, gradient)
    for expressions, at, gradient in _ROW.findall(PAGE)
    for expression in re.findall(r"`(.+?)`", expressions)
]


def test_every_row_of_the_table_is_read() -> None:
    table = PAGE.split("|---|---|---|---|\n")[1].split("\n\n")[0]
    assert len(_ROW.findall(PAGE)) == len(table.splitlines())


@pytest.mark.parametrize("level", [None, "none"])
@pytest.mark.parametrize("mode", ["reverse", "auto", "forward"])
@pytest.mark.parametrize(("expression", "at", "gradient"), ROWS)
def test_a_row(expression: str, at: str, gradient: str, mode: str, level: str | None) -> None:
    point = np.asarray(eval(at, _NAMES), dtype=float)
    x = sg.placeholder("x", point.shape)
    y = sg.sum(eval(expression, _NAMES | {"x": x}))
    found = _gradient(y, x, mode, level)
    value = sg.evaluate(found, {x: point}, level=level or "exact")
    np.testing.assert_array_equal(value, np.asarray(eval(gradient, _NAMES)))


def _gradient(y: sg.Symbol, x: sg.Symbol, mode: str, level: str | None) -> Any:
    if mode != "forward":
        return sg.grad(y, x, mode=mode, level=level)[0]
    directions = np.eye(math.prod(x.shape)).reshape(-1, *x.shape)
    slopes = [sg.jvp(y, x, direction, level=level)[0] for direction in directions]
    return sg.reshape(sg.stack(slopes), x.shape)
