"""Measures by hand, against scikit-learn, at extremes, and what they say of bad input."""

from __future__ import annotations

import itertools
import math
import pickle
import warnings
from functools import partial

import numpy as np
import pytest
import sklearn
from scipy.stats import rankdata
from sklearn import config_context
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, dcg_score, make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from growth import growth
from pushrank import PushBoost, metrics, plots
from pushrank.metrics import scorers
from pushrank.metrics._registry import METRICS

pytestmark = pytest.mark.fast

SCALAR = [
    "auc", "average_precision", "average_reciprocal_rank", "bedroc", "discounted_cumulative_gain",
    "margin", "partial_auc", "positives_at_top", "precision_at_recall", "r_max", "rp_error", "smooth_margin",
    "recall_at_precision", "partial_average_precision",
]  # fmt: skip


@pytest.mark.parametrize("levels", [5, 40, 10**9])
@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("weighted", [False, True])
def test_equal_to_scikit_learn(levels, share, weighted):
    rng = np.random.default_rng(levels % 97)
    y = np.r_[0, 1, (rng.random(800) < share)].astype(int)
    scores = rng.integers(0, levels, 802) / levels + 0.2 * y
    w = rng.random(802) if weighted else None
    assert metrics.auc(y, scores, sample_weight=w) == pytest.approx(
        roc_auc_score(y, scores, sample_weight=w), abs=1e-12
    )
    assert metrics.average_precision(y, scores, sample_weight=w) == pytest.approx(
        average_precision_score(y, scores, sample_weight=w), abs=1e-12
    )
    if not weighted:
        assert metrics.discounted_cumulative_gain(y, scores) == pytest.approx(
            dcg_score(y[None], scores[None]), abs=1e-10
        )


def test_by_hand():
    y, scores = [1, 0, 1, 0, 1], [5.0, 4.0, 4.0, 2.0, 1.0]
    assert metrics.height(y, scores).tolist() == [2.0, 1.0]
    assert metrics.height(y, scores, ties="optimistic").tolist() == [1.0, 1.0]
    assert metrics.reverse_height(y, scores, ties="half").tolist() == [0.0, 0.5, 2.0]
    assert metrics.rp_error(y, scores, 2) == 5.0
    assert metrics.r_max(y, scores) == 2.0
    assert metrics.positives_at_top(y, scores) == 1.0
    assert metrics.positives_at_top(y, scores, ties="half") == 1.5
    assert metrics.positives_at_top(y, scores, normalize=True) == pytest.approx(1 / 3)
    assert metrics.precision_at_k(y, scores, 2) == 0.75
    assert metrics.precision_at_k(y, scores, 2, ties="pessimistic") == 0.5
    assert metrics.precision_at_k(y, scores, 2, ties="optimistic") == 1.0
    assert metrics.precision_at_k(y, scores, fraction_of_positives=0.01) == 1.0
    natural = metrics.discounted_cumulative_gain(y, scores, log_base=math.e, ties="optimistic")
    assert natural == pytest.approx(1 / math.log(2) + 1 / math.log(3) + 1 / math.log(6))
    assert metrics.average_reciprocal_rank(y, scores, ties="pessimistic") == pytest.approx(1 + 1 / 3 + 1 / 5)


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


def test_large_powers_stay_finite_on_the_log_scale():
    rng = np.random.default_rng(1)
    y, scores = rng.random(5000) < 0.3, rng.normal(size=5000)
    assert metrics.rp_error(y, scores, 1000) == np.inf
    log = metrics.rp_error(y, scores, 1000, scale="log")
    worst = metrics.r_max(y, scores)
    assert math.log(worst) <= log <= math.log(worst) + math.log(5000) / 1000
    assert metrics.rp_error([0, 1], [0.0, 1.0], 8, scale="log") == -np.inf


@pytest.mark.parametrize("scale", [1e-300, 1e30, 8e307])
def test_any_finite_scores(scale):
    rng = np.random.default_rng(2)
    y, scores = rng.random(400) < 0.2, rng.uniform(-1, 1, 400)
    assert metrics.top_of_list(y, scale * scores) == pytest.approx(metrics.top_of_list(y, scores))


def test_scores_that_crowd_together():
    rng = np.random.default_rng(3)
    y, scores = rng.random(3000) < 0.3, rng.normal(size=3000)
    assert metrics.auc(y, np.exp(60 * scores)) == pytest.approx(roc_auc_score(y, scores), abs=1e-12)


@pytest.mark.parametrize("y", [[0, 0, 1], [1, 1, 0]])
@pytest.mark.parametrize("scores", [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [3.0, 2.0, 1.0]])
def test_one_of_a_class_and_all_tied(y, scores):
    found = metrics.top_of_list(y, scores)
    assert all(np.isfinite(value) or name == "log_r4" for name, value in found.items())
    assert found["auc"] == pytest.approx(roc_auc_score(y, scores))


