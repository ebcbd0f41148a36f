"""Budgets by period on the command line."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pushrank import metrics
from pushrank.budgets import Budget
from pushrank.cli.features import read_features
from pushrank.cli.forms import FitOptions
from pushrank.cli.model import SavedModel, make_model
from pushrank.cli.options import FeatureSource
from pushrank.cli.release import _held_out_scores, _set_budget
from pushrank.datasets import make_stream
from pushrank.limits import Limits, select
from pushrank.metrics.promises.days import hits_of_coming_days
from pushrank.monitoring import Reference
from tests.cli.runner import call, fitted

pytestmark = pytest.mark.fast
BY_DAY = ["--budget", "10/day", "--time", "came"]


@pytest.fixture
def days(tmp_path, monkeypatch):
    """30 days of 80 rows, of six waves and some shops."""
    monkeypatch.chdir(tmp_path)
    stream = make_stream(30, 80, random_state=0)
    columns = {"came": stream.time, "y": stream.target, "a": stream.data[:, 0], "b": stream.data[:, 1]}
    frame = pd.DataFrame(columns | {"wave": stream.day // 5, "shop": np.arange(len(stream.day)) % 7})
    frame.to_csv("days.csv", index=False)
    return frame


def measure(*more, code=0):
    return call("measure", "days.csv", "--label", "y", *more, code=code)


def fit(*more, code=0):
    words = ["fit", "days.csv", "--label", "y", *BY_DAY, "--exclude", "wave", "--exclude", "shop"]
    return call(*words, *more, "-o", "m.skops", code=code)


@pytest.mark.parametrize("budget", ["0", "many", "1.5", "0/day", "3/fortnight", "3 a day"])
def test_a_budget_is_a_number_of_rows_in_all_or_in_every_period(visits, budget):
    for command in (
        ["compare", visits],
        ["measure", visits, "--score", "a"],
        ["fit", visits, "-o", "m.skops"],
    ):
        said = call(*command, "--label", "fraud", "--budget", budget, code=2).stderr
        assert "'--budget'" in said
        assert repr(budget) in said
        assert "such as 150/day" in said


@pytest.mark.parametrize("command", [["compare"], ["fit", "-o", "m.skops"], ["measure", "--score", "a"]])
def test_a_budget_by_period_needs_the_column_of_times(visits, command):
    said = call(*command, visits, "--label", "fraud", "--budget", "3/day", code=2).stderr
    assert said.endswith("Error: --budget 3/day needs --time: the column of when a row came.\n")


def test_measure_counts_hits_in_the_first_rows_of_every_period(days):
    two = ["--score", "a", "--score", "b"]
    result = measure(*two, *BY_DAY, "--promise", "0.9", "--json")
    found, scores = json.loads(result.stdout), {name: days[name] for name in "ab"}
    promised = found.pop("promise")
    expected = metrics.measure_periods(days["y"], scores, budget=Budget(10), time=days["came"])
    assert found.items() >= json.loads(json.dumps(expected.summary())).items()
    codes = Budget(10).periods(days["came"]).codes
    least = [metrics.guarantee_days(days["y"], days[n], codes, k=10, n_coming=7).hits for n in "ab"]
    assert list(promised["hits"].values()) == least
    for every, shown in ((False, measure(*two, *BY_DAY)), (True, measure(*two, *BY_DAY, "--all"))):
        assert all(
            (sentence in shown.stdout) == (every or sentence in expected.sentences(every=False))
            for sentence in expected.sentences()
        )
    batches = json.loads(measure("--score", "a", "--budget", "10/batch", "--time", "wave", "--json").stdout)
    assert np.sum(batches["periods"]["rows"]) == len(days)


@pytest.mark.usefixtures("days")
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("--budget 10/day --time wave", "needs dates"),
        ("--budget 10/day --time none", "--time 'none' is no column"),
        ("--budget 10/batch --time none", "--time 'none' is no column"),
        ("--budget 10/day --time came --new-rows 5", "--new-rows is for a budget of the whole file"),
        ("--at-most 2:shop", "--at-most and --at-least need --budget N"),
        ("--at-most 2:shop --budget 14 --promise 0.95", "--promise is for a list without limits"),
        ("--at-most 2:shop --budget 14 --weight b", "--weight is for a list without limits"),
        ("--at-least 1:shop=1 --at-least 2:shop=1 --budget 14", "--at-least names a value twice"),
        ("--at-most 2:store --budget 14", "--at-most 'store' is no column of"),
        ("--at-least 1:wave=9 --budget 14", "at least 1 of wave '9', which 0 rows have"),
    ],
)
def test_what_measuring_by_period_and_within_limits_refuses(options, says):
    assert says in " ".join(measure("--score", "a", *options.split(), code=2).stderr.split())


def test_what_limits_cost_has_an_interval_by_days_and_none_of_one_list(days):
    given, X = ["--score", "a", "--at-most", "2:shop"], {"shop": days["shop"].to_numpy()}
    limits = Limits(at_most={"shop": 2})
    of = {"budget": Budget(10), "time": days["came"], "limits": limits, "X": X}
    expected = metrics.measure_periods(days["y"], {"a": days["a"]}, **of)
    found = json.loads(measure(*given, *BY_DAY, "--json").stdout)
    assert found.items() >= json.loads(json.dumps(expected.summary())).items()
    # What is promised is of the list that is measured.
    shown = " ".join(measure(*given, *BY_DAY, "--promise", 0.5).stdout.split())
    assert expected.sentences()[1] in shown
    least = hits_of_coming_days(expected.hits["a"], 7, confidence_level=0.5)
    assert least > 0
    together = "the best 10 rows within limits of each of the next 7 days hold at least"
    assert f"{together} {least} hits together" in shown
    first = days["y"][np.argsort(-days["a"], kind="stable")[:14]].sum()
    within = days["y"][select(days["a"], 14, limits, X=X)].sum()
    shown = measure(*given, "--budget", 14).stdout
    assert f"a on days.csv: {within} hits in the best 14 rows that keep the limits, {first} in the" in shown
    assert "What limits cost one list has no interval" in shown
    days.assign(y=days["y"].where(days["b"] > 0)).to_csv("days.csv", index=False)
    assert "--at-most needs a label in every row" in measure(*given, "--budget", 14, code=2).stderr


def test_a_list_upside_down_and_rows_that_were_learnt_from_warn(days):
    days.assign(down=-days["a"], team=days["wave"].map("team {}".format)).to_csv("days.csv", index=False)
    shown = measure("--score", "down", *BY_DAY, "--no-intervals")
    assert "worse than a random order" in shown.stderr
    assert "interval" not in shown.stdout
    teams = measure("--score", "a", "--budget", "10/batch", "--time", "team")
    assert "There are no intervals, which take 21 batches; found 6." in teams.stdout
    others = [word for name in ("down", "team", "wave", "shop") for word in ("--exclude", name)]
    model = fitted(Path("days.csv"), "--label", "y", *others)
    assert "fitted to these very rows" in measure("--model", model, *BY_DAY).stderr


def test_fit_saves_what_is_promised_in_every_period(days):
    days["town"] = np.where(days["a"] > 1, "B", None)
    days.to_csv("days.csv", index=False)
    facts = json.loads(fit("--json").stdout)
    saved = SavedModel.load(Path("m.skops"))
    reference = saved.reference
    assert (saved.alert, reference.budget) == (None, Budget(10))
    assert set(reference.profiles) == {"a", "b", "town", "the scores"}
    assert reference.profiles["town"].cuts == ["B"]
    assert (facts["expected"], facts["state"]) == (json.loads(json.dumps(reference.facts())), "m.alert.db")
    source = FeatureSource(Path("days.csv"), "y", exclude=["wave", "shop"])
    rows = read_features(source, FitOptions(output=Path(), time="came", budget=Budget(10))).rows
    scores = _held_out_scores(saved.pipeline, rows, Budget(10), None)
    # Days are held out whole, but for those of the first part, which is learnt from alone.
    by_day = pd.Series(np.isnan(scores)).groupby(days["came"].dt.date.to_numpy()).mean()
    assert set(by_day) == {0.0, 1.0}
    assert list(reference.periods) == [str(day) for day in by_day.index[by_day == 0.0]]
    again = Reference.of(Budget(10), rows.times, scores, rows.y, rows.X)
    np.testing.assert_allclose(reference.roc, again.roc)
    np.testing.assert_allclose(reference.counts, again.counts)
    sizes = days["came"].dt.strftime("%Y-%m-%d").value_counts()
    assert [sizes[day] for day in reference.periods] == reference.counts[0].tolist()
    assert f"expected: {reference.sentence}" in " ".join(call("show", "m.skops").stdout.split())
    shown = json.loads(call("show", "m.skops", "--json").stdout)["expected"]
    assert shown["sentence"] == reference.sentence
    assert (shown["budget"], shown["looked_at_per_period"]) == ("10/day", 10.0)
    assert "m.alert.db exists; to forget what was decided in it: --force." in fit(code=2).stderr


def test_a_model_that_chooses_for_a_budget_knows_it():
    ranker = make_model("top-ranker-cv")
    _set_budget(ranker, 30, 300)
    assert ranker.fraction == 0.1
    _set_budget(ranker, Budget(10), 300)
    assert ranker.budget == Budget(10)


def test_days_that_promise_nothing_are_refused_before_a_fit(days):
    days.assign(came=np.arange(len(days))).to_csv("days.csv", index=False)
    assert "a budget of 10 a day needs dates, and time holds numbers" in fit(code=2).stderr
    days.assign(came="2026-03-02").to_csv("days.csv", index=False)
    assert "one to learn from before them, and time holds 1: add rows." in fit(code=2).stderr
    assert not Path("m.skops").exists()
