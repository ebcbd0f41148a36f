"""Metrics of the top of a ranked list, each called as ``metric(y_true, scores, ...)``."""

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
)
from pushrank.metrics.roc import auc, partial_auc, roc_band

__all__ = [
    "auc",
    "average_precision",
    "average_reciprocal_rank",
    "bedroc",
    "compare",
    "confidence_interval",
    "discounted_cumulative_gain",
    "enrichment_factor",
    "height",
    "lift",
    "margin",
    "mean_reciprocal_rank",
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
]
