r"""Precision at k: mistake bounds, uniform convergence, and bounds for new data that follow from both.

Purushottam Kar, Harikrishna Narasimhan, Prateek Jain, *Surrogate functions for maximizing precision at the
top*, ICML 2015: theorems 7, 9, 12, 13 and 15 and corollaries 8, 10 and 14, and a bound with a margin.

The text leaves the constants of theorems 12 to 15 open; those here are derived on the page
:doc:`/papers/kar_2015`. In these theorems precision at :math:`\kappa` is a loss: with a share q of positives
in the population Z, and lists of :math:`k = \kappa n_+` rows, the share of the list that is negative.
Surrogates are divided by k, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import assert_all_finite, check_array, check_consistent_length
from sklearn.utils.extmath import row_norms

from pushrank._base.docstrings import shared_docs_from
from pushrank._base.user_types import Floats
from pushrank._base.validation import check_choice, check_k, check_number, column, is_count, resolve_k
from pushrank.metrics.precision import precision_at_k
from pushrank.objectives import PrecisionAtK
from pushrank.theory.covering import PARAGRAPHS, ErrorBound, LogCovering, TrainingMargins, check_numbers

__all__ = [
    "corollaries_8_and_10", "corollary_14", "theorem_12", "theorem_13", "theorem_15", "theorems_7_and_9",
]  # fmt: skip

VARIANTS = ("avg", "max")

shared_docs = shared_docs_from(
    {
        **PARAGRAPHS,
        "mistakes": """Parameters
----------
coef : array-like of shape (n_features,)
    The coefficients w; the bound holds for any.
batches : iterable of (X, y)
    The batches of the stream, which is read once. Those of one class are left out.
k : int or float
    A number of rows, or a fraction of each batch's positives; at most as many as these.
variant : {"avg", "max"}
    The variant of the perceptron, and its surrogate or margin.
pos_label : label
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
    When k or the variant is out of range, there is no batch of both classes, lengths differ, or a number is
    not finite.""",
        "stream": """n_batches : int
    The number T of batches, each drawn independently of the others and of the coefficients before it.
batch_size : int
    The number b of rows of a batch, at least 1.
