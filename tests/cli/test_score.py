"""pushrank score: the scores of the saved model, and rows that it cannot score or has seen."""

import os
import re
from io import StringIO
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from skops import io

from pushrank import metrics
from pushrank.cli.model import SavedModel
from pushrank.cli.saved import StoredScorer
from pushrank.cli.score import _in_few_digits
from pushrank.cli.source.format import TextFormat
from pushrank.estimators.reasons import score_parts
from pushrank.estimators.shapley import n_compared
from pushrank.limits import Limits, select
from tests.cli.runner import LABEL, call, fitted

pytestmark = pytest.mark.fast

ALERT = ["--time", "came", "--alert", "state.db"]


def test_scores_are_those_of_the_saved_pipeline(files):
    model = fitted(files / "data.csv")
    saved = SavedModel.load(model)
    expected = saved.scores(saved.read(files / "data.parquet"))
    call("score", model, files / "data.parquet", "-o", files / "ranked.parquet")
    ranked = pd.read_parquet(files / "ranked.parquet")
    np.testing.assert_array_equal(ranked["score"], np.sort(expected)[::-1])


def test_scores_in_text_have_as_few_digits_as_keep_them_apart():
    scores = np.array([0.123456789, 0.12345601, 0.12345602, 0.5, 0.5, -1e-9, 123456.4])
    [short] = _in_few_digits(scores)
    assert short.tolist() == [0.123457, 0.12345601, 0.12345602, 0.5, 0.5, -1e-9, 123456.0]
    doubles = 0.7 + np.spacing(0.7) * np.arange(50)
    [near], [none] = _in_few_digits(doubles), _in_few_digits(np.empty(0))
    assert len(none) == 0
    assert (np.diff(near) > 0.0).all()


def test_rows_that_the_model_was_fitted_to_are_told(files, frame):
    model = fitted(files / "data.csv")
    assert "fitted to these very rows" in call("evaluate", model, files / "data.parquet").stderr
    frame[1:].to_csv(files / "fewer.csv", index=False)
    promise = ["--budget", 20, "--promise", 0.95, "--no-intervals"]
    refused = call("evaluate", model, files / "data.parquet", *promise, code=2).stderr
    assert "the very rows of" in refused
    assert "which promise nothing: take rows that it has not seen" in refused
    assert "very rows" not in call("evaluate", model, files / "fewer.csv").stderr
    shown = call("evaluate", model, files / "fewer.csv", *promise).stdout
    assert "With 95 % confidence, of the next" in shown
    assert "Usage" in call("-h").stdout
    assert "Usage" in call("evaluate", "-h").stdout


def promised(files, frame):
    """A model of some rows, and files of labelled rows and of rows to come, in the same order of classes."""
    mixed = frame.sample(frac=1.0, random_state=0)
    for name, part in zip(("data", "labelled", "new"), np.array_split(np.arange(len(mixed)), 3), strict=True):
        mixed.iloc[part].to_csv(files / f"{name}.csv", index=False)
    model = fitted(files / "data.csv")
    scores, y = {}, {}
    for name in ("labelled", "new"):
        table = SavedModel.load(model).read(files / f"{name}.csv")
        scores[name], y[name] = SavedModel.load(model).scores(table), table.frame["class"] == "malignant"
    return model, scores, y


