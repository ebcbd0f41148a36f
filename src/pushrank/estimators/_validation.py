"""The estimators' one door: constructor parameters and training data are checked here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from pushrank._array import Floats, detached, is_numpy, namespace, to_host
from pushrank.estimators._target import Target
from pushrank.pairs import ArraySample, BipartiteSample, CrucialSample, GradedSample, Sample, checked_weights
from pushrank.pairs.array_sample import weights_beside

FORMATS = ["csr", "csc"]
DTYPES = [np.float64, np.float32]
LEAST_ALPHA = 1e-30
WIDEST_ELSEWHERE = 1024  # features of arrays that are not NumPy's, whose covariance is formed


def float_types(X: Any) -> list[Any]:
    """Return the dtypes that are used as they are, in the terms of the library of X."""
    if is_numpy(X) or not get_config()["array_api_dispatch"]:
        return DTYPES
    xp = namespace(X)
    return [xp.float64, xp.float32]


def check_number(
    name: str, value: Any, least: float, *, exclusive: bool = False, integer: bool = False
) -> None:
    """Raise unless a constructor parameter is a finite number in its range.

    Raises
    ------
    TypeError
        When it is not a number of the right kind.
    ValueError
        When it is out of range.
    """
    kind = Integral if integer else Real
    if isinstance(value, bool) or not isinstance(value, kind):
        what = "an integer" if integer else "a number"
        raise TypeError(f"{name} must be {what}, got {value!r}.")
    too_small = value <= least if exclusive else value < least
    if too_small or not np.isfinite(float(value)):
        bound = ">" if exclusive else ">="
        raise ValueError(f"{name} must be finite and {bound} {least:g}, got {value!r}.")


def check_alpha(name: str, value: Any) -> None:
    """Raise unless an L2 strength is a number in its range.

    Raises
    ------
    TypeError
        When it is not a number.
    ValueError
        When it is negative, not finite, or so small that an optimum may be beyond the range of floats.
    """
    check_number(name, value, 0.0)
    if 0.0 < value < LEAST_ALPHA:
        raise ValueError(
            f"{name} must be 0 or at least {LEAST_ALPHA:g}, got {value!r}: the optimum of separable data, "
            "which grows as 1 / alpha, would be beyond the range of floats."
        )


def check_solver(name: Any, choices: Iterable[str]) -> None:
    """Raise unless the solver is one of the choices.

    Raises
    ------
    ValueError
        When it is not.
    """
    choices = sorted(choices)
    if name not in choices:
        raise ValueError(f"solver must be one of {choices}, got {name!r}.")


def training_data(
    estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Any, Target]:
    """Return checked features and two classes to rank.

    ``X`` is passed on without a copy where it is float32 or float64, dense, CSR or CSC.

    Raises
    ------
    ValueError
        When ``y`` has not exactly two classes of positive weight, or anything is not finite or of the wrong
        shape.
    """
    checked: NDArray[Any]
    X, checked = validate_data(estimator, detached(X), y, accept_sparse=FORMATS, dtype=float_types(X))
    if not is_numpy(X):
        return X, _target_elsewhere(estimator, X, checked, sample_weight)
    check_classification_targets(checked)
    classes = np.unique(checked)
    if len(classes) != 2:
        raise ValueError(
            f"{_not_binary(estimator, classes)} For one class against the rest pass y == that_class."
        )
    weights = row_weights(sample_weight, len(checked))
    codes = checked == classes[1]
    return X, Target(BipartiteSample.from_mask(codes, weights), weights, classes, codes)


def row_weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats | None:
    """Return checked sample weights, one number standing for all rows alike.

    Raises
    ------
    ValueError
        When there is not one a row, or one is negative or not finite.
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        return np.full(n_rows, float(sample_weight))
    weights = checked_weights(sample_weight)
    check_consistent_length(np.zeros(n_rows), weights)
    return weights


