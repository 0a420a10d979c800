"""grad, vjp, jvp, nth_derivative: what they return, share and refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

import symgrad as sg
from symgrad.ir.walk import reachable


def value(symbol, feeds):
    return np.asarray(symbol.eval(feeds))


def test_always_a_tuple():
    x, y = sg.placeholder("x"), sg.placeholder("y")
    assert isinstance(sg.grad(x * y, x), tuple)
    assert len(sg.grad(x * y, [x, y])) == 2


def test_forward_symbols_are_shared():
    x = sg.placeholder("x", (3,))
    y = sg.exp(x)
    (dx,) = sg.grad(sg.sum(y), x)
    assert dx is y  # the derivative of exp is exp itself: the same object


def test_gradient_of_square_sum_is_two_symbols_more():
    x = sg.placeholder("x", (10,))
    loss = sg.sum(x * x)
    (dx,) = sg.grad(loss, x)
    assert dx is 2.0 * x


def test_orders():
    x = sg.placeholder("x")
    y = x**5
    for n, want in enumerate([32.0, 80.0, 160.0, 240.0, 240.0, 120.0, 0.0]):
        assert value(sg.nth_derivative(y, x, n), {x: 2.0}) == want


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_modes_agree(mode):
    x = sg.placeholder("x")
    y = sg.tanh(sg.sin(x) * sg.exp(-(x**2)))
    (dx,) = sg.grad(y, x, mode=mode)
    (ddx,) = sg.grad(dx, x, mode=mode)
    h = 1e-4
    f = lambda t: math.tanh(math.sin(t) * math.exp(-t * t))  # noqa: E731
    second = (f(0.3 + h) - 2 * f(0.3) + f(0.3 - h)) / h**2
    assert value(ddx, {x: 0.3}) == pytest.approx(second, rel=1e-5)


GOALS = {5: 160, 6: 220, 8: 400}


def test_repeated_differentiation_stays_polynomial():
    x = sg.placeholder("x")
    y = sg.tanh(sg.sin(x) * sg.exp(-(x**2)))
    counts = {}
    for order in range(1, 9):
        (y,) = sg.grad(y, x)
        counts[order] = len(reachable([y]))
    for order, goal in GOALS.items():
        assert counts[order] <= goal, counts


def test_interior_symbol_as_input():
    x = sg.placeholder("x")
    h = 2 * x
    y = h**2
    dh, dx = sg.grad(y, [h, x])
    assert value(dh, {x: 3.0}) == 12.0
    assert value(dx, {x: 3.0}) == 24.0


def test_several_outputs_are_summed():
    x = sg.placeholder("x")
    (dx,) = sg.grad([x**2, 3 * x], x, [10.0, 1.0])
    assert value(dx, {x: 1.0}) == 23.0


def test_variable_and_constant_inputs():
    w = sg.variable([1.0, 2.0])
    (dw,) = sg.grad(sg.sum(w**3), w)
    assert np.array_equal(value(dw, {}), [3.0, 12.0])


def test_unbroadcast_everywhere():
    a, b = sg.placeholder("a", (4, 1, 3)), sg.placeholder("b", (2, 1))
    da, db = sg.grad(sg.sum(a * b), [a, b])
    assert da.shape == (4, 1, 3)
    assert db.shape == (2, 1)
    rng = np.random.default_rng(0)
    feeds = {a: rng.normal(size=(4, 1, 3)), b: rng.normal(size=(2, 1))}
    assert np.allclose(value(da, feeds), np.broadcast_to(feeds[b].sum(), (4, 1, 3)))
    assert np.allclose(value(db, feeds), np.broadcast_to(feeds[a].sum(), (2, 1)))


def test_named_dimensions_equal_by_constraint():
    a, b = sg.placeholder("a", ("n",)), sg.placeholder("b", ("m",))
    da, db = sg.grad(sg.sum(a * b), [a, b])
    assert str(da.type) == "f64[n]"
    assert str(db.type) == "f64[m]"
    feeds = {a: [1.0, 2.0], b: [3.0, 4.0]}
    assert np.array_equal(value(db, feeds), [1.0, 2.0])


def test_mixed_precision_casts_back():
    x, y = sg.placeholder("x", (2,), "float32"), sg.placeholder("y", (2,), "float64")
    dx, dy = sg.grad(sg.sum(x * y), [x, y])
    assert (dx.dtype, dy.dtype) == (np.float32, np.float64)


class TestBranches:
    @pytest.mark.parametrize("order", [1, 2, 3])
    def test_where_sqrt(self, order):
        x = sg.placeholder("x")
        y = sg.where(x > 0, sg.sqrt(x), x * x)
        want = {1: -2.0, 2: 2.0, 3: 0.0}[order]
        for mode in ("forward", "reverse"):
            z = y
            for _ in range(order):
                (z,) = sg.grad(z, x, mode=mode)
            assert value(z, {x: -1.0}) == want

    def test_division_by_zero_in_the_other_branch(self):
        x = sg.placeholder("x", (3,))
        safe = sg.where(x != 0, 1 / x, 0.0)
        (dx,) = sg.grad(sg.sum(safe), x)
        assert np.array_equal(value(dx, {x: [0.0, 2.0, -1.0]}), [0.0, -0.25, -1.0])
        (ddx,) = sg.grad(sg.sum(dx), x)
        assert np.array_equal(value(ddx, {x: [0.0, 2.0, -1.0]}), [0.0, 0.25, -2.0])

    def test_through_movement_and_sum(self):
        x = sg.placeholder("x", (2, 2))
        r = sg.sqrt(sg.sum(x * x, axis=1))
        y = sg.sum(sg.where(r > 0.5, r, 1.0))
        (dx,) = sg.grad(y, x)
        assert np.allclose(value(dx, {x: [[3.0, 4.0], [0.0, 0.0]]}), [[0.6, 0.8], [0.0, 0.0]])

    def test_maximum_guards_a_restricted_op(self):
        x = sg.placeholder("x", (2,))
        y = sg.maximum(sg.sqrt(sg.sum(x * x)), 1e-6)
        (dx,) = sg.grad(y, x)
        assert np.array_equal(value(dx, {x: [0.0, 0.0]}), [0.0, 0.0])

    def test_fan_in_is_guarded_by_either(self):
        x = sg.placeholder("x")
        r = sg.log(x)
        y = sg.where(x > 1, r, 0.0) + sg.where(x > 2, r, 0.0)
        (dx,) = sg.grad(y, x)
        assert value(dx, {x: 0.0}) == 0.0
        assert value(dx, {x: 4.0}) == 0.5

    def test_unguarded_use_keeps_its_nan(self):
        x = sg.placeholder("x")
        y = sg.where(x > 0, sg.sqrt(x), 0.0) + sg.sqrt(x)
        (dx,) = sg.grad(y, x)
        assert np.isnan(value(dx, {x: -1.0}))


class TestComplex:
    def test_gradient_of_squared_modulus(self):
        z = sg.placeholder("z", (), "complex128")
        for f in (sg.real(z * sg.conj(z)), sg.abs(z) ** 2, sg.real(z) ** 2 + sg.imag(z) ** 2):
            (dz,) = sg.grad(f, z)
            assert value(dz, {z: 1 + 2j}) == pytest.approx(2 + 4j)

    def test_holomorphic_chain(self):
        z = sg.placeholder("z", (), "complex128")
        (dz,) = sg.grad(sg.real(sg.exp(z) / (1 + z)), z)
        at = 0.3 + 0.7j
        want = np.exp(at) * at / (1 + at) ** 2
        assert value(dz, {z: at}) == pytest.approx(np.conj(want))

    def test_real_input_through_complex_values(self):
        x = sg.placeholder("x")
        (dx,) = sg.grad(sg.real(sg.exp(1j * x)), x)
        assert value(dx, {x: 0.5}) == pytest.approx(-math.sin(0.5))

    def test_modulus_at_zero(self):
        z = sg.placeholder("z", (2,), "complex128")
        (dz,) = sg.grad(sg.sum(sg.abs(z)), z)
        assert np.allclose(value(dz, {z: [0j, 3 - 4j]}), [0, 0.6 - 0.8j])

    def test_second_derivative_of_modulus(self):
        z = sg.placeholder("z", (), "complex128")
        (dz,) = sg.grad(sg.abs(z), z)
        (second,) = sg.grad(sg.real(dz), z)  # d/dz of Re(z/|z|)
        at, h = 0.6 + 0.8j, 1e-6
        f = lambda w: (w / abs(w)).real  # noqa: E731
        want = (f(at + h) - f(at - h)) / (2 * h) + 1j * (f(at + 1j * h) - f(at - 1j * h)) / (2 * h)
        assert value(second, {z: at}) == pytest.approx(want, abs=1e-8)


class TestRefusals:
    def test_vector_output(self):
        x = sg.placeholder("x", (3,))
        text = r"grad: output is f64\[3\]: expected a scalar; hint: pass grad_outputs, or sum first"
        with pytest.raises(sg.GradientError, match=text + r"; created at test_grad.py:\d+"):
            sg.grad(x * 2, x)

    def test_integer_input(self):
        x = sg.placeholder("k", (3,), "int64")
        text = r"grad: inputs\[0\] 'k' has no derivative: expected a floating-point type, "
        with pytest.raises(
            sg.DTypeError, match=text + r"got i64\[3\]; created at test_grad.py:\d+"
        ):
            sg.grad(sg.sum(x * 1.5), x)

    def test_unused_input(self):
        x, y = sg.placeholder("x"), sg.placeholder("y")
        with pytest.raises(
            sg.GradientError,
            match=r"grad: inputs\[1\] 'y' is not used by the outputs; hint: allow_unused=True",
        ):
            sg.grad(x * 2, [x, y])
        assert sg.grad(x * 2, [x, y], allow_unused=True)[1] is None
        assert value(sg.grad(x * 2, [x, y], materialize_grads=True)[1], {}) == 0

    def test_boolean_output(self):
        x = sg.placeholder("x")
        text = r"outputs\[0\] has no derivative: expected a floating-point type, got b1\[\]"
        with pytest.raises(sg.DTypeError, match=text):
            sg.grad(x > 0, x)

    def test_wrong_cotangent(self):
        x = sg.placeholder("x", (2, 2))
        with pytest.raises(
            sg.ShapeError,
            match=r"grad_outputs\[0\] has another shape: expected f64\[2, 2\], got f64\[3\]",
        ):
            sg.grad(x * x, x, [[1.0, 2.0, 3.0]])

    def test_surplus_cotangents(self):
        x = sg.placeholder("x")
        with pytest.raises(
            sg.GradientError, match="one cotangent per output is needed: expected 1, got 2"
        ):
            sg.grad(x * x, x, [1.0, 2.0])

    def test_function_instead_of_symbol(self):
        with pytest.raises(
            sg.ArgumentError,
            match=r"hint: sg\.func\.grad differentiates functions",
        ):
            sg.grad(math.sin, sg.placeholder("x"))

    def test_negative_order(self):
        x = sg.placeholder("x")
        with pytest.raises(sg.ArgumentError, match="nth_derivative: the order is no count"):
            sg.nth_derivative(x, x, -1)


def test_cut_gradients_are_zeros_not_errors():
    x = sg.placeholder("x", (2,))
    (dx,) = sg.grad(sg.sum(sg.floor(x)), x)
    assert np.array_equal(value(dx, {x: [0.5, 1.5]}), [0.0, 0.0])


def test_vjp_and_jvp_pair():
    rng = np.random.default_rng(1)
    x, w = sg.placeholder("x", (3,)), sg.placeholder("w", (2, 3))
    y = sg.tanh(w @ sg.exp(x)) * 2
    feeds = {x: rng.normal(size=3), w: rng.normal(size=(2, 3))}
    ct, tx, tw = rng.normal(size=2), rng.normal(size=3), rng.normal(size=(2, 3))
    gx, gw = (value(g, feeds) for g in sg.vjp(y, [x, w], ct))
    (dy,) = (value(t, feeds) for t in sg.jvp(y, [x, w], [tx, tw]))
    assert (ct * dy).sum() == pytest.approx((gx * tx).sum() + (gw * tw).sum(), rel=1e-12)


class TestExplain:
    def test_paths_and_cuts(self):
        x = sg.placeholder("x")
        text = str(sg.explain(sg.floor(x) * x + sg.stop_gradient(x), x))
        assert "1 path" in text
        assert "floor" in text
        assert "stop_gradient" in text

    def test_unconnected(self):
        x, y = sg.placeholder("x"), sg.placeholder("y")
        assert "does not use the input" in str(sg.explain(sg.sin(x), y))

    def test_path_counts_do_not_enumerate(self):
        x = sg.placeholder("x")
        y = x
        for _ in range(60):
            y = sg.sin(y) * sg.cos(y)
        assert sg.explain(y, x).count == 2**60


def test_deep_chain():
    x = sg.placeholder("x")
    y = x
    for _ in range(20_000):
        y = sg.sin(y) * 1.0001
    (dx,) = sg.grad(y, x, mode="reverse")
    assert len(reachable([dx])) > 60_000


def test_sum_of_a_thousand_terms():
    xs = [sg.placeholder(f"x{k}") for k in range(1000)]
    total = xs[0] * xs[0]
    for x in xs[1:]:
        total = total + x * x
    grads = sg.grad(total, xs)
    assert value(grads[500], dict.fromkeys(xs, 2.0)) == 4.0
