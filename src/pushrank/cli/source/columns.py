"""Columns to rank by: which are left out, which are warned of as doubtful, and one matrix of the others."""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pushrank._base.leakage import MIN_ROWS_TO_WARN, gives_label_away
from pushrank.cli.errors import InputError, shell_word, warn
from pushrank.cli.source.numerals import MIN_AMOUNTS, NEARLY_ALL, TEXT, numbers_of
from pushrank.cli.source.open import DATE_PART, listed
from pushrank.cli.source.table import Column, Kind, Table, as_text, odd_spelt_out
from pushrank.times import FORMATS

MAX_CATEGORIES = 100
"""One-hot columns of a text column; one of more texts is encoded by its mean labels."""
MAX_NUMBER = 1e150
"""Scaling squares and adds up the numbers of a column: sums of larger ones would overflow."""
MIN_DIGITS = 6
"""Shorter numbers of the same length are more often amounts than identifiers."""
ROWS_TO_SEARCH = 10_000
"""Leading zeros and molecules are looked for in this many rows."""
SMILES = r"(?=.*[CNOScnos])(?:\[[^\[\]\s]+\]|Br|Cl|[BCNOPSFIbcnops]|[-=#$:/\\.()]|%\d\d|\d)+"
"""A molecule: atoms, in brackets where they are unusual, bonds, branches and ring closures."""
MIN_IDENTIFIERS = 0.1
"""Codes of fewer kinds, such as shops, come again in new rows."""
GIVES_AWAY = ("alone tells the two classes apart: is it a copy of the label, or known only afterwards? A "
              "model that has it learns nothing else; if so,")  # fmt: skip
IDENTIFIER = r"(?i:id)|.*[^a-zA-Z](?i:id)|.*[a-z]I[dD]|\s*"
"""Names of columns of identifiers, and those of columns without a name."""
INDEX = r"Unnamed: \d+(?:\.\d+)?|__index_level_\d+__|level_\d+|index"
"""Names that pandas gives the numbers of rows when it writes them into a file."""


class NamesRows(str):
    """A doubt about a column whose values are names or numbers of rows, and say nothing about new ones."""


def excluding(names: Iterable[str]) -> str:
    """Return the options that leave columns out, ready for a shell."""
    return " ".join(f"--exclude {shell_word(str(name))}" for name in names)


def usable_columns(
    columns: list[Column], y: NDArray[np.bool_], trusted: Collection[str]
) -> tuple[list[Column], list[str], list[str]]:
    """Warn of columns; return those that vary, those that leak the label, and the identifiers."""
    ignored = {column.name: why for column in columns if (why := why_ignored(column))}
    kept = [column for column in columns if column.name not in ignored and column.kind is not Kind.DATE]
    # Molecules differ in nearly every row, and would be taken for names of rows below.
    for column in (molecules := [column for column in kept if are_molecules(column)]):
        how = "bits to learn from: the guide's page on virtual screening has the recipe"
        holds = f"it holds molecules as SMILES, such as {column.counts.index[0]!r}"
        warn(f"{column} is left out: {holds}. Make fingerprints of them, {how}.")
    kept = [column for column in kept if column not in molecules]
    if ignored:
        shown = listed(f"{name!r} ({why})" for name, why in ignored.items())
        warn(f"ignored, as nothing can be learnt from them, of {columns[0].table.path}: {shown}.")
    check_magnitudes(kept)
    doubtful: dict[str, list[str]] = {}
    for column in [*kept]:
        doubts = [] if column.name in trusted else [*doubts_of(column, y)]
        # Texts of which none comes twice say nothing of new rows, which have others.
        if are_names := column.kind is Kind.TEXT and len(column.counts) == column.counts.sum():
            are_names = any(isinstance(doubt, NamesRows) for doubt in doubts)
        if are_names:
            kept.remove(column)
            how = f"to learn from it: --keep {shell_word(column.name)}"
            warn(f"{column} is left out: its texts all differ, as names of rows do; {how}.")
        elif column.kind is Kind.TEXT:
            column.warn_of_spellings()
        for doubt in () if are_names else doubts:
            warn(f"{column} {doubt} leave the column out: {excluding([column.name])}.")
            doubtful.setdefault(column.name, []).append(doubt)
    if columns and not kept:
        where = f"{columns[0].table.path} has no column but the label that varies"
        raise InputError(f"{where}; there is nothing to rank by.")
    if len(doubtful) > 1:
        warn(f"to leave all of these columns out: {excluding(doubtful)}")
    identifiers = [name for name, doubts in doubtful.items() if any(isinstance(d, NamesRows) for d in doubts)]
    return kept, [name for name, doubts in doubtful.items() if GIVES_AWAY in doubts], identifiers


