"""Nothing that is not pushrank's own is overwritten, unless it is insisted on."""

import zipfile
from codecs import BOM_UTF8
from dataclasses import replace
from decimal import Decimal
from io import BytesIO

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pushrank.cli.errors import InputError
from pushrank.cli.score import row_names
from pushrank.cli.source.format import TextFormat
from pushrank.cli.source.open import Source
from pushrank.cli.source.table import Kind
from pushrank.cli.write import REPORTS_WRITTEN, TABLES_WRITTEN, check_output, write_table
from tests.cli.runner import call, fitted


@pytest.fixture
def data(tmp_path, told_by_x):
    told_by_x.to_csv(tmp_path / "data.csv", index=False)
    told_by_x.to_parquet(tmp_path / "data.parquet")
    return tmp_path / "data.csv"


def test_an_input_is_never_replaced(data):
    model, table = fitted(data, "--label", "y"), data.with_suffix(".parquet")
    before = {path: path.read_bytes() for path in data.parent.iterdir()}
    for message, arguments in {
        "written as .skops; choose": ["fit", data, "--label", "y", "-o", data, "--force"],
        "data.csv is an input, which the result would replace": ["score", model, data, "-o", data],
        "data.parquet is an input": ["compare", table, "--label", "y", "-o", table],
        "written as .csv, .tsv, .parquet or .xlsx": ["score", model, data, "-o", model],
        "data.parquet exists and was not written by pushrank": ["score", model, data, "-o", table],
    }.items():
        assert message in call(*arguments, code=2).stderr
        assert {path: path.read_bytes() for path in data.parent.iterdir()} == before
    assert "is an input" in call("score", model, data, "-o", data, "--force", code=2).stderr
    assert {path: path.read_bytes() for path in data.parent.iterdir()} == before


@pytest.mark.parametrize("name", ["r.csv", "r.tsv", "r.parquet", "r.csv.gz", "m.skops"])
def test_only_what_pushrank_wrote_is_replaced(data, told_by_x, name):
    model, output = fitted(data, "--label", "y"), data.with_name(name)
    score = ["score", model, data, "-o", output]
    arguments = ["fit", data, "--label", "y", "-o", output] if name == "m.skops" else score
    foreign = told_by_x.assign(score=1.0, rank=7)
    output.write_bytes(foreign.to_parquet() if name == "r.parquet" else foreign.to_csv(index=False).encode())
    assert "exists and was not written by pushrank" in call(*arguments, code=2).stderr
    call(*arguments, "--force")
    call(*arguments)


def test_excel_files_hold_numbers_and_texts_that_are_no_formulas(data, told_by_x, monkeypatch):
    pytest.importorskip("openpyxl")
    output = data.with_name("r.xlsx")
    write_table(told_by_x.assign(note="=1+1"), output)
    found = pd.read_excel(output)
    pd.testing.assert_frame_equal(found[["x", "y"]], told_by_x)
    assert (found["note"] == "=1+1").all()
    check_output(output, TABLES_WRITTEN, [], force=False)  # known again
    with pytest.raises(InputError, match="Excel cannot hold these rows"):
        write_table(told_by_x.assign(note="\x00"), output)
    told_by_x.to_excel(output, index=False)
    with pytest.raises(InputError, match="not written by pushrank"):
        check_output(output, TABLES_WRITTEN, [], force=False)
    monkeypatch.setattr("pushrank.cli.write.find_spec", lambda _: None)
    with pytest.raises(InputError, match="pip install openpyxl"):
        check_output(output, TABLES_WRITTEN, [], force=True)


def test_results_of_compare_are_known_again(tmp_path):
    parts, page = tmp_path / "parts.csv", tmp_path / "page.html"
    parts.write_text("model,measure,part,value\nIR Push,AUC,0,0.9\n")
    page.write_text('<meta name="generator" content="pushrank">')
    for path, kinds in ((parts, TABLES_WRITTEN), (page, REPORTS_WRITTEN)):
        check_output(path, kinds, [], force=False)
        path.write_text("model,measure\n1,2\n")
        with pytest.raises(InputError, match="not written by pushrank"):
            check_output(path, kinds, [], force=False)


LONG = [[0] * 600 + [row] + [0] * 600 for row in range(3)]


def three_rows(path, told_by_x, **columns):
    """Write three rows with more columns to a Parquet file, and return its path."""
    pq.write_table(pa.table({"x": told_by_x["x"].head(3).tolist(), **columns}), path)
    return path


@pytest.mark.parametrize(
    "cells",
    [LONG, [b"\xff\xfe", b"\x00\xff", b"\xff"], [{"a": 1}, {"a": 2}, {"a": 3}], [[[1]], [[2]], [[3]]]],
)
@pytest.mark.parametrize("name", ["r.csv", "r.xlsx"])
def test_lists_and_bytes_are_written_whole(data, told_by_x, cells, name):
    rows = three_rows(data.with_name("new.parquet"), told_by_x, odd=cells)
    said = call("score", fitted(data, "--label", "y"), rows, "-o", data.with_name(name))
    assert "lists, bytes and the like are written as Python shows them, in the columns odd" in said.stderr
    read = pd.read_csv if name == "r.csv" else pd.read_excel
    assert sorted(read(data.with_name(name))["odd"]) == sorted(map(str, cells))


