"""How the kernel of an op is written in generated code.

A kernel that is a ufunc becomes an operator or a call of it, one whose body is a single ``return``
is written in place, any other is called by its name.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import FunctionType, NoneType
from typing import Any, TypeGuard

import numpy as np

from symgrad.backends.numpy.literals import dtype_text
from symgrad.ir.op import Op
from symgrad.syntax import code_of, expression_of, module_of

OPERATORS: dict[Any, str] = {
    np.add: "%s + %s",
    np.subtract: "%s - %s",
    np.multiply: "%s * %s",
    np.divide: "%s / %s",
    np.negative: "-%s",
    np.equal: "%s == %s",
    np.not_equal: "%s != %s",
    np.less: "%s < %s",
    np.less_equal: "%s <= %s",
    np.greater: "%s > %s",
    np.greater_equal: "%s >= %s",
}
"""The ufuncs that are operators. On numpy's real floating scalars an operator is exact as well, and
fifteen times as fast as the ufunc."""


@dataclass(frozen=True, slots=True)
class Template:
    """The text of an application, with gaps for the operands.

    Attributes:
        text: a ``%`` format.
        order: which operand fills each gap.
        callee: the function or method of numpy that makes the result, as in "np.matmul", or "".
        is_ufunc: it is the call of a ufunc, which takes ``out=``.
    """

    text: str
    order: tuple[int, ...]
    callee: str
    is_ufunc: bool = False

    def fill(self, operands: list[str]) -> str:
        """The text for these operands."""
        return self.text % tuple([operands[k] for k in self.order])


def ufunc_name(op: Op) -> str | None:
    """How numpy calls the ufunc that the kernel is."""
    if op.ufunc is None:
        return None
    name = op.ufunc.__name__
    return f"np.{name}" if getattr(np, name, None) is op.ufunc else None


def operator_of(op: Op) -> str | None:
    """The operator form of the kernel, if it has one."""
    return OPERATORS.get(op.ufunc) if isinstance(op.ufunc, np.ufunc) else None


# --- kernels whose body is one expression -------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Inlinable:
    """A kernel's body: an expression in its parameters and in globals of its module."""

    text: str
    parameters: tuple[str, ...]
    globals: Mapping[str, Any]
    defaults: Mapping[str, Any]


def definition(kernel: Callable[..., Any]) -> ast.FunctionDef | None:
    """The syntax tree of a kernel's definition, or None where there is no source."""
    try:
        tree = module_of(kernel)
    except (OSError, TypeError, SyntaxError):
        return None
    node = tree.body[0]
    return node if isinstance(node, ast.FunctionDef) else None


def without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements after the docstring."""
    first = body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if is_text else body


_OWN_SCOPE = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr)


@cache
def inlinable(kernel: Callable[..., Any]) -> Inlinable | None:
    """The kernel as an expression, if it is no more than that."""
    if not isinstance(kernel, FunctionType) or kernel.__closure__:
        return None
    node = definition(kernel)
    if node is None:
        return None
    body = without_docstring(node.body)
    if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:
        return None
    if any(isinstance(part, _OWN_SCOPE) for part in ast.walk(body[0].value)):
        return None  # names bound inside could hide an operand's
    parameters = inspect.signature(kernel).parameters
    return Inlinable(
        ast.unparse(body[0].value),
        tuple(parameters),
        kernel.__globals__,
        {name: p.default for name, p in parameters.items()},
    )


@cache
def _positional_only(kernel: Callable[..., Any]) -> frozenset[str]:
    if not isinstance(kernel, FunctionType):
        return frozenset()
    parameters = inspect.signature(kernel).parameters.values()
    return frozenset(p.name for p in parameters if p.kind is p.POSITIONAL_ONLY)


class _Instantiate(ast.NodeTransformer):
    """Put operands' gaps and attributes' values in place of a kernel's parameters."""

    def __init__(self, values: Mapping[str, ast.expr], dtypes: Mapping[str, ast.expr]) -> None:
        self.values, self.dtypes = values, dtypes

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        # Functions and methods take numpy's scalar class for a dtype, which reads better.
        if isinstance(node.func, ast.Attribute):
            node.args = [self._argument(arg) for arg in node.args]
            for keyword in node.keywords:
                keyword.value = self._argument(keyword.value)
        self.generic_visit(node)
        return node

    def _argument(self, node: ast.expr) -> ast.expr:
        return self.dtypes.get(node.id, node) if isinstance(node, ast.Name) else node


