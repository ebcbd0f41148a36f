"""Scores of other models, from a file: each measured, and each compared with the first."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from pushrank import metrics
from tests.cli.runner import call


@pytest.fixture
def scored(tmp_path):
    rng = np.random.default_rng(3)
    y = rng.random(300) < 0.2
    frame = pd.DataFrame({"good": y + rng.normal(size=300), "tied": np.round(y + 2 * rng.normal(size=300))})
    frame["double"] = 2 * frame["good"]
    frame["cost"], frame["found"] = -frame["good"], np.where(y, "yes", "no")
    frame.to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path / "scores.csv", y, frame


def evaluated(path, *names, more=()):
    columns = [word for name in names for word in ("--scores", name)]
    return call("evaluate", path, "--label", "found", "--budget", 30, *columns, *more)


def test_columns_of_scores_are_measured_and_compared_with_the_first(scored):
    path, y, frame = scored
    found = json.loads(evaluated(path, "good", "tied", "double", more=["--json"]).stdout)
    assert (found["rows"], found["positives"], found["budget"]) == (300, y.sum(), 30)
    for name in ("good", "tied", "double"):
        precision = metrics.precision_at_k(y, frame[name], k=30)
        assert found["scores"][name]["hits"] == pytest.approx(30 * precision, abs=1e-9)
        interval = metrics.confidence_interval(y, frame[name], "auc", random_state=0)
        ends = found["scores"][name]["intervals"]["auc"]
        assert ends == pytest.approx({"low": interval.low, "high": interval.high})
    # of two comparisons together at 95 %: each at 97.5 %
    at = {"k": 30, "confidence_level": 0.975, "random_state": 0}
    expected = metrics.compare(y, frame["tied"], frame["good"], "precision_at_k", **at)
    tied = found["differences"]["tied"]
    assert (tied["against"], tied["criterion"], tied["confidence"]) == ("good", "hits", 0.95)
    assert [tied[name] for name in ("difference", "low", "high")] == pytest.approx(
        [30 * expected.difference, 30 * expected.low, 30 * expected.high]
    )
    assert tied["p_value"] == pytest.approx(min(1.0, 2 * expected.p_value))
    assert tied["more_than_chance"] == (expected.low > 0 or expected.high < 0)
    assert [found["differences"]["double"][name] for name in ("difference", "low", "high")] == [0, 0, 0]


def test_what_is_printed_of_own_scores_fits_eighty_columns(scored, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    path, _, frame = scored
    longest = "score_of_gradient_boosting"
    frame.rename(columns={"tied": longest}).to_csv(path, index=False)
    shown = evaluated(path, "good", longest, "double").stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.count(longest) > 10  # never cut short
    said = " ".join(shown.split())
    assert f"{longest} against good: -" in said
    assert "(of all 2 differences together)" in said
    assert "double against good: as many hits in the first 30 rows." in said
    alone = evaluated(path, "good", more=["--no-intervals"]).stdout
    assert "against" not in alone
    assert "interval" not in alone.lower()


def test_scores_that_are_the_better_the_lower_are_told(scored):
    warned = evaluated(scored[0], "good", "cost", more=["--no-intervals"]).stderr
    assert "column 'cost'" in warned
    assert "worse than a random order" in warned
    assert "'good'" not in warned


def test_columns_that_are_no_scores_are_refused(scored):
    path, _, frame = scored
    holes = frame.assign(tied=frame["tied"].where(frame.index != 6))
    holes.to_csv(path.with_name("holes.csv"), index=False)
    (path.with_name("data.libsvm")).write_text("1 1:0.5\n0 1:0.2\n")
    for message, arguments in {
        "--scores 'best' is no column of": [path, "--scores", "best"],
        "must hold a number in every row; row 7 of": [path.with_name("holes.csv"), "--scores", "tied"],
        "must hold a number in every row; row 1 of": [path, "--scores", "found"],
        "--scores 'good' is for named columns": [path.with_name("data.libsvm"), "--scores", "good"],
        "--scores 'good' is given twice": [path, "--scores", "good", "--scores", "good"],
        "--scores takes the place of the model; give the rows alone": [path, path, "--scores", "good"],
        "give a model and labelled rows, or labelled rows with --scores COLUMN": [path],
        "--budget 301 exceeds the 300 rows": [path, "--scores", "good", "--budget", 301],
    }.items():
        refused = call("evaluate", *arguments, "--label", "found", code=2).stderr
        assert message in refused, refused
