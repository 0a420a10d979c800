"""What must hold for every op: one function per law, run by the tests and by the mutation script.

Each takes the name of an op or composite, tries all its samples, and raises AssertionError.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.registry.derivatives import (
    complex_derivatives_match_differences,
    derivatives_match_differences,
    float16_derivatives_match_differences,
    float32_derivatives_match_differences,
    mixed_derivatives_match_differences,
    modes_are_transposes,
)
from tests.registry.graphs import (
    exported_code_agrees,
    front_ends_agree,
    gradient_code_agrees,
    named_dimensions_make_no_difference,
    saved_graph_loads,
    text_reads_back,
)
from tests.registry.guards import (
    branch_not_taken_is_silent,
    dead_tangent_is_silent,
    guard_passes_through,
    losing_side_is_silent,
)
from tests.registry.kernels import (
    kernel_has_declared_type,
    kernel_takes_any_layout,
    kernel_takes_any_size,
)

CHECKS: dict[str, Callable[[str], None]] = {
    check.__name__: check
    for check in (
        kernel_has_declared_type,
        kernel_takes_any_layout,
        kernel_takes_any_size,
        derivatives_match_differences,
        complex_derivatives_match_differences,
        float32_derivatives_match_differences,
        float16_derivatives_match_differences,
        mixed_derivatives_match_differences,
        modes_are_transposes,
        named_dimensions_make_no_difference,
        front_ends_agree,
        gradient_code_agrees,
        text_reads_back,
        exported_code_agrees,
        saved_graph_loads,
        branch_not_taken_is_silent,
        losing_side_is_silent,
        dead_tangent_is_silent,
        guard_passes_through,
    )
}

FOR_ELEMENTWISE = ("branch_not_taken_is_silent", "losing_side_is_silent")
"""Laws of element-wise ops alone."""
