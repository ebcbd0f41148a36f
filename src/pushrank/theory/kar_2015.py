r"""Precision at k: mistake bounds, uniform convergence, and what follows from both for new data.

Purushottam Kar, Harikrishna Narasimhan, Prateek Jain, *Surrogate functions for maximizing precision at the
top*, ICML 2015: theorems 7, 9, 12, 13 and 15 and corollaries 8, 10 and 14, and a bound with a margin.

The constants of theorems 12 to 15 stand in appendices of the paper; those here are derived in the notes of
each function. Precision at :math:`\kappa` is a loss there: with a share q of positives in the population Z,
and lists of :math:`k = \kappa n_+` rows, the share of the list that is negative. Surrogates are divided by k
too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import assert_all_finite, check_array, check_consistent_length
from sklearn.utils.extmath import row_norms

from pushrank._array import Floats
from pushrank._docstrings import shared_docs_from
from pushrank._validation import check_k, check_number, column, is_count, resolve_k
from pushrank.metrics.precision import precision_at_k
from pushrank.objectives import PrecisionAtK
from pushrank.theory.covering import PARAGRAPHS, ErrorBound, LogCovering, TrainingMargins

__all__ = [
    "corollary_8",
    "corollary_10",
    "corollary_14",
    "theorem_7",
    "theorem_9",
    "theorem_12",
    "theorem_13",
    "theorem_15",
]

shared_docs = shared_docs_from(
    {
        **PARAGRAPHS,
        "batches": """coef : array-like of shape (n_features,)
    The coefficients w; the bound holds for any.
batches : iterable of (X, y)
    The batches of the stream, rows and labels, gone through once. Positive is what equals ``pos_label``.
k : int or float
    A number of rows, or a fraction of each batch's positives; at most as many as these.""",
        "batches_end": """pos_label : label
    The positive class.

Returns
-------
float
    A bound on the number of mistakes, summed over all batches: negatives among the first k.

Raises
------
TypeError
    When k is not a number.
ValueError
    When k is out of range, there is no batch of both classes, lengths differ, or a number is not finite.

Notes
-----
O(n_features + log k) for each row. Batches of one class teach nothing, and are left out.""",
        "draw": """n_batches : int
    The number T of batches, each drawn independently of the others, and so of the coefficients that it
    meets.
batch_size : int
    The number b of rows of a batch, at least 1.
kappa : float
    The length of a list as a fraction of its positives, in (0, 1].
base_rate : float
    The share q of positives in the population, in (0, 1).""",
        "coef_norm": """coef_norm : float
    The norm of :math:`w^*`, at least 0.
radius : float
    The largest norm R of a row, positive.""",
        "range_errors": """Raises
------
TypeError
    When a parameter is not a number of its kind.
ValueError
    When a parameter is out of range.""",
    }
)