@pytest.mark.parametrize(
    "convert",
    [list, lambda a: a.astype(np.float32), lambda a: (4 * a).astype(int), lambda a: a.astype(np.float16)],
)
def test_any_kind_of_numbers(convert):
    rng = np.random.default_rng(4)
    scores = rng.integers(0, 40, 100) / 4
    y = rng.random(100) < 0.3
    for labels in (y, y.astype(int), np.where(y, 1, -1), np.where(y, "yes", "no"), y.astype(float), list(y)):
        assert metrics.top_of_list(labels, convert(scores)) == pytest.approx(metrics.top_of_list(y, scores))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.longdouble])
def test_scores_that_float64_cannot_tell_apart(dtype):
    scores = np.array([2**62, 2**62 + 1, 2**62 + 2], dtype=dtype)
    if scores[0] == scores[1]:
        pytest.skip("long double is float64 here")
    assert metrics.auc([0, 1, 1], scores) == 1.0
    assert metrics.auc([0, 1, 0], -scores if dtype != np.uint64 else scores[::-1]) == 0.5


def test_negative_zero_is_zero():
    assert metrics.auc([0, 1, 1], [-0.0, 0.0, -0.0]) == 0.5
    assert metrics.height([0, 0, 1], [-0.0, 0.0, -0.0]).tolist() == [1.0, 1.0]


def test_negative_and_subnormal_scores_sort_rightly():
    scores = np.array([-1e300, -2.0, -5e-324, 0.0, 5e-324, 1e-310, 2.0, 1e300])
    for positive in range(8):
        y = np.arange(8) == positive
        assert metrics.reverse_height(y, scores).tolist() == [7.0 - positive]
        assert metrics.height(~y, scores).tolist() == [float(positive)]


@pytest.mark.parametrize("unit", [1e-300, 1.0, 1e150])
def test_any_unit_of_weight(unit):
    y, scores, weights = [0, 1, 1, 0], [1.0, 2.0, 0.0, 0.5], unit * np.ones(4)
    for name in ("auc", "average_precision"):
        metric = getattr(metrics, name)
        assert metric(y, scores, sample_weight=weights) == pytest.approx(metric(y, scores))
    log = metrics.rp_error(y, scores, 500, scale="log", sample_weight=weights)
    assert log == pytest.approx(math.log(unit) * (1 + 1 / 500) + math.log(2) / 500, abs=1e-12)


def test_pos_label_names_the_positive_class():
    labels, scores = ["bad", "good", "bad"], [3.0, 2.0, 1.0]
    assert metrics.positives_at_top(labels, scores, pos_label="good") == 0.0
    assert metrics.positives_at_top(labels, scores, pos_label="bad") == 1.0


OF_LABELS_AND_SCORES = {
    **{name: spec.function for name, spec in METRICS.items()}, "height": metrics.height,
    "reverse_height": metrics.reverse_height,
    "top_of_list": metrics.top_of_list, "roc_band": metrics.roc_band,
    "confidence_interval": partial(metrics.confidence_interval, metric="auc", n_resamples=10, random_state=0),
    "compare": lambda y, s, **rest: metrics.compare(y, s, s[::-1], "auc", method="delong", **rest),
    **{name: one.from_predictions for name, one in vars(plots).items() if hasattr(one, "from_predictions")},
}  # fmt: skip
del OF_LABELS_AND_SCORES["ndcg_at_k"]  # of grades, not labels
DEPTH_MEASURES = (metrics.precision_at_k, metrics.recall_at_k, metrics.lift, metrics.ndcg_at_k)
DEPTH = {name: {"k": 3} for name in ("precision_at_k", "recall_at_k", "lift", "enrichment_factor")}
DEPTH["value_at_k"] = {"k": 3, "value": np.arange(20)}


@pytest.mark.parametrize("name", OF_LABELS_AND_SCORES)
def test_of_two_texts_none_is_guessed_to_be_positive(name):
    """Active and fraud come before inactive and legit: the alphabet is wrong every time."""
    measure, options = OF_LABELS_AND_SCORES[name], DEPTH.get(name, {})
    labels, scores = ["active", "inactive"] * 10, np.arange(20.0) % 17 / 20
    with pytest.raises(ValueError, match=r"'active' and 'inactive'.* pass pos_label='active' or pos_label="):
        measure(labels, scores, **options)
    if not name.endswith("Display"):
        named = measure(labels, scores, pos_label="active", **options)
        assert str(named) == str(measure(np.equal(labels, "active"), scores, **options))


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        ([0, 1], 1), ([-1, 1], 1), ([False, True], True), ([2, 1], 2), (["no", "yes"], "yes"),
        (["YES", "NO"], "YES"), (["true", "False"], "true"), (["0", "1"], "1"), (["-1", "1"], "1"),
    ],
)  # fmt: skip
def test_numbers_truth_values_and_yes_or_no_say_which_is_positive(labels, positive):
    y = np.array(labels * 5)
    assert metrics.auc(y, y == positive) == 1.0


