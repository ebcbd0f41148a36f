"""Labels, scores and weights of any kind, and what every metric refuses."""

import math
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from growth import growth
from oracle import TIED_ERROR, pair_errors
from pushrank import RankSVM, metrics, plots
from pushrank.metrics._registry import METRICS


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


SCALAR = [
    "auc", "average_precision", "average_reciprocal_rank", "bedroc", "discounted_cumulative_gain",
    "margin", "partial_auc", "positives_at_top", "precision_at_recall", "r_max", "rp_error", "smooth_margin",
    "recall_at_precision",
]  # fmt: skip


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


@pytest.mark.parametrize("unit", [1, Decimal(1), Fraction(1)])
def test_scores_held_as_objects_keep_their_digits(unit):
    scores = [2**70 * unit, (2**70 + 1) * unit, (2**70 + 2) * unit]
    for kind in (list, lambda scores: pd.Series(scores, dtype=object)):
        assert metrics.auc([0, 1, 1], kind(scores)) == 1.0
        assert metrics.auc([0, 1, 0], kind(scores)) == 0.5
    with pytest.raises(ValueError, match="more digits than float64"):
        metrics.threshold_for([0, 1, 1], scores, metrics.AtRecall(1.0))


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
    **{name: spec.function for name, spec in METRICS.items() if "pos_label" in spec.parameters},
    "height": metrics.height, "reverse_height": metrics.reverse_height,
    "top_of_list": metrics.top_of_list,
    "confidence_interval": partial(metrics.confidence_interval, metric="auc", n_resamples=10, random_state=0),
    "compare": lambda y, s, **rest: metrics.compare(y, s, s[::-1], "auc", method="delong", **rest),
    **{name: one.from_predictions for name, one in vars(plots).items() if hasattr(one, "from_predictions")},
}  # fmt: skip


@pytest.mark.parametrize("name", OF_LABELS_AND_SCORES)
def test_of_two_texts_none_is_guessed_to_be_positive(name):
    """Active and fraud come before inactive and legit: the alphabet is wrong every time."""
    measure, spec = OF_LABELS_AND_SCORES[name], METRICS.get(name)
    options = {"k": 3} if spec and spec.takes_depth else {}
    options |= {"value": np.arange(20)} if spec and "value" in spec.parameters else {}
    labels, scores = ["active", "inactive"] * 10, np.arange(20.0) % 17 / 20
    with pytest.raises(ValueError, match=r"'active' and 'inactive'.* pass pos_label='active' or pos_label="):
        measure(labels, scores, **options)
    if not name.endswith("Display"):
        options |= {"random_state": 0} if name == "compare" else {}
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
        ([0, 1], np.array(["1", "2_0"], dtype=object), "scores must be real numbers; could not convert '1'"),
        (
            [0, 1],
            np.array([1, np.timedelta64(2, "s")], dtype=object),
            "scores must be real numbers; could not",
        ),
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
        (lambda y, s: metrics.auc(y, s, ties="max"), "'optimistic', 'pessimistic'.*got 'max'"),
        (lambda y, s: metrics.average_reciprocal_rank(y, s, ties="first"), "'half', 'max', 'min', 'opti"),
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
        (lambda y, s: metrics.ndcg_at_k(y, s, qid=["a", None, "b"]), "qid has no entry in row 1"),
        (lambda y, s: metrics.ndcg_at_k(["a" for _ in y], s), "y_true must be real numbers"),
        (lambda y, s: metrics.precision_at_recall(y, s, 0), "recall must be > 0 and <= 1"),
        (lambda y, s: metrics.bedroc(y, s, 0.0), "alpha must be finite and > 0"),
        (lambda y, s: metrics.margin(y, s, norm=0.0), "norm must be finite and > 0"),
        (lambda y, s: metrics.ndcg_at_k(y, s, 0), "k must be finite and >= 1"),
        (lambda y, s: metrics.ndcg_at_k(np.subtract(y, 1), s), "at least 0"),
        (lambda y, s: metrics.ndcg_at_k(y, s, gain="square"), "gain must be"),
        (lambda y, s: metrics.ndcg_at_k(y, s, qid=[1, 2]), "qid must hold one entry a row"),
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


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_time_grows_as_the_rows_do(share):
    rng = np.random.default_rng(5)

    def work(n):
        y, scores = rng.random(n) < share, rng.normal(size=n)
        return lambda: (metrics.top_of_list(y, scores), metrics.height(y, scores))

    assert growth(work, 400_000) < 4


