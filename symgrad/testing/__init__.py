"""What tests of models and of new ops need: derivatives against differences, mode against mode."""

from __future__ import annotations

from symgrad.testing.gradcheck import GradcheckError, gradcheck, gradgradcheck
from symgrad.testing.gradients import check_grads, numeric_derivative
from symgrad.testing.modes import check_modes

__all__ = [
    "GradcheckError",
    "check_grads",
    "check_modes",
    "gradcheck",
    "gradgradcheck",
    "numeric_derivative",
]
