"""Changes of variables that make an objective's level sets round, so that solvers need few steps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg

from pushrank._log_space import Floats
from pushrank.solvers.problem import Problem

WIDEST_WHITENED = 1024
RIDGE = 1e-11


class Coordinates(NamedTuple):
    """Coefficients ``origin + factor @ v``, or ``origin + factor * v`` where the factor is a vector."""

    origin: Floats
    factor: Floats

    def to_coef(self, v: Floats) -> Floats:
        """Return the coefficients at the coordinates ``v``."""
        return self.origin + self.step(v)

    def step(self, v: Floats) -> Floats:
        """Return the change of the coefficients along ``v``."""
        return self.factor * v if self.factor.ndim == 1 else self.factor @ v

    def gradient(self, of_coef: Floats) -> Floats:
        """Return the gradient in the coordinates from that in the coefficients."""
        return self.factor * of_coef if self.factor.ndim == 1 else self.factor.T @ of_coef


def column_curvature(problem: Problem, coef: Floats) -> tuple[Floats, Floats]:
    """Return the curvature along every coefficient at ``coef``, and the columns' standard deviations.

    Both are taken within the classes, under the row weights at ``coef``; the penalty is left out. Gradients
    are measured in units of the deviations (one for a constant column), so that a tolerance does not depend
    on the units of a feature.

    Notes
    -----
    Two readings of the data.
    """
    row_weights = problem.row_weights(coef)
    curvature = problem.model.class_variances(row_weights, problem.groups)
    scales = np.sqrt(np.where(curvature > 0.0, curvature / row_weights.sum(), 1.0))
    return curvature, scales


def diagonal(problem: Problem, coef: Floats, curvature: Floats) -> Coordinates:
    """Return coordinates that scale every coefficient by the curvature along it."""
    penalised = curvature + problem.alpha
    return Coordinates(coef, 1.0 / np.sqrt(np.where(penalised > 0.0, penalised, 1.0)))


def whitened(problem: Problem, coef: Floats, scales: Floats) -> Coordinates:
    """Return coordinates in which the objective curves alike in all directions at ``coef``.

    The curvature is the covariance of the columns within the classes under the row weights at ``coef``. For
    the P-Norm Push on the log scale this is the exact Hessian.

    Notes
    -----
    O(n_rows * n_features ** 2) time, O(n_features ** 2) memory.
    """
    covariance = problem.model.class_covariance(problem.row_weights(coef), problem.groups)
    curvature = covariance / np.outer(scales, scales)
    curvature[np.diag_indices_from(curvature)] += problem.alpha / scales**2
    eigenvalues, eigenvectors = scipy.linalg.eigh(curvature, check_finite=False)
    # columns that are copies or constants leave directions without curvature: they get a little
    floor = RIDGE * float(eigenvalues[-1]) if eigenvalues[-1] > 0.0 else 1.0
    return Coordinates(coef, eigenvectors / np.sqrt(np.maximum(eigenvalues, floor)) / scales[:, None])


def refreshed(problem: Problem, coef: Floats, scales: Floats) -> Coordinates:
    """Return coordinates for a further round: whitened, or diagonal on more than 1,024 columns."""
    if problem.model.n_features > WIDEST_WHITENED:
        return diagonal(problem, coef, column_curvature(problem, coef)[0])
    return whitened(problem, coef, scales)
