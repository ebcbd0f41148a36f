"""TopPushK and PatMat: their optima are those of conic programs, and their certificates are true."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import quadratic_programs
from combinations import by_day
from pushrank import InfinitePush, PatMat, TopPushK
from pushrank.objectives import ThresholdObjective
from samples import scaled_cancer

KINDS = [
    (kind, {"of": of, "loss": loss})
    for kind in (TopPushK, PatMat)
    for of in ("negatives", "all")
    for loss in ("hinge", "squared_hinge")
]


def data(seed, n=None):
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(8, 30))
    y = rng.permutation(np.arange(n) < max(2, n // 3)).astype(int)
    X = rng.normal(size=(n, int(rng.integers(1, 5)))) + rng.uniform(0.0, 2.0) * y[:, None]
    return rng, X, y


def objective_of(ranker):
    share, beta = (ranker.tau, ranker.beta) if isinstance(ranker, PatMat) else (ranker.k, None)
    return ThresholdObjective(share, ranker.of, beta, ranker.loss)


def primal(ranker, X, y, w):
    return 0.5 * ranker.coef_ @ ranker.coef_ + ranker.C * objective_of(ranker).value(y, X @ ranker.coef_, w)


@pytest.mark.filterwarnings("ignore:.* collapsed")
@pytest.mark.parametrize("seeds", by_day([range(6), range(6, 25)], 1), ids=str)
@pytest.mark.parametrize(("kind", "parameters"), KINDS)
def test_the_optimum_is_that_of_a_conic_program_and_the_bound_below_it(kind, parameters, seeds):
    for seed in seeds:
        rng, X, y = data(seed)
        w = rng.integers(1, 4, len(y)).astype(float)
        share = float(rng.uniform(0.05, 0.95))
        more = {"tau": share, "beta": float(rng.choice([0.1, 1.0, 5.0]))} if kind is PatMat else {"k": share}
        ranker = kind(C=float(rng.choice([0.3, 3.0, 30.0])), tol=1e-6, **parameters, **more).fit(X, y, w)
        rows = w if ranker.of == "all" else w[y == 0]
        optimum, _ = quadratic_programs.above_threshold(
            X, y, w, ranker.C, share * rows.sum(), ranker.of, more.get("beta"), ranker.loss
        )
        assert ranker.converged_
        assert primal(ranker, X, y, w) == pytest.approx(ranker.primal_objective_, rel=1e-9)
        assert ranker.primal_objective_ == pytest.approx(optimum, rel=2e-6)
        assert ranker.dual_objective_ <= optimum * (1.0 + 1e-8)
        excess = ranker.primal_objective_ - optimum - 1e-8 * optimum
        assert ranker.dual_gap_ * ranker.primal_objective_ >= excess


@pytest.mark.filterwarnings("ignore:.* collapsed")
@pytest.mark.filterwarnings("ignore:.* did not converge")
@pytest.mark.parametrize(("kind", "parameters"), KINDS)
def test_the_gap_of_a_fit_that_ends_early_is_no_less_than_what_is_left(kind, parameters):
    _, X, y = data(1, 60)
    best = kind(C=10.0, tol=1e-8, **parameters).fit(X, y).primal_objective_
    for max_iter in (1, 3, 10):
        ranker = kind(C=10.0, max_iter=max_iter, **parameters).fit(X, y)
        assert ranker.dual_objective_ <= best * (1.0 + 1e-9) <= ranker.primal_objective_ * (1.0 + 2e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_one_negative_is_the_infinite_push(loss):
    X, y = scaled_cancer()
    expected = InfinitePush(100.0, loss=loss, tol=1e-8).fit(X, y)
    found = TopPushK(C=100.0, k=1, loss=loss, tol=1e-6).fit(X, y)
    assert found.primal_objective_ == pytest.approx(expected.primal_objective_, rel=1e-6)


@pytest.mark.parametrize(("kind", "parameters"), KINDS)
def test_rows_far_from_the_threshold_change_nothing(kind, parameters, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5))
    y = (X @ [1.0, 1.0, 0.5, 0.0, 0.0] + 0.7 * rng.normal(size=3000) > 2.5).astype(int)
    share = {"tau": 0.05, "beta": 3.0} if kind is PatMat else {"k": 0.1}
    ranker = kind(C=10.0, tol=1e-6, **parameters, **share)
    whole = ranker.fit(X, y).primal_objective_
    monkeypatch.setattr("pushrank.solvers.tolerances.MANY_ROWS", 1000)
    monkeypatch.setattr("pushrank.solvers.tolerances.SPREAD_ROWS", 300)
    for rows, w in ((X, None), (sp.csr_array(X), None), (X, rng.integers(0, 3, len(y)).astype(float))):
        ranker.fit(rows, y, w)
        assert ranker.converged_
        if w is None:
            assert ranker.primal_objective_ == pytest.approx(whole, rel=2e-6)
        assert ranker.primal_objective_ == pytest.approx(primal(ranker, X, y, w), rel=1e-9)
        assert ranker.coef_.any()


@pytest.mark.parametrize("kind", [TopPushK, PatMat])
def test_single_precision_and_a_path_end_at_the_same_objective(kind):
    X, y = scaled_cancer()
    double = kind(tol=1e-6).path(X, y, [1.0, 10.0])
    for ranker in double:
        single = kind(C=ranker.C, tol=1e-4).fit(X.astype(np.float32), y)
        assert single.coef_.dtype == np.float32
        assert single.primal_objective_ == pytest.approx(ranker.primal_objective_, rel=2e-4)


def test_top_mean_of_no_more_rows_than_positives_has_its_optimum_at_zero():
    _, X, y = data(5, 90)
    X[:, 0] += 5.0 * y
    with pytest.warns(ConvergenceWarning, match="zero coefficients are optimal.*Take a larger k"):
        TopPushK(C=100.0, k=30, of="all").fit(X, y)
    assert TopPushK(C=100.0, k=45, of="all").fit(X, y).coef_.any()


def test_pat_mat_learns_where_top_push_has_its_optimum_at_zero():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), np.arange(400) < 40
    X[y, 0] += 0.5
    with pytest.warns(ConvergenceWarning, match="zero coefficients are optimal"):
        TopPushK(C=100.0, k=10).fit(X, y)
    for beta in (0.01, 1.0, 100.0):
        assert PatMat(C=100.0, beta=beta).fit(X, y).coef_[0] > 0.0
    with pytest.warns(ConvergenceWarning, match="the means of the classes hardly differ"):
        PatMat().fit(np.r_[X, X], np.repeat([False, True], 400))


def test_bad_parameters_are_errors():
    _, X, y = data(0)
    for ranker, message in (
        (PatMat(tau=0.0), "tau must be"),
        (PatMat(beta=-1.0), "beta must be"),
        (PatMat(of="positives"), "of must be one of"),
        (TopPushK(k=2.0), "k must be an int"),
        (TopPushK(k=1000), "k=1000 is above the number of rows"),
        (TopPushK(loss="logistic"), "loss must be one of"),
        (TopPushK(C=0.0), "C must be"),
    ):
        with pytest.raises(ValueError, match=message):
            ranker.fit(X, y)
    with pytest.raises(TypeError, match="tau must be a number"):
        PatMat(tau="1 %").fit(X, y)


def test_queries_have_the_mean_of_their_objectives():
    rng, X, y = data(3, 80)
    qid = np.arange(80) % 4
    ranker = PatMat(C=10.0, tau=0.2, tol=1e-6).fit(X, y, qid=qid)
    each = [objective_of(ranker).value(y[qid == q], (X @ ranker.coef_)[qid == q]) for q in range(4)]
    risk = np.mean(each)
    assert ranker.primal_objective_ == pytest.approx(0.5 * ranker.coef_ @ ranker.coef_ + 10.0 * risk)
    for move in rng.normal(scale=0.1, size=(50, X.shape[1])):
        coef = ranker.coef_ + move
        moved = [objective_of(ranker).value(y[qid == q], (X @ coef)[qid == q]) for q in range(4)]
        assert 0.5 * coef @ coef + 10.0 * np.mean(moved) >= ranker.dual_objective_
