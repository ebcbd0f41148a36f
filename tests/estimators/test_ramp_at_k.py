"""The ramp at k: its descent against brute force, its starts, path and warnings, and query groups."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from combinations import by_day
from pushrank import RampAtK, StructSVM
from pushrank.datasets import make_hidden_positives
from pushrank.models import LinearModel
from pushrank.objectives import PrecisionAtK
from pushrank.pairs import GradedSample
from pushrank.solvers import tolerances
from pushrank.solvers.ramp import QueryRamp, Ray
from query_lists import both_classes, lists
from samples import by_first_column, first_positive, scaled_cancer


def objective(X, y, coef, k, C):
    surrogate = PrecisionAtK(k, "ramp")
    return 0.5 * coef @ coef + C / surrogate.count(y.sum()) * surrogate.value(y, X @ coef)


def test_a_trial_of_each_start_decides():
    X, y = make_hidden_positives(1500, random_state=0, return_X_y=True)
    best = RampAtK(random_state=0).fit(X, y)
    assert best.init_ == "trimmed"
    starts, ends = [], []
    for init in ("trimmed", "perceptron", "logistic"):
        alone = RampAtK(init=init, random_state=0).fit(X, y)
        starts.append(alone.objective_path_[0])
        ends.append(alone.objective_path_[-1])
        assert alone.init_ == init
        assert alone.objective_path_[-1] == pytest.approx(objective(X, y, alone.coef_, 0.25, 10.0))
        assert (np.diff(alone.objective_path_) < 0.0).all()
    assert best.objective_path_[0] == pytest.approx(starts[0])
    assert best.objective_path_[-1] <= 1.01 * min(ends)
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 convex problems"):
        assert RampAtK(max_iter=1, tol=1e-6, random_state=0).fit(X, y).n_iter_ == 1


def test_random_starts_never_raise_the_end():
    X, y = first_positive(1, 200, 4, 4)
    alone = RampAtK(random_state=0).fit(X, y)
    more = RampAtK(n_random_starts=5, random_state=0).fit(X, y)
    assert more.objective_path_[-1] <= alone.objective_path_[-1]
    blind = RampAtK(init="random", n_random_starts=5, random_state=0).fit(X, y)
    assert blind.init_ == "random"
    assert blind.objective_path_[-1] >= more.objective_path_[-1] * (1.0 - 1e-9)
    with pytest.raises(ValueError, match="init='random' needs starts: set n_random_starts"):
        RampAtK(init="random").fit(X, y)
    with pytest.raises(ValueError, match="n_random_starts must be"):
        RampAtK(n_random_starts=-1).fit(X, y)


def test_a_path_has_a_ranker_for_each_k_and_penalty_in_the_order_given():
    X, y = first_positive(2, 200, 4, 4)
    start = RampAtK(random_state=0)
    path = start.path(X, y, [0.2, 0.8], [10.0, 1.0])
    assert [(one.k, one.C) for one in path] == [(0.2, 10.0), (0.2, 1.0), (0.8, 10.0), (0.8, 1.0)]
    assert not hasattr(start, "coef_")
    for one in path:
        assert one.objective_path_[-1] == pytest.approx(objective(X, y, one.coef_, one.k, one.C))
        alone = RampAtK(one.k, C=one.C, random_state=0).fit(X, y)
        assert one.objective_path_[-1] <= 1.05 * alone.objective_path_[-1]
    assert path[0].init_ == "path"
    for ks, Cs in (([], [1.0]), ([0.5], [])):
        with pytest.raises(ValueError, match="ks and Cs must hold at least one number each"):
            start.path(X, y, ks, Cs)
    with pytest.raises(ValueError, match="C must be > 0"):
        start.path(X, y, [0.5], [1.0, -1.0])


def test_columns_of_rounding_do_not_stop_it():
    """In the space of copied rows some columns of the planes' normals hold nothing but rounding."""
    rng = np.random.RandomState(42)
    X, y = rng.rand(15, 30), rng.randint(0, 3, size=15) > 0
    copies = rng.randint(0, 5, size=15)
    ranker = RampAtK(init="trimmed", tol=1e-9, random_state=0)
    assert ranker.fit(sp.csr_array(np.repeat(X, copies, axis=0)), np.repeat(y, copies)).converged_


