"""Files of every kind that business has, and what is said of those that cannot be read."""

import bz2
import contextlib
import gzip
import io
import lzma
import shlex
import unicodedata
import zipfile
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import dump_svmlight_file
from typer.testing import CliRunner

from pushrank.cli import app
from pushrank.cli.errors import InputError
from pushrank.cli.model import SavedModel
from pushrank.cli.source.format import DEFAULT_FORMAT, TextFormat
from pushrank.cli.source.open import Source
from pushrank.cli.source.table import Kind
from tests.cli.runner import call, features, fitted

N_ROWS = 40


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    y = np.arange(N_ROWS) % 2
    frame = pd.DataFrame({"size": rng.normal(size=N_ROWS), "kind": list("aabbccdd") * 5, "y": y})
    return frame.assign(n=rng.integers(0, 9, N_ROWS))


def refused(path, written=DEFAULT_FORMAT, **source):
    with pytest.raises(InputError) as caught:
        features(path, written, **source)
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
    rows = features(tmp_path / name)
    assert (rows.numeric, rows.categorical, rows.positive) == (["size", "n"], ["kind"], "1")
    np.testing.assert_allclose(rows.rows.X["size"], frame["size"], rtol=1e-12)
    np.testing.assert_array_equal(rows.y, frame["y"] == 1)


def scores_by(model, path):
    saved = SavedModel.load(model)
    return saved.scores(saved.table(Source(path)))


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
def test_the_separator_is_found_out(tmp_path, frame, separator):
    text = frame.to_csv(index=False, sep=separator)
    for start in ("", f"sep={separator}\n", "\ufeff", f"\ufeffsep={separator}\n"):
        (tmp_path / "a.csv").write_text(start + text, encoding="utf-8")
        assert list(Source(tmp_path / "a.csv").table().frame) == list(frame)


def test_rows_above_the_names_are_skipped_and_files_without_names_read(tmp_path, frame):
    data = tmp_path / "a.csv"
    data.write_text("Report of May\n\n" + frame.to_csv(index=False))
    assert "row 2 has 4 cells, where the first has 1; give every row as many" in refused(data)
    assert "--read skip=N" in refused(data)
    assert len(features(data, TextFormat(skip=2)).y) == N_ROWS
    frame.to_csv(data, index=False, header=False)
    assert len(features(data, TextFormat(header=False), label="3").y) == N_ROWS


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


def test_lists_and_structs_are_refused_with_their_type(tmp_path, frame):
    table = pa.Table.from_pandas(frame)
    table = table.append_column("tags", [[["a"]] * N_ROWS])
    table = table.append_column("place", [[{"lat": 1.0}] * N_ROWS])
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"'tags' holds list<.*'place' holds struct<lat: double>") as caught:
        features(tmp_path / "a.parquet")
    assert caught.value.add == ("--exclude", "tags", "--exclude", "place")


def test_na_is_missing_among_numbers_and_namibia_among_texts(tmp_path, frame):
    frame["size"] = frame["size"].astype(str).where(frame.index > 2, "NA")
    frame["kind"] = frame["kind"].where(frame.index > 4, "NA").where(frame.index != 7, "-")
    frame["n"] = frame["n"].astype(str).where(frame.index != 7, "-")
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert features(tmp_path / "a.csv").categorical == ["kind", "n"]
    rows = features(tmp_path / "a.csv", TextFormat(missing=("-",)))
    assert (rows.numeric, rows.categorical) == (["size", "n"], ["kind"])
    assert rows.rows.X["size"].isna().sum() == 3
    assert (rows.rows.X["kind"] == "NA").sum() == 5
    assert rows.rows.X["kind"].isna().sum() == 1


def test_a_number_that_only_one_cell_lacks_says_how_to_read_it(tmp_path, frame, capsys):
    numbers = frame["n"].astype(str)
    # Also a third of all cells, if they hold one and the same mark.
    for row, lacking in ((8, frame.index == 7), (2, frame.index % 3 == 1)):
        frame.assign(n=numbers.mask(lacking, "-")).to_csv(tmp_path / "a.csv", index=False)
        features(tmp_path / "a.csv")
        assert f"row {row} holds '-'" in (told := capsys.readouterr().err)
        assert "--read missing=-, or" in told


