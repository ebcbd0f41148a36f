"""What ``pushrank compare`` asks of the rows, how it counts ties, and what its JSON holds."""

import json
import re
import shlex
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.model_selection import StratifiedGroupKFold

from pushrank.cli import comparison
from pushrank.cli.compare import _figures
from pushrank.cli.errors import in_option_names
from pushrank.cli.model import NETWORK, SavedModel, make_model, make_ranking_pipelines
from pushrank.cli.options import ComparisonConfig
from pushrank.held_out import Plan
from pushrank.model_selection.compare import SMALL_STEPS
from tests.cli.runner import FEW, LABEL, TWO, call


def models_of(config, y, **options):
    """The models that are compared on rows with labels."""
    return comparison.models_to_compare(config, Plan.of(np.zeros((len(y), 1)), y, cv=config.folds), **options)


def rare(folder, n_rare):
    """The arguments that compare models on 80 rows, some of them rare."""
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 2)), columns=["a", "b"])
    table.assign(y=(np.arange(80) < n_rare).astype(int)).to_csv(folder / "rare.csv", index=False)
    return ["compare", folder / "rare.csv", "--label", "y", *FEW]


def test_too_few_rows_are_told_with_advice_that_works(tmp_path):
    for n_rare, options, said in (
        (4, [], "5 folds need at least 5 rows in each class: choose at most 4 folds."),
        (1, ["--folds", 3], "a class has 1 row; 2 folds need at least 2 rows in each class"),
        (1, [], "2 folds need at least 2 rows in each class, and there are no fewer folds: add rows."),
    ):
        result = call(*rare(tmp_path, n_rare), *options, code=2)
        *notes, error = result.stderr.strip().splitlines()
        assert said in error
        assert all("of one of the two classes" in note for note in notes)


def test_tied_rows_count_by_the_expectation(tmp_path):
    """Equal scores put as many hits among the first rows as there are among all."""
    names = [f"row {row}" for row in range(60)]  # of rows that no training part holds
    table = pd.DataFrame({"plan": names, "y": [1, 0, 0] * 20})
    table.to_csv(tmp_path / "equal.csv", index=False)
    arguments = ["compare", tmp_path / "equal.csv", "--label", "y", *FEW, "--folds", 2]
    by_share, by_budget = ([], "precision at 1/4", 1 / 3), (["--budget", 9], "hits in budget", 3)
    for more, criterion, expected in (by_share, by_budget):
        shown = call(*arguments, *more, "--json")
        progress = ["1 of 2 parts compared", "2 of 2 parts compared"]
        assert shown.stderr.splitlines()[-2:] == progress
        summary = json.loads(shown.stdout)
        assert summary["verdict"].startswith("No model is better at the top than another")
        for model, measures in summary["models"].items():
            assert measures[criterion]["mean"] == pytest.approx(expected), model
    # What is printed is the same but for how far it has come.
    quiet = call(*arguments, *more, "--json", "--quiet")
    assert (quiet.stdout, quiet.stderr.splitlines()) == (shown.stdout, shown.stderr.splitlines()[:-2])


def test_json_holds_the_differences_with_intervals(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 2)), columns=["a", "b"])
    frame.assign(y=(frame["a"] > 0.3).astype(int)).to_csv(tmp_path / "a.csv", index=False)
    arguments = ["compare", tmp_path / "a.csv", "--label", "y", *FEW, "--folds", 3, "--keep", "a"]
    summary = json.loads(call(*arguments, "--json").stdout)
    best, criterion, models = summary["chosen"], summary["criterion"], summary["models"]
    assert set(summary["differences"]) == set(models) - {best}
    for model, difference in summary["differences"].items():
        gain = models[best][criterion]["mean"] - models[model][criterion]["mean"]
        assert difference["mean"] == pytest.approx(gain)
        reach = stats.t.ppf(0.975, 2) * difference["standard_error"]
        assert difference["low"] == pytest.approx(gain - reach)
        assert difference["high"] == pytest.approx(gain + reach)


