"""The table of names: what PyTorch calls a public function of symgrad."""

from __future__ import annotations

ROWS: dict[str, str] = {
    # one operand
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctanh": "atanh",
    "bitwise_not": "bitwise_invert",
    "expit": "sigmoid",
    "fix": "trunc",
    "neg": "negative",
    "sgn": "sign",
    # two operands
    "arctan2": "atan2",
    "div": "divide",
    "eq": "equal",
    "ge": "greater_equal",
    "gt": "greater",
    "igamma": "gammainc",
    "igammac": "gammaincc",
    "le": "less_equal",
    "lt": "less",
    "mul": "multiply",
    "ne": "not_equal",
    "sub": "subtract",
    "true_divide": "divide",
    # bounds
    "clamp": "clip",
    # sums, extremes, running values
    "amax": "max",
    "amin": "min",
    "cummax": "cumulative_max_with_indices",
    "cummin": "cumulative_min_with_indices",
    "cumprod": "cumulative_prod",
    "cumsum": "cumulative_sum",
    "logcumsumexp": "cumulative_logsumexp",
    "mvlgamma": "multigammaln",
    # products
    "bmm": "matmul",
    "ger": "outer",
    "mm": "matmul",
    "mv": "matmul",
    # axes and pieces
    "broadcast_tensors": "broadcast_arrays",
    "concatenate": "concat",
    "movedim": "moveaxis",
    "permute": "permute_dims",
    "repeat_interleave": "repeat",
    "row_stack": "vstack",
    "swapdims": "swapaxes",
    "take_along_dim": "take_along_axis",
    "unsqueeze": "expand_dims",
    # arrays of others
    "as_tensor": "asarray",
    "from_numpy": "asarray",
    # matrices
    "inverse": "inv",
    "matrix_exp": "expm",
    "pinverse": "pinv",
}
"""PyTorch's name, and the public function that means the same."""

FROM_LINALG = (
    "cholesky",
    "cross",
    "det",
    "matrix_power",
    "pinv",
    "qr",
    "slogdet",
    "svd",
    "trace",
)
"""Functions of ``sg.linalg`` that are methods as well."""

NO_METHODS = frozenset(["asarray", "as_tensor", "from_dlpack", "from_numpy", "where"])
"""Functions whose first operand is no tensor, or which a method of the same name leads to."""

CASTS: dict[str, str] = {
    "bool": "bool",
    "byte": "uint8",
    "cdouble": "complex128",
    "cfloat": "complex64",
    "char": "int8",
    "double": "float64",
    "float": "float32",
    "half": "float16",
    "int": "int32",
    "long": "int64",
    "short": "int16",
}
"""Methods that cast, and element types of these names."""

UNSUITABLE_IN_PLACE = frozenset(["clone", "stop_gradient", "where"])
"""Element-wise functions that are no change: `detach_` cuts the history."""

ALSO_IN_PLACE = (
    "addcdiv",
    "addcmul",
    "addmm",
    "clamp",
    "clamp_max",
    "clamp_min",
    "clip",
    "cumprod",
    "cumsum",
    "deg2rad",
    "float_power",
    "frac",
    "hardsigmoid",
    "hardtanh",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "masked_fill",
    "nan_to_num",
    "rad2deg",
    "relu6",
    "scatter_add",
    "scatter_reduce",
    "tril",
    "triu",
)
"""Methods beside the element-wise ones that are there with an underscore as well."""
