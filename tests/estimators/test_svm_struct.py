"""StructSVM: the optimum of the most violated labeling, and its certificate."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from pushrank import PerceptronAtK, StructSVM
from pushrank.metrics import precision_at_k
from pushrank.objectives import PrecisionAtK
from pushrank.solvers import cutting_plane
from samples import scaled_cancer


def test_struct_svm_of_precision_against_a_linear_program():
    """With a large C and few features the optimum is that of the planes of all labelings."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 2)), np.array([1, 1, 1, 0, 0, 0, 0, 0])
    X[y == 1] += 1.0
    k = 2
    planes = []
    for chosen in itertools.combinations(range(8), k):
        labels = np.zeros(8)
        labels[list(chosen)] = 1.0
        planes.append(((1 - y) @ labels / k, X.T @ (labels - y) / k))
    ranker = StructSVM(3.0, k=k, tol=1e-10).fit(X, y)
    offsets = np.array([offset for offset, _ in planes])
    normals = np.array([normal for _, normal in planes])
    assert ranker.primal_objective_ == pytest.approx(
        0.5 * ranker.coef_ @ ranker.coef_ + 3.0 * (offsets + normals @ ranker.coef_).max(), rel=1e-9
    )
    # the coefficients are minus C times a mixture of planes that are active: optimal
    active = offsets + normals @ ranker.coef_ > (offsets + normals @ ranker.coef_).max() - 1e-6
    found = linprog(
        np.zeros(active.sum()),
        A_eq=np.vstack([normals[active].T, np.ones(active.sum())]),
        b_eq=np.append(-ranker.coef_ / 3.0, 1.0),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-5},
    )
    assert found.status == 0


def test_the_structural_minimiser_of_separable_rows_has_a_negative_on_top():
    """At any C and any radius: 1 + w (negative - sum of positives) is below struct, and touches it there."""
    X = np.array([[3.0, 1.0], [4.0, 1.0], [5.0, 1.0], [8.0, -1.0]] + 4 * [[-5.0, -0.5]])
    y = np.array([1, 1, 1, 0, 0, 0, 0, 0])
    assert (X.sum(axis=0) == 0.0).all()
    assert X[y == 1, 1].min() > X[y == 0, 1].max()
    for C in (0.01, 1.0, 100.0):
        ranker = StructSVM(C, k=1, tol=1e-9).fit(X, y)
        np.testing.assert_allclose(ranker.coef_, [4.0 * C, 4.0 * C], rtol=1e-6)
        assert precision_at_k(y, X @ ranker.coef_, 1) == 0.0
    angles = np.arange(-12, 12) * np.pi / 12
    for radius in (0.1, 10.0):
        values = [PrecisionAtK(1, "struct").value(y, radius * X @ [np.cos(a), np.sin(a)]) for a in angles]
        assert angles[np.argmin(values)] == pytest.approx(np.pi / 4)
    for bound in ("ramp", "avg", "max"):
        assert PrecisionAtK(1, bound).value(y, X @ [0.0, 1.0]) == 0.0
    learned = PerceptronAtK(k=1, batch_size=len(y), random_state=0).fit(X, y)
    assert learned.n_iter_ < 50
    assert precision_at_k(y, X @ learned.coef_, 1) == 1.0


def test_struct_svm_certificate_is_true():
    X, y = scaled_cancer()
    for measure, k in (("prbep", 1.0), ("precision", 0.5)):
        ranker = StructSVM(5.0, measure=measure, k=k).fit(X, y)
        surrogate = PrecisionAtK(k, "struct")
        loss = surrogate.value(y, X @ ranker.coef_) / surrogate.count((y == 1).sum())
        primal = 0.5 * ranker.coef_ @ ranker.coef_ + 5.0 * loss
        assert primal == pytest.approx(ranker.primal_objective_, rel=1e-9)
        assert ranker.dual_objective_ <= primal
        assert ranker.dual_gap_ <= 1e-4
    path = StructSVM(measure="prbep").path(X, y, [0.1, 1.0, 10.0])
    for fitted in path:
        alone = StructSVM(fitted.C, measure="prbep").fit(X, y)
        assert fitted.primal_objective_ == pytest.approx(alone.primal_objective_, rel=2e-4)


def test_features_beyond_single_precision_scores_are_an_error():
    X, y = load_breast_cancer(return_X_y=True)
    large = (1e30 * scale(X)).astype(np.float32)
    with pytest.raises(ValueError, match="scores are beyond the range of float32; scale the features"):
        StructSVM().fit(large, y)


def test_a_limit_of_time_ends_the_fit_with_a_warning(monkeypatch):
    X, y = scaled_cancer()
    # Each look at the clock takes a second, and the fit looks at it once before the planes.
    seconds = itertools.count()
    # Threads of other tests that still wait would move the clock of the whole process.
    clock = SimpleNamespace(monotonic=lambda: float(next(seconds)))
    monkeypatch.setattr(cutting_plane, "time", clock)
    with pytest.warns(ConvergenceWarning, match="after 3 iterations.*raise max_seconds"):
        stopped = StructSVM(1000.0, max_seconds=3.0).fit(X, y)
    assert stopped.n_iter_ == 3
    assert not stopped.converged_
    optimum = StructSVM(1000.0).fit(X, y).primal_objective_
    assert stopped.dual_objective_ <= optimum <= stopped.primal_objective_
    with pytest.raises(ValueError, match="max_seconds"):
        StructSVM(max_seconds=0.0).fit(X, y)
