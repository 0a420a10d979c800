"""detect_anomaly: the first NaN raises, in both modes, and the message leads to the line."""

from __future__ import annotations

import asyncio
import inspect
import sys
import threading
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import AnomalyError
from symgrad.ir.modes import MODE


def line() -> int:
    """The line of the caller."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def raised(call: Any) -> str:
    """The message of the anomaly that a call runs into."""
    with pytest.raises(AnomalyError) as caught:
        call()
    return str(caught.value)


# --- compiled functions ---------------------------------------------------------------------------

X = sg.placeholder("x", (2,))


def test_static_names_symbol_and_line():
    y, here = sg.log(X), line()
    f = sg.function(X, sg.exp(y) + 1.0)
    with sg.detect_anomaly():
        message = raised(lambda: f([-1.0, 1.0]))
    assert message == (
        "log: the value is NaN, the operands are not: got %1 = log(%0) : f64[2]; "
        f"created at test_anomalies.py:{here}"
    )


def test_static_names_what_a_derivative_belongs_to():
    y, here = sg.sqrt(X), line()
    f = sg.function(X, sg.grad(sg.sum(y * sg.where(X > 0, 1.0, 0.0)), X), level="none")
    (g,) = f([0.0, 1.0])
    assert np.isnan(g[0])
    with sg.detect_anomaly():
        message = raised(lambda: f([0.0, 1.0]))
        assert f([1.0, 4.0])[0].tolist() == [0.5, 0.25]
    assert message.startswith("multiply: the value is NaN, the operands are not, in the derivative")
    assert f"in the derivative of sqrt created at test_anomalies.py:{here}: got %" in message


def test_what_is_nan_before_is_none_of_ours():
    f = sg.function(X, sg.exp(X) * 2.0)
    with sg.detect_anomaly():
        assert np.isnan(f([np.nan, 1.0])).tolist() == [True, False]


def branching(x: Any) -> Any:
    """Its derivative is infinite in the branch that is not taken at 0."""
    return sg.sum(sg.where(x > 0, sg.sqrt(sg.where(x > 0, x, 0.0)), x * 2.0))


@pytest.mark.parametrize("level", ["none", "exact"])
def test_what_a_guard_hides_is_no_anomaly(level: str):
    f = sg.function(X, sg.grad(branching(X), X, level=level), level=level)
    expected = f([0.0, 4.0])[0].tolist()
    assert expected == [2.0, 0.25]
    with sg.detect_anomaly():
        assert f([0.0, 4.0])[0].tolist() == expected


def test_what_a_guard_lets_through_is_one():
    y = sg.sum(sg.where(X > -1, sg.sqrt(X) * 0.0, X))
    f = sg.function(X, sg.grad(y, X, level="none"), level="none")
    assert np.isnan(f([0.0, 1.0])[0]).tolist() == [True, False]
    with sg.detect_anomaly():
        message = raised(lambda: f([0.0, 1.0]))
    assert "in the derivative of sqrt" in message


def test_several_outputs_and_integers_are_looked_at():
    w, _ = sg.linalg.eigh(sg.placeholder("m", (2, 2)))
    f = sg.function([w.args[0].args[0], X], [w, X > 0, sg.argmax(X), sg.log(X)])
    with sg.detect_anomaly():
        assert f(np.eye(2), [1.0, 2.0])[0].tolist() == [1.0, 1.0]
        assert raised(lambda: f(np.eye(2), [-1.0, 2.0])).startswith("log: ")


def test_results_are_those_of_the_compiled_code():
    v = sg.variable([1.0, 2.0], name="v")
    n = sg.placeholder("n", ("n",))
    f = sg.function(n, [sg.sum(n) * v, sg.mean(n)], {v: v * 2.0})
    expected = f([1.0, 2.0, 3.0])
    v.value = [1.0, 2.0]
    with sg.detect_anomaly():
        found = f([1.0, 2.0, 3.0])
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)
            assert a.flags.writeable
        assert v.value.tolist() == [2.0, 4.0]
        assert sg.function([], v)().tolist() == [2.0, 4.0]


def test_a_call_that_fails_changes_no_variable():
    v = sg.variable([1.0, 2.0], name="v")
    f = sg.function(X, sg.sum(v), {v: v + sg.log(X)})
    with sg.detect_anomaly():
        raised(lambda: f([-1.0, 1.0]))
    assert v.value.tolist() == [1.0, 2.0]
    assert f([1.0, 1.0]) == 3.0


def test_evaluation_is_watched():
    with sg.detect_anomaly():
        assert raised(lambda: sg.log(X).eval({X: [-1.0, 1.0]})).startswith("log: ")
        assert raised(lambda: sg.evaluate(sg.sqrt(X), {"x": [-1.0, 1.0]})).startswith("sqrt: ")


def test_outside_the_block_it_costs_one_look(monkeypatch: pytest.MonkeyPatch):
    class Counting:
        looks = 0

        def get(self) -> int:
            self.looks += 1
            return MODE.get()

    counting = Counting()
    monkeypatch.setattr(sys.modules["symgrad.function"], "MODE", counting)
    f = sg.function(X, sg.log(X))
    before = counting.looks
    f([1.0, 2.0])
    assert counting.looks - before == 1


# --- eager ----------------------------------------------------------------------------------------


def test_eager_forward_names_the_line():
    x = sg.asarray([-1.0, 1.0])
    with sg.detect_anomaly():
        lines = [line() + 1]
        message = raised(lambda: sg.log(x))
        assert message == (
            "log: the result is NaN, the operands are not: got f64[2]; "
            f"created at test_anomalies.py:{lines[0]}"
        )
        assert sg.log(sg.asarray([0.0]))[0] == -np.inf  # infinite is a number
        assert np.isnan(np.asarray(sg.asarray([np.nan]) * 2.0))


def test_eager_backward_names_the_forward_line():
    x = sg.Tensor([0.0, 1.0], requires_grad=True)
    y, here = sg.sqrt(x), line()
    z = sg.sum(y * sg.Tensor([0.0, 1.0]))
    with sg.detect_anomaly():
        message = raised(z.backward)
    assert message == (
        "backward through sqrt: the derivative is NaN, the operands are not: got f64[2]; "
        f"created at test_anomalies.py:{here}"
    )
    assert x.grad is None


def test_eager_grad_too_however_often_the_rule_was_used():
    """A rule that ran as compiled code before is watched as well."""
    x = sg.Tensor([0.0, 1.0], requires_grad=True)
    weights = sg.Tensor([0.0, 1.0])
    for _ in range(6):
        (g,) = sg.grad(sg.sum(sg.sqrt(x) * weights), x)
        assert np.isnan(np.asarray(g)[0])
    with sg.detect_anomaly():
        z = sg.sum(sg.sqrt(x) * weights)
        for create in (False, True):
            message = raised(lambda c=create: sg.grad(z, x, create_graph=c, retain_graph=True))
            assert message.startswith("backward through sqrt: ")


def test_eager_what_a_guard_hides_is_no_anomaly():
    for _ in range(5):
        x = sg.Tensor([0.0, 4.0], requires_grad=True)
        with sg.detect_anomaly():
            for create in (False, True):
                (g,) = sg.grad(branching(x), x, create_graph=create)
                assert g.tolist() == [2.0, 0.25]


def test_eager_what_is_nan_before_is_none_of_the_pass():
    x = sg.Tensor([np.nan, 4.0], requires_grad=True)
    with sg.detect_anomaly():
        sg.sum(sg.exp(x)).backward()
    assert x.grad is not None
    assert np.isnan(np.asarray(x.grad)).tolist() == [True, False]


def test_a_pass_outside_the_block_is_not_watched():
    x = sg.Tensor([0.0], requires_grad=True)
    with sg.detect_anomaly():
        z = sg.sum(sg.sqrt(x) * sg.Tensor([0.0]))
    z.backward()
    assert x.grad is not None
    assert np.isnan(np.asarray(x.grad)[0])


def test_the_first_of_a_chain_is_named():
    x = sg.Tensor([-1.0], requires_grad=True)
    with sg.detect_anomaly():
        assert raised(lambda: sg.exp(sg.log(x) * 2.0)).startswith("log: ")


def test_several_results_are_looked_at():
    with sg.detect_anomaly():
        sg.linalg.eigh(sg.Tensor(np.eye(2)))
        with pytest.raises(AnomalyError, match="qr_pack"):
            sg.linalg.qr(sg.Tensor([[np.inf, 1.0], [1.0, 2.0]]))


# --- where it holds -------------------------------------------------------------------------------


def test_nested_and_switched_off():
    x = sg.asarray([-1.0])
    assert not sg.is_anomaly_enabled()
    with sg.detect_anomaly():
        with sg.detect_anomaly(False):
            assert np.isnan(np.asarray(sg.log(x)))
            with sg.detect_anomaly():
                raised(lambda: sg.log(x))
        assert sg.is_anomaly_enabled()
        raised(lambda: sg.log(x))
        with sg.no_grad():  # the settings are independent
            raised(lambda: sg.log(x))
            assert not sg.is_grad_enabled()
        assert sg.is_grad_enabled()
    assert np.isnan(np.asarray(sg.log(x)))


def test_a_block_that_raises_switches_off():
    with pytest.raises(AnomalyError), sg.detect_anomaly():
        sg.log(sg.asarray([-1.0]))
    assert not sg.is_anomaly_enabled()


def test_as_a_decorator():
    @sg.detect_anomaly()
    def logarithm(x: Any) -> Any:
        return sg.log(x)

    raised(lambda: logarithm(sg.asarray([-1.0])))
    assert not sg.is_anomaly_enabled()


def test_other_threads_are_not_watched():
    f = sg.function(X, sg.log(X))
    outcomes: dict[str, bool] = {}
    inside, done = threading.Event(), threading.Event()

    def plain() -> None:
        inside.wait(10)
        x = sg.Tensor([0.0], requires_grad=True)
        sg.sum(sg.sqrt(x) * sg.Tensor([0.0])).backward()
        outcomes["plain"] = bool(np.isnan(f([-1.0, 1.0])[0])) and x.grad is not None
        done.set()

    def watched() -> None:
        with sg.detect_anomaly():
            inside.set()
            done.wait(10)
            raised(lambda: f([-1.0, 1.0]))
            outcomes["watched"] = True

    threads = [threading.Thread(target=target) for target in (plain, watched)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == {"plain": True, "watched": True}


def test_other_tasks_are_not_watched():
    async def watched(ready: asyncio.Event, done: asyncio.Event) -> None:
        with sg.detect_anomaly():
            ready.set()
            await done.wait()
            raised(lambda: sg.log(sg.asarray([-1.0])))

    async def plain(ready: asyncio.Event, done: asyncio.Event) -> None:
        await ready.wait()
        assert np.isnan(np.asarray(sg.log(sg.asarray([-1.0]))))
        done.set()

    async def both() -> None:
        events = asyncio.Event(), asyncio.Event()
        await asyncio.gather(watched(*events), plain(*events))

    asyncio.run(both())
