"""Files of every kind that business has, and what is said of those that cannot be read."""

import bz2
import gzip
import io
import lzma
import re
import shlex
import subprocess
import sys
import unicodedata
import zipfile
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from pushrank.cli import app
from pushrank.cli.errors import InputError
from pushrank.cli.features import read_features
from pushrank.cli.model import SavedModel
from pushrank.cli.options import FeatureSource
from pushrank.cli.source.format import DEFAULT_FORMAT, TextFormat
from pushrank.cli.source.read import read_table
from pushrank.cli.source.table import Kind
from tests.cli.runner import call, fitted

N_ROWS = 40


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    y = np.arange(N_ROWS) % 2
    frame = pd.DataFrame({"size": rng.normal(size=N_ROWS), "kind": list("aabbccdd") * 5, "y": y})
    return frame.assign(n=rng.integers(0, 9, N_ROWS))


def rows_of(path, written=DEFAULT_FORMAT, **source):
    return read_features(FeatureSource(path, **{"label": "y", **source}), written)


def refused(path, written=DEFAULT_FORMAT, **source):
    with pytest.raises(InputError) as caught:
        rows_of(path, written, **source)
    return str(caught.value)


def write(frame, path):
    """Write rows in the way that the name of the file says."""
    text = frame.to_csv(index=False)
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("data.csv", text)
    elif path.suffix == "":
        path.mkdir()
        frame[:30].to_parquet(path / "part-0.parquet")
        frame[30:].to_parquet(path / "part-1.parquet")
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(path, index=False)
    else:
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


@pytest.mark.parametrize("name", ["a.txt", "a.csv.gz", "a.csv.zip", "parts", "a.xlsx"])
def test_every_kind_of_file_holds_the_same_rows(tmp_path, frame, name):
    write(frame, tmp_path / name)
    rows = rows_of(tmp_path / name)
    assert (rows.numeric, rows.categorical, rows.positive) == (["size", "n"], ["kind"], "1")
    np.testing.assert_allclose(rows.rows.X["size"], frame["size"], rtol=1e-12)
    np.testing.assert_array_equal(rows.y, frame["y"] == 1)


def test_a_missing_package_for_excel_is_told(tmp_path, monkeypatch):
    (tmp_path / "a.xlsx").write_bytes(b"")
    monkeypatch.setattr("pushrank.cli.source.read.find_spec", lambda _: None)
    assert "pip install openpyxl" in refused(tmp_path / "a.xlsx")


