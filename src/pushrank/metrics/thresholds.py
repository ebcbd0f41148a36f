"""The threshold of a score for a list that keeps to a budget, a precision or a recall, with an interval."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushrank._base.bounds import as_count
from pushrank._base.docstrings import shared_docs
from pushrank._base.numeric import Floats
from pushrank._base.parallel import compiled
from pushrank._base.validation import check_number, comparable_scores
from pushrank.metrics._bootstrap import RowCounts, StratifiedBootstrap
from pushrank.metrics._ranking import K_ROUNDING, Ranking, check_depth, checked_rankings, depth_in_rows
from pushrank.metrics._registry import bind_metric
from pushrank.metrics._sampling import Sampling, bootstrap_intervals
from pushrank.metrics.promises.threshold import Guaranteed

__all__ = ["AtBudget", "AtPrecision", "AtRecall", "threshold_for"]


class Threshold(NamedTuple):
    """A threshold of a score, its interval, and the list of rows at or above it.

    Parameters
    ----------
    threshold : float
        Rows that score as much or more are in the list.
    low, high : float
        The ends of its interval; NaN if there is none.
    n_rows : int or float
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

    def __repr__(self) -> str:
        """Return the figures that there are: a guaranteed threshold has no interval."""
        known = (f"{name}={value!r}" for name, value in self._asdict().items() if value == value)
        return f"Threshold({', '.join(known)})"


@compiled()
def sum_to_ties(drawn, weights, is_positive, ends, rows, hits):
    """Write what the rows, and the positives, to the end of each tie weigh, if each is drawn so often."""
    # A single pass takes a quarter of the time of NumPy's running sums, whose order of addition it has.
    n_rows, n_hits, row = 0.0, 0.0, 0
    for tie in range(len(ends)):
        while row <= ends[tie]:
            n_rows += drawn[row] * weights[row]
            n_hits += drawn[row] * weights[row] * is_positive[row]
            row += 1
        rows[tie], hits[tie] = n_rows, n_hits


class TieCounts(NamedTuple):
    """The rows and the hits to the end of each tie, best first; a resample may have no row of a tie."""

    rows: Floats
    hits: Floats
    ranking: Ranking


class ListAim(ABC):
    """What a list is to keep to, by what it holds to the end of each tie."""

    _longest: ClassVar[bool] = True

    @abstractmethod
    def _fits(self, counts: TieCounts) -> NDArray[np.bool_]:
        """Return the ties that the list may end with, shape (n_ties,)."""

    def _refusal(self, counts: TieCounts) -> str:
        """Return why no tie fits."""
        return f"no list keeps to {self}; its first tie holds {counts.hits[0]:g} of {counts.hits[-1]:g} hits."

    def _last_tie(self, counts: TieCounts) -> int:
        """Return the number of the tie that the list ends with, or -1 if there is no such list."""
        enough = np.flatnonzero(self._fits(counts))
        return int(enough[-1 if self._longest else 0]) if len(enough) else -1

    def _find(self, ranking: Ranking, sampling: Sampling | None) -> Threshold:
        """Return the threshold of the list, with the interval that the resamples give."""
        bootstrap = ThresholdBootstrap(ranking, self)
        counts = bootstrap.ties(np.ones(ranking.n_rows, dtype=np.uint8))
        last = self._last_tie(counts)
        if last < 0:
            raise ValueError(self._refusal(counts))
        threshold, low, high = float(bootstrap.scores[last]), np.nan, np.nan
        if sampling is not None:
            [interval] = bootstrap_intervals(bootstrap, [[1.0]], [threshold], sampling)
            low, high = interval.limits(sampling.level)
        n_rows, n_hits, of_all = (float(n) for n in (counts.rows[last], counts.hits[last], counts.hits[-1]))
        return Threshold(threshold, low, high, as_count(n_rows), n_hits / n_rows, n_hits / of_all)


