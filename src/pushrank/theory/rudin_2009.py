r"""The P-Norm Push: bounds on its error of new data, and the uniqueness of its solution.

Cynthia Rudin, *The P-Norm Push: A Simple Convex Ranking Algorithm that Concentrates at the Top of the List*,
JMLR 10 (2009): theorems 1 to 4 and lemma 9, as printed, and a tighter bound of the kind of theorem 2. There
are I positives :math:`x_i` and K negatives :math:`\tilde x_k`, drawn independently.
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
from pushrank._base.validation import check_number
from pushrank.losses import Loss
from pushrank.metrics._ranking import Ranking
from pushrank.metrics.pairwise import margin_error, r_max, rp_error
from pushrank.objectives import PushObjective
from pushrank.prices import Price
from pushrank.theory import covering
from pushrank.theory.covering import ErrorBound, LogCovering, check_numbers

__all__ = [
    "HeightRange", "has_unique_minimiser", "lemma_9", "theorem_1", "theorem_2_sample_size",
    "theorems_2_and_3",
]  # fmt: skip

LOG_MAX_FLOAT = math.log(sys.float_info.max)


@covering.shared_docs
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

    With :math:`L = \ln N(F, \theta / 4) + \ln(2 / \delta)`, :math:`\varepsilon_+ = \sqrt{L / (2 I)}` and
    :math:`\varepsilon_- = \sqrt{L / (2 K)}`, with probability at least :math:`1 - \delta`, for all f of the
    class at once,

    .. math::
        R_p(f) &= \Bigl(E_{\tilde x} \bigl[P_x(f(x) \le f(\tilde x))^p\bigr]\Bigr)^{1/p}
        \le \Bigl(\bigl(\hat R_p^\theta(f) + \varepsilon_+\bigr)^p + \varepsilon_-\Bigr)^{1/p}
        \le \hat R_p^\theta(f) + \varepsilon_+ + \varepsilon_-^{1/p} , \\
        \hat R_p^\theta(f) &= \Bigl(\frac1K \sum_k
        \Bigl(\frac1I \sum_i 1[f(x_i) - f(\tilde x_k) \le \theta]\Bigr)^p\Bigr)^{1/p} ,

    of which the value is the first right-hand side. The bound is pushrank's, and proved on the page
    :doc:`/papers/rudin_2009`. O(n log n).

    %(rows)s
    p : float
    %(covering_parameters chance)s

    Examples
    --------
    >>> y, scores = [0] * 50_000 + [1] * 50_000, [0.0] * 50_000 + [1.0] * 50_000
    >>> [round(p_norm_push_bound(y, scores, p, 0.5, log_covering_number=20.0), 3) for p in (1, 4)]
    [0.031, 0.352]
    """
    margins = covering.TrainingMargins(y_true, scores, theta, log_covering_number, delta, pos_label)
    training_error = float(rp_error(margins.is_positive, margins.lowered_scores, p, scale="mean"))
    eps_positive, eps_negative = (margins.deviation(n, 2) for n in (margins.n_positive, margins.n_negative))
    # The right-hand side is computed in logarithms, because powers underflow at a large p.
    total = np.logaddexp(p * math.log(training_error + eps_positive), math.log(eps_negative))
    return float(np.exp(total / p))


