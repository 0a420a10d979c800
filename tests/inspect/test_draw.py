"""Pictures: what they show, of a tensor's record and of a graph; and how they are saved."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, ExtraMissing
from symgrad.inspect import Picture, draw


def leaf(*values: Any) -> sg.Tensor:
    return sg.Tensor(values, requires_grad=True)


def nodes(picture: Picture) -> dict[str, str]:
    """The text in each box."""
    return dict(re.findall(r'"(\w+|%\d+)" \[label="((?:[^"\\]|\\.)*)"', picture.dot))


def arrows(picture: Picture) -> list[tuple[str, str]]:
    """Which box leads to which, by what stands first in them."""
    names = {name: text.split("\\n")[0] for name, text in nodes(picture).items()}
    found = re.findall(r'"(\S+)" -> "(\S+)"', picture.dot)
    return sorted((names[a], names[b]) for a, b in found)


# --- records --------------------------------------------------------------------------------------


def test_a_record():
    a, b = leaf(2.0, 3.0), leaf(6.0, 4.0)
    picture = draw(3 * a**3 - b**2, names={"a": a, "b": b})
    assert nodes(picture) == {
        "leaf0": r"a\n(2)",
        "leaf1": r"b\n(2)",
        "op2": r"pow\nf64[2]",
        "op3": r"multiply\nf64[2]",
        "op4": r"pow\nf64[2]",
        "op5": r"subtract\nf64[2]",
    }
    assert arrows(picture) == [
        ("a", "pow"), ("b", "pow"), ("multiply", "subtract"), ("pow", "multiply"),
        ("pow", "subtract"),
    ]  # fmt: skip
    assert picture.dot.count('fillcolor="#cfe3f7"') == 2  # the leaves are blue
    assert '"op3" -> "op5" [headlabel=0]' in picture.dot
    assert '"op4" -> "op5" [headlabel=1]' in picture.dot
    assert re.findall(r'"(\w+)" \[.*peripheries=2\]', picture.dot) == ["op5"]


def test_each_node_is_drawn_once():
    x = leaf(1.0)
    y = sg.sin(x)
    picture = draw([y * y, y + x])
    assert sorted(t.split("\\n")[0] for t in nodes(picture).values()) == [
        "(1)", "add", "multiply", "sin",
    ]  # fmt: skip
    assert arrows(picture).count(("sin", "multiply")) == 2


def test_attributes_are_shown():
    image = sg.Tensor(np.zeros((1, 4, 8, 8)), requires_grad=True)
    kernel = sg.Tensor(np.zeros((4, 2, 3, 3)), requires_grad=True)
    picture = draw(sg.conv(image, kernel, stride=2, padding=1, groups=2))
    text = nodes(picture)["op2"]
    assert text.split("\\n") == [
        "conv",
        "stride=(2, 2)",
        "padding=((1, 1), (1, 1))",
        "dilation=(1, 1)",
        "groups=2",
        "f64[1, 4, 4, 4]",
    ]
    assert "axis=1" in nodes(draw(sg.concat([image, image], axis=1)))["op1"]


def test_outputs_of_a_pack_are_told_apart():
    values, vectors = sg.linalg.eigh(sg.Tensor(np.eye(3), requires_grad=True))
    picture = draw(sg.matmul(vectors, values))
    (pack,) = (name for name, text in nodes(picture).items() if text.startswith("eigh_pack"))
    assert f'"{pack}" -> "op2" [headlabel=0, taillabel=1]' in picture.dot
    assert f'"{pack}" -> "op2" [headlabel=1, taillabel=0]' in picture.dot


def test_leaves_and_plain_tensors_alone():
    assert nodes(draw(leaf(1.0, 2.0))) == {"leaf0": "(2)"}
    assert nodes(draw(sg.ones((2, 3)))) == {"plain0": "(2, 3)"}
    assert nodes(draw(sg.Tensor(1.0, requires_grad=True))) == {"leaf0": "()"}


def test_labels_are_escaped():
    x = leaf(1.0)
    picture = draw(x * 2.0, names={'a"b\\ & <c>': x})
    assert nodes(picture)["leaf0"] == r"a\"b\\ &amp; <c>\n(1)"
    if shutil.which("dot"):
        assert "a&quot;b\\ &amp; &lt;c&gt;" in picture.svg()


def test_deep_records_need_no_recursion():
    y: Any = leaf(1.0)
    for _ in range(20_000):
        y = y + 1.0
    picture = draw(y)
    assert picture.dot.count(" -> ") == 20_000
    assert repr(picture) == "<picture, 20001 nodes>"


def test_the_same_record_gives_the_same_text():
    def text() -> str:
        x, y = leaf(1.0), leaf(2.0)
        return draw(sg.sin(x * y) + sg.exp(y) * x).dot

    assert text() == text()


# --- graphs ---------------------------------------------------------------------------------------


def test_a_symbol_and_its_derivative():
    w = sg.placeholder("w")
    z = sg.exp(sg.exp(sg.exp(w)))
    (dz,) = sg.grad(z, w, mode="reverse")
    picture = draw([z, dz])
    text = picture.dot
    frame = text[text.index("subgraph cluster_derivative") : text.index("  }\n")]
    assert re.findall(r"%\d+ (\w+)", frame) == ["multiply", "multiply"]
    assert re.findall(r"%\d+ (\w+)", text.replace(frame, "")) == ["exp", "exp", "exp"]
    assert draw(z).dot == sg.Graph([w], [z]).to_dot()
    assert "cluster" not in draw(z).dot


def test_a_graph():
    x = sg.placeholder("x")
    graph = sg.Graph([x], [sg.sin(x)]).differentiate(x)
    assert draw(graph).dot == graph.to_dot()


def test_what_cannot_be_drawn():
    x = sg.placeholder("x")
    for thing in (None, [], 1.0, [x, sg.ones(2)], "x", sg.sin):
        with pytest.raises(ArgumentError, match="draw: nothing that can be drawn: expected a ten"):
            draw(thing)


# --- files ----------------------------------------------------------------------------------------


def test_text_is_saved_without_graphviz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    picture = draw(leaf(1.0) * 2.0)
    for name in ("a.dot", "a.gv", "a.DOT"):
        picture.save(tmp_path / name)
        assert (tmp_path / name).read_text() == str(picture) == picture.dot
    with pytest.raises(ExtraMissing, match=r"draw: Graphviz is not installed; hint: .*\.dot$"):
        picture.svg()
    with pytest.raises(ImportError):
        picture.save(tmp_path / "a.png")
    assert picture._repr_svg_() is None
    assert not (tmp_path / "a.png").exists()


def test_other_endings_are_refused(tmp_path: Path):
    with pytest.raises(ArgumentError, match=r"no such format: expected \.dot, .*, got 'a\.txt'"):
        draw(leaf(1.0)).save(tmp_path / "a.txt")


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_draws_it(tmp_path: Path):
    a = leaf(2.0, 3.0)
    picture = draw(sg.sum(a * a), names={"a": a})
    svg = picture.svg()
    assert svg.startswith("<?xml")
    assert svg.count('class="node"') == 3
    assert svg.count('class="edge"') == 3
    assert picture._repr_svg_() == svg
    for ending, start in ((".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
        picture.save(str(tmp_path / f"a{ending}"))
        assert (tmp_path / f"a{ending}").read_bytes().startswith(start)


def test_the_package_has_it():
    assert sg.draw is draw
    assert "draw" in dir(sg)
