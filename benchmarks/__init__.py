"""Benchmarks: ratios measured in one run, interleaved, as medians of CPU time."""
