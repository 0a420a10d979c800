"""Discrete Fourier transforms: the functions of the Python array API standard, chapter fft.

They fit sizes, and call the ops of `symgrad.ops.spectra`.
"""

from __future__ import annotations

from typing import Any

from symgrad.errors import ArgumentError, DTypeError, ShapeError
from symgrad.ir.op import ops
from symgrad.ops.conversion import require_cpu
from symgrad.ops.families import Array, composite
from symgrad.ops.spectra import (
    OPPOSITE,
    from_half_spectrum,
    half_spectrum,
    known_norm,
    require_points,
    spectrum,
)
from symgrad.types import (
    Dim,
    Size,
    as_dtype,
    complex_dtype,
    default_float,
    is_complex,
    is_inexact,
    max_size,
    normalize_axes,
    normalize_axis,
)

# --- one axis -------------------------------------------------------------------------------------


def _as_complex(x: Any) -> Any:
    x = ops.asarray(x)
    return x if is_complex(x.dtype) else ops.astype(x, complex_dtype(x.dtype))


def _fitted(where: str, x: Any, axis: int, size: Any) -> Any:
    """``x`` cut, or padded with zeros, to ``size`` points along an axis."""
    have = x.shape[axis]
    if size is None or size == have:
        return x
    if not isinstance(size, (int, Dim)) or isinstance(size, bool):
        raise ArgumentError(where, "a number of points is no number", got=repr(size))
    require_points(where, size)
    missing = max_size(size - have, 0)
    if missing != 0:
        widths = [(0, missing if k == axis else 0) for k in range(x.ndim)]
        x = ops.pad(x, widths)
    return x if x.shape[axis] == size else x[(*(slice(None),) * axis, slice(0, size))]


def _transformed(where: str, x: Any, sizes: Any, axes: Any, inverse: bool, norm: Any) -> Any:
    x = _as_complex(x)
    sizes, axes = _sizes_and_axes(where, x, sizes, axes)
    for axis, size in zip(axes, sizes, strict=True):
        x = _fitted(where, x, axis, size)
    return spectrum(x, axes=axes, inverse=inverse, norm=norm)


def _sizes_and_axes(where: str, x: Any, sizes: Any, axes: Any) -> tuple[Any, tuple[int, ...]]:
    """What a transform along several axes is asked for: by default the last ones, or all."""
    if axes is None:
        count = x.ndim if sizes is None else len(sizes)
        axes = range(x.ndim - count, x.ndim)
    axes = normalize_axes(tuple(axes), x.ndim, where)
    sizes = (None,) * len(axes) if sizes is None else tuple(sizes)
    if len(sizes) != len(axes):
        raise ShapeError(where, "one size per axis", expected=len(axes), got=len(sizes))
    return sizes, axes


