"""docs/differences.md: a test for every row, of the same name."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "differences.md").read_text()
ROWS = re.findall(r"^\| `([^|]+?)` \|(?:[^|]*\|){3}$", PAGE, re.MULTILINE)
TESTS: dict[str, Callable[[], None]] = {}


def row(name: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Enter the test of a row."""

    def enter(test: Callable[[], None]) -> Callable[[], None]:
        assert name not in TESTS
        TESTS[name] = test
        return test

    return enter


def test_the_table_and_the_tests_have_the_same_rows() -> None:
    assert sorted(ROWS) == sorted(TESTS)
    tables = [part.split("\n\n")[0] for part in PAGE.split("|---|---|---|---|\n")[1:]]
    assert len(ROWS) == sum(len(table.splitlines()) for table in tables)


@pytest.mark.parametrize("name", ROWS)
def test_row(name: str) -> None:
    TESTS[name]()


def test_what_the_last_column_names_is_there() -> None:
    named = [line.split("|")[4] for line in PAGE.splitlines() if line.startswith("| `")]
    for owner, name in re.findall(r"\b(sg|sg\.linalg|x)\.(\w+)", " ".join(named)):
        assert hasattr({"sg": sg, "x": X}.get(owner, sg.linalg), name)


def gradient(f: Callable[[Any], Any], *values: float) -> list[float]:
    x = sg.tensor(list(map(float, values)), requires_grad=True)
    f(x).sum().backward()
    assert x.grad is not None
    return x.grad.tolist()


X = sg.tensor([3.0, 1.0, 2.0, 4.0])
MATRIX = sg.arange(10.0).reshape(5, 2)
I = sg.tensor([1, 0])  # noqa: E741


@row("default dtype")
def _() -> None:
    assert sg.tensor(1.0).dtype == sg.ones(1).dtype == sg.randn(1).dtype == sg.float64


@row("promotion")
def _() -> None:
    whole, half = sg.ones(1, dtype=sg.int64), sg.ones(1, dtype=sg.float32)
    assert (whole + half).dtype == sg.float64
    assert (whole.float() + half).dtype == sg.float32


@row("size")
def _() -> None:
    assert MATRIX.size == 10
    assert MATRIX.shape == (5, 2)


@row("type")
def _() -> None:
    assert str(X.type) == "f64[4]"
    assert X.to(sg.float32).dtype == sg.float32


@row("std")
def _() -> None:
    assert X.var().item() == 1.25
    assert X.var(unbiased=True).item() == X.var(correction=1).item() == 5 / 3
    assert X.std().item() ** 2 == pytest.approx(1.25)
    assert X.std(unbiased=False).item() == X.std().item()


@row("max")
def _() -> None:
    assert X.max(dim=0).item() == 4.0
    values, indices = sg.max_with_indices(X, dim=0)
    assert (values.item(), indices.item()) == (4.0, 3)


@row("max ties")
def _() -> None:
    assert gradient(lambda x: x.max(0), 1, 1) == [0.5, 0.5]
    assert gradient(lambda x: sg.max_with_indices(x, axis=0).values, 1, 1) == [1, 0]


@row("maximum of two")
def _() -> None:
    with pytest.raises(sg.ArgumentError, match="max: too many arguments"):
        X.max(X)
    assert sg.maximum(X, X).tolist() == X.tolist()


@row("median")
def _() -> None:
    assert X.median().item() == 2.5


@row("sort")
def _() -> None:
    assert sg.sort(X).tolist() == [1, 2, 3, 4]
    assert sg.argsort(X).tolist() == [1, 2, 0, 3]


@row("repeat")
def _() -> None:
    assert sg.repeat(I, 2).tolist() == sg.repeat_interleave(I, 2).tolist() == [1, 1, 0, 0]
    assert I.tile(2).tolist() == [1, 0, 1, 0]
    assert I.tile(2, 1).shape == (2, 2)


@row("split")
def _() -> None:
    assert [part.shape for part in sg.split(X, 4)] == [(1,)] * 4
    assert [part.shape for part in MATRIX.split_with_sizes([2, 3])] == [(2, 2), (3, 2)]
    assert [part.shape for part in X.chunk(2)] == [(2,), (2,)]


@row("squeeze")
def _() -> None:
    with pytest.raises(sg.ShapeError, match="axis 0 cannot go"):
        X.squeeze(0)
    assert sg.ones(1, 3, 1).squeeze().shape == (3,)


@row("transpose")
def _() -> None:
    x = sg.ones(2, 3, 4)
    assert x.transpose().shape == (4, 3, 2)
    assert x.transpose(0, 1).shape == sg.transpose(x, 0, 1).shape == (3, 2, 4)
    assert sg.transpose(x, dim0=0, dim1=2).shape == (4, 3, 2)
    assert x.transpose(2, 0, 1).shape == sg.transpose(x, (2, 0, 1)).shape == (4, 2, 3)
    assert MATRIX.transpose(0, 1).shape == (2, 5)


@row("equal")
def _() -> None:
    assert sg.equal(I, sg.tensor([1, 1])).tolist() == [True, False]


