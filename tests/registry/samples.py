"""Where each op of the registry is tried: one table, read by all tests generated from it.

Element-wise ops need no row: their samples follow from their signature, with values from `DOMAINS`.
Sizes are chosen so that no two of a sample's axes are equal by chance: tests replace sizes by named
dimensions, by 0 and by 1. Modules of `tests.registry.families` hold further rows of each table.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import symgrad as sg
from symgrad.errors import DTypeError
from symgrad.ir.op import COMPOSITES, OPS, Composite, Op
from symgrad.types import TensorType
from tests.registry.families import extend, gathered
from tests.registry.sampling import (
    KEY,
    TRUE_FALSE,
    S,
    Sample,
    between,
    called,
    cnormal,
    definite,
    extremes,
    keyed,
    kink,
    normal,
    on,
    pools,
    reductions,
    regular,
    rigid,
    spaced,
    symmetric,
)

ELEMENTWISE = ("scalar", "elementwise")


# --- element-wise ---------------------------------------------------------------------------------

DOMAINS: dict[str, tuple[tuple[float, float], ...]] = {
    "acosh": ((1.2, 3.0),),
    "reciprocal": ((0.4, 2.0),),
    "floor": ((-2.8, -2.2),),
    "ceil": ((1.2, 1.8),),
    "trunc": ((-1.8, -1.2),),
    "round": ((1.6, 2.4),),
    "remainder": ((7.1, 7.6), (1.6, 1.75)),
    "fmod": ((7.1, 7.6), (1.6, 1.75)),
    "floor_divide": ((7.1, 7.6), (1.6, 1.75)),
    "pow": ((0.3, 2.0), (-1.5, 2.5)),
    "divide": ((-1.0, 1.0), (0.5, 2.0)),
    "maximum": ((0.1, 0.4), (0.6, 0.9)),
    "minimum": ((0.1, 0.4), (0.6, 0.9)),
    "copysign": ((0.2, 1.0), (-1.0, -0.2)),
    "hypot": ((-1.0, 1.0), (0.5, 1.0)),
    "atan2": ((-1.0, 1.0), (0.5, 1.0)),
    "logaddexp": ((-2.0, 2.0), (-2.0, 2.0)),
    "relu": ((0.1, 0.9),),
    "elu": ((-0.9, -0.1),),
    "leaky_relu": ((-0.9, -0.1),),
    "clip_to": ((0.3, 0.6), (0.0, 0.2), (0.7, 0.9)),
    "abs": ((-0.9, -0.1),),
    "sign": ((-0.9, -0.1),),
    "sinc": ((-2.5, 2.5),),
    "sinc_derivative": ((-2.5, 2.5),),
    "erf": ((-2.0, 2.0),),
    "erfc": ((-2.0, 2.0),),
    "gelu": ((-2.0, 2.0),),
    "silu": ((-3.0, 3.0),),
    "softplus": ((-3.0, 3.0),),
    "log_sigmoid": ((-3.0, 3.0),),
    "sigmoid": ((-3.0, 3.0),),
    "tanh": ((-2.0, 2.0),),
    "sech2": ((-2.0, 2.0),),
    "cbrt": ((-2.0, -0.4),),
    "rsqrt": ((0.4, 2.0),),
    "sqrt": ((0.3, 2.0),),
    "log": ((0.3, 2.0),),
    "log1p": ((-0.6, 2.0),),
    "log2": ((0.3, 2.0),),
    "log10": ((0.3, 2.0),),
    "logit": ((0.2, 0.8),),
    "xlogy": ((0.3, 2.0), (0.3, 2.0)),
    "tan": ((-1.0, 1.0),),
    "asin": ((-0.7, 0.7),),
    "acos": ((-0.7, 0.7),),
    "atanh": ((-0.7, 0.7),),
}
"""Where an element-wise op is smooth, per operand; elsewhere (0.1, 0.9) will do."""
DOMAINS.update(gathered("DOMAINS"))

ATTRIBUTES: dict[str, list[dict[str, Any]]] = {
    "sinc_derivative": [{"order": 1}, {"order": 4}],
    "gelu": [{"approximate": "none"}, {"approximate": "tanh"}],
    "elu": [{"alpha": 1.0}, {"alpha": 0.5}],
    "leaky_relu": [{"negative_slope": 0.01}, {"negative_slope": -0.5}],
}
"""Attributes of element-wise ops, where the defaults are not all."""
ATTRIBUTES.update(gathered("ATTRIBUTES"))

OTHER_SIDE = ("maximum", "minimum", "copysign", "abs", "sign", "relu", "elu", "leaky_relu", "cbrt")
OTHER_SIDE += tuple(gathered("OTHER_SIDE"))
"""Ops that are also tried at the mirror image of their domain."""


def _of_taken_kind(op: Op, values: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """Floats where the op takes them, else booleans, else integers."""
    for cast in (lambda v: v, lambda v: v > 0.5, lambda v: np.rint(v * 5).astype(np.int64)):
        given = tuple(cast(v) for v in values)
        try:
            op.infer([TensorType(v.shape, v.dtype) for v in given], op.signature.defaults)
        except DTypeError:
            continue
        return given
    raise AssertionError(f"{op.name} takes neither floats nor booleans nor integers")


def elementwise_samples(op: Op) -> list[Sample]:
    """Samples of an element-wise op: each attribute, on both sides."""
    arity = op.signature.arity
    domains = DOMAINS.get(op.name, ())
    domains = (*domains, *((0.1, 0.9),) * (arity - len(domains)))
    found: list[Sample] = []
    for attrs in ATTRIBUTES.get(op.name, [op.signature.defaults]):
        values = tuple(
            between(low, high, 2, 3, seed=k) for k, (low, high) in enumerate(domains[:arity])
        )
        values = _of_taken_kind(op, values)
        found.append(Sample(values, attrs))
        if op.name in OTHER_SIDE:
            found.append(Sample(tuple(np.negative(v) for v in values), attrs, note="mirrored"))
        if arity > 1:
            found.append(
                Sample((values[0][0], values[1][:, :1], *values[2:]), attrs, note="broadcast")
            )
    return found


BROADCASTS: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((), ()), ((3,), ()), ((), (3,)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 1), (1, 3)),
    ((2, 1), (3,)), ((1,), (2, 3)), ((4, 1, 3), (2, 1)), ((1, 1), (1,)), ((1,), ()),
    ((0,), ()), ((0,), (1,)), ((2, 0), (1, 1)), ((0, 3), (3,)), ((1, 0), (2, 1)), ((2, 3), (2, 3)),
)  # fmt: skip
"""Pairs of shapes that broadcast: without axes, stretched on either side, empty."""


# --- all others -----------------------------------------------------------------------------------


_PLACES = np.array([[[0, 3, 3], [1, -1, 4]], [[2, 2, 0], [4, 4, -1]]])
_COLUMN = np.array([2, 0, 3, 3, -1])
_TABLE = np.array([[1, 0, -1], [1, 2, 0]])

SAMPLES: dict[str, list[Sample]] = {
    # movement
    "item": [
        called(
            lambda op, x, index: op(sg.ops.spectral.eigh_pack(x), index=index),
            definite(5),
            attrs={"index": 0},
            direction=symmetric,
            structured=True,
        ),
        called(
            lambda op, x, index: sg.abs(op(sg.ops.determinants.slogdet_pack(x), index=index)),
            regular(5),
            attrs={"index": 1},
            structured=True,
        ),
    ],
    "astype": [
        called(lambda op, x: op(x, "float32"), normal(5)),
        called(lambda op, x: op(x, "complex128"), normal(5)),
        called(lambda op, x: op(x, "int64"), normal(5)),
    ],
    "clone": [S(normal(5, 7)), S(normal()), S(normal(0, 5))],
    "stop_gradient": [S(normal(5, 7))],
    "reshape": [
        S(normal(5, 7), shape=(7, 5)),
        S(normal(5, 7, 6), shape=(5, -1)),
        S(normal(5), shape=(5, 1)),
        S(normal(), shape=(1, 1)),
        S(normal(0, 5), shape=(5, 0)),
    ],
    "permute_dims": [
        S(normal(5, 7, 6), axes=(2, 0, 1)),
        S(normal(5, 7), axes=(-1, 0)),
        S(normal(), axes=()),
    ],
    "broadcast_to": [
        S(normal(5, 1), shape=(7, 5, 6)),
        S(normal(1, 5), shape=(1, 5)),
        S(normal(), shape=(5,)),
        S(normal(1), shape=(0,)),
    ],
    "flip": [
        S(normal(5, 7)),
        S(normal(5, 7), axis=-1),
        S(normal(5, 7, 6), axis=(0, 2)),
        S(normal()),
    ],
    "roll": [
        S(normal(5, 7), shift=2),
        S(normal(5, 7), shift=-3, axis=1),
        S(normal(5, 7), shift=(1, 9), axis=(0, 1)),
        S(normal(5, 7), shift=(1, 2), axis=(0, 0)),
    ],
    "tril": [S(normal(5, 7)), S(normal(6, 5, 7), k=-1), S(normal(5, 7), k=2)],
    "triu": [S(normal(5, 7)), S(normal(6, 5, 7), k=-1), S(normal(5, 7), k=2)],
    "join": [
        S(normal(5, 7), normal(5, 6), normal(5, 8), axis=1),
        S(normal(5), axis=0),
        S(normal(0), normal(5), axis=0),
    ],
    "pad_constant": [
        S(normal(5, 7), widths=((1, 2), (0, 3)), value=0.5),
        S(normal(5), widths=((0, 0),), value=0.0),
    ],
    # reductions
    "sum": reductions(
        S(normal(5, 7), axis=0, dtype="float64"), S(normal(5, 7), axis=0, dtype="complex128")
    ),
    "prod": reductions(
        S(np.array([[2.0, 0.0, 3.0], [0.0, 0.0, 1.5]]), axis=1),
        S(np.array([[2.0, 0.0, 3.0], [1.0, -1.0, 1.5]])),
        S(normal(5, 7), axis=0, dtype="complex128"),
    ),
    "mean": reductions(),
    "var": reductions(
        S(normal(5, 7), axis=1, correction=1), S(normal(5, 7), axis=0, correction=0.5)
    ),
    "std": [
        S(normal(5, 7)),
        S(normal(5, 7), axis=-2, keepdims=True),
        S(normal(5, 7, 6), axis=(2, 0), correction=1),
        S(normal(5, 7), axis=0, correction=0.5),
        kink(S(np.full((5, 3), 2.0), axis=0)),
        kink(S(np.array(0.7))),
    ],
    "max": extremes(),
    "min": extremes(),
    "any": [S(TRUE_FALSE), *reductions()],
    "all": [S(TRUE_FALSE), *reductions()],
    "count_nonzero": [S(TRUE_FALSE), *reductions()],
    "argmax": [
        S(spaced(5, 7)),
        S(spaced(5, 7), axis=1),
        S(spaced(5, 7), axis=-2, keepdims=True),
        S(np.array(0.7)),
    ],
    "argmin": [
        S(spaced(5, 7)),
        S(spaced(5, 7), axis=1),
        S(spaced(5, 7), axis=-2, keepdims=True),
        S(np.array(0.7)),
    ],
    "euclidean_length": [
        *reductions(),
        kink(S(np.zeros((5, 7)), axis=1)),
    ],
    "logsumexp": reductions(
        kink(S(np.full((2, 3), -np.inf), axis=1)), S(normal(5, 7) + 1000.0, axis=1)
    ),
    "cumulative_sum": [
        S(normal(5)),
        S(normal(5, 7), axis=1),
        S(normal(5, 7), axis=0, include_initial=True),
        S(normal(5, 7), axis=-1, dtype="complex128"),
    ],
    "cumulative_prod": [
        S(normal(5)),
        S(normal(5, 7), axis=1),
        S(normal(5, 7), axis=0, include_initial=True),
        S(np.array([2.0, 0.0, 3.0, 0.0, 1.5])),
    ],
    "recurrence": [
        S(normal(5, 7), normal(5, 7, seed=1), axis=0, reverse=False),
        S(normal(5, 7), normal(5, 7, seed=1), axis=1, reverse=True),
    ],
    # shares
    "softmax": [S(normal(5, 7)), S(normal(5, 7, 6), axis=1), S(normal(5) * 300)],
    "log_softmax": [S(normal(5, 7)), S(normal(5, 7, 6), axis=1), S(normal(5) * 300)],
    "share": [S(normal(5, 7), axis=(1,)), S(normal(5, 7, 6), axis=(0, 2))],
    # products
    "matmul": [
        S(normal(5, 7), normal(7, 6)),
        S(normal(5, 5), normal(5, 5, seed=1)),
        S(normal(7), normal(7, 6)),
        S(normal(5, 7), normal(7, seed=1)),
        S(normal(7), normal(7, seed=1)),
        S(normal(4, 5, 7), normal(7, 6)),
        S(normal(5, 7), normal(4, 7, 6)),
        S(normal(4, 5, 7), normal(7)),
        S(normal(7), normal(4, 7, 6)),
        S(normal(4, 1, 5, 7), normal(8, 7, 6)),
    ],
    "contract": [
        S(normal(5, 7), normal(7, 6), subscripts="ab,bc->ac"),
        S(normal(5, 7), normal(6, 7), normal(5), subscripts="ab,cb,a->ca"),
        S(normal(5, 7), normal(5, 7, seed=1), subscripts="ab,ab->"),
        S(normal(5, 5, 7), subscripts="aab->ba"),
        S(normal(5, 7), subscripts="ab->a"),
        S(normal(4, 5, 7), normal(4, 7, 6), subscripts="abc,ace->abe"),
        S(normal(5, 5), normal(5, seed=1), subscripts="aa,a->a"),
    ],
    "conv": [
        S(normal(2, 3, 8), normal(4, 3, 3)),
        S(normal(2, 4, 9, 8), normal(6, 2, 3, 2), stride=2, padding=1, groups=2),
        S(normal(2, 3, 9), normal(4, 3, 3), padding=((2, 0),), dilation=2, stride=3),
        S(normal(2, 3, 7, 8), normal(4, 3, 3, 2), padding="same"),
    ],
    "conv_transpose": [
        S(normal(2, 4, 6), normal(4, 3, 3)),
        S(normal(2, 4, 5, 6), normal(4, 3, 3, 2), stride=2, padding=1, output_padding=1, groups=2),
        S(normal(2, 4, 5), normal(4, 3, 3), dilation=2, stride=3, padding=((2, 0),)),
    ],
    "conv_kernel_gradient": [
        S(normal(2, 3, 8), normal(2, 4, 6), kernel=(3,)),
        S(normal(2, 4, 9, 8), normal(2, 6, 5, 5), kernel=(3, 2), stride=2, padding=1, groups=2),
    ],
    # pooling
    "max_pool": pools(
        kink(S(np.zeros((1, 1, 6)), kernel=3, stride=1)), S(spaced(1, 2, 9), kernel=3, dilation=2)
    ),
    "max_pool_indices": pools(S(spaced(1, 2, 9), kernel=3, dilation=2)),
    "avg_pool": pools(S(normal(1, 2, 7), kernel=3, stride=2, padding=1, count_include_pad=False)),
    "avg_pool_transpose": [
        S(normal(2, 3, 4), kernel=3, shape=(7,), stride=2, padding=1),
        S(normal(2, 3, 2), kernel=3, shape=(7,)),
        S(
            normal(2, 3, 4, 6),
            kernel=(3, 2),
            shape=(8, 7),
            stride=(2, 1),
            padding=((1, 0), (0, 0)),
            count_include_pad=False,
        ),
    ],
    "pool_gather": [rigid(S(normal(2, 2, 5), _PLACES))],
    "pool_scatter": [rigid(S(normal(2, 2, 3), _PLACES, shape=(5,)))],
    # indexing
    "slice_axes": [
        S(normal(5, 7), starts=(1, 0), stops=(4, 7), steps=(1, 3)),
        S(normal(5, 7), starts=(4, -2), stops=(None, 1), steps=(-2, -1)),
        S(normal(5, 7), starts=(3, 0), stops=(3, 7), steps=(1, 1)),
    ],
    "unslice": [
        rigid(S(normal(3, 3), shape=(5, 7), starts=(1, 0), stops=(4, 7), steps=(1, 3))),
        rigid(S(normal(3, 4), shape=(5, 7), starts=(4, 5), stops=(None, 1), steps=(-2, -1))),
    ],
    "pick": [S(normal(5, 7), positions=(2, None)), S(normal(5, 7), positions=(-1, 3))],
    "unpick": [
        S(normal(7), shape=(5, 7), positions=(2, None)),
        S(normal(), shape=(5, 7), positions=(4, -3)),
    ],
    "gather_at": [
        rigid(S(normal(5), _COLUMN, layout=("index",))),
        rigid(S(normal(5, 7), _COLUMN, layout=("index", (0, 7, 1)))),
        rigid(S(normal(5, 7), _TABLE, _TABLE, layout=("index", "index"))),
        rigid(
            S(
                normal(5, 7, 6),
                np.array([0, 4]),
                np.array([[2], [3]]),
                layout=("index", (1, 7, 3), "index"),
            )
        ),
        rigid(S(normal(5, 7), np.array([0, 3]), layout=("index", (0, 7, 1)), unique=True)),
    ],
    "scatter_add_at": [
        rigid(S(normal(5), _COLUMN, shape=(5,), layout=("index",))),
        rigid(S(normal(5, 7), _COLUMN, shape=(6, 7), layout=("index", (0, 7, 1)))),
        rigid(S(normal(2, 3), _TABLE, _TABLE, shape=(5, 7), layout=("index", "index"))),
        rigid(
            S(normal(3), _TABLE, _TABLE, shape=(5, 7), layout=("index", "index")), note="broadcast"
        ),
        rigid(
            S(
                normal(2, 7),
                np.array([0, 3]),
                shape=(5, 7),
                layout=("index", (0, 7, 1)),
                unique=True,
            )
        ),
    ],
    "scatter_set_at": [
        rigid(S(normal(5), normal(5, seed=1), _COLUMN, layout=("index",))),
        rigid(S(normal(5, 7), normal(7), _COLUMN, layout=("index", (0, 7, 1)))),
        rigid(
            S(
                normal(5, 7),
                normal(2, 7),
                np.array([0, 3]),
                layout=("index", (0, 7, 1)),
                unique=True,
            )
        ),
    ],
    "last_writes": [
        rigid(S(_COLUMN, shape=(5,), layout=("index",))),
        rigid(S(_TABLE, _TABLE, shape=(5, 7), layout=("index", "index"))),
    ],
    "take": [
        rigid(S(normal(5), _COLUMN)),
        rigid(S(normal(5, 7), _TABLE, axis=1)),
        rigid(S(normal(5, 7), np.array(3), axis=0)),
        rigid(S(normal(5, 7), np.zeros((0,), np.int64), axis=0)),
    ],
    "take_along_axis": [
        rigid(S(normal(2, 7), _TABLE)),
        rigid(S(normal(5, 3), _TABLE, axis=0)),
        rigid(S(normal(1, 7), _TABLE, axis=1), note="broadcast"),
    ],
    "add_along_axis": [
        rigid(S(normal(2, 3), _TABLE, shape=(2, 7), axis=1)),
        rigid(S(normal(2, 3), _TABLE, shape=(5, 3), axis=0)),
        rigid(S(normal(2, 3), _TABLE, shape=(1, 7), axis=1), note="broadcast"),
    ],
    # order
    "sort": [
        S(spaced(5)),
        S(spaced(5, 7), axis=0),
        S(spaced(5, 7), axis=1, descending=True),
        S(spaced(5, 7), stable=False),
        kink(S(np.array([2.0, 1.0, 2.0, 1.0]))),
    ],
    "argsort": [S(spaced(5)), S(spaced(5, 7), axis=0), S(spaced(5, 7), axis=1, descending=True)],
    "insertion_points": [
        rigid(S(np.array([1.0, 2.0, 2.0, 5.0]), normal(5, 7) * 3)),
        rigid(S(np.array([1.0, 2.0, 2.0, 5.0]), np.array([2.0, 9.0]), side="right")),
    ],
    "where": [
        S(normal(5, 7) > 0, normal(5, 7), normal(5, 7, seed=1)),
        S(normal(7) > 0, normal(5, 1), normal()),
        S(np.array(True), normal(5), normal(5, seed=1)),
    ],
    # linear algebra
    "diagonal": [S(normal(5, 7)), S(normal(6, 5, 7), offset=2), S(normal(5, 7), offset=-1)],
    "diagonal_matrix": [
        rigid(S(normal(5), shape=(5, 5))),
        rigid(S(normal(6, 4), shape=(5, 7), offset=-1)),
        rigid(S(normal(5), shape=(5, 7), offset=2)),
    ],
    "inv": [
        rigid(S(regular(5))),
        rigid(S(regular(2, 3))),
        rigid(S(regular(3, imaginary=True))),
        rigid(S(np.ones((0, 0)))),
        rigid(S(np.array([[2.0]]))),
    ],
    "solve": [
        rigid(S(regular(5), normal(5, 3))),
        rigid(S(regular(5), normal(5))),
        rigid(S(regular(2, 3), normal(3, 4))),
        rigid(S(regular(2, 3), normal(3))),
        rigid(S(regular(3), normal(2, 3, 4))),
        rigid(S(regular(3, imaginary=True), cnormal(3, 2))),
    ],
    "cholesky": [
        rigid(S(definite(5)), direction=symmetric),
        rigid(S(definite(2, 3), upper=True), direction=symmetric),
        rigid(S(definite(3, imaginary=True)), direction=symmetric),
        rigid(S(definite(3, imaginary=True), upper=True), direction=symmetric),
    ],
    "det": [
        rigid(S(regular(4))),
        rigid(S(regular(2, 3))),
        rigid(S(regular(3, imaginary=True))),
        rigid(S(np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.5], [1.0, 2.0, 0.3]])), note="singular"),
        rigid(S(np.ones((1, 1)))),
        rigid(S(np.ones((0, 0)))),
    ],
    "cofactor": [
        rigid(S(regular(4))),
        rigid(S(regular(2, 3))),
        rigid(S(regular(3, imaginary=True))),
        rigid(S(regular(2))),
    ],
    "cofactor_slope": [
        rigid(S(regular(4), normal(4, 4))),
        rigid(S(regular(2, 3), normal(3, 3))),
        rigid(S(regular(3, imaginary=True), cnormal(3, 3))),
    ],
    "slogdet_pack": [
        rigid(S(regular(4)), through=lambda sign, log: log),
        rigid(S(regular(2, 3)), through=lambda sign, log: log),
        rigid(S(regular(3, imaginary=True))),
    ],
    "eigvalsh": [
        rigid(S(definite(5)), direction=symmetric),
        rigid(S(definite(2, 3)), direction=symmetric),
        rigid(S(definite(3, imaginary=True)), direction=symmetric),
    ],
    "eigh_pack": [
        rigid(S(definite(4)), direction=symmetric),
        rigid(S(definite(2, 3)), direction=symmetric),
        rigid(
            S(definite(3, imaginary=True)),
            direction=symmetric,
            through=lambda w, v: (w, _projector(v, w)),
        ),
    ],
    "svdvals": [rigid(S(normal(5, 3))), rigid(S(normal(2, 3, 4))), rigid(S(cnormal(3, 3)))],
    "svd_pack": [
        rigid(S(normal(5, 3), full_matrices=False)),
        rigid(S(normal(3, 5), full_matrices=False)),
        rigid(S(normal(2, 3, 3), full_matrices=False)),
        rigid(
            S(cnormal(4, 3), full_matrices=False),
            through=lambda u, s, vh: (s, _scaled_back(u, s, vh)),
        ),
        rigid(S(normal(5, 3), full_matrices=True), through=lambda u, s, vh: (_span(u, 3), s, vh)),
    ],
    "qr_pack": [
        rigid(S(normal(5, 3), mode="reduced")),
        rigid(S(normal(3, 5), mode="reduced")),
        rigid(S(normal(2, 3, 3), mode="reduced")),
        rigid(S(cnormal(4, 3), mode="reduced")),
        rigid(S(normal(5, 3), mode="complete"), through=lambda q, r: (_span(q, 3), r)),
    ],
    # creation
    "size": [
        called(lambda op, x: op(dim=x.shape[0], dtype="int64"), normal(5)),
        called(lambda op, x: op(dim=x.shape[0], dtype="float32"), normal(5)),
    ],
    "filled": [
        S(shape=(5, 7), fill_value=2.5),
        S(shape=(), fill_value=3, dtype="int8"),
        S(shape=(0, 5), fill_value=True),
    ],
    "counted": [
        S(start=0, stop=5, step=1),
        S(start=2.0, stop=0.0, step=-0.5, dtype="float32"),
        S(start=3, stop=3, step=1),
    ],
    "identity_like": [
        S(n_rows=5, n_cols=7, k=1, dtype="float32"),
        S(n_rows=3, n_cols=0, k=0, dtype="int64"),
    ],
    # random
    "key": [keyed(S(np.array(7)))],
    "fold_in": [keyed(S(KEY, np.array(7)))],
    "split_key": [keyed(S(KEY, count=3))],
    "random_bits": [keyed(S(KEY, shape=(5, 7))), keyed(S(KEY, shape=()))],
    "standard_uniform": [
        keyed(S(KEY, shape=(5, 7), dtype=d)) for d in ("float16", "float32", "float64")
    ],
    "standard_normal": [
        keyed(S(KEY, shape=(5, 7), dtype=d)) for d in ("float16", "float32", "float64")
    ],
    "random_integers": [
        keyed(S(KEY, np.array(2), np.array(9), shape=(5, 7), dtype="int64")),
        keyed(S(KEY, np.array([1, 2, 3]), np.array(9), shape=(5, 3), dtype="uint8")),
    ],
}
extend(SAMPLES, "SAMPLES")


def _projector(vectors: Any, values: Any) -> Any:
    """What does not depend on the phases of the eigenvectors."""
    scaled = vectors * sg.reshape(sg.astype(values**2, vectors.dtype), (1, -1))
    return sg.matmul(scaled, sg.conj(sg.matrix_transpose(vectors)))


def _scaled_back(u: Any, s: Any, vh: Any) -> Any:
    return sg.matmul(u * sg.reshape(sg.astype(s**2, u.dtype), (1, -1)), vh)


def _span(q: Any, columns: int) -> Any:
    """The columns that are determined, and the space of the others."""
    first, rest = q[..., :columns], q[..., columns:]
    return first, sg.matmul(rest, sg.matrix_transpose(rest))


_CLASSES = np.array([0, 2, 1, 2, 0])
_IGNORED = np.array([0, -100, 1, 2, -100])

COMPOSITE_SAMPLES: dict[str, list[Sample]] = {
    "expand_dims": [S(normal(5, 7), axis=1), S(normal(5, 7), axis=(0, -1))],
    "squeeze": [S(normal(5, 1, 7), axis=1), S(normal(1, 5, 1), axis=(0, 2))],
    "matrix_transpose": [S(normal(6, 5, 7))],
    "moveaxis": [
        called(lambda op, x: op(x, 0, -1), normal(5, 7, 6)),
        called(lambda op, x: op(x, (0, 1), (1, 2)), normal(5, 7, 6)),
    ],
    "diff": [
        S(normal(5)),
        S(normal(5, 7), axis=0, n=2),
        called(lambda op, x, p: op(x, prepend=p), normal(5, 7), normal(5, 1)),
    ],
    "broadcast_arrays": [S(normal(5, 1), normal(7))],
    "meshgrid": [S(normal(5), normal(7)), S(normal(5), normal(7), normal(6), indexing="ij")],
    "concat": [
        S(normal(5, 7), normal(6, 7)),
        S(normal(5, 7), normal(5, 6), axis=-1),
        S(normal(5, 7), normal(6), axis=None),
    ],
    "stack": [S(normal(5, 7), normal(5, 7, seed=1)), S(normal(5), normal(5, seed=1), axis=-1)],
    "unstack": [
        Sample((normal(3, 7),), {}, fixed={3: "one output per slice"}),
        Sample((normal(5, 3),), {"axis": -1}, fixed={3: "one output per slice"}),
    ],
    "split": [
        called(lambda op, x: op(x, 3), normal(6, 5), fixed={6: "cut in three"}),
        called(lambda op, x: op(x, [2, 5], axis=1), normal(5, 7)),
    ],
    "tile": [
        called(lambda op, x: op(x, (2, 3)), normal(5, 7)),
        called(lambda op, x: op(x, 2), normal(5, 7)),
        called(lambda op, x: op(x, (3, 1, 2)), normal(5)),
    ],
    "repeat": [
        called(lambda op, x: op(x, 3), normal(5, 7)),
        called(lambda op, x: op(x, 2, axis=1), normal(5, 7)),
        called(
            lambda op, x: op(x, [1, 0, 2], axis=1),
            normal(5, 3),
            fixed={3: "one count per position"},
            structured=True,
        ),
    ],
    "pad": [
        called(lambda op, x: op(x, ((1, 2), (0, 3)), constant_values=1.5), normal(5, 7)),
        called(lambda op, x: op(x, 2, mode="edge"), normal(5, 7)),
        called(lambda op, x: op(x, ((2, 1),), mode="reflect"), normal(5)),
        called(lambda op, x: op(x, ((2, 1),), mode="wrap"), normal(5)),
        called(lambda op, x, v: op(x, 1, constant_values=v), normal(5), normal()),
    ],
    "diag": [S(normal(5)), S(normal(5), k=-2), S(normal(5, 7), k=1)],
    "broadcast_shapes": [called(lambda op: op((3, 1), (2,)))],
    "from_dlpack": [called(lambda op: op(np.asarray([1.0, 2.0])))],
    "full": [called(lambda op, v: op((5, 7), v), normal()), called(lambda op: op((5,), 2.5))],
    "zeros": [called(lambda op: op((5, 7)))],
    "ones": [called(lambda op: op((5, 7), dtype="int32"))],
    "empty": [called(lambda op: op((5, 7)))],
    "full_like": [
        called(lambda op, x: op(x, 2.5), normal(5, 7)),
        called(lambda op, x, v: op(x, v), normal(5), normal()),
    ],
    "zeros_like": [S(normal(5, 7))],
    "ones_like": [S(normal(5, 7), dtype="complex64")],
    "empty_like": [S(normal(5, 7))],
    "asarray": [S(normal(5, 7)), S(normal(5), dtype="float32")],
    "arange": [called(lambda op: op(5)), called(lambda op: op(1, 8, 2, dtype="float32"))],
    "linspace": [
        called(lambda op: op(0.0, 1.0, 5)),
        called(lambda op: op(0, 1, 4, endpoint=False)),
    ],
    "eye": [called(lambda op: op(5, 7, k=1)), called(lambda op: op(3, dtype="float32"))],
    "einsum": [
        called(lambda op, a, b: op("ij,jk", a, b), normal(5, 7), normal(7, 6)),
        called(lambda op, a: op("ii", a), normal(5, 5)),
        called(lambda op, a: op("ij->ji", a), normal(5, 7)),
        called(lambda op, a, b: op("...ij,...jk->...ik", a, b), normal(4, 5, 7), normal(7, 6)),
        called(
            lambda op, a, b, c: op("ab,bc,cd->ad", a, b, c),
            normal(5, 7),
            normal(7, 6),
            normal(6, 4),
        ),
    ],
    "tensordot": [
        S(normal(4, 5, 7), normal(5, 7, 6)),
        S(normal(5, 7), normal(6, 5), axes=((0,), (1,))),
        S(normal(5), normal(7), axes=0),
    ],
    "vecdot": [
        S(normal(5, 7), normal(7)),
        S(normal(5, 7), normal(5, 1), axis=0),
        S(cnormal(5, 7), cnormal(5, 7, seed=1)),
    ],
    "outer": [S(normal(5), normal(7))],
    "conv2d": [
        S(normal(2, 3, 6, 7), normal(4, 3, 3, 2), normal(4)),
        S(normal(2, 4, 6, 7), normal(6, 2, 3, 3), stride=2, padding=1, groups=2),
    ],
    "max_pool2d": [S(spaced(2, 3, 6, 7), kernel=2)],
    "avg_pool2d": [S(normal(2, 3, 6, 7), kernel=2, padding=1)],
    "getitem": [
        called(lambda op, x: op(x, (slice(1, None, 2), None, -1)), normal(5, 7)),
        called(lambda op, x: op(x, (..., slice(None, None, -1))), normal(5, 7)),
        called(lambda op, x: op(x, 2), normal(5, 7)),
        called(
            lambda op, x: op(x, _COLUMN), normal(5, 7), structured=True, fixed={5: "index values"}
        ),
        called(
            lambda op, x: op(x, ([0, 3], slice(None), [1, 1])), normal(5, 7, 6), structured=True
        ),
        called(lambda op, x: op(x, TRUE_FALSE), normal(5, 7), structured=True),
    ],
    "set_at": [
        called(lambda op, x, v: op(x, slice(1, 4), v), normal(5, 7), normal(3, 7), structured=True),
        called(
            lambda op, x, v: op(x, (_COLUMN, slice(None)), v),
            normal(5, 7),
            normal(7),
            structured=True,
        ),
        called(lambda op, x, v: op(x, (0, 2), v), normal(5, 7), normal()),
    ],
    "add_at": [
        called(lambda op, x, v: op(x, slice(1, 4), v), normal(5, 7), normal(3, 7), structured=True),
        called(
            lambda op, x, v: op(x, (_COLUMN, slice(None)), v),
            normal(5, 7),
            normal(7),
            structured=True,
        ),
        called(lambda op, x, v: op(x, (0, 2), v), normal(5, 7), normal()),
    ],
    "searchsorted": [
        rigid(S(np.array([1.0, 2.0, 2.0, 5.0]), normal(5, 7) * 3)),
        rigid(called(on("sorter"), np.array([5.0, 1.0, 2.0]), normal(5), np.array([1, 2, 0]))),
    ],
    "slogdet": [
        rigid(S(regular(4)), through=lambda sign, log: log),
        rigid(S(regular(3, imaginary=True))),
    ],
    "qr": [rigid(S(normal(5, 3)))],
    "eigh": [rigid(S(definite(4)), direction=symmetric)],
    "svd": [
        rigid(S(normal(5, 3), full_matrices=False)),
        rigid(S(normal(3, 5)), through=lambda u, s, vh: (u, s, _span(sg.matrix_transpose(vh), 3))),
    ],
    "vector_norm": [
        S(normal(5, 7)),
        S(normal(5, 7), axis=1, keepdims=True),
        S(normal(5, 7), ord=1),
        S(normal(5, 7), axis=0, ord=3),
        S(spaced(5, 7), axis=0, ord=float("inf")),
        S(spaced(5, 7), ord=-float("inf")),
        S(normal(5), ord=0),
        S(normal(5), ord=2.5),
        kink(S(np.zeros((5, 2)), axis=1)),
        kink(S(np.zeros((5, 2)), axis=1, ord=3)),
    ],
    "matrix_norm": [
        S(normal(6, 5, 7)),
        S(normal(5, 7), keepdims=True),
        S(normal(5, 7), ord=1),
        S(normal(5, 7), ord=-float("inf")),
        rigid(S(normal(5, 3), ord="nuc")),
        rigid(S(normal(5, 3), ord=2)),
        rigid(S(normal(5, 3), ord=-2)),
    ],
    "linalg.norm": [
        S(normal(6, 5, 7)),
        S(normal(6, 5, 7), ord=1, axis=(2, 0), keepdims=True),
        S(normal(6, 5), axis=-1),
        S(normal(6, 5), ord=3, axis=0, keepdims=True),
        S(normal(6, 5), ord=-float("inf")),
        S(normal(5), ord=1),
        kink(S(np.zeros((2, 3)), axis=1)),
    ],
    "trace": [S(normal(5, 7)), S(normal(6, 5, 7), offset=1)],
    "matrix_power": [
        rigid(called(lambda op, x, n=n: op(x, n), regular(3))) for n in (0, 1, 2, 3, 5, -2)
    ],
    "cross": [
        Sample((normal(5, 3), normal(5, 3, seed=1)), fixed={3: "vectors in space"}),
        Sample((normal(3, 5), normal(3, 1)), {"axis": 0}, fixed={3: "vectors in space"}),
    ],
    "uniform": [
        keyed(called(lambda op, key: op(key, (5, 7)), KEY)),
        keyed(
            called(
                lambda op, key, low, high: op(key, (5, 7), low=low, high=high),
                KEY,
                normal(7),
                normal(5, 1) + 5,
            )
        ),
    ],
    "normal": [
        keyed(called(lambda op, key: op(key, (5, 7), dtype="float32"), KEY)),
        keyed(
            called(
                lambda op, key, mean, std: op(key, (5, 7), mean=mean, std=std),
                KEY,
                normal(7),
                normal(5, 1) + 5,
            )
        ),
    ],
    "bernoulli": [
        keyed(called(lambda op, key: op(key, 0.3, (5, 7)), KEY)),
        keyed(S(KEY, between(0.1, 0.9, 5))),
    ],
    "randint": [keyed(called(lambda op, key: op(key, (5, 7), 2, 9), KEY))],
    "permutation": [keyed(called(lambda op, key: op(key, 5), KEY))],
    "clip": [
        called(lambda op, x: op(x, -0.5, 0.8), spaced(5, 7)),
        called(lambda op, x: op(x, min=0.1), spaced(5, 7)),
        called(lambda op, x: op(x, max=0.1), spaced(5, 7)),
        called(
            lambda op, x, a, b: op(x, a, b),
            spaced(5, 7),
            np.linspace(-1.03, -0.41, 7),
            np.array(0.53),
        ),
        kink(called(lambda op, x: op(x, -1.0, 1.0), np.array([-1.0, 1.0, 0.5]))),
        kink(called(lambda op, x, a: op(x, a, None), np.array([1.0, 2.0]), np.array([1.0, 1.0]))),
    ],
    "isclose": [
        S(normal(5, 7), normal(7)),
        S(np.array([np.nan, np.inf]), np.array([np.nan, np.inf]), equal_nan=True),
    ],
    "allclose": [S(normal(5), normal(5)), S(normal(5), normal(5), rtol=1.0)],
    "mse_loss": [
        S(normal(5, 7), normal(5, 7, seed=1), reduction=r) for r in ("mean", "sum", "none")
    ],
    "binary_cross_entropy_with_logits": [
        S(normal(5, 7), between(0, 1, 5, 7)),
        called(
            on("weight", "pos_weight", reduction="sum"),
            normal(5, 7),
            between(0, 1, 5, 7),
            normal(7),
            normal(5, 1),
        ),
    ],
    "cross_entropy": [
        rigid(S(normal(5, 3), _CLASSES)),
        rigid(S(normal(5, 3), _IGNORED, label_smoothing=0.1)),
        rigid(S(normal(5, 3), _CLASSES, between(0.5, 2, 3), reduction="sum")),
        rigid(S(normal(5, 3), _IGNORED, between(0.5, 2, 3), label_smoothing=0.2)),
        rigid(S(normal(5, 3), between(0, 1, 5, 3), reduction="none")),
        rigid(S(normal(5, 3), between(0, 1, 5, 3), between(0.5, 2, 3), label_smoothing=0.2)),
        rigid(S(normal(3), np.array(1), ignore_index=None)),
        rigid(S(normal(2, 3, 4), np.array([[0, 1, 2, 2], [2, 1, 0, 0]]))),
    ],
    "nll_loss": [
        rigid(S(normal(5, 3), _CLASSES)),
        rigid(S(normal(5, 3), _IGNORED, between(0.5, 2, 3), reduction="sum")),
        rigid(S(normal(5, 3), _CLASSES, reduction="none", ignore_index=None)),
    ],
}
extend(COMPOSITE_SAMPLES, "COMPOSITE_SAMPLES")


INDEXED = (
    "take", "gather_at", "scatter_add_at", "scatter_set_at", "take_along_axis", "add_along_axis",
    "diagonal_matrix", "unslice", "pool_gather", "pool_scatter", "insertion_points", "searchsorted",
    *gathered("INDEXED"),
)  # fmt: skip
"""Ops whose samples are of a special kind in sizes and indices alone: any element type will do."""


# --- reading the tables ---------------------------------------------------------------------------


def named(name: str) -> Op | Composite:
    """The op or composite of this name."""
    return OPS[name] if name in OPS else COMPOSITES[name]


def op_names() -> list[str]:
    """All ops that compute: leaves have no kernel."""
    return [name for name, op in OPS.items() if op.family != "leaf"]


def composite_names() -> list[str]:
    """All composites."""
    return list(COMPOSITES)


def is_elementwise(name: str) -> bool:
    """Whether an op's samples follow from its signature."""
    return name in OPS and OPS[name].family in ELEMENTWISE


def samples_of(name: str) -> list[Sample]:
    """The samples of an op or composite: an error, if there are none."""
    if is_elementwise(name):
        return elementwise_samples(OPS[name])
    table = SAMPLES if name in OPS else COMPOSITE_SAMPLES
    assert table.get(name), f"{name} has no samples: add a row to tests/registry/samples.py"
    return table[name]
