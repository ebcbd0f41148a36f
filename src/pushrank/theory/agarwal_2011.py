r"""The Infinite Push: bounds on its error of new data, and average precision as the paper prints it.

Shivani Agarwal, *The Infinite Push: A New Support Vector Ranking Algorithm that Directly Optimizes Accuracy
at the Absolute Top of the List*, SDM 2011: theorem 5.1 as printed, and a bound of its kind for any
distribution. There are m positives :math:`x_i` and n negatives :math:`\tilde x_k`, drawn independently.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pushrank.metrics._ranking import Ranking
from pushrank.metrics.pairwise import r_max
from pushrank.theory import covering
from pushrank.theory.covering import ErrorBound, LogCovering

__all__ = ["equation_6_26", "theorem_5_1"]


class TopBound(NamedTuple):
    """Error rates of the rule that takes rows with scores above the best training negative.

    Parameters
    ----------
    threshold : float
        The score above which the rule takes rows.
    false_positive_rate, miss_rate : float
        Bounds on the chance that a new negative is taken, and that a new positive is not.

    Examples
    --------
    >>> TopBound(1.2, 0.01, 0.3).miss_rate
    0.3
    """

    threshold: float
    false_positive_rate: float
    miss_rate: float


@covering.shared_docs
def infinite_push_bound(
    y_true: ArrayLike,
    scores: ArrayLike,
    theta: float,
    log_covering_number: LogCovering,
    *,
    delta: float = 0.05,
    pos_label: Any = None,
) -> TopBound:
    r"""Return bounds on the errors, on new data, of taking the rows that score above the best negative.

    With the best negative's score :math:`t = \max_k f(\tilde x_k)` and :math:`L = \ln N(F, \theta / 4) +
    \ln(2 / \delta)`, with probability at least :math:`1 - \delta`, for all f of the class at once,

    .. math::
        P(f(\tilde x) > t + \theta / 2) &\le 1 - \Bigl(\frac{\delta}{2 N}\Bigr)^{1/n} \le \frac{L}{n} , \\
        P(f(x) \le t + \theta / 2) &\le \frac1m \sum_i 1[f(x_i) \le t + \theta] + \sqrt{\frac{L}{2 m}} .

    The bound is pushrank's, for every distribution, and proved on the page :doc:`/papers/agarwal_2011`. O(n).

    %(rows covering_parameters)s

    Returns
    -------
    TopBound
        A named tuple: ``threshold``, which is :math:`t + \theta / 2`, ``false_positive_rate``, ``miss_rate``;
        a rate of 1 or more says nothing.

    Examples
    --------
    >>> y, scores = [0] * 5000 + [1] * 5000, [0.0] * 5000 + [1.0] * 5000
    >>> [round(part, 4) for part in infinite_push_bound(y, scores, 0.5, log_covering_number=20.0)]
    [0.25, 0.0047, 0.0487]
    """
    margins = covering.TrainingMargins(y_true, scores, theta, log_covering_number, delta, pos_label)
    best = float(margins.scores[~margins.is_positive].max())
    # expm1 keeps the digits of a small rate, which 1 - exp(...) would lose.
    rate = -math.expm1(margins.log_failure(2) / margins.n_negative)
    below = float(np.mean(margins.lowered_scores[margins.is_positive] <= best))
    return TopBound(best + 0.5 * theta, rate, below + margins.deviation(margins.n_positive, 2))


@covering.shared_docs
def theorem_5_1(
    y_true: ArrayLike,
    scores: ArrayLike,
    theta: float,
    log_covering_number: LogCovering,
    light_top: Callable[[float], float],
    *,
    delta: float = 0.05,
    pos_label: Any = None,
) -> ErrorBound:
    r"""Return the paper's bound on the Infinite Push's error of new data (SDM 2011, theorem 5.1).

    For a margin :math:`\theta`, the paper's :math:`\gamma`, and the share :math:`h(\tilde x) = P_x(f(x) -
    f(\tilde x) < \theta)` of positives below a negative of the population,

    .. math::
        P\Bigl(\exists f: \sup_{\tilde x} P_x(f(x) < f(\tilde x)) > \max_k \frac1m \sum_i
        1[f(x_i) - f(\tilde x_k) < \theta] + \varepsilon\Bigr) &\le N(F, \theta \varepsilon / 8)
        \Bigl(2 n e^{-m \varepsilon^2 / 8} + \sup_f \delta_D(f, \theta, \varepsilon / 4)^n\Bigr) , \\
        \delta_D(f, \theta, e) &= P_{\tilde x}\bigl[h(\tilde x) < \sup h - e\bigr] .

    The excess is the least :math:`\varepsilon` at which the right-hand side is :math:`\delta`. O(n log n).

    %(rows)s
    theta : float
    log_covering_number : callable or float
    light_top : callable
        :math:`e \mapsto \sup_f \delta_D(f, \theta, e)`, or a bound above it: the chance that a negative's
        height is more than e below the largest possible height. It belongs to the population and cannot be
        computed from training rows; if heights are uniform on [0, 1], it is ``lambda e: max(1 - e, 0)``.
    delta : float
    pos_label : label, optional

    %(error_bound)s
        It is infinite if n negatives hardly ever include one from the top.

    Examples
    --------
    >>> y, scores = [0] * 5000 + [1] * 5000, [0.0] * 5000 + [1.0] * 5000
    >>> round(theorem_5_1(y, scores, 0.5, 0.0, lambda e: max(1 - e, 0)).excess, 3)
    0.14
    """
    covering.check_numbers(theta=theta)
    ranking = Ranking(y_true, scores, None, pos_label)
    n_positives, n_negatives = ranking.total_positive, ranking.total_negative

    def log_chance(epsilon: float) -> float:
        light = light_top(epsilon / 4.0)
        covering.check_numbers(light_top=light)
        # In logarithms, since the power of n underflows.
        log_top = n_negatives * math.log(light) if light > 0.0 else -math.inf
        log_positives = math.log(2.0 * n_negatives) - n_positives * epsilon**2 / 8.0
        return float(np.logaddexp(log_positives, log_top))

    lowered = ranking.scores - theta * ranking.is_positive
    error = float(r_max(ranking.is_positive, lowered, ties="optimistic")) / n_positives
    return covering.least_bound(error, log_chance, log_covering_number, theta, delta)


@covering.shared_docs
def equation_6_26(y_true: ArrayLike, scores: ArrayLike, *, pos_label: Any = None) -> float:
    r"""Return the average precision as equation (6.26) prints it, in which a row does not count itself.

    .. math:: \frac1m \sum_i \frac{1}{r_i} \sum_{i'} 1[f(x_i) < f(x_{i'})] ,

    over the m positives, with :math:`r_i` one more than the number of rows that score above row i. The
    paper's tables have the usual :func:`pushrank.metrics.average_precision`. O(n log n).

    %(rows)s
    pos_label : label, optional

    Returns
    -------
    float
        From 0 to less than 1.

    Examples
    --------
    >>> round(equation_6_26([1, 0, 1, 1], [4.0, 3.0, 2.0, 1.0]), 4)  # the mean of 0/1, 1/3 and 2/4
    0.2778
    """
    ranking = Ranking(y_true, scores, None, pos_label)
    lists = np.sort(ranking.positive_scores), np.sort(ranking.scores)
    above, ranks = (len(scores) - np.searchsorted(scores, lists[0], side="right") for scores in lists)
    return float(np.mean(above / (ranks + 1.0)))
