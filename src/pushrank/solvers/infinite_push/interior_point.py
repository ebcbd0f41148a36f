r"""The dual of the Infinite Push by an interior point method on working sets, for dense and for small data.

Only few negatives can be the highest-scored, and for the hinge only few positives are near their margin. So
a restricted problem of those rows is solved, rows that its solution shows to matter join, and so on until
none is missing.

- Negatives: some hundred of the highest-scored. Those that the solution scores above all of them join.
- Positives (shrinking, for many positives and the hinge alone): the variable of a positive well below its
  margin is fixed at the upper bound, that of one well above it at zero. The fixed positives enter as one
  constant vector, however many they are; only those near the margin are free.

A solution of the restricted problem is feasible for the whole problem, and its certificate is one for the
whole problem. A general solver of quadratic programs, clarabel, takes 5 to 50 times as long on a restricted
problem of 30 to 120 features (benchmarks/restricted_qp.txt).

Mehrotra, *On the implementation of a primal-dual interior point method*, SIAM J. Optimization 2 (1992).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from pushrank._base.numeric import Floats
from pushrank._base.user_types import Matrix
from pushrank.models import LinearModel
from pushrank.solvers.infinite_push import tolerances
from pushrank.solvers.infinite_push.dual import DualSolution, InfinitePushDual
from pushrank.solvers.result import Callback

NONE = np.zeros(0)


def interior_point(
    dual: InfinitePushDual, tol: float, max_iter: int, callback: Callback | None, start: DualSolution | None
) -> tuple[DualSolution, int]:
    """Return dual variables whose relative gap is at most ``tol``, and the number of iterations."""
    model, sample = dual.model, dual.sample
    if not isinstance(model, LinearModel):
        raise TypeError("the interior point method needs a linear model; use smo for kernels.")
    n_features = model.n_features
    scores = model.scores(_difference_of_means(dual) if start is None else start.coef)
    shrinking = Shrinking(dual, n_features)
    if start is not None:
        shrinking.check_and_update(scores[sample.positives] - scores[sample.negatives].max(), 0.0)
    n_working = max(tolerances.FIRST_NEGATIVES * n_features, tolerances.MIN_NEGATIVES)
    working = _smallest(-scores[sample.negatives], n_working)
    positives, centre, fixed_sum = _free_rows(dual, shrinking)
    best: DualSolution | None = None
    # Early restricted problems lack negatives, so that their solutions need few digits.
    closest = tolerances.RESTRICTED_TOLERANCE * tol
    n_iter, within = 0, max(closest, tolerances.FIRST_GAP)
    while True:
        negatives = _minus(_rows(model, sample.negatives[working]), centre)
        restricted = _RestrictedProblem(dual, shrinking, fixed_sum, positives, negatives)
        cheap = (positives.shape[0] + negatives.shape[0]) * n_features**2 <= tolerances.CHEAP_WORK
        n_iter += restricted.solve(within, tolerances.CHEAP_GAP if cheap else within, max_iter - n_iter)
        end = restricted.iterate
        beta = np.zeros(len(sample.negatives))
        beta[working] = end.beta
        solution = dual.solution(shrinking.all_variables(end.alpha), beta)
        scores = model.scores(end.w)
        if solution.certificate.gap > tol:
            solution = dual.with_better_coef(dual.refined(solution), end.w, scores)
        if best is None or solution.certificate.gap < best.certificate.gap:
            best = solution
        if callback is not None:
            callback(n_iter, objective=solution.certificate.primal, gap=solution.certificate.gap)
        if best.certificate.gap <= tol or n_iter >= max_iter:
            return best, n_iter
        margins = scores[sample.positives] - (end.t + end.w @ centre)
        right_bounds = shrinking.check_and_update(margins, tol * abs(best.certificate.primal))
        if not right_bounds:
            positives, centre, fixed_sum = _free_rows(dual, shrinking)
        # These are the scores by the primal variables w. Rounding may move the coefficients that the dual
        # variables make, and with them the choice of negatives.
        negative_scores = scores[sample.negatives]
        missing = negative_scores > negative_scores[working].max()
        missing[working] = False
        candidates = np.flatnonzero(missing)
        if right_bounds and not len(candidates):
            # All rows that matter are in: what is left of the gap is a matter of digits.
            if within <= closest:
                return best, n_iter
            within = closest
            continue
        within = max(closest, min(within, tolerances.LATER_GAP * solution.certificate.gap))
        # Negatives in the lower half of the working set leave it, unless they have a variable.
        near_top = negative_scores[working] > np.quantile(negative_scores[working], 0.5)
        kept = working[(end.beta > tolerances.NEGLIGIBLE_BETA * end.beta.max()) | near_top]
        n_joining = max(tolerances.MORE_NEGATIVES * n_features, tolerances.MIN_NEGATIVES)
        working = np.union1d(kept, candidates[_smallest(-negative_scores[candidates], n_joining)])


class Shrinking:
    """Which positives' dual variables are free in the restricted problem, and which are fixed at a bound."""

    # At first an even sample of the positives is free and represents all of them. Then those nearest to the
    # margin are free and the others fixed. `free` holds the ascending numbers of the free variables, `free_C`
    # their C_i, and `fixed` the values of the fixed variables, with zeros for the free.

    def __init__(self, dual: InfinitePushDual, n_features: int) -> None:
        self._C = dual.sample_C
        n_positives = len(self._C)
        self._n_free = max(tolerances.FREE_POSITIVES * n_features, tolerances.MIN_FREE_POSITIVES)
        # The squared hinge has no upper bounds, and few of its variables are zero: none can be fixed.
        self._chosen = dual.squared or n_positives <= 2 * self._n_free
        self.fixed = np.zeros(n_positives)
        if self._chosen:
            self.free = np.arange(n_positives)
            self.free_C = self._C
        else:
            self.free = np.linspace(0, n_positives - 1, self._n_free).astype(np.intp)
            self.free_C = self._C[self.free] * (self._C.sum() / self._C[self.free].sum())

    def all_variables(self, free_variables: Floats) -> Floats:
        """Return the variables of all positives from those of the free ones."""
        variables = self.fixed.copy()
        variables[self.free] = free_variables
        return variables

    def check_and_update(self, margins: Floats, tolerance: float) -> bool:
        """Return whether fixing costs little at the margins of all positives; otherwise free more of them."""
        if not self._chosen:
            self._chosen = True
            self.free = _smallest(np.abs(margins - 1.0), self._n_free)
            self.fixed = np.where(margins < 1.0, self._C, 0.0)
        else:
            wrong = np.maximum(np.where(self.fixed > 0.0, margins - 1.0, 1.0 - margins), 0.0)
            wrong[self.free] = 0.0
            if float(self._C @ wrong) <= tolerances.SHRINKING_TOLERANCE * tolerance:
                return True
            # Each time the optimum rises towards that of the whole problem.
            self.free = np.union1d(self.free, np.flatnonzero(wrong))
        self.fixed[self.free] = 0.0
        self.free_C = self._C[self.free]
        return False


