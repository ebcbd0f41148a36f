"""Labels: which of two is ranked at the top, and grades, numbers of which only the order counts."""

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import pushrank
from combinations import each_and_some
from pushrank import metrics, theory
from pushrank.model_selection import fit_held_out
from pushrank.pairs import BipartiteSample
from samples import overlapping

X, Y = overlapping()

STATED = pd.Categorical(["inactive", "active"] * 20, ["unknown", "inactive", "active"], ordered=True)

OF_LABELS = {
    "auc": lambda y: metrics.auc(y, np.arange(40)),
    "reciprocal rank": lambda y: metrics.mean_reciprocal_rank(y, np.arange(40), qid=np.arange(40) // 4),
    "interval": lambda y: metrics.confidence_interval(y, np.arange(40), "auc", n_resamples=10),
    "sample": BipartiteSample.from_labels,
    "margin": lambda y: theory.max_margin(X[:40], y),
    "chunk": lambda y: pushrank.PerceptronAtK().partial_fit(X[:40], y, classes=["active", "inactive"]),
    **{
        type(ranker).__name__: lambda y, ranker=ranker: ranker.fit(X[:40], y)
        for ranker in (
            pushrank.PNormPush(),
            pushrank.PNormPushCV(cv=2),
            pushrank.RankBoost(),
            pushrank.RankSVM(),
            pushrank.RampAtK(),
            pushrank.SGDAtK(surrogate="struct", radius=10.0, max_iter=1),
        )
    },
}


GRADED = [pushrank.PNormPush(), pushrank.PushBoost(n_estimators=2), pushrank.RankSVM()]


@pytest.mark.parametrize("ranker", GRADED, ids=lambda ranker: type(ranker).__name__)
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.arange(40) % 3, r"takes the 3 values of y, 0 to 2, as grades\. .* fit to y == that_class"),
        (np.arange(40) % 7 / 2, r"takes the 7 values of y, 0 to 3, as grades"),
        (np.arange(40) % 2 + 0.5, r"ranks 1.5 above 0.5, numbers with fractions, as two classes"),
    ],
)
def test_numbers_that_may_be_no_grades_are_said_once_and_taken(ranker, y, message):
    with pytest.warns(UserWarning, match=f"^{type(ranker).__name__} {message}") as warned:
        _ = [clone(ranker).fit(X[:40], y) for _ in range(3)]
    assert len(warned) == 1


