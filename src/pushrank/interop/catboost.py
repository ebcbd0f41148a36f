"""CatBoost as a ranker, with its own log loss."""

from __future__ import annotations

from base64 import b64decode, b64encode
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from pushrank._docstrings import shared_docs
from pushrank._optional import import_optional
from pushrank.files import trust_in_files
from pushrank.interop.boosters import BINARY, BoosterRanker, TrainingSet, no_split
from pushrank.user_types import Seed

# CatBoost itself needs pandas.
catboost, pandas = import_optional("catboost", "catboost"), import_optional("pandas", "catboost")

__all__ = ["CatBoostRanker"]

RESERVED = {"loss_function", "objective", "iterations", "num_boost_round", "num_trees", "thread_count"}
RESERVED |= {"random_seed", "early_stopping_rounds", "od_type", "od_wait", "od_pval", "use_best_model"}
RAW = {"prediction_type": "RawFormulaVal"}


class _CatBoost:
    """What rankers ask of CatBoost, as :class:`~pushrank.interop.boosters.Engine` says."""

    limits = "min_data_in_leaf"

    def params(self, ranker: BoosterRanker, seed: int) -> dict[str, Any]:
        for name in RESERVED & ranker._booster_params.keys():
            raise ranker._not_taken(name, f"{type(ranker).__name__} sets it itself", ())
        fixed = {"loss_function": "Logloss", "random_seed": seed, "thread_count": ranker.n_jobs or -1}
        return fixed | {"allow_writing_files": False, "verbose": False} | ranker._booster_params

    def train(self, params: dict[str, Any], rows: TrainingSet, n_rounds: int, _: Any) -> tuple[Any, Any]:
        codes = {place for place, kind in enumerate(getattr(rows.X, "dtypes", ())) if kind == "category"}
        codes.update(params.pop("cat_features", None) or ())
        if strange := codes - set(range(rows.X.shape[1])):
            raise ValueError(f"cat_features must be positions of columns, got {strange.pop()!r}.")
        pool = _pool(rows.X, sorted(codes), rows.labels, rows.weights)
        try:
            return catboost.CatBoost(params | {"iterations": n_rounds}).fit(pool), {}
        except catboost.CatBoostError as error:
            if "constant" in str(error):
                raise no_split(len(rows.labels), self.limits) from error
            raise ValueError(f"CatBoost refuses the fit: {error}") from error

    def staged_scores(self, booster: Any, X: Any) -> Any:
        return booster.staged_predict(_pool(X, booster.get_cat_feature_indices()), **RAW)

    def scores(self, booster: Any, X: Any) -> Any:
        return booster.predict(_pool(X, booster.get_cat_feature_indices()), **RAW)

    def parts(self, booster: Any, X: Any) -> Any:
        return booster.get_feature_importance(_pool(X, booster.get_cat_feature_indices()), "ShapValues")

    def n_rounds(self, booster: Any) -> int:
        return int(booster.tree_count_)

    def gains(self, booster: Any) -> Any:
        return np.asarray(booster.get_feature_importance(type="PredictionValuesChange"))

    def to_text(self, booster: Any) -> str:
        with TemporaryDirectory() as folder:
            booster.save_model(path := f"{folder}/model.cbm", format="cbm")
            return b64encode(Path(path).read_bytes()).decode()

    def from_text(self, text: str) -> Any:
        return catboost.CatBoost().load_model(format="cbm", blob=b64decode(text))


def _pool(X: Any, codes: list[int], labels: Any = None, weights: Any = None) -> Any:
    # scikit-learn's checks have compared the names, and let arrays pass, which CatBoost would not.
    frame = pandas.DataFrame(X.toarray() if sp.issparse(X) else X).set_axis(range(X.shape[1]), axis=1)
    for place in codes:
        # CatBoost takes integers and texts for categories, and no missing ones.
        column = frame.iloc[:, place]
        values = column.cat.codes if column.dtype == "category" else column.fillna(-1)
        if (values % 1 != 0).any():
            raise ValueError(f"cat_features names column {place}, which holds other than whole numbers.")
        frame.isetitem(place, values.astype(np.int64))
    return catboost.Pool(frame, labels, cat_features=codes, weight=weights)


@shared_docs
class CatBoostRanker(BoosterRanker):
    r"""CatBoost's trees, grown by its log loss, and not by a push.

    Its learning rate is by default CatBoost's, which goes with the numbers of rows and rounds. Prokhorenkova
    et al., *CatBoost: unbiased boosting with categorical features*, NeurIPS 2018.

    Parameters
    ----------
    n_estimators : int
    n_jobs : int or None
        The number of threads; None takes CatBoost's default, all processors.
    random_state : int, RandomState or None
    **params
        Any other parameter of CatBoost, such as ``depth``. ``cat_features`` are the positions of columns of
        whole numbers that stand for categories; categorical columns of pandas frames are among them.

    Attributes
    ----------
    booster_ : CatBoost
    %(threshold_)s
    classes_, thresholds_, feature_importances_, n_iter_, best_round_, validation_path_, evals_result_
        As those of :class:`~pushrank.interop.xgboost.PushXGBRanker` with ``p="binary"``.
    %(features_)s

    Examples
    --------
    >>> ranker = CatBoostRanker(n_estimators=20, n_jobs=1).fit([[0.0], [1.0], [2.0]] * 9, [0, 0, 1] * 9)
    >>> ranker.predict([[0.5], [2.5]])
    array([0, 1])
    """

    engine = _CatBoost()
    # A fit of fewer rounds has another learning rate.
    price, early_stopping, refit, scoring, _rounds_nest = None, False, False, None, False
    p: Any = BINARY

    def __init__(
        self, *, n_estimators: int = 1000, n_jobs: int | None = None, random_state: Seed = None, **params: Any
    ) -> None:
        self.n_estimators, self.n_jobs, self.random_state = n_estimators, n_jobs, random_state
        self._booster_params = params

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Learn a ranking from two classes; NaN are missing values."""
        return super().fit(X, y, sample_weight)


trust_in_files(CatBoostRanker)
