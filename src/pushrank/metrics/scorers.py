"""scikit-learn scorers of the metrics, for ``cross_val_score(scoring=...)`` and grid searches.

Metrics of error (the lower the better) come negated, under scikit-learn's prefix ``neg_``. Each takes scores
from ``decision_function`` or, where there is none, ``predict_proba``. Metrics of query lists ask metadata
routing for ``qid``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn import config_context
from sklearn.metrics import make_scorer

from pushrank.metrics import discounted, pairwise, precision, roc

__all__ = [
    "auc",
    "average_precision",
    "average_reciprocal_rank",
    "bedroc",
    "discounted_cumulative_gain",
    "mean_reciprocal_rank",
    "ndcg",
    "ndcg_at_10",
    "neg_log_rp_error",
    "neg_r_max",
    "neg_rp_error",
    "partial_auc",
    "positives_at_top",
    "precision_at_positives",
    "precision_at_quarter",
]


def _scorer(metric: Callable[..., Any], **options: Any) -> Any:
    return make_scorer(metric, response_method=("decision_function", "predict_proba"), **options)


auc = _scorer(roc.auc)
average_precision = _scorer(precision.average_precision)
average_reciprocal_rank = _scorer(discounted.average_reciprocal_rank)
bedroc = _scorer(discounted.bedroc)
discounted_cumulative_gain = _scorer(discounted.discounted_cumulative_gain)
mean_reciprocal_rank = _scorer(discounted.mean_reciprocal_rank)
ndcg = _scorer(discounted.ndcg_at_k)
ndcg_at_10 = _scorer(discounted.ndcg_at_k, k=10)
neg_log_rp_error = _scorer(pairwise.rp_error, greater_is_better=False, p=4.0, scale="log")
neg_r_max = _scorer(pairwise.r_max, greater_is_better=False)
neg_rp_error = _scorer(pairwise.rp_error, greater_is_better=False)
partial_auc = _scorer(roc.partial_auc)
positives_at_top = _scorer(precision.positives_at_top)
precision_at_positives = _scorer(precision.precision_at_k, k=1.0)
precision_at_quarter = _scorer(precision.precision_at_k, k=0.25)

with config_context(enable_metadata_routing=True):  # without it requests cannot be made
    for _routed in (mean_reciprocal_rank, ndcg, ndcg_at_10):
        _routed.set_score_request(qid=True, sample_weight=None)
