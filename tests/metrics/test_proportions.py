"""Wilson's interval of a proportion is SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from pushrank.metrics._proportions import wilson_interval

pytestmark = pytest.mark.fast


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_interval_is_wilsons(confidence):
    hits, rows = np.array([0, 1, 7, 10]), np.array([10, 10, 10, 10])
    low, high = wilson_interval(hits.astype(float), rows.astype(float), confidence)
    for place, (found, of) in enumerate(zip(hits, rows, strict=True)):
        expected = binomtest(int(found), int(of)).proportion_ci(confidence, method="wilson")
        assert (low[place], high[place]) == pytest.approx((expected.low, expected.high), abs=1e-12)
