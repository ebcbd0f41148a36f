"""The Infinite Push: one solver for dense data, one for sparse, one for kernels, and the paper's own.

``"auto"`` chooses the first three by the data. The dual and its notation are in
:mod:`pushrank.solvers.infinite_push.dual`.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from pushrank import losses
from pushrank.losses import Hinge, Loss, SquaredHinge
from pushrank.models import LinearModel, Model
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample, Sample
from pushrank.prices import Maximum
from pushrank.solvers.infinite_push.dual import DualSolution, HingeLoss, InfinitePushDual, cost_per_positive
from pushrank.solvers.infinite_push.interior_point import MAX_DENSE_ENTRIES, interior_point
from pushrank.solvers.infinite_push.semismooth_newton import semismooth_newton
from pushrank.solvers.infinite_push.smo import smo
from pushrank.solvers.result import Callback, Certificate, CertifiedSolution, Result, offset_callback

LINEAR_SOLVERS, KERNEL_SOLVERS = ("interior-point", "semismooth-newton"), ("smo",)
SOLVERS = ("auto", *LINEAR_SOLVERS, *KERNEL_SOLVERS, "gradient-projection")
HINGES: dict[type[Loss], HingeLoss] = {Hinge: "hinge", SquaredHinge: "squared_hinge"}
MAX_FEATURES_DENSE = 1000  # up to which factoring a matrix of that size is cheap
MAX_FEATURES_FACTORED = 3000  # up to which the interior point method is a way out, in seconds
MAX_NEWTON_ITERATIONS = 300  # before it is taken: those that converge do so in about 100


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
    """Return the solution whose relative gap is at most ``tol``, or as far as the iterations lead.

    C is the weight of the mean loss of the positives, ``start`` the state of a solution for another C, and
    ``solver`` one of ``SOLVERS`` but the paper's. ``callback`` is called after iterations with their number,
    the primal objective and the gap.
    """
    dual = InfinitePushDual(model, sample, cost_per_positive(sample, C), loss)
    start = None if start is None else dual.rescaled(start)
    found, n_iter = _solve_dual(dual, solver, tol, max_iter, callback, start)
    variables = sample.scatter(found.alpha, -found.beta)
    return CertifiedSolution(found.coef, found.certificate, n_iter, found, variables)


def _solve_dual(
    dual: InfinitePushDual,
    solver: str,
    tol: float,
    max_iter: int,
    callback: Callback | None,
    start: DualSolution | None,
) -> tuple[DualSolution, int]:
    """Run the solver that is named, or the one that suits the data."""
    name = solver_for(dual.model) if solver == "auto" else solver
    if name == "smo":
        return smo(dual, tol, max_iter, callback, start)
    if name == "interior-point":
        return interior_point(dual, tol, max_iter, callback, start)
    fallback = solver == "auto" and dual.model.n_features <= MAX_FEATURES_FACTORED  # type: ignore[attr-defined]
    patience = min(MAX_NEWTON_ITERATIONS, max_iter) if fallback else max_iter
    solution, n_iter = semismooth_newton(dual, tol, patience, callback, start)
    if not fallback or solution.certificate.gap <= tol or n_iter >= max_iter:
        return solution, n_iter
    # Newton's steps are slow on categories at a large C; the matrix is still small enough to factor
    other, more = interior_point(dual, tol, max_iter - n_iter, offset_callback(callback, n_iter), solution)
    return min(solution, other, key=lambda found: found.certificate.gap), n_iter + more


def solver_for(model: Model) -> str:
    """Return the name of the solver that is quickest on the data."""
    if not isinstance(model, LinearModel):
        return "smo"
    X = model.data
    dense = not sp.issparse(X) or X.shape[0] * X.shape[1] <= MAX_DENSE_ENTRIES
    return "interior-point" if dense and X.shape[1] <= MAX_FEATURES_DENSE else "semismooth-newton"


def is_infinite_push(objective: PushObjective, sample: Sample) -> bool:
    """Return whether an objective is the largest sum of hinges, or of their squares, of two classes."""
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
    r"""Minimise :math:`F(X w) + \frac{\alpha}{2} \|w\|^2` for an objective that is the Infinite Push.

    On the scale of the mean F is the largest mean loss of a negative, so that the problem is that of
    :class:`InfinitePushDual` times alpha, with :math:`C = 1/\alpha`. The pull of positives is the push of the
    classes exchanged, by the opposite coefficients.

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
    path = [1.0]  # every loss is one where all scores are zero

    def record(iteration: int, /, **shown: float) -> None:
        path.extend([path[-1]] * (iteration - len(path)))  # between two looks it is as it was
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
