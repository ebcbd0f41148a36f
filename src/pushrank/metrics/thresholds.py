"""The threshold of a score for a budget, a precision or a recall, with an interval."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pushrank._docstrings import shared_docs
from pushrank._numeric import Floats
from pushrank._validation import check_number
from pushrank.metrics._bootstrap import RowCounts, StratifiedBootstrap
from pushrank.metrics._ranking import K_ROUNDING, Ranking, checked_rankings, comparable_scores, depth_in_rows
from pushrank.metrics._registry import bind_metric
from pushrank.metrics._sampling import Sampling, bootstrap_intervals, check_resampling
from pushrank.metrics.promises import guaranteed_threshold


class Threshold(NamedTuple):
    """A threshold of a score, its interval, and the list of rows at or above it.

    Parameters
    ----------
    threshold : float
        Rows that score as much or more are in the list.
    low, high : float
        The ends of its interval; NaN if there is none.
    n_rows : float
        The number of rows in the list; with weights, what they weigh.
    precision, recall : float
        The share of positives in the list, and the share of all positives that it holds.
    """

    threshold: float
    low: float
    high: float
    n_rows: float
    precision: float
    recall: float


@shared_docs
def threshold_for(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    k: int | None = None,
    fraction: float | None = None,
    fraction_of_positives: float | None = None,
    precision: float | None = None,
    recall: float | None = None,
    false_positive_rate: float | None = None,
    guarantee: float | None = None,
    confidence_level: float | None = 0.95,
    n_resamples: int | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = None,
) -> Threshold:
    r"""Return the threshold at which a list keeps to a budget, or has a precision or a recall.

    .. math:: \min \{t : \#\{i : s_i \ge t\} \le k\}, \quad \min \{t : \mathrm{precision}(t) \ge q\}, \quad
        \max \{t : \mathrm{recall}(t) \ge r\}

    Rows of a tie are in the list or out of it together, and a list for a precision or a recall ends with a
    positive. Find the threshold on rows that the model was not fitted to, else it is too high, and measure
    the precision of the list on yet other rows. To apply a budget to another number of rows, give it as a
    ``fraction``. scikit-learn's ``FixedThresholdClassifier`` predicts at the threshold, see the example.
    O(n log n), and O(n) for each resample. Saito and Rehmsmeier, *The precision-recall plot is more
    informative than the ROC plot when evaluating binary classifiers on imbalanced datasets*, PLOS ONE 10
    (2015), for the two shares; Efron and Tibshirani, *An introduction to the bootstrap* (1993), chapter 13.

    %(labels_and_scores)s
    k : int, optional
        The budget: the list holds at most so many rows, from 1 to n; with weights, what they weigh.
    fraction : float, optional
        The budget as a share of all rows, in (0, 1], rounded up to whole rows.
    fraction_of_positives : float, optional
        The budget as a share of the positives, in (0, 1], rounded to the nearest number from 1 on,
        halves to even.
    precision : float, optional
        In place of a budget: the longest list with at least this share of positives, in (0, 1].
    recall : float, optional
        In place of a budget: the shortest list that holds at least this share of the positives, in (0, 1].
    false_positive_rate : float, optional
        With a guarantee: the longest list that holds at most this share of all negatives, in (0, 1].
    guarantee : float, optional
        The least chance, from .5 to .9999, with which the list keeps to all of precision, recall and
        false-positive rate that are given, in the population: of lists that do, the longest, or the shortest
        if no precision is asked, but a recall.
    confidence_level : float or None, default=0.95
        The nominal coverage of the interval, strictly between 0 and 1; with None there is no interval.
    n_resamples : int, optional
    groups : array-like of shape (n,), optional
    sample_weight : array-like of shape (n,), optional
        %(weight_drawn)s
    pos_label : label, optional
    random_state : int, RandomState or None

    Returns
    -------
    Threshold
        A named tuple: ``threshold``, the score of the list's last row; ``low`` and ``high``, percentiles of
        the thresholds of the resamples; and the list's ``n_rows``, ``precision`` and ``recall``.

    Raises
    ------
    TypeError
        When `k` is not an integer, or a share is not a number.
    ValueError
        When the data do not fit, none or several of the five are given, a parameter is out of range, more
        rows than the budget tie at the top, or no list has the precision.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.model_selection import FixedThresholdClassifier, train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from pushrank import PNormPush
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, X_held_out, y, y_held_out = train_test_split(X, y, random_state=0)
    >>> model = make_pipeline(StandardScaler(), PNormPush(p=4)).fit(X, y)
    >>> found = threshold_for(y_held_out, model.decision_function(X_held_out), recall=0.9, random_state=0)
    >>> found.low <= found.threshold <= found.high, round(found.precision, 2), round(found.recall, 2)
    (True, 0.98, 0.9)
    >>> at_threshold = FixedThresholdClassifier(
    ...     FrozenEstimator(model), threshold=found.threshold, response_method="decision_function"
    ... ).fit(X_held_out, y_held_out)
    >>> at_threshold.predict(X_held_out).sum() == found.n_rows
    np.True_
    """
    depth = {"k": k, "fraction": fraction, "fraction_of_positives": fraction_of_positives}
    shares = {"precision": precision, "recall": recall, "false_positive_rate": false_positive_rate}
    aims: dict[str, Any] = {name: value for name, value in {**depth, **shares}.items() if value is not None}
    if guarantee is not None:
        check_number("guarantee", guarantee, 0.5, 0.9999)
        if not aims or not aims.keys() <= shares.keys() or not (sample_weight is groups is None):
            raise ValueError(
                "a guarantee is of precision, recall or false_positive_rate, or several of them, for rows "
                f"without weights and groups; it was asked of {', '.join(aims) or 'none of them'}."
            )
    elif len(aims) != 1 or false_positive_rate is not None:
        found = ", ".join(f"{name}={value!r}" for name, value in aims.items()) or "none of them"
        raise ValueError(
            "say what the threshold is for by one of k, fraction, fraction_of_positives (a budget), "
            f"precision and recall, got {found}; false_positive_rate and several need a guarantee."
        )
    for name, share in shares.items():
        if share is not None:
            check_number(name, share, above=0.0, most=1.0)
    check_resampling(confidence_level, n_resamples)
    numbers = comparable_scores(scores)
    [ranking] = checked_rankings(y_true, [numbers], sample_weight, pos_label, groups=groups)
    if guarantee is not None:
        threshold = guaranteed_threshold(ranking.scores, ranking.is_positive, 1.0 - guarantee, **aims)
        in_list = ranking.is_positive[ranking.scores >= threshold]
        n_hits, n_rows = float(np.count_nonzero(in_list)), float(len(in_list))
        of_rows, of_hits = n_hits / max(n_rows, 1.0), n_hits / ranking.total_positive
        return Threshold(threshold, np.nan, np.nan, n_rows, of_rows, of_hits)
    budget = None
    if precision is None and recall is None:
        # The budget is a share of the weight, because resamples of weighted rows weigh more or less.
        budget = depth_in_rows(ranking, k, fraction, fraction_of_positives) / ranking.total
    ties = Ties(ranking)
    rows, hits = ties.counts()
    last = last_tie(rows, hits, budget, precision, recall)
    if last < 0 and budget is not None:
        raise ValueError(
            f"{rows[0]:g} rows tie at the highest score and exceed the budget of {budget * rows[-1]:g}; give "
            "more rows, or scores that part them."
        )
    if last < 0:
        best = float(np.max(hits / rows))
        raise ValueError(
            f"no list has a precision of {precision:g}; the most precise has {best:.4g}: ask for no more."
        )
    threshold, low, high = float(ties.scores[last]), np.nan, np.nan
    if confidence_level is not None:
        bootstrap = ThresholdBootstrap(ranking, ties, budget, precision, recall)
        sampling = Sampling(confidence_level, n_resamples, random_state, "bootstrap")
        [interval] = bootstrap_intervals(bootstrap, [[1.0]], [threshold], sampling)
        low, high = interval.limits(confidence_level)
    n_rows, n_hits = float(rows[last]), float(hits[last])
    return Threshold(threshold, low, high, n_rows, n_hits / n_rows, n_hits / float(hits[-1]))


class Ties:
    """The distinct scores of a ranking, best first, and the rows and hits to the end of each."""

    def __init__(self, ranking: Ranking) -> None:
        self._order = np.argsort(-ranking.scores, kind="stable")
        ordered = ranking.scores[self._order]
        self._ends = np.append(np.flatnonzero(np.diff(ordered)), len(ordered) - 1)
        self.scores = ordered[self._ends]
        weights = np.ones(ranking.n_rows) if ranking.weights is None else ranking.weights
        self._weights = weights[self._order], (weights * ranking.is_positive)[self._order]

    def counts(self, drawn: RowCounts | None = None) -> tuple[Floats, Floats]:
        """Return the rows and the hits to the end of each tie; each row is drawn so often, or once."""
        times = 1.0 if drawn is None else drawn[self._order]
        rows, hits = (np.cumsum(times * weights)[self._ends] for weights in self._weights)
        return rows, hits


class ThresholdBootstrap(StratifiedBootstrap):
    """The thresholds of resamples; the resamples keep the rows in the order of the list."""

    def __init__(self, ranking: Ranking, ties: Ties, *aim: float | None) -> None:
        super().__init__([ranking], [bind_metric(threshold_for)])
        self._ties, self._aim = ties, aim

    def evaluate_counts(self, positive: RowCounts, negative: RowCounts) -> list[float]:
        """Return the threshold if rows are drawn so often; if no list fits, the score of the best row."""
        is_positive = self.rankings[0].is_positive
        counts = np.empty(len(is_positive), dtype=np.uint8)
        counts[is_positive], counts[~is_positive] = positive, negative
        rows, hits = self._ties.counts(counts)
        last = last_tie(rows, hits, *self._aim)
        return [float(self._ties.scores[np.argmax(rows > 0.0) if last < 0 else last])]


def last_tie(
    rows: Floats, hits: Floats, budget: float | None, precision: float | None, recall: float | None
) -> int:
    """Return the number of the tie that the list ends with, best first; -1 if there is no such list.

    ``rows`` and ``hits`` are counted to the end of each tie; a resample may have no row of a tie.
    """
    if recall is not None:
        return int(np.searchsorted(hits, recall * hits[-1] * (1.0 - K_ROUNDING)))
    if precision is not None:
        # Without the second condition the list could be longer by negatives alone.
        is_precise, has_hit = hits >= precision * rows * (1.0 - K_ROUNDING), np.diff(hits, prepend=0.0) > 0.0
        enough = np.flatnonzero(is_precise & has_hit)
    else:
        fits = rows <= (budget or 0.0) * rows[-1] * (1.0 + K_ROUNDING)
        enough = np.flatnonzero(fits & (np.diff(rows, prepend=0.0) > 0.0))
    return int(enough[-1]) if len(enough) else -1
