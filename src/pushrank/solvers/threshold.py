r"""The loss of positives against a threshold at a share of the rows, minimised on the rows that matter.

The method is that of :mod:`pushrank.solvers.smoothing`: kinks are rounded ever less. Rows far below the
threshold have no part in the objective, and leaving rows out never raises the threshold: a lower bound of the
optimum with some of the rows is one with all of them, so that one product with all rows certifies the answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrank._numeric import Floats
from pushrank.models import LinearModel
from pushrank.objectives.threshold import ThresholdEvaluation, ThresholdObjective
from pushrank.pairs import BipartiteSample, Sample
from pushrank.rows import MemoryRows
from pushrank.solvers.problem import ScoresProblem
from pushrank.solvers.result import Callback, Certificate, CertifiedSolution, offset_callback
from pushrank.solvers.smoothing import smoothing
from pushrank.solvers.tolerances import MAX_PART_COPIED, PART_TOLERANCE

# The rows at the threshold are likely to stay among this multiple of them while the scores change.
REACH = 1.5
# Fewer rows are not worth a choice.
MIN_ROWS = 50_000
# Rows of these many are spread over all rows, and give the first coefficients.
FIRST_ROWS = 20_000


class RoundedThreshold:
    """A threshold objective with kinks of a width, as :mod:`pushrank.solvers.smoothing` asks for it.

    ``total`` is the weight above the threshold, which a part of the rows has from all of them.
    """

    powers = None
    bounded = True

    def __init__(self, objective: ThresholdObjective, total: float, width: float = 0.0) -> None:
        self._objective, self._total, self._width = objective, total, width

    def rounded(self, _sample: Sample, width: float, _temperature: float) -> RoundedThreshold:
        """Return the objective with kinks of another width."""
        return RoundedThreshold(self._objective, self._total, width)

    def evaluation(self, sample: Sample, scores: Floats) -> ThresholdEvaluation:
        """Return the rounded objective at given scores."""
        return self._objective.at(sample, scores, self._total, self._width)

    def lower_bound(self, point: Any) -> float:
        """Return a bound of the objective and the penalty over all coefficients, by the plane at a point."""
        slopes = point.gradient - point.problem.alpha * point.coef
        return float(point.evaluation.offset - point.problem.dual_penalty(-slopes))


def minimise_above_threshold(
    objective: ThresholdObjective,
    model: LinearModel,
    sample: BipartiteSample,
    C: float,
    callback: Callback | None = None,
    start: Floats | None = None,
    *,
    tol: float,
    max_iter: int,
) -> CertifiedSolution:
    """Return coefficients whose relative gap is at most ``tol``, by L-BFGS on rounded kinks.

    Of many rows the positives and those near the threshold are copied, and solved for alone.
    """
    total, kept = objective.total(sample), sample.class_codes == 1
    risk = RoundedThreshold(objective, total)
    if model.n_rows < MIN_ROWS or model.in_row_space:
        first = np.zeros(model.n_features) if start is None else start
        return _solve(risk, model, sample, C, callback, first, tol, max_iter)
    coef, dual, n_iter = start, 0.0, 0
    if coef is None:
        every = max(1, model.n_rows // FIRST_ROWS)
        spread = np.zeros(model.n_rows, dtype=bool)
        spread[sample.positives[::every]] = spread[sample.negatives[::every]] = True
        part = _part(model, sample, spread)
        share = sum(part[1].class_weights) / sum(sample.class_weights)
        first = np.zeros(model.n_features)
        some = RoundedThreshold(objective, share * total)
        found = _solve(some, *part, C, None, first, PART_TOLERANCE * tol, max_iter)
        coef, n_iter = found.coef, found.n_iter
    while n_iter < max_iter:
        scores = model.scores(coef)
        at_point = objective.at(sample, scores, total)
        certificate = Certificate(0.5 * float(coef @ coef) + C * at_point.value, dual)
        if certificate.gap <= tol:
            return CertifiedSolution(coef, certificate, n_iter, coef)
        reach = int(REACH * np.count_nonzero(at_point.slopes[sample.negatives] > 0.0))
        if not coef.any() or reach + np.count_nonzero(kept) > MAX_PART_COPIED * model.n_rows:
            break
        negatives = sample.negatives[np.argpartition(-scores[sample.negatives], reach)[:reach]]
        if kept[negatives].all():
            break
        kept[negatives] = True
        shifted, left = offset_callback(callback, n_iter), max_iter - n_iter
        found = _solve(risk, *_part(model, sample, kept), C, shifted, coef, PART_TOLERANCE * tol, left)
        coef, dual, n_iter = found.coef, found.certificate.dual, n_iter + found.n_iter
    left = max(1, max_iter - n_iter)
    found = _solve(risk, model, sample, C, offset_callback(callback, n_iter), coef, tol, left)
    return found._replace(n_iter=n_iter + found.n_iter)


def _part(
    model: LinearModel, sample: BipartiteSample, kept: NDArray[np.bool_]
) -> tuple[LinearModel, BipartiteSample]:
    """Return some of the rows, copied."""
    weights = None if sample.row_weights is None else sample.row_weights[kept]
    part = BipartiteSample.from_mask(sample.class_codes[kept] == 1, weights)
    return LinearModel(model.data[kept], centred=model.centred), part


def _solve(
    risk: RoundedThreshold,
    model: LinearModel,
    sample: Sample,
    C: float,
    callback: Callback | None,
    start: Floats,
    tol: float,
    max_iter: int,
) -> CertifiedSolution:
    """Return the solution on all rows of a model."""
    # L-BFGS asks for values, gradients and the curvature's diagonal alone.
    objective: Any = risk
    problem = ScoresProblem(objective, MemoryRows(model, sample), 1.0 / C)

    def scaled(iteration: int, /, **shown: float) -> None:
        """Show the values of the problem times C, the weight of the risk in the certificate."""
        if callback is not None:
            callback(iteration, **{name: C * value for name, value in shown.items()})

    result = smoothing(problem, start, tol, max_iter, scaled, risk.rounded)
    bounds: Any = result.certificate
    certificate = Certificate(C * bounds.primal, C * bounds.dual)
    return CertifiedSolution(result.coef, certificate, result.n_iter, result.coef)