MASKED = np.ma.array([0.0, 1.0, 0.0, 1.0], mask=[0, 0, 1, 0])


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda _, s, m: metrics.auc(m, s), "y_true"),
        (lambda _, s, m: metrics.auc(m, s, pos_label=1.0), "y_true"),
        (lambda y, _, m: metrics.auc(y, m), "scores"),
        (lambda y, s, m: metrics.auc(y, [s, m]), "scores"),
        (lambda y, _, m: metrics.auc(y, np.ma.vstack([m, m])), "scores"),
        (lambda y, s, m: metrics.ndcg_at_k(y, s, sample_weight=m), "sample_weight"),
        (lambda y, s, m: metrics.ndcg_at_k(y, s, qid=m), "qid"),
        (lambda y, s, m: metrics.value_at_k(y, s, 2, value=m), "value"),
        (lambda y, _, m: metrics.measure(y, {"a": m}, k=2), "scores"),
        (lambda y, s, m: metrics.confidence_interval(y, s, "auc", groups=m), "groups"),
    ],
)
@pytest.mark.filterwarnings("ignore:auc has no interval")
def test_masked_entries_are_refused(call, name):
    y, scores = [0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0]
    call(y, scores, np.ma.array(MASKED.data, mask=False))
    with pytest.raises(
        ValueError, match=rf"{name} is a masked array, and \d of its entries, the first in row"
    ):
        call(y, scores, MASKED)


@pytest.mark.parametrize(
    "qid",
    [
        [1.0, np.nan, 1.0], ["a", np.nan, "a"], ["a", None, "a"], pd.array([1, None, 1], dtype="Int64"),
        pd.array(["a", None, "a"], dtype="string"), pd.Categorical(["a", None, "a"]),
        pd.to_datetime(["2026-01-01", None, "2026-01-01"]), np.array([0, "NaT", 0], dtype="timedelta64[s]"),
    ],
    ids=str,
)  # fmt: skip
def test_a_missing_query_is_none(qid):
    for metric in (metrics.ndcg_at_k, metrics.mean_reciprocal_rank):
        with pytest.raises(ValueError, match="qid has no entry in row 1; give every row one"):
            metric([0, 1, 0], [1.0, 2.0, 3.0], qid=qid)
    with pytest.raises(ValueError, match="qid mixes values that have no order"):
        metrics.ndcg_at_k([0, 1, 0], [1.0, 2.0, 3.0], qid=["a", 1, 2])
    with pytest.raises(ValueError, match="qid has no entry in row 1"):
        RankSVM().fit([[0.0], [1.0], [0.0]], [0, 1, 0], qid=qid)


BOUNDED = [
    "auc", "average_precision", "bedroc", "margin_error", "ndcg_at_k", "partial_auc", "precision_at_k",
    "precision_at_recall", "recall_at_k", "recall_at_precision",
    "mean_reciprocal_rank",
]  # fmt: skip


@pytest.mark.parametrize("name", BOUNDED)
def test_rounding_takes_no_share_beyond_zero_and_one(name):
    rng, spec = np.random.default_rng(0), METRICS[name]
    depth = {"fraction_of_positives": 1.0} if spec.takes_depth else {}
    for trial in range(60):
        n_positive, n_negative = rng.integers(1, 60, 2)
        y = np.repeat([1, 0], [n_positive, n_negative])
        weights = [None, rng.random(len(y)) + 0.01, 1e-9 * rng.random(len(y)) + 1e-12][trial % 3]
        for scores in (-np.arange(len(y)), np.arange(len(y)), y, -y):
            found = spec.function(y, [scores, scores], sample_weight=weights, **depth)
            assert ((found >= 0.0) & (found <= 1.0)).all(), found
    assert metrics.bedroc([1] * 50 + [0] * 50, -np.arange(100.0)) == 1.0