def test_standard_streams(tmp_path, frame):
    frame.to_csv(tmp_path / "a.csv", index=False)
    command = ["score", str(fitted(tmp_path / "a.csv", "--label", "y")), "-", "-o", "-", "--top", "3"]
    shown = CliRunner().invoke(app, command, input=frame.to_csv(index=False, sep=";"))
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.splitlines()[0] == "rank;score;size;kind;y;n"
    assert len(shown.stdout.splitlines()) == 4
    assert "3 of 40 rows, best first, on standard output." in shown.stderr


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("head", ["", "sep={}\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_the_separator_is_found_out(tmp_path, frame, separator, head, bom):
    text = frame.to_csv(index=False, sep=separator)
    (tmp_path / "a.csv").write_text(bom + head.format(separator) + text, encoding="utf-8")
    assert list(read_table(tmp_path / "a.csv").frame) == list(frame)


def test_rows_above_the_names_are_skipped_and_files_without_names_read(tmp_path, frame):
    data = tmp_path / "a.csv"
    data.write_text("Report of May\n\n" + frame.to_csv(index=False))
    assert "row 2 has 4 cells, where the first has 1; give every row as many" in refused(data)
    assert "--skip-rows" in refused(data)
    assert len(rows_of(data, TextFormat(skip_rows=2)).y) == N_ROWS
    frame.to_csv(data, index=False, header=False)
    assert len(rows_of(data, TextFormat(no_header=True), label="3").y) == N_ROWS


def test_what_is_no_table_is_told_in_a_line(tmp_path, frame):
    data = tmp_path / "a.csv"
    text = frame.to_csv(index=False)
    for content, said in {
        text + "1,2\n": "row 42 has 2 cells, where the first has 4",
        text.replace("size", "y"): "more than one column 'y'; give each its own name",
        text + '1,a,1,"2\n': 'a quotation mark (") is never closed',
        "": "is empty",
    }.items():
        data.write_text(content)
        assert said in refused(data)
    data.write_bytes(text.replace("a", "ä").encode("latin-1"))
    assert "is not coded as utf-8" in refused(data)
    with zipfile.ZipFile(tmp_path / "a.csv.zip", "w") as archive:
        archive.writestr("1.csv", text)
        archive.writestr("2.csv", text)
    assert "holds 2 files; zip one alone" in refused(tmp_path / "a.csv.zip")
    (tmp_path / "none").mkdir()
    assert "is a folder without .parquet files" in refused(tmp_path / "none")


def test_all_unusable_columns_are_named_at_once_with_what_to_type(tmp_path, frame, capsys):
    amounts = np.round(np.random.default_rng(0).gamma(1.0, 2000.0, N_ROWS), 2)
    german = str.maketrans(",.", ".,")
    frame["Betrag €"] = [f"€ {amount:,.2f}".translate(german) for amount in amounts]
    frame["pct"] = [f"{amount % 100:.1f}%".translate(german) for amount in amounts]
    frame["Datum"] = [f"{1 + day % 28:02}.03.2024" for day in range(N_ROWS)]
    data = tmp_path / "a.csv"
    frame.to_csv(data, index=False, sep=";", decimal=",", encoding="utf-8-sig")
    told = refused(data)
    assert f"'Betrag €' holds numbers written as '{frame['Betrag €'][0]}' in row 1; 'pct'" in told
    plain, read = run_printed(told)
    assert read == ["--decimal", ",", "--thousands", "."]
    rows = rows_of(plain, TextFormat(decimal=",", thousands="."), exclude=["Datum,kind"])
    assert rows.categorical == []
    np.testing.assert_allclose(rows.rows.X["Betrag €"], amounts)
    np.testing.assert_allclose(rows.rows.X["pct"], np.round(amounts % 100, 1))
    np.testing.assert_allclose(rows.rows.X["size"], frame["size"])
    assert capsys.readouterr().err == ""


def run_printed(told):
    """Run the command that a refusal prints; return the file that it writes, and the options to read it."""
    command, then = re.match(
        r"To write the numbers alone: (python -c .*?\)'). Then read (.*?)\. /", told
    ).groups()
    subprocess.run([sys.executable, *shlex.split(command)[1:]], check=True, timeout=60)
    plain, *options = shlex.split(then.replace(" with ", " "))
    return Path(plain), options


def test_dollars_and_words_that_pandas_takes_for_missing(tmp_path, frame):
    """In a file whose names and columns are odd; all cells but those of dollars stay as they are."""
    frame["u\u0308 'sd'"] = [f"-${1000.5 + row:,.2f}" if row else "unknown" for row in range(N_ROWS)]
    frame["word"] = np.array(["NA", "None", "yes"])[np.arange(N_ROWS) % 3]
    frame["code"] = [f"00{row % 7}" for row in range(N_ROWS)]
    (tmp_path / "my dir's $x").mkdir()
    path = tmp_path / "my dir's $x" / "a.b.csv"
    frame.to_csv(path, index=False)
    plain, options = run_printed(refused(path))
    assert (plain.name, options) == ("a.b.plain.csv", ["--thousands", ","])
    read = pd.read_csv(plain, dtype=str, keep_default_na=False)
    before = pd.read_csv(path, dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(read.drop(columns=read.columns[4]), before.drop(columns=before.columns[4]))
    rows = rows_of(plain, TextFormat(thousands=",", na_values=["unknown"]))
    assert rows.rows.X["ü 'sd'"][1] == -1001.5


def test_decimal_commas_of_one_column_are_written_as_points(tmp_path, frame):
    frame["pct"] = [f"{row}" + f",{row % 9 + 1}%" for row in range(N_ROWS)]
    frame.to_csv(tmp_path / "a.csv", index=False)
    plain, options = run_printed(refused(tmp_path / "a.csv"))
    assert options == []
    assert rows_of(plain).rows.X["pct"][12] == 12.4


def test_lists_and_structs_are_refused_with_their_type(tmp_path, frame):
    table = pa.Table.from_pandas(frame)
    table = table.append_column("tags", [[["a"]] * N_ROWS])
    table = table.append_column("place", [[{"lat": 1.0}] * N_ROWS])
    pq.write_table(table, tmp_path / "a.parquet")
    told = refused(tmp_path / "a.parquet")
    assert "'tags' holds list<" in told
    assert "'place' holds struct<lat: double>" in told
    assert told.endswith("--exclude tags --exclude place.")


def test_na_is_missing_among_numbers_and_namibia_among_texts(tmp_path, frame):
    frame["size"] = frame["size"].astype(str).where(frame.index > 2, "NA")
    frame["kind"] = frame["kind"].where(frame.index > 4, "NA").where(frame.index != 7, "-")
    frame["n"] = frame["n"].astype(str).where(frame.index != 7, "-")
    frame.to_csv(tmp_path / "a.csv", index=False)
    told = rows_of(tmp_path / "a.csv").categorical
    assert told == ["kind", "n"]
    rows = rows_of(tmp_path / "a.csv", TextFormat(na_values=["-"]))
    assert (rows.numeric, rows.categorical) == (["size", "n"], ["kind"])
    assert rows.rows.X["size"].isna().sum() == 3
    assert (rows.rows.X["kind"] == "NA").sum() == 5
    assert rows.rows.X["kind"].isna().sum() == 1


def test_a_number_that_only_one_cell_lacks_says_how_to_read_it(tmp_path, frame, capsys):
    numbers = frame["n"].astype(str)
    # Also a third of all cells, if they hold one and the same mark.
    for row, lacking in ((8, frame.index == 7), (2, frame.index % 3 == 1)):
        frame.assign(n=numbers.mask(lacking, "-")).to_csv(tmp_path / "a.csv", index=False)
        rows_of(tmp_path / "a.csv")
        assert f"row {row} holds '-'" in (told := capsys.readouterr().err)
        assert "--na-values -, or" in told


def test_columns_that_give_the_label_away_are_warned_of(tmp_path, frame, capsys):
    y = frame["y"] == 1
    frame = frame.assign(copy=1 - frame["y"], after=np.where(y, 9.0, np.nan) + frame["n"], paid=y * 2.0 + 0.5)
    frame["state"] = np.where(y, "closed", "open")
    frame.to_csv(tmp_path / "a.csv", index=False)
    rows_of(tmp_path / "a.csv")
    told = capsys.readouterr().err.splitlines()
    assert [line.split("'")[1] for line in told[:-1]] == ["copy", "after", "paid", "state"]
    assert all("alone tells the two classes apart" in line for line in told[:-1])
    assert told[-1].endswith("--exclude copy --exclude after --exclude paid --exclude state")


def test_names_that_differ_in_case_or_blanks_only_are_told(tmp_path, frame):
    data = tmp_path / "a.csv"
    frame.to_csv(data, index=False)
    model = fitted(data, "--label", "y")
    frame.rename(columns={"size": " SIZE", "y": "Y"}).to_csv(data, index=False)
    assert f"--label 'y' is no column of {data} ('Y' differs in case or blanks only" in refused(data)
    assert "--exclude 'KIND' is no column of" in refused(data, label="Y", exclude=["KIND"])
    told = call("score", model, data, "-o", tmp_path / "r.csv", code=2).stderr
    assert "lacks the column 'size' (' SIZE' differs in case or blanks only; rename one of them)" in told


def test_a_rare_class_is_noted(tmp_path, frame, capsys):
    frame["y"] = (frame.index < 3).astype(int)
    frame.drop(columns="kind").to_csv(tmp_path / "a.csv", index=False)
    rows_of(tmp_path / "a.csv")
    assert "only 3 rows are of one of the two classes" in capsys.readouterr().err
    fitting = ["fit", tmp_path / "a.csv", "--label", "y", "-o", tmp_path / "m.skops"]
    told = call(*fitting, "--model", "top-ranker-cv", code=2).stderr
    assert "needs 5 rows of each class, and one has 3; take another, such as --model pnorm-push" in told


def test_a_quiet_day_has_a_header_and_no_rows(tmp_path, frame):
    frame.to_csv(tmp_path / "a.csv", index=False)
    model = fitted(tmp_path / "a.csv", "--label", "y")
    frame[:0].to_csv(tmp_path / "new.csv", index=False)
    call("score", model, tmp_path / "new.csv", "-o", tmp_path / "r.csv")
    assert (tmp_path / "r.csv").read_text() == "rank,score,size,kind,y,n\n"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "there is not enough memory; take fewer rows or columns, or another machine."),
        (OSError(28, "No space left on device"), "No space left on device."),
    ],
)
def test_too_little_memory_and_space_are_one_line(tmp_path, monkeypatch, error, said):
    (tmp_path / "a.csv").write_text("x,y\n1,1\n")
    monkeypatch.setattr("pushrank.cli.fit.read_features", Mock(side_effect=error))
    told = call("fit", tmp_path / "a.csv", "--label", "y", "-o", tmp_path / "m.skops", code=2).stderr
    assert told == f"Error: {said}\n"


