"""What proves an answer: bounds on the optimum from both sides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
