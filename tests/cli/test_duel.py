"""pushrank duel: who brought each row, what is said of hits, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest

from pushrank.datasets import make_stream
from tests.cli.runner import call

pytestmark = pytest.mark.fast

HOW = ["--time", "came", "--id", "id"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with two models of a stream, its rows after the fits, and their labels."""
    folder, stream = tmp_path_factory.mktemp("duel"), make_stream(40, 60, random_state=0)
    frame = pd.DataFrame(stream.data, columns=stream.feature_names)
    frame = frame.assign(came=stream.time, late=stream.target, id=np.arange(len(frame)).astype(str) + "r")
    frame[stream.day < 20].drop(columns=["came", "id"]).to_csv(folder / "past.csv", index=False)
    frame[stream.day >= 20].drop(columns="late").to_csv(folder / "new.csv", index=False)
    frame[stream.day >= 20].to_csv(folder / "all.csv", index=False)
    for name, left_out in {"old": ["--exclude", "x1"], "new": []}.items():
        words = ["--label", "late", "--model", "logistic-regression", *left_out]
        call("fit", folder / "past.csv", *words, "-o", folder / f"{name}.skops")
    return folder


def duel(folder, out, *more, data="new.csv", models=("old", "new"), code=0):
    rows = [*(folder / f"{name}.skops" for name in models), folder / data]
    return call("duel", *rows, *HOW, "--state", out / "d.db", "-o", out / "act.csv", *more, code=code)


def test_rows_are_shared_and_hits_are_credited(folder, tmp_path):
    said = duel(folder, tmp_path, "--budget", "6/day", "--until", "15").stdout
    acted = pd.read_csv(tmp_path / "act.csv")
    assert f"{len(acted)} of {len(pd.read_csv(folder / 'new.csv')):,} rows" in said
    assert acted.groupby(acted["came"].str[:10]).size().tolist() == [6] * 20
    counts = acted["brought_by"].value_counts()
    assert f"{counts['both']} rows are on both lists" in said
    duel(folder, tmp_path, "--force")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "act.csv"), acted)
    labels = ["--labels", folder / "all.csv", "--label", "late", *HOW, "--state", tmp_path / "d.db"]
    found = json.loads(call("duel", *labels, "--json").stdout)
    known = acted.merge(pd.read_csv(folder / "all.csv")[["id", "late"]], on="id").query("late == 1")
    credits_of = known["brought_by"].value_counts()
    assert found["credits"] == [credits_of.get(who, 0) for who in ("champion", "challenger")]
    assert (found["days"], found["hits"]) == (20, len(known) / 20)
    assert found["difference"] == pytest.approx(2 * (found["credits"][1] - found["credits"][0]) / 20)
    said = call("duel", *labels).stdout
    assert found["sentences"][0] in said
    assert "at the look after 15 days" in said


def test_past_scores_are_compared_and_rows_to_label_written(folder, tmp_path):
    frame = pd.read_csv(folder / "all.csv")
    listed = frame.groupby(frame["came"].str[:10])["x2"].rank(ascending=False) <= 6
    frame.assign(late=frame["late"].where(listed)).to_csv(tmp_path / "listed.csv", index=False)
    asked = ["--label", "late", "--score", "x2", "--score", "x1", "--budget", "6/day", "--time", "came"]
    said = call("duel", "--labels", tmp_path / "listed.csv", *asked, "-o", tmp_path / "label.csv").stdout
    assert f"label {len(pd.read_csv(tmp_path / 'label.csv'))} of" in said
    asked = ["duel", "--labels", folder / "all.csv", *asked]
    found = json.loads(call(*asked, "--json").stdout)
    assert found["n_to_label"] == 0
    assert found["low"] == found["high"]
    assert "disputed rows have labels" in found["sentence"]
    assert found["sentence"] in call(*asked).stdout


