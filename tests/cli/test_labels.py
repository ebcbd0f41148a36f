"""Which of two labels is positive where the user does not say: told where it is not plain."""

import numpy as np
import pandas as pd
import pytest

from pushrank.cli.errors import InputError
from pushrank.cli.source.labels import is_acted_on, label_rows, positive_so_far
from pushrank.cli.source.numerals import TEXT
from pushrank.cli.source.table import Table


def table(tmp_path, few, many, n_few=3):
    frame = pd.DataFrame({"y": [few] * n_few + [many] * 7})
    if not isinstance(few, str):
        return Table(tmp_path / "a.parquet", frame.convert_dtypes(dtype_backend="pyarrow"))
    return Table(tmp_path / "a.csv", frame.astype(TEXT), is_text=True)


@pytest.mark.parametrize(
    ("positive", "negative"),
    [("yes", "no"), ("YES", "no"), ("Yes", "No"), ("true", "false"), ("TRUE", "FALSE"),
     ("Y", "N"), ("1", "0"), (1, 0), (1, -1), (2.0, 1.0), (True, False)],
)  # fmt: skip
def test_yes_and_the_larger_number_are_positive(tmp_path, capsys, positive, negative):
    for labels in ((positive, negative), (negative, positive)):
        rows = table(tmp_path, *labels)
        labelled = label_rows(rows, rows.labels("y"), None)
        np.testing.assert_array_equal(labelled.y, rows.frame["y"] == positive)
        assert labelled.positive == str(positive).removesuffix(".0")
    assert capsys.readouterr().err == ""


def test_what_is_no_number_is_a_label_of_its_own(tmp_path):
    for odd in ("7e5000", "3e99999999", "1_0", "１", "inf", "0x10", "1e-5000"):
        rows = table(tmp_path, odd, "10")
        with pytest.raises(InputError, match=r"holds 2 labels, 10 .*: --positive says which is to be ranked"):
            label_rows(rows, rows.labels("y"), None)
        assert label_rows(rows, rows.labels("y"), odd).y.sum() == 3


def test_labels_are_the_numbers_that_they_are_written_for(tmp_path):
    for odd, number in (("−1", "-1"), ("+1", "1"), (" 1. ", "1"), ("1e0", "1"), ("01.0", "1")):
        rows = table(tmp_path, odd, "0")
        assert label_rows(rows, rows.labels("y"), number).y.sum() == 3


def test_of_two_texts_none_is_guessed(tmp_path):
    rows = table(tmp_path, "fraud", "legit")
    said = r"holds 2 labels, fraud \(3 rows\), legit \(7 rows\): .* the rarest, fraud, is a proposal\."
    with pytest.raises(InputError, match=said) as caught:
        label_rows(rows, rows.labels("y"), None)
    assert caught.value.add == ("--positive", "fraud")
    assert label_rows(rows, rows.labels("y"), "fraud").y.sum() == 3


def test_other_spellings_and_other_labels_are_counted_out_loud(tmp_path, capsys):
    texts = ["Fraud"] * 5 + ["FRAUD "] * 2 + ["legit"] * 6 + ["open"] * 4
    rows = Table(tmp_path / "a.csv", pd.DataFrame({"y": texts}).astype(TEXT), is_text=True)
    labelled = label_rows(rows, rows.labels("y"), "fraud")
    assert (labelled.y.sum(), labelled.positive) == (7, "Fraud")
    told = capsys.readouterr().err
    assert "'Fraud' (5 rows), 'FRAUD ' (2 rows) count as one label" in told
    assert "all but 'Fraud' count as negative: 'legit' (6 rows), 'open' (4 rows)." in told


def text_table(tmp_path, **columns):
    return Table(tmp_path / "a.csv", pd.DataFrame(columns).astype(TEXT), is_text=True)


