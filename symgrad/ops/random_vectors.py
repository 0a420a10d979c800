"""Draws of vectors and matrices."""

from __future__ import annotations

from typing import Any

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ops
from symgrad.ops.distributions import exponential
from symgrad.ops.draws import sizes_of
from symgrad.ops.families import Array, composite
from symgrad.ops.parameters import array_parameter, draws_dtype, draws_shape, require_same, together
from symgrad.ops.random import normal, split
from symgrad.types import Dim


def _factor(cov: Any, method: str) -> Any:
    """A matrix whose product with its transpose is ``cov``."""
    if method == "cholesky":
        return ops.cholesky(cov)
    values, vectors = ops.eigh(cov)
    return vectors * ops.expand_dims(ops.sqrt(ops.maximum(values, 0)), axis=-2)


@composite(namespace="random")
def multivariate_normal(
    key: Array,
    mean: Array,
    cov: Array,
    shape: Any = None,
    *,
    dtype: Any = None,
    method: str = "cholesky",
) -> Any:
    """Vectors of the normal distribution with this mean and covariance.

    They are ``mean + L @ z``, where ``L @ L.T`` is the covariance, and have derivatives by both.

    Args:
        key: (2,) words.
        mean: (…, n) numbers.
        cov: (…, n, n) symmetric positive definite matrices, of which the lower triangle is read.
        shape: the shape of the result without its last axis; if None, that to which those of mean
            and cov broadcast.
        dtype: a real floating type; if None, that of the parameters, or the default float.
        method: "cholesky"; or "eigh", for singular matrices as well, with the conventions of
            ``sg.linalg.eigh`` for its derivative.
    Raises:
        ArgumentError: another method. ShapeError: cov is not square, or shapes do not fit.
        DTypeError: dtype is no real floating type, or the key no key.
        LinAlgError: cov is not positive definite, when it runs (for "cholesky").

    >>> import symgrad as sg
    >>> cov = sg.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> x = sg.random.multivariate_normal(sg.random.key(0), [0.0, 3.0], cov, (10_000,))
    >>> x.shape, bool(sg.allclose(sg.mean(x, axis=0), [0.0, 3.0], atol=0.05))
    ((10000, 2), True)
    """
    name = "random.multivariate_normal"
    if method not in ("cholesky", "eigh"):
        raise ArgumentError(
            name, "unknown method", expected="'cholesky' or 'eigh'", got=repr(method)
        )
    mean, cov = ops.asarray(mean), ops.asarray(cov)
    dtype = draws_dtype(dtype, mean, cov)
    mean, cov = array_parameter(mean, dtype), array_parameter(cov, dtype)
    if mean.ndim < 1 or cov.ndim < 2:
        raise ShapeError(name, "axes are missing", expected="(…, n) and (…, n, n)", got=cov.type)
    require_same(name, cov.shape[-2], cov.shape[-1], "sizes of cov's last axes")
    require_same(name, mean.shape[-1], cov.shape[-1], "sizes of mean and cov")
    batch = together(name, mean.shape[:-1], cov.shape[:-2])
    front = batch if shape is None else sizes_of(name, shape)
    if together(name, front, batch) != front:
        raise ShapeError(name, "mean and cov broadcast to more than shape", expected=front)
    z = normal(key, (*front, mean.shape[-1]), dtype=dtype)
    return mean + ops.vecdot(_factor(cov, method), ops.expand_dims(z, axis=-2))


@composite(namespace="random")
def orthogonal(key: Array, n: Any, shape: Any = (), *, dtype: Any = None) -> Any:
    """Orthogonal matrices, none preferred to another (Haar's measure).

    Source: Mezzadri, How to generate random matrices from the classical compact groups (2007).

    Args:
        key: (2,) words.
        n: the number of rows and columns: an int or a dimension.
        shape: the shape of the result without its last two axes.
        dtype: float32 or float64; the default float if None.
    Raises:
        ShapeError: n is no count. DTypeError: another dtype, or the key is no key.

    >>> import symgrad as sg
    >>> q = sg.random.orthogonal(sg.random.key(0), 3)
    >>> bool(sg.allclose(q @ q.T, sg.eye(3)))
    True
    """
    name = "random.orthogonal"
    (n,), front = sizes_of(name, (n,)), draws_shape(name, shape)
    q, r = ops.qr(normal(key, (*front, n, n), dtype=draws_dtype(dtype)))
    return q * ops.expand_dims(ops.copysign(1.0, ops.diagonal(r)), axis=-2)


@composite(namespace="random")
def ball(key: Array, d: Any, shape: Any = (), *, dtype: Any = None) -> Any:
    """Vectors spread evenly over the inside of the unit ball in ``d`` dimensions.

    Source: Barthe, Guédon, Mendelson and Naor, A probabilistic approach to the geometry of the
    l_p^n-ball (2005).

    Args:
        key: (2,) words.
        d: the number of coordinates: an int of at least 1, or a dimension.
        shape: the shape of the result without its last axis.
        dtype: a real floating type; the default float if None.
    Raises:
        ArgumentError: d is no count. DTypeError: another dtype, or the key is no key.

    >>> import symgrad as sg
    >>> x = sg.random.ball(sg.random.key(0), 3, (1000,))
    >>> bool(sg.max(sg.linalg.vector_norm(x, axis=-1)) < 1)
    True
    """
    name = "random.ball"
    if not isinstance(d, Dim) and (type(d) is not int or d < 1):
        raise ArgumentError(name, "d is no count", expected="an int >= 1", got=repr(d))
    front, dtype, keys = draws_shape(name, shape), draws_dtype(dtype), split(key)
    z = normal(keys[0], (*front, d), dtype=dtype)
    rest = exponential(keys[1], (*front, 1), dtype=dtype, scale=2.0)
    length = ops.sqrt(ops.sum(z * z, axis=-1, keepdims=True) + rest)
    return z / length
