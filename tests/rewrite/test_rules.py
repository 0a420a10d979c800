"""Tests generated from the rules: each against what its level promises, in every commuted form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symgrad.ir.symbol import CONSTANT, Symbol
from symgrad.ir.walk import reachable
from symgrad.rewrite import RULES, Builder, Rule
from symgrad.ir.symbol import constructing
from tests.rewrite.drawing import SETTINGS, Left, Setting, applied, differentiating, left_sides
from tests.rewrite.running import run, same_bits, samples
from tests.rewrite.true_values import error_of, nearest, true_value

DTYPES = ["float64", "float32", "float16", "int64", "int32", "int8", "uint8", "bool", "complex128"]


def by_level(*levels: str) -> Any:
    rules = [rule for rule in RULES if rule.level in levels]
    return pytest.mark.parametrize("rule", rules, ids=lambda rule: rule.name)


def fired(rule: Rule, dtype: str) -> list[tuple[Left, Symbol]]:
    results = [(left, applied(left)) for left in left_sides(rule, dtype)]
    return [(left, right) for left, right in results if right is not None]


def feeds_for(left: Left, dtype: str) -> dict[Symbol, Any]:
    feeds: dict[Symbol, Any] = {}
    for position, feed in enumerate(left.feeds):
        if feed.name in ("i", "j", "indices"):
            feeds[feed] = np.arange(np.prod(feed.shape)).reshape(feed.shape) % 3
            continue
        if feed.dtype.kind == "c":
            re, im = samples("float64", 2, feed.shape, seed=position)
            feeds[feed] = np.where(np.isfinite(re), re, 1.0) + 1j * np.where(np.isfinite(im), im, 2.0)
            continue
        feeds[feed] = samples(feed.dtype, 1, feed.shape, seed=position)[0]
    return feeds


def test_names_are_unique_and_every_rule_says_what_it_claims() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    assert all(rule.doc and rule.is_ready for rule in RULES)
    assert {rule.level for rule in RULES} == {"exact", "stabilize", "derivative", "fast"}


@by_level("exact", "stabilize", "derivative", "fast")
def test_every_commuted_form_fires_and_keeps_the_type(rule: Rule) -> None:
    dtypes = [d for d in DTYPES if fired(rule, d)]
    assert dtypes, "no left side fires"
    forms = {repr(left.variant.left) for left in left_sides(rule, dtypes[0])}
    pairs = fired(rule, dtypes[0])
    assert {repr(left.variant.left) for left, _ in pairs} == forms
    for dtype in dtypes:
        for left, right in fired(rule, dtype):
            assert right.type == left.root.type
            assert right is not left.root


@by_level("exact")
@pytest.mark.parametrize("dtype", DTYPES)
def test_exact_rules_change_no_bit(rule: Rule, dtype: str) -> None:
    if rule.rounding and np.dtype(dtype).kind in "fc":
        pytest.skip("see the test of roundings")
    for left, right in fired(rule, dtype):
        feeds = feeds_for(left, dtype)
        before, after = run([left.root, right], feeds)
        assert same_bits(before, after), (left.root.op, left.values, before, after)


@by_level("exact")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rules_that_round_less_come_closer(rule: Rule, dtype: str) -> None:
    if not rule.rounding:
        pytest.skip("it changes no bit")
    for left, right in fired(rule, dtype):
        feeds = feeds_for(left, dtype)
        before, after = run([left.root, right], feeds)
        (wide,) = run([left.root], {s: v.astype(np.longdouble) for s, v in feeds.items()})
        with np.errstate(all="ignore"):
            true = wide.astype(dtype)
            ulp = np.spacing(np.where(np.isfinite(true), np.abs(true), 1))
            errors = np.abs(after - wide), np.abs(before - wide)
        settled = np.where(np.isfinite(true), errors[0] <= np.maximum(errors[1], ulp), after == true)
        assert np.all(settled | (np.isnan(true) & np.isnan(after))), left.values
        zeros = (before == 0) & (after == 0)
        assert np.array_equal(np.signbit(before[zeros]), np.signbit(after[zeros]))


@by_level("stabilize")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_stabilising_rules_come_closer_to_the_real_value(rule: Rule, dtype: str) -> None:
    for left, right in fired(rule, dtype)[:3]:
        feeds = feeds_for(left, dtype)
        before, after = run([left.root, right], feeds)
        true = true_value(left.root, feeds)
        error_before, error_after = error_of(before, true), error_of(after, true)
        rounded = nearest(true, dtype)
        with np.errstate(all="ignore"):
            ulp = np.spacing(np.where(np.isfinite(rounded), np.abs(rounded), 0)).astype(float)
        fine = (error_after <= np.maximum(error_before, 4 * ulp)) | (after == rounded)
        assert np.all(fine), [
            (left.values, *(np.broadcast_to(v, fine.shape)[~fine][:4] for v in feeds.values() if v.shape == fine.shape), before[~fine][:4], after[~fine][:4], rounded[~fine][:4])
        ]


@by_level("derivative", "fast")
def test_reassociation_stays_within_a_few_units_in_the_last_place(rule: Rule) -> None:
    for left, right in fired(rule, "float64"):
        random = np.random.default_rng(1)
        feeds = {f: random.uniform(0.5, 2.0, f.shape) for f in left.feeds}
        before, after = run([left.root, right], feeds)
        np.testing.assert_allclose(after, before, rtol=4e-15, atol=1e-15)
