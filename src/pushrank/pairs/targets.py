"""From labels, grades, query groups or explicit pairs to the sample of pairs to be ranked."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from pushrank._base.numeric import Floats
from pushrank._base.user_types import GenericArray
from pushrank._base.validation import check_labels, distinct, group_numbers, not_two_classes, warn_of_labels
from pushrank.pairs.explicit import CrucialSample
from pushrank.pairs.graded import GradedSample
from pushrank.pairs.samples import BipartiteSample, RowNumbers, Sample


def sample_of_labels(
    ranker: str, labels: GenericArray, weights: Floats | None = None, qid: ArrayLike | None = None
) -> tuple[Sample, GenericArray, GenericArray, RowNumbers | None]:
    """Return the sample of two classes or grades, in query groups or in one list, and what it was made of."""
    # Labels are two values of any kind, or any number of numbers, the higher the better. Weights are checked,
    # and messages name the `ranker`. With the sample come the distinct labels of positive weight in order,
    # each row's index among them, and each row's query group as a number, or None.
    check_labels(labels)
    classes = distinct(labels)
    # Classes without weight do not make grades of two classes.
    if len(classes) > 2 and weights is not None:
        classes = distinct(labels[weights > 0.0])
    if len(classes) < 2 or (len(classes) > 2 and classes.dtype.kind not in "iuf"):
        raise ValueError(
            f"{not_two_classes(classes, ranker=ranker)} More than two classes are taken as grades of "
            "relevance, which must be numbers, the higher the better."
        )
    if qid is None or classes.dtype.kind not in "iuf":
        warn_of_labels(classes, ranker)
    groups = None if qid is None else group_numbers(qid, len(labels))
    if len(classes) == 2 and groups is None:
        codes = labels == classes[1]
        return BipartiteSample.from_mask(codes, weights), classes, codes, None
    # A grade that has no weight gets the code of the next one, which changes no sum.
    codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    together = np.zeros(len(codes), dtype=np.intp) if groups is None else groups
    return GradedSample.from_grades(codes.astype(np.float64), together, weights), classes, codes, groups


def sample_of_pairs(pairs: Any, n_rows: int, weights: Floats | None = None) -> CrucialSample:
    """Return the sample of explicit pairs ``(better, worse)`` or ``(better, worse, weight)``."""
    is_table = getattr(pairs, "ndim", 0) == 2
    columns = list(np.asarray(pairs).T) if is_table else list(pairs)
    if len(columns) not in (2, 3):
        raise TypeError(
            "pairs must be (better, worse) or (better, worse, weight), or an array with these columns; found "
            f"{len(columns)} parts. A list of pairs becomes such an array by np.array(pairs)."
        )
    rows: list[RowNumbers] = []
    for name, column in zip(("better", "worse"), columns, strict=False):
        numbers = column_or_1d(column)
        if not len(numbers):
            raise ValueError(f"pairs: {name} is empty; there must be at least one pair.")
        if numbers.dtype.kind == "f" and is_table and np.all(numbers == np.floor(numbers)):
            # In an array with a column of weights, row numbers are floats too.
            numbers = numbers.astype(np.intp)
        if numbers.dtype.kind not in "iu":
            raise TypeError(f"pairs: {name} must be row numbers, integers; found dtype {numbers.dtype}.")
        outside = np.flatnonzero((numbers < 0) | (numbers >= n_rows))
        if len(outside):
            raise ValueError(
                f"pairs: {name} row numbers must be from 0 to {n_rows - 1}; pair {outside[0]} has "
                f"{numbers[outside[0]]}."
            )
        rows.append(numbers.astype(np.intp))
    check_consistent_length(*columns)
    same = np.flatnonzero(rows[0] == rows[1])
    if len(same):
        raise ValueError(f"pairs: pair {same[0]} ranks row {rows[0][same[0]]} above itself.")
    pair_weights = None
    if len(columns) == 3:
        pair_weights = check_array(columns[2], dtype=np.float64, ensure_2d=False, input_name="pairs: weight")
        if np.min(pair_weights, initial=0.0) < 0.0:
            raise ValueError(f"pairs: weights must not be negative, found {pair_weights.min()}.")
    return CrucialSample.from_pairs(n_rows, rows[0], rows[1], pair_weights, weights)


def check_pairs_alone(**others: object) -> None:
    """Raise a ValueError if labels or groups are passed together with pairs."""
    names = [name for name, value in others.items() if value is not None]
    if names:
        raise ValueError(f"pairs say what to rank, so {' and '.join(names)} must be None.")
