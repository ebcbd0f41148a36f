"""Checks of numbers, names, labels and weights."""

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from itertools import pairwise
from numbers import Integral, Number, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from pushrank._base.bounds import check_jobs as check_jobs
from pushrank._base.bounds import check_number as check_number
from pushrank._base.user_types import Floats, GenericArray, Label
from pushrank.exceptions import BadRowError as BadRowError
from pushrank.exceptions import warn as warn

__all__ = [
    "are_missing", "as_numbers", "check_number", "checked_scores", "column", "finite_numbers",
    "marks_of", "positive_label", "refuse_masked", "warn",
]  # fmt: skip

# A memory map of another type than float32 and float64 is converted as a whole: of this many entries that
# makes 1 GiB. Joblib hands smaller arrays of every type to its processes as maps.
MAX_CONVERTED = 1 << 27


def warn_of_other_order(**objects: object) -> None:
    """Warn where objects of pandas have the same index in another order: rows are paired by position."""
    found: dict[str, Any] = {name: getattr(values, "index", None) for name, values in objects.items()}
    # Lists have a method of that name.
    indexes = {name: index for name, index in found.items() if hasattr(index, "symmetric_difference")}
    for name, other in pairwise(indexes):
        first, second = indexes[name], indexes[other]
        if len(first) != len(second) or first.equals(second):
            continue
        if not len(first.symmetric_difference(second, sort=False)):
            warn(
                f"{name} and {other} have the same index in another order, and rows are paired by position; "
                f"pass {other}.loc[{name}.index] to pair them by index, or reset both to keep positions."
            )


def refuse_masked(values: Any, name: str) -> None:
    """Raise for a masked array with masked entries, whose mask NumPy and scikit-learn take no notice of."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        mask, instead = np.ma.getmaskarray(values), "leave those rows out"
        if name == "X":
            instead = "pass X.filled(np.nan) to a ranker that takes missing values (PushBoost) or impute them"
        raise ValueError(
            f"{name} is a masked array, and {mask.sum()} of its entries, the first in row "
            f"{np.argwhere(mask)[0, 0]}, are masked and have no value: {instead}."
        )


def column(values: ArrayLike, name: str) -> GenericArray:
    """Return values as a vector; those of more than one dimension are a ValueError."""
    # Most callers pass such vectors, of which scikit-learn's checks let all pass.
    if type(values) is np.ndarray and values.ndim == 1 and values.dtype.kind in "biuf":
        return np.ascontiguousarray(values)
    refuse_masked(values, name)
    # NumPy would make texts of what is not text in a list, such as a missing value.
    if isinstance(values, list) and {str} < {type(value) for value in values}:
        values = np.asarray(values, dtype=object)
    shape = np.asarray(values).shape
    if len(shape) != 1 and shape[1:] != (1,):
        do = "of predict_proba pass the column [:, 1]" if name == "scores" else "pass one entry a row"
        raise ValueError(f"{name} must be one-dimensional, found shape {shape}; {do}.")
    return np.asarray(column_or_1d(values))


def as_numbers(values: GenericArray, name: str) -> Floats:
    """Return real numbers as float64; text, dates and complex numbers are a ValueError."""
    if values.dtype.kind in "biufO":
        # NumPy would read texts that are held as objects, and count the units of dates.
        for value in values.flat if values.dtype.kind == "O" else ():
            if isinstance(value, str | bytes | np.datetime64 | np.timedelta64):
                raise ValueError(f"{name} must be real numbers; could not convert {value!r}.")
        try:
            return np.ascontiguousarray(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} must be real numbers; {error}.") from error
    raise ValueError(f"{name} must be real numbers, found dtype {values.dtype}; convert them.")


def finite_numbers(values: GenericArray, name: str) -> Floats:
    """Return real numbers as float64; one that is not finite is a ValueError."""
    numbers = as_numbers(values, name)
    if not (is_finite := np.isfinite(numbers)).all():
        bad = int(np.argmin(is_finite))
        raise ValueError(f"{name} must be finite, found {numbers[bad]} in row {bad}; drop or replace it.")
    return numbers


def checked_scores(scores: ArrayLike) -> Floats:
    """Return finite scores as float64, or as their ranks where that would merge distinct ones."""
    largest_exact, numbers = 2**53, column(scores, "scores")
    merges = False
    if numbers.dtype.kind in "iu" and len(numbers):
        merges = max(-int(numbers.min()), int(numbers.max())) > largest_exact
    elif numbers.dtype.kind == "f":
        merges = numbers.dtype.itemsize > 8 and bool(np.isfinite(numbers).all())
    elif numbers.dtype.kind == "O":
        # Larger integers, Decimals and fractions are held as objects.
        merges = len({*finite_numbers(numbers, "scores").tolist()}) < len({*numbers})
    if merges:
        numbers = np.unique(numbers, return_inverse=True)[1]
    return finite_numbers(numbers, "scores")


def comparable_scores(scores: ArrayLike) -> Floats:
    """Return finite scores as float64, which other scores can be compared with."""
    numbers = column(scores, "scores")
    # Ranks would do for a metric, but a threshold must be comparable with the caller's scores.
    if not np.array_equal(checked := checked_scores(numbers), as_numbers(numbers, "scores")):
        raise ValueError(f"scores hold more digits than float64 ({numbers.dtype}), pass them as float64.")
    return checked


def checked_entries(X: Any) -> Any:
    """Return X, the parts of a sparse matrix's entries added up; raise for masks, dates and large maps."""
    # NumPy and scikit-learn would count dates in days or nanoseconds, and hand the parts of an entry on as if
    # each were its value.
    refuse_masked(X, "X")
    types = getattr(X, "dtypes", None)
    types = [getattr(X, "dtype", None)] if types is None else types
    for column, dtype in enumerate(types):
        # The libraries of data frames write their types in words of their own.
        if str(dtype).lower().startswith(("date", "time", "duration", "period")):
            name = f" ({X.columns[column]!r})" if hasattr(X, "columns") else ""
            raise ValueError(
                f"X must hold numbers, and column {column}{name} holds {dtype}: make numbers of it, such as "
                "days since a date, the hour or the weekday."
            )
    if isinstance(X, np.memmap) and X.size > MAX_CONVERTED and X.dtype not in (np.float64, np.float32):
        raise ValueError(
            f"X is a memory map of {X.dtype}, of which {X.size / 2**27:.1f} GiB of float64 would be made in "
            "memory: write its rows as float32 to a file of numpy.lib.format.open_memmap, a block at a time, "
            "and map that one; or score a block of rows at a time."
        )
    if sp.issparse(X) and X.format in ("csr", "csc", "bsr"):
        X = X.tocsr() if X.format == "bsr" else X
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
    return X