def test_the_ramp_descends_and_is_a_local_optimum_of_its_pieces():
    X, y = scaled_cancer()
    ranker = RampAtK(k=1.0, C=10.0, tol=1e-6, random_state=0).fit(X, y)
    assert (np.diff(ranker.objective_path_) < 0).all()
    scores = X @ ranker.coef_
    k = PrecisionAtK(1.0, "ramp").count((y == 1).sum())
    objective = 0.5 * ranker.coef_ @ ranker.coef_ + 10.0 / k * PrecisionAtK(1.0, "ramp").value(y, scores)
    assert objective == pytest.approx(ranker.objective_path_[-1], rel=1e-9)
    # at k = all positives the ramp's second part is linear: the problem is convex, and its optimum known
    convex = StructSVM(10.0, measure="prbep", tol=1e-8).fit(X, y)
    assert objective <= convex.primal_objective_ * (1 + 1e-5)
    for init in ("perceptron", "logistic"):
        end = RampAtK(k=1.0, C=10.0, tol=1e-6, init=init, random_state=0).fit(X, y)
        assert end.objective_path_[-1] >= objective * (1 - 1e-9)
        assert end.init_ == init


def test_the_ramp_warns_when_the_norm_hardly_counts(monkeypatch):
    """Planes are bounded, so that features of any size end in a warning, and soon."""
    monkeypatch.setattr(tolerances, "MAX_PLANES", 40)
    X, y = by_first_column(300, 5, 0.8)
    with pytest.warns(ConvergenceWarning, match="lower C, or scale the features"):
        ranker = RampAtK(init="logistic").fit(1e20 * X, y)
    assert not ranker.converged_
    with pytest.raises(ValueError, match="sample_weight adds up beyond the range of floats"):
        RampAtK(init="logistic").fit(X, y, np.full(300, 1e308))


def test_the_ramp_warns_when_zero_coefficients_are_best():
    X = np.concatenate([np.zeros(40), np.ones(100), -np.ones(100)])[:, None]
    y = np.repeat([1, 0], [40, 200])
    with pytest.warns(ConvergenceWarning, match="nothing better than zero coefficients"):
        assert not RampAtK(random_state=0).fit(X, y).coef_.any()


def test_the_starts_of_the_ramp_add_no_warnings():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 5)), np.zeros(3000, dtype=int)
    y[:5], X[:5, 0] = 1, X[:5, 0] + 6
    RampAtK(k=2, random_state=0).fit(X, y)


def k_of(k, total):
    """The k of a query: all of its positives where an int is more."""
    return min(k, total) if isinstance(k, int) else PrecisionAtK(k).count(total)


def mean_ramp(k, y, qid, weights, scores):
    """The mean over queries of the public surrogate over k."""
    values = []
    for rows in both_classes(y, qid, weights):
        one = k_of(k, weights[rows][y[rows] == 1].sum())
        values.append(PrecisionAtK(int(one), "ramp").value(y[rows], scores[rows], weights[rows]) / one)
    return np.mean(values)


