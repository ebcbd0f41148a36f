r"""Cutting planes for a convex risk of the scores.

Minimise :math:`P(w) = \tfrac12 \|w\|^2 + C R(Xw)`, where R is convex, has kinks, and falls at most linearly.
With the value and a subgradient of R at the points seen so far, the planes :math:`a_j \cdot w + b_j \le
R(Xw)`, the dual is to maximise

.. math::

    D(v) = b \cdot v - \tfrac12 \|A^T v\|^2, \qquad v \ge 0,\; \sum_j v_j = C ,

a small quadratic program whose value bounds P from below, and :math:`w = -A^T v` minimises the planes' bound.
The next plane is taken near the best point known, found by a line search towards that minimiser, and not at
the minimiser, where the planes alone would lead. The line search is one of its own: it keeps the best point
that it sees, and slopes that jump at kinks leave nothing to Newton's method.

The ramp surrogate of precision at k, which is a difference of convex functions, is minimised by one such
problem after another: at each step the concave part is replaced by its tangent.

Thorsten Joachims, *Training linear SVMs in linear time*, KDD 2006; Vojtěch Franc, Soeren Sonnenburg,
*Optimized cutting plane algorithm for support vector machines*, ICML 2008, for the line search; Alan Yuille,
Anand Rangarajan, *The concave-convex procedure*, Neural Computation 15 (2003).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pushrank._numeric import Floats
from pushrank.models import LinearModel, Model
from pushrank.solvers.result import Callback, Certificate, CertifiedSolution

Risk = Callable[[Floats], tuple[float, Floats, float]]
"""A convex function of the scores of all rows, with a subgradient, and that plane's value at zero scores.

