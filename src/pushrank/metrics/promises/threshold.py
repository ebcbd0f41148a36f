"""From which score on does a list keep to its aims in the population?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betainc

from pushrank._base.docstrings import shared_docs
from pushrank._base.numeric import next_above
from pushrank._base.validation import check_number
from pushrank.metrics._proportions import clopper_pearson_interval
from pushrank.metrics._ranking import Ranking
from pushrank.metrics.promises.bounds import MOST_PLANNED, PRECISION_RATIO, least, spread


@shared_docs
@dataclass(frozen=True, kw_only=True)
class Guaranteed:
    r"""A list that keeps to shares in the population, not only in these rows, for :func:`threshold_for`.

    .. math:: P(\mathrm{precision}(t) \ge q, \mathrm{recall}(t) \ge r, \mathrm{FPR}(t) \le f) \ge 1 - \delta

    Of lists that keep to all shares that are given it is the longest, or the shortest if no precision is
    asked, but a recall. It has no interval, and its rows neither weights nor groups.

    Parameters
    ----------
    precision, recall : float, optional
        The least share q of positives in the list, and the least share r of all positives that it holds.
    false_positive_rate : float, optional
        The largest share f of all negatives that it holds.
    confidence_level : float, default=0.95
        The least chance :math:`1 - \delta` with which the list keeps to all of them, from .5 to .9999.

    %(aim_errors)s

    Examples
    --------
    >>> from pushrank.metrics import threshold_for
    >>> y = np.arange(400) < 60
    >>> round(threshold_for(y, -np.arange(400.0), Guaranteed(precision=0.5, recall=0.6)).precision, 2)
    0.69
    """

    precision: float | None = None
    recall: float | None = None
    false_positive_rate: float | None = None
    confidence_level: float = 0.95

    def __post_init__(self) -> None:
        check_number("confidence_level", self.confidence_level, 0.5, 0.9999)
        if not (shares := self._shares()):
            raise ValueError("a guarantee is of precision, recall or false_positive_rate, or of several.")
        for name, share in shares.items():
            check_number(name, share, above=0.0, most=1.0)

    def _shares(self) -> dict[str, float]:
        """Return the shares that are given, by name."""
        names = ("precision", "recall", "false_positive_rate")
        return {name: share for name in names if (share := vars(self)[name]) is not None}

    def _threshold(self, ranking: Ranking) -> float:
        """Return the threshold whose list keeps to all shares, each for its part of the chance of failure."""
        # The i-th best positive has a recall, and the i-th best negative a rate, of Beta(i, m + 1 - i).
        # Precisions are bounded at a grid of rows counted from the top, each for its part. If there is no
        # such list, an error says how many times as many rows would do, if they were like these.
        if ranking.weights is not None or ranking.groups is not None:
            raise ValueError("nothing is guaranteed of rows with weights or groups: leave both out.")
        scores, is_positive = ranking.scores, ranking.is_positive
        miss = (1.0 - self.confidence_level) / len(self._shares())
        descending = np.sort(-scores)
        hits_above = np.append(0, np.cumsum(is_positive[np.argsort(-scores)]))
        positives, negatives = np.sort(-scores[is_positive]), np.sort(-scores[~is_positive])

        def threshold(times: int) -> float:
            lowest, highest = np.inf, -np.inf
            if self.recall is not None:
                i = np.arange(1.0, times * len(positives) + 1.0)
                enough = np.flatnonzero(betainc(i, i[::-1], self.recall) <= miss)
                highest = positives[enough[0] // times] if len(enough) else np.nan
            if self.false_positive_rate is not None:
                i = np.arange(1.0, times * len(negatives) + 1.0)
                few = np.count_nonzero(betainc(i[::-1], i, 1.0 - self.false_positive_rate) <= miss)
                lowest = -float(next_above(-negatives[(few - 1) // times], scores)) if few else np.nan
            if self.precision is None:
                fits = np.array([lowest if self.recall is None else highest])
            else:
                next_row = spread(len(scores), PRECISION_RATIO)
                # Of fewer rows not even hits alone would be enough.
                next_row = next_row[(miss / len(next_row)) ** (1.0 / (times * next_row)) >= self.precision]
                ends = np.append(descending, np.inf)[next_row]
                above = np.searchsorted(descending, ends)
                part = miss / max(len(next_row), 1)
                low, _ = clopper_pearson_interval(times * hits_above[above], times * above, part)
                fits = -next_above(-ends[low >= self.precision], scores)
            fits = fits[(fits <= lowest) & (fits >= highest)]
            return -float(fits[-1]) if len(fits) else np.nan

        most = max(1, MOST_PLANNED // len(scores))
        times = least(lambda times: not np.isnan(threshold(times)), 1, most, "times as many labelled rows")
        if times == 1:
            return threshold(1)
        raise ValueError(
            f"{len(scores):,} labelled rows guarantee no such list; about {times} times as many like these, "
            f"{(times - 1) * len(scores):,} more, would."
        )
