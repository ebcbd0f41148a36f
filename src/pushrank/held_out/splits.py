"""Splits by time: parts that come later than what is learnt from, and frames whose rows follow time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from inspect import signature
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils.validation import _num_samples

from pushrank._base.files import trust_in_files
from pushrank._base.user_types import CrossValidation, GenericArray, MatrixLike
from pushrank._base.validation import check_number, warn
from pushrank.times import as_span, check_times, in_order

__all__ = ["TimeSplit"]

Indices = NDArray[np.intp]


class TimeSplit(BaseCrossValidator):  # type: ignore[misc]
    r"""Test parts in the order of time, each after the rows that are learnt from.

    The different times are cut into ``n_splits + 1`` periods of about as many rows each, of which all but the
    first are tested on. Where a test part begins at the time :math:`t`, rows are learnt from of times in

    .. math:: [t - \mathrm{gap} - \mathrm{window},\; t - \mathrm{gap}).

    Rows need no order, and rows of equal time are always in the same period. For parts of whole days or
    months, pass times rounded to these. With `groups`, such as customers, rows of groups that are in the test
    part are not learnt from. Splitting costs a sort of the times.

    Tools of scikit-learn hand `time` on under metadata routing; without it they can split data frames that
    hold times themselves. Bergmeir and Benítez, *On the use of cross-validation for time series predictor
    evaluation*, Information Sciences 191 (2012).

    Parameters
    ----------
    n_splits : int, default=5
        The number of test parts, at least 1.
    window : number or timedelta, default=None
        How far back rows are learnt from, in units of `time`; None takes the whole past.
    gap : number or timedelta, default=0
        How long a label takes to be known: younger rows are not learnt from.

    See Also
    --------
    sklearn.model_selection.TimeSeriesSplit : Cuts rows in their own order, at numbers of rows, so that rows
        of the same time may be on both sides, and takes its gap in rows.

    Examples
    --------
    >>> month = [1, 1, 2, 2, 3, 3, 4, 4]
    >>> for train, test in TimeSplit(3).split(month, time=month):
    ...     print(train, test)
    [0 1] [2 3]
    [0 1 2 3] [4 5]
    [0 1 2 3 4 5] [6 7]
    >>> for train, test in TimeSplit(1, window=1, gap=1).split(month, time=month):
    ...     print(train, test)
    [0 1] [4 5 6 7]
    """

    # Under metadata routing both are taken wherever they are passed.
    __metadata_request__split = {"groups": True, "time": True}  # noqa: RUF012

    def __init__(
        self,
        n_splits: int = 5,
        *,
        window: float | timedelta | np.timedelta64 | None = None,
        gap: float | timedelta | np.timedelta64 = 0,
    ) -> None:
        self.n_splits, self.window, self.gap = n_splits, window, gap

    def split(
        self,
        X: MatrixLike,
        y: object = None,  # noqa: ARG002
        groups: ArrayLike | None = None,
        *,
        time: ArrayLike | None = None,
    ) -> Iterator[tuple[Indices, Indices]]:
        """Yield the numbers of the rows to learn from, and of those to test on.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            The rows.
        y : object, optional
            Ignored.
        groups : array-like of shape (n_samples,), optional
            The groups to keep apart.
        time : array-like of shape (n_samples,), optional
            Numbers, or dates as :func:`~pushrank.times.read_dates` reads them; by default the index of a data
            frame, or its only column of times.

        Yields
        ------
        train, test : ndarray of int
            In the order of the rows.

        Raises
        ------
        ValueError
            When a time is missing or none, times are too few, or no row is left to learn from.
        TypeError
            When a parameter is not of its kind.
        """
        check_number("n_splits", self.n_splits, 1, integer=True)
        if time is None and len(found := times_of_frame(X)) != 1:
            raise ValueError(
                "TimeSplit needs the time of every row: pass time=, under metadata routing in tools of "
                "scikit-learn, or a data frame whose index holds times."
            )
        times = check_times(found[0][1] if time is None else time, _num_samples(X))
        gap = as_span("gap", self.gap, times)
        window = None if self.window is None else as_span("window", self.window, times)
        periods, group = _periods(times, self.n_splits + 1), None if groups is None else np.asarray(groups)
        for number in range(1, self.n_splits + 1):
            is_tested = periods == number
            end = times[is_tested].min() - gap
            is_learnt = times < end
            if window is not None:
                is_learnt &= times >= end - window
            if group is not None:
                is_learnt &= ~np.isin(group, group[is_tested])
            if not is_learnt.any():
                raise ValueError(
                    f"no row is left to learn from before test part {number} of {self.n_splits}; take a "
                    "smaller gap, a longer window, fewer parts, or smaller groups."
                )
            yield np.flatnonzero(is_learnt), np.flatnonzero(is_tested)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, time: Any = None) -> int:  # noqa: ARG002
        """Return the number of test parts, whatever the rows are."""
        return self.n_splits


trust_in_files(TimeSplit)


def _periods(times: GenericArray, n_periods: int) -> Indices:
    """Return the number of each row's period: times are cut where the rows are nearest to equal parts."""
    distinct, codes, counts = np.unique(times, return_inverse=True, return_counts=True)
    if len(distinct) < n_periods:
        raise ValueError(
            f"time has {len(distinct)} different value{'s' * (len(distinct) != 1)}; {n_periods - 1} test "
            f"parts and the rows before them need at least {n_periods}: take fewer parts or finer times."
        )
    n_before = np.cumsum(counts)[:-1]
    wanted = len(times) * np.arange(1, n_periods) / n_periods
    cuts = np.searchsorted((n_before[1:] + n_before[:-1]) / 2.0, wanted)
    # Each period has at least one of the times, also where many rows share one.
    steps = np.arange(n_periods - 1)
    cuts = np.maximum.accumulate(cuts - steps) + steps
    cuts = np.minimum(cuts, len(distinct) - 2 - steps[::-1])
    return np.asarray(np.searchsorted(cuts, np.arange(len(distinct)))[codes.ravel()], dtype=np.intp)


def splitter_of(cv: CrossValidation, time: ArrayLike | None) -> tuple[Any, dict[str, Any]]:
    """Return what splits rows by `time` where `cv` is a number, and the keywords that its ``split`` takes."""
    if time is None:
        return cv, {}
    if cv is None or isinstance(cv, Integral):
        return TimeSplit(5 if cv is None else int(cv)), {"time": time}
    if not hasattr(cv, "split") or "time" not in signature(cv.split).parameters:
        raise ValueError(f"time needs cv as a number or a splitter such as TimeSplit, got cv={cv!r}.")
    return cv, {"time": time}


def times_of_frame(X: Any) -> list[tuple[str, Any]]:
    """Return the times that a data frame of pandas has, by what holds them: its index, or else columns."""
    if not hasattr(X, "iloc") or not hasattr(X, "columns"):
        return []
    if X.index.dtype.kind == "M":
        return [("X.index", X.index)]
    return [(f"X[{name!r}]", X[name]) for name, dtype in X.dtypes.items() if dtype.kind == "M"]


def warn_of_random_folds(X: Any) -> None:
    """Warn where the rows of a data frame follow the times that it holds, and folds are drawn at random."""
    found = times_of_frame(X)
    if len(found) != 1 or found[0][1].isna().any() or not in_order(check_times(found[0][1], len(X))):
        return
    where = found[0][0]
    warn(
        f"the rows of X follow the times of {where}, and random folds let models learn from later rows than "
        f"they are tested on. Pass time={where} to test on what comes later, or a splitter such as "
        "StratifiedKFold to keep random folds."
    )
