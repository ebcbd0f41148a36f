"""Areas under all of the ROC curve, or under a part of it."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from pushrank._base.numeric import Floats
from pushrank._base.parallel import compiled
from pushrank._base.user_types import Label
from pushrank._base.validation import check_number
from pushrank.metrics._counts import RankCounts, Ties, tied_error
from pushrank.metrics._ranking import Ranking
from pushrank.metrics._registry import Figure, SamplingError, Trials, evaluate, register_metric


@compiled()
def misranked_weight(positive_counts, negative_counts, total_negative, tied_error):
    """Return the weight of the positives, each times its share of misranked pairs."""
    above, misranked = 0.0, 0.0
    for g in range(len(negative_counts) - 1, -1, -1):
        above_here = above
        above += negative_counts[g]
        if g & 1:
            # Dividing by one total at a time: the product of both may underflow. The other one comes last, so
            # that the sum is exact where every positive is misranked with all negatives.
            errors = (above_here + tied_error * negative_counts[g]) / total_negative
            misranked += errors * positive_counts[g >> 1]
    return misranked


@compiled()
def roc_area(positive_shares, negative_shares, tied_error, max_fpr, min_tpr):
    """Return the area under the ROC curve, above a true-positive and up to a false-positive rate."""
    # At a tie the curve goes right and then up if a tied pair is an error, up and then right if it is none,
    # and straight across if it is half an error.
    area, x, y = 0.0, 0.0, 0.0
    for g in range(len(negative_shares) - 1, -1, -1):
        if x >= max_fpr:
            break
        up = positive_shares[g >> 1] if g & 1 else 0.0
        right = negative_shares[g]
        if tied_error == 0.0:
            y += up
        if right > 0.0:
            part = min(1.0, (max_fpr - x) / right)
            rise = up * part if tied_error == 0.5 else 0.0
            area += area_above(x, y, x + right * part, y + rise, min_tpr)
        x += right
        if tied_error != 0.0:
            y += up
    # Rounding may leave the end of the curve short of one.
    if x < max_fpr:
        area += (max_fpr - x) * max(y - min_tpr, 0.0)
    return area


@compiled(inline="always")
def area_above(x, y, to_x, to_y, floor):
    """Return the area between a rising line and a floor, where the line is above it."""
    if to_y <= floor:
        return 0.0
    if y < floor:
        x += (to_x - x) * (floor - y) / (to_y - y)
        y = floor
    return (to_x - x) * (0.5 * (y + to_y) - floor)


def placements(ranking: Ranking, ties: Ties = "half") -> tuple[Floats, Floats]:
    """Return the placements of the positives and of the negatives, whose weighted means are the AUC."""
    # They are 1 - rHeight(i) / W_- and 1 - Height(k) / W_+, in O(n log n) (Sun and Xu, IEEE Signal Processing
    # Letters 21, 2014).
    negatives_above, positives_below = ranking.negatives_above(ties), ranking.positives_below(ties)
    return (
        1.0 - negatives_above[ranking.positive_threshold_index] / ranking.total_negative,
        1.0 - positives_below[ranking.negative_bin_index] / ranking.total_positive,
    )


def _pair_trials(ranking: Ranking, **_: object) -> list[Trials]:
    """Return disjoint pairs as trials: they are independent, and each is ranked rightly with chance AUC."""
    numbers = (ranking.effective_number(mask) for mask in (ranking.is_positive, ~ranking.is_positive))
    return [Trials(min(numbers), 1.0)]


@register_metric(
    error=SamplingError(influence_values=placements, trials=_pair_trials, least_positives=3),
    figures=[Figure("auc", "area under the ROC curve")],
)
def auc(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> Any:
    r"""Return the share of pairs of a positive and a negative that are ranked rightly.

    .. math:: \mathrm{AUC} = 1 - \frac{1}{W_+ W_-} \sum_k w_k\, \mathrm{Height}(k)

    O(n log n). With half ties it equals scikit-learn's ``roc_auc_score``. Hanley and McNeil, *The meaning and
    use of the area under a ROC curve*, Radiology 143 (1982).

    %(labels_and_rankings ties_of_pairs weight_parameters unit_interval)s

    Examples
    --------
    >>> auc([0, 1, 0, 1], [1.0, 2.0, 2.0, 3.0])
    0.875
    """
    error = tied_error(ties)

    def area(ranking: RankCounts) -> float:
        counts = ranking.positive_counts, ranking.negative_counts
        misranked = float(misranked_weight(*counts, ranking.total_negative, error))
        # Weights that are not whole numbers may add up to a little more than their total.
        return max(1.0 - misranked / ranking.total_positive, 0.0)

    return evaluate(area, y_true, scores, sample_weight, pos_label)


@register_metric(
    figures=[Figure("partial_auc", "ROC area up to 10 % of the negatives; 0.5 for a random order")]
)
def partial_auc(
    y_true: ArrayLike,
    scores: ArrayLike,
    max_fpr: float = 0.1,
    *,
    min_tpr: float = 0.0,
    standardize: bool = True,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> Any:
    r"""Return the area under the ROC curve at low false-positive and high true-positive rates.

    .. math:: A(\alpha, \beta) = \int_0^\alpha \bigl[\mathrm{TPR}(u) - \beta\bigr]_+ \, du

    with :math:`\alpha` the largest false-positive rate and :math:`\beta` the least true-positive rate
    (0 for the one-way partial AUC). Standardised, it is

    .. math:: \frac12 \Bigl(1 + \frac{A - A_0}{\alpha (1 - \beta) - A_0}\Bigr) , \quad
        A_0 = \tfrac12 [\alpha - \beta]_+^2 ,

    where :math:`A_0` is the area of a random order: 1 is perfect, and 1/2 is chance.

    O(n log n). With half ties and ``min_tpr=0`` it equals scikit-learn's ``roc_auc_score(max_fpr=...)``.
    McClish, *Analyzing a portion of the ROC curve*, Medical Decision Making 9 (1989); Yang, Lu, Lyu and Hu,
    *Two-way partial AUC and its properties*, Statistical Methods in Medical Research 28 (2019).

    %(labels_and_rankings)s
    max_fpr : float, default=0.1
        The largest false-positive rate, in (0, 1].
    min_tpr : float, default=0.0
        The least true-positive rate, in [0, 1), for the two-way partial AUC.
    standardize : bool, default=True
        Return McClish's standardised area in place of the area itself.
    ties : {"pessimistic", "half", "optimistic"}, default="half"
        Where classes tie, the curve goes right first, straight across, or up first.
    %(weight_parameters number_or_array)s
        At most 1; the higher the better.

    Examples
    --------
    >>> y, scores = [0, 1, 0, 1, 1], [1.0, 2.0, 3.0, 4.0, 5.0]
    >>> round(partial_auc(y, scores, 0.5, standardize=False), 4), round(partial_auc(y, scores, 1.0), 4)
    (0.3333, 0.8333)
    """
    error = tied_error(ties)
    check_number("max_fpr", max_fpr, above=0.0, most=1.0)
    check_number("min_tpr", min_tpr, 0.0, below=1.0)
    chance = 0.5 * max(float(max_fpr) - min_tpr, 0.0) ** 2

    def part_of_area(ranking: RankCounts) -> float:
        positive_shares = ranking.positive_counts / ranking.total_positive
        negative_shares = ranking.negative_counts / ranking.total_negative
        area = float(roc_area(positive_shares, negative_shares, error, float(max_fpr), min_tpr))
        # Rounded shares may add up to a little more than one.
        area = min(area, max_fpr * (1.0 - min_tpr))
        if not standardize:
            return area
        return 0.5 * (1.0 + (area - chance) / (max_fpr * (1.0 - min_tpr) - chance))

    return evaluate(part_of_area, y_true, scores, sample_weight, pos_label)
