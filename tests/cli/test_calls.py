"""pushrank score --budget 210/week,60/day: the rows of a day to act on, and what is left."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from pushrank.datasets import make_stream
from pushrank.monitoring import MovingList
from tests.cli.runner import call

pytestmark = pytest.mark.fast

HOW = ["--time", "came", "--id", "id", "--budget", "42/week,12/day"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with two models of a stream, and its days after, with their labels and without."""
    folder, stream = tmp_path_factory.mktemp("calls"), make_stream(70, 60, random_state=0)
    frame = pd.DataFrame(stream.data, columns=stream.feature_names)
    frame = frame.assign(came=stream.time, late=stream.target, id=np.arange(len(frame)).astype(str) + "r")
    frame["came"] = pd.Timestamp("2026-03-02") + pd.to_timedelta(stream.day, "D")
    frame[stream.day < 20].drop(columns=["came", "id"]).to_csv(folder / "fit.csv", index=False)
    for day in range(20, 70):
        frame[stream.day == day].drop(columns="late").to_csv(folder / f"{day}.csv", index=False)
        frame[stream.day == day].to_csv(folder / f"labels{day}.csv", index=False)
    frame[(stream.day >= 20) & (stream.day < 48)].to_csv(folder / "past.csv", index=False)
    frame[:0].drop(columns="late").to_csv(folder / "none.csv", index=False)
    for name, left_out in {"old": ["--exclude", "x1"], "new": []}.items():
        words = ["--label", "late", "--model", "logistic-regression", *left_out]
        call("fit", folder / "fit.csv", *words, "-o", folder / f"{name}.skops")
    return folder


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path, dirs_exist_ok=True)


def today(folder, day, *more, model="old", code=0):
    words = ["score", folder / f"{model}.skops", folder / f"{day}.csv", *HOW, "-o", folder / "act.csv"]
    return call(*words, "--force", *more, code=code)


def test_days_are_chosen_within_the_week_and_the_same_again(folder):
    # Day 20 is a Sunday, the last of its week.
    said = today(folder, 20).stdout.splitlines()
    assert said == [
        f"6 of 31 rows, best first, in {folder / 'act.csv'}.",
        f"{folder / 'old.calls.db'} begins; calls of days to come are spent by it.",
        "Today 6 calls, on the last day of the week (0 left over, at most 12 a day).",
    ]
    spent = []
    for day in range(21, 63):
        found = json.loads(today(folder, day, "--labels", labels(folder), "--json").stdout)
        acted = pd.read_csv(folder / "act.csv")
        assert found["calls"] == found["written"] == len(acted) <= 12
        assert acted["score"].is_monotonic_decreasing
        spent.append(found["calls"])
        assert found["left"] == 42 - sum(spent[(day - 21) // 7 * 7 :])
        assert (found["days_left"], found["budget"]) == (6 - (day - 21) % 7, "42/week,12/day")
        if day % 10 == 0:
            today(folder, day)
            pd.testing.assert_frame_equal(pd.read_csv(folder / "act.csv"), acted)
    assert len(set(spent)) > 2
    assert min(np.reshape(spent, (6, 7)).sum(axis=1)) >= 36
    said = today(folder, "none").stdout
    assert "0 of 0 rows" in said
    assert "No rows, so that no call is spent. Before: Today" in said


def labels(folder):
    """Return a file with the labels of the rows that were written last."""
    acted = pd.read_csv(folder / "act.csv")
    every = pd.concat(pd.read_csv(folder / f"labels{day}.csv")[["id", "late"]] for day in range(20, 70))
    acted[["id", "came"]].merge(every, on="id").to_csv(folder / "labels.csv", index=False)
    return folder / "labels.csv"


def test_another_model_begins_a_new_span_by_past_rows(folder):
    said = today(folder, 49, "--past", folder / "past.csv").stdout
    # 2026-04-20 is a Monday.
    assert "begins" in said
    assert "left for 6 days" in said
    before = pd.read_csv(folder / "act.csv")
    said = today(folder, 50, "--past", folder / "past.csv", code=2).stderr
    assert "has begun by this model and budget: leave --past out" in said
    said = today(folder, 50, "--state", folder / "old.calls.db", model="new", code=2).stderr
    assert "begin a new span by --past FILE" in said
    said = today(folder, 50, "--budget", "49/week,12/day", code=2).stderr
    assert "by --budget 42/week,12/day: begin a new span by --past" in said
    exchange = ["--state", folder / "old.calls.db", "--past", folder / "past.csv"]
    today(folder, 50, *exchange, model="new")
    today(folder, 49, "--state", folder / "old.calls.db", model="new")
    assert {*pd.read_csv(folder / "act.csv")["id"]} == {*before["id"]}


@pytest.mark.parametrize(
    ("day", "more", "why"),
    [
        ("past", [], "rows are of 28 days"),
        ("21", ["--budget", "42/week"], "--budget '42/week' is not understood: write 210/week,60/day"),
        ("21", ["--budget", "30"], "is not understood"),
        ("21", ["--budget", "42/week,60/day"], "daily_cap"),
        ("21", ["--top", "3"], "--top is for another list than that of --budget"),
        ("21", ["--at-most", "1:x1"], "--at-most"),
        ("21", ["--labels", "labels21.csv", "--label", "late"], "was not acted on"),
        ("21", ["--id", "no"], "no"),
    ],
)
def test_what_cannot_be_is_a_line(folder, monkeypatch, day, more, why):
    monkeypatch.chdir(folder)
    said = today(folder, 20).stdout
    said = today(folder, day, *more, code=2).stderr
    assert why in said
    assert len(said.splitlines()) <= 2


def test_options_of_it_need_the_budget(folder):
    for option in ("--state", "--labels", "--past"):
        said = call(
            "score", folder / "old.skops", folder / "20.csv", option, folder / "20.csv", code=2
        ).stderr
        assert f"{option} goes with --budget 210/week,60/day" in said


def test_a_day_that_is_over_is_refused_and_a_second_process_waits(folder, monkeypatch):
    today(folder, 22)
    assert "which is over" in today(folder, 21, code=2).stderr
    monkeypatch.setattr("pushrank.monitoring.state.SECONDS", 0.1)
    held = MovingList.open(folder / "old.calls.db")
    assert "another process decides by this state" in today(folder, 22, code=2).stderr
    held.close()
    today(folder, 22)