class SampleSize(NamedTuple):
    """Numbers of rows of each class that a bound needs.

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


@covering.shared_docs
def sample_size(epsilon: float, p: float, log_covering_number: float, *, delta: float = 0.05) -> SampleSize:
    r"""Return the numbers of rows that keep the error on new data within a distance of the measured error.

    .. math:: \min_{\varepsilon_+ + \eta = \varepsilon}\; I + K , \quad
        I = \frac{L}{2 \varepsilon_+^2} , \; K = \frac{L}{2 \eta^{2p}} , \;
        L = \ln N(F, \theta / 4) + \ln(2 / \delta)

    They are the fewest for the second right-hand side of :func:`p_norm_push_bound`. The negatives grow as
    :math:`\varepsilon^{-2p}`, the price of a bound for the top.

    Parameters
    ----------
    epsilon : float
        The distance :math:`R_p - \hat R_p^\theta` that is allowed, in (0, 1).
    p : float
    log_covering_number : float
        The natural logarithm of the covering number of the class at a quarter of the margin.
    delta : float

    %(sample_size count_errors)s

    Examples
    --------
    >>> sample_size(0.1, 1, log_covering_number=20.0), sample_size(0.3, 4, log_covering_number=20.0)
    (SampleSize(n_positives=4738, n_negatives=4738), SampleSize(n_positives=55274, n_negatives=269373))
    """
    check_numbers(epsilon=epsilon, p=p, delta=delta, log_covering_number=log_covering_number)
    room = 0.5 * (float(log_covering_number) + math.log(2.0 / delta))

    def log_counts(share: float) -> tuple[float, float]:
        """Return ln I and ln K if the positives use this share of epsilon."""
        log_positives = math.log(room) - 2.0 * math.log(share * epsilon)
        return log_positives, math.log(room) - 2.0 * p * math.log((1.0 - share) * epsilon)

    # At either end of the bounds a class would need infinitely many rows. The tolerance is small because the
    # sum is flat at its minimum, but the number of each class is not.
    within: dict[str, Any] = {"bounds": (1e-6, 1.0 - 1e-6), "method": "bounded", "options": {"xatol": 1e-10}}
    best = minimize_scalar(lambda share: np.logaddexp(*log_counts(share)), **within)
    counts = log_counts(float(best.x))
    _check_countable(max(counts), epsilon, p)
    n_positives, n_negatives = (math.ceil(math.exp(count)) for count in counts)
    return SampleSize(n_positives, n_negatives)


class HeightRange(NamedTuple):
    """A ranking error under a price, between its bounds by the largest height.

    Parameters
    ----------
    lower, error, upper : float
        The error of the order, with the zero-one loss, between its two bounds.
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


@covering.shared_docs
def theorem_1(
    y_true: ArrayLike,
    scores: ArrayLike,
    price: Price | str = "identity",
    loss: Loss | str = "exponential",
    *,
    pos_label: Any = None,
) -> HeightRange:
    r"""Return the bounds of a ranking error by the largest height of a negative, for any convex price.

    For every convex, non-negative, increasing g and every loss :math:`\ell(r) \ge 1[r \le 0]`,

    .. math:: K g\Bigl(\frac{R_{\max}}{K}\Bigr) \le R_{g,1} = \sum_k g\Bigl(\sum_i 1[s_i \le t_k]\Bigr)
        \le K g(R_{\max}) , \qquad R_{g,1} \le R_{g,\ell} .

    For steep prices the bounds meet: :math:`g^{-1}(R_{g,1}) \to R_{\max}`. O(n log n).
    Rudin, JMLR 10 (2009), theorem 1.

    %(rows)s
    price : Price or str, default="identity"
        The convex price g.
    loss : Loss or str, default="exponential"
        The pair loss, at least 1 where the margin is not positive.
    pos_label : label, optional

    Returns
    -------
    HeightRange
        A named tuple: ``lower``, ``error``, ``upper``, ``surrogate_error``.

    Raises
    ------
    ValueError
        When there are not two classes, a score is not finite, the price is not convex, or the loss of the
        margin zero is below 1: the natural-log logistic loss is :math:`\ln 2` there.

    Examples
    --------
    >>> from pushrank.prices import Power
    >>> theorem_1([0, 1, 0, 1], [1.0, 2.0, 2.5, 3.0], Power(2))[:3]
    (0.5, 1.0, 2.0)
    """
    price, loss = prices.resolve(price), losses.resolve(loss)
    prices.check_declared(price)
    if not price.convex:
        raise ValueError(f"theorem 1 is of sums of convex prices; that of {price} is not.")
    at_zero = float(loss.value(np.zeros(1))[0])
    if at_zero < 1.0:
        raise ValueError(
            f"theorem 1 is of losses that bound the zero-one loss; {loss} is {at_zero:.3g} at the margin "
            "zero: take another, such as 'exponential'."
        )
    ranking = Ranking(y_true, scores, None, pos_label)
    y, values, n_negatives = ranking.is_positive, ranking.scores, ranking.total_negative
    largest = float(r_max(y, values))
    # Bounds that overflow are as infinite as the error itself.
    with np.errstate(over="ignore"):
        lower, upper = n_negatives * price.value(np.array([largest / n_negatives, largest]))
    errors = (PushObjective(pair_loss, price).value(y, values) for pair_loss in ("zero_one", loss))
    error, surrogate_error = (float(value) for value in errors)
    return HeightRange(float(lower), error, float(upper), surrogate_error)


