"""Early recognition: exponentially discounted ranks of the positives, and the enrichment factor."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pushrank._base.parallel import compiled
from pushrank._base.user_types import Label
from pushrank._base.validation import check_number
from pushrank.metrics._counts import RankCounts, Ties, tied_error
from pushrank.metrics._registry import METRICS, Figure, evaluate, register_metric
from pushrank.metrics.precision import lift


@compiled()
def discounts_gained(positive_counts, negative_counts, rate, tied_error):
    """Return by how much the discounts of the positives exceed those of a list that ends with all of them."""
    # The discount of a row is the integral of `rate * exp(-rate * rank)` over the stretch of ranks that it
    # weighs. Starting at the end of the list, the positives at a threshold move up past the negatives below
    # them: a weight v that passes the weight u and arrives at rank r gains
    # `exp(-rate * r) * expm1(-rate * v) * expm1(-rate * u)`. These terms are positive, so nothing cancels.
    # numpy.cumsum takes longer to compile than all the rest.
    below, so_far = np.empty(len(positive_counts)), 0.0
    for g in range(len(positive_counts)):
        so_far += negative_counts[2 * g]
        below[g] = so_far
        so_far += negative_counts[2 * g + 1]
    above, total = 0.0, 0.0
    for g in range(len(positive_counts) - 1, -1, -1):
        above += negative_counts[2 * g + 2]
        positives, negatives = positive_counts[g], negative_counts[2 * g + 1]
        if positives > 0.0:
            first, passed = above + tied_error * negatives, below[g] + (1.0 - tied_error) * negatives
            if tied_error == 0.5 and negatives > 0.0:
                first, passed = above + negatives, below[g]
                share = negatives / (positives + negatives)
                mean = mean_gain(rate * positives, rate * negatives)
                total += np.exp(-rate * above) * (rate * positives) * share * mean
            total += np.exp(-rate * first) * np.expm1(-rate * positives) * np.expm1(-rate * passed)
        above += positives + negatives
    return total


@compiled(inline="always")
def mean_gain(u, v):
    """Return ``(1 - exp(-v)) / v - exp(-v) * (1 - exp(-u)) / u``, right to rounding."""
    # It is proportional to the gain of positives of weight u that are in random order with negatives of
    # weight v, instead of after them; both weights are in units of 1 / rate.
    if u + v > 1.0:
        return np.exp(-v) * (np.expm1(-u) / u) - np.expm1(-v) / v
    # The two terms nearly cancel, so their series are subtracted term by term; 1 / 19! is below rounding.
    total, u_term, v_term = 0.0, 1.0, 1.0
    for k in range(2, 19):
        u_term *= -u / k
        v_term *= v / k
        total += v_term - u_term
    return np.exp(-v) * total


# Virtual screening calls the lift the enrichment factor.
enrichment_factor = lift
METRICS["enrichment_factor"] = replace(
    METRICS["lift"],
    name="enrichment_factor",
    family=__name__,
    figures=[Figure("enrichment_factor", "lift of the first {percent} of the rows", {"fraction": 0.01})],
)


@register_metric(figures=[Figure("bedroc", "early recognition: BEDROC, alpha = {alpha:g}", {"alpha": 20.0})])
def bedroc(
    y_true: ArrayLike,
    scores: ArrayLike,
    alpha: float = 20.0,
    *,
    ties: Ties = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Label | None = None,
) -> Any:
    r"""Return the Boltzmann-enhanced discrimination of the ROC: RIE between its worst and best values.

    .. math:: \mathrm{BEDROC} = \frac{\mathrm{RIE} - \mathrm{RIE}_{\min}}
        {\mathrm{RIE}_{\max} - \mathrm{RIE}_{\min}} , \quad
        \mathrm{RIE} = \frac{\frac{1}{P} \sum_i e^{-\alpha\, \mathrm{rank}(i) / n}}
        {\frac{1}{n} \frac{1 - e^{-\alpha}}{e^{\alpha / n} - 1}} ,

    .. math::
        \mathrm{RIE}_{\max} = \frac{1 - e^{-\alpha R}}{R (1 - e^{-\alpha})} , \quad
        \mathrm{RIE}_{\min} = \frac{1 - e^{\alpha R}}{R (1 - e^{\alpha})} ,

    where P is the number of positives and R their share: BEDROC is the robust initial enhancement (RIE) of
    Sheridan et al. (2001) on a scale from 0 to 1.

    O(n log n). Without ties it equals RDKit's ``CalcBEDROC``. Truchon and Bayly, *Evaluating virtual
    screening methods: good and bad metrics for the "early recognition" problem*, J. Chem. Inf. Model. 47
    (2007), equation (36).

    %(labels_and_rankings)s
    alpha : float, default=20.0
        The positive rate of the discount: the first share z of the list has the share
        :math:`1 - e^{-\alpha z}` of the weight, so with 20 the first 8 % have about 80 % of it.
    %(ties_in_list weight_parameters number_or_array)s
        Between 0 and 1; the higher the better. The value of a random order depends on R and `alpha`. As
        `alpha` goes to zero, the metric goes to the area under the ROC curve.

    Examples
    --------
    >>> round(bedroc([0, 1, 0, 0], [4.0, 3.0, 2.0, 1.0], 5.0), 4)
    0.2693
    """
    error, rate_of_list = tied_error(ties), _checked_rate(alpha)

    def position(ranking: RankCounts) -> float:
        rate = rate_of_list / ranking.total
        gained = discounts_gained(ranking.positive_counts, ranking.negative_counts, rate, error)
        most = math.expm1(-rate * ranking.total_positive) * math.expm1(-rate * ranking.total_negative)
        return float(gained / most)

    return evaluate(position, y_true, scores, sample_weight, pos_label, 1.0)


def _checked_rate(alpha: float) -> float:
    check_number("alpha", alpha, above=0.0)
    # At rates below this the metrics no longer change, but their terms would underflow.
    return max(float(alpha), 1e-20)