def test_every_row_has_the_promise_of_the_list_down_to_it(files, frame):
    model, scores, y = promised(files, frame)
    out, labelled = files / "ranked.csv", files / "labelled.csv"
    more = ["-o", out, "--promise", 0.9, "--labelled", labelled]
    found = call("score", model, files / "new.csv", *more, "--top", 40)
    known = {"n_new": len(scores["new"]), "confidence_level": 0.9, "ties": "pessimistic"}
    expected = metrics.guarantee(y["labelled"], scores["labelled"], k=40, **known)
    np.testing.assert_array_equal(pd.read_csv(out)["promised_hits"], expected.hits_at(np.arange(1, 41)))
    assert expected.hits_at(40) > 20
    assert (
        f"{expected.sentence(40)}\nThis holds if no model has learnt from the labelled rows" in found.stdout
    )
    assert "beyond chance" not in found.stderr
    # Rows of an audit are not on the list that is promised.
    known_26 = metrics.guarantee(y["labelled"], scores["labelled"], k=26, **known)
    assert (
        known_26.sentence(26)
        in call("score", model, files / "new.csv", *more, "--top", 30, "--audit", 4).stdout
    )
    of_all = call("score", model, files / "new.csv", "-o", "-", *more[2:])
    expected = metrics.guarantee(y["labelled"], scores["labelled"], **known)
    written = pd.read_csv(StringIO(of_all.stdout))
    np.testing.assert_array_equal(written["promised_hits"], expected.hits_at(np.arange(len(written)) + 1))
    assert (written["promised_hits"] <= (written["class"] == "malignant").cumsum()).all()
    assert expected.sentence(len(written)) in of_all.stderr
    frame[:0].to_csv(files / "none.csv", index=False)
    call("score", model, files / "none.csv", *more, "--reasons", 2)
    assert pd.read_csv(out)[["promised_hits", "reason_1", "reason_2"]].empty


@pytest.mark.filterwarnings("always:new scores differ")
def test_promises_by_rows_that_are_seen_shifted_or_not_there(files, frame):
    model, _, _ = promised(files, frame)
    pd.read_csv(files / "labelled.csv")[lambda rows: rows["area"] < 600].to_csv(
        files / "small.csv", index=False
    )
    out = ["-o", files / "ranked.csv"]
    warned = call(
        "score", model, files / "new.csv", *out, "--promise", 0.95, "--labelled", files / "small.csv"
    )
    assert "warning: new scores differ from the labelled ones beyond chance" in warned.stderr
    for message, name in {
        "the very rows of": "data",
        "the new scores are those of the labelled rows": "new",
        "does not exist": "nowhere",
    }.items():
        given = ["--promise", 0.95, "--labelled", files / f"{name}.csv"]
        assert message in call("score", model, files / "new.csv", *out, *given, code=2).stderr
    for alone in (["--promise", 0.95], ["--labelled", files / "labelled.csv"]):
        assert "go together" in call("score", model, files / "new.csv", *out, *alone, code=2).stderr


def test_extra_columns_are_carried_and_names_do_not_clash(files, frame):
    model = fitted(files / "data.csv")
    frame.assign(score=1, note="x").to_csv(files / "more.csv", index=False)
    call("score", model, files / "more.csv", "-o", files / "ranked.csv")
    ranked = pd.read_csv(files / "ranked.csv")
    assert (ranked["score"] == 1).all()
    assert (np.diff(ranked["pushrank_score"]) <= 0).all()
    assert (ranked["note"] == "x").all()


def test_unseen_categories_and_missing_values_are_scored(files, frame):
    model = fitted(files / "data.csv")
    frame.assign(**{"größe in cm": "enormous", "radius": np.nan}).to_csv(files / "new.csv", index=False)
    call("score", model, files / "new.csv", "-o", files / "ranked.csv")
    assert np.isfinite(pd.read_csv(files / "ranked.csv")["score"]).all()


