"""Certificates of small problems whose columns differ by decades: bounds that are bounds, and soon there."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer

from pushrank import SVMMAP, InfinitePush, RankSVM, StructSVM
from quadratic_programs import minimise

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

KINDS = {
    "hinge": lambda C, **options: RankSVM(C, loss="hinge", **options),
    "squared hinge": RankSVM,
    "average precision": SVMMAP,
    "precision": lambda C, **options: StructSVM(C, k=0.5, **options),
    "push": InfinitePush,
    "top push": lambda C, **options: InfinitePush(C, loss="squared_hinge", **options),
}


# columns ten and more decades apart, where rounding leaves a gap above the tolerance, which is warned of
GAPS = {("squared hinge", 119), ("squared hinge", 158)}


def ill_scaled(seed):
    """A small problem, often with ties, copies, offsets, weights, and columns in units of 1e-8 to 1e8."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(10, 61)), int(rng.integers(2, 7))
    X = rng.normal(size=(n, d))
    noise = rng.choice([0.1, 1, 3])
    y = (X @ rng.normal(size=d) + rng.normal(size=n) * noise > rng.normal()).astype(int)
    if y.sum() < 2:
        y[:2] = 1
    if y.sum() > n - 2:
        y[-2:] = 0
    if rng.random() < 0.5:
        X = np.round(X)
    if rng.random() < 0.3:
        X[rng.integers(0, n, n // 3)] = X[rng.integers(0, n, n // 3)]
    if rng.random() < 0.7:
        X = X * 10.0 ** (rng.integers(-8, 9, d) if rng.random() < 0.5 else rng.integers(-3, 4, d))
    if rng.random() < 0.4:
        X = X + rng.normal(size=d) * 10 * np.abs(X).max(axis=0)
    weights = np.ones(n)
    if rng.random() < 0.5:
        weights = rng.integers(0, 4, n).astype(float)
        weights[[np.flatnonzero(y)[0], np.flatnonzero(y == 0)[0]]] = 1.0
    return X, y, weights, float(10.0 ** rng.integers(-3, 3)), rng.random() < 0.3


def fitted(kind, seed, **options):
    X, y, weights, C, sparse = ill_scaled(seed)
    return KINDS[kind](C, **options).fit(sp.csc_array(X) if sparse else X, y, weights)


def best_of_pairs(seed):
    """The hinge's objective at a cone solver's answer in units of the columns: no bound may be above it."""
    X, y, weights, C, _ = ill_scaled(seed)
    differences = (X[y == 1][:, None] - X[y == 0][None]).reshape(-1, X.shape[1])
    shares = np.outer(weights[y == 1], weights[y == 0]).ravel()
    shares /= shares.sum()
    units = np.maximum(np.abs(differences).max(axis=0), 1e-300)
    m, d = differences.shape
    # the norm of a column in small units weighs so much that it would drown the others in the solver
    P = sp.block_diag([sp.diags(1.0 / np.maximum(units, 1e-6) ** 2), sp.csc_matrix((m, m))])
    A = sp.bmat([[-differences / units, -sp.eye(m)], [None, -sp.eye(m)]])
    _, x = minimise(P, np.r_[np.zeros(d), C * shares], A, np.r_[-np.ones(m), np.zeros(m)])
    coef = np.asarray(x[:d], dtype=np.longdouble) / units
    coef[units < 1e-6] = 0.0
    losses = np.maximum(1 - differences.astype(np.longdouble) @ coef, 0)
    return float(0.5 * coef @ coef + C * (shares @ losses))


@quiet
@pytest.mark.parametrize("seed", [158, 302, 324, 595])
def test_a_bound_of_columns_in_far_units_is_one(seed):
    """Where the products of planes' normals lost the small columns, bounds lay 2e-5 to .16 too high."""
    ranker, best = fitted("hinge", seed), best_of_pairs(seed)
    assert ranker.converged_
    assert ranker.n_iter_ < 50
    assert ranker.dual_objective_ <= best * (1 + 1e-12)
    assert ranker.primal_objective_ <= best * (1 + 1e-4)


@quiet
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 200), marks=pytest.mark.nightly)])
def test_bounds_of_columns_in_any_units(kind, seeds):
    for seed in seeds:
        ranker, exact = fitted(kind, seed), fitted(kind, seed, tol=1e-11)
        if (kind, seed) not in GAPS:
            assert ranker.converged_, seed
        known = min(ranker.primal_objective_, exact.primal_objective_)
        highest = max(ranker.dual_objective_, exact.dual_objective_)
        assert highest <= known + 1e-11 * abs(known) + 1e-15 * ranker.C, seed


def exact_objective(kind, X, y, weights, C, coef):
    """The objective in extended precision."""
    scores, weights = X.astype(np.longdouble) @ coef, weights.astype(np.longdouble)
    positive, of_positives, of_negatives = scores[y == 1], weights[y == 1], weights[y == 0]
    if kind == "push":
        highest = scores[(y == 0) & (weights > 0)].max()
        loss = of_positives @ np.maximum(1 - positive + highest, 0) / of_positives.sum()
    else:
        losses = np.maximum(1 - np.subtract.outer(positive, scores[y == 0]), 0)
        loss = of_positives @ losses @ of_negatives / of_positives.sum() / of_negatives.sum()
    return float(0.5 * coef.astype(np.longdouble) @ coef + C * loss)


@quiet
@pytest.mark.parametrize("kind", ["hinge", "push"])
@pytest.mark.parametrize("seed", [51, 108, 121, 147])
def test_the_objective_is_that_of_the_coefficients_near_an_optimum_of_zero(kind, seed):
    X, y, weights, C, _ = ill_scaled(seed)
    X, C = X * 1e4, 1e3 * C
    ranker = KINDS[kind](C).fit(X, y, weights)
    exact = exact_objective(kind, X, y, weights, C, ranker.coef_)
    # a loss is known to the rounding of a margin
    assert ranker.primal_objective_ == pytest.approx(exact, rel=1e-9, abs=1e-15 * C)


@quiet
@pytest.mark.nightly
def test_a_solver_that_rounding_stops_says_so_soon():
    """Of 3,010 iterations and a minute, nothing but a few hundred were of use."""
    ranker = fitted("push", 7, solver="semismooth-newton")
    assert not ranker.converged_
    assert ranker.n_iter_ < 1000


@quiet
@pytest.mark.nightly
@pytest.mark.xfail(reason="rounding leaves a gap where columns are ten and more decades apart", strict=True)
@pytest.mark.parametrize(("kind", "seed"), sorted(GAPS))
def test_gaps_of_columns_in_the_farthest_units_close(kind, seed):
    assert fitted(kind, seed).converged_


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("column", [3, 20])
def test_a_column_a_million_times_larger_on_every_second_row_leaves_no_gap(loss, column):
    """The rounding of the dual variables, times that column, used to leave a gap above 1e-3."""
    X, y = load_breast_cancer(return_X_y=True)
    X[::2, column] *= 1e6
    ranker = InfinitePush(C=10.0, loss=loss).fit(X, y)
    assert ranker.converged_
    scores = X @ ranker.coef_
    shortfall = np.maximum(1.0 - scores[y == 1] + scores[y == 0].max(), 0.0)
    risk = np.mean(shortfall if loss == "hinge" else shortfall**2)
    objective = 0.5 * ranker.coef_ @ ranker.coef_ + 10.0 * risk
    assert ranker.dual_objective_ >= (1.0 - 1e-4) * objective