def test_what_a_terminal_cannot_show_is_replaced(tmp_path, frame):
    frame.to_csv(tmp_path / "größe.csv", index=False)
    model = fitted(tmp_path / "größe.csv", "--label", "y")
    command = ["evaluate", str(model), str(tmp_path / "größe.csv"), "--no-intervals"]
    shown = CliRunner(charset="ascii").invoke(app, command)
    assert shown.exit_code == 0, shown.exception
    assert "gr??e.csv" in shown.stdout


def test_a_file_says_by_its_first_bytes_that_it_is_utf_16(tmp_path, frame):
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "b.csv", index=False, encoding="utf-16")
    one, other = (rows_of(tmp_path / name) for name in ("a.csv", "b.csv"))
    pd.testing.assert_frame_equal(one.rows.X, other.rows.X)
    assert other.table.text_format.encoding == "utf-16"


WIDE = 11_234_567_890_123_456_789
IDS = [WIDE, WIDE + 1, 2**53 + 1, -(2**53) - 1] * 10


def test_files_of_other_kinds_name_the_command_that_makes_them_readable(tmp_path, frame):
    """The command is run as it is printed, and its file holds the same rows."""
    tmp_path = tmp_path / "my dir's $x"
    tmp_path.mkdir()
    frame["size"] = frame["size"].round(3)
    for name, write_it in {
        "a.json": lambda path: frame.to_json(path, orient="records"),
        "b.jsonl": lambda path: frame.to_json(path, orient="records", lines=True),
        "c.csv.xz": lambda path: frame.to_csv(path, index=False),
        "d.csv.bz2": lambda path: frame.to_csv(path, index=False, sep=";"),
    }.items():
        write_it(tmp_path / name)
        told = refused(tmp_path / name)
        assert f"{name} is no file that pushrank reads" in told
        command = shlex.split(re.split("Make a Parquet file of it: |Unpack it: ", told)[1])
        assert command[:2] == ["python", "-c"]
        subprocess.run([sys.executable, *command[1:]], check=True)
        kind = "csv" if ".csv" in name else "parquet"
        found = rows_of(tmp_path / f"{name[0]}.{kind}").rows.X
        pd.testing.assert_frame_equal(found, frame[["size", "n", "kind"]], check_dtype=False)
    (tmp_path / "e.pdf").touch()
    assert refused(tmp_path / "e.pdf").endswith("libsvm (.libsvm, .svmlight, .svm).")


