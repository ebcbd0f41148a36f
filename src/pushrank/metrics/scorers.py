"""scikit-learn scorers of the metrics, for ``cross_val_score(scoring=...)`` and grid searches.

Scorers of errors (the lower the better) are negated and have scikit-learn's prefix ``neg_``. A scorer takes
the scores from ``decision_function``, or from ``predict_proba`` if there is none. Scorers of query lists ask
metadata routing for ``qid``. :func:`pushrank.metrics.make_top_scorer` makes others, such as that of a budget.
Labels that are texts other than yes and no are refused, as by the metrics: score ``y == "fraud"``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from inspect import signature
from numbers import Integral
from typing import Any

from numpy.typing import ArrayLike
from sklearn import config_context
from sklearn.metrics import make_scorer
from sklearn.utils import _safe_indexing

from pushrank._base.files import trust_in_files
from pushrank._base.user_types import Estimator, MatrixLike
from pushrank.metrics import precision
from pushrank.metrics._counts import tied_error
from pushrank.metrics._families import metrics_in_order
from pushrank.metrics._ranking import DEPTHS, check_depth
from pushrank.metrics._registry import METRICS


def _scorer(metric: Callable[..., float], **options: object) -> Any:
    scorer = make_scorer(metric, response_method=("decision_function", "predict_proba"), **options)
    if routed := [name for name in ("qid", "value") if name in signature(metric).parameters]:
        # Without metadata routing scikit-learn refuses requests.
        with config_context(enable_metadata_routing=True):
            scorer.set_score_request(**dict.fromkeys(routed, True), sample_weight=None)
    return scorer


def make_top_scorer(metric: str | Callable[..., float] = "precision_at_k", **parameters: Any) -> Any:
    """Return a scorer of a metric of the top of the list, such as the precision among the first 100 rows.

    The scores come from ``decision_function`` of any model, or if there is none from ``predict_proba``. Ties
    count as the metric says; for metrics of the first rows, by their expectation. Buitinck et al., *API
    design for machine learning software: experiences from the scikit-learn project* (2013).

    Parameters
    ----------
    metric : str or callable, default="precision_at_k"
        A metric of :mod:`pushrank.metrics` or its name, such as ``"recall_at_k"``, ``"lift"``,
        ``"precision_at_recall"``, ``"recall_at_precision"`` or ``"value_at_k"``. The scorers of the errors
        ``"r_max"``, ``"rp_error"``, ``"rg_error"`` and ``"margin_error"`` are negated.
    **parameters
        Parameters of the metric: ``k=100``, ``fraction=0.01`` or ``fraction_of_positives=0.25`` for the first
        rows, ``recall=0.9``, ``precision=0.5``, ``pos_label``. The same k applies to every test part,
        whatever its size: a budget of 100 rows in all is ``k=20`` in each of five parts, and a part of fewer
        rows is an error; shares go with the size. For ``"value_at_k"``, ``value`` is the name of the column
        of ``X`` with the values, or its number in an array; without it the scorer asks metadata routing for
        ``value``.

    Returns
    -------
    scorer
        For ``scoring=`` of scikit-learn's searches and of our rankers; it is called as
        ``scorer(estimator, X, y)``, also with ``sample_weight``, and it can be pickled.

    Raises
    ------
    TypeError
        When the metric has no such parameter, or one is not of its kind.
    ValueError
        When `metric` is not known, or a parameter is out of range.

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
    spec = next((spec for name, spec in METRICS.items() if metric in (name, spec.function)), None)
    if spec is None:
        raise ValueError(
            f"metric must be one of {sorted(METRICS)} or such a measure, got {metric!r}; of a measure of "
            "your own sklearn.metrics.make_scorer makes a scorer."
        )
    rows = ("y_true", "scores", "sample_weight", "qid")
    taken = [name for name in spec.parameters if name not in rows]
    if unknown := [name for name in parameters if name not in taken]:
        raise TypeError(f"a scorer of {spec.function.__name__} takes {taken}, got {unknown[0]!r}.")
    # The metric checks its parameters on a list of two rows, which would be too short for most k.
    if spec.takes_depth and "pos_label" in taken:
        check_depth(*map(parameters.get, DEPTHS))
        tied_error(parameters.get("ties", "half"))
    else:
        checked = {name: value for name, value in parameters.items() if name != "pos_label"}
        spec.function([False, True], [0.0, 1.0], **checked)
    if (name := parameters.pop("value", None)) is not None:
        if not isinstance(name, str | Integral):
            raise TypeError(f"value must name a column or be its number, got {type(name).__name__}.")
        return ColumnScorer(name, parameters)
    return _scorer(spec.function, greater_is_better=spec.greater_is_better, **parameters)


@dataclass(frozen=True)
class ColumnScorer:
    """A scorer of :func:`pushrank.metrics.value_at_k` by a column of the rows."""

    column: str | Integral
    parameters: dict[str, object]

    def __call__(
        self, estimator: Estimator, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the value of the positives among an estimator's first rows."""
        measure = partial(precision.value_at_k, value=_safe_indexing(X, self.column, axis=1))
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(_scorer(measure, **self.parameters)(estimator, X, y, **weights))


trust_in_files(ColumnScorer, *(spec.function for spec in METRICS.values()))
SCORERS: dict[str, Callable[..., float]] = {
    # Parameters that the metrics declare need no check, which would run, and load, a compiled loop of each.
    name: _scorer(spec.function, greater_is_better=spec.greater_is_better, **parameters)
    for spec in metrics_in_order()
    for name, parameters in spec.scorers.items()
}
"""The scorers by the names that ``scoring=`` takes: those that the metrics declare."""

__all__ = sorted(SCORERS)


def __getattr__(name: str) -> Callable[..., float]:
    if name not in SCORERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}.")
    return SCORERS[name]


def __dir__() -> list[str]:
    return __all__
