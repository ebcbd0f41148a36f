"""Labelled rows: which are positive, which columns to rank by, and what is doubtful about them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from pushrank._validation import positive_label
from pushrank.cli import options
from pushrank.cli.errors import InputError, warn
from pushrank.cli.read import (
    LIBSVM_LABEL,
    TEXT,
    Table,
    TextFormat,
    as_text,
    is_number_type,
    is_text_type,
    read_table,
)

UNLABELLED = {"?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL"}
"""What stands in a label column for no label, unless it is named as the positive one."""
MAX_NUMBER = 1e150  # scaling squares and adds up a column's numbers; those of larger ones would overflow
NEARLY_ALL = 0.9  # of the values of a column: the others may be mistakes
MIN_ROWS_TO_DOUBT = 20  # with fewer, categories may well be nearly all distinct, and numbers rise by chance
MIN_CLASS_TO_DOUBT = 5  # rows of a class: fewer are above all others by chance in one of many columns
MIN_DIGITS = 6  # of numbers that differ in every row: amounts vary in length, identifiers do not
ROWS_TO_SEARCH = 10_000  # for leading zeros, which all codes of a column have or a good part
DAY = r"(?:0?[1-9]|[12]\d|3[01])"
DATE = rf"\s*(?:\d{{4}}([-/.]){DAY}\1{DAY}|{DAY}([-/.]){DAY}\2(?:19|20)\d\d|{DAY}/{DAY}/\d\d)(?:[T ,].*)?\s*"
UNIT = "[$€£¥₹₽₩₺¢%‰]|EUR|USD|GBP|CHF|JPY"
AMOUNT = (
    rf"\s*[-+]?\s*(?P<before>{UNIT})?\s*[-+]?"
    r"(?P<number>(?:0|[1-9]\d{0,2})(?:[.,'’\s]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?)"
    rf"\s*(?P<after>{UNIT})?\s*"
)
IDENTIFIER = r"(?i:id)|.*[^a-zA-Z](?i:id)|.*[a-z]I[dD]|Unnamed: \d+|\s*"
"""Names of columns of identifiers, and those of columns without a name, as pandas writes row numbers."""


@dataclass(frozen=True)
class LabelledSource:
    """Where labelled rows come from."""

    data: options.Data
    label: options.Label = None
    positive: options.Positive = None
    drop_unlabelled: options.DropUnlabelled = False
    exclude: options.Exclude = None


@dataclass(frozen=True)
class LabelledTable:
    """A table, which of its rows are positive, and its features."""

    table: Table
    label: str
    positive: str
    y: NDArray[np.bool_]
    numeric: list[str]
    categorical: list[str]
    features: Any

    @property
    def label_meaning(self) -> str:
        """What makes a row positive."""
        return f"{self.label} = {self.positive}"

    def describe_features(self) -> str:
        """Return how the columns were read."""
        if self.table.is_sparse:
            return f"{self.features.shape[1]:,} sparse features"
        numbers = f"{len(self.numeric):,} numeric column{'s' * (len(self.numeric) != 1)}"
        if not self.categorical:
            return numbers
        shown = ", ".join(map(repr, self.categorical[:10])) + ", ..." * (len(self.categorical) > 10)
        texts = f"{len(self.categorical):,} text column{'s' * (len(self.categorical) != 1)}"
        return f"{numbers} and {texts} ({shown})"

    @property
    def rows_to_show(self) -> pd.DataFrame:
        """The rows to show: numbers as numbers, all else as it is in the file."""
        frame = self.table.frame.drop(columns=self.label)
        return frame.assign(**{name: self.features[name] for name in self.numeric})

    @property
    def excluded(self) -> list[str]:
        """The columns that were left out."""
        used = {self.label, *self.numeric, *self.categorical}
        return [name for name in self.table.frame if name not in used]


def read_labelled(
    source: LabelledSource, written: TextFormat, set_aside: Mapping[str, str | None] | None = None
) -> LabelledTable:
    """Read a file with labels, refuse columns that cannot be used, and warn of those that are doubtful.

    `set_aside` names columns that are no features, by the options that name them.
    """
    table = read_table(source.data, written)
    column = label_column(table, source.label)
    table, y, positive = labelled_rows(table, column, source.positive, drop_unlabelled=source.drop_unlabelled)
    n_rare = int(min(y.sum(), (~y).sum()))
    if n_rare < MIN_ROWS_TO_DOUBT:
        rows = "row is" if n_rare == 1 else "rows are"
        warn(f"only {n_rare} {rows} of one of the two classes: what is learnt and measured rests on few.")
    aside = {option: name for option, name in (set_aside or {}).items() if name is not None}
    for option, name in aside.items():
        if table.is_sparse:
            raise InputError(f"--{option} is for named columns; those of {table.path} have none.")
        if name not in table.frame.columns or name == column:
            raise InputError(
                f"--{option} {name!r} is no column of {table.path} beside the label; it has "
                f"{table.describe_columns()}."
            )
    names = feature_columns(table, column, [*(source.exclude or []), *aside.values()])
    names = without_empty_columns(table, names)
    refuse_unusable_columns(table, names)
    numeric = [name for name in names if table.is_numeric(name)]
    is_numeric = set(numeric)
    categorical = [name for name in names if name not in is_numeric]
    features = feature_frame(table, numeric, categorical)
    if not table.is_sparse:
        warn_of_columns(table, y, features, numeric, categorical)
    return LabelledTable(table, column, positive, y, numeric, categorical, features)


def label_column(table: Table, label: str | None) -> str:
    """Return the name of the label column, or raise InputError when it is not named or not there."""
    if table.is_sparse:
        return LIBSVM_LABEL
    if label is None:
        raise InputError("name the column that holds the label: --label COLUMN.")
    if label not in table.frame.columns:
        raise InputError(
            f"{table.path} has no column {label!r} for --label{table.describe_similar(label)}; it has "
            f"{table.describe_columns()}."
        )
    return label


def labelled_rows(
    table: Table, column: str, positive: str | None, *, drop_unlabelled: bool = False
) -> tuple[Table, NDArray[np.bool_], str]:
    """Return the rows that have a label, which of them are positive, and the label that makes them so.

    Numbers are compared exactly, however they are written: 1 and 1.0 are the same label, 2^53 and 2^53 + 1
    are not. Texts are the same in capital and small letters. What counts as the same, as negative or as no
    label at all is said with its number of rows.

    Raises
    ------
    InputError
        When labels are missing and not to be dropped, there are not two classes, the value does not occur,
        or nothing says which of two texts is positive.
    """
    here = f"column {column!r} of {table.path}"
    texts = table.texts(column)
    found = texts.value_counts()
    plain = table.written.plain(pd.Series(found.index, dtype=TEXT)) if table.is_text else found.index
    keys = dict(zip(found.index, map(_label_key, plain), strict=True))
    chosen = None if positive is None else _label_key(positive)
    no_label = [text for text in keys if text.strip() in UNLABELLED and keys[text] != chosen]
    has_label = (texts.notna() & ~texts.isin(no_label)).to_numpy()
    if not has_label.all():
        kinds = [f"{n:,} empty" for n in [int(texts.isna().sum())] if n]
        kinds += [f"{found[text]:,} {text!r}" for text in no_label]
        row = table.frame.index[np.argmin(has_label)] + 1
        of_all = f"{np.sum(~has_label):,} of {len(table):,} rows ({', '.join(kinds)})"
        if not drop_unlabelled:
            raise InputError(
                f"{here} has no label in {of_all}, first in row {row}; leave them out with "
                "--drop-unlabelled, or fill them in."
            )
        warn(f"{of_all} have no label in {here} and are left out.")
        table, texts = table.where(has_label), texts[has_label]
    spellings: dict[Any, list[str]] = {}
    for text in sorted(
        (text for text in keys if text not in no_label),
        key=lambda text: (isinstance(keys[text], str), keys[text]),
    ):
        spellings.setdefault(keys[text], []).append(text)
    counts = {key: sum(int(found[text]) for text in group) for key, group in spellings.items()}
    labels = {key: _shown(key, group[0]) for key, group in spellings.items()}
    shown = _listed(f"{labels[key]} ({_n_rows(count)})" for key, count in counts.items())
    if len(labels) < 2:
        raise InputError(f"{here} holds one class only ({shown}); ranking needs two.")
    if positive is None and len(labels) == 2:
        chosen = dict(zip(labels.values(), labels, strict=True)).get(positive_label(list(labels.values())))
    if chosen is None:
        raise InputError(
            f"{here} holds {len(labels)} values, {shown}; name the one to be ranked at the top: "
            + " or ".join(f"--positive {shlex.quote(label)}" for label in list(labels.values())[:3])
            + " or ..." * (len(labels) > 3) + "."
        )  # fmt: skip
    if chosen not in labels:
        raise InputError(
            f"the label to rank at the top, {positive!r}, does not occur in {here}, which holds {shown}; "
            "name another: --positive LABEL."
        )
    for key, group in spellings.items():
        if len(group) > 1 and isinstance(key, str):
            written = _listed(f"{text!r} ({_n_rows(found[text])})" for text in group)
            warn(f"{here}: {written} count as one label.")
    others = [f"{labels[key]!r} ({_n_rows(count)})" for key, count in counts.items() if key != chosen]
    if len(others) > 1:
        warn(f"{here}: all but {labels[chosen]!r} count as negative: {_listed(others)}.")
    return table, texts.map(keys).eq(chosen).to_numpy(dtype=bool), labels[chosen]


def _label_key(text: str) -> Decimal | str:
    """Return what two labels have in common that are the same: the exact number, or the text."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text.strip().casefold()
    return number if number.is_finite() else text