LATER = b"\n".join([b"PAR1,PK,y", *(b"%d,%d,%d" % (row, row % 7, row % 2) for row in range(20))])


@pytest.mark.parametrize("name", ["a.csv", "a.svm", "a.xlsx", "a.parquet", "-"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (gzip.compress(LATER), "is compressed by gzip; unpack it, or let the name of text end in .gz."),
        (bz2.compress(LATER), "is compressed by bzip2, which is not read here; unpack it"),
        (lzma.compress(LATER), "is compressed by xz, which is not read here; unpack it"),
        (pa.compress(LATER, codec="zstd", asbytes=True), "unpack it: zstd -d."),
        (b"PK\3\4 and more", "is an Excel file or an archive; let its name end in .xlsx or .zip."),
        (b"PAR1\x15 and more", "is a Parquet file; let its name end in .parquet."),
        (b"\xd0\xcf\x11\xe0 and more", "is an old or an encrypted file of Excel; save it as .xlsx."),
    ],
    ids=["gzip", "bz2", "xz", "zstd", "zip", "parquet", "xls"],
)
def test_a_file_of_another_kind_than_its_name_says_is_named(tmp_path, monkeypatch, name, content, said):
    if name[1:] in said or (name == "a.xlsx" and "Excel" in said):
        return
    if name == "-":
        monkeypatch.setattr("sys.stdin", Mock(buffer=io.BytesIO(content)))
    else:
        (tmp_path / name).write_bytes(content)
    path = tmp_path / name if name != "-" else Path(name)
    assert said in refused(path)
    # Names that begin as signatures do are names.
    (tmp_path / "b.csv").write_bytes(LATER)
    assert list(read_table(tmp_path / "b.csv").frame) == ["PAR1", "PK", "y"]


