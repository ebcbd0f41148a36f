"""Stumps by brute force, every threshold between two values, one at a time; and rows to learn them from."""

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


def rows_of_all_kinds(seed=0, n=60, missing=True):
    """Return columns of numbers, few values, one value, two and far ones, and weights of rows."""
    rng = np.random.default_rng(seed)
    numbers, few = rng.normal(size=n), rng.integers(0, 3, n)
    X = np.column_stack([numbers, few, np.full(n, 2.5), rng.random(n) < 0.3, np.exp(5 * rng.normal(size=n))])
    if missing:
        X[rng.random(n) < 0.2, 0] = np.nan
        X[rng.random(n) < 0.1, 3] = np.nan
    return X, rng.normal(size=n)
