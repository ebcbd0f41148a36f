"""The estimators' one door: constructor parameters and training data are checked here and nowhere else."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from pushrank.pairs import BipartiteSample, checked_weights
from pushrank.solvers import SOLVERS

FORMATS = ["csr", "csc"]
DTYPES = [np.float64, np.float32]


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


def check_solver(name: Any) -> None:
    """Raise unless the solver is known.

    Raises
    ------
    ValueError
        When it is not.
    """
    if not isinstance(name, str) or name not in SOLVERS:
        raise ValueError(f"solver must be one of {sorted(SOLVERS)}, got {name!r}.")


def training_data(
    estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Any, NDArray[Any], BipartiteSample]:
    """Return checked features, the two classes, and the sample that the labels make.

    ``X`` is passed on without a copy where it is float32 or float64, dense, CSR or CSC.

    Raises
    ------
    ValueError
        When ``y`` has not exactly two classes of positive weight, or anything is not finite or of the wrong
        shape.
    """
    checked: NDArray[Any]
    X, checked = validate_data(estimator, X, y, accept_sparse=FORMATS, dtype=DTYPES)
    check_classification_targets(checked)
    classes = np.unique(checked)
    if len(classes) != 2:
        found = f"{len(classes)} class{'es' if len(classes) != 1 else ''}: {classes[:5].tolist()}"
        raise ValueError(
            f"{type(estimator).__name__} ranks one class above the other. Only binary classification is "
            f"supported: y must hold exactly 2 classes, found {found}. For one class against the rest pass "
            "y == that_class."
        )
    weights = None
    if sample_weight is not None:
        if isinstance(sample_weight, Real):
            sample_weight = np.full(len(checked), float(sample_weight))
        weights = checked_weights(sample_weight)
        check_consistent_length(checked, weights)
    return X, classes, BipartiteSample.from_mask(checked == classes[1], weights)