def checked_weights(sample_weight: ArrayLike, n_rows: int, name: str = "sample_weight") -> Floats:
    """Return weights of all rows as float64; one that is negative or not finite is a ``BadRowError``."""
    weights = as_numbers(column(sample_weight, name), name)
    if len(weights) != n_rows:
        raise ValueError(f"{name} has {len(weights)} entries for {n_rows} rows; they must agree.")
    wrong = np.flatnonzero(~((weights >= 0.0) & (weights < np.inf)))
    if len(wrong):
        found = f"{name} must not be negative, NaN or infinite, found {weights[wrong[0]]} in "
        raise BadRowError(int(wrong[0]), found, ".")
    return weights


def plain_labels(labels: Any, name: str = "y") -> Any:
    """Return labels, those of pandas' nullable integers and truth values as NumPy's."""
    # Scikit-learn would make floats of them. Masked labels are a ValueError, and so are those of an ordered
    # categorical whose order differs from their sorted order: the larger label in sorted order is the
    # positive one, so that the ranking would come out upside down.
    refuse_masked(labels, name)
    given = labels
    if hasattr(labels, "iloc") and labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.iloc[:, 0]
    dtype: Any = getattr(labels, "dtype", None)
    if hasattr(dtype, "numpy_dtype") and dtype.kind in "biu" and not labels.isna().any():
        return labels.to_numpy()
    if isinstance(labels, list | tuple) or dtype == np.dtype(object):
        values = np.asarray(labels)
        # Scikit-learn takes numbers that are held as objects for no labels.
        if values.dtype == object and all(isinstance(value, Number | np.bool_) for value in values.flat):
            numbers = np.array(values.tolist())
            return as_numbers(values, name) if numbers.dtype == object else numbers
    # The categorical of a pandas series is its array.
    labels = getattr(labels, "array", labels)
    if not (getattr(labels, "ordered", False) and hasattr(labels, "codes")):
        return given
    codes = np.unique(labels.codes)
    stated = list(labels.categories[codes[codes >= 0]])
    # Labels that cannot be sorted have no sorted order to agree with.
    with suppress(TypeError):
        if stated == sorted(stated):
            return given
    raise ValueError(
        f"{name} is an ordered categorical, {' < '.join(map(repr, stated))}, but labels are taken in sorted "
        f"order and would be turned upside down; pass {name} == {stated[-1]!r}, or numbers for grades."
    )