def warn_of_dates(columns: Iterable[Column]) -> None:
    """Warn of columns of dates, which nothing is learnt from unless an option names them."""
    by_option: dict[str | None, list[Column]] = {}
    for column in columns:
        by_option.setdefault(column.words_to_read(), []).append(column)
    for option, of in by_option.items():
        shown = listed(f"{column.name!r} (such as {column.counts.index[0]})" for column in of)
        options = " ".join(f"--date {shell_word(column.name)}" for column in of)
        how = f"To make hours, weekdays and days since 1970 of them: {options}{option}"
        if option is None:
            how = f"Not all can be read: write dates as {FORMATS}, and durations as numbers"
        warn(f"left out of {of[0].table.path}, as they hold dates: {shown}. {how}.")


def are_molecules(column: Column) -> bool:
    """Return whether nearly all texts of a column are SMILES, and half have a bond, a branch or brackets."""
    if column.kind is not Kind.TEXT:
        return False
    texts = column.counts.index[:ROWS_TO_SEARCH].astype(str)
    # Words and codes such as CON are made of the letters of atoms, too; bonds, branches and brackets are not.
    is_written_out = texts.str.contains(r"[=#(\[]").mean() >= 0.5
    return bool(is_written_out and texts.str.fullmatch(SMILES).mean() >= NEARLY_ALL)


