"""An ensemble: several ``--model`` of ``fit``, one list of them, saved, measured and shown."""

import json
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from pushrank import load, metrics, save
from pushrank.cli import model as cli_model
from pushrank.cli.compare import fit_options
from pushrank.cli.forms import CompareOptions
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
from pushrank.cli.source.open import Source
from pushrank.held_out import Rows
from pushrank.model_selection.compare import (
    BASELINE,
    EXTRA_TREES,
    GRADIENT_BOOSTING,
    LIGHTGBM,
    MAX_SLOW_ROWS,
    PUSH,
    SMALL_STEPS,
    STUMPS,
)
from tests.cli.runner import LABEL, call

QUICK = (BASELINE, PUSH, LIGHTGBM)
MEMBERS = [word for name in QUICK for word in ("--model", name)]


@pytest.fixture(scope="module")
def saved(tmp_path_factory, frame):
    """The folder of an ensemble of rows with texts and gaps, and what its fit said."""
    folder = tmp_path_factory.mktemp("ensemble")
    frame[::3].to_csv(folder / "data.csv", index=False)
    options = ["--budget", 40, "--probability", "-o", folder / "m.skops"]
    said = call("fit", folder / "data.csv", *LABEL, *MEMBERS, *options)
    assert f"Fitting 3 models to parts of the rows: {'; '.join(QUICK)}.\n" in said.stderr
    return folder, said.stdout


def test_an_ensemble_scores_and_says_its_threshold(saved):
    folder, said = saved
    assert "m.skops: ensemble, fitted to 190 rows" in said
    assert "for a budget of 40." in said
    scoring = ["score", folder / "m.skops", folder / "data.csv", "-o", folder / "ranked.csv"]
    call(*scoring, "--probability", "--columns", "class")
    ranked = pd.read_csv(folder / "ranked.csv")
    assert (np.diff(ranked["probability"]) <= 0).all()
    assert (ranked["class"][:40] == "malignant").mean() > 0.95
    model = SavedModel.load(folder / "m.skops")
    # By fits of its members to other rows, and the weights and scales of the fit to all.
    held_out = np.sort(model.ranker.held_out_scores_)
    assert held_out[-50] < model.alert.threshold < held_out[-30]
    found = json.loads(call("show", folder / "m.skops", "--json").stdout)
    assert found["weights"] == model.ranker.weights_
    assert sum(found["weights"].values()) == pytest.approx(1.0)
    assert f"final = {found['chosen']['final']}" in call("show", folder / "m.skops").stdout


def test_measure_says_which_member_finds_what_no_other_does(saved):
    folder, model = saved[0], SavedModel.load(saved[0] / "m.skops")
    arguments = (
        "measure",
        folder / "data.csv",
        "--model",
        folder / "m.skops",
        "--budget",
        40,
        "--no-intervals",
    )
    found = json.loads(call(*arguments, "--all", "--json").stdout)["members"]
    weights = {name: weight for name, weight in model.ranker.weights_.items() if weight > 0.0}
    assert {row["name"]: row["weight"] for row in found} == weights
    y = pd.read_csv(folder / "data.csv")["class"].to_numpy() == "malignant"
    columns = model.member_scores(model.features(model.table(Source(folder / "data.csv"))))
    for row in found:
        first = np.argsort(-columns[row["name"]][1], kind="stable")[:40]
        assert row["hits"] == pytest.approx(y[first].sum(), abs=1.0)
        assert 0.0 <= row["alone"] <= row["hits"]
    shown = call(*arguments, "--all").stdout
    assert all(row["name"] in shown for row in found)
    # The first screen has no such table, and weighted rows have none.
    assert PUSH not in call(*arguments).stdout


def test_members_take_columns_in_their_way():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"a": rng.normal(size=300), "b": np.arange(300) % 2, "t": rng.choice(["x", "y", None], 300)}
    )
    y = (X["a"].abs() + (X["t"] == "x") + rng.normal(size=300) > 1.5).to_numpy()
    members = {name: make_model(name) for name in (BINNED, SMALL_STEPS)}
    models = make_ranking_pipelines(members, ["a", "b"], ["t"])
    with warnings.catch_warnings(action="error"):
        fitted = {name: fit_pipeline(model, Rows(X, y, y)) for name, model in models.items()}
    # Ten bins of the first column and two of the second, beside both, and the texts with their gap.
    assert fitted[BINNED][-1].coef_.shape == (1, 2 + 10 + 2 + 3)
    names = [*fitted[BINNED][:-1].get_feature_names_out()]
    assert names[:3] == ["numbers__a", "numbers__b", "numbers__a_0.0"]
    assert fitted[SMALL_STEPS][-1].booster_.params["categorical_column"] == [2]
    left = make_ranking_pipelines({"one": members[SMALL_STEPS]}, ["a"], ["t"], n_many=1)["one"][-1]
    assert "categorical_column" not in left.get_params()


