"""Wide data in the space of their rows: the solutions of the features, at the cost of the rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import pushrank
from pushrank.models import LinearModel, RowSpace, in_row_space, row_space

LAYOUTS = {"C": np.asarray, "F": np.asfortranarray, "csr": sp.csr_array, "csc": sp.csc_array}


def wide(seed=0, n=20, d=50, copies=0):
    """Return rows of many more columns, some rows repeated, and labels that they say something of."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    y = X @ rng.normal(size=d) + 4.0 * rng.normal(size=n) > 0.5
    y[:4] = False, True, False, True
    rows = np.arange(n)
    rows[n - copies :] = np.arange(copies)
    return X[rows] + 3.0, y


@given(
    seed=st.integers(0, 99),
    copies=st.integers(0, 8),
    layout=st.sampled_from(sorted(LAYOUTS)),
    single=st.booleans(),
)
def test_scores_and_norms_are_those_of_the_features(seed, copies, layout, single):
    X = wide(seed, copies=copies)[0].astype(np.float32 if single else np.float64)
    features = LinearModel(LAYOUTS[layout](X))
    model, rng = in_row_space(features), np.random.default_rng(seed)
    assert isinstance(model, RowSpace)
    assert model.n_features == 19 - copies
    v, w = rng.normal(size=model.n_features), rng.normal(size=50)
    for coef, lifted in ((v, model.lift(v)), (model.project(w), w)):
        np.testing.assert_allclose(np.diff(model.scores(coef)), np.diff(features.scores(lifted)), atol=1e-9)
    assert np.linalg.norm(model.lift(v)) == pytest.approx(np.linalg.norm(v))
    np.testing.assert_allclose(model.project(model.lift(v)), v, atol=1e-9)


@pytest.mark.parametrize(
    "X",
    [np.eye(3), np.ones((3, 9)), wide()[0] * np.where(np.arange(50) == 7, 1e5, 1.0)],
    ids=["not wide", "equal rows", "a column in small units"],
)
def test_data_that_stay_as_they_are(X):
    model = LinearModel(X)
    assert in_row_space(model) is model


GRADIENT, GAP = {"tol": 1e-6, "alpha": 0.03}, {"tol": 1e-11, "C": 0.3}
RANKERS = {
    "push": pushrank.PNormPush(8, **GRADIENT),
    "push, newton-cg": pushrank.PNormPush(2, solver="newton-cg", **GRADIENT),
    "pull": pushrank.PNormPush(8, side="pull", **GRADIENT),
    "both": pushrank.PNormPush(2, side="both", **GRADIENT),
    "IR Push": pushrank.IRPush(**GRADIENT),
    "squared hinge": pushrank.PushRanker("squared_hinge", **GRADIENT),
    "hinge": pushrank.PushRanker("hinge", alpha=0.3, tol=1e-6),
    "maximum": pushrank.PushRanker("hinge", "maximum", alpha=0.1, tol=1e-10),
    "Infinite Push": pushrank.InfinitePush(**GAP),
    "TopPush": pushrank.InfinitePush(loss="squared_hinge", **GAP),
    "RankSVM": pushrank.RankSVM(**GAP),
    "RankSVM, hinge": pushrank.RankSVM(loss="hinge", **GAP),
    "SVM-MAP": pushrank.SVMMAP(**GAP),
    "structural SVM": pushrank.StructSVM(k=1.0, **GAP),
    "ramp": pushrank.RampAtK(C=0.3, tol=1e-11, random_state=0),
    "CV": pushrank.PNormPushCV([4.0], alphas=[0.3, 0.1], cv=2, tol=1e-7),
}


def least(ranker):
    """Return the objective at the end."""
    path = getattr(ranker, "objective_path_", None)
    return ranker.primal_objective_ if path is None else path[-1]


