"""Are tables read for what they mean, however they are written, and refused where they cannot be?

    python benchmarks/odd_files.py > benchmarks/odd_files.txt

Each of 6,000 tables is drawn, with numbers, whole numbers, identifiers of up to 25 digits, texts, truth
values and labels, and written in a valid but odd way: encodings, line ends, separators, quoting, number
formats, texts for missing values, types of cells in Excel and Parquet. With the options that say how,
its values must be those of the table; without those of numbers it must be refused, and read as the refusal
says; numbers with a unit must be refused, to be left out; and rows that are written again as they were read,
in their own kind of file, must have the same cells. 4,000 files are damaged by bytes cut out, doubled,
overwritten or turned round: an error, or the cells that Python's own parsers find in the damaged file, and in
Parquet those of the whole one. 100 tables go through the commands fit and score, and the same
table in Parquet of plain types, whose order of rows they must have.
"""

from __future__ import annotations

import contextlib
import csv
import io
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from typer.testing import CliRunner

from pushrank.cli import app
from pushrank.cli.errors import InputError
from pushrank.cli.features import read_features
from pushrank.cli.forms import LearnOptions
from pushrank.cli.options import FeatureSource
from pushrank.cli.source.format import TextFormat, stated
from pushrank.cli.source.labels import read_labels
from pushrank.cli.source.open import Source
from pushrank.cli.source.table import Kind
from pushrank.cli.write import write_table

N_TABLES, N_DAMAGED, N_COMMANDS = 6_000, 4_000, 100
N_BARE = 4
"""Of so many tables one is also read without the options that say how its numbers are written, or written."""
N_PROCESSES = 2
GOOD = ("equal", "csv: refused", "parquet: refused", "and read as advised", "to be left out",
        "no marks read it", "read as texts", "have a unit")  # fmt: skip
"""How outcomes end in which nothing is read otherwise than it was meant."""
KINDS = {"csv": 0.82, "parquet": 0.15, "xlsx": 0.03}
LABELS = [("0", "1"), ("no", "yes"), ("-1", "1"), ("false", "true"), ("2", "1"), ("N", "Y"), ("1_0", "10")]
WORDS = [
    "Zürich",
    "NA",
    "a,b",
    'he said "no"',
    "x;y",
    "two\nlines",
    "two\r\nlines",
    "tab\there",
    "naïve",
    "ß",
    "null",
    "- ",
]
"""Texts that separators, quotation marks and line ends may hurt."""
MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "#N/A", "None", "  "]


def draw(rng: np.random.Generator) -> pd.DataFrame:
    """Return a table of plain types: objects of Python, None where a value is missing."""
    n = int(rng.integers(24, 60))
    digits = int(rng.integers(1, 26))
    low, high = 10 ** (digits - 1), 10**digits - 1
    ids = [int(low + int(rng.random() * (high - low))) for _ in range(n)]
    scale = 10.0 ** rng.integers(-3, 7)
    table = {
        "number": [round(float(value), int(rng.integers(0, 6))) for value in scale * rng.normal(size=n)],
        "count": [int(value) for value in rng.integers(-50, 3000, n)],
        "id": ids,
        "word": [WORDS[at] for at in rng.integers(0, len(WORDS), n)],
        "flag": [bool(at) for at in rng.integers(0, 2, n)],
        "label": [int(at) for at in np.arange(n) % 2],
    }
    frame = pd.DataFrame(table, dtype=object)
    if rng.random() < 0.5:
        for name in ("number", "word"):
            frame.loc[rng.random(n) < 0.1, name] = None
    return frame


def plain_cells(frame: pd.DataFrame) -> dict[str, list[Any]]:
    """Return the values that readers are to find: floats, exact whole numbers, texts."""
    return {name: frame[name].tolist() for name in frame}


class Written:
    """A file, how it is to be read, whether its refusal has advice, and whether its numbers have a unit."""

    def __init__(
        self, path: Path, text_format: TextFormat, advice: bool = False, has_unit: bool = False
    ) -> None:
        self.path, self.text_format, self.advice, self.has_unit = path, text_format, advice, has_unit


