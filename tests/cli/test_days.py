"""One command for a budget a day, from the comparison to the commands of tomorrow."""

import json
import re
import shlex
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pushrank.budgets import Budget
from pushrank.cli import app
from pushrank.cli.model import SavedModel
from pushrank.datasets import make_stream
from pushrank.monitoring import AlertThreshold
from tests.cli.runner import FEW, call

pytestmark = pytest.mark.fast
BY_DAY = ["--label", "y", "--exclude", "id", "--budget", "4/day", "--time", "came", *FEW]


@pytest.fixture(scope="module")
def stream():
    return make_stream(60, 30, random_state=1)


@pytest.fixture(scope="module")
def data(stream, tmp_path_factory):
    folder = tmp_path_factory.mktemp("days")
    columns = {"id": stream.day * 1000 + np.arange(len(stream.day)), "came": stream.time, "y": stream.target}
    columns |= {name: stream.data[:, number] for number, name in enumerate("ab")}
    pd.DataFrame(columns).to_csv(folder / "days.csv", index=False)
    return folder / "days.csv"


@pytest.fixture(scope="module")
def compared(data):
    """The comparison in words, with all that it writes."""
    saved, report = data.with_name("a model.skops"), data.with_name("report.html")
    return call("compare", data, *BY_DAY, "--save-best", saved, "--report", report), saved, report


@pytest.fixture(scope="module")
def summary(data):
    """What the same comparison is for other programs."""
    json_saved = data.with_name("json.skops")
    return json.loads(call("compare", data, *BY_DAY, "--save-best", json_saved, "--json").stdout)


def test_it_ends_with_five_lines(compared, summary):
    shown, _, report = compared
    model, hits, promised, threshold, tomorrow = shown.stdout.strip().split("\n")[-5:]
    chosen = re.fullmatch(r"Model: (.+), fitted to all [\d,]+ rows; saved as .+\.", model)[1]
    assert chosen == summary["chosen"]
    figures = (
        "Hits: {mean:.2f} a day expected in as many days to come (95 % interval {low:.2f} to {high:.2f}); "
    )
    figures = figures.format(**summary["expected"])
    assert hits.startswith(f"{figures}{summary['days']['scores'][chosen]['hits']['estimate']:.2f} of ")
    assert f"in {len(summary['days']['periods']['rows'])} days that come after" in hits
    if_alike = r"\(95 % sure, if the days to come are like these\)\."
    said = rf"Promised: on at least \d of the next 7 days you will find \d+ or more {if_alike}"
    assert re.match(said, promised)
    assert "when the next day begins" in threshold
    page = unescape(report.read_text())
    for line in (model, hits, promised, tomorrow):
        assert line in page
    assert "Had you looked at more or fewer rows a day" in page
    assert "6 a day" in page


def test_the_saved_model_holds_what_the_lines_say(compared):
    shown, saved, _ = compared
    kept = SavedModel.load(saved)
    facts, reference = kept.training["saved"], kept.reference
    assert facts["sentences"] == shown.stdout.strip().split("\n")[-5:]
    assert reference.budget == Budget(4)
    hits = reference.counts[3]
    assert f"; {hits.mean():.2f} of " in facts["sentences"][1]
    summary = json.loads(call("show", saved, "--json").stdout)
    assert summary["training"]["saved"] == facts
    at_least = facts["at_least"]
    # A promise of so many days holds for as many of those that it was made by.
    assert np.mean(hits >= at_least["hits"]) >= at_least["n_kept"] / at_least["n_coming"]


