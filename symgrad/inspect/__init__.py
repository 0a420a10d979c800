"""Looking at graphs and records: pictures."""

from __future__ import annotations

from symgrad.inspect.draw import draw
from symgrad.inspect.picture import Picture

__all__ = ["Picture", "draw"]
