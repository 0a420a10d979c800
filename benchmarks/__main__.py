"""``python -m benchmarks [workload ...] [--write]``: measure, print, and write docs/benchmarks.md.

OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE, where they are set, choose a kernel for older libraries and
slow a present numpy; without byte code an import compiles all sources. So the benchmark runs itself
again without those variables, with one BLAS thread.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path

_PINNED = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "PYTHONDONTWRITEBYTECODE")
_MARK = "SYMGRAD_BENCHMARK_CHILD"


def in_clean_environment() -> int:
    """Run the same command in a process whose BLAS is set before numpy is loaded."""
    env = {key: value for key, value in os.environ.items() if key not in _PINNED}
    env |= {_MARK: "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, "-m", "benchmarks", *sys.argv[1:]], env=env).returncode


def main() -> int:
    """Run the named workloads, all if none is named."""
    import numpy as np

    from benchmarks.core import WORKLOADS

    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=main.__doc__)
    parser.add_argument("workloads", nargs="*", choices=[*WORKLOADS, []], metavar="workload")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    chosen = parser.parse_args()
    rows = [row for name in chosen.workloads or WORKLOADS for row in WORKLOADS[name]()]
    table = ["| measured | figure | goal | |", "|---|--:|--:|---|"]
    for row in rows:
        goal = "" if row.goal is None else f"≤ {row.goal:g} {row.unit}"
        verdict = "" if row.goal is None else ("met" if row.met else "missed")
        table.append(f"| {row.name} | {row.value:.3g} {row.unit} | {goal} | {verdict} |")
    text = "\n".join(table)
    print(text)
    if chosen.write:
        versions = (
            f"Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}"
        )
        page = (
            "# Benchmarks\n\nWritten by `python -m benchmarks --write`: one BLAS thread, CPU time, "
            f"medians, alternatives in turn; {versions}.\nTimes are of one shared machine; counts "
            f"and ratios are what to compare.\n\n{text}\n"
        )
        (Path(__file__).parent.parent / "docs" / "benchmarks.md").write_text(page)
    return 0


if __name__ == "__main__":
    sys.exit(main() if os.environ.get(_MARK) else in_clean_environment())