def _smallest(values: Floats, size: int) -> NDArray[np.intp]:
    """Return the numbers of the smallest values, ascending."""
    if size >= len(values):
        return np.arange(len(values))
    return np.sort(np.argpartition(values, size - 1)[:size])


def _free_rows(dual: InfinitePushDual, shrinking: Shrinking) -> tuple[Any, Floats, Floats]:
    """Return the rows of the free positives less a centre, the centre, and the sum of the fixed positives."""
    # The centre is the mean of the free positives: a large one costs no digits. Sparse rows are not centred.
    model, sample = dual.model, dual.sample
    rows = _rows(model, sample.positives[shrinking.free])
    centre = np.zeros(rows.shape[1]) if sp.issparse(rows) else rows.mean(axis=0)
    total, mean = float(shrinking.fixed.sum()), np.asarray(rows.mean(axis=0)).ravel()
    if total == 0.0:
        return _minus(rows, centre), centre, np.zeros_like(centre)
    factors = shrinking.fixed.copy()
    factors[shrinking.free] = -total / len(shrinking.free)
    fixed_sum = model.rmatvec(sample.scatter(factors, np.zeros(len(sample.negatives))))
    return _minus(rows, centre), centre, fixed_sum + total * (mean - centre)


def _rows(model: Any, numbers: NDArray[np.intp]) -> Matrix:
    """Return some rows, as dense ones less a constant, or as CSR if the data are large."""
    X = model.data
    sparse = sp.issparse(X) and X.shape[0] * X.shape[1] > tolerances.MAX_DENSE_ENTRIES
    return X.tocsr()[numbers] if sparse else model.rows(numbers)


def _minus(rows: Any, centre: Floats) -> Any:
    """Return dense rows less a centre; sparse rows are not changed."""
    return rows if sp.issparse(rows) else rows - centre


def _difference_of_means(dual: InfinitePushDual) -> Floats:
    """Return the mean of the positives less that of the negatives."""
    n_positives, n_negatives = len(dual.sample.positives), len(dual.sample.negatives)
    factors = np.full(n_positives, 1.0 / n_positives), np.full(n_negatives, -1.0 / n_negatives)
    return dual.model.rmatvec(dual.sample.scatter(*factors))


