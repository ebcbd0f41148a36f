"""Solvers, named after their method: each takes a problem, a start, a tolerance and a limit of iterations."""

from pushrank.solvers.boosting.loop import coordinate_descent
from pushrank.solvers.gradient import lbfgs, newton_cg
from pushrank.solvers.problem import Problem, linear_problem
from pushrank.solvers.result import Callback, Result

__all__ = ["SOLVERS", "Callback", "Problem", "Result", "coordinate_descent", "lbfgs", "linear_problem",
           "newton_cg"]  # fmt: skip

SOLVERS = {"lbfgs": lbfgs, "newton-cg": newton_cg, "coordinate": coordinate_descent}
