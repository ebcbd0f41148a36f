"""One fit, and every day after it: what the model knows is not said again, and JSON has every figure."""

import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest

from pushrank.cli.model import SavedModel
from pushrank.datasets import make_stream
from pushrank.monitoring import AlertThreshold
from tests.cli.runner import call

pytestmark = pytest.mark.fast

READ = [
    "--read",
    "separator=semicolon",
    "--read",
    "decimal=comma",
    "--read",
    "dates=dmy",
    "--read",
    "missing=-",
]
LEARN = ["--label", "betrug", "--positive", "ja", "--time", "kam", "--exclude", "id"]


def german(frame, path):
    """Write rows as a spreadsheet in Germany does, with a dash for what is missing."""
    columns = {name: frame[name].map("{:.6f}".format).str.replace(".", ",") for name in "ab"}
    columns["b"] = columns["b"].where(frame["b"].notna(), "-")
    columns["kam"] = frame["kam"].dt.strftime("%d.%m.%Y %H:%M:%S")
    frame.assign(**columns).to_csv(path, index=False, sep=";")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model for four rows a day and one for 60 rows, both fitted to days of the past, and new days."""
    folder, stream = tmp_path_factory.mktemp("days"), make_stream(60, 30, random_state=1)
    frame = pd.DataFrame(stream.data[:, :2], columns=["a", "b"]).round(6)
    frame.loc[::9, "b"] = np.nan
    frame = frame.assign(
        kam=pd.to_datetime(stream.time).floor("s"), betrug=np.where(stream.target, "ja", "nein")
    )
    frame.insert(0, "id", [f"r{row}" for row in range(len(frame))])
    is_old = stream.day < 45
    german(frame[is_old], folder / "old.csv")
    german(frame[~is_old], folder / "new.csv")
    frame[~is_old].to_parquet(folder / "new.parquet", index=False)
    frame[~is_old].to_excel(folder / "new.xlsx", index=False)
    learn = ["fit", folder / "old.csv", *LEARN, *READ, "-o"]
    folder.joinpath("said.txt").write_text(call(*learn, folder / "m.skops", "--budget", "4/day").stdout)
    call(*learn, folder / "n.skops", "--budget", 60, "--model", "logistic-regression", "--probability")
    return folder


@pytest.fixture
def state(folder, tmp_path):
    """A copy of the file of alerts that the fit began."""
    (tmp_path / "s.db").write_bytes((folder / "m.alert.db").read_bytes())
    return tmp_path / "s.db"


def test_a_fit_to_days_ends_with_the_command_of_tomorrow(folder, tmp_path, monkeypatch):
    fitted, alerts, following = (folder / "said.txt").read_text().splitlines()
    assert re.fullmatch(
        r".*m\.skops: pnorm-push, fitted to [\d,]+ rows \(\d+ with betrug = ja\) with .*", fitted
    )
    alert = AlertThreshold.open(folder / "m.alert.db")
    threshold = f"the next day begins with the threshold {alert.threshold_:.4g}."
    alert.close()
    assert alerts.endswith(f"m.alert.db: alerts for 4 a day; {threshold}")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "NEW.csv").write_bytes((folder / "new.csv").read_bytes())
    for name in ("m.skops", "m.alert.db"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    program, *words = shlex.split(following.removeprefix("Next: ").replace("COLUMN", "id"))
    assert program == "pushrank"
    call(*(word.replace(f"{folder}/", "") for word in words))
    decided = pd.read_csv("alerts.csv", sep=";", decimal=",")
    by_day = decided["alert"].groupby(decided["kam"].str[:10]).sum()
    assert 0 < by_day.min() <= by_day.max() <= 4
    again = ["fit", folder / "old.csv", *LEARN, *READ, "--budget", "4/day", "-o", "m.skops"]
    assert "to forget what was decided in it: --force" in call(*again, code=2).stderr


def test_next_month_in_any_kind_of_file_needs_nothing_said_again(folder, state, tmp_path):
    """Format, label, positive and time are those of the fit; rows are the same, and so are all answers."""
    begun, found = state.read_bytes(), {}
    for kind in ("csv", "parquet", "xlsx"):
        new, out = folder / f"new.{kind}", tmp_path / f"out_{kind}.parquet"
        call("score", folder / "m.skops", new, "-o", out)
        scores = pd.read_parquet(out, columns=["id", "score"])
        measured = call("measure", new, "--model", folder / "m.skops", "--budget", "4/day", "--json").stdout
        watched = json.loads(call("watch", folder / "m.skops", new, "--json").stdout)
        state.write_bytes(begun)
        call("alert", folder / "m.skops", new, "--state", state, "--id", "id", "-o", out, "--force")
        alerts = pd.read_parquet(out, columns=["id", "alert"])
        measured = {name: of for name, of in json.loads(measured).items() if name != "file"}
        found[kind] = [scores, measured, watched, alerts]
    assert watched["tested"]["hits"] > 0
    for kind in ("parquet", "xlsx"):
        for one, other in zip(found["csv"], found[kind], strict=True):
            if isinstance(one, pd.DataFrame):
                pd.testing.assert_frame_equal(one, other)
            else:
                assert one == other
    # What the line says goes before what the model knows.
    frame = pd.read_parquet(folder / "new.parquet").assign(
        kam=lambda rows: rows["kam"].dt.strftime("%m/%d/%Y")
    )
    frame.to_csv(tmp_path / "us.csv", index=False)
    us = [
        "score",
        folder / "m.skops",
        tmp_path / "us.csv",
        "--read",
        "separator=comma",
        "--read",
        "decimal=point",
    ]
    call(*us, "-o", tmp_path / "us.parquet")
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "us.parquet", columns=["id", "score"]), found["csv"][0]
    )


def test_models_and_a_column_of_scores_are_measured_on_the_same_rows(folder, tmp_path):
    rows = pd.read_csv(folder / "new.csv", sep=";", dtype=str).assign(rule=lambda of: of["a"])
    rows.to_csv(tmp_path / "new.csv", sep=";", index=False)
    models = ["--model", folder / "m.skops", "--model", folder / "n.skops"]
    words = ["measure", tmp_path / "new.csv", *models, "--score", "rule", "--no-intervals"]
    found = json.loads(call(*words, "--budget", 60, "--json").stdout)
    assert list(found["scores"]) == ["pnorm-push", "logistic-regression", "rule"]
    assert {name: of["against"] for name, of in found["differences"].items()} == dict.fromkeys(
        ["logistic-regression", "rule"], "pnorm-push"
    )
    for name, saved in (("pnorm-push", "m"), ("logistic-regression", "n")):
        alone = [
            "measure",
            folder / "new.csv",
            "--model",
            folder / f"{saved}.skops",
            "--no-intervals",
            "--json",
        ]
        [measures] = json.loads(call(*alone, "--budget", 60).stdout)["scores"].values()
        assert found["scores"][name] == measures
    # The time of the rows is that of the model for a column of scores, too.
    days = json.loads(call(*words, "--budget", "4/day", "--json").stdout)
    assert list(days["scores"]) == list(found["scores"])
    # Two fits of one kind are told apart by their files, and by their folders where these have one name.
    (tmp_path / "m.skops").write_bytes((folder / "m.skops").read_bytes())
    (tmp_path / "k.skops").write_bytes((folder / "m.skops").read_bytes())
    for others, names in (
        (["k.skops"], ["m.skops", "k.skops"]),
        (["m.skops"], [str(folder / "m.skops"), str(tmp_path / "m.skops")]),
    ):
        more = [word for name in others for word in ("--model", tmp_path / name)]
        shown = call("measure", folder / "new.csv", *models[:2], *more, "--no-intervals", "--json").stdout
        assert list(json.loads(shown)["scores"]) == names
    rows.rename(columns={"rule": "pnorm-push"}).to_csv(tmp_path / "new.csv", sep=";", index=False)
    words = ["measure", tmp_path / "new.csv", *models[:2], "--score", "pnorm-push"]
    assert "is what a model is called, too: rename the column" in call(*words, code=2).stderr
    assert "is given twice" in call("measure", folder / "new.csv", *models[:2] * 2, code=2).stderr


def numbers_in(facts):
    """Return every number of JSON, and those of short texts such as 4/day, but for what sentences say."""
    if isinstance(facts, dict):
        return [number for name, of in facts.items() if "sentence" not in name for number in numbers_in(of)]
    if isinstance(facts, list):
        return [number for of in facts for number in numbers_in(of)]
    if isinstance(facts, str):
        return [float(number) for number in re.findall(r"\d+", facts)] if len(facts) <= 10 else []
    return [] if facts is None or isinstance(facts, bool) else [facts]


def missing_figures(shown, facts):
    """Return the printed figures that JSON does not have, as they are, of any sign, or in per cent."""
    shown = re.sub(r"\S*[/\\]\S*|Next: .*|95 %|\bx?\d+ \w+ columns?\b(?= of text)|19 of 20 files", "", shown)
    known, missing = np.abs(np.array(numbers_in(facts), dtype=float)), []
    for token in re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?!\w)", shown):
        value, digits = float(token.replace(",", "")), len(token.partition(".")[2])
        near = 0.5001 * 10.0**-digits
        if not (np.isclose(known, value, 0.0, near) | np.isclose(100.0 * known, value, 0.0, near)).any():
            missing.append(token)
    return missing


def test_json_has_every_figure_that_is_printed(folder, tmp_path):
    new, out = folder / "new.csv", ["-o", tmp_path / "out.csv"]
    rows = pd.read_csv(new, sep=";", dtype=str)
    listed = rows.groupby(rows["kam"].str[:10])["a"].rank(ascending=False) <= 5
    rows.assign(betrug=rows["betrug"].where(listed), acted=np.where(listed, "list", "")).to_csv(
        tmp_path / "acted.csv", sep=";", index=False
    )
    score, measure = ["score", folder / "n.skops", new, *out], ["measure", new, "--model", folder / "n.skops"]
    labelled = ["--promise", 0.9, "--labelled", folder / "labelled.csv"]
    old = pd.read_csv(folder / "old.csv", sep=";", dtype=str)
    old[old.index % 2 == 0].to_csv(folder / "labelled.csv", sep=";", index=False)
    alert = ["alert", folder / "m.skops"]
    begin = [*alert, folder / "old.csv", "--begin", "--state", tmp_path / "t.db", "--force"]
    duel = ["duel", "--id", "id", "--time", "kam", "--state", tmp_path / "d.db"]
    past = ["--label", "betrug", "--positive", "ja", *READ]
    fit = [
        "fit",
        folder / "old.csv",
        *LEARN,
        *READ,
        "--hold-out",
        "30%",
        "--force",
        "-o",
        tmp_path / "f.skops",
    ]
    columns = ["--score", "a", "--score", "b", "--budget", "4/day", "--time", "kam"]
    rows.assign(b=rows["b"].replace("-", "0")).to_csv(tmp_path / "both.csv", sep=";", index=False)
    for words in (
        [*score, "--top", 30, "--audit", 4, *labelled],
        [*score, "--top", 30, "--reasons", 1],
        [*score, "--top", 12, "--at-most", "1:a"],
        [*begin, "--budget", "6/day", "--audit", "2/day"],
        [*alert, new, "--id", "id", "--state", tmp_path / "t.db", *out],
        [*duel, folder / "m.skops", folder / "n.skops", new, "--budget", "5/day", "--force", *out],
        [*duel, "--labels", new, *past],
        ["duel", "--labels", tmp_path / "both.csv", *past, *columns],
        ["watch", folder / "m.skops", new],
        ["watch", folder / "n.skops", new],
        [*measure, "--budget", 60],
        [*measure, "--model", folder / "m.skops", "--budget", 60, "--no-intervals"],
        [*measure, "--budget", "4/day"],
        [*measure, "--budget", 60, "--promise", 0.9, "--new-rows", 300],
        [*measure, "--budget", 60, "--at-most", "1:a"],
        ["measure", tmp_path / "acted.csv", *measure[2:], "--budget", "4/day", "--acted", "acted"],
        [*fit, "--budget", 60],
        [*fit, "--budget", "4/day"],
    ):  # fmt: skip
        shown = call(*words).stdout
        facts = json.loads(
            call(*words, "--json", *["--force"] * (words[0] == "duel" and out[1] in words)).stdout
        )
        assert re.search(r"\d", shown)
        assert missing_figures(shown, facts) == [], (words[:4], shown, facts)
    assert SavedModel.load(tmp_path / "f.skops").reference is not None
