"""Heights of the negatives and reverse heights of the positives: the errors of each row."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from pushrank._log_space import Floats
from pushrank.metrics.ranks import Ranking
from pushrank.metrics.tally import Ties


def height(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    ties: Ties = "pessimistic",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Floats:
    r"""Return the height of every negative: how many positives it is ranked above.

    .. math:: \mathrm{Height}(k) = \sum_i w_i\, 1[s_i \le t_k]

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,)
        Finite scores, the higher the better.
    ties : {"pessimistic", "half", "optimistic"}, default="pessimistic"
        Whether a tied pair of a positive and a negative is an error, half an error, or none.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; an integer weight equals that many copies of the row.
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Returns
    -------
    ndarray of float64, shape (number of negatives,)
        In the order of the negatives' rows, each between 0 and the weight of the positives.

    Raises
    ------
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or `ties` is not known.

    Notes
    -----
    O(n log n). With ``ties="pessimistic"`` a positive tied with the negative counts, as in the paper.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 2.

    Examples
    --------
    >>> height([0, 1, 0, 1], [1.0, 2.0, 2.0, 3.0]).tolist()
    [0.0, 1.0]
    """
    ranking = Ranking(y_true, scores, sample_weight, pos_label)
    below = ranking.positives_below(ties)
    heights: Floats = below[ranking.negative_cells]
    return heights


def reverse_height(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    ties: Ties = "pessimistic",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Floats:
    r"""Return the reverse height of every positive: how many negatives are ranked above it.

    .. math:: \mathrm{rHeight}(i) = \sum_k w_k\, 1[s_i \le t_k]

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,)
        Finite scores, the higher the better.
    ties : {"pessimistic", "half", "optimistic"}, default="pessimistic"
        Whether a tied pair of a positive and a negative is an error, half an error, or none.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; an integer weight equals that many copies of the row.
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Returns
    -------
    ndarray of float64, shape (number of positives,)
        In the order of the positives' rows, each between 0 and the weight of the negatives.

    Raises
    ------
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or `ties` is not known.

    Notes
    -----
    O(n log n). With ``ties="pessimistic"`` a negative tied with the positive counts, as in the paper.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 7.

    Examples
    --------
    >>> reverse_height([0, 1, 0, 1], [1.0, 2.0, 2.0, 3.0]).tolist()
    [1.0, 0.0]
    """
    ranking = Ranking(y_true, scores, sample_weight, pos_label)
    above = ranking.negatives_above(ties)
    heights: Floats = above[ranking.positive_levels]
    return heights
