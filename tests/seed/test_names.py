"""Rows S56 to S58, S62 and S63: functions by their names, and how tensors are printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, ShapeError
from tests.seed.formulas import holds, leaf, plain


def test_s56_a_seed_gives_the_same_draws() -> None:
    def draws(generator: Any) -> list[Any]:
        assert isinstance(generator, sg.random.Generator)
        made = [sg.randn(3), sg.rand(2), sg.randint(0, 9, (4,)), sg.zeros(2).normal_()]
        return [one.tolist() for one in made]

    first = draws(sg.manual_seed(10))
    assert draws(sg.manual_seed(10)) == first
    assert draws(sg.manual_seed(11)) != first
    generator = sg.manual_seed(10)
    assert draws(generator) == first
    assert sg.randn(3).tolist() != sg.randn(3).tolist()


def test_s56_both_modes_draw_the_same() -> None:
    sg.manual_seed(10)
    eager = sg.randn(3)
    generator = sg.random.Generator(sg.constant(sg.random.key(10)))
    assert holds(eager, generator.normal((3,)).eval())


def test_s57_functions_are_the_operators() -> None:
    w, x = leaf(1), leaf(2)
    assert holds(sg.add(w, 1), [2])
    assert holds(sg.add(w, x, alpha=3), [7])
    assert holds(w.add(x, alpha=3), [7])
    assert holds(sg.sub(w, x, alpha=3), [-5])
    assert holds(sg.pow(x, 2), [4])
    assert holds(sg.mul(w, x), (w * x).detach().numpy())
    assert holds(sg.div(w, x), [0.5])
    sg.add(w, x, alpha=3).backward()
    assert holds(x.grad, [3])
    assert sg.randn(2, 3).shape == sg.rand(2, 3).shape == sg.ones(2, 3).shape == (2, 3)
    assert sg.tensor([2, 3]).dtype == sg.int64


def test_s58_cat_and_its_gradient() -> None:
    a, b = sg.ones(2, 3, requires_grad=True), sg.ones(2, 2, requires_grad=True)
    joined = sg.cat([a, b], dim=1)
    assert joined.shape == (2, 5)
    joined.backward(sg.arange(10.0).reshape(2, 5))
    assert holds(a.grad, [[0, 1, 2], [5, 6, 7]])
    assert holds(b.grad, [[3, 4], [8, 9]])
    assert sg.cat([a, b], -1).shape == (2, 5)
    assert sg.cat((a, a)).shape == (4, 3)
    whole = sg.ones(1, dtype=sg.int64)
    assert sg.is_floating_point(sg.cat([whole, sg.ones(1)]))
    assert holds(sg.cat([sg.tensor([]), a]), np.ones((2, 3)))


@pytest.mark.parametrize(
    ("arrays", "options", "error", "kind", "text"),
    [
        ([(2, 3), (2, 2)], {}, ShapeError, ValueError, "sizes of axis 1 differ: expected 3, got 2"),
        ([(2, 3), (3,)], {}, ShapeError, ValueError, "another rank"),
        ([(), ()], {}, ShapeError, ValueError, "0-d arrays have no axis"),
        ([], {}, ArgumentError, ValueError, "nothing to join"),
        ([(2, 3), (2, 3)], {"dim": 2}, ShapeError, IndexError, "axis out of range"),
    ],
)
def test_s58_refusals(
    arrays: list[tuple[int, ...]],
    options: dict[str, int],
    error: type[Exception],
    kind: type[Exception],
    text: str,
) -> None:
    with pytest.raises(error, match=text) as caught:
        sg.cat([sg.ones(shape) for shape in arrays], **options)
    assert isinstance(caught.value, kind)


def test_s62_printing_says_what_is_recorded() -> None:
    six = leaf(6)
    assert repr(six * 1) == "Tensor([6.], dtype=float32, grad_fn=<multiply>)"
    assert repr(six) == "Tensor([6.], dtype=float32, requires_grad=True)"
    assert repr(plain(6)) == "Tensor([6.], dtype=float32)"


def test_s63_the_two_kinds_are_told_apart_in_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "modes.md").read_text()
    rows = re.findall(r"^\| \*\*(.+?)\*\* \| (.+?) \|", page, re.MULTILINE)
    kinds = dict(rows)
    assert "Torch" in kinds["symbol to value"]
    assert "Caffe" in kinds["symbol to value"]
    assert "Theano" in kinds["symbol to symbol"]
    assert "TensorFlow" in kinds["symbol to symbol"]