def test_columns_that_give_the_label_away_are_warned_of(tmp_path, frame, capsys):
    y = frame["y"] == 1
    frame = frame.assign(copy=1 - frame["y"], after=np.where(y, 9.0, np.nan) + frame["n"], paid=y * 2.0 + 0.5)
    frame["state"] = np.where(y, "closed", "open")
    frame.to_csv(tmp_path / "a.csv", index=False)
    features(tmp_path / "a.csv")
    told = capsys.readouterr().err.splitlines()
    assert [line.split("'")[1] for line in told[:-1]] == ["copy", "after", "paid", "state"]
    assert all("alone tells the two classes apart" in line for line in told[:-1])
    assert told[-1].endswith("--exclude copy --exclude after --exclude paid --exclude state")


def test_the_nearest_name_is_told(tmp_path, frame):
    data = tmp_path / "a.csv"
    frame.to_csv(data, index=False)
    model = fitted(data, "--label", "y")
    frame.rename(columns={"size": " SIZE", "y": "Y"}).to_csv(data, index=False)
    assert f"--label 'y' is no column of {data}; did you mean 'Y'? It has ' SIZE', 'kind'" in refused(data)
    assert "'knd' is no column of" in (told := refused(data, label="Y", exclude=["knd"]))
    assert "; did you mean 'kind'? It has" in told
    assert f"'zzz' is no column of {data}; it has" in refused(data, label="Y", exclude=["zzz"])
    told = call("score", model, data, "-o", tmp_path / "r.csv", code=2).stderr
    assert "lacks the column 'size' (is ' SIZE' meant?) that the model was fitted on; it has" in told


def test_a_rare_class_is_noted(tmp_path, frame, capsys):
    frame["y"] = (frame.index < 3).astype(int)
    frame.drop(columns="kind").to_csv(tmp_path / "a.csv", index=False)
    features(tmp_path / "a.csv")
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


def test_too_little_memory_and_space_are_one_line(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("x,y\n1,1\n")
    memory = "there is not enough memory; take fewer rows or columns, or another machine."
    space = OSError(28, "No space left on device"), "No space left on device."
    for error, said in ((MemoryError(), memory), space):
        monkeypatch.setattr("pushrank.cli.fit.read_features", Mock(side_effect=error))
        told = call("fit", tmp_path / "a.csv", "--label", "y", "-o", tmp_path / "m.skops", code=2).stderr
        assert told == f"Error: {said}\n"


def test_what_a_terminal_cannot_show_is_replaced(tmp_path, frame):
    frame.to_csv(tmp_path / "łódź.csv", index=False)
    command = ["measure", str(tmp_path / "łódź.csv"), "--label", "y", "--score", "n", "--no-intervals"]
    shown = CliRunner(charset="latin-1").invoke(app, command)
    assert shown.exit_code == 0, shown.exception
    assert "?ód?.csv" in shown.stdout


def test_a_file_says_by_its_first_bytes_that_it_is_utf_16(tmp_path, frame):
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "b.csv", index=False, encoding="utf-16")
    one, other = (features(tmp_path / name) for name in ("a.csv", "b.csv"))
    pd.testing.assert_frame_equal(one.rows.X, other.rows.X)
    assert other.table.text_format.encoding == "utf-16"


def test_files_of_other_kinds_name_the_command_that_makes_them_readable(tmp_path, frame):
    """A command of Python is run as it is printed, and its file holds the same rows."""
    tmp_path = tmp_path / "my dir's $x"
    tmp_path.mkdir()
    frame["size"] = frame["size"].round(3)
    frame.to_json(tmp_path / "b.jsonl", orient="records", lines=True)
    dump_svmlight_file(frame[["size", "n"]].to_numpy(), frame["y"], str(tmp_path / "c.svm"))
    for name, label, columns in (("b.jsonl", "y", list(frame)), ("c.svm", "label", ["x0", "x1", "label"])):
        told = refused(tmp_path / name)
        assert f"{name} is no file that pushrank reads" in told
        _, line = shlex.split(told.split("Make a Parquet file of it: python ")[1])
        with contextlib.redirect_stdout(io.StringIO()):
            exec(line, {})  # noqa: S102
        rows = features(tmp_path / f"{name[0]}.parquet", label=label)
        assert list(rows.table.frame) == columns
        np.testing.assert_allclose(rows.rows.X.iloc[:, 0], frame["size"])
    assert "Unpack it: unxz '" in refused(tmp_path / "c.csv.xz")
    assert refused(tmp_path / "e.pdf").endswith("Parquet (.parquet or a folder of such).")