def test_bad_input_at_score_time(files, frame):
    model = fitted(files / "data.csv")
    frame.drop(columns=["area", "texture"]).to_csv(files / "fewer.csv", index=False)
    frame.assign(area="wide").to_csv(files / "text.csv", index=False)
    io.dump({"format": 1, "x": Path("a")}, files / "evil.skops")
    io.dump({"x": 1}, files / "other.skops")
    for name, number in {"earlier": 1, "later": 99}.items():
        io.dump({"format": number, "pushrank": "9.0"}, files / f"{name}.skops")
    (files / "cut.skops").write_bytes(model.read_bytes()[:300])
    out = files / "ranked.csv"
    cases = {
        "lacks the columns 'texture', 'area'": ["score", model, files / "fewer.csv", "-o", out],
        "column 'area' of": ["score", model, files / "text.csv", "-o", out],
        "a table with named columns": ["score", model, files / "data.libsvm", "-o", out],
        "does not exist; fit a model first": ["score", files / "no.skops", files / "data.csv", "-o", out],
        "not trusted": ["score", files / "evil.skops", files / "data.csv", "-o", out],
        "is damaged": ["score", files / "cut.skops", files / "data.csv", "-o", out],
        "by pushrank 9.0 in format 1, and this reads 5; fit the model again.": [
            "score", files / "earlier.skops", files / "data.csv", "-o", out,
        ],
        "by pushrank 9.0 in format 99, and this reads 5; install that version or later.": [
            "score", files / "later.skops", files / "data.csv", "-o", out,
        ],
        "not written by pushrank fit": ["score", files / "other.skops", files / "data.csv", "-o", out],
        ".csv, .tsv, .parquet or .xlsx": ["score", model, files / "data.csv", "-o", files / "r.txt"],
        "--budget 570 exceeds the 569 rows": ["evaluate", model, files / "data.csv", "--budget", 570],
        "--label 'y' is no column of": ["evaluate", model, files / "data.csv", "--label", "y"],
    }  # fmt: skip
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
    model = fitted(tmp_path / "a.csv", "--label", "y", "--exclude", "note", "--exclude", "change")
    scored = ["score", model, tmp_path / "a.csv", "--force", "-o"]
    assert call(*scored, tmp_path / "r.csv").stderr == ""
    frame.loc[[3, 8], "note"] = ["=cmd|' /C calc'!A0", "@SUM(1)"]
    frame.to_csv(tmp_path / "a.csv", index=False)
    told = call(*scored, tmp_path / "r.csv").stderr
    assert "column 'note' holds 2 texts such as" in told
    assert "would run as formulas" in told
    assert "change" not in told
    assert call(*scored, tmp_path / "r.xlsx").stderr == ""


@pytest.mark.parametrize("model", ["pnorm-push", "push-boost", "logistic-regression"])
def test_reasons_are_the_columns_that_raise_a_row_most_beyond_those_just_below_the_cut(files, model):
    saved = fitted(files / "data.csv", *LABEL, "--model", model)
    ranked = call("score", saved, files / "data.csv", "-o", files / "ranked.csv", "--top", 3, "--reasons", 2)
    written = pd.read_csv(files / "ranked.csv", dtype=str, keep_default_na=False)
    texts_of_rows = written[["reason_1", "reason_2"]].to_numpy()
    features = SavedModel.load(saved).features(SavedModel.load(saved).read(files / "data.csv"))
    scores = SavedModel.load(saved).scores(features)
    ranking = np.argsort(-scores, kind="stable")
    below = ranking[3 : 3 + n_compared(features.shape[1])]
    assert f"Reasons are against the {len(below)} rows just below the cut." in ranked.stdout
    for row, texts in zip(ranking[:3], texts_of_rows, strict=True):
        raised = {}
        for column in features:
            # What the row's own cell does for its score, against the cells of those rows in its place.
            others = features.iloc[[row] * len(below)].reset_index(drop=True)
            others[column] = features[column].to_numpy()[below]
            raised[column] = scores[row] - SavedModel.load(saved).scores(others).mean()
        best = sorted(raised, key=raised.get, reverse=True)[:2]
        for column, text in zip(best, texts, strict=True):
            if raised[column] < 1e-12:
                assert text == ""
                continue
            shown = text.rpartition(": ")
            assert shown[0].startswith(f"{column} ")
            assert float(shown[2].replace(",", "")) == pytest.approx(raised[column], rel=0.06)


