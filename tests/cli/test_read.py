"""Files of every kind that business has, and what is said of those that cannot be read."""

import gzip
import shlex
import zipfile
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
from pushrank.cli.options import FeatureSource
from pushrank.cli.read import read_table
from pushrank.cli.text_format import DEFAULT_FORMAT, TextFormat
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
    elif path.suffix in (".jsonl", ".json"):
        frame.to_json(path, orient="records", lines=path.suffix == ".jsonl", double_precision=15)
    elif path.suffix == "":
        path.mkdir()
        frame[:30].to_parquet(path / "part-0.parquet")
        frame[30:].to_parquet(path / "part-1.parquet")
    elif path.suffix == ".xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(path, index=False)
    else:
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


@pytest.mark.parametrize("name", ["a.txt", "a.csv.gz", "a.csv.zip", "a.jsonl", "a.json", "parts", "a.xlsx"])
def test_every_kind_of_file_holds_the_same_rows(tmp_path, frame, name):
    write(frame, tmp_path / name)
    rows = rows_of(tmp_path / name)
    assert (rows.numeric, rows.categorical, rows.positive) == (["size", "n"], ["kind"], "1")
    np.testing.assert_allclose(rows.rows.X["size"], frame["size"], rtol=1e-12)
    np.testing.assert_array_equal(rows.y, frame["y"] == 1)


def test_a_missing_package_for_excel_is_told(tmp_path, monkeypatch):
    (tmp_path / "a.xlsx").write_bytes(b"")
    monkeypatch.setattr("pushrank.cli.read.find_spec", lambda _: None)
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
    (tmp_path / "a.json").write_text("{]")
    assert "cannot be read as json" in refused(tmp_path / "a.json")


def test_all_unusable_columns_are_named_at_once_with_what_to_type(tmp_path, frame, capsys):
    amounts = np.round(np.random.default_rng(0).gamma(1.0, 2000.0, N_ROWS), 2)
    german = str.maketrans(",.", ".,")
    frame["Betrag €"] = [f"€ {amount:,.2f}".translate(german) for amount in amounts]
    frame["pct"] = [f"{amount % 100:.1f}%".translate(german) for amount in amounts]
    frame["Datum"] = [f"{1 + day % 28:02}.03.2024" for day in range(N_ROWS)]
    data = tmp_path / "a.csv"
    frame.to_csv(data, index=False, sep=";", decimal=",", encoding="utf-8-sig")
    told = refused(data)
    assert f"'Betrag €' holds numbers written as '{frame['Betrag €'][0]}'; 'pct'" in told
    assert ". Read numbers with --decimal , --thousands . --units '€%'. Leave out" in told
    ready = "--exclude size --exclude 'Betrag €' --exclude pct."
    assert told.endswith(f"Leave out what cannot be used: {ready}")
    rows = rows_of(data, TextFormat(decimal=",", thousands=".", units="€%"), exclude=["Datum,kind"])
    assert rows.categorical == []
    np.testing.assert_allclose(rows.rows.X["Betrag €"], amounts)
    assert shlex.split(ready)[3] == "Betrag €"
    assert capsys.readouterr().err == ""


def test_dollars_and_percents(tmp_path, frame):
    frame["usd"] = [f"-${1000.5 + row:,.2f}" for row in range(N_ROWS)]
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert "Read numbers with --thousands , --units '$'." in refused(tmp_path / "a.csv")
    rows = rows_of(tmp_path / "a.csv", TextFormat(thousands=",", units="$"))
    assert rows.rows.X["usd"][1] == -1001.5


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