def _shown(key: Decimal | str, text: str) -> str:
    return str(int(key)) if isinstance(key, Decimal) and key == key.to_integral_value() else text.strip()


def _n_rows(count: int) -> str:
    return f"{count:,} row" + "s" * int(count != 1)


def _listed(items: Iterable[str]) -> str:
    items = [*items]
    return ", ".join(items[:10]) + f" and {len(items) - 10:,} more" * (len(items) > 10)


def excluding(names: Iterable[str]) -> str:
    """Return the options that leave columns out, ready for a shell."""
    return " ".join(f"--exclude {shlex.quote(str(name))}" for name in names)


def feature_columns(table: Table, label: str, excluded: Sequence[str]) -> list[str]:
    """Return the names of the columns to rank by, all but the label and those left out."""
    if table.is_sparse:
        if excluded:
            raise InputError(f"--exclude is for named columns; those of {table.path} have none.")
        return []
    columns = set(table.frame.columns)
    # a name may hold a comma; where none does, several may be given at once
    out = {part for name in excluded for part in ([name] if name in columns else name.split(","))}
    for name in out:
        if name == label:
            raise InputError(f"--exclude {name!r} is the label.")
        if name not in columns:
            raise InputError(
                f"--exclude {name!r} is not in {table.path}{table.describe_similar(name)}, which has "
                f"{table.describe_columns()}."
            )
    names = [name for name in table.frame.columns if name != label and name not in out]
    if not names:
        raise InputError(f"{table.path} has no column but the label; there is nothing to rank by.")
    return names