@pytest.mark.parametrize(
    ("y", "scores", "message"),
    [
        ([0, 0], [1.0, 2.0], "exactly 2 classes, found 1"),
        ([0, 1, 2], [1.0, 2.0, 3.0], "exactly 2 classes, found 3"),
        (["a", "b", "c"], [1.0, 2.0, 3.0], "exactly 2 classes, found 3"),
        ([0, 1], [1.0, np.nan], "finite, found nan in row 1"),
        ([0, 1], [-np.inf, 1.0], "finite, found -inf in row 0"),
        ([0, 1, 1], [1.0, 2.0], "inconsistent numbers of samples"),
        ([0, 1, 1], [[0.5, 0.5]] * 3, r"found shape \(3, 2\); of predict_proba pass the column"),
        ([], [], "exactly 2 classes, found 0"),
        ([0.0, np.nan, 1.0], [1.0, 2.0, 3.0], r"y_true is missing \(nan\) in row 1"),
        ([0, 1], [[[1.0], [2.0]]], r"scores must be one-dimensional, found shape \(1, 2, 1\)"),
        ([[0, 1]], [1.0], r"y_true must be one-dimensional, found shape \(1, 2\)"),
        (np.array(["a", 1], dtype=object), [1.0, 2.0], "mixes labels that have no order"),
        (np.array(["a", None, "b"], dtype=object), [1.0, 2.0, 3.0], r"y_true is missing \(None\) in row 1"),
        ([0, 1], ["a", "b"], "scores must be real numbers, found dtype <U1"),
        ([0, 1], np.array([1.0, "a"], dtype=object), "scores must be real numbers; could not convert"),
        ([0, 1], [1.0, None], "finite, found nan in row 1"),
    ],
)
@pytest.mark.parametrize("name", SCALAR)
def test_bad_data(name, y, scores, message):
    with pytest.raises(ValueError, match=message):
        getattr(metrics, name)(y, scores)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda y, s: metrics.auc(y, s, ties="random"), "ties must be one of"),
        (lambda y, s: metrics.rp_error(y, s, 0.5), "p must be"),
        (lambda y, s: metrics.rp_error(y, s, np.nan), "p must be"),
        (lambda y, s: metrics.rp_error(y, s, 2, scale="ln"), "scale must be"),
        (lambda y, s: metrics.rg_error(y, s, scale="log"), "scale must be"),
        (lambda y, s: metrics.rg_error(y, s, lambda h: h + np.inf, scale="mean"), "mean price .* is inf"),
        (lambda y, s: metrics.margin_error(y, s, -1.0), "theta must be"),
        (lambda y, s: metrics.precision_at_k(y, s, 0), "k must be finite and >= 1"),
        (lambda y, s: metrics.precision_at_k(y, s, 4), "k=4 must lie between 1 and"),
        (lambda y, s: metrics.discounted_cumulative_gain(y, s, log_base=1), "log_base must be"),
        (lambda y, s: metrics.auc(y, s, sample_weight=[1, 2]), "sample_weight has 2"),
        (
            lambda y, s: metrics.auc(y, s, sample_weight=[1, -2, 1]),
            "must not be negative, NaN or infinite, found -2.0 in row 1",
        ),
        (lambda y, s: metrics.auc(y, s, sample_weight=[1, 0, 1]), "zero for every positive"),
        (lambda y, s: metrics.auc(y, s, pos_label=7), "pos_label=7"),
        (lambda y, s: metrics.auc(y, [s, [*s[:2], np.inf]]), "finite, found inf in row 2"),
        (lambda y, s: metrics.auc(y, [s[:2]]), "a row for each of several"),
        (lambda y, s: metrics.recall_at_k(y, s, 9), "k=9 must lie between 1 and"),
        (lambda y, s: metrics.partial_auc(y, s, 0.0), "max_fpr must be > 0 and <= 1"),
        (lambda y, s: metrics.partial_auc(y, s, min_tpr=1.0), "min_tpr must be >= 0 and < 1"),
        (lambda y, s: metrics.auc(y, s, sample_weight=["a", "b", "c"]), "sample_weight must be real numbers"),
        (lambda y, s: metrics.auc(y, s, sample_weight=[1e308] * 3), "adds up beyond the range of floats"),
        (lambda y, s: metrics.average_precision(y, s, sample_weight=[1e308] * 3), "adds up beyond the range"),
        (lambda y, s: metrics.mean_reciprocal_rank(y, s, sample_weight=[1e308] * 3), "adds up beyond"),
        (lambda y, s: metrics.ndcg_at_k(y, s, qid=["a", None, "b"]), "qid mixes values that have no order"),
        (lambda y, s: metrics.ndcg_at_k(["a" for _ in y], s), "y_true must be real numbers"),
        (lambda y, s: metrics.precision_at_recall(y, s, 0), "recall must be > 0 and <= 1"),
        (lambda y, s: metrics.bedroc(y, s, 0.0), "alpha must be finite and > 0"),
        (lambda y, s: metrics.margin(y, s, norm=0.0), "norm must be finite and > 0"),
        (lambda y, s: metrics.ndcg_at_k(y, s, 0), "k must be finite and >= 1"),
        (lambda y, s: metrics.ndcg_at_k(np.subtract(y, 1), s), "at least 0"),
        (lambda y, s: metrics.ndcg_at_k(y, s, gain="square"), "gain must be"),
        (lambda y, s: metrics.ndcg_at_k(y, s, qid=[1, 2]), "inconsistent numbers of samples"),
        (lambda y, s: metrics.mean_reciprocal_rank(y, s, sample_weight=[0, 0, 0]), "zero for every row"),
    ],
)
def test_bad_parameters(call, message):
    with pytest.raises(ValueError, match=message):
        call([0, 1, 0], [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("measure", "parameter"),
    [
        (metrics.bedroc, "alpha"), (metrics.partial_auc, "min_tpr"), (metrics.partial_auc, "max_fpr"),
        (metrics.rp_error, "p"), (metrics.precision_at_recall, "recall"),
        (metrics.margin, "norm"), (metrics.discounted_cumulative_gain, "log_base"), (metrics.ndcg_at_k, "k"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("wrong", ["a", True, 1j])
def test_parameters_of_the_wrong_kind(measure, parameter, wrong):
    with pytest.raises(TypeError, match=f"{parameter} must be an? (number|integer), got {wrong!r}"):
        measure([0, 1, 0], [1.0, 2.0, 3.0], **{parameter: wrong})


@pytest.mark.parametrize("name", metrics.scorers.SCORERS)
def test_scorers_serve_cross_validation(name):
    scorer = getattr(metrics.scorers, name)
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = cross_val_score(model, X, y, scoring=scorer, cv=3)
    assert np.isfinite(scores).all()
    assert (scores <= 0).all() if name.startswith("neg_") else (scores >= 0).all()


@pytest.mark.parametrize("measure", DEPTH_MEASURES)
def test_the_length_of_a_list_is_said_in_one_of_three_ways(measure):
    y, scores = [1, 0, 1, 0, 0, 0, 1, 0, 0, 0], np.arange(10.0)[::-1]
    assert measure(y, scores, k=4) == measure(y, scores, fraction=0.4) == measure(y, scores, 4)
    assert measure(y, scores, k=3) == measure(y, scores, fraction_of_positives=1.0)
    assert measure(y, scores, k=2) == measure(y, scores, fraction_of_positives=0.5)  # of 1.5, to even
    assert (
        measure(y, scores, k=1)
        == measure(y, scores, fraction=0.01)
        == measure(y, scores, fraction_of_positives=0.01)
    )
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
        ("partial_average_precision", {"min_recall": 0.95}),
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
        ("precision_at_top", {"k": 1}, ValueError, "metric='precision_at_top' is not known"),
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


def test_scorers_measure_what_the_metrics_do():
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    scores = model.decision_function(X)
    assert metrics.scorers.positives_at_top(model, X, y) == metrics.positives_at_top(y, scores)
    assert metrics.scorers.neg_rp_error(model, X, y) == -metrics.rp_error(y, scores)
    w = np.arange(len(y)) % 3
    expected = metrics.auc(y, scores, sample_weight=w)
    assert metrics.scorers.auc(model, X, y, sample_weight=w) == expected
    cross_validate(model, X, y, scoring={"top": metrics.scorers.positives_at_top, "ap": "average_precision"})


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
            found = cross_val_score(
                model, X, 1 - y, scoring=scorer, cv=folds, params={"qid": qid, "groups": qid}
            )
        assert found[0] == pytest.approx(measure(1 - y[test], -scores, qid=qid[test]))


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_time_grows_as_the_rows_do(share):
    rng = np.random.default_rng(5)

    def work(n):
        y, scores = rng.random(n) < share, rng.normal(size=n)
        return lambda: (metrics.top_of_list(y, scores), metrics.height(y, scores))

    assert growth(work, 400_000) < 4


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
