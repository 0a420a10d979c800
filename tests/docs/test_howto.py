"""docs/howto: pages print what they say; one declaration makes an op, and fits one screen."""

from __future__ import annotations

from pathlib import Path

from tests.docs import pages

PAGE = pages.ROOT / "docs" / "howto" / "add-an-op.md"
LINES_OF_A_SCREEN = 45

# What a reader tries next, in the process of the page's example.
AFTERWARDS = """
from symgrad.ir.op import OPS

assert OPS["log_cosh"] is log_cosh
near, far = log_cosh(np.array([0.5, -1e300]))
assert np.isclose(float(near), math.log(math.cosh(0.5)), rtol=1e-15)
assert float(far) == 1e300

t = sg.placeholder("t", (), sg.float32)
assert sg.nth_derivative(log_cosh(t), t, 1) is sg.tanh(t)
values = sg.function(t, [sg.nth_derivative(log_cosh(t), t, n) for n in range(4)])
assert [v.dtype for v in values(1)] == ["float32"] * 4

sg.save("graph.sg", log_cosh(x))
again = sg.function([x], log_cosh(x) * 2)
again.export_python("exported.py")
import exported
assert np.array_equal(exported.call([1.0, 2.0]), 2 * log_cosh(np.array([1.0, 2.0])).numpy())
"""


def test_the_example_prints_what_the_page_says(tmp_path: Path) -> None:
    text = PAGE.read_text()
    assert pages.written(text, tmp_path) == text


def test_the_page_on_both_modes_prints_what_it_says(tmp_path: Path) -> None:
    text = (pages.ROOT / "docs" / "howto" / "both-modes.md").read_text()
    assert pages.written(text, tmp_path) == text


def test_the_op_is_one_of_the_library_in_all_that_follows(tmp_path: Path) -> None:
    blocks = pages.blocks_of(PAGE.read_text())
    pages.printed_by([*blocks, pages.Block(AFTERWARDS)], tmp_path)


def test_the_page_fits_one_screen() -> None:
    assert len(PAGE.read_text().splitlines()) <= LINES_OF_A_SCREEN