@shared_docs
@dataclass(frozen=True)
class AtBudget(ListAim):
    r"""The longest list that keeps to a budget of rows, for :func:`threshold_for`.

    .. math:: \min \{t : \#\{i : s_i \ge t\} \le k\}

    Parameters
    ----------
    k : int, optional
        The list holds at most this many rows, from 1 to n; with weights, what they weigh.
    fraction : float, optional
        The budget as a share of all rows, in (0, 1], rounded up to whole rows.
    fraction_of_positives : float, optional
        The budget as a share of the positives, in (0, 1], rounded to the nearest from 1 on, halves to even.

    %(aim_errors)s

    Examples
    --------
    >>> threshold_for([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], AtBudget(3), confidence_level=None).threshold
    2.0
    """

    k: int | None = None
    _: KW_ONLY
    fraction: float | None = None
    fraction_of_positives: float | None = None

    def __post_init__(self) -> None:
        check_depth(**vars(self))

    def _fits(self, counts: TieCounts) -> NDArray[np.bool_]:
        most = self._share(counts.ranking) * counts.rows[-1] * (1.0 + K_ROUNDING)
        return np.asarray((counts.rows <= most) & (np.diff(counts.rows, prepend=0.0) > 0.0))

    def _refusal(self, counts: TieCounts) -> str:
        return (
            f"{counts.rows[0]:g} rows tie at the highest score and exceed the budget of "
            f"{self._share(counts.ranking) * counts.rows[-1]:g}; give more rows, or scores that part them."
        )

    def _share(self, ranking: Ranking) -> float:
        """Return the budget as a share of the weight: resamples of weighted rows weigh more or less."""
        return depth_in_rows(ranking, **vars(self)) / ranking.total


@shared_docs
@dataclass(frozen=True)
class AtPrecision(ListAim):
    r"""The longest list with at least this share of positives, for :func:`threshold_for`.

    .. math:: \min \{t : \mathrm{precision}(t) \ge q\}

    Parameters
    ----------
    precision : float
        The share q of positives among the rows of the list, in (0, 1].

    %(aim_errors)s

    Examples
    --------
    >>> threshold_for([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], AtPrecision(0.6), confidence_level=None).threshold
    2.0
    """

    precision: float

    def __post_init__(self) -> None:
        check_number("precision", self.precision, above=0.0, most=1.0)

    def _fits(self, counts: TieCounts) -> NDArray[np.bool_]:
        is_precise = counts.hits >= self.precision * counts.rows * (1.0 - K_ROUNDING)
        # Without a hit in its last tie the list could be longer by negatives alone.
        return np.asarray(is_precise & (np.diff(counts.hits, prepend=0.0) > 0.0))

    def _refusal(self, counts: TieCounts) -> str:
        best = f"the most precise has {np.max(counts.hits / counts.rows):.4g}: ask for no more."
        return f"no list has a precision of {self.precision:g}; {best}"


@shared_docs
@dataclass(frozen=True)
class AtRecall(ListAim):
    r"""The shortest list that holds at least this share of the positives, for :func:`threshold_for`.

    .. math:: \max \{t : \mathrm{recall}(t) \ge r\}

    Parameters
    ----------
    recall : float
        The share r of all positives that the list holds, in (0, 1].

    %(aim_errors)s

    Examples
    --------
    >>> threshold_for([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], AtRecall(0.5), confidence_level=None).threshold
    4.0
    """

    recall: float
    _longest = False

    def __post_init__(self) -> None:
        check_number("recall", self.recall, above=0.0, most=1.0)

    def _fits(self, counts: TieCounts) -> NDArray[np.bool_]:
        return np.asarray(counts.hits >= self.recall * counts.hits[-1] * (1.0 - K_ROUNDING))


Aim = AtBudget | AtPrecision | AtRecall | Guaranteed


