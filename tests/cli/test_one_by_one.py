"""pushrank score --alert: rows decided on as they come, by a file of what was decided."""

import shutil
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from benchmarks.alert_state import full_output, kills
from pushrank.monitoring import AlertThreshold
from tests.cli.runner import call, fitted

pytestmark = pytest.mark.fast

TIME = ["--time", "came"]
NEW = ["--id", "id", *TIME]


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
    rows[24 * 31 : 24 * 36].to_csv(files / "five_days.csv", index=False)
    state = ["--alert", files / "s.db", "--budget", "3/day", "--time", "came"]
    shown = call("score", model, files / "past.csv", *state)
    assert "s.db: 3 a day, by what came at the same hour in 744 past rows." in shown.stdout
    return files


@pytest.fixture
def stream(began, tmp_path):
    return shutil.copytree(began, tmp_path, dirs_exist_ok=True)


def deciding(stream, rows, *more):
    """Return the words of a command that decides on rows."""
    return [
        "score",
        stream / "model.skops",
        rows,
        "--alert",
        stream / "s.db",
        *more,
        "-o",
        stream / "out.csv",
    ]


def decided(stream, rows, *more):
    """Return the written rows by their names, and what was said."""
    said = call(*deciding(stream, rows, *(more or NEW))).stdout
    return pd.read_csv(stream / "out.csv").set_index("id").sort_index(), said


def test_rows_are_decided_as_in_python(stream):
    new = pd.read_csv(stream / "new.csv", parse_dates=["came"])
    with_scores = pd.read_csv(stream / "past.csv", parse_dates=["came"])
    call("score", stream / "model.skops", stream / "past.csv", "-o", stream / "past.parquet")
    past = pd.read_parquet(stream / "past.parquet").set_index("id").loc[with_scores["id"]]
    said = call(*deciding(stream, stream / "new.csv", *NEW)[:-1], stream / "out.parquet").stdout
    written = pd.read_parquet(stream / "out.parquet").set_index("id").loc[new["id"]]
    # The same rows again, written as text: no row of six digits is on the other side of its threshold.
    short = decided(stream, stream / "new.csv")[0].loc[new["id"]]
    np.testing.assert_array_equal(
        short["score"] >= short["threshold"], written["score"] >= written["threshold"]
    )
    np.testing.assert_allclose(short[["score", "threshold"]], written[["score", "threshold"]], rtol=5e-6)
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


@pytest.mark.parametrize("names", [["--id", "id"], []])
def test_an_output_that_failed_is_written_by_the_next_run(stream, monkeypatch, names):
    """Rows of five days, of which four are over by then: answers of sixty are kept."""
    begun = (stream / "s.db").read_bytes()
    command = deciding(stream, stream / "five_days.csv", *names, *TIME)
    said = call(*command).stdout.partition("\n")[0]
    assert said.startswith("15 of 120 rows are alerts")
    expected = (stream / "out.csv").read_bytes()
    (stream / "out.csv").unlink()
    (stream / "s.db").write_bytes(begun)

    def is_full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.replace", is_full)
        shown = call(*command, code=2)
    assert said in shown.stdout
    assert "out.csv cannot be written: No space left on device." in shown.stderr
    assert not (stream / "out.csv").exists()
    for _ in range(2):
        assert said in call(*command).stdout
        assert (stream / "out.csv").read_bytes() == expected


@pytest.mark.nightly
def test_killed_commands_and_full_disks_leave_the_next_run_the_same_file(tmp_path):
    for name, part in {"kills": lambda at: kills(at, 6, 4), "full": full_output}.items():
        (tmp_path / name).mkdir()
        counts = part(tmp_path / name)
        faults = ("second run failed", "another file or other alerts", "half an output", "another file")
        assert [counts[fault] for fault in (*faults, "exit code again")] == [0] * 5
    assert counts["exit code without room"] == 2


def test_without_names_rows_of_another_file_are_others(stream):
    new = pd.read_csv(stream / "five_days.csv")
    new = new[new["came"] >= new["came"].iloc[-1][:10]]
    new.assign(id=0).to_csv(stream / "last_day.csv", index=False)
    # Equal rows of a file are as many rows.
    pd.concat([new.head(1)] * 5).to_csv(stream / "copies.csv", index=False)
    for _ in range(2):
        found, said = decided(stream, stream / "last_day.csv", *TIME)
        assert "3 of 24 rows are alerts; 0 of 3 a day are left." in said
    for _ in range(2):
        found, said = decided(stream, stream / "copies.csv", *TIME)
        assert "0 of 5 rows are alerts" in said
    assert np.isinf(found["threshold"]).all()


def test_answers_are_kept_of_as_many_days_as_stated(stream):
    past = ["score", stream / "model.skops", stream / "past.csv", "--alert", stream / "s.db", *TIME]
    call(*past, "--budget", "3/day", "--n-kept", 4, "--force")
    for _ in range(2):
        decided(stream, stream / "five_days.csv")
    call(*past, "--budget", "3/day", "--n-kept", 3, "--force")
    decided(stream, stream / "five_days.csv")
    said = call(*deciding(stream, stream / "five_days.csv", *NEW), code=2).stderr
    assert "is of a day that ended before 2026-04-05" in " ".join(said.split())


