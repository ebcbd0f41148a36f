"""pushrank fit --model ensemble: one list of several models, saved, measured, shown and explained."""

import json
import re
import shlex
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from combinations import by_day
from pushrank import StackingRanker, load, metrics, save
from pushrank.cli import fit as cli_fit
from pushrank.cli import model as cli_model
from pushrank.cli.compare import fit_command
from pushrank.cli.model import (
    BINNED,
    MIN_NETWORK_ROWS,
    NETWORK,
    SavedModel,
    ensemble_members,
    fit_pipeline,
    make_model,
    make_ranking_pipelines,
    table_rankers,
)
from pushrank.cli.options import ComparisonConfig, FeatureSource
from pushrank.cli.source.format import DEFAULT_FORMAT
from pushrank.held_out import Rows
from pushrank.model_selection import RankerComparison
from pushrank.model_selection.compare import (
    BASELINE,
    EXTRA_TREES,
    GRADIENT_BOOSTING,
    IR_PUSH,
    LIGHTGBM,
    MAX_SLOW_ROWS,
    PUSH,
    SMALL_STEPS,
    STUMPS,
    known_rankers,
)
from tests.cli.runner import LABEL, call, fit

QUICK = (BASELINE, PUSH, LIGHTGBM)
USUAL = cli_model.compare.default_rankers


def quick_rankers(*names):
    """A function that takes the place of default_rankers, and returns these models."""
    return lambda **of: {name: model for name, model in known_rankers(**of).items() if name in names}


@pytest.fixture(autouse=True)
def quick_members(monkeypatch):
    monkeypatch.setattr(cli_model.compare, "default_rankers", quick_rankers(*QUICK))


