"""Which new rows to select, so that few of them are negatives?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushrank._docstrings import shared_docs
from pushrank.metrics._ranking import Ranking
from pushrank.metrics.promises.lists import check_new_scores
from pushrank.validation import check_number, comparable_scores


@shared_docs
def select(
    y_true: ArrayLike, scores: ArrayLike, scores_new: ArrayLike, *, fdr: float = 0.2, pos_label: Any = None
) -> NDArray[np.bool_]:
    r"""Return which new rows to select so that the expected share of negatives among them is bounded.

    .. math:: p_j = \frac{1 + \#\{i : y_i = 0, s_i \ge s_j\}}{n + 1}, \quad \text{selected: } p_j \le q R / N

    for the largest number R of rows for which the rule of Benjamini and Hochberg selects as many.

    The rate is a mean over labelled and new rows; one list is bounded by :func:`guarantee`, which says what
    the rows must be, and warns as here. O(n log n). Jin and Candès, *Selection by prediction with conformal
    p-values*, JMLR 24 (2023).

    %(labels_and_scores)s
    scores_new : array-like of shape (n_new,)
        The scores of the rows to choose from.
    fdr : float, default=0.2
        The false-discovery rate q, strictly between 0 and 1: the mean of the share of negatives among the
        selected, which is 0 if there are none.
    pos_label : label, optional

    Returns
    -------
    ndarray of shape (n_new,)
        Whether each row is selected; tied rows are in or out together.

    %(errors)s

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y, y_new = rng.random((2, 2000)) < 0.1
    >>> chosen = select(y, rng.normal(size=2000) + 3 * y, rng.normal(size=2000) + 3 * y_new)
    >>> int(chosen.sum()), round(float(1 - y_new[chosen].mean()), 2)
    (221, 0.21)
    """
    check_number("fdr", fdr, above=0.0, below=1.0)
    ranking = Ranking(y_true, comparable_scores(scores), None, pos_label)
    new, negatives = comparable_scores(scores_new), np.sort(ranking.negative_scores)
    check_new_scores(ranking.scores, new)
    p_values = (1.0 + len(negatives) - np.searchsorted(negatives, new)) / (ranking.n_rows + 1.0)
    ascending = np.sort(p_values)
    enough = ascending[ascending <= fdr * np.arange(1, len(new) + 1) / len(new)]
    return np.asarray(p_values <= (enough[-1] if len(enough) else 0.0))
