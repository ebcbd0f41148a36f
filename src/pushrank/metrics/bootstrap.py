"""The stratified bootstrap of a measure, or of the difference of two rankings in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pushrank._checks import check_number
from pushrank._log_space import Floats
from pushrank.metrics.auc import auc
from pushrank.metrics.intervals import CorrectedPercentiles, Percentiles
from pushrank.metrics.resampling import Resampler

Method = Literal["bootstrap", "bca", "delong"]
METHODS = ("bootstrap", "bca", "delong")
FEWEST_RESAMPLES = 10
ROUNDING = 1e-12
"""The part of a measure below which a difference is that of the order of a sum, and not of rankings."""


def bootstrap(
    resampler: Resampler,
    contrasts: ArrayLike,
    estimates: Sequence[float],
    method: Method,
    n_resamples: int,
    random_state: Any,
) -> list[Percentiles]:
    """Return the resampled values of ``contrast @ measures`` for each contrast, from which to read intervals.

    Values that differ from the estimate by rounding alone are equal to it, so that they count as ties.

    Raises
    ------
    ValueError
        When the measure is not a number on some resamples.
    """
    values = resampler.on_resamples(n_resamples, random_state)
    twice = resampler.with_blocks_twice(random_state) if method == "bca" else []
    fewest = min(resampler.n_positive, resampler.n_negative)
    found = []
    for contrast, estimate in zip(np.atleast_2d(contrasts), estimates, strict=True):
        drawn = contrasted(values, contrast, estimate)
        missing = int(np.count_nonzero(np.isnan(drawn)))
        if missing:
            raise ValueError(
                f"the metric is not a number on {missing} of {n_resamples} resamples; use more rows, or a "
                "metric that is defined on all of them."
            )
        if method == "bootstrap":
            found.append(Percentiles(drawn))
        else:
            jackknifed = [contrasted(blocks, contrast, estimate) for blocks in twice]
            found.append(CorrectedPercentiles(drawn, estimate, jackknifed, fewest))
    return found


def contrasted(measures: ArrayLike, contrast: ArrayLike, estimate: float = 0.0) -> Floats:
    """Return ``measures @ contrast``, with what is zero or the estimate but for rounding put right.

    Examples
    --------
    >>> contrasted([[0.3, 0.1 + 0.2], [0.7, 0.5]], [1.0, -1.0]).round(3).tolist()
    [0.0, 0.2]
    """
    table, signs = np.asarray(measures, dtype=np.float64), np.asarray(contrast, dtype=np.float64)
    table, signs = table[..., signs != 0.0], signs[signs != 0.0]  # others may be infinite
    values: Floats = table @ signs
    rounding = ROUNDING * (np.abs(table) @ np.abs(signs))
    for exact in (0.0, estimate):
        values = np.where(np.abs(values - exact) < rounding, exact, values)
    return values


def check_method(method: Any, measure: Callable[..., Any], n_resamples: Any) -> None:
    """Raise where a method is not known, or is DeLong's for another measure than the area with half ties.

    Raises
    ------
    ValueError
        When the method does not fit, or there are too few resamples.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {list(METHODS)}, got {method!r}.")
    check_number("n_resamples", n_resamples, FEWEST_RESAMPLES, integer=True)
    is_area = measure is auc
    if isinstance(measure, partial) and measure.func is auc:
        is_area = (
            not measure.args
            and measure.keywords.get("ties", "half") == "half"
            and set(measure.keywords) <= {"ties"}
        )
    if method == "delong" and not is_area:
        raise ValueError("method='delong' is for metric='auc' with ties='half'; use 'bootstrap' or 'bca'.")
