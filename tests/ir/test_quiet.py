"""`quietly`: silent inside, nothing changed outside, in any thread, one inside another."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from symgrad.ir.quiet import quietly

ONE, NONE = np.float64(1.0), np.float64(0.0)


def divided() -> float:
    return float(np.divide(ONE, NONE))


def test_silent_inside_and_as_before_outside():
    with np.errstate(all="raise"):
        assert quietly(divided) == np.inf
        with pytest.raises(FloatingPointError):
            divided()


def test_one_inside_another():
    assert quietly(lambda: quietly(divided) + divided()) == np.inf


def test_an_error_passes_and_leaves_it_usable():
    def failing() -> None:
        raise KeyError("here")

    for _ in range(3):
        with pytest.raises(KeyError, match="here"):
            quietly(failing)
    assert quietly(divided) == np.inf


def test_many_threads_at_once():
    results: list[float] = []
    barrier = threading.Barrier(8)

    def work() -> None:
        barrier.wait()
        results.extend(quietly(divided) for _ in range(200))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [np.inf] * 1600
