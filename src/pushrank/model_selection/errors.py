"""What chance does to the mean measures of models: influence values of rows, and the errors made of them."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from pushrank._base.numeric import Floats
from pushrank._base.user_types import GenericArray
from pushrank._base.validation import resolve_k
from pushrank.held_out.plan import part_of_budget
from pushrank.metrics._ranking import Ranking
from pushrank.metrics.periods import covariance_of_means, degrees_of_freedom
from pushrank.metrics.roc import placements

__all__ = ["HITS", "PRECISION"]

HITS = "hits in budget"
WEIGHT = "weight in budget"
PRECISION = "precision at 1/4"
AVERAGE_PRECISION = "average precision"
AUC = "AUC"
# What names of scorers stand for.
SCORERS = {
    "average_precision": AVERAGE_PRECISION,
    "auc": AUC,
    "roc_auc": AUC,
    "precision_at_quarter": PRECISION,
}
# With this part of the variance between fits to disjoint halves, 95 % intervals leave out a model that is
# equal by construction in about 5 % of simulated sets at most, by every measure: see experiments/verdicts.
HALVES = 0.7
# A difference below this part of what it is a difference of comes from rounding.
ROUNDING = 1e-12

Indices = NDArray[np.intp]


class Part(NamedTuple):
    """The rows of a test part: their numbers, labels and weights, and their scores by each model."""

    rows: Indices
    positive: NDArray[np.bool_]
    weights: Floats | None
    scores: list[Floats]


class Errors(NamedTuple):
    """The standard errors of the mean measures of models and of all their differences."""

    # A difference is zero between models that are measured equally on all rows; the covariance of the means
    # is up to a factor; the degrees of freedom are infinite where errors come from many rows.

    means: Floats
    differences: Floats
    covariance: Floats
    freedom: float

    @classmethod
    def by_folds(cls, values: Floats, n_repeats: int, test_ratio: float | None = None) -> Self:
        """Return the errors of means over the folds, from how the folds of a repetition differ."""
        # Repetitions hold the same rows: they steady the spread between folds, and are no further evidence.
        repeated = values.reshape(len(values), n_repeats, -1)
        n_folds = repeated.shape[2]
        # Training parts overlap, which the spread between folds does not show: Nadeau and Bengio add the
        # ratio of test to training rows.
        ratio = 1.0 / (n_folds - 1) if test_ratio is None else test_ratio
        centred = (repeated - repeated.mean(axis=2, keepdims=True)).reshape(values.shape)
        covariance = (1.0 / n_folds + ratio) / (n_repeats * (n_folds - 1)) * centred @ centred.T
        means, differences = np.diag(covariance), variances_of_differences(covariance)
        # So few folds say nothing of correlations; those of independent models give Tukey's quantiles.
        return cls(np.sqrt(means), np.sqrt(differences), np.eye(len(values)), n_folds - 1.0)

    @classmethod
    def by_periods(cls, series: Floats) -> Self:
        """Return the errors of mean hits, from those of all periods, of which neighbours are correlated."""
        covariance = covariance_of_means(series)
        means, differences = np.diag(covariance), variances_of_differences(covariance)
        return cls(np.sqrt(means), np.sqrt(differences), covariance, degrees_of_freedom(series.shape[1]))

    @classmethod
    def by_rows(
        cls, influences: Floats, halves: Floats | None, groups: tuple[Indices, Indices], n_train: float
    ) -> Self:
        """Return the errors of means over folds, by the influence of rows and its change between halves."""
        n_rows = influences.shape[1]
        covariance, n_groups = _covariance(influences, groups[0])
        means, differences = np.diag(covariance), variances_of_differences(covariance)
        change = covariance if halves is None else HALVES * _covariance(halves, groups[1])[0]
        # Without halves the term of the training rows is at its largest, as Nadeau and Bengio have it.
        of_means = np.minimum(np.diag(change), means)
        of_differences = np.minimum(variances_of_differences(change), differences)
        of_means = np.sqrt(means / n_rows + of_means / n_train)
        of_differences = np.sqrt(differences / n_rows + of_differences / n_train)
        freedom = np.inf if n_groups == n_rows else max(n_groups - 1.0, 1.0)
        return cls(of_means, of_differences, covariance, freedom)


def variances_of_differences(covariance: Floats) -> Floats:
    """Return the variance of every difference, shape (n_models, n_models), zero where it is rounding."""
    total = np.add.outer(np.diag(covariance), np.diag(covariance))
    variances = total - 2.0 * covariance
    return np.where(variances > ROUNDING * total, variances, 0.0)


def _covariance(influences: Floats, groups: Indices) -> tuple[Floats, int]:
    """Return the covariance of models' influence values for a row, and the number of groups of rows."""
    n_rows, n_groups = influences.shape[1], int(groups.max()) + 1
    if n_groups < n_rows:
        # Rows of a group resemble each other, so that their sum counts as one observation.
        influences = np.stack([np.bincount(groups, row, n_groups) for row in influences])
    return n_groups / max(n_groups - 1, 1) / n_rows * influences @ influences.T, n_groups