@pytest.mark.parametrize("name", RANKERS)
@pytest.mark.parametrize(("layout", "weighted"), [("C", True), ("csr", False)])
def test_solutions_are_those_of_the_features(name, layout, weighted, monkeypatch):
    X, y = wide(copies=3)
    X = LAYOUTS[layout](X - 3.0)
    whole = {"SVM-MAP"}  # whose weights are copies
    weights = np.random.default_rng(1).integers(1, 4, 20) * (1.0 if name in whole else 0.7)
    fits = []
    for rows in (row_space.MAX_ROWS, 0):
        monkeypatch.setattr(row_space, "MAX_ROWS", rows)
        fits.append(RANKERS[name].fit(X, y, weights if weighted else None).__dict__.copy())
    one, other = (type("Fit", (), fit) for fit in fits)
    assert one.converged_
    rel, atol = (1e-6, 1e-2) if name == "hinge" else (1e-10, 2e-5)  # whose kinks are smoothed to a gap
    assert least(one) == pytest.approx(least(other), rel=rel, abs=1e-10)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=atol * np.abs(other.coef_).max())


def test_grades_queries_and_pairs_too(monkeypatch):
    X, _ = wide()
    grades, qid = np.arange(20) % 3, np.arange(20) // 10
    pairs = np.column_stack([np.arange(10), np.arange(10, 20)])
    for data in ({"y": grades}, {"y": grades, "qid": qid}, {"pairs": pairs}):
        for ranker in (pushrank.PNormPush(2, **GRADIENT), pushrank.RankSVM(**GAP)):
            monkeypatch.setattr(row_space, "MAX_ROWS", 4096)
            coef = ranker.fit(X, **data).coef_
            monkeypatch.setattr(row_space, "MAX_ROWS", 0)
            other = ranker.fit(X, **data).coef_
            np.testing.assert_allclose(coef, other, atol=2e-5 * np.abs(other).max())


@pytest.mark.parametrize("name", ["push", "push, newton-cg", "hinge", "RankSVM", "SVM-MAP", "ramp"])
def test_an_iteration_reads_the_rows_in_their_own_space(name, monkeypatch):
    X, y = wide(d=500)
    columns = []
    for reader in ("block_scores", "add_block_sums"):
        read = getattr(LinearModel, reader)

        def counted(self, *arguments, read=read, **options):
            columns.append(self.n_features)
            return read(self, *arguments, **options)

        monkeypatch.setattr(LinearModel, reader, counted)
    ranker = RANKERS[name].fit(X, y)
    assert columns.count(20) + columns.count(19) >= ranker.n_iter_
    # checks of the range, to the space and back, the objective and the scores at the end
    assert columns.count(500) <= 12
    assert max(columns) == 500


def test_a_search_goes_to_the_row_space_once_a_fold(monkeypatch):
    X, y = wide(n=40, d=60)
    calls, gram = [], LinearModel.gram
    monkeypatch.setattr(LinearModel, "gram", lambda self: calls.append(self.n_rows) or gram(self))
    pushrank.PNormPushCV([1.0, 4.0], alphas=[1.0, 0.1, 0.01], cv=4).fit(X, y)
    assert calls == [30, 30, 30, 30, 40]


def test_wide_data_converge_in_the_iterations_of_others():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 1500))
    y = X @ rng.normal(size=1500) > 10.0
    for solver in ("lbfgs", "newton-cg"):
        ranker = pushrank.PNormPush(16, alpha=0.1, solver=solver, max_iter=100).fit(X, y)
        assert ranker.converged_


def test_going_on_starts_where_the_last_fit_ended():
    X, y = wide()
    ranker = pushrank.PNormPush(4, alpha=0.1, warm_start=True).fit(X, y)
    before = ranker.coef_
    assert ranker.fit(X, y).n_iter_ <= 1
    np.testing.assert_allclose(ranker.coef_, before, atol=1e-6)


def test_without_a_penalty_the_least_norm_is_found():
    X, y = wide(copies=8)
    y[12:] = ~y[:8]  # the copies belong to the other class, so that nothing separates
    ranker = pushrank.PNormPush(2, alpha=0.0).fit(X, y)
    assert ranker.converged_
    rows = X - X.mean(axis=0)
    onto = np.linalg.pinv(rows, rcond=1e-10) @ rows
    np.testing.assert_allclose(onto @ ranker.coef_, ranker.coef_, atol=1e-6)


def test_rows_apart_without_a_penalty_are_told():
    X, y = wide()
    with pytest.warns(ConvergenceWarning, match="separable and alpha=0"):
        ranker = pushrank.PNormPush(alpha=0.0).fit(X, y)
    scores = ranker.decision_function(X)
    assert scores[y].min() > scores[~y].max()
