"""Measures equal those of scikit-learn and RDKit on random data with ties."""

import numpy as np
import pytest
from sklearn.metrics import (
    average_precision_score,
    dcg_score,
    ndcg_score,
    precision_recall_curve,
    roc_auc_score,
)

from pushrank import metrics


def draw(seed, levels, share, n=701):
    rng = np.random.default_rng(seed)
    y = np.append([0, 1], rng.random(n) < share).astype(int)
    return rng, y, rng.integers(0, levels, n + 2) / levels + 0.2 * y


@pytest.mark.parametrize("levels", [5, 40, 10**9])
@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("weighted", [False, True])
def test_areas_precision_and_gain_equal_those_of_scikit_learn(levels, share, weighted):
    rng, y, scores = draw(levels % 97, levels, share)
    w = rng.random(len(y)) if weighted else None
    for max_fpr in (0.01, 0.1, 0.37, 1.0):
        expected = roc_auc_score(y, scores, max_fpr=max_fpr, sample_weight=w)
        found = metrics.partial_auc(y, scores, max_fpr, sample_weight=w)
        assert found == pytest.approx(expected, abs=1e-12), max_fpr
    for ours, theirs in ((metrics.auc, roc_auc_score), (metrics.average_precision, average_precision_score)):
        expected = theirs(y, scores, sample_weight=w)
        assert ours(y, scores, sample_weight=w) == pytest.approx(expected, abs=1e-12)
    if not weighted:
        found = metrics.discounted_cumulative_gain(y, scores)
        assert found == pytest.approx(dcg_score(y[None], scores[None]), abs=1e-10)


@pytest.mark.parametrize("levels", [3, 20, 10**9])
@pytest.mark.parametrize("k", [None, 1, 7, 100])
def test_ndcg_equals_scikit_learn(levels, k):
    rng = np.random.default_rng(0)
    lists, size = 11, 60
    y = rng.integers(0, 5, (lists, size)) * (rng.random((lists, 1)) < 0.8)
    scores = rng.integers(0, levels, (lists, size)) / levels + 0.1 * y
    w = rng.random(lists)
    shuffled = rng.permutation(lists * size)
    qid = np.repeat(rng.permutation(lists), size)
    for weights in (None, w):
        found = metrics.ndcg_at_k(
            y.ravel()[shuffled],
            scores.ravel()[shuffled],
            k,
            qid=qid[shuffled],
            sample_weight=None if weights is None else np.repeat(weights, size)[shuffled],
        )
        assert found == pytest.approx(ndcg_score(y, scores, k=k, sample_weight=weights), abs=1e-12)


@pytest.mark.parametrize("levels", [3, 40, 10**9])
@pytest.mark.parametrize("weighted", [False, True])
def test_measures_at_a_recall_or_precision_are_of_the_curve(levels, weighted):
    rng, y, scores = draw(levels % 89, levels, 0.3)
    w = rng.random(len(y)) if weighted else None
    precisions, recalls, _ = precision_recall_curve(y, scores, sample_weight=w)
    for recall in (0.01, 0.25, 0.5, 0.9, 1.0):
        first = np.flatnonzero(recalls >= recall - 1e-12)[-1]
        found = metrics.precision_at_recall(y, scores, recall, sample_weight=w)
        assert found == pytest.approx(precisions[first], abs=1e-12)
    for precision in (0.2, 0.4, precisions[0], 0.9, 1.0):
        expected = recalls[:-1][precisions[:-1] >= precision - 1e-12].max(initial=0.0)
        found = metrics.recall_at_precision(y, scores, precision, sample_weight=w)
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.nightly
@pytest.mark.parametrize("ties", ["pessimistic", "optimistic"])
@pytest.mark.parametrize("levels", [4, 50, 10**9])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_early_recognition_equals_rdkit(ties, levels, share):
    scoring = pytest.importorskip("rdkit.ML.Scoring.Scoring")
    _, y, scores = draw(levels % 83, levels, share)
    # RDKit reads ties in the order of the rows
    order = np.lexsort((y if ties == "pessimistic" else 1 - y, -scores))
    rows = [(int(label),) for label in y[order]]
    for alpha in (1.0, 20.0, 160.9):
        expected = scoring.CalcBEDROC(rows, 0, alpha)
        assert metrics.bedroc(y, scores, alpha, ties=ties) == pytest.approx(expected, abs=1e-12)
    fractions = [0.01, 0.05, 0.2]
    for fraction, expected in zip(fractions, scoring.CalcEnrichment(rows, 0, fractions), strict=True):
        found = metrics.enrichment_factor(y, scores, fraction=fraction, ties=ties)
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.nightly
def test_expected_early_recognition_is_rdkits_mean_over_orders():
    scoring = pytest.importorskip("rdkit.ML.Scoring.Scoring")
    rng, y, scores = draw(3, 2, 0.3, n=40)
    scores = np.floor(2 * scores)
    drawn = [np.lexsort((rng.random(len(y)), -scores)) for _ in range(4000)]
    found = np.array([scoring.CalcBEDROC([(int(v),) for v in y[order]], 0, 20.0) for order in drawn])
    error = found.std() / np.sqrt(len(found))
    assert abs(metrics.bedroc(y, scores) - found.mean()) < 4 * error
