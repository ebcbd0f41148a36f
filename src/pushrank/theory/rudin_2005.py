r"""Margins in ranking: a bound on misranked pairs of new data, and the growth of the smooth margin.

Cynthia Rudin, Corinna Cortes, Mehryar Mohri, Robert Schapire, *Margin-based ranking meets boosting in the
middle*, COLT 2005: theorem 1 as printed, with crucial pairs; a tighter bound of its kind for two classes;
and a correction of lemma 1 and theorem 2, which are false as printed. Its sequel, Rudin and Schapire,
*Margin-based ranking and an equivalence between AdaBoost and RankBoost*, JMLR 10 (2009), 2193-2232, has the
intercept by which RankBoost classifies as AdaBoost does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import rel_entr
from sklearn.utils import assert_all_finite

from pushrank._base.user_types import Floats
from pushrank._base.validation import check_number, column
from pushrank.losses import Piece, ZeroOne
from pushrank.metrics._ranking import Ranking
from pushrank.metrics.roc import auc
from pushrank.pairs import BipartiteSample, log_inner_sums
from pushrank.pairs.exponential import adaboost_threshold
from pushrank.theory import covering
from pushrank.theory.covering import ErrorBound, LogCovering, check_numbers
from pushrank.theory.margin import sample_of_rows

__all__ = ["adaboost_intercept", "smooth_margin_progress", "theorem_1"]


@covering.shared_docs
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

    .. math:: P(f(x) \le f(\tilde x)) \le \frac{1}{IK} \sum_{i,k} 1[f(x_i) - f(\tilde x_k) \le \theta]
        + \sqrt{\frac{\ln N(F, \theta / 4) + \ln(1 / \delta)}{2 \min(I, K)}} .

    The bound is pushrank's, and proved on the page :doc:`/papers/rudin_2005`. O(n log n).

    %(rows covering_parameters chance)s

    Examples
    --------
    >>> y, scores = [0] * 5000 + [1] * 5000, [0.0] * 5000 + [1.0] * 5000
    >>> round(margin_ranking_bound(y, scores, 0.5, log_covering_number=20.0), 3)
    0.048
    """
    margins = covering.TrainingMargins(y_true, scores, theta, log_covering_number, delta, pos_label)
    within = 1.0 - float(auc(margins.is_positive, margins.lowered_scores, ties="pessimistic"))
    return within + margins.deviation(min(margins.n_positive, margins.n_negative))


@dataclass(frozen=True)
class _WithinMargin(ZeroOne):
    """One where the margin is at most theta, as a loss, whose sums over all pairs need no list of them."""

    theta: float = 0.0

    @property
    def pieces(self) -> tuple[Piece, ...]:  # type: ignore[override]
        return (Piece(self.theta, (1.0,)),)

    def value(self, margin: Floats) -> Floats:
        return (margin <= self.theta).astype(np.float64)


@covering.shared_docs
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
    r"""Return the paper's bound on the share of crucial pairs that are misranked (COLT 2005, theorem 1).

    For m rows drawn independently from one distribution D, :math:`\pi(x, x')` is one if x should stand above
    x'. With :math:`E = E_{x, x' \sim D}\, \pi(x, x')`, except with a chance of
    :math:`2 N(F, \varepsilon \theta / 8)\, e^{-m (\varepsilon E)^2 / 8}`, for all f of the class at once,

    .. math:: \frac{E\bigl[1[f(x) \le f(x')]\, \pi(x, x')\bigr]}{E} \le \varepsilon +
        \frac{\sum_{ik} 1[f(x_i) - f(x_k) \le \theta]\, \pi(x_i, x_k)}{\sum_{ik} \pi(x_i, x_k)} .

    The excess is the least :math:`\varepsilon` at which the chance is :math:`\delta`. O(m log m) for two
    classes and grades; otherwise linear in the number of pairs.

    Parameters
    ----------
    scores : array-like of shape (m,)
        The finite scores of the rows, by a function of the class that the covering number counts.
    y : array-like of shape (m,), optional
    theta : float
    log_covering_number : callable or float
    qid : array-like of shape (m,), optional
    pairs : (better, worse), optional
        The crucial pairs as row numbers, in place of ``y``: all for which :math:`\pi` is one.
    pair_probability : float, optional
        E, above 0 and at most 1/2; by default the share of the pairs :math:`(i, k)`, :math:`i \ne k`, that
        are crucial, by which the paper allows to replace it.
    delta : float

    %(error_bound)s

    Raises
    ------
    TypeError
        When a parameter is not a number of its kind, or row numbers are not integers.
    ValueError
        When there is no pair, not exactly one of ``y`` and ``pairs`` is passed, pairs have weights or occur
        in both directions or twice, lengths differ, a score is not finite, or a parameter is out of range.

    Examples
    --------
    >>> scores, grades = np.arange(9000.0), np.repeat([0, 1, 2], 3000)
    >>> round(theorem_1(scores, grades, theta=0.5, log_covering_number=2.0).excess, 3)
    0.213
    """
    values = column(scores, "scores").astype(np.float64)
    assert_all_finite(values, input_name="scores")
    check_numbers(theta=theta)
    # A pair that occurs twice, or in both directions, would have a weight other than zero and one.
    if pairs is not None:
        columns: Any = pairs.T if getattr(pairs, "ndim", 0) == 2 else pairs  # type: ignore[attr-defined]
        if len(columns) != 2:
            raise ValueError(
                "pairs must be (better, worse): in this theorem a pair is crucial or not, without weight."
            )
        ends = np.sort(np.stack([np.asarray(rows) for rows in columns], axis=1), axis=1)
        if len(np.unique(ends, axis=0)) < len(ends):
            raise ValueError("pairs name two rows twice, or in both directions; each may be crucial once.")
    sample = sample_of_rows("theorem_1", len(values), y, qid, pairs)
    m, n_pairs = len(values), sample.pair_weight
    share = n_pairs / (m * (m - 1.0)) if pair_probability is None else pair_probability
    check_number("pair_probability", share, most=0.5, above=0.0)
    # The sums of this loss over the better rows count, for each worse row, the pairs within the margin.
    within = np.exp(log_inner_sums(_WithinMargin(theta), sample, values).log_sums)
    weights = 1.0 if sample.negative_weights is None else sample.negative_weights
    error = float(np.sum(weights * within)) / n_pairs
    return covering.least_bound(
        error, lambda e: math.log(2.0) - m * (e * share) ** 2 / 8.0, log_covering_number, theta, delta
    )