@pytest.fixture(scope="module")
def saved(written):
    """Return a folder with an ensemble of rows with texts and gaps, and what its fit said."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cli_model.compare, "default_rankers", quick_rankers(*QUICK))
        options = ["--model", "ensemble", "--budget", 100, "--probability"]
        said = call("fit", written / "data.csv", *LABEL, *options, "-o", written / "m.skops")
    members = "logistic regression; P-Norm Push, p = 16; LightGBM"
    assert f"Fitting 3 models to parts of the rows: {members}.\n" in said.stderr
    return written, said.stdout


def test_an_ensemble_scores_and_says_its_size_and_threshold(saved):
    folder, said = saved
    assert "ensemble fitted on 569 rows" in said
    assert f"m.skops ({(folder / 'm.skops').stat().st_size / 1e6:,.0f} MB)." in said
    assert "for a budget of 100 of 569 rows, 95 % interval" in said
    scoring = ["score", folder / "m.skops", folder / "data.csv", "-o", folder / "ranked.csv", "--force"]
    call(*scoring, "--probability", "--columns", "class")
    ranked = pd.read_csv(folder / "ranked.csv")
    assert (np.diff(ranked["probability"]) <= 0).all()
    assert (ranked["class"][:100] == "malignant").mean() > 0.95
    model = SavedModel.load(folder / "m.skops")
    # By fits of its members to other rows, and the weights and scales of the fit to all.
    held_out = model.ranker.held_out_scores_
    assert np.sort(held_out)[-110] < model.alert.threshold < np.sort(held_out)[-90]
    assert set(dict(model.ranker.estimators)) == set(QUICK)


def test_members_take_columns_in_their_way():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"a": rng.normal(size=300), "b": np.arange(300) % 2, "t": rng.choice(["x", "y", None], 300)}
    )
    y = (X["a"].abs() + (X["t"] == "x") + rng.normal(size=300) > 1.5).to_numpy()
    members = {name: make_model(name) for name in (BINNED, SMALL_STEPS)}
    models = make_ranking_pipelines(members, ["a", "b"], ["t"], sparse=False)
    with warnings.catch_warnings(action="error"):
        fitted = {name: fit_pipeline(model, Rows(X, y, y)) for name, model in models.items()}
    # Ten bins of the first column and two of the second, beside both, and the texts with their gap.
    assert fitted[BINNED][-1].coef_.shape == (1, 2 + 10 + 2 + 3)
    assert [*fitted[BINNED][:-1].get_feature_names_out()][:3] == [
        "numbers__a",
        "numbers__b",
        "numbers__a_0.0",
    ]
    assert fitted[SMALL_STEPS][-1].booster_.params["categorical_column"] == [2]
    alone = {"one": members[SMALL_STEPS]}
    left = make_ranking_pipelines(alone, ["a"], ["t"], n_many=1, sparse=False)["one"][-1]
    assert "categorical_column" not in left.get_params()


def test_a_network_bears_any_numbers_and_is_saved(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=400), "t": rng.choice(["x", "y", None], 400)})
    y = (X["a"].abs() + (X["t"] == "x") > 1.5).to_numpy()
    X["a"] = np.exp(20.0 * X["a"])
    X.loc[::50, "a"] = np.nan
    model = make_ranking_pipelines({NETWORK: make_model(NETWORK)}, ["a"], ["t"], sparse=False)[NETWORK]
    with warnings.catch_warnings(action="error"):
        fitted = fit_pipeline(model, Rows(X, y, y))
    scores = fitted.predict_proba(X)[:, 1]
    assert metrics.average_precision(y, scores) > 0.9
    save(fitted, tmp_path / "m.skops")
    np.testing.assert_array_equal(load(tmp_path / "m.skops").predict_proba(X)[:, 1], scores)
    for n_rows in (MIN_NETWORK_ROWS - 1, MAX_SLOW_ROWS + 1):
        assert NETWORK not in table_rankers(n_rows=n_rows)
    assert NETWORK in table_rankers(n_rows=MIN_NETWORK_ROWS)


def test_members_are_fitted_in_processes_and_a_bar_shows_them(saved, monkeypatch):
    seen, fit_it = [], cli_fit.fit_pipeline

    def spied(pipeline, rows):
        seen.append({name: pipeline.get_params()[f"rank__{name}"] for name in ("n_jobs", "verbose")})
        return fit_it(pipeline.set_params(rank__n_jobs=None), rows)

    monkeypatch.setattr(cli_fit, "fit_pipeline", spied)
    given = ["fit", saved[0] / "data.csv", *LABEL, "--jobs", 2, "-o", saved[0] / "jobs.skops"]
    call(*given, "--model", "ensemble")
    assert seen == [{"n_jobs": 2, "verbose": False}]
    model = SavedModel.load(saved[0] / "jobs.skops").ranker
    assert (model.n_jobs, model.verbose) == (None, False)
    assert "--jobs is a number of processes, or -1, for --model ensemble" in call(*given, code=2).stderr


def test_the_seed_is_that_of_the_weights_and_members_are_those_of_compare():
    models = {"ensemble": make_model("ensemble", 3)}
    [pipeline] = make_ranking_pipelines(models, ["x"], [], sparse=False).values()
    assert pipeline[-1].random_state == 3
    seeds = {member[-1].get_params().get("random_state") for _, member in pipeline[-1].estimators}
    assert seeds == {None, 0}


def test_the_price_of_an_ensemble_is_printed_beside_it(written, tmp_path, monkeypatch):
    taken = {"most": -1, "single": 0, "simplest": 0}
    monkeypatch.setattr(RankerComparison, "taken", lambda self, how: list(self.measures)[taken[how]])
    models = ("--model", "logistic-regression", "--model", PUSH, "--folds", 2)
    arguments = ("compare", written / "data.csv", *LABEL, *models)
    shown = call(*arguments, "--save-best", tmp_path / "m.skops").stdout
    said = (
        r"Price of the ensemble: 2 models in [\d.]+ MB, [\d.e-]+ s to score 1,000 rows, and sampled reasons"
    )
    assert re.search(rf"^{said}; --choose single takes logistic regression\.$", shown, re.MULTILINE)
    found = json.loads(call(*arguments, "--budget", 100, "--json").stdout)
    assert (found["chosen"], found["choices"]["single"]) == ("ensemble", "logistic regression")
    assert (found["price"]["models"], found["price"]["reasons"]) == (2, "sampled")
    assert re.search(r", which found [\d.]+ hits in 100 rows\.$", found["price"]["sentences"][0])
    assert (
        found["price"]["hits_of_single"] == found["models"]["logistic regression"]["hits in budget"]["mean"]
    )
    # Who asked for the ensemble by another way, or for no ensemble, is not told of its price.
    assert "price" not in json.loads(call(*arguments, "--choose", "single", "--json").stdout)


@pytest.mark.nightly
def test_the_command_that_is_printed_fits_the_ensemble_that_was_compared(written, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    taken = {"most": -1, "single": 0, "simplest": 0}
    monkeypatch.setattr(RankerComparison, "taken", lambda self, how: list(self.measures)[taken[how]])
    models = ("--model", "logistic-regression", "--model", "P-Norm Push, p = 16", "--alpha", 0.2)
    arguments = ("compare", written / "data.csv", *LABEL, *models, "--folds", 2, "--budget", 100)
    found = json.loads(call(*arguments, "--save-best", "best.skops", "--json").stdout)
    assert list(found["models"]) == ["logistic regression", "P-Norm Push, p = 16", "ensemble"]
    command = shlex.split(found["fit"])
    assert command.count("--member") == 2
    call(*["model.skops" if word == "best.skops" else word for word in command[1:]])
    best, later = SavedModel.load(Path("best.skops")), SavedModel.load(Path("model.skops"))
    assert best.name == later.name == "ensemble"
    assert best.alert == later.alert
    features = best.features(best.read(written / "data.csv"))
    np.testing.assert_array_equal(best.scores(features), later.scores(features))
    wrong = ("fit", written / "data.csv", *LABEL, "--model", "ir-push", "--member", "pnorm-push")
    assert "--member is for --model ensemble" in call(*wrong, "-o", "no.skops", code=2).stderr


def test_show_prints_weights_and_how_they_were_found(saved):
    model = saved[0] / "m.skops"
    found = json.loads(call("show", model, "--json").stdout)
    assert set(found["weights"]) == set(QUICK)
    assert sum(found["weights"].values()) == pytest.approx(1.0)
    assert found["candidates"] == []
    text = call("show", model).stdout
    chosen = f"chosen: final = {found['chosen']['final']}"
    for part in ("StackingRanker(random_state=0, refit=True)", chosen, "P-Norm Push", "┃ member"):
        assert part in text, part
    assert "estimators=" not in text


def test_evaluate_says_which_member_finds_what_no_other_does(saved):
    folder, model = saved[0], SavedModel.load(saved[0] / "m.skops")
    report = folder / "report.html"
    arguments = ("evaluate", folder / "m.skops", folder / "data.csv", "--budget", 100, "--no-intervals")
    found = json.loads(call(*arguments, "--json").stdout)["members"]
    assert {row["name"]: row["weight"] for row in found} == {
        name: weight for name, weight in model.ranker.weights_.items() if weight > 0.0
    }
    y = pd.read_csv(folder / "data.csv")["class"].to_numpy() == "malignant"
    columns = model.member_scores(model.features(model.read(folder / "data.csv")))
    first = {name: set(np.argsort(-scores, kind="stable")[:100]) for name, (_, scores) in columns.items()}
    for row in found:
        assert row["hits"] == pytest.approx(sum(y[list(first[row["name"]])]), abs=1.0)
        assert 0.0 <= row["alone"] <= row["hits"]
    text = call(*arguments, "-o", report, "--force").stdout
    assert "of them in no other member's" in text
    page = report.read_text()
    assert "Which member finds what" in page
    assert all(row["name"] in page for row in found)
    # Of weighted rows, and of other models, there is no such table.
    assert "other member" not in call(*arguments, "--weight", "radius", code=2).stdout


@pytest.mark.nightly
def test_a_report_says_which_columns_drive_an_ensemble(files, monkeypatch):
    monkeypatch.setattr(cli_model.compare, "default_rankers", quick_rankers(*QUICK[:2]))
    models = ["--model", "ensemble", "--model", "logistic-regression"]
    more = ["--folds", 2, "--budget", 50, "-o", files / "report.html"]
    call("report", files / "data.csv", *LABEL, *models, *more)
    page = (files / "report.html").read_text()
    assert "The sum of the scores of other models" in page
    assert "What drives the ranking" in page


@pytest.mark.parametrize("by", by_day([["--time", "when"], ["--weight", "when"]], 1))
def test_times_and_weights_reach_the_members(files, frame, by):
    frame.assign(when=np.arange(1, len(frame) + 1)).to_csv(files / "data.csv", index=False)
    ranker = load(fit(files, "--model", "ensemble", "--budget", 60, *by))[-1]
    assert isinstance(ranker, StackingRanker)
    assert np.isnan(ranker.held_out_scores_).any() == (by[0] == "--time")


def test_libsvm_files_have_linear_members(files):
    ranker = load(fit(files, "--model", "ensemble", data="data.libsvm"))[-1]
    assert set(ranker.weights_) == set(QUICK[:2])


def test_an_ensemble_is_not_exported_and_the_message_names_its_members(saved):
    folder = saved[0]
    message = " ".join(call("export", folder / "m.skops", "-o", folder / "m.py", code=2).stderr.split())
    assert "StackingRanker cannot be exported" in message
    assert any(name in message for name in QUICK)


def test_members_are_those_that_suit_the_rows(monkeypatch):
    monkeypatch.setattr(cli_model.compare, "default_rankers", USUAL)
    few, many, sparse = (
        list(ensemble_members(n_rows, dense=dense))
        for n_rows, dense in ((1000, True), (1_000_000, True), (1000, False))
    )
    assert few == [BASELINE, PUSH, STUMPS, GRADIENT_BOOSTING, SMALL_STEPS, EXTRA_TREES]
    assert many == few[:-1]
    assert sparse == [BASELINE, PUSH, IR_PUSH]


@pytest.mark.parametrize("best", ["ensemble", "IR Push"])
def test_the_command_of_a_comparison_fits_an_ensemble_where_that_is_best(best):
    pipeline = make_ranking_pipelines({best: make_model("ir-push")}, ["x"], [], sparse=False)[best]
    table = SimpleNamespace(is_sparse=False)
    data = SimpleNamespace(table=table, label="y", positive="1", time=None)
    found = {"comparison": SimpleNamespace(chosen_=best), "models": {best: pipeline}}
    compared = SimpleNamespace(**found, data=data, budget_of_rows_learnt=None)
    source = FeatureSource(Path("data.csv"))
    command = fit_command(source, DEFAULT_FORMAT, ComparisonConfig(), compared, Path("m.skops"))
    assert ("--model ensemble" in command) == (best != "IR Push")
    assert f"--model {shlex.quote(best)}" in command
