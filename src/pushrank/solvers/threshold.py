r"""The loss of positives against a threshold at a share of the rows, minimised on the rows that matter.

The method is that of :mod:`pushrank.solvers.smoothing`: kinks are rounded ever less. Rows far below the
threshold have no part in the objective, and leaving rows out never raises the threshold: a lower bound of the
optimum with some of the rows is one with all of them, so that one product with all rows certifies the answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pushrank._numeric import Floats
from pushrank.models import LinearModel
from pushrank.objectives.threshold import ThresholdEvaluation, ThresholdObjective
from pushrank.pairs import BipartiteSample, Sample
from pushrank.rows import MemoryRows, spread_rows
from pushrank.solvers import tolerances
from pushrank.solvers.problem import ScoresProblem
from pushrank.solvers.result import Callback, Certificate, CertifiedSolution, offset_callback
from pushrank.solvers.smoothing import part_of, smoothing

# The rows at the threshold are likely to stay among this multiple of them while the scores change.
REACH = 1.5
# The first coefficients have only to choose rows.
CHOICE_TOL = 1e-2


class RoundedThreshold:
    """A threshold objective with kinks of a width, as :mod:`pushrank.solvers.smoothing` asks for it."""

    # `share` is the part of all weight that is above the threshold, of these rows or some spread over them.

    powers = None
    bounded = True

    def __init__(self, objective: ThresholdObjective, share: float, width: float = 0.0) -> None:
        self._objective, self._share, self._width = objective, share, width

    def rounded(self, _sample: Sample, width: float, _temperature: float) -> RoundedThreshold:
        """Return the objective with kinks of another width."""
        return RoundedThreshold(self._objective, self._share, width)

    def evaluation(self, sample: Sample, scores: Floats) -> ThresholdEvaluation:
        return self._objective.at(sample, scores, self._share * sum(sample.class_weights), self._width)

    def lower_bound(self, point: Any) -> float:
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
    """Return coefficients whose relative gap is at most ``tol``, by L-BFGS on rounded kinks."""
    # Of many rows the positives and those near the threshold are copied, and solved for alone.
    total, kept = objective.total(sample), sample.class_codes == 1
    if model.n_rows < tolerances.MANY_ROWS or model.in_row_space:
        first = np.zeros(model.n_features) if start is None else start
        return _solve(objective, total, model, sample, C, callback, first, tol, max_iter)
    coef, dual, n_iter = start, 0.0, 0
    if coef is None:
        part = spread_rows(MemoryRows(model, sample), tolerances.SPREAD_ROWS)
        first = np.zeros(model.n_features)
        few = total * sum(part.class_weights) / sum(sample.class_weights)
        few_rows = part.host_model, part.sample
        found = _solve(objective, few, *few_rows, C, None, first, max(tol, CHOICE_TOL), max_iter)
        coef, n_iter = found.coef, found.n_iter
        del part, few_rows, found
    while n_iter < max_iter:
        scores = model.scores(coef)
        at_point = objective.at(sample, scores, total)
        certificate = Certificate(0.5 * float(coef @ coef) + C * at_point.value, dual)
        if certificate.gap <= tol:
            return CertifiedSolution(coef, certificate, n_iter, coef)
        reach = int(REACH * np.count_nonzero(at_point.slopes[sample.negatives] > 0.0))
        negatives = None
        if coef.any() and reach + np.count_nonzero(kept) <= tolerances.MAX_PART_COPIED * model.n_rows:
            negatives = sample.negatives[np.argpartition(-scores[sample.negatives], reach)[:reach]]
        # What is solved next takes the place of what was held of all rows.
        del at_point, scores
        if negatives is None or kept[negatives].all():
            break
        kept[negatives] = True
        shifted, left = offset_callback(callback, n_iter), max_iter - n_iter
        accuracy = tolerances.PART_TOLERANCE * tol
        found = _solve(objective, total, *part_of(model, sample, kept), C, shifted, coef, accuracy, left)
        coef, dual, n_iter = found.coef, found.certificate.dual, n_iter + found.n_iter
    left = max(1, max_iter - n_iter)
    found = _solve(objective, total, model, sample, C, offset_callback(callback, n_iter), coef, tol, left)
    return found._replace(n_iter=n_iter + found.n_iter)


def _solve(
    risk: ThresholdObjective,
    total: float,
    model: LinearModel,
    sample: Sample,
    C: float,
    callback: Callback | None,
    start: Floats,
    tol: float,
    max_iter: int,
) -> CertifiedSolution:
    # L-BFGS asks for values, gradients and the curvature's diagonal alone.
    objective: Any = RoundedThreshold(risk, total / sum(sample.class_weights))
    problem = ScoresProblem(objective, MemoryRows(model, sample), 1.0 / C)
    # The certificate is of the problem times C.
    scaled = offset_callback(callback, 0, C)
    result = smoothing(problem, start, tol, max_iter, scaled, objective.rounded)
    bounds: Any = result.certificate
    certificate = Certificate(C * bounds.primal, C * bounds.dual)
    return CertifiedSolution(result.coef, certificate, result.n_iter, result.coef)
