"""pushrank score: the scores of the saved model, and rows that it cannot score or has seen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from skops import io

from pushrank.cli.model import SavedModel
from tests.cli.runner import call, fitted

pytestmark = pytest.mark.fast


def test_scores_are_those_of_the_saved_pipeline(files):
    model = fitted(files)
    saved = SavedModel.load(model)
    expected = saved.scores(saved.read(files / "data.parquet"))
    call("score", model, files / "data.parquet", "-o", files / "ranked.parquet")
    ranked = pd.read_parquet(files / "ranked.parquet")
    np.testing.assert_array_equal(ranked["score"], np.sort(expected)[::-1])


def test_rows_that_the_model_was_fitted_to_are_told(files, frame):
    model = fitted(files)
    assert "fitted to these very rows" in call("evaluate", model, files / "data.parquet").stderr
    frame[1:].to_csv(files / "fewer.csv", index=False)
    promise = ["--budget", 20, "--promise", 0.95, "--no-intervals"]
    refused = call("evaluate", model, files / "data.parquet", *promise, code=2).stderr
    assert "these very rows, which promise nothing" in refused
    assert "very rows" not in call("evaluate", model, files / "fewer.csv").stderr
    shown = call("evaluate", model, files / "fewer.csv", *promise).stdout
    assert "With 95 % confidence, of the next" in shown
    assert "Usage" in call("-h").stdout
    assert "Usage" in call("evaluate", "-h").stdout


def test_extra_columns_are_carried_and_names_do_not_clash(files, frame):
    model = fitted(files)
    frame.assign(score=1, note="x").to_csv(files / "more.csv", index=False)
    call("score", model, files / "more.csv", "-o", files / "ranked.csv")
    ranked = pd.read_csv(files / "ranked.csv")
    assert (ranked["score"] == 1).all()
    assert (np.diff(ranked["pushrank_score"]) <= 0).all()
    assert (ranked["note"] == "x").all()


def test_unseen_categories_and_missing_values_are_scored(files, frame):
    model = fitted(files)
    frame.assign(**{"größe in cm": "enormous", "radius": np.nan}).to_csv(files / "new.csv", index=False)
    call("score", model, files / "new.csv", "-o", files / "ranked.csv")
    assert np.isfinite(pd.read_csv(files / "ranked.csv")["score"]).all()


def test_bad_input_at_score_time(files, frame):
    model = fitted(files)
    frame.drop(columns=["area", "texture"]).to_csv(files / "fewer.csv", index=False)
    frame.assign(area="wide").to_csv(files / "text.csv", index=False)
    io.dump({"format": 1, "x": Path("a")}, files / "evil.skops")
    io.dump({"x": 1}, files / "other.skops")
    (files / "cut.skops").write_bytes(model.read_bytes()[:300])
    out = files / "ranked.csv"
    cases = {
        "lacks the columns 'texture', 'area'": ["score", model, files / "fewer.csv", "-o", out],
        "column 'area' of": ["score", model, files / "text.csv", "-o", out],
        "a table with named columns": ["score", model, files / "data.libsvm", "-o", out],
        "does not exist; fit a model first": ["score", files / "no.skops", files / "data.csv", "-o", out],
        "not trusted": ["score", files / "evil.skops", files / "data.csv", "-o", out],
        "is damaged": ["score", files / "cut.skops", files / "data.csv", "-o", out],
        "not written by pushrank fit": ["score", files / "other.skops", files / "data.csv", "-o", out],
        ".csv, .tsv, .parquet or .xlsx": ["score", model, files / "data.csv", "-o", files / "r.txt"],
        "--budget 570 exceeds the 569 rows": ["evaluate", model, files / "data.csv", "--budget", 570],
        "--label 'y' is no column of": ["evaluate", model, files / "data.csv", "--label", "y"],
    }
    for message, arguments in cases.items():
        result = call(*arguments, code=2)
        assert message in result.stderr, (message, result.stderr)
        assert len([line for line in result.stderr.splitlines() if line]) == 1
        assert not out.exists()
    assert call("score", model, files / "data.csv", "-o", out, "--top", 0, code=2)


def test_texts_that_a_spreadsheet_would_run_are_told(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"x": rng.normal(size=60), "y": np.arange(60) % 2, "note": "fine", "change": "-1,5 %"}
    )
    frame.to_csv(tmp_path / "a.csv", index=False)
    call(
        "fit",
        tmp_path / "a.csv",
        "--label",
        "y",
        "--exclude",
        "note",
        "--exclude",
        "change",
        "-o",
        tmp_path / "m.skops",
    )
    scored = ["score", tmp_path / "m.skops", tmp_path / "a.csv", "--force", "-o"]
    assert call(*scored, tmp_path / "r.csv").stderr == ""
    frame.loc[[3, 8], "note"] = ["=cmd|' /C calc'!A0", "@SUM(1)"]
    frame.to_csv(tmp_path / "a.csv", index=False)
    told = call(*scored, tmp_path / "r.csv").stderr
    assert "column 'note' holds 2 texts such as" in told
    assert "would run as formulas" in told
    assert "change" not in told
    assert call(*scored, tmp_path / "r.xlsx").stderr == ""
