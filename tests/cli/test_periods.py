"""Budgets by period on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

from pushrank import metrics
from pushrank.budgets import Budget
from pushrank.cli.features import read_features
from pushrank.cli.fit import held_out_scores
from pushrank.cli.model import SavedModel
from pushrank.cli.options import FeatureSource
from pushrank.cli.source.format import TextFormat
from pushrank.datasets import make_stream
from pushrank.limits import Limits, select
from pushrank.metrics.promises.days import hits_of_coming_days
from pushrank.monitoring import Reference
from tests.cli.runner import LABEL, call

pytestmark = pytest.mark.fast


@pytest.mark.parametrize("budget", ["0", "many", "1.5", "0/day", "3/fortnight", "3 a day"])
def test_a_budget_is_a_number_of_rows_in_all_or_in_every_period(files, budget):
    data = files / "data.csv"
    for command in (["compare", data], ["measure", data, "--score", "area"], ["fit", data, "-o", "m.skops"]):
        said = call(*command, *LABEL, "--budget", budget, code=2).stderr
        assert "'--budget'" in said
        assert repr(budget) in said
        assert "such as 150/day" in said


def test_a_budget_by_period_needs_the_column_of_times(files):
    data = files / "data.csv"
    out = ["-o", files / "r.html"]
    for command in (["compare", data], ["report", data, *out], ["fit", data, "-o", files / "m.skops"]):
        said = call(*command, *LABEL, "--budget", "3/day", code=2).stderr
        assert said.endswith("Error: --budget 3/day needs --time: the column of when a row came.\n")


@pytest.fixture
def days(tmp_path):
    stream = make_stream(30, 80, random_state=0)
    columns = {"came": stream.time, "y": stream.target, "a": stream.data[:, 0], "b": stream.data[:, 1]}
    frame = pd.DataFrame(columns | {"wave": stream.day // 5})
    frame.to_csv(tmp_path / "days.csv", index=False)
    return tmp_path / "days.csv", frame


@pytest.mark.filterwarnings("ignore:30 days promise no hit")
def test_measure_counts_hits_in_the_first_rows_of_every_period(days):
    path, frame = days
    measuring = ["measure", path, "--label", "y", "--score", "a", "--score", "b", "--budget"]
    result = call(*measuring, "10/day", "--time", "came", "--promise", "0.9", "--json")
    found, line = (
        json.loads(result.stdout),
        "warning: 30 days promise no hit among the first 10 rows of a day",
    )
    assert line in " ".join(result.stderr.split())
    scores = {name: frame[name] for name in "ab"}
    expected = metrics.measure_periods(frame["y"], scores, budget=Budget(10), time=frame["came"])
    promised = found.pop("promise")
    assert found == json.loads(json.dumps(expected.summary()))
    codes = Budget(10).periods(frame["came"]).codes
    options = {"k": 10, "confidence_level": 0.95}
    least = [metrics.guarantee_days(frame["y"], frame[name], codes, **options) for name in "ab"]
    assert list(promised["hits"].values()) == least
    said = call(*measuring, "10/day", "--time", "came").stdout
    assert "hits a day" in said
    assert "b against a" in said
    batches = json.loads(call(*measuring, "10/batch", "--time", "wave", "--json").stdout)
    assert np.sum(batches["periods"]["rows"]) == len(frame)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--budget", "10/day"], "needs --time"),
        (["--budget", "10", "--time", "came"], "--time is for a budget by period"),
        (["--budget", "10/day", "--time", "wave"], "needs dates"),
        (["--budget", "10/day", "--time", "none"], "--time 'none' is no column"),
        (["--budget", "10/batch", "--time", "none"], "--time 'none' is no column"),
        (["--budget", "10/day", "--time", "came", "--all"], "--all is for a budget of the whole file"),
        (["--budget", "10/day", "--time", "came", "--new-rows", "5"], "--new-rows is for a budget of the"),
    ],
)
def test_what_measuring_by_period_refuses(days, options, words):
    assert words in call("measure", days[0], "--label", "y", "--score", "a", *options, code=2).stderr


def test_what_limits_cost_has_an_interval_by_days_and_none_of_one_list(days):
    path, frame = days
    frame.assign(shop=np.arange(len(frame)) % 7).to_csv(path, index=False)
    given = ["measure", path, "--label", "y", "--score", "a", "--at-most", "2:shop"]
    by_day = ["--budget", "10/day", "--time", "came"]
    X = {"shop": np.arange(len(frame)) % 7}
    of = {"time": frame["came"], "limits": Limits({"shop": 2}), "X": X}
    expected = metrics.measure_periods(frame["y"], {"a": frame["a"]}, budget=Budget(10), **of)
    assert json.loads(call(*given, *by_day, "--json").stdout) == json.loads(json.dumps(expected.summary()))
    assert expected.sentences()[1] in " ".join(call(*given, *by_day).stdout.split())
    said = " ".join(call(*given, "--budget", 14).stdout.split())
    first = frame["y"][np.argsort(-frame["a"], kind="stable")[:14]].sum()
    within = frame["y"][select(frame["a"], 14, Limits({"shop": 2}), X=X)].sum()
    assert f"days.csv, a: {within} hits in the best 14 rows within limits, {first} in the first 14" in said
    assert "What limits cost one list has no interval" in said
    for wrong, words in {
        (): "--at-most and --at-least need --budget N",
        ("--budget", 14, "--promise", 0.95): "--promise is for a list without limits",
        ("--budget", 14, "--all"): "--all is for a list without limits",
        (
            "--budget",
            14,
            "--at-least",
            "1:shop=1",
            "--at-least",
            "2:shop=1",
        ): "--at-least names a value twice",
        ("--budget", 14, "--at-most", "2:store"): "--at-most 'store' is no column of",
        ("--budget", 14, "--at-least", "1:wave=9"): "at least 1 of wave '9', which 0 rows have",
    }.items():
        assert words in " ".join(call(*given, *wrong, code=2).stderr.split())
    # What is promised is of the list that is measured.
    said = " ".join(call(*given, *by_day, "--promise", 0.5).stdout.split())
    least = hits_of_coming_days(expected.hits["a"], 10, confidence_level=0.5)
    assert least > 0
    words = f"the best 10 rows within limits of a coming day hold at least {least} hits"
    assert f"a: with 50 % confidence {words}" in said
    frame.assign(shop=1, y=frame["y"].where(frame["b"] > 0)).to_csv(path, index=False)
    said = " ".join(call(*given, "--budget", 14, code=2).stderr.split())
    assert "--at-most needs a label in every row" in said


def test_a_list_upside_down_and_rows_that_were_learnt_from_warn(days):
    path, frame = days
    frame.assign(down=-frame["a"], team=frame["wave"].map("team {}".format)).to_csv(path, index=False)
    by_day = ["--budget", "10/day", "--time", "came"]
    shown = call("measure", path, "--label", "y", "--score", "down", *by_day, "--no-intervals")
    assert "worse than a random order" in shown.stderr
    assert "interval" not in shown.stdout
    teams = call("measure", path, "--label", "y", "--score", "a", "--budget", "10/batch", "--time", "team")
    assert "There are no intervals, which take 21 batches; found 6." in teams.stdout
    model = path.with_name("model.skops")
    call("fit", path, "--label", "y", "--exclude", "down,team,wave", "-o", model)
    shown = call("evaluate", model, path, *by_day)
    assert "hits a day" in shown.stdout
    assert "fitted to these very rows" in shown.stderr


FITTING = ["--label", "y", "--budget", "10/day", "--time", "came", "--exclude", "wave"]


def test_fit_saves_what_is_promised_in_every_period(days, tmp_path):
    path, frame = days
    frame["town"] = np.where(frame["a"] > 1, "B", None)
    frame.to_csv(path, index=False)
    said = call("fit", path, *FITTING, "-o", tmp_path / "m.skops").stdout
    saved = SavedModel.load(tmp_path / "m.skops")
    reference = saved.reference
    assert (saved.alert, reference.budget) == (None, Budget(10))
    assert set(reference.profiles) == {"a", "b", "town", "the scores"}
    assert reference.profiles["town"].cuts == ["B"]
    assert f"Expected: {reference.sentence}" in said
    source = FeatureSource(path, "y", exclude=["wave"])
    rows = read_features(source, TextFormat(), time="came").rows
    scores = held_out_scores(saved.pipeline, rows, Budget(10))
    # Days are held out whole, but for those of the first part, which is learnt from alone.
    by_day = pd.Series(np.isnan(scores)).groupby(frame["came"].dt.date.to_numpy()).mean()
    assert set(by_day) == {0.0, 1.0}
    assert list(reference.periods) == [str(day) for day in by_day.index[by_day == 0.0]]
    again = Reference.of(Budget(10), rows.times, scores, rows.y, rows.X)
    np.testing.assert_allclose(reference.roc, again.roc)
    np.testing.assert_allclose(reference.counts, again.counts)
    assert f"expected: {reference.sentence}" in " ".join(call("show", tmp_path / "m.skops").stdout.split())
    shown = json.loads(call("show", tmp_path / "m.skops", "--json").stdout)["expected"]
    assert shown["sentence"] == reference.sentence
    assert (shown["budget"], shown["looked_at_per_period"]) == ("10/day", 10.0)


@pytest.mark.parametrize("model", ["top-ranker-cv", "ensemble"])
def test_a_model_that_chooses_for_a_budget_takes_one_by_period(days, tmp_path, model):
    few = ["--member", "pnorm-push", "--member", "logistic-regression"] if model == "ensemble" else []
    call("fit", days[0], *FITTING, "--model", model, *few, "-o", tmp_path / "m.skops")
    saved = SavedModel.load(tmp_path / "m.skops")
    assert saved.reference.budget == getattr(saved.ranker, "budget", Budget(10)) == Budget(10)
    sizes = days[1]["came"].dt.strftime("%Y-%m-%d").value_counts()
    assert [sizes[day] for day in saved.reference.periods] == saved.reference.counts[0].tolist()


def test_days_that_promise_nothing_are_refused_before_a_fit(days, tmp_path):
    path, frame = days
    frame.assign(came=np.arange(len(frame))).to_csv(path, index=False)
    said = call("fit", path, *FITTING, "-o", tmp_path / "m.skops", code=2).stderr
    assert "a budget of 10 a day needs dates, and time holds numbers" in said
    frame.assign(came="2026-03-02").to_csv(path, index=False)
    said = call("fit", path, *FITTING, "-o", tmp_path / "m.skops", code=2).stderr
    assert "one to learn from before them, and time holds 1: add rows." in said