LATER = b"\n".join([b"PAR1,PK,y", *(b"%d,%d,%d" % (row, row % 7, row % 2) for row in range(20))])


SIGNED = [
    (gzip.compress(LATER), "is compressed by gzip; unpack it, or let the name of text end in .gz."),
    (bz2.compress(LATER), "is compressed by bzip2, which is not read here; unpack it"),
    (lzma.compress(LATER), "is compressed by xz, which is not read here; unpack it"),
    (pa.compress(LATER, codec="zstd", asbytes=True), "unpack it: zstd -d."),
    (b"PK\3\4 and more", "is an Excel file or an archive; let its name end in .xlsx or .zip."),
    (b"PAR1\x15 and more", "is a Parquet file; let its name end in .parquet."),
    (b"\xd0\xcf\x11\xe0 and more", "is an old or an encrypted file of Excel; save it as .xlsx."),
]


@pytest.mark.parametrize("name", ["a.csv", "a.xlsx", "a.parquet", "-"])
def test_a_file_of_another_kind_than_its_name_says_is_named(tmp_path, monkeypatch, name):
    path = Path(name) if name == "-" else tmp_path / name
    for content, said in SIGNED:
        monkeypatch.setattr("sys.stdin", Mock(buffer=io.BytesIO(content)))
        if name[1:] not in said or name == "-":
            (tmp_path / name).write_bytes(content)
            assert said in refused(path)
    # Names that begin as signatures do are names.
    (tmp_path / "b.csv").write_bytes(LATER)
    assert list(Source(tmp_path / "b.csv").table().frame) == ["PAR1", "PK", "y"]


@pytest.mark.parametrize(
    ("kind", "forms"), [("csv", ("NFC", "NFD")), ("xlsx", ("NFD", "NFC")), ("parquet", ("NFC", "NFD"))]
)
def test_letters_are_the_same_however_programs_compose_them(tmp_path, frame, kind, forms, capsys):
    frame["kind"] = frame["kind"].replace({"a": "Köln", "b": "É"})
    frame = frame.rename(columns={"size": "größe"}).assign(y=frame["y"].map({0: "für", 1: "wider"}))
    paths = [tmp_path / f"{form}.{kind}" for form in forms]
    for form, path in zip(forms, paths, strict=True):
        kinds, y = ([unicodedata.normalize(form, text) for text in frame[name]] for name in ("kind", "y"))
        table = frame.assign(kind=kinds, y=y)
        write(table.rename(columns=lambda name, form=form: unicodedata.normalize(form, name)), path)
    option, model = unicodedata.normalize(forms[1], "für"), tmp_path / "m.skops"
    call("fit", paths[0], "--label", "y", "--positive", option, "-o", model)
    np.testing.assert_array_equal(*(scores_by(model, path) for path in paths))
    assert "unknown" not in capsys.readouterr().err
    write(frame.assign(**{unicodedata.normalize("NFD", "größe"): 1}), double := tmp_path / f"c.{kind}")
    assert "more than one column 'größe'" in refused(double)


def test_whole_numbers_of_any_length_are_kept(tmp_path, frame):
    ids = [11_234_567_890_123_456_789, 11_234_567_890_123_456_790, 2**53 + 1, -(2**53) - 1] * 10
    frame.assign(id=ids).to_csv(tmp_path / "a.csv", index=False)
    table = Source(tmp_path / "a.csv").table()
    assert len(set(table.groups("id"))) == 4
    assert [int(text) for text in table.column("id", Kind.TEXT).values] == ids


