"""The covariance of areas under the ROC curve, by DeLong's placements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pushrank._log_space import Floats
from pushrank.metrics.ranks import Ranking


def auc_covariance(rankings: Sequence[Ranking]) -> Floats:
    r"""Return the covariance of the areas of rankings of the same rows, shape (n_rankings, n_rankings).

    The area is the mean of the placements of the positives :math:`V_i = 1 - \mathrm{rHeight}(i) / W_-`, and
    of those of the negatives :math:`V_k = 1 - \mathrm{Height}(k) / W_+`, ties counting one half. Its
    covariance is estimated by the sum over both classes of that of the placements over the number of rows;
    with weights, by that of their weighted mean.

    Raises
    ------
    ValueError
        When a class has a single row of a weight that is not zero.

    Notes
    -----
    O(n log n), in place of O(positives x negatives) (Sun and Xu, IEEE Signal Processing Letters 21, 2014).

    References
    ----------
    DeLong, DeLong and Clarke-Pearson, *Comparing the areas under two or more correlated receiver operating
    characteristic curves*, Biometrics 44 (1988).
    """
    first = rankings[0]
    positives = [1.0 - r.negatives_above("half")[r.positive_levels] / r.total_negative for r in rankings]
    negatives = [1.0 - r.positives_below("half")[r.negative_cells] / r.total_positive for r in rankings]
    covariance: Floats = sum(
        _covariance_of_means(np.stack(placements), first.weights_of(mask))
        for placements, mask in ((positives, first.is_positive), (negatives, ~first.is_positive))
    )  # type: ignore[assignment]
    return covariance


def _covariance_of_means(placements: Floats, weights: Floats | None) -> Floats:
    """Return the covariance of the weighted means of rows that were drawn independently."""
    shares = np.full(placements.shape[1], 1.0) if weights is None else weights / weights.max()
    n_rows = np.count_nonzero(shares)
    if n_rows < 2:
        raise ValueError("DeLong's variance needs at least 2 rows of each class, found 1 of a class.")
    shares = shares / shares.sum()
    deviations = shares * (placements - (placements @ shares)[:, None])
    covariance: Floats = deviations @ deviations.T * (n_rows / (n_rows - 1))
    return covariance
