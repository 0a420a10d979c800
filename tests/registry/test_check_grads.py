"""symgrad.testing: it passes what is right, and says in numbers what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError
from symgrad.testing import check_grads, numeric_derivative
from symgrad.testing.gradients import normal_direction
from tests.mutation import backwards, forwards, partials, planted


def test_passes_a_function_of_several_arguments():
    check_grads(lambda x, y: [sg.sin(x) @ y, sg.sum(x)], ([0.1, 0.2], [[1.0], [2.0]]), order=3)


def test_takes_one_argument_bare():
    check_grads(sg.exp, 0.5)
    check_grads(sg.exp, np.array([0.5, 1.0], np.float32))


def test_integers_are_constants():
    check_grads(lambda x, i: sg.take(x, i), (np.array([1.0, 2.0]), np.array([1, 1, 0])))


def test_complex():
    check_grads(lambda z: sg.abs(z) * sg.exp(z), np.array([1 + 2j, -0.5j]))


def test_finds_a_wrong_tangent():
    wrong = forwards("sin", "", lambda right, *call: 2 * right(*call))
    message = r"^forward: output 0 \[[01]\]: expected -?[\d.]+ by differences, got -?[\d.]+$"
    with planted(wrong), pytest.raises(AssertionError, match=message):
        check_grads(sg.sin, np.array([0.0, 0.5]), modes=["forward"])


def test_finds_a_wrong_cotangent():
    wrong = backwards("sin", "", lambda right, *call: 2 * right(*call))
    with planted(wrong), pytest.raises(AssertionError, match=r"^reverse: sum over all gradients: "):
        check_grads(sg.sin, np.array([0.0, 0.1]))


def test_finds_a_wrong_second_derivative():
    wrong = partials("cos", "", lambda y, x: sg.sin(x))
    with planted(wrong):
        check_grads(sg.sin, 0.3, order=1)
        with pytest.raises(AssertionError, match=r"^forward of forward: output 0: expected "):
            check_grads(sg.sin, 0.3)
        with pytest.raises(AssertionError, match=r"^reverse of reverse: sum over all gradients"):
            check_grads(sg.sin, 0.3, modes=["reverse"])


def test_finds_nan():
    with pytest.raises(AssertionError, match="got nan"):
        check_grads(lambda x: sg.sqrt(x * x), 0.0, modes=["forward"])


def test_direction_may_be_restricted():
    def symmetric(rng: np.random.Generator, point: np.ndarray) -> np.ndarray:
        t = normal_direction(rng, point)
        return (t + t.T) / 2

    matrix = np.array([[2.0, 0.5], [0.5, 1.0]])
    check_grads(sg.linalg.cholesky, matrix, direction=symmetric)
    with pytest.raises(AssertionError):
        check_grads(sg.linalg.cholesky, matrix)


def test_refuses_an_unknown_mode():
    with pytest.raises(ArgumentError, match="check_grads: unknown mode: expected forward, reverse"):
        check_grads(sg.sin, 0.5, modes=["backward"])


@pytest.mark.parametrize(("f", "point"), [(sg.sin, 1), (sg.argmax, [1.0, 2.0])])
def test_refuses_where_there_is_nothing_to_compare(f, point):
    with pytest.raises(ArgumentError, match=r"there is nothing to compare: no (argument|output)"):
        check_grads(f, np.asarray(point))


def test_numeric_derivative_along_a_direction():
    slopes = numeric_derivative(lambda x, y: (x * y, x), ([1.0, 2.0], 3.0), ([1.0, 0.0], 0.5))
    np.testing.assert_allclose(slopes[0], [3.5, 1.0], rtol=1e-12)
    np.testing.assert_allclose(slopes[1], [1.0, 0.0], atol=1e-12)


def test_numeric_derivative_is_in_double_precision():
    (slope,) = numeric_derivative(sg.exp, np.float32(1.0), np.float32(1.0))
    assert slope.dtype == np.float64
    np.testing.assert_allclose(slope, np.e, rtol=1e-9)