def distinct(labels: GenericArray, name: str = "y") -> GenericArray:
    """Return the distinct labels in order, none missing, without sorting all if they are two numbers."""
    if labels.dtype.kind in "biuf" and len(labels):
        low, high = labels.min(), labels.max()
        if low != high and np.count_nonzero(labels == low) + np.count_nonzero(labels == high) == len(labels):
            return np.array([low, high])
    missing = np.flatnonzero(are_missing(labels))
    if len(missing):
        raise ValueError(
            f"{name} is missing ({labels[missing[0]]}) in row {missing[0]}; leave such rows out, or give "
            "them a class."
        )
    return np.unique(labels)


def group_numbers(groups: ArrayLike, n_rows: int, name: str = "qid") -> NDArray[np.intp]:
    """Return the group of each row as a number from zero; a missing one is a ValueError."""
    labels = column(groups, name)
    is_missing = are_missing(labels)
    if labels.dtype.kind in "OU":
        # Rows without a text would else be one giant group.
        is_missing = is_missing | np.array([isinstance(of, str) and not of for of in labels], dtype=bool)
    missing = np.flatnonzero(is_missing)
    if len(missing):
        raise ValueError(f"{name} has no entry in row {missing[0]}; give every row one, or leave it out.")
    if len(labels) != n_rows:
        raise ValueError(
            f"{name} must hold one entry a row; found {len(labels)} entries for {n_rows} rows. Sizes of "
            "consecutive groups become entries by np.repeat(np.arange(len(sizes)), sizes)."
        )
    try:
        return np.unique(labels, return_inverse=True)[1].astype(np.intp)
    except TypeError as error:
        raise ValueError(
            f"{name} mixes values that have no order; name all groups by numbers, or all by texts."
        ) from error


