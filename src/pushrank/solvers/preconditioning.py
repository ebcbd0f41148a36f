"""Coordinates in which the level sets of an objective are round."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import scipy.linalg

from pushrank._numeric import Floats
from pushrank.solvers.problem import LinearProblem

WIDEST_WHITENED = 1024
MOST_ROWS = 512
SMALL_BASIS = 1 << 20  # numbers that a basis may always hold; beyond, a sixteenth of what the data hold
RIDGE = 1e-11
ROUNDING = 1e-15  # of a mean, for every row that adds to it


class Coordinates(Protocol):
    """A linear map S from coordinates to changes of the coefficients."""

    def step(self, v: Floats) -> Floats:
        """Return ``S @ v``."""

    def gradient(self, of_coef: Floats) -> Floats:
        """Return ``S.T @ of_coef``: the gradient in the coordinates from that in the coefficients."""


class Diagonal(NamedTuple):
    """Every coefficient in a unit of its own."""

    units: Floats

    def step(self, v: Floats) -> Floats:
        """Return the change of the coefficients along ``v``."""
        return self.units * v

    def gradient(self, of_coef: Floats) -> Floats:
        """Return the gradient in the coordinates."""
        return self.units * of_coef


class Whitened(NamedTuple):
    """Axes and units of the whole curvature."""

    factor: Floats

    def step(self, v: Floats) -> Floats:
        """Return the change of the coefficients along ``v``."""
        return self.factor @ v

    def gradient(self, of_coef: Floats) -> Floats:
        """Return the gradient in the coordinates."""
        return self.factor.T @ of_coef


class LowRank(NamedTuple):
    """Units of their own, shrunk along the few directions in which heavy rows curve the objective."""

    units: Floats
    basis: Floats
    shrink: Floats

    def step(self, v: Floats) -> Floats:
        """Return the change of the coefficients along ``v``."""
        return self.units * self._shrunk(v)

    def gradient(self, of_coef: Floats) -> Floats:
        """Return the gradient in the coordinates."""
        return self._shrunk(self.units * of_coef)

    def _shrunk(self, v: Floats) -> Floats:
        shrunk: Floats = v + self.basis.T @ (self.shrink * (self.basis @ v))
        return shrunk


def column_curvature(problem: LinearProblem, row_weights: Floats) -> tuple[Floats, Floats]:
    """Return the curvature along every coefficient, and the columns' standard deviations.

    Both are taken within the classes, under the given row weights; the penalty is left out. Gradients are
    measured in units of the deviations (of one for a constant column, or of its value where that is more),
    so that a tolerance does not depend on the units of a feature.

    Notes
    -----
    Two readings of the data.
    """
    curvature = problem.model.class_variances(row_weights, problem.class_codes)
    of_classes = problem.model.class_totals(row_weights, problem.class_codes)
    # where all losses are zero no row has a weight
    scales = np.sqrt(curvature / max(float(of_classes.sum()), np.finfo(float).tiny))
    if not scales.all():
        # a column that is constant within the classes is measured by its step from one to the other
        totals = np.maximum(of_classes, np.finfo(float).tiny)
        means = problem.model.class_sums(row_weights, problem.class_codes) / totals[:, None]
        steps, sizes = np.abs(means[1] - means[0]), np.abs(means).max(axis=0)
        # a step that rounding could have made is none, and large values leave that much of a gradient
        steps = np.where(steps > ROUNDING * problem.model.n_rows * sizes, steps, np.maximum(sizes, 1.0))
        scales = np.where(scales > 0.0, scales, steps)
    return curvature, scales


def diagonal(problem: LinearProblem, curvature: Floats) -> Diagonal:
    """Return coordinates that scale every coefficient by the curvature along it."""
    return Diagonal(_units(curvature + problem.alpha))


def whitened(problem: LinearProblem, row_weights: Floats, scales: Floats) -> Whitened:
    """Return coordinates in which the objective curves alike in all directions.

    The curvature is the covariance of the columns within the classes under the row weights. For the P-Norm
    Push on the log scale this is the exact Hessian.

    Notes
    -----
    O(n_rows * n_features ** 2) time, O(n_features ** 2) memory.
    """
    covariance = problem.model.class_covariance(row_weights, problem.class_codes)
    curvature = covariance / np.outer(scales, scales)
    curvature[np.diag_indices_from(curvature)] += problem.alpha / scales**2
    eigenvalues, eigenvectors = scipy.linalg.eigh(curvature, check_finite=False)
    # columns that are copies or constants leave directions without curvature: they get a little
    floor = RIDGE * float(eigenvalues[-1]) if eigenvalues[-1] > 0.0 else 1.0
    return Whitened(eigenvectors / np.sqrt(np.maximum(eigenvalues, floor)) / scales[:, None])


def low_rank(problem: LinearProblem, row_weights: Floats) -> LowRank:
    """Return coordinates for wide data, from the heaviest rows and the diagonal of all others.

    As p grows or the classes come apart, the weight gathers on few rows, and they shape the curvature.

    Notes
    -----
    Two readings of the data, and a dense basis of at most 512 rows that takes no more than a sixteenth of
    the memory of the data (or 8 MiB).
    """
    model = problem.host_model
    n_heavy = rank(problem)
    heavy = np.sort(np.argpartition(-row_weights, n_heavy - 1)[:n_heavy])
    totals = np.maximum(np.bincount(problem.class_codes, row_weights, minlength=2), np.finfo(float).tiny)
    means = model.class_sums(row_weights, problem.class_codes) / totals[:, None]
    basis = model.rows(heavy) - means[problem.class_codes[heavy]]
    basis *= np.sqrt(row_weights[heavy])[:, None]
    curvature = column_curvature(problem, row_weights)[0]
    of_others = np.maximum(curvature - np.einsum("ij,ij->j", basis, basis), RIDGE * curvature)
    units = _units(of_others + problem.alpha)
    basis *= units
    squares, mixing = scipy.linalg.eigh(basis @ basis.T, check_finite=False)
    kept = squares > RIDGE * max(float(squares[-1]), 1.0)
    basis = (mixing[:, kept] / np.sqrt(squares[kept])).T @ basis
    return LowRank(units, basis, 1.0 / np.sqrt(1.0 + squares[kept]) - 1.0)


def rank(problem: LinearProblem) -> int:
    """Return how many rows the basis of low-rank coordinates has room for."""
    model = problem.host_model
    room = max(SMALL_BASIS, model.stored_bytes // 128)
    return int(max(1, min(MOST_ROWS, room // model.n_features, model.n_rows)))


def refreshed(problem: LinearProblem, coef: Floats, scales: Floats) -> Coordinates:
    """Return coordinates for a further round: whitened, or of low rank on more than 1,024 columns."""
    row_weights = problem.row_weights(coef)
    if problem.model.n_features > WIDEST_WHITENED:
        return low_rank(problem, row_weights)
    return whitened(problem, row_weights, scales)


def _units(curvature: Floats) -> Floats:
    return 1.0 / np.sqrt(np.where(curvature > 0.0, curvature, 1.0))
