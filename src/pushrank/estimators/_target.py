"""Checks of every fit: the features, and what is to be ranked."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import validate_data

from pushrank._base import validation
from pushrank._base.user_types import Floats, GenericArray, Label, Matrix, MatrixLike, Pairs, PerRow
from pushrank.pairs import BipartiteSample, GradedSample, Sample
from pushrank.pairs.targets import check_pairs_alone, sample_of_labels, sample_of_pairs
from pushrank.rows import RowSource
from pushrank.rows.order_statistics import InOnePart, ValueParts, Values, break_even_threshold
from pushrank.times import check_times

FORMATS = ["csr", "csc"]
DTYPES = [np.float64, np.float32]
# Below this value of alpha the optimum of separable data, of size 1 / alpha, overflows when it is squared.
MIN_ALPHA = 1e-30


@dataclass(frozen=True, eq=False)
class Target:
    """What a ranker should order: the sample says which rows should stand above which."""

    # `classes` are the sorted labels or grades, and None for explicit pairs; `codes` are the indices of the
    # rows' labels among them, `groups` the rows' query groups, and `times` what early stopping goes by.

    sample: Sample
    weights: Floats | None
    classes: GenericArray | None = None
    codes: GenericArray | None = None
    groups: NDArray[np.intp] | None = None
    times: GenericArray | None = None

    def at(self, time: PerRow) -> Self:
        """Return the target with the times of its rows, or raise ValueError."""
        if time is not None and (self.groups is not None or self.classes is None):
            raise ValueError("time is for the rows of one list; leave it or the query groups or pairs out.")
        return self if time is None else replace(self, times=check_times(time, self.sample.n_rows))

    @property
    def weights_below(self) -> Floats:
        """The weight of the rows below each class but the lowest; none for explicit pairs."""
        if self.codes is None or self.classes is None:
            return np.zeros(0)
        # The target's weights hold class weights too, which those of the sample may not.
        return np.cumsum(np.bincount(self.codes, self.weights, len(self.classes)))[:-1].astype(np.float64)

    def thresholds(self, scores: NDArray[np.floating]) -> Floats:
        """Return the break-even threshold above each class but the highest; zero for explicit pairs."""
        parts = InOnePart(Values(scores, self.weights))
        return break_even_thresholds(parts, scores, self.weights_below)


def validate_ranking(
    ranker: BaseEstimator,
    X: Any,
    y: PerRow,
    sample_weight: PerRow = None,
    *,
    qid: PerRow = None,
    pairs: Pairs = None,
    allow_missing: bool = False,
) -> tuple[Matrix, Target]:
    """Return checked features, and what to rank: two classes, grades, query groups or explicit pairs."""
    if pairs is not None:
        check_pairs_alone(y=y, qid=qid)
        X = _validated(ranker, X, allow_missing=allow_missing)
        weights = row_weights(sample_weight, X.shape[0])
        return X, Target(sample_of_pairs(pairs, X.shape[0], weights), weights)
    X, labels = _validated(ranker, X, validation.plain_labels(y), allow_missing=allow_missing)
    weights = row_weights(sample_weight, len(labels))
    sample, classes, codes, groups = sample_of_labels(type(ranker).__name__, labels, weights, qid)
    return X, Target(sample, weights, classes, codes, groups)


def validate_two_classes(
    ranker: BaseEstimator, X: MatrixLike, y: ArrayLike, sample_weight: PerRow = None
) -> tuple[Matrix, Target]:
    """Return checked features, and two classes to rank; as :func:`validate_ranking` otherwise."""
    X, labels = _validated(ranker, X, validation.plain_labels(y))
    return X, two_class_target(ranker, labels, sample_weight)


def two_class_target(ranker: BaseEstimator, y: ArrayLike, sample_weight: PerRow) -> Target:
    """Return two classes to rank, of labels and weights that are checked here."""
    labels = column_or_1d(validation.plain_labels(y), warn=True)
    assert_all_finite(labels, input_name="y")
    validation.check_labels(labels)
    classes, codes = validation.two_classes(labels, ranker=type(ranker).__name__)
    weights = row_weights(sample_weight, len(labels))
    return Target(BipartiteSample.from_mask(codes, weights), weights, classes, codes)


def queries_of(target: Target, qid: ArrayLike) -> GradedSample:
    """Return two classes compared within each query, of the queries with both; if none it is a ValueError."""
    groups = validation.group_numbers(qid, target.sample.n_rows)
    return GradedSample.from_grades(np.asarray(target.codes, dtype=np.float64), groups, target.weights)


def _validated(ranker: BaseEstimator, X: MatrixLike, *y: PerRow, allow_missing: bool = False) -> Any:
    """Return X, and y where there is one, as scikit-learn checks them."""
    # A warm start needs the features of the last fit, which are then compared and not set.
    continues = getattr(ranker, "warm_start", False) and hasattr(ranker, "threshold_")
    finite = "allow-nan" if allow_missing else True
    options = {"accept_sparse": FORMATS, "dtype": DTYPES, "reset": not continues}
    return checked_data(ranker, X, *y, ensure_all_finite=finite, **options)


def checked_data(ranker: BaseEstimator, X: MatrixLike, *y: PerRow, **options: object) -> Any:
    """Return what scikit-learn's ``validate_data`` does; where that fails, say what X is and what to do."""
    X = validation.checked_entries(X)
    try:
        # Arrays of other libraries become NumPy's, also where scikit-learn is set to keep them as they are.
        with config_context(array_api_dispatch=False):
            return validate_data(ranker, X, *y, **options)
    except (TypeError, ValueError) as error:
        if lies_elsewhere(X):
            raise TypeError(
                f"{type(ranker).__name__} needs X as an array here, and X is {type(X).__name__}: write the "
                "rows to a file by numpy.lib.format.open_memmap and pass numpy.load(file, mmap_mode='r'), "
                "which need not fit in memory for PNormPush, IRPush, PushRanker and TrimmedPush, or fit "
                "PerceptronAtK and SGDAtK by fit_stream; score rows that lie elsewhere part by part."
            ) from error
        if "could not convert string to float" not in str(error):
            raise
        table = np.asarray(X, dtype=object)
        column, text = next(
            (column, value)
            for column, values in enumerate(table.reshape(len(table), -1).T)
            for value in values
            if isinstance(value, str) and not _is_number(value)
        )
        name = f" ({X.columns[column]!r})" if hasattr(X, "columns") else ""
        raise ValueError(
            f"X must hold numbers, and column {column}{name} holds text such as {str(text)!r}: encode it, "
            "for example by OneHotEncoder in a ColumnTransformer. Boosted rankers with "
            "weak_rankers='stumps' take the text columns of a data frame as they are."
        ) from error