def without_empty_columns(table: Table, names: list[str]) -> list[str]:
    """Return the columns that hold more than nothing, or the same in every row, and say which do not."""
    ignored = {}
    for name in names:
        if table.is_numeric(name):
            values = table.numbers(name)
            empty, same = np.isnan(values[0]) and np.isnan(values).all(), (values == values[0]).all()
        else:
            column = table.frame[name]
            n_values = column.nunique(dropna=False) if is_text_type(column.dtype) else 2
            same, empty = n_values == 1, bool(column.isna().all())
        if empty or same:
            ignored[name] = "empty" if empty else "the same in every row"
    kept = [name for name in names if name not in ignored]
    if names and not kept:
        raise InputError(
            f"{table.path} has no column but the label that varies; there is nothing to rank by."
        )
    if ignored:
        shown = _listed(f"{name!r} ({what})" for name, what in ignored.items())
        warn(f"ignored, as nothing can be learnt from them, of {table.path}: {shown}.")
    return kept


def feature_frame(table: Table, numeric: list[str], categorical: list[str]) -> Any:
    """Return the features that a model was fitted on: floats, and text with NaN where it is missing.

    Raises InputError when one of them is not there, or holds what cannot be computed with.
    """
    if table.is_sparse:
        return table.features
    columns = set(table.frame.columns)
    missing = [name for name in numeric + categorical if name not in columns]
    if missing:
        shown = _listed(f"{name!r}{table.describe_similar(name)}" for name in missing)
        raise InputError(
            f"{table.path} lacks the column{'s' * (len(missing) > 1)} {shown} that the model was fitted on; "
            f"it has {table.describe_columns()}."
        )
    numbers = np.empty((len(numeric), len(table)))
    for place, name in enumerate(numeric):
        numbers[place] = table.numbers(name)
        if not table.holds_numbers(name):
            _refuse_text(table, name)
    if (is_bad := (np.abs(numbers) > MAX_NUMBER).any(axis=1)).any():
        place = int(np.argmax(is_bad))
        _refuse_number(table, numeric[place], numbers[place])
    features = pd.DataFrame(numbers.T, index=table.frame.index, columns=numeric)
    texts = {name: table.texts(name) for name in categorical}
    return pd.concat([features, pd.DataFrame(texts, index=table.frame.index)], axis=1) if texts else features


