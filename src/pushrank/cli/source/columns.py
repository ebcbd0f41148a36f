"""Columns to rank by: refused where they would be misread, warned of where they are doubtful, one matrix."""

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from pushrank._base.leakage import MIN_ROWS_TO_WARN, gives_label_away
from pushrank._base.user_types import Floats
from pushrank.cli.errors import InputError, warn
from pushrank.cli.options import words_of
from pushrank.cli.source.format import DEFAULT_FORMAT, TextFormat
from pushrank.cli.source.open import DATE_PART, SHEETS, STANDARD_INPUT, file_kind, listed
from pushrank.cli.source.table import NEARLY_ALL, TEXT, Column, Kind, Table, as_text, is_of_texts, numbers_of
from pushrank.times import FORMATS

MAX_CATEGORIES = 100
"""One-hot columns of a text column; one of more texts is encoded by its mean labels."""
MAX_NUMBER = 1e150
"""Scaling squares and adds up the numbers of a column: sums of larger ones would overflow."""
MIN_DIGITS = 6
"""Shorter numbers of the same length are more often amounts than identifiers."""
ROWS_TO_SEARCH = 10_000
"""Leading zeros are looked for in this many rows."""
CODE = r"EUR|USD|GBP|CHF|JPY|CAD|AUD|INR|CNY|SEK|NOK|DKK|PLN|BRL|R\$|kr|Rs\.?"
DASHES = "‐‑‒–—﹣－"
"""Signs that stand for a minus or for a range: no option reads them."""
SIGNS = rf"(?:[$€£¥₹₽₩₺¢₪₫₴₦฿%‰<>≤≥~≈±=*'’\"()°−{DASHES}-]|{CODE}|\s)*"
WORD = r"(?:\s*°|\s+|(?=[^\W\d_]{2}))[^\W\d_][^\d\s,;]*\s*"
AMOUNT = (
    rf"(?P<before>\s*[-+]?{SIGNS}[-+]?)"
    r"(?P<number>[1-9]\d{0,2}(?P<mark>[.,'’_\s])\d{3}(?:(?P=mark)\d{3})*(?:[.,]\d+)?"
    r"|[1-9]\d?(?:,\d\d)+,\d{3}(?:\.\d+)?|\d+[.,]?|\d*[.,]\d+)"
    r"(?:[eE][-+]?\d+|[dD][-+]\d+|\s*[x×*·]\s*10(?:\^[-+]?\d+|[⁺⁻]?[⁰¹²³⁴-⁹]+))?"
    rf"(?P<after>{SIGNS}(?:{WORD})?)"
)
MAX_UNITS = 3
"""Words behind numbers that are units: of more words they are names, and so they are behind few numbers."""
MIN_AMOUNTS = 6
SMILES = r"(?=.*[CNOScnos])(?:\[[^\[\]\s]+\]|Br|Cl|[BCNOPSFIbcnops]|[-=#$:/\\.()]|%\d\d|\d)+"
"""A molecule: atoms, in brackets where they are unusual, bonds, branches and ring closures."""
MIN_IDENTIFIERS = 0.1
"""Codes of fewer kinds, such as shops, come again in new rows."""
GIVES_AWAY = (
    "alone tells the two classes apart: is it a copy of the label, or known only afterwards? A model that "
    "has it learns nothing else; if so,"
)
IDENTIFIER = r"(?i:id)|.*[^a-zA-Z](?i:id)|.*[a-z]I[dD]|\s*"
"""Names of columns of identifiers, and those of columns without a name."""
PEOPLE = "(?:applicant|client|customer|employee|klant|kunde|medewerker|patient|person|student)"
NAMES = (
    r"(?i)(?P<sure>(?:.*[\W_])?(?:(?:sur|first|last|full|given|family)[\W_]?name|voornaam|achternaam|vorname|"
    rf"nachname|pr[eé]nom|apellidos?))|(?:{PEOPLE}[\W_]?)?(?:name|naam|nom|nombre)(?:[\W_]?{PEOPLE})?|{PEOPLE}"
)
"""Names of columns that hold names of people, for sure or where these look like some."""
INDEX = r"Unnamed: \d+(?:\.\d+)?|__index_level_\d+__|level_\d+|index"
"""Names that pandas gives the numbers of rows when it writes them into a file."""


class NamesRows(str):
    """A doubt about a column whose values are names or numbers of rows, and say nothing about new ones."""


