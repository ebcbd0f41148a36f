"""scikit-learn scorers of the metrics, for ``cross_val_score(scoring=...)`` and grid searches.

Metrics of error (the lower the better) come negated, under scikit-learn's prefix ``neg_``. Each takes scores
from ``decision_function`` or, where there is none, ``predict_proba``. Metrics of query lists ask metadata
routing for ``qid``. :func:`pushrank.metrics.make_top_scorer` makes others, such as that of a budget. Of two
texts other than yes and no none is positive for them, as for the metrics: score ``y == "fraud"``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from inspect import signature
from numbers import Integral
from typing import Any

from sklearn import config_context
from sklearn.metrics import make_scorer
from sklearn.utils import _safe_indexing

from pushrank._io import trust_in_files
from pushrank.metrics import pairwise, precision
from pushrank.metrics._ranking import METRICS, check_depth
from pushrank.metrics._ties import tied_error

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


OF_FIRST_ROWS = (precision.precision_at_k, precision.recall_at_k, precision.lift, precision.value_at_k)
ERRORS = (pairwise.margin_error, pairwise.r_max, pairwise.rg_error, pairwise.rp_error)


def _scorer(metric: Callable[..., Any], **options: Any) -> Any:
    scorer = make_scorer(metric, response_method=("decision_function", "predict_proba"), **options)
    if routed := [name for name in ("qid", "value") if name in signature(metric).parameters]:
        with config_context(enable_metadata_routing=True):  # without it requests cannot be made
            scorer.set_score_request(**dict.fromkeys(routed, True), sample_weight=None)
    return scorer


def make_top_scorer(metric: str | Callable[..., Any] = "precision_at_k", **parameters: Any) -> Any:
    """Return a scorer of a measure of the top of the list, such as the precision among the first 100 rows.

    Parameters
    ----------
    metric : str or callable, default="precision_at_k"
        A measure of :mod:`pushrank.metrics` or its name, such as ``"recall_at_k"``, ``"lift"``,
        ``"precision_at_recall"``, ``"recall_at_precision"`` or ``"value_at_k"``. Of errors, ``"r_max"``,
        ``"rp_error"``, ``"rg_error"`` and ``"margin_error"``, the scorer is the negative.
    **parameters
        Those of the measure: ``k=100``, ``fraction=0.01`` or ``fraction_of_positives=0.25`` for how much of
        the list is looked at, ``recall=0.9``, ``precision=0.5``, ``pos_label``. Such a k is of every test
        part, and does not shrink with it: a budget of 100 rows of all is ``k=20`` in each of five parts, and
        a part of fewer rows is an error; shares do shrink. For ``"value_at_k"``, ``value`` names the column
        of ``X`` that holds the values, of an array its number; without it the scorer asks metadata routing
        for ``value``.

    Returns
    -------
    scorer
        What ``scoring=`` of scikit-learn's searches and of our rankers takes, called as
        ``scorer(estimator, X, y)``, also with ``sample_weight``; it pickles.

    Raises
    ------
    TypeError
        When the measure has no such parameter, or one is not of its kind.
    ValueError
        When `metric` is not known, or a parameter is out of range.

    Notes
    -----
    The scores are those of ``decision_function``, or where there is none of ``predict_proba``, of any model;
    ties count as the measure says, by their expectation for those of the first rows.

    References
    ----------
    Buitinck et al., *API design for machine learning software: experiences from the scikit-learn project*
    (2013).

    Examples
    --------
    >>> make_top_scorer("precision_at_k", k=100)
    make_scorer(precision_at_k, response_method=('decision_function', 'predict_proba'), k=100)
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> scorer = make_top_scorer("recall_at_precision", precision=0.99)
    >>> cross_val_score(LogisticRegression(max_iter=5000), X, y, scoring=scorer, cv=3).round(1).tolist()
    [0.9, 1.0, 0.9]
    """
    if isinstance(metric, str) and metric not in METRICS:
        raise ValueError(f"metric={metric!r} is not known; use one of {sorted(METRICS)}.")
    measure = METRICS[metric] if isinstance(metric, str) else metric
    if measure not in METRICS.values():
        raise ValueError(
            f"metric must be one of {sorted(METRICS)} or such a measure, got {metric!r}; of a measure of "
            "your own sklearn.metrics.make_scorer makes a scorer."
        )
    of_rows = ("y_true", "scores", "sample_weight", "qid")
    known = [name for name in signature(measure).parameters if name not in of_rows]
    if unknown := [name for name in parameters if name not in known]:
        raise TypeError(f"a scorer of {measure.__name__} takes {known}, got {unknown[0]!r}.")
    if measure in OF_FIRST_ROWS:
        check_depth(**{name: parameters.get(name) for name in ("k", "fraction", "fraction_of_positives")})
        tied_error(parameters.get("ties", "half"))
    else:
        own = {name: value for name, value in parameters.items() if name != "pos_label"}
        measure([False, True], [0.0, 1.0], **own)  # checks the parameters
    if (name := parameters.pop("value", None)) is not None:
        if not isinstance(name, str | Integral):
            raise TypeError(f"value must name a column or be its number, got {type(name).__name__}.")
        return ColumnScorer(name, parameters)
    return _scorer(measure, greater_is_better=measure not in ERRORS, **parameters)


@dataclass(frozen=True)
class ColumnScorer:
    """A scorer of :func:`pushrank.metrics.value_at_k` by a column of the rows."""

    column: Any
    parameters: dict[str, Any]

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the value of the positives among an estimator's first rows."""
        measure = partial(precision.value_at_k, value=_safe_indexing(X, self.column, axis=1))
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(_scorer(measure, **self.parameters)(estimator, X, y, **weights))


auc = make_top_scorer("auc")
average_precision = make_top_scorer("average_precision")
average_reciprocal_rank = make_top_scorer("average_reciprocal_rank")
bedroc = make_top_scorer("bedroc")
discounted_cumulative_gain = make_top_scorer("discounted_cumulative_gain")
mean_reciprocal_rank = make_top_scorer("mean_reciprocal_rank")
ndcg = make_top_scorer("ndcg_at_k")
ndcg_at_10 = make_top_scorer("ndcg_at_k", k=10)
neg_log_rp_error = make_top_scorer("rp_error", p=4.0, scale="log")
neg_r_max = make_top_scorer("r_max")
neg_rp_error = make_top_scorer("rp_error")
partial_auc = make_top_scorer("partial_auc")
positives_at_top = make_top_scorer("positives_at_top")
precision_at_positives = make_top_scorer("precision_at_k", fraction_of_positives=1.0)
precision_at_quarter = make_top_scorer("precision_at_k", fraction_of_positives=0.25)

trust_in_files(ColumnScorer, *METRICS.values())
SCORERS: dict[str, Any] = {name: globals()[name] for name in __all__}
"""By the names that ``scoring=`` takes."""


def __dir__() -> list[str]:
    return __all__
