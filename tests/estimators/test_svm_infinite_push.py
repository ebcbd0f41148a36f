"""The Infinite Push against cone solvers, its certificate, and data that lie badly."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from combinations import by_day, each_and_some
from pushrank import InfinitePush, PushRanker, metrics
from pushrank.models import LinearModel
from pushrank.pairs import BipartiteSample
from pushrank.solvers.infinite_push.dual import InfinitePushDual, cost_per_positive
from pushrank.solvers.infinite_push.semismooth_newton import accelerated_gradient
from quadratic_programs import infinite_push, infinite_push_dual
from samples import scaled_cancer, small_problem

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@quiet
@pytest.mark.parametrize("solver", ["interior-point", "semismooth-newton"])
@pytest.mark.parametrize("seed", by_day(range(30), 6))
def test_the_optimum_is_that_of_the_pairwise_problems(seed, solver):
    X, y, C = small_problem(seed, 0.8, 20)
    for loss in ("hinge", "squared_hinge"):
        value, w = infinite_push(X, y, C, loss)
        options = {"loss": loss, "solver": solver, "tol": 1e-9, "max_iter": 200_000}
        ranker = InfinitePush(C, **options).fit(X, y)
        assert ranker.primal_objective_ == pytest.approx(value, rel=1e-6, abs=1e-8)
        assert ranker.dual_objective_ <= value * (1 + 1e-6) + 1e-8
        np.testing.assert_allclose(ranker.coef_, w, atol=2e-4 * (1 + np.abs(w).max()))
        if loss == "hinge":
            assert infinite_push_dual(X, y, C) == pytest.approx(value, rel=1e-6, abs=1e-7)
        if solver == "semismooth-newton":  # and its first iterations alone, as many as they like
            sample = BipartiteSample.from_labels(y)
            dual = InfinitePushDual(LinearModel(X), sample, cost_per_positive(sample, C), loss)
            certificate = accelerated_gradient(dual, 1e-9, 200_000)[0].certificate
            assert certificate.primal == pytest.approx(value, rel=1e-6, abs=1e-8)
            assert certificate.dual <= value * (1 + 1e-6) + 1e-8


@quiet
@pytest.mark.parametrize("solver", ["interior-point", "semismooth-newton"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_gap_can_be_recomputed_from_what_is_kept(solver, loss):
    X, y = scaled_cancer()
    C = 10.0
    ranker = InfinitePush(C, loss=loss, solver=solver, tol=1e-4).fit(X, y)
    assert ranker.converged_
    alpha = np.zeros(len(y))
    alpha[ranker.support_] = ranker.dual_coef_
    assert (alpha[y == 1] >= 0).all()
    assert (alpha[y == 0] <= 0).all()
    assert alpha.sum() == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(alpha @ X, ranker.coef_, atol=1e-9)
    scores = X @ ranker.coef_
    c = C / y.sum()
    shortfall = np.maximum(1 - scores[y == 1] + scores[y == 0].max(), 0)
    norm = 0.5 * ranker.coef_ @ ranker.coef_
    if loss == "hinge":
        assert alpha.max() <= c * (1 + 1e-12)
        primal, dual = norm + c * shortfall.sum(), alpha[y == 1].sum() - norm
    else:
        primal = norm + c * (shortfall**2).sum()
        dual = alpha[y == 1].sum() - (alpha[y == 1] ** 2).sum() / (4 * c) - norm
    assert ranker.primal_objective_ == pytest.approx(primal, rel=1e-9)
    assert ranker.dual_objective_ == pytest.approx(dual, rel=1e-9)
    assert ranker.dual_gap_ == pytest.approx((primal - dual) / primal, abs=1e-9)
    assert ranker.dual_gap_ <= 1e-4


@quiet
@pytest.mark.parametrize("C", [1e-6, 1e-2, 1e4, 1e10])
@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_extremes_give_an_answer_or_a_message(C, unit, loss):
    rng = np.random.default_rng(0)
    X = unit * rng.normal(size=(60, 3))
    y = (X[:, 0] > 0.2 * unit).astype(int)
    ranker = InfinitePush(C, loss=loss, max_iter=2000)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ranker.fit(X, y)
    assert np.isfinite(ranker.coef_).all()
    assert np.isfinite([ranker.primal_objective_, ranker.dual_objective_]).all()
    assert ranker.converged_ or caught
    assert ranker.dual_objective_ <= ranker.primal_objective_ * (1 + 1e-9)


@pytest.mark.parametrize("solver", ["interior-point", "semismooth-newton"])
@pytest.mark.parametrize(
    "X",
    [
        np.zeros((6, 2)),
        np.ones((6, 2)),
        np.tile([[1.0, 2.0], [1.0, 2.0]], (3, 1)),
        np.array([[0.0], [1.0], [-1.0], [0.1], [2.0], [-2.0]]),
    ],
    ids=["zeros", "ones", "identical classes", "positives among negatives"],
)
def test_a_collapse_is_a_warning(X, solver):
    with pytest.warns(ConvergenceWarning, match="collapsed: zero coefficients are optimal.*PNormPush"):
        ranker = InfinitePush(3.0, solver=solver).fit(X, [1, 0, 0, 1, 0, 0])
    assert ranker.dual_objective_ == pytest.approx(3.0, rel=1e-3)
    assert np.isfinite(ranker.decision_function(X)).all()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize(("solver", "C"), [("interior-point", 1e-5), ("semismooth-newton", 1e-3)])
def test_a_small_weight_of_the_loss_is_no_collapse(loss, solver, C):
    """Whether zero is optimal does not hang on C; how much there is to gain does."""
    X, y = load_breast_cancer(return_X_y=True)
    ranker = InfinitePush(C, loss=loss, solver=solver).fit(scale(X), y)
    assert ranker.primal_objective_ < C
    assert np.abs(ranker.coef_).max() > 0.0


def test_more_positives_at_the_top_than_a_support_vector_machine():
    X, y = load_breast_cancer(return_X_y=True)
    noisy = scale(X + 0.5 * X.std(axis=0) * np.random.default_rng(0).normal(size=X.shape))
    ranker = InfinitePush(100.0).fit(noisy, y)
    machine = SVC(kernel="linear").fit(noisy, y)
    ours, theirs = (metrics.positives_at_top(y, m.decision_function(noisy)) for m in (ranker, machine))
    assert ours > theirs


CYCLED = """
60 73 16 -93 0 1;  -14 33 17 -66 0 1;  -44 -37 29 30 1 3.7;  -100 -85 94 88 1 .001;  -6 -62 54 -6 1 3.7
-94 -50 41 3 1 .001;  -26 -50 -82 21 1 100;  32 4 86 85 1 .25;  -59 21 26 -51 1 .25;  44 30 -57 -23 0 1
75 -24 -80 18 1 .25;  39 59 -42 25 1 .001;  -64 -92 49 -64 1 .25;  70 17 -67 77 0 1;  92 93 24 95 1 100
21 0 94 20 1 1;  57 -33 57 94 1 .25;  -90 7 -27 -90 0 1
"""


def test_corrections_that_lead_round_and_round_are_left_out():
    """Features, class and weight of rows whose interior point steps came back to where they had been."""
    table = np.array([row.split() for row in CYCLED.strip().replace("\n", ";").split(";")], dtype=float)
    X, y, weights = table[:, :4], table[:, 4], table[:, 5]
    ranker = InfinitePush(10.0, loss="squared_hinge", solver="interior-point").fit(X, y, weights)
    assert ranker.converged_
    assert ranker.n_iter_ < 50
    other = InfinitePush(10.0, loss="squared_hinge", solver="semismooth-newton").fit(X, y, weights)
    assert ranker.primal_objective_ == pytest.approx(other.primal_objective_, rel=2e-4)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0.0}, "C must be > 0 and <="),
        ({"loss": "logistic"}, "loss must be one of"),
        ({"solver": "bundle"}, "solver must be one of"),
        ({"solver": "smo"}, "solver='smo' is for kernels"),
        ({"kernel": "rbf", "solver": "interior-point"}, "is for linear scores"),
        ({"kernel": "rbf", "solver": "semismooth-newton"}, "is for linear scores"),
        ({"kernel": "cosine"}, "kernel must be one of"),
        ({"kernel": "rbf", "gamma": 0.0}, "gamma must be"),
        ({"kernel": "rbf", "gamma": "wide"}, "gamma must be"),
        ({"kernel": "precomputed"}, "needs the square matrix"),
        ({"class_weight": "even"}, "class_weight must be a dict"),
        ({"class_weight": {0: 0.0}}, "class_weight must be positive"),
        ({"tol": 0.0}, "tol must be"),
    ],
)
def test_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        InfinitePush(**parameters).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("layout", "loss"),
    each_and_some([np.asarray, sp.csr_matrix, sp.csc_matrix], ["hinge", "squared_hinge"], n_random=0),
)
def test_word_counts_take_few_iterations(layout, loss):
    # counts of words that are common or rare by orders of magnitude; gradients alone take thousands
    rng = np.random.default_rng(0)
    frequency = 0.3 * np.arange(1, 401) ** -0.9 * 40
    X = rng.poisson(frequency, size=(700, 400)).astype(float)
    scores = X @ rng.normal(size=400)
    y = scores + 0.3 * scores.std() * rng.normal(size=700) > np.quantile(scores, 0.8)
    ranker = InfinitePush(100.0, loss=loss, solver="semismooth-newton").fit(layout(X), y)
    assert ranker.converged_
    # The gradients end after 16 iterations, which hardly move the gap here.
    assert 16 < ranker.n_iter_ < 60
    exact = InfinitePush(100.0, loss=loss, solver="interior-point").fit(X, y)
    assert ranker.primal_objective_ == pytest.approx(exact.primal_objective_, rel=2e-4)
    few = InfinitePush(100.0, loss=loss, solver="semismooth-newton", max_iter=25)
    with pytest.warns(ConvergenceWarning):
        assert few.fit(layout(X), y).n_iter_ == 25


def test_grades_and_pairs_are_refused_with_the_ranker_that_takes_them():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 3)) + 2.0 * y[:, None]
    better, worse = np.nonzero(y[:, None] > y)
    with pytest.raises(ValueError, match=r"no pairs.*PushRanker\('hinge', 'maximum', alpha=1 / C\)"):
        InfinitePush().fit(X, pairs=(better, worse))
    with pytest.raises(ValueError, match=r"found 3 classes.*PushRanker\('hinge', 'maximum'\)"):
        InfinitePush().fit(X, np.arange(40) % 3)
    # The advice is good: for two classes both rankers minimise the same risk.
    advised = PushRanker("hinge", "maximum", alpha=0.1, tol=1e-8).fit(X, pairs=(better, worse))
    exact = InfinitePush(10.0, tol=1e-8).fit(X, y)
    assert 10.0 * advised.primal_objective_ == pytest.approx(exact.primal_objective_, rel=1e-6)


def test_columns_in_any_order_of_memory_have_the_same_optimum():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(150, 6)), 1) * (rng.random((150, 6)) < 0.5)
    y = (X[:, 0] + rng.normal(size=150) > 0.8).astype(int)
    apart = X + 3.0 * y[:, None] * (np.arange(6) == 0)
    kinds = (np.asfortranarray, sp.csr_matrix, sp.csc_matrix)
    expected = InfinitePush(C=10.0).fit(apart, y).decision_function(apart)
    for kind in kinds:
        found = InfinitePush(C=10.0).fit(kind(apart), y).decision_function(apart)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.ptp(expected))
    # Where zero coefficients are optimal, what a solver leaves of them is rounding, and ranks no rows.
    for kind in kinds:
        with pytest.warns(UserWarning, match="InfinitePush collapsed"):
            assert not InfinitePush(C=10.0).fit(kind(X), y).decision_function(X).any()