@pytest.mark.parametrize("model", ["lightgbm", "XGBoost"])
def test_reasons_of_boosters_are_exact_and_their_files_are_watched(files, model):
    data, out = files / "data.csv", files / "ranked.csv"
    saved = fitted(data, *LABEL, "--model", model, "--budget", 30)
    shown = call("score", saved, data, "-o", out, "--reasons", 2).stdout
    assert "rows just below the cut." in shown
    assert "sampled" not in shown
    written = pd.read_csv(out, dtype=str, keep_default_na=False)
    assert written["reason_1"].iloc[0].partition(" ")[0] in written.columns
    held = SavedModel.load(saved)
    features = held.features(held.read(data))
    ranker, rows = held.pipeline[-1], held.pipeline[:-1].transform(features)
    log_odds = (
        ranker.decision_function(rows) if model == "lightgbm" else ranker.predict(rows, output_margin=True)
    )
    np.testing.assert_allclose(score_parts(held.pipeline, features).sum(axis=1), log_odds, atol=1e-5)
    assert "hits" in call("watch", saved, data).stdout


FOREST = (*LABEL, "--model", "random-forest", "--n-estimators", 10)


@pytest.mark.parametrize("budget", [[], ["--budget", 150]])
def test_reasons_of_forests_are_sampled_and_say_what_leaves_the_list(files, budget):
    saved = fitted(files / "data.csv", *FOREST, *budget)
    out = ["-o", files / "ranked.csv", "--reasons", 3, *([] if budget else ["--top", 12])]
    shown = call("score", saved, files / "data.csv", *out).stdout
    assert "rows just below the cut. They are sampled, and shown with their standard errors (±)." in shown
    written = pd.read_csv(files / "ranked.csv", dtype=str, keep_default_na=False)
    assert written["reason_1"].iloc[:5].str.contains(r": \+[\d.e-]+ ± [\d.e-]+$").all()
    features = SavedModel.load(saved).features(SavedModel.load(saved).read(files / "data.csv"))
    scores = SavedModel.load(saved).scores(features)
    ranking = np.argsort(-scores, kind="stable")
    cut = SavedModel.load(saved).alert.threshold if budget else scores[ranking[12]]
    for row, text in zip(ranking, written["leaves_if"], strict=False):
        number = re.fullmatch(r"(.*) at (?:most|least) ([\d.,e+-]+)", text)
        if number:
            other = features.iloc[[row]].assign(**{number[1]: float(number[2].replace(",", ""))})
            assert scores[row] >= cut > SavedModel.load(saved).scores(other)[0]