class _Decide(ast.NodeTransformer):
    """Leave of ``a if test else b`` the branch that is taken, where attributes alone decide."""

    def __init__(self, attrs: Mapping[str, Any]) -> None:
        plain = (bool, str, np.dtype, NoneType)
        self.attrs: dict[str, Any] = {k: v for k, v in attrs.items() if isinstance(v, plain)}

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        names = {part.id for part in ast.walk(node.test) if isinstance(part, ast.Name)}
        if not names & self.attrs.keys() or not names <= self.attrs.keys() | {"np"}:
            return self.generic_visit(node)
        test = code_of(node.test)
        return self.visit(node.body if eval(test, {"np": np}, self.attrs) else node.orelse)


_GAP = re.compile(r"__gap_(\d+)__")


def _gap(k: int) -> str:
    return f"__gap_{k}__"


def _template_of(text: str, callee: str) -> Template:
    """A template from text with named gaps."""
    order = tuple([int(match[1]) for match in _GAP.finditer(text)])
    return Template(_GAP.sub("%s", text.replace("%", "%%")), order, callee)


def _operand_texts(op: Op, count: int) -> dict[str, str]:
    """What stands for each operand parameter: a gap, a list of gaps, or None if left out."""
    gaps = [_gap(k) for k in range(count)]
    texts: dict[str, str] = {}
    for parameter in op.signature.parameters:
        if parameter.role == "sequence":
            texts[parameter.name] = f"[{', '.join(gaps)}]"
        elif parameter.is_operand:
            texts[parameter.name] = gaps.pop(0) if gaps else "None"
    return texts


class Writer:
    """Makes templates for one piece of code.

    Args:
        attribute: the text of an attribute's value.
        refer: the name under which the code knows a function or other object.
    """

    def __init__(self, attribute: Callable[[Any], str], refer: Callable[[Any, str], str]) -> None:
        self._attribute, self._refer = attribute, refer

    def write(self, op: Op, attrs: Mapping[str, Any], count: int) -> Template:
        """The template of ``op`` with ``attrs`` on ``count`` operands, without ``out=``."""
        name = ufunc_name(op)
        if name is not None:
            gaps = ", ".join(["%s"] * count)
            return Template(f"{name}({gaps})", tuple(range(count)), name, is_ufunc=True)
        body = inlinable(op.kernel)
        if body is None or len(body.parameters) - len(attrs) != len(op.signature.operands):
            return self._call(op, attrs, count)
        return self._inline(op, body, attrs, count)

    def _call(self, op: Op, attrs: Mapping[str, Any], count: int) -> Template:
        gaps = list(map(_gap, range(count)))
        arguments = [f"[{', '.join(gaps)}]"] if op.variadic else gaps
        for name, value in attrs.items():
            key = "" if name in _positional_only(op.kernel) else f"{name}="
            arguments.append(f"{key}{self._attribute(value)}")
        kernel = self._refer(op.kernel, getattr(op.kernel, "__name__", op.name))
        return _template_of(f"{kernel}({', '.join(arguments)})", "")

    def _inline(self, op: Op, body: Inlinable, attrs: Mapping[str, Any], count: int) -> Template:
        # A scalar op's signature is generic; its kernel's own names are the first parameters.
        values: dict[str, ast.expr] = {}
        texts = list(_operand_texts(op, count).values())
        operand_names = [name for name in body.parameters if name not in attrs]
        for name, text in zip(operand_names, texts, strict=True):
            values[name] = expression_of(text)
        for name, value in attrs.items():
            values[name] = expression_of(self._attribute(value))
        expression = _Decide(attrs).visit(expression_of(body.text))
        for part in ast.walk(expression):
            if isinstance(part, ast.Name) and part.id not in values and part.id in body.globals:
                values[part.id] = expression_of(self._refer(body.globals[part.id], part.id))
        dtypes = {
            name: expression_of(dtype_text(value))
            for name, value in attrs.items()
            if _is_dtype(value)
        }
        result = _Instantiate(values, dtypes).visit(expression)
        return _template_of(ast.unparse(ast.fix_missing_locations(result)), _callee(result))


def _is_dtype(value: Any) -> TypeGuard[np.dtype[Any]]:
    return isinstance(value, np.dtype)


def _callee(expression: ast.expr) -> str:
    """The function or method of numpy that makes the value of ``expression``."""
    if not isinstance(expression, ast.Call) or not isinstance(expression.func, ast.Attribute):
        return ""
    if any(keyword.arg == "copy" for keyword in expression.keywords):
        return ""  # it may give its operand back
    text = ast.unparse(expression.func)
    if text.startswith("np."):
        return text
    base = expression.func.value
    is_operand = isinstance(base, ast.Name) and _GAP.fullmatch(base.id)
    return f".{expression.func.attr}" if is_operand else ""