def ranking_data(
    estimator: Any,
    X: Any,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None = None,
    group: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pairs: Any = None,
    *,
    allow_missing: bool = False,
) -> tuple[Any, Target]:
    """Return checked features, and what to rank: two classes, grades, query groups or explicit pairs.

    Parameters
    ----------
    estimator : object
        The ranker, which learns the names of the features.
    X, y, sample_weight, group, qid, pairs
        As given to ``fit``.
    allow_missing : bool, default=False
        Whether features may be NaN.

    Raises
    ------
    ValueError
        When data are not finite or not of one length, there is nothing to rank, or targets are given twice.
    """
    options: dict[str, Any] = {"accept_sparse": FORMATS, "dtype": float_types(X)}
    if allow_missing:
        options["ensure_all_finite"] = "allow-nan"
    if pairs is not None:
        given = {"y": y, "group": group, "qid": qid}
        if any(value is not None for value in given.values()):
            names = [name for name, value in given.items() if value is not None]
            raise ValueError(f"pairs say what to rank, so {' and '.join(names)} must be None beside them.")
        X = validate_data(estimator, X, **options)
        if not is_numpy(X):
            raise ValueError("pairs are taken with NumPy arrays only; convert X.")
        weights = row_weights(sample_weight, X.shape[0])
        return X, Target(crucial_pairs(pairs, X.shape[0], weights), weights)
    X, labels = validate_data(estimator, detached(X), y, **options)
    if not is_numpy(X):
        if group is not None or qid is not None:
            raise ValueError("query groups are taken with NumPy arrays only; convert X and y.")
        return X, _target_elsewhere(estimator, X, labels, sample_weight)
    check_classification_targets(labels)
    weights = row_weights(sample_weight, len(labels))
    classes = np.unique(labels)
    if len(classes) > 2 and weights is not None:
        classes = np.unique(labels[weights > 0.0])
    if len(classes) < 2 or (len(classes) > 2 and classes.dtype.kind not in "iuf"):
        raise ValueError(
            f"{_not_binary(estimator, classes)} More than two classes are taken as grades of relevance, "
            "which must be numbers, the higher the better. For one class against the rest pass "
            "y == that_class."
        )
    groups = group_numbers(group, qid, len(labels))
    if len(classes) == 2 and groups is None:
        codes = labels == classes[1]
        sample: Sample = BipartiteSample.from_mask(codes, weights)
    else:
        # a grade without weight counts as a neighbour
        codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
        together = np.zeros(len(codes), dtype=np.intp) if groups is None else groups
        sample = GradedSample.from_grades(codes.astype(np.float64), together, weights)
    return X, Target(sample, weights, classes, codes, groups)


