"""Scores of different test parts on one scale."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pushrank.model_selection.folds import on_one_scale


def test_equal_scores_stay_tied_on_one_scale():
    """The mean of seven times 0.1 is not 0.1 in floating point."""
    scores, folds = np.repeat([0.1, 0.7, -1.453], [7, 6, 97]), np.repeat([0, 1, 2], [7, 6, 97])
    assert len(set(on_one_scale(scores, folds))) == 1


@given(st.lists(st.integers(-5, 5), min_size=4, max_size=30), st.integers(1, 3))
def test_one_scale_keeps_the_order_within_a_part_and_depends_on_no_units(values, n_folds):
    scores = np.array(values, dtype=float)
    folds = np.arange(len(scores)) % n_folds
    order = on_one_scale(scores, folds)
    for fold in range(n_folds):
        own, placed = scores[folds == fold], order[folds == fold]
        np.testing.assert_array_equal(np.sign(own[:, None] - own), np.sign(placed[:, None] - placed))
    stretched = np.where(folds == 0, 2.0**3 * scores + 2.0**6, scores)
    np.testing.assert_array_equal(on_one_scale(stretched, folds), order)
