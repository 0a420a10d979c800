"""The code in the documentation prints what the pages say; links lead somewhere.

How-tos have test modules of their own.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs import pages

ROOT = pages.ROOT
EVERY_PAGE = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", [p for p in pages.PAGES if p.parent.name != "howto"], ids=_name)
def test_a_page_prints_what_it_says(page: Path, tmp_path: Path) -> None:
    text = page.read_text()
    assert pages.written(text, tmp_path) == text


@pytest.mark.parametrize("page", EVERY_PAGE, ids=_name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
        if "://" not in target:
            file, _, anchor = target.partition("#")
            place = page.parent / file if file else page
            assert place.exists(), f"{_name(page)}: no file {target}"
            assert not anchor or anchor in _anchors(place), f"{_name(page)}: no heading {target}"


def _anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def test_every_page_can_be_found_from_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    for page in (ROOT / "docs").rglob("*.md"):
        link = page.relative_to(ROOT / "docs").as_posix()
        assert link == "README.md" or f"({link})" in index, f"docs/README.md does not link {link}"


def test_a_block_that_prints_unannounced_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="no text block"):
        pages.written("```python\nprint(1)\n```\n", tmp_path)


def test_output_is_compared_block_by_block(tmp_path: Path) -> None:
    page = "```python\nx = 1\nprint(x)\n```\nprints\n```text\n2\n```\n```python\nx += 1\n```\n"
    assert pages.written(page, tmp_path) == page.replace("\n2\n", "\n1\n")


def test_a_block_that_fails_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        pages.written("```python\n1 / 0\n```\n", tmp_path)
