"""The source of kernels and of all they use, for code that must run without symgrad."""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
from collections.abc import Iterable, Mapping
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from symgrad.backends.numpy.literals import attribute_text
from symgrad.backends.numpy.names import Names
from symgrad.backends.numpy.templates import without_docstring
from symgrad.errors import RuleMissing
from symgrad.syntax import module_of

_IMPORTABLE = (sys.stdlib_module_names - {"__main__"}) | {"numpy", "scipy"}
"""What an exported file may import from; the source of everything else is written into it."""


def _missing(thing: Any) -> RuleMissing:
    return RuleMissing(
        "export_python",
        "no Python source can be written for this",
        got=repr(thing),
        hint="a kernel should be a plain function of a module, on numpy alone",
    )


class _Plain(ast.NodeTransformer):
    """Strip what only readers of the library need, and rename globals."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.decorator_list, node.returns = [], None
        node.body = without_docstring(node.body) or [ast.Pass()]
        self.generic_visit(node)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        node.body = without_docstring(node.body) or [ast.Pass()]
        self.generic_visit(node)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is None:
            return ast.Pass()
        self.generic_visit(node)
        return ast.Assign([node.target], node.value)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self._names.get(node.id, node.id), node.ctx)


def _bound_names(tree: ast.AST) -> set[str]:
    """The names that are bound somewhere inside: parameters, variables, inner functions."""
    bound = {part.arg for part in ast.walk(tree) if isinstance(part, ast.arg)}
    inner = (part for part in ast.walk(tree) if part is not tree)
    bound |= {part.name for part in inner if isinstance(part, (ast.FunctionDef, ast.ClassDef))}
    stored = (ast.Store, ast.Del)
    names = (part for part in ast.walk(tree) if isinstance(part, ast.Name))
    return bound | {part.id for part in names if isinstance(part.ctx, stored)}


class Sources:
    """The definitions of functions and other objects, with all that they use.

    Args:
        references: the objects, by the names under which the code knows them.
        taken: names that the code uses for something else.
        strict: refuse what has no source; otherwise only its name is given.
    """

    def __init__(
        self, references: Mapping[str, Any], taken: Iterable[str] = (), *, strict: bool = True
    ) -> None:
        self._names = Names()
        self._name_of = {id(thing): name for name, thing in references.items()}
        for name in (*references, *taken):
            self._names.unique(name)
        self._imports: list[str] = []
        self._definitions: list[list[str]] = []
        self._pending = list(references.items())
        while self._pending:
            name, thing = self._pending.pop()
            try:
                self._define(name, thing)
            except RuleMissing:
                if strict:
                    raise
                self._definitions.append([f"{name} = ...  # {thing!r} has no source"])

    def imports(self) -> list[str]:
        """The import statements, besides that of numpy."""
        return sorted(self._imports)

    def definitions(self) -> list[list[str]]:
        """Blocks of lines, each defined before it is used at import."""
        self._definitions.reverse()  # what is used was found after its user
        return sorted(self._definitions, key=_rank)

    def _define(self, name: str, thing: Any) -> None:
        if isinstance(thing, ModuleType):
            self._imports.append(f"import {thing.__name__} as {name}")
        elif isinstance(thing, (FunctionType, type)) and _is_own(thing):
            self._definitions.append(self._source(name, thing))
        elif isinstance(thing, (FunctionType, BuiltinFunctionType, type)):
            self._imports.append(f"from {thing.__module__} import {thing.__name__} as {name}")
        else:
            self._definitions.append([f"{name} = {_value_text(thing)}"])

    def _source(self, name: str, thing: FunctionType | type) -> list[str]:
        try:
            tree = module_of(thing)
        except (OSError, TypeError, SyntaxError):
            raise _missing(thing) from None
        node = tree.body[0]
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or _has_closure(thing):
            raise _missing(thing)
        node = _Plain({}).visit(node)
        renamed = self._references(node, thing)
        node = _Plain(renamed).visit(node)
        node.name = name
        return ast.unparse(ast.fix_missing_locations(node)).split("\n")

    def _references(self, node: ast.AST, thing: FunctionType | type) -> dict[str, str]:
        """The globals that a definition uses, by their names here; they are defined as well."""
        module = inspect.getmodule(thing)
        scope: dict[str, Any] = (
            thing.__globals__ if isinstance(thing, FunctionType) else vars(module)
        )
        names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        free = sorted(names - _bound_names(node))
        return {name: self._refer(scope[name], name) for name in free if name in scope}

    def _refer(self, thing: Any, wish: str) -> str:
        if thing is np:
            return "np"
        if getattr(builtins, wish, None) is thing:
            return wish
        key = id(thing)
        if key not in self._name_of:
            self._name_of[key] = self._names.unique(wish)
            self._pending.append((self._name_of[key], thing))
        return self._name_of[key]


def _is_own(thing: FunctionType | type) -> bool:
    return thing.__module__.split(".", maxsplit=1)[0] not in _IMPORTABLE


def _has_closure(thing: FunctionType | type) -> bool:
    return isinstance(thing, FunctionType) and thing.__closure__ is not None


def _value_text(value: Any) -> str:
    def refuse(thing: Any) -> str:
        raise _missing(thing)

    return attribute_text(value, {}, refuse)


def _rank(block: list[str]) -> int:
    """Classes and constants before functions, which only look up names when they run."""
    return 1 if block[0].startswith("def ") else 0