@row("allclose")
def _() -> None:
    found = sg.allclose(X, X)
    assert isinstance(found, sg.Tensor)
    assert found


@row("nonzero")
def _() -> None:
    x = sg.tensor([[0, 1], [2, 0]])
    assert [part.tolist() for part in sg.nonzero(x)] == [[0, 1], [1, 0]]
    assert x.nonzero(as_tuple=False).tolist() == sg.argwhere(x).tolist() == [[0, 1], [1, 0]]
    assert len(x.nonzero(as_tuple=True)) == 2


@row("take")
def _() -> None:
    assert sg.take(MATRIX, I, 0).tolist() == [[2, 3], [0, 1]]
    assert MATRIX.flatten().take(sg.tensor([9])).tolist() == [9]


@row("meshgrid")
def _() -> None:
    assert sg.meshgrid(X, I)[0].shape == (2, 4)
    assert sg.meshgrid(X, I, indexing="ij")[0].shape == (4, 2)


@row("select")
def _() -> None:
    assert sg.select([X > 2], [X]).tolist() == [3, 0, 0, 4]
    assert MATRIX.select(0, 1).tolist() == [2, 3]
    assert MATRIX.select(1, -1).tolist() == [1, 3, 5, 7, 9]


@row("normalize")
def _() -> None:
    x = sg.ones(2, 3, 4)
    np.testing.assert_allclose(sg.normalize(x)[0, 0, 0].item(), 0.5)
    np.testing.assert_allclose(sg.normalize(x, dim=1)[0, 0, 0].item(), 3**-0.5)


@row("linalg names")
def _() -> None:
    x = sg.tensor([[2.0, 1.0], [1.0, 3.0]])
    for name in ("det", "trace", "svd", "qr"):
        assert name == "trace" or not hasattr(sg, name)
        first = getattr(x, name)()
        second = getattr(sg.linalg, name)(x)
        for one, other in zip(*(r if isinstance(r, tuple) else (r,) for r in (first, second))):  # noqa: B905
            np.testing.assert_array_equal(one, other)
    assert not hasattr(sg, "cross")
    with pytest.raises(sg.ArgumentError, match=r"hint: sg\.linalg\.trace sums a matrix's"):
        sg.trace(x)


@row("svd")
def _() -> None:
    u, s, vh = MATRIX.svd()
    assert (u.shape, s.shape, vh.shape) == ((5, 5), (2,), (2, 2))
    u, s, vh = sg.linalg.svd(MATRIX, full_matrices=False)
    assert u.shape == (5, 2)
    np.testing.assert_allclose(u @ (s.unsqueeze(1) * vh), MATRIX, atol=1e-12)


@row("unique")
def _() -> None:
    assert sg.unique(sg.tensor([3, 1, 3])).tolist() == [1, 3]
    assert sg.unique_all(sg.tensor([3, 1, 3])).counts.tolist() == [1, 2]


# --- rules ----------------------------------------------------------------------------------------


@row("seeds")
def _() -> None:
    x = sg.tensor([1.0], requires_grad=True)
    for call in (sg.autograd.backward, lambda y, s: sg.autograd.grad(y, x, s)):
        with pytest.raises(sg.GradientError, match="one cotangent per output"):
            call([x * 2], [sg.ones(1), sg.ones(1)])


@row("data")
def _() -> None:
    x = sg.tensor([1.0], requires_grad=True)
    y = x * x
    x.data.add_(1)
    with pytest.raises(sg.InPlaceError, match="changed in place since"):
        y.backward()


@row("in-place cast")
def _() -> None:
    for attempt in (lambda: I.clone().fill_(1.5), lambda: I.clone().add_(1.5)):
        with pytest.raises(sg.DTypeError):
            attempt()


@row("loss shapes")
def _() -> None:
    with pytest.raises(sg.ShapeError):
        sg.mse_loss(sg.ones(2, 1), sg.ones(2))


@row("clamp at a bound")
def _() -> None:
    assert gradient(lambda x: x.clamp(0, 1), 0, 1) == [0, 0]
    assert gradient(lambda x: x.clamp(sg.zeros(2), sg.ones(2)), 0, 1) == [0.5, 0.5]


@row("where")
def _() -> None:
    assert gradient(lambda x: sg.where(x > 0, sg.sqrt(x), x), -1, 0) == [1, 1]


@row("stream")
def _() -> None:
    sg.manual_seed(3)
    key = sg.constant(sg.random.key(3))
    assert sg.rand(2).tolist() == sg.random.Generator(key).uniform((2,)).eval().tolist()


@row("device")
def _() -> None:
    assert X.device == X.cpu().device == X.to("cpu").device == "cpu"
    for device in ("cuda", "cuda:0"):
        with pytest.raises(sg.ArgumentError, match="unknown device: expected 'cpu'"):
            X.to(device)


@row("printing")
def _() -> None:
    x = sg.tensor([6.0], requires_grad=True)
    assert repr(x * 1) == "Tensor([6.], grad_fn=<multiply>)"
