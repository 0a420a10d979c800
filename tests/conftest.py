"""Settings of the whole test run: repeatable samples, and times that can be compared."""

from __future__ import annotations

import os

from hypothesis import settings

# Before any test loads numpy: a worker has one core, and a matmul sums in the same order each time.
for _library in ("OPENBLAS", "MKL", "OMP"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

# In CI the same samples each time, and no limit for one sample: machines differ in speed.
settings.register_profile("ci", derandomize=True, deadline=None, database=None, print_blob=True)
settings.register_profile("local", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "local")
