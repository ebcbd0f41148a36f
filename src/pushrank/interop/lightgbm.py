"""The push in LightGBM: objectives and measures for its own interfaces, and rankers.

Ke et al., *LightGBM: A Highly Efficient Gradient Boosting Decision Tree*, NeurIPS 2017; Cynthia Rudin, *The
P-Norm Push: A Simple Convex Ranking Algorithm that Concentrates at the Top of the List*, Journal of Machine
Learning Research 10 (2009), 2233-2271.
"""

from __future__ import annotations

import sys
from typing import Any

import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED

from pushrank._io import trust_in_files
from pushrank._numeric import Floats
from pushrank._optional import import_optional
from pushrank.estimators.push_cv import GroupRoutingMixin
from pushrank.interop._objective import CustomMetric, CustomObjective, labels_of_sizes
from pushrank.interop._ranker import (
    BoosterRankerMixin,
    Training,
    Validation,
    fit_ranker,
    init_ranker,
    no_split,
    shared_docs,
)
from pushrank.interop._search import fit_search, init_search

lightgbm = import_optional("lightgbm", "lightgbm")

__all__ = ["LGBMMetric", "LGBMObjective", "PushLGBMRanker", "PushLGBMRankerCV"]


@shared_docs
class LGBMObjective(CustomObjective):
    r"""A push as LightGBM's objective, in ``params={"objective": ...}`` or ``LGBMRegressor(objective=...)``.

    For the P-Norm Push on the log scale, with scores s of the positives and t of the negatives, the gradient
    is :math:`(-a, b)` and the second derivative :math:`(a, p b)`, with the softmaxes

    .. math:: a_i \propto w_i e^{-s_i}, \qquad b_k \propto w_k e^{p t_k} ,

    both times the weight of the positives. A diagonal of others, which is above their Hessian too, is derived
    in ``pushrank.pairs`` and ``pushrank.objectives``.

    Parameters
    ----------
    objective : PushObjective
        %(objective_of_booster)s

    Raises
    ------
    TypeError
        When it is no ``PushObjective``.
    ValueError
        When its loss or price has kinks.

    Notes
    -----
    Labels, weights and groups are those of the ``Dataset``; there may be grades of relevance. Time is linear
    in the rows for the exponential loss and other analytic ones, that of sorting for the squared hinge; many
    rows in one list have their gradients to the single precision in which boosters add up (under the squared
    hinge to some 1e-6 of their mean) from few rows that stand for them, in linear time for any loss. All
    rows are seen before any are drawn for a tree, so that bagging changes no gradient. LightGBM starts custom
    objectives at a score of 0. ``boosting="rf"`` refuses custom objectives. In LightGBM's Dask interface, and
    in ``lightgbm.train`` with ``machines``, where each worker would push its own rows alone, it is an error;
    ``LGBMRegressor(machines=...)`` does not tell it.

    A positive's second derivative is one in the mean, as many times larger as there are more positives than
    the sum of a softmax, so that ``min_child_weight`` and ``reg_lambda`` mean what they do for ``"binary"``.
    (By the number of rows instead, trees overfit more on sets with few positives: on letter H and ijcnn1
    average precision fell by .01 under XGBoost's defaults.) No row's is below its gradient, nor below 1e-6.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009).

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
        self, y_true: Any, y_pred: Any, weight: Any = None, group: Any = None
    ) -> tuple[Floats, Floats]:
        """Return the gradient and the diagonal, of either ``(preds, Dataset)`` or labels and scores."""
        _check_all_rows("push", y_pred)
        return self.at(*_unpacked(y_true, y_pred, weight, group))


@shared_docs
class LGBMMetric(CustomMetric):
    """A measure at the top as LightGBM's ``feval`` or ``eval_metric``, the higher the better.

    Parameters
    ----------
    scoring : str or callable
        The name of a scorer in :mod:`pushrank.metrics.scorers`, or a scorer, such as ``make_top_scorer``
        makes.
    name : str, optional
        What LightGBM should call it; that of the scorer's measure after ``pushrank_``, which no measure of
        its own begins with.

    Notes
    -----
    Turn off LightGBM's own measures by ``metric="None"``, or early stopping minds them too.

    Examples
    --------
    >>> from pushrank.metrics import make_top_scorer
    >>> LGBMMetric(make_top_scorer(k=2))([0, 0, 1, 1], [0.1, 0.3, 0.2, 0.4])
    ('pushrank_precision_at_k', 0.5, True)
    """

    def __call__(
        self, y_true: Any, y_pred: Any, weight: Any = None, group: Any = None
    ) -> tuple[str, float, bool]:
        """Return the name, the measure and that higher is better."""
        _check_all_rows("measure", y_pred)
        return self.__name__, self.of(*_unpacked(y_true, y_pred, weight, group)), True


def _unpacked(y_true: Any, y_pred: Any, weight: Any, group: Any) -> tuple[Any, Any, Any, Any]:
    """Return labels, scores, weights and query groups of either of LightGBM's two ways to call."""
    if isinstance(y_pred, lightgbm.Dataset):
        data, y_pred = y_pred, y_true
        y_true, weight, group = data.get_label(), data.get_weight(), data.get_group()
    return y_true, y_pred, weight, labels_of_sizes(group)