def lies_elsewhere(X: MatrixLike) -> bool:
    """Return whether X stands for rows elsewhere: on a cluster, in files that it names, or in an iterator."""
    some = X[0] if isinstance(X, list | tuple) and X else X
    # Only a dataset of pyarrow has fragments.
    return isinstance(some, RowSource | str | Path | Iterator) or hasattr(X, "get_fragments")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def row_weights(sample_weight: PerRow, n_rows: int) -> Floats | None:
    """Return checked sample weights; a number stands for that weight of every row."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_rows, float(sample_weight))
    return validation.checked_weights(sample_weight, n_rows)


def check_alpha(name: str, value: Any) -> None:
    """Raise unless an L2 strength is a number in its range."""
    validation.check_number(name, value, 0.0)
    if 0.0 < value < MIN_ALPHA:
        raise ValueError(
            f"{name} must be 0 or at least {MIN_ALPHA:g}, got {value!r}: the optimum of separable data, "
            "which grows as 1 / alpha, would be beyond the range of floats."
        )


def class_weighted(class_weight: str | Mapping[Label, float] | None, target: Target) -> tuple[Target, float]:
    """Return the target with class weights in the rows' weights, and the factor of all pairs' weight."""
    if class_weight is None:
        return target, 1.0
    if target.classes is None or target.codes is None:
        raise ValueError("class_weight needs classes, and pairs have none: give the pairs weights.")
    if not isinstance(class_weight, Mapping) and class_weight != "balanced":
        raise ValueError(f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}.")
    codes = np.asarray(target.codes, dtype=np.intp)
    by_class = compute_class_weight(
        class_weight, classes=target.classes, y=target.classes[codes], sample_weight=target.weights
    )
    if not np.all((by_class > 0.0) & np.isfinite(by_class)):
        raise ValueError(
            f"class_weight must be positive and finite for every class, got {class_weight!r}; leave rows out "
            "with sample_weight."
        )
    by_row = by_class[codes] * (1.0 if target.weights is None else target.weights)
    if isinstance(target.sample, BipartiteSample):
        return replace(target, weights=by_row), float(by_class.prod())
    groups = np.zeros(len(codes), dtype=np.intp) if target.groups is None else target.groups
    sample = GradedSample.from_grades(codes.astype(np.float64), groups, by_row)
    return replace(target, weights=by_row, sample=sample), sample.pair_weight / target.sample.pair_weight


def break_even_thresholds(scores: ValueParts, like: NDArray[np.floating], weights_below: Floats) -> Floats:
    """Return the break-even threshold above each class but the highest; zero for explicit pairs."""
    if not len(weights_below):
        return np.zeros(1)
    return np.array([break_even_threshold(scores, like, float(weight)) for weight in weights_below])


def sample_threshold(scores: NDArray[np.floating], sample: BipartiteSample) -> float:
    """Return the break-even threshold of the scores of two classes."""
    parts = InOnePart(Values(scores, sample.row_weights))
    return break_even_threshold(parts, scores, sample.class_weights[1])