def test_tomorrow_s_commands_run(compared, data, tmp_path):
    _, saved, _ = compared
    facts = SavedModel.load(saved).training["saved"]
    later = make_stream(62, 30, random_state=1)
    rows = later.day == 60
    columns = {"id": np.arange(rows.sum()), "came": later.time[rows]}
    columns |= {name: later.data[rows, number] for number, name in enumerate("ab")}
    frame = pd.DataFrame(columns)
    frame.to_csv(tmp_path / "new.csv", index=False)
    state = saved.with_name("a model.alert.db")
    alert = AlertThreshold.open(state)
    assert alert.threshold_ == facts["threshold"]
    alert.close()
    program, *words = shlex.split(facts["commands"][0])
    assert program == "pushrank"
    places = {"NEW.csv": tmp_path / "new.csv", "COLUMN": "id", "alerts.csv": tmp_path / "alerts.csv"}
    call(*(places.get(word, word) for word in words))
    decided = pd.read_csv(tmp_path / "alerts.csv")
    assert 0 < decided["alert"].sum() <= 4
    # What was decided is not forgotten without a word.
    said = call("compare", data, *BY_DAY, "--save-best", saved, code=2).stderr
    assert "to forget what was decided in it: --force" in said


def test_days_without_times_are_lists_and_no_alerts(data, tmp_path):
    """The printed commands find what the best rows of each day hold, and say why there is no threshold."""
    rows = pd.read_csv(data)
    rows["came"] = rows["came"].str[:10]
    is_old = rows["came"] < sorted(set(rows["came"]))[50]
    rows[is_old].to_csv(tmp_path / "old.csv", index=False)
    model, new = tmp_path / "m.skops", tmp_path / "new.csv"
    said = call("compare", tmp_path / "old.csv", *BY_DAY, "--save-best", model).stdout
    why = "none, for a day comes whole: nearly all its rows have one time in came, so give each day a file."
    assert f"Alert threshold: {why}" in said
    facts = SavedModel.load(model).training["saved"]
    assert facts["commands"][0] == f"pushrank score {shlex.quote(str(model))} NEW.csv --top 4 -o first.csv"
    assert not model.with_name("m.alert.db").exists()
    # Alerts of a file of many days are the best of each all the same, and say how they are decided.
    rows[~is_old].to_csv(new, index=False)
    alert = ["--alert", tmp_path / "s.db", "--time", "came"]
    began = call("score", model, tmp_path / "old.csv", *alert, "--budget", "4/day").stdout
    whole = "nearly all past rows of a day have one time, so that it comes whole: its first 4 by score are"
    assert f"{whole} alerts." in began
    done = call("score", model, new, *alert, "--id", "id", "-o", tmp_path / "alerts.csv").stdout
    assert f"Here {whole} alerts. Give all rows of a day in one file." in done
    decided = pd.read_csv(tmp_path / "alerts.csv")
    first = decided.groupby("came")["score"].rank(ascending=False, method="first") <= 4
    assert decided["alert"].tolist() == first.tolist()
    # Watching counts the rows that were acted on, by the file of the alerts with its labels.
    seen = json.loads(call("watch", model, tmp_path / "alerts.csv", "--time", "came", "--json").stdout)
    hits = sum(record["hits"] for record in seen["table"] if record["hits"] is not None)
    assert hits == decided["y"][decided["alert"]].sum()


def test_alerts_take_the_scores_of_the_model_that_they_were_begun_by(data, tmp_path):
    rows = pd.read_csv(data)
    rows[rows["came"] < "2026-02-15"].to_csv(tmp_path / "past.csv", index=False)
    new = rows.assign(came=pd.to_datetime(rows["came"]) + pd.Timedelta(days=90)).tail(60)
    new.to_csv(tmp_path / "new.csv", index=False)
    fit = ["fit", tmp_path / "past.csv", "--label", "y", "--exclude", "id", "--exclude", "came"]
    for name, model in (("a", "logistic-regression"), ("b", "logistic-regression"), ("c", "pnorm-push")):
        call(*fit, "--model", model, "-o", tmp_path / f"{name}.skops")
    alert = ["--alert", tmp_path / "s.db", "--time", "came"]
    call("score", tmp_path / "a.skops", tmp_path / "past.csv", *alert, "--budget", "4/day")
    score = [tmp_path / "new.csv", *alert, "--id", "id", "-o", tmp_path / "alerts.csv"]
    call("score", tmp_path / "a.skops", *score)
    # The same fit again is the same model; of another the scores are on another scale.
    call("score", tmp_path / "b.skops", *score)
    call("score", tmp_path / "a.skops", *score, "--reasons", "1")
    said = call("score", tmp_path / "c.skops", *score, code=2).stderr
    assert "s.db was begun by the scores of another model" in " ".join(said.split())
    # compare --save-best begins the file by the model that it saves.
    saved = tmp_path / "d.skops"
    call("compare", data, *BY_DAY, "--save-best", saved)
    own = ["--alert", tmp_path / "d.alert.db", "--time", "came", "--id", "id", "-o", tmp_path / "alerts.csv"]
    call("score", saved, tmp_path / "new.csv", *own)
    call("score", tmp_path / "a.skops", tmp_path / "new.csv", *own, code=2)


