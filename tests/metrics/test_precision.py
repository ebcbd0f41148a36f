"""Precision, recall and lift of the first rows, and the precision-recall curve."""

import numpy as np
import pytest

from oracle import TIED_ERROR
from pushrank import metrics


@pytest.mark.parametrize("ties", TIED_ERROR)
def test_halved_weights_reach_a_recall_as_exactly(ties):
    y, scores = [0, 1, 0, 1], [4.0, 3.0, 2.0, 1.0]
    found = metrics.precision_at_recall(y, scores, 0.5, ties=ties, sample_weight=np.full(4, 0.5))
    assert found == 0.5


DEPTH_MEASURES = (metrics.precision_at_k, metrics.recall_at_k, metrics.lift, metrics.ndcg_at_k)


@pytest.mark.parametrize("measure", DEPTH_MEASURES)
def test_the_length_of_a_list_is_set_in_one_of_three_ways(measure):
    y, scores = [1, 0, 1, 0, 0, 0, 1, 0, 0, 0], np.arange(10.0)[::-1]
    assert measure(y, scores, k=4) == measure(y, scores, fraction=0.4) == measure(y, scores, 4)
    assert measure(y, scores, k=3) == measure(y, scores, fraction_of_positives=1.0)
    assert measure(y, scores, k=2) == measure(y, scores, fraction_of_positives=0.5)  # of 1.5, to even
    for how in ({"fraction": 0.01}, {"fraction_of_positives": 0.01}):
        assert measure(y, scores, k=1) == measure(y, scores, **how)
    for share in (0.1, 1.0, 4.0, np.float64(0.1)):
        with pytest.raises(
            TypeError, match=r"k must be an integer.* as fraction \(of the rows\) or fraction_of_positi"
        ):
            measure(y, scores, share)
    for wrong in ("a", True, 1j):
        for name in ("fraction", "fraction_of_positives"):
            with pytest.raises(TypeError, match=f"{name} must be a number, got {wrong!r}"):
                measure(y, scores, **{name: wrong})
    for name in ("fraction", "fraction_of_positives"):
        with pytest.raises(ValueError, match=f"{name} must be > 0 and <= 1, got 1.5"):
            measure(y, scores, **{name: 1.5})
    with pytest.raises(ValueError, match=r"one of k .* and fraction_of_positives, got k=1, fraction=0.5"):
        measure(y, scores, 1, fraction=0.5)
    if measure is not metrics.ndcg_at_k:
        with pytest.raises(ValueError, match=r"one of k .* got none of them"):
            measure(y, scores)
