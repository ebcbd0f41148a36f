r"""Cutting planes for a convex risk of the scores.

Minimise :math:`P(w) = \tfrac12 \|w\|^2 + C R(Xw)`, where R is convex, has kinks, and falls at most linearly.
With the value and a subgradient of R at the points seen so far, the planes :math:`a_j \cdot w + b_j \le
R(Xw)`, the dual is to maximise

.. math::

    D(v) = b \cdot v - \tfrac12 \|A^T v\|^2, \qquad v \ge 0,\; \sum_j v_j = C ,

a small quadratic program whose value bounds P from below; :math:`w = -A^T v` minimises the bound by the
planes. A line search goes from the best point so far towards that minimiser, and the next plane touches the
risk a little beyond the best point on the way, which needs fewer planes than touching it at the minimiser.

Joachims, *Training linear SVMs in linear time*, KDD 2006; Franc and Sonnenburg, *Optimized cutting plane
algorithm for support vector machines*, ICML 2008, for the line search.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pushrank._base.numeric import Floats
from pushrank.models import LinearModel, Model
from pushrank.solvers import tolerances
from pushrank.solvers.result import Callback, Certificate, CertifiedSolution

Risk = Callable[[Floats], tuple[float, Floats, float]]
"""A convex function of the scores of all rows: value, a subgradient, and that plane's value at zero scores.

The last is the value less the product of subgradient and scores. It is asked for, because that difference
would be rounded for large scores and could lift a plane above the risk."""


class Planes(NamedTuple):
    """Planes below a risk, which a run with another weight of the risk can start from."""

    # `normals` has shape (n_planes, n_features), and the first is zero if the risk is never negative.
    # `offsets` are the planes' values at zero coefficients, `gram` the inner products of the normals, `dual`
    # variables that add up to the weight of the risk, and `coef` the best coefficients so far.

    normals: Floats
    offsets: Floats
    gram: Floats
    dual: Floats
    coef: Floats

    @classmethod
    def none(cls, coef: Floats, *, non_negative: bool = True) -> Planes:
        """Return the plane zero if the risk is never negative, else none, and coefficients to start from."""
        n_planes = int(non_negative)
        zero = np.zeros(n_planes)
        return cls(np.zeros((n_planes, len(coef))), zero, np.zeros((n_planes, n_planes)), zero + 1.0, coef)

    def tilted(self, gradient: Floats) -> Planes:
        """Return planes below the risk plus a linear function, if neither risk is ever negative."""
        normals = self.normals + gradient
        normals[0] = 0.0
        return self._replace(normals=normals, gram=normals @ normals.T)


def cutting_plane(
    risk: Risk,
    model: Model,
    C: float,
    callback: Callback | None = None,
    start: Planes | None = None,
    *,
    tol: float,
    max_iter: int,
    max_seconds: float = np.inf,
    non_negative: bool = True,
) -> CertifiedSolution:
    """Minimise until the relative gap of the bounds is at most ``tol``; the state returned is the planes."""
    # It ends after `max_iter` planes, and with the first plane that is ready after `max_seconds`.
    # A risk that is `non_negative` has the plane zero to begin with; `start` may be the planes of a run with
    # another C. A plane costs two passes over the data and about ten evaluations of the risk.
    started = time.monotonic()
    if start is None:
        start = Planes.none(model.rmatvec(np.zeros(model.n_rows)), non_negative=non_negative)
    normals, offsets, gram, dual, coef = start
    if len(dual):
        dual = C / dual.sum() * dual
    best = _evaluate(risk, model, C, coef)
    cut_at = best
    # With few features the small program is solved in coefficients and planes, which keeps more digits.
    few = isinstance(model, LinearModel) and model.n_features <= tolerances.MAX_FEATURES_EXACT
    for iteration in range(1, max_iter + 1):
        normal, offset = model.rmatvec(cut_at.gradient), cut_at.offset
        # Every point holds a number or two a row, and that is let go.
        cut_at = best
        normals = np.vstack([normals, normal])
        products = model.products(normals, normal)
        gram = np.block([[gram, products[:-1, None]], [products]])
        offsets = np.append(offsets, offset)
        dual = np.append(dual, 0.0 if len(dual) else C)
        precision = tolerances.BOUND_TOLERANCE * tol * abs(best.value) / C
        lowest = _maximise_bound(gram, offsets, dual, precision, normals if few else None)
        combined = -(dual @ normals)
        minimiser = _evaluate(risk, model, C, combined if lowest is None else lowest)
        # Computed afresh: the products in gram may be too large to cancel to a norm that is far smaller.
        norm = minimiser.squared_norm if lowest is None else float(combined @ combined)
        bound = float(dual @ offsets) - 0.5 * norm
        best, cut_at = _line_search(risk, model, C, best, minimiser)
        del minimiser
        certificate = Certificate(best.value, bound)
        if callback is not None:
            callback(iteration, objective=best.value, gap=certificate.gap)
        if certificate.gap <= tol or time.monotonic() - started >= max_seconds:
            break
        # Planes without a dual variable no longer bind: without them the quadratic program stays small.
        kept = dual > 0.0
        kept[0] |= non_negative
        normals, offsets, dual = normals[kept], offsets[kept], dual[kept]
        gram = gram[np.ix_(kept, kept)]
    # Computed afresh, since the line searches have accumulated rounding in the scores.
    certificate = Certificate(_evaluate(risk, model, C, best.coef).value, bound)
    planes = Planes(normals, offsets, gram, dual, best.coef)
    return CertifiedSolution(best.coef, certificate, iteration, planes)


class _Evaluation(NamedTuple):
    """The objective at coefficients, the gradient of the risk in the scores, and that plane's offset."""

    coef: Floats
    scores: Floats
    squared_norm: float
    gradient: Floats
    offset: float
    value: float


