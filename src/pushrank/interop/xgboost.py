"""The push in XGBoost: objectives and measures for its own interfaces, and a ranker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from pushrank._base.files import trust_in_files
from pushrank._base.numeric import Floats
from pushrank._base.optional import import_optional
from pushrank._base.user_types import Matrix
from pushrank.interop._derivatives import CustomMetric, CustomObjective, custom_docs, labels_of_sizes
from pushrank.interop.boosters import BoosterRanker, TrainingSet, Validation, booster_docs, plainly_named

if TYPE_CHECKING:
    from xgboost import Booster, DMatrix

xgboost = import_optional("xgboost", "xgboost")

__all__ = ["PushXGBRanker", "XGBMetric", "XGBObjective"]

RESERVED = (
    "objective", "num_class", "eval_metric", "base_score", "missing", "num_boost_round",
    "early_stopping_rounds",
)  # fmt: skip


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


def _min_child_weight(rows: TrainingSet) -> float:
    """Return XGBoost's default, 1, or a tenth of the weight of all rows where few positives have less."""
    share = float(np.average(rows.labels, weights=rows.weights))
    total = float(len(rows.labels) if rows.weights is None else rows.weights.sum())
    return min(1.0, total * share * (1.0 - share) / 10.0)


class _XGBoost:
    """What rankers ask of XGBoost, as :class:`~pushrank.interop.boosters.Engine` says."""

    limits = "min_child_weight, gamma or reg_lambda"

    def params(self, ranker: BoosterRanker, seed: int) -> dict[str, Any]:
        booster_params = ranker._booster_params
        for name in RESERVED:
            if name in booster_params:
                why = f"{type(ranker).__name__} sets it itself"
                raise ranker._not_taken(name, why, ("early_stopping_rounds",))
        threads = {} if ranker.n_jobs is None else {"nthread": ranker.n_jobs}
        return {"disable_default_eval_metric": True, "seed": seed, **threads, **booster_params}

    def train(
        self, params: dict[str, Any], rows: TrainingSet, n_rounds: int, validation: Validation
    ) -> tuple[Any, dict[str, Any]]:
        _check_one_process("push")
        at_scores, threads = rows.derivatives, params.get("nthread")
        options: dict[str, Any] = {}
        paths: dict[str, Any] = {}
        if at_scores is None:
            params = {"objective": "binary:logistic", "min_child_weight": _min_child_weight(rows), **params}
            data = _matrix(rows.X, rows.labels, rows.weights, threads)
        else:
            # A push takes no notice of a constant, which would only cost digits in float32.
            params = params | {"base_score": 0.0}
            data = _matrix(rows.X, rows.labels, None, threads)
            options["obj"] = lambda scores, _: at_scores(scores)
        callbacks = list(validation.callbacks)
        if validation.patience is not None:
            callbacks.append(xgboost.callback.EarlyStopping(rounds=validation.patience))
        for stop in callbacks:
            if isinstance(stop, xgboost.callback.EarlyStopping):
                # XGBoost takes a measure whose name it does not know for an error.
                stop.maximize = True
        sets = validation.sets
        tables = [_matrix(part.X, part.labels, None, threads) for part in sets]
        options["evals"] = [(table, f"valid_{number}") for number, table in enumerate(tables)]
        options["custom_metric"] = lambda scores, table: ("score", sets[tables.index(table)].score(scores))
        options |= {"callbacks": callbacks, "evals_result": paths, "verbose_eval": False}
        booster = xgboost.train(params, data, n_rounds, **options)
        best = booster.attr("best_iteration")
        kept = booster if best is None else booster[: int(best) + 1]
        return kept, {name: dict(path) for name, path in paths.items()}

    def staged_scores(self, booster: Booster, X: Matrix) -> Iterator[Floats]:
        matrix = _matrix(X)
        for number in range(self.n_rounds(booster)):
            scores = _margins(booster, matrix, number, number + 1)
            yield scores
            # The scores so far stand in for the constant that XGBoost would add once more in every slice.
            matrix.set_base_margin(scores)

    def scores(self, booster: Booster, X: Matrix) -> Floats:
        return _margins(booster, _matrix(X))

    def parts(self, booster: Booster, X: Matrix) -> Any:
        return booster.predict(_matrix(X), pred_contribs=True, validate_features=False)

    def n_rounds(self, booster: Booster) -> int:
        return int(booster.num_boosted_rounds())

    def gains(self, booster: Booster) -> Floats:
        names = booster.feature_names or [f"f{number}" for number in range(booster.num_features())]
        gains = booster.get_score(importance_type="total_gain")
        return np.array([gains.get(name, 0.0) for name in names])

    def to_text(self, booster: Booster) -> str:
        return bytes(booster.save_raw("json")).decode()

    def from_text(self, text: str) -> Booster:
        booster = xgboost.Booster()
        booster.load_model(bytearray(text.encode()))
        return booster


def _matrix(
    X: Any, labels: ArrayLike | None = None, weights: ArrayLike | None = None, threads: int | None = None
) -> DMatrix:
    # XGBoost takes entries that a sparse matrix does not store for missing values, and they are zeros.
    X = X.toarray() if sp.issparse(X) else plainly_named(X)
    return xgboost.DMatrix(X, labels, weight=weights, enable_categorical=True, nthread=threads)


def _margins(booster: Booster, matrix: DMatrix, start: int = 0, stop: int = 0) -> Floats:
    """Return the sum of some rounds, by default of all."""
    # scikit-learn's checks have compared the names, and let arrays pass, which XGBoost would not.
    options = {"output_margin": True, "validate_features": False}
    return np.asarray(booster.predict(matrix, iteration_range=(start, stop), **options))


@booster_docs
class PushXGBRanker(BoosterRanker):
    r"""XGBoost's trees, grown so that the worst-placed negatives are pushed down the list.

    The ranker sets ``objective``, ``eval_metric``, ``base_score``, the number of rounds and early stopping
    itself; XGBoost warns of unknown parameters. By the log loss ``min_child_weight`` is by default 1, or a
    tenth of the weight of all rows where a few positives have less than 10, of which XGBoost would split
    none. Sparse matrices are made dense, since XGBoost would take their zeros for missing values. Categories
    that ``fit`` has not seen are scored as missing values. Chen and Guestrin, *XGBoost: A Scalable Tree
    Boosting System*, KDD 2016.

    %(booster)s

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = PushXGBRanker(p=4, max_depth=3, n_jobs=1).fit(X, y)
    >>> bool(y[ranker.rank(X)[:340]].all())
    True
    """

    engine = _XGBoost()


trust_in_files(PushXGBRanker)