@shared_docs
def threshold_for(
    y_true: ArrayLike,
    scores: ArrayLike,
    aim: Aim,
    *,
    confidence_level: float | None = 0.95,
    n_resamples: int | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = None,
) -> Threshold:
    r"""Return the threshold at which a list keeps to a budget, or has a precision or a recall.

    .. math:: t : \{i : s_i \ge t\} \text{ is the list of the aim}

    Rows of a tie are in the list or out of it together, and a list for a precision or a recall ends with a
    positive. Find the threshold on rows that the model was not fitted to, else it is too high, and measure
    the precision of the list on yet other rows. To apply a budget to another number of rows, give it as a
    ``fraction``. scikit-learn's ``FixedThresholdClassifier`` predicts at the threshold, see the example.
    O(n log n), and O(n) for each resample. Saito and Rehmsmeier, *The precision-recall plot is more
    informative than the ROC plot when evaluating binary classifiers on imbalanced datasets*, PLOS ONE 10
    (2015), for the two shares; Efron and Tibshirani, *An introduction to the bootstrap* (1993), chapter 13.

    %(labels_and_scores)s
    aim : AtBudget, AtPrecision, AtRecall or Guaranteed
        What the list is to keep to.
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
        When the aim is of another class, or a parameter is not of its kind.
    ValueError
        When the data do not fit, a parameter is out of range, more rows than the budget tie at the top, no
        list has the precision, or too few rows are labelled for the guarantee.

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
    >>> found = threshold_for(y_held_out, model.decision_function(X_held_out), AtRecall(0.9), random_state=0)
    >>> found.low <= found.threshold <= found.high, round(found.precision, 2), round(found.recall, 2)
    (True, 0.98, 0.9)
    >>> at_threshold = FixedThresholdClassifier(
    ...     FrozenEstimator(model), threshold=found.threshold, response_method="decision_function"
    ... ).fit(X_held_out, y_held_out)
    >>> at_threshold.predict(X_held_out).sum() == found.n_rows
    np.True_
    """
    if not isinstance(aim, Aim):
        raise TypeError(
            "aim must be one of AtBudget, AtPrecision, AtRecall and Guaranteed, such as AtPrecision(0.5), "
            f"got {aim!r}."
        )
    sampling = None
    if confidence_level is not None:
        sampling = Sampling(confidence_level, n_resamples, random_state, "bootstrap")
    numbers = comparable_scores(scores)
    [ranking] = checked_rankings(y_true, [numbers], sample_weight, pos_label, groups=groups)
    if isinstance(aim, Guaranteed):
        threshold = aim._threshold(ranking)
        in_list = ranking.is_positive[ranking.scores >= threshold]
        n_rows, n_hits = len(in_list), float(np.count_nonzero(in_list))
        shares = n_hits / max(n_rows, 1), n_hits / ranking.total_positive
        return Threshold(threshold, np.nan, np.nan, n_rows, *shares)
    return aim._find(ranking, sampling)


class ThresholdBootstrap(StratifiedBootstrap):
    """The ties of a ranking, best first, and the thresholds of resamples, whose rows stay in this order."""

    def __init__(self, ranking: Ranking, aim: ListAim) -> None:
        super().__init__([ranking], [bind_metric(threshold_for)])
        self._ranking, self._aim = ranking, aim
        order = np.argsort(-ranking.scores, kind="stable")
        ordered = ranking.scores[order]
        self._ends = np.append(np.flatnonzero(np.diff(ordered)), len(ordered) - 1)
        self.scores = ordered[self._ends]
        self._weights, self._is_positive = ranking.row_weights[order], ranking.is_positive[order]
        places = np.argsort(order)
        self._places = places[ranking.is_positive], places[~ranking.is_positive]

    def ties(self, drawn: RowCounts) -> TieCounts:
        """Return what lies to the end of each tie if rows, in the order of the list, are drawn so often."""
        rows, hits = np.empty((2, len(self._ends)))
        sum_to_ties(drawn, self._weights, self._is_positive, self._ends, rows, hits)
        return TieCounts(rows, hits, self._ranking)

    def evaluate_counts(self, positive: RowCounts, negative: RowCounts) -> list[float]:
        """Return the threshold if rows are drawn so often; if no list fits, the score of the best row."""
        drawn = np.empty(len(self._weights), dtype=np.uint8)
        for places, times in zip(self._places, (positive, negative), strict=True):
            drawn[places] = times
        counts = self.ties(drawn)
        last = self._aim._last_tie(counts)
        return [float(self.scores[np.argmax(counts.rows > 0.0) if last < 0 else last])]