def number_text(value: float | None, style: dict[str, Any], missing: str) -> str:
    """Return a number as a style writes it."""
    if value is None:
        return missing
    text = np.format_float_positional(abs(value), trim="0" if style["point"] else "-")
    if style["exponent"] and value:
        text = f"{Decimal(repr(abs(value))):E}"
    whole, _, rest = text.partition(".")
    if style["thousands"] and "E" not in text:
        whole = f"{int(whole):,}".replace(",", style["thousands"])
    text = whole + (style["decimal"] + rest if rest else "")
    text = style["around"].format(text)
    negative = np.signbit(value) and value != 0.0
    return style["negative"].format(text) if negative else style["positive"].format(text)


def text_style(rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return how numbers are written, and the options by which they are read."""
    decimal = "," if rng.random() < 0.3 else "."
    marks = ["", "", "", "." if decimal == "," else ",", " ", "\u202f", "'", "_"]
    thousands = str(rng.choice(marks))
    around = str(rng.choice(["{}", "{}", "{}", "${}", "{} €", "{}%", "{} kg", "USD {}"]))
    negative = str(rng.choice(["-{}", "\u2212{}"]))
    style = {
        "decimal": decimal,
        "thousands": thousands,
        "around": around,
        "negative": negative,
        "positive": str(rng.choice(["{}", "{}", "{}", " {}", "{} "])),
        "point": rng.random() < 0.5,
        "exponent": rng.random() < 0.1,
    }
    options = {
        "decimal": decimal if decimal != "." else None,
        "thousands": thousands or None,
    }
    return style, options


def write_text(frame: pd.DataFrame, path: Path, rng: np.random.Generator) -> Written:
    """Write separated text in an odd way."""
    style, options = text_style(rng)
    encoding = str(
        rng.choice(["utf-8", "utf-8-sig", "utf-16", "cp1252", "utf-16-le"], p=[0.5, 0.2, 0.1, 0.1, 0.1])
    )
    separator = str(rng.choice([",", ";", "\t", "|"]))
    end = str(rng.choice(["\n", "\r\n", "\r"]))
    # By default the writer leaves line feeds bare where a line ends otherwise.
    quoting = [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC][rng.integers(3) if end != "\r" else 1]
    missing = str(rng.choice(MISSING))
    truth = [("false", "true"), ("FALSE", "TRUE"), ("0", "1"), ("False", "True")][rng.integers(4)]
    whole = {**style, "point": False, "exponent": False}
    rows = [
        [
            number_text(row.number, style, missing),
            number_text(row.count, whole, missing),
            str(row.id),
            "" if row.word is None else row.word,
            truth[row.flag],
            str(row.label),
        ]
        for row in frame.itertuples(index=False)
    ]
    stream = io.StringIO()
    head = str(rng.choice(["", "sep=", "title"], p=[0.8, 0.1, 0.1]))
    if head == "sep=":
        stream.write(f"sep={separator}{end}")
    elif head == "title":
        stream.write(f"Report{end}{end}")
    writer = csv.writer(stream, delimiter=separator, quoting=quoting, lineterminator=end)
    writer.writerow(frame.columns)
    writer.writerows(rows)
    text = stream.getvalue()
    if rng.random() < 0.2:
        text = text.removesuffix(end)
    if encoding == "cp1252":
        text = text.replace("\u202f", " ").replace("\u2212", "-")
    path.write_bytes(text.encode(encoding))
    given = {name: value for name, value in options.items() if value}
    if encoding in ("cp1252", "utf-16-le"):
        given["encoding"] = encoding
    if head == "title":
        given["skip"] = 2
    # The sniffer is a guess, and a user who sees a wrong one says which it is.
    given["separator"] = separator
    return Written(path, TextFormat(**given), advice=True, has_unit=style["around"] != "{}")


def write_parquet(frame: pd.DataFrame, path: Path, rng: np.random.Generator) -> Written:
    """Write Parquet with one of the types that each column may have."""
    words = pa.array(frame["word"].tolist(), pa.string())
    texts = [
        words, words.cast(pa.large_string()), words.cast(pa.string_view()), words.cast(pa.binary()),
        words.cast(pa.large_binary()), words.dictionary_encode(),
    ]  # fmt: skip
    counts = pa.array(frame["count"].tolist(), pa.int64())
    whole = [
        counts, counts.cast(pa.int16()), counts.cast(pa.float64()), counts.cast(pa.decimal128(22, 2)),
        counts.dictionary_encode(), counts.cast(pa.int32()),
    ]  # fmt: skip
    flags = pa.array(frame["flag"].tolist())
    columns = {
        "number": pa.array(frame["number"].tolist(), pa.float64()),
        "count": whole[rng.integers(len(whole))],
        "id": pa.array([Decimal(value) for value in frame["id"]], pa.decimal128(38, 0)),
        "word": texts[rng.integers(len(texts))],
        "flag": [flags, flags.cast(pa.int8()), flags.dictionary_encode()][rng.integers(3)],
        "label": pa.array(frame["label"].tolist()),
    }
    compression = str(rng.choice(["snappy", "zstd", "none"]))
    # Without checksums a changed value could not be told.
    pq.write_table(pa.table(columns), path, compression=compression, write_page_checksum=True)
    return Written(path, TextFormat())


def write_sheet(frame: pd.DataFrame, path: Path, rng: np.random.Generator) -> Written:
    """Write an Excel file with a cover or a hidden sheet, and numbers as numbers or as texts."""
    style, options = text_style(rng)
    # Excel holds numbers of 15 digits, and longer ones as texts.
    table = frame.assign(id=frame["id"].map(str))
    # XML has line feeds alone.
    words = [word and word.replace("\r\n", "\n") for word in frame["word"]]
    table["word"] = frame["word"] = pd.Series(words, dtype=object)
    if is_text := bool(rng.random() < 0.5):
        part = rng.random(len(frame)) < rng.choice([0.5, 1.0])
        texts = [number_text(value, style, "") for value in frame["number"]]
        table["number"] = [
            text if at else value for text, value, at in zip(texts, frame["number"], part, strict=True)
        ]
    cover = pd.DataFrame({"Report": ["of May"]})
    book = str(rng.choice(["alone", "cover", "hidden", "named"]))
    with pd.ExcelWriter(path, engine="openpyxl") as writer:
        if book == "cover":
            cover.to_excel(writer, sheet_name="Cover", index=False)
        elif book in ("hidden", "named"):
            table.assign(number=1.0).to_excel(writer, sheet_name="old", index=False)
        table.to_excel(writer, sheet_name="rows", index=False)
        if book == "hidden":
            writer.book["old"].sheet_state = "hidden"
    given = {name: value for name, value in options.items() if value and is_text}
    if book != "alone":
        given["sheet"] = "rows"
    return Written(path, TextFormat(**given), has_unit=is_text and style["around"] != "{}")


WRITERS = {
    "csv": write_text,
    "parquet": write_parquet,
    "xlsx": write_sheet,
}


def differences(written: Written, frame: pd.DataFrame) -> list[str]:
    """Return the columns whose values differ from those of the table, as the readers find them."""
    table = Source(written.path, written.text_format).table()
    if len(table) != len(frame):
        return [f"{len(table)} rows for {len(frame)}"]
    wrong = []
    for name in ("number", "count", "flag"):
        expected = frame[name].astype(float).to_numpy()
        column = table.column(name)
        if column.kind is not Kind.NUMBER:
            wrong.append(f"{name}: {column.kind.value}")
        elif not np.array_equal(column.values, expected, equal_nan=True):
            at = int(np.argmax(~np.isclose(column.values, expected, rtol=0, atol=0, equal_nan=True)))
            wrong.append(f"{name}: {column.cells.iloc[at]!r} is {column.values[at]!r}, not {expected[at]!r}")
    if table.column("id", Kind.TEXT).values.tolist() != [str(value) for value in frame["id"]]:
        wrong.append("id")
    words = table.column("word", Kind.TEXT).values
    if [None if pd.isna(word) else word for word in words] != frame["word"].tolist():
        wrong.append("word")
    if [of.shown for of in read_labels(table.labels("label"), None)[2]] != ["0", "1"]:
        wrong.append("label")
    return wrong


def refusal(path: Path, text_format: TextFormat) -> InputError | None:
    """Return what is said where a file is refused as features, or else nothing."""
    source = FeatureSource(path, "label", exclude=["id", "word"], read=text_format.texts())
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            read_features(source, LearnOptions())
        except InputError as error:
            return error
    return None


def advised(told: InputError, option: str) -> list[str]:
    """Return what a refusal says to type after an option."""
    return [value for name, value in pairwise(told.add) if name == option]


def damage(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a file with a piece cut out, doubled, overwritten or swapped."""
    start, length = int(rng.integers(len(content))), int(rng.integers(1, 40))
    piece = content[start : start + length]
    bits = [b'"', b"\n", b"\r", b"\x00", b"\xff", b",", b"-", b"e9"]
    new = [b"", piece * 2, bits[rng.integers(len(bits))], piece[::-1]][rng.integers(4)]
    return content[:start] + new + content[start + length :]


def plain_parse(path: Path) -> list[dict[str, Any]] | None:
    """Return the rows of a damaged CSV file by the parser of Python, or None."""
    try:
        text = path.read_bytes().decode("utf-8")
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=False) if row]
        return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    except (ValueError, csv.Error, IndexError):
        return None