@shared_docs
def precision_at_k_bound(
    y_true: ArrayLike,
    scores: ArrayLike,
    k: int,
    theta: float,
    log_covering_number: LogCovering,
    *,
    delta: float = 0.05,
    pos_label: Any = None,
) -> float:
    r"""Return a lower bound on the precision, in the population, of the share of rows that the first k are.

    With :math:`\lambda = k / n` chosen before the data are seen, with probability at least
    :math:`1 - \delta`, for all f of the class at once,

    .. math::

        \mathrm{prec}_\lambda(f) \ge \widehat{\mathrm{prec}}_{@k}(f - \theta y)
        - \frac{2}{\lambda} \sqrt{\frac{\ln N(F, \theta / 4) + \ln(2 / \delta)}{2 n}} ,

    the precision on the training rows being taken with the scores of the positives lowered by the margin.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        %(y_true)s
    scores : array-like of shape (n,)
        %(training_scores)s
    k : int
        The length of the list, from 1 to n.
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
        At most 1; a value of 0 or less says nothing.

    %(errors)s

    Notes
    -----
    Derived here, for rows drawn independently and scores without ties: a uniform convergence bound of the
    kind of :func:`~pushrank.theory.kar_2015.theorem_12`, which asks for a finite class and the share of
    positives. Its statement and constants are those of this proof.
    Raising positives, or lowering negatives, never lowers the precision of
    a list. So for the member g of the cover within :math:`\theta / 4` of f,
    :math:`\mathrm{prec}_\lambda(f) \ge \mathrm{prec}_\lambda(g')` with :math:`g' = g - \theta y / 2`, and on
    the training rows that of :math:`f - \theta y` is at most that of g'. For each g', let t be the k-th
    highest training score less any amount that passes no other. By Massart's inequality, but for a chance of
    :math:`e^{-2 n \varepsilon^2}` each, the share of all rows above t is at most
    :math:`\lambda + \varepsilon`, and that of the positives above t at least
    :math:`\lambda\, \widehat{\mathrm{prec}} - \varepsilon`; cutting the list back to the share
    :math:`\lambda` loses at most :math:`\varepsilon` more. O(n).

    References
    ----------
    Kar, Narasimhan and Jain, *Surrogate functions for maximizing precision at the top*, ICML 2015; Massart,
    Annals of Probability 18 (1990).

    Examples
    --------
    >>> y = [0] * 50_000 + [1] * 50_000
    >>> scores = [i / 1e6 for i in range(50_000)] + [1.0 + i / 1e6 for i in range(50_000)]
    >>> round(precision_at_k_bound(y, scores, 25_000, 0.5, log_covering_number=20.0), 3)
    0.913
    """
    check_number("k", k, 1, integer=True)
    margins = TrainingMargins(y_true, scores, theta, log_covering_number, delta, pos_label)
    found = float(precision_at_k(margins.is_positive, margins.lowered_scores, k, ties="pessimistic"))
    n_rows = len(margins.scores)
    return found - 2.0 * n_rows / k * margins.deviation(n_rows, 2)


@shared_docs
def theorem_7(
    coef: ArrayLike, batches: Iterable[tuple[Any, ArrayLike]], k: float, *, pos_label: Any = 1
) -> float:
    r"""Return a bound on the mistakes of Perceptron@k-avg on a stream, by how w would do on it.

    .. math:: \sum_t \Delta_t \le \Bigl(\|w\| R \sqrt{4 k} + \sqrt{\sum_t L^{\mathrm{avg}}_t(w)}\Bigr)^2

    with R the largest norm of a row, k the longest list of a batch, and the surrogate ``"avg"`` of
    :class:`pushrank.objectives.PrecisionAtK`.

    Parameters
    ----------
    %(batches batches_end)s

    ``PerceptronAtK.mistake_bound_`` is this bound at about the best multiple of the weights found.

    References
    ----------
    Kar, Narasimhan and Jain, ICML 2015, theorem 7.

    Examples
    --------
    >>> stream = [([[2.0], [0.0]], [1, 0]), ([[1.5], [-1.0]], [1, 0])]
    >>> theorem_7([0.5], stream, 1), theorem_7([1.0], stream, 1)
    (4.0, 16.0)
    """
    return _mistake_bound(coef, batches, k, "avg", pos_label)


@shared_docs
def theorem_9(
    coef: ArrayLike, batches: Iterable[tuple[Any, ArrayLike]], k: float, *, pos_label: Any = 1
) -> float:
    r"""Return a bound on the mistakes of Perceptron@k-max on a stream, by how w would do on it.

    .. math:: \sum_t \Delta_t \le \Bigl(\|w\| R \sqrt{4 k} + \sqrt{\sum_t L^{\max}_t(w)}\Bigr)^2

    Parameters
    ----------
    %(batches batches_end)s

    References
    ----------
    Kar, Narasimhan and Jain, ICML 2015, theorem 9.

    Examples
    --------
    >>> stream = [([[2.0], [0.0]], [1, 0]), ([[1.5], [-1.0]], [1, 0])]
    >>> theorem_9([0.5], stream, 1), theorem_9([1.0], stream, 1)
    (4.0, 16.0)
    """
    return _mistake_bound(coef, batches, k, "max", pos_label)