def _target_elsewhere(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Target:
    """Return two classes to rank, of arrays on another device.

    Raises
    ------
    TypeError
        When the estimator takes NumPy arrays only.
    ValueError
        As for two classes of NumPy arrays, and when there are too many features.
    """
    if not estimator.__sklearn_tags__().array_api_support:
        raise TypeError(
            f"{type(estimator).__name__} takes NumPy arrays and sparse matrices only; convert X, or use "
            "PushRanker, which takes arrays of other libraries."
        )
    if X.shape[1] > WIDEST_ELSEWHERE:
        raise ValueError(
            f"{X.shape[1]} features were found, and arrays other than NumPy's may have {WIDEST_ELSEWHERE}; "
            "convert X to NumPy or a sparse matrix."
        )
    if is_numpy(y):
        raise ValueError("y must be an array of the library and device of X.")
    xp = namespace(X)
    classes = xp.sort(xp.unique_values(y))
    if classes.shape[0] != 2:
        raise ValueError(
            f"{_not_binary(estimator, to_host(classes))} For one class against the rest pass y == that_class."
        )
    weights = weights_beside(y, sample_weight)
    return Target(ArraySample.from_mask(y == classes[1], weights), weights, classes)


def group_numbers(group: ArrayLike | None, qid: ArrayLike | None, n_rows: int) -> NDArray[np.intp] | None:
    """Return a group number for each row, or None where all rows are one list.

    Raises
    ------
    ValueError
        When both are given, or lengths or sizes do not fit the rows.
    """
    if group is None and qid is None:
        return None
    if group is not None and qid is not None:
        raise ValueError("group and qid say the same thing in two ways: give one of them, not both.")
    given = column_or_1d(group if qid is None else qid)
    missing = np.flatnonzero([entry is None or entry != entry for entry in given.tolist()])
    if len(missing):
        raise ValueError(
            f"{'qid' if group is None else 'group'} has no entry in row {missing[0]}; give every row one, or "
            "leave the row out."
        )
    if len(given) == n_rows:
        numbers: NDArray[np.intp] = np.unique(given, return_inverse=True)[1].astype(np.intp)
        return numbers
    name = "qid" if group is None else "group"
    if name == "group" and given.dtype.kind in "iu" and np.all(given >= 0) and given.sum() == n_rows:
        return np.repeat(np.arange(len(given)), given)
    what = "one entry a row" if name == "qid" else "one entry a row, or the sizes of consecutive groups"
    raise ValueError(f"{name} must hold {what}; found {len(given)} entries for {n_rows} rows.")


def crucial_pairs(pairs: Any, n_rows: int, weights: Floats | None) -> CrucialSample:
    """Return the sample of explicit pairs ``(better, worse)`` or ``(better, worse, weight)``.

    Raises
    ------
    ValueError
        When row numbers are out of range, a row is paired with itself, or lengths or weights do not fit.
    TypeError
        When pairs are not two or three columns, or row numbers are not integers.
    """
    is_table = getattr(pairs, "ndim", 0) == 2
    columns = list(np.asarray(pairs).T) if is_table else list(pairs)
    if len(columns) not in (2, 3):
        raise TypeError(
            "pairs must be (better, worse) or (better, worse, weight), or an array with these columns; found "
            f"{len(columns)} parts. A list of pairs becomes such an array by np.array(pairs)."
        )
    rows: list[NDArray[np.intp]] = []
    for name, column in zip(("better", "worse"), columns, strict=False):
        numbers = column_or_1d(column)
        if not len(numbers):
            raise ValueError(f"pairs: {name} is empty; there must be at least one pair.")
        if numbers.dtype.kind == "f" and is_table and np.all(numbers == np.floor(numbers)):
            numbers = numbers.astype(np.intp)  # beside a column of weights, row numbers are floats too
        if numbers.dtype.kind not in "iu":
            raise TypeError(f"pairs: {name} must be row numbers of X, integers; found dtype {numbers.dtype}.")
        outside = np.flatnonzero((numbers < 0) | (numbers >= n_rows))
        if len(outside):
            raise ValueError(
                f"pairs: {name} row numbers must be from 0 to {n_rows - 1}; pair {outside[0]} has "
                f"{numbers[outside[0]]}."
            )
        rows.append(numbers.astype(np.intp))
    check_consistent_length(*columns)
    itself = np.flatnonzero(rows[0] == rows[1])
    if len(itself):
        raise ValueError(f"pairs: pair {itself[0]} ranks row {rows[0][itself[0]]} above itself.")
    pair_weights = None
    if len(columns) == 3:
        pair_weights = check_array(columns[2], dtype=np.float64, ensure_2d=False, input_name="pairs: weight")
        if np.min(pair_weights, initial=0.0) < 0.0:
            raise ValueError(f"pairs: weights must not be negative, found {pair_weights.min()}.")
    return CrucialSample.from_pairs(n_rows, rows[0], rows[1], pair_weights, weights)


def _not_binary(estimator: Any, classes: NDArray[Any]) -> str:
    found = f"{len(classes)} class{'es' if len(classes) != 1 else ''}: {classes[:5].tolist()}"
    return (
        f"{type(estimator).__name__} ranks one class above the other. Only binary classification is "
        f"supported: y must hold exactly 2 classes, found {found}."
    )
