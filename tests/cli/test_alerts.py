"""From a budget to a threshold: what fit stores, and what the other commands say of it."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import Pipeline
from typer.testing import CliRunner

from combinations import by_day
from pushrank.cli import app
from pushrank.cli.model import SavedModel, make_model, usual_rankers
from pushrank.cli.saved import Alert
from pushrank.cli.source.open import Source
from pushrank.cli.thresholds import alert_of_fit
from pushrank.held_out import Rows
from pushrank.model_selection.compare import STUMPS
from tests.cli.runner import call, fitted

BUDGET = 40


def made(n_rows, seed):
    """Rows with a column of text, of which about one in ten is a hit."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n_rows, 3)).round(6), columns=["a", "b", "c"])
    table["shop"] = rng.choice(["web", "store"], n_rows)
    odds = 2.0 * table["a"] + (table["shop"] == "web") - 3.5
    return table.assign(fraud=(rng.logistic(size=n_rows) < odds).astype(int))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    made(800, 0).to_csv(tmp_path / "data.csv", index=False)
    made(600, 1).to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


FITTING = (Path("data.csv"), "--label", "fraud", "--budget", BUDGET)


@pytest.mark.parametrize("n_rows", [80, 20_001, 3_000_000])
def test_the_default_of_fit_is_always_compared_under_its_name_with_its_parameters(n_rows):
    compared = usual_rankers(n_rows=n_rows)
    assert make_model(STUMPS).get_params() == compared[STUMPS].get_params()


@pytest.mark.usefixtures("folder")
def test_fit_takes_the_default_without_a_model_and_a_name_that_says_p_takes_no_other():
    shown = CliRunner().invoke(app, ["fit", "data.csv", "--label", "fraud", "-o", "model.skops"])
    assert f"model.skops: {STUMPS}, fitted to 800 rows" in shown.stdout
    told = call("fit", "data.csv", "--model", STUMPS, "--set", "p=8", "-o", "m.skops", code=2)
    assert f"'{STUMPS}' says which p; leave --set p out, or take --model push-boost" in told.stderr


# This model chooses by cross-validation in each of six fits; test_periods has it with a budget by day.
CHOOSES = "top-ranker-cv"


@pytest.mark.parametrize("model", by_day(["pnorm-push", STUMPS, "random-forest", CHOOSES], 1))
def test_every_model_keeps_a_budget_and_its_threshold(folder, model):
    said = call("fit", *FITTING, "--model", model, "-o", "model.skops").stdout
    alert = SavedModel.load(folder / "model.skops").alert
    assert (alert.budget, alert.of_rows, alert.n_scored) == (BUDGET, 800, 800)
    assert alert.low <= alert.threshold <= alert.high
    low, high = alert.expected(800)
    threshold = f"lert threshold: {alert.text(alert.threshold)}, which {low} to {high} of 800 new rows will"
    assert threshold in said
    assert threshold.lower() in call("show", "model.skops").stdout.replace("\n", " ")
    shown = json.loads(call("show", "model.skops", "--json").stdout)["alert"]
    assert (shown["threshold"], shown["budget"]) == (alert.threshold, BUDGET)


class Shifting(ClassifierMixin, BaseEstimator):
    """The first column, moved by so much for each tenfold of rows learnt from, and by chance in every fit."""

    def __init__(self, by_rows=0.0, by_chance=0.0):
        self.by_rows, self.by_chance = by_rows, by_chance

    def fit(self, X, y):
        chance = np.random.default_rng(int(1e6 * abs(X.sum()))).normal()
        self.classes_, self.shift_ = np.unique(y), self.by_rows * np.log10(len(X)) + self.by_chance * chance
        return self

    def decision_function(self, X):
        return X[:, 0] + self.shift_


