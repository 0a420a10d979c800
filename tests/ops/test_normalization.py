"""Normalisations, attention, embedding, dropout: edge values, gradients in closed form, errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError
from tests.ops.finite_differences import check_derivatives

RNG = np.random.default_rng(11)
KEY = sg.random.key(3)
INF, NAN = math.inf, math.nan


def gradient(function: Callable[..., Any], *arrays: Any) -> list[np.ndarray]:
    inputs = [sg.placeholder(f"x{k}", a.shape, a.dtype) for k, a in enumerate(arrays)]
    gradients = sg.grad(function(*inputs), inputs, materialize_grads=True)
    return [np.asarray(g) for g in sg.evaluate(gradients, dict(zip(inputs, arrays, strict=True)))]


# --- normalisations -------------------------------------------------------------------------------


def test_gradient_of_batch_norm_in_closed_form() -> None:
    x, g, gamma = RNG.normal(size=(6, 3)), RNG.normal(size=(6, 3)), np.array([1.0, 2.0, 0.5])
    eps = 0.1
    y = (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + eps)
    dx, dgamma, dbeta = gradient(
        lambda x, w, b: sg.sum(sg.batch_norm(x, weight=w, bias=b, eps=eps) * g), x, gamma, gamma
    )
    inner = g - g.mean(axis=0) - y * (g * y).mean(axis=0)
    np.testing.assert_allclose(dx, gamma / np.sqrt(x.var(axis=0) + eps) * inner, rtol=1e-12)
    np.testing.assert_allclose(dgamma, (g * y).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(dbeta, g.sum(axis=0), rtol=1e-12)


def test_given_mean_and_variance_are_constants() -> None:
    x, mean, var = RNG.normal(size=(4, 2)), np.array([1.0, 2.0]), np.array([4.0, 0.25])
    found = sg.batch_norm(x, mean, var, eps=0.0).numpy()
    np.testing.assert_allclose(found, (x - mean) / [2.0, 0.5], rtol=1e-15)
    check_derivatives(lambda *a: sg.batch_norm(*a), x, mean, var)


@pytest.mark.parametrize("norm", [sg.layer_norm, lambda x, **o: sg.instance_norm(x[None], **o)[0]])
def test_equal_numbers_become_0(norm: Callable[..., Any]) -> None:
    x = np.full((2, 3), 0.1)
    assert norm(x).numpy().tolist() == [[0.0] * 3] * 2
    (slope,) = gradient(lambda x: sg.sum(norm(x) ** 2), x)
    assert slope.tolist() == [[0.0] * 3] * 2


def test_a_large_offset_costs_no_accuracy() -> None:
    x = np.array([1.0, 2.0, 4.0, 7.0])
    assert np.array_equal(sg.layer_norm(x + 2.0**40), sg.layer_norm(x))
    weights = np.array([1.0, -2.0, 0.5, 3.0])
    (far,) = gradient(lambda x: sg.sum(sg.layer_norm(x) * weights), x + 2.0**40)
    (near,) = gradient(lambda x: sg.sum(sg.layer_norm(x) * weights), x)
    np.testing.assert_allclose(far, near, rtol=1e-14, atol=1e-16)


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm", "batch_norm", "local_response_norm"])
def test_half_precision_is_computed_in_single(name: str) -> None:
    """Squares of these leave the range of half precision."""
    x = np.array([[500.0, -300.0, 1000.0], [400.0, 0.0, 700.0]], np.float16)
    options = {"size": 2} if name == "local_response_norm" else {}
    norm = getattr(sg, name)
    found, wanted = norm(x, **options), norm(x.astype(np.float32), **options).numpy()
    assert found.dtype == np.float16
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-3, atol=1e-3)
    (slope,) = gradient(lambda x: sg.sum(norm(x, **options) ** 2), x)
    assert slope.dtype == np.float16
    assert np.isfinite(slope).all()


def test_element_types_of_weights_count() -> None:
    x = np.ones((2, 3), np.float32)
    assert sg.layer_norm(x).dtype == np.float32
    assert sg.layer_norm(x, np.ones(3, np.float32), np.zeros(3, np.float32)).dtype == np.float32
    assert sg.layer_norm(x, np.ones(3)).dtype == np.float64
    assert sg.layer_norm(np.ones((2, 3), np.int32)).dtype == np.float64


def test_rms_norm_has_the_epsilon_of_its_type() -> None:
    tiny = np.full(3, 1e-9)
    found = sg.rms_norm(tiny).numpy()
    np.testing.assert_allclose(found, 1e-9 / math.sqrt(1e-18 + 2.0**-52), rtol=1e-12)
    assert sg.rms_norm(np.zeros(3)).numpy().tolist() == [0.0] * 3


def test_group_norm_of_one_group_and_of_single_channels() -> None:
    x = RNG.normal(size=(2, 4, 5))
    one = sg.group_norm(x, 1).numpy()
    np.testing.assert_allclose(one, sg.layer_norm(x, axis=(1, 2)).numpy(), rtol=1e-13)
    each = sg.group_norm(x, num_groups=4).numpy()
    np.testing.assert_allclose(each, sg.instance_norm(x).numpy(), rtol=1e-13)
    weight, bias = np.arange(4.0), np.ones(4)
    moved = sg.group_norm(x, 2, weight, bias).numpy()
    plain = sg.group_norm(x, 2).numpy()
    np.testing.assert_allclose(moved, plain * weight[:, None] + 1, rtol=1e-13)


def test_named_sizes() -> None:
    x, w = sg.placeholder("x", ("n", "d")), sg.placeholder("w", ("d",))
    c = sg.placeholder("c", ("n", 4, "t"))
    outputs = [
        sg.layer_norm(x, w),
        sg.rms_norm(x, w),
        sg.batch_norm(x, weight=w),
        sg.group_norm(c, 2),
        sg.local_response_norm(c, 3),
        sg.scaled_dot_product_attention(c, c, c, is_causal=True),
    ]
    assert [y.shape for y in outputs] == [x.shape] * 3 + [c.shape] * 3
    a, b, d = RNG.normal(size=(3, 5)), RNG.normal(size=5), RNG.normal(size=(3, 4, 2))
    found = sg.evaluate(outputs, {x: a, w: b, c: d})
    wanted = [
        sg.layer_norm(a, b),
        sg.rms_norm(a, b),
        sg.batch_norm(a, weight=b),
        sg.group_norm(d, 2),
        sg.local_response_norm(d, 3),
        sg.scaled_dot_product_attention(d, d, d, is_causal=True),
    ]
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13)


def test_what_normalisations_refuse() -> None:
    x = np.ones((2, 3))
    for name in ("layer_norm", "rms_norm", "batch_norm", "group_norm"):
        norm, first = getattr(sg, name), (3,) if name == "group_norm" else ()
        with pytest.raises(
            ArgumentError, match=rf"{name}: eps is out of range: expected 0 or more"
        ):
            norm(x, *first, eps=-1.0)
        with pytest.raises(DTypeError, match=rf"{name}: element type of x: expected real or bool"):
            norm(x + 1j, *first)
    with pytest.raises(
        ShapeError, match=r"layer_norm: weight has another shape .*\(3,\), got \(2,"
    ):
        sg.layer_norm(x, np.ones(2))
    with pytest.raises(
        ShapeError, match=r"batch_norm: bias has another shape .*\(3,\), got \(1,\)"
    ):
        sg.batch_norm(x, bias=np.ones(1))
    with pytest.raises(ShapeError, match=r"layer_norm: axes are not in order: expected \(0, 1\)"):
        sg.layer_norm(x, axis=(1, 0))
    with pytest.raises(ShapeError, match=r"rms_norm: axis out of range"):
        sg.rms_norm(x, axis=2)
    with pytest.raises(ShapeError, match=r"group_norm: channels do not divide: .* of 2, got 3"):
        sg.group_norm(x, 2)
    with pytest.raises(ArgumentError, match=r"group_norm: num_groups is no count"):
        sg.group_norm(x, 0)
    with pytest.raises(ShapeError, match=r"group_norm: there is no axis of channels"):
        sg.group_norm(np.ones(3), 3)
    with pytest.raises(ShapeError, match=r"instance_norm: a channel has no axis"):
        sg.instance_norm(x)
    with pytest.raises(ArgumentError, match=r"batch_norm: one of mean and var is missing"):
        sg.batch_norm(x, np.ones(3))
    with pytest.raises(
        ShapeError, match=r"batch_norm: var has another shape than the axis of chan"
    ):
        sg.batch_norm(x, np.ones(3), np.ones(2))
    with pytest.raises(ArgumentError, match=r"local_response_norm: size is no count"):
        sg.local_response_norm(x, 0)


# --- attention ------------------------------------------------------------------------------------


def test_causal_attention_sees_no_later_key() -> None:
    q, k, v = (RNG.normal(size=(2, 4, 3)) for _ in range(3))
    found = sg.scaled_dot_product_attention(q, k, v, is_causal=True).numpy()
    np.testing.assert_allclose(found[:, 0], v[:, 0], rtol=1e-14)
    later = v.copy()
    later[:, 3] = 99.0
    again = sg.scaled_dot_product_attention(q, k, later, is_causal=True).numpy()
    assert np.array_equal(again[:, :3], found[:, :3])
    short = sg.scaled_dot_product_attention(q, k[:, :2], v[:, :2], is_causal=True)
    assert np.array_equal(short.numpy()[:, :2], found[:, :2])


def test_masks_of_booleans_and_numbers_agree() -> None:
    q, k, v = RNG.normal(size=(5, 3)), RNG.normal(size=(4, 3)), RNG.normal(size=(4, 2))
    seen = RNG.uniform(size=(5, 4)) < 0.6
    seen[2] = False
    by_number = sg.scaled_dot_product_attention(q, k, v, np.where(seen, 0.0, -INF)).numpy()
    by_boolean = sg.scaled_dot_product_attention(q, k, v, seen).numpy()
    assert np.array_equal(by_boolean, by_number)
    assert by_boolean[2].tolist() == [0.0, 0.0]
    for found in gradient(
        lambda q, k, v: sg.sum(sg.scaled_dot_product_attention(q, k, v, seen) ** 2), q, k, v
    ):
        assert np.isfinite(found).all()
    both = sg.scaled_dot_product_attention(q, k, v, seen, is_causal=True).numpy()
    triangle = sg.scaled_dot_product_attention(q, k, v, seen & np.tril(np.ones((5, 4), bool)))
    assert np.array_equal(both, triangle.numpy())


def test_scales_and_element_types_of_attention() -> None:
    q, k, v = (RNG.normal(size=(4, 16)).astype(np.float16) for _ in range(3))
    found = sg.scaled_dot_product_attention(q, k, v)
    assert found.dtype == np.float16
    wide = sg.scaled_dot_product_attention(*(x.astype(np.float64) for x in (q, k, v))).numpy()
    np.testing.assert_allclose(found.numpy(), wide, atol=5e-3)
    quarter = sg.scaled_dot_product_attention(q, k, v, scale=0.25)
    assert np.array_equal(quarter, found)
    assert sg.scaled_dot_product_attention(q[:0], k, v).shape == (0, 16)
    nothing = sg.scaled_dot_product_attention(q, k[:0], v[:0]).numpy()
    assert not nothing.any()


def test_what_attention_refuses() -> None:
    x = np.ones((3, 2))
    with pytest.raises(ShapeError, match=r"attention: query has too few axes: expected 2 or more"):
        sg.scaled_dot_product_attention(np.ones(2), x, x)
    with pytest.raises(ShapeError):
        sg.scaled_dot_product_attention(x, np.ones((3, 4)), x)
    with pytest.raises(ShapeError):
        sg.scaled_dot_product_attention(x, x, x, np.ones((2, 3), bool))
    with pytest.raises(DTypeError, match=r"attention: element type of key: expected real or bool"):
        sg.scaled_dot_product_attention(x, x + 1j, x)


# --- layers that look up or drop ------------------------------------------------------------------


def test_embedding_sums_the_gradients_of_a_row() -> None:
    weight, indices = RNG.normal(size=(4, 2)), np.array([[1, 1], [3, -1]])
    (slope,) = gradient(lambda w: sg.sum(sg.embedding(indices, w)), weight)
    assert slope.tolist() == [[0.0, 0.0], [2.0, 2.0], [0.0, 0.0], [2.0, 2.0]]
    for padding in (3, -1):
        (slope,) = gradient(
            lambda w, p=padding: sg.sum(sg.embedding(indices, w, padding_idx=p)), weight
        )
        assert slope.tolist() == [[0.0, 0.0], [2.0, 2.0], [0.0, 0.0], [0.0, 0.0]]
    found = sg.embedding(indices, weight, padding_idx=3)
    assert np.array_equal(found, weight[indices])


def test_what_embedding_refuses() -> None:
    weight = np.ones((4, 2))
    with pytest.raises(IndexError, match="out of"):
        sg.embedding(np.array([4]), weight)
    with pytest.raises(DTypeError, match=r"expected integer"):
        sg.embedding(np.array([1.0]), weight)
    with pytest.raises(ShapeError, match=r"embedding: weight has no axis of rows"):
        sg.embedding(np.array([0]), 1.0)
    for padding in (4, -5):
        with pytest.raises(
            ArgumentError, match=r"embedding: padding_idx is no row: expected -4 to 3"
        ):
            sg.embedding(np.array([0]), weight, padding_idx=padding)


def test_dropout_drops_and_scales() -> None:
    x = RNG.normal(size=(300, 400))
    y = sg.random.dropout(KEY, x, 0.25).numpy()
    kept = y != 0
    assert abs(kept.mean() - 0.75) < 4 * math.sqrt(0.25 * 0.75 / x.size)
    assert np.array_equal(y[kept], (x / 0.75)[kept])
    (slope,) = gradient(lambda x: sg.sum(sg.random.dropout(KEY, x, 0.25)), x)
    assert np.array_equal(slope, kept / 0.75)
    other = sg.random.dropout(sg.random.key(4), x, 0.25).numpy() != 0
    assert 0.5 < (kept == other).mean() < 0.75
    assert np.array_equal(sg.random.Generator(KEY).dropout(x, 0.0), x)


def test_dropout_at_the_ends() -> None:
    x = np.array([NAN, INF, 1.0])
    assert sg.random.dropout(KEY, x, 1.0).numpy().tolist() == [0.0, 0.0, 0.0]
    assert np.array_equal(sg.random.dropout(KEY, x, 0), x, equal_nan=True)
    y = sg.random.dropout(KEY, np.full(1000, NAN)).numpy()
    assert 400 < (y == 0).sum() < 600
    assert sg.random.dropout(KEY, np.ones(3, np.float32)).dtype == np.float32
    assert sg.random.dropout(KEY, np.ones(3, np.int8)).dtype == np.float64


def test_dropout_of_whole_channels() -> None:
    y = sg.random.dropout(KEY, np.ones((50, 20, 4, 3)), axis=(0, 1)).numpy()
    first = y[:, :, :1, :1]
    assert np.array_equal(y, np.broadcast_to(first, y.shape))
    assert {*first.ravel().tolist()} == {0.0, 2.0}
    assert abs(first.mean() - 1) < 4 / math.sqrt(1000)


def test_what_dropout_refuses() -> None:
    x = np.ones((2, 3))
    for p in (-0.1, 1.5, NAN):
        with pytest.raises(
            ArgumentError, match=r"random.dropout: p is no probability: expected 0 to"
        ):
            sg.random.dropout(KEY, x, p)
    with pytest.raises(ArgumentError, match=r"random.dropout: p is no number"):
        sg.random.dropout(KEY, x, np.array(0.5))
    with pytest.raises(ShapeError, match=r"random.dropout: axis out of range"):
        sg.random.dropout(KEY, x, axis=2)