def test_rows_and_groups_are_told_apart_by_all_of_a_list(data, told_by_x):
    path = three_rows(data.with_name("new.parquet"), told_by_x, odd=LONG)
    table = Source(path).table()
    assert table.column("odd", Kind.TEXT).values.nunique() == 3
    names = row_names(None, table), row_names(None, replace(table, frame=table.frame.assign(odd=LONG[::-1])))
    assert names[0][0] != names[1][0]


def test_excel_files_keep_every_digit_and_every_letter(tmp_path):
    whole, near = 12345678901234567, 10**16
    frame = pd.DataFrame({
        "id": pd.array([whole, whole + 1, None], "int64[pyarrow]"),
        "amount": pd.array([Decimal("12345678901234567.89")] * 3, pd.ArrowDtype(pa.decimal128(30, 2))),
        "short": pd.array([1, 2, near], "int64[pyarrow]"),
        "price": pd.array([Decimal("1.50")] * 3, pd.ArrowDtype(pa.decimal128(30, 2))),
    })  # fmt: skip
    write_table(frame, tmp_path / "r.xlsx")
    found = pd.read_excel(tmp_path / "r.xlsx", dtype=object)
    assert found["id"].tolist()[:2] == [str(whole), str(whole + 1)]
    assert found["amount"][0] == "12345678901234567.89"
    assert (found["short"].tolist(), found["price"][0]) == ([1, 2, near], 1.5)
    with pytest.raises(
        InputError, match="Excel cannot hold the 40,000 characters of a text in column 'note'"
    ):
        write_table(frame.assign(note="x" * 40_000), tmp_path / "r.xlsx")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "iso-8859-2"])
def test_a_text_file_keeps_its_encoding_on_standard_output_too(data, told_by_x, encoding):
    model, path, word = fitted(data, "--label", "y"), data.with_name("new.csv"), "ä"
    told_by_x.assign(word=word).to_csv(path, index=False, encoding=encoding)
    read = ["--read", f"encoding={encoding}"] * (encoding in ("cp1252", "iso-8859-2"))
    call("score", model, path, "-o", data.with_name("r.csv"), *read)
    piped = call("score", model, path, "-o", "-", *read).stdout_bytes
    assert piped == data.with_name("r.csv").read_bytes()
    assert piped.startswith(BOM_UTF8) == (encoding == "utf-8-sig")
    assert pd.read_csv(BytesIO(piped), encoding=encoding).columns[0] == "rank"


def test_a_sign_that_an_encoding_lacks_is_two_and_other_letters_are_refused(tmp_path):
    reasons, polish = pd.DataFrame({"reason": ["a: +5 ± 0.1", "ł"]}), TextFormat(encoding="iso-8859-2")
    write_table(reasons, tmp_path / "r.csv", polish)
    assert (tmp_path / "r.csv").read_text("iso-8859-2") == "reason\na: +5 +- 0.1\nł\n"
    before = (tmp_path / "r.csv").read_bytes()
    with pytest.raises(InputError, match=r"r.csv cannot be written: .* has no '日'; write .parquet"):
        write_table(pd.DataFrame({"reason": ["日"]}), tmp_path / "r.csv", polish)
    assert (tmp_path / "r.csv").read_bytes() == before


@pytest.mark.parametrize("text", ["=1", "\t=1+1", " =1+1", "\r=1", "@SUM(1)", "＝1", "-x", "+cmd"])
def test_formulas_are_warned_of_in_cells_and_names(tmp_path, capsys, text):
    for frame in (pd.DataFrame({"note": [text]}), pd.DataFrame({text: [1]})):
        write_table(frame, tmp_path / "r.csv")
        assert "holds 1 text such as" in capsys.readouterr().err
    write_table(pd.DataFrame({"note": ["-5", " +1.5e3", "a=1", "-"]}), tmp_path / "r.csv")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("at", "method", "message"),
    [
        ((6, 8, 1), 8, "is encrypted, password required"),
        ((8, 10, 9), 8, "compression method is not supported"),
    ],
)
def test_archives_that_cannot_be_unpacked_are_refused(tmp_path, at, method, message):
    path, (local, central, value) = tmp_path / "x.csv.zip", at
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.mkdir("folder")
        archive.writestr("folder/x.csv", "a,b\n1,2\n")
    assert len(Source(path).table()) == 1
    content = bytearray(path.read_bytes())
    content[content.rfind(b"PK\x03\x04") + local] = content[content.rfind(b"PK\x01\x02") + central] = value
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"x.csv.zip: .*{message}.*; unpack it by another program"):
        Source(path).table()


@pytest.mark.parametrize("key", [b"\xff\xfe\x00", b"", b"  \n", "é".encode(), b"a b"])
def test_a_damaged_key_of_audits_is_named(data, key):
    model, output = fitted(data, "--label", "y"), data.with_name("r.csv")
    audit = ["score", model, data, "--top", 5, "--audit", 2, "-o", output]
    data.with_name("model.audit.key").write_bytes(key)
    assert "model.audit.key does not hold the secret" in call(*audit, code=2).stderr
    lists = set()
    for key in (b"secret", b"secret\r\n"):
        data.with_name("model.audit.key").write_bytes(key)
        call(*audit)
        lists.add(output.read_bytes())
    assert len(lists) == 1