def test_a_missing_label_is_unknown_or_refused(tmp_path, capsys):
    rows = text_table(tmp_path, y=["1"] * 3 + ["0"] * 5 + ["?"] * 2 + [None, " ", "NA"])
    with pytest.raises(
        InputError, match=r"no label in 5 of 13 rows \(2 empty, 2 '\?', 1 'NA'\), first in row 9.* --audit"
    ):
        label_rows(rows, rows.labels("y"), "1")
    labelled = label_rows(rows, rows.labels("y"), "1", may_lack="they stay")
    assert (len(labelled.table), labelled.y.sum(), labelled.known.sum()) == (13, 3, 8)
    assert "5 of 13 rows (2 empty, 2 '?', 1 'NA') have no label in column 'y'" in capsys.readouterr().err
    assert label_rows(rows, rows.labels("y"), "?", may_lack="they stay").y.sum() == 2


def test_labels_so_far_may_be_of_one_class(tmp_path):
    for cells, n in ((["0", "0", None], 0), (["1", None, None], 1), ([None, None, None], 0)):
        rows = text_table(tmp_path, y=cells, x=["a", "b", "c"])
        assert label_rows(rows, rows.labels("y"), "1", may_lack="they stay").y.sum() == n
        if n:
            # The other label that is still to come may be 0, or 2.
            with pytest.raises(InputError, match="holds one label so far; name the positive one"):
                label_rows(rows, rows.labels("y"), None, may_lack="they stay")
        else:
            assert label_rows(rows, rows.labels("y"), None, may_lack="they stay").y.sum() == 0


def test_a_dash_beside_two_labels_is_none(tmp_path, capsys):
    rows = text_table(tmp_path, y=["1", "0", "-", "–", "0"])
    assert label_rows(rows, rows.labels("y"), None, may_lack="they stay").known.sum() == 3
    assert "2 of 5 rows (1 '-', 1 '–') have no label in column 'y'" in capsys.readouterr().err
    for cells, positive in ((["+", "-", "-"], "+"), (["1", "0", "-"], "-")):
        rows = text_table(tmp_path, y=cells, x=["a", "b", "c"])
        assert label_rows(rows, rows.labels("y"), positive).y.tolist() == [cell == positive for cell in cells]


def test_minus_one_is_a_class_out_loud(tmp_path, capsys):
    rows = text_table(tmp_path, y=["1", "0", "0", "-1", "-1"])
    assert label_rows(rows, rows.labels("y"), "1").known is None
    assert "'-1' (2 rows), '0' (2 rows); -1 is a class: leave cells empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("cells", "hit"),
    [
        (["2", "1", "1"], "2"),
        (["no", "no", None], "yes"),
        (["Y", None, None], "y"),
        (["False", "False", "False"], "true"),
        (["0", "1.0", None], "1"),
        ([None, None, None], "1"),
        (["2", None, None], "holds one label so far; name the positive one: --positive"),
        (["ja", "nein", "nein"], "--positive says which is to be ranked at the top; the rarest, ja, is"),
        (["0", "1", "2"], "holds 3 labels"),
    ],
)
def test_the_label_of_hits_is_that_of_a_fit(tmp_path, cells, hit):
    column = text_table(tmp_path, y=cells, x=["a", "b", "c"]).labels("y")
    if " " in hit:
        with pytest.raises(InputError, match=hit):
            positive_so_far(column, None)
        return
    assert positive_so_far(column, None) == hit
    assert positive_so_far(column, "nein") == "nein"


def test_what_was_acted_on(tmp_path):
    for cells, acted in (
        (["list", "audit", None, "list"], [1, 1, 0, 1]),
        (["yes", "No", "1", "0.0"], [1, 0, 1, 0]),
        (["X", "off", "-", "none"], [1, 0, 0, 0]),
        (["2", "0.00", "0,0", "-0"], [1, 0, 0, 0]),
        (["1,0", "0e0", " 00 ", "-1"], [1, 0, 0, 0]),
    ):
        np.testing.assert_array_equal(is_acted_on(text_table(tmp_path, acted=cells), "acted"), acted)
    with pytest.warns(UserWarning, match=r"acted holds 'model b' \(1 of 4 rows\), which count as looked at"):
        assert is_acted_on(text_table(tmp_path, acted=["Model B", "", "n/a", "no"]), "acted")[0]
    for odd in (["not yet", "not yet", "not yet", "list"], ["0.03", "0.03", "0.03", "1"]):
        with pytest.raises(
            InputError, match=r"--acted holds '.*' \(3 of 4 rows\), which does not say whether"
        ):
            is_acted_on(text_table(tmp_path, acted=odd), "acted")