@shared_docs
def corollary_8(
    coef: ArrayLike, batches: Iterable[tuple[Any, ArrayLike]], k: float, *, pos_label: Any = 1
) -> float:
    r"""Return a bound on the mistakes of Perceptron@k-avg on a stream that w ranks with a margin.

    .. math:: \sum_t \Delta_t \le \frac{4 k R^2}{\gamma^2}

    where in every batch of m positives the :math:`m - k + 1` lowest are on average :math:`\gamma` above the
    highest negative, by scores of w scaled to unit norm.

    Parameters
    ----------
    %(batches batches_end)s
    Infinite where w has no such margin on every batch.

    References
    ----------
    Kar, Narasimhan and Jain, ICML 2015, definition 4 and corollary 8.

    Examples
    --------
    >>> corollary_8([7.0], [([[2.0], [0.0]], [1, 0]), ([[1.5], [-1.0]], [1, 0])], 1)
    4.0
    """
    margins, radius, longest = [], 0.0, 0.0
    for positives, negatives, length, norm in _unit_batches(coef, batches, k, pos_label):
        lowest = np.sort(positives)[: len(positives) - math.ceil(length) + 1]
        margins.append(lowest.mean() - negatives.max())
        radius, longest = max(radius, norm), max(longest, length)
    return _margin_bound(min(margins), radius, longest)


@shared_docs
def corollary_10(
    coef: ArrayLike, batches: Iterable[tuple[Any, ArrayLike]], k: float, *, pos_label: Any = 1
) -> float:
    r"""Return a bound on the mistakes of Perceptron@k-max on a stream that w ranks with a strong margin.

    .. math:: \sum_t \Delta_t \le \frac{4 k R^2}{\gamma^2}

    where in every batch each positive is :math:`\gamma` above each negative, by scores of w at unit norm.

    Parameters
    ----------
    %(batches batches_end)s
    Infinite where w has no such margin on every batch.

    References
    ----------
    Kar, Narasimhan and Jain, ICML 2015, definition 5 and corollary 10.

    Examples
    --------
    >>> corollary_10([7.0], [([[2.0], [0.0]], [1, 0]), ([[1.5], [-1.0]], [1, 0])], 1)
    4.0
    """
    margins, radius, longest = [], 0.0, 0.0
    for positives, negatives, length, norm in _unit_batches(coef, batches, k, pos_label):
        margins.append(positives.min() - negatives.max())
        radius, longest = max(radius, norm), max(longest, length)
    return _margin_bound(min(margins), radius, longest)


def _mistake_bound(
    coef: ArrayLike, batches: Iterable[tuple[Any, ArrayLike]], k: float, surrogate: Any, pos_label: Any
) -> float:
    w = _checked_coef(coef)
    loss = radius = longest = 0.0
    for scores, is_positive, length, norm in _two_class_batches(w, batches, k, pos_label):
        loss += PrecisionAtK(int(length), surrogate).value(is_positive, scores)
        radius, longest = max(radius, norm), max(longest, length)
    return float((np.linalg.norm(w) * radius * math.sqrt(4.0 * longest) + math.sqrt(loss)) ** 2)


def _margin_bound(margin: float, radius: float, k: float) -> float:
    return 4.0 * k * radius**2 / float(margin) ** 2 if margin > 0.0 else math.inf


def _checked_coef(coef: ArrayLike) -> Floats:
    w = column(coef, "coef").astype(np.float64)
    assert_all_finite(w, input_name="coef")
    return w


