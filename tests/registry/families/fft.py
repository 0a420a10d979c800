"""Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tests.registry.sampling import S, Sample, called, cnormal, normal

_MANY = [
    S(normal(5, 7)),
    S(cnormal(5, 7), axes=(0,)),
    S(cnormal(5, 7), s=(4, 9), norm="ortho"),
    S(cnormal(4, 5, 6), axes=(2, 0), norm="forward"),
]
_ONE = [
    S(cnormal(6)),
    S(normal(5, 7), axis=0),
    S(cnormal(5, 7), n=4, norm="forward"),
    S(cnormal(5, 7), n=9, axis=0, norm="ortho"),
    S(cnormal(1)),
]
_REAL = [
    S(normal(6)),
    S(normal(5, 7), axis=0, norm="forward"),
    S(normal(5, 7), n=4, norm="ortho"),
    S(normal(5, 7), n=10),
    S(normal(1)),
]
_HALF = [
    S(cnormal(5)),
    S(cnormal(5, 7), axis=0, n=9, norm="ortho"),
    S(cnormal(5, 7), n=6, norm="forward"),
    S(cnormal(5, 7), n=15),
    S(normal(4), n=7),
    S(cnormal(1), n=1),
]
_REAL_MANY = [
    S(normal(5, 6)),
    S(normal(5, 7), axes=(1, 0), norm="ortho"),
    S(normal(4, 5, 7), s=(6, 6), axes=(0, 1)),
]


def _half(sample: Sample, points: int) -> Sample:
    return replace(sample, fixed={points: "as many points as the size says"})


SAMPLES = {
    "spectrum": [
        S(cnormal(5, 7), axes=(0, 1)),
        S(cnormal(5, 7), axes=(-1,), inverse=True, norm="ortho"),
        S(cnormal(5), axes=()),
    ],
    "half_spectrum": [
        S(normal(6, 7)),
        S(normal(6, 7), axis=0, norm="forward"),
        S(normal(1)),
    ],
    "from_half_spectrum": [
        _half(S(cnormal(3, 4), size=7), 4),
        _half(S(cnormal(3, 4), size=4, axis=0, norm="ortho"), 3),
        _half(S(cnormal(1), size=1), 1),
    ],
}

COMPOSITE_SAMPLES = {
    "fft": _ONE,
    "ifft": _ONE,
    "rfft": _REAL,
    "irfft": _HALF,
    "hfft": _HALF,
    "ihfft": _REAL,
    "fftn": _MANY,
    "ifftn": _MANY,
    "rfftn": _REAL_MANY,
    "irfftn": [
        S(cnormal(5, 4)),
        S(cnormal(5, 4), s=(5, 7), norm="ortho"),
        S(cnormal(4, 5, 3), axes=(2, 0), norm="forward"),
    ],
    "fftfreq": [called(lambda op: op(5)), called(lambda op: op(4, d=0.5, dtype="float32"))],
    "rfftfreq": [called(lambda op: op(5)), called(lambda op: op(4, d=0.5, dtype="float32"))],
    "fftshift": [S(normal(5, 6)), S(normal(5, 6), axes=1)],
    "ifftshift": [S(normal(5, 6)), S(normal(5, 6), axes=(0,))],
}


def _along_the_last(transform: Callable[..., Any]) -> Callable[..., Any]:
    """numpy's function, told which axes it is by default."""

    def call(x: Any, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
        given = axes is not None or s is None
        return transform(x, s, axes if given else tuple(range(-len(s), 0)), norm)

    return call


REFERENCES = {
    name: getattr(np.fft, name)
    for name in "fft ifft rfft irfft hfft ihfft fftshift ifftshift".split()
} | {name: _along_the_last(getattr(np.fft, name)) for name in "fftn ifftn rfftn irfftn".split()}
