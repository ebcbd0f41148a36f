"""Models that pushrank.save wrote, on the command line; models of pushrank fit, in Python."""

import re
import runpy

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from pushrank import PNormPush, export_numpy, load, save
from tests.cli.runner import call, fitted


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"]).round(3)
    frame["kind"] = rng.choice(["x", "y", "z"], 80)
    y = (frame["a"] + frame["kind"].eq("x") + rng.normal(size=80) > 0.5).astype(int)
    frame.loc[::7, "a"], frame.loc[::5, "kind"] = 0.0, "z"
    frame.assign(label=y).to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


@pytest.mark.parametrize("kind", ["pipeline", "columns"])
def test_a_model_saved_in_python_scores_and_is_measured(data, kind):
    frame, path, ranked = pd.read_csv(data), data.with_name("m.skops"), data.with_name("ranked.parquet")
    words = make_column_transformer((StandardScaler(), ["a", "b"]), (OneHotEncoder(), ["kind"]))
    model = {
        "pipeline": make_pipeline(StandardScaler(), PNormPush()),
        "columns": make_pipeline(words, PNormPush()),
    }[kind]
    X = frame if kind == "columns" else frame[["b", "a"]]
    save(model.fit(X, frame["label"]), path)
    call("score", path, data, "-o", ranked)
    scores = pd.read_parquet(ranked)["score"]
    np.testing.assert_allclose(scores, np.sort(model.decision_function(X))[::-1])
    words = ["measure", data, "--model", path, "--label", "label", "--no-intervals"]
    assert re.search(r"\n  pnorm-push +\d+ +[\d.]+ +", call(*words).stdout)
    refused = call("measure", data, "--model", path, code=2)
    assert "name the column that holds the label: --label COLUMN" in refused.stderr


def test_a_model_that_was_not_fitted_is_refused(data):
    save(PNormPush(), data.with_name("m.skops"))
    refused = call("score", data.with_name("m.skops"), data, code=2)
    assert "holds no fitted ranker: save a ranker or pipeline after fit" in refused.stderr


def test_a_model_of_the_command_line_is_a_pipeline_in_python_and_a_program(data):
    frame, program = pd.read_csv(data), data.with_name("scoring.py")
    path = fitted(data, "--label", "label", "--budget", 20)
    call("score", path, data, "-o", data.with_name("ranked.parquet"))
    scores = load(path).decision_function(frame)
    ranked = pd.read_parquet(data.with_name("ranked.parquet"))
    np.testing.assert_allclose(ranked["score"], np.sort(scores)[::-1])
    export_numpy(load(path), program)
    frame.loc[::7, "a"], frame.loc[::5, "kind"] = np.nan, None
    exported = runpy.run_path(str(program))["decision_function"](frame)
    np.testing.assert_allclose(exported, load(path).decision_function(frame), rtol=1e-12)
