"""The margin of a ranking, and its smooth form that boosting can climb."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from scipy.special import logsumexp

from pushrank._checks import check_number
from pushrank._log_space import Floats
from pushrank.metrics.measured import measured, number_measure
from pushrank.metrics.ranks import Ranking


@number_measure
def margin(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    norm: float = 1.0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the least margin of a pair: the worst positive's score less the best negative's.

    .. math:: \mu = \frac{1}{\|\lambda\|_1} \bigl(\min_i s_i - \max_k t_k\bigr)

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    norm : float, default=1.0
        The positive norm :math:`\|\lambda\|_1` of the weights that made the scores.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; rows of weight zero do not count.
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        In units of the scores; positive where all pairs are ranked rightly, 0 for a tie.

    Raises
    ------
    TypeError
        When `norm` is not a number.
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or `norm` is not positive.

    Notes
    -----
    O(n). It depends on the scores and not on their order alone.

    References
    ----------
    Rudin, Cortes, Mohri and Schapire, *Margin-based ranking meets boosting in the middle*, COLT 2005,
    section 2.

    Examples
    --------
    >>> margin([1, 1, 0], [3.0, 2.5, 1.0], norm=2.0)
    0.75
    """
    return measured(ranking_margin, y_true, scores, sample_weight, pos_label, norm)


@number_measure
def smooth_margin(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    norm: float = 1.0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the smooth margin of a ranking: its margin from below, softened over all pairs.

    .. math:: G = -\frac{1}{\|\lambda\|_1} \ln \sum_i \sum_k w_i w_k\, e^{-(s_i - t_k)}

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    norm : float, default=1.0
        The positive norm :math:`\|\lambda\|_1` of the weights that made the scores.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; an integer weight equals that many copies of the row.
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        In units of the scores. At most :func:`margin` (for weights of one), and below it by no more than the
        logarithm of the number of pairs over the norm.

    Raises
    ------
    TypeError
        When `norm` is not a number.
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or `norm` is not positive.

    Notes
    -----
    O(n): the sum over pairs is a product of two sums.

    References
    ----------
    Rudin, Cortes, Mohri and Schapire, *Margin-based ranking meets boosting in the middle*, COLT 2005,
    section 3.

    Examples
    --------
    >>> round(smooth_margin([1, 1, 0], [3.0, 3.0, 1.0]), 4)
    1.3069
    """
    return measured(ranking_smooth_margin, y_true, scores, sample_weight, pos_label, norm)


def ranking_smooth_margin(ranking: Ranking, norm: float) -> float:
    """Return the smooth margin of a ranking that has been checked."""
    check_number("norm", norm, above=0.0)
    logs = [
        float(logsumexp(sign * scores, b=ranking.weights_of(mask)))
        for sign, scores, mask in (
            (-1.0, ranking.positive_scores, ranking.is_positive),
            (1.0, ranking.negative_scores, ~ranking.is_positive),
        )
    ]
    return -(logs[0] + logs[1]) / float(norm)


def ranking_margin(ranking: Ranking, norm: float) -> float:
    """Return the margin of a ranking that has been checked."""
    check_number("norm", norm, above=0.0)
    positives = _counted(ranking.positive_scores, ranking.weights_of(ranking.is_positive))
    negatives = _counted(ranking.negative_scores, ranking.weights_of(~ranking.is_positive))
    return float(positives.min() - negatives.max()) / float(norm)


def _counted(scores: Floats, weights: Floats | None) -> Floats:
    return scores if weights is None else scores[weights > 0.0]