def _evaluate(risk: Risk, model: Model, C: float, coef: Floats) -> _Evaluation:
    scores = model.scores(coef)
    loss, gradient, offset = risk(scores)
    squared_norm = model.squared_norm(coef, scores)
    return _Evaluation(coef, scores, squared_norm, gradient, offset, 0.5 * squared_norm + C * loss)


def _line_search(
    risk: Risk, model: Model, C: float, best: _Evaluation, end: _Evaluation
) -> tuple[_Evaluation, _Evaluation]:
    """Return the best point between the best so far and the end, and a point a little beyond it."""
    # On the line the squared norm is a parabola that follows from the two ends.
    product = float(model.products(best.coef, end.coef, end.scores))

    def slope_at(step: float, gradient: Floats) -> float:
        norm_slope = step * end.squared_norm - (1.0 - step) * best.squared_norm + (1.0 - 2.0 * step) * product
        return norm_slope + C * float(gradient @ (end.scores - best.scores))

    def scores_at(step: float) -> Floats:
        return (1.0 - step) * best.scores + step * end.scores

    def evaluate(step: float) -> _Evaluation:
        rest = 1.0 - step
        loss, gradient, offset = risk(scores_at(step))
        norm = rest**2 * best.squared_norm + 2.0 * rest * step * product + step**2 * end.squared_norm
        # A trial holds no scores, which follow from those of the ends.
        coef = rest * best.coef + step * end.coef
        return _Evaluation(coef, np.empty(0), norm, gradient, offset, 0.5 * norm + C * loss)

    lowest, lowest_at = (best, 0.0) if best.value <= end.value else (end, 1.0)
    falling, rising = slope_at(0.0, best.gradient), slope_at(1.0, end.gradient)
    low, high = 0.0, 1.0
    while rising > 0.0 > falling and high - low > tolerances.MIN_BRACKET:
        # The mean of the secant's zero and the middle moves both ends of the bracket.
        step = 0.5 * (low - falling * (high - low) / (rising - falling)) + 0.25 * (low + high)
        point = evaluate(step)
        slope = slope_at(step, point.gradient)
        if point.value < lowest.value:
            lowest, lowest_at = point, step
        if slope < 0.0:
            low, falling = step, slope
        else:
            high, rising = step, slope
        # The next trial is made without a third gradient.
        del point
        if slope == 0.0:
            break
    beyond = evaluate(lowest_at + tolerances.STEP_BEYOND * (1.0 - lowest_at))
    if 0.0 < lowest_at < 1.0:
        lowest = lowest._replace(scores=scores_at(lowest_at))
    return lowest, beyond


