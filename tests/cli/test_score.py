"""pushrank score: the scores of the saved model, and rows that it cannot score or has seen."""

import json
import os
import re
import zipfile
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from skops import io

from pushrank import PNormPush, metrics, persistence, save
from pushrank._base.files import FACTS_FILE, MODEL_FORMAT
from pushrank.cli.model import SavedModel
from pushrank.cli.saved import StoredScorer
from pushrank.cli.score import _in_few_digits
from pushrank.cli.source.open import Source
from pushrank.estimators.shapley import n_compared
from pushrank.limits import Limits, select
from tests.cli.runner import LABEL, call, fitted

pytestmark = pytest.mark.fast


def refused(*arguments):
    """Return the line of a refusal, after which another may say what to run."""
    line, *more = call(*arguments, code=2).stderr.splitlines()
    assert [of.partition(": ")[0] for of in more] in ([], ["To run it so"])
    return line


def scores_of(model, data):
    saved = SavedModel.load(model)
    return saved.scores(saved.table(Source(data)))


def test_scores_are_those_of_the_saved_pipeline_beside_every_column_of_the_file(files, frame):
    model, out = fitted(files / "data.csv"), files / "ranked.parquet"
    rows = frame.assign(score=1, note="x", **{"größe in cm": "enormous"})
    rows.loc[::2, "radius"] = np.nan
    rows.to_parquet(files / "more.parquet")
    call("score", model, files / "more.parquet", "-o", out)
    ranked = pd.read_parquet(out)
    np.testing.assert_array_equal(
        ranked["pushrank_score"], np.sort(scores_of(model, files / "more.parquet"))[::-1]
    )
    assert np.isfinite(ranked["pushrank_score"]).all()
    assert (ranked["score"] == 1).all()
    assert (ranked["note"] == "x").all()


def test_scores_in_text_have_as_few_digits_as_keep_them_apart():
    scores = np.array([0.123456789, 0.12345601, 0.12345602, 0.5, 0.5, -1e-9, 123456.4])
    [short] = _in_few_digits(scores)
    assert short.tolist() == [0.123457, 0.12345601, 0.12345602, 0.5, 0.5, -1e-9, 123456.0]
    doubles = 0.7 + np.spacing(0.7) * np.arange(50)
    [near], [none] = _in_few_digits(doubles), _in_few_digits(np.empty(0))
    assert len(none) == 0
    assert (np.diff(near) > 0.0).all()


@pytest.fixture
def promised(files, frame):
    """A model of some rows, and files of labelled rows and of rows to come, in the same order of classes."""
    mixed = frame.sample(frac=1.0, random_state=0)
    for name, part in zip(("data", "labelled", "new"), np.array_split(np.arange(len(mixed)), 3), strict=True):
        mixed.iloc[part].to_csv(files / f"{name}.csv", index=False)
    return fitted(files / "data.csv")


def test_every_row_has_the_promise_of_the_list_down_to_it(promised, files, frame):
    scores = {name: scores_of(promised, files / f"{name}.csv") for name in ("labelled", "new")}
    y = pd.read_csv(files / "labelled.csv")["class"] == "malignant"
    score = ["score", promised, files / "new.csv", "--promise", 0.9, "--labelled", files / "labelled.csv"]
    known = {"n_new": len(scores["new"]), "confidence_level": 0.9, "ties": "pessimistic"}
    out = files / "ranked.csv"
    # Rows of an audit are not on the list that is promised.
    for more, k in ((["--top", 40], 40), (["--top", 30, "--audit", 4], 26)):
        found = call(*score, "-o", out, *more)
        expected = metrics.guarantee(y, scores["labelled"], k=k, **known)
        np.testing.assert_array_equal(
            pd.read_csv(out)["promised_hits"][:k], expected.hits_at(np.arange(1, k + 1))
        )
        assert expected.hits_at(k) > 20
        assert f"{expected.sentence(k)}\nThis holds if no model has learnt from the labelled" in found.stdout
        assert "beyond chance" not in found.stderr
    of_all = call(*score)
    expected, written = (
        metrics.guarantee(y, scores["labelled"], **known),
        pd.read_csv(StringIO(of_all.stdout)),
    )
    np.testing.assert_array_equal(written["promised_hits"], expected.hits_at(np.arange(len(written)) + 1))
    assert expected.sentence(len(written)) in of_all.stderr
    frame[:0].to_csv(files / "new.csv", index=False)
    call(*score, "-o", out, "--reasons", 2)
    assert pd.read_csv(out)[["promised_hits", "reason_1", "reason_2"]].empty


