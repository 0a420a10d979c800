"""Pooling under the names that state the number of spatial axes, and by the p-norm."""

from __future__ import annotations

from typing import Any

from symgrad.errors import ArgumentError
from symgrad.ir.op import ops
from symgrad.ops.adaptive_pool import (
    adaptive_avg_pool,
    adaptive_max_pool,
    adaptive_max_pool_with_indices,
)
from symgrad.ops.avg_pool import avg_pool
from symgrad.ops.by_rank import by_rank
from symgrad.ops.families import Array, composite
from symgrad.ops.max_pool import max_pool, max_pool_with_indices
from symgrad.ops.patches import window_cells
from symgrad.ops.pool_cells import max_unpool
from symgrad.ops.windows import exact_padding, pooled_sizes, pooling_attrs, spatial_axes


@composite
def lp_pool(
    x: Array,
    /,
    p: float,
    kernel: Any,
    *,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
) -> Any:
    """The p-norm ``sum(abs(x)**p)**(1/p)`` of windows, as `linalg.vector_norm` computes it.

    Neither overflows while the norm does not; the slope is 0 where a window holds only zeros.

    Args:
        x: images (N, C, *sizes), real or complex numbers; integers are cast to the float type.
        p: a number above 0; ``inf`` gives the largest absolute value.
        kernel, stride, padding, ceil_mode: as for `avg_pool`. What hangs over or is padding does
            not count: in ceil mode, the norm is that of the cells that there are.
    Raises:
        ShapeError: the window is larger than the padded image, or an attribute is out of range.
        ArgumentError: p is not above 0.

    >>> import symgrad as sg
    >>> sg.lp_pool(sg.asarray([[[3.0, 4.0, 0.0, 0.0, 2.0]]]), 2, 2, ceil_mode=True)
    Tensor([[[5., 0., 2.]]])
    """
    x = ops.asarray(x)
    if type(p) not in (int, float) or not p > 0:
        raise ArgumentError("lp_pool", "p", expected="a number above 0", got=repr(p))
    axes = spatial_axes("lp_pool", x.type)
    given = {"kernel": kernel, "stride": stride, "padding": padding, "dilation": 1}
    attrs = pooling_attrs("lp_pool", axes, given)
    counts = pooled_sizes("lp_pool", x.type, {**attrs, "ceil_mode": ceil_mode})
    exact = exact_padding(x.shape[2:], counts, attrs["kernel"], attrs)
    cells = window_cells(x, **{**attrs, "padding": exact})
    return ops.vector_norm(cells, axis=tuple(range(2, 2 + axes)), ord=p)


# --- names ----------------------------------------------------------------------------------------


@by_rank("max_pool")
def _max_pool(
    x: Array,
    kernel: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """`max_pool` over {axes}; the batch may be left out.

    With ``return_indices``, the result is that of `max_pool_with_indices`.

    >>> import symgrad as sg
    >>> float(sg.sum(sg.{name}({ones}, 4)))
    1.0
    """
    pool = max_pool_with_indices if return_indices else max_pool
    return pool(x, kernel, stride=stride, padding=padding, dilation=dilation, ceil_mode=ceil_mode)


@by_rank("max_unpool", images=2)
def _max_unpool(
    x: Array,
    indices: Array,
    kernel: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Any:
    """`max_unpool` over {axes}; the batch may be left out.

    >>> import symgrad as sg
    >>> values, indices = sg.max_pool_with_indices({ones}, 2)
    >>> sg.{name}(values, indices, 2).shape
    (1, 1{fours})
    """
    return max_unpool(x, indices, kernel, stride=stride, padding=padding, output_size=output_size)


@by_rank("avg_pool")
def _avg_pool(
    x: Array,
    kernel: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: Any = None,
) -> Any:
    """`avg_pool` over {axes}; the batch may be left out.

    >>> import symgrad as sg
    >>> float(sg.sum(sg.{name}({ones}, 4)))
    1.0
    """
    return avg_pool(
        x,
        kernel,
        stride=stride,
        padding=padding,
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
        divisor_override=divisor_override,
    )


@by_rank("lp_pool")
def _lp_pool(x: Array, p: float, kernel: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
    """`lp_pool` over {axes}; the batch may be left out.

    >>> import symgrad as sg
    >>> sg.{name}({ones}, 2, 2).shape
    (1, 1{twos})
    """
    return lp_pool(x, p, kernel, stride=stride, ceil_mode=ceil_mode)


@by_rank("adaptive_avg_pool")
def _adaptive_avg_pool(x: Array, output_size: Any) -> Any:
    """`adaptive_avg_pool` over {axes}; the batch may be left out.

    >>> import symgrad as sg
    >>> float(sg.sum(sg.{name}({ones}, 1)))
    1.0
    """
    return adaptive_avg_pool(x, output_size)


@by_rank("adaptive_max_pool")
def _adaptive_max_pool(x: Array, output_size: Any, return_indices: bool = False) -> Any:
    """`adaptive_max_pool` over {axes}; the batch may be left out.

    With ``return_indices``, the result is that of `adaptive_max_pool_with_indices`.

    >>> import symgrad as sg
    >>> float(sg.sum(sg.{name}({ones}, 1)))
    1.0
    """
    pool = adaptive_max_pool_with_indices if return_indices else adaptive_max_pool
    return pool(x, output_size)


max_pool1d, max_pool2d, max_pool3d = _max_pool
max_unpool1d, max_unpool2d, max_unpool3d = _max_unpool
avg_pool1d, avg_pool2d, avg_pool3d = _avg_pool
lp_pool1d, lp_pool2d, lp_pool3d = _lp_pool
adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = _adaptive_avg_pool
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = _adaptive_max_pool
