"""What ``pushrank compare`` asks of the rows, what it prints and saves, and what its JSON holds."""

import json
import re
import shlex
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedGroupKFold

from pushrank.cli import comparison
from pushrank.cli.compare import lead_sentences, print_comparison
from pushrank.cli.errors import in_option_names
from pushrank.cli.features import read_features
from pushrank.cli.forms import CompareOptions
from pushrank.cli.model import NETWORK, SavedModel
from pushrank.cli.options import FeatureSource, Folds
from pushrank.cli.screen import table_lines
from pushrank.held_out import Plan
from pushrank.model_selection import RankerComparison
from pushrank.model_selection.compare import SMALL_STEPS
from pushrank.persistence import model_digest
from tests.cli.runner import TWO, call

ONE = ["--model", "logistic-regression"]


def on_visits(*more):
    """The words that compare models on two parts of the visits, by columns a and b."""
    aside = [column for column in ("customer", "day", "amount") if column not in more]
    excluded = [word for column in aside for word in ("--exclude", column)]
    return ["compare", "visits.csv", "--label", "fraud", *excluded, "--folds", 2, *more]


@pytest.fixture
def here(visits, monkeypatch):
    monkeypatch.chdir(visits.parent)
    return pd.read_csv(visits)


def models_of(y, **options):
    """The names of the models that are compared on rows with these labels, and the models."""
    config = CompareOptions(**options)
    plan = Plan.of(np.zeros((len(y), 1)), y, cv=config.folds.n_parts)
    return comparison.models_to_compare(config, plan)


@pytest.mark.parametrize(
    ("n_rare", "options", "says"),
    [
        (4, [], "5 folds need at least 5 rows in each class: choose at most 4 folds."),
        (1, ["--folds", 3], "a class has 1 row; 2 folds need at least 2 rows in each class"),
        (1, [], "2 folds need at least 2 rows in each class, and there are no fewer folds: add rows."),
    ],
)
def test_too_few_rows_are_refused_with_advice_that_works(tmp_path, n_rare, options, says):
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 2)), columns=["a", "b"])
    table.assign(y=(np.arange(80) < n_rare).astype(int)).to_csv(tmp_path / "rare.csv", index=False)
    result = call("compare", tmp_path / "rare.csv", "--label", "y", *TWO, *options, code=2)
    *notes, error = result.stderr.strip().splitlines()
    assert says in error
    assert all("of one of the two classes" in note for note in notes)


def test_tied_rows_count_by_the_expectation(tmp_path):
    """Equal scores put as many hits among the first rows as there are among all."""
    names = [f"row {row}" for row in range(60)]  # of rows that no training part holds
    pd.DataFrame({"plan": names, "y": [1, 0, 0] * 20}).to_csv(tmp_path / "equal.csv", index=False)
    arguments = [
        "compare",
        tmp_path / "equal.csv",
        "--label",
        "y",
        "--keep",
        "plan",
        *TWO,
        "--folds",
        2,
        "--json",
    ]
    for more, criterion, expected in (
        ([], "precision at 1/4", 1 / 3),
        (["--budget", 9], "hits in budget", 3),
    ):
        shown = call(*arguments, *more)
        summary = json.loads(shown.stdout)
        assert summary["verdict"].startswith("No model is better at the top than another")
        assert [of[criterion]["mean"] for of in summary["models"].values()] == pytest.approx([expected] * 2)
        assert summary["random"] == pytest.approx(expected)
    assert shown.stderr.splitlines()[-2:] == ["1 of 2 parts compared", "2 of 2 parts compared"]
    # What is printed is the same but for how far it has come.
    quiet = call(*arguments, *more, "--quiet")
    assert (quiet.stdout, quiet.stderr.splitlines()) == (shown.stdout, shown.stderr.splitlines()[:-2])


