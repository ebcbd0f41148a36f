"""The folds that rankers are compared on: how rows are split, and brought into one order."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.utils.validation import _num_samples

from pushrank import metrics
from pushrank._time import splitter_of
from pushrank.budgets import Budget
from pushrank.held_out import Rows


def whole_periods(budget: Budget, time: Any) -> NDArray[Any]:
    """Return when each row's period begins, or the number of its batch where batches are no times."""
    if time is None:
        raise ValueError(f"a budget of {budget.words} needs the time of every row: pass time=.")
    labels, codes = budget.periods(time)
    return labels[codes] if labels.dtype.kind in "iufM" else codes


def check_classes(y: NDArray[np.bool_], n_folds: int, n_splits: int = 1) -> None:
    """Raise when a class has too few rows for folds whose training parts are split again `n_splits` times."""
    fewest = int(min(y.sum(), (~y).sum()))
    if fewest >= _rows_needed(n_folds, n_splits):
        return
    possible = [folds for folds in range(2, n_folds) if fewest >= _rows_needed(folds, n_splits)]
    needed = n_folds if possible else 2
    ways = [f"choose at most {possible[-1]} folds"] if possible else []
    if n_splits > 1 and fewest >= 2:
        fewer = f" and choose at most {fewest} folds" if fewest < n_folds else ""
        ways.append(f"leave out the nested choice{fewer}")
    times = {1: "", 2: "twice", 3: "three times"}[n_splits]
    raise ValueError(
        f"a class has {fewest} row{'s' * (fewest != 1)}; {needed} folds"
        + (f" with a nested choice, which splits them {times} over," if times else "")
        + f" need at least {_rows_needed(needed, n_splits)} rows in each class"
        + (f": {', or '.join(ways)}." if ways else ", and there are no fewer folds: add rows.")
    )


def _rows_needed(n_folds: int, n_splits: int) -> int:
    """Return how many rows of a class suffice for every fold, where training parts are split again."""
    needed = n_folds
    for _ in range(n_splits - 1):
        needed = next(n_rows for n_rows in count(needed) if n_rows - -(-n_rows // n_folds) >= needed)
    return needed


def split_rows(
    rows: Rows, cv: Any, n_repeats: int, n_splits: int, seed: int
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return the training and test rows of every part, those of a repetition together.

    Training parts are split again ``n_splits - 1`` times.
    """
    if n_repeats < 1:
        raise ValueError(f"n_repeats must be at least 1, got {n_repeats}.")
    is_number = isinstance(cv, int | np.integer)
    if is_number and cv < 2:
        raise ValueError(f"cv must be at least 2 folds, got {cv}.")
    cv, by_time = splitter_of(cv, rows.times)
    if is_number and not by_time:
        check_classes(rows.positive, int(cv), n_splits)
        cv = RepeatedStratifiedKFold(n_splits=cv, n_repeats=n_repeats, random_state=seed)
    elif n_repeats > 1:
        raise ValueError(f"n_repeats must be 1 where cv is no number of random folds, got {n_repeats}.")
    elif not hasattr(cv, "split") and n_splits > 1:
        raise ValueError(
            "nested=True splits training parts again, which takes cv as a number or a splitter, not as parts."
        )
    splits = list(cv.split(rows.X, rows.y, rows.groups, **by_time) if hasattr(cv, "split") else cv)
    held_out = np.bincount(np.concatenate([test for _, test in splits]), minlength=len(rows.y))
    if len(splits) < 2 or held_out.max() > n_repeats:
        raise ValueError(
            f"cv must give at least 2 test parts and put no row into more than one, got {len(splits)} parts "
            f"and rows that are in {held_out.max()} of them; take KFold or the like."
        )
    for part, numbers in enumerate(splits, 1):
        for what, held in zip(("training", "test"), numbers, strict=True):
            if len(np.unique(rows.positive[held])) < 2:
                raise ValueError(
                    f"{what} part {part} of {len(splits)} has rows of one class only; take fewer folds, or "
                    "other groups or times."
                )
    return splits


def share_of_hits(y: ArrayLike, scores: ArrayLike, budget: int | None, n_rows: int) -> float:
    """Return the share of positives among the rows acted on, or the first 1/4 as many as positives."""
    if budget is None:
        return float(metrics.precision_at_k(y, scores, fraction_of_positives=0.25))
    return float(metrics.precision_at_k(y, scores, part_of_budget(budget, _num_samples(y), n_rows)))


def part_of_budget(budget: int, n_part: int, n_rows: int) -> int:
    """Return how many of a part's rows a budget for all rows stands for: in proportion, at least one."""
    return max(1, round(budget * n_part / n_rows))


def on_one_scale(
    scores: NDArray[np.float64], folds: NDArray[np.intp], ranks: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return one order of all rows, the higher the better, from scores of fits that differ between folds.

    Scores of different fits are not on one scale. A row's rank within its fold is, since all folds are drawn
    in the same way; or other ``ranks``, such as those within days. Of rows with equal ranks the one farther
    above its fold's mean is first, in standard deviations. Rows that tie within a fold stay tied.

    Examples
    --------
    >>> on_one_scale(np.array([1.0, 2.0, 3.0, 10.0, 90.0, 20.0]), np.array([0, 0, 0, 1, 1, 1])).tolist()
    [0.0, 3.0, 4.0, 1.0, 5.0, 2.0]
    """
    rank, deviation = np.empty((2, len(scores)))
    for fold in np.unique(folds):
        in_fold = folds == fold
        values = scores[in_fold]
        rank[in_fold] = (rankdata(values) - 0.5) / len(values) if ranks is None else ranks[in_fold]
        # The mean of equal scores may be off by rounding, which must not part them.
        spread = values.std() if np.ptp(values) > 0.0 else np.inf
        # After rounding, rows that are equally far above the mean tie whatever the units of their scores.
        deviation[in_fold] = np.round((values - values.mean()) / spread, 9)
    _, order = np.unique(np.stack([rank, deviation], axis=1), axis=0, return_inverse=True)
    return order.ravel().astype(np.float64)
