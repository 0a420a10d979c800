"""``docs/coverage.md`` says what is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.registry.coverage import table

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_page_is_up_to_date():
    text = table()
    if os.environ.get("SYMGRAD_REFRESH"):
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.exists(), "write it: SYMGRAD_REFRESH=1 pytest tests/registry/test_coverage.py"
    assert PAGE.read_text(encoding="utf-8") == text, (
        "docs/coverage.md is out of date: SYMGRAD_REFRESH=1 pytest tests/registry/test_coverage.py"
    )