def _two_class_batches(
    w: Floats, batches: Iterable[tuple[Any, ArrayLike]], k: float, pos_label: Any
) -> Iterator[tuple[Floats, NDArray[np.bool_], float, float]]:
    """Yield of batches of two classes the scores, the classes, the length of the list, the longest row."""
    check_k(k)
    found = False
    for X, y in batches:
        values = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")
        is_positive = column(y, "y") == pos_label
        check_consistent_length(values, is_positive)
        if is_positive.all() or not is_positive.any():
            continue
        found = True
        n_positives = float(is_positive.sum())
        length = min(float(resolve_k(k, is_count(k), n_positives)), n_positives)
        yield np.asarray(values @ w), is_positive, length, float(row_norms(values).max())
    if not found:
        raise ValueError("no batch has rows of both classes, so that there are no mistakes to bound.")


def _unit_batches(
    coef: ArrayLike, batches: Iterable[tuple[Any, ArrayLike]], k: float, pos_label: Any
) -> Iterator[tuple[Floats, Floats, float, float]]:
    """Yield both classes' scores at unit norm, the length of the list, the longest row."""
    w = _checked_coef(coef)
    unit = w / (np.linalg.norm(w) or 1.0)
    for scores, is_positive, length, norm in _two_class_batches(unit, batches, k, pos_label):
        yield scores[is_positive], scores[~is_positive], length, norm


@shared_docs
def theorem_12(
    n_rows: int,
    kappa: float,
    base_rate: float,
    *,
    largest_score: float | None = None,
    log_class_size: float = 0.0,
    replacement: bool = True,
    delta: float = 0.05,
) -> float:
    r"""Return by how much precision at kappa, or a surrogate of it, differs between sample and population.

    Of a sample of b rows, with probability at least :math:`1 - \delta`, for all w of a finite class W,

    .. math::

        |\mathrm{prec}_\kappa(w; Z) - \mathrm{prec}_\kappa(w; S)| &\le
        \frac{(1 + \kappa) \varepsilon + 1 / b}{\kappa q} , \qquad
        \varepsilon = \sqrt{\frac{\ln(4 |W| / \delta)}{2 b}} , \\
        |\ell(w; Z) - \ell(w; S)| &\le (3 + 10 B) \frac{\varepsilon + 1 / b}{\kappa q}

    for the surrogates ramp, avg and max divided by k, where no score exceeds B in size. Of b rows drawn
    without replacement, :math:`4 |W|` becomes :math:`8 e |W|`.

    Parameters
    ----------
    n_rows : int
        The number b of rows of the sample, at least 1.
    kappa : float
        The length of a list as a fraction of its positives, in (0, 1].
    base_rate : float
        The share q of positives in the population, in (0, 1).
    largest_score : float, optional
        The bound B of a surrogate's scores, at least 0; by default the bound is that of precision itself.
    log_class_size : float, default=0.0
        :math:`\ln |W|`; 0 for coefficients that were chosen before the sample was drawn. A surrogate moves by
        at most twice as much as the scores, so of an infinite class take the covering number at a scale, and
        add four times the scale to the bound.
    replacement : bool, default=True
        Whether rows are drawn independently, or without replacement from a finite population.
    delta : float
        %(delta)s

    Returns
    -------
    float
        At least 0; a value of 1 or more says nothing of precision.

    %(range_errors)s

    Notes
    -----
    The paper states :math:`O(\sqrt{\ln(1 / \delta) / b})`. Derivation, for scores without ties, a list of k
    rows in the sample with :math:`|k - \kappa n_+| \le 1`, and a population of which one row does not count:

    By Massart's inequality :math:`P_S(y = 1, s > \tau)` differs from its mean by at most :math:`\varepsilon`
    at all :math:`\tau` at once, but for a chance of :math:`2 e^{-2 b \varepsilon^2}`, and so do the
    negatives'. Let A(u) be the share of rows that are negatives among the first share u of all. If that list
    of the sample is the first u' of the population, A_S(u) is at most
    :math:`A(u') + \varepsilon \le A(u) + \varepsilon` where :math:`u' \le u`, and where u' > u the positives,
    of which there are :math:`u - A(u)`, say the same: A_S and A differ by at most :math:`\varepsilon`. The
    loss is A(u) / u at :math:`u = \kappa q`, in the sample at u_S = k / b with
    :math:`|u_S - u| \le \kappa \varepsilon + 1 / b`; as A grows no faster than u, that moves the loss by
    :math:`|u_S - u| / u`.

    The surrogates are made of means of the highest or lowest share x of a class. The sum of the highest is
    :math:`-B x + \int_{-B}^{B} \min(x, P(s > t))\,dt`, which moves by :math:`2 B \varepsilon`. So with shares
    for counts, avg is :math:`\frac1u \max_{x \le u} (x + N(x) - x M(q - u + x))`, N a sum and M a mean: N
    moves by :math:`2 B \varepsilon`, x M by :math:`2 B (2 \varepsilon + 1 / b)`, the range of x, over which
    the slope is at most 1 + 4 B, by :math:`\varepsilon + 1 / b`, the division by u by (1 + 2 B) times that,
    and that x counts whole rows by (1 + 4 B) / 2 b: in all no more than stated. max and ramp have simpler
    terms.

    Without replacement the mean of every convex function of the deviations is no larger than with it (Gross
    and Nesme), which turns a tail of :math:`2 e^{-2 b \varepsilon^2}` into one of
    :math:`4 e^{1 - 2 b \varepsilon^2}`.

    References
    ----------
    Kar, Narasimhan and Jain, ICML 2015, definition 11 and theorem 12; Massart, Annals of Probability 18
    (1990); Gross and Nesme, *Note on sampling without replacing from a finite collection of matrices* (2010).

    Examples
    --------
    >>> round(theorem_12(100_000, 0.25, 0.5), 3)
    0.047
    """
    check_number("log_class_size", log_class_size, 0.0)
    log_events = math.log(4.0 if replacement else 8.0 * math.e) + log_class_size
    epsilon = _deviation(log_events, n_rows, kappa, base_rate, delta)
    if largest_score is None:
        return _precision_excess(epsilon, n_rows, kappa, base_rate)
    check_number("largest_score", largest_score, 0.0)
    return _surrogate_excess(epsilon, n_rows, kappa, base_rate, largest_score)


