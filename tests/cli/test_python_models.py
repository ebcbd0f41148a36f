"""Models that pushrank.save wrote, on the command line; models of pushrank fit, in Python."""

import runpy

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import dump_svmlight_file
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from pushrank import PNormPush, load, save
from tests.cli.runner import call


def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"]).round(3)
    frame["kind"] = rng.choice(["x", "y", "z"], 80)
    return frame, (frame["a"] + frame["kind"].eq("x") + rng.normal(size=80) > 0.5).astype(int)


@pytest.mark.parametrize("kind", ["ranker", "pipeline", "columns"])
def test_a_model_saved_in_python_scores_and_is_evaluated(tmp_path, kind):
    frame, y = table()
    words = make_column_transformer((StandardScaler(), ["a", "b"]), (OneHotEncoder(), ["kind"]))
    model = {
        "ranker": PNormPush(),
        "pipeline": make_pipeline(StandardScaler(), PNormPush()),
        "columns": make_pipeline(words, PNormPush()),
    }[kind]
    X = frame if kind == "columns" else frame[["b", "a"]]
    save(model.fit(X, y), tmp_path / "m.skops")
    frame.assign(label=y).to_csv(tmp_path / "data.csv", index=False)
    call("score", tmp_path / "m.skops", tmp_path / "data.csv", "-o", tmp_path / "ranked.parquet")
    ranked = pd.read_parquet(tmp_path / "ranked.parquet")
    np.testing.assert_allclose(ranked["score"], np.sort(model.decision_function(X))[::-1])
    columns = ["--label", "label", "--no-intervals"]
    shown = call("evaluate", tmp_path / "m.skops", tmp_path / "data.csv", *columns)
    assert "average_precision" in shown.output
    refused = call("evaluate", tmp_path / "m.skops", tmp_path / "data.csv", code=2)
    assert "name the column that holds the label: --label COLUMN" in refused.stderr


def test_a_ranker_without_column_names_scores_libsvm_files(tmp_path):
    frame, y = table()
    X = frame[["a", "b"]].to_numpy()
    save(PNormPush().fit(X, y), tmp_path / "m.skops")
    dump_svmlight_file(X, y, str(tmp_path / "data.libsvm"), zero_based=False)
    call("score", tmp_path / "m.skops", tmp_path / "data.libsvm", "-o", tmp_path / "ranked.csv")
    assert pd.read_csv(tmp_path / "ranked.csv")["row"].nunique() == 80
    save(PNormPush(), tmp_path / "m.skops")
    refused = call("score", tmp_path / "m.skops", tmp_path / "data.libsvm", "-o", tmp_path / "r.csv", code=2)
    assert "holds no fitted ranker: save a ranker or pipeline after fit" in refused.stderr


def test_a_model_of_the_command_line_is_a_pipeline_in_python(tmp_path):
    frame, y = table()
    frame.assign(label=y).to_csv(tmp_path / "data.csv", index=False)
    call("fit", tmp_path / "data.csv", "--label", "label", "-o", tmp_path / "m.skops")
    call("score", tmp_path / "m.skops", tmp_path / "data.csv", "-o", tmp_path / "ranked.parquet")
    scores = load(tmp_path / "m.skops").decision_function(frame)
    np.testing.assert_allclose(pd.read_parquet(tmp_path / "ranked.parquet")["score"], np.sort(scores)[::-1])


def test_a_model_is_exported_to_a_file_of_numpy(tmp_path):
    frame, y = table()
    frame.loc[::7, "a"], frame.loc[::5, "kind"] = np.nan, None
    frame.assign(label=y).to_csv(tmp_path / "data.csv", index=False)
    model, program = tmp_path / "m.skops", tmp_path / "scoring.py"
    chosen = ("--model", "pnorm-push", "--probability")
    call("fit", tmp_path / "data.csv", "--label", "label", "-o", model, *chosen)
    for _ in range(2):  # what it wrote is replaced
        assert "without its probabilities" in call("export", model, "-o", program).stdout
    scores = runpy.run_path(str(program))["decision_function"](frame)
    np.testing.assert_allclose(scores, load(model).decision_function(frame), rtol=1e-12)
    program.write_text("my = 'own'")
    assert "was not written by pushrank" in call("export", model, "-o", program, code=2).stderr
    call("fit", tmp_path / "data.csv", "--label", "label", "--model", "logistic-regression", "-o", model)
    assert "no ranker of pushrank" in call("export", model, "-o", program, "--force", code=2).stderr
    assert program.read_text() == "my = 'own'"
