"""A bound for the absolute top: what lies above the best negative."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pushrank.theory.bound_inputs import Margins


class TopBound(NamedTuple):
    """Error rates of the rule that takes what scores above the best training negative.

    Parameters
    ----------
    threshold : float
        The score from which the rule takes rows.
    false_positive_rate : float
        A bound on the chance that a new negative is taken.
    miss_rate : float
        A bound on the chance that a new positive is not taken.

    Examples
    --------
    >>> TopBound(1.2, 0.01, 0.3).miss_rate
    0.3
    """

    threshold: float
    false_positive_rate: float
    miss_rate: float


def infinite_push_bound(
    y_true: ArrayLike,
    scores: ArrayLike,
    theta: float,
    log_covering_number: float,
    *,
    delta: float = 0.05,
    pos_label: Any = None,
) -> TopBound:
    r"""Return bounds on the errors, on new data, of taking what scores above the best negative.

    With the training negatives' best score :math:`t = \max_k f(\tilde x_k)`, with probability at least
    :math:`1 - \delta`, for all f of the class at once,

    .. math::

        P(f(\tilde x) > t + \theta / 2) &\le 1 - \Bigl(\frac{\delta}{2 N}\Bigr)^{1/K}
        \le \frac{L}{K} , \\
        P(f(x) \le t + \theta / 2) &\le \frac1I \sum_i 1[f(x_i) \le t + \theta]
        + \sqrt{\frac{L}{2 I}} ,

    where :math:`L = \ln N + \ln(2 / \delta)` and :math:`N = N(F, \theta / 4)`.

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
    TopBound
        A named tuple: ``threshold``, which is :math:`t + \theta / 2`, ``false_positive_rate``, ``miss_rate``;
        a rate of 1 or more says nothing.

    Raises
    ------
    TypeError
        When a parameter is not a number.
    ValueError
        When there are not two classes, a score is not finite, or a parameter is out of range.

    Notes
    -----
    Derived here, for what the Infinite Push minimises: the share of positives below the best negative. It is
    of the kind of Theorem 5.1 of Agarwal's paper; its statement and constants are those of this proof. Take
    the member g of the cover within :math:`\theta / 4` of f, and u its best training negative.

    - A negative with :math:`f > t + \theta / 2` has :math:`g > t + \theta / 4 \ge u`. The chance of more than
      :math:`\eta` of the negatives lying above the best of K is at most :math:`(1 - \eta)^K`.
    - A positive with :math:`f \le t + \theta / 2` has :math:`g \le t + 3 \theta / 4`; and those training
      positives have :math:`f \le t + \theta`. By Massart's inequality the shares agree but for
      :math:`\sqrt{L / (2 I)}` at all thresholds at once, so also at the random t.

    The union over the cover and both events gives the bound. O(n).

    References
    ----------
    Agarwal, *The Infinite Push*, SDM 2011, section 5; Massart, Annals of Probability 18 (1990).

    Examples
    --------
    >>> y = [0] * 5000 + [1] * 5000
    >>> scores = [0.0] * 5000 + [1.0] * 5000
    >>> threshold, taken, misses = infinite_push_bound(y, scores, 0.5, log_covering_number=20.0)
    >>> threshold, round(taken, 4), round(misses, 3)
    (0.25, 0.0047, 0.049)
    """
    margins = Margins(y_true, scores, theta, log_covering_number, delta, pos_label)
    best = float(margins.scores[~margins.is_positive].max())
    rate = -math.expm1(margins.log_failure(2) / margins.n_negative)
    below = float(np.mean(margins.lowered[margins.is_positive] <= best))
    return TopBound(best + 0.5 * theta, rate, below + margins.room(margins.n_positive, 2))
