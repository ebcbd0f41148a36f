"""Surrogates of precision at k, as functions of the score vector.

Purushottam Kar, Harikrishna Narasimhan, Prateek Jain, *Surrogate functions for maximizing precision at the
top*, ICML 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from pushrank._log_space import Floats
from pushrank.objectives import precision_kernels as kernels
from pushrank.pairs import BipartiteSample, Sample

Surrogate = Literal["struct", "ramp", "max", "avg"]
MOST_ROWS = 1 << 53  # which floats count exactly
RULES = {"struct": kernels.STRUCT, "ramp": kernels.RAMP, "max": kernels.MAX, "avg": kernels.AVG}


@dataclass(frozen=True)
class PrecisionAtK:
    r"""A surrogate of the number of negatives among the k highest scores.

    With :math:`t_{(l)}` the l-th highest score of a negative, :math:`s_{(l)}` and :math:`s_{[l]}` the l-th
    highest and lowest of a positive, m positives and K negatives:

    .. math::

        \mathrm{ramp} &= \sum_{l \le \min(k, K)} [1 + t_{(l)} - s_{(k - l + 1)}]_+ \\
        \mathrm{max} &= \sum_{l \le \min(k, K)} [1 + t_{(l)} - s_{[l]}]_+ \\
        \mathrm{avg} &= \max_{q \le \min(k, K)} \; q + \sum_{l \le q} t_{(l)}
        - \frac{q}{m - k + q} \sum_{l \le m - k + q} s_{[l]} \\
        \mathrm{struct} &= \text{the sum of the k highest of } s + 1 - y, \text{ less } \sum_{y = 1} s

    Then ramp :math:`\le` avg :math:`\le` max, and all three bound the number of negatives among the first k
    from above. struct, the structural SVM's, is no bound, and has none below where k < m. All but ramp are
    convex.

    Parameters
    ----------
    k : int or float, default=0.25
        An int is a number of rows, from 1 to the number of positives; a float in (0, 1] the fraction of the
        positives, rounded to a number between 1 and theirs.
    surrogate : {"struct", "ramp", "max", "avg"}, default="avg"
        Which one.

    Raises
    ------
    ValueError
        When k or the name is out of range.

    Notes
    -----
    O(n + k log k): a class is never sorted whole. Ties count against the learner. A row of weight w counts as
    w copies, in parts where w is no whole number.

    References
    ----------
    Kar, Narasimhan and Jain, ICML 2015, equations (3) to (7), with :math:`\|\hat y\|_1 = k` and the last term
    of (7) zero at k = m.

    Examples
    --------
    >>> surrogate = PrecisionAtK(2, "max")
    >>> value, slope = surrogate.evaluate([1, 0, 1, 0], [3.0, 2.5, 1.0, 0.0])
    >>> value, slope.tolist()
    (2.5, [0.0, 1.0, -1.0, 0.0])
    """

    k: float = 0.25
    surrogate: Surrogate = "avg"

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_k(self.k)
        check_surrogate(self.surrogate)

    def value(self, y: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the surrogate alone.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels with two distinct values; the larger is the positive class.
        scores : array-like of shape (n,)
            A finite score for each row, in the order of ``y``.
        sample_weight : array-like of shape (n,), optional
            Finite, non-negative weights; an integer weight equals that many copies of the row.

        Returns
        -------
        float
            The surrogate.

        Raises
        ------
        ValueError
            As for ``evaluate``.

        Examples
        --------
        >>> PrecisionAtK(1, "struct").value([0, 1, 1], [0.0, 1.0, 2.0])
        -1.0
        """
        return self.evaluate(y, scores, sample_weight)[0]

    def evaluate(
        self, y: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[float, Floats]:
        """Return the surrogate and a subgradient with respect to the scores.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels with two distinct values; the larger is the positive class.
        scores : array-like of shape (n,)
            A finite score for each row, in the order of ``y``.
        sample_weight : array-like of shape (n,), optional
            Finite, non-negative weights; an integer weight equals that many copies of the row.

        Returns
        -------
        value : float
            The surrogate.
        subgradient : ndarray of float64, shape (n,)
            In the rows' order; a gradient wherever the surrogate has one, and for ramp, which is not convex,
            one of a piece that is active.

        Raises
        ------
        ValueError
            When ``y`` has not exactly two classes, k is above the positives' weight, a score or weight is not
            finite, or lengths differ.

        Examples
        --------
        >>> PrecisionAtK(1, "avg").evaluate([0, 1, 1], [0.0, 0.5, 1.0])
        (0.25, array([ 1. , -0.5, -0.5]))
        """
        checked: Floats = check_array(scores, dtype=np.float64, ensure_2d=False, input_name="scores")
        sample = BipartiteSample.from_labels(y, sample_weight)
        if checked.shape != (sample.n_rows,):
            raise ValueError(f"y has {sample.n_rows} rows but scores has shape {checked.shape}.")
        return self.linearise(sample, checked)

    def linearise(self, sample: Sample, scores: Floats) -> tuple[float, Floats]:
        """Return value and subgradient for a sample of two classes and scores that are checked.

        Raises
        ------
        ValueError
            When k is above the positives' weight.
        """
        positive = np.zeros(sample.n_rows, dtype=bool)
        positive[sample.positives] = True
        weights = sample.row_weights
        masses = np.ones(sample.n_rows) if weights is None else weights
        count = self.count(float(masses[positive].sum()))
        slope = np.empty(sample.n_rows)
        value, _ = kernels.slopes(RULES[self.surrogate], scores, positive, masses, count, slope)
        return float(value), slope

    def count(self, n_positive: float) -> float:
        """Return k as a number of rows, for positives of some total weight.

        Parameters
        ----------
        n_positive : float
            The weight of all positives.

        Returns
        -------
        float
            A whole number of rows, as far as the weight allows.

        Raises
        ------
        ValueError
            When it is above that weight.

        Examples
        --------
        >>> PrecisionAtK(0.25).count(30)
        8.0
        """
        counted = is_count(self.k)
        if counted and self.k > n_positive:
            raise ValueError(
                f"k={self.k} is above the number of positives, {n_positive:g}: the first k cannot all be "
                "hits. Take a smaller k, or a fraction of the positives such as 0.25."
            )
        return float(kernels.place(float(self.k), counted, float(n_positive)))


def prec_at_k_struct(k: float = 0.25) -> PrecisionAtK:
    """Return the structural SVM's surrogate of precision at k.

    Parameters
    ----------
    k : int or float, default=0.25
        As for :class:`PrecisionAtK`.

    Returns
    -------
    PrecisionAtK
        The convex surrogate ``struct``, which is no upper bound.

    Raises
    ------
    ValueError
        When k is out of range.

    Examples
    --------
    >>> prec_at_k_struct(1).value([0, 1, 1], [0.0, 1.0, 2.0])
    -1.0
    """
    return PrecisionAtK(k, "struct")


def prec_at_k_ramp(k: float = 0.25) -> PrecisionAtK:
    """Return the ramp surrogate of precision at k, the tightest bound, which is not convex.

    Parameters
    ----------
    k : int or float, default=0.25
        As for :class:`PrecisionAtK`.

    Returns
    -------
    PrecisionAtK
        The surrogate ``ramp``.

    Raises
    ------
    ValueError
        When k is out of range.

    Examples
    --------
    >>> prec_at_k_ramp(1).value([0, 1, 1], [0.0, -5.0, 2.0])
    0.0
    """
    return PrecisionAtK(k, "ramp")


def prec_at_k_max(k: float = 0.25) -> PrecisionAtK:
    """Return the max surrogate of precision at k, a convex upper bound.

    Parameters
    ----------
    k : int or float, default=0.25
        As for :class:`PrecisionAtK`.

    Returns
    -------
    PrecisionAtK
        The surrogate ``max``.

    Raises
    ------
    ValueError
        When k is out of range.

    Examples
    --------
    >>> prec_at_k_max(1).value([0, 1, 1], [0.0, -5.0, 2.0])
    6.0
    """
    return PrecisionAtK(k, "max")


def prec_at_k_avg(k: float = 0.25) -> PrecisionAtK:
    """Return the avg surrogate of precision at k, the tighter of the convex upper bounds.

    Parameters
    ----------
    k : int or float, default=0.25
        As for :class:`PrecisionAtK`.

    Returns
    -------
    PrecisionAtK
        The surrogate ``avg``.

    Raises
    ------
    ValueError
        When k is out of range.

    Examples
    --------
    >>> prec_at_k_avg(1).value([0, 1, 1], [0.0, -5.0, 2.0])
    2.5
    """
    return PrecisionAtK(k, "avg")


def is_count(k: Any) -> bool:
    """Return whether k is a number of rows, not a fraction."""
    return isinstance(k, Integral)


def check_k(k: Any) -> None:
    """Raise unless k is a positive int or a fraction.

    Raises
    ------
    ValueError
        When it is not.
    """
    if isinstance(k, bool):
        valid = False
    elif isinstance(k, Integral):
        valid = 1 <= int(k) <= MOST_ROWS
    else:
        valid = isinstance(k, Real) and 0.0 < float(k) <= 1.0
    if valid:
        return
    raise ValueError(
        "k must be an int of at least 1 (a number of rows) or a float in (0, 1] (a fraction of the "
        f"positives), got {k!r}."
    )


def check_surrogate(name: Any) -> None:
    """Raise unless there is a surrogate of that name.

    Raises
    ------
    ValueError
        When there is none.
    """
    if not isinstance(name, str) or name not in RULES:
        raise ValueError(f"surrogate must be one of {list(RULES)}, got {name!r}.")
