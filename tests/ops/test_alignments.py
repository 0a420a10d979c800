"""The loss over alignments at its edges; its values are tested by tests.registry."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError
from tests.registry.families.alignments import ctc

INF, NAN = math.inf, math.nan
EVEN = np.log(np.full((3, 1, 2), 0.5))


@pytest.mark.parametrize(
    ("targets", "times", "labelled", "probability"),
    [
        ([[1]], [3], [1], 6 / 8),  # all but ---, 1-1
        ([[1]], [3], [0], 1 / 8),
        ([[1]], [0], [0], 1.0),
        ([[1]], [0], [1], 0.0),
        ([[1, 1]], [3], [2], 1 / 8),  # 1-1
        ([[1, 1]], [2], [2], 0.0),
        ([[1, 1, 1]], [3], [3], 0.0),
        (np.zeros((1, 0), int), [3], [0], 1 / 8),
    ],
)
def test_probability_of_labels(targets: Any, times: Any, labelled: Any, probability: float) -> None:
    found = sg.ctc_loss(EVEN, targets, times, labelled, reduction="none")
    np.testing.assert_allclose(np.exp(-np.asarray(found)), [probability], rtol=1e-14)


@pytest.mark.parametrize("zero_infinity", [False, True])
def test_labels_that_do_not_fit(zero_infinity: bool) -> None:
    x = sg.placeholder("x", (3, 2, 2))
    loss = sg.ctc_loss(
        x, [[1, 1], [1, 1]], [2, 3], [2, 2], reduction="none", zero_infinity=zero_infinity
    )
    (slope,) = sg.grad(sg.sum(loss), x)
    value, found = sg.evaluate([loss, slope], {x: np.tile(EVEN, (1, 2, 1))})
    assert value[0] == (0 if zero_infinity else INF)
    np.testing.assert_array_equal(found[:, 0], 0)
    np.testing.assert_allclose(found[:, 1], [[0, -1], [-1, 0], [0, -1]], atol=1e-15)


def test_what_follows_the_end_is_not_read() -> None:
    log_probs = np.log(np.random.default_rng(0).dirichlet(np.ones(4), (6, 2)))
    log_probs[4:, 0] = NAN
    targets, times, labelled = np.array([[2, 99], [3, 1]]), np.array([4, 6]), np.array([1, 2])
    x = sg.placeholder("x", ("t", "n", 4))
    loss = sg.ctc_loss(x, targets, times, labelled)
    (slope,) = sg.grad(loss, x)
    (curved,) = sg.grad(sg.sum(slope * slope), x)
    value, *slopes = sg.evaluate([loss, slope, curved], {x: log_probs})
    assert value == pytest.approx(ctc(log_probs, targets, times, labelled), rel=1e-13)
    for found in slopes:
        assert np.all(found[4:, 0] == 0)
        assert np.all(np.isfinite(found))


def test_impossible_classes_have_no_slope() -> None:
    # The middle of the only alignment left is 1 - 1.
    log_probs = np.array([[[-INF, 0.0]], [[0.0, -INF]], [[-INF, 0.0]]])
    x = sg.placeholder("x", log_probs.shape)
    loss = sg.ctc_loss(x, [[1, 1]], [3], [2])
    (slope,) = sg.grad(loss, x)
    value, found = sg.evaluate([loss, slope], {x: log_probs})
    assert value == 0
    np.testing.assert_array_equal(found[:, 0], np.array([[0, -1], [-1, 0], [0, -1]]) / 2)


def test_element_types() -> None:
    wide = np.random.default_rng(1).normal(size=(50, 2, 5)) - 20
    targets = np.array([[1, 2, 250], [4, 4, 3]], np.uint8)
    times, labelled = np.array([50, 40], np.int32), np.array([2, 3], np.uint8)
    for dtype in ("float16", "float32"):
        narrow = wide.astype(dtype)
        found = sg.ctc_loss(narrow, targets, times, labelled, reduction="sum")
        exact = sg.ctc_loss(narrow.astype(float), targets, times, labelled, reduction="sum")
        assert found.dtype == dtype
        assert float(found) == pytest.approx(float(exact), rel=4 * float(np.finfo(dtype).eps))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: sg.ctc_loss(EVEN, [1], [3], [1]), ShapeError, "other axes"),
        (lambda: sg.ctc_loss(EVEN, [[1], [1]], [3], [1]), ShapeError, "targets has another shape"),
        (lambda: sg.ctc_loss(EVEN, [[1]], [3, 3], [1]), ShapeError, "input_lengths has another"),
        (lambda: sg.ctc_loss(EVEN, [[1]], [3], 1), ShapeError, "target_lengths has another"),
        (lambda: sg.ctc_loss(EVEN, [[1.0]], [3], [1]), DTypeError, "expected integer"),
        (lambda: sg.ctc_loss(EVEN, [[1]], [3], [1], blank=2), ArgumentError, "from 0 to 1, got 2"),
        (
            lambda: sg.ctc_loss(EVEN, [[1]], [3], [1], reduction="all"),
            ArgumentError,
            "unknown reduction",
        ),
    ],
)
def test_refusals(call: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        call()