def damaged(rng: np.random.Generator, folder: Path) -> str:
    """Damage a file, and return what its reading came to."""
    frame = draw(rng)
    kind = ["csv", "parquet"][rng.integers(2)]
    path = folder / f"damaged.{kind}"
    if kind == "csv":
        content = frame.to_csv(index=False).encode()
    else:
        write_parquet(frame, path, rng)
        content = path.read_bytes()
    path.write_bytes(damage(content, rng))
    try:
        table = Source(path).table()
    except InputError:
        return f"{kind}: refused"
    if kind == "parquet":
        same = differences_of_frames(table.frame, frame)
        return f"{kind}: {'equal' if same else 'other values'}"
    rows = plain_parse(path)
    if rows is None:
        return f"{kind}: read, where Python's parser refuses"
    found = table.frame.astype(object).where(table.frame.notna(), None).to_dict("records")
    expected = [
        {name: row.get(name) if row.get(name) != "" else None for name in table.frame} for row in rows
    ]
    return f"{kind}: {'equal' if list(map(shown, found)) == list(map(shown, expected)) else 'other values'}"


def shown(row: dict[str, Any]) -> dict[str, str | None]:
    """Return a row with its cells as texts, whole floats without a decimal point."""
    return {name: None if cell is None else cell_text(cell) for name, cell in row.items()}


