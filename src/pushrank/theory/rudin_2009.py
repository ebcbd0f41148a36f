r"""The P-Norm Push: bounds on its error of new data, and when its solution is the only one.

Cynthia Rudin, *The P-Norm Push: A Simple Convex Ranking Algorithm that Concentrates at the Top of the List*,
JMLR 10 (2009): theorems 1 to 4, as printed, and a tighter bound of the kind of theorem 2. There are I
positives :math:`x_i` and K negatives :math:`\tilde x_k`, drawn independently.
"""

from __future__ import annotations

import math
import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from sklearn.utils import check_array

from pushrank import losses, prices
from pushrank._validation import check_number
from pushrank.losses import Loss
from pushrank.metrics._ranking import Ranking
from pushrank.metrics.pairwise import margin_error, r_max, rp_error
from pushrank.objectives import PushObjective
from pushrank.prices import Price
from pushrank.theory.covering import (
    ErrorBound,
    LogCovering,
    TrainingMargins,
    log_size,
    shared_docs,
    smallest_excess,
)

__all__ = [
    "HeightRange",
    "has_unique_minimiser",
    "theorem_1",
    "theorem_2",
    "theorem_2_sample_size",
    "theorem_3",
]

LOG_MAX_FLOAT = math.log(sys.float_info.max)


@shared_docs
def p_norm_push_bound(
    y_true: ArrayLike,
    scores: ArrayLike,
    p: float,
    theta: float,
    log_covering_number: LogCovering,
    *,
    delta: float = 0.05,
    pos_label: Any = None,
) -> float:
    r"""Return a bound on the P-Norm Push's error of new data.

    With probability at least :math:`1 - \delta`, for all f of the class at once,

    .. math::

        R_p(f) &= \Bigl(E_{\tilde x} \bigl[P_x(f(x) \le f(\tilde x))^p\bigr]\Bigr)^{1/p}
        \le \Bigl(\bigl(\hat R_p^\theta(f) + \varepsilon_+\bigr)^p + \varepsilon_-\Bigr)^{1/p}
        \le \hat R_p^\theta(f) + \varepsilon_+ + \varepsilon_-^{1/p} , \\
        \hat R_p^\theta(f) &= \Bigl(\frac1K \sum_k
        \Bigl(\frac1I \sum_i 1[f(x_i) - f(\tilde x_k) \le \theta]\Bigr)^p\Bigr)^{1/p} ,

    :math:`\varepsilon_+ = \sqrt{L / (2 I)}`, :math:`\varepsilon_- = \sqrt{L / (2 K)}` and
    :math:`L = \ln N(F, \theta / 4) + \ln(2 / \delta)`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        %(y_true)s
    scores : array-like of shape (n,)
        %(training_scores)s
    p : float
        The strength of the push, at least 1.
    theta : float
        %(theta)s
    log_covering_number : callable or float
        %(log_covering_number)s
    delta : float
        %(delta)s
    pos_label : label, optional
        %(pos_label)s

    Returns
    -------
    float
        The first of the two right-hand sides, at least 0; a value of 1 or more says nothing.

    %(errors)s

    Notes
    -----
    Derived here; it is of the kind of :func:`~pushrank.theory.rudin_2009.theorem_2`, and :math:`\varepsilon_+
    + \varepsilon_-^{1/p}` is at most half of that theorem's excess, if this is below 2: each of the two is at
    most a quarter of it, and the cover is coarser. For a member g of the cover within :math:`\theta / 4` of
    f, let :math:`h(\tilde x) = P_x(g(x) \le g(\tilde x) + \theta / 2)`, which is at least :math:`P_x(f(x) \le
    f(\tilde x))`, and :math:`\hat h` its share of the training positives, at most that of f with margin
    :math:`\theta`.

    - By Hoeffding's inequality :math:`E h^p \le \frac1K \sum_k h(\tilde x_k)^p + \varepsilon_-` but for a
      chance of :math:`e^{-2 K \varepsilon_-^2}`.
    - :math:`h(\tilde x)` is the distribution function of g(x) at :math:`g(\tilde x) + \theta / 2`. By
      Massart's one-sided inequality :math:`h \le \hat h + \varepsilon_+` for all :math:`\tilde x` at once,
      but for a chance of :math:`e^{-2 I \varepsilon_+^2}`, as :math:`\varepsilon_+ \ge \sqrt{\ln 2 / (2I)}`;
      and the power mean of :math:`\hat h + \varepsilon_+` is at most that of :math:`\hat h`, plus
      :math:`\varepsilon_+` (Minkowski).

    Both chances are :math:`\delta / (2 N)`, and the union over the cover gives the bound. For linear scores,
    :func:`log_covering_number` makes it explicit. O(n log n).

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 4; Massart, *The tight constant in the
    Dvoretzky-Kiefer-Wolfowitz inequality*, Annals of Probability 18 (1990).

    Examples
    --------
    >>> y = [0] * 50_000 + [1] * 50_000
    >>> scores = [0.0] * 50_000 + [1.0] * 50_000
    >>> [round(p_norm_push_bound(y, scores, p, 0.5, log_covering_number=20.0), 3) for p in (1, 4)]
    [0.031, 0.352]
    """
    check_number("p", p, 1.0)
    margins = TrainingMargins(y_true, scores, theta, log_covering_number, delta, pos_label)
    training_error = float(rp_error(margins.is_positive, margins.lowered_scores, p, scale="mean"))
    eps_positive = margins.deviation(margins.n_positive, 2)
    eps_negative = margins.deviation(margins.n_negative, 2)
    # ((training_error + eps_positive)^p + eps_negative)^(1/p), in logarithms as powers underflow at a large p
    total = np.logaddexp(p * math.log(training_error + eps_positive), math.log(eps_negative))
    return float(np.exp(total / p))


