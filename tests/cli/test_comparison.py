"""What ``pushrank compare`` asks of the rows, how it counts ties, and what its JSON holds."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.cli.runner import call


def rare(folder, n_rare):
    """The arguments that compare models on 80 rows, some of them rare."""
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 2)), columns=["a", "b"])
    table.assign(y=(np.arange(80) < n_rare).astype(int)).to_csv(folder / "rare.csv", index=False)
    return ["compare", folder / "rare.csv", "--label", "y", "--p", 4]


def test_too_few_rows_are_told_with_advice_that_works(tmp_path):
    for n_rare, options, said in (
        (
            8,
            ["--nested"],
            "5 folds with a nested choice, which splits them three times over, need at least 9 rows",
        ),
        (8, ["--nested"], "a class has 8 rows;"),
        (8, ["--nested"], "choose at most 4 folds, or leave out the nested choice."),
        (7, ["--nested", "--folds", 2], "need at least 8 rows in each class: leave out the nested choice."),
        (4, ["--nested"], "leave out the nested choice and choose at most 4 folds."),
        (4, [], "5 folds need at least 5 rows in each class: choose at most 4 folds."),
        (1, ["--folds", 3], "a class has 1 row; 2 folds need at least 2 rows in each class"),
        (1, ["--nested"], "need at least 8 rows in each class, and there are no fewer folds: add rows."),
    ):
        result = call(*rare(tmp_path, n_rare), *options, code=2)
        *notes, error = result.stderr.strip().splitlines()
        assert said in error
        assert all("of one of the two classes" in note for note in notes)


@pytest.mark.parametrize(("n_rare", "folds"), [(8, 2), pytest.param(8, 4, marks=pytest.mark.nightly)])
def test_a_nested_comparison_runs_on_as_few_rows_as_it_says(tmp_path, n_rare, folds):
    summary = json.loads(call(*rare(tmp_path, n_rare), "--nested", "--folds", folds, "--json").stdout)
    assert "P-Norm Push, p and alpha chosen" in summary["models"]


def test_tied_rows_count_by_the_expectation(tmp_path):
    """Equal scores put as many hits among the first rows as there are among all."""
    names = [f"row {row}" for row in range(60)]  # of rows that no training part holds
    table = pd.DataFrame({"plan": names, "y": [1, 0, 0] * 20})
    table.to_csv(tmp_path / "equal.csv", index=False)
    arguments = ["compare", tmp_path / "equal.csv", "--label", "y", "--p", 4, "--folds", 2]
    for more, criterion, expected in (
        ([], "precision at 1/4", 1 / 3),
        (["--budget", 9], "hits in budget", 3),
    ):
        summary = json.loads(call(*arguments, *more, "--json").stdout)
        assert len(summary["equally_good"]) == len(summary["models"]) - 1
        for model, measures in summary["models"].items():
            assert measures[criterion]["mean"] == pytest.approx(expected), model


def test_json_holds_the_differences_with_intervals(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 2)), columns=["a", "b"])
    frame.assign(y=(frame["a"] > 0.3).astype(int)).to_csv(tmp_path / "a.csv", index=False)
    arguments = ["compare", tmp_path / "a.csv", "--label", "y", "--p", 4, "--folds", 3, "--nested"]
    summary = json.loads(call(*arguments, "--json").stdout)
    best, criterion, models = summary["best"], summary["criterion"], summary["models"]
    assert set(summary["differences"]) == set(models) - {best, "best of the above, chosen inside"}
    for model, difference in summary["differences"].items():
        gain = models[best][criterion]["mean"] - models[model][criterion]["mean"]
        assert difference["mean"] == pytest.approx(gain)
        reach = stats.t.ppf(0.975, 2) * difference["standard_error"]
        assert difference["low"] == pytest.approx(gain - reach)
        assert difference["high"] == pytest.approx(gain + reach)
