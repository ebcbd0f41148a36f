"""scikit-learn scorers of the measures, for ``cross_val_score(scoring=...)`` and grid searches.

Measures of error (the lower the better) come negated, under scikit-learn's prefix ``neg_``. Each takes scores
from ``decision_function`` or, where there is none, ``predict_proba``. Measures of query lists ask metadata
routing for ``qid``.
"""

from __future__ import annotations

from sklearn import config_context
from sklearn.metrics import make_scorer

import pushrank.metrics as metrics

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

_SCORES = ("decision_function", "predict_proba")

auc = make_scorer(metrics.auc, response_method=_SCORES)
average_precision = make_scorer(metrics.average_precision, response_method=_SCORES)
average_reciprocal_rank = make_scorer(metrics.average_reciprocal_rank, response_method=_SCORES)
bedroc = make_scorer(metrics.bedroc, response_method=_SCORES)
discounted_cumulative_gain = make_scorer(metrics.discounted_cumulative_gain, response_method=_SCORES)
mean_reciprocal_rank = make_scorer(metrics.mean_reciprocal_rank, response_method=_SCORES)
ndcg = make_scorer(metrics.ndcg_at_k, response_method=_SCORES)
ndcg_at_10 = make_scorer(metrics.ndcg_at_k, response_method=_SCORES, k=10)
neg_log_rp_error = make_scorer(
    metrics.rp_error, response_method=_SCORES, greater_is_better=False, p=4.0, scale="log"
)
neg_r_max = make_scorer(metrics.r_max, response_method=_SCORES, greater_is_better=False)
neg_rp_error = make_scorer(metrics.rp_error, response_method=_SCORES, greater_is_better=False)
partial_auc = make_scorer(metrics.partial_auc, response_method=_SCORES)
positives_at_top = make_scorer(metrics.positives_at_top, response_method=_SCORES)
precision_at_positives = make_scorer(metrics.precision_at_k, response_method=_SCORES, k=1.0)
precision_at_quarter = make_scorer(metrics.precision_at_k, response_method=_SCORES, k=0.25)

with config_context(enable_metadata_routing=True):  # without it requests cannot be made
    for _scorer in (mean_reciprocal_rank, ndcg, ndcg_at_10):
        _scorer.set_score_request(qid=True, sample_weight=None)
