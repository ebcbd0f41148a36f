r"""The gradient projection algorithms of Agarwal's paper, one dual variable a pair, for reproduction.

Both maximise :math:`\sum_{ik} a_{ik} - \tfrac12 \|\sum_{ik} a_{ik} (x_i - \tilde x_k)\|^2`; the Infinite Push
(figure 2) over :math:`a \ge 0, \sum_k \max_i a_{ik} \le c`, RankSVM (figure 3) over
:math:`0 \le a_{ik} \le c`. The paper projects onto the ball of the l1,inf norm and then clips at zero; the
nearest feasible point is found by clipping first.

Shivani Agarwal, *The Infinite Push*, SDM 2011; Ariadna Quattoni, Xavier Carreras, Michael Collins, Trevor
Darrell, *An efficient projection for l1,inf regularization*, ICML 2009.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pushrank._log_space import Floats
from pushrank.models import Model
from pushrank.pairs import BipartiteSample
from pushrank.solvers.certificate import Certificate
from pushrank.solvers.result import Watcher

MOST_PAIRS = 50_000_000
ROUNDS_OF_POWER = 20


class PairVariables(NamedTuple):
    """A dual variable for each pair, shape (I, K), and the coefficients that they make."""

    variables: Floats
    coef: Floats
    certificate: Certificate


def gradient_projection(
    project: Callable[[Floats], Floats],
    certify: Callable[[Floats, Floats, Floats], Certificate],
    model: Model,
    sample: BipartiteSample,
    tol: float,
    max_iter: int,
    watcher: Watcher | None = None,
) -> tuple[PairVariables, int]:
    r"""Return the best of all iterates, and the number of iterations.

    Parameters
    ----------
    project : callable
        Returns the nearest feasible variables.
    certify : callable
        Returns the bounds at feasible variables, the coefficients they make and their scores.
    model : Model
        The data.
    sample : BipartiteSample
        The classes.
    tol : float
        The relative gap to reach.
    max_iter : int
        The most iterations; the paper runs a fixed number of some hundreds.
    watcher : callable, optional
        Called after every iteration with its number, the primal objective and the gap.

    Raises
    ------
    ValueError
        When there are more than 50 million pairs.

    Notes
    -----
    Step t has the length :math:`10 / (L \sqrt t)`, L being the largest eigenvalue of the quadratic form. An
    iteration costs O(I K log(I K)) time, and O(I K) memory: the other solvers need neither.
    """
    shape = len(sample.positives), len(sample.negatives)
    if shape[0] * shape[1] > MOST_PAIRS:
        raise ValueError(
            f"solver='gradient-projection' keeps a variable for each of {shape[0] * shape[1]:,} pairs, and "
            f"takes at most {MOST_PAIRS:,}; it is there to reproduce the paper: use solver='auto'."
        )

    def combined(variables: Floats) -> tuple[Floats, Floats]:
        coef = model.pull_back(sample.join(variables.sum(axis=1), -variables.sum(axis=0)))
        return coef, model.scores(coef)

    def margins(scores: Floats) -> Floats:
        of_positives, of_negatives = sample.split(scores)
        return np.subtract.outer(of_positives, of_negatives)

    length = 10.0 / max(_largest_eigenvalue(lambda a: margins(combined(a)[1]), shape), 1e-300)
    variables = np.zeros(shape)
    coef, scores = combined(variables)
    best = PairVariables(variables, coef, certify(variables, coef, scores))
    iteration = 0
    while iteration < max_iter and best.certificate.gap > tol:
        iteration += 1
        ascent = 1.0 - margins(scores)
        variables = project(variables + length / np.sqrt(iteration) * ascent)
        coef, scores = combined(variables)
        certificate = certify(variables, coef, scores)
        if certificate.gap < best.certificate.gap:
            best = PairVariables(variables, coef, certificate)
        if watcher is not None:
            watcher(iteration, objective=certificate.primal, gap=certificate.gap)
    return best, iteration


def _largest_eigenvalue(product: Callable[[Floats], Floats], shape: tuple[int, int]) -> float:
    """Return the largest eigenvalue of the quadratic form, by rounds of the power method."""
    vector = np.add.outer(np.linspace(1.0, 2.0, shape[0]), np.linspace(-0.5, 0.7, shape[1]))
    value = 0.0
    for _ in range(ROUNDS_OF_POWER):
        norm = float(np.linalg.norm(vector))
        if norm == 0.0:
            break
        vector = product(vector / norm)
        value = float(np.linalg.norm(vector))
    return value