def test_a_calm_day_without_rows_is_a_day(folder, tmp_path):
    """A file of names and no rows: nothing to act on, no labels to credit, and the days before stay."""
    names = (folder / "all.csv").read_text().split("\n")[0]
    (tmp_path / "none.csv").write_text(f"{names}\n")
    duel(folder, tmp_path, "--budget", "5/day")
    calm = duel(folder, tmp_path, data=tmp_path / "none.csv").stdout  # its own list is replaced
    assert "0 of 0 rows in " in calm
    assert len(pd.read_csv(tmp_path / "act.csv")) == 0
    labels = ["--labels", tmp_path / "none.csv", "--label", "late", "--state", tmp_path / "d.db"]
    assert "nothing is known of the duel" in call("duel", *labels, *HOW, code=3).stdout
    # Another model's scores are refused, and so are the same two the other way round.
    for others in (("new", "old"), ("old", "old")):
        said = duel(folder, tmp_path, "--force", models=others, code=2).stderr
        assert "was begun by the scores of another model" in said


@pytest.mark.parametrize("labels", [["1", "2"], ["no", "yes"], ["0", "1"]])
def test_hits_have_the_label_that_the_models_rank_at_the_top(folder, tmp_path, labels):
    """The state keeps it, and past scores take the label that a fit would take."""
    for name in ("past", "new", "all"):
        rows = pd.read_csv(folder / f"{name}.csv")
        rows = rows.assign(late=np.array(labels)[rows["late"]]) if "late" in rows else rows
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    for name, left_out in {"old": ["--exclude", "x1"], "new": []}.items():
        fit = ["fit", tmp_path / "past.csv", "--label", "late", "--model", "logistic-regression", *left_out]
        call(*fit, "-o", tmp_path / f"{name}.skops")
    duel(tmp_path, tmp_path, "--budget", "6/day")
    credit = ["--label", "late", *HOW, "--state", tmp_path / "d.db", "--json"]
    found = json.loads(call("duel", "--labels", tmp_path / "all.csv", *credit).stdout)
    acted = pd.read_csv(tmp_path / "act.csv")
    hits = acted.merge(pd.read_csv(folder / "all.csv")[["id", "late"]].astype({"id": str}), on="id")["late"]
    assert found["hits"] == hits.sum() / 20
    past = [
        "--label",
        "late",
        "--score",
        "x2",
        "--score",
        "x1",
        "--budget",
        "6/day",
        "--time",
        "came",
        "--json",
    ]
    ways = [json.loads(call("duel", "--labels", of / "all.csv", *past).stdout) for of in (tmp_path, folder)]
    assert ways[0] == ways[1]


def test_models_of_different_labels_have_no_duel(folder, tmp_path):
    fit = ["fit", folder / "past.csv", "--label", "late", "--model", "logistic-regression", "--positive", "0"]
    call(*fit, "-o", folder / "other.skops")
    asked = ["--budget", "6/day"]
    said = duel(folder, tmp_path, *asked, models=("old", "other"), code=2).stderr
    assert "the models rank 1 and 0 at the top; name the label of hits: --positive" in said
    duel(folder, tmp_path, *asked, "--positive", "1", models=("old", "other"))


def test_what_is_no_duel_is_refused(folder, tmp_path):
    new, labels = folder / "new.csv", ["--labels", folder / "all.csv", "--label", "late"]
    models, state = [folder / "old.skops", folder / "new.skops"], ["--state", tmp_path / "d.db"]
    pd.read_csv(new).assign(id="a").to_csv(tmp_path / "one_name.csv", index=False)
    for message, arguments in {
        "a duel takes CHAMPION CHALLENGER DATA": models,
        "nobody.skops does not exist; fit a model first": [models[0], folder / "nobody.skops", new],
        "needs --labels": [*state, *HOW],
        "needs --id": [*labels, *state, "--time", "came"],
        "needs --state": [*labels, *HOW],
        "does not exist; begin": [*labels, *HOW, *state],
        "are compared by --labels": [*labels, "--score", "x1", "--time", "came"],
        "a name comes twice in ": [*models, tmp_path / "one_name.csv", *HOW, *state, "--budget", "6/day",
                                   "-o", tmp_path / "act.csv"],
    }.items():  # fmt: skip
        assert message in call("duel", *arguments, code=2).stderr
    # A call that fails begins no duel.
    assert not (tmp_path / "d.db").exists()
    duel(folder, tmp_path, "--budget", "6/day")
    assert "a duel of 6 a day" in duel(folder, tmp_path, "--budget", "7/day", "--force", code=2).stderr
    assert "was named when it began" in duel(folder, tmp_path, "--until", "9", "--force", code=2).stderr
