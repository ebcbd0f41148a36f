"""The Infinite Push: a solver for dense data, one for sparse data and one for kernels, chosen by the data.

The dual and its notation are in :mod:`pushrank.solvers.infinite_push.dual`.
"""

import numpy as np
import scipy.sparse as sp

from pushrank import losses
from pushrank.losses import Hinge, Loss, SquaredHinge
from pushrank.models import LinearModel, Model
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample, Sample
from pushrank.prices import Maximum
from pushrank.solvers.infinite_push import tolerances
from pushrank.solvers.infinite_push.dual import DualSolution, HingeLoss, InfinitePushDual, cost_per_positive
from pushrank.solvers.infinite_push.interior_point import interior_point
from pushrank.solvers.infinite_push.semismooth_newton import semismooth_newton
from pushrank.solvers.infinite_push.smo import smo
from pushrank.solvers.result import Callback, Certificate, CertifiedSolution, Result, offset_callback

LINEAR_SOLVERS, KERNEL_SOLVERS = ("interior-point", "semismooth-newton"), ("smo",)
METHODS = {"interior-point": interior_point, "semismooth-newton": semismooth_newton, "smo": smo}
BY_PAIRS = "gradient-projection"
SOLVERS = ("auto", *LINEAR_SOLVERS, *KERNEL_SOLVERS, BY_PAIRS)
HINGES: dict[type[Loss], HingeLoss] = {Hinge: "hinge", SquaredHinge: "squared_hinge"}


def solve_infinite_push(
    model: Model,
    sample: BipartiteSample,
    C: float,
    callback: Callback | None = None,
    start: DualSolution | None = None,
    *,
    loss: HingeLoss,
    tol: float,
    max_iter: int,
    solver: str = "auto",
) -> CertifiedSolution:
    """Return the solution whose relative gap is at most ``tol``, or the best of ``max_iter`` iterations."""
    # C is the weight of the mean loss of the positives, `start` the state of a solution for another C.
    dual = InfinitePushDual(model, sample, cost_per_positive(sample, C), loss)
    start = None if start is None else dual.rescaled(start)
    name = solver_for(model) if solver == "auto" else solver
    # Newton's steps are slow on categories at a large C. A matrix that is small enough is factored then.
    few = isinstance(model, LinearModel) and model.n_features <= tolerances.MAX_FEATURES_FACTORED
    fallback = few and solver == "auto" and name == "semismooth-newton"
    patience = min(tolerances.MAX_NEWTON_ITERATIONS, max_iter) if fallback else max_iter
    best, n_iter = METHODS[name](dual, tol, patience, callback, start)
    if fallback and best.certificate.gap > tol and n_iter < max_iter:
        other, more = interior_point(dual, tol, max_iter - n_iter, offset_callback(callback, n_iter), best)
        best, n_iter = min(best, other, key=lambda either: either.certificate.gap), n_iter + more
    variables = sample.scatter(best.alpha, -best.beta)
    return CertifiedSolution(best.coef, best.certificate, n_iter, best, variables)


def solver_for(model: Model) -> str:
    """Return the name of the fastest solver for the data."""
    if not isinstance(model, LinearModel):
        return "smo"
    X = model.data
    dense = not sp.issparse(X) or X.shape[0] * X.shape[1] <= tolerances.MAX_DENSE_ENTRIES
    return "interior-point" if dense and X.shape[1] <= tolerances.MAX_FEATURES_DENSE else "semismooth-newton"


def is_infinite_push(objective: PushObjective, sample: Sample) -> bool:
    """Return whether an objective of two classes is the largest inner sum of hinges or of their squares."""
    hinge = type(losses.resolve(objective.loss)) in HINGES and isinstance(objective.price, Maximum)
    return hinge and objective.side != "both" and isinstance(sample, BipartiteSample)


def infinite_push(
    objective: PushObjective,
    model: LinearModel,
    sample: Sample,
    alpha: float,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
) -> Result:
    """Minimise an objective that is the Infinite Push, with a penalty."""
    # On the scale of the mean it is the largest mean loss of a negative: alpha times the problem of
    # `InfinitePushDual` with C = 1 / alpha. The pull of positives is the push of exchanged classes with
    # negated coefficients.
    if not isinstance(sample, BipartiteSample):
        raise TypeError("the Infinite Push is of two classes.")
    pulls = objective.side == "pull"
    sample = sample.swapped() if pulls else sample
    loss = HINGES[type(losses.resolve(objective.loss))]
    # Where all scores are zero every loss is one.
    path = [1.0]

    def record(iteration: int, /, **shown: float) -> None:
        # A solver reports after several iterations at once: those between repeat the last objective.
        path.extend([path[-1]] * (iteration - len(path)))
        path[max(iteration, 1) :] = [alpha * shown["objective"]]
        if callback is not None:
            callback(iteration, **{**shown, "objective": path[-1]})

    solution = solve_infinite_push(model, sample, 1.0 / alpha, record, loss=loss, tol=tol, max_iter=max_iter)
    certificate = Certificate(alpha * solution.certificate.primal, alpha * solution.certificate.dual)
    gap = certificate.gap
    coef = -solution.coef if pulls else solution.coef
    message = "" if gap <= tol else certificate.advice(solution.n_iter, "raise alpha")
    collapse = certificate.collapse(path[0], tol)
    return Result(coef, np.array(path), bool(gap <= tol), gap, message, certificate, collapse)
