"""Files whose last rows wait for their labels: what is left out, and what is said where no option says so."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pushrank.cli import comparison
from pushrank.cli.errors import InputError
from pushrank.cli.features import read_features
from pushrank.cli.forms import CompareOptions, FitOptions
from pushrank.cli.known import waiting
from pushrank.cli.model import SavedModel, missing_in
from pushrank.cli.options import FeatureSource, Folds
from tests.cli.runner import call

pytestmark = pytest.mark.fast
N_DAYS, PER_DAY, FIRST = 60, 10, 50
DAY = np.repeat(np.arange(N_DAYS), PER_DAY)
ONE = ["--label", "y", "--model", "logistic-regression"]
QUICK = [*ONE, "--folds", 2, "--quiet"]
BY_DAY = [*QUICK, "--budget", "2/day", "--time", "day"]


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def rows(days=1, unit="D"):
    """Rows of 60 days, or of other times, whose labels hang on a column."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(len(DAY), 2)).round(4), columns=["a", "b"])
    table["day"] = (pd.Timestamp("2024-01-01") + pd.to_timedelta(days * DAY, unit)).astype(str)
    return table.assign(y=(table["a"] + rng.normal(size=len(DAY)) > 0.8).astype("Int64"))


POSITIVE = (rows()["y"] == 1).to_numpy()


def write(table, known, name="late.csv"):
    table.assign(y=table["y"].where(known)).to_csv(name, index=False)
    return name


def lines(shown, word):
    return [line for line in shown.stderr.splitlines() if word in line]


def refused(path, **options):
    """What compare refuses before a fit, and the words that it would add."""
    config = CompareOptions(folds=Folds(2), budget=60, **options)
    source = FeatureSource(Path(path), "y")
    data = comparison.with_times(read_features(source, config), config).due()
    with pytest.raises(InputError) as caught:
        comparison.has_bounds(data, config)
    return str(caught.value), list(caught.value.add)


def judged(path, time=None):
    """What fit says of rows without a label."""
    return missing_in(
        read_features(FeatureSource(Path(path), "y"), FitOptions(output=Path("m.skops"), time=time)), 0
    )


def test_with_the_option_all_is_as_if_the_file_ended_there(capsys):
    """Also where a tenth of the labels came early: rows are left out with them."""
    table, early = rows(), np.random.default_rng(1).random(len(DAY)) < 0.1
    ended = write(table[DAY < FIRST], (DAY >= 0)[DAY < FIRST], "ended.csv")
    config = FitOptions(output=Path("m.skops"), time="day", labels_after="10d")
    expected = read_features(FeatureSource(Path(ended), "y"), config).due()
    assert (len(expected.y), capsys.readouterr().err) == (FIRST * PER_DAY, "")
    for known, n_without in ((DAY < FIRST, 100), ((DAY < FIRST) | early, 100 - early[DAY >= FIRST].sum())):
        found = read_features(FeatureSource(Path(write(table, known)), "y"), config).due()
        said = f"100 rows of the last 10 days wait for their labels, {n_without} of them without one, and"
        assert f"{said} are left out.\n" in capsys.readouterr().err
        assert (found.known, found.kinds) == (expected.known, expected.kinds) == (None, expected.kinds)
        np.testing.assert_array_equal(found.rows.X, expected.rows.X)
        np.testing.assert_array_equal(found.rows.times, expected.rows.times)
        np.testing.assert_array_equal(found.y, expected.y)
    shown = call("fit", "late.csv", *ONE, "--time", "day", "--labels-after", "10d", "-o", "m.skops")
    assert lines(shown, "wait") == [f"{said} are left out."]
    assert SavedModel.load(Path("m.skops")).training["rows"] == FIRST * PER_DAY


@pytest.mark.parametrize(
    ("table", "known", "says", "option"),
    [
        (rows(), DAY < FIRST, "the last 10 days have no labels", "10d"),
        (rows(7), DAY < FIRST, "the last 10 weeks have no labels", "10w"),
        (rows(90, "min"), DAY < FIRST, "the last 14 hours have no labels", "14h"),
        (rows(90, "h"), DAY < FIRST, "the last 34 days have no labels", "34d"),
        (rows(), DAY < N_DAYS - 1, "the last day has no labels", "1d"),
        (rows().assign(day=DAY), DAY < FIRST, "the last 10 of day have no labels", "10"),
        (rows().assign(day=DAY / 8), DAY < FIRST, "the last 1.126 of day have no labels", "1.126"),
        (rows(), (DAY < FIRST) | (np.arange(len(DAY)) % 10 == 3),
         "the last 10 days have labels in only 10 of 100 rows", "10d"),
        (rows(), DAY + 10 * POSITIVE < FIRST, "the last 20 days have labels in only", "20d"),
        (rows(), DAY + 10 * ~POSITIVE < FIRST, "the last 20 days have labels in only", "20d"),
        (rows(), (DAY < FIRST) | POSITIVE, "the last 10 days have labels in only", "10d"),
    ],
)  # fmt: skip
def test_a_block_at_the_end_waits_as_long_as_it_takes(table, known, says, option):
    error, words = refused(write(table, known), time="day")
    assert error.startswith(says)
    # Of the 40 days before, none is 20 days older than the first of two test parts.
    too_short = "add --labels-after 20d. The file is too short for that: "
    assert (words, too_short in error) == (
        ([], True) if option == "20d" else (["--labels-after", option], False)
    )
    times = table["day"] if pd.api.types.is_numeric_dtype(table["day"]) else pd.to_datetime(table["day"])
    said, span, others = waiting(times.to_numpy(), np.asarray(known), "day")
    if option != "20d":
        assert (said.startswith(says), span, others) == (True, option, False)
        assert judged("late.csv", "day") == f"{said}: add --labels-after {option}"