def row_hashes(features: Any) -> NDArray[np.uint64]:
    """Return a hash of each row of a matrix of features."""
    is_number = (features.dtypes == np.float64).to_numpy()
    hashes = np.zeros(len(features), dtype=np.uint64)
    numbers = features.loc[:, is_number].to_numpy()
    # pandas takes a fifth of a millisecond for each column: a block of them is hashed at once.
    width = max(1, (1 << 22) // max(len(features), 1))
    for start in range(0, numbers.shape[1], width):
        block = np.ascontiguousarray(numbers[:, start : start + width])
        # Hashes of numbers are multiplied by those of their columns, from 1, as the hash of 0 is 0: rows that
        # swap two numbers differ.
        places = np.arange(start + 1, start + 1 + block.shape[1], dtype=np.uint64)
        hashes += pd.util.hash_array(block.ravel()).reshape(block.shape) @ pd.util.hash_array(places)
    if not is_number.all():
        hashes += pd.util.hash_pandas_object(features.loc[:, ~is_number], index=False).to_numpy()
    return hashes


def warn_of_copies(table: Table, features: Any, y: NDArray[np.bool_]) -> None:
    """Warn of some rows that are the same as others in every cell of the file."""
    # Rows that differ in their label alone are no copies.
    keys = pd.Series(row_hashes(features) + y.astype(np.uint64))
    candidates = keys.duplicated(keep=False).to_numpy()
    # In a table of a few categories many rows have their like, which says nothing.
    if not 0.0 < candidates.mean() <= 0.1:
        return
    frame = table.frame[candidates]
    numbers = pd.Series(frame.index, index=frame.index)
    firsts = numbers.groupby(row_hashes(frame.assign(**odd_spelt_out(frame)).astype(str))).transform("first")
    if len(firsts := firsts[firsts != numbers]):
        shown = ", ".join(f"row {copy + 1:,} of row {first + 1:,}" for copy, first in firsts[:3].items())
        copies = f"{len(firsts):,} of the {len(table):,} rows of {table.path} are copies of others"
        why = "they count several times, and may be learnt from and tested on"
        how = "Unless each is a separate case, leave them out: drop_duplicates of pandas does"
        warn(f"{copies}, such as {shown}: {why}. {how}.")


def feature_matrix(table: Table, columns: list[Column]) -> Any:
    """Return columns as a data frame: floats, then texts, with NaN where they are missing."""
    numeric = [column for column in columns if column.kind is Kind.NUMBER]
    # A single block of floats: scikit-learn takes it without a copy for each column.
    numbers = np.array([column.values for column in numeric]).reshape(len(numeric), len(table))
    features = pd.DataFrame(numbers.T, index=table.frame.index, columns=[column.name for column in numeric])
    texts = {column.name: column.values for column in columns if column.kind is not Kind.NUMBER}
    return pd.concat([features, pd.DataFrame(texts, index=table.frame.index)], axis=1) if texts else features


def why_ignored(column: Column) -> str:
    """Return why nothing can be learnt from a column, or an empty text."""
    is_missing = pd.isna(column.values)
    # Gaps among equal values are a difference that models see; lists and the like are refused later.
    if is_missing.any() or column.kind is Kind.OTHER:
        return "empty" if is_missing.all() else ""
    is_number = column.kind is Kind.NUMBER
    is_same = (column.values == column.values[0]).all() if is_number else len(column.counts) == 1
    return "the same in every row" if is_same else ""


def check_magnitudes(columns: list[Column]) -> None:
    """Raise InputError when a number is too large to compute with."""
    for column in columns:
        if column.kind is not Kind.NUMBER or not (is_large := np.abs(column.values) > MAX_NUMBER).any():
            continue
        number, (row, _) = column.values[np.argmax(is_large)], column.first_row(is_large)
        if np.isinf(number):
            raise InputError(f"{column} holds infinity in row {row}; replace or drop it.")
        why = f"too large to compute with (more than {MAX_NUMBER:g}); divide the column or take its logarithm"
        raise InputError(f"{column} holds {number:g} in row {row}, {why}.")


def doubts_of(column: Column, y: NDArray[np.bool_]) -> Iterator[str]:
    """Yield why a column may be one that is not to be learnt from."""
    # Numbers made of dates are no identifiers, and no columns of the file that could be left out.
    if DATE_PART.fullmatch(str(column.name)):
        return
    if re.fullmatch(INDEX, str(column.name)):
        what = "is called as pandas calls its index, and says nothing about new rows"
        yield NamesRows(f"{what}, as row numbers and identifiers do; if it is one,")
    elif column.kind is Kind.TEXT:
        yield from _doubts_of_text(column)
    elif len(y) >= MIN_ROWS_TO_WARN:
        yield from _doubts_of_numbers(column)
    if gives_label_away(column.values, y):
        yield GIVES_AWAY


def _doubts_of_numbers(column: Column) -> Iterator[str]:
    numbers = pd.Series(column.values)
    values = numbers.dropna()
    low, high = values.min(), values.max()
    # A column of 0 and 1 is a flag, and fractions name nothing.
    if high - low <= 1 or (np.floor(values) != values).any():
        return
    shown = ", ".join(map(as_text, numbers[:3]))
    # All codes of a column begin with a zero, or a good part of them: the first rows have some.
    texts = column.cells.iloc[: ROWS_TO_SEARCH if column.table.reads_texts else 0].astype(TEXT)
    codes = texts[texts.str.match(r"\s*0\d").fillna(False).to_numpy(dtype=bool)]
    is_called = re.fullmatch(IDENTIFIER, str(column.name))
    # Amounts that differ in every row vary in length and have gaps, which identifiers need not.
    is_code = low >= 10 ** (MIN_DIGITS - 1) and np.floor(np.log10(low)) == np.floor(np.log10(high))
    is_steady = numbers.is_monotonic_increasing or numbers.is_monotonic_decreasing
    may_name_rows = is_steady or is_code or high - low == len(numbers) - 1 or is_called
    is_day = (values // 100 % 100).between(1, 12) & (values % 100).between(1, 31)
    if len(codes):
        what = f"is read as numbers, but {codes.iloc[0]!r} begins with a zero"
        yield f"{what}, as codes and telephone numbers do; if it is one,"
    # As a number the day 20250101 comes 8,870 after the day before it, 20241231.
    elif low >= 19000101 and high <= 21001231 and is_day.all():
        how = f"--date {shell_word(str(column.name))}"
        yield f"holds days as whole numbers ({shown}, ...); to read them as dates: {how}, or"
    # Seconds since 1970 are within the first bounds from 2001 to 2039, and milliseconds within the second.
    elif numbers.is_unique and ((low >= 1e9 and high < 2.2e9) or (low >= 1e12 and high < 2.2e12)):
        what = "holds whole numbers as seconds since 1970, telephone numbers or identifiers are"
        yield f"{what} ({shown}, ...); convert them to hours or days since a date, or"
    elif numbers.is_unique and not numbers.hasnans and may_name_rows:
        why = "as row numbers and identifiers do, and these say nothing about new rows"
        yield NamesRows(f"holds a different whole number in every row ({shown}, ...), {why}; if it is one,")
    elif is_called and numbers.nunique() > MIN_IDENTIFIERS * len(numbers):
        what = f"holds {numbers.nunique():,} different whole numbers in {len(numbers):,} rows"
        how = f"keep its rows together (--group {shell_word(column.name)}), or"
        yield NamesRows(f"{what}, as identifiers do, of customers say; if it is one, {how}")


def _doubts_of_text(column: Column) -> Iterator[str]:
    counts = column.counts.drop(column.marks)
    texts, shares = counts.index, counts.to_numpy() / max(counts.sum(), 1)
    is_number = ~np.isnan(numbers_of(pd.Series(texts, dtype=TEXT), column.table.text_format)[0])
    percent = 100 * shares[is_number].sum()
    # In a file with types codes that begin with a zero are meant as texts.
    are_typed = not column.table.reads_texts and not texts.str.match(r"\s*0\d").any()
    # A single text among numbers stands for missing ones, however often. Of several each may mean something.
    is_mark = np.count_nonzero(~is_number) == 1
    if percent >= (50 if is_mark else 100 * NEARLY_ALL) and not is_number.all():
        stranger = texts[~is_number][0]
        row = column.row_number(np.argmax(column.values == stranger))
        why = f"row {row} holds {stranger!r}, though {percent:.4g} % of its values are numbers"
        how = f"say that this stands for a missing value: --read missing={shell_word(stranger)}"
        if re.search(r"\d", stranger):
            how = "write it as the others"
        yield f"is read as text, for {why}; if all should be, {how}, or"
    elif are_typed and is_number.all() and len(texts) >= MIN_AMOUNTS:
        how = "--read decimal=point"
        yield f"holds numbers as texts, each of them a category; to read them as numbers: {how}, or"
    elif len(column.cells) >= MIN_ROWS_TO_WARN and len(texts) > len(column.cells) / 2:
        what = f"holds {len(texts):,} different texts in {len(column.cells):,} rows, as names of rows do"
        yield NamesRows(f"{what}; if they name rows,")
