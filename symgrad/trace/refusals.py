"""What Python cannot do with a traced value: the error names the user's line, and the cure."""

from __future__ import annotations

import os
from types import TracebackType

from symgrad.errors import ChangeRefused, TraceError
from symgrad.ir.symbol import Symbol

_PACKAGE = __name__.partition(".")[0]

_EAGER = "or call the function itself, which runs eagerly"
_WHOLE = "what acts on whole axes (sg.sum, sg.where, sg.cumulative_sum) needs no loop"
_READ = "return it, and read it outside"

CURES = {
    "bool": f"if, while, and, or need a value: sg.where(condition, a, b) selects; {_EAGER}",
    "int": f"sg.astype keeps it in the graph; what a loop counts to is a static argument; {_EAGER}",
    "index": f"what counts or indexes is a Python int or a static argument; or sg.take; {_EAGER}",
    "float": f"use functions of sg, not of math; {_READ}; {_EAGER}",
    "complex": f"use functions of sg, not of cmath; {_READ}; {_EAGER}",
    "len": f"x.shape[0] is the size; {_WHOLE}; {_EAGER}",
    "iter": f"{_WHOLE}; {_EAGER}",
    "numpy.asarray": f"use functions of sg, not of numpy; sg.stack joins several; {_READ}",
    "item assignment": "x = sg.set_at(x, key, value) gives a new one",
    "item deletion": "sg.concat joins what is left",
}
"""Per refused use, what to do inside a traced function."""

_READING = ("item", "numpy", "tolist", "data_ptr", "stride")


def refusal(name: str, error: BaseException) -> BaseException:
    """The error to raise for one that came out of a function while it was traced.

    Args:
        name: the function's name.
        error: what it raised; errors that have nothing to do with tracing stay as they are.
    """
    site = user_line(error.__traceback__)
    if isinstance(error, (TraceError, ChangeRefused)):
        if isinstance(error, ChangeRefused) or error.where in CURES:
            error.hint = CURES.get(error.where, error.hint)
        error.problem = error.problem.replace("while the graph is built", f"while {name} is traced")
        if site is not None and error.site is None:
            error.site = site
        return error
    if isinstance(error, AttributeError) and isinstance(error.obj, Symbol):
        return _attribute(name, str(error.name), error.obj, site)
    return error


def _attribute(name: str, attribute: str, symbol: Symbol, site: str | None) -> TraceError:
    """The error about a method that tensors have and symbols do not."""
    problem = f"{symbol!r} has no value while {name} is traced"
    kind = TraceError
    if attribute in _READING:
        hint = f"{_READ}; {_EAGER}"
    elif attribute in ("backward", "grad"):
        problem = f"{symbol!r} keeps no gradient while {name} is traced"
        hint = "sg.grad(loss, [x]) gives gradients as part of the graph"
    elif attribute.endswith("_") and not attribute.startswith("_"):
        kind = ChangeRefused
        problem = f"{symbol!r} does not change"
        hint = f"x = x.{attribute[:-1]}(...) gives a new one"
    else:
        problem = f"{symbol!r} has no such attribute while {name} is traced"
        hint = _EAGER.removeprefix("or ")
    return kind(f".{attribute}", problem, hint=hint, site=site)


def user_line(trace: TracebackType | None) -> str | None:
    """The innermost line of a traceback that is not the package's, as ``file:line``."""
    found = None
    while trace is not None:
        module = trace.tb_frame.f_globals.get("__name__", "")
        if module != _PACKAGE and not module.startswith(f"{_PACKAGE}."):
            file = trace.tb_frame.f_code.co_filename
            found = f"{os.path.basename(file)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found
