"""Run the code of a page of documentation, and hold what it prints against what the page says.

The ``python`` blocks of a page are one program, run from the top in a process and a directory of
its own. A ``text`` block after one is what that block prints; a block without one prints nothing.
Other blocks are not looked at. Errors name lines of ``example.py``, which holds the blocks with one
line between.

``python tests/docs/pages.py PAGE…`` writes what the blocks print into the pages.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    page
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    if "\n```python\n" in page.read_text()
)

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_END = "\x00"


@dataclass(frozen=True)
class Block:
    """A block of code, and where the page says what it prints, if it does."""

    code: str
    output: tuple[int, int] | None = None


def blocks_of(text: str) -> list[Block]:
    """The blocks of a page's program."""
    blocks: list[Block] = []
    before = ""
    for fence in _FENCE.finditer(text):
        if fence[1] == "python":
            blocks.append(Block(fence[2]))
        elif fence[1] == "text" and before == "python":
            blocks[-1] = Block(blocks[-1].code, fence.span(2))
        before = fence[1]
    return blocks


def printed_by(blocks: list[Block], directory: Path) -> list[str]:
    """What each block prints."""
    program = directory / "example.py"
    program.write_text("".join(f"{b.code}print({_END!r}, end='')\n" for b in blocks))
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-W", "error", program.name],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode:
        raise AssertionError(f"{done.stdout}\n{done.stderr}")
    return done.stdout.split(_END)[:-1]


def written(text: str, directory: Path) -> str:
    """The page with what its blocks print, as they print it now."""
    blocks = blocks_of(text)
    parts: list[str] = []
    end = 0
    for block, printed in zip(blocks, printed_by(blocks, directory), strict=True):
        if block.output is None:
            if printed:
                raise AssertionError(f"no text block says what this prints:\n{block.code}{printed}")
            continue
        parts += [text[end : block.output[0]], printed.strip("\n") + "\n"]
        end = block.output[1]
    return "".join([*parts, text[end:]])


def main() -> None:
    """Write what the blocks print into the pages."""
    for name in sys.argv[1:]:
        page = Path(name)
        with tempfile.TemporaryDirectory() as directory:
            page.write_text(written(page.read_text(), Path(directory)))


if __name__ == "__main__":
    main()