def figures(of):
    """The numbers of a JSON value, in texts of a budget, too."""
    if isinstance(of, dict):
        return [
            number
            for name, one in of.items()
            if name not in ("verdict", "fit", "next", "file")
            for number in figures(one)
        ]
    if isinstance(of, list):
        return [number for one in of for number in figures(one)]
    if isinstance(of, str):
        return list(map(float, re.findall(r"^(\d+)(?:/\w+)?$", of)))
    return [] if of is None else [float(of)]


@pytest.mark.parametrize(
    "more",
    [
        ["--shuffle"],
        ["--shuffle", "--budget", 10, "--all"],
        ["--budget", 10, "--time", "day"],
        ["--budget", "2/week", "--time", "day", "--save", "m.skops"],
    ],
    ids=["no budget", "all", "by time", "by period"],
)
@pytest.mark.usefixtures("here")
def test_json_has_every_figure_that_is_printed(more, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = call(*on_visits(*TWO, *more)).stdout
    facts = json.loads(call(*on_visits(*TWO, *more, "--force", "--json", "-o", "parts.csv")).stdout)
    *lines, last = shown.splitlines()
    assert last.startswith("Next: pushrank ")
    assert max(map(len, lines)) <= 80
    known = np.abs(figures(facts))
    # Two parts, and the level of an interval, are what was asked for and what always holds.
    text = re.sub(r"\b2(-fold| test parts)|95 %", "", "\n".join(lines)).replace(",", "")
    numbers = re.findall(r"(?<![\w.])\d+(?:\.\d+)?", text)
    assert len(numbers) > 10
    for number in numbers:
        half = 0.5001 * 10.0 ** -len(number.partition(".")[2])
        near = np.abs(np.r_[known, 100.0 * known] - float(number)) <= half
        assert near.any(), (number, text)
    parts, by = pd.read_csv("parts.csv"), facts["criterion"]
    assert parts.groupby(["model", "measure"]).size().eq(2).all()
    other, gap = facts["differences"].popitem()
    chosen, second = (facts["models"][model] for model in (facts["chosen"], other))
    assert gap["mean"] == pytest.approx(chosen[by]["mean"] - second[by]["mean"])
    values = parts[(parts["model"] == other) & (parts["measure"] == "AUC")]["value"]
    assert second["AUC"]["mean"] == pytest.approx(values.mean())


def of_hits(**hits):
    """A comparison of models that have these hits in six parts, ordered by their average precision."""
    wave = np.array([-6.0, 6.0, 1.0, -1.0, 3.0, -3.0])
    measures = {
        name.replace("_", " "): {
            "hits in budget": mean + wave[::turn],
            "average precision": np.full(6, order),
            "AUC": np.full(6, 0.5),
        }
        for name, (mean, order, turn) in hits.items()
    }
    return RankerComparison(
        measures, "hits in budget", budget=100, n_positives=60, folds=np.zeros(600, dtype=int)
    )


@pytest.mark.parametrize(
    ("base", "other", "says"),
    [
        ((30.0, 0.5, 1), (30.0, 0.6, 1), ["base finds as many."]),
        ((20.0, 0.5, 1), (30.0, 0.6, 1), ["Its lead over base (10 hits) is more than luck."]),
        (
            (29.0, 0.5, 1),
            (30.0, 0.6, -1),
            ["Its lead over base (1 hit) may be luck: 60 hits cannot tell these models apart."],
        ),
        (
            (31.0, 0.5, -1),
            (30.0, 0.6, 1),
            ["base shows 1 hit more, which may be luck; other is chosen, for it ranks hits higher over the "
             "whole list (average precision 0.600 against 0.500)."],
        ),
    ],
)  # fmt: skip
def test_the_lead_is_said_with_how_sure_it_is(base, other, says):
    assert lead_sentences(of_hits(base=base, other=other)) == says


@pytest.mark.parametrize("width", [None, 80, 60])
def test_the_first_screen_fits_the_terminal(monkeypatch, capsys, width):
    if width:
        monkeypatch.setenv("COLUMNS", str(width))
    compared = of_hits(logistic_regression=(30.0, 0.5, 1), gradient_boosting=(28.0, 0.6, -1))
    title = "clients.csv: 600 rows, 60 hits (10 %). Budget: 100 rows. 5-fold cross-validation."
    print_comparison(compared, title)
    shown = capsys.readouterr().out
    lines = shown.splitlines()
    # Where nobody says a width, sentences are whole lines, for another program.
    assert max(len(line) for line in lines if width or line.startswith("  ")) <= (width or 140)
    assert (title in lines) == (width is None)
    # No word is broken.
    for words in ("gradient boosting", "logistic regression", "interval", "could be best", "random order"):
        assert all(re.search(rf"\b{word}\b", shown) for word in words.split()), words
    for sentence in (title, "Chosen: gradient boosting, which finds 28 hits in rows held out"):
        assert sentence in " ".join(shown.split())
    print_comparison(compared, title, is_choice=False)
    assert not re.search("best|chosen|Chosen|fewer", capsys.readouterr().out)


def test_a_table_breaks_heads_at_blanks_and_stands_on_its_side_where_it_does_not_fit():
    rows, heads = (
        [["a name", "1.5", "yes"], ["\x1b[1mred", "12.25", "no"]],
        ["", "hits in 200 rows", "could be best"],
    )
    assert table_lines(heads, rows, 80) == [
        "               hits in  could be",
        "              200 rows  best",
        "  a name           1.5  yes",
        "  \\x1b[1mred     12.25  no",
    ]
    narrow = table_lines(heads, rows, 26)
    assert max(map(len, narrow)) <= 26
    assert [line.split() for line in narrow[:2]] == [["hits"], ["in", "could"]]
    assert table_lines(heads, rows, 10)[:3] == [
        "  a name",
        "    hits in 200 rows  1.5",
        "    could be best     yes",
    ]


SAVED = {
    "a list": ["--budget", 10, *TWO, "--choose", "simplest"],
    "a budget by period": ["--budget", "2/week", "--time", "day", *ONE],
    "groups": ["--group", "customer", *ONE],
    "rows kept": ["--budget", 10, "--hold-out", "30%", *ONE],
    "a test file": ["--budget", 10, "--test", "new.csv", *ONE],
    "an ensemble": TWO[:4],
    "parameters": ["--model", "pnorm-push", "--set", "alpha=0.2", "--set", "p=4"],
    "weights": ["--weight", "amount", *ONE],
}


@pytest.mark.parametrize("more", SAVED.values(), ids=SAVED)
def test_what_is_saved_is_what_the_printed_command_fits(here, more):
    here.assign(a=-here["a"])[:20].to_csv("new.csv", index=False)
    found = json.loads(call(*on_visits(*more), "--save", "best.skops", "--json").stdout)
    command = [word.replace("best.skops", "again.skops") for word in shlex.split(found["fit"])]
    fitted = call(*command[1:], "--json").stdout
    best, again = (SavedModel.load(Path(name)) for name in ("best.skops", "again.skops"))
    assert model_digest(best.pipeline) == model_digest(again.pipeline)
    for name in ("name", "alert", "training", "as_fitted", "label", "positive", "numeric", "profiles"):
        assert getattr(best, name) == getattr(again, name), name
    assert (best.reference is not None) == (again.reference is not None)
    assert Path("best.alert.db").exists() == Path("again.alert.db").exists() == ("2/week" in more)
    assert found["saved"] == json.loads(fitted.replace("again.", "best."))
    assert found["chosen"] == best.name == ("ensemble" if more == TWO[:4] else found["chosen"])
    assert found["saved"]["rows"] == len(here) - 18 * ("30%" in more)
    if "--choose" in more:
        assert found["chosen"] == found["may_be_best"][0]


def test_models_are_chosen_by_the_names_of_fit_and_of_the_table(here):
    y = here["fraud"].to_numpy() == 1
    for name, expected in {
        "P-Norm Push, p = 8": ["P-Norm Push, p = 8"],
        "ir-push": ["IR Push"],
        "gradient-boosting": ["gradient boosting"],
        "infinite-push": ["infinite-push"],
    }.items():
        assert list(models_of(y, model=[name])) == expected
    of_one = models_of(y, model=["pnorm-push"], parameters=["p=8", "alpha=0.2"])
    assert {name: (model.p, model.alpha) for name, model in of_one.items()} == {"pnorm-push": (8, 0.2)}
    refused = call(*on_visits("--model", "svm"), code=2).stderr
    assert "--model 'svm' is not known" in refused
    assert "or a name that compare prints, such as 'boosted stumps, p = 16'" in refused


def test_models_that_choose_know_the_budget_and_how_many_rows_a_choice_needs():
    y = np.arange(300) < 10
    found = models_of(y, budget=30, model=["top-ranker-cv", "ir-push"])
    assert list(found) == ["linear, chosen for the top", "IR Push"]
    assert found["linear, chosen for the top"].fraction == 0.1
    some = {"budget": 30, "model": ["all"], "folds": Folds(2)}
    assert "linear, chosen for the top" in models_of(y, **some)
    # Groups are no concern of a choice by a number of folds, and nothing is warned of.
    parts = {"groups": np.arange(300) // 2, "cv": StratifiedGroupKFold(2)}
    assert Plan.of(np.zeros((300, 1)), y, **parts).can_split_again(2)
    y[9] = False
    assert "linear, chosen for the top" not in models_of(y, **some)


FORESTS = ["random forest", "extra trees", "random forest, balanced"]
FEW_ROWS, MANY_ROWS = "there are too few rows", "they take minutes on this many rows"


@pytest.mark.parametrize(
    ("n_rows", "left_out", "why"),
    [
        (150, ["LightGBM", SMALL_STEPS, NETWORK], FEW_ROWS),
        (327_346, ["linear, chosen for the top", *FORESTS, NETWORK], MANY_ROWS),
    ],
)
def test_every_model_that_is_left_out_is_named_where_all_is_asked_for(n_rows, left_out, why, capsys):
    y = np.arange(n_rows) % 10 == 0
    assert not set(left_out) & set(models_of(y, model=["all"]))
    assert capsys.readouterr().err == ""
    models_of(y, model=["all"], every=True)
    assert f"not compared, because {why}: {', '.join(left_out)}. --model compares" in capsys.readouterr().err
    assert all(list(models_of(y, model=[name])) == [name] for name in left_out)


def test_six_models_are_compared_by_default_and_all_by_that_name():
    y = np.arange(2_000) % 10 == 0
    usual = ["logistic regression", "P-Norm Push, p = 16", "boosted stumps, p = 16", "gradient boosting"]
    usual += [SMALL_STEPS, "extra trees"]
    assert list(models_of(y)) == usual
    others = {"LightGBM", "random forest", "linear, chosen for the top", NETWORK}
    assert set(models_of(y, model=["all"])) > {*usual, *others}


def planned(**options):
    """Visits with the plan by which models are compared on them in two parts, and how it is said."""
    source = FeatureSource(Path("visits.csv"), "fraud", exclude=["customer", "amount"])
    config = CompareOptions(folds=Folds(2), **options)
    data = comparison.with_times(read_features(source, config, config.test), config)
    return data, comparison.plan_of(data, config), comparison.how_split(data, config)


def test_a_group_stays_in_one_part_and_parts_follow_the_times(here, capsys):
    _, plan, words = planned(group="customer")
    assert pd.Series(plan.folds).groupby(here["customer"]).nunique().eq(1).all()
    assert words == "2-fold cross-validation by customer"
    _, plan, words = planned(time="day", budget=10, weight="amount")
    days, folds = here["day"], plan.folds
    assert days[folds == -1].max() < days[folds == 0].min()
    assert days[folds == 0].max() < days[folds == 1].min()
    assert words == "2 test parts, each after its training part by day"
    np.testing.assert_array_equal(plan.rows.weights, here["amount"])
    # Rows out of order follow no time unasked.
    assert planned()[2] == "2-fold cross-validation"
    assert "To test on what comes later: --time day" in capsys.readouterr().err
    here.sort_values("day").to_csv("visits.csv", index=False)
    assert planned()[0].time == "day"
    assert planned(shuffle=True)[0].time is None


def test_rows_of_a_file_are_tested_on(here):
    here[40:].to_csv("new.csv", index=False)
    here[:40].to_csv("visits.csv", index=False)
    data, plan, words = planned(test=Path("new.csv"), budget=5)
    assert (plan.folds == -1).sum() == data.n_learnt == 40
    np.testing.assert_array_equal(data.y, here["fraud"] == 1)
    for learnt, tests in plan.parts():
        np.testing.assert_array_equal(learnt.X["a"], here["a"][:40])
        assert sum(len(part.y) for part in tests) == 20
    assert words == "Tested on new.csv"


@pytest.mark.usefixtures("here")
def test_splits_that_cannot_be_are_refused():
    Path("m.skops").write_text("")
    for says, options in {
        "--time and --shuffle split the rows": ["--shuffle", "--time", "day"],
        "--folds 5x2 draws other parts": ["--group", "customer", "--folds", "5x2"],
        "--group 'nobody' is no column": ["--group", "nobody"],
        "too few for 16 parts": ["--group", "customer", "--folds", 16],
        "must hold numbers or dates such as": ["--time", "customer"],
        "must hold a number of at least 0": ["--weight", "b"],
        "exceeds the 60 rows to test on": ["--budget", 61],
        "nothing.csv does not exist": ["--test", "nothing.csv"],
        "is an input": ["--save", "m.skops", "--test", "m.skops"],
        "--set is for one model": ["--set", "p=4"],
        "--jobs must be a number of processes": ["--jobs", 0],
    }.items():
        assert says in call(*on_visits(*TWO, *options), code=2).stderr


def test_few_groups_and_few_rows_are_said_in_our_words(here):
    here.assign(shop=np.arange(len(here)) % 4).to_csv("visits.csv", index=False)
    few = call(*on_visits(*TWO[:4], "--group", "shop"))
    why = "there are too few groups to choose how they are added up"
    assert f"ensemble of all models is not measured: {why}" in few.stderr
    pd.concat([part[:8] for _, part in here.groupby("fraud")]).to_csv("visits.csv", index=False)
    few = call(*on_visits("--model", "top-ranker-cv"), code=2)
    assert "chooses by 5 folds of every training part, and in one of them a class has too few" in few.stderr


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("at max_iter=5: raise max_iter or tol", "at --set max_iter=5: raise --set max_iter or --set tol"),
        ("column 'alpha' takes solver='lbfgs'", "column 'alpha' takes --set solver=lbfgs"),
        ("say budget=5, cv=3, sample_weight", "say --budget 5, --folds 3, --weight"),
        ("read_dates(time, order='dmy'), or set n_ahead to 3 of them; x", "--read dates=dmy; x"),
    ],
)
def test_messages_of_the_library_are_in_words_of_the_line(message, says):
    assert in_option_names(message) == says


@pytest.mark.usefixtures("here")
def test_a_process_that_was_killed_is_one_line(monkeypatch):
    killed = Mock(side_effect=BrokenProcessPool())
    monkeypatch.setattr("pushrank.cli.comparison.compare_plan", killed)
    shown = call(*on_visits(*TWO, "--jobs", 2), code=2).stderr.splitlines()
    assert killed.call_args.kwargs["n_jobs"] == 2
    assert shown[-1].startswith("Error: a process that fits models was killed")
    assert "take fewer --jobs" in shown[-1]
