"""Which of two labels is positive where the user does not say: told where it is not plain."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pushrank.cli.read import TEXT, Table, positive_rows


def table(tmp_path, few, many, n_few=3):
    frame = pd.DataFrame({"y": [few] * n_few + [many] * 7})
    if not isinstance(few, str):
        return Table(tmp_path / "a.parquet", frame.convert_dtypes(dtype_backend="pyarrow"))
    return Table(tmp_path / "a.csv", frame.astype(TEXT))


@pytest.mark.parametrize(
    ("positive", "negative"),
    [("yes", "no"), ("YES", "no"), ("Yes", "No"), ("true", "false"), ("TRUE", "FALSE"),
     ("1", "0"), (1, 0), (1, -1), (2.0, 1.0), (True, False)],
)  # fmt: skip
@pytest.mark.parametrize("is_rare", [True, False])
def test_yes_and_the_larger_number_are_positive(tmp_path, capsys, positive, negative, is_rare):
    rows = table(tmp_path, *((positive, negative) if is_rare else (negative, positive)))
    y, value = positive_rows(rows, "y", None)
    np.testing.assert_array_equal(y, rows.frame["y"] == positive)
    assert value == str(positive).removesuffix(".0")
    assert capsys.readouterr().err == ""


def test_another_text_is_taken_with_a_warning(tmp_path, capsys):
    y, value = positive_rows(table(tmp_path, "left us", "is here"), "y", None)
    assert (y.sum(), value) == (3, "left us")
    told = capsys.readouterr().err
    assert "holds 'is here' and 'left us'; which is to be ranked at the top? 'left us' is taken" in told
    assert "which 3 of 10 rows are; if it is the other one, say --positive 'is here'." in told


def test_that_most_rows_are_it_is_told(tmp_path, capsys):
    rows = table(tmp_path, "churned", "stayed")
    assert positive_rows(rows, "y", None)[1] == "stayed"
    told = capsys.readouterr().err
    assert "which 7 of 10 rows are, most of them; if it is the other one, say --positive churned." in told
    assert positive_rows(rows, "y", "stayed")[0].sum() == 7
    assert capsys.readouterr().err == ""
