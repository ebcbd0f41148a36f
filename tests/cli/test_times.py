"""Files whose rows have times: when they are judged by time, what is said of it, and dates as numbers."""

import os
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from pushrank.cli.model import SavedModel
from pushrank.cli.read import read_table
from pushrank.cli.table import Kind
from tests.cli.runner import TWO, call

DATA = os.environ.get("PUSHRANK_DATA")


def said(path, *options, code=0):
    """What compare says of times, and the description of the split."""
    shown = call("compare", path, "--label", "fraud", *TWO, "--exclude", "customer", *options, code=code)
    warned = [line for line in shown.stderr.splitlines() if "later rows" in line]
    assert len(warned) <= 1
    return "".join(warned), " ".join(shown.stdout.split())


def test_rows_in_the_order_of_their_only_dates_are_judged_by_time(visits, tmp_path):
    ordered = pd.read_csv(visits).sort_values("day").assign(machine=np.arange(60) // 7)
    for n_path, table in enumerate((ordered, ordered[::-1], ordered.set_index("day"))):
        path = tmp_path / f"ordered{n_path}.parquet"
        table.to_parquet(path, index=table.index.name is not None)
        warned, shown = said(path, "--folds", 2)
        assert "rows follow the times in column 'day'" in warned
        assert "--random" in warned
        assert "2 test parts, each after its training part by day" in shown
        assert "Judged by time, on 2 parts that each come after the rows learnt from." in shown
        assert "--time day" in shown
    by_time = "each after its training part by day"
    for options, says, is_by_time in (
        (["--time", "day"], "", True),
        (["--time", "day", "--nested"], "", True),
        (["--time", "day", "--group", "machine"], "", True),
        (["--random"], "", False),
        (["--random", "--repeats", 2], "", False),
        (["--exclude", "day"], "rows follow the times in", True),
        (["--group", "machine"], "To test on what comes later: --time day; to keep to random parts", False),
        (["--repeats", 2], "--time day, without --repeats; to keep to random parts: --random", False),
    ):
        warned, shown = said(path, "--folds", 2, *options)
        assert says in warned, options
        assert bool(says) == bool(warned), options
        assert (by_time in shown) == is_by_time, options


def test_dates_in_another_order_or_several_are_warned_of_once(visits, tmp_path):
    warned, shown = said(visits)
    assert "To test on what comes later: --time day; to keep to random parts: --random." in warned
    assert "5-fold cross-validation" in shown
    assert "Judged by 5 random folds." in shown
    ordered = pd.read_csv(visits).sort_values("day")
    ordered.assign(**{"paid on": ordered["day"]}).to_csv(tmp_path / "two.csv", index=False)
    assert "--time day or --time 'paid on'; to keep to" in said(tmp_path / "two.csv")[0]
    # A part without both classes could not be measured.
    ordered.sort_values(["fraud", "day"]).to_csv(tmp_path / "blocks.csv", index=False)
    assert "To test on what comes later: --time day" in said(tmp_path / "blocks.csv")[0]
    ordered.assign(fraud=np.sort(ordered["fraud"])).to_csv(tmp_path / "late.csv", index=False)
    assert "To test on what comes later: --time day" in said(tmp_path / "late.csv")[0]


def test_dates_and_times_of_the_best_model_reach_fit(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=300), "day": pd.date_range("2024-01-01", periods=300)})
    table["fraud"] = (table["a"] + rng.normal(size=300) > 0.0).astype(int)
    data, model = tmp_path / "table.parquet", tmp_path / "m.skops"
    table.sample(frac=1.0, random_state=0).to_parquet(data, index=False)
    shown = call("compare", data, "--label", "fraud", "--model", "pnorm-push-cv", "--folds", 2, "--time",
                 "day", "--date", "day").stdout  # fmt: skip
    command = shlex.split(shown.split("To fit the best on all rows: pushrank ")[1])
    assert command[command.index("--date") + 1] == command[command.index("--time") + 1] == "day"
    call(*command[: command.index("-o")], "-o", model)
    saved = SavedModel.load(model)
    assert saved.numeric == ["a", "day (weekday)", "day (days since 1970)"]
    days = pd.read_parquet(data)["day"]
    fit = {"X": saved.features(saved.read(data)), "y": pd.read_parquet(data)["fraud"] == 1}
    by_time = clone(saved.pipeline).fit(**fit, rank__time=days)[-1].cv_results_["mean_test_score"]
    np.testing.assert_array_equal(saved.pipeline[-1].cv_results_["mean_test_score"], by_time)
    at_random = clone(saved.pipeline).fit(**fit)[-1].cv_results_["mean_test_score"]
    assert not np.array_equal(by_time, at_random)


@pytest.mark.skipif(DATA is None, reason="PUSHRANK_DATA is not set")
def test_of_real_files_only_those_with_times_are_taken_for_such():
    """Rows in blocks of one label, in the order of some measurement or of an identifier have no times."""
    dated = {}
    for path in sorted(Path(DATA).glob("**/*.parquet")):
        table = read_table(path)
        table = table.where(np.arange(len(table)) < 2000)
        dated[path.stem] = [name for name in table.frame if table.column(name).kind is Kind.DATE]
    assert {name: dates for name, dates in dated.items() if dates} == {
        "bank_marketing": ["contacted"],
        "flights": ["scheduled"],
    }
    assert len(dated) > 20
