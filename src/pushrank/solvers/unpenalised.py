"""Certificates without a penalty, of which the page :doc:`/certificates` has the proof."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from pushrank import prices
from pushrank._base.numeric import Floats
from pushrank.objectives import PushObjective
from pushrank.solvers import tolerances
from pushrank.solvers.preconditioning import can_whiten, units_at_zero, whitening
from pushrank.solvers.problem import Problem, ScoredPoint
from pushrank.solvers.result import Certificate


def nested_power(problem: Problem) -> float | None:
    r"""Return the q of an objective :math:`\frac1q \ln \sum_k e^{q L_k}` of log-sum-exps; 0 for their sum."""
    objective = problem.objective
    if not isinstance(objective, PushObjective) or not objective.convex:
        return None
    # A convex objective of a loss that factorises is one of the exponential loss.
    price = prices.resolve(objective.price)
    if objective.scale == "log":
        return prices.unit_power(price)
    return 0.0 if isinstance(price, prices.LogOnePlus) else None


def unpenalised_certificate(problem: Problem, coef: Floats, value: float, gradient: Floats) -> Certificate:
    """Return the objective at an answer without a penalty, and a lower bound of its optimum, where known."""
    # The bound is that of the page on certificates. It costs the moments of the rows and a few products with
    # the Hessian.
    power = nested_power(problem)
    if power is None or not can_whiten(problem) or problem.is_separated(coef):
        return Certificate(value, -np.inf)
    floor = 1.0 if problem.push_objective.scale == "log" else tolerances.TINY
    step = newton_step(problem, coef, gradient)
    if step is None:
        return Certificate(value, -np.inf, floor)
    direction, decrement = step
    highest, lowest = -problem.margin(-direction), problem.margin(direction)
    width = max(highest, 0.0) - min(lowest, 0.0)
    if not (power + 1.0) * width < 1.0:
        return Certificate(value, -np.inf, floor)
    return Certificate(value, value - decrement / (1.0 - power * width), floor)


def newton_step(problem: Problem, coef: Floats, gradient: Floats) -> tuple[Floats, float] | None:
    """Return the step d that leaves nothing of the gradient, and d @ H @ d; None where there is none."""
    # A coefficient that is held at its bound of zero takes no step, and may be left with a slope upwards.
    # A part of the gradient that no change of the slopes takes away is a descent without end: only that of
    # rounding may be left.
    point = problem.point(coef)
    hessian_product: Callable[[Floats], Floats]
    if isinstance(point, ScoredPoint):
        hessian_product = point.hessian_product
    elif problem.objective.powers is not None:
        hessian_product = point.hessian().dot
    else:
        # Sums over rows elsewhere give only the curvature's weights of another objective, not its Hessian.
        return None
    units = units_at_zero(problem)
    held = (coef <= 0.0) & (gradient > 0.0) & problem.positive
    moments, free = problem.moments(coef, columns=False, whole=True), ~held
    apart = np.where(np.outer(free, free), np.asarray(moments.covariance), np.diag(held * units**2))
    to_coef, to_gradient = whitening(moments._replace(covariance=apart), 0.0, units)
    largest = float(np.max(np.abs(free * gradient) / units))
    allowed = max(tolerances.REPAIRED * largest, tolerances.GRADIENT_ROUNDING)
    found = []

    # It is asked after every product, because along twin columns conjugate gradients find rounding alone.
    def stop_if_repaired(step: Floats) -> None:
        direction = to_coef(step)
        change = hessian_product(direction)
        left = gradient + change
        if np.max(np.where(held, -left, np.abs(left)) / units) <= allowed:
            found.append((direction, float(direction @ change)))
            raise StopIteration

    # The moments of an objective of two sums are its Hessian: the first step is Newton's.
    start, limit = -to_gradient(free * gradient), tolerances.MAX_HESSIAN_PRODUCTS
    shape = len(start), len(start)

    def product(step: Floats) -> Floats:
        return to_gradient(free * hessian_product(to_coef(np.ravel(step))))

    operator = LinearOperator(shape, product, dtype=float)
    with suppress(StopIteration):
        stop_if_repaired(start)
        cg(operator, start, rtol=tolerances.EXACT, maxiter=limit, callback=stop_if_repaired)
    return found[0] if found else None
