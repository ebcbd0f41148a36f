"""Metrics of the top of a ranked list, each called as ``metric(y_true, scores, ...)``.

How much of a list is looked at is said by one of ``k`` (rows), ``fraction`` (of the rows) and
``fraction_of_positives``, in every metric alike; only the rankers' own ``k`` is, as in the papers, either a
number of rows or a share of the positives.

Tied rows count by their expectation over all their orders. In two cases the source defines another rule: a
tie of a positive with a negative is an error for ``positives_at_top``, heights, ``r_max`` and ``rp_error``;
and rows of a tie enter the list together for ``average_precision`` and ``precision_at_recall``. The command
line and the report follow the same rules, and ``ties`` chooses others.
"""

from pushrank.metrics import scorers as scorers
from pushrank.metrics.discounted import (
    average_reciprocal_rank,
    bedroc,
    discounted_cumulative_gain,
    mean_reciprocal_rank,
    ndcg_at_k,
    robust_initial_enhancement,
)
from pushrank.metrics.intervals import compare, confidence_interval
from pushrank.metrics.measurement import Measurement, gains_table, measure
from pushrank.metrics.pairwise import height, margin, r_max, reverse_height, rp_error, smooth_margin
from pushrank.metrics.precision import (
    average_precision,
    enrichment_factor,
    lift,
    positives_at_top,
    precision_at_k,
    precision_at_recall,
    recall_at_k,
    top_of_list,
    value_at_k,
)
from pushrank.metrics.roc import auc, partial_auc, roc_band

__all__ = [
    "Measurement",
    "auc",
    "average_precision",
    "average_reciprocal_rank",
    "bedroc",
    "compare",
    "confidence_interval",
    "discounted_cumulative_gain",
    "enrichment_factor",
    "gains_table",
    "height",
    "lift",
    "margin",
    "mean_reciprocal_rank",
    "measure",
    "ndcg_at_k",
    "partial_auc",
    "positives_at_top",
    "precision_at_k",
    "precision_at_recall",
    "r_max",
    "recall_at_k",
    "reverse_height",
    "robust_initial_enhancement",
    "roc_band",
    "rp_error",
    "smooth_margin",
    "top_of_list",
    "value_at_k",
]
