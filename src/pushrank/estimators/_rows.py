"""The door of linear fits: what X stands for is decided here, once."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from pushrank._base.numeric import Floats
from pushrank._base.user_types import Matrix, MatrixLike, PerRow
from pushrank._base.validation import warn_of_labels
from pushrank.estimators import _target
from pushrank.estimators._target import Target
from pushrank.models import linear_model
from pushrank.pairs import Sample
from pushrank.rows import MemoryRows, RowSource

RowsLike: TypeAlias = MatrixLike | RowSource
"""Features as users pass them, or rows that lie on the workers of a cluster."""


class TrainingRows(NamedTuple):
    """What a linear ranker is fitted to, wherever the rows lie."""

    # `classes` are the sorted labels or grades, None for explicit pairs, `weights_below` the weight of the
    # rows below each class but the lowest, and `coef_like` an array of the library, the device and the dtype
    # of the coefficients.

    source: RowSource
    classes: Any
    weights_below: Floats
    coef_like: Any

    def thresholds(self, coef: NDArray[np.floating]) -> Floats:
        """Return the break-even threshold above each class but the highest; zero for explicit pairs."""
        return _target.break_even_thresholds(self.source.score_parts(coef), coef, self.weights_below)


def ranking_rows(
    ranker: BaseEstimator, X: RowsLike, compare: Callable[[Sample], Sample], *, reduced: bool, **data: Any
) -> TrainingRows:
    """Return checked rows, and what to rank: two classes, grades, query groups or explicit pairs."""
    if isinstance(X, RowSource):
        return _rows_elsewhere(ranker, X, **data)
    X, target = _target.validate_ranking(ranker, X, **data)
    return _memory_rows(X, target, compare(target.sample), reduced=reduced)


def two_class_rows(
    ranker: BaseEstimator, X: Any, y: Any, sample_weight: PerRow, qid: PerRow, *, reduced: bool
) -> TrainingRows:
    """Return checked rows of two classes, in one list or compared within query groups."""
    if isinstance(X, RowSource):
        return _rows_elsewhere(ranker, X, y=y, sample_weight=sample_weight, qid=qid)
    X, target = _target.validate_two_classes(ranker, X, y, sample_weight)
    sample = target.sample if qid is None else _target.queries_of(target, qid)
    return _memory_rows(X, target, sample, reduced=reduced)


def _memory_rows(X: Matrix, target: Target, sample: Sample, *, reduced: bool) -> TrainingRows:
    source = MemoryRows(linear_model(X, reduced=reduced), sample, target.weights)
    return TrainingRows(source, target.classes, target.weights_below, X[:0, :])


def _rows_elsewhere(ranker: BaseEstimator, X: Any, **others: object) -> TrainingRows:
    """Return rows that lie elsewhere, and set the ranker's features; nothing else may be passed."""
    extra = [name for name, value in others.items() if value is not None]
    if extra:
        raise ValueError(
            f"{type(X).__name__} hold rows of two classes in one list, with their labels and weights: "
            f"{' and '.join(extra)} must be None."
        )
    _set_features(ranker, X.feature_names, X.n_features)
    warn_of_labels(X.classes, type(ranker).__name__)
    return TrainingRows(X, X.classes, np.array([X.class_weights[1]]), np.empty(0, X.dtype))


def _set_features(ranker: BaseEstimator, feature_names: list[str] | None, n_features: int) -> None:
    before = getattr(ranker, "feature_names_in_", None)
    names = None if feature_names is None else np.array(feature_names, dtype=object)
    if getattr(ranker, "warm_start", False) and hasattr(ranker, "coef_"):
        differ = before is not None and names is not None and not np.array_equal(before, names)
        if differ or len(ranker.coef_) != n_features:
            raise ValueError(
                f"a warm start needs the {len(ranker.coef_)} features of the last fit, and other ones were "
                "found; set warm_start=False."
            )
    ranker.n_features_in_ = n_features
    vars(ranker).pop("feature_names_in_", None)
    if names is not None:
        ranker.feature_names_in_ = names
