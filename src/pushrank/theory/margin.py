"""The largest ranking margin of a weighted vote of weak rankers, by linear programming (COLT 2005, 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.optimize import linprog
from sklearn.utils import check_array, column_or_1d

from pushrank._base.numeric import Floats
from pushrank._base.validation import plain_labels
from pushrank.pairs import CrucialSample, GradedSample, Sample
from pushrank.pairs.targets import check_pairs_alone, sample_of_labels, sample_of_pairs
from pushrank.theory.covering import shared_docs


@dataclass(frozen=True, eq=False)
class MaxMargin:
    r"""The largest margin, weights that reach it, and row weights that prove that none is larger.

    Parameters
    ----------
    value : float
        :math:`\rho`: no weights of norm one have a larger least margin; positive if some make no error.
    weights : ndarray of shape (n_rankers,)
        Weights :math:`\lambda` with :math:`\|\lambda\|_1 \le 1` whose least margin is ``value``.
    net_row_weights : ndarray of shape (n_rows,)
        The weight of each row as a better row less that as a worse one, under the worst distribution d over
        the pairs. ``bound`` follows from it alone.
    bound : float
        The largest edge :math:`|\sum_{ik} d_{ik} (h_j(x_i) - h_j(x_k))|` of a ranker under d (without the
        absolute value if weights must not be negative), at least 0: by duality no margin is larger.

    Examples
    --------
    >>> max_margin([[1.0], [0.0]], [1, 0]).value
    1.0
    """

    value: float
    weights: Floats
    net_row_weights: Floats
    bound: float


@shared_docs
def max_margin(
    H: Any,
    y: ArrayLike | None = None,
    *,
    qid: ArrayLike | None = None,
    pairs: tuple[ArrayLike, ...] | None = None,
    positive: bool = False,
) -> MaxMargin:
    r"""Return the largest ranking margin that a weighted vote of weak rankers can have.

    .. math::
        \rho = \max_{\|\lambda\|_1 \le 1}\; \min_{(i, k)}\; \sum_j \lambda_j (h_j(x_i) - h_j(x_k))
             = \min_d\; \max_j\; \Bigl|\sum_{(i, k)} d_{ik} (h_j(x_i) - h_j(x_k))\Bigr| ,

    over the pairs in which row i should stand above row k, and distributions d over them. Ties have the
    margin zero. The linear program (HiGHS) has a constraint a row for classes and grades, and a constraint a
    pair for explicit pairs. Rudin, Cortes, Mohri and Schapire, COLT 2005, section 4.2, equation (3).

    Parameters
    ----------
    H : array-like or sparse matrix of shape (n_rows, n_rankers)
        The values of the weak rankers, such as the ``value_matrix`` of a fitted family.
    y : array-like of shape (n_rows,), optional
    qid : array-like of shape (n_rows,), optional
    pairs : (better, worse) or (better, worse, weight), optional
        Explicit pairs of row numbers, in place of ``y``; pairs of weight zero do not count.
    positive : bool, default=False
        Whether weights must not be negative.

    Returns
    -------
    MaxMargin
        The value with its certificate: 0, with weights of zero, if no weights rank all pairs rightly.

    Raises
    ------
    TypeError
        When row numbers are not integers.
    ValueError
        When there is no pair, not exactly one of ``y`` and ``pairs`` is passed, lengths differ, row numbers
        are out of range, a row is paired with itself, or a value is not finite.
    RuntimeError
        When the linear program could not be solved.

    Examples
    --------
    >>> margin = max_margin([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [1, 1, 0])
    >>> round(margin.value, 9), round(margin.bound, 9)
    (0.5, 0.5)
    """
    values = check_array(H, accept_sparse="csr", dtype=np.float64, input_name="H")
    sample = sample_of_rows("max_margin", values.shape[0], y, qid, pairs)
    row_signs, levels, gains = _constraints(sample)
    differences = sp.csr_array(row_signs @ values)
    # The variables are the positive and the negative parts of the weights, the levels, and the margin.
    sides = [differences] if positive else [differences, -differences]
    matrix = sp.hstack([-side for side in sides] + [levels, gains[:, None]], format="csr")
    n_weights = len(sides) * values.shape[1]
    is_weight = np.arange(matrix.shape[1]) < n_weights
    norm = sp.csr_array(is_weight[None, :].astype(np.float64))
    objective = np.zeros(len(is_weight))
    objective[-1] = -1.0
    lowest = np.where(is_weight, 0.0, -np.inf)
    lowest[-1] = 0.0
    A_ub, b_ub = sp.vstack([matrix, norm], format="csr"), np.append(np.zeros(matrix.shape[0]), 1.0)
    bounds = np.stack([lowest, np.full(len(lowest), np.inf)], axis=1)
    solved = linprog(objective, A_ub, b_ub, bounds=bounds, method="highs")
    if solved.status != 0:
        raise RuntimeError(f"the linear program of the largest margin was not solved: {solved.message}")
    parts = solved.x[:n_weights].reshape(len(sides), -1)
    weights: Floats = parts[0] if positive else parts[0] - parts[1]
    # The dual solution, without the constraint on the norm, is the worst distribution over the pairs.
    net_row_weights = row_signs.T @ -solved.ineqlin.marginals[:-1]
    edges = values.T @ net_row_weights
    bound = float(np.max(edges if positive else np.abs(edges), initial=0.0))
    value = sample.least_margin(np.asarray(values @ weights))
    return MaxMargin(max(value, 0.0), weights, net_row_weights, bound)


def sample_of_rows(
    name: str, n_rows: int, y: ArrayLike | None, qid: ArrayLike | None, pairs: tuple[ArrayLike, ...] | None
) -> Sample:
    """Return the sample of the pairs that labels, grades and queries define, or of explicit pairs."""
    if pairs is not None:
        check_pairs_alone(y=y, qid=qid)
        return sample_of_pairs(pairs, n_rows)
    if y is None:
        raise ValueError("give either y or pairs, to say which rows should stand above which.")
    labels = check_array(column_or_1d(plain_labels(y)), dtype=None, ensure_2d=False, input_name="y")
    if len(labels) != n_rows:
        raise ValueError(f"y has {len(labels)} entries for {n_rows} rows; they must agree.")
    return sample_of_labels(name, labels, qid=qid)[0]


def _constraints(sample: Sample) -> tuple[Any, Any, Floats]:
    """Return the matrices of ``-row_signs @ values @ weights + levels @ u + gains * margin <= 0``."""
    # Explicit pairs have a constraint each. For grades a level u lies between the better and the worse rows
    # of each step: no better row scores below u, and no worse row above u less the margin.
    row = sp.eye_array(sample.n_rows, format="csr")
    if isinstance(sample, CrucialSample):
        n_pairs = len(sample.better)
        return row[sample.better] - row[sample.worse], sp.csr_array((n_pairs, 0)), np.ones(n_pairs)
    # Two classes have one step.
    upper, lower = np.zeros_like(sample.positives), np.zeros_like(sample.negatives)
    is_first = np.ones(1, dtype=bool)
    if isinstance(sample, GradedSample):
        is_first = sample.starts_group
        numbers = np.arange(len(is_first))
        upper, lower = np.repeat(numbers, sample.upper_sizes), np.repeat(numbers, sample.lower_sizes)
    # A better row has one constraint, at the step below its grade; falling levels extend it to lower steps,
    # from every level that is not the first of its group.
    level, later = sp.eye_array(len(is_first), format="csr"), np.flatnonzero(~is_first)
    no_rows = sp.csr_array((len(later), sample.n_rows))
    row_signs = sp.vstack([row[sample.positives], -row[sample.negatives], no_rows], format="csr")
    levels = sp.vstack([level[upper], -level[lower], level[later] - level[later - 1]], format="csr")
    return row_signs, levels, np.repeat([0.0, 1.0, 0.0], [len(upper), len(lower), len(later)])