@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet"])
@pytest.mark.parametrize("forms", [("NFC", "NFD"), ("NFD", "NFC")])
def test_letters_are_the_same_however_programs_compose_them(tmp_path, frame, kind, forms):
    frame["kind"] = frame["kind"].replace({"a": "Köln", "b": "É"})
    frame = frame.rename(columns={"size": "größe"}).assign(y=frame["y"].map({0: "für", 1: "wider"}))
    fitted_on, scored = (
        frame.assign(kind=[unicodedata.normalize(form, text) for text in frame["kind"]]).rename(
            columns=lambda name, form=form: unicodedata.normalize(form, name)
        )
        for form in forms
    )
    fitted_on["y"] = [unicodedata.normalize(forms[0], text) for text in frame["y"]]
    write(fitted_on, data := tmp_path / f"a.{kind}")
    write(scored, new := tmp_path / f"b.{kind}")
    model, option = tmp_path / "m.skops", unicodedata.normalize(forms[1], "für")
    call("fit", data, "--label", "y", "--positive", option, "-o", model)
    for rows, name in ((data, "a"), (new, "b")):
        told = call("score", model, rows, "--columns", "größe", "-o", tmp_path / f"{name}-scores.csv").stderr
        assert "unknown" not in told
    one, other = (pd.read_csv(tmp_path / f"{name}-scores.csv") for name in "ab")
    pd.testing.assert_frame_equal(one, other)
    write(frame.assign(**{unicodedata.normalize("NFD", "größe"): 1}), double := tmp_path / f"c.{kind}")
    assert "more than one column 'größe'" in refused(double)


def test_whole_numbers_of_any_length_are_kept(tmp_path, frame):
    name = "a.csv"
    frame.assign(id=IDS).to_csv(tmp_path / name, index=False)
    table = read_table(tmp_path / name)
    assert len(set(table.groups("id"))) == 4
    assert [int(text) for text in table.column("id", Kind.TEXT).values] == IDS
    call("fit", tmp_path / name, "--label", "y", "--exclude", "id", "-o", tmp_path / "m.skops")
    call("score", tmp_path / "m.skops", tmp_path / name, "-o", tmp_path / "r.csv")
    written = pd.read_csv(tmp_path / "r.csv", dtype=str)["id"]
    assert sorted(map(int, written)) == sorted(IDS)


@pytest.mark.parametrize("kind", ["parquet", "xlsx"])
def test_texts_of_numbers_are_read_by_the_options_that_are_named(tmp_path, frame, kind, capsys):
    frame["size"] = [f"{size:.3f}".replace(".", ",") for size in frame["size"]]
    frame["n"] = frame["n"].astype(str)
    write(frame, data := tmp_path / f"a.{kind}")
    read = rows_of(data, TextFormat(decimal=","))
    assert read.numeric == ["size", "n"]
    np.testing.assert_array_equal(read.rows.X["size"], frame["size"].str.replace(",", ".").astype(float))
    if kind == "xlsx":
        assert "Read numbers with --decimal ,." in refused(data)
        return
    assert rows_of(data).numeric == []
    assert "holds numbers as texts, each of them a category; to read them as numbers: --decimal ." in (
        capsys.readouterr().err
    )
    assert rows_of(data, TextFormat(decimal="."), exclude=["size"]).numeric == ["n"]


