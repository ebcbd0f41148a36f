"""Areas under the ROC curve."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle import TIED_ERROR, metric_formula
from pushrank import metrics
from strategies import LISTS

RULES = st.sampled_from(sorted(TIED_ERROR))


@given(ties=RULES, case=LISTS, max_fpr=st.floats(0.01, 1.0), min_tpr=st.floats(0.0, 0.99))
def test_partial_area_is_the_integral_of_the_curve(ties, case, max_fpr, min_tpr):
    y, scores, _ = case
    rates = {"max_fpr": max_fpr, "min_tpr": min_tpr, "standardize": False, "ties": ties}
    expected = metric_formula("partial_auc")(y, scores, **rates)
    assert metrics.partial_auc(y, scores, **rates) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [49, 1000, 50_000])
def test_areas_of_reversed_and_perfect_lists_are_exact(n):
    y = np.repeat([0, 1], n)
    scores = np.arange(2.0 * n)
    assert metrics.auc(y, -scores) == 0.0
    assert metrics.auc(y, scores) == 1.0


@given(weights=st.lists(st.floats(1e-3, 1e3), min_size=4, max_size=40), fpr=st.floats(0.01, 1.0))
def test_areas_stay_between_zero_and_one_whatever_the_weights(weights, fpr):
    y = np.arange(len(weights)) < len(weights) // 2
    for scores in (y * 1.0, -1.0 * y, y - np.arange(len(y)) / 1000.0, np.zeros(len(y))):
        for name in ("auc", "partial_auc"):
            options = {"max_fpr": fpr, "standardize": False} if name == "partial_auc" else {}
            area = getattr(metrics, name)(y, scores, sample_weight=np.array(weights), **options)
            assert 0.0 <= area <= options.get("max_fpr", 1.0)
