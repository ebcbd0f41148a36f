"""The push in LightGBM: objectives and measures for its own interfaces."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeAlias

from numpy.typing import ArrayLike

from pushrank._base.numeric import Floats
from pushrank._base.optional import import_optional
from pushrank.interop._derivatives import CustomMetric, CustomObjective, custom_docs, labels_of_sizes

if TYPE_CHECKING:
    from lightgbm import Dataset

    Values: TypeAlias = ArrayLike | Dataset

lightgbm = import_optional("lightgbm", "lightgbm")

__all__ = ["LGBMMetric", "LGBMObjective"]


@custom_docs
class LGBMObjective(CustomObjective):
    r"""A push as LightGBM's objective, in ``params={"objective": ...}`` or ``LGBMRegressor(objective=...)``.

    For the P-Norm Push on the log scale, with scores s of the positives and t of the negatives, the gradient
    is :math:`(-a, b)` and the second derivative :math:`(a, p b)`, with the softmaxes

    .. math:: a_i \propto w_i e^{-s_i}, \qquad b_k \propto w_k e^{p t_k} ,

    both times the weight of the positives. Other objectives have a diagonal that is likewise above their
    Hessian; it is derived in ``pushrank.pairs`` and ``pushrank.objectives``.

    Labels, weights and groups are those of the ``Dataset``; there may be grades of relevance. Time is linear
    in the rows for the exponential loss and other analytic ones, that of sorting for the squared hinge. Many
    rows in one list have their gradients to the single precision in which boosters add up (under the squared
    hinge to some 1e-6 of their mean) from few rows that stand for them, in linear time for any loss. All
    rows are seen before any are drawn for a tree, so that bagging changes no gradient. LightGBM starts custom
    objectives at a score of 0. ``boosting="rf"`` refuses custom objectives. In LightGBM's Dask interface, and
    in ``lightgbm.train`` with ``machines``, each worker would push its own rows alone: that is a
    ``NotImplementedError``. Only ``LGBMRegressor(machines=...)`` does not show that it is one of several.

    A positive's second derivative is one in the mean, so that ``min_child_weight`` and ``reg_lambda`` mean
    what they do for ``"binary"``. No row's is below its gradient, nor 1e-6. Rudin, JMLR 10 (2009).

    %(custom_objective)s

    Examples
    --------
    >>> import lightgbm
    >>> from sklearn.datasets import load_breast_cancer
    >>> from pushrank import PushObjective
    >>> from pushrank.prices import Power
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> push = LGBMObjective(PushObjective(price=Power(4.0), scale="log"))
    >>> params = {"objective": push, "num_leaves": 7, "verbosity": -1, "num_threads": 1}
    >>> booster = lightgbm.train(params, lightgbm.Dataset(X, y), num_boost_round=20)
    >>> bool(y[booster.predict(X).argsort()[-300:]].all())
    True
    """

    def __call__(
        self, y_true: Values, y_pred: Values, weight: ArrayLike | None = None, group: ArrayLike | None = None
    ) -> tuple[Floats, Floats]:
        """Return the gradient and the diagonal, of either ``(preds, Dataset)`` or labels and scores."""
        _check_one_process("push", y_pred)
        return self.derivatives(*_unpacked(y_true, y_pred, weight, group))


@custom_docs
class LGBMMetric(CustomMetric):
    """A measure at the top as LightGBM's ``feval`` or ``eval_metric``, the higher the better.

    Turn off LightGBM's own measures by ``metric="None"``, or early stopping minds them too.

    %(custom_metric)s

    Examples
    --------
    >>> from pushrank.metrics import make_top_scorer
    >>> LGBMMetric(make_top_scorer(k=2))([0, 0, 1, 1], [0.1, 0.3, 0.2, 0.4])
    ('pushrank_precision_at_k', 0.5, True)
    """

    def __call__(
        self, y_true: Values, y_pred: Values, weight: ArrayLike | None = None, group: ArrayLike | None = None
    ) -> tuple[str, float, bool]:
        """Return the name, the measure and that higher is better."""
        _check_one_process("measure", y_pred)
        return self.__name__, self.measure(*_unpacked(y_true, y_pred, weight, group)), True


def _unpacked(y_true: Any, y_pred: Any, weight: Any, group: Any) -> tuple[Any, Any, Any, Any]:
    """Return labels, scores, weights and query groups of either of LightGBM's two ways to call."""
    if isinstance(y_pred, lightgbm.Dataset):
        data, y_pred = y_pred, y_true
        y_true, weight, group = data.get_label(), data.get_weight(), data.get_group()
    return y_true, y_pred, weight, labels_of_sizes(group)


def _check_one_process(verb: str, data: object) -> None:
    """Raise where LightGBM has several workers, each with its own rows and no way to ask for the others'."""
    worker = sys.modules.get("distributed.worker")
    task = str(getattr(getattr(worker, "thread_state", None), "key", ""))
    params = data.params if isinstance(data, lightgbm.Dataset) else {}
    machines = "".join(str(params.get(alias)) for alias in ("machines", "workers", "nodes"))
    # LightGBM's tasks on Dask have this name; several machines are a text with commas.
    if task.startswith("_train_part") or "," in machines:
        raise NotImplementedError(
            f"LightGBM has every worker {verb} its own rows alone, and a list is of all rows: train in one "
            "process."
        )