def excluding(names: Iterable[str]) -> str:
    """Return the options that leave columns out, ready for a shell."""
    return " ".join(f"--exclude {shlex.quote(str(name))}" for name in names)


def usable_columns(
    columns: list[Column], y: NDArray[np.bool_], trusted: Collection[str]
) -> tuple[list[Column], list[str], list[str]]:
    """Refuse and warn of columns; return those that vary, those that leak the label, and the identifiers."""
    ignored = {column.name: why for column in columns if (why := _why_ignored(column))}
    dates = [column for column in columns if column.kind is Kind.DATE and column.name not in ignored]
    kept = [column for column in columns if column.name not in ignored and column.kind is not Kind.DATE]
    # Molecules differ in nearly every row, and would be taken for names of rows below.
    for column in (molecules := [column for column in kept if _are_molecules(column)]):
        warn(
            f"{column} is left out: it holds molecules as SMILES, such as {column.counts.index[0]!r}. Make "
            "fingerprints of them, bits to learn from: the guide's page on virtual screening has the recipe."
        )
    kept = [column for column in kept if column not in molecules]
    if columns and not kept:
        raise InputError(
            f"{columns[0].path} has no column but the label that varies; there is nothing to rank by."
        )
    # A table with nothing to rank by was refused above: no warning stands before that error.
    if ignored:
        shown = listed(f"{name!r} ({why})" for name, why in ignored.items())
        warn(f"ignored, as nothing can be learnt from them, of {columns[0].path}: {shown}.")
    _refuse_unusable(kept)
    check_magnitudes(kept)
    by_option: dict[str | None, list[Column]] = {}
    for column in dates:
        by_option.setdefault(column.words_to_read(), []).append(column)
    for option, of in by_option.items():
        shown = listed(f"{column.name!r} (such as {column.counts.index[0]})" for column in of)
        options = " ".join(f"--date {shlex.quote(column.name)}" for column in of)
        how = f"To make hours, weekdays and days since 1970 of them: {options}{option}"
        if option is None:
            how = f"Not all can be read: write dates as {FORMATS}, and durations as numbers"
        warn(f"left out of {columns[0].path}, as they hold dates: {shown}. {how}.")
    doubtful: dict[str, list[str]] = {}
    for column in kept:
        if column.kind is Kind.TEXT and (spellings := _differing_in_case(column)):
            warn(
                f"{column}: {spellings} differ in case or blanks only, and count as different; write them in "
                "one way."
            )
        for doubt in () if column.name in trusted else _doubts(column, y):
            warn(f"{column} {doubt} leave the column out: {excluding([column.name])}.")
            doubtful.setdefault(column.name, []).append(doubt)
    if len(doubtful) > 1:
        warn(f"to leave all of these columns out: {excluding(doubtful)}")
    identifiers = [name for name, doubts in doubtful.items() if any(isinstance(d, NamesRows) for d in doubts)]
    return kept, [name for name, doubts in doubtful.items() if GIVES_AWAY in doubts], identifiers


def _are_molecules(column: Column) -> bool:
    """Return whether nearly all texts of a column are SMILES, and half have a bond, a branch or brackets."""
    if column.kind is not Kind.TEXT:
        return False
    texts = column.counts.index[:ROWS_TO_SEARCH].astype(str)
    # Words and codes such as CON are made of the letters of atoms, too; bonds, branches and brackets are not.
    is_written_out = texts.str.contains(r"[=#(\[]").mean() >= 0.5
    return bool(is_written_out and texts.str.fullmatch(SMILES).mean() >= NEARLY_ALL)


def _differing_in_case(column: Column) -> str:
    """Return texts of a column that are the same but for case and blanks, the first few of them."""
    texts = pd.Series(column.counts.index, dtype=object)
    spellings = texts.groupby(texts.str.strip().str.casefold(), sort=False).agg(list)
    return listed(" and ".join(map(repr, several)) for several in spellings if len(several) > 1)