def test_alerts_keep_the_zone_of_the_rows_that_were_compared(data, tmp_path):
    rows = pd.read_csv(data)
    zoned = pd.to_datetime(rows["came"]).dt.tz_localize("Europe/Berlin")
    rows.assign(came=zoned.map(lambda moment: moment.isoformat())).to_csv(tmp_path / "old.csv", index=False)
    saved, new = tmp_path / "m.skops", tmp_path / "new.csv"
    call("compare", tmp_path / "old.csv", *BY_DAY, "--save-best", saved)
    alert = ["--alert", tmp_path / "m.alert.db", "--time", "came", "--id", "id", "-o", tmp_path / "a.csv"]
    last, later = rows.tail(60), zoned.tail(60) + pd.Timedelta(days=30)
    found = []
    for zone in ("UTC", "Europe/Berlin", "Asia/Tokyo"):
        moments = later.dt.tz_convert(zone).map(lambda moment: moment.isoformat())
        last.assign(came=moments).to_csv(new, index=False)
        call("score", saved, new, *alert)
        found.append(pd.read_csv(tmp_path / "a.csv").sort_values("id")["alert"].tolist())
    # The same rows have the same answers, for their days are those of Berlin.
    assert found[0] == found[1] == found[2]
    last.assign(came=later.dt.tz_localize(None)).to_csv(new, index=False)
    said = " ".join(call("score", saved, new, *alert, code=2).stderr.split())
    assert "row 1 has no zone, and the others have the zone +0" in said


def test_a_column_alert_of_the_data_is_not_the_one_that_is_watched(data, tmp_path):
    """Beside a column of this name the written one is called pushrank_alert, and so it is printed."""
    rows = pd.read_csv(data).assign(alert=lambda table: np.where(table["a"] < 0.0, "yes", "no"))
    rows.to_csv(tmp_path / "old.csv", index=False)
    saved = tmp_path / "m.skops"
    call("compare", tmp_path / "old.csv", *BY_DAY, "--exclude", "alert", "--save-best", saved)
    commands = SavedModel.load(saved).training["saved"]["commands"]
    assert commands[1].endswith(" alerts.csv --time came --acted pushrank_alert")
    later = rows.assign(came=pd.to_datetime(rows["came"]) + pd.Timedelta(days=90))
    later.to_csv(tmp_path / "new.csv", index=False)
    alert = [
        "--alert",
        tmp_path / "m.alert.db",
        "--time",
        "came",
        "--id",
        "id",
        "-o",
        tmp_path / "alerts.csv",
    ]
    call("score", saved, tmp_path / "new.csv", *alert)
    shown = [
        call("watch", saved, tmp_path / "alerts.csv", "--time", "came", "--json", *acted, code=code)
        for acted, code in (([], 0), (["--acted", "pushrank_alert"], 0))
    ]
    assert shown[0].stdout == shown[1].stdout
    assert "those of the column 'pushrank_alert'" in shown[0].stderr
    n_acted = pd.read_csv(tmp_path / "alerts.csv")["pushrank_alert"].sum()
    assert sum(of["looked_at"] for of in json.loads(shown[0].stdout)["table"]) == n_acted


