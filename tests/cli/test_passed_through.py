"""What a model does not use goes through ``score`` as it is in the file."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.runner import call, fitted

CELLS = {
    "customer": ["12345678901234567890", "9007199254740993", "", "00000000000000017"],
    "postcode": ["01067", "1067", "", "99817"],
    "country": ["NA", "null", "DE", "None"],
    "amount": ["0.10", "1e3", "-.5", "7"],
    "note": ['a "quoted", one', "two\nlines", " padded ", "TRUE"],
}


@pytest.fixture
def model(tmp_path, told_by_x):
    told_by_x.to_csv(tmp_path / "train.csv", index=False)
    return fitted(tmp_path / "train.csv", "--label", "y")


def as_text(path, **how):
    return pd.read_csv(path, dtype=str, na_filter=False, **how)


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_cells_are_written_as_they_were_read(model, tmp_path, suffix):
    frame = pd.DataFrame({**CELLS, "x": ["1.50", "", "3", "NA"]})
    frame.to_csv(tmp_path / f"new{suffix}", index=False, sep="," if suffix == ".csv" else "\t")
    call("score", model, tmp_path / f"new{suffix}", "-o", tmp_path / "ranked.csv")
    ranked = as_text(tmp_path / "ranked.csv")
    assert list(ranked) == ["rank", "score", *frame]
    found, expected = ranked[list(frame)].to_numpy().tolist(), frame.to_numpy().tolist()
    assert sorted(found) == sorted(expected)
    assert found[0] == expected[2]  # 3 is the largest x
    call("score", model, tmp_path / f"new{suffix}", "-o", tmp_path / "top.csv", "--top", 2)
    pd.testing.assert_frame_equal(as_text(tmp_path / "top.csv"), ranked[:2])


def test_a_parquet_file_made_of_text_holds_the_models_numbers_as_numbers(model, tmp_path):
    pd.DataFrame({**CELLS, "x": ["1.50", "", "3", "NA"]}).to_csv(tmp_path / "new.csv", index=False)
    call("score", model, tmp_path / "new.csv", "-o", tmp_path / "ranked.parquet")
    ranked = pd.read_parquet(tmp_path / "ranked.parquet")
    np.testing.assert_array_equal(np.sort(ranked["x"]), [1.5, 3.0, np.nan, np.nan])
    assert set(ranked["postcode"].dropna()) == {"01067", "1067", "99817"}
    assert ranked["customer"].isna().sum() == 1


def test_parquet_keeps_its_types(model, tmp_path):
    new = pa.table(
        {
            "id": pa.array([2**60 + 1, None, 3], pa.int64()),
            "price": pa.array([Decimal("0.10"), None, Decimal("2.50")], pa.decimal128(9, 2)),
            "tags": pa.array([["a"], [], None], pa.list_(pa.string())),
            "seen": pa.array([0, 1, None], pa.timestamp("ns")),
            "kind": pa.array(["a", "b", "a"]).dictionary_encode(),
            "x": pa.array([1, None, 2], pa.int32()),
        }
    )
    pq.write_table(new, tmp_path / "new.parquet")
    call("score", model, tmp_path / "new.parquet", "-o", tmp_path / "ranked.parquet")
    ranked = pq.read_table(tmp_path / "ranked.parquet")
    assert ranked.schema.types[2:] == new.schema.types
    assert ranked.drop_columns(["score", "rank"]).to_pylist()[0] == new.to_pylist()[2]
    call("score", model, tmp_path / "new.parquet", "-o", tmp_path / "ranked.csv")
    assert set(as_text(tmp_path / "ranked.csv")["id"]) == {str(2**60 + 1), "", "3"}


def test_many_columns_are_written_without_a_word(model, tmp_path):
    wide = pd.DataFrame(np.ones((4, 512)), columns=[f"c{column}" for column in range(512)]).assign(x=1.0)
    wide.to_csv(tmp_path / "wide.csv", index=False)
    shown = call("score", model, tmp_path / "wide.csv", "-o", tmp_path / "ranked.csv")
    assert shown.stderr == ""


def test_rows_with_more_cells_than_names_are_refused(model, tmp_path):
    (tmp_path / "new.csv").write_text("x,z\nrow 1,1,2\nrow 2,3,4\n")
    shown = call("score", model, tmp_path / "new.csv", "-o", tmp_path / "ranked.csv", code=2)
    assert "row 2 has 3 cells, where the first has 2; give every row as many cells" in shown.stderr