kappa : float
base_rate : float""",
        "kappa": "The length of a list as a fraction of its positives, in (0, 1].",
        "base_rate": "The share q of positives in the population, in (0, 1).",
        "radius": "The largest norm R of a row, positive.",
    },
    errors="errors",
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
    r"""Return a lower bound on the precision in the population, in a list of the same share of the rows.

    With :math:`\lambda = k / n` chosen before the data are seen, with probability at least
    :math:`1 - \delta`, for all f of the class at once,

    .. math::
        \mathrm{prec}_\lambda(f) \ge \widehat{\mathrm{prec}}_{@k}(f - \theta y)
        - \frac{2}{\lambda} \sqrt{\frac{\ln N(F, \theta / 4) + \ln(2 / \delta)}{2 n}} ,

    the scores of training positives being lowered by the margin. The bound is pushrank's, for scores without
    ties, and proved on the page :doc:`/papers/kar_2015`. O(n).

    %(rows)s
    k : int
        The length of the list, from 1 to n.
    %(covering_parameters)s

    Returns
    -------
    float
        At most 1; a value of 0 or less says nothing.

    Examples
    --------
    >>> y, scores = [0] * 50_000 + [1] * 50_000, np.arange(100_000) / 1e6 + np.repeat([0, 1], 50_000)
    >>> round(precision_at_k_bound(y, scores, 25_000, 0.5, log_covering_number=20.0), 3)
    0.913
    """
    margins = TrainingMargins(y_true, scores, theta, log_covering_number, delta, pos_label)
    precision = float(precision_at_k(margins.is_positive, margins.lowered_scores, k, ties="pessimistic"))
    # Two events can fail: that the list is longer, and that fewer of its rows are positive.
    n_rows = len(margins.scores)
    return precision - 2.0 * n_rows / k * margins.deviation(n_rows, 2)


@shared_docs
def theorems_7_and_9(
    coef: ArrayLike,
    batches: Iterable[tuple[Any, ArrayLike]],
    k: float,
    *,
    variant: Literal["avg", "max"] = "avg",
    pos_label: Any = 1,
) -> float:
    r"""Return a bound on the mistakes of Perceptron@k on a stream by the surrogate loss of any coefficients.

    .. math:: \sum_t \Delta_t \le \Bigl(\|w\| R \sqrt{4 k} + \sqrt{\sum_t L_t(w)}\Bigr)^2

    L is the surrogate avg of :class:`pushrank.objectives.PrecisionAtK` for Perceptron@k-avg (Kar et al.,
    theorem 7), and max for Perceptron@k-max (theorem 9), R the largest norm of a row, and k the longest list
    of a batch. ``PerceptronAtK.mistake_bound_`` is about the least over multiples of the learned weights.

    %(mistakes)s

    Examples
    --------
    >>> stream = [([[2.0], [0.0]], [1, 0]), ([[1.5], [-1.0]], [1, 0])]
    >>> theorems_7_and_9([0.5], stream, 1), theorems_7_and_9([1.0], stream, 1, variant="max")
    (4.0, 16.0)
    """
    w = _checked_coef(coef, variant)
    loss = radius = longest = 0.0
    for scores, is_positive, length, norm in _two_class_batches(w, batches, k, pos_label):
        loss += PrecisionAtK(int(length), variant).value(is_positive, scores)
        radius, longest = max(radius, norm), max(longest, length)
    return float((np.linalg.norm(w) * radius * math.sqrt(4.0 * longest) + math.sqrt(loss)) ** 2)


@shared_docs
def corollaries_8_and_10(
    coef: ArrayLike,
    batches: Iterable[tuple[Any, ArrayLike]],
    k: float,
    *,
    variant: Literal["avg", "max"] = "avg",
    pos_label: Any = 1,
) -> float:
    r"""Return a bound on the mistakes of Perceptron@k on a stream that coefficients rank with a margin.

    .. math:: \sum_t \Delta_t \le \frac{4 k R^2}{\gamma^2}

    Corollary 8 of Kar et al. is for Perceptron@k-avg: in every batch of m positives the mean score of the
    :math:`m - k + 1` lowest is :math:`\gamma` above the highest negative, at unit norm of w. Corollary 10 is
    for Perceptron@k-max: the lowest positive is. Without such a margin the bound is infinite.

    %(mistakes)s

    Examples
    --------
    >>> corollaries_8_and_10([7.0], [([[2.0], [0.0]], [1, 0]), ([[1.5], [-1.0]], [1, 0])], 1)
    4.0
    """
    w = _checked_coef(coef, variant)
    # Coefficients of zero stay zero, and have no margin.
    unit = w / (np.linalg.norm(w) or 1.0)
    margin, radius, longest = math.inf, 0.0, 0.0
    for scores, is_positive, length, norm in _two_class_batches(unit, batches, k, pos_label):
        positives = np.sort(scores[is_positive])
        n_lowest = len(positives) - math.ceil(length) + 1 if variant == "avg" else 1
        margin = min(margin, float(positives[:n_lowest].mean() - scores[~is_positive].max()))
        radius, longest = max(radius, norm), max(longest, length)
    return 4.0 * longest * radius**2 / margin**2 if margin > 0.0 else math.inf


def _checked_coef(coef: ArrayLike, variant: str) -> Floats:
    check_choice("variant", variant, VARIANTS)
    w = column(coef, "coef").astype(np.float64)
    assert_all_finite(w, input_name="coef")
    return w


def _two_class_batches(
    w: Floats, batches: Iterable[tuple[Any, ArrayLike]], k: float, pos_label: Any
) -> Iterator[tuple[Floats, NDArray[np.bool_], float, float]]:
    """Yield the scores, the classes, the length of the list and the largest norm of a row of each batch."""
    check_k(k)
    has_batches = False
    for X, y in batches:
        values = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")
        is_positive = column(y, "y") == pos_label
        check_consistent_length(values, is_positive)
        # The perceptron does not learn from a batch of one class either.
        if is_positive.all() or not is_positive.any():
            continue
        has_batches = True
        n_positives = float(is_positive.sum())
        length = min(float(resolve_k(k, is_count(k), n_positives)), n_positives)
        yield np.asarray(values @ w), is_positive, length, float(row_norms(values).max())
    if not has_batches:
        raise ValueError("no batch has rows of both classes, so that there are no mistakes to bound.")


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
    r"""Return a bound on the difference of precision at kappa between a sample and the population.

    In a sample of b rows, with probability at least :math:`1 - \delta`, for all w of a finite class W,

    .. math::
        |\mathrm{prec}_\kappa(w; Z) - \mathrm{prec}_\kappa(w; S)| &\le
        \frac{(1 + \kappa) \varepsilon + 1 / b}{\kappa q} , \qquad
        \varepsilon = \sqrt{\frac{\ln(4 |W| / \delta)}{2 b}} , \\
        |\ell(w; Z) - \ell(w; S)| &\le (3 + 10 B) \frac{\varepsilon + 1 / b}{\kappa q}

    for the surrogates ramp, avg and max divided by k, if no absolute score exceeds B, and scores without
    ties. Kar et al., theorem 12, state :math:`O(\sqrt{\ln(1 / \delta) / b})`.

    Parameters
    ----------
    n_rows : int
        The number b of rows of the sample, at least 1.
    kappa : float
    base_rate : float
    largest_score : float, optional
        The bound B of a surrogate's scores, at least 0; by default the bound is that of precision itself.
    log_class_size : float, default=0.0
        :math:`\ln |W|`; 0 for coefficients that were chosen before the sample was drawn.
    replacement : bool, default=True
        Whether rows are drawn independently, or without replacement from a finite population, where
        :math:`4 |W|` becomes :math:`8 e |W|`.
    delta : float

    %(chance range_errors)s

    Examples
    --------
    >>> round(theorem_12(100_000, 0.25, 0.5), 3)
    0.047
    """
    check_numbers(log_class_size=log_class_size)
    log_events = math.log(4.0 if replacement else 8.0 * math.e) + log_class_size
    sample = _Sample(log_events, n_rows, kappa, base_rate, delta)
    if largest_score is None:
        return sample.precision_excess
    check_numbers(largest_score=largest_score)
    return sample.surrogate_excess(largest_score)


class _Sample:
    """How far a sample may be from the population, by Massart's inequality for a number of events."""

    def __init__(self, log_events: float, n_rows: int, kappa: float, base_rate: float, delta: float) -> None:
        check_numbers(n_rows=n_rows, kappa=kappa, base_rate=base_rate, delta=delta)
        epsilon, listed = math.sqrt((log_events - math.log(delta)) / (2.0 * n_rows)), kappa * base_rate
        self.precision_excess = ((1.0 + kappa) * epsilon + 1.0 / n_rows) / listed
        self.spread_of_lengths = (kappa * epsilon + 1.0 / n_rows) / listed
        self._unit = (epsilon + 1.0 / n_rows) / listed

    def surrogate_excess(self, largest_score: float) -> float:
        return (3.0 + 10.0 * largest_score) * self._unit


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
    r"""Return a bound on the mean loss, on the population, of the coefficients before each batch of a stream.

    For any algorithm that learns from one batch after another, and the coefficients :math:`w^t` before each,
    with probability at least :math:`1 - \delta`,

    .. math:: \frac1T \sum_t \mathrm{prec}_\kappa(w^t; Z) \le \frac1T \sum_t \frac{\Delta_t}{k_t}
        + \frac{(1 + \kappa) \varepsilon + 1 / b}{\kappa q} , \qquad
        \varepsilon = \sqrt{\frac{\ln(4 T / \delta)}{2 b}} .

    Kar et al., theorem 13, in which :math:`\Delta_t` is divided by b, a slip.

    Parameters
    ----------
    mistake_rate : float
        The mean over batches of the share of the first :math:`k_t` rows that were negative, from 0 to 1:
        ``mistake_rate_`` of a ranker after one pass.
    %(stream)s
    delta : float

    %(error_bound range_errors)s

    Examples
    --------
    >>> round(theorem_13(0.1, 50, 20_000, 0.5, 0.5).bound, 3)
    0.187
    """
    check_numbers(mistake_rate=mistake_rate, n_batches=n_batches)
    # A union bound over the batches, each with four tails.
    excess = _Sample(math.log(4.0 * n_batches), batch_size, kappa, base_rate, delta).precision_excess
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
    variant: Literal["avg", "max"] = "avg",
    delta: float = 0.05,
) -> float:
    r"""Return a bound on the mean loss of Perceptron@k by the surrogate loss of any coefficients.

    With probability at least :math:`1 - \delta`,

    .. math::
        \frac1T \sum_t \mathrm{prec}_\kappa(w^t; Z) &\le \frac{1 + \rho}{1 - \rho} \Bigl(
        \frac{2 \|w^*\| R}{\sqrt T} + \sqrt{\ell(w^*; Z) + \beta}\Bigr)^2
        + \frac{(1 + \kappa) \varepsilon + 1 / b}{\kappa q} , \\
        \varepsilon &= \sqrt{\frac{\ln(8 T / \delta)}{2 b}} , \quad
        \rho = \frac{\kappa \varepsilon + 1 / b}{\kappa q} , \quad
        \beta = (3 + 10 \|w^*\| R) \frac{\varepsilon + 1 / b}{\kappa q} ,

    by the surrogate avg for Perceptron@k-avg and max for Perceptron@k-max; :math:`\rho` is by what share the
    length of a list may differ from :math:`b \kappa q`. Kar et al., corollary 14, with its constant C
    corrected on the page :doc:`/papers/kar_2015`.

    Parameters
    ----------
    surrogate_loss : float
        The surrogate of the variant at :math:`w^*` on the population, divided by k, at least 0.
    coef_norm : float
        The norm of :math:`w^*`, at least 0.
    radius : float
    %(stream)s
    variant : {"avg", "max"}, default="avg"
        The perceptron, and the surrogate that ``surrogate_loss`` is of; the constants are those of both.
    delta : float

    %(chance)s
        It is infinite if :math:`\rho \ge 1`, as with 500 rows a batch, the paper's, where few are positive.

    %(range_errors)s

    Examples
    --------
    >>> round(corollary_14(0.0, 1.0, 1.0, 10_000, 10_000_000, 0.5, 0.5), 3)
    0.058
    >>> corollary_14(0.0, 1.0, 1.0, 28, 500, 0.25, 0.0367)  # 28 batches of letter, of which 3.67 % are H
    inf
    """
    check_choice("variant", variant, VARIANTS)
    check_numbers(surrogate_loss=surrogate_loss, coef_norm=coef_norm, radius=radius, n_batches=n_batches)
    batch = _Sample(math.log(8.0 * n_batches), batch_size, kappa, base_rate, delta)
    if (spread := batch.spread_of_lengths) >= 1.0:
        return math.inf
    largest_score = coef_norm * radius
    root_of_loss = math.sqrt(surrogate_loss + batch.surrogate_excess(largest_score))
    mistakes = (2.0 * largest_score / math.sqrt(n_batches) + root_of_loss) ** 2
    return (1.0 + spread) / (1.0 - spread) * mistakes + batch.precision_excess