def _deviation(log_events: float, n_rows: int, kappa: float, base_rate: float, delta: float) -> float:
    """Return the epsilon of Massart's inequality, for so many events."""
    check_number("n_rows", n_rows, 1, integer=True)
    check_number("kappa", kappa, most=1.0, above=0.0)
    check_number("base_rate", base_rate, above=0.0, below=1.0)
    check_number("delta", delta, above=0.0, below=1.0)
    return math.sqrt((log_events - math.log(delta)) / (2.0 * n_rows))


def _precision_excess(epsilon: float, n_rows: int, kappa: float, base_rate: float) -> float:
    return ((1.0 + kappa) * epsilon + 1.0 / n_rows) / (kappa * base_rate)


def _surrogate_excess(
    epsilon: float, n_rows: int, kappa: float, base_rate: float, largest_score: float
) -> float:
    return (3.0 + 10.0 * largest_score) * (epsilon + 1.0 / n_rows) / (kappa * base_rate)


@shared_docs
def theorem_13(
    mistake_rate: float,
    n_batches: int,
    batch_size: int,
    kappa: float,
    base_rate: float,
    *,
    delta: float = 0.05,
) -> ErrorBound:
    r"""Return a bound on the mean loss, on the population, of the coefficients that a stream goes through.

    Of any algorithm that learns from batches in turn, with probability at least :math:`1 - \delta`,

    .. math::

        \frac1T \sum_t \mathrm{prec}_\kappa(w^t; Z) \le \frac1T \sum_t \frac{\Delta_t}{k_t}
        + \frac{(1 + \kappa) \varepsilon + 1 / b}{\kappa q} , \qquad
        \varepsilon = \sqrt{\frac{\ln(4 T / \delta)}{2 b}}

    where :math:`w^t` are the coefficients before the batch t.

    Parameters
    ----------
    mistake_rate : float
        The mean over batches of the share of the first :math:`k_t` rows that were negative, from 0 to 1:
        ``mistake_rate_`` of a ranker after one pass.
    %(draw)s
    delta : float
        %(delta)s

    %(error_bound)s

    %(range_errors)s

    Notes
    -----
    The coefficients :math:`w^t` do not depend on the batch t: :func:`theorem_12` for one function, with a
    chance of :math:`\delta / T` for each batch. The paper prints :math:`\sum_t \Delta_t / (b T)`, which can
    be smaller than the left-hand side by a factor :math:`\kappa q` at any T and b; it must be
    :math:`\Delta_t / k_t`.

    References
    ----------
    Kar, Narasimhan and Jain, ICML 2015, theorem 13.

    Examples
    --------
    >>> round(theorem_13(0.1, 50, 20_000, 0.5, 0.5).bound, 3)
    0.187
    """
    check_number("mistake_rate", mistake_rate, 0.0, 1.0)
    check_number("n_batches", n_batches, 1, integer=True)
    epsilon = _deviation(math.log(4.0 * n_batches), batch_size, kappa, base_rate, delta)
    excess = _precision_excess(epsilon, batch_size, kappa, base_rate)
    return ErrorBound(mistake_rate + excess, mistake_rate, excess)