@pytest.mark.filterwarnings("always:new scores differ")
def test_promises_by_rows_that_are_seen_shifted_or_not_there(promised, files):
    labelled = pd.read_csv(files / "labelled.csv")
    labelled[labelled["area"] < 600].to_csv(files / "small.csv", index=False)
    labelled["class"].where(labelled.index % 5 > 0).to_frame().join(labelled.drop(columns="class")).to_csv(
        files / "gaps.csv", index=False
    )
    score = ["score", promised, files / "new.csv", "-o", files / "ranked.csv", "--promise", 0.95]
    warned = call(*score, "--labelled", files / "small.csv")
    assert "warning: new scores differ from the labelled ones beyond chance" in warned.stderr
    for message, name in {
        "the very rows of": "data",
        "the new scores are those of the labelled rows": "new",
        "here each row needs one": "gaps",
        "does not exist": "nowhere",
    }.items():
        assert message in refused(*score, "--labelled", files / f"{name}.csv")
    for alone in (score, [*score[:-2], "--labelled", files / "labelled.csv"]):
        assert "go together" in refused(*alone)


def in_format(model, number, path):
    """Write a model as one of another format, in its content and in its facts."""
    content = persistence.load_content(model)
    with zipfile.ZipFile(model) as archive:
        facts = json.loads(archive.read(FACTS_FILE))
    facts["facts"]["format"] = number
    persistence.save_with_facts(content | {"format": number, "pushrank": "9.0"}, path, facts)
    return path


def test_models_of_other_formats_and_of_arrays_are_refused_by_every_command(files):
    model, data = fitted(files / "data.csv"), files / "data.csv"
    way_out = {5: "fit the model again", 99: "install that version or later"}
    refusals = {
        in_format(model, number, files / f"m{number}.skops"): f"m{number}.skops was written by pushrank 9.0 "
        f"in format {number}, and this reads {MODEL_FORMAT}; {way}."
        for number, way in way_out.items()
    }
    X = np.random.default_rng(0).normal(size=(20, 2))
    save(PNormPush().fit(X, np.arange(20) % 2), files / "array.skops")
    refusals[files / "array.skops"] = "was fitted to an array, whose columns have no names: fit it to a data"
    for path, message in refusals.items():
        for command in (
            ["score", path, data],
            ["show", path],
            ["watch", path, data],
            ["measure", data, "--model", path, "--label", "class"],
            ["measure", data, "--model", model, "--model", path, "--label", "class"],
            ["alert", path, data, "--begin", "--budget", "3/day", "--time", "area"],
        ):
            assert message in refused(*command)
    assert not list(files.glob("*.db"))


def test_bad_input_at_score_time(files, frame):
    model, data, out = fitted(files / "data.csv"), files / "data.csv", files / "ranked.csv"
    frame.drop(columns=["area", "texture"]).to_csv(files / "fewer.csv", index=False)
    frame.assign(area="wide").to_csv(files / "text.csv", index=False)
    io.dump({"format": 1, "x": Path("a")}, files / "evil.skops")
    io.dump({"x": 1}, files / "other.skops")
    (files / "cut.skops").write_bytes(model.read_bytes()[:300])
    for message, arguments in {
        "lacks the columns 'texture', 'area'": [model, files / "fewer.csv", "-o", out],
        "text.csv must hold numbers, as where the": [model, files / "text.csv", "-o", out],
        "does not exist; fit a model first": [files / "no.skops", data, "-o", out],
        "not trusted": [files / "evil.skops", data, "-o", out],
        "is damaged": [files / "cut.skops", data, "-o", out],
        "not written by pushrank fit": [files / "other.skops", data, "-o", out],
        ".csv, .tsv, .parquet or .xlsx": [model, data, "-o", files / "r.txt"],
        "is an input, which the result would replace": [model, data, "-o", data],
        "--columns 'arena' is no column": [model, data, "-o", out, "--columns", "arena"],
        "no probabilities; fit it with": [model, data, "-o", out, "--probability"],
        "--json prints figures in place of rows": [model, data, "--json"],
        "--id is for --audit; alerts have a command": [model, data, "--id", "checked"],
    }.items():
        assert message in refused("score", *arguments)
        assert not out.exists()
    assert "--top" in call("score", model, data, "-o", out, "--top", 0, code=2).stderr


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


