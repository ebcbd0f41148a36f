"""scikit-learn scorers of the metrics, for ``cross_val_score(scoring=...)`` and grid searches.

Metrics of error (the lower the better) come negated, under scikit-learn's prefix ``neg_``. Each takes scores
from ``decision_function`` or, where there is none, ``predict_proba``. Metrics of query lists ask metadata
routing for ``qid``. ``precision_at``, ``recall_at`` and ``lift_at`` make the scorer of a budget. Of two texts
other than yes and no none is positive for them, as for the metrics: score ``y == "fraud"``.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import isfunction
from typing import Any

from sklearn import config_context
from sklearn.metrics import make_scorer

from pushrank.metrics import discounted, pairwise, precision, roc
from pushrank.metrics._docstrings import shared_docs
from pushrank.metrics._ranking import check_depth

__all__ = [
    "auc",
    "average_precision",
    "average_reciprocal_rank",
    "bedroc",
    "discounted_cumulative_gain",
    "lift_at",
    "mean_reciprocal_rank",
    "ndcg",
    "ndcg_at_10",
    "neg_log_rp_error",
    "neg_r_max",
    "neg_rp_error",
    "partial_auc",
    "positives_at_top",
    "precision_at",
    "precision_at_positives",
    "precision_at_quarter",
    "recall_at",
]


def _scorer(metric: Callable[..., Any], **options: Any) -> Any:
    return make_scorer(metric, response_method=("decision_function", "predict_proba"), **options)


def _scorer_at(metric: Callable[..., Any], **depth: Any) -> Any:
    check_depth(**depth)
    return _scorer(metric, **{name: value for name, value in depth.items() if value is not None})


@shared_docs
def precision_at(
    k: int | None = None, *, fraction: float | None = None, fraction_of_positives: float | None = None
) -> Any:
    """Return a scorer of the share of positives among the first rows, that of `precision_at_k`.

    Parameters
    ----------
    %(depth_of_scorer)s

    %(scorer_and_errors)s

    Examples
    --------
    >>> precision_at(k=100)
    make_scorer(precision_at_k, response_method=('decision_function', 'predict_proba'), k=100)
    """
    return _scorer_at(
        precision.precision_at_k, k=k, fraction=fraction, fraction_of_positives=fraction_of_positives
    )


@shared_docs
def recall_at(
    k: int | None = None, *, fraction: float | None = None, fraction_of_positives: float | None = None
) -> Any:
    """Return a scorer of the share of all positives that the first rows hold, that of `recall_at_k`.

    Parameters
    ----------
    %(depth_of_scorer)s

    %(scorer_and_errors)s

    Examples
    --------
    >>> recall_at(fraction=0.01)
    make_scorer(recall_at_k, response_method=('decision_function', 'predict_proba'), fraction=0.01)
    """
    return _scorer_at(
        precision.recall_at_k, k=k, fraction=fraction, fraction_of_positives=fraction_of_positives
    )


@shared_docs
def lift_at(
    k: int | None = None, *, fraction: float | None = None, fraction_of_positives: float | None = None
) -> Any:
    """Return a scorer of the precision of the first rows over that of all rows, that of `lift`.

    Parameters
    ----------
    %(depth_of_scorer)s

    %(scorer_and_errors)s

    Examples
    --------
    >>> lift_at(fraction=0.01)
    make_scorer(lift, response_method=('decision_function', 'predict_proba'), fraction=0.01)
    """
    return _scorer_at(precision.lift, k=k, fraction=fraction, fraction_of_positives=fraction_of_positives)


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
precision_at_positives = precision_at(fraction_of_positives=1.0)
precision_at_quarter = precision_at(fraction_of_positives=0.25)

with config_context(enable_metadata_routing=True):  # without it requests cannot be made
    for _routed in (mean_reciprocal_rank, ndcg, ndcg_at_10):
        _routed.set_score_request(qid=True, sample_weight=None)

SCORERS: dict[str, Any] = {name: globals()[name] for name in __all__ if not isfunction(globals()[name])}
"""Those that need no budget, by the names that ``scoring=`` takes."""


def __dir__() -> list[str]:
    return __all__