FORESTS = ["random forest", "extra trees", "random forest, balanced"]
SLOW_ONES = ["linear, chosen for the top", *FORESTS, NETWORK]
SET_ASIDE = ["--exclude", "customer", "--exclude", "day", "--exclude", "amount"]


@pytest.mark.parametrize("best", ["P-Norm Push, p = 4", "gradient boosting"])
def test_the_command_that_is_printed_fits_the_best_model_as_it_was_compared(visits, best, monkeypatch):
    monkeypatch.chdir(visits.parent)
    arguments = ["compare", "visits.csv", "--label", "fraud", *SET_ASIDE, "--folds", 2, "--alpha", 0.2]
    found = json.loads(call(*arguments, "--model", best, "--save-best", "best.skops", "--json").stdout)
    assert list(found["models"]) == [best]
    command = shlex.split(found["fit"])
    assert command[command.index("--model") + 1] == best
    call(*["model.skops" if word == "best.skops" else word for word in command[1:]])
    for name in ("best", "model"):
        call("score", f"{name}.skops", "visits.csv", "-o", f"{name}.csv")
    assert (visits.parent / "best.csv").read_bytes() == (visits.parent / "model.csv").read_bytes()


def test_models_are_chosen_by_the_names_of_fit_and_of_the_table(visits):
    arguments = ["compare", visits, "--label", "fraud", *SET_ASIDE, "--folds", 2]
    for name, expected in (
        ("pnorm-push", ["P-Norm Push, p = 1", "P-Norm Push, p = 8"]),
        ("ir-push", ["IR Push"]),
        ("infinite-push", ["infinite-push"]),
    ):
        found = json.loads(call(*arguments, "--p", 8, "--model", name, "--no-together", "--json").stdout)
        assert list(found["models"]) == expected
    told = call(*arguments, "--model", "svm", code=2).stderr
    assert "--model 'svm' is not known" in told
    assert "or a name that compare prints, such as 'boosted stumps, p = 16'" in told


