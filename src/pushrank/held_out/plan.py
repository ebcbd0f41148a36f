"""Rows with their labels, weights, groups and times, split into parts to fit to and parts to score."""

from collections.abc import Iterator, Sequence
from itertools import count, groupby
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold, TimeSeriesSplit
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils.validation import _num_samples

from pushrank._base import validation
from pushrank._base.bounds import UNITS
from pushrank._base.leakage import gives_label_away
from pushrank._base.numeric import Floats
from pushrank._base.user_types import CrossValidation, GenericArray, Label, MatrixLike
from pushrank.budgets import Budget
from pushrank.held_out.splits import TimeSplit, splitter_of, warn_of_random_folds
from pushrank.metrics._ranking import Ranking, check_depth, depth_in_rows
from pushrank.times import check_times

__all__ = ["Plan", "Rows", "can_split", "check_classes", "part_of_budget", "whole_periods"]

# With fewer the row of all models together may be too good unless it is nested.
MIN_ROWS_TOGETHER = 2000
MIN_POSITIVES_TOGETHER = 100
# Fits to the rows outside two parts learn from half of the rows at least, and from this many of each class.
MIN_PAIRED_PARTS = 4
MIN_PAIRED_ROWS = 10
Nesting = Literal["none", "pairs", "whole"]
Splits = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


class Rows(NamedTuple):
    """Rows to fit models to and to score: models are fitted to ``y``, and measured by ``positive``."""

    X: Any
    y: NDArray[Any]
    positive: NDArray[np.bool_]
    weights: Floats | None = None
    groups: NDArray[Any] | None = None
    times: NDArray[Any] | None = None

    def part(self, numbers: NDArray[np.intp]) -> Self:
        """Return some of the rows."""
        others = (None if column is None else column[numbers] for column in self[3:])
        X = _safe_indexing(self.X, numbers)
        return type(self)(X, self.y[numbers], self.positive[numbers], *others)

    def counted(self) -> Self:
        """Return the rows of positive weight: others would count where models scale columns or count rows."""
        if self.weights is None or self.weights.all():
            return self
        return self.part(np.flatnonzero(self.weights))

    def acted_on(self, budget: Any, **shares: float | None) -> Any:
        """Return a budget, which a share of the rows or of the positives becomes, checked."""
        given = {name: share for name, share in shares.items() if share is not None}
        if given:
            check_depth(budget, **given, name_of_k="budget")
            return int(depth_in_rows(Ranking(self.positive, self.positive), **given))
        if not isinstance(budget, Budget | None):
            check_depth(budget, name_of_k="budget")
            validation.check_number("budget", budget, 1, len(self.y))
        return budget

    def leaking_columns(self) -> list[Any]:
        """Return the columns of an array, or of a data frame of pandas, that alone tell the classes apart."""
        columns: Any = self.X.items() if hasattr(self.X, "iloc") else ()
        # A sparse matrix may have a column for each word of a language.
        if isinstance(self.X, np.ndarray) and self.X.ndim == 2 and self.X.dtype.kind in "biuf":
            columns = enumerate(self.X.T)
        return [name for name, values in columns if gives_label_away(values, self.positive)]

    @classmethod
    def checked(
        cls,
        X: MatrixLike,
        y: ArrayLike,
        pos_label: Label | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        time: ArrayLike | None = None,
    ) -> Self:
        """Return rows whose labels, weights and times are checked."""
        validation.warn_of_other_order(X=X, y=y, sample_weight=sample_weight, groups=groups, time=time)
        validation.refuse_masked(X, "X")
        (X,), y = indexable(X), np.asarray(validation.plain_labels(y))
        n_rows = _num_samples(X)
        if y.shape != (n_rows,):
            raise ValueError(f"y must hold one label for each of the {n_rows} rows, got the shape {y.shape}.")
        _, positive = validation.two_classes(y, pos_label=pos_label)
        # Classifiers would take the later of two texts for the positive label.
        if pos_label is not None or y.dtype.kind not in "biuf":
            y = positive
        weights = None
        if sample_weight is not None:
            weights = validation.checked_weights(sample_weight, n_rows)
        if groups is not None:
            validation.group_numbers(groups, n_rows, "groups")
        times = None if time is None else check_times(time, n_rows)
        return cls(X, y, positive, weights, None if groups is None else np.asarray(groups), times)