class SampleSize(NamedTuple):
    """How many rows of each class a bound asks for.

    Parameters
    ----------
    n_positives, n_negatives : int
        Numbers of rows.

    Examples
    --------
    >>> SampleSize(100, 2000).n_negatives
    2000
    """

    n_positives: int
    n_negatives: int


@shared_docs
def sample_size(epsilon: float, p: float, log_covering_number: float, *, delta: float = 0.05) -> SampleSize:
    r"""Return how many rows keep the P-Norm Push's error on new data within a distance of that measured.

    .. math:: \min_{\varepsilon_+ + \eta = \varepsilon}\; I + K , \quad
        I = \frac{L}{2 \varepsilon_+^2} , \; K = \frac{L}{2 \eta^{2p}} , \;
        L = \ln N(F, \theta / 4) + \ln(2 / \delta)

    Parameters
    ----------
    epsilon : float
        The distance :math:`R_p - \hat R_p^\theta` that is allowed, in (0, 1).
    p : float
        The strength of the push, at least 1.
    log_covering_number : float
        The natural logarithm of the covering number of the class at a quarter of the margin.
    delta : float
        %(delta)s

    Returns
    -------
    SampleSize
        A named tuple: ``n_positives``, ``n_negatives``, the fewest in sum for which the second right-hand
        side of :func:`p_norm_push_bound` holds with `epsilon`.

    Raises
    ------
    TypeError
        When a parameter is not a number.
    ValueError
        When a parameter is out of range, or a float cannot hold the number of rows.

    Notes
    -----
    The negatives needed grow as :math:`\varepsilon^{-2p}`: what a bound costs that looks at the top.

    References
    ----------
    As for :func:`p_norm_push_bound`.

    Examples
    --------
    >>> sample_size(0.1, 1, log_covering_number=20.0), sample_size(0.3, 4, log_covering_number=20.0)
    (SampleSize(n_positives=4738, n_negatives=4738), SampleSize(n_positives=55274, n_negatives=269373))
    """
    check_number("epsilon", epsilon, above=0.0, below=1.0)
    check_number("p", p, 1.0)
    check_number("delta", delta, above=0.0, below=1.0)
    check_number("log_covering_number", log_covering_number, 0.0)
    room = 0.5 * (float(log_covering_number) + math.log(2.0 / delta))

    def log_counts(share: float) -> tuple[float, float]:
        """Return ln I and ln K if the positives take up this share of epsilon."""
        log_positives = math.log(room) - 2.0 * math.log(share * epsilon)
        return log_positives, math.log(room) - 2.0 * p * math.log((1.0 - share) * epsilon)

    best = minimize_scalar(
        lambda share: np.logaddexp(*log_counts(share)),
        bounds=(1e-6, 1.0 - 1e-6),  # at either end a class would need infinitely many rows
        method="bounded",
        options={"xatol": 1e-10},  # the sum is flat at its minimum, but the count of each class is not
    )
    counts = log_counts(float(best.x))
    _check_countable(max(counts), epsilon, p)
    n_positives, n_negatives = (math.ceil(math.exp(count)) for count in counts)
    return SampleSize(n_positives, n_negatives)


