"""Syntax trees of Python, made and compiled by one thread at a time.

Python 3.11 keeps one count of the depth of trees for all threads, and raises where two threads make
or take in trees at once.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import threading
from types import CodeType
from typing import Any

_turn = threading.Lock()


def module_of(thing: Any) -> ast.Module:
    """The tree of a function or class, from its source.

    Raises:
        OSError, TypeError: the source is not at hand. SyntaxError: it is cut out of a line.
    """
    with _turn:
        return ast.parse(textwrap.dedent(inspect.getsource(thing)))


def expression_of(text: str) -> ast.expr:
    """The tree of an expression.

    Raises:
        SyntaxError, ValueError, MemoryError, RecursionError: as `ast.parse`.
    """
    with _turn:
        return ast.parse(text, mode="eval").body


def code_of(expression: ast.expr) -> CodeType:
    """The code of an expression."""
    with _turn:
        return compile(ast.Expression(expression), "<kernel>", "eval")
