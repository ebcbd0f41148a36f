"""Net benefit: hits less the useless looks, at the rate at which the two are exchanged."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from pushrank._base.numeric import Floats
from pushrank._base.user_types import Label
from pushrank._base.validation import check_number
from pushrank.metrics._counts import Ties
from pushrank.metrics._ranking import Ranking, depth_in_rows
from pushrank.metrics._registry import evaluate, register_metric


@register_metric(uses_scores=True)
def net_benefit(
    y_true: ArrayLike,
    scores: ArrayLike,
    k: int | None = None,
    *,
    threshold: float = 0.5,
    fraction: float | None = None,
    fraction_of_positives: float | None = None,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> Any:
    r"""Return what acting on the first rows, or on those that are likely enough, is worth in hits a row.

    .. math:: \mathrm{NB} = \frac{\mathrm{TP}}{n} - \frac{\mathrm{FP}}{n} \cdot \frac{t}{1 - t}

    for the threshold :math:`t`, the chance of a hit at which acting is worth as much as leaving a row alone:
    at .1, one hit pays for nine useless looks.

    O(n log n). What one hit is worth in money may differ from row to row: see :func:`value_at_k`. Vickers and
    Elkin, *Decision curve analysis: a novel method for evaluating prediction models*, Medical Decision Making
    26 (2006).

    %(labels_and_rankings)s
        Without a depth they are probabilities, and rows are acted on from the threshold up.
    k : int, optional
        The number of rows that are acted on, by scores of any kind.
    threshold : float, default=0.5
        The chance :math:`t`, strictly between 0 and 1.
    fraction : float, optional
    fraction_of_positives : float, optional
    %(ties_at_end weight_parameters number_or_array)s
        From :math:`-t / (1 - t)` to the share of positives; 0 is that of acting on nothing.

    %(depth_type_error)s
    ValueError
        As :func:`precision_at_k` does, when `threshold` is out of range, or when probabilities are needed and
        a score lies outside [0, 1].

    Examples
    --------
    >>> y, chances = [1, 0, 1, 0, 0], [0.9, 0.6, 0.3, 0.2, 0.1]
    >>> net_benefit(y, chances, threshold=0.25), net_benefit(y, chances, 1, threshold=0.25)
    (0.33333333333333337, 0.2)
    """
    check_number("threshold", threshold, above=0.0, below=1.0)
    depth = (k, fraction, fraction_of_positives)

    def benefit(ranking: Ranking) -> float:
        if any(of is not None for of in depth):
            rows = depth_in_rows(ranking, *depth)
            hits = ranking.positives_in_top(rows, ties)
            misses = rows - hits
        else:
            check_probabilities(ranking.scores)
            acted_on = ranking.row_weights * (ranking.scores >= threshold)
            hits, misses = (float(acted_on @ kind) for kind in (ranking.is_positive, ~ranking.is_positive))
        return (hits - misses * threshold / (1.0 - threshold)) / ranking.total

    return evaluate(benefit, y_true, scores, sample_weight, pos_label)


def check_probabilities(scores: Floats) -> None:
    """Raise ValueError unless scores lie between 0 and 1."""
    if not ((scores >= 0.0) & (scores <= 1.0)).all():
        wrong = scores[(scores < 0.0) | (scores > 1.0)][0]
        raise ValueError(
            f"net benefit at a threshold needs probabilities, from 0 to 1, found the score {wrong:g}; pass "
            "those of predict_proba or a calibrated model, or say by k how many rows are acted on."
        )
