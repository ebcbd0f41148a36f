r"""Margins in ranking: a bound on misranked pairs of new data, and how fast the smooth margin grows.

Cynthia Rudin, Corinna Cortes, Mehryar Mohri, Robert Schapire, *Margin-based ranking meets boosting in the
middle*, COLT 2005: theorem 1 as printed, with crucial pairs; a tighter bound of its kind for two classes;
and, as lemma 1 and theorem 2 are not true as printed, what is true in their place.
:func:`pushrank.theory.max_margin` computes the largest margin of the paper's section 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import rel_entr

from pushrank._array import Floats
from pushrank._validation import check_number, column
from pushrank.losses import Piece, ZeroOne
from pushrank.metrics.roc import auc
from pushrank.pairs import log_inner_sums
from pushrank.theory.covering import (
    ErrorBound,
    LogCovering,
    TrainingMargins,
    log_size,
    shared_docs,
    smallest_excess,
)
from pushrank.theory.margin import sample_of_rows

__all__ = ["smooth_margin_progress", "theorem_1"]


@shared_docs
def margin_ranking_bound(
    y_true: ArrayLike,
    scores: ArrayLike,
    theta: float,
    log_covering_number: LogCovering,
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
        %(y_true)s
    scores : array-like of shape (n,)
        %(training_scores)s
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
        At least 0; a value of 1 or more says nothing.

    %(errors)s

    Notes
    -----
    Derived here, of the kind of :func:`~pushrank.theory.rudin_2005.theorem_1`, for two classes. It is the
    tighter one: with a share q of positives, E = q (1 - q), the theorem's excess :math:`\sqrt{8 (\ln N +
    \ln(2 / \delta)) / m} / E`, with the finer cover, is at least :math:`4 \sqrt{\min(q, 1 - q)} / E \ge 10`
    times as large. Take the member g of the cover within :math:`\theta / 4` of f: margins of pairs differ by
    at most :math:`\theta / 2`. So a pair that f misranks has a margin of at most :math:`\theta / 2` under g,
    and the pairs with such a margin under g have at most :math:`\theta` under f. For each g, Hoeffding's
    inequality for two-sample U-statistics says that the share of pairs exceeds its mean over the sample by
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
    margins = TrainingMargins(y_true, scores, theta, log_covering_number, delta, pos_label)
    within = 1.0 - float(auc(margins.is_positive, margins.lowered_scores, ties="pessimistic"))
    return within + margins.deviation(min(margins.n_positive, margins.n_negative))


@dataclass(frozen=True)
class _WithinMargin(ZeroOne):
    """One where the margin is at most theta: sums over all pairs of it count without listing them."""

    theta: float = 0.0

    @property
    def pieces(self) -> tuple[Piece, ...]:  # type: ignore[override]
        """Return one up to theta, and nothing beyond."""
        return (Piece(self.theta, (1.0,)),)

    def value(self, margin: Floats) -> Floats:
        """Return whether each margin is at most theta."""
        return (margin <= self.theta).astype(np.float64)


@shared_docs
def theorem_1(
    scores: ArrayLike,
    y: ArrayLike | None = None,
    *,
    theta: float,
    log_covering_number: LogCovering,
    qid: ArrayLike | None = None,
    pairs: tuple[ArrayLike, ...] | None = None,
    pair_probability: float | None = None,
    delta: float = 0.05,
) -> ErrorBound:
    r"""Return the paper's bound on the share of crucial pairs that are misranked.

    Of m rows drawn independently from one distribution D, :math:`\pi(x, x')` says whether x should stand
    above x'. With :math:`E = E_{x, x' \sim D}\, \pi(x, x')`, but for a chance of
    :math:`2 N(F, \varepsilon \theta / 8)\, e^{-m (\varepsilon E)^2 / 8}`, for all f of the class at once,

    .. math::

        \frac{E\bigl[1[f(x) \le f(x')]\, \pi(x, x')\bigr]}{E} \le
        \frac{\sum_{ik} 1[f(x_i) - f(x_k) \le \theta]\, \pi(x_i, x_k)}{\sum_{ik} \pi(x_i, x_k)} + \varepsilon

    The excess is the least :math:`\varepsilon` at which the chance is :math:`\delta`; for a finite class
    :math:`\sqrt{8 (\ln 2 |F| + \ln(1 / \delta)) / m} / E`.

    Parameters
    ----------
    scores : array-like of shape (m,)
        The finite scores of the training rows, by a function of the class that the covering number counts.
    y : array-like of shape (m,), optional
        Two classes, or grades of relevance, which must be numbers; each row should stand above those with a
        lower one.
    theta : float
        %(theta)s
    log_covering_number : callable or float
        %(log_covering_number)s
    qid : array-like of shape (m,), optional
        Query groups, within which rows are compared.
    pairs : (better, worse), optional
        The crucial pairs as row numbers, in place of ``y``: all for which :math:`\pi` is one.
    pair_probability : float, optional
        E, above 0 and at most 1/2; by default the share of the pairs :math:`(i, k)`, :math:`i \ne k`, that
        are crucial, by which the paper says it may as well be replaced.
    delta : float
        %(delta)s

    %(error_bound)s

    Raises
    ------
    TypeError
        When a parameter is not a number of its kind, or row numbers are not integers.
    ValueError
        When there is no pair, neither or both of ``y`` and ``pairs`` are given, pairs have weights or occur
        in both directions or twice, lengths differ, a score is not finite, or a parameter is out of range.

    See Also
    --------
    pushrank.theory.margin_ranking_bound : A tighter bound for two classes.

    Notes
    -----
    O(m log m) for two classes and grades; otherwise as many steps as there are pairs.

    References
    ----------
    Rudin, Cortes, Mohri and Schapire, *Margin-based ranking meets boosting in the middle*, COLT 2005,
    theorem 1; its remark on finite classes writes :math:`\varepsilon \theta / 4` for the scale.

    Examples
    --------
    >>> scores = np.arange(9000.0)
    >>> found = theorem_1(scores, np.repeat([0, 1, 2], 3000), theta=0.5, log_covering_number=2.0)
    >>> round(found.training_error, 3), round(found.excess, 3)
    (0.0, 0.213)
    """
    values = column(scores, "scores").astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"scores must be finite, found {values[~np.isfinite(values)][0]}.")
    check_number("theta", theta, above=0.0)
    if pairs is not None:
        better, worse = (np.asarray(rows) for rows in _plain_pairs(pairs))
        ends = np.sort(np.stack([better, worse], axis=1), axis=1)
        if len(np.unique(ends, axis=0)) < len(ends):
            raise ValueError("pairs name two rows twice, or in both directions; each may be crucial once.")
    sample = sample_of_rows("theorem_1", len(values), y, qid, pairs)
    m, n_pairs = len(values), sample.pair_weight
    share = n_pairs / (m * (m - 1.0)) if pair_probability is None else pair_probability
    check_number("pair_probability", share, most=0.5, above=0.0)

    def log_failure(epsilon: float) -> float:
        log_cover = log_size(log_covering_number, epsilon * theta / 8.0)
        return math.log(2.0) + log_cover - m * (epsilon * share) ** 2 / 8.0

    excess = smallest_excess(log_failure, delta)
    within = np.exp(log_inner_sums(_WithinMargin(theta), sample, values).log_sums)
    error = (
        float(np.sum(within if sample.negative_weights is None else sample.negative_weights * within))
        / n_pairs
    )
    return ErrorBound(error + excess, error, excess)


def _plain_pairs(pairs: Any) -> Any:
    columns = pairs.T if getattr(pairs, "ndim", 0) == 2 else pairs
    if len(columns) != 2:
        raise ValueError(
            "pairs must be (better, worse): in this theorem a pair is crucial or not, without weight."
        )
    return columns


def smooth_margin_progress(smooth_margin: float, edge: float, norm: float) -> float:
    r"""Return by how much a round of Smooth Margin Ranking raises the smooth margin at least.

    .. math::

        g_{t+1} - g_t \ge \frac{1}{s_{t+1}} \mathrm{RE}\Bigl(\frac{1 + g_t}{2} \| \frac{1 + r_t}{2}\Bigr)
        \ge \frac{(r_t - g_t)^2}{2 s_{t+1}} , \qquad
        \mathrm{RE}(u \| v) = u \ln\frac uv + (1 - u) \ln\frac{1 - u}{1 - v}

    Parameters
    ----------
    smooth_margin : float
        The smooth margin :math:`g_t` before the round, in [0, 1): below zero rounds are RankBoost's.
    edge : float
        The edge :math:`r_t = d_+ - d_-` of the chosen ranker, from the smooth margin to below 1.
    norm : float
        The positive sum :math:`s_{t+1}` of the weights after the round.

    Returns
    -------
    float
        The first of the two right-hand sides, at least 0.

    Raises
    ------
    TypeError
        When a parameter is not a number.
    ValueError
        When a parameter is out of range.

    Notes
    -----
    Lemma 1 and theorem 2 of the paper state :math:`\alpha_t (r_t - g_t) / (2 s_{t+1})`. That holds where the
    ranker ties no pair (:math:`d_0 = 0`, AdaBoost's case) and not in general: :math:`g = .009054`,
    :math:`d_+ = .186975`, :math:`d_- = .038312`, :math:`d_0 = .774713`, which came up in a run, give
    :math:`\alpha = .742` and a progress of :math:`.0507 / s_{t+1}`, where they state :math:`.0518 / s_{t+1}`.
    What stands here is enough for what they are used for: the smooth margin converges, at the rate of the
    square, as long as there are rankers with an edge of at least the largest margin.

    Proof. A step :math:`\alpha` multiplies the loss F by
    :math:`\tau(\alpha) = d_+ e^{-\alpha} + d_- e^{\alpha} + d_0` and adds :math:`\alpha` to the norm s, so
    with :math:`g = -\ln F / s`

    .. math:: s_{t+1} (g_{t+1} - g_t) = -\ln \tau(\alpha) - \alpha g_t .

    The right-hand side is concave, and the step of the algorithm, at which its derivative is zero, maximises
    it. As :math:`d_0 \le d_0 (e^\alpha + e^{-\alpha}) / 2` and :math:`d_\pm + d_0 / 2 = (1 \pm r) / 2`,

    .. math::

        -\ln \tau(\alpha) - \alpha g \ge
        -\ln\Bigl(\frac{1 + r}{2} e^{-\alpha} + \frac{1 - r}{2} e^{\alpha}\Bigr) - \alpha g ,

    the maximum of which, at :math:`\alpha = \frac12 \ln \frac{(1 + r)(1 - g)}{(1 - r)(1 + g)} \ge 0`, is the
    relative entropy; Pinsker's inequality gives the square. A step that turns back a weight of the other sign
    adds less than :math:`\alpha` to the norm, which only raises a positive g.

    References
    ----------
    Rudin, Cortes, Mohri and Schapire, *Margin-based ranking meets boosting in the middle*, COLT 2005,
    lemma 1 and theorem 2.

    Examples
    --------
    >>> round(smooth_margin_progress(0.009054, 0.148663, norm=1.0), 4)
    0.0099
    """
    check_number("smooth_margin", smooth_margin, 0.0, below=1.0)
    check_number("edge", edge, least=smooth_margin, below=1.0)
    check_number("norm", norm, above=0.0)
    u, v = 0.5 * (1.0 + smooth_margin), 0.5 * (1.0 + edge)
    return float(rel_entr(u, v) + rel_entr(1.0 - u, 1.0 - v)) / norm
