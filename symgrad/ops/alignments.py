"""Sums over all alignments of a short sequence with a long one: `ctc_loss`.

Source: Graves, Fernández, Gomez, Schmidhuber, Connectionist temporal classification (2006).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ZERO, Attrs, no_derivative, ops
from symgrad.ops.families import Array, composite, opaque, require_kind
from symgrad.ops.gather import require_integers
from symgrad.ops.loss_reduction import as_floats, reduced, require_reduction, require_shape
from symgrad.ops.moments import wide
from symgrad.ops.running import along_axis, delayed
from symgrad.ops.scalar import astype, exp, logaddexp, logical_not, where
from symgrad.types import Size, TensorType, promote, require_equal

# --- a recurrence whose states have neighbours ----------------------------------------------------


def _moved_up(x: Any, k: int, fill: float = 0) -> Any:
    """The last axis moved up by ``k`` places, filled from below."""
    if k == 0:
        return x
    width = [(k, 0) if axis == x.ndim - 1 else (0, 0) for axis in range(x.ndim)]
    return ops.pad(x, width, constant_values=fill)[along_axis(x.ndim - 1, slice(None, -k))]


def _moved_down(x: Any, k: int) -> Any:
    if k == 0:
        return x
    width = [(0, k) if axis == x.ndim - 1 else (0, 0) for axis in range(x.ndim)]
    return ops.pad(x, width)[along_axis(x.ndim - 1, slice(k, None))]


def _advanced(x: Any) -> Any:
    """Each element replaced by the one after it along the first axis, the last by 0."""
    return ops.flip(delayed(ops.flip(x, axis=0), 0), axis=0)


def _banded_type(operands: list[TensorType], *, reverse: bool) -> TensorType:
    first, *weights = operands
    for weight in weights:
        for k, (m, n) in enumerate(zip(weight.shape, first.shape, strict=True)):
            require_equal(m, n, "banded_recurrence", f"sizes of axis {k}")
    return TensorType(first.shape, promote(*(x.dtype for x in operands)))


def _banded_vjp(i: int, ct: Any, s: Any, args: Any, attrs: Attrs) -> Any:
    reverse = attrs["reverse"]
    adjoint = banded_recurrence([ct, *args[1:]], reverse=not reverse)
    if i == 0:
        return adjoint
    if reverse:
        return s * _moved_up(delayed(adjoint, 0), i - 1)
    return adjoint * _moved_up(delayed(s, 0), i - 1)


def _banded_jvp(tangents: Any, s: Any, args: Any, attrs: Attrs) -> Any:
    push = tangents[0]
    for k, tangent in enumerate(tangents[1:]):
        if tangent is ZERO:
            continue
        if attrs["reverse"]:
            term = _moved_down(_advanced(tangent * s), k)
        else:
            term = tangent * _moved_up(delayed(s, 0), k)
        push = term if push is ZERO else push + term
    return ZERO if push is ZERO else banded_recurrence([push, *args[1:]], **attrs)


@opaque(type=_banded_type, vjp=_banded_vjp, jvp=_banded_jvp, namespace=None)
def banded_recurrence(operands: Sequence[Array], /, *, reverse: bool) -> Array:
    """The solution of ``s[t, ..., i] = b[t, ..., i] + sum_k w_k[t, ..., i] * s[t-1, ..., i-k]``.

    Reversed, that of the transposed system. Beyond the ends, ``s`` is 0.

    Args:
        operands: b, w_0, w_1, ...: arrays of one shape, (time, ..., states).
        reverse: from the end to the front.

    >>> banded_recurrence([np.ones((3, 2))] * 3, reverse=False)
    Tensor([[1., 1.],
            [2., 3.],
            [3., 6.]])
    """
    states = np.array(operands[0], np.result_type(*operands))
    size = states.shape[-1]
    for step in range(1, len(states)):
        t = len(states) - step if reverse else step
        for k, weights in enumerate(operands[1 : size + 1]):
            weight = weights[t, ..., k:]
            if reverse:
                states[t - 1, ..., : size - k] += weight * states[t, ..., k:]
            else:
                states[t, ..., k:] += weight * states[t - 1, ..., : size - k]
    return states


# --- the sums -------------------------------------------------------------------------------------


def _prefix_type(x: TensorType, skips: TensorType) -> TensorType:
    require_kind("alignment_sums", x.dtype, "floating")
    require_kind("alignment_sums", skips.dtype, "bool", "skips")
    for k, (m, n) in enumerate(zip(x.shape[1:], skips.shape, strict=True)):
        require_equal(m, n, "alignment_sums", f"sizes of axis {k}")
    return x


def _shares(y: Any, x: Any, skips: Any) -> list[Any]:
    """Of what arrives at each state, the shares of the state itself and of the two below."""
    before, total = delayed(y, 0, -math.inf), y - x
    dead = y == -math.inf
    shares = [where(dead, 0, exp(_moved_up(before, k, -math.inf) - total)) for k in range(3)]
    return [*shares[:2], where(skips, shares[2], 0)]


def _prefix_jvp(tangents: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    if tangents[0] is ZERO:
        return ZERO
    return banded_recurrence([tangents[0], *_shares(y, *args)], reverse=False)


@opaque(
    type=_prefix_type,
    vjp=(
        lambda ct, y, x, skips: banded_recurrence([ct, *_shares(y, x, skips)], reverse=True),
        no_derivative("skips are booleans"),
    ),
    jvp=_prefix_jvp,
    namespace=None,
)
def alignment_sums(x: Array, skips: Array, /) -> Array:
    """The logarithm of the summed weights of all paths that end at a time in a state.

    A path starts in the first or second state, and at each time stays, goes to the next state, or,
    where that may be skipped, to the one after it.

    Args:
        x: (time, batch, states) logarithms of the weight of being in a state.
        skips: (batch, states) whether it may be entered from two states below.

    >>> alignment_sums(np.zeros((2, 1, 2)), np.zeros((1, 2), bool))
    Tensor([[[0.        , 0.        ]],
            [[0.        , 0.69314718]]])
    """
    sums = np.full_like(x, -np.inf)
    sums[:1, :, :2] = x[:1, :, :2]
    for t in range(1, len(x)):
        before = sums[t - 1]
        now = before.copy()
        now[:, 1:] = np.logaddexp(now[:, 1:], before[:, :-1])
        both = np.logaddexp(now[:, 2:], before[:, :-2])
        now[:, 2:] = np.where(skips[:, 2:], both, now[:, 2:])
        sums[t] = now + x[t]
    return sums


# --- the loss -------------------------------------------------------------------------------------


def _with_blanks(targets: Any, target_lengths: Any, blank: int) -> tuple[Any, Any]:
    """The labels of the states, blanks around and between the targets; and which may be skipped."""
    batch, size = targets.shape
    inside = ops.arange(size) < ops.reshape(target_lengths, (-1, 1))
    targets = where(inside, targets, blank)
    pairs = ops.stack([ops.full_like(targets, blank), targets], axis=-1)
    states = ops.reshape(pairs, (batch, 2 * size))
    labels = ops.pad(states, ((0, 0), (0, 1)), constant_values=blank)
    # A blank between equal labels keeps them apart. No label is -1.
    skipped = ops.pad(labels, ((0, 0), (2, 0)), constant_values=-1)[:, : 2 * size + 1]
    return labels, (labels != blank) & (labels != skipped)


def _log_likelihood(sums: Any, input_lengths: Any, target_lengths: Any) -> Any:
    """At the last time of each sequence, in its last label or the blank after it."""
    batch, states = sums.shape[1:]
    last = ops.reshape(ops.maximum(input_lengths - 1, 0), (1, -1, 1))
    at_end = ops.take_along_axis(sums, ops.broadcast_to(last, (1, batch, states)), axis=0)[0]
    ends = ops.reshape(2 * target_lengths, (-1, 1))
    blank = ops.take_along_axis(at_end, ends, axis=1)[:, 0]
    label = ops.take_along_axis(at_end, ops.maximum(ends - 1, 0), axis=1)[:, 0]
    total = where(target_lengths > 0, logaddexp(blank, label), blank)
    # In no time nothing can be said, and nothing is.
    return where(input_lengths > 0, total, where(target_lengths > 0, -math.inf, 0))


def _require_ctc(log_probs: Any, targets: Any, lengths: dict[str, Any], blank: Any) -> None:
    if log_probs.ndim != 3 or targets.ndim != 2:
        raise ShapeError(
            "ctc_loss",
            "log_probs and targets have other axes",
            expected="(time, batch, class) and (batch, label), or both without a batch",
            got=(log_probs.shape, targets.shape),
        )
    require_integers("ctc_loss", [targets, *lengths.values()])
    batch: Size = log_probs.shape[1]
    require_shape("ctc_loss", "targets", targets.shape[:1], (batch,), "the batch")
    for argument, value in lengths.items():
        require_shape("ctc_loss", argument, value.shape, (batch,), "the batch")
    classes = log_probs.shape[2]
    if not isinstance(blank, int) or blank < 0 or (isinstance(classes, int) and blank >= classes):
        expected = f"an int from 0 to {classes - 1}"
        raise ArgumentError("ctc_loss", "blank is no class", expected=expected, got=repr(blank))


@composite
def ctc_loss(
    log_probs: Array,
    targets: Array,
    input_lengths: Array,
    target_lengths: Array,
    /,
    *,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """The negative logarithm of the probability of labels, over all their alignments in time.

    An alignment gives each time a class; repeated classes are merged, then blanks left out. The
    derivative is that of this function of any numbers, also of such that are no log-probabilities.

    Args:
        log_probs: (time, batch, class) logarithms of probabilities, as `log_softmax` gives them; or
            (time, class) for one sequence.
        targets: (batch, label) classes other than blank; what follows the length is not read. Or
            (label,) for one sequence.
        input_lengths: (batch,) how many times of each sequence count.
        target_lengths: (batch,) how many labels each sequence has.
        blank: the class that says nothing.
        reduction: "mean" divides each loss by the number of its labels (by 1 if it has none), then
            takes the mean over the batch; "sum"; or "none".
        zero_infinity: take 0, with slope 0, for the infinite loss of labels that do not fit
            into the time.
    Raises:
        ShapeError: shapes do not fit. DTypeError: classes or lengths are no integers.
        ArgumentError: an unknown reduction; blank is no class.

    >>> import symgrad as sg
    >>> p = sg.asarray([[[0.5, 0.5]], [[0.5, 0.5]]])
    >>> float(sg.exp(-sg.ctc_loss(sg.log(p), [[1]], [2], [1])))  # of 4 alignments all but "--"
    0.75
    """
    require_reduction("ctc_loss", reduction)
    given = as_floats("ctc_loss", "log_probs", log_probs)
    targets, log_probs = ops.asarray(targets), wide(given)
    lengths = {
        "input_lengths": ops.asarray(input_lengths),
        "target_lengths": ops.asarray(target_lengths),
    }
    alone = log_probs.ndim == 2
    if alone:
        log_probs, targets = log_probs[:, None], targets[None]
        lengths = {argument: ops.reshape(value, (1,)) for argument, value in lengths.items()}
    _require_ctc(log_probs, targets, lengths, blank)
    # Signed, since some differ by one from others.
    targets, times, labelled = (astype(v, "int64") for v in (targets, *lengths.values()))
    loss = _ctc_losses(log_probs, targets, times, labelled, blank)
    if zero_infinity:
        loss = where(loss == math.inf, 0, loss)
    if reduction == "mean":
        loss = loss / ops.maximum(labelled, 1)
    loss = reduced(loss[0] if alone else loss, reduction)
    return loss if loss.dtype == given.dtype else astype(loss, given.dtype)


def _ctc_losses(log_probs: Any, targets: Any, times: Any, labelled: Any, blank: int) -> Any:
    labels, skips = _with_blanks(targets, labelled, blank)
    span, batch, _ = log_probs.shape
    place = ops.broadcast_to(labels, (span, batch, labels.shape[1]))
    scores = ops.take_along_axis(log_probs, place, axis=2)
    # What comes after the end is not read, whatever it holds.
    ended = ops.reshape(ops.arange(span), (-1, 1, 1)) >= ops.reshape(times, (-1, 1))
    scores = where(logical_not(ended), scores, 0)
    return -_log_likelihood(alignment_sums(scores, skips), times, labelled)
