"""Descent on the ramp surrogate of precision at k by the concave-convex procedure.

The ramp is a convex function less the sum of the scores of the k highest positives. With these positives kept
fixed it becomes a convex majorant, whose minimum, to which cutting planes lead, has a lower ramp. The minimum
is one over the rows within reach of the top, and over more rows if others have come up.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from pushrank._base.numeric import Floats
from pushrank.models import LinearModel
from pushrank.objectives.precision_at_k import (
    RAMP,
    evaluate_surrogate,
    highest,
    mean_ramp_majorant,
    ramp_majorant,
    select_top,
    top_positive_weights,
)
from pushrank.pairs import GradedSample
from pushrank.solvers import tolerances
from pushrank.solvers.cutting_plane import Planes, cutting_plane
from pushrank.solvers.result import Callback, Certificate


class Ramp(NamedTuple):
    """The ramp surrogate of precision at k: classes, sample weights and k as a number of rows."""

    positive: NDArray[np.bool_]
    sample_weight: Floats
    k: float

    def take(self, rows: NDArray[np.intp]) -> Ramp:
        return Ramp(self.positive[rows], self.sample_weight[rows], self.k)

    def value(self, scores: Floats) -> float:
        """Return the ramp over k."""
        slope = np.empty(len(scores))
        value, _ = evaluate_surrogate(RAMP, scores, self.positive, self.sample_weight, self.k, slope)
        return float(value) / self.k

    def in_top(self, scores: Floats) -> Floats:
        """Return how much of every row's weight is among the k highest positives."""
        return np.asarray(top_positive_weights(scores, self.positive, self.sample_weight, self.k))

    def majorant(self, in_top: Floats, scores: Floats) -> tuple[float, Floats, float]:
        """Return the majorant by the positives ``in_top`` over k, a subgradient, and its plane's offset."""
        slope = np.empty(len(scores))
        value, offset = ramp_majorant(in_top, scores, self.positive, self.sample_weight, self.k, slope)
        slope /= self.k
        return float(value) / self.k, slope, float(offset) / self.k

    def reach(self, in_top: Floats, scores: Floats) -> NDArray[np.bool_]:
        """Return which rows the majorant depends on near some scores: those ``in_top``, and the highest."""
        rows = np.flatnonzero(self.sample_weight > 0.0)
        count, _ = highest(scores + ~self.positive, self.sample_weight, rows, tolerances.REACH * self.k, 1.0)
        reach: NDArray[np.bool_] = in_top > 0.0
        reach[rows[:count]] = True
        return reach

    def hinges(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the margins of the pairs whose hinges add up to the ramp, and their weights over k."""
        negatives, positives, _ = select_top(scores, self.positive, self.sample_weight, self.k)
        high = scores[negatives.rows[: negatives.n_top]]
        low = scores[positives.rows[: positives.n_top]][::-1]
        # The highest negatives are paired with the lowest of the k highest positives. Rows are cut into
        # pieces of equal weight on both sides.
        ends, low_ends = np.cumsum(negatives.weights), np.cumsum(positives.weights[::-1])
        cuts = np.union1d(ends, low_ends[low_ends < ends[-1]])
        weights = np.diff(cuts, prepend=0.0)
        middles = cuts - 0.5 * weights
        positives_of_pairs = np.minimum(np.searchsorted(low_ends, middles), len(low) - 1)
        return low[positives_of_pairs] - high[np.searchsorted(ends, middles)], weights / self.k


class QueryRamp:
    """The mean of the ramps of query groups, each over its k: its methods are those of :class:`Ramp`."""

    # `k` is that of every row's query times their number, which divides the weights of rows `in_top`.

    def __init__(self, queries: GradedSample, ks: Floats) -> None:
        lists, weights = queries.lists(), queries.row_weights
        self._rows, self._starts, self._ks = np.concatenate(lists), np.cumsum([0, *map(len, lists)]), ks
        self._positive = queries.grades[self._rows] > 0.0
        self._weights = np.ones(len(self._rows)) if weights is None else weights[self._rows]
        self.k = np.ones(queries.n_rows)
        self.k[self._rows] = np.repeat(len(lists) * ks, np.diff(self._starts))

    def _ramps(self, scores: Floats) -> list[tuple[Ramp, NDArray[np.intp], Floats]]:
        """Return the ramp, the rows and the scores of each query."""
        arrays = self._positive, self._weights, self._rows, scores[self._rows]
        parts = zip(*(np.split(array, self._starts[1:-1]) for array in arrays), self._ks, strict=True)
        return [(Ramp(positive, weights, k), rows, part) for positive, weights, rows, part, k in parts]

    def take(self, rows: NDArray[np.intp]) -> QueryRamp:  # noqa: ARG002
        """Return the ramps: ``reach`` asks for all rows."""
        return self

    def value(self, scores: Floats) -> float:
        return float(np.mean([ramp.value(part) for ramp, _, part in self._ramps(scores)]))

    def in_top(self, scores: Floats) -> Floats:
        in_top = np.zeros(len(scores))
        for ramp, rows, part in self._ramps(scores):
            in_top[rows] = ramp.in_top(part)
        return in_top

    def majorant(self, in_top: Floats, scores: Floats) -> tuple[float, Floats, float]:
        slope, part = np.zeros(len(scores)), np.empty(len(self._rows))
        arrays = in_top[self._rows], scores[self._rows], self._positive, self._weights, part
        value, offset = mean_ramp_majorant(self._starts, self._ks, *arrays)
        slope[self._rows] = part
        return float(value), slope, float(offset)

    def reach(self, in_top: Floats, scores: Floats) -> NDArray[np.bool_]:  # noqa: ARG002
        """Return all rows: a query is a short list, most of which is near its top."""
        return np.ones(len(scores), dtype=bool)

    def hinges(self, scores: Floats) -> tuple[Floats, Floats]:
        margins, weights = zip(*(ramp.hinges(part) for ramp, _, part in self._ramps(scores)), strict=True)
        return np.concatenate(margins), np.concatenate(weights) / len(self._ks)


class Ray(NamedTuple):
    """The multiples of some coefficients: the margins of the pairs of hinges, and their weights over k."""

    coef: Floats
    squared_norm: float
    margins: Floats
    weights: Floats

    @classmethod
    def along(cls, ramp: Ramp | QueryRamp, model: LinearModel, coef: Floats) -> Ray:
        """Return the ray through some coefficients."""
        return cls(coef, float(coef @ coef), *ramp.hinges(model.scores(coef)))

    def best(self, C: float) -> tuple[float, float]:
        """Return the least objective along the ray, on which it is convex, and the multiple there."""
        at_zero = C * float(self.weights.sum())
        if self.squared_norm == 0.0:
            return at_zero, 0.0
        # Beyond this multiple the penalty alone exceeds the objective at zero.
        longest = np.sqrt(2.0 * at_zero / self.squared_norm)
        margins = longest * self.margins
        lowest = minimize_scalar(
            lambda part: part**2 * at_zero + C * float(self.weights @ np.maximum(1.0 - part * margins, 0.0)),
            bounds=(0.0, 1.0),
            method="bounded",
        )
        return (float(lowest.fun), float(lowest.x * longest)) if lowest.fun < at_zero else (at_zero, 0.0)


class Majorant(NamedTuple):
    """Planes below the majorant of the positives ``in_top``, and the rows ``reach`` it was minimised over."""

    planes: Planes
    in_top: Floats
    reach: NDArray[np.bool_]


class Descent(NamedTuple):
    """The end of a descent and its objectives; a descent with another C can start from ``state``."""

    coef: Floats
    path: list[float]
    converged: bool
    state: Majorant


def concave_convex(
    ramp: Ramp | QueryRamp,
    model: LinearModel,
    C: float,
    tol: float,
    max_iter: int,
    start: Ray | Descent,
    callback: Callback | None = None,
    state: Majorant | None = None,
) -> Descent:
    r"""Descend on :math:`\tfrac12 \|w\|^2 + C\,\mathrm{ramp}(Xw) / k` by one convex problem after another."""
    # It starts from the best point on a ray, or continues a descent, also one with another C from its
    # `state`, and ends when a problem, solved to the relative gap `tol`, lowers it by at most that part.
    if isinstance(start, Descent):
        multiple, path, state = 1.0, start.path.copy(), start.state
        if callback is not None and len(path) > 1:
            callback(len(path) - 1, objective=path[-1], fall=path[-2] - path[-1])
    else:
        objective, multiple = start.best(C)
        path = [objective]
    coef, scores = multiple * start.coef, model.scores(start.coef)
    in_top = ramp.in_top(scores)
    scores *= multiple
    majorant = Majorant(Planes.none(coef), in_top, ramp.reach(in_top, scores)) if state is None else state
    for iteration in range(len(path), max_iter + 1):
        majorant = move(majorant, ramp, model, in_top, coef)
        majorant, gap = minimise(majorant, ramp, model, C, tol)
        candidate = majorant.planes.coef
        scores = model.scores(candidate)
        objective = 0.5 * float(candidate @ candidate) + C * ramp.value(scores)
        fall = path[-1] - objective
        # Within the tolerance of a convex problem the ramp may rise, and then the last point is kept.
        if not fall > 0.0:
            return Descent(coef, path, gap <= tol, majorant)
        if callback is not None:
            callback(iteration, objective=objective, fall=fall)
        coef, in_top = candidate, ramp.in_top(scores)
        path.append(objective)
        if gap > tol or fall <= tol * objective:
            return Descent(coef, path, gap <= tol, majorant)
    return Descent(coef, path, False, majorant)


def move(
    majorant: Majorant, ramp: Ramp | QueryRamp, model: LinearModel, in_top: Floats, coef: Floats
) -> Majorant:
    """Return the majorant of other positives in the top, to be minimised from some coefficients."""
    # The two majorants differ by a linear function, so that the planes are kept and tilted.
    changed = (majorant.in_top - in_top) / ramp.k
    planes = majorant.planes.tilted(model.rmatvec(changed)) if changed.any() else majorant.planes
    return Majorant(planes._replace(coef=coef), in_top, majorant.reach | (in_top > 0.0))


def minimise(
    majorant: Majorant, ramp: Ramp | QueryRamp, model: LinearModel, C: float, tol: float
) -> tuple[Majorant, float]:
    """Minimise a majorant over the rows within reach, and more as they come up; return the relative gap."""
    planes, in_top, reach = majorant
    # Rows only join, so that the loop ends.
    while True:
        if reach.mean() > tolerances.MAX_PART_COPIED:
            reach = np.ones(model.n_rows, dtype=bool)
        rows = np.flatnonzero(reach)
        part = model if len(rows) == model.n_rows else LinearModel(model.data[rows])
        risk = partial(ramp.take(rows).majorant, in_top[rows])
        solution = cutting_plane(
            risk, part, C, start=planes, tol=tolerances.PART_TOLERANCE * tol, max_iter=tolerances.MAX_PLANES
        )
        planes = solution.state
        scores = model.scores(solution.coef)
        value, _, _ = ramp.majorant(in_top, scores)
        primal = 0.5 * float(solution.coef @ solution.coef) + C * value
        # The dual of some rows bounds the problem of all rows.
        gap = Certificate(primal, solution.certificate.dual).gap
        wider = reach | ramp.reach(in_top, scores)
        if gap <= tol or solution.n_iter == tolerances.MAX_PLANES or np.array_equal(wider, reach):
            return Majorant(planes, in_top, reach), gap
        reach = wider
