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
that matter change by a factor of a few. Ten to thirty steps are enough, in units in which the second
curvature is one. They follow the solutions down from an alpha for which the weights are nearly those of the
sample: at first by conjugate gradients, and once these take as long as a factor of the products of the few
rows that still have weight, by that factor.

Yu, Huang and Lin, *Dual coordinate descent methods for logistic regression and maximum entropy models*,
Machine Learning 85 (2011), 41-75, for the dual; Boyd and Vandenberghe, *Convex Optimization* (2004), section
10.2, for Newton's method under linear equations.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.utils.extmath import row_norms

from pushrank._base.numeric import Floats
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
        model, codes, log_weights = rows.model, rows.class_codes, rows.log_weights
        if log_weights is None:
            log_weights = np.zeros(model.n_rows)
        # The logarithm of a weight is a variable here, so that rows without weight are left out.
        counted = log_weights > -np.inf
        if not counted.all():
            model, codes, log_weights = LinearModel(model.data[counted]), codes[counted], log_weights[counted]
        self.model, self.log_weights, self.codes = model, log_weights, codes.astype(np.intp)
        self.class_powers = problem.objective.powers or (1.0, 1.0)
        self.powers = np.where(codes == 1, *self.class_powers)
        self.signs = np.where(codes == 1, -1.0, 1.0)
        if sp.issparse(model.data):
            self.squares = row_norms(model.data, squared=True)
        else:
            # An offset common to all rows makes no curvature.
            blocks = (model.rows(slice(*block)) for block in model.blocks(0, model.n_rows))
            self.squares = np.concatenate([row_norms(block, squared=True) for block in blocks])
        # Products in conjugate gradients so far, those of some rows by their part of all.
        self.n_products = 0.0
        # The rows whose products are at hand.
        self.known, self.products = np.empty(0, dtype=np.intp), np.empty((0, 0))

    def distributions(self, weights: Floats) -> Floats:
        """Return positive weights that add up to one over each class."""
        floored = np.maximum(weights, tolerances.MIN_WEIGHT)
        return floored / self.class_sums(floored)

    def class_sums(self, values: Floats) -> Floats:
        """Return for every row the sum of the values over its class."""
        return np.asarray(np.bincount(self.codes, values, 2)[self.codes])

    def combination(self, weights: Floats) -> Floats:
        """Return v, alpha times the coefficients."""
        # Reading the rows of weights that the sum cannot hold would take most of the time.
        sizes = np.abs(weights)
        heavy = sizes > tolerances.MACHINE_ROUNDING * sizes.max() / len(weights)
        return -self.model.rmatvec(self.signs * np.where(heavy, weights, 0.0))

    def exponents(self, coef: Floats) -> Floats:
        """Return the scores of the negatives, and minus those of the positives."""
        return self.signs * self.model.scores(coef)

    def residuals(self, weights: Floats, exponents: Floats) -> Floats:
        """Return the gradient of minus D, less its mean over each class, which the sums of weights fix."""
        residuals = (np.log(weights) - self.log_weights) / self.powers - exponents
        return residuals - self.class_sums(weights * residuals)

    def risk(self, exponents: Floats) -> float:
        """Return the objective without its penalty at the exponents."""
        terms, largest = self.powers * exponents + self.log_weights, np.full(2, -np.inf)
        np.maximum.at(largest, self.codes, terms)
        log_sums = largest + np.log(np.bincount(self.codes, np.exp(terms - largest[self.codes]), 2))
        return float(np.sum(log_sums / self.class_powers[::-1]))

    def negated_value(self, weights: Floats, v: Floats, alpha: float) -> float:
        entropies = weights @ ((np.log(weights) - self.log_weights) / self.powers)
        return float(entropies + v @ v / (2.0 * alpha))

    def heavy_rows(self, weights: Floats, alpha: float) -> NDArray[np.intp]:
        """Return the rows that the Newton system needs: the others add too little curvature to matter."""
        curvature = self.powers * weights * self.squares / alpha
        order = np.argsort(curvature)
        return np.sort(order[np.searchsorted(np.cumsum(curvature[order]), tolerances.LIGHT_CURVATURE) :])

    def line(self, weights: Floats, log_changes: Floats, alpha: float) -> Callable[[float], DualPoint]:
        """Return the function from a step along the changes to the point there."""

        def moved(step: float) -> DualPoint:
            # A step along the weights cannot follow them below zero, and a step along their logarithms
            # overshoots where they grow: each weight takes the lower of the two.
            by_logarithms = weights * np.exp(np.minimum(step * log_changes, tolerances.MAX_EXPONENT))
            sudden = tolerances.SUDDEN_WEIGHT / len(weights)
            by_weights = np.maximum(weights * (1.0 + step * log_changes), sudden)
            new_weights = self.distributions(np.minimum(by_logarithms, by_weights))
            v = self.combination(new_weights)
            return DualPoint(self.negated_value(new_weights, v, alpha), new_weights, v)

        return moved

    def newton_step(self, weights: Floats, residuals: Floats, alpha: float) -> Floats | None:
        """Return the changes of the logarithms of the weights; None where the system is too hard to solve."""
        heavy = self.heavy_rows(weights, alpha)
        # A factor costs as much as this many products of conjugate gradients, and leaves products of rows
        # that later factors need: weights only get lighter.
        n_heavy, n_entries = len(heavy), self.model.data.size
        n_products, small = tolerances.MAX_DUAL_PRODUCTS, n_heavy <= tolerances.MAX_FACTORED_ROWS
        if small:
            work = n_heavy**2 * (n_heavy + self.model.n_features)
            n_products = min(n_products, 1 + int(work / (tolerances.FACTOR_SPEED * n_entries)))
        # The products of all steps so far count, since the next steps take the products of rows over.
        solution = None
        if not len(self.known) and not (small and self.n_products >= n_products):
            # Leaving out rows pays only where few are left, for which the data are copied.
            taken = heavy if n_heavy < tolerances.MAX_HEAVY_PART * len(weights) else np.arange(len(weights))
            system = NewtonSystem(self, taken, weights, residuals, alpha)
            solution = system.by_conjugate_gradients(n_products)
        if solution is None and small:
            taken = self.know(heavy)
            system = NewtonSystem(self, taken, weights, residuals, alpha)
            solution = system.by_factor(self.products)
        if solution is None:
            return None
        changes = self.powers[taken] * solution / system.units
        moved = np.zeros(len(weights))
        if len(taken) == len(weights):
            moved[taken] = changes
            return moved
        # The weights of light rows follow the scores that the steps of the others give them.
        moved[taken] = system.units * solution
        log_changes = self.powers * (self.exponents(self.combination(moved)) / alpha - residuals)
        log_changes -= np.bincount(system.codes, system.roots**2 * log_changes[taken], 2)[self.codes]
        log_changes[taken] = changes
        return log_changes

    def know(self, heavy: NDArray[np.intp]) -> NDArray[np.intp]:
        """Compute the products of the heavy rows that were not known, and return the rows in their order."""
        kept = np.isin(self.known, heavy)
        missing = np.setdiff1d(heavy, self.known)
        n_kept = int(kept.sum())
        # A few rows more than are needed cost less than a copy of the others' products.
        if not len(missing) and tolerances.MIN_KNOWN_PART * len(kept) <= n_kept:
            return self.known
        if n_kept == 0:
            self.known, self.products = heavy, self.model.gram(heavy)
        else:
            self.known = np.append(self.known[kept], missing)
            products = np.empty((len(heavy), len(heavy)))
            products[:n_kept, :n_kept] = self.products[np.ix_(kept, kept)]
            if len(missing):
                products[n_kept:] = self.model.gram(missing, self.known)
                products[:, n_kept:] = products[n_kept:].T
            self.products = products
        return self.known


