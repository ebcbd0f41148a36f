"""What the papers prove of the rankers for precision at k, and what they are for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale

from pushrank import PerceptronAtK, RampAtK, StructSVM
from pushrank.datasets import make_hidden_positives
from pushrank.metrics import precision_at_k
from pushrank.objectives import prec_at_k_avg, prec_at_k_max, prec_at_k_ramp, prec_at_k_struct
from pushrank.solvers import tolerances

SURROGATES = {"avg": prec_at_k_avg, "max": prec_at_k_max}


def separable_stream(seed, n=6000, n_features=20, margin=0.05):
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=n_features)
    direction /= np.linalg.norm(direction)
    X = rng.normal(size=(n, n_features))
    y = (X @ direction > np.quantile(X @ direction, 0.9)).astype(int)
    X += np.outer(np.where(y == 1, margin, -margin), direction)
    return X, y, direction, (X[y == 1] @ direction).min() - (X[y == 0] @ direction).max()


@pytest.mark.parametrize("variant", ["avg", "max"])
def test_mistakes_stay_below_their_bound_on_separable_streams(variant, capsys):
    """Theorems 7 and 9: with a margin the loss of a multiple of the direction is zero."""
    lines = []
    for seed in range(20):
        X, y, _, margin = separable_stream(seed)
        ranker = PerceptronAtK(0.25, variant, batch_size=100, max_iter=1, random_state=seed).fit(X, y)
        radius = np.linalg.norm(X, axis=1).max()
        bound = 4.0 * ranker._learner.finalized.read("max_k") * radius**2 / margin**2
        assert 0 < ranker.n_mistakes_ <= bound
        assert ranker.n_mistakes_ <= ranker.mistake_bound_
        lines.append((ranker.n_mistakes_, bound, ranker.mistake_bound_))
    with capsys.disabled():
        found = np.array(lines)
        of_margin, at_weights = found[:, 0] / found[:, 1], found[:, 0] / found[:, 2]
        print(
            f"\n{variant}, 20 streams: observed / bound of the margin at most {of_margin.max():.1e}, "
            f"observed / bound at the weights {at_weights.min():.3f} to {at_weights.max():.3f}"
        )


@pytest.mark.parametrize("variant", ["avg", "max"])
def test_the_reported_bound_is_the_formula_at_some_multiple(variant):
    X, y, *_ = separable_stream(3, n=2000)
    ranker = PerceptronAtK(0.25, variant, batch_size=100, max_iter=1, shuffle=False).fit(X, y)
    radius = np.linalg.norm(X, axis=1).max()
    reach = radius * np.sqrt(4.0 * ranker._learner.finalized.read("max_k"))
    most = np.inf
    for multiple in [0.0, *np.geomspace(1e-4, 10.0, 120)]:
        w = multiple * ranker.coef_ / np.linalg.norm(ranker.coef_)
        loss = sum(
            SURROGATES[variant](0.25).value(y[a : a + 100], X[a : a + 100] @ w) for a in range(0, len(y), 100)
        )
        most = min(most, (np.linalg.norm(w) * reach + loss**0.5) ** 2)
    assert most * 0.999 <= ranker.mistake_bound_ <= 1.3 * most


def test_margins_by_hand():
    X = np.array([[3.0], [1.0], [-1.0], [0.0], [-2.0]])
    y = np.array([1, 1, 1, 0, 0])
    ranker = PerceptronAtK(k=2, max_iter=5, random_state=0).fit(X, y)
    assert ranker.coef_[0] > 0
    # the second highest positive, the mean of the two lowest, and the lowest
    assert (ranker.weak_margin_, ranker.margin_, ranker.strong_margin_) == pytest.approx((1.0, 0.0, -1.0))


@pytest.mark.parametrize("hidden_fraction", [0.4, 0.28])
def test_hidden_positives_are_found(hidden_fraction):
    """Where convex surrogates may collapse: logistic regression finds 0.2, the best is 1."""
    rows = make_hidden_positives(4000, hidden_fraction=hidden_fraction, random_state=0)
    fresh = make_hidden_positives(20_000, hidden_fraction=hidden_fraction, random_state=1)
    known = rows.best_precision_at_top - rows.logistic_precision_at_top

    def precision(ranker):
        scores = ranker.fit(rows.data, rows.target).decision_function(fresh.data)
        return precision_at_k(fresh.target, scores, fraction_of_positives=rows.top)

    logistic = precision(LogisticRegression())
    assert logistic == pytest.approx(rows.logistic_precision_at_top, abs=0.03)
    assert precision(RampAtK(random_state=0)) - logistic > 0.9 * known
    assert precision(PerceptronAtK(variant="max", random_state=0)) - logistic > 0.9 * known


def test_the_ramp_descends_and_is_a_local_optimum_of_its_pieces():
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    ranker = RampAtK(k=1.0, C=10.0, tol=1e-6, random_state=0).fit(X, y)
    assert (np.diff(ranker.objective_path_) < 0).all()
    scores = X @ ranker.coef_
    k = prec_at_k_ramp(1.0).count((y == 1).sum())
    objective = 0.5 * ranker.coef_ @ ranker.coef_ + 10.0 / k * prec_at_k_ramp(1.0).value(y, scores)
    assert objective == pytest.approx(ranker.objective_path_[-1], rel=1e-9)
    # at k = all positives the ramp's second part is linear: the problem is convex, and its optimum known
    convex = StructSVM(10.0, measure="prbep", tol=1e-8).fit(X, y)
    assert objective <= convex.primal_objective_ * (1 + 1e-5)
    for init in ("perceptron", "logistic"):
        end = RampAtK(k=1.0, C=10.0, tol=1e-6, init=init, random_state=0).fit(X, y)
        assert end.objective_path_[-1] >= objective * (1 - 1e-9)
        assert end.init_ == init


def test_struct_svm_of_precision_against_a_linear_program():
    """With a large C and few features the optimum is that of the planes of all labelings."""
    import itertools

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
        values = [prec_at_k_struct(1).value(y, radius * X @ [np.cos(a), np.sin(a)]) for a in angles]
        assert angles[np.argmin(values)] == pytest.approx(np.pi / 4)
    for bound in (prec_at_k_ramp, prec_at_k_avg, prec_at_k_max):
        assert bound(1).value(y, X @ [0.0, 1.0]) == 0.0
    learned = PerceptronAtK(k=1, batch_size=len(y), random_state=0).fit(X, y)
    assert learned.n_iter_ < 50
    assert precision_at_k(y, X @ learned.coef_, 1) == 1.0


def test_struct_svm_certificate_is_true():
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    for measure, k in (("prbep", 1.0), ("precision", 0.5)):
        ranker = StructSVM(5.0, measure=measure, k=k).fit(X, y)
        surrogate = prec_at_k_struct(k)
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


def test_the_ramp_warns_when_the_norm_hardly_counts(monkeypatch):
    """Planes are bounded, so that features of any size end in a warning, and soon."""
    monkeypatch.setattr(tolerances, "MAX_PLANES", 40)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = (X[:, 0] + rng.normal(size=300) > 0.8).astype(int)
    with pytest.warns(ConvergenceWarning, match="lower C, or scale the features"):
        ranker = RampAtK(init="logistic").fit(1e20 * X, y)
    assert not ranker.converged_
    with pytest.raises(ValueError, match="sample_weight adds up beyond the range of floats"):
        RampAtK(init="logistic").fit(X, y, np.full(300, 1e308))


def test_bad_parameters():
    X, y = np.eye(4), [0, 1, 0, 1]
    for measure in ("map", "auc"):
        with pytest.raises(ValueError, match="measure must be one of"):
            StructSVM(measure=measure).fit(X, y)
    with pytest.raises(ValueError, match="k=3 is above the number of positives, 2"):
        StructSVM(k=3).fit(X, y)
    with pytest.raises(ValueError, match="k=3 is above the number of positives, 2"):
        RampAtK(k=3).fit(X, y)
    with pytest.raises(ValueError, match=r"C must be > 0 and <= 1e\+30, got 1e\+31"):
        RampAtK(C=1e31).fit(X, y)
    with pytest.raises(ValueError, match="init must be one of"):
        RampAtK(init="zero").fit(X, y)


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
