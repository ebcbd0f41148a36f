r"""Newton's method on the dual of the two-sum exponential objective, for wide data.

With nearly as many columns as rows and a small penalty, scores reach far beyond the unit 1 / c in which their
exponentials bend: the weights of the rows change by many powers of e on the way to the minimum, and no
quadratic model of the objective holds for long. The variables of the dual are these weights: distributions a
over the rows of each class, which maximise

.. math::

    D(a) = \sum_i \frac{a_i}{c_i} \ln \frac{w_i}{a_i} - \frac{1}{2 \alpha} \|v\|^2, \qquad
    v = \sum_{i \in +} a_i x_i - \sum_{k \in -} a_k x_k ,

with the powers c of the classes and the sample weights w; the coefficients are :math:`v / \alpha`. Its
curvature is that of the penalty plus :math:`1 / (c_i a_i)`, so that a Newton step holds while the weights
that matter change by a factor of a few. Ten to thirty steps are enough, by conjugate gradients in units in
which the second curvature is one. They follow the solutions down from an alpha for which the weights are
nearly those of the sample.

Yu, Huang and Lin, *Dual coordinate descent methods for logistic regression and maximum entropy models*,
Machine Learning 85 (2011), 41-75, for the dual; Boyd and Vandenberghe, *Convex Optimization* (2004), section
10.2, for Newton's method under linear equations.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.utils.extmath import row_norms

from pushrank._numeric import Floats
from pushrank.models import LinearModel
from pushrank.solvers import tolerances
from pushrank.solvers.line_search import armijo_step
from pushrank.solvers.problem import Problem
from pushrank.solvers.result import Callback, Result


class DualPoint(NamedTuple):
    """Minus the dual objective at some weights of the rows, and their combination v of the rows."""

    value: float
    weights: Floats
    v: Floats


class WeightsDual:
    """The dual of a two-sum problem; its vectors are over the rows that have a sample weight."""

    def __init__(self, problem: Problem) -> None:
        rows = problem.memory_rows
        model, codes, log_weights = rows.host_model, rows.class_codes, rows.log_weights
        if log_weights is None:
            log_weights = np.zeros(model.n_rows)
        # The logarithm of a weight is a variable here, so that rows without weight are left out.
        counted = log_weights > -np.inf
        if not counted.all():
            model, codes, log_weights = LinearModel(model.data[counted]), codes[counted], log_weights[counted]
        self.model, self.log_weights, self.codes = model, log_weights, codes.astype(np.intp)
        self.powers = np.where(codes == 1, *(problem.objective.powers or (1.0, 1.0)))
        self.signs = np.where(codes == 1, -1.0, 1.0)
        self.squares = row_norms(model.data, squared=True)

    def distributions(self, weights: Floats) -> Floats:
        """Return positive weights that add up to one over each class."""
        floored = np.maximum(weights, tolerances.MIN_WEIGHT)
        return floored / self.class_sums(floored)

    def class_sums(self, values: Floats) -> Floats:
        """Return for every row the sum of the values over its class."""
        sums: Floats = np.bincount(self.codes, values, 2)[self.codes]
        return sums

    def combination(self, weights: Floats) -> Floats:
        """Return v, alpha times the coefficients."""
        return -self.model.rmatvec(self.signs * weights)

    def exponents(self, coef: Floats) -> Floats:
        """Return the scores of the negatives, and minus those of the positives."""
        exponents: Floats = self.signs * self.model.scores(coef)
        return exponents

    def residuals(self, weights: Floats, v: Floats, alpha: float) -> Floats:
        """Return the gradient of minus D, less its mean over each class, which the sums of weights fix."""
        residuals = (np.log(weights) - self.log_weights) / self.powers - self.exponents(v) / alpha
        return residuals - self.class_sums(weights * residuals)

    def negated_value(self, weights: Floats, v: Floats, alpha: float) -> float:
        """Return minus D."""
        entropies = weights @ ((np.log(weights) - self.log_weights) / self.powers)
        return float(entropies + v @ v / (2.0 * alpha))

    def heavy_rows(self, weights: Floats, alpha: float) -> NDArray[np.intp]:
        """Return the rows that the Newton system needs: the others add too little curvature to matter."""
        curvature = self.powers * weights * self.squares / alpha
        order = np.argsort(curvature)
        # Leaving out rows pays only where few are left, for which the data are copied.
        n_light = int(np.searchsorted(np.cumsum(curvature[order]), tolerances.LIGHT_CURVATURE))
        if n_light < (1.0 - tolerances.MAX_HEAVY_PART) * len(order):
            return np.arange(len(order))
        return np.sort(order[n_light:])

    def line(self, weights: Floats, log_changes: Floats, alpha: float) -> Callable[[float], DualPoint]:
        """Return the function from a step along the changes to the point there."""

        def moved(step: float) -> DualPoint:
            # A step along the weights cannot follow them below zero, and a step along their logarithms
            # overshoots where they grow: each weight takes the lower of the two.
            by_logarithms = weights * np.exp(np.minimum(step * log_changes, tolerances.MAX_EXPONENT))
            by_weights = np.maximum(
                weights * (1.0 + step * log_changes), tolerances.SUDDEN_WEIGHT / len(weights)
            )
            new_weights = self.distributions(np.minimum(by_logarithms, by_weights))
            v = self.combination(new_weights)
            return DualPoint(self.negated_value(new_weights, v, alpha), new_weights, v)

        return moved

    def newton_step(self, weights: Floats, residuals: Floats, alpha: float) -> Floats | None:
        """Return the changes of the logarithms of the weights; None where the system is too hard to solve."""
        heavy = self.heavy_rows(weights, alpha)
        whole = len(heavy) == len(weights)
        rows = self.model if whole else LinearModel(self.model.data[heavy], centred=False)
        codes, units = self.codes[heavy], np.sqrt(self.powers[heavy] * weights[heavy])
        signed = self.signs[heavy] * units
        # The weights change by units times x: they keep their sums where x is orthogonal to the roots.
        roots = units / np.sqrt(np.bincount(codes, units**2, 2))[codes]

        def projected(x: Floats) -> Floats:
            orthogonal: Floats = x - roots * np.bincount(codes, roots * x, 2)[codes]
            return orthogonal

        def product(x: Floats) -> Floats:
            return x + projected(signed * rows.scores(rows.rmatvec(signed * x))) / alpha

        system = LinearOperator((len(heavy), len(heavy)), product, dtype=np.float64)
        aim = projected(-units * residuals[heavy])
        solution, failure = cg(system, aim, rtol=tolerances.FORCING, maxiter=tolerances.MAX_DUAL_PRODUCTS)
        if failure:
            return None
        solution = projected(solution)
        changes = self.powers[heavy] * solution / units
        if whole:
            return changes
        # The weights of light rows follow the scores that the steps of the others give them.
        moved = np.zeros(len(weights))
        moved[heavy] = units * solution
        log_changes = self.powers * (self.exponents(self.combination(moved)) / alpha - residuals)
        log_changes -= np.bincount(codes, roots**2 * log_changes[heavy], 2)[self.codes]
        log_changes[heavy] = changes
        return log_changes


def dual_newton(
    problem: Problem, scales: Floats, tol: float, max_iter: int, callback: Callback | None = None
) -> Result:
    """Minimise a problem of two sums of exponentials and a positive penalty, in the dual.

    It stops when neither an entry of the objective's gradient, in units of ``scales``, nor the duality gap
    exceeds ``tol``, after ``max_iter`` steps, or where there is no way up. The steps do not lower the
    objective by themselves: where they stop early, the end is the lowest point on the way.
    """
    dual = WeightsDual(problem)
    weights = dual.distributions(np.exp(dual.log_weights - dual.log_weights.max()))
    v = dual.combination(weights)
    # Where the exponents differ by about one the weights are nearly those of the sample.
    alpha = max(problem.alpha, float(np.max(dual.powers * np.abs(dual.residuals(weights, v, 1.0)))))
    path = [problem.value_and_gradient(np.zeros_like(v))[0]]
    coef, size, finished = np.zeros_like(v), np.inf, False
    lowest = path[0], size, coef
    while not finished and len(path) <= min(max_iter, tolerances.MAX_DUAL_STEPS):
        residuals = dual.residuals(weights, v, alpha)
        log_changes = dual.newton_step(weights, residuals, alpha)
        if log_changes is None:
            break

        line = dual.line(weights, log_changes, alpha)
        value, slope = dual.negated_value(weights, v, alpha), float(residuals @ (weights * log_changes))
        accepted = armijo_step(line, value, slope, tolerances.VALUE_ROUNDING * abs(value))
        if accepted is None:
            break
        step, (_, weights, v) = accepted
        coef = v / alpha
        objective, gradient = problem.value_and_gradient(coef)
        path.append(objective)
        size = float(np.max(np.abs(gradient) / scales))
        finished = size <= tol and problem.certificate(coef, objective, gradient).gap <= tol
        lowest = min(lowest, (objective, size, coef), key=lambda point: point[0])
        if callback is not None:
            callback(len(path) - 1, objective=objective, gradient=size)
        # A full step shows that the weights have followed this alpha.
        if step == 1.0:
            alpha = max(problem.alpha, tolerances.ALPHA_STEP * alpha)
    if not finished:
        path[-1], size, coef = lowest
    return Result(coef, np.array(path), finished, size, "")
