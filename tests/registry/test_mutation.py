"""Errors planted in the rule tables are caught by what is generated from them."""

from __future__ import annotations

import pytest

from symgrad.ir.op import OPS
from tests.mutation import MUTATIONS, Mutation, caught_by, planted


@pytest.mark.parametrize("mutation", MUTATIONS, ids=[f"{m.op}: {m.label}" for m in MUTATIONS])
def test_is_caught(mutation: Mutation):
    assert caught_by(mutation) is not None


def test_is_taken_out_again():
    mutation = MUTATIONS[0]
    before = OPS[mutation.op].partials
    with planted(mutation):
        assert OPS[mutation.op].partials is not before
    assert OPS[mutation.op].partials is before
