"""The lift, as virtual screening reports it."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from pushrank.metrics.lift import ranking_lift
from pushrank.metrics.measured import measured, order_measure
from pushrank.metrics.tally import Ties


@order_measure
def enrichment_factor(
    y_true: ArrayLike,
    scores: ArrayLike,
    fraction: float = 0.01,
    *,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Any:
    r"""Return how many times more actives the first part of the list holds than a random part.

    .. math:: \mathrm{EF}(q) = \frac{\text{actives among the first } \lceil q n \rceil}{\lceil q n \rceil}
        \Big/ \frac{\text{actives}}{n}

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,) or (n_rankings, n)
        Finite scores, the higher the better; a table holds a ranking in each row.
    fraction : float, default=0.01
        The part of the list that is looked at, in (0, 1], in rows rounded up; with weights that are not whole
        numbers, that part of their sum.
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where rows tie at the end of that part: fill it with negatives first, take the expectation under a
        random order, or fill it with positives first.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; an integer weight equals that many copies of the row.
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Returns
    -------
    float, or ndarray of shape (n_rankings,)
        At least 0, and 1 for a random order; the higher the better.

    Raises
    ------
    TypeError
        When `fraction` is not a number.
    ValueError
        When there are not two classes, a score is not finite, lengths differ, or
        `fraction` or `ties` is out of range.

    Notes
    -----
    O(n), by selection; O(n log n) with weights. RDKit's ``CalcEnrichment`` counts ties in the order in
    which they are stored. It is :func:`lift` under the name that virtual screening uses.

    References
    ----------
    Truchon and Bayly, *Evaluating virtual screening methods*, J. Chem. Inf. Model. 47 (2007), equation (7).

    Examples
    --------
    >>> enrichment_factor([1, 0, 1, 0, 0], [5.0, 4.0, 3.0, 2.0, 1.0], 0.2)
    2.5
    """
    return measured(ranking_lift, y_true, scores, sample_weight, pos_label, fraction, ties)