def test_the_command_that_is_printed_runs_without_the_leak_and_with_the_option():
    """The dates are those that the rows follow; the leak is empty where labels are, and a few others are."""
    table, known = rows(), DAY < FIRST
    known[[37, 181, 333]] = False
    leak = (table["y"] * 2.0 + np.arange(len(DAY)) % 7 / 10).where(known)
    path = write(table.assign(leak=leak), known)
    words = ["compare", path, *map(str, QUICK), "--budget", "60"]
    shown = call(*words, code=2)
    assert lines(shown, "alone tells the two classes apart")
    error, command = shown.stderr.splitlines()[-2:]
    assert error.startswith("Error: the last 10 days have no labels: add --labels-after 10d. All rests")
    typed = shlex.split(command.removeprefix("To run it so: "))
    assert typed == ["pushrank", *words, "--exclude", "leak", "--labels-after", "10d"]
    again = call(*typed[1:])
    assert "100 rows of the last 10 days wait for their labels, 100 of them without one" in again.stderr
    assert "late.csv: 497 rows" in again.stdout
    # Too short a time is answered by all of it.
    short = call(*words, "--labels-after", "4d", "--exclude", "leak", code=2)
    assert "40 rows of the last 4 days wait for their labels" in short.stderr
    assert short.stderr.splitlines()[-1].endswith("--exclude leak --labels-after 10d")
    # With the leak in place the window is left out, and the leak is warned of as ever.
    left = call(*words, "--labels-after", "10d", code=3)
    assert "No model is chosen: all this rests on 'leak'" in left.stderr
    assert left.stderr.splitlines()[-1].endswith("--labels-after 10d --exclude leak")


CHOSEN, RANDOM = rows()["a"] > 0.7, np.random.default_rng(2).random(len(DAY)) < 0.8


@pytest.mark.parametrize(
    ("known", "says"),
    [
        (RANDOM, ""),
        (CHOSEN, "somebody chose which rows got one"),
        ((DAY < 30) | (rows()["a"] > 1.0), "somebody chose which rows got one"),
        (CHOSEN & (DAY < FIRST), "somebody chose which rows got one"),
        (DAY >= 10, "mostly of early times: they are not known yet, or were not kept"),
        ((DAY < 30) | (DAY >= 40), "mostly of late times: they are not known yet, or were not kept"),
        ((DAY < 40) | (DAY >= 57), "mostly of late times: they are not known yet, or were not kept"),
    ],
)
def test_labels_that_do_not_wait_are_judged_as_before(known, says, capsys):
    path, config = write(rows(), known), CompareOptions(folds=Folds(2), budget=60)
    found = judged(path, "day")
    assert (bool(found), says in found) == (bool(says), True)
    data = comparison.with_times(read_features(FeatureSource(Path(path), "y"), config), config)
    assert comparison.has_bounds(data.due(), config)
    # Labels that are missing before the window are judged as they are without it.
    if (known := np.asarray(known))[DAY >= 57].all():
        late = FitOptions(output=Path("m.skops"), time="day", labels_after="3d")
        assert read_features(FeatureSource(Path(path), "y"), late).due().known is not None
        assert "wait" not in capsys.readouterr().err


def test_no_row_is_left_out_where_all_labels_are_there_or_no_time_is_known():
    path = write(rows(), DAY >= 0)
    assert not lines(call("compare", path, *BY_DAY, "--labels-after", "10d"), "wait")
    path = write(rows().drop(columns="day"), DAY < FIRST)
    assert "No verdict" in call("compare", path, *QUICK, "--budget", 60, code=3).stdout
    path = write(rows(), DAY < FIRST)
    for command in (["compare", *BY_DAY], ["fit", "--label", "y", "--time", "day", "-o", "m.skops"]):
        said = call(command[0], path, *command[1:], "--labels-after", "9w", code=2).stderr
        assert said.endswith("Error: --labels-after 9w leaves no two classes; shorten it.\n")


def test_a_measure_names_the_block_and_tells_nothing_where_no_label_is():
    table = rows()
    # Scores rise in the end, as where a season ends: without times somebody seems to have chosen.
    scored = table.assign(score=table["a"] + (DAY >= FIRST))
    words = ["--label", "y", "--score", "score", "--budget"]
    path = write(scored, DAY < FIRST)
    assert "somebody chose" in call("measure", path, *words, 60).stdout
    shown = call("measure", path, *words, "2/day", "--time", "day")
    assert "The last 10 days have no labels: leave their rows out of the file." in shown.stdout
    assert "somebody chose" not in shown.stdout
    refused = call("measure", path, *words, "2/day", "--time", "day", "--promise", 0.9, code=2).stderr
    assert (
        "nothing is promised: the last 10 days have no labels: leave their rows out of the file.\n" in refused
    )
    path = write(scored, (DAY < FIRST) & (scored["score"].groupby(DAY).rank(ascending=False) > 2))
    for more in ([], ["--json"]):
        shown = call("measure", path, *words, "2/day", "--time", "day", *more, code=3).stdout
        assert re.search(r"Labels are missing for 33 % of the rows, mostly of high scores", shown)
