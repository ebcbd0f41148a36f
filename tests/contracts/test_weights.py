"""A row of weight zero counts as no row: fits with such rows are those without them."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

import pushrank
from pushrank.model_selection import compare_rankers, fit_held_out

RNG = np.random.default_rng(0)
N, N_ZERO = 150, 30
AT = np.sort(RNG.choice(N + N_ZERO, N_ZERO, replace=False))
REST = np.setdiff1d(np.arange(N + N_ZERO), AT)
X = np.round(RNG.normal(size=(N + N_ZERO, 4)), 1)
Y = (X[:, 0] + RNG.normal(size=N + N_ZERO) > 0.8).astype(int)
X[AT] *= 1e3
WEIGHTS = RNG.integers(1, 4, N + N_ZERO).astype(float)
WEIGHTS[AT] = 0.0
BESIDE = {"qid": RNG.integers(0, 6, N + N_ZERO), "time": RNG.permutation(N + N_ZERO).astype(float)}

SCALED = make_pipeline(StandardScaler(), LogisticRegression())
MEMBERS = [("push", pushrank.PNormPush()), ("scaled", SCALED)]
STOPPED = {"early_stopping": True, "n_estimators": 20, "validation_fraction": 0.3}
RANKERS = [
    pushrank.PNormPush(), pushrank.PNormPush(solver="coordinate"), pushrank.IRPush(),
    pushrank.PushRanker("hinge"), pushrank.TrimmedPush(k=0.5),
    pushrank.RankSVM(), pushrank.RankSVM(kernel="rbf"), pushrank.InfinitePush(),
    pushrank.InfinitePush(kernel="rbf"), pushrank.StructSVM(), pushrank.SVMMAP(), pushrank.RampAtK(),
    pushrank.PushBoost(n_estimators=9), pushrank.PushBoost(**STOPPED),
    pushrank.PushBoost(n_estimators=9, subsample=0.6),
    pushrank.PushBoost(n_estimators=9, weak_rankers="columns"),
    pushrank.PushBoost(n_estimators=9, weak_rankers="regressors"),
    pushrank.RankBoost(n_estimators=9, max_features=0.5), pushrank.AdaBoostRanker(n_estimators=9),
    pushrank.SmoothMarginRanking(n_estimators=9, not_separable="warn"), pushrank.SGDAtK(),
    pushrank.PerceptronAtK(), pushrank.PNormPushCV(cv=3), pushrank.PushBoostCV(n_estimators=[2, 5], cv=3),
    pushrank.TopRankerCV(cv=3), pushrank.StackingRanker(MEMBERS, cv=3),
    pushrank.StackingRanker(MEMBERS, cv=3, refit=True, calibration="isotonic"),
]  # fmt: skip


def takes(ranker, beside):
    # Few rows validated on may have no pair within a query.
    stops = getattr(ranker, "early_stopping", False) or isinstance(ranker, pushrank.AdaBoostRanker)
    return not beside or (has_fit_parameter(ranker, beside) and not (beside == "qid" and stops))


CASES = [(ranker, beside) for ranker in RANKERS for beside in ("", "qid", "time") if takes(ranker, beside)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("ranker", "beside"), CASES, ids=lambda case: case or type(case).__name__)
def test_a_fit_with_rows_of_weight_zero_is_the_one_without_them(ranker, beside):
    ranker = clone(ranker)
    if "random_state" in ranker.get_params():
        ranker.set_params(random_state=0)
    extra = {beside: BESIDE[beside]} if beside else {}
    found = clone(ranker).fit(X, Y, WEIGHTS, **extra)
    expected = clone(ranker).fit(X[REST], Y[REST], WEIGHTS[REST], **{k: v[REST] for k, v in extra.items()})
    scores = expected.decision_function(X)
    rounding = 1e-9 * np.ptp(scores) if hasattr(ranker, "_sums_alone") else 0.0
    np.testing.assert_allclose(found.decision_function(X), scores, rtol=0.0, atol=rounding)
    if hasattr(found, "held_out_scores_"):
        np.testing.assert_array_equal(found.held_out_scores_[..., REST], expected.held_out_scores_)
        assert np.isnan(found.held_out_scores_[..., AT]).all()
    for name in ("support_", "trimmed_"):
        if getattr(found, name, None) is not None:
            np.testing.assert_array_equal(getattr(found, name), REST[getattr(expected, name)])


class Renamed(pushrank.PushBoost):
    """A ranker of a user, who calls rows and labels otherwise."""

    path = "rows.csv"

    def fit(self, table, target, sample_weight=None):
        return super().fit(table, target, sample_weight)


def test_rankers_of_users_and_their_errors_are_those_without_weights():
    found = Renamed(n_estimators=5).fit(X, Y, WEIGHTS)
    expected = pushrank.PushBoost(n_estimators=5).fit(X[REST], Y[REST], WEIGHTS[REST])
    np.testing.assert_array_equal(found.decision_function(X), expected.decision_function(X))
    assert found.path == "rows.csv"
    for wrong in (None, {}, 3, iter([1]), Y[:-1], Y[None], sp.csr_matrix(Y)):
        with pytest.raises((TypeError, ValueError)) as alone:
            pushrank.PushBoost().fit(X, wrong)
        with pytest.raises(alone.type, match=re.escape(str(alone.value)[:30])):
            pushrank.PushBoost().fit(X, wrong, WEIGHTS)


def test_folds_that_are_listed_have_the_numbers_of_all_rows():
    folds = [(REST[train], REST[test]) for train, test in StratifiedKFold(3).split(X[REST], Y[REST])]
    with_zeros = [
        (np.union1d(train, AT[:10]), np.union1d(test, AT[10:])) for train, test in folds[:1]
    ] + folds[1:]
    for ranker in (pushrank.PushBoostCV(n_estimators=[2, 5]), pushrank.StackingRanker(MEMBERS)):
        found = clone(ranker).set_params(cv=with_zeros).fit(X, Y, WEIGHTS).decision_function(X)
        expected = clone(ranker).set_params(cv=folds).fit(X, Y, WEIGHTS).decision_function(X)
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_folds_by_row_have_the_numbers_of_all_rows():
    of_rows = np.arange(N + N_ZERO) % 3
    found = pushrank.TopRankerCV(cv=PredefinedSplit(of_rows), random_state=0).fit(X, Y, WEIGHTS)
    splits = [*PredefinedSplit(of_rows).split()]
    expected = pushrank.TopRankerCV(cv=splits, random_state=0).fit(X, Y, WEIGHTS)
    np.testing.assert_array_equal(found.decision_function(X), expected.decision_function(X))


KINDS = [np.asarray, pd.DataFrame, sp.csr_matrix, sp.csc_array, sp.coo_array, sp.bsr_matrix, sp.dia_matrix]


@pytest.mark.filterwarnings("ignore:Constructing a DIA matrix")
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_any_kind_are_left_out(kind):
    for ranker in (pushrank.PushBoost(n_estimators=5, subsample=0.5, random_state=0), pushrank.RankSVM()):
        found = ranker.fit(kind(X), list(Y), list(WEIGHTS)).decision_function(kind(X))
        expected = ranker.fit(X[REST], Y[REST], WEIGHTS[REST]).decision_function(X)
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    for weights in (WEIGHTS[:-1], -WEIGHTS):
        with pytest.raises(ValueError, match=r"they must agree|must not be negative"):
            ranker.fit(kind(X), Y, weights)
    path = pushrank.TrimmedPush().path(X, Y, ks=[20], sample_weight=WEIGHTS)[0]
    assert not np.isin(path.trimmed_, AT).any()


@pytest.mark.filterwarnings("ignore")
def test_held_out_fits_of_pipelines_see_no_row_of_weight_zero():
    models = {"push": make_pipeline(StandardScaler(), pushrank.PNormPush()), "scaled": SCALED}
    parts = [(REST[train], REST[test]) for train, test in StratifiedKFold(3).split(X[REST], Y[REST])]
    zeros = [(np.union1d(train, AT), test) for train, test in parts]
    for fit in (compare_rankers, fit_held_out):
        found, expected = (fit(models, X, Y, cv=cv, sample_weight=WEIGHTS) for cv in (zeros, parts))
        found, expected = (of if fit is compare_rankers else of.compare() for of in (found, expected))
        for name in models:
            np.testing.assert_array_equal(found.scores[name], expected.scores[name])
