"""SVM-MAP: the most violated order against all orders, and the optimum against a cone solver."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import average_precision_score

from combinations import by_day
from pushrank import SVMMAP
from pushrank.objectives.average_precision import average_precision_hinge
from pushrank.pairs import BipartiteSample
from quadratic_programs import largest_of_planes
from samples import scaled_cancer

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


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