def row_hashes(features: Any) -> NDArray[np.uint64]:
    """Return a hash of each row of a matrix of features."""
    # A hash of all rows of a sparse matrix would make it dense: a weighted sum stands for each row.
    if sp.issparse(features):
        features = pd.DataFrame({"sum": features @ np.arange(1.0, features.shape[1] + 1.0)})
    is_number = (features.dtypes == np.float64).to_numpy()
    hashes = np.zeros(len(features), dtype=np.uint64)
    numbers = features.loc[:, is_number].to_numpy()
    # pandas takes a fifth of a millisecond for each column: a block of them is hashed at once.
    width = max(1, (1 << 22) // max(len(features), 1))
    for start in range(0, numbers.shape[1], width):
        block = np.ascontiguousarray(numbers[:, start : start + width])
        # Numbered from 1, since the hash of 0 is 0.
        places = np.arange(1, block.shape[1] + 1, dtype=np.uint64) + np.uint64(start)
        # Hashes of numbers are multiplied by those of their columns: rows that swap two numbers differ.
        hashes += pd.util.hash_array(block.ravel()).reshape(block.shape) @ pd.util.hash_array(places)
    if not is_number.all():
        hashes += pd.util.hash_pandas_object(features.loc[:, ~is_number], index=False).to_numpy()
    return hashes


def warn_of_copies(table: Table, features: Any, y: NDArray[np.bool_]) -> None:
    """Warn of some rows that are the same as others in every cell of the file."""
    if table.is_sparse:
        return
    # Rows that differ in their label alone are no copies.
    keys = pd.Series(row_hashes(features) + y.astype(np.uint64))
    candidates = keys.duplicated(keep=False).to_numpy()
    # In a table of a few categories many rows have their like, which says nothing.
    if not 0.0 < candidates.mean() <= 0.1:
        return
    if len(firsts := _firsts_of_copies(table.where(candidates))):
        warn(
            f"{_copies(firsts, table)}: they count several times, and may be learnt from and tested on. "
            "Leave them out with --drop-copies, unless each is a separate case."
        )


def without_copies(table: Table) -> Table:
    """Return the rows that are not the same as an earlier one in every cell of the file."""
    if table.is_sparse:
        raise InputError(f"--drop-copies is for named columns; those of {table.path} have none.")
    if len(firsts := _firsts_of_copies(table)):
        warn(f"{_copies(firsts, table)}, and are left out.")
    return table.where(~table.frame.index.isin(firsts.index))


def _firsts_of_copies(table: Table) -> pd.Series:
    """Return the number of the row that each copy is the same as in every cell, by the number of the copy."""
    # Cells of lists and the like, in columns that are left out, can only be compared as texts.
    hashes = row_hashes(table.frame.astype(str))
    numbers = pd.Series(table.frame.index, index=table.frame.index)
    firsts = numbers.groupby(hashes).transform("first")
    return firsts[firsts != numbers]


def _copies(firsts: pd.Series, table: Table) -> str:
    shown = ", ".join(f"row {copy + 1:,} of row {first + 1:,}" for copy, first in firsts[:3].items())
    return f"{len(firsts):,} of the {len(table):,} rows of {table.path} are copies of others, such as {shown}"


def feature_matrix(table: Table, columns: list[Column]) -> Any:
    """Return columns as a data frame: floats, then texts, with NaN where they are missing."""
    if table.is_sparse:
        return table.features
    numeric = [column for column in columns if column.kind is Kind.NUMBER]
    # A single block of floats: scikit-learn takes it without a copy for each column.
    numbers = np.array([column.values for column in numeric]).reshape(len(numeric), len(table))
    features = pd.DataFrame(numbers.T, index=table.frame.index, columns=[column.name for column in numeric])
    texts = {column.name: column.values for column in columns if column.kind is not Kind.NUMBER}
    return pd.concat([features, pd.DataFrame(texts, index=table.frame.index)], axis=1) if texts else features


def _why_ignored(column: Column) -> str:
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
        if column.kind is not Kind.NUMBER or np.nanmax(np.abs(column.values), initial=0.0) <= MAX_NUMBER:
            continue
        position = int(np.argmax(np.abs(column.values) > MAX_NUMBER))
        number, where = column.values[position], f"in row {column.row_number(position)}"
        if np.isinf(number):
            raise InputError(f"{column} holds infinity {where}; replace or drop it.")
        raise InputError(
            f"{column} holds {number:g} {where}, too large to compute with (more than {MAX_NUMBER:g}); "
            "divide the column or take its logarithm."
        )


def _refuse_unusable(columns: list[Column]) -> None:
    """Raise InputError that names all columns which would only be misread, and what to type."""
    unread, row_names, written, amounts, advice = {}, {}, {}, {}, ""
    for column in columns:
        if column.kind is Kind.OTHER:
            arrow_type = column.cells.dtype.pyarrow_dtype
            unread[column.name] = f"holds {arrow_type}, of which no single number can be made"
        elif column.kind is Kind.TEXT and (parts := _amounts(column)) is not None:
            units = set(parts["unit"]) - {""}
            several = f", in several units ({listed(map(repr, sorted(units)))})" * (len(units) > 1)
            text = parts.index[~parts["is plain"]][0]
            row = column.row_number(int(np.argmax(column.values == text)))
            written[column.name] = f"holds numbers written as {text!r} in row {row}{several}"
            amounts[column.name] = parts
        elif column.kind is Kind.TEXT and _names_rows(column):
            row_names[column.name] = f"holds {len(column.counts):,} different texts, as names of rows do"
    if not unread and not written:
        return
    # Columns that name rows can be used, to no good: they are named here to be left out at once.
    unread |= row_names
    reasons = [f"{name!r} {reason}" for name, reason in (unread | written).items()]
    # Formats of numbers are never guessed. All amounts of the file together say how they are read.
    if amounts:
        advice = _how_to_read(columns, amounts) or "No options read all numbers: write them as -1234.5. "
        unread |= {} if advice.startswith("Read") else written
    shown = "; ".join(reasons[:5] + [f"and {len(reasons) - 5:,} more"] * (len(reasons) > 5))
    # All are named in one command: with one at a time it would be run as often.
    leave_out = f" Leave out what cannot be used: {excluding(unread)}." if unread else ""
    raise InputError(f"{advice}{columns[0].path} cannot be used as written: {shown}.{leave_out}")


def _names_rows(column: Column) -> bool:
    n_rows = len(column.cells)
    return n_rows >= MIN_ROWS_TO_WARN and len(column.counts) > n_rows / 2


def _names_people(column: Column, texts: pd.Index) -> bool:
    """Return whether a column is called as names of people are, and has many texts that may be some."""
    called, shown = re.fullmatch(NAMES, column.name), texts[:ROWS_TO_SEARCH]
    is_many = len(texts) > min(MAX_CATEGORIES, MIN_IDENTIFIERS * max(MIN_ROWS_TO_WARN, len(column.cells)))
    # Cities and products are of two or three capitalised words, too: texts alone do not tell people.
    words = [text.split() for text in (shown if called and is_many else ()) if not re.search(r"\d", text)]
    n_full = sum(sum(word[0].isupper() for word in several) in (2, 3) for several in words)
    return bool(called and is_many and (called["sure"] or n_full > len(shown) / 2))


def _known_texts(column: Column) -> tuple[pd.Index, Floats, NDArray[np.bool_]]:
    """Return the texts that do not mean a missing number, their shares, and which are numbers."""
    counts = column.counts.drop(column.marks)
    numbers, _ = numbers_of(pd.Series(counts.index, dtype=TEXT), column.text_format or DEFAULT_FORMAT)
    return counts.index, (counts / max(counts.sum(), 1)).to_numpy(), ~np.isnan(numbers)


def _amounts(column: Column) -> pd.DataFrame | None:
    """Return the parts of the amounts that nearly all texts of a column are, if some are no plain numbers."""
    # In a file with types a text is meant as a text, whatever it holds.
    if column.text_format is None:
        return None
    texts, shares, is_plain = _known_texts(column)
    parts = texts.astype(object).str.extract(rf"^{AMOUNT}\Z").set_index(texts)
    parts["is plain"] = is_plain
    is_amount = parts["number"].notna().to_numpy()
    if shares[is_amount].sum() < NEARLY_ALL or parts.loc[is_amount, "is plain"].all():
        return None
    parts = parts[is_amount]
    around = parts["before"] + parts["after"]
    parts["unit"] = around.str.replace(rf"[-+\s()<>≤≥~≈±=*'’\"−{DASHES}]", "", regex=True)
    words = parts["unit"][parts["unit"].str.contains(r"[^\W\d_]") & ~parts["unit"].str.fullmatch(CODE)]
    is_named = len(words) and (len(parts) < MIN_AMOUNTS or words.nunique() > MAX_UNITS)
    return None if is_named else parts


def _how_to_read(columns: list[Column], amounts: Mapping[str, pd.DataFrame]) -> str:
    """Return the options by which all numbers of the file are read, or the command that writes others."""
    path, stated = columns[0].path, next(of.text_format for of in columns if of.text_format)
    units = {name: set(part["unit"]) - {""} for name, part in amounts.items()}
    if any(len(found) > 1 for found in units.values()):
        return ""
    around = {
        name: rf"^(\W*?){re.escape(unit)}\s*|\s*{re.escape(unit)}\s*$"
        for name, found in units.items()
        for unit in found
    }
    # The numbers of a sheet are written with the decimal mark of the texts among them, whatever it is.
    in_sheet = file_kind(path) in SHEETS
    tried = {
        name: pd.Series(part.index[~(part["is plain"] & in_sheet)], dtype=TEXT)
        for name, part in amounts.items()
    }
    for name, pattern in around.items():
        tried[name] = tried[name].str.replace(pattern, r"\1", regex=True)
    plain = [column for column in columns if column.kind is Kind.NUMBER and is_of_texts(column.cells)]
    marks = _marks([*tried.values(), *(column.cells.iloc[:ROWS_TO_SEARCH] for column in plain)], stated)
    if marks is not None and not around:
        return f"Read numbers with {shlex.join(words_of(marks))}. "
    # Options are for the whole file: where none serves all columns, those that are no numbers are changed.
    found = {name: _marks([texts], stated) for name, texts in tried.items()}
    by_column = {name: {} if marks is not None else of for name, of in found.items() if of is not None}
    if len(by_column) < len(tried) or in_sheet or stated.no_header or path == STANDARD_INPUT:
        return ""
    new = path.with_name(re.sub(r"(\.(csv|tsv|txt|gz|zip))+$", "", path.name, flags=re.I) + ".plain.csv")
    words = ["with", *words_of(written)] if (written := stated.marks | (marks or {})) else []
    command = _command(path, new, around, by_column, stated)
    return f"To write the numbers alone: {command}. Then read {shlex.join([str(new), *words])}. "


def _marks(tried: list[pd.Series], stated: TextFormat) -> dict[str, str] | None:
    """Return the marks by which all texts are numbers, as options name them, or None."""
    # Three digits behind a mark are thousands, unless other numbers show that it is a decimal mark.
    for decimal, thousands in product(".,", ["", *",. '’_"]):
        options = {"decimal": decimal.strip("."), "thousands": thousands}
        given: dict[str, Any] = {name: mark for name, mark in options.items() if mark}
        read = replace(stated, **given)
        if decimal != thousands and not any(numbers_of(texts, read)[1] for texts in tried):
            return given
    return None


def _command(
    path: Path, new: Path, around: Mapping[str, str], marks: Mapping[str, dict[str, str]], stated: TextFormat
) -> str:
    """Return the command by which pandas writes a file of text without what is around numbers."""
    # All cells stay the texts that they are, so that the new file is read as the old one would be.
    form = {"sep": stated.separator, "encoding": stated.encoding, "skiprows": stated.skip_rows}
    options = "".join(f", {name}={value!r}" for name, value in form.items() if value)
    steps = [
        "import pandas",
        f"f = pandas.read_csv({str(path)!r}, dtype=str, keep_default_na=False{options})",
    ]
    steps += ["f.columns = f.columns.str.normalize('NFC')"] * any(not name.isascii() for name in marks)
    for name, of_column in marks.items():
        thousands, decimal = of_column.get("thousands", ""), of_column.get("decimal", "")
        # A space stands for spaces of all kinds.
        mark = r"\s" if thousands == " " else re.escape(thousands)
        for pattern, new_text in ((around.get(name), r"\1"), (mark, ""), (re.escape(decimal), ".")):
            if pattern:
                steps.append(f"f[{name!r}] = f[{name!r}].str.replace({pattern!r}, {new_text!r}, regex=True)")
    return f"python -c {shlex.quote('; '.join([*steps, f'f.to_csv({str(new)!r}, index=False)']))}"


def _doubts(column: Column, y: NDArray[np.bool_]) -> Iterator[str]:
    # Numbers made of dates are no identifiers, and no columns of the file that could be left out.
    if DATE_PART.fullmatch(str(column.name)):
        return
    if re.fullmatch(INDEX, str(column.name)):
        yield NamesRows(
            "is called as pandas calls its index, and says nothing about new rows, as row numbers and "
            "identifiers do; if it is one,"
        )
    elif column.kind is Kind.TEXT:
        yield from _doubts_of_text(column)
    elif len(y) >= MIN_ROWS_TO_WARN:
        yield from _doubts_of_numbers(column)
    if gives_label_away(column.values, y):
        yield GIVES_AWAY


def _doubts_of_numbers(column: Column) -> Iterator[str]:
    values = column.values[~np.isnan(column.values)]
    low, high = values.min(), values.max()
    # A column of 0 and 1 is a flag, and fractions name nothing.
    if high - low <= 1 or (np.floor(values) != values).any():
        return
    numbers = pd.Series(column.values)
    shown = ", ".join(map(as_text, numbers[:3]))
    # All codes of a column begin with a zero, or a good part of them: the first rows have some.
    texts = column.cells.iloc[: ROWS_TO_SEARCH if column.text_format else 0].astype(TEXT)
    codes = texts[texts.str.match(r"\s*0\d").fillna(False).to_numpy(dtype=bool)]
    is_steady = numbers.is_monotonic_increasing or numbers.is_monotonic_decreasing
    # Amounts that differ in every row vary in length and have gaps, which identifiers need not.
    is_code = low >= 10 ** (MIN_DIGITS - 1) and np.floor(np.log10(low)) == np.floor(np.log10(high))
    has_no_gaps = high - low == len(numbers) - 1
    may_name_rows = is_steady or is_code or has_no_gaps or re.fullmatch(IDENTIFIER, str(column.name))
    days = numbers.dropna()
    is_day = (days // 100 % 100).between(1, 12) & (days % 100).between(1, 31)
    if len(codes):
        yield (
            f"is read as numbers, but {codes.iloc[0]!r} begins with a zero, as codes and telephone numbers "
            "do; if it is one,"
        )
    # As a number the day 20250101 comes 8,870 after the day before it, 20241231.
    elif low >= 19000101 and high <= 21001231 and is_day.all():
        how = f"--date {shlex.quote(str(column.name))}"
        yield f"holds days as whole numbers ({shown}, ...); to read them as dates: {how}, or"
    # Seconds since 1970 are within the first bounds from 2001 to 2039, and milliseconds within the second.
    elif numbers.is_unique and ((low >= 1e9 and high < 2.2e9) or (low >= 1e12 and high < 2.2e12)):
        yield (
            f"holds whole numbers as seconds since 1970, telephone numbers or identifiers are ({shown}, "
            "...); convert them to hours or days since a date, or"
        )
    elif numbers.is_unique and not numbers.hasnans and may_name_rows:
        yield NamesRows(
            f"holds a different whole number in every row ({shown}, ...), as row numbers and identifiers do, "
            "and these say nothing about new rows; if it is one,"
        )
    elif re.fullmatch(IDENTIFIER, column.name) and numbers.nunique() > MIN_IDENTIFIERS * len(numbers):
        yield NamesRows(
            f"holds {numbers.nunique():,} different whole numbers in {len(numbers):,} rows, as identifiers "
            "do, of customers say; if it is one, keep its rows together (--group "
            f"{shlex.quote(column.name)}), or"
        )


def _doubts_of_text(column: Column) -> Iterator[str]:
    texts, shares, is_number = _known_texts(column)
    percent = 100 * shares[is_number].sum()
    # In a file with types codes that begin with a zero are meant as texts.
    are_typed = column.text_format is None and not texts.str.match(r"\s*0\d").any()
    # A single text among numbers stands for missing ones, however often. Of several each may mean something.
    is_mark = np.count_nonzero(~is_number) == 1
    if percent >= (50 if is_mark else 100 * NEARLY_ALL) and not is_number.all():
        stranger = texts[~is_number][0]
        row = column.row_number(np.argmax(column.values == stranger))
        yield (
            f"is read as text, for row {row} holds {stranger!r}, though {percent:.4g} % of its values are "
            "numbers; if all should be, say that this stands for a missing value: "
            f"--na-values {shlex.quote(stranger)}, or"
        )
    elif are_typed and is_number.all() and len(texts) >= MIN_AMOUNTS:
        yield "holds numbers as texts, each of them a category; to read them as numbers: --decimal ., or"
    elif len(texts) < MIN_AMOUNTS and texts.str.fullmatch(AMOUNT).all():
        yield (
            f"holds texts such as {texts[0]!r}, each of them a category; to read numbers, write them without "
            "what stands around them, or"
        )
    elif _names_rows(column):
        yield NamesRows(
            f"holds {len(texts):,} different texts in {len(column.cells):,} rows, as names of rows do; if "
            "they are numbers, say how they are written (--decimal, --thousands), and if they name "
            "rows,"
        )
    elif _names_people(column, texts):
        yield NamesRows(
            f"holds {len(texts):,} different texts such as {texts[0]!r}, as names of people do, which say "
            "nothing about new rows; if it does,"
        )
