"""A value with two users, one of whom does not take it everywhere: a NaN there spoils nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg

POINT = np.array([[-1.0, 2.0], [1.0, 3.0]])


def shared(x: Any) -> Any:
    # In row 0 the first part is skipped as a whole, the second in the first element alone.
    return sg.nansum(sg.logsumexp(sg.log(x), axis=1)) + sg.nansum(sg.log(x))


EXPECTED = [[0.0, 1 / 2], [1 / 4 + 1, 1 / 4 + 1 / 3]]


@pytest.mark.parametrize("level", ["exact", "none"])
def test_in_graphs(level: str) -> None:
    x = sg.placeholder("x", (2, 2))
    (gradient,) = sg.grad(shared(x), x, level=level, mode="reverse")
    np.testing.assert_allclose(gradient.eval({x: POINT}), EXPECTED)


@pytest.mark.parametrize("uses", [1, 4])
def test_on_tensors(uses: int) -> None:
    for _ in range(uses):
        x = sg.Tensor(POINT, requires_grad=True)
        shared(x).backward()
        np.testing.assert_allclose(x.grad, EXPECTED)