class _Iterate(NamedTuple):
    """The variables of a restricted problem, or a step of them."""

    # The primal variables are w, t and the positives' `excess`, the slack variable of the hinge. The slacks
    # of the positives' and the negatives' constraints are `slack` and `below`, and their multipliers `alpha`
    # and `beta`. The multiplier of the excess is `room`, upper bound - alpha. `room` and `excess` are empty
    # for the squared hinge, which has no upper bound.

    w: Floats
    t: float
    alpha: Floats
    slack: Floats
    beta: Floats
    below: Floats
    room: Floats
    excess: Floats

    @property
    def pairs(self) -> tuple[tuple[Floats, Floats], ...]:
        """The pairs of positive variables whose products are zero at an optimum."""
        return (self.alpha, self.slack), (self.beta, self.below), (self.room, self.excess)

    @property
    def complementarity(self) -> float:
        """The sum of these products, which is the duality gap of a feasible iterate."""
        return float(sum(left @ right for left, right in self.pairs))

    def after(self, step: _Iterate, length: float) -> _Iterate:
        both: Iterable[tuple[Any, Any]] = zip(self, step, strict=True)
        return _Iterate(*(value + length * move for value, move in both))

    def max_length(self, step: _Iterate) -> float:
        """Return the longest step of at most one that keeps the pairs positive."""
        both = zip(chain(*self.pairs), chain(*step.pairs), strict=True)
        # A whole step would take at most this multiple of a variable away.
        taken = max(float(np.max(-move / value, initial=0.0)) for value, move in both)
        return 1.0 / max(taken, 1.0)


