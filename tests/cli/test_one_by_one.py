"""pushrank score --alert: rows decided on as they come, by a file of what was decided."""

import shutil
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from pushrank.alerts import AlertThreshold
from tests.cli.runner import call, fitted

pytestmark = pytest.mark.fast

NEW = ["--id", "id", "--time", "came"]


@pytest.fixture(scope="module")
def began(written, frame, tmp_path_factory):
    """Return the folder with a model, a month of rows, and those of the two days after it."""
    files = shutil.copytree(written, tmp_path_factory.mktemp("stream"), dirs_exist_ok=True)
    model = fitted(files / "data.csv")
    rows = frame.sample(2000, replace=True, random_state=0).reset_index(drop=True)
    came = pd.date_range("2026-03-01", periods=2000, freq="h")
    rows = rows.assign(id=[f"row {i}" for i in range(2000)], came=came)
    rows[: 24 * 31].to_csv(files / "past.csv", index=False)
    rows[24 * 31 : 24 * 33].to_csv(files / "new.csv", index=False)
    state = ["--alert", files / "s.json", "--budget", "3/day", "--time", "came"]
    shown = call("score", model, files / "past.csv", *state)
    assert "s.json: 3 a day, by what came at the same hour in 744 past rows." in shown.stdout
    return files


@pytest.fixture
def stream(began, tmp_path):
    return shutil.copytree(began, tmp_path, dirs_exist_ok=True)


def decided(stream, rows, *more):
    """Return the written rows by their names, and what was said."""
    model, state = stream / "model.skops", stream / "s.json"
    command = ["score", model, rows, "--alert", state, *NEW, "-o", stream / "out.csv"]
    said = call(*command, *more).stdout
    return pd.read_csv(stream / "out.csv").set_index("id").sort_index(), said


def test_rows_are_decided_as_in_python(stream):
    new = pd.read_csv(stream / "new.csv", parse_dates=["came"])
    with_scores = pd.read_csv(stream / "past.csv", parse_dates=["came"])
    call("score", stream / "model.skops", stream / "past.csv", "-o", stream / "past_scores.csv")
    past = pd.read_csv(stream / "past_scores.csv").set_index("id").loc[with_scores["id"]]
    written, said = decided(stream, stream / "new.csv")
    written = written.loc[new["id"]]
    alert = AlertThreshold(3).fit(past["score"], with_scores["came"])
    act, thresholds = alert.decide(written["score"], new["came"], new["id"], return_threshold=True)
    np.testing.assert_array_equal(written["alert"], act)
    np.testing.assert_allclose(written["threshold"], thresholds)
    assert f"{act.sum()} of 48 rows are alerts; {alert.left_} of 3 a day are left" in said
    assert written["alert"].sum() <= 6


def test_rows_that_come_in_parts_and_again_get_the_same_answers(stream):
    lines = (stream / "new.csv").read_text().splitlines(keepends=True)
    known = None
    for end in (2, 20, 30, 49, 49):
        (stream / "so_far.csv").write_text("".join(lines[:end]))
        found, _ = decided(stream, stream / "so_far.csv")
        assert len(found) == end - 1
        answers = found[["alert", "threshold"]]
        if known is not None:
            pd.testing.assert_frame_equal(answers.loc[known.index], known)
        known = answers


def test_standard_input_and_an_empty_file(stream):
    new = (stream / "new.csv").read_text()
    (stream / "none.csv").write_text(new.partition("\n")[0] + "\n")
    found, _ = decided(stream, stream / "none.csv")
    assert len(found) == 0
    assert {"threshold", "alert"} <= set(found)


def test_what_cannot_be_decided_is_told(stream, frame):
    model, state, new = stream / "model.skops", stream / "s.json", stream / "new.csv"
    frame.assign(id=None, came="2026-05-01").to_csv(stream / "nameless.csv", index=False)
    (stream / "damaged.json").write_text("{}")
    alert = ["--alert", state]
    for message, arguments in {
        "--id goes with --alert FILE": [new, *NEW],
        "--alert needs --time COLUMN, and either --id": [new, *alert, "--time", "came"],
        "s.json exists; to forget": [new, *alert, "--time", "came", "--budget", "3/day"],
        "t.json does not exist; begin it with past rows": [new, "--alert", stream / "t.json", *NEW],
        "--id 'name' is no column": [new, *alert, "--id", "name", "--time", "came"],
        "--time 'when' is no column": [new, *alert, "--id", "id", "--time", "when"],
        "--id 'id' is empty in row 1": [stream / "nameless.csv", *alert, *NEW],
        "is of a day that ended before 2026-04-01": [stream / "past.csv", *alert, *NEW],
        "is no whole state of an alert threshold": [new, "--alert", stream / "damaged.json", *NEW],
        "s.json: the result is written as": [new, *alert, *NEW, "-o", state],
    }.items():
        assert message in " ".join(call("score", model, *arguments, code=2).stderr.split())


def test_a_state_in_use_is_told(stream):
    with closing(AlertThreshold.open(stream / "s.json")):
        command = ["score", stream / "model.skops", stream / "new.csv", "--alert", stream / "s.json", *NEW]
        assert "s.json: another process decides by this state" in call(*command, code=2).stderr