@pytest.mark.parametrize("kind", ["parquet", "xlsx"])
def test_texts_of_numbers_are_read_by_the_options_that_are_named(tmp_path, frame, kind, capsys):
    frame["size"] = [f"{size:.3f}".replace(".", ",") for size in frame["size"]]
    frame["n"] = frame["n"].astype(str)
    write(frame, data := tmp_path / f"a.{kind}")
    read = features(data, TextFormat(decimal=","))
    assert read.numeric == ["size", "n"]
    np.testing.assert_array_equal(read.rows.X["size"], frame["size"].str.replace(",", ".").astype(float))
    if kind == "xlsx":
        assert "'size' holds numbers written as" in refused(data)
        return
    assert features(data).numeric == []
    assert (
        "holds numbers as texts, each of them a category; to read them as numbers: --read decimal=point, or"
        in (capsys.readouterr().err)
    )
    assert features(data, TextFormat(decimal="."), exclude=["size"]).numeric == ["n"]


TEXTS = pa.array(["ä", "b", None, "b"] * 10)


def test_texts_of_every_type_of_arrow_are_texts(tmp_path, frame):
    types = pa.string_view(), pa.binary(), pa.large_binary(), pa.large_string()
    columns = [*map(TEXTS.cast, types), TEXTS.cast(pa.binary()).cast(pa.binary_view())]
    for column in [*columns, TEXTS.dictionary_encode()]:
        pq.write_table(pa.Table.from_pandas(frame).append_column("c", column), tmp_path / "a.parquet")
        read = Source(tmp_path / "a.parquet").table().column("c")
        assert read.kind is Kind.TEXT, column.type
        assert read.values.fillna("").tolist() == [text or "" for text in TEXTS.to_pylist()]


@pytest.mark.parametrize("key", [pa.int32(), pa.int64(), pa.string()])
def test_folders_of_a_key_have_its_column(tmp_path, frame, key):
    year = pa.array([2022, 2023, 2024, 2025] * 10).cast(key)
    rows = pa.Table.from_pandas(frame).append_column("year", year)
    pq.write_to_dataset(rows, tmp_path / "parts", partition_cols=["year"])
    pq.write_table(rows, tmp_path / "whole.parquet")
    by_size = (features(tmp_path / name).rows.X.sort_values("size") for name in ("parts", "whole.parquet"))
    one, other = (X[["n", "year"]].astype(float) for X in by_size)
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("part", "odd"), [(["n", "y"], "size"), (["size", "y", "n", "kind"], "kind")])
def test_files_of_a_folder_that_differ_in_a_column_are_told(tmp_path, frame, part, odd):
    write(frame.drop(columns="kind"), folder := tmp_path / "parts")
    frame[30:][["n", "size", "y"]].to_parquet(folder / "part-1.parquet")
    assert len(features(folder).y) == N_ROWS
    frame[30:][part].to_parquet(folder / "part-1.parquet")
    said = f"{folder}/part-0.parquet and {folder}/part-1.parquet differ in column '{odd}'; give all the same."
    assert said in refused(folder)


def test_an_archive_of_macos_is_read(tmp_path, frame):
    with zipfile.ZipFile(tmp_path / "a.csv.zip", "w") as archive:
        archive.writestr("a.csv", frame.to_csv(index=False))
        archive.writestr("__MACOSX/._a.csv", b"\0\5\x16\7")
    assert len(features(tmp_path / "a.csv.zip").y) == N_ROWS


def test_a_column_without_a_value_can_be_scored(tmp_path, frame):
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.assign(n=None, kind=None).to_parquet(tmp_path / "new.parquet")
    model = fitted(tmp_path / "a.csv", "--label", "y")
    assert np.isfinite(scores_by(model, tmp_path / "new.parquet")).all()


