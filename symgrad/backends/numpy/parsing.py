"""The syntax trees of kernels, for generated code."""

from __future__ import annotations

import ast
import inspect
import textwrap
import threading
from typing import Any

_parsing = threading.Lock()
"""Python 3.11 counts the depth of a tree once for all threads: two that parse at once raise."""


def tree_of(thing: Any) -> ast.Module:
    """The syntax tree of a function or class, from its source.

    Raises:
        OSError, TypeError: the source is not at hand.
    """
    text = textwrap.dedent(inspect.getsource(thing))
    with _parsing:
        return ast.parse(text)
