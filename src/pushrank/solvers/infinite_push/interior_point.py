"""The dual by an interior point method on a working set.

Which positives of an Infinite Push have variables of their own in a restricted problem.

Under the hinge a positive well below its margin has its variable at the upper bound, and one well above it at
zero. Held there they enter as a constant pull, however many they are: only those near the margin are free.
Held variables are feasible, so that a restricted solution still bounds the whole problem.

The Infinite Push by an interior point method on working sets of rows.

Few negatives ever are the highest-scored: a restricted problem of some hundred of them is solved, those that
its answer scores too high join, and so on. Of the positives those near their margin take part, where there
are many. A restricted dual solution is feasible for the whole problem, so that the certificate is one of the
whole problem too.

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
from pushrank.solvers.infinite_push.dual import DualPoint, WorstNegative
from pushrank.solvers.result import Callback

FREE = 16  # times the number of features
LEAST_FREE = 64
WRONG = 0.1  # of the tolerated gap, which holding may cost


class HeldPositives:
    """A choice of free positives, at first an even sample of them that stands for all.

    Attributes
    ----------
    free : ndarray of shape (n_free,)
        Their numbers among the positives, ascending.
    costs : ndarray of shape (n_free,)
        Their costs.
    held : ndarray of shape (n_positives,)
        The variables of those that are held; zero for the free.
    """

    def __init__(self, problem: WorstNegative, n_features: int) -> None:
        self._costs = problem.costs
        n_positives = len(problem.costs)
        self._size = max(FREE * n_features, LEAST_FREE)
        self._chosen = problem.squared or n_positives <= 2 * self._size
        self.held = np.zeros(n_positives)
        if self._chosen:
            self.free = np.arange(n_positives)
            self.costs = problem.costs
        else:
            self.free = np.linspace(0, n_positives - 1, self._size).astype(np.intp)
            self.costs = problem.costs[self.free] * (problem.costs.sum() / problem.costs[self.free].sum())

    def whole(self, alpha: Floats) -> Floats:
        """Return the variables of all positives from those of the free."""
        variables = self.held.copy()
        variables[self.free] = alpha
        return variables

    def suits(self, margins: Floats, tolerated: float) -> bool:
        """Return whether holding costs little at the margins of all positives; else free more of them.

        From the sample on it is those nearest to the margin that are free, and then all that turn out to be
        held at the wrong bound: each time the restricted problem's optimum rises towards that of the whole.
        """
        if not self._chosen:
            self._chosen = True
            self.free = _nearest(np.abs(margins - 1.0), self._size)
            self.held = np.where(margins < 1.0, self._costs, 0.0)
        else:
            wrong = np.maximum(np.where(self.held > 0.0, margins - 1.0, 1.0 - margins), 0.0)
            wrong[self.free] = 0.0
            if float(self._costs @ wrong) <= WRONG * tolerated:
                return True
            self.free = np.union1d(self.free, np.flatnonzero(wrong))
        self.held[self.free] = 0.0
        self.costs = self._costs[self.free]
        return False


def _nearest(distances: Floats, size: int) -> NDArray[np.intp]:
    """Return the numbers of the smallest distances, ascending."""
    if size >= len(distances):
        return np.arange(len(distances))
    return np.sort(np.argpartition(distances, size - 1)[:size])


SMALL = 1 << 22  # entries up to which sparse data are as well taken for dense
FIRST_NEGATIVES = 16  # times the number of features
MORE_NEGATIVES = 8
LEAST_NEGATIVES = 64
STEP = 0.995  # of the way to the boundary
CHEAP_WORK = 1 << 20  # below this (I + J) d^2, iterations take milliseconds
REFINED = 1e-14  # and so does going on to this gap, or as far as rounding lets
STALLED = 3
CENTRED = 0.1  # of the mean complementarity product, in a step that goes without correction
RIDGE = 1e-15
NONE = np.zeros(0)
FIRST_GAP, LATER_GAP = 1e-1, 0.03  # of the first restricted problem; of later ones, against the last gap


def interior_point(
    problem: WorstNegative,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    start: DualPoint | None = None,
) -> tuple[DualPoint, int]:
    """Return dual variables whose relative gap is at most ``tol``, and the number of iterations.

    Parameters
    ----------
    problem : WorstNegative
        Dense data.
    tol : float
        The relative duality gap to reach.
    max_iter : int
        The most iterations in all.
    callback : callable, optional
        Called after every iteration with its number, the primal objective and the gap.
    start : DualPoint, optional
        A feasible point near the optimum: its highest-scored negatives are the first working set.

    Notes
    -----
    An iteration factors a matrix of d + 1 rows, made in O((I + J) d^2), I and J being the sizes of the
    working sets; every round reads all rows a few times.
    """
    model, sample = problem.model, problem.sample
    if not isinstance(model, LinearModel):
        raise TypeError("the interior point method needs a linear model; use smo for kernels.")
    n_features = model.n_features
    direction = _towards_positives(problem) if start is None else start.coef
    scores = model.scores(direction)
    choice = HeldPositives(problem, n_features)
    if start is not None:
        choice.suits(scores[sample.positives] - scores[sample.negatives].max(), 0.0)
    size = max(FIRST_NEGATIVES * n_features, LEAST_NEGATIVES)
    working = _highest(scores[sample.negatives], size)
    positives, centre, pull = _free_rows(problem, choice)
    best: DualPoint | None = None
    # as long as negatives are missing, precision is wasted
    n_iter, within = 0, max(0.1 * tol, FIRST_GAP)
    while True:
        negatives = _less(_rows(model, sample.negatives[working]), centre)
        room = max_iter - n_iter
        restricted = _Restricted(problem, choice, pull, positives, negatives)
        cheap = (positives.shape[0] + negatives.shape[0]) * n_features**2 <= CHEAP_WORK
        n_iter += restricted.solve(within, REFINED if cheap else within, room)
        now = restricted.now
        whole = np.zeros(len(sample.negatives))
        whole[working] = now.beta
        point = problem.at(choice.whole(now.alpha), whole)
        scores = model.scores(now.w)
        if point.certificate.gap > tol:
            point = problem.improved(point, now.w, scores)
        if best is None or point.certificate.gap < best.certificate.gap:
            best = point
        if callback is not None:
            callback(n_iter, objective=point.certificate.primal, gap=point.certificate.gap)
        if best.certificate.gap <= tol or n_iter >= max_iter:
            return best, n_iter
        margins = scores[sample.positives] - (now.t + now.w @ centre)
        suits = choice.suits(margins, tol * abs(best.certificate.primal))
        if not suits:
            positives, centre, pull = _free_rows(problem, choice)
        # not the scores of the point, whose coefficients rounding may have made another's
        scores = scores[sample.negatives]
        highest_within = scores[working].max()
        outside = np.ones(len(scores), dtype=bool)
        outside[working] = False
        outside &= scores > highest_within
        candidates = np.flatnonzero(outside)
        if suits and not len(candidates):
            if within <= 0.1 * tol:
                return best, n_iter
            within = 0.1 * tol
            continue
        within = max(0.1 * tol, min(within, LATER_GAP * point.certificate.gap))
        # those that no longer come near the top leave
        kept = working[
            (now.beta > 1e-9 * now.beta.max()) | (scores[working] > np.quantile(scores[working], 0.5))
        ]
        size = max(MORE_NEGATIVES * n_features, LEAST_NEGATIVES)
        joining = candidates[_highest(scores[candidates], size)]
        working = np.union1d(kept, joining)


def _free_rows(problem: WorstNegative, choice: HeldPositives) -> tuple[Any, Floats, Floats]:
    """Return the rows of the free positives less a centre, the centre, and the pull of the held ones.

    The centre is their mean, against the rounding of what all rows share; sparse rows stay as they are.
    """
    model, sample = problem.model, problem.sample
    rows = _rows(model, sample.positives[choice.free])
    centre = np.zeros(rows.shape[1]) if sp.issparse(rows) else rows.mean(axis=0)
    held, mean = float(choice.held.sum()), np.asarray(rows.mean(axis=0)).ravel()
    if held == 0.0:
        return _less(rows, centre), centre, np.zeros_like(centre)
    factors = choice.held.copy()
    factors[choice.free] = -held / len(choice.free)
    pull = model.rmatvec(sample.scatter(factors, np.zeros(len(sample.negatives))))
    return _less(rows, centre), centre, pull + held * (mean - centre)


def _rows(model: Any, numbers: NDArray[np.intp]) -> Any:
    """Return some rows, dense and each less the same constant, or CSR where all of them are many numbers."""
    X = model.data
    sparse = sp.issparse(X) and X.shape[0] * X.shape[1] > SMALL
    return X.tocsr()[numbers] if sparse else model.rows(numbers)


def _less(rows: Any, centre: Floats) -> Any:
    """Return dense rows less a centre."""
    return rows if sp.issparse(rows) else rows - centre


def _towards_positives(problem: WorstNegative) -> Floats:
    """Return the way from the mean of the negatives to that of the positives."""
    n_positives, n_negatives = len(problem.sample.positives), len(problem.sample.negatives)
    shares = np.full(n_positives, 1.0 / n_positives), np.full(n_negatives, -1.0 / n_negatives)
    return problem.model.rmatvec(problem.sample.scatter(*shares))


def _weighted_gram(rows: Any, weights: Floats) -> Any:
    """Return ``rows.T @ diag(weights) @ rows``."""
    if sp.issparse(rows):
        return (rows.T @ sp.diags_array(weights) @ rows).toarray()
    weighted = rows * np.sqrt(weights)[:, None]
    return weighted.T @ weighted  # half the work of a product of two matrices


def _highest(scores: Floats, size: int) -> NDArray[np.intp]:
    """Return the numbers of the highest scores, ascending."""
    if size >= len(scores):
        return np.arange(len(scores))
    return np.sort(np.argpartition(-scores, size - 1)[:size])


class _Variables(NamedTuple):
    """The variables of a restricted problem, or a step of them.

    The primal ones are w, t and the positives' excess (the hinge's slack variable); ``slack`` and ``below``
    are what the constraints of the positives and of the negatives have to spare, with the multipliers
    ``alpha`` and ``beta``, and ``room`` = upper - alpha is that of the excess. The last two are empty where
    there is no upper bound.
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
    def products(self) -> float:
        """The sum of these products."""
        return float(sum(left @ right for left, right in self.pairs))

    def after(self, step: _Variables, length: float) -> _Variables:
        """Return the variables after a step."""
        both: Iterable[tuple[Any, Any]] = zip(self, step, strict=True)
        return _Variables(*(value + length * move for value, move in both))

    def longest(self, step: _Variables) -> float:
        """Return the longest step of at most one that keeps the pairs positive."""
        both = zip(chain(*self.pairs), chain(*step.pairs), strict=True)
        # the largest share of a variable that a whole step would take away
        taken = max(float(np.max(-move / value, initial=0.0)) for value, move in both)
        return 1.0 / max(taken, 1.0)


