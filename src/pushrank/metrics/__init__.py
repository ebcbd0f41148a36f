"""Measures of the top of a ranked list, each called as ``metric(y_true, scores, ...)``."""

from pushrank.metrics.auc import auc
from pushrank.metrics.average_precision import average_precision
from pushrank.metrics.average_reciprocal_rank import average_reciprocal_rank
from pushrank.metrics.compare import compare
from pushrank.metrics.confidence_interval import confidence_interval
from pushrank.metrics.cumulative_gain import cumulative_gain
from pushrank.metrics.discounted_cumulative_gain import discounted_cumulative_gain
from pushrank.metrics.enrichment_factor import enrichment_factor
from pushrank.metrics.height import height, reverse_height
from pushrank.metrics.lift import lift
from pushrank.metrics.margin import margin, smooth_margin
from pushrank.metrics.mean_reciprocal_rank import mean_reciprocal_rank
from pushrank.metrics.ndcg_at_k import ndcg_at_k
from pushrank.metrics.partial_auc import partial_auc
from pushrank.metrics.positives_at_top import positives_at_top
from pushrank.metrics.precision_at_k import precision_at_k
from pushrank.metrics.precision_at_recall import precision_at_recall
from pushrank.metrics.r_max import r_max
from pushrank.metrics.recall_at_k import recall_at_k
from pushrank.metrics.robust_initial_enhancement import bedroc, robust_initial_enhancement
from pushrank.metrics.roc_band import roc_band
from pushrank.metrics.rp_error import rp_error
from pushrank.metrics.top_of_list import top_of_list

from pushrank.metrics import scorers as scorers  # isort: skip: it wraps the measures above

__all__ = [
    "auc",
    "average_precision",
    "average_reciprocal_rank",
    "bedroc",
    "compare",
    "confidence_interval",
    "cumulative_gain",
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
