"""Hyperbolic functions and their inverses at the ends of the floats, against mpmath."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from gradcli.ops import TABLE

# Near 0, where 1/x overflows, and far out, where cosh does.
POINTS = {
    "asech": [5e-324, 1e-310, 2.3e-308, 1e-300, 1.1e-300, 1e-200, 0.5, 0.999],
    "acsch": [5e-324, -1e-310, 1e-300, -1.1e-300, 0.5, 7.0, 1e300],
    "acoth": [1.5, -2.0, 1e20, 1e300, 1.7e308],
    "csch": [729.0, -729.0, 744.0, 39.9, 40.1, -711.0, 0.5, 1e-300],
    "sech": [729.0, -729.0, 744.0, 39.9, 40.1, -711.0, 0.5, 0.0],
    "coth": [1e-300, 729.0, -40.0, 0.5]}


@pytest.mark.parametrize("name", POINTS)
def test_value(name: str) -> None:
    op = TABLE[name]
    with mpmath.workdps(40):
        right = [float(getattr(mpmath, name)(mpmath.mpf(x))) for x in POINTS[name]]
    found = [float(op.on_scalars([x])) for x in POINTS[name]]
    # Half a step between the smallest numbers, and some units in the last place of others.
    np.testing.assert_allclose(found, right, rtol=2e-15, atol=5e-324)
    with np.errstate(all="ignore"):
        arrays = np.asarray(op(np.array(POINTS[name])))
    np.testing.assert_allclose(arrays, right, rtol=2e-15, atol=5e-324)


@pytest.mark.parametrize("name", POINTS)
def test_what_is_no_number_stays_one(name: str) -> None:
    with np.errstate(all="ignore"):
        assert np.isnan(TABLE[name](np.array([np.nan])))[0]
    assert np.isnan(TABLE[name].on_scalars([float("nan")]))
