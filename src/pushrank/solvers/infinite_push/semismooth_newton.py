r"""The dual of the Infinite Push by Newton's method on proximal points, for sparse and wide data.

From a dual point :math:`z = (\alpha, \beta)` the next one maximises :math:`D(z') - \|z' - z\|^2 / 2 \sigma`,
with a :math:`\sigma` that grows. For coefficients w the best z' is the projection of :math:`z + \sigma
(1 - X_+ w, X_- w)` onto the feasible set. It remains to minimise over w a convex function
:math:`\tfrac12 \|w\|^2 + M(X w)` that is smooth and piecewise quadratic, with the gradient :math:`w - X_+^T
\alpha' + X_-^T \beta'`. Only the rows whose variables are strictly between their bounds enter its
generalised Hessian, so that conjugate gradients for a Newton step read those rows alone.

The first iterations are accelerated projected gradients on the dual itself, which solve many problems alone.

Li, Sun and Toh, *A highly efficient semismooth Newton augmented Lagrangian method for solving Lasso
problems*, SIAM J. Optimization 28 (2018); Beck and Teboulle, *A fast iterative shrinkage-thresholding
algorithm*, 2009; O'Donoghue and Candès, *Adaptive restart for accelerated gradient schemes*, 2015.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp

from pushrank._base.numeric import Floats
from pushrank.models import LinearModel
from pushrank.solvers.infinite_push import tolerances
from pushrank.solvers.infinite_push.dual import DualSolution, InfinitePushDual, project_to_feasible
from pushrank.solvers.line_search import exact_step
from pushrank.solvers.preconditioning import newton_direction
from pushrank.solvers.result import Callback, Certificate


def semismooth_newton(
    dual: InfinitePushDual, tol: float, max_iter: int, callback: Callback | None, start: DualSolution | None
) -> tuple[DualSolution, int]:
    """Return dual variables whose relative gap is at most ``tol``, and the number of iterations."""
    model = dual.model
    if not isinstance(model, LinearModel):
        raise TypeError("semismooth-newton needs a linear model; use smo for kernels.")
    # Near the optimum of another C they are the slower way.
    n_gradients = tolerances.N_PROJECTED_GRADIENTS if start is None else tolerances.N_TRIED_GRADIENTS
    n_gradients = min(n_gradients, max_iter)
    best, n_iter = accelerated_gradient(dual, tol, n_gradients, callback, start, tolerances.HOPELESS_GAP)
    if best.certificate.gap <= tol:
        return best, n_iter
    proximal = _ProximalProblem(dual, model, best)
    reference, n_stalled = best.certificate.gap, 0
    for _ in range(tolerances.MAX_PROXIMAL_POINTS):
        for _ in range(tolerances.MAX_NEWTON_STEPS):
            gap = proximal.gap()
            solved = proximal.is_solved(exactly=gap <= tol)
            if gap <= tol or solved or n_iter >= max_iter:
                solution = dual.solution(*dual.sample.gather(proximal.variables))
                if solution.certificate.gap < best.certificate.gap:
                    best = solution
                if best.certificate.gap <= tol or n_iter >= max_iter:
                    return best, n_iter
            if solved:
                break
            proximal.newton_step()
            n_iter += 1
            if callback is not None:
                callback(n_iter, objective=best.certificate.primal, gap=best.certificate.gap)
        # Rounding can keep proximal points from making progress before the gap is closed.
        n_stalled += 1
        if best.certificate.gap <= 0.5 * reference:
            reference, n_stalled = best.certificate.gap, 0
        if n_stalled == tolerances.MAX_STALLED_POINTS:
            break
        stalls = n_stalled >= tolerances.STALLED_POINTS
        proximal.move_centre(tolerances.STALLED_GROWTH if stalls else tolerances.SIGMA_GROWTH)
    return best, n_iter


class _ProximalProblem:
    """The dual less the squared distance from a centre; ``variables``, (n_rows,), are best for ``coef``."""

    def __init__(self, dual: InfinitePushDual, model: LinearModel, start: DualSolution) -> None:
        self._dual = dual
        X = model.data
        # Newton's steps read some rows alone, which takes CSR.
        self._model = LinearModel(X.tocsr()) if sp.issparse(X) and X.format != "csr" else model
        self._rows = dual.row_constraints()
        self._sigma = float(dual.sample_C.mean())
        self.coef, self._centre = start.coef, dual.sample.scatter(start.alpha, start.beta)
        self._scores = self._model.scores(self.coef)
        self._set_variables(self._project(self._scores))

    def move_centre(self, growth: float) -> None:
        """Make the present dual variables the centre, with less weight on the distance from it."""
        self._centre, self._sigma = self.variables, growth * self._sigma
        # The updates of the scores have accumulated rounding.
        self._scores = self._model.scores(self.coef)
        self._set_variables(self._project(self._scores))

    def gap(self) -> float:
        """Return the relative gap between the coefficients and the dual variables."""
        alpha = self._dual.sample.gather(self.variables)[0]
        primal = self._dual.certificate(alpha, self.coef, self._scores).primal
        dual = self._dual.certificate(alpha, self._dual_coef, self._scores).dual
        return Certificate(primal, dual).gap

    def is_solved(self, *, exactly: bool) -> bool:
        """Return whether the gradient is small against the distance of the dual variables from the centre."""
        moved = self.variables - self._centre
        # Half the squared gradient bounds the distance to the minimum, as the function is strongly convex
        # with modulus 1. This is Rockafellar's criterion (B) for the method of multipliers, with a constant
        # in place of his sequence.
        tolerance = tolerances.EXACT_PROXIMAL_TOLERANCE if exactly else tolerances.PROXIMAL_TOLERANCE
        return float(self.gradient @ self.gradient) <= tolerance * float(moved @ moved) / self._sigma

    def newton_step(self) -> None:
        """Move along the Newton direction until the slope is less than half of the first one."""
        direction = self._newton_direction()
        score_change = self._model.scores(direction)
        coef_slope, curvature = float(self.coef @ direction), float(direction @ direction)
        first = float(self.gradient @ direction)
        variables = self.variables

        def slope_at(length: float) -> tuple[float, float]:
            """Return the slope, and for the second derivative, which jumps, that of the secant."""
            nonlocal variables
            if length == 0.0:
                # The quadratic model has its minimum at one.
                return first, -first
            variables = self._project(self._scores + length * score_change)
            slope = coef_slope + length * curvature - float((self._rows.sign * variables) @ score_change)
            return slope, (slope - first) / length

        length = exact_step(slope_at, longest=1.0, reduction=tolerances.SLOPE_REDUCTION)
        self.coef = self.coef + length * direction
        self._scores = self._scores + length * score_change
        self._set_variables(variables)

    def _set_variables(self, variables: Floats) -> None:
        self.variables = variables
        self._dual_coef = self._model.rmatvec(self._rows.sign * variables)
        self.gradient = self.coef - self._dual_coef

    def _project(self, scores: Floats) -> Floats:
        """Return the dual variables that are best for some scores."""
        dual, sample = self._dual, self._dual.sample
        positive_scores, negative_scores = sample.gather(scores)
        alpha, beta = sample.gather(self._centre)
        alpha, beta = alpha + self._sigma * (1.0 - positive_scores), beta + self._sigma * negative_scores
        rates = 1.0 / (1.0 + self._sigma * dual.quadratic)
        return sample.scatter(*project_to_feasible(alpha, beta, dual.upper_bound, rates))

    def _newton_direction(self) -> Floats:
        """Return an approximate solution of the Newton system by preconditioned conjugate gradients."""
        inside = np.flatnonzero((self.variables > 0.0) & (self.variables < self._rows.upper_bound))
        if not len(inside):
            return -self.gradient
        weights = self._sigma / (1.0 + self._sigma * self._rows.quadratic[inside])
        X, total = self._model.data, weights.sum()
        scores_of: Callable[[Floats], Floats]
        sums_of: Callable[[Floats], Floats]
        if sp.issparse(X):
            rows = LinearModel(X[inside])
            scores_of, sums_of = rows.scores, rows.rmatvec
            squares = rows.class_sums(weights, np.zeros(len(inside), dtype=np.uint8), squared=True)[0]
        else:
            # Dense rows are less a constant, which the projection onto equal sums makes irrelevant.
            dense = self._model.rows(inside)
            scores_of, sums_of = partial(np.matmul, dense), partial(np.matmul, dense.T)
            squares = weights @ dense**2
        # Rounding can make the variance of a column negative.
        diagonal = 1.0 + np.maximum(squares - sums_of(weights) ** 2 / total, 0.0)

        def hessian_product(direction: Floats) -> Floats:
            scores = scores_of(direction)
            return direction + sums_of(weights * (scores - weights @ scores / total))

        return newton_direction(
            hessian_product, self.gradient, diagonal, tolerances.CG_TOLERANCE, tolerances.MAX_CG_PRODUCTS
        )


@dataclass(frozen=True, eq=False)
class _Iterate:
    """Dual variables with the coefficients and scores that they make, which are linear in them."""

    alpha: Floats
    beta: Floats
    coef: Floats
    scores: Floats

    @classmethod
    def at(cls, dual: InfinitePushDual, alpha: Floats, beta: Floats) -> _Iterate:
        coef = dual.model.rmatvec(dual.sample.scatter(alpha, -beta))
        return cls(alpha, beta, coef, dual.model.scores(coef))

    def extrapolated(self, last: _Iterate, momentum: float) -> _Iterate:
        """Return the iterate beyond this one, by ``momentum`` times its distance from the last one."""
        pairs = zip(vars(self).values(), vars(last).values(), strict=True)
        return _Iterate(*(now + momentum * (now - before) for now, before in pairs))


def accelerated_gradient(
    dual: InfinitePushDual,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    start: DualSolution | None = None,
    hopeless: float = np.inf,
) -> tuple[DualSolution, int]:
    """Return the best iterate of accelerated projected gradients on the dual, and how many there were."""
    # An iteration reads the data twice, and backtracking sets its length. The first few iterations are the
    # last where they leave a gap above `hopeless`.
    sample = dual.sample
    start = dual.zero() if start is None else start
    iterate = _Iterate.at(dual, start.alpha, start.beta)
    ahead, momentum, lipschitz = iterate, 1.0, 1.0
    best, best_gap, n_iter = iterate, np.inf, 0
    while n_iter < max_iter:
        n_iter += 1
        gradient_a = ahead.scores[sample.positives] - 1.0 + dual.quadratic * ahead.alpha
        gradient_b = -ahead.scores[sample.negatives]
        lipschitz *= tolerances.LIPSCHITZ_DECAY
        while True:
            step = 1.0 / lipschitz
            moved_a, moved_b = ahead.alpha - step * gradient_a, ahead.beta - step * gradient_b
            following = _Iterate.at(dual, *project_to_feasible(moved_a, moved_b, dual.upper_bound))
            da, db = following.alpha - ahead.alpha, following.beta - ahead.beta
            length = float(da @ da + db @ db)
            moved = dual.model.squared_norm(following.coef - ahead.coef, following.scores - ahead.scores)
            curvature = moved + float(dual.quadratic @ da**2)
            if curvature <= lipschitz * length * (1.0 + tolerances.CURVATURE_ROUNDING) or length == 0.0:
                break
            lipschitz = max(tolerances.LIPSCHITZ_GROWTH * lipschitz, curvature / length)
        # Where momentum leads away from the optimum it starts again from zero.
        rise = gradient_a @ (following.alpha - iterate.alpha) + gradient_b @ (following.beta - iterate.beta)
        momentum_before, momentum = momentum, 0.5 + 0.5 * np.sqrt(1.0 + 4.0 * momentum**2)
        ahead = following.extrapolated(iterate, (momentum_before - 1.0) / momentum)
        if rise > 0.0:
            ahead, momentum = following, 1.0
        iterate = following
        certificate = dual.certificate(iterate.alpha, iterate.coef, iterate.scores)
        gap = certificate.gap
        if gap < best_gap:
            best, best_gap = iterate, gap
        if callback is not None:
            callback(n_iter, objective=certificate.primal, gap=gap)
        if gap <= tol or (n_iter == tolerances.N_TRIED_GRADIENTS and best_gap > hopeless):
            break
    return dual.solution(best.alpha, best.beta), n_iter
