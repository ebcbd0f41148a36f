"""Heights, areas and the summary of a list against their definitions, written out over all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from oracle import TIED_ERROR, metric_formula, orders, pair_errors
from pushrank import metrics

RULES = st.sampled_from(sorted(TIED_ERROR))
LISTS = st.integers(2, 12).flatmap(
    lambda n: st.tuples(
        hnp.arrays(bool, n).filter(lambda y: 0 < y.sum() < len(y)),
        hnp.arrays(float, n, elements=st.integers(-3, 3).map(float)),
        hnp.arrays(float, n, elements=st.integers(1, 3).map(float)),
    )
)


@given(ties=RULES, case=LISTS)
def test_heights_are_sums_of_the_errors_of_pairs(ties, case):
    y, scores, w = case
    errors = pair_errors(y, scores, ties)
    options = {"ties": ties, "sample_weight": w}
    np.testing.assert_allclose(metrics.height(y, scores, **options), w[y] @ errors)
    np.testing.assert_allclose(metrics.reverse_height(y, scores, **options), errors @ w[~y])


@given(case=LISTS.filter(lambda case: len(case[0]) <= 7))
def test_the_summary_of_a_list_is_of_its_metrics(case):
    y, scores, w = case
    top = metrics.top_of_list(y, scores)
    expected = np.mean([order[: y.sum()].mean() for order in orders(y, scores, "half")])
    assert top["precision_at_positives"] == pytest.approx(expected)
    assert top["positives_at_top"] == np.sum(scores[y] > scores[~y].max())
    assert top == pytest.approx(metrics.top_of_list(y, np.exp(3 * scores) - 7))
    copies = np.repeat(np.arange(len(y)), w.astype(int))
    of_copies = metrics.top_of_list(y[copies], scores[copies])
    assert metrics.top_of_list(y, scores, sample_weight=w) == pytest.approx(of_copies)


@pytest.mark.parametrize("ties", TIED_ERROR)
def test_halved_weights_reach_a_recall_as_exactly(ties):
    y, scores = [0, 1, 0, 1], [4.0, 3.0, 2.0, 1.0]
    found = metrics.precision_at_recall(y, scores, 0.5, ties=ties, sample_weight=np.full(4, 0.5))
    assert found == 0.5


@given(ties=RULES, case=LISTS, max_fpr=st.floats(0.01, 1.0), min_tpr=st.floats(0.0, 0.99))
def test_partial_area_is_the_integral_of_the_curve(ties, case, max_fpr, min_tpr):
    y, scores, _ = case
    rates = {"max_fpr": max_fpr, "min_tpr": min_tpr, "standardize": False, "ties": ties}
    expected = metric_formula("partial_auc")(y, scores, **rates)
    assert metrics.partial_auc(y, scores, **rates) == pytest.approx(expected, abs=1e-12)


@given(case=LISTS)
def test_the_smooth_margin_is_below_the_margin(case):
    y, scores, _ = case
    assert metrics.smooth_margin(y, scores) <= metrics.margin(y, scores) + 1e-12


def test_both_ways_of_counting_agree():
    rng = np.random.default_rng(0)
    # few positives are looked up, many are sorted: the same list read with the classes' sizes exchanged
    for n_positive in (3, 30, 270, 297):
        y = np.zeros(300, dtype=bool)
        y[rng.permutation(300)[:n_positive]] = True
        scores = rng.integers(0, 50, 300).astype(float)
        for ties in TIED_ERROR:
            errors = pair_errors(y, scores, ties)
            np.testing.assert_array_equal(metrics.height(y, scores, ties=ties), errors.sum(axis=0))
            np.testing.assert_array_equal(metrics.reverse_height(y, scores, ties=ties), errors.sum(axis=1))
            assert metrics.auc(y, scores, ties=ties) == pytest.approx(1 - errors.mean())
