"""Rows that several files of tests learn from."""

from __future__ import annotations

import numpy as np


def overlapping(n=200, d=4, seed=0):
    """Return rows of two classes that no column parts, a quarter of them positive."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.25).astype(int)
    return rng.normal(size=(n, d)) + 0.7 * y[:, None], y
