"""Losses: definitions spelled out, and finite differences for slopes, are the oracles."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError
from tests.ops.finite_differences import check_derivatives
from tests.ops.front_ends import check_everywhere
from tests.ops.gradients import gradient

RNG = np.random.default_rng(9)
INF, NAN = math.inf, math.nan


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


# --- cross-entropy --------------------------------------------------------------------------------


def reference(
    logits: np.ndarray,
    targets: np.ndarray,
    weight: np.ndarray | None = None,
    ignore: int = -100,
    reduction: str = "mean",
    smoothing: float = 0.0,
) -> np.ndarray:
    """The conventions of PyTorch, spelled out element by element."""
    classes = logits.shape[0] if logits.ndim == 1 else logits.shape[1]
    axis = 0 if logits.ndim == 1 else 1
    logs = np.moveaxis(np.log(softmax(logits, axis)), axis, -1).reshape(-1, classes)
    w = np.ones(classes) if weight is None else weight
    shape = (*logits.shape[:axis], *logits.shape[axis + 1 :])
    if targets.dtype.kind == "f":
        t = np.moveaxis(targets, axis, -1).reshape(-1, classes)
        t = t * (1 - smoothing) + smoothing / classes
        losses = np.array([-np.sum(w * ti * li) for ti, li in zip(t, logs, strict=True)])
        total = len(losses)
    else:
        losses, total = [], 0.0
        for label, row in zip(targets.reshape(-1), logs, strict=True):
            if label == ignore:
                losses.append(0.0)
                continue
            total += w[label]
            losses.append(
                -(1 - smoothing) * w[label] * row[label] - smoothing / classes * np.sum(w * row)
            )
        losses = np.array(losses)
    if reduction == "none":
        return losses.reshape(shape)
    return np.sum(losses) / total if reduction == "mean" else np.sum(losses)


CASES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((4,), ()),
    ((5, 4), (5,)),
    ((2, 4, 3), (2, 3)),
    ((2, 4, 1, 3), (2, 1, 3)),
]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("shape", "target_shape"), CASES)
def test_cross_entropy_of_classes(
    shape: tuple[int, ...],
    target_shape: tuple[int, ...],
    weighted: bool,
    smoothing: float,
    reduction: str,
) -> None:
    logits, targets = RNG.normal(size=shape), RNG.integers(0, 4, target_shape)
    if target_shape and target_shape[0] > 1:
        targets.flat[1] = -100
    weight = np.array([0.5, 1.0, 2.0, 0.25]) if weighted else None
    expected = reference(logits, targets, weight, -100, reduction, smoothing)
    loss = lambda x: sg.cross_entropy(  # noqa: E731
        x, targets, weight, reduction=reduction, label_smoothing=smoothing
    )
    check_everywhere(loss, np.asarray(expected), logits, rtol=1e-12, named=False)
    check_derivatives(loss, logits)
    if not smoothing:
        logs = lambda x: sg.log_softmax(x, axis=0 if x.ndim == 1 else 1)  # noqa: E731
        nll = sg.nll_loss(logs(sg.asarray(logits)), targets, weight, reduction=reduction)
        np.testing.assert_allclose(np.asarray(nll), expected, rtol=1e-12)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(4,), (5, 4), (2, 4, 3)])
def test_cross_entropy_of_probabilities(
    shape: tuple[int, ...], weighted: bool, smoothing: float, reduction: str
) -> None:
    logits = RNG.normal(size=shape)
    targets = softmax(RNG.normal(size=shape), 0 if len(shape) == 1 else 1)
    weight = np.array([0.5, 1.0, 2.0, 0.25]) if weighted else None
    expected = reference(logits, targets, weight, -100, reduction, smoothing)
    loss = lambda x, t: sg.cross_entropy(  # noqa: E731
        x, t, weight, reduction=reduction, label_smoothing=smoothing
    )
    check_everywhere(loss, np.asarray(expected), logits, targets, rtol=1e-12, named=False)
    check_derivatives(loss, logits, targets)


def test_cross_entropy_with_named_sizes() -> None:
    x, t = sg.placeholder("x", ("n", "c")), sg.placeholder("t", ("n",), "int64")
    loss = sg.cross_entropy(x, t, label_smoothing=0.1)
    (g,) = sg.grad(loss, x)
    logits, targets = RNG.normal(size=(3, 4)), np.array([0, 3, 1])
    value, slope = sg.evaluate([loss, g], {x: logits, t: targets})
    assert float(value) == pytest.approx(float(reference(logits, targets, smoothing=0.1)))
    fixed = gradient(lambda x: sg.cross_entropy(x, targets, label_smoothing=0.1), logits)
    np.testing.assert_allclose(slope, fixed, rtol=1e-13)


def test_gradient_of_cross_entropy_is_softmax_less_one() -> None:
    logits, targets = RNG.normal(size=(5, 4)), np.array([0, 1, 2, 3, 3])
    g = gradient(lambda x: sg.cross_entropy(x, targets), logits)
    np.testing.assert_allclose(g, (softmax(logits) - np.eye(4)[targets]) / 5, rtol=1e-12)
    g = gradient(lambda x: sg.cross_entropy(x, targets, ignore_index=3), logits)
    expected = (softmax(logits) - np.eye(4)[targets]) / 3
    expected[3:] = 0.0
    np.testing.assert_allclose(g, expected, rtol=1e-12)


def test_all_targets_ignored() -> None:
    with np.errstate(all="ignore"):
        assert math.isnan(float(sg.cross_entropy(np.ones((2, 3)), np.array([-100, -100]))))


def test_cross_entropy_far_out() -> None:
    x = np.array([[-4800.0, 4900.0]])
    y = np.array([[0.2, 0.8]])
    assert float(sg.cross_entropy(x, y)) == pytest.approx(0.2 * 9700.0)
    np.testing.assert_allclose(gradient(lambda x: sg.cross_entropy(x, y), x), [[-0.2, 0.2]])


def test_half_precision_losses() -> None:
    x = RNG.normal(size=(5, 4)).astype(np.float16)
    loss = sg.cross_entropy(x, np.array([0, 1, 2, 3, 3]))
    assert np.asarray(loss).dtype == np.float16
    assert gradient(lambda x: sg.cross_entropy(x, np.array([0, 1, 2, 3, 3])), x).dtype == np.float16


def test_targets_that_do_not_fit() -> None:
    x = np.ones((2, 3))
    with pytest.raises(
        ShapeError,
        match=r"cross_entropy: targets has another shape than .*: expected \(2,\), got \(3,\)",
    ):
        sg.cross_entropy(x, np.array([0, 1, 2]))
    with pytest.raises(ShapeError, match=r"expected \(2, 3\), got \(2, 1\)"):
        sg.cross_entropy(x, np.ones((2, 1)))
    with pytest.raises(ShapeError, match="weight has another shape"):
        sg.cross_entropy(x, np.array([0, 1]), np.ones(2))
    with pytest.raises(ShapeError, match="there is no axis of classes"):
        sg.cross_entropy(np.array(1.0), np.array(0))
    with pytest.raises(DTypeError, match="element type of targets: expected integer, got bool"):
        sg.cross_entropy(x, np.array([True, False]))
    with pytest.raises(DTypeError, match="nll_loss: element type of targets"):
        sg.nll_loss(x, np.array([0.0, 1.0]))
    with pytest.raises(IndexError, match="out of"):
        sg.cross_entropy(x, np.array([0, 3]))
    with pytest.raises(
        ArgumentError, match="unknown reduction: expected 'mean', 'sum' or 'none', got 'avg'"
    ):
        sg.cross_entropy(x, np.array([0, 1]), reduction="avg")
    with pytest.raises(ArgumentError, match="label_smoothing is out of range"):
        sg.cross_entropy(x, np.array([0, 1]), label_smoothing=1.5)


def test_mse_loss() -> None:
    x, y = RNG.normal(size=(3, 2)), RNG.normal(size=(3, 2))
    check_everywhere(sg.mse_loss, np.mean((x - y) ** 2), x, y, rtol=1e-14)
    check_everywhere(
        lambda x, y: sg.mse_loss(x, y, reduction="sum"), np.sum((x - y) ** 2), x, y, rtol=1e-14
    )
    check_everywhere(lambda x, y: sg.mse_loss(x, y, reduction="none"), (x - y) ** 2, x, y)
    check_derivatives(sg.mse_loss, x, y)
    with pytest.raises(ShapeError, match="mse_loss: target has another shape than prediction"):
        sg.mse_loss(np.ones((2, 1)), np.ones(2))
    with pytest.raises(ShapeError, match="mse_loss"):
        sg.mse_loss(sg.placeholder("x", ("n", 1)), sg.placeholder("y", (1, 1)))


def test_binary_cross_entropy() -> None:
    x, t = 3 * RNG.normal(size=(4, 2)), RNG.uniform(size=(4, 2))
    p = 1 / (1 + np.exp(-x))
    expected = -(t * np.log(p) + (1 - t) * np.log(1 - p))
    loss = sg.binary_cross_entropy_with_logits
    check_everywhere(loss, np.mean(expected), x, t, rtol=1e-13)
    check_everywhere(lambda x, t: loss(x, t, reduction="none"), expected, x, t, rtol=1e-12)
    weight, factor = np.array([0.5, 2.0]), np.array([3.0, 1.0])
    weighted = -weight * (factor * t * np.log(p) + (1 - t) * np.log(1 - p))
    check_everywhere(
        lambda x, t: loss(x, t, weight, pos_weight=factor), np.mean(weighted), x, t, rtol=1e-13
    )
    check_derivatives(loss, x, t)
    g = gradient(lambda x: loss(x, np.array([1.0, 0.0]), reduction="sum"), np.array([50.0, -50.0]))
    np.testing.assert_allclose(g, [-math.exp(-50), math.exp(-50)], rtol=1e-14)
    with pytest.raises(ShapeError, match="targets has another shape than logits"):
        loss(x, t[:, 0])


# --- what all losses refuse -----------------------------------------------------------------------

A, B = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 0.25]]), np.ones((2, 3))
SIGNS = np.array([[1, -1, 1], [-1, 1, -1]])
OF_TWO: dict[str, Callable[..., Any]] = {
    "mse_loss": sg.mse_loss,
    "l1_loss": sg.l1_loss,
    "huber_loss": sg.huber_loss,
    "smooth_l1_loss": sg.smooth_l1_loss,
    "poisson_nll_loss": sg.poisson_nll_loss,
    "kl_div": sg.kl_div,
    "binary_cross_entropy": sg.binary_cross_entropy,
    "binary_cross_entropy_with_logits": sg.binary_cross_entropy_with_logits,
    "soft_margin_loss": sg.soft_margin_loss,
    "hinge_embedding_loss": sg.hinge_embedding_loss,
    "multilabel_soft_margin_loss": sg.multilabel_soft_margin_loss,
}


@pytest.mark.parametrize("name", OF_TWO)
def test_what_all_losses_refuse(name: str) -> None:
    loss = OF_TWO[name]
    with pytest.raises(ShapeError, match=rf"{name}: \w+ has another shape than \w+: expected"):
        loss(A, B[:, :1])
    with pytest.raises(ShapeError, match=rf"{name}: \w+ has another shape"):
        loss(sg.placeholder("x", ("n", 1)), sg.placeholder("y", (1, 1)))
    with pytest.raises(ArgumentError, match=rf"{name}: unknown reduction: expected 'mean', 'sum'"):
        loss(A, B, reduction="average")
    with pytest.raises(DTypeError, match=rf"{name}: element type of \w+: expected real or bool"):
        loss(A + 1j, B)


@pytest.mark.parametrize("name", OF_TWO)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_integers_as_targets_keep_the_element_type(name: str, dtype: str) -> None:
    x = np.full((2, 3), 0.25, dtype)
    for target in (np.ones((2, 3), np.int64), np.ones((2, 3), bool)):
        loss = OF_TWO[name](x, target)
        assert loss.dtype == dtype
        assert np.isfinite(float(loss))


def test_losses_of_nothing() -> None:
    nothing = np.zeros((0, 3))
    for loss in OF_TWO.values():
        assert float(loss(nothing, nothing, reduction="sum")) == 0
        with np.errstate(all="ignore"):
            assert math.isnan(float(loss(nothing, nothing)))


# --- regression -----------------------------------------------------------------------------------


def test_far_out_nothing_overflows() -> None:
    x = np.array([1e200, -1e200, 1e308])
    assert sg.huber_loss(x, np.zeros(3), reduction="none").numpy().tolist() == np.abs(x).tolist()
    assert np.isfinite(sg.smooth_l1_loss(x, np.zeros(3), reduction="none").numpy()).all()
    slope = gradient(lambda x: sg.huber_loss(x, np.zeros(3), delta=0.5, reduction="sum"), x)
    assert slope.tolist() == [0.5, -0.5, 0.5]
    margin = sg.soft_margin_loss(np.array([1000.0, -1000.0]), np.ones(2), reduction="none")
    assert margin.numpy().tolist() == [0.0, 1000.0]


def test_second_derivatives_on_both_sides_of_the_turn() -> None:
    x = sg.placeholder("x", (4,))
    for loss, inside in ((sg.huber_loss, 1.0), (sg.smooth_l1_loss, 2.0)):
        options = {"delta": 0.5} if loss is sg.huber_loss else {"beta": 0.5}
        (first,) = sg.grad(loss(x, sg.zeros(4), reduction="sum", **options), x)
        (second,) = sg.grad(sg.sum(first), x)
        found = second.eval({x: np.array([-2.0, -0.25, 0.125, 0.75])})
        assert found.tolist() == [0.0, inside, inside, 0.0]


def test_numbers_that_losses_refuse() -> None:
    with pytest.raises(ArgumentError, match=r"huber_loss: delta is out of range: expected a posit"):
        sg.huber_loss(A, B, delta=0)
    with pytest.raises(ArgumentError, match=r"smooth_l1_loss: beta is out of range: .*got -1"):
        sg.smooth_l1_loss(A, B, beta=-1)
    with pytest.raises(ArgumentError, match=r"gaussian_nll_loss: eps is out of range"):
        sg.gaussian_nll_loss(A, B, B, eps=0)
    with pytest.raises(ArgumentError, match=r"triplet_margin_loss: margin is out of range"):
        sg.triplet_margin_loss(A, B, B, margin=0.0)
    with pytest.raises(ArgumentError, match=r"multi_margin_loss: p is neither 1 nor 2"):
        sg.multi_margin_loss(A, np.array([0, 1]), p=3)


# --- likelihoods ----------------------------------------------------------------------------------


def test_gaussian_loss_is_the_density() -> None:
    """Minus the logarithm of the normal density, with all constants."""
    x, t, v = 0.5, 2.0, 0.75
    density = math.exp(-((x - t) ** 2) / (2 * v)) / math.sqrt(2 * math.pi * v)
    found = sg.gaussian_nll_loss(np.array([x]), np.array([t]), np.array([v]), full=True)
    assert float(found) == pytest.approx(-math.log(density), rel=1e-14)


def test_variances_of_other_shapes() -> None:
    each = sg.gaussian_nll_loss(A, B, np.broadcast_to([[0.5], [2.0]], (2, 3)), reduction="none")
    for var in (np.array([[0.5], [2.0]]), np.array([0.5, 2.0])):
        assert np.array_equal(sg.gaussian_nll_loss(A, B, var, reduction="none"), each)
    for var in (np.ones(3), np.ones((1, 3)), np.ones((2, 2)), np.ones((2, 3, 1))):
        with pytest.raises(ShapeError, match="gaussian_nll_loss: var has another shape than"):
            sg.gaussian_nll_loss(A, B, var)


def test_a_variance_below_eps_can_grow() -> None:
    slope = gradient(
        lambda v: sg.gaussian_nll_loss(np.array([3.0]), np.array([1.0]), v, eps=0.5), np.zeros(1)
    )
    assert slope.tolist() == [0.5 * (1 / 0.5 - 4 / 0.25)]


def test_divergence_of_impossible_events() -> None:
    logs, p = np.array([[-INF, 0.0]]), np.array([[0.0, 1.0]])
    assert float(sg.kl_div(logs, p, reduction="batchmean")) == 0
    assert float(sg.kl_div(np.array([[0.0, -INF]]), p, reduction="sum")) == INF
    slope = gradient(lambda x: sg.kl_div(x, p, reduction="sum"), logs)
    assert slope.tolist() == [[0.0, -1.0]]
    with pytest.raises(ShapeError, match="kl_div: there is no axis of a batch"):
        sg.kl_div(0.0, 1.0, reduction="batchmean")
    with pytest.raises(ArgumentError, match=r"expected 'mean', 'sum', 'none' or 'batchmean', got"):
        sg.kl_div(A, B, reduction="batch")


def test_poisson_loss_at_a_rate_of_0() -> None:
    loss = sg.poisson_nll_loss(np.zeros(1), np.array([2.0]), log_input=False, eps=1e-8)
    assert float(loss) == pytest.approx(-2 * math.log(1e-8))
    assert float(sg.poisson_nll_loss(np.zeros(1), np.zeros(1), full=True)) == 1
    slope = gradient(lambda t: sg.poisson_nll_loss(np.zeros(2), t, full=True), np.array([0.0, 2.0]))
    assert slope == pytest.approx([0.0, (math.log(2) + 1 / 4) / 2])


# --- classes --------------------------------------------------------------------------------------


def test_binary_cross_entropy_is_held_at_the_ends() -> None:
    p, t = np.array([0.0, 1.0, 0.0, 1.0, 1e-60]), np.array([1.0, 0.0, 0.0, 1.0, 1.0])
    loss = sg.binary_cross_entropy(p, t, reduction="none").numpy()
    assert loss.tolist() == [100.0, 100.0, 0.0, 0.0, 100.0]
    found = gradient(lambda p: sg.binary_cross_entropy(p, t, reduction="sum"), p)
    assert found.tolist() == [-1e12, 1e12, 1.0, -1.0, -1e12]
    small = sg.binary_cross_entropy(np.array([1e-20]), np.array([0.0]))
    assert float(small) == pytest.approx(1e-20, rel=1e-14)
    with np.errstate(all="ignore"):
        assert math.isnan(float(sg.binary_cross_entropy(np.array([1.5]), np.array([0.0]))))


def test_both_cross_entropies_of_yes_and_no_agree() -> None:
    logits, t = RNG.normal(size=(4, 3)), RNG.uniform(size=(4, 3))
    weight = np.array([0.5, 1.0, 2.0])
    a = sg.binary_cross_entropy(sg.sigmoid(sg.asarray(logits)), t, weight, reduction="sum")
    b = sg.binary_cross_entropy_with_logits(logits, t, weight, reduction="sum")
    assert float(a) == pytest.approx(float(b), rel=1e-13)


def test_classes_that_do_not_fit() -> None:
    for loss in (sg.multi_margin_loss, sg.multilabel_margin_loss):
        name = loss.name
        with pytest.raises(ShapeError, match=rf"{name}: targets has another shape than scores"):
            loss(A, np.array([0, 1, 2]))
        with pytest.raises(ShapeError, match=rf"{name}: there is no axis of classes"):
            loss(np.array(1.0), np.array(0))
        with pytest.raises(DTypeError, match=rf"{name}: element type of targets: expected integer"):
            loss(A, np.zeros((2, 3)))
    with pytest.raises(IndexError, match="out of"):
        sg.multi_margin_loss(A, np.array([0, 3]))
    with pytest.raises(IndexError, match="out of"):
        sg.multilabel_margin_loss(A, np.array([[0, 3, -1], [0, -1, -1]]))


def test_only_classes_before_the_first_gap_count() -> None:
    x = np.array([0.1, 0.2, 0.4, 0.8])
    one = sg.multilabel_margin_loss(x, np.array([3, -1, 0, 1]))
    assert float(one) == pytest.approx((0.3 + 0.4 + 0.6) / 4, rel=1e-14)
    assert float(sg.multilabel_margin_loss(x, np.array([-1, 0, 1, 2]))) == 0
    every = sg.multilabel_margin_loss(x, np.array([3, 2, 1, 0]))
    assert float(every) == 0


def test_named_sizes_of_classes() -> None:
    x, t = sg.placeholder("x", ("n", "c")), sg.placeholder("t", ("n",), "int64")
    many = sg.placeholder("m", ("n", "c"), "int64")
    losses = [sg.multi_margin_loss(x, t), sg.multilabel_margin_loss(x, many)]
    feeds = {x: A, t: np.array([2, 0]), many: np.array([[2, 0, -1], [1, -1, -1]])}
    found = sg.evaluate(losses, feeds)
    wanted = sg.multi_margin_loss(A, feeds[t]), sg.multilabel_margin_loss(A, feeds[many])
    assert [float(v) for v in found] == [float(v) for v in wanted]


# --- vectors --------------------------------------------------------------------------------------


def test_cosines_of_long_and_short_vectors() -> None:
    x, y = np.array([1e200, 1e200]), np.array([1e-200, 0.0])
    assert float(sg.cosine_similarity(x, y * 1e195)) == pytest.approx(math.sqrt(0.5))
    assert float(sg.cosine_similarity(x, y)) == pytest.approx(1e-192 * math.sqrt(0.5))
    assert float(sg.cosine_similarity(np.zeros(2), x)) == 0
    # At least 1e-8 is divided by, also where the length is 0.
    slope = gradient(lambda x: sg.cosine_similarity(x, np.array([0.0, 2.0])), np.zeros(2))
    assert slope == pytest.approx([0.0, 1e8])


def test_distances_of_equal_vectors_have_a_slope() -> None:
    slope = gradient(lambda x: sg.pairwise_distance(x, A[0]), A[0])
    np.testing.assert_allclose(slope, np.full(3, 1 / math.sqrt(3)), rtol=1e-6)
    slope = gradient(lambda x: sg.pairwise_distance(x, A[0], eps=0.0), A[0])
    assert slope.tolist() == [0.0, 0.0, 0.0]


def test_vectors_that_do_not_fit() -> None:
    with pytest.raises(ShapeError, match=r"cosine_embedding_loss: target has another shape than"):
        sg.cosine_embedding_loss(A, B, np.ones(3))
    with pytest.raises(ShapeError, match=r"cosine_embedding_loss: there is no axis of vectors"):
        sg.cosine_embedding_loss(1.0, 1.0, 1)
    with pytest.raises(ShapeError, match=r"triplet_margin_loss: negative has another shape than"):
        sg.triplet_margin_loss(A, B, B[:, :1])
    with pytest.raises(ShapeError, match=r"cosine_similarity: axis out of range"):
        sg.cosine_similarity(A, B, axis=2)
    with pytest.raises(ShapeError, match=r"pairwise_distance: axis out of range"):
        sg.pairwise_distance(1.0, 2.0)
    with pytest.raises(ArgumentError, match=r"normalize: eps is out of range"):
        sg.normalize(A, eps=-1.0)
    with pytest.raises(DTypeError, match=r"cosine_similarity: element type of x2: expected real"):
        sg.cosine_similarity(A, B + 1j)


def test_complex_vectors_are_normalized() -> None:
    found = sg.normalize(np.array([3j, 4.0])).numpy()
    np.testing.assert_allclose(found, [0.6j, 0.8], rtol=1e-15)
    assert sg.normalize(np.array([3, 4])).numpy().tolist() == [0.6, 0.8]
