"""Coefficients of at least zero: the optimum by other solvers, its conditions, and data of every kind."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from combinations import by_day
from pushrank import IRPush, PNormPush, PushRanker, TrimmedPush
from samples import overlapping


def p_norm_push(X, y, p, alpha):
    """Return the function from coefficients to the objective by its definition, and its gradient."""

    def evaluate(coef):
        s, t = X[y == 1] @ coef, X[y == 0] @ coef
        value = logsumexp(-s) + logsumexp(p * t) / p + 0.5 * alpha * coef @ coef
        return value, X[y == 0].T @ softmax(p * t) - X[y == 1].T @ softmax(-s) + alpha * coef

    return evaluate


def mixed(seed, n=40):
    """Return rows with columns that rise or fall, a copy, a constant, and one without a slope at zero."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 4 == 0).astype(int)
    X = rng.normal(size=(n, 6)) + y[:, None] * rng.choice([-0.7, 0.0, 0.7, 4.0], 6)
    X *= 10.0 ** rng.integers(-1, 2, 6)
    X[:, 1], X[:, 2] = X[:, 0], 3.0
    # whatever the p, its class means are equal
    X[:, 3] -= np.where(y == 1, X[y == 1, 3].mean(), X[y == 0, 3].mean())
    return X, y


@pytest.mark.filterwarnings("ignore:.*no feature ranks better")
@pytest.mark.parametrize("seed", by_day(range(120), 8))
def test_the_optimum_is_that_of_another_solver(seed):
    rng = np.random.default_rng(1000 + seed)
    X, y = mixed(seed)
    p, alpha = float(rng.choice([1.0, 4.0, 64.0])), float(10.0 ** rng.uniform(-3, 0))
    ranker = PNormPush(p, alpha=alpha, positive=True, tol=1e-8).fit(X, y)
    evaluate = p_norm_push(X, y, p, alpha)
    options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000, "maxfun": 50000}
    start, bounds = ranker.coef_ + rng.random(6), [(0.0, None)] * 6
    best = minimize(evaluate, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    value, gradient = evaluate(ranker.coef_)
    assert ranker.converged_
    assert ranker.dual_gap_ <= 1e-8
    assert ranker.primal_objective_ == pytest.approx(value, rel=1e-12)
    assert ranker.dual_objective_ - 1e-9 <= best.fun
    assert value <= best.fun + 1e-9
    # the conditions of Karush, Kuhn and Tucker, in the units of the columns
    steep = gradient / np.maximum(X.std(axis=0), 1.0)
    assert (ranker.coef_ >= 0.0).all()
    # The slope along a constant column is the rounding of a sum over all rows, which alpha divides.
    assert alpha * ranker.coef_[2] <= X[0, 2] * len(X) * np.finfo(float).eps
    assert ranker.coef_[0] == pytest.approx(ranker.coef_[1], abs=1e-6)
    assert steep.min() >= -1e-7
    assert np.abs(steep[ranker.coef_ > 0.0]).max(initial=0.0) <= 1e-7


@pytest.mark.parametrize("max_iter", [1, 2, 100])
def test_the_bound_is_the_dual_at_the_weights_of_the_rows(max_iter):
    X, y = mixed(3)
    with pytest.warns(ConvergenceWarning) if max_iter < 3 else np.errstate():
        ranker = PNormPush(4.0, alpha=0.1, positive=True, max_iter=max_iter).fit(X, y)
    a, b = softmax(-X[y == 1] @ ranker.coef_), softmax(4.0 * X[y == 0] @ ranker.coef_)
    v = X[y == 1].T @ a - X[y == 0].T @ b
    entropies = -(a @ np.log(a)) - b @ np.log(b) / 4.0
    dual = entropies - (np.maximum(v, 0.0) ** 2).sum() / 0.2
    assert ranker.dual_objective_ == pytest.approx(dual, rel=1e-10)


RANKERS = [
    PNormPush(positive=True),
    PNormPush(64.0, side="pull", positive=True),
    PNormPush(1000.0, positive=True),
    PNormPush(side="both", positive=True),
    IRPush(positive=True),
    PushRanker("logistic", "power", positive=True),
]


def kinds_of_data():
    rng = np.random.default_rng(5)
    X, y = overlapping(300, 6, seed=5)
    X[:, 1], X[:, 2], X[:, 3] = X[:, 0], 2.0, -X[:, 3]
    one = (np.arange(300) == 7).astype(int)
    return {
        "a copy, a constant and a falling column": (X, y),
        "separable": (X + 10.0 * y[:, None], y),
        "one positive": (X, one),
        "single precision": (X.astype(np.float32), y),
        "noise": (rng.normal(size=(300, 6)), y),
    }


@pytest.mark.parametrize("kind", kinds_of_data())
@pytest.mark.parametrize("ranker", RANKERS, ids=repr)
def test_the_gap_closes_far_below_the_tolerance(ranker, kind):
    X, y = kinds_of_data()[kind]
    fitted = clone(ranker).fit(X, y)
    assert fitted.converged_
    assert fitted.dual_gap_ <= 1e-6
    assert fitted.coef_.dtype == X.dtype
    assert fitted.coef_.min() >= 0.0
    free = clone(ranker).set_params(positive=False).fit(X, y)
    assert fitted.primal_objective_ >= free.dual_objective_ - 1e-6 * abs(free.dual_objective_)
    if free.coef_.min() >= 0.0:
        np.testing.assert_allclose(fitted.coef_, free.coef_, atol=1e-4 * free.coef_.max())


@pytest.mark.parametrize("ranker", [*RANKERS[:1], *RANKERS[3:], TrimmedPush(positive=True)], ids=repr)
def test_all_zeros_are_an_answer(ranker):
    X, y = overlapping()
    with pytest.warns(UserWarning, match="no feature ranks better with a positive coefficient"):
        fitted = clone(ranker).fit(-X - 3.0 * y[:, None], y)
    assert not fitted.coef_.any()
    assert fitted.converged_
    assert set(fitted.decision_function(X)) == {0.0 - fitted.threshold_}


def test_kinks_are_smoothed_and_certified():
    X, y = kinds_of_data()["separable"]
    for price in ("identity", "maximum"):
        ranker = PushRanker("hinge", price, alpha=0.01, positive=True, tol=1e-6).fit(X, y)
        assert ranker.converged_
        assert ranker.coef_.min() >= 0.0
        assert ranker.coef_[3] >= 0.0
        free = PushRanker("hinge", price, alpha=0.01).fit(X, y)
        assert ranker.primal_objective_ >= free.dual_objective_


def test_grades_queries_pairs_weights_and_warm_starts():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 4))
    latent = X @ [1.0, 0.5, -1.0, 0.0] + rng.normal(size=200)
    grades, qid = np.digitize(latent, [-0.5, 0.8]), rng.integers(0, 8, 200)
    pairs = rng.integers(0, 200, (80, 2))
    pairs = pairs[latent[pairs[:, 0]] > latent[pairs[:, 1]]]
    copies = rng.integers(1, 4, 200)
    many = np.repeat(np.arange(200), copies)
    for ranker in (PNormPush(positive=True, tol=1e-7), IRPush(positive=True, tol=1e-7)):
        for data in ({"y": grades}, {"y": grades, "qid": qid}, {"pairs": pairs}):
            fitted = clone(ranker).fit(X, **data)
            assert fitted.dual_gap_ <= 1e-7
            assert fitted.coef_[0] > 0.0
            assert fitted.coef_[2] == 0.0
            # a start from coefficients of both signs ends where one from zeros does
            warm = clone(ranker).set_params(positive=False, warm_start=True).fit(X, **data)
            assert warm.coef_.min() < 0.0
            again = warm.set_params(positive=True).fit(X, **data)
            np.testing.assert_allclose(again.coef_, fitted.coef_, atol=1e-5)
        y = (grades == 2).astype(int)
        weighted = clone(ranker).set_params(side="pull") if isinstance(ranker, PNormPush) else ranker
        coef = clone(weighted).fit(X, y, copies).coef_
        np.testing.assert_allclose(coef, clone(weighted).fit(X[many], y[many]).coef_, atol=1e-5)