def part_errors(
    values: Floats,
    measure: str,
    parts: Sequence[Part],
    halves: Sequence[Sequence[list[Floats]]] | None,
    *,
    budget: int | None,
    n_repeats: int,
    n_train: float,
    n_halved: int,
    groups: GenericArray | None,
    by_folds: bool,
) -> Errors:
    """Return the errors of a measure: by rows, where these have influence values, else by the folds."""
    # Halves are scores of the last parts, by part and model, of fits to either half of `n_halved` rows.
    n_folds, which = len(parts) // n_repeats, SCORERS.get(measure, measure)
    rows = np.sort(np.concatenate([part.rows for part in parts[:n_folds]]))
    if by_folds or which not in (HITS, WEIGHT, PRECISION, AVERAGE_PRECISION, AUC):
        return Errors.by_folds(values, n_repeats, len(rows) / n_folds / n_train)
    has_threshold = which not in (AVERAGE_PRECISION, AUC)
    chances = chances_at_threshold(parts, which, budget, len(rows)) if has_threshold else np.empty(0)
    influences, settings = np.zeros((len(values), len(rows))), (which, budget, len(rows), chances)
    for part in parts:
        # A mean over parts gives all parts the same weight, and so a row of a small part more than others.
        of_part = influences_of_part(part, *settings, values.mean(axis=1))
        influences[:, np.searchsorted(rows, part.rows)] += of_part * (len(rows) / len(parts) / len(part.rows))
    # About the averages of all parts the values of a part need not sum to zero, as a variance takes them to.
    influences -= influences.mean(axis=1, keepdims=True)
    change, tested = None, rows
    if halves is not None:
        last = parts[len(parts) - len(halves[0]) :]
        scored = [[part._replace(scores=of) for part, of in zip(last, half, strict=True)] for half in halves]
        one, other = (
            np.concatenate([influences_of_part(part, *settings) for part in half], axis=1) for half in scored
        )
        # What fits say differs less, the more rows they learn from.
        change = (one - other) * np.sqrt(n_halved / n_train)
        tested = np.concatenate([part.rows for part in last])
    ids = np.arange(rows.max() + 1) if groups is None else groups
    of_rows, of_tested = (np.unique(ids[held], return_inverse=True)[1] for held in (rows, tested))
    return Errors.by_rows(influences, change, (of_rows, of_tested), n_train)


