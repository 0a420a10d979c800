"""Values of ops that are not element-wise, against numpy's or the definition's."""

from __future__ import annotations

import numpy as np
import pytest

from tests.registry.known import known
from tests.registry.references import REFERENCES
from tests.registry.samples import named, samples_of
from tests.registry.sampling import flat
from tests.registry.variants import close


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", REFERENCES)
def test_value_is_that_of_numpy(name: str, request: pytest.FixtureRequest):
    known(request, "reference", name)
    compared = 0
    for sample in samples_of(name):
        if sample.call is not None:
            continue
        wanted = REFERENCES[name](*sample.operands, **sample.attrs)
        if wanted is NotImplemented:
            continue
        for a, b in zip(
            sample.computed(named(name)),
            flat(list(wanted) if isinstance(wanted, tuple) else wanted),
            strict=True,
        ):
            found, expected = a.numpy(), np.asarray(b)
            assert found.shape == expected.shape
            close(found, expected.astype(found.dtype), 1e-12)
            compared += 1
    assert compared
