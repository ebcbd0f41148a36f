"""The ramp surrogate of precision at k by the concave-convex procedure.

Alan Yuille, Anand Rangarajan, *The concave-convex procedure*, Neural Computation 15 (2003).
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank._log_space import Floats
from pushrank.models import LinearModel
from pushrank.objectives import precision_kernels as kernels
from pushrank.solvers.cutting_plane import cutting_plane
from pushrank.solvers.result import Watcher

MOST_PLANES = 1000
"""Of a convex problem; one that needs more has so large a C, or features, that the norm hardly counts."""


class Ramp(NamedTuple):
    """The loss of scores: classes, masses and k as a number of rows."""

    positive: NDArray[np.bool_]
    mass: Floats
    k: float

    def value(self, scores: Floats) -> float:
        """Return the ramp over k."""
        value, _ = kernels.slopes(
            kernels.RAMP, scores, self.positive, self.mass, self.k, np.empty(len(scores))
        )
        return float(value) / self.k

    def held(self, scores: Floats) -> Floats:
        """Return the positives among whom the k highest are, as masses of rows."""
        held: Floats = kernels.held_at_top(scores, self.positive, self.mass, self.k)
        return held

    def above(self, held: Floats, scores: Floats) -> tuple[float, Floats]:
        """Return a convex function that is never below the ramp over k, and meets it where they are held."""
        slope = np.empty(len(scores))
        value = kernels.slopes_against(held, scores, self.positive, self.mass, self.k, slope)
        return float(value) / self.k, slope / self.k


class Descent(NamedTuple):
    """What a descent found.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
        The coefficients.
    path : list of float
        The objective at zero coefficients, and after each convex problem.
    converged : bool
        Whether it came to rest.
    """

    coef: Floats
    path: list[float]
    converged: bool


def concave_convex(
    ramp: Ramp,
    model: LinearModel,
    C: float,
    tol: float,
    max_iter: int,
    scores: Floats,
    watcher: Watcher | None = None,
) -> Descent:
    r"""Descend on :math:`\tfrac12 \|w\|^2 + C\,\mathrm{ramp}(Xw) / k` by one convex problem after another.

    Parameters
    ----------
    ramp : Ramp
        The loss.
    model : LinearModel
        The data.
    C : float
        The weight of the loss.
    tol : float
        Ends when the objective falls by less than this share of itself; also the gap of convex problems.
    max_iter : int
        The most convex problems.
    scores : ndarray of shape (n_rows,)
        Those to start from.
    watcher : callable, optional
        Called after every convex problem with its number, the objective and its fall.
    """
    coef, path = np.zeros(model.n_features), [C * ramp.value(np.zeros(len(scores)))]
    held, planes = ramp.held(scores), None
    for iteration in range(1, max_iter + 1):
        found = cutting_plane(partial(ramp.above, held), model, C, tol, MOST_PLANES, start=planes)
        candidate = model.scores(found.coef)
        objective = 0.5 * model.squared_norm(found.coef, candidate) + C * ramp.value(candidate)
        solved = found.n_iter < MOST_PLANES or found.certificate.gap <= tol
        if objective >= path[-1]:
            return Descent(coef, path, solved)
        falls = path[-1] - objective
        if watcher is not None:
            watcher(iteration, objective=objective, fall=falls)
        coef, before, held = found.coef, held, ramp.held(candidate)
        planes = found.planes.tilted(model.pull_back((before - held) / ramp.k))
        path.append(objective)
        if not solved:
            return Descent(coef, path, False)
        if falls <= tol * objective and iteration > 1:
            return Descent(coef, path, True)
    return Descent(coef, path, False)
