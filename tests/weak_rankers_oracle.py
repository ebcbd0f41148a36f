"""Stumps by brute force: every threshold between two values, one at a time."""

from __future__ import annotations

import numpy as np


def all_stumps(X):
    """Return the distinct value vectors of all stumps on the rows, as {tuple of 0 and 1}."""
    found = set()
    for column in X.T:
        missing = np.isnan(column)
        known = np.unique(column[~missing])
        for threshold in (known[:-1] + known[1:]) / 2:
            for missing_is_high in (False, True) if missing.any() else (False,):
                found.add(tuple(np.where(missing, missing_is_high, column > threshold).astype(int)))
        if missing.any() and len(known):
            found.add(tuple(missing.astype(int)))
    return found