@shared_docs
def corollary_14(
    surrogate_loss: float,
    coef_norm: float,
    radius: float,
    n_batches: int,
    batch_size: int,
    kappa: float,
    base_rate: float,
    *,
    delta: float = 0.05,
) -> float:
    r"""Return a bound on the mean loss of Perceptron@k-avg by how any fixed coefficients do.

    With probability at least :math:`1 - \delta`,

    .. math::

        \frac1T \sum_t \mathrm{prec}_\kappa(w^t; Z) &\le \frac{1 + \rho}{1 - \rho} \Bigl(
        \frac{2 \|w^*\| R}{\sqrt T} + \sqrt{\ell^{\mathrm{avg}}(w^*; Z) + \beta}\Bigr)^2
        + \frac{(1 + \kappa) \varepsilon + 1 / b}{\kappa q} , \\
        \varepsilon &= \sqrt{\frac{\ln(8 T / \delta)}{2 b}} , \quad
        \rho = \frac{\kappa \varepsilon + 1 / b}{\kappa q} , \quad
        \beta = (3 + 10 \|w^*\| R) \frac{\varepsilon + 1 / b}{\kappa q} .

    Parameters
    ----------
    surrogate_loss : float
        The surrogate avg of :math:`w^*` on the population, divided by k, at least 0.
    %(coef_norm draw)s
    delta : float
        %(delta)s

    Returns
    -------
    float
        A value of 1 or more says nothing; infinite where batches are so short that :math:`\rho \ge 1`.

    %(range_errors)s

    Notes
    -----
    :func:`theorem_7` at :math:`w^*`, divided by T times the shortest list; all lists are within a factor
    :math:`1 \pm \rho` of :math:`b \kappa q`. The surrogate of :math:`w^*` on each batch, and precision at
    each :math:`w^t`, are near those of the population by :func:`theorem_12`; these are 8 T tails. The paper's
    :math:`(\sqrt{\ell} + C)^2` follows with the roots of :math:`\beta` and of the last term in C; its C has
    :math:`\sqrt{\ln(T / \delta) / b}` itself, which is smaller and does not follow from theorems 7 and 12.

    References
    ----------
    Kar, Narasimhan and Jain, ICML 2015, corollary 14.

    Examples
    --------
    >>> round(corollary_14(0.0, 1.0, 1.0, 10_000, 10_000_000, 0.5, 0.5), 3)
    0.058
    """
    check_number("surrogate_loss", surrogate_loss, 0.0)
    check_number("coef_norm", coef_norm, 0.0)
    check_number("radius", radius, above=0.0)
    check_number("n_batches", n_batches, 1, integer=True)
    epsilon = _deviation(math.log(8.0 * n_batches), batch_size, kappa, base_rate, delta)
    spread = (kappa * epsilon + 1.0 / batch_size) / (kappa * base_rate)
    if spread >= 1.0:
        return math.inf
    largest_score = coef_norm * radius
    of_batches = surrogate_loss + _surrogate_excess(epsilon, batch_size, kappa, base_rate, largest_score)
    mistakes = (2.0 * largest_score / math.sqrt(n_batches) + math.sqrt(of_batches)) ** 2
    of_population = _precision_excess(epsilon, batch_size, kappa, base_rate)
    return (1.0 + spread) / (1.0 - spread) * mistakes + of_population