@pytest.mark.parametrize("ranker", GRADED, ids=lambda ranker: type(ranker).__name__)
@pytest.mark.parametrize(
    "labels",
    [
        {"y": np.arange(40) % 3, "qid": np.zeros(40)},
        {"y": np.arange(40) % 2 + 0.5, "qid": np.arange(40) // 4},
        *(
            {"y": np.where(np.arange(40) % 2, *pair)}
            for pair in ((1, -1), (2, 1), (7.0, -3.0), (True, False))
        ),
    ],
)
def test_labels_and_grades_of_queries_need_no_warning(ranker, labels):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(ranker).fit(X[:40], **labels)


def test_a_search_says_once_a_place_what_all_its_fits_would_say():
    search = GridSearchCV(pushrank.PNormPush(), {"p": [1, 2, 4]}, cv=3, scoring="accuracy")
    for y in (np.arange(40) % 3, np.array(["a", "b"] * 20)):
        with pytest.warns(UserWarning, match="PNormPush (takes|ranks)") as warned:
            search.fit(X[:40], y)
        # The fits of the folds are one line of scikit-learn's, and the last fit is another.
        assert len(warned) == 2


@pytest.mark.parametrize("name", ["group", "groups", "group_id", "query"])
@pytest.mark.parametrize("ranker", GRADED, ids=lambda ranker: type(ranker).__name__)
def test_queries_by_the_names_of_other_libraries_are_answered_by_qid(ranker, name):
    with pytest.raises(TypeError, match=f"takes no {name}=: use qid=, the query of every row"):
        clone(ranker).fit(X[:40], Y[:40], **{name: [20, 20]})


@pytest.mark.filterwarnings("ignore:PerceptronAtK ranks inactive above active")
@pytest.mark.parametrize("of_labels", OF_LABELS.values(), ids=OF_LABELS)
@pytest.mark.parametrize("kind", [lambda y: y, pd.Series, lambda y: pd.DataFrame({"y": y})])
def test_the_stated_order_of_labels_is_not_turned_upside_down(of_labels, kind):
    with pytest.raises(ValueError, match=r"'inactive' < 'active', .* pass (y|y_true) == 'active'"):
        of_labels(kind(STATED))


def test_categories_whose_order_is_the_sorted_one_or_none_are_taken():
    scores = np.arange(40)
    for labels in (
        pd.Categorical(["no", "yes"] * 20),
        pd.Categorical(["no", "yes"] * 20, ["no", "yes"], ordered=True),
        pd.Series(np.arange(40) % 2).astype(pd.CategoricalDtype([0, 1], ordered=True)),
    ):
        assert metrics.auc(labels, scores) == metrics.auc(np.asarray(labels), scores)
        pushrank.PNormPush().fit(X[:40], labels)
    assert metrics.auc(STATED, scores, pos_label="active") == metrics.auc(STATED == "active", scores)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "ranker",
    [
        pushrank.PNormPush(), pushrank.PNormPushCV(cv=2, scoring="positives_at_top"), pushrank.RankSVM(),
        pushrank.RampAtK(),
        pushrank.RankBoost(n_estimators=9, early_stopping=True, scoring="average_precision"),
    ],
    ids=lambda ranker: type(ranker).__name__,
)  # fmt: skip
def test_the_later_of_two_texts_is_ranked_at_the_top_with_a_warning(ranker):
    labels = np.where(Y == 1, "active", "inactive")
    said = r"ranks inactive above active, the later of two texts .* fit to y == 'active'\.$"
    with pytest.warns(UserWarning, match=type(ranker).__name__ + " " + said) as caught:
        ranker.fit(X, labels)
    assert caught[0].filename == __file__
    scores = ranker.decision_function(X)
    assert metrics.auc(labels, scores, pos_label="inactive") > 0.5
    assert ranker.score(X, labels) == pytest.approx(metrics.average_precision(labels == "inactive", scores))


def test_the_first_chunk_of_a_stream_of_texts_says_which_is_at_the_top():
    names = np.where(Y == 1, "active", "inactive")
    with pytest.warns(UserWarning, match="PerceptronAtK ranks inactive above active"):
        pushrank.PerceptronAtK().partial_fit(X, names, classes=["active", "inactive"])


@pytest.mark.parametrize("labels", [["no", "yes"], ["False", "True"], ["-1", "1"], [0, 1]])
def test_labels_that_say_which_is_positive_are_ranked_without_a_warning(labels):
    pushrank.PNormPush().fit(X, np.array(labels)[Y])


def test_a_yes_that_sorts_before_no_is_warned_of():
    with pytest.warns(UserWarning, match="ranks no above Yes"):
        pushrank.PNormPush().fit(X, np.where(Y == 1, "Yes", "no"))


def test_pandas_objects_of_one_index_in_two_orders_are_warned_of():
    table = pd.DataFrame(X[:40], columns=[*"abcdef"][: X.shape[1]])
    labels = pd.Series(Y[:40])
    turned = labels[::-1]
    rankers = (pushrank.PNormPush(), pushrank.RankBoost(), pushrank.RampAtK(), pushrank.StackingRanker(cv=2))
    for door in (
        lambda y: metrics.auc(y, table["a"]),
        lambda w: metrics.auc(Y[:40] * 0 + np.arange(40) % 2, table["a"], sample_weight=w),
        lambda y: fit_held_out({"push": pushrank.PNormPush()}, table, y, cv=2),
        lambda y: pushrank.PerceptronAtK().partial_fit(table, y, classes=[0, 1]),
        *(lambda y, ranker=ranker: ranker.fit(table, y) for ranker in rankers),
    ):
        with pytest.warns(UserWarning, match="the same index in another order, and rows are paired by"):
            door(turned)
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message=".*the same index in another order")
            for y in (
                labels,
                turned.reset_index(drop=True),
                turned.to_list(),
                labels.set_axis(range(40, 80)),
            ):
                door(y)


