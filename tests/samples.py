"""Rows and problems that several files of tests learn from."""

from functools import partial

import numpy as np
from hypothesis import strategies as st

from pushrank import IRPush, PNormPush, PushRanker

PULL, BOTH = partial(PNormPush, side="pull"), partial(PNormPush, side="both")
PUSH_RANKERS = [PNormPush, PULL, BOTH, IRPush, PushRanker]


def overlapping(n=200, d=4, seed=0):
    """Return rows of two classes that no column parts, a quarter of them positive."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.25).astype(int)
    return rng.normal(size=(n, d)) + 0.7 * y[:, None], y


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