TEXTS = pa.array(["ä", "b", None, "b"] * 10)


@pytest.mark.parametrize(
    "column",
    [
        TEXTS.cast(pa.string_view()), TEXTS.cast(pa.binary()), TEXTS.cast(pa.binary()).cast(pa.binary_view()),
        TEXTS.cast(pa.large_binary()), TEXTS.cast(pa.large_string()), TEXTS.dictionary_encode(),
    ],
    ids=lambda column: str(column.type)[:12],
)  # fmt: skip
def test_texts_of_every_type_of_arrow_are_texts(tmp_path, frame, column):
    pq.write_table(pa.Table.from_pandas(frame).append_column("c", column), tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet")
    assert table.column("c").kind is Kind.TEXT
    assert table.column("c").values.fillna("").tolist() == [text or "" for text in TEXTS.to_pylist()]


@pytest.mark.parametrize("key", [pa.int32(), pa.int64(), pa.string()])
def test_folders_of_a_key_have_its_column(tmp_path, frame, key):
    year = pa.array([2022, 2023, 2024, 2025] * 10).cast(key)
    rows = pa.Table.from_pandas(frame).append_column("year", year)
    pq.write_to_dataset(rows, tmp_path / "parts", partition_cols=["year"])
    model, parts = tmp_path / "m.skops", tmp_path / "parts"
    call("fit", parts, "--label", "y", "-o", model)
    call("score", model, parts, "-o", tmp_path / "r.csv")
    pq.write_table(rows, tmp_path / "whole.parquet")
    call("score", model, tmp_path / "whole.parquet", "-o", tmp_path / "w.csv")
    one, other = (pd.read_csv(tmp_path / name).sort_values(["score", "size"]) for name in ("r.csv", "w.csv"))
    np.testing.assert_array_equal(one["score"], other["score"])
    np.testing.assert_array_equal(one["year"], other["year"])


@pytest.mark.parametrize(("part", "odd"), [(["n", "y"], "size"), (["size", "y", "n", "kind"], "kind")])
def test_files_of_a_folder_that_differ_in_a_column_are_told(tmp_path, frame, part, odd):
    write(frame.drop(columns="kind"), folder := tmp_path / "parts")
    frame[30:][["n", "size", "y"]].to_parquet(folder / "part-1.parquet")
    assert len(rows_of(folder).y) == N_ROWS
    frame[30:][part].to_parquet(folder / "part-1.parquet")
    said = f"{folder}/part-0.parquet and {folder}/part-1.parquet differ in column '{odd}'; give all the same."
    assert said in refused(folder)


def test_an_archive_of_macos_is_read(tmp_path, frame):
    with zipfile.ZipFile(tmp_path / "a.csv.zip", "w") as archive:
        archive.writestr("a.csv", frame.to_csv(index=False))
        archive.writestr("__MACOSX/._a.csv", b"\0\5\x16\7")
    assert len(rows_of(tmp_path / "a.csv.zip").y) == N_ROWS


def test_a_column_without_a_value_can_be_scored(tmp_path, frame):
    frame.to_csv(tmp_path / "a.csv", index=False)
    call("fit", tmp_path / "a.csv", "--label", "y", "-o", tmp_path / "m.skops")
    empty = frame.assign(n=None, kind=None)
    empty.to_parquet(tmp_path / "new.parquet")
    call("score", tmp_path / "m.skops", tmp_path / "new.parquet", "-o", tmp_path / "r.csv")


@pytest.mark.parametrize("cell", ["two\r\nlines", "a\rb", 'a "quoted"\r\n', "\r\n\r\n"])
@pytest.mark.parametrize("encoding", [None, "utf-16-le", "cp1252"])
def test_line_breaks_within_quotation_marks_outlast_the_blocks_of_the_reader(
    tmp_path, monkeypatch, cell, encoding
):
    monkeypatch.setattr("pushrank.cli.source.read.BLOCK_BYTES", 101)
    frame = pd.DataFrame({"k": [f"{row}{cell}" for row in range(500)], "x": range(500)})
    frame.to_csv(tmp_path / "a.csv", index=False, encoding=encoding or "utf-8", lineterminator="\r\n")
    table = read_table(tmp_path / "a.csv", TextFormat(encoding=encoding))
    assert table.frame["k"].tolist() == frame["k"].tolist()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", ""])
@pytest.mark.parametrize(("last", "is_open"), [('"2', True), ('"2\n', False), ('"a""b', True), ("2", None)])
def test_a_quotation_mark_that_is_never_closed_is_told(tmp_path, end, last, is_open):
    text = f"k,x{end or chr(10)}a,{last}" + '"' * (is_open is False) + end
    (tmp_path / "a.csv").write_bytes(text.encode())
    if is_open:
        with pytest.raises(InputError, match="is never closed"):
            read_table(tmp_path / "a.csv")
    else:
        assert read_table(tmp_path / "a.csv").frame["x"].tolist() == [last.strip('"')]


def test_utf_16_without_its_first_bytes_is_told(tmp_path, frame):
    frame.to_csv(tmp_path / "a.csv", index=False, encoding="utf-16-le")
    assert "--encoding utf-16-le or utf-16-be" in refused(tmp_path / "a.csv")
    assert rows_of(tmp_path / "a.csv", TextFormat(encoding="utf-16-le")).numeric == ["size", "n"]


@pytest.mark.parametrize("blank", ["", " ", None, float("nan")])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_rows_without_a_group_are_told(tmp_path, blank, kind):
    frame = pd.DataFrame({"g": [1.0, blank] if isinstance(blank, float) else ["a", blank], "y": [0, 1]})
    path = tmp_path / f"a.{kind}"
    {"csv": frame.to_csv, "parquet": frame.to_parquet}[kind](path)
    with pytest.raises(InputError, match=r"--group 'g' is empty in 1 rows of .*, first in row 2; fill it"):
        read_table(path).groups("g")


def test_groups_of_long_texts_take_no_more_than_their_texts(tmp_path):
    frame = pd.DataFrame({"g": ["a" * 20_000, *(f"c{row % 50}" for row in range(9_999))], "y": 1})
    frame.to_csv(tmp_path / "a.csv", index=False)
    groups = read_table(tmp_path / "a.csv").groups("g")
    assert (groups.nbytes, len(set(groups))) == (80_000, 51)


def test_of_several_sheets_one_is_named(tmp_path, frame):
    pytest.importorskip("openpyxl")
    book = tmp_path / "a.xlsx"
    with pd.ExcelWriter(book, engine="openpyxl") as writer:
        pd.DataFrame({"Report of May": ["by finance"]}).to_excel(writer, sheet_name="Cover", index=False)
        frame.to_excel(writer, sheet_name="rows", index=False)
    assert "has the sheets 'Cover', 'rows'; say which holds the rows: --sheet NAME." in refused(book)
    np.testing.assert_array_equal(rows_of(book, TextFormat(sheet="rows")).rows.X["n"], frame["n"])
    assert "has no sheet 'x'; it has 'Cover', 'rows'" in refused(book, TextFormat(sheet="x"))
    frame.to_csv(tmp_path / "a.csv")
    assert "--sheet is for Excel files, not for" in refused(tmp_path / "a.csv", TextFormat(sheet="x"))


def test_numbers_beside_texts_of_numbers_in_a_sheet(tmp_path, frame):
    frame["n"] = ["1.234,5", 2.5, 3, None] * 10
    write(frame, tmp_path / "a.xlsx")
    assert "Read numbers with --decimal , --thousands .." in refused(tmp_path / "a.xlsx")
    read = rows_of(tmp_path / "a.xlsx", TextFormat(decimal=",", thousands="."))
    np.testing.assert_array_equal(read.rows.X["n"], [1234.5, 2.5, 3.0, np.nan] * 10)


def svm(path, rows, first):
    path.write_text(
        "\n".join(" ".join([str(y), *(f"{at + first}:{x}" for at, x in cells)]) for y, cells in rows)
    )


@pytest.mark.parametrize("first", [0, 1])
def test_the_first_index_of_a_libsvm_file_is_that_of_the_model(tmp_path, first):
    rng = np.random.default_rng(0)
    rows = [(at % 2, [(c, f"{rng.normal() + c * (at % 2):.3f}") for c in range(4)]) for at in range(60)]
    svm(tmp_path / "train.svm", rows, first)
    assert (
        f"4 sparse features, numbered from {first}"
        in call("fit", tmp_path / "train.svm", "-o", tmp_path / "m.skops").stdout
    )
    # The first feature of these rows is nowhere stored.
    svm(tmp_path / "new.svm", without := [(y, cells[1:]) for y, cells in rows], first)
    svm(tmp_path / "stored.svm", [(y, [(0, 0), *cells]) for y, cells in without], first)
    for name in ("new", "stored"):
        call("score", tmp_path / "m.skops", tmp_path / f"{name}.svm", "-o", tmp_path / f"{name}.csv")
    assert (tmp_path / "new.csv").read_bytes() == (tmp_path / "stored.csv").read_bytes()
    tested = rows_of(tmp_path / "train.svm", label=None)
    both = read_features(
        FeatureSource(tmp_path / "train.svm"), TextFormat(), test=tmp_path / "new.svm"
    ).rows.X
    assert both.shape == (120, 4)
    assert both[60:, [0]].nnz == 0
    np.testing.assert_array_equal(both[:60].toarray(), tested.rows.X.toarray())
    svm(tmp_path / "more.svm", [(1, [(4, 1.0)])], first)
    more = call("score", tmp_path / "m.skops", tmp_path / "more.svm", "-o", tmp_path / "r.csv", code=2).stderr
    assert f"holds the index {4 + first}, and the last known is {3 + first}" in more
    if first:
        svm(tmp_path / "zero.svm", rows, 0)
        told = call("evaluate", tmp_path / "m.skops", tmp_path / "zero.svm", code=2).stderr
        assert "holds the index 0, where indices were to begin at 1: --index-base 0" in told
    else:
        call("fit", tmp_path / "new.svm", "--index-base", "0", "-o", tmp_path / "n.skops")
        assert SavedModel.load(tmp_path / "n.skops").n_features == 4


def test_queries_of_a_libsvm_file_are_a_column_for_groups(tmp_path, capsys):
    path = tmp_path / "a.svm"
    path.write_text("\n".join(f"{row % 2} qid:{row // 4} 1:{row}" for row in range(40)))
    read = read_features(FeatureSource(path), TextFormat(), group="qid")
    np.testing.assert_array_equal(read.rows.groups, np.arange(40) // 4)
    assert "rows of all queries (qid:) of" in capsys.readouterr().err
    call("fit", path, "-o", tmp_path / "m.skops")
    call("score", tmp_path / "m.skops", path, "--columns", "qid", "-o", tmp_path / "r.csv")
    assert set(pd.read_csv(tmp_path / "r.csv")["qid"]) == set(range(10))
    path.write_text(path.read_text().replace("qid:3 ", ""))
    assert "has qid: in 36 of its 40 rows; give it in all" in refused(path, label=None)
    path.write_text("1 1:1\n0 1:2\n")
    with pytest.raises(InputError, match="--group 'qid' is for named columns"):
        read_features(FeatureSource(path), TextFormat(), group="qid")


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("2:nan", "holds a number that is not finite in row 3; leave it out"),
        ("2:-inf", "holds a number that is not finite in row 3; leave it out"),
        ("4294967297:1", "cannot be read as svm: value too large to convert to int"),
        ("1000000000:1", "holds the index 1000000000, which would take a weight for each index up to it"),
    ],
)
def test_what_no_model_can_learn_from_a_libsvm_file_is_told(tmp_path, cell, said):
    rows = [f"{row % 2} 1:{row}" for row in range(20)]
    rows[2] += f" {cell}"
    (tmp_path / "a.svm").write_text("\n".join(rows))
    assert said in refused(tmp_path / "a.svm", label=None)


def test_a_model_of_libsvm_rows_given_a_table_says_what_it_needs(tmp_path, frame):
    svm(tmp_path / "a.svm", [(row % 2, [(0, row)]) for row in range(20)], 1)
    call("fit", tmp_path / "a.svm", "-o", tmp_path / "m.skops")
    frame.to_csv(tmp_path / "a.csv")
    told = call("score", tmp_path / "m.skops", tmp_path / "a.csv", code=2).stderr
    assert "a.csv: the model was fitted on a libsvm file; give it rows of that kind" in told
