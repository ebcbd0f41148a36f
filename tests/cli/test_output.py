"""Nothing that is not pushrank's own is overwritten, unless it is insisted on."""

import pandas as pd
import pytest

from pushrank.cli.errors import InputError
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
