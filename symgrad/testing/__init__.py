"""What tests of models and of new ops need: derivatives against differences of values."""

from __future__ import annotations

from symgrad.testing.gradients import check_grads, numeric_derivative

__all__ = ["check_grads", "numeric_derivative"]