def columns_to_show(table: Table, frame: pd.DataFrame, names: Sequence[str] | None) -> pd.DataFrame:
    """Return the columns that --show names, or all, or raise InputError when one is not there."""
    for name in names or ():
        check_column(table, name, "show")
    return frame[[name for name in dict.fromkeys(names) if name in frame]] if names else frame


def check_column(table: Table, name: str, option: str) -> None:
    """Raise InputError unless there is a column that an option names."""
    if table.is_sparse:
        raise InputError(f"--{option} {name!r} is for named columns; those of {table.path} have none.")
    if name not in table.frame.columns:
        raise InputError(
            f"--{option} {name!r} is no column of {table.path}{table.describe_similar(name)}; it has "
            f"{table.describe_columns()}."
        )


def groups_in(table: Table, name: str) -> NDArray[np.str_]:
    """Return the groups of rows that the column of --group says; rows without one make a group."""
    check_column(table, name, "group")
    return np.asarray(table.texts(name).fillna(""), dtype=str)


def numbers_in(table: Table, name: str, option: str, lowest: float = -np.inf) -> NDArray[np.float64]:
    """Return the column that an option names, or raise InputError unless each row holds a number."""
    check_column(table, name, option)
    numbers = table.numbers(name)
    is_usable = np.isfinite(numbers) & (numbers >= lowest)
    if not is_usable.all():
        row = int(np.argmin(is_usable))
        at_least = f" of at least {lowest:g}" * bool(np.isfinite(lowest))
        found = f"holds {table.frame[name].iloc[row]!r}"
        if table.frame[name].isna().iloc[row]:
            found = "is empty: fill it, or leave such rows out"
        raise InputError(
            f"--{option} {name!r} must hold a number{at_least} in every row; row "
            f"{table.frame.index[row] + 1} of {table.path} {found}."
        )
    return numbers


def _refuse_text(table: Table, name: str) -> None:
    texts = table.texts(name)
    row = int(np.argmax(np.isnan(table.numbers(name)) & texts.notna().to_numpy()))
    how = (
        "; say how numbers are written: --decimal, --thousands, --units, --na-values."
        if table.is_text
        else "."
    )
    raise InputError(
        f"column {name!r} of {table.path} must hold numbers, as where the model was fitted; row "
        f"{table.frame.index[row] + 1} holds {str(table.frame[name].iloc[row])!r}{how}"
    )


def _refuse_number(table: Table, name: str, numbers: NDArray[np.float64]) -> None:
    place = int(np.argmax(np.abs(numbers) > MAX_NUMBER))
    here, row, number = f"column {name!r} of {table.path}", table.frame.index[place] + 1, numbers[place]
    if np.isinf(number):
        raise InputError(f"{here} holds infinity in row {row}; replace or drop it.")
    raise InputError(
        f"{here} holds {number:g} in row {row}, too large to compute with (more than {MAX_NUMBER:g}); "
        "divide the column or take its logarithm."
    )


