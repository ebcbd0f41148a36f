"""The messages of the page about common errors are those that are raised."""

import doctest
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from typer.testing import CliRunner

import pushrank
from pushrank import PNormPush
from pushrank.cli import app
from pushrank.model_selection.compare import lightgbm_classifier

PAGE = (Path(__file__).parents[1] / "docs" / "errors.md").read_text(encoding="utf-8")
MESSAGES = dict(re.findall(r"^## ([^\n]+)\n\n```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
SIMILAR = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
COMPARE = "--label fraud --model logistic-regression --model pnorm-push --no-ensemble --budget"
COMMANDS = {
    "The label is no column": "compare data.csv --label frau --budget 10",
    "All rows have the same label": f"compare none.csv {COMPARE} 10",
    "Which value is a hit?": f"compare text.csv {COMPARE} 10",
    "The budget exceeds the rows": f"compare data.csv {COMPARE} 100",
    "Too few rows of a class": f"compare few.csv {COMPARE} 10",
    "New rows lack a column": "score model.skops new.csv -o ranked.csv",
}


class ScoreCard(DummyClassifier):
    """A model of a user's own."""


@pytest.fixture(scope="module")
def table():
    """A table of the columns that the page names, of 21 frauds in 60 rows."""
    rng = np.random.default_rng(0)
    amount, age = rng.normal(100.0, 20.0, 60), rng.integers(18, 80, 60)
    fraud = (np.argsort(np.argsort(-amount - age / 10.0)) < 21).astype(int)
    return pd.DataFrame({"amount": amount, "age": age, "city": ["Oslo", "Rome"] * 30, "fraud": fraud})


@pytest.fixture(name="X")
def numeric_columns(table):
    return table[["amount", "age"]].to_numpy(float)


def check_shown(heading: str, raised: str) -> None:
    """Check that the page has a message as it was raised."""
    shown = MESSAGES[heading]
    assert doctest.OutputChecker().check_output(shown, raised, SIMILAR), raised


def check_raised(heading: str, error: pytest.ExceptionInfo[Exception]) -> None:
    """Check that the page has an error of Python as a traceback ends with it."""
    check_shown(heading, f"{error.typename}: {error.value}\n")


def test_the_page_has_twelve_messages():
    assert len(MESSAGES) == PAGE.count("```text") == PAGE.count("**What to do:**") == 12


@pytest.mark.parametrize("heading", COMMANDS)
def test_a_command_prints_what_the_page_shows(heading, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {"data": table, "none": table.assign(fraud=0), "new": table.drop(columns="age")}
    files["text"] = table.assign(fraud=np.where(table["fraud"], "bad", "good"))
    files["few"] = table.assign(fraud=np.arange(60) < 2).astype({"fraud": int})
    for name, rows in files.items():
        rows.to_csv(f"{name}.csv", index=False)
    if COMMANDS[heading].startswith("score"):
        fit = "fit data.csv --label fraud --model logistic-regression -o model.skops"
        assert CliRunner().invoke(app, shlex.split(fit)).exit_code == 0
    result = CliRunner().invoke(app, shlex.split(COMMANDS[heading]))
    assert result.exit_code == 2
    check_shown(heading, result.stderr[result.stderr.index("Error: ") :])


def test_missing_values_are_refused_as_the_page_shows(X, table):
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN") as error:
        PNormPush().fit(X, table["fraud"])
    check_raised("Missing values", error)


def test_text_is_refused_as_the_page_shows(table):
    with pytest.raises(ValueError, match="text") as error:
        PNormPush().fit(table[["city", "amount"]], table["fraud"])
    check_raised("Text columns", error)


def test_a_fit_warns_as_the_page_shows(X, table):
    with pytest.warns(ConvergenceWarning) as warned:
        PNormPush(16, max_iter=2).fit(X, table["fraud"])
    check_shown("The fit did not converge", f"ConvergenceWarning: {warned[0].message}\n")


def test_probabilities_are_refused_as_the_page_shows(X, table):
    with pytest.raises(AttributeError) as error:
        PNormPush().fit(X, table["fraud"]).predict_proba(X)
    check_raised("A ranker has no probabilities", error)


def test_a_file_is_refused_as_the_page_shows(X, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ScoreCard, "__module__", "my_models")
    skops.io.dump(ScoreCard().fit(X, table["fraud"]), "own.skops")
    with pytest.raises(pushrank.exceptions.ModelFileError) as error:
        pushrank.load("own.skops")
    check_raised("A model file is not trusted", error)


def test_a_missing_package_is_named_as_the_page_shows(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(ImportError) as error:
        lightgbm_classifier()
    check_raised("A package is not installed", error)
