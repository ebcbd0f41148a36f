"""The Infinite Push by accelerated projected gradients on the dual, for sparse and wide data.

Amir Beck, Marc Teboulle, *A fast iterative shrinkage-thresholding algorithm*, SIAM Journal on Imaging
Sciences 2 (2009), 183-202; Brendan O'Donoghue, Emmanuel Candès, *Adaptive restart for accelerated gradient
schemes*, Foundations of Computational Mathematics 15 (2015), 715-732.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pushrank._log_space import Floats
from pushrank.solvers.projections import balanced
from pushrank.solvers.result import Watcher
from pushrank.solvers.worst_negative import DualPoint, WorstNegative

GROW, SHRINK = 2.0, 0.9


@dataclass(frozen=True, eq=False)
class _Point:
    """Dual variables with all that is linear in them."""

    alpha: Floats
    beta: Floats
    coef: Floats
    scores: Floats

    def beyond(self, last: _Point, momentum: float) -> _Point:
        """Return the point as far past this one as ``momentum`` times the way from the last."""
        return _Point(
            *(
                now + momentum * (now - before)
                for now, before in (
                    (self.alpha, last.alpha),
                    (self.beta, last.beta),
                    (self.coef, last.coef),
                    (self.scores, last.scores),
                )
            )
        )


def projected_dual(
    problem: WorstNegative,
    tol: float,
    max_iter: int,
    watcher: Watcher | None = None,
    start: DualPoint | None = None,
) -> tuple[DualPoint, int]:
    """Return dual variables whose relative gap is at most ``tol``, and the number of iterations.

    Parameters are those of :func:`pushrank.solvers.interior_point.interior_point`.

    Notes
    -----
    An iteration reads the data twice; the length of steps is found by backtracking, and momentum is dropped
    where it leads upwards.
    """
    sample = problem.sample
    if start is None:
        start = problem.at(np.zeros(len(sample.positives)), np.zeros(len(sample.negatives)))
    point = _at(problem, start.alpha, start.beta)
    ahead, momentum, lipschitz = point, 1.0, 1.0
    best, best_gap, n_iter = point, np.inf, 0
    while n_iter < max_iter:
        n_iter += 1
        slope_a = ahead.scores[sample.positives] - 1.0 + problem.bend * ahead.alpha
        slope_b = -ahead.scores[sample.negatives]
        lipschitz *= SHRINK
        while True:
            step = 1.0 / lipschitz
            alpha, beta = balanced(ahead.alpha - step * slope_a, ahead.beta - step * slope_b, problem.upper)
            following = _at(problem, alpha, beta)
            da, db = alpha - ahead.alpha, beta - ahead.beta
            length = float(da @ da + db @ db)
            moved = problem.model.squared_norm(following.coef - ahead.coef, following.scores - ahead.scores)
            curved = moved + float(problem.bend @ da**2)
            if curved <= lipschitz * length * (1.0 + 1e-12) or length == 0.0:
                break
            lipschitz = max(GROW * lipschitz, curved / length)
        uphill = (slope_a @ (alpha - point.alpha) + slope_b @ (beta - point.beta)) > 0.0
        momentum_before, momentum = momentum, 0.5 + 0.5 * np.sqrt(1.0 + 4.0 * momentum**2)
        ahead = following.beyond(point, (momentum_before - 1.0) / momentum)
        if uphill:
            ahead, momentum = following, 1.0
        point = following
        certificate = problem.certificate(point.alpha, point.coef, point.scores)
        gap = certificate.gap
        if gap < best_gap:
            best, best_gap = point, gap
        if watcher is not None:
            watcher(n_iter, objective=certificate.primal, gap=gap)
        if gap <= tol:
            break
    return problem.at(best.alpha, best.beta), n_iter


def _at(problem: WorstNegative, alpha: Floats, beta: Floats) -> _Point:
    coef = problem.model.pull_back(problem.sample.join(alpha, -beta))
    return _Point(alpha, beta, coef, problem.model.scores(coef))