def cell_text(cell: Any) -> str:
    """Return a cell as text; numbers that are equal have the same one."""
    is_number = isinstance(cell, int | float | Decimal)
    return (
        str(Decimal(str(int(cell) if isinstance(cell, bool) else cell)).normalize())
        if is_number
        else str(cell)
    )


def differences_of_frames(found: pd.DataFrame, frame: pd.DataFrame) -> bool:
    """Return whether two tables hold the same texts."""
    if list(found) != list(frame) or len(found) != len(frame):
        return False
    cells = found.astype(object).where(found.notna(), None).to_dict("records")
    expected = frame.to_dict("records")
    return [{k: str(v) for k, v in shown(row).items()} for row in cells] == [
        {k: str(v) for k, v in shown(row).items()} for row in expected
    ]


def by_command(rng: np.random.Generator, folder: Path) -> str:
    """Read a table by the command, and return what came of it."""
    frame = draw(rng)
    kind = str(rng.choice(list(KINDS), p=list(KINDS.values())))
    written = WRITERS[kind](frame, folder / f"command.{kind}", rng)
    plain = folder / "plain.parquet"
    write_plain(frame, plain)
    if written.has_unit:
        return "numbers have a unit"
    outputs = []
    for path, options in ((written.path, written.text_format.words()), (plain, [])):
        model, ranked = folder / "m.skops", folder / "ranked.parquet"
        left_out = ["--exclude", "id", "--exclude", "word"]
        fit = ["fit", path, "--label", "label", *left_out, "--model", "pnorm-push", "-o", model, *options]
        # The model knows how the file of its fit is written.
        score = ["score", model, path, "--columns", "id", "-o", ranked]
        for words in (fit, score):
            done = CliRunner().invoke(app, [str(word) for word in [*words, "--force"]])
            if done.exit_code:
                return f"{words[0]} refuses: {done.stderr.strip()[-100:]}"
        outputs.append([int(cell) for cell in pq.read_table(ranked)["id"].to_pylist()])
    return "equal" if outputs[0] == outputs[1] else "OTHER ORDER"