class HeightRange(NamedTuple):
    """A ranking error under a price, between its bounds by the largest height.

    Parameters
    ----------
    lower : float
        The bound from below.
    error : float
        The error of the order, with the zero-one loss.
    upper : float
        The bound from above.
    surrogate_error : float
        The error with the convex loss, which is no smaller.

    Examples
    --------
    >>> HeightRange(1.0, 2.0, 4.0, 8.0).upper
    4.0
    """

    lower: float
    error: float
    upper: float
    surrogate_error: float


@shared_docs
def theorem_1(
    y_true: ArrayLike,
    scores: ArrayLike,
    price: Price | str = "identity",
    loss: Loss | str = "exponential",
    *,
    pos_label: Any = None,
) -> HeightRange:
    r"""Return how the largest height of a negative binds a ranking error, whatever its convex price.

    For every convex, non-negative, increasing g and every loss :math:`\ell(r) \ge 1[r \le 0]`,

    .. math::

        K g\Bigl(\frac{R_{\max}}{K}\Bigr) \le R_{g,1} = \sum_k g\Bigl(\sum_i 1[s_i \le t_k]\Bigr)
        \le K g(R_{\max}) , \qquad R_{g,1} \le R_{g,\ell} .

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two values.
    scores : array-like of shape (n,)
        Finite scores, the higher the better.
    price : Price or str, default="identity"
        The convex price g.
    loss : Loss or str, default="exponential"
        The pair loss, at least 1 where the margin is not positive.
    pos_label : label, optional
        %(pos_label)s

    Returns
    -------
    HeightRange
        A named tuple: ``lower``, ``error``, ``upper``, ``surrogate_error``.

    Raises
    ------
    ValueError
        When there are not two classes, a score is not finite, the price is not convex, or the loss of the
        margin zero is below 1: the natural-log logistic loss is :math:`\ln 2` there.

    Notes
    -----
    O(n log n). No chance is involved. For steep prices the bounds meet:
    :math:`g^{-1}(R_{g,1}) \to R_{\max}`.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), theorem 1.

    Examples
    --------
    >>> from pushrank.prices import Power
    >>> found = theorem_1([0, 1, 0, 1], [1.0, 2.0, 2.5, 3.0], Power(2))
    >>> found.lower, found.error, found.upper
    (0.5, 1.0, 2.0)
    """
    price, loss = prices.resolve(price), losses.resolve(loss)
    prices.check_own(price)
    if not price.convex:
        raise ValueError(f"theorem 1 is of convex prices; {price} is not.")
    at_zero = float(loss.value(np.zeros(1))[0])
    if at_zero < 1.0:
        raise ValueError(
            f"theorem 1 is of losses that bound the zero-one loss; {loss} is {at_zero:.3g} at the margin "
            "zero: take another, such as 'exponential'."
        )
    ranking = Ranking(y_true, scores, None, pos_label)
    y, values, n_negatives = ranking.is_positive, ranking.scores, ranking.total_negative
    largest = float(r_max(y, values))
    with np.errstate(over="ignore"):  # as infinite as the error itself
        lower, upper = n_negatives * price.value(np.array([largest / n_negatives, largest]))
    errors = (PushObjective(one, price).value(y, values) for one in ("zero_one", loss))
    error, surrogate_error = (float(value) for value in errors)
    return HeightRange(float(lower), error, float(upper), surrogate_error)


@shared_docs
def theorem_2(
    y_true: ArrayLike,
    scores: ArrayLike,
    p: float,
    theta: float,
    log_covering_number: LogCovering,
    *,
    delta: float = 0.05,
    pos_label: Any = None,
) -> ErrorBound:
    r"""Return the paper's bound on the P-Norm Push's error of new data.

    The chance that some f of the class has

    .. math::

        \Bigl(E_{\tilde x} \bigl[P_x(f(x) \le f(\tilde x))^p\bigr]\Bigr)^{1/p} \ge
        \Bigl(\frac1K \sum_k \Bigl(\frac1I \sum_i 1[f(x_i) - f(\tilde x_k) \le \theta]\Bigr)^p\Bigr)^{1/p}
        + \varepsilon

    is at most :math:`2 N(F, \varepsilon \theta / 8) \bigl(e^{-2 K (\varepsilon / 4)^{2p}}
    + e^{-I \varepsilon^2 / 8 + \ln K}\bigr)`; the excess is the least :math:`\varepsilon` at which that is
    :math:`\delta`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        %(y_true)s
    scores : array-like of shape (n,)
        %(training_scores)s
    p : float
        The strength of the push, at least 1.
    theta : float
        %(theta)s
    log_covering_number : callable or float
        %(log_covering_number)s
    delta : float
        %(delta)s
    pos_label : label, optional
        %(pos_label)s

    %(error_bound)s

    %(errors)s

    See Also
    --------
    pushrank.theory.p_norm_push_bound : A tighter bound of the same kind.

    Notes
    -----
    O(n log n). The training error is :func:`pushrank.metrics.margin_error`.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), theorem 2.

    Examples
    --------
    >>> y, scores = [0] * 50_000 + [1] * 50_000, [0.0] * 50_000 + [1.0] * 50_000
    >>> [round(theorem_2(y, scores, p, 0.5, 20.0).bound, 3) for p in (1, 4)]
    [0.074, 1.409]
    """
    return theorem_3(y_true, scores, p, theta, log_covering_number, 0.0, delta=delta, pos_label=pos_label)


