"""What every solver returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pushrank._log_space import Floats
from pushrank.solvers.certificate import Certificate


class Watcher(Protocol):
    """Called after every iteration with its number, and with what to show of it by name."""

    def __call__(self, iteration: int, /, **shown: float) -> None:
        """Show an iteration: ``objective`` and ``gradient``, ``objective`` and ``gap``, or others."""


def counting_on(watcher: Watcher | None, before: int) -> Watcher | None:
    """Return a watcher of iterations that come after so many others."""
    if watcher is None:
        return None
    return lambda iteration, /, **shown: watcher(before + iteration, **shown)


@dataclass(frozen=True, eq=False)
class Result:
    """The end of a solver's run.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
        The coefficients of the best objective found.
    objective_path : ndarray of shape (n_iter + 1,)
        The penalised objective at the start and after every iteration.
    converged : bool
        Whether the largest entry of the gradient, in units of the columns' standard deviations, came down
        to the tolerance.
    gradient_size : float
        That largest entry at the end; of a method that goes by the duality gap, the gap.
    message : str
        What to do where it did not converge; empty otherwise.
    """

    coef: Floats
    objective_path: Floats
    converged: bool
    gradient_size: float
    message: str

    @property
    def n_iter(self) -> int:
        """The number of iterations."""
        return len(self.objective_path) - 1


@dataclass(frozen=True, eq=False)
class CertifiedResult:
    """The end of a run whose answer comes with bounds on the optimum.

    Attributes
    ----------
    result : Result
        The coefficients and the path.
    certificate : Certificate
        The objective at the coefficients and a bound on the optimum; minus infinity where an objective is not
        convex, or no line below it is known.
    at_zero : float
        The objective at zero coefficients.
    collapsed : bool
        Whether the bound says that zero coefficients are as good.
    """

    result: Result
    certificate: Certificate
    at_zero: float
    collapsed: bool
