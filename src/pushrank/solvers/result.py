"""What every solver returns, and the certificate of optimality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from pushrank._base.numeric import Floats
from pushrank.solvers.tolerances import TINY, VALUE_ROUNDING

PUSH_LESS = ". Push less: use Power(p), whose p can be chosen, in place of Maximum, or lower alpha."


@dataclass(frozen=True, eq=False)
class Certificate:
    """Bounds on an optimum from both sides."""

    # `primal` is the objective at the answer, and `dual` the dual objective at feasible variables, below
    # which no answer is. The gap is relative to the primal objective, or to `floor` where that is larger.

    primal: float
    dual: float
    floor: float = TINY

    @property
    def gap(self) -> float:
        """The relative duality gap, (primal - dual) / primal; rounding that makes it negative counts too."""
        return abs(self.primal - self.dual) / max(abs(self.primal), self.floor)

    def collapse(self, at_zero: float, tol: float, advice: str = PUSH_LESS) -> str:
        """Return the message where zero coefficients are proven optimal, to a part of the objective there."""
        # Where the answer is better than zero coefficients they are not optimal, however small the gap.
        better = self.primal < at_zero - VALUE_ROUNDING * abs(at_zero)
        if better or self.dual < at_zero - max(tol, VALUE_ROUNDING) * abs(at_zero):
            return ""
        return (
            f"zero coefficients are optimal (objective {at_zero:g} there, at least {self.dual:g} anywhere)"
            f"{advice}"
        )

    def advice(self, n_iter: int, easier: str) -> str:
        """Return what to do about a gap that is too wide, where ``easier``, such as "lower C", helps too."""
        return (
            f"the relative duality gap is {self.gap:.1e} after {n_iter} iterations; raise max_iter or tol, "
            f"{easier}, or scale the features."
        )


class CertifiedSolution(NamedTuple):
    """The end of a solver that stops on the duality gap."""

    # The coefficients are those of the model that was solved. `state` is what the same problem with another C
    # can start from, and `dual` the dual variables of all rows, where the solver has them.

    coef: Floats
    certificate: Certificate
    n_iter: int
    state: Any
    dual: Floats | None = None


class Callback(Protocol):
    """A function that is called after every iteration, with its number and values to show by name."""

    def __call__(self, iteration: int, /, **shown: float) -> None:
        """Show an iteration: ``objective`` and ``gradient``, ``objective`` and ``gap``, or others."""


def offset_callback(callback: Callback | None, before: int, factor: float = 1.0) -> Callback | None:
    """Return a callback of iterations that come after this many others, which shows a multiple of values."""
    if callback is None:
        return None
    return lambda iteration, /, **shown: callback(
        before + iteration, **{name: factor * value for name, value in shown.items()}
    )


@dataclass(frozen=True, eq=False)
class Result:
    """The end of a solver's run: the coefficients of the lowest objective, and how the solver got there."""

    # `objective_path` is the penalised objective at the start and after every iteration; `gradient_size` the
    # largest entry of the gradient in units of the columns' standard deviations, or for a method that stops
    # on the duality gap the gap; `message` what to do where the run did not converge; `certificate` None
    # where the solver has none at hand, its dual minus infinity where the objective is not convex or no line
    # below it is known; `collapse` the message where it proves zero coefficients optimal.

    coef: Floats
    objective_path: Floats
    converged: bool
    gradient_size: float
    message: str
    certificate: Certificate | None = None
    collapse: str = ""

    @property
    def n_iter(self) -> int:
        return len(self.objective_path) - 1
