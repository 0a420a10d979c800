"""Plant errors in the rule tables, and see whether the generated tests catch each.

    python tests/mutation.py            all of them, with what caught each
    python tests/mutation.py NAME ...   some of them

An error is planted in the op's record, in place, and taken out again. The status is 1 if one
survives.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import symgrad as sg
from symgrad.eager import expansions, plans, pullbacks
from symgrad.ir.op import OPS, ZERO, Op, ops
from symgrad.types import TensorType
from tests.registry.checks import CHECKS, FOR_ELEMENTWISE
from tests.registry.closed_forms import FORMULAS, slopes_are_exact, value_is_exact
from tests.registry.conventions import ROWS, derivative_is_documented
from tests.registry.known import KNOWN
from tests.registry.references import REFERENCES
from tests.registry.samples import is_elementwise, named, samples_of
from tests.registry.sampling import flat


@dataclass(frozen=True)
class Mutation:
    """One planted error: other facets of one op.

    Attributes:
        label: what was done wrong.
        op: in which op's record.
        facets: the fields that are replaced.
    """

    label: str
    op: str
    facets: dict[str, Any]


@contextmanager
def planted(mutation: Mutation) -> Generator[None]:
    """The record with the error in it, inside the block."""
    op = OPS[mutation.op]
    before = {field: getattr(op, field) for field in mutation.facets}
    _put(op, mutation.facets)
    try:
        yield
    finally:
        _put(op, before)


def _put(op: Op, facets: dict[str, Any]) -> None:
    """Exchange facets, and forget what was worked out from those before."""
    for field, value in facets.items():
        object.__setattr__(op, field, value)
    for table in (plans.PLANS, pullbacks._known_reads, expansions._known):
        table.clear()


# --- the errors -----------------------------------------------------------------------------------


def partials(op: str, label: str, *rows: Any) -> Mutation:
    """Other partial derivatives of an element-wise op, where not given by a rule of its own."""
    return Mutation(label, op, {"partials": rows})


def backwards(op: str, label: str, rule: Callable[..., Any]) -> Mutation:
    """Another vjp, made from the right one."""
    right = OPS[op].vjp
    return Mutation(
        label, op, {"vjp": lambda i, ct, y, args, attrs: rule(right, i, ct, y, args, attrs)}
    )


def forwards(op: str, label: str, rule: Callable[..., Any]) -> Mutation:
    """Another jvp, made from the right one."""
    right = OPS[op].jvp
    return Mutation(label, op, {"jvp": lambda ts, y, args, attrs: rule(right, ts, y, args, attrs)})


def computing(op: str, label: str, kernel: Callable[..., Any]) -> Mutation:
    """Another kernel."""
    return Mutation(label, op, {"kernel": kernel, "ufunc": None})


def _negated_first(right: Any, i: int, ct: Any, y: Any, args: Any, attrs: Any) -> Any:
    return -right(i, ct, y, args, attrs) if i == 0 else right(i, ct, y, args, attrs)


def _untouched(right: Any, i: int, ct: Any, y: Any, args: Any, attrs: Any) -> Any:
    return ct


def _halved(right: Any, i: int, ct: Any, y: Any, args: Any, attrs: Any) -> Any:
    return 0.5 * right(i, ct, y, args, attrs)


def _swapped(right: Any, i: int, ct: Any, y: Any, args: Any, attrs: Any) -> Any:
    return right(3 - i, ct, y, args, attrs) if i else right(i, ct, y, args, attrs)


def _conjugated(right: Any, i: int, ct: Any, y: Any, args: Any, attrs: Any) -> Any:
    found = right(i, ct, y, args, attrs)
    return found if found is ZERO else ops.conj(found)


def _written_once(right: Any, i: int, ct: Any, y: Any, args: Any, attrs: Any) -> Any:
    """The transpose of a gather that forgets that a position may be read twice."""
    x, indices = args
    base = ops.zeros_like(x)
    key = (*[slice(None)] * attrs["axis"], indices)
    return ops.set_at(base, key, ct) if i == 0 else right(i, ct, y, args, attrs)


def _same_order(right: Any, i: int, ct: Any, y: Any, args: Any, attrs: Any) -> Any:
    axes = attrs["axes"]
    shape = args[0].shape
    return ops.reshape(ops.permute_dims(ct, axes), shape)


def _transposed_twice(right: Any, i: int, ct: Any, y: Any, args: Any, attrs: Any) -> Any:
    found = right(i, ct, y, args, attrs)
    n = found.ndim
    square = n > 1 and found.shape[-1] == found.shape[-2]
    return ops.permute_dims(found, (*range(n - 2), n - 1, n - 2)) if square else found


def _without_ties(right: Any, i: int, ct: Any, y: Any, args: Any, attrs: Any) -> Any:
    at = args[0] == ops.reshape(
        y, [1 if a in attrs["axis"] else n for a, n in enumerate(args[0].shape)]
    )
    kept = ops.reshape(ct, [1 if a in attrs["axis"] else n for a, n in enumerate(args[0].shape)])
    return ops.where(at, kept, 0)


def _to_all(right: Any, i: int, ct: Any, y: Any, args: Any, attrs: Any) -> Any:
    """A softmax whose shares are taken to be independent."""
    return y * (1 - y) * ct


def _not_symmetric(right: Any, i: int, ct: Any, y: Any, args: Any, attrs: Any) -> Any:
    return 2 * ops.tril(right(i, ct, y, args, attrs))


def _float64(x: Any) -> Any:
    return np.exp(np.asarray(x, np.complex128 if x.dtype.kind == "c" else np.float64))


def _shared(x: Any, **_: Any) -> Any:
    return x


MUTATIONS = [
    partials("sin", "sign of a derivative", lambda y, x: -sg.cos(x)),
    partials("cos", "sign of a derivative", lambda y, x: sg.sin(x)),
    partials("log1p", "1/x for 1/(1 + x)", lambda y, x: 1 / x),
    partials("expm1", "y for exp(x)", lambda y, x: y),
    partials("log2", "a dropped factor", lambda y, x: 1 / x),
    partials("sqrt", "a dropped factor", lambda y, x: 1 / y),
    partials("atan", "1 - x**2 for 1 + x**2", lambda y, x: 1 / (1 - x * x)),
    partials("acosh", "the wrong branch", lambda y, x: 1 / sg.sqrt(x * x - 1)),
    partials("tanh", "1 - y**2, which is lost in the tails", lambda y, x: 1 - y * y),
    partials("sigmoid", "y*(1 - y), which is lost in the tail", lambda y, x: y * (1 - y)),
    partials("erfc", "the sign of erf", lambda y, x: 1.1283791670955126 * sg.exp(-x * x)),
    partials("multiply", "swapped operands", lambda y, a, b: a, lambda y, a, b: b),
    partials("divide", "sign of the second", lambda y, a, b: 1 / b, lambda y, a, b: y / b),
    partials("atan2", "swapped operands", OPS["atan2"].partials[1], OPS["atan2"].partials[0]),
    partials(
        "pow", "no row at exponent 0", lambda y, a, b: b * a ** (b - 1), OPS["pow"].partials[1]
    ),
    partials("pow", "no row at base 0", OPS["pow"].partials[0], lambda y, a, b: y * sg.log(a)),
    partials("hypot", "no row at the origin", lambda y, a, b: a / y, lambda y, a, b: b / y),
    partials(
        "maximum",
        "the first wins a tie",
        lambda y, a, b: sg.astype(a >= b, y.dtype),
        lambda y, a, b: sg.astype(b > a, y.dtype),
    ),
    partials("abs", "slope 1 at 0", lambda y, x: sg.where(x < 0, -1.0, sg.ones_like(x))),
    partials(
        "clip_to",
        "slope 1 on a bound",
        lambda y, x, a, b: sg.astype((x >= a) & (x <= b), y.dtype),
        ZERO,
        ZERO,
    ),
    partials("remainder", "division for floor division", 1, lambda y, a, b: -(a / b)),
    partials("copysign", "the sign of one operand only", lambda y, a, b: sg.copysign(1, b), ZERO),
    backwards(
        "relu", "slope 1 at 0", lambda right, i, ct, y, args, attrs: sg.where(args[0] >= 0, ct, 0)
    ),
    backwards("where", "swapped branches", _swapped),
    backwards("imag", "sign of the imaginary unit", _conjugated),
    backwards("conj", "not conjugated", _untouched),
    backwards("sum", "a dropped factor", _halved),
    backwards(
        "mean",
        "the count taken twice",
        lambda right, i, ct, y, args, attrs: (
            right(i, ct, y, args, attrs)
            / max(1, args[0].size if isinstance(args[0].size, int) else 2)
        ),
    ),
    backwards("max", "ties not shared", _without_ties),
    backwards("var", "a dropped factor", _halved),
    backwards(
        "prod",
        "y / x, which is lost at zeros",
        lambda right, i, ct, y, args, attrs: (
            sg.broadcast_to(
                sg.reshape(
                    ct * y, [1 if a in attrs["axis"] else n for a, n in enumerate(args[0].shape)]
                ),
                args[0].shape,
            )
            / args[0]
        ),
    ),
    backwards("permute_dims", "the permutation for its inverse", _same_order),
    backwards("flip", "not flipped back", _untouched),
    backwards(
        "cumulative_sum",
        "not from the end",
        lambda right, i, ct, y, args, attrs: (
            right(i, ct, y, args, attrs)
            if attrs["include_initial"]
            else sg.cumulative_sum(ct, axis=attrs["axis"])
        ),
    ),
    backwards("take", "written once for added", _written_once),
    backwards("sort", "not put back in order", _untouched),
    backwards("matmul", "transposed where square", _transposed_twice),
    backwards("inv", "sign", _negated_first),
    backwards("solve", "sign of the matrix's part", _negated_first),
    backwards("cholesky", "a triangle for a symmetric matrix", _not_symmetric),
    backwards("softmax", "the diagonal alone", _to_all),
    forwards(
        "logsumexp",
        "a dropped factor",
        lambda right, ts, y, args, attrs: 0.5 * right(ts, y, args, attrs),
    ),
    forwards(
        "conv",
        "the image's tangent alone",
        lambda right, ts, y, args, attrs: right((ts[0], ZERO), y, args, attrs),
    ),
    computing("exp", "always double precision", _float64),
    computing("asin", "another function", np.arccos),
    computing("positive", "a view that shares memory", _shared),
    computing(
        "cumulative_sum",
        "an operand overwritten",
        lambda x, axis, dtype, include_initial: np.add.accumulate(x, axis, dtype, out=x),
    ),
    computing(
        "argmax",
        "the last of several, another type",
        lambda x, axis, keepdims: np.argmin(x, axis=axis, keepdims=keepdims),
    ),
    Mutation("a view not declared", "reshape", {"view": False}),
    Mutation(
        "another element type", "argsort", {"type": lambda x, **_: TensorType(x.shape, "int32")}
    ),
    Mutation("infinite at 0, and does not say so", "log", {"restricts_domain": False}),
    Mutation("the guard not moved with the elements", "roll", {"guard": "keep"}),
]


# --- catching them --------------------------------------------------------------------------------


def _checks_of(name: str) -> Generator[tuple[str, Callable[[], None]]]:
    """All that is generated for an op, the quick first."""
    for k in range(len(FORMULAS.get(name, []))):
        yield "value", lambda k=k: value_is_exact(name, k, "float64")
        yield "slope", lambda k=k: slopes_are_exact(name, k, "none")
    for check in CHECKS:
        if is_elementwise(name) or check not in FOR_ELEMENTWISE:
            yield check, lambda check=check: CHECKS[check](name)
    if name in REFERENCES:
        yield "reference", lambda: _matches_reference(name)
    for row in ROWS:
        yield "special_derivative", lambda row=row: derivative_is_documented(row, "none", "float64")


def _matches_reference(name: str) -> None:
    for sample in samples_of(name):
        wanted = REFERENCES[name](*sample.operands, **sample.attrs)
        if wanted is not NotImplemented:
            for a, b in zip(sample.computed(named(name)), flat(wanted), strict=True):
                np.testing.assert_allclose(a.numpy(), b, rtol=1e-9, atol=1e-9)


def caught_by(mutation: Mutation) -> str | None:
    """The first generated check that fails while the error is planted, or None."""
    with planted(mutation), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for label, check in _checks_of(mutation.op):
            if (label, mutation.op) in KNOWN:
                continue
            try:
                check()
            except Exception:
                # An error of any kind fails a test.
                return label
    return None


def main(names: list[str]) -> int:
    """Plant each error in turn, and report."""
    survivors = 0
    for mutation in MUTATIONS:
        if names and mutation.op not in names:
            continue
        label = caught_by(mutation)
        survivors += label is None
        print(f"{mutation.op:16} {mutation.label:45} {label or 'SURVIVES'}")
    print(f"{survivors} of {len(MUTATIONS)} survive")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
