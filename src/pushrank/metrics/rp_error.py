"""The paper's measure of errors at the top: heights to the power p."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pushrank._checks import check_number
from pushrank.metrics.measured import measured, order_measure
from pushrank.metrics.tally import Tally, Ties


@order_measure
def rp_error(
    y_true: ArrayLike,
    scores: ArrayLike,
    p: float = 1.0,
    *,
    scale: Literal["raw", "log"] = "raw",
    ties: Ties = "pessimistic",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the p-norm ranking error: the heights of the negatives to the power p, summed.

    .. math:: R_{p,1} = \sum_k w_k\, \mathrm{Height}(k)^p

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    p : float, default=1.0
        The power, at least 1; the larger, the more a negative near the top costs.
    scale : {"raw", "log"}, default="raw"
        ``R`` itself, infinite where it exceeds the largest float, or ``(1/p) ln R``, finite for every p but
        ``-inf`` for a ranking without errors.
    ties : {"pessimistic", "half", "optimistic"}, default="pessimistic"
        Whether a tied pair of a positive and a negative is an error, half an error, or none.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; an integer weight equals that many copies of the row.
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        At least 0 on the raw scale; the lower the better.

    Raises
    ------
    TypeError
        When `p` is not a number.
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or
        `p`, `scale` or `ties` is out of range.

    Notes
    -----
    O(n log n). With p = 1 and half ties it is the number of misranked pairs, (1 - AUC) I K.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 2.

    Examples
    --------
    >>> rp_error([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], p=2)
    1.0
    >>> round(rp_error([0, 1, 1, 0], [4.0, 3.0, 2.0, 1.0], p=1000, scale="log"), 4)
    0.6931
    """
    return measured(ranking_rp_error, y_true, scores, sample_weight, pos_label, p, scale, ties)


def ranking_rp_error(ranking: Tally, p: float, scale: str, ties: Ties) -> float:
    """Return the error of a ranking that has been checked."""
    check_number("p", p, 1.0)
    if scale not in ("raw", "log"):
        raise ValueError(f"scale must be 'raw' or 'log', got {scale!r}.")
    heights, weights = ranking.positives_below(ties), ranking.negatives_in
    occupied = (heights > 0.0) & (weights > 0.0)
    if not occupied.any():
        return 0.0 if scale == "raw" else -np.inf
    heights, weights = heights[occupied], weights[occupied]
    if scale == "raw":
        with np.errstate(over="ignore"):
            return float(np.sum(weights * heights ** float(p)))
    largest = float(heights.max())
    return float(np.log(largest) + np.log(np.sum(weights * (heights / largest) ** float(p))) / p)