class _RestrictedProblem:
    """The problem of some positives and some negatives, by Mehrotra's method."""

    # `fixed_sum` is the sum of the fixed positives times their variables. The rows `positives` and
    # `negatives` are dense and less a common centre, or CSR.

    def __init__(
        self,
        dual: InfinitePushDual,
        shrinking: Shrinking,
        fixed_sum: Floats,
        positives: Floats,
        negatives: Floats,
    ) -> None:
        self._squared, self._positives, self._negatives = dual.squared, positives, negatives
        self._C, self._fixed_sum = shrinking.free_C, fixed_sum
        self._fixed_total = float(shrinking.fixed.sum())
        self._bounded = not dual.squared
        self._quadratic = dual.quadratic[shrinking.free]
        self._upper_bound = self._C if self._bounded else dual.upper_bound
        # The start is feasible for the equality constraint and in the middle of the box.
        alpha, ones = 0.5 * self._C, np.ones(positives.shape[0])
        n_negatives = negatives.shape[0]
        self.iterate = _Iterate(
            w=np.zeros(positives.shape[1]),
            t=0.0,
            alpha=alpha,
            slack=ones,
            beta=np.full(n_negatives, (self._fixed_total + alpha.sum()) / n_negatives),
            below=np.ones(n_negatives),
            room=0.5 * self._C if self._bounded else NONE,
            excess=ones if self._bounded else NONE,
        )

    # Overflow makes a step that is not finite, which ends the iterations.
    @np.errstate(all="ignore")
    def solve(self, tol: float, cheap_tol: float, max_iter: int) -> int:
        """Iterate to a relative complementarity of ``tol``, and on to ``cheap_tol`` while rounding allows."""
        least, n_stalled = np.inf, 0
        for iteration in range(max_iter):
            gap = self.iterate.complementarity
            self._set_residuals()
            if gap + self._infeasibility <= tol * self._objective:
                if gap <= cheap_tol * self._objective:
                    return iteration
                n_stalled = 0 if gap < 0.5 * least else n_stalled + 1
                least = min(least, gap)
                if n_stalled == tolerances.MAX_STALLED_ITERATIONS:
                    return iteration
            try:
                self._factor()
            except scipy.linalg.LinAlgError:
                return iteration
            predictor = self._direction(0.0)
            predicted = self.iterate.after(predictor, self.iterate.max_length(predictor)).complementarity
            count = sum(len(left) for left, _ in self.iterate.pairs)
            # Mehrotra's centring: the less the predictor leaves of the gap, the lower is the aim.
            step = self._direction(gap / count * (predicted / gap) ** 3, predictor)
            corrected = self.iterate.after(step, tolerances.BOUNDARY_FRACTION * self.iterate.max_length(step))
            if self._infeasibility < gap < corrected.complementarity:
                # The correction is made for a whole step. In a short one it can raise the gap, for ever.
                step = self._direction(tolerances.PLAIN_CENTRING * gap / count)
            if not all(np.isfinite(part).all() for part in step):
                return iteration
            length = tolerances.BOUNDARY_FRACTION * self.iterate.max_length(step)
            self.iterate = self.iterate.after(step, length)
        return max_iter

    def _set_residuals(self) -> None:
        """Set the residuals of the conditions of optimality, their size, and the primal objective."""
        w, t, alpha, slack, beta, below, room, excess = self.iterate
        self._residual_w = w - self._fixed_sum - self._positives.T @ alpha + self._negatives.T @ beta
        self._residual_t = float(self._fixed_total + alpha.sum() - beta.sum())
        margins = self._positives @ w - t
        relieved = margins + excess if self._bounded else margins
        self._residual_slack = slack - (relieved + self._quadratic * alpha - 1.0)
        self._residual_below = below - (t - self._negatives @ w)
        self._residual_room = self._upper_bound - alpha - room if self._bounded else NONE
        shortfall = np.maximum(1.0 - margins, 0.0)
        losses = shortfall**2 if self._squared else shortfall
        fixed_loss = self._fixed_total * (1.0 + t) - float(self._fixed_sum @ w)
        self._objective = 0.5 * float(w @ w) + float(self._C @ losses) + fixed_loss
        # Unmet constraints can move the objective by at most the sum of their multipliers times their size.
        total = self._fixed_total + float(self._C.sum())
        unmet = float(np.abs(self._residual_slack).max() + np.abs(self._residual_below).max())
        self._infeasibility = total * unmet + abs(self._residual_t)

    def _factor(self) -> None:
        """Factor the matrix of the normal equations in (w, t)."""
        w, _, alpha, slack, beta, below, room, excess = self.iterate
        # Eliminating the slacks, and then alpha and beta, leaves weighted sums of outer products of rows.
        resistance = slack / alpha + self._quadratic
        if self._bounded:
            resistance = resistance + excess / room
        self._positive_weights, self._negative_weights = 1.0 / resistance, beta / below
        n_features = len(w)
        matrix = np.zeros((n_features + 1, n_features + 1))
        classes = (self._positives, self._positive_weights), (self._negatives, self._negative_weights)
        for rows, weights in classes:
            matrix[:-1, :-1] += _weighted_gram(rows, weights)
            matrix[-1, :-1] -= rows.T @ weights
            matrix[-1, -1] += weights.sum()
        matrix[:-1, -1] = matrix[-1, :-1]
        matrix[np.arange(n_features), np.arange(n_features)] += 1.0
        # With columns in very different units the factor is accurate only after scaling.
        self._scale = 1.0 / np.sqrt(np.diag(matrix))
        scaled = matrix * np.outer(self._scale, self._scale)
        scaled[np.diag_indices_from(scaled)] += tolerances.RIDGE
        self._cholesky = scipy.linalg.cho_factor(scaled, lower=True, check_finite=False)

    def _direction(self, target: float, predictor: _Iterate | None = None) -> _Iterate:
        """Return the Newton step to complementarity products of ``target``, corrected for a predictor."""
        now = self.iterate
        aims = [target - left * right for left, right in now.pairs]
        if predictor is not None:
            aims = [aim - left * right for aim, (left, right) in zip(aims, predictor.pairs, strict=True)]
        to_slack, to_below, to_excess = aims
        positive_aims = self._residual_slack + to_slack / now.alpha
        if self._bounded:
            positive_aims = positive_aims - (to_excess - now.excess * self._residual_room) / now.room
        negative_aims = self._residual_below + to_below / now.beta
        weighted_positives = self._positive_weights * positive_aims
        weighted_negatives = self._negative_weights * negative_aims
        in_w = -self._residual_w + self._positives.T @ weighted_positives
        in_w -= self._negatives.T @ weighted_negatives
        right = np.append(in_w, -self._residual_t - weighted_positives.sum() + weighted_negatives.sum())
        move = self._scale * scipy.linalg.cho_solve(self._cholesky, self._scale * right, check_finite=False)
        w, t = move[:-1], float(move[-1])
        alpha = self._positive_weights * (positive_aims - (self._positives @ w - t))
        beta = self._negative_weights * (negative_aims - (t - self._negatives @ w))
        room = self._residual_room - alpha if self._bounded else NONE
        slack, below, excess = (
            (aim - right * move) / left
            for aim, move, (left, right) in zip(aims, (alpha, beta, room), now.pairs, strict=True)
        )
        return _Iterate(w, t, alpha, slack, beta, below, room, excess)


def _weighted_gram(rows: Any, weights: Floats) -> Any:
    """Return ``rows.T @ diag(weights) @ rows``."""
    if sp.issparse(rows):
        return (rows.T @ sp.diags_array(weights) @ rows).toarray()
    # A product of a matrix with its own transpose takes half the work of one of two matrices.
    weighted = rows * np.sqrt(weights)[:, None]
    return weighted.T @ weighted
