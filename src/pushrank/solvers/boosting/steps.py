"""How far a round of boosting steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pushrank._numeric import Floats
from pushrank.solvers.boosting.objective import Point, ScoreProblem
from pushrank.solvers.line_search import exact_step
from pushrank.weak_rankers.base import Values


@dataclass(frozen=True, eq=False)
class Direction:
    """A weak ranker to step along.

    Attributes
    ----------
    values : ndarray of shape (n_rows,)
        Its values; bool where it has two only.
    weight : float
        Its present weight.
    ridge : float
        The penalty is half of this times the square of its weight.
    norm : float
        The sum of the absolute weights of all rankers.
    """

    values: Values
    weight: float = 0.0
    ridge: float = 0.0
    norm: float = 0.0


class StepRule(Protocol):
    """A rule for the length of a step."""

    def step(self, problem: ScoreProblem, point: Point, scores: Floats, along: Direction) -> float:
        """Return the step along a ranker, negative to turn it around."""


class ExactStep:
    r"""The step to the least penalised objective.

    For a ranker in {0, 1} and no penalty it is :math:`\ln(d_+ / d_-) / c`, with c = p + 1 for the P-Norm Push
    and 2 for RankBoost and AdaBoost; elsewhere a safeguarded Newton iteration.

    Notes
    -----
    Where :math:`d_- = 0` the best step is infinite. It is then that of a sample with one more pair of each
    kind (smoothing by one over the number of pairs, as RankBoost implementations do).

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), figure 2; the closed form at p = 1 is the paper's.
    """

    def step(self, problem: ScoreProblem, point: Point, scores: Floats, along: Direction) -> float:
        """Return the step to the least penalised objective."""
        values = along.values
        if values.dtype == bool and along.ridge == 0.0:
            forces = point.forces(values)
            if forces is not None:
                smoothing = np.exp(-problem.log_pairs) if 0.0 in forces[:2] else 0.0
                return float(
                    np.log((forces.rightly + smoothing) / (forces.wrongly + smoothing)) / problem.rate
                )
        return _newton_step(problem, point, scores, along, push_out=0.0)


class SmoothMarginStep:
    r"""The step of Smooth Margin Ranking, which raises :math:`G = -\ln F(\lambda) / \|\lambda\|_1`.

    With g the smooth margin before the step it solves :math:`-F'(\alpha) = g F(\alpha)`; for a ranker in
    {0, 1} that is the quadratic

    .. math::

        (1 - g) d_+ e^{-\alpha} - (1 + g) d_- e^{\alpha} - g d_0 = 0 .

    As long as G is not positive, the step is RankBoost's.

    Parameters
    ----------
    log_unit : float
        Taken off the logarithm of the objective: that of the least weight of a pair, so that G stays below
        the margin.

    References
    ----------
    Rudin, Cortes, Mohri and Schapire, *Margin-based ranking meets boosting in the middle*, COLT 2005.
    """

    def __init__(self, log_unit: float = 0.0) -> None:
        self._log_unit = log_unit
        self._exact = ExactStep()

    def smooth_margin(self, value: float, norm: float) -> float:
        """Return G, minus infinity where no step was taken."""
        return (self._log_unit - value) / norm if norm > 0.0 else -np.inf

    def step(self, problem: ScoreProblem, point: Point, scores: Floats, along: Direction) -> float:
        """Return the step that raises the smooth margin, or RankBoost's before it is positive."""
        g = self.smooth_margin(point.value, along.norm)
        if g <= 0.0:
            return self._exact.step(problem, point, scores, along)
        forces = point.forces(along.values) if along.values.dtype == bool else None
        if forces is None:
            return _newton_step(problem, point, scores, along, push_out=g)
        sign, (gain, loss) = 1.0, forces[:2]
        if gain < loss:
            sign, gain, loss = -1.0, loss, gain
        middle = g * forces.neither
        below = middle + np.sqrt(middle**2 + 4.0 * (1.0 - g) * (1.0 + g) * gain * loss)
        if below == 0.0:  # a ranker that orders all pairs rightly has the margin one at infinity
            return sign * _longest(problem)
        return sign * max(float(np.log(2.0 * (1.0 - g) * gain / below)), 0.0)


def _longest(problem: ScoreProblem) -> float:
    """Return the step that stands for an infinite one."""
    return float(np.logaddexp(0.0, problem.log_pairs)) / problem.rate


def _newton_step(
    problem: ScoreProblem, point: Point, scores: Floats, along: Direction, push_out: float
) -> float:
    """Return the zero of the slope along a ranker plus ``push_out`` in the step's own direction."""
    on_line = point.line(along.values) if along.values.dtype == bool else None
    direction = along.values.astype(np.float64) if on_line is None else np.zeros(0)

    def slope_at(step: float) -> tuple[float, float]:
        if on_line is not None:
            first, second = on_line(step)
        else:
            at_step = point if step == 0.0 else problem.at(scores + step * direction)
            first, second = at_step.slopes(direction)
        return first + along.ridge * (along.weight + step), second + along.ridge

    sign = -1.0 if slope_at(0.0)[0] > 0.0 else 1.0

    def slope(step: float) -> tuple[float, float]:
        first, second = slope_at(step)
        return first + sign * push_out, second

    if sign * slope(0.0)[0] >= 0.0:
        return 0.0
    longest = _longest(problem) if along.ridge == 0.0 else np.inf
    return exact_step(slope, longest)
