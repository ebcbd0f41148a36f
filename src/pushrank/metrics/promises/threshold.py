"""From which score on does a list keep to its aims in the population?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from pushrank._numeric import Floats
from pushrank.metrics._proportions import clopper_pearson_interval
from pushrank.metrics.promises.bounds import MOST_PLANNED, PRECISION_RATIO, least, spread


def guaranteed_threshold(
    scores: Floats,
    is_positive: NDArray[np.bool_],
    miss: float,
    *,
    precision: float | None = None,
    recall: float | None = None,
    false_positive_rate: float | None = None,
) -> float:
    """Return the threshold whose list keeps to all aims, each for its share of the chance of failure."""
    # The i-th best positive has a recall, and the i-th best negative a rate, of Beta(i, m + 1 - i).
    # Precisions are bounded at a grid of rows counted from the top, each for its share. If there is no such
    # list, an error says how many times as many rows would do, if they were like these.
    miss /= sum(aim is not None for aim in (precision, recall, false_positive_rate))
    descending = np.sort(-scores)
    hits_above = np.append(0, np.cumsum(is_positive[np.argsort(-scores)]))
    positives, negatives = np.sort(-scores[is_positive]), np.sort(-scores[~is_positive])

    def threshold(times: int) -> float:
        lowest, highest = np.inf, -np.inf
        if recall is not None:
            i = np.arange(1.0, times * len(positives) + 1.0)
            enough = np.flatnonzero(betainc(i, i[::-1], recall) <= miss)
            highest = positives[enough[0] // times] if len(enough) else np.nan
        if false_positive_rate is not None:
            i = np.arange(1.0, times * len(negatives) + 1.0)
            few = np.count_nonzero(betainc(i[::-1], i, 1.0 - false_positive_rate) <= miss)
            lowest = np.nextafter(negatives[(few - 1) // times], -np.inf) if few else np.nan
        if precision is None:
            fits = np.array([lowest if recall is None else highest])
        else:
            next_row = spread(len(scores), PRECISION_RATIO)
            # Of fewer rows not even hits alone would be enough.
            next_row = next_row[(miss / len(next_row)) ** (1.0 / (times * next_row)) >= precision]
            ends = np.append(descending, np.inf)[next_row]
            above = np.searchsorted(descending, ends)
            shares = clopper_pearson_interval(
                times * hits_above[above], times * above, miss / max(len(next_row), 1)
            )
            fits = np.nextafter(ends[shares[0] >= precision], -np.inf)
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
