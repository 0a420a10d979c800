"""The doctest of every op and composite: doctest's own collection does not see into op records."""

from __future__ import annotations

import doctest
import sys

import numpy as np
import pytest

import symgrad as sg
from symgrad.ir.op import OPS
from tests.registry.known import known
from tests.registry.samples import composite_names, named, op_names

ALL = [*op_names(), *composite_names()]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def source_of(name: str) -> object:
    """The function whose module the examples stand in."""
    op = named(name)
    return op.kernel if name in OPS else op.body


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ALL)
def test_examples_in_documentation(name: str, request: pytest.FixtureRequest):
    known(request, "doctest", name)
    documentation = named(name).__doc__ or ""
    module = sys.modules.get(getattr(source_of(name), "__module__", None) or "", sg)
    scope = {"np": np, **vars(module)}
    examples = doctest.DocTestParser().get_doctest(documentation, scope, name, None, 0)
    assert examples.examples, f"{name} has no doctest"
    report: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(examples, out=report.append)
    assert not report, "".join(report)