The difference of the value and the product of subgradient and scores is the last too, but for the rounding of
large scores, which would lift a plane above the risk."""

STEP_BEYOND = 0.1  # of the way left to the planes' minimiser: the next plane is taken past the best point
MIN_BRACKET = 1e-2  # of the way to the planes' minimiser: the next plane tells more than a finer search
BOUND_TOLERANCE = 0.01  # of the gap to reach: how exactly the small quadratic program is solved
RIDGE = 1e-13  # of the largest squared normal: planes may be alike
MIN_UNIT = 1e-100  # of the largest offset: squared normals below it curve nothing
TINY = np.finfo(float).tiny  # keeps the divisor negative where nothing changes
MAX_ACTIVE_SET_CHANGES = 200  # after a plane; a handful are needed
MAX_FEATURES_EXACT = 100  # up to which the small program in coefficients and planes costs next to nothing


class Planes(NamedTuple):
    """Planes below a risk, whatever its weight: what a run leaves to one with another weight."""

    normals: Floats  # shape (n_planes, n_features); the first is zero where the risk is never negative
    offsets: Floats  # their values at zero coefficients
    gram: Floats  # inner products of the normals
    dual: Floats  # dual variables, which add up to the weight of the risk
    coef: Floats  # the best coefficients found

    @classmethod
    def none(cls, coef: Floats, n_known: int = 1) -> Planes:
        """Return no planes but, where the risk is never negative, zero; and coefficients to start from."""
        known = np.zeros(n_known)
        return cls(np.zeros((n_known, len(coef))), known, np.zeros((n_known, n_known)), known + 1.0, coef)

    def tilted(self, gradient: Floats) -> Planes:
        """Return the planes below the risk plus a linear function, where neither risk is ever negative."""
        normals = self.normals + gradient
        normals[0] = 0.0
        return self._replace(normals=normals, gram=normals @ normals.T)


def cutting_plane(
    risk: Risk,
    model: Model,
    C: float,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    start: Planes | None = None,
    *,
    non_negative: bool = True,
) -> CertifiedSolution:
    """Minimise until the relative gap of the bounds is at most ``tol``; the state returned is the planes.

    A risk that is ``non_negative`` has the plane zero to begin with; ``start`` may be the planes of a run
    with another C. A plane costs two passes over the data and about ten evaluations of the risk; with
    kernels, three products with the kernel matrix. ``callback`` is called after each with its number, the
    objective, the gap.
    """
    if start is None:
        start = Planes.none(model.rmatvec(np.zeros(model.n_rows)), int(non_negative))
    normals, offsets, gram, dual, coef = start
    if len(dual):
        dual = C / dual.sum() * dual
    best = _evaluate(risk, model, C, coef)
    cut_at = best
    few = isinstance(model, LinearModel) and model.n_features <= MAX_FEATURES_EXACT
    for iteration in range(1, max_iter + 1):
        normal = model.rmatvec(cut_at.gradient)
        normals = np.vstack([normals, normal])
        products = model.products(normals, normal)
        gram = np.block([[gram, products[:-1, None]], [products]])
        offsets = np.append(offsets, cut_at.offset)
        dual = np.append(dual, 0.0 if len(dual) else C)
        precision = BOUND_TOLERANCE * tol * abs(best.value) / C
        lowest = _maximise_bound(gram, offsets, dual, precision, normals if few else None)
        combined = -(dual @ normals)
        minimiser = _evaluate(risk, model, C, combined if lowest is None else lowest)
        # afresh: the products in gram may be too large to cancel to a norm that is far smaller
        norm = minimiser.squared_norm if lowest is None else float(combined @ combined)
        bound = float(dual @ offsets) - 0.5 * norm
        best, cut_at = _line_search(risk, model, C, best, minimiser)
        certificate = Certificate(best.value, bound)
        if callback is not None:
            callback(iteration, objective=best.value, gap=certificate.gap)
        if certificate.gap <= tol:
            break
        kept = dual > 0.0  # others no longer bind: the quadratic program stays small
        kept[0] |= non_negative
        normals, offsets, dual = normals[kept], offsets[kept], dual[kept]
        gram = gram[np.ix_(kept, kept)]
    # afresh, without the rounding that has piled up on the way
    certificate = Certificate(_evaluate(risk, model, C, best.coef).value, bound)
    planes = Planes(normals, offsets, gram, dual, best.coef)
    return CertifiedSolution(best.coef, certificate, iteration, planes)


class _Evaluation(NamedTuple):
    """The objective at coefficients, with the risk and its gradient in the scores."""

    coef: Floats
    scores: Floats
    squared_norm: float
    gradient: Floats
    offset: float  # of the plane that touches the risk here
    value: float


def _evaluate(risk: Risk, model: Model, C: float, coef: Floats) -> _Evaluation:
    scores = model.scores(coef)
    loss, gradient, offset = risk(scores)
    squared_norm = model.squared_norm(coef, scores)
    return _Evaluation(coef, scores, squared_norm, gradient, offset, 0.5 * squared_norm + C * loss)


def _line_search(
    risk: Risk, model: Model, C: float, best: _Evaluation, end: _Evaluation
) -> tuple[_Evaluation, _Evaluation]:
    """Return the best point on the way from the best known to the end, and one a little further on.

    Along the way the squared norm is a quadratic, known from the ends.
    """
    product = float(model.products(best.coef, end.coef, end.scores))

    def slope_at(step: float, gradient: Floats) -> float:
        norm_slope = step * end.squared_norm - (1.0 - step) * best.squared_norm + (1.0 - 2.0 * step) * product
        return norm_slope + C * float(gradient @ (end.scores - best.scores))

    def evaluate(step: float) -> _Evaluation:
        rest = 1.0 - step
        scores = rest * best.scores + step * end.scores
        loss, gradient, offset = risk(scores)
        norm = rest**2 * best.squared_norm + 2.0 * rest * step * product + step**2 * end.squared_norm
        coef = rest * best.coef + step * end.coef
        return _Evaluation(coef, scores, norm, gradient, offset, 0.5 * norm + C * loss)

    lowest, lowest_at = (best, 0.0) if best.value <= end.value else (end, 1.0)
    falling, rising = slope_at(0.0, best.gradient), slope_at(1.0, end.gradient)
    low, high = 0.0, 1.0
    while rising > 0.0 > falling and high - low > MIN_BRACKET:
        # halfway between where the slopes point and the middle: neither end stays put for long
        step = 0.5 * (low - falling * (high - low) / (rising - falling)) + 0.25 * (low + high)
        point = evaluate(step)
        slope = slope_at(step, point.gradient)
        if point.value < lowest.value:
            lowest, lowest_at = point, step
        if slope < 0.0:
            low, falling = step, slope
        else:
            high, rising = step, slope
        if slope == 0.0:
            break
    return lowest, evaluate(lowest_at + STEP_BEYOND * (1.0 - lowest_at))


def _maximise_bound(
    gram: Floats, offsets: Floats, dual: Floats, tol: float, normals: Floats | None = None
) -> Floats | None:
    """Set the dual variables, whose sum stays, to those of the highest bound, by the active set method.

    The bound is highest over the planes of positive variables as if signs were free; a plane whose variable
    would turn negative leaves, and one that would raise the bound by more than ``tol`` for a unit joins.
    Where ``normals`` are given, the coefficients at which the planes are minimal are returned.
    """
    longest, highest = float(np.diag(gram).max()), float(np.abs(offsets).max())
    unit = max(longest, MIN_UNIT * highest) or 1.0
    total, used, joined = float(dual.sum()), dual > 0.0, -1
    coef: Floats | None = None
    for _ in range(MAX_ACTIVE_SET_CHANGES):
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
            # a plane that has just joined, and is like another, has nothing to give and no way to go
            ways = np.where(now[falling] > 0.0, now[falling] / -np.minimum(change[falling], -TINY), 0.0)
            way = float(ways.min())
            dual[active] = np.maximum(now + way * change, 0.0)
            left = active[falling][ways <= way]
            dual[left], used[left] = 0.0, False
            if way == 0.0 and joined in left:
                break  # as far as floats reach
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
    # the system is singular in columns that hold nothing but rounding, where the sum over planes is right
    combined = -(dual @ normals)
    return min(coef, combined, key=lambda w: 0.5 * w @ w + total * (offsets + normals @ w).max())


def _unconstrained_change(gram: Floats, gradient: Floats) -> Floats:
    """Return the change of dual variables, of any sign and nothing in all, that raises the bound most."""
    n_planes = len(gradient)
    system = np.ones((n_planes + 1, n_planes + 1))
    system[:-1, :-1] = gram + RIDGE * np.eye(n_planes)
    system[-1, -1] = 0.0
    change: Floats = np.linalg.solve(system, np.append(-gradient, 0.0))[:-1]
    return change


def _primal_and_dual(normals: Floats, offsets: Floats, total: float) -> tuple[Floats, Floats]:
    """Return the dual variables of the highest bound, of any sign, and the coefficients they belong to.

    Both are unknowns of one system, in units of the columns. Products of planes lose a column whose unit is a
    hundred million times another's, and the sum over planes loses that other's coefficient.
    """
    n_planes, n_features = normals.shape
    units = 1.0 / np.maximum(np.abs(normals).max(axis=0), MIN_UNIT)
    in_units, curvature = normals * units, units**2
    largest = np.maximum(curvature, 1.0)  # of a row of the system, by which it is divided
    system = np.zeros((n_features + n_planes + 1,) * 2)
    system[:n_features, :n_features] = np.diag(curvature / largest)
    system[:n_features, n_features:-1] = in_units.T / largest[:, None]
    system[n_features:-1, :n_features] = in_units
    system[n_features:-1, n_features:-1] = (
        -RIDGE * (float(np.abs(offsets).max()) or 1.0) / total * np.eye(n_planes)
    )
    system[n_features:-1, -1], system[-1, n_features:-1] = -1.0, 1.0  # the planes' height, the variables' sum
    solution = np.linalg.solve(system, np.concatenate([np.zeros(n_features), -offsets, [total]]))
    return solution[n_features:-1], units * solution[:n_features]
