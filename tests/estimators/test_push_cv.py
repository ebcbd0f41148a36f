"""Choosing the push along a path: the same choice as a grid search, in fewer iterations."""

from functools import partial

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from combinations import each_and_some
from pushrank import PNormPush, PNormPushCV, metrics
from samples import noisy_cancer

PS, ALPHAS = (1.0, 4.0, 16.0), (1e-3, 1e-2, 1e-1)


@pytest.fixture(scope="module")
def data():
    return noisy_cancer()


@pytest.mark.parametrize(
    ("scoring", "make"),
    each_and_some(
        ["positives_at_top", "average_precision", "precision_at_quarter"],
        [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)],
        n_random=1,
    ),
)
def test_the_same_scores_and_choice_as_a_grid_search(data, scoring, make):
    X, y = data
    found = PNormPushCV(PS, alphas=ALPHAS, scoring=scoring).fit(make(X), y)
    grid = GridSearchCV(
        PNormPush(), {"alpha": ALPHAS, "p": PS}, scoring=getattr(metrics.scorers, scoring), cv=5
    ).fit(make(X), y)
    assert found.cv_results_["params"] == grid.cv_results_["params"]
    for key in ("mean_test_score", "std_test_score", "rank_test_score", "split3_test_score"):
        np.testing.assert_allclose(found.cv_results_[key], grid.cv_results_[key], rtol=1e-9)
    assert found.best_params_ == grid.best_params_
    assert found.best_score_ == pytest.approx(grid.best_score_)
    np.testing.assert_allclose(found.coef_, grid.best_estimator_.coef_, rtol=1e-3, atol=1e-4)
    assert (found.p_, found.alpha_) == (found.best_params_["p"], found.best_params_["alpha"])
    assert (found.predict(make(X)) == grid.predict(make(X))).mean() > 0.995


def test_fewer_iterations_than_from_zero(data):
    X, y = data
    found = PNormPushCV(PS, alphas=ALPHAS).fit(X, y)
    cold = [PNormPush(p, alpha=alpha).fit(X, y).n_iter_ for alpha in ALPHAS for p in PS]
    assert found.cv_results_["mean_n_iter"].mean() < 0.5 * np.mean(cold)


def test_the_largest_penalty_within_one_standard_error_is_taken(data):
    X, y = data
    best = PNormPushCV(PS, alphas=ALPHAS, scoring="average_precision").fit(X, y)
    simple = PNormPushCV(PS, alphas=ALPHAS, scoring="average_precision", selection="one_standard_error").fit(
        X, y
    )
    assert (-simple.alpha_, simple.p_) <= (-best.alpha_, best.p_)
    splits = np.array([best.cv_results_[f"split{f}_test_score"] for f in range(5)]).T
    below = splits[best.best_index_] - splits
    errors = below.std(axis=1, ddof=1) / np.sqrt(5)
    eligible = np.flatnonzero(below.mean(axis=1) <= errors + 1e-15)
    params = [best.cv_results_["params"][member] for member in eligible]
    assert simple.best_params_ == min(params, key=lambda chosen: (-chosen["alpha"], chosen["p"]))


def test_integer_weights_are_copies(data):
    X, y = data
    w = np.random.default_rng(1).integers(1, 4, len(y))
    copies = np.repeat(np.arange(len(y)), w)
    halves = np.arange(len(y)) % 2
    folds = [(np.flatnonzero(halves == h), np.flatnonzero(halves != h)) for h in (0, 1)]
    of_copies = [tuple(np.flatnonzero(np.isin(copies, rows)) for rows in fold) for fold in folds]
    for scoring in ("average_precision", "positives_at_top", "discounted_cumulative_gain"):
        weighted = PNormPushCV(PS, alphas=ALPHAS, scoring=scoring, cv=folds).fit(X, y, w)
        copied = PNormPushCV(PS, alphas=ALPHAS, scoring=scoring, cv=of_copies).fit(X[copies], y[copies])
        np.testing.assert_allclose(
            weighted.cv_results_["mean_test_score"], copied.cv_results_["mean_test_score"], rtol=1e-6
        )
        np.testing.assert_allclose(weighted.coef_, copied.coef_, rtol=1e-3, atol=1e-5)


def test_separable_data_without_penalty_are_reported():
    X = np.r_[np.ones(20), -np.ones(20)][:, None] + 0.01 * np.arange(40)[:, None]
    y = np.r_[np.ones(20), np.zeros(20)]
    with pytest.warns(ConvergenceWarning, match="solutions did not converge"):
        ranker = PNormPushCV((1.0, 4.0), alphas=(0.0,), cv=2).fit(X, y)
    assert ranker.score(X, y) == 1.0


