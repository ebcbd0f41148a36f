"""The estimators' one door: constructor parameters and training data are checked here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from pushrank._array import Floats, detached, is_numpy, namespace, to_host
from pushrank._checks import check_number
from pushrank._columns import check_stated_order, checked_weights, distinct
from pushrank.estimators._target import Target
from pushrank.pairs import ArraySample, BipartiteSample
from pushrank.pairs.array_sample import weights_beside
from pushrank.pairs.comparisons import check_alone, crucial_pairs, labelled, not_two

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
        When ``y`` has not exactly two classes of positive weight, anything is not finite or of the wrong
        shape, or a warm start finds other features than the last fit.
    """
    check_stated_order(y)
    X, checked = validate_data(
        estimator,
        detached(X),
        y,
        accept_sparse=FORMATS,
        dtype=float_types(X),
        reset=_takes_any_features(estimator),
    )
    if not is_numpy(X):
        return X, _target_elsewhere(estimator, X, checked, sample_weight)
    return X, binary_target(estimator, checked, sample_weight)


def _takes_any_features(estimator: Any) -> bool:
    """Return whether a fit is free to learn other features; a warm start goes on with those of the last."""
    return not (getattr(estimator, "warm_start", False) and hasattr(estimator, "threshold_"))


def binary_target(estimator: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Target:
    """Return two classes to rank.

    Raises
    ------
    ValueError
        When ``y`` has not exactly two classes of positive weight, or anything is not finite or of the wrong
        shape.
    """
    check_on_host(estimator, y=y, sample_weight=sample_weight)
    check_stated_order(y)
    labels = column_or_1d(y, warn=True)
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    classes = distinct(labels)
    if len(classes) != 2:
        raise ValueError(not_two(type(estimator).__name__, classes))
    weights = row_weights(sample_weight, len(labels))
    codes = labels == classes[1]
    return Target(BipartiteSample.from_mask(codes, weights), weights, classes, codes)


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
        sample_weight = np.full(n_rows, float(sample_weight))
    return checked_weights(sample_weight, n_rows)


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
        When data are not finite or not of one length, there is nothing to rank, targets are given twice, or
        a warm start finds other features than the last fit.
    """
    options: dict[str, Any] = {
        "accept_sparse": FORMATS,
        "dtype": float_types(X),
        "reset": _takes_any_features(estimator),
    }
    if allow_missing:
        options["ensure_all_finite"] = "allow-nan"
    if pairs is not None:
        check_alone(y=y, group=group, qid=qid)
        X = validate_data(estimator, X, **options)
        if not is_numpy(X):
            raise ValueError("pairs are taken with NumPy arrays only; convert X.")
        weights = row_weights(sample_weight, X.shape[0])
        return X, Target(crucial_pairs(pairs, X.shape[0], weights), weights)
    check_stated_order(y)
    X, labels = validate_data(estimator, detached(X), y, **options)
    if not is_numpy(X):
        if group is not None or qid is not None:
            raise ValueError("query groups are taken with NumPy arrays only; convert X and y.")
        return X, _target_elsewhere(estimator, X, labels, sample_weight)
    check_on_host(estimator, y=labels, sample_weight=sample_weight)
    weights = row_weights(sample_weight, len(labels))
    sample, classes, codes, groups = labelled(type(estimator).__name__, labels, weights, group, qid)
    return X, Target(sample, weights, classes, codes, groups)


def check_on_host(estimator: Any, **arrays: Any) -> None:
    """Raise where arrays of another library, which scikit-learn is told not to convert, cannot be taken.

    Raises
    ------
    TypeError
        When one of them is no array of NumPy's.
    """
    for name, array in arrays.items():
        if get_config()["array_api_dispatch"] and not is_numpy(array):
            raise TypeError(
                f"{type(estimator).__name__} takes NumPy arrays and sparse matrices only here, and {name} is "
                f"{type(array).__name__}: convert it. PushRanker, PNormPush, IRPush, BottomPush and "
                "TopBottomPush take X and y of another library, with solver='lbfgs' or 'newton-cg'."
            )


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
        check_on_host(estimator, X=X)
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
        raise ValueError(not_two(type(estimator).__name__, to_host(classes)))
    weights = weights_beside(y, sample_weight)
    return Target(ArraySample.from_mask(y == classes[1], weights), weights, classes)
