"""Activations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

import symgrad as sg
from tests.registry.formulas import LARGE, MIDDLE, REALS, SMALL, rows
from tests.registry.sampling import S, Sample, called, normal, spaced

_TAILS = [*MIDDLE, *SMALL, *LARGE]
_EDGELESS = [x for x in REALS if abs(x) not in (0.5, 3.0)]

DOMAINS = {
    "mish": ((-3.0, 3.0),),
    "squareplus": ((-3.0, 3.0),),
    "hardswish": ((-2.5, 2.5),),
    "selu": ((-0.9, -0.1),),
    "celu": ((-0.9, -0.1),),
    "softsign": ((-0.9, -0.1),),
    "tanhshrink": ((-2.0, 2.0),),
    "softshrink": ((0.6, 2.0),),
    "hardshrink": ((0.6, 2.0),),
    "threshold": ((0.6, 2.0),),
    "prelu": ((0.1, 0.9), (-0.5, 0.5)),
}

ATTRIBUTES = {
    "squareplus": [{"b": 4.0}, {"b": 0.3}],
    "celu": [{"alpha": 1.0}, {"alpha": 0.5}, {"alpha": -2.0}],
    "softshrink": [{"lambd": 0.5}, {"lambd": 2.5}],
    "hardshrink": [{"lambd": 0.5}, {"lambd": 2.5}],
    "threshold": [{"threshold": 0.5, "value": -7.0}, {"threshold": 2.5, "value": 1.0}],
}

OTHER_SIDE = (
    "selu", "celu", "softsign", "softshrink", "hardshrink", "threshold", "prelu",
)  # fmt: skip


def _mish_gate(x: Any) -> Any:
    return mpmath.tanh(mpmath.log1p(mpmath.exp(x)))


def _mish_slope(x: Any) -> Any:
    soft = mpmath.log1p(mpmath.exp(x))
    return mpmath.tanh(soft) + x * mpmath.sech(soft) ** 2 / (1 + mpmath.exp(-x))


_ALPHA, _SCALE = mpf("1.6732632423543772848170429916717"), mpf("1.0507009873554804934193349852946")


def _swish(x: Any) -> Any:
    return x if x >= 3 else mpf(0) if x <= -3 else x * (x + 3) / 6


def _swish_slope(x: Any) -> Any:
    return mpf(1) if x >= 3 else mpf(0) if x <= -3 else x / 3 + mpf(1) / 2


def _shrunk(x: Any) -> Any:
    return mpf(0) if abs(x) <= 0.5 else x - mpmath.sign(x) / 2


def _squareplus(b: float) -> Callable[[Any], Any]:
    def value(x: Any) -> Any:
        length = mpmath.sqrt(x * x + b)
        return (x + length) / 2 if x > 0 else b / (2 * (length - x))

    return value


def _squareplus_slope(b: float) -> Callable[[Any], Any]:
    return lambda x: _squareplus(b)(x) / mpmath.sqrt(x * x + b)


FORMULAS = {
    "mish": [rows(lambda x: x * _mish_gate(x), _mish_slope, _TAILS, slope_ulps=60)],
    "selu": [
        rows(
            lambda x: _SCALE * (x if x > 0 else _ALPHA * mpmath.expm1(x)),
            lambda x: _SCALE * (1 if x > 0 else _ALPHA * mpmath.exp(x)),
            REALS,
        )
    ],
    "celu": [
        rows(
            lambda x, a=a: x if x > 0 else a * mpmath.expm1(x / a),
            lambda x, a=a: mpf(1) if x > 0 else mpmath.exp(x / a),
            REALS,
            attrs={"alpha": a},
            slope_ulps=8 if a == 1 else 400,
        )
        for a in (1.0, 0.5)
    ],
    "squareplus": [
        rows(_squareplus(b), _squareplus_slope(b), REALS, attrs={"b": b}) for b in (4.0, 0.3)
    ],
    "hardswish": [rows(_swish, _swish_slope, [*MIDDLE, *SMALL, *LARGE, -2.9, 2.9])],
    "softsign": [rows(lambda x: x / (1 + abs(x)), lambda x: (1 + abs(x)) ** -2, REALS)],
    "tanhshrink": [
        rows(
            lambda x: x - mpmath.tanh(x),
            lambda x: mpmath.tanh(x) ** 2,
            [x for x in (*REALS, 0.99, -0.99, 0.1) if abs(x) > 1e-10],
        )
    ],
    "softshrink": [rows(_shrunk, lambda x: mpf(abs(x) > 0.5), _EDGELESS)],
    "hardshrink": [
        rows(lambda x: x if abs(x) > 0.5 else mpf(0), lambda x: mpf(abs(x) > 0.5), _EDGELESS)
    ],
    "threshold": [
        rows(
            lambda x: x if x > 0.5 else mpf(-7),
            lambda x: mpf(x > 0.5),
            _EDGELESS,
            attrs={"threshold": 0.5, "value": -7.0},
        )
    ],
    "prelu": [
        rows(
            lambda x, w: x if x > 0 else w * x,
            (lambda x, w: mpf(1) if x > 0 else +w, lambda x, w: mpf(0) if x > 0 else +x),
            [(x, w) for x in MIDDLE for w in (-0.5, 0.25)],
        )
    ],
}

COMPOSITE_SAMPLES = {
    "hardtanh": [S(spaced(5, 7)), called(lambda op, x: op(x, -0.4, 0.8), spaced(5, 7))],
    "relu6": [S(spaced(5, 7))],
    "hardsigmoid": [S(spaced(5, 7))],
    "glu": [
        Sample((normal(5, 6),), {}, fixed={6: "cut in two"}),
        Sample((normal(6, 5),), {"axis": 0}, fixed={6: "cut in two"}),
    ],
    "softmin": [S(normal(5, 7)), S(normal(5, 7), axis=0)],
}

REFERENCES = {
    "hardtanh": lambda x: np.clip(x, -1, 1),
    "relu6": lambda x: np.clip(x, 0, 6),
    "hardsigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "glu": lambda x, axis=-1: np.split(x, 2, axis)[0] / (1 + np.exp(-np.split(x, 2, axis)[1])),
    "softmin": lambda x, axis=-1: np.exp(-x) / np.exp(-x).sum(axis, keepdims=True),
}

inf = float("inf")

NUMPY = {"prelu": lambda x, w: np.where(x > 0, x, w * x)}

LIMITS = {
    "squareplus": ({"b": 4.0}, [1, 1, inf, 0, np.nan]),
    "mish": ({}, [0, 0, inf, 0, np.nan]),
    "selu": ({}, [0, 0, inf, -1.7580993408473766, np.nan]),
    "celu": ({"alpha": 0.5}, [0, 0, inf, -0.5, np.nan]),
    "hardswish": ({}, [0, 0, inf, 0, np.nan]),
    "softsign": ({}, [0, 0, 1, -1, np.nan]),
    "tanhshrink": ({}, [0, 0, inf, -inf, np.nan]),
    "softshrink": ({"lambd": 0.5}, [0, 0, inf, -inf, np.nan]),
    "hardshrink": ({"lambd": 0.5}, [0, 0, inf, -inf, np.nan]),
    "threshold": ({"threshold": 0.5, "value": -7.0}, [-7, -7, inf, -7, np.nan]),
}

ROWS = [
    *(
        (f"{name} at {x}", getattr(sg, name), (x,), (slope,))
        for name in ("silu", "gelu", "mish", "softplus", "hardswish")
        for x, slope in ((-inf, 0.0), (inf, 1.0), (-1e30, 0.0), (1e30, 1.0))
    ),
    ("squareplus at -inf", sg.squareplus, (-inf,), (0.0,)),
    ("squareplus at inf", sg.squareplus, (inf,), (1.0,)),
    ("tanh gelu at -inf", lambda x: sg.gelu(x, approximate="tanh"), (-inf,), (0.0,)),
    ("selu at 0", sg.selu, (0.0,), (1.0507009873554805 * 1.6732632423543772,)),
    ("celu at 0", sg.celu, (0.0,), (1.0,)),
    ("hardtanh at 1", sg.hardtanh, (1.0,), (0.0,)),
    ("relu6 at 0", sg.relu6, (0.0,), (0.0,)),
    ("relu6 at 6", sg.relu6, (6.0,), (0.0,)),
    ("hardsigmoid at 3", sg.hardsigmoid, (3.0,), (0.0,)),
    ("hardswish at -3", sg.hardswish, (-3.0,), (0.0,)),
    ("hardswish at 3", sg.hardswish, (3.0,), (1.0,)),
    ("softshrink at the bound", sg.softshrink, (0.5,), (0.0,)),
    ("hardshrink at the bound", sg.hardshrink, (0.5,), (0.0,)),
    ("threshold at it", lambda x: sg.threshold(x, 1.0, 5.0), (1.0,), (0.0,)),
    ("softsign at inf", sg.softsign, (inf,), (0.0,)),
    *(
        (f"{name} leaves what is flat", lambda x, f=f: f(sg.sqrt(x)), (0.0,), (0.0,))
        for name, f in (
            ("softshrink", sg.softshrink),
            ("hardshrink", sg.hardshrink),
            ("threshold", lambda x: sg.threshold(x, 1.0, 5.0)),
            ("hardswish", lambda x: sg.hardswish(x - 5)),
            ("hardsigmoid", lambda x: sg.hardsigmoid(x - 5)),
            ("relu6", lambda x: sg.relu6(x - 1)),
        )
    ),
    ("prelu at 0", sg.prelu, (0.0, 0.25), (0.25, 0.0)),
]

SECOND = [
    *(
        (f"{name} at {x}", getattr(sg, name), x, 0.0)
        for name in ("silu", "softplus", "squareplus")
        for x in (-inf, -1e30, 1e30, inf)
    ),
    ("gelu at inf", sg.gelu, inf, 0.0),
    ("mish at -inf", sg.mish, -inf, 0.0),
    ("softsign at 0", sg.softsign, 0.0, 0.0),
    ("tanhshrink at 0", sg.tanhshrink, 0.0, 0.0),
]