def refuse_unusable_columns(table: Table, names: list[str]) -> None:
    """Raise InputError that names all columns which would only be misread, and what to type."""
    reasons, row_names, amounts = {}, {}, []
    for name in names:
        dtype = table.frame[name].dtype
        if pa.types.is_temporal(dtype.pyarrow_dtype):
            reasons[name] = "holds dates or times"
        elif not (is_number_type(dtype) or is_text_type(dtype)):
            reasons[name] = f"holds {dtype.pyarrow_dtype}, of which no single number can be made"
        elif not table.is_numeric(name):
            shares = table.texts(name).value_counts(normalize=True)
            found = shares.index.str.extract(f"^{AMOUNT}$").set_index(shares.index)
            is_number = _is_number(table.written.plain(pd.Series(shares.index, dtype=TEXT)))
            is_amount = found["number"].notna().to_numpy()
            if shares[shares.index.str.fullmatch(DATE)].sum() >= NEARLY_ALL:
                reasons[name] = f"holds dates or times, such as {shares.index[0]}"
            elif table.is_text and shares[is_amount].sum() >= NEARLY_ALL > shares[is_number].sum():
                reasons[name] = f"holds numbers written as {shares.index[is_amount & ~is_number][0]!r}"
                amounts.append(found[is_amount])
            elif len(table) >= MIN_ROWS_TO_DOUBT and len(shares) > len(table) / 2:
                row_names[name] = f"holds {len(shares):,} different texts, as names of rows do"
    if not reasons:
        return
    # columns that name rows can be used, to no good: they are told of here to be left out at once
    reasons |= row_names
    shown = "; ".join(f"{name!r} {reason}" for name, reason in reasons.items())
    columns = f"{len(reasons):,} columns" if len(reasons) > 1 else "a column"
    advice = f" Read numbers with {_how_written(pd.concat(amounts))}." if amounts else ""
    if any("holds dates" in reason for reason in reasons.values()):
        advice += " Of dates make numbers: days since a date, hours, weekdays."
    raise InputError(
        f"{table.path} has {columns} that cannot be used as written: {shown}.{advice} Leave out what cannot "
        f"be used: {excluding(reasons)}."
    )


def _is_number(texts: Iterable[str]) -> NDArray[np.bool_]:
    """Return which texts are numbers."""
    numbers = pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce")
    return np.asarray(numbers.notna().to_numpy(dtype=bool))


def _how_written(amounts: pd.DataFrame) -> str:
    """Return the options by which amounts are read."""
    units = "".join(dict.fromkeys("".join(amounts[["before", "after"]].fillna("").to_numpy().ravel())))
    numbers = amounts["number"]
    marks = numbers.str.findall(r"\D").map("".join)
    decimal, thousands = ".", ""
    for mark in (",", "."):
        # it stands once and last, and other than three digits follow, or the other mark is before it
        last = marks.str.endswith(mark) & (marks.str.count(re.escape(mark)) == 1)
        if (last & ((marks.str.len() > 1) | ~numbers.str.contains(rf"\{mark}\d{{3}}$"))).any():
            decimal = mark
    others = set("".join(marks)) - {decimal}
    thousands = next(iter(others), "")
    said = [f"--decimal {decimal}"] * (decimal != ".")
    said += [f"--thousands {shlex.quote(thousands)}"] * bool(thousands)
    said += [f"--units {shlex.quote(units)}"] * bool(units)
    return " ".join(said) or "--decimal, --thousands"


def warn_of_columns(
    table: Table, y: NDArray[np.bool_], features: pd.DataFrame, numeric: list[str], categorical: list[str]
) -> None:
    """Warn of columns that name rows, hide dates or give the label away, and how to leave all of them out."""
    doubts = [
        *_doubts_of_numbers(table, features, numeric),
        *((name, doubt) for name in categorical if (doubt := _doubt_of_text(features[name]))),
        *((name, LEAK) for name in _leaks(y, features, numeric, categorical)),
    ]
    for name, doubt in doubts:
        warn(f"column {name!r} of {table.path} {doubt} leave the column out: {excluding([name])}.")
    names = dict(doubts)
    if len(names) > 1:
        warn(f"to leave all of these columns out: {excluding(names)}")


LEAK = (
    "alone tells the two classes apart: is it a copy of the label, or known only afterwards? A model that "
    "has it learns nothing else; if so,"
)


