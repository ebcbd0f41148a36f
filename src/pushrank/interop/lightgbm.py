"""The push in LightGBM: objectives and measures for its own interfaces, and a ranker."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from pushrank._base.files import trust_in_files
from pushrank._base.numeric import Floats
from pushrank._base.optional import import_optional
from pushrank._base.user_types import Matrix
from pushrank.interop._derivatives import CustomMetric, CustomObjective, custom_docs, labels_of_sizes
from pushrank.interop.boosters import (
    BoosterRanker,
    TrainingSet,
    Validation,
    booster_docs,
    no_split,
    plainly_named,
)

if TYPE_CHECKING:
    from lightgbm import Booster, Dataset

    Values: TypeAlias = ArrayLike | Dataset

lightgbm = import_optional("lightgbm", "lightgbm")

__all__ = ["LGBMMetric", "LGBMObjective", "PushLGBMRanker"]


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


# LightGBM's own default, which leaves nothing to split of a few dozen rows.
MIN_LEAF_ROWS = 20


class _LightGBM:
    """What rankers ask of LightGBM, as :class:`~pushrank.interop.boosters.Engine` says."""

    limits = "min_child_samples, min_child_weight or min_split_gain"

    def params(self, ranker: BoosterRanker, seed: int) -> dict[str, Any]:
        booster_params = ranker._booster_params
        aliases = lightgbm.basic._ConfigAliases
        reserved = {
            alias: f"{type(ranker).__name__} sets {name} itself"
            for name in ("objective", "num_class", "metric", "num_iterations", "early_stopping_round")
            for alias in aliases.get(name)
        }
        names = set().union(*aliases._get_all_param_aliases().values())
        for name in booster_params:
            if name in reserved or name not in names:
                why = reserved.get(name, "LightGBM has no such parameter")
                raise ranker._not_taken(name, why, aliases.get("early_stopping_round"))
        threads = {} if ranker.n_jobs is None else {"num_threads": ranker.n_jobs}
        # By ``deterministic`` the trees are the same whatever the number of threads.
        fixed = {"verbosity": -1, "deterministic": True, "seed": seed, "metric": "None"}
        return {**fixed, **threads, **booster_params}

    def train(
        self, params: dict[str, Any], rows: TrainingSet, n_rounds: int, validation: Validation
    ) -> tuple[Any, dict[str, Any]]:
        at_scores = rows.derivatives
        objective = "binary" if at_scores is None else lambda scores, _: at_scores(scores)
        params = params | {"objective": objective}
        if not lightgbm.basic._ConfigAliases.get("min_data_in_leaf") & params.keys():
            params["min_data_in_leaf"] = min(MIN_LEAF_ROWS, max(1, len(rows.labels) // 10))
        read: dict[str, Any] = {"categorical_feature": params.pop("categorical_feature", "auto")}
        read["params"] = params | {"objective": "none"}
        # A push has the weights in its derivatives.
        weights = rows.weights if at_scores is None else None
        data = lightgbm.Dataset(_table(rows.X), rows.labels, weight=weights, **read).construct()
        # Without a column to split LightGBM fails a check of its own, with a message for its developers.
        if not any(data.feature_num_bin(column) for column in range(data.num_feature())):
            raise no_split(len(rows.labels), self.limits)
        paths: dict[str, Any] = {}
        callbacks = [*validation.callbacks, lightgbm.record_evaluation(paths)]
        if validation.patience is not None:
            callbacks.append(lightgbm.early_stopping(validation.patience, verbose=False))
        sets = validation.sets
        tables = [data.create_valid(_table(part.X), part.labels) for part in sets]
        options: dict[str, Any] = {"valid_sets": tables, "callbacks": callbacks}
        options["feval"] = lambda scores, table: ("score", sets[tables.index(table)].score(scores), True)
        booster = lightgbm.train(params, data, n_rounds, **options)
        return booster, {name: dict(path) for name, path in paths.items()}

    def staged_scores(self, booster: Booster, X: Matrix) -> Iterator[Floats]:
        table, scores = _table(X), 0.0
        for number in range(self.n_rounds(booster)):
            scores = scores + booster.predict(table, number, num_iteration=1, raw_score=True)
            yield scores

    def scores(self, booster: Booster, X: Matrix) -> Floats:
        return np.asarray(booster.predict(_table(X), raw_score=True))

    def parts(self, booster: Booster, X: Matrix) -> Any:
        return booster.predict(_table(X), pred_contrib=True)

    def n_rounds(self, booster: Booster) -> int:
        return int(booster.best_iteration if booster.best_iteration > 0 else booster.current_iteration())

    def gains(self, booster: Booster) -> Floats:
        return np.asarray(booster.feature_importance("gain"))

    def to_text(self, booster: Booster) -> str:
        return str(booster.model_to_string())

    def from_text(self, text: str) -> Booster:
        return lightgbm.Booster(model_str=text)


def _table(X: Matrix) -> Matrix:
    """Return rows as LightGBM takes them: scipy's sparse matrices, not its sparse arrays."""
    return sp.csr_matrix(X) if sp.issparse(X) else plainly_named(X)


@booster_docs
class PushLGBMRanker(BoosterRanker):
    r"""LightGBM's trees, grown so that the worst-placed negatives are pushed down the list.

    The ranker sets ``objective``, ``metric``, the number of rounds and early stopping itself.
    ``min_child_samples`` is by default 20, or one in ten of less than 200 training rows, of which LightGBM
    would split few. ``deterministic`` is True, so that neither threads nor the clock change a tree. Limits
    count rows whatever they weigh. Categories that ``fit`` has not seen are scored as missing values. Ke et
    al., *LightGBM: A Highly Efficient Gradient Boosting Decision Tree*, NeurIPS 2017.

    %(booster)s

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = PushLGBMRanker(p=4, num_leaves=7, learning_rate=0.1, n_jobs=1).fit(X, y)
    >>> bool(y[ranker.rank(X)[:340]].all())
    True
    """

    engine = _LightGBM()


trust_in_files(PushLGBMRanker)
