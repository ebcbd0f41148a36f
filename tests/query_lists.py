"""Rows of two classes in query groups, for the tests of rankers that take them."""

import numpy as np


def lists(seed=0, n_queries=6, n_features=3, size=6):
    """Queries of about ``size`` rows, each with an offset of its own; the last two have one class."""
    rng = np.random.default_rng(seed)
    qid = rng.permutation(np.repeat(np.arange(n_queries), rng.integers(size - 2, size + 3, n_queries)))
    X = rng.normal(size=(len(qid), n_features))
    y = np.zeros(len(qid), dtype=int)
    for query in range(n_queries - 1):
        rows = np.flatnonzero(qid == query)
        y[rows if query == n_queries - 2 else rows[: 1 + len(rows) // 3]] = 1
    return X + 0.8 * y[:, None] + 5.0 * rng.normal(size=(n_queries, n_features))[qid], y, qid


def both_classes(y, qid, weights=None):
    """The rows with a weight of each query, of those that have both classes."""
    counted = np.ones(len(y), dtype=bool) if weights is None else weights > 0.0
    found = [np.flatnonzero((qid == query) & counted) for query in np.unique(qid)]
    return [rows for rows in found if 0 < y[rows].sum() < len(rows)]