@pytest.mark.parametrize(
    ("ranker", "error", "message"),
    [
        (PNormPushCV(ps=()), ValueError, "ps must be a list"),
        (PNormPushCV(ps=4.0), ValueError, "ps must be a list"),
        (PNormPushCV(ps=(0.5,)), ValueError, "ps must be finite and >= 1"),
        (PNormPushCV(alphas=()), ValueError, "alphas must be a list"),
        (PNormPushCV(alphas=(-1.0,)), ValueError, "alphas must be finite and >= 0"),
        (PNormPushCV(selection="median"), ValueError, "selection must be one of"),
        (PNormPushCV(scoring="top"), ValueError, "scoring"),
        (PNormPushCV(tol=0.0), ValueError, "tol must be"),
        (PNormPushCV(scoring=["roc_auc", "average_precision"]), TypeError, "one scorer.* got the list"),
        (PNormPushCV(scoring={"a": "roc_auc"}), TypeError, "one scorer.* got the dict"),
        (PNormPushCV(scoring=metrics.average_precision), TypeError, "pass scoring='average_precision', or"),
        (
            PNormPushCV(scoring=partial(metrics.precision_at_k, k=9)),
            TypeError,
            r"precision_at_k is a measure",
        ),
        (PNormPushCV(scoring=lambda *, y: y), TypeError, r"<lambda> is a measure.*make_scorer\("),
        (
            PNormPushCV(cv=[(np.arange(5), np.arange(569))]),
            ValueError,
            "training part 1 of 1 has rows of one",
        ),
        (PNormPushCV(cv=[]), ValueError, "no split of the rows"),
        (PNormPushCV(ps=(1.0,), alphas=(0.1,), scoring=lambda *_: np.nan), ValueError, "scoring gave nan"),
        (
            PNormPushCV(ps=(1.0,), alphas=(0.1,), scoring="neg_log_loss"),
            ValueError,
            "what rankers do not have",
        ),
    ],
)
def test_bad_parameters(data, ranker, error, message):
    X, y = data
    with pytest.raises(error, match=message):
        ranker.fit(X, y)


def test_weights_that_a_scorer_does_not_take_are_named(data):
    X, y = data
    with pytest.raises(TypeError, match="sample_weight"):
        PNormPushCV(scoring=make_scorer(lambda *_: 1.0)).fit(X, y, np.ones(len(y)))
    with pytest.raises(ValueError, match="sample_weight must be whole numbers"):
        PNormPushCV(scoring="discounted_cumulative_gain").fit(X, y, np.full(len(y), 0.5))


def test_groups_are_kept_whole_by_their_splitter(data):
    ranker, (X, y) = PNormPushCV((1.0, 4.0)), data
    groups = np.random.default_rng(3).integers(0, 40, len(y))
    splitter = StratifiedGroupKFold(3)
    told = clone(ranker).set_params(cv=list(splitter.split(X, y, groups)), scoring="average_precision")
    expected = told.fit(X, y).cv_results_["mean_test_score"]
    ranker = clone(ranker).set_params(cv=splitter, scoring="average_precision")
    found = [clone(ranker).fit(X, y, groups=groups)]
    with sklearn.config_context(enable_metadata_routing=True):
        found.append(clone(ranker).fit(X, y, groups=groups))
        found.append(make_pipeline(FunctionTransformer(), clone(ranker)).fit(X, y, groups=groups)[-1])
        weighted = ranker.set_fit_request(sample_weight=True)
        pipeline = make_pipeline(FunctionTransformer(), weighted)
        found.append(pipeline.fit(X, y, groups=groups, sample_weight=np.ones(len(y)))[-1])
        with pytest.raises(TypeError, match="groups"):
            clone(ranker).set_params(cv=3).fit(X, y, groups=groups)
    for fitted in found:
        np.testing.assert_array_equal(fitted.cv_results_["mean_test_score"], expected)
    with pytest.raises(ValueError, match="groups"):
        ranker.fit(X, y)
    with pytest.raises(ValueError, match="groups must hold one entry a row"):
        ranker.fit(X, y, groups=groups[1:])


def test_the_number_of_jobs_changes_nothing(data, capsys):
    ranker, (X, y) = PNormPushCV(PS, alphas=ALPHAS, cv=3), data
    alone = clone(ranker).fit(X, y)
    threaded = clone(ranker).set_params(n_jobs=3, verbose=True).fit(X, y)
    assert "27/27" in capsys.readouterr().err
    for key, column in alone.cv_results_.items():
        np.testing.assert_array_equal(threaded.cv_results_[key], column)
    np.testing.assert_array_equal(threaded.coef_, alone.coef_)
    assert threaded.n_iter_ == alone.n_iter_
    with joblib.parallel_config("loky", n_jobs=2):  # processes share no memory: threads in their place
        np.testing.assert_array_equal(clone(ranker).fit(X, y).coef_, alone.coef_)