def test_wide_rows_are_not_rotated():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(50, 1100)), np.arange(50) % 2
    for columns in (200, 1100):
        ranker = PNormPush(alpha=1.0, positive=True).fit(X[:, :columns], y)
        assert ranker.dual_gap_ <= 1e-4
        assert ranker.coef_.min() == 0.0
        trimmed = TrimmedPush(1.0, p=4.0, alpha=1.0, positive=True).fit(X[:, :columns], y)
        np.testing.assert_allclose(trimmed.coef_, ranker.coef_, atol=1e-4 * ranker.coef_.max())


@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore:.*no feature ranks better"
)
def test_without_a_penalty_the_optimum_is_above_the_bound():
    """At every stage of fits in which some coefficients, none or all are at zero."""
    n_held, n_bounds = set(), 0
    for seed, ranker in product(
        range(12), (PNormPush(1.0), PNormPush(4.0), PNormPush(4.0, side="both"), IRPush())
    ):
        X, y = overlapping(80, 4, seed=seed)
        X[:, : seed % 5] *= -1.0
        ranker = clone(ranker).set_params(alpha=0.0, positive=True, tol=1e-8)
        best = clone(ranker).fit(X, y)
        assert best.dual_gap_ < 1e-12
        n_held.add(int((best.coef_ == 0.0).sum()))
        objective = ranker._pair_objective()

        def value_and_gradient(w, X=X, y=y, objective=objective):
            value, slopes = objective.evaluate(y, X @ w)
            return value, X.T @ slopes

        bounds = [(0.0, None)] * X.shape[1]
        peer = minimize(value_and_gradient, 0.1 + best.coef_, jac=True, bounds=bounds, method="L-BFGS-B")
        for max_iter in (1, 2, 3, 5):
            early = clone(ranker).set_params(max_iter=max_iter).fit(X, y)
            n_bounds += np.isfinite(early.dual_objective_)
            assert early.dual_objective_ <= min(peer.fun, best.primal_objective_) + 1e-12
    assert n_held >= {0, 1, 2, 3, 4}
    assert n_bounds > 100
    X, y = kinds_of_data()["a copy, a constant and a falling column"]
    ranker = PNormPush(alpha=0.0, positive=True).fit(X, y)
    near = PNormPush(alpha=1e-9, positive=True).fit(X, y)
    assert ranker.primal_objective_ == pytest.approx(near.primal_objective_, abs=1e-6)
    assert ranker.dual_gap_ < 1e-6
    with pytest.warns(ConvergenceWarning, match="separable and alpha=0"):
        PNormPush(alpha=0.0, positive=True).fit(*kinds_of_data()["separable"])


def test_trimmed_coefficients_are_the_optimum_for_the_kept():
    X, y = overlapping(300, 5, seed=1)
    X[:, 1], X[:, 2] = -X[:, 1] - 3.0 * y, X[:, 0]
    small, large = TrimmedPush(positive=True, alpha=0.1, tol=1e-7).path(X, y, [0.3, 0.7])
    for ranker in (small, large):
        assert ranker.converged_
        assert np.diff(ranker.objective_path_).max(initial=0.0) <= 1e-9
        assert ranker.coef_.min() == ranker.coef_[1] == 0.0
        kept = np.setdiff1d(np.arange(300), ranker.trimmed_)
        push = PNormPush(16.0, alpha=0.1, positive=True, tol=1e-7).fit(X[kept], y[kept])
        np.testing.assert_allclose(ranker.coef_, push.coef_, atol=1e-6)


@pytest.mark.parametrize("solver", ["newton-cg", "coordinate"])
def test_other_solvers_are_refused(solver):
    with pytest.raises(ValueError, match="positive=True is for solver='lbfgs'"):
        PNormPush(positive=True, solver=solver).fit(*overlapping())