class NewtonSystem:
    """A Newton step over some rows, in units in which the second curvature is one."""

    # The weights change by units times x, and keep their sums where x is orthogonal to each class's roots.

    def __init__(
        self, dual: WeightsDual, taken: NDArray[np.intp], weights: Floats, residuals: Floats, alpha: float
    ) -> None:
        self.dual, self.taken, self.alpha = dual, taken, alpha
        self.codes, self.units = dual.codes[taken], np.sqrt(dual.powers[taken] * weights[taken])
        self.signed = dual.signs[taken] * self.units
        self.roots = self.units / np.sqrt(np.bincount(self.codes, self.units**2, 2))[self.codes]
        self.aim = self.projected(-self.units * residuals[taken])
        self.diagonal = 1.0 + self.units**2 * dual.squares[taken] / alpha

    def projected(self, x: Floats) -> Floats:
        """Return the part of x that is orthogonal to the roots of each class."""
        return np.asarray(x - self.roots * np.bincount(self.codes, self.roots * x, 2)[self.codes])

    def by_conjugate_gradients(self, n_products: int) -> Floats | None:
        """Return a rough solution, or None where that takes more products than these."""
        model = self.dual.model
        if len(self.taken) < model.n_rows:
            model = LinearModel(model.data[self.taken], centred=False)

        def product(x: Floats) -> Floats:
            self.dual.n_products += len(self.taken) / len(self.dual.codes)
            moved = model.scores(model.rmatvec(self.signed * x))
            return x + self.projected(self.signed * moved) / self.alpha

        # Weights differ by many powers of ten, and so does the curvature along each.
        inverse = 1.0 / self.diagonal
        # A class whose rows weigh next to nothing has none among those taken.
        shares = np.maximum(np.bincount(self.codes, inverse * self.roots**2, 2), tolerances.TINY)

        def preconditioned(x: Floats) -> Floats:
            means = np.bincount(self.codes, inverse * self.roots * x, 2) / shares
            return np.asarray(inverse * (x - self.roots * means[self.codes]))

        shape = len(self.taken), len(self.taken)
        system, near = (LinearOperator(shape, f, dtype=np.float64) for f in (product, preconditioned))
        solution, failure = cg(system, self.aim, M=near, rtol=tolerances.FORCING, maxiter=n_products)
        return None if failure else self.projected(solution)

    def by_factor(self, products: Floats) -> Floats | None:
        """Return the solution from the products of the rows, or None where rounding leaves none."""
        system = products * self.signed[:, None]
        system *= self.signed / self.alpha
        system[np.diag_indices_from(system)] += 1.0
        sides = np.column_stack(((1 - self.codes) * self.roots, self.codes * self.roots, self.aim))
        try:
            # LAPACK takes matrices column by column: the transpose of a symmetric matrix needs no copy.
            factor = scipy.linalg.cho_factor(system.T, lower=True, overwrite_a=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            return None
        solved = scipy.linalg.cho_solve(factor, sides, check_finite=False)
        # The multipliers of the roots keep the sums of the weights.
        among = sides.T @ solved
        multipliers = np.linalg.lstsq(among[:2, :2], among[:2, 2])[0]
        return self.projected(solved[:, 2] - solved[:, :2] @ multipliers)


def has_near_dual(problem: Problem) -> bool:
    """Return whether there is a dual over the rows, which are not so many that its steps would be dear."""
    few_rows = problem.n_rows <= tolerances.MAX_ROWS_A_COLUMN_DUAL * problem.n_features
    return few_rows and problem.has_dual


def dual_newton(
    problem: Problem, scales: Floats, tol: float, max_iter: int, callback: Callback | None = None
) -> Result:
    """Minimise a problem of two sums of exponentials and a positive penalty, in the dual."""
    # It stops when neither an entry of the objective's gradient, in units of `scales`, nor the duality gap
    # exceeds `tol`, after `max_iter` steps, or where there is no way up. The steps do not lower the objective
    # by themselves: where they stop early, the end is the lowest point on the way.
    dual = WeightsDual(problem)
    weights = dual.distributions(np.exp(dual.log_weights - dual.log_weights.max()))
    v = dual.combination(weights)
    exponents = dual.exponents(v)
    # Where the exponents differ by about one the weights are nearly those of the sample.
    alpha = max(problem.alpha, float(np.max(dual.powers * np.abs(dual.residuals(weights, exponents)))))
    path = [dual.risk(np.zeros_like(exponents))]
    coef, size, finished = np.zeros_like(v), np.inf, False
    lowest = path[0], coef
    while not finished and len(path) <= min(max_iter, tolerances.MAX_DUAL_STEPS):
        residuals = dual.residuals(weights, exponents / alpha)
        log_changes = dual.newton_step(weights, residuals, alpha)
        if log_changes is None:
            break

        line = dual.line(weights, log_changes, alpha)
        value, slope = dual.negated_value(weights, v, alpha), float(residuals @ (weights * log_changes))
        accepted = armijo_step(line, value, slope, tolerances.VALUE_ROUNDING * abs(value))
        if accepted is None:
            break
        step, (_, weights, v) = accepted
        coef, exponents = v / alpha, dual.exponents(v)
        objective = dual.risk(exponents / alpha) + problem.penalty(coef)
        # Only at the last alpha can the gradient be small, which is worth another pass there.
        if alpha == problem.alpha:
            objective, gradient = problem.value_and_gradient(coef)
            size = float(np.max(np.abs(gradient) / scales))
            finished = size <= tol and problem.certificate(coef, objective, gradient).gap <= tol
        path.append(objective)
        lowest = min(lowest, (objective, coef), key=lambda point: point[0])
        if callback is not None:
            known = {"gradient": size} if size < np.inf else {}
            callback(len(path) - 1, objective=objective, **known)
        # A full step shows that the weights have followed this alpha.
        if step == 1.0:
            alpha = max(problem.alpha, tolerances.ALPHA_STEP * alpha)
    if not finished:
        coef = lowest[1]
        path[-1], gradient = problem.value_and_gradient(coef)
        size = float(np.max(np.abs(gradient) / scales))
    return Result(coef, np.array(path), finished, size, "")