def check_labels(labels: GenericArray) -> None:
    """Raise unless labels are those of classes or grades, in contrast to the numbers of a regression."""
    # Numbers with a fraction are grades, such as half stars, unless most rows have one of their own.
    if labels.dtype.kind == "f" and np.isfinite(labels).all():
        n_distinct = len(distinct(labels))
        if n_distinct <= max(2, len(labels) // 2):
            return
        if np.any(labels != np.rint(labels)):
            # Scikit-learn's checks of estimators look for the first words.
            raise ValueError(
                f"Unknown label type: continuous. y holds {n_distinct} different numbers with fractions in "
                f"{len(labels)} rows, as the target of a regression does; if they are grades of relevance, "
                "pass np.unique(y, return_inverse=True)[1]."
            )
    check_classification_targets(labels)


def are_missing(labels: GenericArray) -> NDArray[np.bool_]:
    """Return which labels are NaN, NaT, None or pandas' NA, without importing pandas."""
    if labels.dtype.kind != "O":
        return np.asarray(labels != labels)
    pandas_missing = getattr(sys.modules.get("pandas"), "NA", None)
    missing = (label is None or label is pandas_missing or label != label for label in labels.flat)
    return np.fromiter(missing, dtype=bool, count=labels.size)


def not_two_classes(classes: GenericArray, name: str = "y", ranker: str | None = None) -> str:
    """Return the message for labels of other than two classes, which may name a ranker."""
    found = f"{len(classes)} class{'es' if len(classes) != 1 else ''}: {classes[:5].tolist()}"
    # Scikit-learn's checks of estimators look for the first words.
    binary_only = f"Only binary classification is supported: {ranker} ranks one class above the other, and "
    needed = f"For one class against the rest pass {name} == that_class."
    if ranker is not None:
        needed += (
            " For grades take a ranker that compares them, such as RankSVM, PNormPush or PushRanker, which "
            "is the Infinite Push by PushRanker('hinge', 'maximum')."
        )
    needed = needed if len(classes) > 2 else "Rows of both are needed."
    return f"{binary_only if ranker else ''}{name} must hold exactly 2 classes, found {found}. {needed}"


def positive_label(classes: Sequence[Label] | GenericArray) -> Label | None:
    """Return which of two sorted labels is positive, or None if they do not show it."""
    # It is the larger of two numbers or truth values, also if written as texts; of the texts yes and no it is
    # yes, and of true and false it is true, in small or capital letters. For other texts it is unknown, since
    # their alphabetical order means nothing.
    if not all(isinstance(label, str | bytes) for label in classes):
        return classes[1]
    texts = [text.strip().lower() for text in np.asarray(classes).astype(str)]
    if set(texts) in ({"no", "yes"}, {"n", "y"}, {"false", "true"}):
        return classes[int(texts[1] in ("yes", "y", "true"))]
    try:
        lower, upper = map(float, texts)
    except ValueError:
        return None
    return None if lower == upper else classes[int(lower < upper)]


def warn_of_labels(classes: GenericArray, ranker: str) -> None:
    """Warn where a fit takes two texts in sorted order, or numbers that may be meant as something else."""
    lower, *_, upper = classes.tolist()
    if len(classes) > 2:
        message = (
            f"{ranker} takes the {len(classes)} values of y, {lower:g} to {upper:g}, as grades. For one "
            "class against the rest fit to y == that_class; if they are grades, pass the query of each row "
            "as qid, or qid=np.zeros(len(y)) for a single list."
        )
    elif classes.dtype.kind == "f" and any(label % 1.0 for label in classes.tolist()):
        message = f"{ranker} ranks {upper:g} above {lower:g}, numbers with fractions, as two classes; "
        message += f"if they are, fit to y == {upper:g}."
    elif positive_label(classes) != upper:
        message = (
            f"{ranker} ranks {upper!s} above {lower!s}, the later of two texts in sorted order, as "
            f"scikit-learn's classifiers take it; to have {lower!s} at the top, fit to y == {lower!r}."
        )
    else:
        return
    warn(message, once=True)


def two_classes(
    labels: GenericArray, name: str = "y", pos_label: Label | None = None, ranker: str | None = None
) -> tuple[GenericArray, NDArray[np.bool_]]:
    """Return the two classes in sorted order, and which rows are positive."""
    # Messages call the labels `name`. The positive class is by default that of `positive_label`; where that
    # is None `pos_label` is needed, or a fit of the estimator `ranker` takes the later class, with a warning.
    try:
        classes = distinct(labels, name)
    except TypeError as error:
        raise ValueError(f"{name} mixes labels that have no order; use two values of one kind.") from error
    if len(classes) != 2:
        raise ValueError(not_two_classes(classes, name, ranker))
    if ranker is not None:
        warn_of_labels(classes, ranker)
        pos_label = classes[1]
    elif pos_label is None:
        pos_label = positive_label(classes)
        lower, upper = classes.tolist()
        if pos_label is None:
            raise ValueError(
                f"{name} holds the texts {lower!r} and {upper!r}, and nothing says which is positive: "
                f"pass pos_label={lower!r} or pos_label={upper!r}, or {name} == the positive one."
            )
        # A scorer of scikit-learn would pass the scores of the other class.
        if pos_label != upper:
            raise ValueError(
                f"{name} holds the texts {lower!r} and {upper!r}, and scikit-learn's classifiers rank the "
                f"later in sorted order, {upper!r}, at the top: pass pos_label={lower!r}, or {name} == "
                f"{lower!r}."
            )
    elif pos_label not in classes:
        raise ValueError(f"pos_label={pos_label!r} is not a class of {name}, which are {classes.tolist()}.")
    is_positive: NDArray[np.bool_] = labels == pos_label
    return classes, is_positive


def positive_mask(y_true: ArrayLike, pos_label: Label | None) -> NDArray[np.bool_]:
    """Return which labels are positive, of exactly two."""
    if pos_label is None:
        y_true = plain_labels(y_true, "y_true")
    return two_classes(column(y_true, "y_true"), "y_true", pos_label)[1]


def check_choice(name: str, value: object, choices: Iterable[str | None]) -> None:
    """Raise unless a parameter is one of some names."""
    choices = list(choices)
    if not isinstance(value, str | None) or value not in choices:
        raise ValueError(f"{name} must be one of {choices}, got {value!r}.")


def check_flag(name: str, value: object) -> None:
    """Raise unless a parameter is True or False, or an integer that stands for one of them."""
    if not isinstance(value, Integral | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}.")


def is_count(k: object) -> bool:
    """Return whether k is a number of rows, in contrast to a fraction of the positives."""
    return isinstance(k, Integral)


def check_k(k: Any) -> None:
    """Raise unless k is a number of rows, an int, or a fraction of the positives, a float."""
    valid = isinstance(k, Real) and not isinstance(k, bool)
    # Floats count exactly up to 2**53.
    if not (valid and (1 <= k <= 2**53 if is_count(k) else 0.0 < float(k) <= 1.0)):
        raise ValueError(
            "k must be an int of at least 1 (a number of rows) or a float in (0, 1] (a fraction of the "
            f"positives), got {k!r}."
        )


def resolve_k(k: float, counted: bool, positive_weight: float) -> float:
    """Return k in rows: itself if ``counted``, else that fraction of the positives, and at least one row."""
    return k if counted else max(np.rint(k * positive_weight), 1.0)


def snake_case(name: str) -> str:
    """Return ``SquaredHinge`` as ``squared_hinge``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", "_", name).lower()


def resolve_name(member: object, kind: type, registry: Iterable[type], what: str) -> Any:
    """Return ``member`` itself, or a default instance of the registered class that its name stands for."""
    if isinstance(member, kind):
        return member
    names = {snake_case(cls.__name__): cls for cls in registry}
    if isinstance(member, str):
        if member not in names:
            raise ValueError(f"{what}={member!r} is not known; use one of {sorted(names)} or an instance.")
        return names[member]()
    raise TypeError(
        f"{what} must be one of {sorted(names)} or a {kind.__name__} instance, got {type(member).__name__}."
    )


# With this step, relative to an argument, difference quotients of smooth functions have errors of 1e-5.
TRAIT_STEP = 1e-5
# A larger relative error of a derivative is a wrong formula, not rounding.
TRAIT_TOLERANCE = 1e-3
# Values of a formula are rounded by less than this, relative to their size.
VALUE_TOLERANCE = 1e-9


def check_traits(
    member: Any, what: str, at: Floats, sign: float, *, smooth: bool, twice: bool, names: Iterable[str]
) -> None:
    """Raise unless a user's loss or price has the traits that it declares, at some ascending arguments."""
    # `sign` is one if the value has to grow with the argument, minus one if it has to fall, else zero. It may
    # declare `names`; another attribute that resembles one of them counts as misspelt.
    described = f"the {what} {member!r}"
    fields = getattr(member, "__dataclass_fields__", {})
    for name in {name for cls in type(member).__mro__ for name in vars(cls)} - {*names, *fields}:
        if not name.startswith("_") and (meant := get_close_matches(name, names, 1, 0.8)):
            raise ValueError(
                f"{described} has an attribute {name}, which means nothing; is {meant[0]} meant?"
            )

    def refuse(wrong: NDArray[np.bool_], why: str) -> None:
        if wrong.any():
            raise ValueError(f"{described} {why.format(f'{at[np.argmax(wrong)]:.6g}')}")

    with np.errstate(all="ignore"):
        values = np.asarray(member.value(at))
        if values.shape != at.shape:
            raise ValueError(f"{described} must return a value for each argument, got shape {values.shape}.")
        refuse(~(values >= 0.0), "must be a number of at least zero, and is not at {}.")
        size = np.maximum(np.abs(values[1:]), np.abs(values[:-1]))
        rises = np.diff(values)
        way = "must not rise with the margin, and rises from {} on."
        if sign > 0.0:
            way = "must not fall, and falls from {} on; one that is to fall declares monotonic = False."
        refuse(sign * rises < -VALUE_TOLERANCE * size, way)
        slopes = rises / np.diff(at)
        rounding = VALUE_TOLERANCE * (np.abs(slopes[1:]) + np.abs(slopes[:-1]) + (size / np.diff(at))[1:])
        if member.convex:
            refuse(slopes[1:] < slopes[:-1] - rounding, "declares convex = True, and is not convex at {}.")
        derivatives = member.derivative(at)
        left, right = _one_sided(member.value, at, TRAIT_STEP)
        refuse(_differs(derivatives, left, right), "has a derivative at {} that is not that of its value.")
        if smooth:
            near_left, near_right = _one_sided(member.value, at, 0.1 * TRAIT_STEP)
            # At a kink the jump of the slope does not shrink with the step.
            jumps, near = np.abs(right - left), np.abs(near_right - near_left)
            large = near > TRAIT_TOLERANCE * (np.abs(right) + np.abs(left) + 1e-3)
            refuse(large & (near > 0.5 * jumps), "has a kink at {}, and does not declare it.")
        if twice:
            second = _one_sided(member.derivative, at, TRAIT_STEP)
            wrong = _differs(member.second_derivative(at), *second)
            refuse(wrong, "has a second derivative at {} that is not that of its derivative.")


def _one_sided(function: Callable[[Floats], Floats], at: Floats, step: float) -> tuple[Floats, Floats]:
    """Return the difference quotients on the left and on the right."""
    steps = step * np.maximum(np.abs(at), 1e-2)
    here = function(at)
    return (here - function(at - steps)) / steps, (function(at + steps) - here) / steps


def _differs(derivatives: Floats, left: Floats, right: Floats) -> NDArray[np.bool_]:
    """Return where derivatives are outside the interval of the quotients on both sides."""
    room = TRAIT_TOLERANCE * (np.abs(left) + np.abs(right)) + 1e-6
    finite = np.isfinite(left) & np.isfinite(right)
    low, high = np.minimum(left, right) - room, np.maximum(left, right) + room
    return finite & ~((low <= derivatives) & (derivatives <= high))


LOOKED_AT = "list listed audit audited alert acted yes y true t on x both champion challenger"
NOT_LOOKED_AT = "no n not false f off none null nan nat na n/a #n/a <na> ? - – —"
MARKS = dict.fromkeys(LOOKED_AT.split(), True) | dict.fromkeys(["", *NOT_LOOKED_AT.split()], False)
"""Words that say whether somebody looked at a row, in small letters."""


def marks_of(acted: ArrayLike) -> tuple[NDArray[np.str_], NDArray[np.bool_]]:
    """Return how rows were acted on, as text in small letters, and which were: not those empty, 0 or no.

    Unknown words are taken for names of lists, with a warning, and refused in more than half of the rows.
    """
    marks, are_known = column(acted, "acted"), list[bool | None]()
    words = np.char.lower(np.char.strip(np.where(are_missing(marks), "", marks).astype(str)))
    different, codes, counts = np.unique(words, return_inverse=True, return_counts=True)
    for word in different.tolist():
        is_number = re.fullmatch(r"[-+]?(\d+[.,]?\d*|[.,]\d+)(e[-+]?\d+)?", word, re.A)
        number = float(word.replace(",", ".")) if is_number else 0.5
        # How often somebody looked is known, too; a share would be a chance or a score.
        are_known.append(number > 0.0 if not 0.0 < number < 1.0 else MARKS.get(word))
    if odd := [at for at in np.argsort(-counts, kind="stable") if are_known[at] is None]:
        shown = ", ".join(f"{str(different[at])!r} ({counts[at]:,} of {len(words):,} rows)" for at in odd[:5])
        shown += f" and {len(odd) - 5:,} more" * (len(odd) > 5)
        how = "write list, yes or 1 where somebody looked, and 0, no or nothing where nobody did"
        if 2 * counts[odd].sum() > len(words):
            raise ValueError(f"acted holds {shown}, which does not say whether somebody looked: {how}.")
        warn(f"acted holds {shown}, which count as looked at; otherwise {how}.")
    return words, np.array([is_it is not False for is_it in are_known], dtype=bool)[codes]
