"""The rows were printed by a library whose numbers are of single precision."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import symgrad as sg


@pytest.fixture(autouse=True)
def single_precision() -> Iterator[None]:
    """The default float is float32 in here."""
    before = sg.default_float()
    sg.set_default_dtype(sg.float32)
    yield
    sg.set_default_dtype(before)