def influences_of_part(
    part: Part, measure: str, budget: int | None, n_rows: int, chances: Floats, averages: Floats | None = None
) -> Floats:
    r"""Return the influence values of the rows of a test part, shape (n_models, n_part).

    They are about the models' ``averages`` of the measure over all parts, for a part's own measure fits its
    few positives; without averages they are about the part's own, and sum to zero.

    With the share :math:`a_i` of a row that is acted on among k of n rows, its gain :math:`g_i` (1 of a
    positive, or its weight) and the mean gain :math:`\eta` at the threshold (`chances`), which moves:

    - hits in a budget B: :math:`\frac{B n}{k} a_i (g_i - \eta)`;
    - precision among a quarter as many rows as positives: the same for B = 1, and
      :math:`\frac{n}{4 k} g_i (\eta - \pi)` for their random number, where :math:`\pi` is the precision;
    - the area: DeLong's placements less the area, over the share of the class;
    - average precision, :math:`E[g P(s)] / p` with the share p of positives and the precision :math:`P_i`
      among the :math:`b_i` rows from the score of row i on:
      :math:`\frac 1p (g_i P_i + \sum_{s_j \le s_i} g_j (g_i - P_j) / b_j - \mathrm{AP}\, g_i)`.
    """
    y = part.positive.astype(np.float64)
    values = np.empty((len(part.scores), len(y)))
    for model, scores in enumerate(part.scores):
        average = None if averages is None else averages[model]
        if measure == AUC:
            ranking = Ranking(part.positive, scores)
            for of_class, placed in zip((part.positive, ~part.positive), placements(ranking), strict=True):
                # A part with few positives would fit its measure to them, and the error would be too small.
                area = placed.mean() if average is None else average
                values[model, of_class] = (placed - area) / of_class.mean()
        elif measure == AVERAGE_PRECISION:
            values[model] = _influences_on_average_precision(y, scores, average)
        else:
            k, gain = _depth(part, measure, budget, n_rows), _gain(part, measure)
            acted, chance = acted_on(scores, k), chances[model]
            influence = acted * (gain - chance)
            if measure == PRECISION:
                precision = acted @ y / k if average is None else average
                influence += 0.25 * (y - y.mean()) * (chance - precision)
            values[model] = len(y) / k * influence
            if budget is not None and measure != PRECISION:
                values[model] *= budget
    return values if averages is not None else values - values.mean(axis=1, keepdims=True)


def _influences_on_average_precision(y: Floats, scores: Floats, average: float | None) -> Floats:
    order = np.argsort(-scores, kind="stable")
    ranked, gain, n = -scores[order], y[order], len(y)
    # Rows with equal scores share the precision at the last of them.
    first, last = (np.searchsorted(ranked, ranked, side) for side in ("left", "right"))
    precision = np.cumsum(gain)[last - 1] / last
    # Sums over the rows at or below each one.
    below = [np.cumsum((gain * term / last)[::-1])[::-1][first] for term in (1.0, precision)]
    average = gain @ precision / gain.sum() if average is None else average
    influence = np.empty(n)
    influence[order] = (gain * precision + gain * below[0] - below[1] - average * gain) / gain.mean()
    return influence


def _gain(part: Part, measure: str) -> Floats:
    weights = 1.0 if measure != WEIGHT or part.weights is None else part.weights
    return np.where(part.positive, weights, 0.0)


def _depth(part: Part, measure: str, budget: int | None, n_rows: int) -> int:
    """Return how many of the rows of a part are acted on."""
    if measure == PRECISION or budget is None:
        return int(resolve_k(0.25, False, float(part.positive.sum())))
    return part_of_budget(budget, len(part.positive), n_rows)


def acted_on(scores: Floats, k: float) -> Floats:
    """Return the share of each row that is among the first k, over all orders of rows with equal scores."""
    if k >= len(scores):
        return np.ones(len(scores))
    last = int(np.ceil(k)) - 1
    # The threshold alone is needed, which takes O(n), and a sort O(n log n).
    threshold = -np.partition(-scores, last)[last]
    above, at = scores > threshold, scores == threshold
    shares: Floats = above + at * ((k - above.sum()) / at.sum())
    return shares


def chances_at_threshold(parts: Sequence[Part], measure: str, budget: int | None, n_rows: int) -> Floats:
    """Return for each model the mean gain of rows about its threshold, over all test parts."""
    # Of K rows acted on in all parts these are K^(4/5) about the last one, half of them below it: fewer would
    # say little of a steep chance, and more are not about the threshold.
    depths = [_depth(part, measure, budget, n_rows) for part in parts]
    width = 0.5 * sum(depths) ** -0.2
    sums = np.zeros((len(parts[0].scores), 2))
    for part, k in zip(parts, depths, strict=True):
        gain = _gain(part, measure)
        reach = max(0.5, width * min(k, len(gain) - k))
        for model, scores in enumerate(part.scores):
            near = acted_on(scores, k + reach) - acted_on(scores, k - reach)
            sums[model] += near @ gain, near.sum()
    return np.asarray(sums[:, 0] / sums[:, 1])
