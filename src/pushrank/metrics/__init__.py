"""Measures of the top of a ranked list, each called as ``metric(y_true, scores, ...)``."""

from pushrank.metrics.auc import auc
from pushrank.metrics.average_precision import average_precision
from pushrank.metrics.average_reciprocal_rank import average_reciprocal_rank
from pushrank.metrics.discounted_cumulative_gain import discounted_cumulative_gain
from pushrank.metrics.height import height, reverse_height
from pushrank.metrics.positives_at_top import positives_at_top
from pushrank.metrics.precision_at_k import precision_at_k
from pushrank.metrics.r_max import r_max
from pushrank.metrics.rp_error import rp_error
from pushrank.metrics.top_of_list import top_of_list

from pushrank.metrics import scorers as scorers  # isort: skip: it wraps the measures above

__all__ = [
    "auc",
    "average_precision",
    "average_reciprocal_rank",
    "discounted_cumulative_gain",
    "height",
    "positives_at_top",
    "precision_at_k",
    "r_max",
    "reverse_height",
    "rp_error",
    "top_of_list",
]
