"""Resamples of rows and of groups."""

from functools import partial

import numpy as np
import pytest
from scipy import stats

from pushrank import metrics
from pushrank.metrics._bootstrap import StratifiedBootstrap, default_n_resamples, draw_counts
from pushrank.metrics._ranking import Ranking
from pushrank.metrics._registry import bind_metric
from pushrank.metrics._sampling import contrasted
from samples import tied_scores


def test_groups_that_all_hold_positives_can_be_drawn(rows):
    y, a, _ = rows
    groups = np.empty(80, dtype=int)
    for mask in (y, ~y):
        groups[mask] = np.arange(mask.sum()) % 8
    found = metrics.measure(y, {"a": a}, k=10, groups=groups, n_resamples=50, random_state=0)
    assert found.measures["a"]["auc"].low < found.measures["a"]["auc"].estimate


def test_every_resample_of_groups_has_both_classes():
    """All negatives are in one group of five that all hold positives: a third of the draws miss it."""
    ranking = Ranking(np.array([1, 1, 1, 1, 1, 0]), [1.0, 5.0, 2.0, 6.0, 4.0, 3.0])
    bootstrap = StratifiedBootstrap([ranking.with_groups([0, 1, 2, 3, 4, 4])], [bind_metric("bedroc")])
    assert np.isfinite(bootstrap.evaluate_resamples(50, 0)).all()


def test_a_resample_of_fewer_rows_than_are_looked_at_is_looked_at_whole(rows):
    """One group holds half the rows, and most resamples without it fewer than the 70 of the list."""
    y, a, _ = rows
    groups = np.maximum(np.arange(80) - 40, 0)
    options = {"k": 70, "groups": groups, "n_resamples": 50, "random_state": 0}
    found = metrics.confidence_interval(y, a, "precision_at_k", **options)
    # All positives are in the list: no list of as many has more.
    assert found.low < found.estimate == found.high == y.sum() / 70
    with pytest.raises(ValueError, match="k=81 must lie between"):
        metrics.confidence_interval(y, a, "value_at_k", k=81, value=a, groups=groups)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_rankings", [1, 2])
def test_a_resample_has_the_values_of_its_copied_rows(weighted, n_rankings):
    rng = np.random.default_rng(1)
    y, scores = tied_scores(rng)
    value, w = rng.lognormal(size=len(y)), rng.integers(1, 4, len(y)) / 2 if weighted else None
    order = np.argsort(np.where(y, scores, np.inf), kind="stable")  # as one unweighted ranking is numbered
    y, scores, value = y[order], scores[order], value[order]
    rankings = [Ranking(y, s, w).with_value(value) for s in (scores, rng.permutation(scores))[:n_rankings]]
    share = partial(metrics.value_at_k, fraction_of_positives=0.5, normalize=True)
    bootstrap = StratifiedBootstrap(rankings, [bind_metric(share)])
    positive, negative = (np.empty(n, dtype=np.uint8) for n in (bootstrap.n_positive, bootstrap.n_negative))
    for seed in range(5):
        draw_counts(seed, positive)
        draw_counts(seed + 9, negative)
        if n_rankings == 1 and not weighted:  # negatives too are numbered in the order of the scores
            negative[:] = 1
        counts = np.empty(len(y), dtype=np.uint8)
        counts[y], counts[~y] = positive, negative
        rows = np.repeat(np.arange(len(y)), counts)
        weights = {} if w is None else {"sample_weight": w[rows]}
        expected = [share(y[rows], r.scores[rows], value=value[rows], **weights) for r in rankings]
        np.testing.assert_allclose(bootstrap.evaluate_counts(positive, negative), expected)


def test_counts_are_multinomial_and_depend_on_the_seed_alone():
    counts = np.empty((4000, 7), dtype=np.uint8)
    for seed, row in enumerate(counts):
        draw_counts(seed, row)
    assert (counts.sum(axis=1) == 7).all()
    # each pair of rows: the mean and the covariance of multinomial counts, within 5 standard errors
    assert np.abs(counts.mean(axis=0) - 1.0).max() < 5 * np.sqrt(6 / 7 / 4000)
    covariance = np.cov(counts.T.astype(float))
    expected = np.eye(7) - 1 / 7
    assert np.abs(covariance - expected).max() < 5 * np.sqrt(2 / 4000)
    again = np.empty(7, dtype=np.uint8)
    draw_counts(11, again)
    np.testing.assert_array_equal(again, counts[11])


def test_counts_of_many_rows_are_uniform():
    counts = np.empty(10_007, dtype=np.uint8)
    total = np.zeros(len(counts))
    for seed in range(200):
        draw_counts(seed, counts)
        total += counts
    assert stats.chisquare(total).pvalue > 1e-4
    assert abs((counts == 0).mean() - np.exp(-1)) < 0.03


def test_a_long_list_has_fewer_resamples():
    assert [default_n_resamples(n) for n in (100, 400_000, 10**7)] == [2000, 500, 200]


def test_contrasts_within_rounding_of_zero_are_zero():
    assert contrasted([[0.3, 0.1 + 0.2], [0.7, 0.5]], [1.0, -1.0])[0] == 0.0
