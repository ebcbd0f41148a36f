r"""A smooth risk of the scores in the space of a kernel, by Newton's method in function space.

Minimise :math:`P(f) = \tfrac12 \|f\|^2 + C R(f)` over functions :math:`f = \sum_m v_m k(x_m, \cdot)`. In the
inner product of the space the gradient has the coefficients :math:`v + C R'`, and the Hessian is the identity
plus C times the risk's: conjugate gradients in that inner product need one product with the kernel matrix a
step, whatever its condition.

Olivier Chapelle, *Training a support vector machine in the primal*, Neural Computation 19 (2007), 1155-1178.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pushrank._log_space import Floats
from pushrank.models import KernelModel
from pushrank.objectives import ByClass, PushObjective
from pushrank.pairs import Sample
from pushrank.solvers.certificate import Certificate
from pushrank.solvers.result import Watcher

FORCING = 0.1  # of the gradient's norm: how exactly a Newton system is solved at first
MOST_PRODUCTS = 1000  # products with the kernel matrix in a Newton step
MOST_HALVINGS = 50
SUFFICIENT = 1e-4


def functional_newton(
    objective: PushObjective,
    model: KernelModel,
    sample: Sample,
    C: float,
    certify: Callable[[Floats, Floats], Certificate],
    tol: float,
    max_iter: int,
    watcher: Watcher | None = None,
    start: Floats | None = None,
) -> tuple[Floats, Certificate, int]:
    """Return coefficients whose relative gap is at most ``tol``, their certificate, and the Newton steps.

    Parameters
    ----------
    objective : PushObjective
        The R, convex, with Hessian products.
    model : KernelModel
        The space.
    sample : Sample
        Which rows are compared.
    C : float
        The weight of the risk.
    certify : callable
        Returns the certificate of coefficients and their scores.
    tol : float
        The relative gap to reach.
    max_iter : int
        The most Newton steps.
    watcher : callable, optional
        Called after every step with its number, the objective and the gap.
    start : ndarray of shape (n_rows,), optional
        Coefficients to start from.
    """
    coef = np.zeros(model.n_rows) if start is None else start.copy()
    scores = model.scores(coef)
    iteration = 0
    while True:
        certificate = certify(coef, scores)
        if watcher is not None and iteration:
            watcher(iteration, objective=certificate.primal, gap=certificate.gap)
        if certificate.gap <= tol or iteration == max_iter:
            return coef, certificate, iteration
        at_point = objective.linearise(sample, scores)
        gradient = coef + C * sample.join(*at_point.gradient())

        def bent(moved: Floats, at_point=at_point) -> Floats:  # type: ignore[no-untyped-def]
            """Return the coefficients of C times the Hessian of the risk times a function."""
            return C * sample.join(*at_point.hessian_product(ByClass(*sample.split(moved))))

        move, moved = _conjugate_gradients(model, bent, gradient, min(FORCING, np.sqrt(certificate.gap)))
        slope = float(gradient @ moved)
        value = 0.5 * model.squared_norm(coef, scores) + C * at_point.value
        length = 1.0
        for _ in range(MOST_HALVINGS):
            trial, trial_scores = coef + length * move, scores + length * moved
            norm = model.squared_norm(trial, trial_scores)
            after = 0.5 * norm + C * objective.linearise(sample, trial_scores).value
            if after <= value + SUFFICIENT * length * slope:
                break
            length *= 0.5
        else:
            return coef, certificate, iteration  # as far as rounding lets it
        coef, scores = trial, trial_scores
        iteration += 1


def _conjugate_gradients(
    model: KernelModel, bent: Callable[[Floats], Floats], gradient: Floats, within: float
) -> tuple[Floats, Floats]:
    """Return the Newton step and its scores."""
    move, moved = np.zeros_like(gradient), np.zeros_like(gradient)
    residual = -gradient
    of_residual = model.scores(residual)
    along, of_along = residual, of_residual
    size = first = model.squared_norm(residual, of_residual)
    for _ in range(MOST_PRODUCTS):
        if size <= within**2 * first or size == 0.0:
            break
        image = along + bent(of_along)
        of_image = model.scores(image)
        length = size / float(of_along @ image)
        move, moved = move + length * along, moved + length * of_along
        residual, of_residual = residual - length * image, of_residual - length * of_image
        before, size = size, max(float(residual @ of_residual), 0.0)
        along = residual + size / before * along
        of_along = of_residual + size / before * of_along
    return move, moved
