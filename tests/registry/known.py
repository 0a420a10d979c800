"""Defects that are known and not yet mended, each with its reason; and derivatives not yet written.

A test that meets an entry must fail: when it passes, the entry goes.
"""

from __future__ import annotations

import pytest

KNOWN: dict[tuple[str, str], str] = {}
"""(test, op): what is wrong."""

TODO: set[tuple[str, int]] = set()
"""(op, operand): derivatives that exist in mathematics and are not written."""


def known(request: pytest.FixtureRequest, test: str, name: str) -> None:
    """Expect the running test to fail, if its failure is known."""
    if (test, name) in KNOWN:
        request.applymarker(pytest.mark.xfail(reason=KNOWN[test, name], strict=True))
