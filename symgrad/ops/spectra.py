"""The three ops that all Fourier transforms are made of, and their transposes.

`spectrum` maps between complex arrays and is its own transpose. `half_spectrum` comes from real
arrays, `from_half_spectrum` leads back; each has the other as its transpose, with a weight of two
for what stands for two elements of a whole spectrum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import Attrs, ops
from symgrad.ops.families import Array, linear, require_kind
from symgrad.types import (
    Size,
    TensorType,
    complex_dtype,
    normalize_axes,
    normalize_axis,
    real_dtype,
    require_equal,
)

OPPOSITE = {"backward": "forward", "ortho": "ortho", "forward": "backward"}
"""Which direction carries the factor 1/n, and the mode in which it is the other."""


def known_norm(where: str, norm: Any) -> str:
    """Refuse a mode that there is not."""
    if norm not in OPPOSITE:
        raise ArgumentError(where, "no such norm", expected=", ".join(OPPOSITE), got=repr(norm))
    return norm


def _normalized(where: str, types: Sequence[TensorType], attrs: Attrs) -> Attrs:
    """Axes counted from the front; a known mode."""
    known_norm(where, attrs["norm"])
    ndim = types[0].ndim
    if "axes" in attrs:
        return {**attrs, "axes": tuple(sorted(normalize_axes(attrs["axes"], ndim, where)))}
    return {**attrs, "axis": normalize_axis(attrs["axis"], ndim, where)}


def _with_size(shape: Sequence[Size], axis: int, size: Size) -> tuple[Size, ...]:
    return (*shape[:axis], size, *shape[axis + 1 :])


def require_points(where: str, size: Size) -> None:
    """Refuse a transform of nothing."""
    if isinstance(size, int) and size < 1:
        raise ShapeError(
            where, "a transform needs points", expected="a size of at least 1", got=size
        )


def _spectrum_type(x: TensorType, *, axes: Any, inverse: bool, norm: str) -> TensorType:
    require_kind("fft", x.dtype, "complex")
    for axis in axes:
        require_points("fft", x.shape[axis])
    return x


@linear(
    type=_spectrum_type,
    transpose=lambda ct, x, **attrs: ops.spectrum(ct, **attrs),
    normalize=lambda types, attrs: _normalized("fft", types, attrs),
    guard="drop",
    warns=False,
    namespace=None,
)
def spectrum(x: Array, /, *, axes: Any, inverse: bool = False, norm: Any = "backward") -> Array:
    """The transform of a complex array along axes. Its matrix is symmetric: its own transpose.

    >>> import symgrad as sg
    >>> spectrum(sg.asarray([1.0 + 0j, 0.0]), axes=(0,))
    Tensor([1.+0.j, 1.+0.j])
    """
    transform = np.fft.ifftn if inverse else np.fft.fftn
    return transform(x, axes=axes, norm=norm) if axes else np.array(x)


def _half_type(x: TensorType, *, axis: int, norm: str) -> TensorType:
    require_kind("rfft", x.dtype, "floating")
    require_points("rfft", x.shape[axis])
    return TensorType(_with_size(x.shape, axis, x.shape[axis] // 2 + 1), complex_dtype(x.dtype))


def _weights(like: Any, axis: int, size: Size) -> Any:
    """How many elements of a whole spectrum of ``size`` each of a half one stands for: 1 or 2."""
    k = ops.arange(like.shape[axis])
    alone = ops.logical_or(k == 0, 2 * k == size)
    weights = 2 - ops.astype(alone, real_dtype(like.dtype))
    return ops.reshape(weights, (-1, *(1,) * (like.ndim - axis - 1)))


def _half_transpose(ct: Any, x: Any, *, axis: int, norm: str) -> Any:
    size = x.shape[axis]
    return from_half_spectrum(
        ct / _weights(ct, axis, size), size=size, axis=axis, norm=OPPOSITE[norm]
    )


@linear(
    type=_half_type,
    transpose=_half_transpose,
    normalize=lambda types, attrs: _normalized("rfft", types, attrs),
    holomorphic=False,
    integers="float",
    guard="drop",
    warns=False,
    namespace=None,
)
def half_spectrum(x: Array, /, *, axis: int = -1, norm: Any = "backward") -> Array:
    """The transform of a real array along an axis: the half that determines the other.

    >>> import symgrad as sg
    >>> half_spectrum(sg.asarray([1.0, 0.0, 0.0]))
    Tensor([1.+0.j, 1.+0.j])
    """
    return np.fft.rfft(x, axis=axis, norm=norm)


def _from_half_type(x: TensorType, *, size: Size, axis: int, norm: str) -> TensorType:
    require_kind("irfft", x.dtype, "complex")
    require_points("irfft", size)
    require_equal(size // 2 + 1, x.shape[axis], "irfft", "points of the half spectrum")
    return TensorType(_with_size(x.shape, axis, size), real_dtype(x.dtype))


def _from_half_transpose(ct: Any, x: Any, *, size: Size, axis: int, norm: str) -> Any:
    half = half_spectrum(ct, axis=axis, norm=OPPOSITE[norm])
    return half * _weights(half, axis, size)


@linear(
    type=_from_half_type,
    transpose=_from_half_transpose,
    normalize=lambda types, attrs: _normalized("irfft", types, attrs),
    holomorphic=False,
    guard="drop",
    warns=False,
    namespace=None,
)
def from_half_spectrum(x: Array, /, *, size: Any, axis: int = -1, norm: Any = "backward") -> Array:
    """The real array of ``size`` points whose half spectrum is ``x``, of ``size // 2 + 1`` points.

    >>> import symgrad as sg
    >>> from_half_spectrum(sg.asarray([3.0 + 0j, 0.0]), size=3)
    Tensor([1., 1., 1.])
    """
    return np.fft.irfft(x, size, axis=axis, norm=norm)