def test_sampled_reasons_of_a_long_list_are_refused(files, monkeypatch):
    monkeypatch.setattr("pushrank.cli.score.MAX_SAMPLED", 20)
    refused = call("score", fitted(files / "data.csv", *FOREST), files / "data.csv", "--reasons", 1, code=2)
    assert "write at most 20 of these" in refused.stderr


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("model", ["pnorm-push", "svmmap", "sgd-at-k", "push-boost", "ada-boost-ranker"])
def test_scores_by_what_a_file_notes_are_those_of_the_model_it_holds(tmp_path, monkeypatch, model, gaps):
    """To the last bit, also where a column has its first gap in the rows to score."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 7)) * 10.0 ** np.arange(7), columns=list("abcdefg"))
    frame.loc[::9, ["b", "f"][: 2 * gaps]] = np.nan
    frame["y"] = (frame["a"] + rng.normal(size=60) > 0.5).astype(int)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    budget = ["--budget", 10] if gaps else []
    call("fit", tmp_path / "rows.csv", "--label", "y", "--model", model, *budget, "-o", tmp_path / "m.skops")
    frame.loc[3, "e"] = np.nan
    frame.to_csv(tmp_path / "rows.csv", index=False)
    assert StoredScorer.load(tmp_path / "m.skops") is not None
    noted = call("score", tmp_path / "m.skops", tmp_path / "rows.csv").stdout
    monkeypatch.setattr(StoredScorer, "load", Mock(return_value=None))
    assert call("score", tmp_path / "m.skops", tmp_path / "rows.csv").stdout == noted


def test_a_model_of_another_kind_is_loaded_whole(files):
    assert StoredScorer.load(fitted(files / "data.csv", *FOREST)) is None
    assert StoredScorer.load(files / "data.csv") is None


def test_an_audit_draws_rows_below_the_list_and_the_same_ones_of_the_same_rows(files, frame):
    model, out = fitted(files / "data.csv"), files / "out.csv"
    came = pd.date_range("2026-03-01", periods=len(frame), freq="min").astype(str)
    rows = frame.assign(id=[f"row {i}" for i in range(len(frame))], came=came)
    rows.to_csv(files / "today.csv", index=False)
    call("score", model, files / "today.csv", "-o", out)
    whole = pd.read_csv(out)

    def audited(name="today.csv", *more, top=30):
        said = call("score", model, files / name, "-o", out, "--top", top, "--audit", 4, *more).stdout
        return pd.read_csv(out), " ".join(said.split())

    found, said = audited()
    assert (
        "26 rows are the first by score, and 4 are drawn from the 543 others, each with a chance of" in said
    )
    assert "0.00737, in place of those ranked 27 to 30. 30 of 569 rows, best first" in said
    assert found["acted"].tolist() == ["list"] * 26 + ["audit"] * 4
    assert found["chance"].tolist() == [1.0] * 26 + [4 / 543] * 4
    # Ranks are those of the whole file, in which rows that tie keep their order.
    assert found["rank"].tolist() == [*range(1, 27), *sorted(found["rank"][26:])]
    assert found["id"].tolist() == whole["id"][found["rank"] - 1].tolist()
    assert audited()[0].equals(found)
    # By names and times the same rows are drawn from a file in another order, and others by another secret.
    named = ["--id", "id", "--time", "came", "--reasons", 1]
    rows.sample(frac=1.0, random_state=0).to_csv(files / "mixed.csv", index=False)
    [first, again] = (audited(name, *named)[0] for name in ("today.csv", "mixed.csv"))
    assert set(first["id"]) == set(again["id"])
    assert first["leaves_if"].notna().sum() == first["leaves_if"][:26].notna().sum() > 0
    assert os.name == "nt" or (files / "model.audit.key").stat().st_mode & 0o077 == 0
    (files / "model.audit.key").write_text("another")
    assert set(audited("today.csv", *named)[0]["id"]) != set(first["id"])
    # A file of no more rows than the budget is acted on whole, and one of none has the columns.
    for n in (28, 0):
        rows[:n].to_csv(files / "few.csv", index=False)
        assert (audited("few.csv")[0]["acted"] == "audit").sum() == max(0, n - 26)
    # Rows of another sparse file are others.
    drawn = []
    sparse = fitted(files / "data.libsvm", "--model", "pnorm-push")
    for lines in (slice(None), slice(None, None, -1)):
        text = (files / "data.libsvm").read_text().splitlines()[lines]
        (files / "new.libsvm").write_text("\n".join(f"0 {line.partition(' ')[2]}" for line in text))
        call("score", sparse, files / "new.libsvm", "-o", out, "--top", 30, "--audit", 4)
        drawn.append(pd.read_csv(out)["row"][26:].tolist())
    assert drawn[0] != drawn[1]


@pytest.mark.parametrize(
    ("message", "given"),
    {
        "--audit goes with --top 30 for one file, or": ["--audit", 3],
        "--audit 30 must be a part of --top 30, in": ["--audit", 30, "--top", 30],
        "--audit 3/day must be a part of --top 30, in": ["--audit", "3/day", "--top", 30],
        "--audit by --id needs --time: a name alone": ["--audit", 3, "--top", 30, "--id", "id"],
        "--audit 3/hour must be a part of --budget 30/day": [
            "--audit",
            "3/hour",
            "--budget",
            "30/day",
            *ALERT,
        ],
        "--audit goes with --top 30 for one file, or --alert": ["--audit", "3/day", *ALERT],
        "2 rows have the name 'True' and": ["--audit", 3, "--top", 30, "--id", "checked", "--time", "came"],
    }.items(),
)
def test_what_is_no_audit_is_refused(files, frame, message, given):
    frame.assign(came="2026-03-01")[:2].assign(checked=True).to_csv(files / "two.csv", index=False)
    said = call("score", fitted(files / "data.csv"), files / "two.csv", *given, code=2).stderr
    assert message in " ".join(said.split())


@pytest.mark.filterwarnings("always:the limits allow")
def test_a_list_keeps_limits_on_columns_of_the_file(files, frame):
    model, out = fitted(files / "data.csv"), files / "out.csv"
    rows = frame.assign(
        scaffold=np.arange(len(frame)) % 9, region=np.where(np.arange(len(frame)) % 5, "s", "n")
    )
    rows.to_csv(files / "new.csv", index=False)
    limits = ["--at-most", "4:scaffold", "--at-least", "12:region=n"]
    said = call("score", model, files / "new.csv", "-o", out, "--top", 30, *limits).stdout
    found = pd.read_csv(out)
    scores = pd.Series(
        SavedModel.load(model).scores(SavedModel.load(model).read(files / "new.csv", TextFormat()))
    )
    limits = Limits({"scaffold": 4}, {"region": {"n": 12}})
    chosen = select(scores, 30, limits, X=rows)
    assert found["area"].tolist() == rows["area"][chosen].tolist()
    # Ranks are those of the whole file.
    assert found["rank"].tolist() == scores.rank(ascending=False, method="first")[chosen].tolist()
    n_others = (found["rank"] > 30).sum()
    assert f"The limits replaced {n_others} of the first 30 rows by score." in said
    fewer = call("score", model, files / "new.csv", "-o", out, "--top", 40, "--at-most", "4:scaffold")
    assert "warning: the limits allow 36 rows, fewer than the 40 of the list." in fewer.stderr
    rows.assign(scaffold=rows["scaffold"].where(rows.index % 7 > 0)).to_csv(files / "new.csv", index=False)
    given = ["score", model, files / "new.csv", "-o", out, "--top", 40, "--at-most", "1:scaffold"]
    said = " ".join(call(*given, code=2).stderr.split())
    assert "new.csv, first in row 1; fill it, or say --missing own, each is a separate group, or --m" in said
    for missing, n in {"own": 40, "one": 10}.items():
        call(*given, "--missing", missing)
        assert len(pd.read_csv(out)) == n


@pytest.mark.parametrize(
    ("message", "given"),
    {
        "--at-most and --at-least need --top N, how many": ["--at-most", "4:area"],
        "--at-most 'area' is not understood: write 4:scaffold for": ["--top", 3, "--at-most", "area"],
        "--at-least '5:area' is not understood: write 50:region=n": ["--top", 3, "--at-least", "5:area"],
        "--at-most 'arena' is no column of": ["--top", 3, "--at-most", "4:arena"],
        "--at-most names a column twice": ["--top", 3, "--at-most", "4:area", "--at-most", "3:area"],
        "--missing is for rows without a value in a column of --at": ["--top", 3, "--missing", "own"],
        "--audit is for a list without limits; leave": ["--top", 3, "--at-most", "4:area", "--audit", 1],
        "at least 2 of checked 'maybe', which 0 rows have": ["--top", 3, "--at-least", "2:checked=maybe"],
    }.items(),
)
def test_what_is_no_limit_is_refused(files, message, given):
    said = call("score", fitted(files / "data.csv"), files / "data.csv", *given, code=2).stderr
    assert message in " ".join(said.split())