@covering.shared_docs
def theorems_2_and_3(
    y_true: ArrayLike,
    scores: ArrayLike,
    p: float,
    theta: float,
    log_covering_number: LogCovering,
    *,
    least_error: float = 0.0,
    delta: float = 0.05,
    pos_label: Any = None,
) -> ErrorBound:
    r"""Return the paper's bound on the P-Norm Push's error of new data (JMLR 10, 2009, theorems 2 and 3).

    The chance that some f of the class has

    .. math:: \Bigl(E_{\tilde x} \bigl[P_x(f(x) \le f(\tilde x))^p\bigr]\Bigr)^{1/p} \ge
        \Bigl(\frac1K \sum_k \Bigl(\frac1I \sum_i 1[f(x_i) - f(\tilde x_k) \le \theta]\Bigr)^p\Bigr)^{1/p}
        + \varepsilon

    is by theorem 3 at most, with :math:`R_{p,\min}` the least error of the population by any f of the class,

    .. math:: 2 N\Bigl(F, \frac{\varepsilon \theta}{8}\Bigr) \Bigl(\exp\Bigl(-2 K \max\Bigl\{
        \frac{\varepsilon^2}{16} R_{p,\min}^{2(p-1)} , \Bigl(\frac{\varepsilon}{4}\Bigr)^{2p}\Bigr\}\Bigr)
        + \exp\Bigl(-\frac{I \varepsilon^2}{8} + \ln K\Bigr)\Bigr) .

    Theorem 2 is the case of :math:`R_{p,\min} = 0`. The excess is the least :math:`\varepsilon` at which the
    chance is :math:`\delta`. O(n log n).

    %(rows)s
    p : float
    theta : float
    log_covering_number : callable or float
    least_error : float
        :math:`R_{p,\min}`, or a bound below it, from 0 to 1. It belongs to the population, not to training
        rows. If it is positive the number of negatives grows no faster than :math:`\varepsilon^{-2}`.
    delta : float
    pos_label : label, optional

    %(error_bound)s

    Examples
    --------
    >>> y, scores = [0] * 50_000 + [1] * 50_000, [0.0] * 50_000 + [1.0] * 50_000
    >>> round(theorems_2_and_3(y, scores, 2, 0.5, 20.0).bound, 3)
    0.496
    >>> round(theorems_2_and_3(y, scores, 2, 0.5, 20.0, least_error=0.2).bound, 3)
    0.308
    """
    check_numbers(p=p, theta=theta, least_error=least_error)
    ranking = Ranking(y_true, scores, None, pos_label)
    sizes = ranking.total_positive, ranking.total_negative
    error = float(margin_error(ranking.is_positive, ranking.scores, theta, p))
    return covering.least_bound(
        error, lambda e: _log_chance(e / 2.0, *sizes, p, least_error), log_covering_number, theta, delta
    )


@covering.shared_docs
def lemma_9(
    epsilon: float, n_positives: int, n_negatives: int, p: float, *, true_error: float = 0.0
) -> float:
    r"""Return the chance that one function's error of new data exceeds that of the training rows.

    For a single f, and errors :math:`R_p` in which a Lipschitz function of the margin stands for the step,

    .. math:: P\bigl(R_p(f) - \hat R_p(f) \ge \varepsilon\bigr) \le 2 \exp\Bigl(-2 K \max\Bigl\{
        \frac{\varepsilon^2}{4} R_p(f)^{2(p-1)} , \Bigl(\frac{\varepsilon}{2}\Bigr)^{2p}\Bigr\}\Bigr)
        + 2 \exp\Bigl(-\frac{I \varepsilon^2}{2} + \ln K\Bigr) .

    Rudin, JMLR 10 (2009), lemma 9, from which theorems 2 and 3 follow by a cover.

    Parameters
    ----------
    epsilon : float
        The excess, positive.
    n_positives, n_negatives : int
        The numbers I and K of rows, at least 1.
    p : float
    true_error : float
        The error :math:`R_p(f)` of the population, or a bound below it, from 0 to 1.

    %(chance range_errors)s

    Examples
    --------
    >>> [round(lemma_9(0.4, 200, 2000, 2, true_error=error), 4) for error in (0.0, 0.2, 0.5)]
    [0.0038, 0.0038, 0.0005]
    """
    check_number("epsilon", epsilon, above=0.0)
    check_numbers(n_positives=n_positives, n_negatives=n_negatives, p=p, true_error=true_error)
    log_chance = _log_chance(epsilon, n_positives, n_negatives, p, true_error)
    return math.exp(min(log_chance, LOG_MAX_FLOAT))


