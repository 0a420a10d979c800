"""Saving and loading. Nothing here reads or writes a pickle."""

from __future__ import annotations

from symgrad.io.graphs import load, save

__all__ = ["load", "save"]