def _check_all_rows(verb: str, data: Any) -> None:
    """Raise where LightGBM has several workers, each with its own rows and no way to ask for the others'."""
    worker = sys.modules.get("distributed.worker")
    task = str(getattr(getattr(worker, "thread_state", None), "key", ""))
    params = data.params if isinstance(data, lightgbm.Dataset) else {}
    machines = "".join(str(params.get(alias)) for alias in ("machines", "workers", "nodes"))
    if task.startswith("_train_part") or "," in machines:  # several are a text with commas
        raise NotImplementedError(
            f"LightGBM has every worker {verb} its own rows alone, and a list is of all rows: train in one "
            "process."
        )


class LightGBM:
    """What rankers ask of LightGBM, as :class:`~pushrank.interop._ranker.Engine` says."""

    limits = "min_child_samples, min_child_weight or min_split_gain"

    def params(self, ranker: Any, seed: int) -> dict[str, Any]:
        """Return the library's parameters; unknown ones, and those that the ranker sets, are errors."""
        given = ranker._booster_params
        aliases = lightgbm.basic._ConfigAliases
        reserved = {
            alias: f"{type(ranker).__name__} sets {name} itself"
            for name in ("objective", "num_class", "metric", "num_iterations", "early_stopping_round")
            for alias in aliases.get(name)
        }
        known = set().union(*aliases._get_all_param_aliases().values())
        for name in given:
            if name in reserved or name not in known:
                why = reserved.get(name, "LightGBM has no such parameter")
                raise ValueError(f"{name}={given[name]!r} cannot be taken: {why}.")
        threads = {} if ranker.n_jobs is None else {"num_threads": ranker.n_jobs}
        # the same trees whatever the number of threads
        return {"verbosity": -1, "deterministic": True, "seed": seed, "metric": "None", **threads, **given}

    def train(
        self, params: dict[str, Any], training: Training, validation: Validation | None
    ) -> tuple[Any, list[float]]:
        """Return a booster, cut at its best round, and its validation scores after every round."""
        of_scores, weights = training.derivatives, None
        if of_scores is None:
            params, weights = params | {"objective": "binary"}, training.weights
        else:
            params = params | {"objective": lambda scores, _: of_scores(scores)}
        categories = params.pop("categorical_feature", "auto")
        data = lightgbm.Dataset(
            _table(training.X),
            training.labels,
            weight=weights,
            categorical_feature=categories,
            params=params | {"objective": "none"},
        ).construct()
        if not any(data.feature_num_bin(column) for column in range(data.num_feature())):
            raise no_split(len(training.labels), self.limits)  # LightGBM fails a check of its own
        path: dict[str, Any] = {}
        options: dict[str, Any] = {}
        if validation is not None:
            options = {
                "valid_sets": [data.create_valid(_table(validation.X), validation.labels)],
                "feval": lambda scores, _: ("score", validation.score(scores), True),
                "callbacks": [
                    lightgbm.early_stopping(validation.patience, verbose=False),
                    lightgbm.record_evaluation(path),
                ],
            }
        booster = lightgbm.train(params, data, training.n_rounds, **options)
        return booster, path["valid_0"]["score"] if path else []

    def scores(self, booster: Any, X: Any, start: int = 0, stop: int | None = None) -> Floats:
        """Return what some of the rounds add to the scores of rows."""
        n_rounds = None if stop is None else stop - start
        scores: Floats = booster.predict(
            _table(X), start_iteration=start, num_iteration=n_rounds, raw_score=True
        )
        return scores

    def n_rounds(self, booster: Any) -> int:
        """Return the number of rounds that are kept."""
        return int(booster.best_iteration if booster.best_iteration > 0 else booster.current_iteration())

    def gains(self, booster: Any) -> Floats:
        """Return by how much splits on each feature lowered the objective."""
        gains: Floats = booster.feature_importance("gain")
        return gains

    def to_text(self, booster: Any) -> str:
        """Return the library's own text of a booster."""
        text: str = booster.model_to_string()
        return text

    def from_text(self, text: str) -> Any:
        """Return the booster of a text."""
        return lightgbm.Booster(model_str=text)


