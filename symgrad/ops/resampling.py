"""Images of another size: interpolate.

Along each axis, a cell of the result is a weighted sum of a few cells of the image, its taps. Where
they are and what they weigh follows from the sizes alone, so the map is linear, and its transpose
adds each cell back to its taps.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import Attrs, ops
from symgrad.ir.signature import canonical
from symgrad.ops.adaptive_pool import adaptive_avg_pool
from symgrad.ops.families import Array, composite, linear, require_kind
from symgrad.ops.half import working_dtype
from symgrad.ops.windows import require_spatial, sizes_per_axis, spatial_axes
from symgrad.types import Size, TensorType

# --- taps -----------------------------------------------------------------------------------------

REACH = "cubic-reach"
"""The mode of guards: weights of the cubic kernel without their sign, so that none cancel."""


def _cubic(distance: Array, a: float) -> Array:
    """Keys' convolution kernel with parameter ``a``: cubic between whole numbers, 0 beyond 2.

    R. Keys, "Cubic convolution interpolation for digital image processing" (1981).
    """
    d = np.abs(distance)
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((d - 5) * d + 8) * d * a - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))


def _smoothed(size: int, count: int, step: float, mode: str) -> tuple[Array, Array]:
    """Taps of a kernel that is as wide as a cell of the result, where that is the larger one."""
    reach, wide = (1.0 if mode == "linear" else 2.0), max(step, 1.0)
    centre = step * (np.arange(count) + 0.5)
    first = np.maximum(np.trunc(centre - reach * wide + 0.5), 0).astype(np.int64)
    last = np.minimum(np.trunc(centre + reach * wide + 0.5), size).astype(np.int64) - 1
    taps = first + np.arange(max(np.max(last - first) + 1, 1))[:, None]
    distance = (taps - centre + 0.5) / wide
    hat = np.maximum(1 - np.abs(distance), 0)
    weights = hat if mode == "linear" else _cubic(distance, -0.5)
    weights = np.where(taps <= last, weights, 0)
    total = np.sum(weights, axis=0)
    return np.clip(taps, 0, np.maximum(last, 0)), weights / np.where(total == 0, 1, total)


def _taps(
    size: int, count: int, ratio: Any, mode: str, align_corners: bool, antialias: bool
) -> tuple[Array, Array]:
    """Positions and weights (taps, count) of ``count`` cells over an axis of ``size``; positions
    never fall along the axis."""
    if mode == REACH:
        taps, weights = _taps(size, count, ratio, "cubic", align_corners, antialias)
        return taps, np.abs(weights)
    cells = np.arange(count)
    if count == size and (mode == "linear" or antialias):
        return cells[None], np.ones((1, count))
    # The distance of two cells of the result, in cells of the image, as a fraction.
    above, below = (size, count) if ratio is None else (ratio[1], ratio[0])
    if mode == "nearest":
        return np.minimum(cells * above // below, size - 1)[None], np.ones((1, count))
    if mode == "nearest-exact":
        middle = (2 * cells + 1) * above // (2 * below)
        return np.minimum(middle, size - 1)[None], np.ones((1, count))
    if align_corners:
        above, below = size - 1, max(count - 1, 1)
        above = above if count > 1 else 0
    if antialias:
        return _smoothed(size, count, above / below, mode)
    if align_corners:
        source = cells * above / below
    else:
        source = ((2 * cells + 1) * above - below) / (2 * below)
    if mode == "linear":
        source = np.maximum(source, 0)
    left = np.minimum(np.floor(source).astype(np.int64), size - 1)
    part = np.clip(source - left, 0, 1)
    if mode == "linear":
        return np.stack([left, np.minimum(left + 1, size - 1)]), np.stack([1 - part, part])
    offsets = np.arange(-1, 3)[:, None]
    return np.clip(left + offsets, 0, size - 1), _cubic(part - offsets, -0.75)


# --- the two ops ----------------------------------------------------------------------------------


def _require_type(where: str, x: TensorType, mode: str) -> None:
    require_kind(where, x.dtype, "any" if mode.startswith("nearest") else "inexact")


def _resample_type(x: TensorType, *, size: Any, mode: str, **attrs: Any) -> TensorType:
    _require_type("interpolate", x, mode)
    require_spatial("interpolate", x)
    return TensorType((*x.shape[:2], *size), x.dtype)


def _transpose_type(ct: TensorType, *, shape: Any, mode: str, **attrs: Any) -> TensorType:
    _require_type("resample_transpose", ct, mode)
    require_spatial("resample_transpose", ct)
    return TensorType((*ct.shape[:2], *shape), ct.dtype)


def _to_x(ct: Any, x: Any, *, size: Any, **attrs: Any) -> Any:
    return resample_transpose(ct, shape=x.shape[2:], **attrs)


def _to_ct(ct: Any, y: Any, *, shape: Any, **attrs: Any) -> Any:
    return resample(ct, size=y.shape[2:], **attrs)


def _guard(i: int, predicate: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    mode = REACH if attrs["mode"] == "cubic" else attrs["mode"]
    predicate = ops.astype(predicate, np.dtype(np.float32))
    return (_to_x if "size" in attrs else _to_ct)(predicate, *args, **{**attrs, "mode": mode}) != 0


@linear(
    type=_resample_type,
    transpose=_to_x,
    guard=_guard,
    warns=False,
    namespace=None,
)
def resample(
    x: Array, /, *, size: Any, ratios: Any, mode: str, align_corners: bool, antialias: bool
) -> Array:
    """Images (N, C, *sizes) of another size. `interpolate` is its public face.

    Args:
        ratios: per axis the pair (p, q) of whole numbers, if the scale is p/q whatever the sizes
            say; or None for all.

    >>> import symgrad as sg
    >>> x, attrs = sg.asarray([[[0.0, 4.0]]]), {"align_corners": False, "antialias": False}
    >>> resample(x, size=(4,), ratios=None, mode="linear", **attrs)
    Tensor([[[0., 1., 3., 4.]]])
    """
    y = x if x.dtype.kind in "biu" else x.astype(working_dtype(x.dtype), copy=False)
    for axis, count in enumerate(size):
        ratio = None if ratios is None else ratios[axis]
        taps, weights = _taps(y.shape[2 + axis], count, ratio, mode, align_corners, antialias)
        if len(taps) == 1:
            y = np.take(y, taps[0], axis=2 + axis)
            continue
        along = (count,) + (1,) * (y.ndim - 3 - axis)
        total: Any = 0
        for tap, weight in zip(taps, weights.astype(y.real.dtype), strict=True):
            if np.any(weight):
                total = total + np.take(y, tap, axis=2 + axis) * weight.reshape(along)
        y = total
    return y.astype(x.dtype, copy=False)


@linear(
    type=_transpose_type,
    transpose=_to_ct,
    guard=_guard,
    warns=False,
    namespace=None,
)
def resample_transpose(
    ct: Array, /, *, shape: Any, ratios: Any, mode: str, align_corners: bool, antialias: bool
) -> Array:
    """The transpose of `resample` on images of sizes ``shape``.

    >>> import symgrad as sg
    >>> ct, attrs = sg.asarray([[[1.0, 2.0, 4.0, 8.0]]]), {"ratios": None, "antialias": False}
    >>> resample_transpose(ct, shape=(2,), mode="nearest", align_corners=False, **attrs)
    Tensor([[[ 3., 12.]]])
    """
    x = ct if ct.dtype.kind in "biu" else ct.astype(working_dtype(ct.dtype), copy=False)
    for axis, size in enumerate(shape):
        lead, count = (slice(None),) * (2 + axis), x.shape[2 + axis]
        ratio = None if ratios is None else ratios[axis]
        taps, weights = _taps(size, count, ratio, mode, align_corners, antialias)
        along = (count,) + (1,) * (x.ndim - 3 - axis)
        whole = np.zeros((*x.shape[: 2 + axis], size, *x.shape[3 + axis :]), x.dtype)
        for tap, weight in zip(taps, weights.astype(x.real.dtype), strict=True):
            # Equal positions stand side by side: each run of them is one sum.
            runs = np.flatnonzero(np.diff(tap, prepend=-1))
            part = np.add.reduceat(x * weight.reshape(along), runs, axis=2 + axis, dtype=x.dtype)
            whole[(*lead, tap[runs])] += part
        x = whole
    return x.astype(ct.dtype, copy=False)


# --- interpolate ----------------------------------------------------------------------------------

_KINDS: dict[str, tuple[str, int | None]] = {
    "nearest": ("nearest", None),
    "nearest-exact": ("nearest-exact", None),
    "linear": ("linear", None),
    "bilinear": ("linear", 2),
    "trilinear": ("linear", 3),
    "cubic": ("cubic", None),
    "bicubic": ("cubic", 2),
    "area": ("area", None),
}
"""What each mode is, and for how many axes if its name says so."""


def _kind(mode: str, axes: int, align_corners: bool, antialias: bool) -> str:
    where = "interpolate"
    if mode not in _KINDS:
        raise ArgumentError(where, "unknown mode", expected=", ".join(_KINDS), got=repr(mode))
    kind, only = _KINDS[mode]
    if only not in (None, axes):
        raise ShapeError(where, f"mode {mode!r}", expected=f"{only} spatial axes", got=axes)
    for name, chosen in (("align_corners", align_corners), ("antialias", antialias)):
        if chosen and kind not in ("linear", "cubic"):
            raise ArgumentError(where, f"{name} is for linear and cubic modes", got=repr(mode))
    return kind


def _ratio(scale: Any) -> tuple[int, int]:
    """A scale as the nearest fraction of small numbers: 0.1 is 1/10."""
    if type(scale) not in (int, float) or not 0 < scale < math.inf:
        raise ArgumentError(
            "interpolate", "scale_factor", expected="a number above 0", got=repr(scale)
        )
    return Fraction(scale).limit_denominator(1_000_000).as_integer_ratio()


def _target(
    x: TensorType, size: Any, scale_factor: Any
) -> tuple[tuple[Size, ...], tuple[tuple[int, int], ...] | None]:
    """The sizes of the result, and the scales if they were given."""
    where, sizes = "interpolate", x.shape[2:]
    if (size is None) == (scale_factor is None):
        raise ArgumentError(where, "either size or scale_factor is needed, and not both")
    if size is not None:
        return sizes_per_axis(where, "size", size, sizes, least=1), None
    given = canonical("scale_factor", scale_factor)
    factors = given if isinstance(given, tuple) else (given,) * len(sizes)
    if len(factors) != len(sizes):
        raise ShapeError(where, "scale_factor", expected=f"{len(sizes)} numbers", got=given)
    ratios = tuple(map(_ratio, factors))
    scaled = tuple(n * p // q for n, (p, q) in zip(sizes, ratios, strict=True))
    return sizes_per_axis(where, "size", scaled, sizes, least=1), ratios


@composite
def interpolate(
    x: Array,
    /,
    size: Any = None,
    *,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    antialias: bool = False,
) -> Any:
    """Images of another size.

    The middle of cell i stands at ``i + 1/2``, and scaling maps the images' edges onto each other;
    with ``align_corners``, it maps the middles of the first and last cells onto each other.

    Args:
        x: images (N, C, *sizes), floating-point or complex; for the nearest cell of any type.
        size: the sizes of the result: one for all spatial axes, or one per axis; None there keeps
            an axis.
        scale_factor: a number or one per axis, instead of ``size``, which then is the product
            rounded down. Cells of the result are exactly so much smaller, whatever was cut off; but
            linear modes and antialias leave an axis that keeps its size as it is.
        mode: "nearest" (the cell where one of the result begins), "nearest-exact" (where its middle
            is), "linear" ("bilinear", "trilinear" for 2 and 3 axes), "cubic" (Keys' kernel with
            a = -3/4; "bicubic" for 2 axes), "area" (`adaptive_avg_pool`).
        align_corners, antialias: for linear and cubic modes. With ``antialias``, the kernel is as
            wide as a cell of the result, where that is larger (and a = -1/2).
    Raises:
        ArgumentError: an unknown mode or one without the options asked for, both or neither of size
            and scale_factor. ShapeError: no such number of axes, or an empty one. DTypeError:
            integers and booleans, where they would have to be mixed.

    >>> import symgrad as sg
    >>> sg.interpolate(sg.asarray([[[1.0, 2.0, 4.0]]]), 6, mode="linear")
    Tensor([[[1.  , 1.25, 1.75, 2.5 , 3.5 , 4.  ]]])
    """
    x = ops.asarray(x)
    kind = _kind(mode, spatial_axes("interpolate", x.type), align_corners, antialias)
    target, ratios = _target(x.type, size, scale_factor)
    if kind == "area":
        return adaptive_avg_pool(x, target)
    return resample(
        x,
        size=target,
        ratios=ratios,
        mode=kind,
        align_corners=bool(align_corners),
        antialias=bool(antialias),
    )
