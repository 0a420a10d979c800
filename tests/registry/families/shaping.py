"""Rows of other arrangements, stacks of arrays, and products of vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.registry.sampling import S, Sample, called, cnormal, normal

_PAIR = [normal(5, 7), normal(5, 7, seed=1)]

COMPOSITE_SAMPLES: dict[str, list[Sample]] = {
    "transpose": [S(normal(5, 7, 6)), S(normal(5, 7, 6), axes=(1, -1, 0)), S(normal(5)), S(0.7)],
    "swapaxes": [
        S(normal(5, 7, 6), axis1=0, axis2=-1),
        S(normal(5, 7), axis1=1, axis2=1),
        S(normal(0, 5), axis1=0, axis2=1),
    ],
    "ravel": [S(normal(5, 7)), S(normal(0, 5)), S(0.7)],
    "flipud": [S(normal(5)), S(normal(5, 7))],
    "fliplr": [S(normal(5, 7)), S(normal(5, 7, 6))],
    "rot90": [
        *(S(normal(5, 7), k=k) for k in (-3, -1, 0, 1, 2, 7)),
        S(normal(5, 7, 6), k=1, axes=(2, 0)),
        S(normal(5, 7, 6), k=3, axes=(-1, 1)),
    ],
    "atleast_1d": [S(0.7), S(normal(5)), S(normal(5, 7)), S(0.7, normal(5))],
    "atleast_2d": [S(0.7), S(normal(5)), S(normal(5, 7)), S(normal(5), normal(6, 5, 7), 0.7)],
    "atleast_3d": [S(0.7), S(normal(5)), S(normal(5, 7)), S(normal(5), normal(6, 5, 7, 4))],
    "hstack": [
        S(normal(5), normal(7)),
        S(normal(5, 7), normal(5, 6)),
        S(normal(5, 7, 4), normal(5, 6, 4)),
        S(0.7, normal(5)),
    ],
    "vstack": [S(*_PAIR), S(normal(5), normal(5, seed=1), normal(7, 5)), S(0.7, 0.2)],
    "dstack": [S(*_PAIR), S(normal(5), normal(5, seed=1)), S(normal(5, 7), normal(5, 7, 6))],
    "column_stack": [S(normal(5), normal(5, 7)), S(normal(5), normal(5, seed=1)), S(*_PAIR)],
    "dot": [
        S(normal(5), normal(5, seed=1)),
        S(normal(5, 7), normal(7)),
        S(normal(5), normal(5, 7)),
        S(normal(5, 7), normal(7, 6)),
        S(normal(4, 5, 7), normal(6, 7, 3)),
        S(normal(4, 5, 7), normal(7)),
        S(normal(7), normal(6, 7, 3)),
        S(0.7, normal(5, 7)),
        S(normal(5), -1.2),
        S(cnormal(5), cnormal(5, seed=1)),
        S(normal(5, 0), normal(0, 7)),
    ],
    "inner": [
        S(normal(5), normal(5, seed=1)),
        S(normal(5, 7), normal(7)),
        S(normal(5, 7), normal(6, 7)),
        S(normal(4, 5, 7), normal(6, 3, 7)),
        S(0.7, normal(5, 7)),
        S(normal(5), -1.2),
        S(cnormal(5), cnormal(5, seed=1)),
    ],
    "vdot": [
        S(normal(5), normal(5, seed=1)),
        S(cnormal(5, 7), cnormal(5, 7, seed=1)),
        S(normal(5), cnormal(5)),
        S(cnormal(5), normal(5)),
        called(lambda op, x, y: op(x, y), normal(5, 7), normal(5, 7, seed=1)),
        S(0.7, -1.2),
    ],
}


def _of_list(stack: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arrays: stack(arrays)


REFERENCES: dict[str, Callable[..., Any]] = {
    "transpose": lambda x, axes=None: np.transpose(x, axes),
    "swapaxes": lambda x, axis1, axis2: np.swapaxes(x, axis1, axis2),
    "rot90": lambda x, k, axes=(0, 1): np.rot90(x, k, axes),
    **{
        name: getattr(np, name)
        for name in "ravel flipud fliplr atleast_1d atleast_2d atleast_3d dot inner vdot".split()
    },
    **{name: _of_list(getattr(np, name)) for name in "hstack vstack dstack column_stack".split()},
}