def test_models_that_choose_know_the_budget_and_how_many_rows_a_choice_needs():
    config = ComparisonConfig(budget=30, model=["top-ranker-cv", "pnorm-push"], p=[4.0], folds=2)
    y = np.arange(300) < 10
    found = models_of(config, y, dense=True)
    assert list(found) == ["linear, chosen for the top", "P-Norm Push, p = 1", "P-Norm Push, p = 4"]
    assert found["linear, chosen for the top"].fraction == 0.1
    defaults = replace(config, model=["all"])
    assert "linear, chosen for the top" in models_of(defaults, y, dense=False)
    # Groups are no concern of a choice by a number of folds, and nothing is warned of.
    parts = {"groups": np.arange(300) // 2, "cv": StratifiedGroupKFold(2)}
    assert Plan.of(np.zeros((300, 1)), y, **parts).can_split_again(2)
    y[9] = False
    assert "linear, chosen for the top" not in models_of(defaults, y, dense=False)


@pytest.mark.parametrize(
    ("n_rows", "left_out", "why"),
    [
        (150, ["LightGBM", SMALL_STEPS, NETWORK], "there are too few rows for them"),
        (327_346, SLOW_ONES, "they take minutes on this many rows"),
    ],
)
def test_every_model_that_is_left_out_is_named(n_rows, left_out, why, capsys):
    y = np.arange(n_rows) % 10 == 0
    models = models_of(ComparisonConfig(model=["all"]), y, dense=True)
    told = capsys.readouterr().err
    assert f"not compared, because {why}: {', '.join(left_out)}." in told
    assert not set(left_out) & set(models)
    for name in left_out:
        assert f"--model {shlex.quote(name)}" in told
        assert list(models_of(ComparisonConfig(model=[name]), y, dense=True)) == [name]


def test_six_models_are_compared_by_default_and_all_by_that_name():
    y = np.arange(2_000) % 10 == 0
    usual = ["logistic regression", "P-Norm Push, p = 16", "boosted stumps, p = 16", "gradient boosting"]
    usual += [SMALL_STEPS, "extra trees"]
    assert list(models_of(ComparisonConfig(), y, dense=True)) == usual
    pushes = ["P-Norm Push, p = 8", "P-Norm Push, p = 4"]
    assert list(models_of(ComparisonConfig(p=[8.0, 4.0]), y, dense=True)) == [usual[0], *pushes, *usual[2:]]
    every = list(models_of(ComparisonConfig(model=["all"]), y, dense=True))
    assert set(every) > {*usual, "LightGBM", "random forest", "linear, chosen for the top", NETWORK}


def test_what_is_expected_without_an_interval_has_none_in_json():
    """Few days have no interval, and JSON has no NaN."""
    assert _figures(2.0, np.nan, np.nan) == {"estimate": 2.0}
    assert _figures(2.0, 1.0, 3.0) == {"estimate": 2.0, "low": 1.0, "high": 3.0}


def test_few_groups_and_few_rows_are_said_in_words_of_ours(visits):
    frame = pd.read_csv(visits)
    frame.assign(shop=np.arange(len(frame)) % 4).to_csv(visits, index=False)
    models = ["--model", "logistic-regression", "--model", "IR Push", "--folds", 2, "--exclude", "day"]
    few = call("compare", visits, "--label", "fraud", *models, "--group", "shop", "--exclude", "customer")
    assert (
        "ensemble of all models is not measured: there are too few groups to choose how they are added up"
        in few.stderr
    )
    rows = pd.concat([part[:8] for _, part in frame.groupby("fraud")])
    rows.to_csv(visits, index=False)
    few = call("compare", visits, "--label", "fraud", *models, "--model", "top-ranker-cv", code=2)
    assert "chooses by 5 folds of every training part, and in one of them a class has too few" in few.stderr


def test_a_group_stays_in_one_part(visits, monkeypatch):
    seen = []
    compared = comparison.compare_plan
    monkeypatch.setattr(comparison, "compare_plan", lambda *a, **k: seen.append(compared(*a, **k)) or seen[0])
    call("compare", visits, "--label", "fraud", *TWO, "--folds", 3, "--group", "customer",
         "--exclude", "day", "--exclude", "amount")  # fmt: skip
    customers = pd.read_csv(visits)["customer"]
    assert pd.Series(seen[0].folds).groupby(customers).nunique().eq(1).all()


def test_the_future_is_tested_on(visits, monkeypatch):
    seen = []
    compared = comparison.compare_plan
    monkeypatch.setattr(comparison, "compare_plan", lambda *a, **k: seen.append(compared(*a, **k)) or seen[0])
    shown = call("compare", visits, "--label", "fraud", *TWO, "--folds", 2, "--time", "day",
                 "--exclude", "customer", "--weight", "amount", "--budget", 10).stdout  # fmt: skip
    days = pd.read_csv(visits)["day"]
    folds = seen[0].folds
    assert days[folds == -1].max() < days[folds == 0].min()
    assert days[folds == 0].max() < days[folds == 1].min()
    assert "each after its training part by day" in " ".join(shown.split())
    assert "weight found" in shown
    assert "--weight amount --time day" in shown
    assert "10 of 60 rows is 7 of the 40 tested" in " ".join(shown.split())
    assert "; 10 of 60 rows (16.7 %), so 7 of the 40 tested; " in " ".join(shown.split())


def test_rows_of_a_file_are_tested_on(visits, tmp_path):
    table = pd.read_csv(visits)
    table[:40].to_csv(tmp_path / "old.csv", index=False)
    table[40:].to_csv(tmp_path / "new.csv", index=False)
    found = json.loads(
        call("compare", tmp_path / "old.csv", "--label", "fraud", *SET_ASIDE, *TWO, "--folds", 2,
             "--test", tmp_path / "new.csv", "--budget", 5, "--json",
             "--save-best", tmp_path / "best.skops").stdout
    )  # fmt: skip
    model = make_ranking_pipelines({"one": make_model(found["chosen"])}, ["a", "b"], [], sparse=False)["one"]
    model.fit(table[:40][["a", "b"]], table[:40]["fraud"])
    saved = SavedModel.load(tmp_path / "best.skops")
    rows = saved.read(tmp_path / "new.csv")
    np.testing.assert_allclose(saved.scores(rows), model.decision_function(table[40:][["a", "b"]]))
    assert found["models"][found["chosen"]]["hits in budget"]["mean"] <= 5


def test_splits_that_cannot_be_are_told(visits, tmp_path):
    for said, options in {
        "--time and --random split the rows": ["--random", "--time", "day"],
        "--repeats draws other parts": ["--group", "customer", "--repeats", 2],
        "--group 'nobody' is no column": ["--group", "nobody"],
        "too few for 16 parts": ["--group", "customer", "--folds", 16],
        "must hold numbers or dates such as": ["--time", "customer"],
        "must hold a number of at least 0": ["--weight", "b"],
        "exceeds the 60 rows to test on": ["--budget", 61],
        "nothing.csv does not exist": ["--test", tmp_path / "nothing.csv"],
        "is an input": ["--save-best", tmp_path / "m.skops", "--test", tmp_path / "m.skops"],
    }.items():
        (tmp_path / "m.skops").write_text("")
        told = call("compare", visits, "--label", "fraud", *SET_ASIDE[:4], *TWO, *options, code=2).stderr
        assert said in told, told


@pytest.mark.parametrize("width", [60, 80, 120])
def test_names_and_the_deciding_measure_are_whole_at_every_width(visits, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = call("compare", visits, "--label", "fraud", *SET_ASIDE, *FEW, "--folds", 2, "--budget", 10).stdout
    assert max(len(line) for line in shown.splitlines() if line[0] in "┏┃┡│└") <= width
    for text in (
        "│ logistic regression ",
        "│ P-Norm Push, p = 1 ",
        "the best",
        "chosen",
        "hits in",
        "10 rows",
    ):
        assert text in shown
    assert ("A wider terminal shows" in shown) == (width < 100)


def test_names_are_broken_where_the_deciding_measure_has_no_room_else(visits, monkeypatch):
    monkeypatch.setenv("COLUMNS", "36")
    shown = call("compare", visits, "--label", "fraud", *SET_ASIDE, *FEW, "--folds", 2, "--budget", 10).stdout
    table = [line for line in shown.splitlines() if line[0] in "┏┃┡│└"]
    assert max(map(len, table)) <= 36
    assert all(line[-1] in "┓┃┩│┘" for line in table)
    names = [line.split()[1] for line in table if "±" in line]
    assert names == ["logistic", "P-Norm", "P-Norm"]


def test_warnings_are_in_the_words_of_options():
    said = in_option_names("stopped at max_iter=5: raise max_iter, alpha or tol, or take solver='lbfgs'.")
    assert said == "stopped at --max-iter 5: raise --max-iter, --alpha or --tol, or take --solver lbfgs."


def test_compare(files):
    arguments = ["compare", files / "data.csv", *LABEL, "--budget", 200, "--folds", 3, "--seed", 1, *FEW]
    shown = call(*arguments, "-o", files / "parts.csv").output
    for text in ("logistic regression", "P-Norm Push, p = 1", "P-Norm Push, p = 4", "200 rows"):
        assert text in shown
    assert re.search(r"Take \w.* It found [\d.]+ hits in 200 rows; expect \d", " ".join(shown.split()))
    parts = pd.read_csv(files / "parts.csv")
    assert parts.groupby(["model", "measure"]).size().eq(3).all()
    summary = json.loads(call(*arguments, "--json").stdout)
    assert summary == json.loads(call(*arguments, "--json").stdout)  # same seed, same result
    for model, measures in summary["models"].items():
        assert 0 <= measures["hits in budget"]["mean"] <= 200
        values = parts[(parts["model"] == model) & (parts["measure"] == "AUC")]["value"]
        assert measures["AUC"]["mean"] == pytest.approx(values.mean())
        assert measures["AUC"]["standard_error"] > 0.0


@pytest.mark.parametrize("choose", ["simplest", "single", "most"])
def test_one_model_from_the_table_to_the_saved_file(files, monkeypatch, choose):
    monkeypatch.chdir(files)
    arguments = ["compare", "data.csv", *LABEL, "--budget", 200, "--folds", 2, *FEW, "--choose", choose]
    arguments += ["--save-best", f"{choose}.skops", "--force"]
    shown = call(*arguments, "--report", "report.html").stdout
    summary = json.loads(call(*arguments, "--json").stdout)
    name, text = summary["chosen"], " ".join(shown.split())
    assert name == summary["choices"][choose]
    assert summary["choices"]["simplest"] == summary["may_be_best"][0]
    assert [line.split("│")[1].strip() for line in shown.splitlines() if "│ chosen " in line] == [name]
    why = {"most": "it ranks", "single": "of the models that are no ensemble it", "simplest": "it is"}
    assert f"Take {name}: {why[choose]} " in text
    assert f"To fit {name} on all rows: {summary['fit']}" in text
    assert f"--model {shlex.quote(name)} --budget 200" in summary["fit"]
    model, hits, promised, threshold, tomorrow = lines = shown.strip().split("\n")[-5:]
    assert re.match(rf"Model: {name}, fitted to all 569 rows; saved as {choose}.skops\.", model)
    found = summary["saved"]["hits"]
    assert found["estimate"] == summary["expected"]["mean"]
    assert hits.startswith(
        "Hits: {estimate:.1f} expected in 200 of 569 rows to come (95 % interval {low:.1f} to {high:.1f}); "
        "{mean:.1f} of 212 positives".format(**found, mean=summary["models"][name]["hits in budget"]["mean"])
    )
    assert 0.0 <= found["low"] < found["estimate"] < found["high"] <= 200.0
    assert "--promise 0.95" in promised
    assert (
        summary["saved"]["sentences"]
        == lines
        == SavedModel.load(files / f"{choose}.skops").training["saved"]["sentences"]
    )
    kept = json.loads(call("show", f"{choose}.skops", "--json").stdout)
    assert (kept["model"], kept["alert"]["threshold"]) == (name, summary["saved"]["threshold"])
    assert threshold.startswith("Alert threshold: ")
    for command in summary["saved"]["commands"]:
        assert command in tomorrow
        call(*("data.csv" if word == "NEW.csv" else word for word in shlex.split(command)[1:]))
    assert len(pd.read_csv("first.csv")) == 200


IN_TWO_PARTS = ["compare", "data.csv", *LABEL, "--folds", 2, *FEW, "--json"]


@pytest.mark.nightly
def test_a_comparison_in_processes_prints_the_same(files, monkeypatch):
    monkeypatch.chdir(files)
    alone, shared = (call(*IN_TWO_PARTS, "--jobs", jobs).stdout for jobs in (1, 2))
    assert alone == shared


def test_a_process_that_was_killed_is_one_line(files, monkeypatch):
    monkeypatch.chdir(files)
    assert "number of processes" in call(*IN_TWO_PARTS, "--jobs", 0, code=2).stderr
    killed = Mock(side_effect=BrokenProcessPool())
    monkeypatch.setattr("pushrank.cli.comparison.compare_plan", killed)
    shown = call(*IN_TWO_PARTS, "--jobs", 2, code=2).stderr.splitlines()
    assert killed.call_args.kwargs["n_jobs"] == 2
    assert shown[-1].startswith("Error: a process that fits models was killed")
    assert "take fewer --jobs" in shown[-1]
