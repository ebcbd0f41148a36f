"""What a comparison asks of the rows, and what its verdict says of few test parts and of ties."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.model_selection import StratifiedKFold
from typer.testing import CliRunner

from pushrank.cli import app
from pushrank.cli.comparison import CRITERION, Comparison
from pushrank.cli.comparison_table import verdict
from pushrank.cli.design import Design
from pushrank.cli.errors import InputError


def call(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def rare(folder, n_rare):
    """The arguments that compare models on 80 rows, some of them rare."""
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 2)), columns=["a", "b"])
    table.assign(y=(np.arange(80) < n_rare).astype(int)).to_csv(folder / "rare.csv", index=False)
    return ["compare", folder / "rare.csv", "--label", "y", "--p", 4]


def test_too_few_rows_are_told_with_advice_that_works(tmp_path):
    for n_rare, options, said in (
        (
            8,
            ["--nested"],
            "--folds 5, with --nested, which splits them three times over, needs at least 9 rows",
        ),
        (8, ["--nested"], "a class has 8 rows;"),
        (8, ["--nested"], "choose at most 4 folds, or leave out --nested."),
        (7, ["--nested", "--folds", 2], "needs at least 8 rows in each class: leave out --nested."),
        (4, ["--nested"], "leave out --nested and choose at most 4 folds."),
        (4, [], "--folds 5 needs at least 5 rows in each class: choose at most 4 folds."),
        (1, ["--folds", 3], "a class has 1 row; --folds 2 needs at least 2 rows in each class"),
        (1, ["--nested"], "needs at least 8 rows in each class, and there are no fewer folds: add rows."),
    ):
        result = call(*rare(tmp_path, n_rare), *options, code=2)
        assert said in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(("n_rare", "folds"), [(8, 2), (8, 4), (9, 5)])
def test_a_nested_comparison_runs_on_as_few_rows_as_it_says(tmp_path, n_rare, folds):
    summary = json.loads(call(*rare(tmp_path, n_rare), "--nested", "--folds", folds, "--json").stdout)
    assert "P-Norm Push, p and alpha chosen" in summary["models"]


def test_the_rows_needed_are_those_that_nested_stratified_splits_need():
    def fewest_left(n_rows, folds):
        """The smallest training part of a class, as scikit-learn draws it."""
        y = np.arange(4 * n_rows) < n_rows
        return min(y[train].sum() for train, _ in StratifiedKFold(folds).split(y, y))

    for folds in (2, 3, 4, 5, 7):
        for n_rare in range(folds, 20):
            once = fewest_left(n_rare, folds)
            twice = fewest_left(once, folds) if once >= folds else 0
            y = np.arange(100) < n_rare
            if twice >= folds:
                Design(folds=folds, nested=True).check(y)
            else:
                with pytest.raises(InputError) as told:
                    Design(folds=folds, nested=True).check(y)
                for at_most in re.findall(r"choose at most (\d+) folds, or", str(told.value)):
                    for fewer in range(2, int(at_most) + 1):
                        Design(folds=fewer, nested=True).check(y)


def compared(**hits):
    """A comparison of models by their precision in every test part."""
    values = {
        model: {CRITERION: list(parts), "average precision": list(parts)} for model, parts in hits.items()
    }
    return Comparison(None, {name.replace("_", " "): found for name, found in values.items()})


def test_the_verdict_says_what_few_test_parts_can_tell():
    logistic = [0.5, 0.5]
    same = verdict(compared(logistic_regression=logistic, push=[0.75, 0.75]))
    assert "+0.250 against logistic regression, the same in each of 2 test parts, too few to know" in same
    # two parts: the mean is 3 standard errors, and Student's t has 12.7 for two parts
    few = verdict(compared(logistic_regression=logistic, push=[0.7, 0.6]))
    assert "95 % interval -0.485 to +0.785: chance alone may explain the difference" in few
    many = verdict(compared(logistic_regression=logistic * 3, push=[0.7, 0.6] * 3))
    reach = stats.t.ppf(0.975, 5) * np.std([0.7, 0.6] * 3, ddof=1) / np.sqrt(6)
    assert f"interval {0.15 - reach:+.3f} to {0.15 + reach:+.3f}: more than chance explains." in many
    always = verdict(compared(logistic_regression=logistic * 3, push=[0.75] * 6))
    assert "the same in each of 6 test parts: more than chance explains." in always


def test_the_verdict_names_no_best_of_equals():
    equal = compared(logistic_regression=[0.5, 0.7], push=[0.7, 0.5], other=[0.6, 0.6])
    assert (
        verdict(equal) == "No model is better at the top than another, by precision at 1/4: each has 0.600."
    )
    assert equal.equals() == ["push", "other"]
    two = compared(logistic_regression=[0.5, 0.7], push=[0.7, 0.5], other=[0.1, 0.2])
    two.values["push"]["average precision"] = [0.9, 0.9]
    assert verdict(two) == (
        "Best at the top, by precision at 1/4: push, which is no better by it than logistic regression; "
        "average precision decides between equals."
    )


def test_tied_rows_count_by_the_expectation(tmp_path):
    """Equal scores put as many hits among the first rows as there are among all."""
    table = pd.DataFrame({"plan": ["x"] * 60, "y": [1, 0, 0] * 20})
    table.to_csv(tmp_path / "equal.csv", index=False)
    arguments = ["compare", tmp_path / "equal.csv", "--label", "y", "--p", 4, "--folds", 2]
    for more, criterion, expected in (
        ([], "precision at 1/4", 1 / 3),
        (["--budget", 9], "hits in budget", 3),
    ):
        summary = json.loads(call(*arguments, *more, "--json").stdout)
        assert len(summary["equally_good"]) == len(summary["models"]) - 1
        for model, measures in summary["models"].items():
            assert measures[criterion]["mean"] == pytest.approx(expected), model


def test_json_holds_the_differences_with_intervals(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 2)), columns=["a", "b"])
    frame.assign(y=(frame["a"] > 0.3).astype(int)).to_csv(tmp_path / "a.csv", index=False)
    arguments = ["compare", tmp_path / "a.csv", "--label", "y", "--p", 4, "--folds", 3, "--nested"]
    summary = json.loads(call(*arguments, "--json").stdout)
    best, criterion, models = summary["best"], summary["criterion"], summary["models"]
    assert summary["verdict"] in " ".join(call(*arguments).stdout.split())
    assert set(summary["differences"]) == set(models) - {best, "best of the above, chosen inside"}
    for model, difference in summary["differences"].items():
        gain = models[best][criterion]["mean"] - models[model][criterion]["mean"]
        assert difference["mean"] == pytest.approx(gain)
        reach = stats.t.ppf(0.975, 2) * difference["standard_error"]
        assert difference["low"] == pytest.approx(gain - reach)
        assert difference["high"] == pytest.approx(gain + reach)


def test_what_is_more_than_chance():
    for parts, expected in (
        ([0.75] * 3, None),
        ([0.75] * 6, True),
        ([0.5] * 6, False),
        ([0.7, 0.6] * 3, True),
        ([0.7, 0.3] * 3, False),
    ):
        found = compared(logistic_regression=[0.5] * len(parts), push=parts)
        assert found.difference("push", "logistic regression").more_than_chance is expected


def test_repetitions_of_the_same_parts_are_no_more_evidence():
    """They hold the same rows: enough of them would make any difference more than chance explains."""
    once = compared(logistic_regression=[0.5] * 5, push=[0.7, 0.6, 0.5, 0.4, 0.7])
    often = compared(logistic_regression=[0.5] * 100, push=[0.7, 0.6, 0.5, 0.4, 0.7] * 20)
    often.repeats = 20
    assert once.difference("push", "logistic regression").more_than_chance is False
    for found, expected in zip(
        often.difference("push", "logistic regression"),
        once.difference("push", "logistic regression"),
        strict=True,
    ):
        assert found == pytest.approx(expected)
    assert often.standard_error("push", CRITERION) == pytest.approx(once.standard_error("push", CRITERION))
    same = compared(logistic_regression=[0.5] * 10, push=[0.75] * 10)
    same.repeats = 2
    assert "in each of 10 test parts, too few to know what chance alone would do; raise --folds." in verdict(
        same
    )
