"""Exponentially discounted hits, as virtual screening reports them: RIE and BEDROC."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import ArrayLike

from pushrank._checks import check_number
from pushrank.metrics import rank_kernels
from pushrank.metrics.measured import measured, order_measure
from pushrank.metrics.tally import Tally, Ties, tie_share

LEAST_RATE = 1e-20  # below it only floats change: they would underflow


@order_measure
def robust_initial_enhancement(
    y_true: ArrayLike,
    scores: ArrayLike,
    alpha: float = 20.0,
    *,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the exponentially discounted hits over their expectation for a random order: RIE.

    .. math:: \mathrm{RIE} = \frac{\frac{1}{P} \sum_i e^{-\alpha\, \mathrm{rank}(i) / n}}
        {\frac{1}{n} \frac{1 - e^{-\alpha}}{e^{\alpha / n} - 1}}

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    alpha : float, default=20.0
        The positive rate of the discount: a share of :math:`1 - e^{-\alpha z}` of the weight lies on the
        first z of the list, for 20 about 80 % on the first 8 %.
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where rows tie: negatives first; the expectation under a random order; or positives first.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; an integer weight equals that many copies of the row.
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        At least 0, and 1 in the mean over random orders; the higher the better.

    Raises
    ------
    TypeError
        When `alpha` is not a number.
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or
        `alpha` or `ties` is out of range.

    Notes
    -----
    O(n log n). Without ties it equals RDKit's ``CalcRIE``. With weights, a row takes as many places as it
    weighs, which need not be whole.

    References
    ----------
    Sheridan et al., J. Chem. Inf. Comput. Sci. 41 (2001); Truchon and Bayly, J. Chem. Inf. Model. 47 (2007),
    equation (18).

    Examples
    --------
    >>> round(robust_initial_enhancement([1, 0, 0, 0], [4.0, 3.0, 2.0, 1.0], 5.0), 4)
    2.8733
    """
    return measured(ranking_robust_initial_enhancement, y_true, scores, sample_weight, pos_label, alpha, ties)


@order_measure
def bedroc(
    y_true: ArrayLike,
    scores: ArrayLike,
    alpha: float = 20.0,
    *,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return the Boltzmann-enhanced discrimination of the ROC: RIE between its worst and best values.

    .. math:: \mathrm{BEDROC} = \frac{\mathrm{RIE} - \mathrm{RIE}_{\min}}
        {\mathrm{RIE}_{\max} - \mathrm{RIE}_{\min}} , \quad
        \mathrm{RIE}_{\max} = \frac{1 - e^{-\alpha R}}{R (1 - e^{-\alpha})} , \quad
        \mathrm{RIE}_{\min} = \frac{1 - e^{\alpha R}}{R (1 - e^{\alpha})} ,

    R being the share of positives.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    alpha : float, default=20.0
        The positive rate of the discount, as for :func:`robust_initial_enhancement`.
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where rows tie: negatives first; the expectation under a random order; or positives first.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; an integer weight equals that many copies of the row.
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        Between 0 and 1; the higher the better. A random order has a value that depends on R and `alpha`;
        as `alpha` goes to zero, the measure goes to the area under the ROC curve.

    Raises
    ------
    TypeError
        When `alpha` is not a number.
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or
        `alpha` or `ties` is out of range.

    Notes
    -----
    O(n log n). Without ties it equals RDKit's ``CalcBEDROC``.

    References
    ----------
    Truchon and Bayly, *Evaluating virtual screening methods: good and bad metrics for the "early recognition"
    problem*, J. Chem. Inf. Model. 47 (2007), equation (36).

    Examples
    --------
    >>> round(bedroc([0, 1, 0, 0], [4.0, 3.0, 2.0, 1.0], 5.0), 4)
    0.2693
    """
    return measured(ranking_bedroc, y_true, scores, sample_weight, pos_label, alpha, ties)


def ranking_robust_initial_enhancement(ranking: Tally, alpha: float, ties: Ties) -> float:
    """Return the measure of a ranking that has been checked.

    The discounts of the places from a to b add up to a geometric series, whose factor cancels against the
    expectation's: what remains is a difference of exponentials, which knows parts of a row as well.
    """
    rate = _checked_rate(alpha)
    found = rank_kernels.sum_discounts(
        ranking.positives_at, ranking.negatives_in, rate / ranking.total, tie_share(ties)
    )
    return float(found / ranking.total_positive * ranking.total / -math.expm1(-rate))


def ranking_bedroc(ranking: Tally, alpha: float, ties: Ties) -> float:
    """Return the measure of a ranking that has been checked."""
    rate = _checked_rate(alpha) / ranking.total
    gained = rank_kernels.sum_discounts_gained(
        ranking.positives_at, ranking.negatives_in, rate, tie_share(ties)
    )
    most = math.expm1(-rate * ranking.total_positive) * math.expm1(-rate * ranking.total_negative)
    return float(gained / most)


def _checked_rate(alpha: Any) -> float:
    check_number("alpha", alpha, above=0.0)
    return max(float(alpha), LEAST_RATE)
