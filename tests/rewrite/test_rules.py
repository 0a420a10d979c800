"""Tests generated from the rules: each against what its level promises, in every commuted form."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from symgrad.ir.op import ops
from symgrad.ir.symbol import Symbol
from symgrad.rewrite import RULES, Rule
from symgrad.rewrite.builder import rule_set
from symgrad.rewrite.match import variants
from symgrad.rewrite.rule import computed
from tests.rewrite.cost import cost
from tests.rewrite.drawing import Left, applied, left_sides, simplified
from tests.rewrite.running import run, same_bits, samples
from tests.rewrite.true_values import error_of, nearest, true_value

FLOATS = ["float64", "float32", "float16"]
DTYPES = ["float64", "float32", "float16", "int64", "int32", "int8", "uint8", "bool", "complex128"]


def by_rule(*levels: str, rounding: bool | None = None) -> Any:
    rules = [r for r in RULES if r.level in levels and rounding in (None, r.rounding)]
    return pytest.mark.parametrize("rule", rules, ids=lambda rule: rule.name)


@cache
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
            feeds[feed] = np.where(np.isfinite(re), re, 1.0) + 1j * np.where(
                np.isfinite(im), im, 2.0
            )
            continue
        feeds[feed] = samples(feed.dtype, 1, feed.shape, seed=position)[0]
    return feeds


def test_names_are_unique_and_every_rule_says_what_it_claims() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    assert all(rule.doc and rule.is_ready for rule in RULES)
    assert {rule.level for rule in RULES} == {"exact", "stabilize", "derivative", "fast"}


@by_rule("exact", "stabilize", "derivative", "fast")
def test_every_commuted_form_fires_and_keeps_the_type(rule: Rule) -> None:
    dtypes = [d for d in (DTYPES if rule.level == "exact" else FLOATS) if fired(rule, d)]
    assert dtypes, "no left side fires"
    forms = {repr(variant.left) for variant in variants(rule)}
    assert {repr(left.variant.left) for left, _ in fired(rule, dtypes[0])} == forms
    for dtype in dtypes:
        for left, right in fired(rule, dtype):
            assert right.type == left.root.type
            assert right is not left.root


def changed_bits(rule: Rule, dtype: str) -> list[Any]:
    """Left sides, with the values before and after, where a rule changes a bit."""
    found: list[Any] = []
    for left, right in fired(rule, dtype):
        if rule.rounding and left.root.dtype.kind in "fc":
            continue  # see below
        feeds = feeds_for(left, dtype)
        try:
            before, after = run([left.root, right], feeds)
        except ValueError:
            continue  # numpy has no negative powers of integers
        same = same_bits(before, after)
        if before.dtype.kind == "c":
            # The zeros of complex numbers have too many signs to keep.
            same = right.type == left.root.type and np.array_equal(before, after, equal_nan=True)
        if not same:
            found.append((left.values, before, after))
    return found


@by_rule("exact")
@pytest.mark.parametrize("dtype", DTYPES)
def test_exact_rules_change_no_bit(rule: Rule, dtype: str) -> None:
    assert not changed_bits(rule, dtype)


def worse_roundings(rule: Rule, dtype: str) -> list[Any]:
    """Left sides, with values, where a rule takes the result further from the true value.

    Half a unit in the last place is what rounding once may cost.
    """
    found: list[Any] = []
    for left, right in fired(rule, dtype):
        feeds = feeds_for(left, dtype)
        before, after = run([left.root, right], feeds)
        (wide,) = run([left.root], {s: v.astype(np.longdouble) for s, v in feeds.items()})
        with np.errstate(all="ignore"):
            true = wide.astype(dtype)
            ulp = np.spacing(np.where(np.isfinite(true), np.abs(true), 1))
            errors = np.abs(after - wide), np.nan_to_num(np.abs(before - wide), nan=np.inf)
        closer = errors[0] <= np.maximum(errors[1], ulp)
        settled = np.where(np.isfinite(true), closer, after == true)
        settled |= np.isnan(true) & np.isnan(after)
        settled &= (before != 0) | (after != 0) | (np.signbit(before) == np.signbit(after))
        if not np.all(settled):
            shown = [*feeds.values(), before, after, wide]
            found.append((left.values, *(v[~settled][:5] for v in shown)))
    return found


@by_rule("exact", rounding=True)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rules_that_round_less_come_closer(rule: Rule, dtype: str) -> None:
    assert not worse_roundings(rule, dtype)


ABSOLUTE = {"log_of_scaled_exp", "log_of_divided_exp"}
"""Rules whose two sides cancel alike: their errors are a few units in the last place of x."""

SHIFTED = {"normalised_exp", "normalised_exp_by_hand"}
"""Rules whose right sides subtract the largest x before the exponential: it loses digits of x."""

NARROW = {"log1p_of_expm1", "log1p_of_negative_sigmoid"}
"""Rules whose left sides no number of digits evaluates at large arguments."""


@by_rule("stabilize")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_stabilising_rules_come_closer_to_the_real_value(rule: Rule, dtype: str) -> None:
    for left, right in fired(rule, dtype)[:3]:
        feeds = feeds_for(left, dtype)
        if rule.name in NARROW:
            feeds = {s: np.clip(v, -800, 800) for s, v in feeds.items()}
        finite = np.ones(left.root.shape, bool)
        for feed, value in feeds.items():
            if feed.dtype.kind == "f" and value.ndim > 1:
                value[np.isposinf(value)] = 0  # a whole line of the softmax would be NaN
            elif feed.dtype.kind == "f":
                finite &= ~np.isinf(value)
        before, after = run([left.root, right], feeds)
        true = true_value(left.root, feeds)
        error_before, error_after = error_of(before, true), error_of(after, true)
        rounded = nearest(true, dtype)
        with np.errstate(all="ignore"):
            size = np.abs(rounded)
            if rule.name in ABSOLUTE:
                size = np.maximum(size, 1 + np.abs(next(iter(feeds.values()))))
            ulp = np.spacing(np.where(np.isfinite(size), size, 0)).astype(float)
            if rule.name in SHIFTED:
                ulp *= 1 + np.nanmax(np.abs(np.clip(next(iter(feeds.values())), -800, 800)))
        fine = (error_after <= np.maximum(error_before, 4 * ulp)) | (after == rounded)
        fine |= np.isnan(before) & ~finite
        shown = [*feeds.values(), before, after, rounded]
        assert np.all(fine), (left.values, [v[~fine][:4] for v in shown if v.shape == fine.shape])


@by_rule("derivative", "fast")
def test_reassociation_stays_within_a_few_units_in_the_last_place(rule: Rule) -> None:
    for left, right in fired(rule, "float64"):
        random = np.random.default_rng(1)
        feeds = {f: random.uniform(0.5, 2.0, f.shape) for f in left.feeds}
        before, after = run([left.root, right], feeds)
        np.testing.assert_allclose(after, before, rtol=4e-15, atol=1e-15)


@by_rule("exact", "stabilize", "derivative", "fast")
def test_costs_fall_so_that_rewriting_ends(rule: Rule) -> None:
    dtype = next(d for d in DTYPES if fired(rule, d))
    for left, right in fired(rule, dtype)[:40]:
        if rule.name == "slope_with_output":
            # It costs the same; what ends is that its result has no output in the inner product.
            assert simplified(left, right, (rule.level,)) is right
            continue
        final = simplified(left, left.root, ("exact", rule.level))
        assert cost(final) < cost(left.root), (left.values, final)


WRONG: dict[str, tuple[Any, bool]] = {
    "plus_zero": (lambda x: (x + 0.0, x), False),
    "zero_minus": (lambda x: (0.0 - x, -x), False),
    "self_quotient": (lambda x: (x / x, computed(ops.ones_like)(x)), False),
    "times_zero": (lambda x: (x * 0, x - x), False),
    "root_of_square": (lambda x: (ops.sqrt(ops.square(x)), x), False),
    "not_less": (lambda x, y: (ops.logical_not(ops.less(x, y)), ops.greater_equal(x, y)), False),
    "negative_of_difference": (lambda x, y: (-(x - y), y - x), False),
    "maximum_by_where": (lambda x, y: (ops.maximum(x, y), ops.where(x > y, x, y)), False),
    "half_power": (lambda x: (x**0.5, ops.sqrt(x)), False),
    "even_unsigned": (lambda x: (abs(-x), abs(x)), False),
    "any_factors": (lambda c1, c2, x: (c1 * (c2 * x), (c1 * c2) * x), True),
    "any_terms": (lambda c1, c2, x: (c1 * x + c2 * x, (c1 + c2) * x), True),
    "quotient_of_products": (lambda x, y: (x * y / y, x), True),
}


@pytest.mark.parametrize("name", WRONG)
def test_these_tests_catch_wrong_rules(name: str) -> None:
    body, rounding = WRONG[name]
    body.__name__ = name + "_but_wrong"
    body.__annotations__ = {
        v: "Const" if v[0] == "c" else "Expr" for v in body.__code__.co_varnames
    }
    wrong = Rule(body, "exact", rounding=rounding, mixed=name == "not_less")
    RULES.append(wrong)
    try:
        caught = [changed_bits(wrong, d) for d in DTYPES]
        if rounding:
            caught += [worse_roundings(wrong, d) for d in ("float32", "float64")]
    finally:
        RULES.remove(wrong)
        rule_set.cache_clear()
    assert any(caught)
