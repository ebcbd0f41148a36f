"""What every solver returns, and the certificate of optimality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from pushrank._numeric import Floats
from pushrank.models import Model
from pushrank.objectives import PushObjective
from pushrank.pairs import Sample
from pushrank.solvers.tolerances import TINY, VALUE_ROUNDING

PUSH_LESS = ". Push less: use Power(p), whose p can be chosen, in place of Maximum, or lower alpha."


@dataclass(frozen=True, eq=False)
class Certificate:
    """Bounds on an optimum from both sides."""

    primal: float  # the objective at the answer
    dual: float  # the dual objective at feasible variables: no answer is below
    floor: float = TINY  # what the gap is relative to at least

    @property
    def gap(self) -> float:
        """The relative duality gap, (primal - dual) / primal, or as much as rounding turned it round."""
        return abs(self.primal - self.dual) / max(abs(self.primal), self.floor)

    def collapse(self, at_zero: float, tol: float, advice: str = PUSH_LESS) -> str:
        """Return what to say where zero coefficients are proven optimal; empty where they are not.

        The tolerance is relative to the objective there. Where a better answer is known they are not optimal,
        however little better it is.
        """
        better = self.primal < at_zero - VALUE_ROUNDING * abs(at_zero)
        if better or self.dual < at_zero - max(tol, VALUE_ROUNDING) * abs(at_zero):
            return ""
        return (
            f"zero coefficients are optimal (objective {at_zero:g} there, at least {self.dual:g} anywhere)"
            f"{advice}"
        )

    def advice(self, n_iter: int, easier: str) -> str:
        """Return what to do about a gap that is too wide after so many iterations.

        What makes the problem itself easier, such as "lower C", is part of it.
        """
        return (
            f"the relative duality gap is {self.gap:.1e} after {n_iter} iterations; raise max_iter or tol, "
            f"{easier}, or scale the features."
        )


def squared_hinge_certificate(
    model: Model, sample: Sample, C: float, coef: Floats, scores: Floats
) -> Certificate:
    r"""Return the objective of the squared hinge, and the dual at the variables that the margins suggest.

    With :math:`a = 2 C \pi (1 - m)_+` for a pair of margin m and fraction :math:`\pi` of all weight, the dual
    is the sum of a, less that of :math:`a^2 / 4 C \pi`, less half the squared norm of the combination of
    pairs.
    """
    at_point = PushObjective("squared_hinge", scale="mean").evaluation(sample, scores)
    gradient = at_point.gradient()
    combined = -C * model.rmatvec(sample.scatter(*gradient))
    norm = model.squared_norm(combined)
    primal = 0.5 * model.squared_norm(coef, scores) + C * at_point.value
    # the slopes of a pair's loss are a / C and its negative: those of the worse rows add up to all a / C
    dual = C * (float(gradient.negatives.sum()) - at_point.value) - 0.5 * norm
    return Certificate(float(primal), max(float(dual), 0.0))


class CertifiedSolution(NamedTuple):
    """What a solver that stops on the duality gap found."""

    coef: Floats  # of the model's kind
    certificate: Certificate
    n_iter: int
    state: Any  # what the same problem with another C can start from
    dual: Floats | None = None  # the dual variables of all rows, where the solver has them


class Callback(Protocol):
    """Called after every iteration with its number, and with what to show of it by name."""

    def __call__(self, iteration: int, /, **shown: float) -> None:
        """Show an iteration: ``objective`` and ``gradient``, ``objective`` and ``gap``, or others."""


def offset_callback(callback: Callback | None, before: int) -> Callback | None:
    """Return a callback of iterations that come after so many others."""
    if callback is None:
        return None
    return lambda iteration, /, **shown: callback(before + iteration, **shown)


@dataclass(frozen=True, eq=False)
class Result:
    """The end of a solver's run.

    The gradient is measured in units of the columns' standard deviations.
    """

    coef: Floats  # of the best objective found
    objective_path: Floats  # the penalised objective at the start and after every iteration
    converged: bool
    gradient_size: float  # the largest entry at the end; of a method that goes by the duality gap, the gap
    message: str  # what to do where it did not converge; empty otherwise
    # minus infinity bounds an optimum where the objective is not convex or no line below it is known; a
    # solver that has no certificate at hand leaves it out
    certificate: Certificate | None = None
    collapse: str = ""  # what to say where the certificate proves zero coefficients optimal

    @property
    def n_iter(self) -> int:
        """The number of iterations."""
        return len(self.objective_path) - 1