@shared_docs
def theorem_3(
    y_true: ArrayLike,
    scores: ArrayLike,
    p: float,
    theta: float,
    log_covering_number: LogCovering,
    least_error: float,
    *,
    delta: float = 0.05,
    pos_label: Any = None,
) -> ErrorBound:
    r"""Return the paper's bound where no function of the class ranks the population well.

    With :math:`R_{p,\min}` the least error of the population by any function of the class, the chance of
    :func:`theorem_2` is at most

    .. math::

        2 N\Bigl(F, \frac{\varepsilon \theta}{8}\Bigr) \Bigl(\exp\Bigl(-2 K \max\Bigl\{
        \frac{\varepsilon^2}{16} R_{p,\min}^{2(p-1)} , \Bigl(\frac{\varepsilon}{4}\Bigr)^{2p}\Bigr\}\Bigr)
        + \exp\Bigl(-\frac{I \varepsilon^2}{8} + \ln K\Bigr)\Bigr) ,

    so that the negatives needed grow no faster than :math:`\varepsilon^{-2}`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        %(y_true)s
    scores : array-like of shape (n,)
        %(training_scores)s
    p : float
        The strength of the push, at least 1.
    theta : float
        %(theta)s
    log_covering_number : callable or float
        %(log_covering_number)s
    least_error : float
        :math:`R_{p,\min}`, or a bound below it, from 0 to 1. It is of the population: no training rows tell.
    delta : float
        %(delta)s
    pos_label : label, optional
        %(pos_label)s

    %(error_bound)s

    %(errors)s

    Notes
    -----
    O(n log n). With ``least_error=0`` it is theorem 2.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), theorem 3.

    Examples
    --------
    >>> y, scores = [0] * 50_000 + [1] * 50_000, [0.0] * 50_000 + [1.0] * 50_000
    >>> [round(theorem_3(y, scores, 2, 0.5, 20.0, least).bound, 3) for least in (0.0, 0.2)]
    [0.496, 0.308]
    """
    check_number("p", p, 1.0)
    check_number("theta", theta, above=0.0)
    check_number("least_error", least_error, 0.0, 1.0)
    ranking = Ranking(y_true, scores, None, pos_label)
    n_positives, n_negatives = ranking.total_positive, ranking.total_negative

    def log_failure(epsilon: float) -> float:
        log_rate = 2.0 * p * math.log(epsilon / 4.0)  # in logarithms, as powers underflow at a large p
        if least_error > 0.0:
            log_rate = max(log_rate, 2.0 * math.log(epsilon / 4.0) + 2.0 * (p - 1.0) * math.log(least_error))
        by_negatives = -2.0 * n_negatives * math.exp(min(log_rate, LOG_MAX_FLOAT))
        by_positives = -n_positives * epsilon**2 / 8.0 + math.log(n_negatives)
        log_cover = log_size(log_covering_number, epsilon * theta / 8.0)
        return math.log(2.0) + log_cover + float(np.logaddexp(by_negatives, by_positives))

    excess = smallest_excess(log_failure, delta)
    error = float(margin_error(ranking.is_positive, ranking.scores, theta, p))
    return ErrorBound(error + excess, error, excess)


