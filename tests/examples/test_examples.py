"""The examples are there, compile, and say what they are. `.ci/run` runs each of them."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
EXPECTED = {
    "define_then_run",
    "gaussian_mixture",
    "higher_order",
    "logistic_newton",
    "mlp_digits",
    "seed_walkthrough",
    "static_vs_dynamic",
    "train_digits",
}
INSTALLED = {"symgrad", "numpy", "matplotlib", "mpmath", "rich", "sklearn"}
"""What an example may import beside the standard library: symgrad with its extra `examples`."""


def test_all_are_there() -> None:
    assert {path.stem for path in EXAMPLES} == EXPECTED


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_one_compiles_explains_itself_and_checks_its_results(path: Path) -> None:
    tree = ast.parse(path.read_text(), path.name)
    compile(tree, path.name, "exec")
    assert ast.get_docstring(tree)
    checks = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    assert checks, "an example asserts what it found"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_one_imports_only_what_its_extra_installs(path: Path) -> None:
    roots: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            roots |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            roots.add((node.module or "").split(".")[0])
    assert roots - set(sys.stdlib_module_names) <= INSTALLED