class Plan(NamedTuple):
    """Rows, what can be acted on among them, and how ``cv`` split them, those of a repetition together."""

    rows: Rows
    splits: Splits
    cv: CrossValidation
    n_repeats: int
    budget: int | Budget | None
    seed: int

    @classmethod
    def of(
        cls,
        X: MatrixLike,
        y: ArrayLike,
        *,
        budget: int | Budget | None = None,
        cv: CrossValidation = 5,
        n_repeats: int = 1,
        n_splits: int = 1,
        groups: ArrayLike | None = None,
        time: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        pos_label: Label | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        **shares: Any,
    ) -> Self:
        """Return the plan, checked; training parts are split again ``n_splits - 1`` times."""
        if isinstance(budget, Budget):
            time = whole_periods(budget, time, cv)
        validation.check_jobs(n_jobs, "processes")
        rows = Rows.checked(X, y, pos_label, sample_weight, groups, time)
        is_seed = isinstance(random_state, int)
        # A generator would give other numbers at each use: one seed is drawn for folds, halves and quantiles.
        seed = random_state if is_seed else check_random_state(random_state).randint(2**31)
        budget = rows.acted_on(budget, **shares)
        if isinstance(cv, int) and time is None and groups is None:
            warn_of_random_folds(X)
        return cls(rows, split_rows(rows, cv, n_repeats, n_splits, seed), cv, n_repeats, budget, seed)

    @classmethod
    def to_score(cls, rows: Rows, parts: int | TimeSplit, budget: Budget | None = None) -> Self:
        """Return the plan by which each row is scored by a fit to others: by time, to earlier ones."""
        # A class of fewer rows makes fewer parts. With a budget by period the parts are of whole periods, and
        # models are handed the times as they are.
        n_rare = int(min(rows.positive.sum(), (~rows.positive).sum()))
        times = rows.times if budget is None else whole_periods(budget, rows.times)
        cv, by_time = splitter_of(parts, times)
        if isinstance(cv, int):
            cv = StratifiedKFold(min(cv, n_rare))
        return cls(rows, list(cv.split(rows.X, rows.y, **by_time)), cv, 1, budget, 0)

    def can_split_again(self, *cvs: int) -> bool:
        """Return whether each training part can be split by these numbers of parts, one inside the other."""
        rows = self.rows._replace(X=np.empty((len(self.rows.y), 0)))
        return all(can_split(rows.part(self.splits[group[0]][0]), *cvs) for group in self.shared())

    @property
    def n_groups_learnt(self) -> int:
        """The least number of groups in a training part."""
        groups = np.asarray(self.rows.groups)
        return min(len(np.unique(groups[self.splits[group[0]][0]])) for group in self.shared())

    def inside(self, train: NDArray[np.intp], budget: int | Budget | None) -> Self:
        """Return the plan for the rows of a training part, split in the same way."""
        rows = self.rows.part(train)
        splits = split_rows(rows, self.cv, 1, 1, self.seed)
        return self._replace(rows=rows, splits=splits, n_repeats=1, budget=budget)

    @property
    def by_time(self) -> bool:
        """Whether each part comes after the rows learnt from."""
        return self.rows.times is not None or isinstance(self.cv, TimeSplit | TimeSeriesSplit)

    @property
    def folds(self) -> NDArray[np.intp]:
        """The part of the first repetition that holds each row out, -1 where none does."""
        folds = np.full(len(self.rows.y), -1, dtype=np.intp)
        for part, (_, test) in enumerate(self.first_splits):
            folds[test] = part
        return folds

    @property
    def first_splits(self) -> Splits:
        """The splits of the first repetition."""
        return self.splits[: len(self.splits) // self.n_repeats]

    @property
    def nesting(self) -> Nesting:
        """What keeps weights of all models together from knowing the rows of a test part.

        Fits apart from each pair of parts cost less than those of the whole to every training part.
        """
        n_parts, positive, cv = len(self.first_splits), self.rows.positive, self.cv
        few = len(positive) < MIN_ROWS_TOGETHER or positive.sum() < MIN_POSITIVES_TOGETHER
        if not isinstance(cv, int | np.integer) and not hasattr(cv, "split"):
            return "whole"
        n_learnt = min(positive.sum(), (~positive).sum()) * (1.0 - 2.0 / n_parts)
        is_large = n_parts >= MIN_PAIRED_PARTS and n_learnt >= MIN_PAIRED_ROWS
        return ("pairs" if is_large and not self.by_time else "whole") if few else "none"

    def by_row(self, of_parts: Sequence[Floats]) -> Floats:
        """Return scores of the first repetition's test parts by row, NaN of rows that were never held out."""
        scores = np.full(len(self.rows.y), np.nan)
        for (_, test), of_part in zip(self.first_splits, of_parts, strict=False):
            scores[test] = of_part
        return scores

    def shared(self) -> list[list[int]]:
        """Return the numbers of splits that share a training part, and so its fits, in groups."""
        return [[*group] for _, group in groupby(range(len(self.splits)), lambda n: id(self.splits[n][0]))]

    def parts(self) -> Iterator[tuple[Rows, list[Rows]]]:
        """Yield the rows to learn from and those of each test part, by group of :meth:`shared`."""
        for group in self.shared():
            tests = [self.rows.part(self.splits[number][1]) for number in group]
            yield self.rows.part(self.splits[group[0]][0]), tests

    def judged(self) -> str:
        """Return a sentence that says on which rows models are judged."""
        if self.rows.times is not None or isinstance(self.cv, TimeSplit):
            gap = f"{self.cv.gap} " if isinstance(self.cv, TimeSplit) and self.cv.gap else ""
            return (
                f"Judged by time, on {len(self.splits)} parts that each come {gap}after the rows learnt from."
            )
        if isinstance(self.cv, int | np.integer):
            return f"Judged by {self.cv} random folds."
        return f"Judged by {type(self.cv).__name__}." if hasattr(self.cv, "split") else ""


def can_split(rows: Rows, n_parts: int, *more: int) -> bool:
    """Return whether rows can be split into parts, and their training parts into more, with both classes."""
    # Features would be copied for nothing, and parts by a number keep groups apart by time alone.
    groups = None if rows.times is None else rows.groups
    rows = rows._replace(X=np.empty((len(rows.y), 0)), groups=groups)
    try:
        splits = split_rows(rows, n_parts, 1, 1, 0)
    except ValueError:
        return False
    return not more or all(can_split(rows.part(train), *more) for train, _ in splits)


def whole_periods(budget: Budget, time: ArrayLike | None, cv: Any = 0, *, fewer: bool = True) -> GenericArray:
    """Return when each row's period begins, or its batch; say what to do where `cv` takes more periods."""
    if time is None:
        raise ValueError(f"a budget of {budget.words} needs the time of every row: pass time=.")
    labels, codes = budget.periods(time)
    n_parts, n_periods = getattr(cv, "n_splits", cv), len(labels)
    if isinstance(n_parts, int) and n_periods <= n_parts:
        shorter = UNITS[: UNITS.index(budget.per)] if budget.per != "batch" else ()
        enough = [per for per in shorter if len(Budget(budget.n, per).periods(time).labels) > n_parts]
        ways = [f"take a budget by {enough[-1]}"] if enough else []
        ways += [f"take cv={n_periods - 1}"] * (fewer and n_periods > 2)
        raise ValueError(
            f"budget={budget} takes at least {n_parts + 1} {budget.several}, {n_parts} to test on and one to "
            f"learn from before them, and time holds {n_periods}: {' or '.join(ways) or 'add rows'}."
        )
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
        # The largest test part takes the rows of a class over the folds, rounded up; the rest is split again.
        needed = next(n_rows for n_rows in count(needed) if n_rows - -(-n_rows // n_folds) >= needed)
    return needed


def split_rows(rows: Rows, cv: Any, n_repeats: int, n_splits: int, seed: int) -> Splits:
    """Return the training and test rows of every part; they can be split again ``n_splits - 1`` times."""
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
    # A row in two test parts would count twice in the measures and in their errors, and its held-out score
    # would be that of the last part.
    held_out = np.bincount(np.concatenate([test for _, test in splits]), minlength=len(rows.y))
    if len(splits) < 2 or held_out.max() > n_repeats:
        raise ValueError(
            f"cv must give at least 2 test parts and put no row into more than one, got {len(splits)} parts "
            f"and rows that are in {held_out.max()} of them; take KFold or the like."
        )
    check_parts(splits, rows.positive)
    return splits


def check_parts(splits: Splits, positive: NDArray[np.bool_], weights: Floats | None = None) -> None:
    """Raise unless both classes are among the rows of each part that have a weight."""
    for part, numbers in enumerate(splits, 1):
        for what, held in zip(("training", "test"), numbers, strict=True):
            # Rows of weight zero count for nothing, so that those that count may be of a single class.
            counted = held if weights is None else held[weights[held] > 0.0]
            if positive[counted].all() or not positive[counted].any():
                raise ValueError(
                    f"{what} part {part} of {len(splits)} has rows of one class only; take fewer or "
                    "stratified folds, or other groups or times."
                )


def part_of_budget(budget: int, n_part: int, n_rows: int) -> int:
    """Return how many of a part's rows a budget for all rows stands for: in proportion, at least one."""
    # No measure is defined for a list of no rows.
    return max(1, round(budget * n_part / n_rows))