def test_a_network_bears_any_numbers_and_is_saved(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=400), "t": rng.choice(["x", "y", None], 400)})
    y = (X["a"].abs() + (X["t"] == "x") > 1.5).to_numpy()
    X["a"] = np.exp(20.0 * X["a"])
    X.loc[::50, "a"] = np.nan
    model = make_ranking_pipelines({NETWORK: make_model(NETWORK)}, ["a"], ["t"])[NETWORK]
    with warnings.catch_warnings(action="error"):
        fitted = fit_pipeline(model, Rows(X, y, y))
    scores = fitted.predict_proba(X)[:, 1]
    assert metrics.average_precision(y, scores) > 0.9
    save(fitted, tmp_path / "m.skops")
    np.testing.assert_array_equal(load(tmp_path / "m.skops").predict_proba(X)[:, 1], scores)
    for n_rows in (MIN_NETWORK_ROWS - 1, MAX_SLOW_ROWS + 1):
        assert NETWORK not in table_rankers(n_rows=n_rows)
    assert NETWORK in table_rankers(n_rows=MIN_NETWORK_ROWS)


def test_times_reach_the_members_which_are_fitted_in_processes(visits, monkeypatch):
    seen, fit_it = [], cli_model.fit_pipeline

    def spied(pipeline, rows):
        seen.append([pipeline.get_params()[f"rank__{name}"] for name in ("n_jobs", "verbose")])
        return fit_it(pipeline.set_params(rank__n_jobs=None), rows)

    monkeypatch.setattr(cli_model, "fit_pipeline", spied)
    given = ["--label", "fraud", "--exclude", "customer", "--time", "day", "--jobs", 2]
    model = visits.with_name("jobs.skops")
    call("fit", visits, *given, "--model", "ir-push", "--model", "logistic-regression", "-o", model)
    assert seen == [[2, False]]
    ranker = SavedModel.load(model).ranker
    assert (ranker.n_jobs, ranker.verbose) == (None, False)
    assert np.isnan(ranker.held_out_scores_).any()


def test_the_seed_is_that_of_the_weights_and_members_suit_the_rows():
    models = {"ensemble": make_model("ensemble", 3)}
    [pipeline] = make_ranking_pipelines(models, ["x"], []).values()
    assert pipeline[-1].random_state == 3
    assert {member[-1].get_params().get("random_state") for _, member in pipeline[-1].estimators} == {None, 0}
    few, many = (list(ensemble_members(n_rows)) for n_rows in (1000, 1_000_000))
    assert few == [BASELINE, PUSH, STUMPS, GRADIENT_BOOSTING, SMALL_STEPS, EXTRA_TREES]
    assert many == few[:-1]


@pytest.mark.parametrize(
    ("asked", "compared", "chosen", "fitted"),
    [
        (["pnorm-push", "ir-push"], [PUSH, "IR Push"], "ensemble", [PUSH, "IR Push"]),
        (["pnorm-push", "ir-push"], [PUSH, "IR Push"], "IR Push", ["IR Push"]),
        (None, [BASELINE, PUSH, STUMPS], "ensemble", ["ensemble"]),
        (["all"], [BASELINE, PUSH, STUMPS], "ensemble", ["ensemble"]),
        (["ensemble", "ir-push"], ["ensemble", "IR Push"], "ensemble", ["ensemble"]),
    ],
)
def test_what_is_fitted_has_the_members_that_were_compared(asked, compared, chosen, fitted):
    found = SimpleNamespace(
        comparison=SimpleNamespace(chosen_=chosen),
        models=dict.fromkeys(compared),
        data=SimpleNamespace(time=None),
        budget_of_rows_learnt=None,
    )
    options = fit_options(CompareOptions(model=asked, jobs=2, save=Path("m.skops")), found)
    assert (options.model, options.output) == (fitted, Path("m.skops"))
    assert options.jobs == (2 if chosen == "ensemble" else 1)