@shared_docs
def theorem_15(
    coef_norm: float,
    radius: float,
    n_batches: int,
    batch_size: int,
    kappa: float,
    base_rate: float,
    *,
    eta0: float | None = None,
    delta: float = 0.05,
) -> float:
    r"""Return by how much the averaged coefficients of SGD@k-avg may be worse than the best in the ball.

    With probability at least :math:`1 - \delta`, for all :math:`w^*` with :math:`\|w^*\| \le r`,

    .. math::

        \ell^{\mathrm{avg}}(\bar w; Z) - \ell^{\mathrm{avg}}(w^*; Z) \le
        \frac{1}{\sqrt T} \Bigl(\frac{2 r^2}{\eta_0} + 4 \eta_0 R^2\Bigr)
        + 2 (3 + 10 r R) \frac{\varepsilon + 1 / b}{\kappa q} , \qquad
        \varepsilon = \sqrt{\frac{\ln(8 T / \delta)}{2 b}} ,

    where :math:`\bar w` is the mean of the coefficients before each batch, and the steps are
    :math:`\eta_0 / \sqrt t` on the surrogate divided by k, as those of ``SGDAtK(surrogate="avg", radius=r)``.

    Parameters
    ----------
    coef_norm : float
        The radius r of the ball that coefficients are projected onto, positive.
    radius : float
        The largest norm R of a row, positive.
    %(draw)s
    eta0 : float, optional
        The first step, positive; by default the best, :math:`r / (\sqrt 2 R)`, which makes the first term
        :math:`4 \sqrt 2\, r R / \sqrt T`.
    delta : float
        %(delta)s

    Returns
    -------
    float
        The right-hand side.

    %(range_errors)s

    Notes
    -----
    A subgradient of the surrogate over k is at most 2 R long: it is q rows less q times a mean of rows, over
    k, with :math:`q \le k`. So projected descent has a regret of at most
    :math:`\sqrt T (2 r^2 / \eta_0 + 4 \eta_0 R^2)` against any :math:`w^*` of the ball (Zinkevich). The
    surrogate is convex, so that of the mean is at most the mean; and by :func:`theorem_12`, with 8 T tails,
    each batch is near the population at :math:`w^t` and at the best :math:`w^*`.

    References
    ----------
    Kar, Narasimhan and Jain, ICML 2015, theorem 15; Zinkevich, *Online convex programming and generalized
    infinitesimal gradient ascent*, ICML 2003.

    Examples
    --------
    >>> round(theorem_15(1.0, 1.0, 10_000, 10_000_000, 0.5, 0.5), 3)
    0.144
    """
    check_number("coef_norm", coef_norm, above=0.0)
    check_number("radius", radius, above=0.0)
    check_number("n_batches", n_batches, 1, integer=True)
    step = coef_norm / (math.sqrt(2.0) * radius) if eta0 is None else eta0
    check_number("eta0", step, above=0.0)
    epsilon = _deviation(math.log(8.0 * n_batches), batch_size, kappa, base_rate, delta)
    regret = (2.0 * coef_norm**2 / step + 4.0 * step * radius**2) / math.sqrt(n_batches)
    return regret + 2.0 * _surrogate_excess(epsilon, batch_size, kappa, base_rate, coef_norm * radius)