@shared_docs
def theorem_15(
    coef_norm: float,
    radius: float,
    n_batches: int,
    batch_size: int,
    kappa: float,
    base_rate: float,
    *,
    average: Literal["after", "before"] = "after",
    eta0: float | None = None,
    delta: float = 0.05,
) -> float:
    r"""Return a bound on the excess of SGD@k-avg's averaged coefficients over the best in the ball.

    With probability at least :math:`1 - \delta`, for all :math:`w^*` with :math:`\|w^*\| \le r`,

    .. math::
        \ell^{\mathrm{avg}}(\bar w; Z) - \ell^{\mathrm{avg}}(w^*; Z) \le
        \frac{1}{\sqrt T} \Bigl(\frac{2 r^2}{\eta_0} + 4 \eta_0 R^2\Bigr)
        + 2 (3 + 10 r R) \frac{\varepsilon + 1 / b}{\kappa q} + \frac{2 r R}{T} , \qquad
        \varepsilon = \sqrt{\frac{\ln(8 T / \delta)}{2 b}} ,

    for the mean :math:`\bar w` of the coefficients after each batch, which algorithm 3 and
    ``SGDAtK(surrogate="avg", radius=r)`` return, from one pass that begins at zero with steps
    :math:`\eta_0 / \sqrt t` on the surrogate divided by k. Kar et al., theorem 15.

    Parameters
    ----------
    coef_norm : float
        The radius r of the ball that coefficients are projected onto, positive.
    radius : float
    %(stream)s
    average : {"after", "before"}, default="after"
        Whether :math:`\bar w` is the mean after every batch or before, where the last term is zero.
    eta0 : float, optional
        The first step, positive; by default the best, :math:`r / (\sqrt 2 R)`.
    delta : float

    %(chance range_errors)s

    Examples
    --------
    >>> round(theorem_15(1.0, 1.0, 10_000, 10_000_000, 0.5, 0.5), 3)
    0.145
    """
    check_number("coef_norm", coef_norm, above=0.0)
    check_numbers(radius=radius, n_batches=n_batches)
    check_choice("average", average, ("after", "before"))
    # The default minimises the sum of the two terms of the regret.
    step = coef_norm / (math.sqrt(2.0) * radius) if eta0 is None else eta0
    check_numbers(eta0=step)
    batch = _Sample(math.log(8.0 * n_batches), batch_size, kappa, base_rate, delta)
    regret = (2.0 * coef_norm**2 / step + 4.0 * step * radius**2) / math.sqrt(n_batches)
    # The two means differ by the last coefficients over T, and the surrogate grows by 2 R a unit.
    regret += 2.0 * coef_norm * radius / n_batches if average == "after" else 0.0
    return regret + 2.0 * batch.surrogate_excess(coef_norm * radius)
