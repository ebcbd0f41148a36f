"""Metrics of the top of a ranked list, each called as ``metric(y_true, scores, ...)``.

Metrics of the first rows take their number in one of three ways: ``k`` (rows), ``fraction`` (of the rows) or
``fraction_of_positives``. Only the ``k`` of the rankers is, as in the papers, either a number of rows or a
share of the positives.

Tied rows count by their expectation over all their orders, with two exceptions, where the source defines
another rule. A tie of a positive with a negative is an error for ``positives_at_top``, heights, ``r_max`` and
the errors made of heights. For points and areas of the precision-recall curve (``average_precision``, whole
and partial, ``precision_at_recall``, ``recall_at_precision``) the rows of a tie enter the list together. The
command line and the report follow the same rules, and ``ties`` chooses others.
"""

from pushrank.metrics import scorers as scorers
from pushrank.metrics.acted import ActedMeasurement, audit_bound, measure_acted
from pushrank.metrics.discounted import (
    average_reciprocal_rank,
    discounted_cumulative_gain,
    mean_reciprocal_rank,
    ndcg_at_k,
    rank_error,
)
from pushrank.metrics.early_recognition import bedroc, enrichment_factor
from pushrank.metrics.gains import gains_table
from pushrank.metrics.intervals import compare, confidence_interval
from pushrank.metrics.measurement import Measurement, measure, top_of_list
from pushrank.metrics.net_benefit import net_benefit
from pushrank.metrics.pairwise import (
    height,
    margin,
    margin_error,
    r_max,
    reverse_height,
    rg_error,
    rp_error,
    smooth_margin,
)
from pushrank.metrics.periods import PeriodMeasurement, Regret, measure_periods
from pushrank.metrics.precision import (
    average_precision,
    lift,
    positives_at_top,
    precision_at_k,
    precision_at_recall,
    recall_at_k,
    recall_at_precision,
    value_at_k,
)
from pushrank.metrics.promises.days import guarantee_days
from pushrank.metrics.promises.lists import HitsPromise, guarantee, sample_size_for
from pushrank.metrics.promises.threshold import Guaranteed
from pushrank.metrics.roc import auc, partial_auc
from pushrank.metrics.scorers import make_top_scorer
from pushrank.metrics.thresholds import AtBudget, AtPrecision, AtRecall, threshold_for

__all__ = [
    "ActedMeasurement", "AtBudget", "AtPrecision", "AtRecall", "Guaranteed", "HitsPromise", "Measurement",
    "PeriodMeasurement", "Regret", "auc", "audit_bound", "average_precision",
    "average_reciprocal_rank", "bedroc", "compare", "confidence_interval",
    "discounted_cumulative_gain", "enrichment_factor", "gains_table", "guarantee", "guarantee_days",
    "height", "lift", "make_top_scorer", "margin", "margin_error", "mean_reciprocal_rank",
    "measure", "measure_acted", "measure_periods", "ndcg_at_k", "net_benefit", "partial_auc",
    "positives_at_top", "precision_at_k", "precision_at_recall", "r_max", "rank_error",
    "recall_at_k", "recall_at_precision", "reverse_height", "rg_error", "rp_error",
    "sample_size_for", "smooth_margin", "threshold_for", "top_of_list", "value_at_k",
]  # fmt: skip
