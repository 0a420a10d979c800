"""The pictures of rows S10, S12 and S78."""

from __future__ import annotations

import re

import symgrad as sg
from tests.seed.formulas import cubic


def labels(text: str) -> list[list[str]]:
    """What stands in each box, line by line."""
    return [label.split("\\n") for label in re.findall(r'label="([^"]*)"', text)]


def test_s10_a_drawing_prints_the_parameters() -> None:
    image = sg.randn(1, 4, 8, 8, requires_grad=True)
    kernel = sg.randn(4, 2, 3, 3, requires_grad=True)
    drawn = labels(sg.draw(sg.conv(image, kernel, stride=2, padding=1, groups=2)).dot)
    conv = next(lines for lines in drawn if lines[0] == "conv")
    for parameter in ("stride=(2, 2)", "padding=((1, 1), (1, 1))", "dilation=(1, 1)", "groups=2"):
        assert parameter in conv
    pooled = labels(sg.draw(sg.max_pool(image, kernel=3, stride=2, padding=1)).dot)
    pool = next(lines for lines in pooled if lines[0] == "max_pool")
    for parameter in ("kernel=(3, 3)", "stride=(2, 2)", "dilation=(1, 1)", "ceil_mode=False"):
        assert parameter in pool


def test_s12_the_figure() -> None:
    a, b, q = cubic()
    text = sg.draw(q, names={"a": a, "b": b}).dot
    blue = re.findall(r'label="([^"]*)", style=filled, fillcolor="#cfe3f7"', text)
    assert blue == ["a\\n(2)", "b\\n(2)"]
    ops = [lines[0] for lines in labels(text) if lines[-1] == "f32[2]"]
    assert sorted(ops) == ["multiply", "pow", "pow", "subtract"]
    arrows = re.findall(r'"(\w+)" -> "(\w+)"', text)
    assert len(arrows) == 5
    assert len({a for a, _ in arrows} | {b for _, b in arrows}) == 6


def test_s78_both_halves_are_drawn_and_one_is_marked() -> None:
    w = sg.placeholder("w")
    x = sg.sin(w)
    y = sg.sin(x)
    z = sg.sin(y)
    (dz,) = sg.grad(z, w, mode="reverse")
    text = sg.draw(sg.Graph([w], [z, dz], primal_outputs=1)).dot
    frame = text[text.index("subgraph cluster_derivative") : text.index("  }\n")]
    derived = sorted(lines[0].split()[1] for lines in labels(frame) if lines[0].startswith("%"))
    assert derived == ["cos", "cos", "cos", "multiply", "multiply"]
    primal = [lines[0] for lines in labels(text.replace(frame, ""))]
    assert primal[-3:] == ["%1 sin", "%2 sin", "%3 sin"]
    assert 'label="derivative"' in frame
    assert frame.count('fillcolor="#fde3cf"') == 5
