"""A bound on the share of misranked pairs, from margins on the training rows."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from pushrank.metrics.auc import auc
from pushrank.theory.bound_inputs import Margins


def margin_ranking_bound(
    y_true: ArrayLike,
    scores: ArrayLike,
    theta: float,
    log_covering_number: float,
    *,
    delta: float = 0.05,
    pos_label: Any = None,
) -> float:
    r"""Return a bound on the chance that a new positive is ranked below a new negative.

    With probability at least :math:`1 - \delta`, for all f of the class at once,

    .. math::

        P(f(x) \le f(\tilde x)) \le \frac{1}{IK} \sum_{i,k} 1[f(x_i) - f(\tilde x_k) \le \theta]
        + \sqrt{\frac{\ln N(F, \theta / 4) + \ln(1 / \delta)}{2 \min(I, K)}} .

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values, of the training rows.
    scores : array-like of shape (n,)
        Their finite scores, by a function of the class that the covering number counts.
    theta : float
        The positive margin, in units of the scores, chosen before the data are seen.
    log_covering_number : float
        The natural logarithm of the covering number of the class at the scale ``theta / 4``, such as
        :func:`log_covering_number` bounds for linear scores; for a finite class the logarithm of its size.
    delta : float, default=0.05
        The chance that the bound fails, in (0, 1).
    pos_label : label, optional
        The positive class; by default the larger of the two values.

    Returns
    -------
    float
        At least 0; a value of 1 or more says nothing.

    Raises
    ------
    TypeError
        When a parameter is not a number.
    ValueError
        When there are not two classes, a score is not finite, or a parameter is out of range.

    Notes
    -----
    Derived here; it is of the kind of Theorem 1 of the paper, for two classes, and its constants are those of
    this proof. Take the member g of the cover within :math:`\theta / 4` of f: margins of pairs differ by at
    most
    :math:`\theta / 2`. So a pair that f misranks has a margin of at most :math:`\theta / 2` under g, and the
    pairs with such a margin under g have at most :math:`\theta` under f. For each g, Hoeffding's inequality
    for two-sample U-statistics says that the share of pairs exceeds its mean over the sample by
    :math:`\varepsilon` with a chance of at most :math:`e^{-2 \min(I, K) \varepsilon^2}`; the union over the
    cover gives the bound. O(n log n).

    References
    ----------
    Rudin, Cortes, Mohri and Schapire, *Margin-based ranking meets boosting in the middle*, COLT 2005,
    theorem 1; Hoeffding, *Probability inequalities for sums of bounded random variables*, JASA 58 (1963),
    section 5b.

    Examples
    --------
    >>> y = [0] * 5000 + [1] * 5000
    >>> scores = [0.0] * 5000 + [1.0] * 5000
    >>> round(margin_ranking_bound(y, scores, 0.5, log_covering_number=20.0), 3)
    0.048
    """
    margins = Margins(y_true, scores, theta, log_covering_number, delta, pos_label)
    within = 1.0 - float(auc(margins.is_positive, margins.lowered, ties="pessimistic"))
    return within + margins.room(min(margins.n_positive, margins.n_negative))