@pytest.mark.parametrize("model", ["pnorm-push", "push-boost"])
def test_reasons_are_the_columns_that_raise_a_row_most_beyond_those_just_below_the_cut(files, model):
    saved = fitted(files / "data.csv", *LABEL, "--model", model)
    ranked = call("score", saved, files / "data.csv", "-o", files / "ranked.csv", "--top", 3, "--reasons", 2)
    written = pd.read_csv(files / "ranked.csv", dtype=str, keep_default_na=False)
    texts_of_rows = written[["reason_1", "reason_2"]].to_numpy()
    held = SavedModel.load(saved)
    features = held.features(held.table(Source(files / "data.csv")))
    scores = held.scores(features)
    ranking = np.argsort(-scores, kind="stable")
    below = ranking[3 : 3 + n_compared(features.shape[1])]
    assert f"Reasons are against the {len(below)} rows just below the cut.\n" in ranked.stdout
    for row, texts in zip(ranking[:3], texts_of_rows, strict=True):
        raised = {}
        for column in features:
            # What the row's own cell does for its score, against the cells of those rows in its place.
            others = features.iloc[[row] * len(below)].reset_index(drop=True)
            others[column] = features[column].to_numpy()[below]
            raised[column] = scores[row] - held.scores(others).mean()
        best = sorted(raised, key=raised.get, reverse=True)[:2]
        for column, text in zip(best, texts, strict=True):
            if raised[column] < 1e-12:
                assert text == ""
                continue
            shown = text.rpartition(": ")
            assert shown[0].startswith(f"{column} ")
            assert float(shown[2].replace(",", "")) == pytest.approx(raised[column], rel=0.06)


def test_reasons_of_boosters_are_exact_and_their_files_are_watched(files):
    data, out = files / "data.csv", files / "ranked.csv"
    saved = fitted(
        data, *LABEL, "--model", "lightgbm", "--set", "n_estimators=20", "--set", "n_jobs=1", "--budget", 30
    )
    shown = call("score", saved, data, "-o", out, "--reasons", 2).stdout
    assert "rows just below the cut." in shown
    assert "sampled" not in shown
    written = pd.read_csv(out, dtype=str, keep_default_na=False)
    assert written["reason_1"].iloc[0].partition(" ")[0] in written.columns
    assert "hits" in call("watch", saved, data).stdout


FOREST = (*LABEL, "--model", "random-forest", "--set", "n_estimators=10", "--budget", 150)


@pytest.mark.parametrize("top", [None, 12])
def test_reasons_of_forests_are_sampled_and_say_what_leaves_the_list(files, monkeypatch, top):
    data, saved = files / "data.csv", fitted(files / "data.csv", *FOREST)
    assert StoredScorer.load(saved) is None
    assert StoredScorer.load(data) is None
    held = SavedModel.load(saved)
    features = held.features(held.table(Source(data)))
    scores = held.scores(features)
    ranking = np.argsort(-scores, kind="stable")
    if top is None:
        # The list ends with the threshold of the model, and of these few rows reach it.
        held_out = pd.read_csv(data).iloc[np.r_[ranking[:8], ranking[150:210]]]
        held_out.to_csv(data, index=False)
        features = held.features(held.table(Source(data)))
        scores = held.scores(features)
        ranking = np.argsort(-scores, kind="stable")
    words = [
        "score",
        saved,
        data,
        "-o",
        files / "ranked.csv",
        "--reasons",
        3,
        *(["--top", top] if top else []),
    ]
    shown = call(*words).stdout
    assert "rows just below the cut. They are sampled, and shown with their standard errors (±)." in shown
    written = pd.read_csv(files / "ranked.csv", dtype=str, keep_default_na=False)
    assert written["reason_1"].iloc[:5].str.contains(r": \+[\d.e-]+ ± [\d.e-]+$").all()
    cut, n_checked = scores[ranking[top]] if top else held.alert.threshold, 0
    for row, text in zip(ranking, written["leaves_if"], strict=False):
        number = re.fullmatch(r"(.*) at (?:most|least) ([\d.,e+-]+)", text)
        if number:
            other = features.iloc[[row]].assign(**{number[1]: float(number[2].replace(",", ""))})
            assert scores[row] >= cut > held.scores(other)[0]
            n_checked += 1
    assert n_checked
    monkeypatch.setattr("pushrank.cli.score.MAX_SAMPLED", 5)
    assert "write at most 5 of these" in refused(*words)


@pytest.mark.parametrize("model", ["pnorm-push", "svmmap", "sgd-at-k", "push-boost", "ada-boost-ranker"])
def test_scores_by_what_a_file_notes_are_those_of_the_model_it_holds(tmp_path, model):
    """To the last bit, also where a column has its first gap in the rows to score."""
    rng, path = np.random.default_rng(0), tmp_path / "rows.csv"
    frame = pd.DataFrame(rng.normal(size=(60, 7)) * 10.0 ** np.arange(7), columns=list("abcdefg"))
    frame.loc[::9, ["b", "f"]] = np.nan
    frame["y"] = (frame["a"] + rng.normal(size=60) > 0.5).astype(int)
    frame.to_csv(path, index=False)
    saved = fitted(path, "--label", "y", "--model", model)
    frame.loc[3, "e"] = np.nan
    frame.to_csv(path, index=False)
    noted, whole = StoredScorer.load(saved), SavedModel.load(saved)
    scores = [of.scores(of.table(Source(path))) for of in (noted, whole)]
    np.testing.assert_array_equal(*scores)