def alert_of_shifting(X, time=None, **shifts):
    y = np.arange(len(X)) % 4 == 0
    fitted = Pipeline([("columns", "passthrough"), ("rank", Shifting(**shifts).fit(X, y))])
    return fitted, alert_of_fit(fitted, Rows(X, y, y, None, None, time), len(X) // 10, len(X))[0]


@pytest.mark.parametrize("n_rows", [400, 8000])
@pytest.mark.parametrize("by_rows", [2.0, -2.0])
def test_a_threshold_is_that_of_a_fit_to_all_rows(n_rows, by_rows):
    """Fits to parts of the rows score so much lower or higher that twice as many or none would reach it."""
    X = np.random.default_rng(0).normal(size=(n_rows, 1))
    fitted, alert = alert_of_shifting(X, by_rows=by_rows)
    reaching = (fitted.decision_function(X) >= alert.threshold).mean()
    assert abs(reaching - 0.1) < 0.02
    assert abs(alert.by_all / n_rows - 0.1) < 0.005


@pytest.mark.parametrize("by_chance", [0.0, 0.3])
def test_the_spread_between_fits_is_found_and_expected(by_chance):
    alert = alert_of_shifting(np.random.default_rng(0).normal(size=(3000, 1)), by_chance=by_chance)[1]
    # At a tenth the normal density is 0.175.
    assert alert.spread == pytest.approx(0.175 * by_chance, rel=0.5, abs=0.005)
    low, high = alert.expected(3000)
    assert (low < 170) == (high > 450) == (by_chance > 0.0)


def test_by_time_what_is_expected_allows_for_what_moved_before():
    """Scores that fall from day to day: of the next days hardly any row may reach the threshold."""
    days = np.arange(1200)
    X = np.random.default_rng(0).normal(size=(1200, 1)) - days[:, None] / 400.0
    assert alert_of_shifting(X, time=days)[1].expected(600)[0] == 0
    assert alert_of_shifting(X)[1].expected(600)[0] > 0


def test_scores_that_a_fit_has_seen_are_no_base_for_a_threshold(folder):
    """A forest knows its own rows by heart: by their scores a threshold would let hardly any row pass."""
    saved = SavedModel.load(fitted(*FITTING, "--model", "random-forest", "--set", "n_estimators=25"))
    scores = {name: saved.scores(saved.table(Source(folder / f"{name}.csv"))) for name in ("new", "data")}
    low, high = saved.alert.expected(600)
    assert low <= (scores["new"] >= saved.alert.threshold).sum() <= high
    assert (scores["new"] >= np.sort(scores["data"])[-BUDGET]).sum() < low


def test_commands_count_the_rows_that_reach_the_threshold(folder):
    saved = SavedModel.load(fitted(*FITTING))
    scores = saved.scores(saved.table(Source(folder / "new.csv")))
    n_alerts, (low, high) = int((scores >= saved.alert.threshold).sum()), saved.alert.expected(600)
    sentence = f"{n_alerts} of 600 rows reach the alert threshold, "
    said = call("score", "model.skops", "new.csv", "-o", "ranked.csv").stdout
    printed = float(said.partition(sentence)[2].partition(";")[0])
    assert (pd.read_csv("ranked.csv")["score"] >= printed).sum() == n_alerts
    measure = ["measure", "new.csv", "--model", "model.skops", "--no-intervals"]
    for shown in (said, call(*measure).stdout):
        assert sentence in shown
        assert f"{low} to {high} were to be expected.\n" in shown
    found = json.loads(call(*measure, "--json").stdout)["alert"]
    y = pd.read_csv("new.csv")["fraud"] == 1
    assert (found["rows"], found["expected_rows"]) == (n_alerts, [low, high])
    assert found["hits"] == (y & (scores >= saved.alert.threshold)).sum()
    new = made(600, 1)
    new.assign(a=new["a"] + 1.0).to_csv("new.csv", index=False)
    moved = call("score", "model.skops", "new.csv", "-o", "ranked.csv").output
    assert "The rows differ from those of the fit: 'a' is " in moved
    assert moved.endswith(". Measure the model, or fit it again.\n")


def test_the_model_that_compare_saves_has_the_threshold_of_its_held_out_rows(folder):
    arguments = ["compare", "data.csv", "--label", "fraud", "--model", "ir-push", "--folds", 2]
    found = json.loads(call(*arguments, "--budget", BUDGET, "--save", "best.skops", "--json").stdout)
    assert found["next"] == f"pushrank score best.skops NEW.csv --top {BUDGET} -o list.csv"
    alert = SavedModel.load(folder / "best.skops").alert
    assert (alert.budget, alert.of_rows, alert.n_scored) == (BUDGET, 800, 800)


def test_a_budget_beyond_the_rows_and_a_threshold_that_cannot_be_are_told(folder):
    told = call("fit", "data.csv", "--label", "fraud", "--budget", 801, "-o", "model.skops", code=2).stderr
    assert "--budget 801 exceeds the 800 rows of the data" in told
    table = made(800, 0).assign(a=0.0, b=0.0, c=lambda t: (t.index % 2).astype(float), shop="web")
    table.to_csv("data.csv", index=False)
    told = call("fit", *FITTING, "--hold-out", "25%", "-o", "model.skops").stderr
    assert "no alert threshold" in told
    assert "tie at the highest score" in told
    assert SavedModel.load(folder / "model.skops").alert is None


@pytest.mark.parametrize(("n_scored", "n_reaching", "n_new"), [(200, 10, 100), (500, 125, 500), (50, 1, 400)])
def test_the_number_of_alerts_in_new_rows_is_covered(n_scored, n_reaching, n_new):
    alert = Alert(n_reaching, n_scored, 0.0, 0.0, 0.0, n_scored, n_reaching)
    low, high = alert.expected(n_new)
    rng = np.random.default_rng(0)
    # Of uniform scores the n-th largest, and how many new ones exceed it.
    thresholds = np.sort(rng.random((4000, n_scored)), axis=1)[:, -n_reaching]
    n_alerts = rng.binomial(n_new, 1.0 - thresholds)
    assert 0.94 <= ((low <= n_alerts) & (n_alerts <= high)).mean() <= 0.985