RANKERS = [
    pushrank.PNormPush(), pushrank.PushBoost(n_estimators=2), pushrank.RampAtK(), pushrank.SGDAtK(max_iter=1),
    pushrank.TopRankerCV(cv=2), pushrank.StackingRanker([("svm", pushrank.RankSVM())], cv=2),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_nullable_labels_and_objects_keep_their_kind_and_masked_ones_are_refused(ranker):
    for dtype, kind in (("Int64", "i"), ("boolean", "b"), ("bool[pyarrow]", "b"), ("UInt8", "u")):
        classes = clone(ranker).fit(X, pd.Series(Y, dtype=dtype)).classes_
        assert classes.dtype.kind == kind
        np.testing.assert_array_equal(classes, [0, 1])
    for kind, of in (("i", int), ("b", bool), ("f", Decimal), ("f", Fraction), ("f", np.float32)):
        for labels in ([*map(of, Y.tolist())], pd.Series([*map(of, Y.tolist())], dtype=object)):
            classes = clone(ranker).fit(X, labels).classes_
            assert classes.dtype.kind == kind
            np.testing.assert_array_equal(classes, [0, 1])
    masked = np.ma.array(Y, mask=np.arange(len(Y)) == 7)
    for name, arguments in (("y", (X, masked)), ("sample_weight", (X, Y, masked))):
        with pytest.raises(ValueError, match=rf"{name} is a masked array, and 1 .*, the first in row 7, are"):
            clone(ranker).fit(*arguments)
    with pytest.raises(ValueError, match="y is a masked array"):
        clone(ranker).fit(X, Y).score(X, masked)


RNG = np.random.default_rng(0)
GRADES = RNG.integers(0, 3, 90)
Z = RNG.normal(size=(90, 3)) + 0.8 * GRADES[:, None]

GRADED = [
    pushrank.PNormPush(p=2.0),
    pushrank.PushRanker("logistic"),
    pushrank.RankSVM(),
    pushrank.PushBoost(n_estimators=5),
]
TWO_CLASSES = [*GRADED, pushrank.IRPush(), pushrank.PNormPushCV(cv=3)]
TWO_CLASSES += [pushrank.TopRankerCV(cv=3, random_state=0)]


def name(ranker):
    return type(ranker).__name__


@pytest.mark.parametrize("stars", [[0.0, 1.5, 3.0], [-0.5, 0.5, 1e30]])
@pytest.mark.parametrize("ranker", GRADED, ids=name)
def test_grades_may_have_fractions(ranker, stars):
    expected = ranker.fit(Z, GRADES).decision_function(Z)
    np.testing.assert_array_equal(ranker.fit(Z, np.array(stars)[GRADES]).decision_function(Z), expected)
    assert ranker.classes_.tolist() == stars
    assert set(ranker.predict(Z)) <= set(stars)


@pytest.mark.filterwarnings("ignore:.*, numbers with fractions, as two classes:UserWarning")
@pytest.mark.parametrize(
    ("ranker", "labels"),
    each_and_some(TWO_CLASSES, [[0.0, 2.5], [0.0, 1e308], [-0.25, 0.25]], n_random=2),
    ids=lambda value: name(value) if value in TWO_CLASSES else str(value),
)
def test_two_classes_may_be_any_two_numbers(ranker, labels):
    y = (GRADES == 2).astype(int)
    expected = ranker.fit(Z, y).decision_function(Z)
    np.testing.assert_array_equal(ranker.fit(Z, np.array(labels)[y]).decision_function(Z), expected)
    assert set(ranker.predict(Z)) == set(labels)


@pytest.mark.parametrize("ranker", TWO_CLASSES, ids=name)
def test_targets_of_regressions_are_refused(ranker):
    with pytest.raises(
        ValueError, match=r"Unknown label type: continuous.*90 different numbers with fractions in 90"
    ):
        ranker.fit(sp.csr_matrix(Z), Z[:, 0])
