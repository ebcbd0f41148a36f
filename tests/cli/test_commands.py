"""Every command on every kind of file, and one clear line for every kind of bad input."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import dump_svmlight_file, load_breast_cancer
from skops import io

from pushrank import metrics
from pushrank.cli.model import MODELS, SavedModel
from tests.cli.runner import FEW, auc, call

pytestmark = pytest.mark.fast

ROUNDS = {"ada-boost-ranker", "gradient-boosting", "push-boost", "random-forest", "rank-boost"}

LABEL = ["--label", "class", "--positive", "malignant"]


@pytest.fixture(scope="module")
def frame():
    data = load_breast_cancer(as_frame=True)
    table = data.frame.iloc[:, :6].rename(columns=lambda name: name.replace("mean ", ""))
    rng = np.random.default_rng(0)
    table["größe in cm"] = rng.choice(["small", "large", None], len(table))
    table["checked"] = rng.random(len(table)) < 0.5
    table.loc[::7, "radius"] = np.nan
    table["class"] = np.where(data.target, "benign", "malignant")
    return table


@pytest.fixture(scope="module")
def written(tmp_path_factory, frame):
    folder = tmp_path_factory.mktemp("written")
    frame.to_csv(folder / "data.csv", index=False)
    frame.to_csv(folder / "data.tsv", index=False, sep="\t")
    frame.to_csv(folder / "data.csv.gz", index=False)
    frame.to_parquet(folder / "data.parquet")
    X, y = load_breast_cancer(return_X_y=True)
    dump_svmlight_file(X[:, :5], 2 * y - 1, str(folder / "data.libsvm"))
    return folder


@pytest.fixture
def files(tmp_path, written):
    return shutil.copytree(written, tmp_path, dirs_exist_ok=True)


def fitted(files, *more, data="data.csv"):
    model = files / "model.skops"
    label = [] if data.endswith("libsvm") else LABEL
    call("fit", files / data, *label, "-o", model, *more)
    return model


@pytest.mark.parametrize("data", ["data.csv", "data.tsv", "data.csv.gz", "data.parquet"])
def test_fit_score_evaluate(files, frame, data):
    model = fitted(files, "--p", 8, data=data)
    shown = call("score", model, files / data, "-o", files / "ranked.csv", "--top", 50)
    assert "50 of 569 rows" in shown.output
    ranked = pd.read_csv(files / "ranked.csv")
    assert ranked["rank"].tolist() == list(range(1, 51))
    assert (np.diff(ranked["score"]) <= 0).all()
    assert list(ranked.columns) == [*frame.columns, "score", "rank"]
    assert (ranked["class"] == "malignant").all()  # the larger of the two labels
    measures = json.loads(call("evaluate", model, files / data, "--json").stdout)
    assert measures["scores"]["pnorm-push"]["average_precision"]["estimate"] > 0.9
    assert measures["positives"] == (frame["class"] == "malignant").sum()
    table = call("evaluate", model, files / data).output
    assert "positives_at_top" in table


def test_evaluation_counts_the_first_rows_and_says_what_chance_may_do(files, monkeypatch):
    monkeypatch.setattr("pushrank.metrics._bootstrap.DEFAULT_RESAMPLES", 200)
    model, data = fitted(files), files / "data.csv"
    saved = SavedModel.load(model)
    table = saved.read(data)
    y, scores = (table.frame["class"] == "malignant").to_numpy(), saved.scores(table)
    summary = json.loads(call("evaluate", model, data, "--budget", 200, "--json").stdout)
    [found] = summary["scores"].values()
    precision = metrics.precision_at_k(y, scores, 200)
    assert found["hits"]["estimate"] == pytest.approx(200 * precision)
    first_rows = {"precision": "precision_at_k", "recall": "recall_at_k", "lift": "lift"}
    depths = {**{name: {"k": 200} for name in first_rows}, "enrichment_factor": {"fraction": 0.01}}
    for name in (*depths, "average_precision", "auc", "partial_auc", "bedroc"):
        measure, depth = first_rows.get(name, name), depths.get(name, {})
        interval = metrics.confidence_interval(y, scores, measure, random_state=0, **depth)
        assert found[name] == pytest.approx(interval._asdict())
    assert found["precision"]["low"] < precision < found["precision"]["high"]
    assert found["positives_at_top"]["low"] is None
    bare = json.loads(call("evaluate", model, data, "--json", "--no-intervals", "--all").stdout)
    every = metrics.top_of_list(y, scores)
    assert every.keys() <= found.keys() | bare["others"]["pnorm-push"].keys()
    assert bare["others"]["pnorm-push"]["log_r4"] == pytest.approx(every["log_r4"])
    assert bare["depth"] == round(y.sum() / 4)
    assert bare["scores"]["pnorm-push"]["auc"]["low"] is None
    other = json.loads(call("evaluate", model, data, "--budget", 200, "--json", "--seed", 1).stdout)
    assert other["scores"]["pnorm-push"]["auc"]["low"] != found["auc"]["low"]
    assert other["scores"]["pnorm-push"]["auc"]["estimate"] == found["auc"]["estimate"]


def test_an_evaluation_in_print_is_short_unless_all_is_asked_for(files):
    model, data = fitted(files), files / "data.csv"
    shown = call("evaluate", model, data, "--budget", 30).output
    assert "positives among the first 30 rows" in shown
    assert "Intervals take the rows to be independent" in shown
    assert "bedroc" in shown
    assert "log_r4" not in shown
    everything = call("evaluate", model, data, "--all", "--no-intervals").output
    assert "log_r4" in everything
    assert "interval" not in everything.lower()


def test_figures_are_without_the_noise_of_rounding(tmp_path):
    # 7 of 25: 25 * (7 / 25) is 7.000000000000001
    y = np.repeat([1, 0, 1], [7, 18, 5])
    pd.DataFrame({"y": y, "s": -np.arange(30)}).to_csv(tmp_path / "s.csv", index=False)
    own = ["measure", tmp_path / "s.csv", "--label", "y", "--score", "s", "--budget", 25]
    found = call(*own, "--json").stdout
    assert '"estimate": 7.0,' in found
    assert "0000000" not in found
    assert "7.0000" not in call(*own).stdout


def test_an_evaluation_of_one_positive(files, frame):
    model = fitted(files)
    one = frame["class"].eq("malignant").cumsum().le(1) | frame["class"].eq("benign")
    frame[one].to_csv(files / "one.csv", index=False)
    found = json.loads(call("evaluate", model, files / "one.csv", "--json").stdout)
    assert (found["positives"], found["depth"]) == (1, 1)
    [measures] = found["scores"].values()
    known = [of for of in measures.values() if of["low"] is not None]
    assert len(known) >= 5
    assert all(of["low"] <= of["estimate"] <= of["high"] for of in known)


def test_scores_are_those_of_the_saved_pipeline(files):
    model = fitted(files)
    saved = SavedModel.load(model)
    expected = saved.scores(saved.read(files / "data.parquet"))
    call("score", model, files / "data.parquet", "-o", files / "ranked.parquet")
    ranked = pd.read_parquet(files / "ranked.parquet")
    np.testing.assert_array_equal(ranked["score"], np.sort(expected)[::-1])


def test_libsvm_stays_sparse(files):
    model = fitted(files, data="data.libsvm")
    saved = SavedModel.load(model)
    assert saved.sparse
    assert [name for name, _ in saved.pipeline.steps] == ["scale", "rank"]
    call("score", model, files / "data.libsvm", "-o", files / "ranked.tsv")
    ranked = pd.read_csv(files / "ranked.tsv", sep="\t")
    assert sorted(ranked["row"]) == list(range(1, 570))
    assert auc(model, files / "data.libsvm") > 0.9
    call("compare", files / "data.libsvm", "--folds", 2, *FEW)


def test_large_numbers_up_to_the_bound_are_learnt_from(files, frame):
    frame.assign(area=frame["area"] / frame["area"].max() * 1e150).to_csv(files / "large.csv", index=False)
    model = fitted(files, data="large.csv")
    assert auc(model, files / "large.csv") > 0.9


SEARCHES = {"push-boost-cv", "top-ranker-cv"}  # take seconds


@pytest.mark.parametrize(
    "model",
    [pytest.param(name, marks=[pytest.mark.nightly] * (name in SEARCHES)) for name in sorted(MODELS)],
)
def test_every_model_fits_to_the_same_scores_again(files, model):
    scored = []
    for _ in range(2):
        options = MODELS[model]().get_params()
        few = [("n_estimators", "--n-estimators"), ("max_iter", "--max-iter")] if model in ROUNDS else []
        short = [text for name, option in few if name in options for text in (option, 10)]
        saved = fitted(files, "--model", model, *short)
        call("score", saved, files / "data.csv", "-o", files / "ranked.csv")
        scored.append((files / "ranked.csv").read_bytes())
    assert scored[0] == scored[1]
    assert pd.read_csv(files / "ranked.csv")["score"].nunique() > 1


def test_rows_that_the_model_was_fitted_to_are_told(files, frame):
    model = fitted(files)
    assert "fitted to these very rows" in call("evaluate", model, files / "data.parquet").stderr
    frame[1:].to_csv(files / "fewer.csv", index=False)
    assert "very rows" not in call("evaluate", model, files / "fewer.csv").stderr
    assert "Usage" in call("-h").stdout
    assert "Usage" in call("evaluate", "-h").stdout


def test_another_seed_draws_otherwise(files):
    scored = []
    for seed in (0, 1):
        model = fitted(files, "--model", "perceptron-at-k", "--seed", seed)
        call("score", model, files / "data.csv", "-o", files / "ranked.csv")
        scored.append((files / "ranked.csv").read_bytes())
    assert scored[0] != scored[1]


def test_positive_value_and_one_against_the_rest(files, frame):
    model = fitted(files, "--positive", "benign")
    assert SavedModel.load(model).positive == "benign"
    frame.assign(digit=np.arange(len(frame)) % 3).to_csv(files / "three.csv", index=False)
    for text in ("1", "1.0"):
        call("fit", files / "three.csv", "--label", "digit", "--positive", text, "-o", files / "m.skops")
        assert SavedModel.load(files / "m.skops").positive == "1"
    call("fit", files / "data.csv", "--label", "checked", "--positive", "true", "-o", files / "m.skops")


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
    assert "No clear winner. Most hits in 200 rows: " in shown
    parts = pd.read_csv(files / "parts.csv")
    assert parts.groupby(["model", "measure"]).size().eq(3).all()
    summary = json.loads(call(*arguments, "--json").stdout)
    assert summary == json.loads(call(*arguments, "--json").stdout)  # same seed, same result
    for model, measures in summary["models"].items():
        assert 0 <= measures["hits in budget"]["mean"] <= 200
        values = parts[(parts["model"] == model) & (parts["measure"] == "AUC")]["value"]
        assert measures["AUC"]["mean"] == pytest.approx(values.mean())
        assert measures["AUC"]["standard_error"] == pytest.approx(values.std() / np.sqrt(3))


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


def test_seeds_are_those_of_numpy(files):
    arguments = ["compare", files / "data.csv", *LABEL, "--folds", 2, *FEW, "--seed"]
    call(*arguments, 2**32 - 1)
    assert "--seed" in call(*arguments, 2**32, code=2).stderr


def test_version_and_help():
    assert call("--version").output.startswith("pushrank ")
    for command in ("fit", "show", "score", "evaluate", "measure", "compare", "report", "demo"):
        assert "Example" in call(command, "--help").output or command == "demo"


def bad(files, frame):
    """Bad input, by what is said of it."""
    frame.assign(**{"class": "benign"}).to_csv(files / "one.csv", index=False)
    frame.assign(digit=np.arange(len(frame)) % 3).to_csv(files / "three.csv", index=False)
    missing = frame.copy()
    missing.loc[3, "class"] = None
    missing.to_csv(files / "missing.csv", index=False)
    frame.assign(area=np.where(frame.index == 5, np.inf, 1.0)).to_csv(files / "infinite.csv", index=False)
    frame.assign(area=np.where(frame.index == 5, -1e300, 1.0)).to_csv(files / "huge.csv", index=False)
    (files / "empty.csv").write_text("")
    (files / "head.csv").write_text("a,class\n")
    pq.write_table(pa.table([[0.5], [1.5], ["x"]], names=["a", "a", "class"]), files / "twice.parquet")
    (files / "cut.parquet").write_bytes((files / "data.parquet").read_bytes()[:2000])
    (files / "cut.csv.gz").write_bytes((files / "data.csv.gz").read_bytes()[:500])
    (files / "bad.libsvm").write_text("1 1:0.5\n0 what\n")
    (files / "data.docx").write_text("")
    frame[["class"]].to_csv(files / "bare.csv", index=False)
    data, out = files / "data.csv", files / "out.skops"
    fit = ["fit", "-o", out, *LABEL]
    compare = ["compare", *LABEL]
    return {
        "--label 'klass' is no column of": ["fit", data, "--label", "klass", "-o", out],
        "--label COLUMN": ["fit", data, "-o", out],
        "one class only (benign (569 rows))": [*fit, files / "one.csv"],
        "holds 3 values, 0 (190 rows), 1 (190 rows), 2 (189 rows); name the one": [
            "fit",
            files / "three.csv",
            "--label",
            "digit",
            "-o",
            out,
        ],
        "no label in 1 of 569 rows (1 empty), first in row 4; leave them out with --drop-unlabelled": [
            *fit,
            files / "missing.csv",
        ],
        "the label to rank at the top, 'maybe', does not occur": [*fit, data, "--positive", "maybe"],
        "holds infinity in row 6": [*fit, files / "infinite.csv"],
        "column 'area' of": [*fit, files / "huge.csv"],
        "holds -1e+300 in row 6, too large": [*compare, files / "huge.csv"],
        "cannot be read as csv": [*fit, files / "empty.csv"],
        "holds no rows": [*fit, files / "head.csv"],
        "more than one column 'a'; give each its own name": [*fit, files / "twice.parquet"],
        "cannot be read as parquet": [*fit, files / "cut.parquet"],
        "ended before the end-of-stream": [*fit, files / "cut.csv.gz"],
        "cannot be read as libsvm": ["fit", "-o", out, files / "bad.libsvm"],
        "kind of file is not known": [*fit, files / "data.docx"],
        "does not exist": [*fit, files / "nothing.csv"],
        "is a folder": ["fit", data, *LABEL, "-o", files],
        "the folder": ["fit", data, *LABEL, "-o", files / "no" / "out.skops"],
        "p must be finite and >= 1": [*fit, data, "--p", "0.5"],
        "--p is not an option of --model ir-push": [*fit, data, "--model", "ir-push", "--p", "2"],
        "--model 'svm' is not known": [*fit, data, "--model", "svm"],
        "no column but the label": [*fit, files / "bare.csv"],
        "exceeds the 569 rows": [*compare, data, "--budget", "1000"],
        "choose at most": [*compare, data, "--folds", "300"],
        "at least 1, got 0.5": [*compare, data, "--p", "4", "--p", "0.5"],
        "at least 1, got inf": [*compare, data, "--p", "inf", "--p", "4"],
        "--alpha must be finite and at least 0, got inf": [*compare, data, "--alpha", "inf"],
        "alpha must be finite and >= 0, got inf": [*fit, data, "--alpha", "inf"],
    }


def test_bad_input_gets_one_line(files, frame):
    for message, arguments in bad(files, frame).items():
        result = call(*arguments, code=2)
        lines = [line for line in result.stderr.splitlines() if line]
        assert len(lines) == 1, result.stderr
        assert message in lines[0], (message, lines)
        assert not (files / "out.skops").exists()


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


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_named(files):
    closed = files / "closed"
    closed.mkdir(mode=0o500)
    result = call("fit", files / "data.csv", *LABEL, "-o", closed / "m.skops", code=2)
    assert "cannot be written" in result.stderr


def test_a_write_that_fails_is_one_line(files, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pushrank._io.tempfile.mkstemp", refuse)
    out = files / "m.skops"
    result = call("fit", files / "data.csv", *LABEL, "-o", out, code=2)
    assert "cannot be written: Permission denied" in result.stderr


def test_as_a_program(files):
    """No traceback and the exit code, as a shell sees them."""
    command = [sys.executable, "-m", "pushrank", "fit"]
    done = subprocess.run(
        [*command, str(files / "data.csv"), "--label", "nothing", "-o", str(files / "m.skops")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("Error: ")


def test_probabilities_are_calibrated_on_rows_held_out(files, frame):
    out = files / "ranked.csv"
    model = fitted(files, "--probability")
    call("score", model, files / "data.csv", "-o", out, "--probability", "--columns", "class")
    ranked = pd.read_csv(out)
    assert list(ranked) == ["class", "score", "probability", "rank"]
    assert (np.diff(ranked["probability"]) <= 0).all()
    # 30 features leave little to guess: the mean is the share of positives, as of any logistic curve
    share = (frame["class"] == "malignant").mean()
    assert ranked["probability"].mean() == pytest.approx(share, abs=0.02)
    frame[:0].to_csv(files / "none.csv", index=False)
    call("score", model, files / "none.csv", "-o", out, "--probability")
    assert list(pd.read_csv(out)) == [*frame, "score", "probability", "rank"]
    for said, options in {
        "fit it with --probability": ["--probability"],
        "--columns 'nobody' is not in": ["--columns", "nobody"],
    }.items():
        assert said in call("score", fitted(files), files / "data.csv", "-o", out, *options, code=2).stderr