@shared_docs
def theorem_2_sample_size(
    epsilon: float, p: float, theta: float, log_covering_number: LogCovering, *, delta: float = 0.05
) -> SampleSize:
    r"""Return how many rows make the excess of :func:`theorem_2` no more than epsilon.

    .. math::

        K \ge \frac12 \Bigl(\frac4\varepsilon\Bigr)^{2p} \ln\frac{4 N}{\delta} , \qquad
        I \ge \frac{8}{\varepsilon^2} \Bigl(\ln K + \ln\frac{4 N}{\delta}\Bigr) , \qquad
        N = N\Bigl(F, \frac{\varepsilon \theta}{8}\Bigr)

    Parameters
    ----------
    epsilon : float
        The excess that is allowed, in (0, 1).
    p : float
        The strength of the push, at least 1.
    theta : float
        %(theta)s
    log_covering_number : callable or float
        %(log_covering_number)s
    delta : float
        %(delta)s

    Returns
    -------
    SampleSize
        A named tuple: ``n_positives``, ``n_negatives``. Each gives half of the chance of failure.

    Raises
    ------
    TypeError
        When a parameter is not a number.
    ValueError
        When a parameter is out of range, or a float cannot hold the number of rows.

    See Also
    --------
    pushrank.theory.sample_size : Fewer rows do, by a tighter bound.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), theorem 2, solved for the numbers of rows.

    Examples
    --------
    >>> theorem_2_sample_size(0.1, 1, 0.5, 20.0)
    SampleSize(n_positives=27409, n_negatives=19506)
    """
    check_number("epsilon", epsilon, above=0.0, below=1.0)
    check_number("p", p, 1.0)
    check_number("theta", theta, above=0.0)
    check_number("delta", delta, above=0.0, below=1.0)
    room = log_size(log_covering_number, epsilon * theta / 8.0) + math.log(4.0 / delta)
    log_negatives = 2.0 * p * math.log(4.0 / epsilon) + math.log(0.5 * room)
    _check_countable(log_negatives, epsilon, p)
    n_negatives = math.ceil(math.exp(log_negatives))
    return SampleSize(math.ceil(8.0 / epsilon**2 * (math.log(n_negatives) + room)), n_negatives)


def _check_countable(log_count: float, epsilon: float, p: float) -> None:
    if log_count > LOG_MAX_FLOAT:
        raise ValueError(
            f"epsilon={epsilon!r} with p={p!r} asks for about 1e{log_count / math.log(10.0):.0f} rows, "
            "more than a float holds; choose a larger epsilon or a smaller p."
        )


def has_unique_minimiser(X: ArrayLike, alpha: float = 0.0) -> bool:
    r"""Return whether no two linear rankers can both minimise the P-Norm Push's exponential objective.

    By Theorem 4 there is one best :math:`q'_{ik} = e^{-w \cdot (x_i - \tilde x_k)}` in the closure of all
    that some w gives: all minimisers rank the training rows with the same margins. They are one w exactly
    where :math:`\alpha > 0` or the differences :math:`x_i - \tilde x_k` span all directions.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        The training rows of both classes.
    alpha : float, default=0.0
        The weight of the L2 penalty, at least 0.

    Returns
    -------
    bool
        True where at most one w attains the minimum; False where, if one does, a whole line or more of w do,
        all with the same margins.

    Raises
    ------
    TypeError
        When `alpha` is not a number.
    ValueError
        When a value is not finite, or `alpha` is negative.

    Notes
    -----
    The objective :math:`\sum_k (\sum_i e^{-m_{ik}})^p` is strictly convex in the margins m, so two minimisers
    w and w' have the same margins: :math:`(w - w') \cdot (x_i - \tilde x_k) = 0` for all pairs. Differences
    of rows of one class are differences of these, so they span what the rows less their mean span, and the
    labels do not matter. Whether the minimum is attained is another question: without a penalty it is not
    where some w ranks no pair wrongly and one rightly. Linearly dependent columns, and more columns than
    rows, are the usual cases of False. O(n_rows n_features^2), by singular values of the columns over
    their ranges, with the tolerance of ``numpy.linalg.matrix_rank``.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), theorem 4.

    Examples
    --------
    >>> has_unique_minimiser([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])
    True
    >>> twins = [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]]
    >>> has_unique_minimiser(twins), has_unique_minimiser(twins, alpha=1e-3)
    (False, True)
    """
    values = check_array(X, dtype=np.float64, input_name="X")
    check_number("alpha", alpha, 0.0)
    ranges = np.ptp(values, axis=0)
    if alpha > 0.0 or not ranges.all():
        return alpha > 0.0
    return bool(np.linalg.matrix_rank((values - values.mean(axis=0)) / ranges) == values.shape[1])