def test_an_audit_draws_rows_below_the_list_and_the_same_ones_of_the_same_rows(files, frame):
    model, out = fitted(files / "data.csv"), files / "out.csv"
    came = pd.date_range("2026-03-01", periods=len(frame), freq="min").astype(str)
    rows = frame.assign(id=[f"row {i}" for i in range(len(frame))], came=came)
    rows.to_csv(files / "today.csv", index=False)
    call("score", model, files / "today.csv", "-o", out)
    whole = pd.read_csv(out)

    def audited(name="today.csv", *more, top=30):
        said = call("score", model, files / name, "-o", out, "--top", top, "--audit", 4, *more).stdout
        return pd.read_csv(out), said

    found, said = audited()
    assert said == (
        f"30 of 569 rows, best first, in {out}.\n26 rows are the first by score, and 4 are drawn from the "
        "543 others, each with a chance of 0.00737.\n"
    )
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


def test_what_is_no_audit_and_what_is_no_limit_is_refused(files, frame):
    model, two = fitted(files / "data.csv"), files / "two.csv"
    frame.assign(came="2026-03-01")[:2].assign(checked=True).to_csv(two, index=False)
    audit, top = ["--audit", 3, "--top", 30], ["--top", 3]
    for message, given in {
        "--audit 3 must be a part of --top N": ["--audit", 3],
        "--audit 30 must be a part of --top N": ["--audit", 30, "--top", 30],
        "--audit by --id needs --time: a name alone": [*audit, "--id", "id"],
        "2 rows have the name 'True' and": [*audit, "--id", "checked", "--time", "came"],
        "--at-most and --at-least need --top N, how many": ["--at-most", "4:area"],
        "--at-most 'area' is not understood: write 4:scaffold for": [*top, "--at-most", "area"],
        "--at-least '5:area' is not understood: write 50:region=n": [*top, "--at-least", "5:area"],
        "--at-most 'arena' is no column of": [*top, "--at-most", "4:arena"],
        "--at-most names a column twice": [*top, "--at-most", "4:area", "--at-most", "3:area"],
        "--at-least names a value twice": [*top, *["--at-least", "1:area=5"] * 2],
        "--missing-group is for rows without a value": [
            *top,
            "--missing-group",
            "separate",
        ],
        "--audit is for a list without limits; leave": [*top, "--at-most", "4:area", "--audit", 1],
        "at least 2 of checked 'maybe', which 0 rows have": [*top, "--at-least", "2:checked=maybe"],
    }.items():
        assert message in refused("score", model, two, *given)


@pytest.mark.filterwarnings("always:the limits allow")
def test_a_list_keeps_limits_on_columns_of_the_file(files, frame):
    model, out, new = fitted(files / "data.csv"), files / "out.csv", files / "new.csv"
    n = np.arange(len(frame))
    rows = frame.assign(scaffold=n % 9, region=np.where(n % 5, "s", "n"))
    rows.to_csv(new, index=False)
    limits = ["--at-most", "4:scaffold", "--at-least", "12:region=n"]
    said = call("score", model, new, "-o", out, "--top", 30, *limits).stdout
    found, scores = pd.read_csv(out), pd.Series(scores_of(model, new))
    chosen = select(scores, 30, Limits({"scaffold": 4}, {"region": {"n": 12}}), X=rows)
    assert found["area"].tolist() == rows["area"][chosen].tolist()
    # Ranks are those of the whole file.
    assert found["rank"].tolist() == scores.rank(ascending=False, method="first")[chosen].tolist()
    assert f"The limits replaced {(found['rank'] > 30).sum()} of the first 30 rows." in said
    fewer = call("score", model, new, "-o", out, "--top", 40, "--at-most", "4:scaffold")
    assert "warning: the limits allow 36 rows, fewer than the 40 of the list." in fewer.stderr
    rows.assign(scaffold=rows["scaffold"].where(rows.index % 7 > 0)).to_csv(new, index=False)
    given = ["score", model, new, "-o", out, "--top", 40, "--at-most", "1:scaffold"]
    said = refused(*given)
    assert "first in row 1; fill it, or say --missing-group separate, each is a group, or --miss" in said
    for missing, n_rows in {"separate": 40, "together": 10}.items():
        call(*given, "--missing-group", missing)
        assert len(pd.read_csv(out)) == n_rows
