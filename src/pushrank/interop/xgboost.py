"""The push in XGBoost: objectives and measures for its own interfaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from pushrank._base.numeric import Floats
from pushrank._base.optional import import_optional
from pushrank.interop._derivatives import CustomMetric, CustomObjective, custom_docs, labels_of_sizes

if TYPE_CHECKING:
    from xgboost import DMatrix

xgboost = import_optional("xgboost", "xgboost")

__all__ = ["XGBMetric", "XGBObjective"]


@custom_docs
class XGBObjective(CustomObjective):
    """A push as the objective of XGBoost: ``xgboost.train(..., obj=...)`` or ``XGBRegressor(objective=...)``.

    Gradient and second derivative are those of :class:`~pushrank.interop.lightgbm.LGBMObjective`.

    Where XGBoost trains in several processes, under Dask, Spark or Ray, each process would push its own rows
    alone: that is a ``NotImplementedError``.

    A push takes no notice of a constant, so that ``base_score`` only costs digits in float32: give 0, or 0.5
    to ``XGBClassifier``, which takes it for a probability. ``XGBRanker`` refuses custom objectives: query
    groups go by ``DMatrix(..., qid=...)`` to ``xgboost.train``, which takes grades of relevance, too. Rudin,
    *The P-Norm Push*, JMLR 10 (2009).

    %(custom_objective)s

    Examples
    --------
    >>> import xgboost
    >>> from sklearn.datasets import load_breast_cancer
    >>> from pushrank import PushObjective
    >>> from pushrank.prices import Power
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> push = XGBObjective(PushObjective(price=Power(4.0), scale="log"))
    >>> params = {"base_score": 0.0, "max_depth": 3, "nthread": 1}
    >>> booster = xgboost.train(params, xgboost.DMatrix(X, y), num_boost_round=20, obj=push)
    >>> bool(y[booster.predict(xgboost.DMatrix(X)).argsort()[-300:]].all())
    True
    """

    def __call__(
        self, y_true: ArrayLike | DMatrix, y_pred: ArrayLike | DMatrix, sample_weight: ArrayLike | None = None
    ) -> tuple[Floats, Floats]:
        """Return the gradient and the diagonal, of either ``(preds, DMatrix)`` or labels and scores."""
        _check_one_process("push")
        return self.derivatives(*_unpacked(y_true, y_pred, sample_weight))


@custom_docs
class XGBMetric(CustomMetric):
    """A measure at the top as XGBoost's ``custom_metric`` or ``eval_metric``, the higher the better.

    XGBoost takes a measure whose name it does not have for an error, the lower the better. Early stopping
    learns otherwise from ``xgboost.callback.EarlyStopping(rounds=20, maximize=True)`` among the callbacks,
    and XGBoost's own measure is turned off by ``disable_default_eval_metric=True`` among the parameters.

    %(custom_metric)s

    Examples
    --------
    >>> from pushrank.metrics import make_top_scorer
    >>> XGBMetric(make_top_scorer(k=2))([0, 0, 1, 1], [0.1, 0.3, 0.2, 0.4])
    0.5
    """

    def __call__(
        self, y_true: ArrayLike | DMatrix, y_pred: ArrayLike | DMatrix, sample_weight: ArrayLike | None = None
    ) -> Any:
        """Return the measure, and before it the name where ``xgboost.train`` asks."""
        _check_one_process("measure")
        measure = self.measure(*_unpacked(y_true, y_pred, sample_weight))
        return (self.__name__, measure) if isinstance(y_pred, xgboost.DMatrix) else measure


def _unpacked(y_true: Any, y_pred: Any, weights: Any) -> tuple[Any, Any, Any, Any]:
    """Return labels, scores, weights and query groups of either of XGBoost's two ways to call."""
    if not isinstance(y_pred, xgboost.DMatrix):
        return y_true, y_pred, weights, None
    weights, starts = y_pred.get_weight(), y_pred.get_uint_info("group_ptr")
    return y_pred.get_label(), y_true, weights if len(weights) else None, labels_of_sizes(np.diff(starts))


def _check_one_process(verb: str) -> None:
    """Raise where XGBoost trains in several processes, each of which calls with its own rows alone."""
    if xgboost.collective.get_world_size() > 1:
        raise NotImplementedError(
            f"XGBoost has every process {verb} its own rows alone, and a list is of all rows: train in one "
            "process."
        )