@pytest.mark.parametrize("seed", by_day(range(5), 2))
@pytest.mark.parametrize("k", [1, 2, 0.5])
def test_the_mean_ramp_and_its_majorant_are_those_of_each_query(seed, k):
    X, y, qid = lists(seed, n_queries=7, size=10)
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, len(y)).astype(float)
    queries = GradedSample.from_grades(y.astype(float), qid, weights)
    ramp = QueryRamp(queries, np.array([k_of(k, total) for total in queries.upper_weights]))
    for scores in (X[:, 0], np.round(X[:, 1]), rng.normal(size=len(y))):
        assert ramp.value(scores) == pytest.approx(mean_ramp(k, y, qid, weights, scores), abs=1e-12)
        in_top = ramp.in_top(scores)
        value, slope, offset = ramp.majorant(in_top, scores)
        # At the scores of its positives the majorant is the ramp, and elsewhere it is no lower.
        assert value == pytest.approx(ramp.value(scores), abs=1e-12)
        assert offset == pytest.approx(value - slope @ scores, abs=1e-9)
        assert not slope[np.setdiff1d(np.arange(len(y)), np.concatenate(both_classes(y, qid, weights)))].any()
        for _ in range(10):
            other = scores + rng.normal(size=len(y))
            above = ramp.majorant(in_top, other)[0]
            assert above >= ramp.value(other) - 1e-12
            assert above >= offset + slope @ other - 1e-12
    model, coef = LinearModel(X, centred=False), rng.normal(size=3)
    value, multiple = Ray.along(ramp, model, coef).best(4.0)
    best = multiple * coef
    expected = 0.5 * best @ best + 4.0 * mean_ramp(k, y, qid, weights, X @ best)
    assert value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("seed", by_day(range(3), 2))
@pytest.mark.parametrize("k", [2, 0.5])
def test_a_descent_ends_at_the_objective_of_its_definition_and_never_rises(seed, k):
    X, y, qid = lists(seed, n_queries=9, size=12)
    ranker = RampAtK(k, C=5.0, tol=1e-4, random_state=0).fit(X, y, qid=qid)
    assert ranker.converged_
    assert np.diff(ranker.objective_path_).max(initial=0.0) <= 0.0
    coef = ranker.coef_
    expected = 0.5 * coef @ coef + 5.0 * mean_ramp(k, y, qid, np.ones(len(y)), X @ coef)
    assert ranker.objective_path_[-1] == pytest.approx(expected, rel=1e-6)
    assert expected < 5.0 * mean_ramp(k, y, qid, np.ones(len(y)), np.zeros(len(y)))


def test_one_query_is_one_list_and_copies_of_it_too():
    X, y, _ = lists(4, size=20)
    ranker = RampAtK(0.5, C=5.0, init="logistic", tol=1e-6, random_state=0)
    alone = ranker.fit(X, y).objective_path_[-1], ranker.coef_
    ranker.fit(X, y, qid=np.zeros(len(y)))
    assert ranker.objective_path_[-1] == pytest.approx(alone[0], rel=1e-4)
    np.testing.assert_allclose(ranker.coef_, alone[1], atol=0.02 * np.abs(alone[1]).max())
    # Each query has a level of its own, which compares nothing.
    ranker.fit(np.r_[X, X + 7.0], np.r_[y, y], qid=np.repeat(["a", "b"], len(y)))
    assert ranker.objective_path_[-1] == pytest.approx(alone[0], rel=1e-4)


def test_a_path_of_queries_has_a_ranker_for_each_pair_of_parameters():
    X, y, qid = lists(2, size=12)
    rankers = RampAtK(random_state=0).path(X, y, [2, 0.5], [1.0, 5.0], qid=qid)
    for ranker in rankers:
        coef = ranker.coef_
        expected = ranker.C * mean_ramp(ranker.k, y, qid, np.ones(len(y)), X @ coef) + 0.5 * coef @ coef
        assert ranker.objective_path_[-1] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_array])
def test_sparse_rows_lead_where_dense_ones_do(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6)) * (rng.random((150, 6)) < 0.7)
    y = X[:, 0] + X[:, 1] + rng.normal(size=150) > 0.8
    for rows, tol in ((X, 1e-2), (X > 0.3, 1e-2), (np.round(X, 1), 1e-6)):
        dense = RampAtK(random_state=0, tol=tol).fit(rows, y)
        sparse = RampAtK(random_state=0, tol=tol).fit(kind(rows), y)
        expected = dense.decision_function(rows)
        found = sparse.decision_function(kind(rows))
        np.testing.assert_allclose(found, expected, atol=1e-9 * np.ptp(expected))
