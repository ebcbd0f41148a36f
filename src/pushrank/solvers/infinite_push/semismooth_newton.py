r"""The dual by Newton's method on proximal points.

The Infinite Push by accelerated projected gradients on the dual, for sparse and wide data.

Amir Beck, Marc Teboulle, *A fast iterative shrinkage-thresholding algorithm*, SIAM Journal on Imaging
Sciences 2 (2009), 183-202; Brendan O'Donoghue, Emmanuel Candès, *Adaptive restart for accelerated gradient
schemes*, Foundations of Computational Mathematics 15 (2015), 715-732.

The Infinite Push by Newton's method on proximal points of the dual, for sparse and wide data.

From a dual point :math:`z = (\alpha, \beta)` the next is that of the largest
:math:`D(z') - \|z' - z\|^2 / 2 \sigma`, with a :math:`\sigma` that grows. As a function of the coefficients w
that is to minimise :math:`\tfrac12 \|w\|^2 + M(X w)`, M being piecewise quadratic and smooth: its gradient is
:math:`w - X_+^T \alpha' + X_-^T \beta'`, the z' being a projection, and only the rows whose variables are
inside their bounds bend it. Conjugate gradients solve for the Newton step, reading those rows alone.

Xudong Li, Defeng Sun, Kim-Chuan Toh, *A highly efficient semismooth Newton augmented Lagrangian method for
solving Lasso problems*, SIAM Journal on Optimization 28 (2018), 433-458.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pushrank._numeric import Floats
from pushrank.models import LinearModel
from pushrank.solvers.infinite_push.dual import DualPoint, WorstNegative
from pushrank.solvers.infinite_push.gradient_projection import balanced
from pushrank.solvers.result import Callback, Certificate

GROW, SHRINK = 2.0, 0.9


@dataclass(frozen=True, eq=False)
class _ProjectedPoint:
    """Dual variables with all that is linear in them."""

    alpha: Floats
    beta: Floats
    coef: Floats
    scores: Floats

    def beyond(self, last: _ProjectedPoint, momentum: float) -> _ProjectedPoint:
        """Return the point as far past this one as ``momentum`` times the way from the last."""
        return _ProjectedPoint(
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
    callback: Callback | None = None,
    start: DualPoint | None = None,
) -> tuple[DualPoint, int]:
    """Return dual variables whose relative gap is at most ``tol``, and the number of iterations.

    Parameters are those of :func:`pushrank.solvers.infinite_push.interior_point.interior_point`.

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
        if callback is not None:
            callback(n_iter, objective=certificate.primal, gap=gap)
        if gap <= tol:
            break
    return problem.at(best.alpha, best.beta), n_iter


def _at(problem: WorstNegative, alpha: Floats, beta: Floats) -> _ProjectedPoint:
    coef = problem.model.rmatvec(problem.sample.scatter(alpha, -beta))
    return _ProjectedPoint(alpha, beta, coef, problem.model.scores(coef))


EASY = 64  # projected gradients at first, which suffice for many a problem
GROWTH = 1.5
MOST_CENTRES = 70  # by then sigma has grown to where rounding leaves no more
MOST_STEPS = 50  # Newton steps from a centre
FORCING = 0.1  # of the gradient's norm: how exactly a Newton system is solved
MOST_PRODUCTS = 200
SLOPE_LEFT = 0.5  # of the slope at the start of a line search
MOST_TRIALS = 20


def semismooth_newton(
    problem: WorstNegative,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    start: DualPoint | None = None,
) -> tuple[DualPoint, int]:
    """Return dual variables whose relative gap is at most ``tol``, and the number of iterations.

    Parameters are those of :func:`pushrank.solvers.infinite_push.interior_point.interior_point`.

    Notes
    -----
    The first 64 iterations are projected gradients. An iteration reads the data twice, and the rows whose
    variables are inside their bounds twice a step of conjugate gradients.
    """
    point, n_iter = projected_dual(problem, tol, min(EASY, max_iter), callback, start)
    if point.certificate.gap <= tol:
        return point, n_iter
    best, proximal = point, _Proximal(problem, point)
    for _ in range(MOST_CENTRES):
        for _ in range(MOST_STEPS):
            gap, solved = proximal.gap(), proximal.is_solved()
            if gap <= tol or solved or n_iter >= max_iter:
                point = problem.at(*problem.sample.gather(proximal.variables))
                if point.certificate.gap < best.certificate.gap:
                    best = point
                if best.certificate.gap <= tol or n_iter >= max_iter:
                    return best, n_iter
            if solved:
                break
            proximal.step()
            n_iter += 1
            if callback is not None:
                callback(n_iter, objective=best.certificate.primal, gap=best.certificate.gap)
        proximal.recentre()
    return best, n_iter