class _Restricted:
    """The problem of some positives and some negatives, by Mehrotra's method.

    Parameters
    ----------
    problem : WorstNegative
        The loss.
    choice : HeldPositives
        The free positives' costs, and what is held.
    pull : ndarray of shape (d,)
        The sum of the held positives times their variables.
    positives, negatives : ndarray of shape (I, d) and (J, d)
        Rows, less a common centre.
    """

    def __init__(
        self,
        problem: WorstNegative,
        choice: HeldPositives,
        pull: Floats,
        positives: Floats,
        negatives: Floats,
    ) -> None:
        self._problem, self._positives, self._negatives = problem, positives, negatives
        self._costs, self._pull, self._held = choice.costs, pull, float(choice.held.sum())
        self._bounded = not problem.squared
        self._bend = problem.bend[choice.free]
        self._upper = self._costs if self._bounded else problem.upper
        costs = self._costs
        alpha, ones = 0.5 * costs, np.ones(positives.shape[0])
        self.now = _Variables(
            w=np.zeros(positives.shape[1]),
            t=0.0,
            alpha=alpha,
            slack=ones,
            beta=np.full(negatives.shape[0], (self._held + alpha.sum()) / negatives.shape[0]),
            below=np.ones(negatives.shape[0]),
            room=0.5 * costs if self._bounded else NONE,
            excess=ones if self._bounded else NONE,
        )

    @np.errstate(all="ignore")  # as far as floats reach
    def solve(self, tol: float, target: float, max_iter: int) -> int:
        """Go on until the complementarity is within ``tol`` of the objective; return the iterations.

        From there it goes on to ``target`` as long as rounding lets it.
        """
        least, stalled = np.inf, 0
        for iteration in range(max_iter):
            if self._finished(tol):
                if self._products <= target * self._value:
                    return iteration
                stalled = 0 if self._products < 0.5 * least else stalled + 1
                least = min(least, self._products)
                if stalled == STALLED:
                    return iteration
            try:
                self._factor()
            except scipy.linalg.LinAlgError:
                return iteration
            affine = self._direction(0.0)
            after = self.now.after(affine, self.now.longest(affine)).products
            count = sum(len(left) for left, _ in self.now.pairs)
            centred = self._products / count * (after / self._products) ** 3
            step = self._direction(centred, affine)
            corrected = self.now.after(step, STEP * self.now.longest(step)).products
            if self._unmet < self._products < corrected:
                # the correction, made for a whole step, leads astray in a short one, round and round
                step = self._direction(CENTRED * self._products / count)
            if not all(np.isfinite(part).all() for part in step):
                return iteration
            self.now = self.now.after(step, STEP * self.now.longest(step))
        return max_iter

    def _finished(self, tol: float) -> bool:
        """Set the residuals of the conditions of optimality, and return whether all are small."""
        w, t, alpha, slack, beta, below, room, excess = self.now
        self._products = self.now.products
        self._of_w = w - self._pull - self._positives.T @ alpha + self._negatives.T @ beta
        self._of_t = float(self._held + alpha.sum() - beta.sum())
        margins = self._positives @ w - t
        relieved = margins + excess if self._bounded else margins
        self._of_slack = slack - (relieved + self._bend * alpha - 1.0)
        self._of_below = below - (t - self._negatives @ w)
        self._of_room = self._upper - alpha - room if self._bounded else NONE
        shortfall = np.maximum(1.0 - margins, 0.0)
        losses = shortfall**2 if self._problem.squared else shortfall
        of_held = self._held * (1.0 + t) - float(self._pull @ w)
        self._value = 0.5 * float(w @ w) + float(self._costs @ losses) + of_held
        total = self._held + float(self._costs.sum())
        unmet = float(np.abs(self._of_slack).max() + np.abs(self._of_below).max())
        self._unmet = total * unmet + abs(self._of_t)
        return self._products + self._unmet <= tol * self._value

    def _factor(self) -> None:
        """Factor the matrix of the normal equations in (w, t)."""
        w, _, alpha, slack, beta, below, room, excess = self.now
        resistance = slack / alpha + self._bend
        if self._bounded:
            resistance = resistance + excess / room
        self._of_positives, self._of_negatives = 1.0 / resistance, beta / below
        n_features = len(w)
        matrix = np.zeros((n_features + 1, n_features + 1))
        for rows, weights in (
            (self._positives, self._of_positives),
            (self._negatives, self._of_negatives),
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

    def _direction(self, target: float, affine: _Variables | None = None) -> _Variables:
        """Return the Newton step to complementarity products of ``target``, corrected for a first one."""
        now = self.now
        aims = [target - left * right for left, right in now.pairs]
        if affine is not None:
            aims = [aim - left * right for aim, (left, right) in zip(aims, affine.pairs, strict=True)]
        to_slack, to_below, to_excess = aims
        of_positives = self._of_slack + to_slack / now.alpha
        if self._bounded:
            of_positives = of_positives - (to_excess - now.excess * self._of_room) / now.room
        of_negatives = self._of_below + to_below / now.beta
        pull_p, pull_n = self._of_positives * of_positives, self._of_negatives * of_negatives
        right = np.append(
            -self._of_w + self._positives.T @ pull_p - self._negatives.T @ pull_n,
            -self._of_t - pull_p.sum() + pull_n.sum(),
        )
        move = self._scale * scipy.linalg.cho_solve(self._cholesky, self._scale * right, check_finite=False)
        w, t = move[:-1], float(move[-1])
        alpha = self._of_positives * (of_positives - (self._positives @ w - t))
        beta = self._of_negatives * (of_negatives - (t - self._negatives @ w))
        room = self._of_room - alpha if self._bounded else NONE
        slack, below, excess = (
            (aim - right * move) / left
            for aim, move, (left, right) in zip(aims, (alpha, beta, room), now.pairs, strict=True)
        )
        return _Variables(w, t, alpha, slack, beta, below, room, excess)
