"""Gains tables and curves down the list."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrank import metrics
from pushrank.metrics.gains import log_spaced


@given(
    y=st.lists(st.booleans(), min_size=2, max_size=40).filter(lambda y: 0 < sum(y) < len(y)),
    n_parts=st.integers(1, 12),
    data=st.data(),
)
def test_a_gains_table_holds_the_measures_at_its_cuts(y, n_parts, data):
    some = st.lists(st.integers(0, 5), min_size=len(y), max_size=len(y))
    scores, weights = np.array(data.draw(some), float), np.array(data.draw(some)) + 1
    for w in (None, weights):
        table = metrics.gains_table(y, scores, n_parts=n_parts, sample_weight=w)
        total = len(y) if w is None else weights.sum()
        shares = [part / n_parts for part in range(1, n_parts + 1)]
        ends = np.unique([np.ceil(share * total - 1e-9) for share in shares])
        np.testing.assert_array_equal(table.rows, ends)
        for rows, recall, lift in zip(table.rows, table.recall, table.cumulative_lift, strict=True):
            at = {"k": int(rows), "sample_weight": w}
            assert recall == pytest.approx(metrics.recall_at_k(y, scores, **at))
            assert lift == pytest.approx(metrics.lift(y, scores, **at))
        n_positives = np.sum(y) if w is None else w @ y
        np.testing.assert_allclose(np.cumsum(table.positives), table.recall * n_positives)
        np.testing.assert_allclose(table.precision * np.diff(ends, prepend=0), table.positives)
        copies = np.sort(scores if w is None else np.repeat(scores, w))[::-1]
        np.testing.assert_array_equal(table.lowest_score, copies[ends.astype(int) - 1])


def test_no_more_hits_are_expected_than_there_are_positives():
    """None found of three: none of ten rows bounds hits by 3.08, but there are no more than three."""
    y, scores = np.arange(50) // 3 == 7, -np.arange(50.0)
    found = metrics.measure(y, scores, k=10, n_resamples=50, random_state=0).measures["scores"]
    assert [found[name].high for name in ("hits", "precision")] == pytest.approx([3.0, 0.3])


def test_numbers_of_rows_are_dense_at_the_start():
    assert log_spaced(5).tolist() == [1, 2, 3, 4, 5]
    assert len(log_spaced(10**9)) == 361
