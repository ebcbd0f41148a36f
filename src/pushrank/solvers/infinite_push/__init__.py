"""The Infinite Push by the method that suits the data."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from pushrank import losses
from pushrank.losses import Hinge, Loss, SquaredHinge
from pushrank.models import LinearModel, Model
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample, Sample
from pushrank.prices import Maximum
from pushrank.solvers.infinite_push.dual import DualPoint, HingeLoss, WorstNegative, shared_costs
from pushrank.solvers.infinite_push.interior_point import SMALL, interior_point
from pushrank.solvers.infinite_push.semismooth_newton import projected_dual, semismooth_newton
from pushrank.solvers.infinite_push.smo import smo
from pushrank.solvers.result import Callback, Certificate, CertifiedResult, Result

METHODS = {
    "interior-point": interior_point,
    "semismooth-newton": semismooth_newton,
    "projected-dual": projected_dual,
    "smo": smo,
}
HINGES: dict[type[Loss], HingeLoss] = {Hinge: "hinge", SquaredHinge: "squared_hinge"}
WIDEST = 1000  # columns up to which factoring a matrix of that size is cheap
WIDEST_FACTORED = 3000  # and up to which it is a way out
PATIENCE = 300  # iterations of Newton's method before it is taken


def method_for(model: Model) -> str:
    """Return the name of the method that is quickest on the data."""
    if not isinstance(model, LinearModel):
        return "smo"
    X = model.data
    few = X.shape[1] <= WIDEST and (not sp.issparse(X) or X.shape[0] * X.shape[1] <= SMALL)
    return "interior-point" if few else "semismooth-newton"


def quickest(
    problem: WorstNegative,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    start: DualPoint | None = None,
) -> tuple[DualPoint, int]:
    """Return what the method that suits the data finds, and the interior point where Newton's is slow.

    Parameters are those of :func:`pushrank.solvers.infinite_push.interior_point.interior_point`.
    """
    name = method_for(problem.model)
    if name != "semismooth-newton" or problem.model.n_features > WIDEST_FACTORED:  # type: ignore[attr-defined]
        return METHODS[name](problem, tol, max_iter, callback, start)
    point, n_iter = semismooth_newton(problem, tol, min(PATIENCE, max_iter), callback, start)
    if point.certificate.gap <= tol or n_iter >= max_iter:
        return point, n_iter

    def go_on(iteration: int, /, **shown: float) -> None:
        if callback is not None:
            callback(n_iter + iteration, **shown)

    other, more = interior_point(problem, tol, max_iter - n_iter, go_on, point)
    return min(point, other, key=lambda found: found.certificate.gap), n_iter + more


def is_infinite_push(objective: PushObjective, sample: Sample) -> bool:
    """Return whether an objective is the largest sum of hinges, or of their squares, of two classes."""
    of_hinges = type(losses.resolve(objective.loss)) in HINGES and isinstance(objective.price, Maximum)
    return of_hinges and objective.side != "both" and isinstance(sample, BipartiteSample)


def infinite_push(
    objective: PushObjective,
    model: LinearModel,
    sample: Sample,
    alpha: float,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
) -> CertifiedResult:
    r"""Minimise :math:`F(X w) + \frac{\alpha}{2} \|w\|^2` for an objective that is the Infinite Push.

    On the scale of the mean F is the largest mean loss of a negative, so that the problem is that of
    :class:`WorstNegative` times alpha, with costs of :math:`1/\alpha` in all. The pull of positives is the
    push of the classes exchanged, by the opposite coefficients.

    Parameters are those of :func:`pushrank.solvers.smoothing.smoothing`.

    Raises
    ------
    TypeError
        When the sample is not one of two classes.
    """
    if not isinstance(sample, BipartiteSample):
        raise TypeError("the Infinite Push is of two classes.")
    pulls = objective.side == "pull"
    sample = sample.swapped() if pulls else sample
    loss = HINGES[type(losses.resolve(objective.loss))]
    problem = WorstNegative(model, sample, shared_costs(sample, 1.0 / alpha), loss)
    path = [1.0]  # every loss is one where all scores are zero

    def note(iteration: int, /, **shown: float) -> None:
        path.extend([path[-1]] * (iteration - len(path)))  # between two looks it is as it was
        path[max(iteration, 1) :] = [alpha * shown["objective"]]
        if callback is not None:
            callback(iteration, **{**shown, "objective": path[-1]})

    point, n_iter = quickest(problem, tol, max_iter, note)
    certificate = Certificate(alpha * point.certificate.primal, alpha * point.certificate.dual)
    gap = certificate.gap
    coef = -point.coef if pulls else point.coef
    message = "" if gap <= tol else certificate.advice(n_iter, "raise alpha")
    result = Result(coef, np.array(path), bool(gap <= tol), gap, message)
    return CertifiedResult(result, certificate, path[0], certificate.proves_collapse(path[0], tol))
