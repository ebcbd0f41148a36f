"""Thresholds for a budget, a precision or a recall: against a search of all, their intervals, predictions."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier

from pushrank import PNormPush
from pushrank.metrics import (
    AtBudget,
    AtPrecision,
    AtRecall,
    Guaranteed,
    guarantee,
    precision_at_recall,
    recall_at_precision,
    threshold_for,
)


@given(data=st.data(), n=st.integers(2, 15), weighted=st.booleans())
def test_a_threshold_is_the_best_of_all_that_will_do(data, n, weighted):
    y = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(lambda y: 0 < sum(y) < n)))
    scores, w = (
        np.array(data.draw(st.lists(st.integers(*ends), min_size=n, max_size=n))) for ends in ((0, 5), (1, 3))
    )
    w = w if weighted else np.ones(n)
    options = {"confidence_level": None, "sample_weight": w if weighted else None}
    lists = {t: (w @ (scores >= t), w @ (y & (scores >= t))) for t in np.unique(scores)}
    for share in (0.2, 0.5, 2 / 3, 1.0):
        fits = [t for t, (_, hits) in lists.items() if hits >= share * (w @ y) - 1e-9]
        found = threshold_for(y, scores, AtRecall(share), **options)
        assert found.threshold == max(fits)
        at_recall = precision_at_recall(y, scores, share, sample_weight=options["sample_weight"])
        assert found.precision == pytest.approx(at_recall)
        fits = [t for t, (rows, hits) in lists.items() if hits >= share * rows - 1e-9 and hits]
        fits = [t for t in fits if (y & (scores == t)).any()]
        if fits:
            found = threshold_for(y, scores, AtPrecision(share), **options)
            assert found.threshold == min(fits)
            at_precision = recall_at_precision(y, scores, share, sample_weight=options["sample_weight"])
            assert found.recall == pytest.approx(at_precision)
        else:
            with pytest.raises(ValueError, match="no list has a precision of"):
                threshold_for(y, scores, AtPrecision(share), **options)
    for k in range(1, int(w.sum()) + 1):
        fits = [t for t, (rows, _) in lists.items() if rows <= k]
        if fits:
            found = threshold_for(y, scores, AtBudget(k), **options)
            assert (found.threshold, found.n_rows) == (min(fits), lists[min(fits)][0])
        else:
            with pytest.raises(ValueError, match="tie at the highest score and exceed the budget"):
                threshold_for(y, scores, AtBudget(k), **options)


@pytest.fixture(scope="module")
def scored():
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.25
    X = rng.normal(size=(400, 3)) + y[:, None]
    return X, y


@pytest.mark.parametrize("aim", [AtBudget(fraction=0.1), AtBudget(40), AtPrecision(0.8), AtRecall(0.5)])
@pytest.mark.parametrize("model", [PNormPush(p=4), LogisticRegression()])
def test_a_model_predicts_the_list_by_scikit_learns_classifier(scored, aim, model):
    X, y = scored
    model.fit(X[::2], y[::2])
    scores = model.decision_function(X[1::2])
    found = threshold_for(y[1::2], scores, aim, n_resamples=20, random_state=0)
    classifier = FixedThresholdClassifier(
        FrozenEstimator(model), threshold=found.threshold, response_method="decision_function"
    ).fit(X[1::2], y[1::2])
    predicted = classifier.predict(X[1::2])
    assert predicted.sum() == found.n_rows
    assert y[1::2][predicted].mean() == pytest.approx(found.precision)
    assert found.low <= found.threshold <= found.high


def test_intervals_hold_the_threshold_of_the_population():
    """Scores are normal around 1 and 0, half of the rows positive: recall 0.5 is at 1, and a tenth at 1.8."""
    rng = np.random.default_rng(1)
    aims = {AtRecall(0.5): 1.0, AtBudget(fraction=0.1): 1.8438}
    held = dict.fromkeys(aims, 0)
    for seed in range(15):
        y = np.arange(100) % 2
        scores = y + rng.normal(size=100)
        for aim, truth in aims.items():
            _, low, high, *_ = threshold_for(y, scores, aim, n_resamples=40, random_state=seed)
            held[aim] += low <= truth <= high
    assert all(count >= 12 for count in held.values()), held


def test_groups_are_drawn_whole():
    """Ten copies of forty rows say as much as the forty rows."""
    rng = np.random.default_rng(2)
    y = np.arange(40) % 2
    scores, ten = y + rng.normal(size=40), np.repeat(np.arange(40), 10)
    options = {"aim": AtRecall(0.5), "n_resamples": 200, "random_state": 0}
    alone, copied, grouped = (
        threshold_for(y, scores, **options),
        threshold_for(y[ten], scores[ten], **options),
        threshold_for(y[ten], scores[ten], groups=ten, **options),
    )
    assert grouped.high - grouped.low == pytest.approx(alone.high - alone.low, rel=0.3)
    assert copied.high - copied.low < 0.6 * (grouped.high - grouped.low)


@pytest.mark.parametrize(
    ("aim", "options", "error", "message"),
    [
        (AtBudget, {}, ValueError, "one of k .*, got none of them"),
        (AtBudget, {"k": 1, "fraction": 0.5}, ValueError, "got k=1, fraction=0.5"),
        (AtBudget, {"k": 0.5}, TypeError, "k must be an integer"),
        (AtRecall, {"recall": 0.0}, ValueError, "recall must be > 0 and <= 1"),
        (AtPrecision, {"precision": "a"}, TypeError, "precision must be a number"),
        (Guaranteed, {"false_positive_rate": 2.0}, ValueError, "false_positive_rate must be"),
    ],
)
def test_an_aim_that_no_list_can_have_is_refused(aim, options, error, message):
    with pytest.raises(error, match=message):
        aim(**options)


@pytest.mark.parametrize(
    ("aim", "options", "error", "message"),
    [
        (0.5, {}, TypeError, "aim must be one of AtBudget, AtPrecision, AtRecall and Guaranteed"),
        (AtBudget(4), {}, ValueError, "k=4 must lie between 1 and"),
        (AtRecall(0.5), {"confidence_level": 2}, ValueError, "confidence_level must be"),
        (AtRecall(0.5), {"n_resamples": 2}, ValueError, "n_resamples must be"),
    ],
)
def test_a_threshold_for_nothing_is_refused(aim, options, error, message):
    with pytest.raises(error, match=message):
        threshold_for([0, 1, 0], [1.0, 2.0, 3.0], aim, **options)


@pytest.mark.parametrize("scores", [2**60 + np.arange(3), np.array([1, 2, 3], dtype=np.longdouble) / 3])
def test_a_threshold_that_no_float_holds_is_refused(scores):
    with pytest.raises(ValueError, match="scores hold more digits than float64"):
        threshold_for([0, 1, 0], scores, AtBudget(1))


def scores_of(kind, dtype, rng):
    """Scores of 1,000 rows: two values, neighbours one step apart, steps of ten, or all different."""
    signal = rng.normal(size=1_000)
    if kind == "two values":
        return np.where(signal > 0.0, 0.8, 0.1).astype(dtype)
    if kind == "one step apart":
        start = np.full(1_000, 0.1, dtype=dtype)
        return np.where(signal > 0.0, np.nextafter(start, dtype(1.0)), start)
    return (np.round(signal, 1) if kind == "steps" else signal).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("kind", ["two values", "one step apart", "steps", "different"])
@pytest.mark.parametrize("n_seeds", [8, pytest.param(140, marks=pytest.mark.nightly)])
def test_a_threshold_lists_the_rows_that_it_counts_beside_floats_of_any_size(kind, dtype, n_seeds):
    """A step of float64 above a score is lost beside float32: it fell back on the tie below the list."""
    aims = [AtBudget(600), AtPrecision(0.3), AtRecall(0.4)]
    aims += [Guaranteed(precision=0.2), Guaranteed(recall=0.3), Guaranteed(false_positive_rate=0.7)]
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        scores = scores_of(kind, dtype, rng)
        y = rng.random(1_000) < 0.3 + 0.4 * (scores >= np.sort(scores)[600])
        for aim in aims:
            found = threshold_for(y, scores, aim, confidence_level=None)
            as_json = json.loads(json.dumps(found.threshold))
            for threshold in (found.threshold, np.float64(found.threshold), dtype(found.threshold), as_json):
                assert (scores >= threshold).sum() == found.n_rows, (aim, seed)
                assert (scores.astype(np.float64) >= threshold).sum() == found.n_rows, (aim, seed)
        promised = guarantee(y, scores, k=[10, 100], n_new=1_000, random_state=seed)
        for threshold in promised.threshold:
            assert (scores >= float(threshold)).sum() == (scores.astype(np.float64) >= threshold).sum()
