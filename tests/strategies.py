"""Rows that hypothesis draws for several files of tests."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

LISTS = st.integers(2, 12).flatmap(
    lambda n: st.tuples(
        hnp.arrays(bool, n).filter(lambda y: 0 < y.sum() < len(y)),
        hnp.arrays(float, n, elements=st.integers(-3, 3).map(float)),
        hnp.arrays(float, n, elements=st.integers(1, 3).map(float)),
    )
)
"""Labels of both classes, scores that tie, and whole weights."""


def scores_and_labels(distinct=False):
    """Return a strategy of labels of both classes and their scores, which may tie unless distinct."""
    score = st.integers(-5, 5)
    rows = st.lists(st.tuples(st.booleans(), score), min_size=2, max_size=40)
    both = rows.filter(lambda found: 0 < sum(y for y, _ in found) < len(found))
    return both.map(
        lambda found: (
            np.array([y for y, _ in found], dtype=int),
            np.random.default_rng(0).permutation(len(found)).astype(float)
            if distinct
            else np.array([s for _, s in found], dtype=float),
        )
    )
