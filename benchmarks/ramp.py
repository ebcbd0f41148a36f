"""What does RampAtK cost, and how far are its ends above the best of many random starts?

    PUSHRANK_DATA=folder python benchmarks/ramp.py > benchmarks/ramp.txt

Time: processor seconds of LogisticRegression on one thread of BLAS, the least of three, and those of RampAtK
as a multiple, the least of three of a fit, and of a path over three k and three C.

Minima: the objective of RampAtK at its end, against the lowest of 50 descents from random directions, on at
most 2,000 rows of each set, with ``tol=1e-3``.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from itertools import product

import numpy as np
from at_k_variants import rows
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from pushrank import RampAtK

MINIMA_SETS = ("letter H", "letter A", "MAGIC", "ijcnn1", "adult", "cover", "spambase", "ionosphere")
MAX_MINIMA_ROWS, STARTS, TOL = 2_000, 50, 1e-3


def cpu_seconds(function: Callable[..., object], *given: object) -> float:
    """Return the processor time of a call."""
    began = time.process_time()
    function(*given)
    return time.process_time() - began


def speed() -> None:
    """Print the time of RampAtK as a multiple of LogisticRegression's, of a fit and for each of a path."""
    rng = np.random.default_rng(0)
    generated = rng.standard_normal((100_000, 50))
    scores = generated @ rng.standard_normal(50) + 7.0 * rng.standard_normal(100_000)
    cases = {"generated": (generated, (scores > np.quantile(scores, 0.9)).astype(int))}
    cases |= {title: rows(title, 100_000) for title in ("ijcnn1", "adult", "MAGIC")}
    ramp = RampAtK(random_state=0)
    ramp.path(*rows("MAGIC", 2_000), [0.25], [1.0, 10.0])  # compiles
    for title, (X, y) in cases.items():
        X = StandardScaler().fit_transform(X)
        logistic, alone = (
            min(cpu_seconds(model.fit, X, y) for _ in range(3)) for model in (LogisticRegression(), ramp)
        )
        path = cpu_seconds(ramp.path, X, y, [0.7, 0.5, 0.25], [1.0, 10.0, 100.0])
        print(
            f"{title:14s}{len(y):8d} x {X.shape[1]:3d}{logistic:10.3f} s{alone / logistic:8.1f} a fit"
            f"{path / logistic / 9:8.1f} each of 9",
            flush=True,
        )


def minima() -> None:
    """Print how far the end of the default start is above the lowest known."""
    columns = f"{'C':>6s}{'start':>12s}{'objective':>12s}{'best of random':>16s}{'above it':>10s}"
    print(f"\n{'':14s}{columns}{'CPU seconds':>14s}")
    above = []
    for title, C in product(MINIMA_SETS, (1.0, 10.0)):
        X, y = rows(title, MAX_MINIMA_ROWS)
        X = StandardScaler().fit_transform(X)
        ours = RampAtK(C=C, tol=TOL, random_state=0)
        seconds = cpu_seconds(ours.fit, X, y)
        many = RampAtK(C=C, tol=TOL, init="random", n_random_starts=STARTS, random_state=0).fit(X, y)
        end, best = ours.objective_path_[-1], many.objective_path_[-1]
        above.append(end / best - 1.0)
        cells = f"{C:6g}{ours.init_:>12s}{end:12.5f}{best:16.5f}{above[-1]:10.2%}{seconds:14.2f}"
        print(f"{title:14s}{cells}", flush=True)
    higher = [one for one in above if one > 0.0]
    print(
        f"\nhigher than the best of {STARTS} random starts in {len(higher)} of {len(above)}, by "
        f"{np.median(higher or [0.0]):.2%} (median) and at most {max(above):.2%}; "
        f"lower by up to {-min(above):.2%}\n"
        f"by more than 1% in {sum(one > 0.01 for one in above)} of {len(above)}"
    )


def main() -> None:
    """Print both tables."""
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        speed()
        minima()


if __name__ == "__main__":
    main()
