"""What every solver returns, and the certificate of optimality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from pushrank._numeric import Floats
from pushrank.models import Model
from pushrank.objectives import PushObjective
from pushrank.objectives.evaluation import ObjectiveEvaluation
from pushrank.pairs import Sample
from pushrank.solvers.tolerances import TINY, VALUE_ROUNDING

PUSH_LESS = (
    ". Push less: use Power(p), whose p can be chosen, in place of Maximum or LargestShare, or lower alpha."
)


@dataclass(frozen=True, eq=False)
class Certificate:
    """Bounds on an optimum from both sides.

    ``primal`` is the objective at the answer, and ``dual`` the dual objective at feasible variables, below
    which no answer is. The gap is relative to the primal objective, or to ``floor`` where that is larger.
    """

    primal: float
    dual: float
    floor: float = TINY

    @property
    def gap(self) -> float:
        """The relative duality gap, (primal - dual) / primal; rounding that makes it negative counts too."""
        return abs(self.primal - self.dual) / max(abs(self.primal), self.floor)

    def collapse(self, at_zero: float, tol: float, advice: str = PUSH_LESS) -> str:
        """Return the message where zero coefficients are proven optimal, to a part of the objective there."""
        # Where the answer is better than zero coefficients these are not optimal, however small the
        # difference.
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


def squared_hinge_certificate(
    model: Model,
    sample: Sample,
    C: float,
    coef: Floats,
    scores: Floats,
    at_point: ObjectiveEvaluation | None = None,
) -> Certificate:
    r"""Return the objective of the squared hinge, and the dual at the variables that the margins suggest.

    With :math:`a = 2 C \pi (1 - m)_+` for a pair of margin m and fraction :math:`\pi` of all weight, the dual
    is the sum of a, less that of :math:`a^2 / 4 C \pi`, less half the squared norm of the combination of
    pairs.
    """
    if at_point is None:
        at_point = PushObjective("squared_hinge", scale="mean").evaluation(sample, scores)
    gradient = at_point.gradient()
    combined = -C * model.rmatvec(sample.scatter(*gradient))
    # The combination of pairs that belongs to these variables is the minimiser of the Lagrangian.
    norm = model.squared_norm(combined)
    primal = 0.5 * model.squared_norm(coef, scores) + C * at_point.value
    # The slopes of a pair's loss are a / C and its negative: those of the worse rows add up to all a / C.
    dual = C * (float(gradient.negatives.sum()) - at_point.value) - 0.5 * norm
    return Certificate(float(primal), max(float(dual), 0.0))


class CertifiedSolution(NamedTuple):
    """The end of a solver that stops on the duality gap.

    The coefficients are those of the model that was solved. ``state`` is what the same problem with another C
    can start from, and ``dual`` the dual variables of all rows, where the solver has them.
    """

    coef: Floats
    certificate: Certificate
    n_iter: int
    state: Any
    dual: Floats | None = None


class Callback(Protocol):
    """A function that is called after every iteration, with its number and values to show by name."""

    def __call__(self, iteration: int, /, **shown: float) -> None:
        """Show an iteration: ``objective`` and ``gradient``, ``objective`` and ``gap``, or others."""


def offset_callback(callback: Callback | None, before: int) -> Callback | None:
    """Return a callback of iterations that come after so many others."""
    if callback is None:
        return None
    return lambda iteration, /, **shown: callback(before + iteration, **shown)


def scaled_callback(callback: Callback | None, factor: float) -> Callback | None:
    """Return a callback that shows a multiple of all values."""
    if callback is None:
        return None
    return lambda iteration, /, **shown: callback(iteration, **{k: factor * v for k, v in shown.items()})


@dataclass(frozen=True, eq=False)
class Result:
    """The end of a solver's run: the coefficients of the lowest objective, and how the solver got there.

    ``objective_path`` is the penalised objective at the start and after every iteration; ``gradient_size``
    the largest entry of the gradient in units of the columns' standard deviations, or for a method that stops
    on the duality gap the gap; ``message`` what to do where the run did not converge; ``certificate`` None
    where the solver has none at hand, its dual minus infinity where the objective is not convex or no line
    below it is known; ``collapse`` the message where it proves zero coefficients optimal.
    """

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