@composite(namespace="fft")
def fft(x: Array, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
    """The discrete Fourier transform, ``y[j] = sum(x[k] * exp(-2j*pi*j*k/n))``.

    Args:
        x: numbers; real ones are cast to complex.
        n: the number of points: cut, or padded with zeros, to so many along the axis.
        axis: the axis.
        norm: which direction has the factor 1/n: "backward", "forward", or "ortho", which gives
            both ``1/sqrt(n)``.
    Raises:
        ShapeError: no points, or no such axis. ArgumentError: no such norm.

    >>> import symgrad as sg
    >>> sg.fft.fft(sg.asarray([1.0, 0.0, 0.0]))
    Tensor([1.+0.j, 1.+0.j, 1.+0.j])
    """
    return _transformed("fft", x, (n,), (axis,), False, norm)


@composite(namespace="fft")
def ifft(x: Array, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
    """The inverse of `fft`, with the same arguments.

    >>> import symgrad as sg
    >>> sg.fft.ifft(sg.asarray([3.0, 0.0, 0.0]))
    Tensor([1.+0.j, 1.+0.j, 1.+0.j])
    """
    return _transformed("ifft", x, (n,), (axis,), True, norm)


@composite(namespace="fft")
def rfft(x: Array, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
    """The transform of real numbers: the first ``n//2 + 1`` points, which determine the others.

    Args:
        x: real numbers.
        n, axis, norm: as for `fft`.
    Raises:
        DTypeError: complex numbers; else as `fft`.

    >>> import symgrad as sg
    >>> sg.fft.rfft(sg.asarray([1.0, 0.0, 0.0]))
    Tensor([1.+0.j, 1.+0.j])
    """
    x = ops.asarray(x)
    axis = normalize_axis(axis, x.ndim, "rfft")
    return half_spectrum(_fitted("rfft", x, axis, n), axis=axis, norm=norm)


@composite(namespace="fft")
def irfft(x: Array, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
    """The inverse of `rfft`: real numbers.

    Args:
        x: the first points of the spectrum; what must be real, at both ends, is taken as real.
        n: the number of points of the result; ``2*(m - 1)`` if None, for m points of ``x``.
        axis, norm: as for `fft`.
    Raises:
        As `fft`.

    >>> import symgrad as sg
    >>> sg.fft.irfft(sg.asarray([3.0 + 0j, 0.0]), n=3)
    Tensor([1., 1., 1.])
    """
    x = _as_complex(x)
    axis = normalize_axis(axis, x.ndim, "irfft")
    size = 2 * (x.shape[axis] - 1) if n is None else n
    require_points("irfft", size)
    half = _fitted("irfft", x, axis, size // 2 + 1)
    return from_half_spectrum(half, size=size, axis=axis, norm=norm)


@composite(namespace="fft")
def hfft(x: Array, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
    """The transform of a signal whose spectrum is real, of which ``x`` is the first half.

    Args:
        x: the first points of the signal.
        n: the number of points of the spectrum; ``2*(m - 1)`` if None, for m points of ``x``.
        axis, norm: as for `fft`.
    Raises:
        As `fft`.

    >>> import symgrad as sg
    >>> sg.fft.hfft(sg.asarray([1.0 + 0j, 0.0]), n=3)
    Tensor([1., 1., 1.])
    """
    return irfft(ops.conj(_as_complex(x)), n=n, axis=axis, norm=_opposite("hfft", norm))


@composite(namespace="fft")
def ihfft(x: Array, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
    """The inverse of `hfft`: the first half of a signal, from its real spectrum.

    Args:
        x: real numbers.
        n, axis, norm: as for `fft`.
    Raises:
        As `rfft`.

    >>> import symgrad as sg
    >>> sg.real(sg.fft.ihfft(sg.asarray([1.0, 1.0, 1.0])))
    Tensor([1., 0.])
    """
    return ops.conj(rfft(x, n=n, axis=axis, norm=_opposite("ihfft", norm)))


def _opposite(where: str, norm: Any) -> str:
    return OPPOSITE[known_norm(where, norm)]


# --- several axes ---------------------------------------------------------------------------------


@composite(namespace="fft")
def fftn(x: Array, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    """The transform along several axes.

    Args:
        x: numbers; real ones are cast to complex.
        s: the number of points along each axis, as ``n`` of `fft`.
        axes: the axes; None: as many of the last ones as there are sizes, or all.
        norm: as for `fft`.
    Raises:
        ShapeError: not one size per axis; else as `fft`.

    >>> import symgrad as sg
    >>> sg.fft.fftn(sg.eye(2))
    Tensor([[2.+0.j, 0.+0.j],
            [0.+0.j, 2.+0.j]])
    """
    return _transformed("fftn", x, s, axes, False, norm)


@composite(namespace="fft")
def ifftn(x: Array, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    """The inverse of `fftn`, with the same arguments.

    >>> import symgrad as sg
    >>> sg.fft.ifftn(2 * sg.eye(2))
    Tensor([[1.+0.j, 0.+0.j],
            [0.+0.j, 1.+0.j]])
    """
    return _transformed("ifftn", x, s, axes, True, norm)


@composite(namespace="fft")
def rfftn(x: Array, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    """The transform of real numbers along several axes; `rfft` along the last of them.

    Args:
        x: real numbers.
        s, axes, norm: as for `fftn`.
    Raises:
        ShapeError: no axis at all; else as `fftn` and `rfft`.

    >>> import symgrad as sg
    >>> sg.fft.rfftn(sg.ones((2, 2))).shape
    (2, 2)
    """
    x = ops.asarray(x)
    sizes, axes = _sizes_and_axes("rfftn", x, s, axes)
    _require_an_axis("rfftn", axes)
    half = rfft(x, n=sizes[-1], axis=axes[-1], norm=norm)
    return _transformed("rfftn", half, sizes[:-1], axes[:-1], False, norm)


@composite(namespace="fft")
def irfftn(x: Array, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    """The inverse of `rfftn`: real numbers.

    Args:
        x: numbers; real ones are cast to complex.
        s: the number of points of the result along each axis; along the last as for `irfft`.
        axes, norm: as for `fftn`.
    Raises:
        As `rfftn`.

    >>> import symgrad as sg
    >>> sg.fft.irfftn(sg.fft.rfftn(sg.ones((2, 2))))
    Tensor([[1., 1.],
            [1., 1.]])
    """
    x = _as_complex(x)
    sizes, axes = _sizes_and_axes("irfftn", x, s, axes)
    _require_an_axis("irfftn", axes)
    others = _transformed("irfftn", x, sizes[:-1], axes[:-1], True, norm)
    return irfft(others, n=sizes[-1], axis=axes[-1], norm=norm)


def _require_an_axis(where: str, axes: tuple[int, ...]) -> None:
    if not axes:
        raise ShapeError(where, "no axis to transform", expected="at least one axis")


# --- frequencies ----------------------------------------------------------------------------------


@composite(namespace="fft")
def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """The frequency of each point of a spectrum: 0, 1, …, and from the middle on negative ones.

    Args:
        n: the number of points.
        d: the time between two points of the signal.
        dtype: a real floating-point type; the default one if None.
    Raises:
        DTypeError: another element type. ShapeError: fewer than one point.

    >>> import symgrad as sg
    >>> sg.fft.fftfreq(4)
    Tensor([ 0.  ,  0.25, -0.5 , -0.25])
    """
    k = _counted("fftfreq", n, n, dtype, device)
    return ops.where(k < (n + 1) // 2, k, k - n) * _step(n, d, k.dtype)


@composite(namespace="fft")
def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """The frequency of each point of a half spectrum; arguments as for `fftfreq`.

    >>> import symgrad as sg
    >>> sg.fft.rfftfreq(4)
    Tensor([0.  , 0.25, 0.5 ])
    """
    k = _counted("rfftfreq", n, n // 2 + 1, dtype, device)
    return k * _step(n, d, k.dtype)


def _counted(where: str, n: Any, count: Size, dtype: Any, device: Any) -> Any:
    require_cpu(where, device)
    require_points(where, n)
    wanted = default_float() if dtype is None else as_dtype(dtype)
    if not is_inexact(wanted) or is_complex(wanted):
        raise DTypeError(where, "frequencies are real", expected="a floating type", got=wanted)
    return ops.astype(ops.arange(count), wanted)


def _step(n: Any, d: Any, dtype: Any) -> Any:
    return 1 / ((ops.size(dim=n, dtype=dtype) if isinstance(n, Dim) else n) * d)


@composite(namespace="fft")
def fftshift(x: Array, /, *, axes: Any = None) -> Any:
    """The frequency 0 moved to the middle of each axis.

    Args:
        x: an array of any element type.
        axes: an axis or several; None: all.
    Raises:
        ShapeError: no such axis.

    >>> import symgrad as sg
    >>> sg.fft.fftshift(sg.fft.fftfreq(4))
    Tensor([-0.5 , -0.25,  0.  ,  0.25])
    """
    x = ops.asarray(x)
    axes = normalize_axes(axes, x.ndim, "fftshift")
    return ops.roll(x, tuple(x.shape[axis] // 2 for axis in axes), axis=axes)


@composite(namespace="fft")
def ifftshift(x: Array, /, *, axes: Any = None) -> Any:
    """The inverse of `fftshift`.

    >>> import symgrad as sg
    >>> sg.fft.ifftshift(sg.asarray([-1.0, 0.0, 1.0]))
    Tensor([ 0.,  1., -1.])
    """
    x = ops.asarray(x)
    axes = normalize_axes(axes, x.ndim, "ifftshift")
    return ops.roll(x, tuple(-(x.shape[axis] // 2) for axis in axes), axis=axes)
