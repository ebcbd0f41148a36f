"""What proves an answer: bounds on the optimum from both sides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pushrank._log_space import Floats
from pushrank.models import Model
from pushrank.objectives import PushObjective
from pushrank.pairs import Sample

ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Certificate:
    """Bounds on an optimum from both sides.

    Attributes
    ----------
    primal : float
        The objective at the answer.
    dual : float
        The dual objective at feasible variables: no answer is below.
    """

    primal: float
    dual: float

    @property
    def gap(self) -> float:
        """The relative duality gap, (primal - dual) / primal, or as much as rounding turned it round."""
        return abs(self.primal - self.dual) / max(abs(self.primal), np.finfo(float).tiny)

    def proves_collapse(self, at_zero: float, tol: float) -> bool:
        """Return whether zero coefficients are optimal, to a tolerance relative to the objective there.

        Where a better answer is known they are not, however little better it is.
        """
        better = self.primal < at_zero - ROUNDING * abs(at_zero)
        return not better and self.dual >= at_zero - max(tol, ROUNDING) * abs(at_zero)

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

    With :math:`a = 2 C \pi (1 - m)_+` for a pair of margin m and share :math:`\pi` of all weight, the dual is
    the sum of a, less that of :math:`a^2 / 4 C \pi`, less half the squared norm of the combination of pairs.
    """
    at_point = PushObjective("squared_hinge", scale="mean").linearise(sample, scores)
    gradient = at_point.gradient()
    combined = -C * model.pull_back(sample.join(*gradient))
    norm = model.squared_norm(combined)
    primal = 0.5 * model.squared_norm(coef, scores) + C * at_point.value
    # the slopes of a pair's loss are a / C and its negative: those of the worse rows add up to all a / C
    dual = C * (float(gradient.negatives.sum()) - at_point.value) - 0.5 * norm
    return Certificate(float(primal), max(float(dual), 0.0))