def test_a_wrong_date_is_told_and_harms_nothing(stream):
    new = pd.read_csv(stream / "new.csv")
    new.loc[7, "came"] = "2062-04-01 10:00:00"
    new.to_csv(stream / "typo.csv", index=False)
    before = (stream / "s.db").read_bytes()
    said = " ".join(call(*deciding(stream, stream / "typo.csv", *NEW), code=2).stderr.split())
    assert "row 7 is of 2062-04-01T00:00:00.000000, ahead of this machine's clock, and skips 13," in said
    assert "correct its date, or set --n-ahead to the number of days that rows may be ahead." in said
    assert (stream / "s.db").read_bytes() == before
    decided(stream, stream / "typo.csv", *NEW, "--n-ahead", 20_000)


def test_standard_input_and_an_empty_file(stream):
    new = (stream / "new.csv").read_text()
    (stream / "none.csv").write_text(new.partition("\n")[0] + "\n")
    found, _ = decided(stream, stream / "none.csv")
    assert len(found) == 0
    assert {"threshold", "alert"} <= set(found)


def test_what_cannot_be_decided_is_told(stream, frame):
    model, state, new = stream / "model.skops", stream / "s.db", stream / "new.csv"
    frame.assign(id=None, came="2026-05-01").to_csv(stream / "nameless.csv", index=False)
    (stream / "damaged.json").write_text("{}")
    alert = ["--alert", state]
    for message, arguments in {
        "--id goes with --alert FILE": [new, *NEW],
        "--n-ahead goes with --alert FILE": [new, "--n-ahead", 2],
        "--n-kept goes with --budget 30/day": [new, *alert, *NEW, "--n-kept", 2],
        "--alert needs --time COLUMN, and takes --id": [new, *alert, "--id", "id"],
        "--alert needs --time COLUMN, and takes": [new, *alert, *NEW, "--budget", "3/day"],
        "s.db exists; to forget": [new, *alert, *TIME, "--budget", "3/day"],
        "t.json does not exist; begin it with past rows": [new, "--alert", stream / "t.json", *NEW],
        "--alert takes no limit but one --at-most": [new, *alert, *NEW, "--at-least", "1:id=a"],
        "--id 'name' is no column": [new, *alert, "--id", "name", "--time", "came"],
        "--time 'when' is no column": [new, *alert, "--id", "id", "--time", "when"],
        "--id 'id' is empty in row 1": [stream / "nameless.csv", *alert, *NEW],
        "is of a day that ended before 2026-04-01": [stream / "past.csv", *alert, *NEW],
        "no whole state of an alert threshold: it is of format 1, lines": [
            new,
            "--alert",
            stream / "damaged.json",
            *NEW,
        ],
        "s.db: the result is written as": [new, *alert, *NEW, "-o", state],
    }.items():
        assert message in " ".join(call("score", model, *arguments, code=2).stderr.split())


def test_a_state_in_use_is_told(stream):
    with closing(AlertThreshold.open(stream / "s.db")):
        command = ["score", stream / "model.skops", stream / "new.csv", "--alert", stream / "s.db", *NEW]
        assert "s.db: another process decides by this state" in call(*command, code=2).stderr


def test_an_audit_is_begun_with_the_file_and_writes_why_rows_are_acted_on(stream):
    model, past, audited = stream / "model.skops", stream / "past.csv", ["--alert", stream / "s.db", *TIME]
    said = call("score", model, past, *audited, "--budget", "3/day", "--audit", "2/day", "--force").stdout
    assert (
        "2 of them, in the mean, are drawn from all rows below the threshold, each with a chance of" in said
    )
    assert " 0.087, and 1 are left for the highest scores." in " ".join(said.split())
    found, said = decided(stream, stream / "five_days.csv")
    assert found["acted"].fillna("").value_counts()["list"] == 5
    n_drawn = (found["acted"] == "audit").sum()
    assert (
        f"{5 + n_drawn} of 120 rows are alerts, {n_drawn} of them drawn for the audit; 0 of 1 a day" in said
    )
    np.testing.assert_array_equal(found["alert"], found["acted"].notna())
    np.testing.assert_array_equal(found["chance"], np.where(found["acted"] == "list", 1.0, 2 / 23))
    pd.testing.assert_frame_equal(decided(stream, stream / "five_days.csv")[0], found)
    pd.read_csv(stream / "five_days.csv")[:0].to_csv(stream / "no_rows.csv", index=False)
    assert list(decided(stream, stream / "no_rows.csv")[0])[:6] == list(found)[:6]


def test_no_customer_has_more_alerts_a_day_than_the_file_is_begun_with(stream):
    for name in ("past.csv", "five_days.csv"):
        rows = pd.read_csv(stream / name)
        rows.assign(customer=[["a", "b", None][i % 3] for i in range(len(rows))]).to_csv(stream / name)
    begin = ["score", stream / "model.skops", stream / "past.csv", "--alert", stream / "s.db", *TIME]
    call(*begin, "--budget", "6/day", "--force", "--at-most", "1:customer")
    for _ in range(2):
        found, _ = decided(stream, stream / "five_days.csv", *NEW, "--at-most", "1:customer")
        alerts = found[found["alert"]].assign(day=found["came"].str[:10])
        assert alerts.groupby(["customer", "day"]).size().tolist() == [1] * 10
        assert alerts["customer"].isna().sum() > 10
    for n in (["--at-most", "2:customer"], ["--at-most", "1:id"], []):
        said = call(*deciding(stream, stream / "five_days.csv", *NEW, *n), code=2).stderr
        assert "s.db was begun with --at-most 1:customer; say the same here." in " ".join(said.split())