def test_whole_numbers_of_a_text_file_are_one_name_with_and_without_a_point(data, tmp_path):
    rows = pd.read_csv(data)
    call("fit", data, "--label", "y", "--exclude", "id", "--exclude", "came", "-o", tmp_path / "m.skops")
    state = ["--alert", tmp_path / "s.db", "--time", "came"]
    call("score", tmp_path / "m.skops", data, *state, "--budget", "4/day")
    new = rows.tail(60).assign(came=pd.to_datetime(rows["came"].tail(60)) + pd.Timedelta(days=90))
    answers = []
    for number, names in enumerate((new["id"], new["id"].astype(float), new["id"].map("{}.00".format))):
        path, out = tmp_path / f"{number}.csv", tmp_path / f"out{number}.csv"
        new.assign(id=names).to_csv(path, index=False)
        call("score", tmp_path / "m.skops", path, *state, "--id", "id", "-o", out)
        answers.append(pd.read_csv(out)["alert"].tolist())
    assert answers[0] == answers[1] == answers[2]


def test_tomorrow_s_commands_read_rows_that_are_written_as_the_data(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.read_csv(data)
    marked = frame.assign(a=frame["a"].where(frame["a"] > -2.0, -999))
    marked.to_csv("it's.txt.gz", sep="|", decimal=",", index=False)
    formats = ["--decimal", ",", "--na-values", "-999"]
    call("compare", "it's.txt.gz", *BY_DAY, *formats, "--save-best", "m.skops", "--report", "r.html")
    facts = SavedModel.load(Path("m.skops")).training["saved"]
    assert facts["sentences"][-1] in unescape(Path("r.html").read_text())
    rows = frame.assign(came=pd.to_datetime(frame["came"]) + pd.Timedelta(days=70)).head(90)
    rows.to_csv("NEW.txt", sep="|", decimal=",", index=False)
    for command in facts["commands"]:
        words = shlex.split(command.replace("COLUMN", "id"))[1:]
        result = CliRunner().invoke(app, words)
        # Rows without labels say nothing of hits.
        assert result.exit_code in (0, 1, 3), result.output
    assert pd.read_csv("alerts.csv", sep=None, engine="python")["alert"].sum() > 0


def test_the_command_that_fits_the_model_again_says_the_budget_a_day(compared, data):
    shown, _, _ = compared
    command = re.search(r"To fit .*? on all rows: (pushrank fit .*)", shown.stdout)[1]
    _, *words = shlex.split(command)
    assert words[words.index("--budget") + 1] == "4/day"
    call(*words[:-1], data.with_name("again.skops"))
    again, saved = (SavedModel.load(data.with_name(name)) for name in ("again.skops", "a model.skops"))
    np.testing.assert_allclose(again.reference.counts[0].sum(), saved.reference.counts[0].sum())


def test_json_holds_the_days(summary, data):
    days = summary["days"]
    assert (
        summary["saved"]["sentences"]
        == SavedModel.load(data.with_name("json.skops")).training["saved"]["sentences"]
    )
    expected = dict(zip(("estimate", "low", "high"), summary["expected"].values(), strict=True))
    assert summary["saved"]["hits"] == expected
    labelled = pd.read_csv(data)
    periods = Budget(4).periods(labelled["came"])
    assert np.isin(days["periods"]["rows"], periods.sizes).all()


def test_batches_have_no_alerts_and_models_together_are_saved_too(data, stream):
    frame = pd.read_csv(data)
    frame["wave"] = stream.day // 2
    path = data.with_name("waves.csv")
    frame.drop(columns=["came", "id"]).to_csv(path, index=False)
    saved = data.with_name("waves.skops")
    by_wave = ["--label", "y", "--budget", "4/batch", "--time", "wave", *FEW[:-1]]
    shown = call("compare", path, *by_wave, "--together", "--save-best", saved).stdout
    assert "Alert threshold: none, for a batch comes whole." in shown
    assert "--top 4" in shown
    assert not saved.with_name("waves.alert.db").exists()
    late = frame[frame["wave"] >= 29]
    late.assign(wave=late["wave"] + np.arange(len(late)) % 2).to_csv(path.with_name("NEW.csv"), index=False)
    seen = call("watch", saved, path.with_name("NEW.csv"), "--time", "wave")
    assert "2 batches from batch 29 to batch 30;" in seen.stdout
    assert "In the 2 batches whose labels are known you found" in seen.stdout
