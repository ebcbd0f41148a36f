r"""The dual of the Infinite Push by an interior point method on working sets, for dense and for small data.

Few negatives ever are the highest-scored, and under the hinge few positives are near their margin: a
restricted problem of those rows is solved, rows that it turns out to need join, and so on until none is
missing.

- Negatives: some hundred of the highest-scored; those that the answer scores higher than all of these join.
- Positives (shrinking, where they are many, and under the hinge alone): one well below its margin has its
  variable at the upper bound, one well above it at zero. Fixed there they enter as a constant vector, however
  many they are; only those near the margin are free.

A solution of the restricted problem is feasible for the whole problem, so that its certificate is one of the
whole problem too. A general solver of quadratic programs, clarabel, takes 5 to 50 times as long on a
restricted problem of 30 to 120 features (benchmarks/restricted_qp.txt).

Sanjay Mehrotra, *On the implementation of a primal-dual interior point method*, SIAM Journal on Optimization
2 (1992), 575-601, for the predictor and corrector steps.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from pushrank._numeric import Floats
from pushrank.models import LinearModel
from pushrank.solvers.infinite_push.dual import DualSolution, InfinitePushDual
from pushrank.solvers.result import Callback

# The sizes of working sets, times the number of features: that many rows can be at the margin.
FREE_POSITIVES, MIN_FREE_POSITIVES = 16, 64
FIRST_NEGATIVES, MORE_NEGATIVES, MIN_NEGATIVES = 16, 8, 64
MAX_DENSE_ENTRIES = 1 << 22  # 32 MB; sparse data of fewer entries are quicker as dense ones

# Precision, relative to the objective.
RESTRICTED_TOLERANCE = 0.1  # of the tolerated gap: what rows outside leave comes on top of a restricted one
SHRINKING_TOLERANCE = 0.1  # of the tolerated gap, which variables at the wrong bound may cost
FIRST_GAP, LATER_GAP = 1e-1, 0.03  # of the first restricted problem; of later ones, times the last whole gap
CHEAP_WORK = 1 << 20  # below this (I + J) d^2 iterations take milliseconds, and it goes on to the gap below
CHEAP_GAP = 1e-14  # relative: what rounding of the sums leaves
MAX_STALLED = 3  # iterations that did not halve the gap, before that is as far as rounding lets it

# The method itself.
BOUNDARY_FRACTION = 0.995  # of the way to the boundary, from which no step could be taken
PLAIN_CENTRING = 0.1  # of the mean complementarity product, in a step that goes without correction
RIDGE = 1e-15  # on a matrix of unit diagonal: its factor exists whatever rounding does
NEGLIGIBLE_BETA = 1e-9  # of the largest: what an interior point has for zero
NONE = np.zeros(0)


def interior_point(
    dual: InfinitePushDual,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    start: DualSolution | None = None,
) -> tuple[DualSolution, int]:
    """Return dual variables whose relative gap is at most ``tol``, and the number of iterations.

    The highest-scored negatives of ``start``, feasible and near the optimum, are the first working set;
    ``callback`` is called after every restricted problem with the iterations, the primal objective and the
    gap. An iteration factors a matrix of d + 1 rows, made in O((I + J) d^2), I and J being the sizes of the
    working sets; every restricted problem reads all rows a few times.
    """
    model, sample = dual.model, dual.sample
    if not isinstance(model, LinearModel):
        raise TypeError("the interior point method needs a linear model; use smo for kernels.")
    n_features = model.n_features
    scores = model.scores(_difference_of_means(dual) if start is None else start.coef)
    shrinking = Shrinking(dual, n_features)
    if start is not None:
        shrinking.check_and_update(scores[sample.positives] - scores[sample.negatives].max(), 0.0)
    working = _highest(scores[sample.negatives], max(FIRST_NEGATIVES * n_features, MIN_NEGATIVES))
    positives, centre, fixed_sum = _free_rows(dual, shrinking)
    best: DualSolution | None = None
    # as long as negatives are missing, precision is wasted
    n_iter, within = 0, max(RESTRICTED_TOLERANCE * tol, FIRST_GAP)
    while True:
        negatives = _minus(_rows(model, sample.negatives[working]), centre)
        restricted = _RestrictedProblem(dual, shrinking, fixed_sum, positives, negatives)
        cheap = (positives.shape[0] + negatives.shape[0]) * n_features**2 <= CHEAP_WORK
        n_iter += restricted.solve(within, CHEAP_GAP if cheap else within, max_iter - n_iter)
        found = restricted.iterate
        beta = np.zeros(len(sample.negatives))
        beta[working] = found.beta
        solution = dual.solution(shrinking.all_variables(found.alpha), beta)
        scores = model.scores(found.w)
        if solution.certificate.gap > tol:
            solution = dual.with_better_coef(solution, found.w, scores)
        if best is None or solution.certificate.gap < best.certificate.gap:
            best = solution
        if callback is not None:
            callback(n_iter, objective=solution.certificate.primal, gap=solution.certificate.gap)
        if best.certificate.gap <= tol or n_iter >= max_iter:
            return best, n_iter
        margins = scores[sample.positives] - (found.t + found.w @ centre)
        right_bounds = shrinking.check_and_update(margins, tol * abs(best.certificate.primal))
        if not right_bounds:
            positives, centre, fixed_sum = _free_rows(dual, shrinking)
        # not the scores of the solution, whose coefficients rounding may have made another's
        negative_scores = scores[sample.negatives]
        missing = negative_scores > negative_scores[working].max()
        missing[working] = False
        candidates = np.flatnonzero(missing)
        if right_bounds and not len(candidates):
            if within <= RESTRICTED_TOLERANCE * tol:
                return best, n_iter
            within = RESTRICTED_TOLERANCE * tol
            continue
        within = max(RESTRICTED_TOLERANCE * tol, min(within, LATER_GAP * solution.certificate.gap))
        # those that no longer come near the top leave
        near_top = negative_scores[working] > np.quantile(negative_scores[working], 0.5)
        kept = working[(found.beta > NEGLIGIBLE_BETA * found.beta.max()) | near_top]
        n_joining = max(MORE_NEGATIVES * n_features, MIN_NEGATIVES)
        working = np.union1d(kept, candidates[_highest(negative_scores[candidates], n_joining)])


class Shrinking:
    """Which positives' dual variables are free in the restricted problem, and which are fixed at a bound.

    At first an even sample of the positives is free and stands for all; then those nearest to the margin, the
    others being fixed. ``free`` are the ascending numbers of the free ones among the positives, ``free_C``
    their :math:`C_i`; ``fixed`` holds the values of the fixed variables, zero for the free ones.
    """

    def __init__(self, dual: InfinitePushDual, n_features: int) -> None:
        self._C = dual.sample_C
        n_positives = len(self._C)
        self._n_free = max(FREE_POSITIVES * n_features, MIN_FREE_POSITIVES)
        # without upper bounds only zero could be fixed, and few variables are zero
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
        """Return whether fixing costs little at the margins of all positives; else free more of them.

        After the sample those nearest to the margin are free, and then all that turn out to be fixed at the
        wrong bound: each time the restricted problem's optimum rises towards that of the whole.
        """
        if not self._chosen:
            self._chosen = True
            self.free = _nearest(np.abs(margins - 1.0), self._n_free)
            self.fixed = np.where(margins < 1.0, self._C, 0.0)
        else:
            wrong = np.maximum(np.where(self.fixed > 0.0, margins - 1.0, 1.0 - margins), 0.0)
            wrong[self.free] = 0.0
            if float(self._C @ wrong) <= SHRINKING_TOLERANCE * tolerance:
                return True
            self.free = np.union1d(self.free, np.flatnonzero(wrong))
        self.fixed[self.free] = 0.0
        self.free_C = self._C[self.free]
        return False


def _nearest(distances: Floats, size: int) -> NDArray[np.intp]:
    """Return the numbers of the smallest distances, ascending."""
    if size >= len(distances):
        return np.arange(len(distances))
    return np.sort(np.argpartition(distances, size - 1)[:size])


def _highest(scores: Floats, size: int) -> NDArray[np.intp]:
    """Return the numbers of the highest scores, ascending."""
    return _nearest(-scores, size)


def _free_rows(dual: InfinitePushDual, shrinking: Shrinking) -> tuple[Any, Floats, Floats]:
    """Return the rows of the free positives less a centre, the centre, and the sum of the fixed ones.

    The centre is their mean, against the rounding of what all rows share; sparse rows stay as they are.
    """
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


def _rows(model: Any, numbers: NDArray[np.intp]) -> Any:
    """Return some rows, dense and each less the same constant, or CSR where all of them are many numbers."""
    X = model.data
    sparse = sp.issparse(X) and X.shape[0] * X.shape[1] > MAX_DENSE_ENTRIES
    return X.tocsr()[numbers] if sparse else model.rows(numbers)


def _minus(rows: Any, centre: Floats) -> Any:
    """Return dense rows less a centre, sparse ones as they are."""
    return rows if sp.issparse(rows) else rows - centre


def _difference_of_means(dual: InfinitePushDual) -> Floats:
    """Return the mean of the positives less that of the negatives."""
    n_positives, n_negatives = len(dual.sample.positives), len(dual.sample.negatives)
    factors = np.full(n_positives, 1.0 / n_positives), np.full(n_negatives, -1.0 / n_negatives)
    return dual.model.rmatvec(dual.sample.scatter(*factors))


class _Iterate(NamedTuple):
    """The variables of a restricted problem, or a step of them.

    The primal ones are w, t and the positives' ``excess`` (the hinge's slack variable); ``slack`` and
    ``below`` are what the constraints of the positives and of the negatives have to spare, with the
    multipliers ``alpha`` and ``beta``, and ``room`` = upper bound - alpha is that of the excess. The last two
    are empty where there is no upper bound.
    """

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
        """The positive variables whose products are zero at an optimum."""
        return (self.alpha, self.slack), (self.beta, self.below), (self.room, self.excess)

    @property
    def complementarity(self) -> float:
        """The sum of these products, which is the duality gap of a feasible iterate."""
        return float(sum(left @ right for left, right in self.pairs))

    def after(self, step: _Iterate, length: float) -> _Iterate:
        """Return the variables after a step."""
        both: Iterable[tuple[Any, Any]] = zip(self, step, strict=True)
        return _Iterate(*(value + length * move for value, move in both))

    def max_length(self, step: _Iterate) -> float:
        """Return the longest step of at most one that keeps the pairs positive."""
        both = zip(chain(*self.pairs), chain(*step.pairs), strict=True)
        # the largest fraction of a variable that a whole step would take away
        taken = max(float(np.max(-move / value, initial=0.0)) for value, move in both)
        return 1.0 / max(taken, 1.0)


class _RestrictedProblem:
    """The problem of some positives and some negatives, by Mehrotra's method.

    ``fixed_sum`` is the sum of the fixed positives times their variables; the rows ``positives`` and
    ``negatives``, dense or CSR, are less a common centre.
    """

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

    @np.errstate(all="ignore")  # overflow ends the iterations: as far as floats reach
    def solve(self, tol: float, cheap_tol: float, max_iter: int) -> int:
        """Go on until the complementarity is within ``tol`` of the objective; return the iterations.

        From there it goes on to ``cheap_tol`` as long as rounding lets it.
        """
        least, n_stalled = np.inf, 0
        for iteration in range(max_iter):
            gap = self.iterate.complementarity
            self._set_residuals()
            if gap + self._infeasibility <= tol * self._objective:
                if gap <= cheap_tol * self._objective:
                    return iteration
                n_stalled = 0 if gap < 0.5 * least else n_stalled + 1
                least = min(least, gap)
                if n_stalled == MAX_STALLED:
                    return iteration
            try:
                self._factor()
            except scipy.linalg.LinAlgError:
                return iteration
            predictor = self._direction(0.0)
            predicted = self.iterate.after(predictor, self.iterate.max_length(predictor)).complementarity
            count = sum(len(left) for left, _ in self.iterate.pairs)
            # Mehrotra's centring: the less the predictor leaves of the gap, the lower the aim
            step = self._direction(gap / count * (predicted / gap) ** 3, predictor)
            corrected = self.iterate.after(step, BOUNDARY_FRACTION * self.iterate.max_length(step))
            if self._infeasibility < gap < corrected.complementarity:
                # the correction, made for a whole step, leads astray in a short one, round and round
                step = self._direction(PLAIN_CENTRING * gap / count)
            if not all(np.isfinite(part).all() for part in step):
                return iteration
            self.iterate = self.iterate.after(step, BOUNDARY_FRACTION * self.iterate.max_length(step))
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
        total = self._fixed_total + float(self._C.sum())
        unmet = float(np.abs(self._residual_slack).max() + np.abs(self._residual_below).max())
        self._infeasibility = total * unmet + abs(self._residual_t)

    def _factor(self) -> None:
        """Factor the matrix of the normal equations in (w, t)."""
        w, _, alpha, slack, beta, below, room, excess = self.iterate
        resistance = slack / alpha + self._quadratic
        if self._bounded:
            resistance = resistance + excess / room
        self._positive_weights, self._negative_weights = 1.0 / resistance, beta / below
        n_features = len(w)
        matrix = np.zeros((n_features + 1, n_features + 1))
        for rows, weights in (
            (self._positives, self._positive_weights),
            (self._negatives, self._negative_weights),
        ):
            matrix[:-1, :-1] += _weighted_gram(rows, weights)
            matrix[-1, :-1] -= rows.T @ weights
            matrix[-1, -1] += weights.sum()
        matrix[:-1, -1] = matrix[-1, :-1]
        matrix[np.arange(n_features), np.arange(n_features)] += 1.0
        # columns of very different units leave the factor exact only after scaling
        self._scale = 1.0 / np.sqrt(np.diag(matrix))
        scaled = matrix * np.outer(self._scale, self._scale)
        scaled[np.diag_indices_from(scaled)] += RIDGE
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
        right = np.append(
            -self._residual_w
            + self._positives.T @ weighted_positives
            - self._negatives.T @ weighted_negatives,
            -self._residual_t - weighted_positives.sum() + weighted_negatives.sum(),
        )
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
    weighted = rows * np.sqrt(weights)[:, None]
    return weighted.T @ weighted  # half the work of a product of two matrices
