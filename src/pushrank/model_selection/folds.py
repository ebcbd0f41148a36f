"""Scores of rows by fits that differ between folds: shares of hits, and one order of all rows."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn.utils.validation import _num_samples

from pushrank import metrics
from pushrank.held_out.plan import part_of_budget

__all__ = ["share_of_hits"]


def share_of_hits(y: ArrayLike, scores: ArrayLike, budget: int | None, n_rows: int) -> float:
    """Return the share of positives among the rows acted on, or the first 1/4 as many as positives."""
    if budget is None:
        return float(metrics.precision_at_k(y, scores, fraction_of_positives=0.25))
    return float(metrics.precision_at_k(y, scores, part_of_budget(budget, _num_samples(y), n_rows)))


def on_one_scale(
    scores: NDArray[np.float64], folds: NDArray[np.intp], ranks: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return one order of all rows, the higher the better, from scores of fits that differ between folds.

    Scores of different fits are not on one scale. A row's rank within its fold is, since all folds are drawn
    in the same way; or other ``ranks``, such as those within days. Of rows with equal ranks the one farther
    above its fold's mean is first, in standard deviations. Rows that tie within a fold stay tied.

    >>> on_one_scale(np.array([1.0, 2.0, 3.0, 10.0, 90.0, 20.0]), np.array([0, 0, 0, 1, 1, 1])).tolist()
    [0.0, 3.0, 4.0, 1.0, 5.0, 2.0]
    """
    rank, deviation = np.empty((2, len(scores)))
    for fold in np.unique(folds):
        in_fold = folds == fold
        values = scores[in_fold]
        # Folds may differ by a row: less half a rank, the ranks of each have a mean of one half.
        rank[in_fold] = (rankdata(values) - 0.5) / len(values) if ranks is None else ranks[in_fold]
        # The mean of equal scores may be off by rounding, which must not part them.
        spread = values.std() if np.ptp(values) > 0.0 else np.inf
        # After rounding, rows that are equally far above the mean tie whatever the units of their scores.
        deviation[in_fold] = np.round((values - values.mean()) / spread, 9)
    _, order = np.unique(np.stack([rank, deviation], axis=1), axis=0, return_inverse=True)
    return order.ravel().astype(np.float64)
