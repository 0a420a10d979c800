"""PyTorch's functions that compute element by element or over axes, or ask what a tensor is."""

from __future__ import annotations

from typing import Any

from symgrad.eager.names.written import spelling
from symgrad.ir.op import ops
from symgrad.ir.operators import Operators
from symgrad.types import is_complex as is_complex_type
from symgrad.types import is_inexact


@spelling
def clamp_min(x: Any, min: Any) -> Any:
    """No smaller than a bound.

    >>> import symgrad as sg
    >>> sg.clamp_min(sg.asarray([-1.0, 2.0]), 0)
    Tensor([0., 2.])
    """
    return ops.clip(x, min, None)


@spelling
def clamp_max(x: Any, max: Any) -> Any:
    """No larger than a bound.

    >>> import symgrad as sg
    >>> sg.clamp_max(sg.asarray([-1.0, 2.0]), 0)
    Tensor([-1.,  0.])
    """
    return ops.clip(x, None, max)


@spelling
def frac(x: Any) -> Any:
    """What is left of ``x`` without its integer part.

    >>> import symgrad as sg
    >>> sg.frac(sg.asarray([1.5, -1.5]))
    Tensor([ 0.5, -0.5])
    """
    return ops.subtract(x, ops.trunc(x))


@spelling
def rsub(x: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``other - alpha*x``.

    >>> import symgrad as sg
    >>> sg.rsub(sg.asarray([1.0]), 3)
    Tensor([2.])
    """
    return ops.subtract(other, x if alpha == 1 else ops.multiply(x, alpha))


@spelling
def addcmul(x: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """``x + value * tensor1 * tensor2``.

    >>> import symgrad as sg
    >>> sg.addcmul(sg.ones(1), sg.asarray([2.0]), sg.asarray([3.0]), value=0.5)
    Tensor([4.])
    """
    return ops.add(x, ops.multiply(value, ops.multiply(tensor1, tensor2)))


@spelling
def addcdiv(x: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """``x + value * tensor1 / tensor2``.

    >>> import symgrad as sg
    >>> sg.addcdiv(sg.ones(1), sg.asarray([2.0]), sg.asarray([4.0]))
    Tensor([1.5])
    """
    return ops.add(x, ops.multiply(value, ops.divide(tensor1, tensor2)))


@spelling
def addmm(x: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta*x + alpha * mat1 @ mat2``.

    >>> import symgrad as sg
    >>> sg.addmm(sg.ones(1, 1), sg.ones(1, 2), sg.ones(2, 1))
    Tensor([[3.]])
    """
    return ops.add(ops.multiply(beta, x), ops.multiply(alpha, ops.matmul(mat1, mat2)))


@spelling
def addmv(x: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta*x + alpha * mat @ vec``.

    >>> import symgrad as sg
    >>> sg.addmv(sg.ones(1), sg.ones(1, 2), sg.ones(2))
    Tensor([3.])
    """
    return addmm(x, mat, vec, beta=beta, alpha=alpha)


@spelling
def baddbmm(x: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta*x + alpha * batch1 @ batch2``, matrix by matrix.

    >>> import symgrad as sg
    >>> sg.baddbmm(sg.ones(1, 1, 1), sg.ones(1, 1, 2), sg.ones(1, 2, 1))
    Tensor([[[3.]]])
    """
    return addmm(x, batch1, batch2, beta=beta, alpha=alpha)


@spelling
def var_mean(
    x: Any, dim: Any = None, *, correction: float = 1, keepdim: bool = False
) -> tuple[Any, Any]:
    """Variance, by default that of a sample (which divides by n - 1), and mean.

    >>> import symgrad as sg
    >>> sg.var_mean(sg.asarray([1.0, 3.0]))
    (Tensor(2.), Tensor(2.))
    """
    variance = ops.var(x, axis=dim, correction=correction, keepdims=keepdim)
    return variance, ops.mean(x, axis=dim, keepdims=keepdim)


@spelling
def std_mean(
    x: Any, dim: Any = None, *, correction: float = 1, keepdim: bool = False
) -> tuple[Any, Any]:
    """Deviation, by default that of a sample (which divides by n - 1), and mean.

    >>> import symgrad as sg
    >>> sg.std_mean(sg.asarray([0.0, 0.0, 3.0, 3.0]), correction=0)
    (Tensor(1.5), Tensor(1.5))
    """
    deviation = ops.std(x, axis=dim, correction=correction, keepdims=keepdim)
    return deviation, ops.mean(x, axis=dim, keepdims=keepdim)


@spelling
def aminmax(x: Any, *, dim: Any = None, keepdim: bool = False) -> tuple[Any, Any]:
    """The least and the largest element.

    >>> import symgrad as sg
    >>> sg.aminmax(sg.asarray([3, 1, 2]))
    (Tensor(1), Tensor(3))
    """
    options: Any = {"axis": dim, "keepdims": keepdim}
    return ops.min(x, **options), ops.max(x, **options)


@spelling
def norm(x: Any, p: Any = 2, dim: Any = None, keepdim: bool = False) -> Any:
    """The norm of a vector: over axes, or of all elements.

    >>> import symgrad as sg
    >>> sg.norm(sg.asarray([3.0, 4.0]))
    Tensor(5.)
    """
    order = 2 if p == "fro" else p
    return ops.vector_norm(x, axis=dim, keepdims=keepdim, ord=order)


@spelling
def dist(x: Any, other: Any, p: float = 2) -> Any:
    """The norm of the difference.

    >>> import symgrad as sg
    >>> sg.dist(sg.asarray([3.0, 4.0]), sg.zeros(2))
    Tensor(5.)
    """
    return norm(ops.subtract(x, other), p)


@spelling
def topk(x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The ``k`` largest or smallest elements along an axis and their places; always sorted.

    >>> import symgrad as sg
    >>> sg.topk(sg.asarray([2.0, 9.0, 5.0]), 2).values
    Tensor([9., 5.])
    """
    return ops.top_k(x, k, axis=dim, mode="largest" if largest else "smallest")


@spelling
def unique(x: Any) -> Any:
    """The values that occur, in order.

    >>> import symgrad as sg
    >>> sg.unique(sg.asarray([3, 1, 3]))
    Tensor([1, 3])
    """
    return ops.unique_values(x)


# --- what it is -----------------------------------------------------------------------------------


@spelling
def numel(x: Any) -> Any:
    """The number of elements.

    >>> import symgrad as sg
    >>> sg.numel(sg.ones(2, 3))
    6
    """
    return ops.asarray(x).size


@spelling
def is_floating_point(x: Any) -> bool:
    """Whether the element type is a real floating one.

    >>> import symgrad as sg
    >>> sg.is_floating_point(sg.ones(1))
    True
    """
    return is_inexact(x.dtype) and not is_complex_type(x.dtype)


@spelling
def is_complex(x: Any) -> bool:
    """Whether the element type is complex.

    >>> import symgrad as sg
    >>> sg.is_complex(sg.ones(1))
    False
    """
    return is_complex_type(x.dtype)


def is_tensor(x: Any) -> bool:
    """Whether it is a tensor or a symbol.

    >>> import symgrad as sg
    >>> sg.is_tensor(sg.ones(1)), sg.is_tensor([1.0])
    (True, False)
    """
    return isinstance(x, Operators)
