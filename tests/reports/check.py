"""Compare the results of the reported cases with the failures that are expected.

    python check.py RESULTS.json EXPECTATIONS.txt ...

RESULTS is what the cases' ``run.py --json`` wrote: ``{id: {"status": …, "detail": …}}``. Each line
of the EXPECTATIONS is ``case_id: reason`` or ``without FEATURE: reason``. Exit status 0 only when
the cases that do not pass are exactly those.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def expectations(text: str) -> dict[str, str]:
    """Read the lines of an expectations file.

    >>> expectations("# a comment\\nwhere_inf: needs a guard\\nwithout eager: no recording yet")
    {'where_inf': 'needs a guard', 'without eager': 'no recording yet'}
    >>> expectations("where_inf")
    Traceback (most recent call last):
    ValueError: expected 'case_id: reason', got 'where_inf'
    """
    expected: dict[str, str] = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, colon, reason = line.partition(":")
        if not colon or not reason.strip():
            raise ValueError(f"expected 'case_id: reason', got {line!r}")
        if name.strip() in expected:
            raise ValueError(f"{name.strip()} is listed twice")
        expected[name.strip()] = reason.strip()
    return expected


def causes(name: str, result: dict[str, Any]) -> list[str]:
    """The lines that must be listed for this result to be accepted; none for a pass.

    >>> causes("scan_sum", {"status": "skip", "detail": "needs scan, while_grad"})
    ['without scan', 'without while_grad']
    >>> causes("scan_sum", {"status": "pass", "detail": ""})
    []
    """
    if result["status"] == "pass":
        return []
    if result["status"] == "skip":
        features = result["detail"].removeprefix("needs ").split(", ")
        return [f"without {feature}" for feature in features]
    return [name]


def disagreements(results: dict[str, dict[str, Any]], expected: dict[str, str]) -> list[str]:
    """What differs between the results and the expectations, one sentence each.

    >>> results = {"a": {"status": "fail", "detail": "got 1"}, "b": {"status": "pass"}}
    >>> disagreements(results, {"b": "not written"})
    ['a: fail, not expected: got 1', 'b: listed (not written), but nothing needs it: take it out']
    """
    found: list[str] = []
    met: set[str] = set()
    for name, result in sorted(results.items()):
        wanted = causes(name, result)
        met.update(wanted)
        if not expected.keys() >= set(wanted):
            found.append(f"{name}: {result['status']}, not expected: {result['detail']}")
    for line, reason in expected.items():
        if line not in met:
            found.append(f"{line}: listed ({reason}), but nothing needs it: take it out")
    return found


def main(arguments: list[str]) -> int:
    results_file, *expectation_files = arguments
    results = json.loads(Path(results_file).read_text(encoding="utf-8"))
    text = "\n".join(Path(file).read_text(encoding="utf-8") for file in expectation_files)
    found = disagreements(results, expectations(text))
    print("\n".join(found) or f"{len(results)} cases, each as expected")
    return 1 if found or not results else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
