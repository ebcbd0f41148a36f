"""Boosting of the columns, which minimises a linear model's objective as the gradient solvers do."""

from __future__ import annotations

import numpy as np

from pushrank._log_space import Floats
from pushrank.objectives import PushObjective
from pushrank.solvers.boosting import History, Plan, Run
from pushrank.solvers.coordinate_descent import CoordinateDescent
from pushrank.solvers.coordinates import column_curvature
from pushrank.solvers.problem import Problem
from pushrank.solvers.result import Result, Watcher
from pushrank.solvers.score_problem import score_problem
from pushrank.solvers.step_rules import ExactStep
from pushrank.weak_rankers import Columns


def coordinate_descent(
    problem: Problem, start: Floats, tol: float, max_iter: int, watcher: Watcher | None = None
) -> Result:
    """Minimise a linear model's objective by exact steps along one coefficient at a time.

    Parameters are those of :func:`pushrank.solvers.rounds.minimise`; ``max_iter`` is the paper's
    :math:`t_{max}`. The weak rankers are the columns in units of their range.

    Notes
    -----
    A round costs one reading of the data to choose the column and O(n_rows) a trial step.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), figure 2.
    """
    objective = problem.objective
    if not isinstance(objective, PushObjective):
        raise TypeError(f"coordinate descent takes a PushObjective, got {type(objective).__name__}.")
    problem.model.check_range()
    family = Columns().fit(problem.host_model.data, problem.sample.row_weights)
    units = family.units_
    # a constant column moves no score: its coefficient only costs, and the best is zero
    coef = np.where(units > 0.0, start, 0.0 if problem.alpha > 0.0 else start)
    descent = CoordinateDescent(
        score_problem(objective, problem.sample),
        family.pool(problem.host_model.data),
        ExactStep(),
        problem.model.scores(coef),
        coef * family.ranges_,
        ridge=problem.alpha * units**2,
        scales=slope_units(problem, units),
    )
    run = Run(descent, History(), np.random.RandomState(0))
    run.go(Plan(max_iter, tol), watcher)
    message = (
        f"stopped after max_iter={max_iter} rounds (the largest entry of the scaled gradient is "
        f"{run.gradient_size:.1e}): raise max_iter or tol, or use solver='lbfgs'."
    )
    return Result(
        np.where(units > 0.0, descent.weights * units, coef),
        np.array(run.history.objectives),
        run.converged,
        run.gradient_size,
        "" if run.converged else message,
    )


def slope_units(problem: Problem, units: Floats) -> Floats:
    """Return the columns' standard deviations within the classes, in units of their ranges.

    Slopes are compared with the tolerance in these, so that it does not depend on the units of a feature.

    Parameters
    ----------
    problem : Problem
        The objective of the coefficients.
    units : ndarray of shape (n_features,)
        One over each column's range; zero for a constant.
    """
    scales = column_curvature(problem, problem.row_weights(np.zeros_like(units)))[1]
    return np.where(units > 0.0, scales * units, 1.0)