@covering.shared_docs
def smooth_margin_progress(smooth_margin: float, edge: float, norm: float) -> float:
    r"""Return a lower bound on the rise of the smooth margin in a round of Smooth Margin Ranking.

    .. math::
        g_{t+1} - g_t \ge \frac{1}{s_{t+1}} \mathrm{RE}\Bigl(\frac{1 + g_t}{2} \| \frac{1 + r_t}{2}\Bigr)
        \ge \frac{(r_t - g_t)^2}{2 s_{t+1}} , \qquad
        \mathrm{RE}(u \| v) = u \ln\frac uv + (1 - u) \ln\frac{1 - u}{1 - v}

    Lemma 1 and theorem 2 of Rudin, Cortes, Mohri and Schapire, COLT 2005, are false where the ranker ties
    pairs. A counter-example and the proof of this bound are on the page :doc:`/papers/rudin_2005`.

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

    %(range_errors)s

    Examples
    --------
    >>> round(smooth_margin_progress(0.009054, 0.148663, norm=1.0), 4)
    0.0099
    """
    check_number("smooth_margin", smooth_margin, 0.0, below=1.0)
    check_number("edge", edge, least=smooth_margin, below=1.0)
    check_numbers(norm=norm)
    u, v = 0.5 * (1.0 + smooth_margin), 0.5 * (1.0 + edge)
    return float(rel_entr(u, v) + rel_entr(1.0 - u, 1.0 - v)) / norm


@covering.shared_docs
def adaboost_intercept(
    y_true: ArrayLike, scores: ArrayLike, *, sample_weight: ArrayLike | None = None, pos_label: Any = None
) -> float:
    r"""Return the intercept by which scores of least RankBoost loss are of least AdaBoost loss.

    With :math:`F_+ = \sum_i e^{-f(x_i)}` and :math:`F_- = \sum_k e^{f(\tilde x_k)}`, RankBoost minimises
    :math:`F_+ F_-`, which no intercept changes, and AdaBoost :math:`F_+ + F_-`. For every f

    .. math:: \min_b \; e^{-b} F_+ + e^{b} F_- = 2 \sqrt{F_+ F_-} , \qquad b = \frac12 \ln \frac{F_+}{F_-} ,

    so that f minimises RankBoost's loss if and only if :math:`f + b` minimises AdaBoost's over the same weak
    rankers and a constant, and :math:`f + b > 0` is then AdaBoost's classifier, by which
    ``RankBoost(threshold="adaboost")`` predicts. O(n). Rudin and Schapire, JMLR 10 (2009).

    %(rows)s
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows in both sums.
    pos_label : label, optional

    Returns
    -------
    float
        The intercept b, in units of the scores.

    Raises
    ------
    ValueError
        When there are not two classes of positive weight, or a score is not finite.

    Examples
    --------
    >>> round(adaboost_intercept([0, 0, 0, 1], [0.0, 0.0, 0.0, 1.0]), 3)
    -1.049
    """
    ranking = Ranking(y_true, scores, sample_weight, pos_label)
    sample = BipartiteSample.from_mask(ranking.is_positive, ranking.weights)
    return -adaboost_threshold(sample, np.asarray(ranking.scores, dtype=np.float64))
