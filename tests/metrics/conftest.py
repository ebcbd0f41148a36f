"""Rows that several files of measures look at."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.random(80) < 0.3
    return y, y + rng.normal(size=80), y + 2.0 * rng.normal(size=80)