def _table(X: Any) -> Any:
    """Return rows as LightGBM takes them, which knows scipy's sparse matrices, and not its sparse arrays."""
    return sp.csr_matrix(X) if sp.issparse(X) else X


ENGINE = LightGBM()


@shared_docs
class PushLGBMRanker(BoosterRankerMixin, BaseEstimator):
    r"""LightGBM's trees, grown so that the worst-placed negatives are pushed down the list.

    %(booster_ranker)s

    Notes
    -----
    A round costs one of LightGBM's, and time linear in the rows or that of sorting them, not in the pairs.
    Of the parameters, ``objective``, ``metric``, numbers of rounds and early stopping are the ranker's own.
    ``deterministic`` is True, so that neither threads nor the clock change a tree. Limits count rows whatever
    they weigh, but for rows of weight zero, which are left out. Categories that ``fit`` has not seen are
    scored as missing values. Models are saved with :func:`~pushrank.persistence.save`, as LightGBM's own
    text.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009); Ke et al., *LightGBM*, NeurIPS 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = PushLGBMRanker(p=4, num_leaves=7, learning_rate=0.1, n_jobs=1).fit(X, y)
    >>> bool(y[ranker.rank(X)[:340]].all())
    True
    """

    _engine = ENGINE
    __init__ = init_ranker
    fit = fit_ranker


@shared_docs
class PushLGBMRankerCV(BoosterRankerMixin, BaseEstimator):
    r"""LightGBM for the first rows that you can act on, its objective and rounds chosen by cross-validation.

    Of :class:`PushLGBMRanker` at several strengths p of the push, LightGBM's own log loss among them, and at
    several numbers of rounds it takes the one with the best precision at your budget,

    %(booster_search)s

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = PushLGBMRankerCV(100, ps=("binary", 4), n_estimators=(10, 20), cv=2, n_jobs=1).fit(X, y)
    >>> search.best_params_["p"], int(y[search.rank(X)[:100]].sum())
    ('binary', 100)
    """

    __metadata_request__fit = {"groups": UNUSED}  # noqa: RUF012
    get_metadata_routing = GroupRoutingMixin.get_metadata_routing
    _engine = ENGINE
    _ranker = PushLGBMRanker
    __init__ = init_search
    fit = fit_search


trust_in_files(PushLGBMRanker, PushLGBMRankerCV)
