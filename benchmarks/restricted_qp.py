"""How much quicker is the Infinite Push's interior point method than clarabel on the same problem?

    python benchmarks/restricted_qp.py > benchmarks/restricted_qp.txt

The restricted problem has 16 rows of either class a feature, as a fit's first one. Clarabel gets the primal
as a quadratic program, with a slack variable for each positive, the features as columns of its sparse matrix.
Both stop at a relative gap of 1e-5 and run in turn; the ratio is that of the best of three.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp

from pushrank._base.parallel import one_blas_thread
from pushrank.models import LinearModel
from pushrank.pairs import BipartiteSample
from pushrank.solvers.infinite_push.dual import InfinitePushDual, cost_per_positive
from pushrank.solvers.infinite_push.interior_point import interior_point

GAP, C, REPEATS = 1e-5, 10.0, 3
interior = sys.modules[interior_point.__module__]


def problem(n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the positives and of the negatives, most pairs of which can be ranked."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(64 * n_features, n_features))
    scores = X @ rng.normal(size=n_features) / np.sqrt(n_features) + 0.3 * rng.normal(size=len(X))
    is_positive = scores > np.median(scores)
    return X[is_positive][: 16 * n_features], X[~is_positive][: 16 * n_features]


def by_clarabel(positives: np.ndarray, negatives: np.ndarray, costs: np.ndarray, squared: bool) -> float:
    """Return the optimum over (w, t, the positives' losses)."""
    (n_positives, n_features), n_negatives = positives.shape, len(negatives)
    zeros = np.zeros(n_positives)
    quadratic = np.concatenate([np.ones(n_features), [0.0], 2.0 * costs if squared else zeros])
    linear = np.concatenate([np.zeros(n_features + 1), zeros if squared else costs])
    constraints = [
        [sp.csc_array(-positives), sp.csc_array(np.ones((n_positives, 1))), -sp.eye_array(n_positives)],
        [sp.csc_array(negatives), sp.csc_array(-np.ones((n_negatives, 1))), None],
        [None, None, -sp.eye_array(n_positives)],
    ]
    upper = np.concatenate([-np.ones(n_positives), np.zeros(n_negatives), zeros])
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.tol_gap_rel, settings.tol_gap_abs = False, GAP, GAP
    P, A = sp.diags_array(quadratic).tocsc(), sp.block_array(constraints, format="csc")
    solver = clarabel.DefaultSolver(P, linear, A, upper, [clarabel.NonnegativeConeT(len(upper))], settings)
    return float(solver.solve().obj_val)


def by_interior_point(dual: InfinitePushDual, positives: np.ndarray, negatives: np.ndarray) -> float:
    """Return the objective that the method of the library ends at."""
    shrinking = interior.Shrinking(dual, positives.shape[1])
    restricted = interior._RestrictedProblem(
        dual, shrinking, np.zeros(positives.shape[1]), positives, negatives
    )
    restricted.solve(GAP, GAP, 1000)
    return float(restricted._objective)


def seconds(function: Callable[..., float], *given: Any) -> tuple[float, float]:
    """Return the wall-clock time of a call and its value."""
    start = time.perf_counter()
    value = function(*given)
    return time.perf_counter() - start, value


def main() -> None:
    """Print the ratios."""
    versions = f"Python {platform.python_version()}, numpy {np.__version__}, clarabel {clarabel.__version__}"
    print(f"{versions}; best of {REPEATS}\n")
    print("features  rows   loss           clarabel / interior point  objectives")
    for n_features in (10, 30, 60, 120):
        positives, negatives = problem(n_features)
        rows = np.vstack([positives, negatives])
        sample = BipartiteSample.from_mask(np.arange(len(rows)) < len(positives))
        for loss in ("hinge", "squared_hinge"):
            costs = cost_per_positive(sample, C)
            dual = InfinitePushDual(LinearModel(rows), sample, costs, loss)
            with one_blas_thread():
                runs = [
                    (
                        seconds(by_interior_point, dual, positives, negatives),
                        seconds(by_clarabel, positives, negatives, costs, loss == "squared_hinge"),
                    )
                    for _ in range(REPEATS)
                ]
            ours, theirs = (min(run[i][0] for run in runs) for i in (0, 1))
            values = f"{runs[0][0][1]:.4f} {runs[0][1][1]:.4f}"
            print(f"{n_features:8d} {len(rows):5d}   {loss:13s}  {theirs / ours:25.1f}  {values}", flush=True)


if __name__ == "__main__":
    main()
