"""Statistics of the order of all scores: the highest of a given weight."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrank.rows.order_statistics import highest_weights


@given(scores=st.lists(st.integers(-3, 3), min_size=1, max_size=8), share=st.floats(0.01, 1.0))
def test_no_choice_of_as_much_weight_has_higher_scores(scores, share):
    scores = np.array(scores, dtype=float)
    weights = 1.0 + np.arange(len(scores)) % 3
    kept = highest_weights(scores, weights, share * weights.sum())
    assert kept.sum() == pytest.approx(share * weights.sum())
    assert np.all((kept >= 0.0) & (kept <= weights + 1e-12))
    full, some = kept >= weights - 1e-9, kept > 1e-9
    assert scores[some].min() >= scores[~full].max(initial=-np.inf)
    for score in set(scores):  # ties share alike
        parts = (kept / weights)[scores == score]
        assert parts == pytest.approx(parts[0])
