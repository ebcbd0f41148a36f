"""StructSVM of the partial AUC: the optimum by a cone solver, over shares and over all orders."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from pushrank import PushRanker, StructSVM
from pushrank.objectives import PartialAUC
from pushrank.prices import LargestShare
from quadratic_programs import PushProgram, largest_of_planes
from samples import scaled_cancer

NIGHTLY = [pytest.param(seed, marks=pytest.mark.nightly) for seed in range(15, 100)]
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def small(seed, n_positive, n_negative):
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
    X, y, C, rng = small(seed, 2 + seed % 4, 7)
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
    X, y, C, rng = small(seed, 2, 4)
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
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] + 2 * rng.normal(size=600) > 1.0).astype(int)
    with pytest.warns(match="collapsed.*larger max_fpr"):
        ranker = StructSVM(10.0, measure="partial_auc").fit(X, y)
    assert ranker.dual_gap_ <= ranker.tol


def test_rates_are_checked():
    with pytest.raises(ValueError, match="min_fpr must be below max_fpr"):
        StructSVM(measure="partial_auc", min_fpr=0.5).fit([[0.0], [1.0]], [0, 1])