def _log_chance(epsilon: float, n_positives: float, n_negatives: float, p: float, error: float) -> float:
    # Rates are kept in logarithms, because powers underflow at a large p.
    log_rate = 2.0 * p * math.log(epsilon / 2.0)
    if error > 0.0:
        log_rate = max(log_rate, 2.0 * math.log(epsilon / 2.0) + 2.0 * (p - 1.0) * math.log(error))
    by_negatives = -2.0 * n_negatives * math.exp(min(log_rate, LOG_MAX_FLOAT))
    by_positives = -n_positives * epsilon**2 / 2.0 + math.log(n_negatives)
    return math.log(2.0) + float(np.logaddexp(by_negatives, by_positives))


@covering.shared_docs
def theorem_2_sample_size(
    epsilon: float, p: float, theta: float, log_covering_number: LogCovering, *, delta: float = 0.05
) -> SampleSize:
    r"""Return the numbers of rows for which the excess of theorem 2 is at most epsilon.

    .. math:: K \ge \frac12 \Bigl(\frac4\varepsilon\Bigr)^{2p} \ln\frac{4 N}{\delta} , \quad
        I \ge \frac{8}{\varepsilon^2} \Bigl(\ln K + \ln\frac{4 N}{\delta}\Bigr) , \quad
        N = N\Bigl(F, \frac{\varepsilon \theta}{8}\Bigr)

    Rudin, JMLR 10 (2009), theorem 2, solved with half of the chance of failure for each class.
    :func:`pushrank.theory.sample_size` gives smaller numbers.

    Parameters
    ----------
    epsilon : float
        The allowed excess, in (0, 1).
    p : float
    theta : float
    log_covering_number : callable or float
    delta : float

    %(sample_size count_errors)s

    Examples
    --------
    >>> theorem_2_sample_size(0.1, 1, 0.5, 20.0)
    SampleSize(n_positives=27409, n_negatives=19506)
    """
    check_numbers(epsilon=epsilon, p=p, theta=theta, delta=delta)
    room = covering.log_size(log_covering_number, epsilon * theta / 8.0) + math.log(4.0 / delta)
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


@covering.shared_docs
def has_unique_minimiser(X: ArrayLike, alpha: float = 0.0) -> bool:
    r"""Return whether at most one linear ranker can minimise the P-Norm Push's exponential objective.

    By theorem 4 all minimisers w have the same margins :math:`w \cdot (x_i - \tilde x_k)` on the training
    rows. They are one w if and only if :math:`\alpha > 0` or the differences :math:`x_i - \tilde x_k` span
    all directions. The rank is numpy's, of the columns over their ranges: O(n_rows n_features^2). The proof
    is on the page :doc:`/papers/rudin_2009`.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        The training rows of both classes.
    alpha : float, default=0.0
        The weight of the L2 penalty, at least 0.

    Returns
    -------
    bool
        False if, as soon as one w attains the minimum, at least a whole line of them do.

    %(number_errors)s
        When a value is not finite, or `alpha` is negative.

    Examples
    --------
    >>> has_unique_minimiser([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])
    True
    >>> twins = [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]]
    >>> has_unique_minimiser(twins), has_unique_minimiser(twins, alpha=1e-3)
    (False, True)
    """
    values = check_array(X, dtype=np.float64, input_name="X")
    check_numbers(alpha=alpha)
    # Differences of two rows of a class are differences of pairs, too. So the pairs span the same space as
    # the rows less their mean, whatever the labels.
    ranges = np.ptp(values, axis=0)
    if alpha > 0.0 or not ranges.all():
        return alpha > 0.0
    return bool(np.linalg.matrix_rank((values - values.mean(axis=0)) / ranges) == values.shape[1])
