"""Stumps by brute force: every threshold between two values, one at a time."""

import numpy as np


def all_stumps(X):
    """Return the distinct value vectors of all stumps on the rows, as {tuple of 0 and 1}."""
    outputs = set()
    for column in X.T:
        missing = np.isnan(column)
        values = np.unique(column[~missing])
        for threshold in (values[:-1] + values[1:]) / 2:
            for missing_is_high in (False, True) if missing.any() else (False,):
                outputs.add(tuple(np.where(missing, missing_is_high, column > threshold).astype(int)))
        if missing.any() and len(values):
            outputs.add(tuple(missing.astype(int)))
    return outputs