def _leaks(
    y: NDArray[np.bool_], features: pd.DataFrame, numeric: list[str], categorical: list[str]
) -> Iterator[str]:
    """Yield columns whose values, or gaps, separate the positives from the negatives without a mistake."""
    if min(y.sum(), (~y).sum()) < MIN_CLASS_TO_DOUBT or len(y) < MIN_ROWS_TO_DOUBT:
        return
    values = features[numeric].to_numpy()
    known = ~np.isnan(values)
    lowest, highest, n_known = {}, {}, {}
    for rows in (y, ~y):
        among = rows[:, np.newaxis]
        lowest[rows is y] = np.fmin.reduce(values, axis=0, where=among, initial=np.inf)
        highest[rows is y] = np.fmax.reduce(values, axis=0, where=among, initial=-np.inf)
        n_known[rows is y] = known[rows].sum(axis=0)
    is_apart = (lowest[True] > highest[False]) | (highest[True] < lowest[False])
    is_apart &= np.minimum(n_known[True], n_known[False]) >= MIN_CLASS_TO_DOUBT
    gap_is_label = (known == y[:, np.newaxis]).all(axis=0) | (known != y[:, np.newaxis]).all(axis=0)
    yield from (numeric[place] for place in np.flatnonzero(is_apart | gap_is_label))
    for name in categorical:
        codes, values_of_text = pd.factorize(features[name], use_na_sentinel=False)
        n_positive = np.bincount(codes[y], minlength=len(values_of_text))
        is_pure = (n_positive == 0) | (n_positive == np.bincount(codes))
        # values that occur once or twice are pure by chance
        if is_pure.all() and len(y) >= MIN_CLASS_TO_DOUBT * len(values_of_text):
            yield name


def _doubts_of_numbers(table: Table, features: pd.DataFrame, names: list[str]) -> Iterator[tuple[str, str]]:
    values = features[names].to_numpy()
    if len(values) < MIN_ROWS_TO_DOUBT:
        return
    low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    is_whole = ((np.floor(values) == values) | np.isnan(values)).all(axis=0)
    for place in np.flatnonzero(is_whole & (high - low > 1)):
        doubt = _doubt_of_whole_numbers(table, names[place], features[names[place]], low[place], high[place])
        if doubt:
            yield names[place], doubt


def _doubt_of_whole_numbers(table: Table, name: str, numbers: pd.Series, low: float, high: float) -> str:
    shown = ", ".join(map(as_text, numbers[:3]))
    if table.is_text:
        texts = table.frame[name].iloc[:ROWS_TO_SEARCH]
        zeros = texts[texts.str.match(r"\s*0\d").fillna(False).to_numpy(dtype=bool)]
        if len(zeros):
            return (
                f"is read as numbers, but {zeros.iloc[0]!r} begins with a zero, as codes and telephone "
                "numbers do; if it is one,"
            )
    days = numbers.dropna()
    is_day = (days // 100 % 100).between(1, 12) & (days % 100).between(1, 31)
    if low >= 19000101 and high <= 21001231 and is_day.all():
        return f"holds days as whole numbers ({shown}, ...); convert them to days since a date, or"
    if numbers.is_unique and ((low >= 1e9 and high < 2.2e9) or (low >= 1e12 and high < 2.2e12)):
        return (
            f"holds whole numbers as seconds since 1970, telephone numbers or identifiers are ({shown}, "
            "...); convert them to hours or days since a date, or"
        )
    is_steady = numbers.is_monotonic_increasing or numbers.is_monotonic_decreasing
    has_no_gaps = high - low == len(numbers) - 1
    is_code = low >= 10 ** (MIN_DIGITS - 1) and np.floor(np.log10(low)) == np.floor(np.log10(high))
    is_named_so = re.fullmatch(IDENTIFIER, str(name))
    if not (is_steady or has_no_gaps or is_code or is_named_so) or not numbers.is_unique or numbers.hasnans:
        return ""
    return (
        f"holds a different whole number in every row ({shown}, ...), as row numbers and identifiers do, and "
        "these say nothing about new rows; if it is one,"
    )


def _doubt_of_text(texts: pd.Series) -> str:
    shares = texts.value_counts(normalize=True)
    is_number = _is_number(shares.index)
    is_mark = np.count_nonzero(~is_number) == 1  # one and the same text stands where there is no number
    if shares[is_number].sum() >= (0.5 if is_mark else NEARLY_ALL) and not is_number.all():
        stranger = shares.index[~is_number][0]
        return (
            f"is read as text, for row {texts.index[np.argmax(texts == stranger)] + 1} holds {stranger!r}, "
            f"though {100 * shares[is_number].sum():.4g} % of its values are numbers; if all should be, say "
            f"that this stands for a missing value: --na-values {shlex.quote(stranger)}, or"
        )
    if len(texts) >= MIN_ROWS_TO_DOUBT and len(shares) > len(texts) / 2:
        return (
            f"holds {len(shares):,} different texts in {len(texts):,} rows, as names of rows do; if they are "
            "numbers, say how they are written (--decimal, --thousands, --units), and if they name rows,"
        )
    return ""
