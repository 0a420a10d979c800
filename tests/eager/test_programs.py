"""Random programs of views and changes in place: numpy's own arrays are the oracle.

A program runs twice: on tensors, and on numpy arrays, where a view is numpy's and a change in place
is numpy's. Values must agree after every step, gradients with central differences of the whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg

SHAPE = (3, 4)

Step = tuple[str, int, int, float]

KINDS = """sin scale multiply slice_columns first_row transpose flat add_in_place multiply_in_place
square_in_place set_row set_column set_from clone sum_rows where""".split()

STEPS = st.lists(
    st.tuples(
        st.sampled_from(KINDS),
        st.integers(0, 20),
        st.integers(0, 20),
        st.sampled_from([-1.25, -0.5, 0.75, 1.5]),
    ),
    min_size=1,
    max_size=12,
)


def _clone(x: Any) -> Any:
    return x.clone() if isinstance(x, sg.Tensor) else x.copy()


def _fits(x: Any, y: Any) -> bool:
    return x.shape == y.shape


def _set(x: Any, key: Any, value: Any) -> None:
    x[key] = value


def _add_to(x: Any, y: Any) -> None:
    x += y


def _multiply_by(x: Any, y: Any) -> None:
    x *= y


def apply(step: Step, values: list[Any], xp: Any) -> None:
    """Carry out a step; a result joins the values."""
    kind, i, j, number = step
    x, y = values[i % len(values)], values[j % len(values)]
    matrix = len(x.shape) == 2
    changes = {
        "add_in_place": lambda: _add_to(x, number),
        "multiply_in_place": lambda: _multiply_by(x, y) if _fits(x, y) else None,
        "square_in_place": lambda: _multiply_by(x, x),
        "set_row": lambda: _set(x, 0, number) if x.shape else None,
        "set_column": lambda: _set(x, (..., -1), number) if x.shape else None,
        "set_from": lambda: _set(x, ..., _clone(y)) if _fits(x, y) else None,
    }
    if kind in changes:
        changes[kind]()
        return
    results = {
        "sin": lambda: xp.sin(x),
        "scale": lambda: x * number + 0.25,
        "multiply": lambda: x * y if _fits(x, y) else x * number,
        "slice_columns": lambda: x[..., 1:] if x.shape and x.shape[-1] > 1 else x * number,
        "first_row": lambda: x[0] if matrix else x * number,
        "transpose": lambda: x.T if matrix else x * number,
        "flat": lambda: xp.reshape(_clone(x), (-1,)),
        "clone": lambda: _clone(x),
        "sum_rows": lambda: xp.sum(x, axis=0) if x.shape else x * number,
        "where": lambda: xp.where(x > 0.1, x, number),
    }
    result = results[kind]()
    values.append(result if isinstance(result, sg.Tensor) else np.asarray(result))


def run(program: list[Step], starts: list[Any], xp: Any) -> Any:
    """The value of a program: the sum of everything, each part with a weight of its own."""
    values = [_clone(start) for start in starts]
    for step in program:
        apply(step, values, xp)
    total: Any = 0.0
    for k, value in enumerate(values):
        total = total + xp.sum(value) * (0.5 + 0.25 * k)
    return total


@settings(deadline=None, max_examples=150)
@given(STEPS, st.integers(0, 2**16))
def test_values_and_gradients_are_those_of_numpy(program: list[Step], seed: int) -> None:
    rng = np.random.default_rng(seed)
    starts = [rng.uniform(0.3, 1.3, SHAPE), rng.uniform(-1.3, -0.3, SHAPE)]
    leaves = [sg.Tensor(start, requires_grad=True) for start in starts]
    total = run(program, leaves, sg)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(total, run(program, starts, np), rtol=1e-10)
        if not np.isfinite(float(total)) or abs(float(total)) > 1e6:
            return  # differences say nothing there
    try:
        total.backward()
    except sg.InPlaceError:
        return  # a value that is needed was overwritten: refused, not wrong
    directions = [rng.normal(size=SHAPE) for _ in starts]
    found = sum(
        float(np.sum(np.asarray(x.grad) * d)) for x, d in zip(leaves, directions, strict=True)
    )

    def moved(h: float) -> float:
        return float(run(program, [s + h * d for s, d in zip(starts, directions, strict=True)], np))

    h = 1e-5
    with np.errstate(all="ignore"):
        slope = (moved(h) - moved(-h)) / (2 * h)
        other = (moved(h / 2) - moved(-h / 2)) / h
    if not abs(slope - other) <= 1e-4 * max(1.0, abs(slope)):
        return  # a selection switches within the distance
    assert abs(found - slope) <= 1e-4 * max(1.0, abs(slope))


def test_base_and_views_change_together() -> None:
    x = sg.zeros((2, 3)).clone()
    row, flat = x[1], sg.reshape(x, (6,))
    row += 1.0
    flat[0] = 5.0
    np.testing.assert_array_equal(x, [[5, 0, 0], [1, 1, 1]])
    assert x._version == row._version == flat._version == 2