def write_plain(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as Parquet of plain types."""
    columns = {name: frame[name].tolist() for name in frame}
    columns["number"] = pa.array(columns["number"], pa.float64())
    columns["id"] = [str(value) for value in columns["id"]]
    pq.write_table(pa.table(columns), path)


def odd(rng: np.random.Generator, folder: Path) -> list[tuple[str, Any]]:
    """Write a table in an odd way, and return what its readings came to, and what is wrong in them."""
    frame = draw(rng)
    kind = str(rng.choice(list(KINDS), p=list(KINDS.values())))
    written = WRITERS[kind](frame, folder / f"table.{kind}", rng)
    if written.has_unit:
        return [(f"{kind:8} with a unit: {with_unit(written)}", None)]
    try:
        wrong = differences(written, frame)
    except InputError as error:
        return [(f"{kind:8} with its options: refused", str(error).replace(str(folder), ""))]
    outcomes = [(f"{kind:8} with its options: {'OTHER VALUES' if wrong else 'equal'}", wrong[:2])]
    if written.advice and not wrong and rng.integers(N_BARE) == 0:
        told = without_options(written, frame)
        outcomes.append((f"{kind:8} without options of numbers: {told}", stated(written.text_format)))
    if not rng.integers(N_BARE):
        outcomes.append((f"{kind:8} written again: {again(written, folder)}", stated(written.text_format)))
    return outcomes


def again(written: Written, folder: Path) -> str:
    """Return what becomes of rows that are written as they were read, and read again."""
    table, path = Source(written.path, written.text_format).table(), folder / f"again{written.path.suffix}"
    write_table(table.frame, path, table.text_format)
    # A title, and sheets beside the one of the rows, are not written.
    how = replace(table.text_format, skip=0, sheet=None)
    frames = [of.frame.astype(object) for of in (table, Source(path, how).table())]
    cells = [frame.where(frame.notna(), None).to_dict("records") for frame in frames]
    return "equal" if [*map(shown, cells[0])] == [*map(shown, cells[1])] else "OTHER CELLS"


def run(what: str, check: Callable[..., Any], n: int) -> None:
    """Print how often each outcome of a check of drawn files was found, and where it is no good one."""
    counts, examples = Counter(), {}
    with ProcessPoolExecutor(N_PROCESSES) as pool:
        for seed, outcomes in enumerate(pool.map(partial(checked, check), range(n), chunksize=20)):
            for outcome, detail in outcomes:
                counts[outcome] += 1
                if not outcome.endswith(GOOD):
                    examples.setdefault(outcome, []).append((seed, detail))
    print(f"{n:,} {what}")
    for outcome, count in sorted(counts.items()):
        print(f"  {outcome:70} {count:7,}")
    for outcome, seen in examples.items():
        print(f"  such as, {outcome}: {seen[:3]}")


def checked(check: Callable[..., Any], seed: int) -> list[tuple[str, Any]]:
    """Return the outcomes of a check of a file that is drawn by a seed."""
    with tempfile.TemporaryDirectory() as name, contextlib.redirect_stderr(io.StringIO()):
        found = check(np.random.default_rng([ORDER.index(check), seed]), Path(name))
    return [(found, None)] if isinstance(found, str) else found


ORDER = [odd, damaged, by_command]


def main() -> None:
    """Print how many tables were read, refused or misread, of each kind."""
    given = map(int, sys.argv[1:4]) if len(sys.argv) > 3 else (N_TABLES, N_DAMAGED, N_COMMANDS)
    named = "tables, written in an odd way", "damaged files", "tables by the commands"
    for what, check, n in zip(named, ORDER, given, strict=True):
        run(what, check, n)


def without_options(written: Written, frame: pd.DataFrame) -> str:
    """Return what becomes of a file where no option says how its numbers are written."""
    kept = {"separator", "encoding", "skip"}
    bare = TextFormat(**{name: value for name, value in stated(written.text_format).items() if name in kept})
    told = refusal(written.path, bare)
    if told is None:
        return "equal" if not differences(Written(written.path, bare), frame) else "OTHER VALUES"
    if {"number", "count"} & {*advised(told, "--exclude")}:
        return "refused, no marks read it"
    read = TextFormat.parse([*bare.texts(), *advised(told, "--read")])
    wrong = differences(Written(written.path, read), frame)
    return "refused, and read as advised" if not wrong else "OTHER VALUES as advised"


def with_unit(written: Written) -> str:
    """Return what becomes of a file whose numbers have a unit, which no option reads."""
    told = refusal(written.path, written.text_format)
    table = Source(written.path, written.text_format).table()
    left = [] if told is None else advised(told, "--exclude")
    # In a sheet whole numbers are written as numbers.
    names = ["number"] + ["count"] * (written.path.suffix == ".csv")
    kinds = {table.column(name).kind for name in names if name not in left}
    if Kind.NUMBER in kinds:
        return "OTHER VALUES"
    # Few different numbers with a word are texts.
    return "read as texts" if kinds else "refused, to be left out"


if __name__ == "__main__":
    main()