@pytest.mark.parametrize("cell", ["two\r\nlines", "a\rb", 'a "quoted"\r\n', "\r\n\r\n"])
@pytest.mark.parametrize("encoding", [None, "utf-16-le", "cp1252"])
def test_line_breaks_within_quotation_marks_outlast_the_blocks_of_the_reader(
    tmp_path, monkeypatch, cell, encoding
):
    monkeypatch.setattr("pushrank.cli.source.read.BLOCK_BYTES", 101)
    frame = pd.DataFrame({"k": [f"{row}{cell}" for row in range(500)], "x": range(500)})
    frame.to_csv(tmp_path / "a.csv", index=False, encoding=encoding or "utf-8", lineterminator="\r\n")
    table = Source(tmp_path / "a.csv", TextFormat(encoding=encoding)).table()
    assert table.frame["k"].tolist() == frame["k"].tolist()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", ""])
def test_a_quotation_mark_that_is_never_closed_is_told(tmp_path, end):
    for last, read in (('"2', None), ('"2\n"', "2\n"), ('"a""b', None), ("2", "2")):
        (tmp_path / "a.csv").write_bytes(f"k,x{end or chr(10)}a,{last}{end}".encode())
        if read:
            assert Source(tmp_path / "a.csv").table().frame["x"].tolist() == [read]
        else:
            with pytest.raises(InputError, match="is never closed"):
                Source(tmp_path / "a.csv").table()


def test_utf_16_without_its_first_bytes_is_told(tmp_path, frame):
    frame.to_csv(tmp_path / "a.csv", index=False, encoding="utf-16-le")
    assert "--read encoding=utf-16-le or utf-16-be" in refused(tmp_path / "a.csv")
    assert features(tmp_path / "a.csv", TextFormat(encoding="utf-16-le")).numeric == ["size", "n"]


def test_rows_without_a_group_are_told(tmp_path):
    for number, (first, blank) in enumerate([("a", ""), ("a", " "), ("a", None), (1.0, float("nan"))]):
        frame = pd.DataFrame({"g": [first, blank], "y": [0, 1]})
        frame.to_csv(text := tmp_path / f"{number}.csv")
        frame.to_parquet(typed := tmp_path / f"{number}.parquet")
        for path in (text, typed):
            with pytest.raises(InputError, match=r"--group 'g' is empty in 1 rows of .* in row 2; fill it"):
                Source(path).table().groups("g")


def test_groups_of_long_texts_take_no_more_than_their_texts(tmp_path):
    frame = pd.DataFrame({"g": ["a" * 20_000, *(f"c{row % 50}" for row in range(9_999))], "y": 1})
    frame.to_csv(tmp_path / "a.csv", index=False)
    groups = Source(tmp_path / "a.csv").table().groups("g")
    assert (groups.nbytes, len(set(groups))) == (80_000, 51)


def test_of_several_sheets_one_is_named(tmp_path, frame):
    pytest.importorskip("openpyxl")
    book = tmp_path / "a.xlsx"
    with pd.ExcelWriter(book, engine="openpyxl") as writer:
        pd.DataFrame({"Report of May": ["by finance"]}).to_excel(writer, sheet_name="Cover", index=False)
        frame.to_excel(writer, sheet_name="rows", index=False)
    assert "has the sheets 'Cover', 'rows'; say which holds the rows: --read sheet=NAME." in refused(book)
    np.testing.assert_array_equal(features(book, TextFormat(sheet="rows")).rows.X["n"], frame["n"])
    assert "has no sheet 'x'; it has 'Cover', 'rows'" in refused(book, TextFormat(sheet="x"))
    frame.to_csv(tmp_path / "a.csv")
    assert "--read sheet is for Excel files, not for" in refused(tmp_path / "a.csv", TextFormat(sheet="x"))


def test_numbers_beside_texts_of_numbers_in_a_sheet(tmp_path, frame):
    frame["n"] = ["1.234,5", 2.5, 3, None] * 10
    write(frame, tmp_path / "a.xlsx")
    with pytest.raises(InputError, match=r"'n' holds numbers written as '1\.234,5' in row 2") as caught:
        features(tmp_path / "a.xlsx")
    assert caught.value.add == ("--read", "decimal=comma", "--read", "thousands=point")
    read = features(tmp_path / "a.xlsx", TextFormat(decimal=",", thousands="."))
    np.testing.assert_array_equal(read.rows.X["n"], [1234.5, 2.5, 3.0, np.nan] * 10)