def _maximise_bound(
    gram: Floats, offsets: Floats, dual: Floats, tol: float, normals: Floats | None = None
) -> Floats | None:
    """Set the dual variables to those of the highest bound, by the active set method; their sum stays."""
    # A plane whose variable would turn negative leaves, and one that would raise the bound by more than `tol`
    # per unit joins. With `normals` the coefficients that minimise the planes' bound are returned, else None.
    longest, highest = float(np.diag(gram).max()), float(np.abs(offsets).max())
    unit = max(longest, tolerances.MIN_UNIT * highest) or 1.0
    total, used, joined = float(dual.sum()), dual > 0.0, -1
    coef: Floats | None = None
    for _ in range(tolerances.MAX_ACTIVE_SET_CHANGES):
        active = np.flatnonzero(used)
        now = dual[active]
        if normals is None:
            gradient = (gram[active] @ dual - offsets[active]) / unit
            change = _unconstrained_change(gram[np.ix_(active, active)] / unit, gradient)
        else:
            unconstrained, coef = _primal_and_dual(normals[active], offsets[active], total)
            change = unconstrained - now
        falling = now + change <= 0.0
        if falling.any():
            # The variables move until the first of them is zero. That of a plane which has just joined, and
            # equals another, is zero from the start.
            falls = -np.minimum(change[falling], -tolerances.TINY)
            steps = np.where(now[falling] > 0.0, now[falling] / falls, 0.0)
            step = float(steps.min())
            dual[active] = np.maximum(now + step * change, 0.0)
            leaving = active[falling][steps <= step]
            dual[leaving], used[leaving] = 0.0, False
            # A plane that joins and leaves at once would do so for ever: rounding allows no higher bound.
            if step == 0.0 and joined in leaving:
                break
            continue
        dual[active] += change
        heights = offsets - gram @ dual if normals is None or coef is None else offsets + normals @ coef
        gains = np.where(used, -np.inf, heights - heights[active].min())
        joined = int(np.argmax(gains))
        if gains[joined] <= tol:
            break
        used[joined] = True
    dual *= total / dual.sum()
    if normals is None or coef is None:
        return coef
    # The system is singular in columns that hold nothing but rounding. There the sum over planes is right.
    combined = -(dual @ normals)
    return min(coef, combined, key=lambda w: 0.5 * w @ w + total * (offsets + normals @ w).max())


def _unconstrained_change(gram: Floats, gradient: Floats) -> Floats:
    """Return the change of dual variables that raises the bound most; its signs are free and its sum zero."""
    n_planes = len(gradient)
    system = np.ones((n_planes + 1, n_planes + 1))
    system[:-1, :-1] = gram + tolerances.PLANES_RIDGE * np.eye(n_planes)
    system[-1, -1] = 0.0
    return np.linalg.solve(system, np.append(-gradient, 0.0))[:-1]


def _primal_and_dual(normals: Floats, offsets: Floats, total: float) -> tuple[Floats, Floats]:
    """Return the dual variables of the highest bound, of any sign, and the coefficients they make."""
    # Both are unknowns of one system, in units of the columns. Two columns whose units differ by a hundred
    # million would not survive the alternatives: products of planes lose the column of the larger unit, and
    # the sum over planes loses the coefficient of the other.
    n_planes, n_features = normals.shape
    units = 1.0 / np.maximum(np.abs(normals).max(axis=0), tolerances.MIN_UNIT)
    in_units, curvature = normals * units, units**2
    # Every row of the system is divided by its largest entry.
    largest = np.maximum(curvature, 1.0)
    system = np.zeros((n_features + n_planes + 1,) * 2)
    system[:n_features, :n_features] = np.diag(curvature / largest)
    system[:n_features, n_features:-1] = in_units.T / largest[:, None]
    system[n_features:-1, :n_features] = in_units
    system[n_features:-1, n_features:-1] = (
        -tolerances.PLANES_RIDGE * (float(np.abs(offsets).max()) or 1.0) / total * np.eye(n_planes)
    )
    # The last unknown is the common height of the active planes, the last equation the sum of the variables.
    system[n_features:-1, -1], system[-1, n_features:-1] = -1.0, 1.0
    solution = np.linalg.solve(system, np.concatenate([np.zeros(n_features), -offsets, [total]]))
    return solution[n_features:-1], units * solution[:n_features]
