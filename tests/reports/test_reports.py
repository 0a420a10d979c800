"""Public bug reports as cases: symgrad gives what mathematics says, but for the listed failures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reports.check import disagreements, expectations

HERE = Path(__file__).parent
PROJECT = HERE.parent.parent
CASES = PROJECT.parent / "shared" / "cases"

VARIANTS = {
    "": ("expected_failures.txt",),
    ":plain": ("expected_failures.txt", "expected_failures_plain.txt"),
    ":eager": ("expected_failures.txt", "expected_failures_eager.txt"),
}


@pytest.mark.skipif(not CASES.is_dir(), reason="the reported cases are not beside the project")
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant or "default")
def test_reported_cases_pass_but_for_the_listed_ones(variant: str, tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    # In a process of its own: it measures time by a signal, and silences all warnings.
    ran = subprocess.run(
        [
            *(sys.executable, "run.py", "--json", str(results)),
            *("--adapter", f"{HERE / 'symgrad_adapter.py'}{variant}"),
        ],
        cwd=CASES,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert results.is_file(), ran.stderr
    text = "\n".join((HERE / file).read_text(encoding="utf-8") for file in VARIANTS[variant])
    found = disagreements(json.loads(results.read_text(encoding="utf-8")), expectations(text))
    assert not found, "\n".join(found)