class _Proximal:
    """The dual less the squared distance from a centre, as a function of the coefficients.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
        The coefficients.
    variables : ndarray of shape (n_rows,)
        The dual variables that belong to them, feasible.
    """

    def __init__(self, problem: WorstNegative, start: DualPoint) -> None:
        self._problem, sample, model = problem, problem.sample, problem.model
        if not isinstance(model, LinearModel):
            raise TypeError("semismooth-newton needs a linear model; use smo for kernels.")
        X = model.data  # rows of CSC data cannot be taken alone
        self._model = LinearModel(X.tocsr()) if sp.issparse(X) and X.format != "csr" else model
        nothing = np.zeros(len(sample.negatives))
        self._signs = sample.scatter(np.ones_like(problem.costs), nothing - 1.0)
        self._bend = sample.scatter(problem.bend, nothing)
        self._upper = sample.scatter(problem.upper, nothing + np.inf)
        self._sigma = float(problem.costs.mean())
        self.coef, self._centre = start.coef, sample.scatter(start.alpha, start.beta)
        self._scores = self._model.scores(self.coef)
        self._take(self._project(self._scores))

    def recentre(self) -> None:
        """Go on from the dual variables of now, with less weight of the distance."""
        self._centre, self._sigma = self.variables, GROWTH * self._sigma
        self._scores = self._model.scores(self.coef)  # against piling up of rounding
        self._take(self._project(self._scores))

    def gap(self) -> float:
        """Return the relative gap between the coefficients and the dual variables."""
        alpha = self._problem.sample.gather(self.variables)[0]
        primal = self._problem.certificate(alpha, self.coef, self._scores).primal
        dual = self._problem.certificate(alpha, self._pulled, self._scores).dual
        return Certificate(primal, dual).gap

    def is_solved(self) -> bool:
        """Return whether the gradient is small against the way of the dual variables from the centre."""
        moved = self.variables - self._centre
        return float(self._gradient @ self._gradient) <= float(moved @ moved) / self._sigma

    def step(self) -> None:
        """Go along the Newton step to where the slope is less than half of that at the start."""
        move = self._newton_step()
        moved = self._model.scores(move)
        of_move, curved = float(self.coef @ move), float(move @ move)
        first = float(self._gradient @ move)
        low, slope_low, high, slope_high = 0.0, first, np.inf, 0.0
        length = 1.0
        for _ in range(MOST_TRIALS):
            variables = self._project(self._scores + length * moved)
            slope = of_move + length * curved - float((self._signs * variables) @ moved)
            if abs(slope) <= -SLOPE_LEFT * first or (slope < 0.0 and high == np.inf):
                break
            if slope > 0.0:
                high, slope_high = length, slope
            else:
                low, slope_low = length, slope
            share = slope_low / (slope_low - slope_high)
            length = low + (high - low) * min(max(share, 0.1), 0.9)
        self.coef = self.coef + length * move
        self._scores = self._scores + length * moved
        self._take(variables)

    def _take(self, variables: Floats) -> None:
        self.variables = variables
        self._pulled = self._model.rmatvec(self._signs * variables)
        self._gradient = self.coef - self._pulled

    def _project(self, scores: Floats) -> Floats:
        """Return the dual variables that belong to scores."""
        sample = self._problem.sample
        of_positives, of_negatives = sample.gather(scores)
        alpha, beta = sample.gather(self._centre)
        return sample.scatter(
            *balanced(
                alpha + self._sigma * (1.0 - of_positives),
                beta + self._sigma * of_negatives,
                self._problem.upper,
                1.0 / (1.0 + self._sigma * self._problem.bend),
            )
        )

    def _newton_step(self) -> Floats:
        """Return an approximate solution of the Newton system, by preconditioned conjugate gradients."""
        inside = np.flatnonzero((self.variables > 0.0) & (self.variables < self._upper))
        if not len(inside):
            return -self._gradient
        weights = self._sigma / (1.0 + self._sigma * self._bend[inside])
        rows, total = self._rows(inside), weights.sum()
        squares = rows.multiply(rows) if sp.issparse(rows) else rows**2
        # at least one, whatever rounding leaves of the columns' variances
        diagonal = 1.0 + np.maximum(squares.T @ weights - (rows.T @ weights) ** 2 / total, 0.0)
        step, residual = np.zeros_like(self.coef), -self._gradient
        along = residual / diagonal
        size = first = float(residual @ along)
        for _ in range(MOST_PRODUCTS):
            if size <= FORCING**2 * first:
                break
            scores = rows @ along
            bent = along + rows.T @ (weights * (scores - weights @ scores / total))
            length = size / float(along @ bent)
            step += length * along
            residual = residual - length * bent
            scaled = residual / diagonal
            before, size = size, float(residual @ scaled)
            along = scaled + size / before * along
        return step

    def _rows(self, numbers: NDArray[np.intp]) -> Any:
        """Return some rows, dense or CSR, but for a constant."""
        X = self._model.data
        return X[numbers] if sp.issparse(X) else self._model.rows(numbers)
