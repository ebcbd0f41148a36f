"""Checked data, and what is to be ranked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from pushrank._array import Floats, detached, is_numpy, namespace, to_host
from pushrank._validation import (
    check_number,
    check_ordered_categorical,
    checked_weights,
    not_two_classes,
    two_classes,
)
from pushrank.pairs import ArraySample, BipartiteSample, GradedSample, Sample
from pushrank.pairs.array_api import weights_beside
from pushrank.pairs.targets import check_alone, crucial_pairs, labelled


@dataclass(frozen=True, eq=False)
class Target:
    """What a ranker should order.

    Attributes
    ----------
    sample : Sample
        Which rows should stand above which.
    weights : ndarray of shape (n,) or None
        Sample weights.
    classes : ndarray or None
        The sorted labels or grades; None for explicit pairs.
    codes : ndarray of int or bool, shape (n,), or None
        Each row's place among the classes.
    groups : ndarray of int, shape (n,), or None
        Each row's query group.
    """

    sample: Sample
    weights: Floats | None
    classes: NDArray[Any] | None = None
    codes: NDArray[Any] | None = None
    groups: NDArray[np.intp] | None = None

    def thresholds(self, scores: NDArray[np.floating]) -> Floats:
        """Return the break-even threshold above each class but the highest; zero for explicit pairs."""
        if isinstance(self.sample, ArraySample):
            return np.array([_break_even_elsewhere(scores, self.sample)])
        if self.codes is None or self.classes is None:
            return np.zeros(1)
        levels = range(len(self.classes) - 1)
        samples = (BipartiteSample.from_mask(self.codes > level, self.weights) for level in levels)
        return np.array([break_even_threshold(scores, sample) for sample in samples])


def break_even_threshold(scores: NDArray[np.floating], sample: BipartiteSample) -> float:
    """Return the threshold above which as much weight is predicted positive as is positive.

    It lies midway between two neighbouring scores; rows that tie across it all fall below it, or above it
    where no score is higher.

    Notes
    -----
    O(n) without weights, by selection; O(n log n) with.
    """
    if sample.positive_weights is None or sample.negative_weights is None:
        last = len(sample.negatives) - 1
        cut = np.partition(scores, last)[last]
    else:
        weights = sample.scatter(sample.positive_weights, sample.negative_weights)
        scores, weights = scores[weights > 0.0], weights[weights > 0.0]
        ascending = np.argsort(scores, kind="stable")
        weight_below = np.cumsum(weights[ascending])
        # a little less than the negatives' weight, which the sum may miss by rounding
        last = int(np.searchsorted(weight_below, (1.0 - 1e-12) * sample.negative_weights.sum()))
        cut = scores[ascending[last]]
    higher = np.min(scores, where=scores > cut, initial=np.inf)
    if np.isinf(higher):
        higher, cut = cut, np.max(scores, where=scores < cut, initial=-np.inf)
    return float(higher) if np.isinf(cut) else midway(float(cut), float(higher), scores)


def _break_even_elsewhere(scores: Any, sample: ArraySample) -> float:
    """Return the same of two classes on another device, by sorting."""
    xp = namespace(scores)
    of_positives, of_negatives = sample.gather(scores)
    scores = xp.concat([of_positives, of_negatives])
    if sample.positive_weights is None or sample.negative_weights is None:
        last = of_negatives.shape[0] - 1
        cut = float(xp.sort(scores)[last])
    else:
        order = xp.argsort(scores)
        weights = xp.concat([sample.positive_weights, sample.negative_weights])
        below = xp.cumulative_sum(xp.take(weights, order, axis=0))
        enough = (1.0 - 1e-12) * float(xp.sum(sample.negative_weights))
        last = int(xp.sum(xp.astype(below < enough, xp.int64)))
        cut = float(scores[int(order[last])])
    infinite = xp.full_like(scores, np.inf)
    higher = float(xp.min(xp.where(scores > cut, scores, infinite)))
    if np.isinf(higher):
        higher, cut = cut, float(xp.max(xp.where(scores < cut, scores, -infinite)))
    return higher if np.isinf(cut) else midway(cut, higher, scores)


def midway(lower: float, higher: float, scores: Any) -> float:
    """Return a threshold between two of the scores that, in their dtype, the higher alone is above."""
    middle = 0.5 * lower + 0.5 * higher
    # between neighbouring floats there is no other
    return middle if float(namespace(scores).asarray(middle, dtype=scores.dtype)) < higher else lower


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
    check_ordered_categorical(y)
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
    check_ordered_categorical(y)
    labels = column_or_1d(y, warn=True)
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    classes, codes = two_classes(labels, ranker=type(estimator).__name__)
    weights = row_weights(sample_weight, len(labels))
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
    check_ordered_categorical(y)
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
        raise ValueError(not_two_classes(to_host(classes), ranker=type(estimator).__name__))
    weights = weights_beside(y, sample_weight)
    return Target(ArraySample.from_mask(y == classes[1], weights), weights, classes)


def class_weighted(class_weight: Any, target: Target) -> tuple[Target, float]:
    """Return the target with class weights in the rows' weights, and the factor of all pairs' weight.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        A positive weight for each class, one where a dict leaves it out; or n / (2 n_c) for two classes of
        n_c rows, in general n / (n_classes n_c), a row counting as its sample weight.
    target : Target
        What to rank.

    Raises
    ------
    ValueError
        When a weight is not positive, a name is not known, or there are no classes.
    """
    if class_weight is None:
        return target, 1.0
    if target.classes is None or target.codes is None:
        raise ValueError("class_weight needs classes, and pairs have none: give the pairs weights.")
    if not isinstance(class_weight, Mapping) and class_weight != "balanced":
        raise ValueError(f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}.")
    codes = np.asarray(target.codes, dtype=np.intp)
    of_classes = compute_class_weight(
        class_weight, classes=target.classes, y=target.classes[codes], sample_weight=target.weights
    )
    if not np.all((of_classes > 0.0) & np.isfinite(of_classes)):
        raise ValueError(
            f"class_weight must be positive and finite for every class, got {class_weight!r}; leave rows out "
            "with sample_weight."
        )
    of_rows = of_classes[codes] * (1.0 if target.weights is None else target.weights)
    if isinstance(target.sample, BipartiteSample):
        return replace(target, weights=of_rows), float(of_classes.prod())
    groups = np.zeros(len(codes), dtype=np.intp) if target.groups is None else target.groups
    sample = GradedSample.from_grades(codes.astype(np.float64), groups, of_rows)
    return replace(target, weights=of_rows, sample=sample), sample.pair_weight / target.sample.pair_weight
