"""Bounds of the weak rankers' weights, from signs and monotonic constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrank._log_space import Floats
from pushrank.weak_rankers import Columns, Stumps
from pushrank.weak_rankers.base import WeakRankers
from pushrank.weak_rankers.stumps import WIDTH


def weight_bounds(
    family: WeakRankers, n_features: int, signed: bool, monotonic_cst: Any, names: list[str]
) -> tuple[Floats | float, Floats | float]:
    """Return the least and the largest weight of each ranker, or one number for all.

    Raises
    ------
    ValueError
        When the constraints are not -1, 0 or 1 for features that there are, or the rankers have no direction,
        or the feature's values are categories, which have no order.
    """
    lower = -np.inf if signed else 0.0
    if monotonic_cst is None:
        return lower, np.inf
    if not isinstance(family, Stumps | Columns):
        raise ValueError("monotonic_cst needs weak_rankers='stumps' or 'columns'.")
    directions = _directions(monotonic_cst, n_features, names)
    if isinstance(family, Stumps):
        _check_ordered(family, directions, names)
        directions = np.repeat(directions, 2 * WIDTH)
        # the rankers of missing values alone order no numbers
        firsts = np.arange(n_features) * 2 * WIDTH + WIDTH
        directions[firsts + [len(edges) for edges in family.edges_]] = 0
    return np.where(directions > 0, 0.0, lower), np.where(directions < 0, 0.0, np.inf)


def _directions(monotonic_cst: Any, n_features: int, names: list[str]) -> NDArray[np.intp]:
    """Return the checked constraints, one of -1, 0 and 1 a feature."""
    given = monotonic_cst
    if isinstance(given, dict):
        strangers = [name for name in given if name not in names]
        if strangers:
            raise ValueError(f"monotonic_cst names {strangers[:5]}, which X has no column of.")
        given = [given.get(name, 0) for name in names]
    directions = np.asarray(given)
    if directions.shape != (n_features,) or not np.isin(directions, [-1, 0, 1]).all():
        raise ValueError(
            f"monotonic_cst must hold -1, 0 or 1 for each of the {n_features} features, got "
            f"{monotonic_cst!r}."
        )
    return directions.astype(np.intp)


def _check_ordered(family: Stumps, directions: NDArray[np.intp], names: list[str]) -> None:
    """Raise where scores should rise or fall with a category."""
    for feature in np.flatnonzero(directions):
        if family.categories_[feature] is not None:
            raise ValueError(
                f"monotonic_cst constrains {names[feature] if names else f'feature {feature}'}, which is "
                "categorical and has no order: set it to 0 there, or encode the feature as numbers that have."
            )
