"""StructSVM and SVMMAP: the optimum of the most violated labeling or order, and its certificate."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.preprocessing import scale

from combinations import by_day
from experiments.heirs.largest_share import LargestShare
from pushrank import SVMMAP, PerceptronAtK, PushRanker, StructSVM
from pushrank.metrics import precision_at_k
from pushrank.objectives import PartialAUC, PrecisionAtK
from pushrank.objectives.average_precision import average_precision_hinge
from pushrank.pairs import BipartiteSample
from pushrank.solvers import cutting_plane
from quadratic_programs import PushProgram, largest_of_planes
from samples import by_first_column, scaled_cancer


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


def test_scores_of_features_in_large_units_are_those_of_double_precision():
    X, y = load_breast_cancer(return_X_y=True)
    large = (1e30 * scale(X)).astype(np.float32)
    scores, wider = (StructSVM().fit(of, y).decision_function(of) for of in (large, large.astype(float)))
    assert np.isfinite(scores).all()
    assert average_precision_score(y, scores) == pytest.approx(average_precision_score(y, wider), abs=0.01)


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


NIGHTLY = [pytest.param(seed, marks=pytest.mark.nightly) for seed in range(15, 100)]
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def two_kinds(seed, n_positive, n_negative):
    rng = np.random.default_rng(seed)
    y = np.r_[np.ones(n_positive, dtype=int), np.zeros(n_negative, dtype=int)]
    X = rng.normal(size=(len(y), 2)) + rng.choice([0.3, 1.0, 3.0]) * y[:, None]
    return X, y, float(10.0 ** rng.uniform(-1, 3)), rng


def check_optimum(ranker, best):
    assert ranker.converged_
    assert ranker.primal_objective_ == pytest.approx(best, rel=1e-6, abs=1e-7)
    assert ranker.dual_objective_ <= best * (1 + 1e-7) + 1e-7


@quiet
@pytest.mark.parametrize("seed", [*range(15), *NIGHTLY])
def test_the_optimum_of_two_shares_is_that_of_a_cone_solver(seed):
    X, y, C, rng = two_kinds(seed, 2 + seed % 4, 7)
    weights = rng.integers(1, 4, len(y)).astype(float)
    max_fpr, min_tpr = rng.uniform(0.05, 1.0), rng.uniform(0.0, 0.9)
    program = PushProgram(X, y, weights)
    shares = [w / w.sum() for w in (program.positive_weights, program.negative_weights)]
    means = [
        program.mean_above([program.loss("hinge", s - t) for t in program.negatives], shares[1] / max_fpr)
        for s in program.positives
    ]
    best, _ = program.minimise(program.mean_above(means, shares[0] / (1 - min_tpr)), 1 / C)
    ranker = StructSVM(C, measure="partial_auc", max_fpr=max_fpr, min_tpr=min_tpr, tol=1e-8)
    check_optimum(ranker.fit(X, y, weights), C * best)


@quiet
@pytest.mark.parametrize("seed", [*range(15), *NIGHTLY])
def test_the_optimum_of_an_interval_is_that_of_all_orders(seed):
    """A plane for every order of the negatives, and every number of them above each of two positives."""
    X, y, C, rng = two_kinds(seed, 2, 4)
    first = int(rng.integers(1, 3))
    last = int(rng.integers(first + 1, 5))
    planes = []
    for order in itertools.permutations(range(2, 6), last):
        for above in itertools.product(range(last + 1), repeat=2):
            pairs = [X[order[k]] - X[i] for i in range(2) for k in range(above[i])]
            offset = sum(max(r - first, 0) for r in above)
            planes.append(np.r_[offset, np.sum(pairs, axis=0) if pairs else np.zeros(2)])
    planes = np.unique(np.array(planes).round(12), axis=0) / (2 * (last - first))
    best = largest_of_planes(planes[:, 1:], planes[:, 0], C)
    ranker = StructSVM(C, measure="partial_auc", min_fpr=first / 4, max_fpr=last / 4, tol=1e-8)
    check_optimum(ranker.fit(X, y), best)


def test_one_way_it_is_the_hinge_under_the_largest_share():
    X, y = scaled_cancer()
    plane = StructSVM(100.0, measure="partial_auc", max_fpr=0.1, tol=1e-6).fit(X, y)
    smooth = PushRanker("hinge", LargestShare(0.1), alpha=0.01, tol=1e-6).fit(X, y)
    assert 0.01 * plane.primal_objective_ == pytest.approx(smooth.primal_objective_, rel=1e-5)
    assert roc_auc_score(y, X @ plane.coef_, max_fpr=0.1) > 0.97
    value = PartialAUC(max_fpr=0.1).value(y, X @ plane.coef_)
    assert plane.primal_objective_ == pytest.approx(0.5 * plane.coef_ @ plane.coef_ + 100 * value, rel=1e-9)


def test_classes_that_overlap_too_much_collapse_and_say_so():
    X, y = by_first_column(600, 3, 1.0, 2)
    with pytest.warns(match="collapsed.*larger max_fpr"):
        ranker = StructSVM(10.0, measure="partial_auc").fit(X, y)
    assert ranker.dual_gap_ <= ranker.tol


def test_rates_are_checked():
    with pytest.raises(ValueError, match="min_fpr must be below max_fpr"):
        StructSVM(measure="partial_auc", min_fpr=0.5).fit([[0.0], [1.0]], [0, 1])


def orders(y):
    """All orders of the rows: 1 - AP of each, and which positives stand above which negatives (1 or -1)."""
    places = np.array(list(itertools.permutations(range(1, len(y) + 1))))
    positives, negatives = places[:, y == 1], places[:, y == 0]
    hits = (positives[:, None, :] <= positives[:, :, None]).sum(axis=2)
    average_precision = (hits / positives).mean(axis=1)
    assert average_precision[0] == pytest.approx(average_precision_score(y, -places[0]))
    return 1 - average_precision, np.where(positives[:, :, None] < negatives[:, None, :], 1.0, -1.0)


def small(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    y = np.zeros(n, dtype=int)
    y[: int(rng.integers(1, n))] = 1
    X = np.round(2 * rng.normal(size=(n, 2))) / 2 + 0.5 * y[:, None]
    if seed % 3 == 0:
        X[1] = X[0]
    return X, rng.permutation(y), float(10.0 ** rng.integers(-1, 3))


@pytest.mark.parametrize("seed", by_day(range(40), 6))
def test_the_most_violated_order_is_the_worst_of_all(seed):
    X, y, _ = small(seed)
    scores = X[:, 0]
    margins = np.subtract.outer(scores[y == 1], scores[y == 0])
    losses, above = orders(y)
    worst = (losses + ((above - 1) * margins).mean(axis=(1, 2))).max()
    sample = BipartiteSample.from_labels(y)
    value, slope, offset = average_precision_hinge(sample, scores)
    assert offset == pytest.approx(value - slope @ scores, abs=1e-12)
    assert value == pytest.approx(worst, abs=1e-12)
    assert value >= 1 - average_precision_score(y, scores - 1e-9 * y) - 1e-9
    # a subgradient: the risk lies above its plane
    for other in np.random.default_rng(seed).normal(size=(5, len(y))):
        assert average_precision_hinge(sample, other)[0] >= value + slope @ (other - scores) - 1e-12


@quiet
@pytest.mark.parametrize("seed", by_day(range(30), 6))
def test_the_optimum_is_that_of_all_orders(seed):
    X, y, C = small(seed)
    losses, above = orders(y)
    seen = np.unique(np.column_stack([losses.round(12), above.reshape(len(losses), -1)]), axis=0)
    differences = (X[y == 1][:, None] - X[y == 0][None]).reshape(-1, 2)
    value = largest_of_planes((seen[:, 1:] - 1) @ differences / len(differences), seen[:, 0], C)
    ranker = SVMMAP(C, tol=1e-8, max_iter=3000).fit(X, y)
    assert ranker.primal_objective_ == pytest.approx(value, rel=1e-6, abs=1e-8)
    assert ranker.dual_objective_ <= value * (1 + 1e-6) + 1e-8


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_the_gap_is_true_on_real_data(C):
    X, y = scaled_cancer()
    ranker = SVMMAP(C).fit(X, y)
    assert ranker.converged_
    risk, *_ = average_precision_hinge(BipartiteSample.from_labels(y), X @ ranker.coef_)
    value = 0.5 * ranker.coef_ @ ranker.coef_ + C * risk
    assert ranker.primal_objective_ == pytest.approx(value, rel=1e-9)
    exact = SVMMAP(C, tol=1e-6, max_iter=3000).fit(X, y)
    assert ranker.dual_objective_ <= exact.primal_objective_ * (1 + 1e-9)
    assert ranker.score(X, y) > 0.98


def test_large_weights_on_raw_columns_converge():
    """Columns that differ a thousandfold, and a bound that hangs on fine shares of many planes."""
    X, y = load_breast_cancer(return_X_y=True)
    assert SVMMAP(C=100, max_iter=100).fit(X, y).converged_
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4)) * [1e6, 1.0, 1e-6, 1.0]
    y = (X[:, 1] + X[:, 3] + rng.normal(size=80) > 0).astype(int)
    assert SVMMAP(C=10, max_iter=100).fit(X, y).converged_
