"""Eigenvalues of any square matrices: eig, eigvals.

They are complex, whatever the matrix is. Eigenvectors have length 1 and a phase that makes their
largest element real; for repeated eigenvalues only their span is determined. The rules are right as
long as one of the elements of a vector is the largest, which does not matter for functions that do
not depend on the phase. For repeated eigenvalues see `symgrad.ops.repeated`. At a matrix without a
full set of eigenvectors, eigenvalues have no derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from symgrad.ir.op import ZERO, ops
from symgrad.ops.families import Array, composite, multi, unpack
from symgrad.ops.matrices import adjoint, largest, plus, require_square, row
from symgrad.ops.repeated import by_differences, slopes
from symgrad.types import TensorType, TupleType, complex_dtype


class EigResult(NamedTuple):
    """Eigenvalues, in no particular order, and the eigenvectors as columns."""

    eigenvalues: Any
    eigenvectors: Any


def _eig_type(x: TensorType) -> Any:
    require_square("eig", x)
    dtype = complex_dtype(x.dtype)
    return TupleType((TensorType(x.shape[:-1], dtype), TensorType(x.shape, dtype)))


def _normalized(ct: Any, vectors: Any) -> Any:
    """The adjoint of what keeps length and phase: of a change, it takes multiples of v away.

    Of a change u of v, it leaves ``u - v Re(v^H u) - i v Im(u[k]) / v[k]``, with v[k] the largest
    element, which is real.
    """
    along = ops.sum(ops.conj(vectors) * ct, axis=-2, keepdims=True)
    size = ops.where(ops.imag(vectors) == 0, ops.abs(vectors), 0)
    chosen = size == largest(size, (vectors.ndim - 2,), True)
    count = ops.sum(ops.astype(chosen, size.dtype), axis=-2, keepdims=True)
    pivot = ops.where(chosen, ops.real(vectors), 1) * count
    turn = ops.where(chosen, ops.imag(along) / pivot, 0)
    return ct - vectors * ops.real(along) - 1j * turn


def _eig_vjp(cts: Sequence[Any], ys: Sequence[Any], x: Any) -> Any:
    """The adjoint of ``dw = diag(m)`` and ``dv = v @ (m * inverse_gaps)``, ``m = inv(v) dx v``."""
    (ct_values, ct_vectors), (values, vectors) = cts, ys
    middle: Any = ZERO
    if ct_vectors is not ZERO:
        turned = adjoint(vectors) @ _normalized(ct_vectors, vectors)
        (slope,) = slopes([turned], [values])
        # Every factor [i, j] of an eigenvalue's slope is the conjugate of that of its change.
        middle = by_differences(turned, slope, ops.conj(values))
    if ct_values is not ZERO:
        middle = plus(middle, row(ct_values) * ops.eye(x.shape[-1], dtype=ct_values.dtype))
    if middle is ZERO:
        return ZERO
    return ops.solve(adjoint(vectors), middle @ adjoint(vectors))


@multi(type=_eig_type, vjp=(_eig_vjp,), integers="float", holomorphic=False, warns=False)
def eig_pack(x: Array, /) -> Any:
    """The outputs of `eig`, packed.

    >>> import symgrad as sg
    >>> [part.shape for part in sg.linalg.eig(sg.ones((3, 3)))]
    [(3,), (3, 3)]
    """
    dtype = np.result_type(x, np.complex64)
    return tuple(part.astype(dtype) for part in np.linalg.eig(x))


@composite(namespace="linalg")
def eig(x: Array, /) -> EigResult:
    """Eigenvalues and eigenvectors of square matrices: ``x @ v == v * w``.

    The derivative is right as long as the eigenvalues differ; at repeated ones, for functions that
    do not depend on the choice of their vectors.

    Args:
        x: square matrices in the last two axes, of float32 or wider.
    Returns:
        a named tuple ``(eigenvalues, eigenvectors)`` of complex arrays: values in no particular
        order; vectors as columns, of length 1, with a real number as their largest element.
    Raises:
        ShapeError: not square. DTypeError: float16. LinAlgError: infinities or NaN among the
        elements; the gradient of a matrix without a full set of eigenvectors.

    >>> import symgrad as sg
    >>> sg.linalg.eig(sg.asarray([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues
    Tensor([0.+1.j, 0.-1.j])
    """
    return EigResult(*unpack(eig_pack(x), 2))


@composite(namespace="linalg")
def eigvals(x: Array, /) -> Any:
    """The eigenvalues of square matrices: complex numbers in no particular order.

    Args:
        x: as for `eig`.
    Raises:
        as `eig`.

    >>> import symgrad as sg
    >>> sg.linalg.eigvals(sg.asarray([[2.0, 1.0], [0.0, 3.0]]))
    Tensor([2.+0.j, 3.+0.j])
    """
    return eig(x).eigenvalues
