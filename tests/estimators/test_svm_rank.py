"""RankSVM against cone solvers, and its certificate."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from combinations import by_day
from pushrank import RankSVM
from quadratic_programs import pairwise_svm
from samples import scaled_cancer, small_problem

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@quiet
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("seed", by_day(range(30), 6))
def test_the_optimum_is_that_of_all_pairs(seed, loss):
    X, y, C = small_problem(seed, 0.5)
    differences = (X[y == 1][:, None] - X[y == 0][None]).reshape(-1, X.shape[1])
    value, w = pairwise_svm(differences, np.full(len(differences), C / len(differences)), loss)
    ranker = RankSVM(C, loss=loss, tol=1e-8, max_iter=3000).fit(X, y)
    assert ranker.primal_objective_ == pytest.approx(value, rel=1e-6, abs=1e-8)
    assert ranker.dual_objective_ <= value * (1 + 1e-6) + 1e-8
    np.testing.assert_allclose(ranker.coef_, w, atol=1e-3 * (1 + np.abs(w).max()))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [1e-2, 10.0, 1e3])
def test_the_gap_is_true(loss, C):
    X, y = scaled_cancer()
    ranker = RankSVM(C, loss=loss).fit(X, y)
    assert ranker.converged_
    margins = np.subtract.outer(X[y == 1] @ ranker.coef_, X[y == 0] @ ranker.coef_)
    short = np.maximum(1 - margins, 0)
    norm = 0.5 * ranker.coef_ @ ranker.coef_
    mean = (short if loss == "hinge" else short**2).mean()
    assert ranker.primal_objective_ == pytest.approx(norm + C * mean, rel=1e-9)
    if loss == "squared_hinge":
        a = 2 * C * short / short.size
        combined = a.sum(axis=1) @ X[y == 1] - a.sum(axis=0) @ X[y == 0]
        dual = a.sum() - (a**2).sum() * short.size / (4 * C) - 0.5 * combined @ combined
        assert ranker.dual_objective_ == pytest.approx(dual, rel=1e-9)
    exact = RankSVM(C, loss=loss, tol=1e-7, max_iter=3000).fit(X, y)
    assert ranker.dual_objective_ <= exact.primal_objective_ * (1 + 1e-9)
    assert ranker.dual_gap_ <= 1e-4


@quiet
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [1e-6, 1e10])
def test_extremes_give_an_answer_or_a_message(loss, C):
    rng = np.random.default_rng(0)
    for unit in (1e-4, 1e4):
        X = unit * rng.normal(size=(60, 3))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ranker = RankSVM(C, loss=loss, max_iter=300).fit(X, (X[:, 0] > 0).astype(int))
        assert np.isfinite(ranker.coef_).all()
        assert ranker.converged_ or caught
        assert all(issubclass(warning.category, ConvergenceWarning) for warning in caught)
    for X in (np.zeros((6, 2)), np.ones((6, 2))):
        ranker = RankSVM(C, loss=loss).fit(X, [0, 1] * 3)
        assert ranker.coef_.tolist() == [0.0, 0.0]


@quiet
def test_where_all_losses_are_zero_nothing_is_divided_by_zero():
    X = np.array([[0.0], [1.0], [1e4], [1e4 + 1.0]])
    # the second starts where the first has ranked all pairs with the margin
    for ranker in RankSVM(max_iter=5).path(X, [0, 0, 1, 1], [1e8, 1e9]):
        assert np.isfinite(ranker.coef_).all()
        assert ranker.dual_gap_ <= 1.0  # zero is always a bound


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_unit_of_the_weights_changes_nothing(loss, kernel):
    X, y = scaled_cancer()
    expected = RankSVM(10.0, kernel=kernel, loss=loss).fit(X, y).primal_objective_
    for unit in (1e-200, 1e200):
        found = RankSVM(10.0, kernel=kernel, loss=loss).fit(X, y, sample_weight=np.full(len(y), unit))
        assert found.primal_objective_ == pytest.approx(expected, rel=1e-4)


def test_parameters():
    for parameters, message in (({"C": -1.0}, "C must be"), ({"loss": "log"}, "loss must be one of")):
        with pytest.raises(ValueError, match=message):
            RankSVM(**parameters).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(("C", "offset", "kind"), [(1e6, 0.0, np.asarray), (1e3, 1e6, sp.csr_array)])
def test_a_column_in_small_units_is_certified(C, offset, kind):
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(3000, 8)) * 64) / 64
    y = (X @ rng.normal(size=8) + 0.5 * rng.normal(size=3000) > 2.5).astype(int)
    X[:, 2] *= 1e6
    X[:, 1] += offset
    ranker = RankSVM(C).fit(kind(X), y)
    assert ranker.converged_
    assert ranker.dual_objective_ == pytest.approx(ranker.primal_objective_, rel=1e-4)
