"""Scorers of metrics, for searches and cross-validation."""

import itertools
import pickle
from functools import partial

import numpy as np
import pytest
import sklearn
from sklearn import config_context
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from pushrank import PushBoost, metrics
from pushrank.metrics import scorers


@pytest.mark.parametrize("name", metrics.scorers.SCORERS)
def test_scorers_serve_cross_validation(name):
    scorer = getattr(metrics.scorers, name)
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    scores = cross_val_score(model, X, y, scoring=scorer, cv=3)
    assert np.isfinite(scores).all()
    assert (scores <= 0).all() if name.startswith("neg_") else (scores >= 0).all()


@pytest.fixture(scope="module")
def half_fitted():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::2], y[::2])
    return model, X[1::2], y[1::2], model.decision_function(X[1::2])


@pytest.fixture(scope="module")
def other_models(half_fitted):
    """A model of probabilities, one of numbers, and the same of texts of which the first is positive."""
    _, X, y, _ = half_fitted
    texts = np.where(y, "active", "inactive")
    forest = DecisionTreeClassifier(max_depth=4).fit(X, y)
    return texts, forest, LogisticRegression(C=1e-4).fit(X, y), LogisticRegression(C=1e-4).fit(X, texts)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *itertools.product(
            ("precision_at_k", "recall_at_k", "lift"),
            ({"k": 150}, {"fraction": 0.3}, {"fraction_of_positives": 0.8}),
        ),
        ("precision_at_recall", {"recall": 0.99}),
        ("recall_at_precision", {"precision": 0.99}),
    ],
)
def test_any_measure_is_made_a_scorer_of_any_model(half_fitted, other_models, name, options):
    model, X, y, scores = half_fitted
    measure = getattr(metrics, name)
    scorer = pickle.loads(pickle.dumps(metrics.make_top_scorer(name, **options)))  # noqa: S301
    assert scorer(model, X, y) == measure(y, scores, **options)
    w = np.arange(len(y)) % 3 + 1
    assert scorer(model, X, y, sample_weight=w) == measure(y, scores, sample_weight=w, **options)
    texts, tree, of_numbers, of_texts = other_models
    expected = measure(y, tree.predict_proba(X)[:, 1], **options)
    assert metrics.make_top_scorer(measure, **options)(tree, X, y) == expected
    named = metrics.make_top_scorer(name, pos_label="active", **options)
    assert named(of_texts, X, texts) == pytest.approx(scorer(of_numbers, X, y), abs=0.02)


def test_the_value_of_the_first_rows_is_scored_by_a_column_or_by_routing(half_fitted):
    model, X, y, scores = half_fitted
    value = X["mean area"]
    expected = metrics.value_at_k(y, scores, 40, value=value)
    scorer = pickle.loads(pickle.dumps(metrics.make_top_scorer("value_at_k", k=40, value="mean area")))  # noqa: S301
    assert scorer(model, X, y) == expected
    plain = DecisionTreeClassifier(max_depth=4).fit(X.to_numpy(), y)
    by_number = metrics.make_top_scorer("value_at_k", k=40, value=3, normalize=True)
    scores, w = plain.predict_proba(X.to_numpy())[:, 1], y + 1
    caught = metrics.value_at_k(y, scores, 40, value=value, normalize=True, sample_weight=w)
    assert by_number(plain, X.to_numpy(), y, sample_weight=w) == caught
    with config_context(enable_metadata_routing=True):
        routed = metrics.make_top_scorer("value_at_k", k=40)
        assert routed(model, X, y, value=value) == expected
        cross_val_score(model, X, y, scoring=routed, params={"value": value.to_numpy()}, cv=2)
    with pytest.raises(ValueError, match="pass value, an amount for each row"):
        routed(model, X, y)


def test_searches_and_early_stopping_take_a_scorer_of_a_budget(half_fitted):
    _, X, y, _ = half_fitted
    X = StandardScaler().fit_transform(X)
    scorer = metrics.make_top_scorer("precision_at_k", fraction=0.05)
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring=scorer, cv=2).fit(X[::2], y[::2])
    assert search.best_score_ == 1.0
    by_column = metrics.make_top_scorer("value_at_k", fraction=0.1, value=3)
    for scoring in (scorer, by_column):
        stopped = PushBoost(n_estimators=20, early_stopping=True, scoring=scoring, random_state=0).fit(X, y)
        assert stopped.n_iter_ <= 20


@pytest.mark.parametrize(
    ("metric", "options", "error", "message"),
    [
        ("precision_at_k", {}, ValueError, "one of k .* got none of them"),
        ("precision_at_k", {"k": 0.1}, TypeError, "k must be an integer"),
        ("precision_at_top", {"k": 1}, ValueError, "got 'precision_at_top'"),
        ("precision_at_recall", {"recall": 2}, ValueError, "recall must be > 0 and <= 1"),
        ("auc", {"k": 3}, TypeError, r"a scorer of auc takes \['ties', 'pos_label'\], got 'k'"),
        ("precision_at_k", {"k": 1, "ties": "first"}, ValueError, "ties must be one of"),
        ("value_at_k", {"k": 1, "value": [1.0, 2.0]}, TypeError, "value must name a column or be its number"),
        (max, {}, ValueError, "of a measure of your own sklearn.metrics.make_scorer makes a scorer"),
    ],
)
def test_a_scorer_that_cannot_be_is_refused_when_it_is_made(metric, options, error, message):
    with pytest.raises(error, match=message):
        metrics.make_top_scorer(metric, **options)


def test_only_scorers_are_listed():
    for name in dir(scorers):
        assert repr(getattr(scorers, name)).startswith("make_scorer("), name


def test_scorers_of_query_lists_are_routed_their_queries():
    X, y = load_breast_cancer(return_X_y=True)
    qid = np.arange(len(y)) % 20
    model = make_pipeline(StandardScaler(), LogisticRegression())
    folds = GroupKFold(3)
    train, test = next(folds.split(X, y, qid))
    scores = model.fit(X[train], y[train]).decision_function(X[test])
    for name, measure in (
        ("ndcg", metrics.ndcg_at_k),
        ("ndcg_at_10", partial(metrics.ndcg_at_k, k=10)),
        ("mean_reciprocal_rank", metrics.mean_reciprocal_rank),
    ):
        scorer = getattr(metrics.scorers, name)
        with sklearn.config_context(enable_metadata_routing=True):
            options = {"cv": folds, "params": {"qid": qid, "groups": qid}}
            found = cross_val_score(model, X, 1 - y, scoring=scorer, **options)
        assert found[0] == pytest.approx(measure(1 - y[test], -scores, qid=qid[test]))


@pytest.mark.parametrize(("labels", "positive"), [("no yes", "yes"), ("no Yes", "Yes"), ("9 10", "10")])
def test_a_scorer_never_turns_a_list_upside_down(labels, positive):
    """scikit-learn ranks the later of two sorted labels at the top, unless pos_label is the other."""
    X, y = np.arange(20.0)[:, None], np.repeat(labels.split(), 10)
    model = LogisticRegression().fit(X, y)
    for scorer in (scorers.auc, make_scorer(metrics.auc, response_method="decision_function")):
        if model.classes_[1] == positive:
            assert scorer(model, X, y) == 1.0
        else:
            with pytest.raises(ValueError, match=f"pass pos_label='{positive}'"):
                scorer(model, X, y)
    assert metrics.make_top_scorer("auc", pos_label=positive)(model, X, y) == 1.0
