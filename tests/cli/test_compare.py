"""pushrank compare: the table, and what to report of a nested choice."""

import json
from concurrent.futures.process import BrokenProcessPool
from unittest.mock import Mock

import pandas as pd
import pytest

from tests.cli.runner import FEW, LABEL, call

pytestmark = pytest.mark.fast


def test_compare(files):
    arguments = ["compare", files / "data.csv", *LABEL, "--budget", 200, "--folds", 3, "--seed", 1, *FEW]
    shown = call(*arguments, "-o", files / "parts.csv").output
    for text in (
        "logistic regression",
        "P-Norm Push, p = 1",
        "P-Norm Push, p = 4",
        "in 200 rows",
    ):
        assert text in shown
    assert "No clear winner, by hits in 200 rows: " in shown
    parts = pd.read_csv(files / "parts.csv")
    assert parts.groupby(["model", "measure"]).size().eq(3).all()
    summary = json.loads(call(*arguments, "--json").stdout)
    assert summary == json.loads(call(*arguments, "--json").stdout)  # same seed, same result
    for model, measures in summary["models"].items():
        assert 0 <= measures["hits in budget"]["mean"] <= 200
        values = parts[(parts["model"] == model) & (parts["measure"] == "AUC")]["value"]
        assert measures["AUC"]["mean"] == pytest.approx(values.mean())
        assert measures["AUC"]["standard_error"] > 0.0


def test_few_hits_may_make_no_difference(files):
    arguments = ["compare", files / "data.csv", *LABEL, "--folds", 2, *FEW, "--indifference", 200]
    assert "--indifference counts hits within --budget" in call(*arguments, code=2).stderr
    summary = json.loads(call(*arguments, "--budget", 200, "--json").stdout)
    assert set(summary["equal_for_your_purposes"]) == set(summary["models"])
    assert "Equal for your purposes: logistic regression" in summary["verdict"]


def test_a_nested_comparison_says_what_to_report(files):
    arguments = ["compare", files / "data.csv", *LABEL, "--folds", 2, *FEW, "--nested"]
    summary = json.loads(call(*arguments, "--json").stdout)
    assert summary["best"] != "best of the above, chosen inside"
    chosen = summary["models"]["best of the above, chosen inside"]["precision at 1/4"]
    best = summary["models"][summary["best"]]["precision at 1/4"]
    assert summary["optimism"]["mean"] == pytest.approx(best["mean"] - chosen["mean"])
    shown = call(*arguments, "--budget", 40).output
    assert "best of the above, chosen inside" in shown
    assert "the figure of choosing inside every training part" in " ".join(shown.split())


def test_a_comparison_in_processes_prints_the_same(files):
    arguments = ["compare", files / "data.csv", *LABEL, "--folds", 2, *FEW, "--json"]
    assert "number of processes" in call(*arguments, "--jobs", 0, code=2).stderr
    assert call(*arguments, "--jobs", 2).stdout == call(*arguments).stdout


def test_a_process_that_was_killed_is_one_line(files, monkeypatch):
    monkeypatch.setattr("pushrank.cli.comparison.compare_plan", Mock(side_effect=BrokenProcessPool()))
    shown = call("compare", files / "data.csv", *LABEL, *FEW, "--jobs", 2, code=2).stderr.splitlines()
    assert shown[-1].startswith("Error: a process that fits models was killed")
    assert "take fewer --jobs" in shown[-1]
