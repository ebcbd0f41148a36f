"""Weights of classes, as factors of the pairs' losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from pushrank.estimators._target import Target
from pushrank.pairs import BipartiteSample, GradedSample


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
