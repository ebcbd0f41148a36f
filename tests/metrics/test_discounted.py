"""Discounted gains and reciprocal ranks."""

import math

import numpy as np
import pytest
from scipy.stats import rankdata

from pushrank import metrics


@pytest.mark.parametrize("rule", ["min", "max"])
def test_the_papers_ranks_of_tied_rows(rule):
    """Agarwal (6.28) gives all rows of a tie its first rank, Rudin (section 7) its last."""
    rng = np.random.default_rng(0)
    y, scores = rng.random(60) < 0.4, rng.integers(0, 9, 60).astype(float)
    copies = rng.integers(0, 3, 60)
    kept = np.repeat(np.arange(60), copies)
    for rows, weights in ((np.arange(60), None), (kept, copies)):
        ranks = rankdata(-scores[rows], method=rule)[y[rows]]
        options = {"ties": rule, "sample_weight": weights}
        assert metrics.average_reciprocal_rank(y, scores, **options) == pytest.approx((1 / ranks).sum())
        gain = metrics.discounted_cumulative_gain(y, scores, **options)
        assert gain == pytest.approx((1 / np.log2(1 + ranks)).sum())
    of_two = {"min": (2.0, 2.0), "max": (1.0, 2 / math.log2(3))}[rule]
    tied = [1, 1, 0], [2.0, 2.0, 1.0]
    both = metrics.average_reciprocal_rank, metrics.discounted_cumulative_gain
    assert [measure(*tied, ties=rule) for measure in both] == pytest.approx(of_two)
    assert metrics.average_reciprocal_rank(*tied) == 1.5
    with pytest.raises(ValueError, match="'half', 'max', 'min', 'optimistic', 'pessimistic'"):
        metrics.average_reciprocal_rank(*tied, ties="first")
    with pytest.raises(ValueError, match=f"'optimistic', 'pessimistic'.*got '{rule}'"):
        metrics.auc(*tied, ties=rule)


def test_discounts_of_tied_rows_by_hand():
    y, scores = [1, 0, 1, 0, 1], [5.0, 4.0, 4.0, 2.0, 1.0]
    natural = metrics.discounted_cumulative_gain(y, scores, log_base=math.e, ties="optimistic")
    assert natural == pytest.approx(1 / math.log(2) + 1 / math.log(3) + 1 / math.log(6))
    assert metrics.average_reciprocal_rank(y, scores, ties="pessimistic") == pytest.approx(1 + 1 / 3 + 1 / 5)
