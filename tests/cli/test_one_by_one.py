"""pushrank alert: rows decided on as they come, by a file of what was decided."""

import json
import shutil
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from benchmarks.alert_state import full_output, kills
from pushrank.monitoring import AlertThreshold
from tests.cli.runner import LABEL, call, fitted

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
    rows["customer"] = [["a", "b", None][i % 3] for i in range(len(rows))]
    rows[: 24 * 31].to_csv(files / "past.csv", index=False)
    rows[24 * 31 : 24 * 33].to_csv(files / "new.csv", index=False)
    rows[24 * 31 : 24 * 36].to_csv(files / "five_days.csv", index=False)
    begin = ["alert", model, files / "past.csv", "--begin", "--budget", "3/day", "--time", "came"]
    shown = call(*begin).stdout
    assert shown == f"{files / 'model.alert.db'}: alerts for 3 a day, by 744 past rows.\n"
    return files


@pytest.fixture
def stream(began, tmp_path):
    return shutil.copytree(began, tmp_path, dirs_exist_ok=True)


def begin(stream, *more, code=0):
    """Begin the file of alerts anew."""
    past = ["alert", stream / "model.skops", stream / "past.csv", "--begin", "--time", "came", *more]
    return call(*past, code=code)


def deciding(stream, rows, *more):
    """Return the words of a command that decides on rows."""
    return ["alert", stream / "model.skops", stream / rows, *(more or NEW), "-o", stream / "out.csv"]


def decided(stream, rows, *more):
    """Return the written rows by their names, and what was said."""
    said = call(*deciding(stream, rows, *more)).stdout
    return pd.read_csv(stream / "out.csv").set_index("id").sort_index(), said


def test_rows_are_decided_as_in_python(stream):
    new = pd.read_csv(stream / "new.csv", parse_dates=["came"])
    with_scores = pd.read_csv(stream / "past.csv", parse_dates=["came"])
    call("score", stream / "model.skops", stream / "past.csv", "-o", stream / "past.parquet")
    past = pd.read_parquet(stream / "past.parquet").set_index("id").loc[with_scores["id"]]
    said = call(*deciding(stream, "new.csv")[:-1], stream / "out.parquet").stdout
    written = pd.read_parquet(stream / "out.parquet").set_index("id").loc[new["id"]]
    # The same rows again, written as text: no row of six digits is on the other side of its threshold.
    short = decided(stream, "new.csv")[0].loc[new["id"]]
    np.testing.assert_array_equal(
        short["score"] >= short["threshold"], written["score"] >= written["threshold"]
    )
    np.testing.assert_allclose(short[["score", "threshold"]], written[["score", "threshold"]], rtol=5e-6)
    alert = AlertThreshold(3).fit(past["score"], with_scores["came"])
    act, thresholds = alert.decide(written["score"], new["came"], new["id"], return_threshold=True)
    np.testing.assert_array_equal(written["alert"], act)
    np.testing.assert_allclose(written["threshold"], thresholds)
    assert f"{act.sum()} of 48 rows are alerts; {alert.left_} of 3 a day are left in the last day" in said
    assert written["alert"].sum() <= 6


def test_rows_that_come_in_parts_and_again_get_the_same_answers(stream):
    lines = (stream / "new.csv").read_text().splitlines(keepends=True)
    known = None
    for end in (1, 2, 20, 49, 49):
        (stream / "so_far.csv").write_text("".join(lines[:end]))
        found, said = decided(stream, "so_far.csv")
        assert len(found) == end - 1
        answers = found[["alert", "threshold"]]
        # An hour without a row has names of columns alone, and nothing to say.
        assert (said == "") == (end == 1)
        if known is not None and len(known):
            pd.testing.assert_frame_equal(answers.loc[known.index], known)
        known = answers


@pytest.mark.parametrize("names", [["--id", "id"], []])
def test_an_output_that_failed_is_written_by_the_next_run(stream, monkeypatch, names):
    """Rows of five days, of which four are over by then: answers of sixty are kept."""
    state = stream / "model.alert.db"
    begun = state.read_bytes()
    command = deciding(stream, "five_days.csv", *names, "--time", "came")
    said = call(*command).stdout
    assert said.startswith("15 of 120 rows are alerts")
    expected = (stream / "out.csv").read_bytes()
    (stream / "out.csv").unlink()
    state.write_bytes(begun)

    def is_full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.replace", is_full)
        shown = call(*command, code=2)
    assert "out.csv cannot be written: No space left on device." in shown.stderr
    assert not (stream / "out.csv").exists()
    # What was decided was on disk before.
    assert state.read_bytes() != begun
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
        found, said = decided(stream, "last_day.csv", "--time", "came")
        assert "3 of 24 rows are alerts; 0 of 3 a day are left." in said
    for _ in range(2):
        found, said = decided(stream, "copies.csv", "--time", "came")
        assert "0 of 5 rows are alerts" in said
    assert np.isinf(found["threshold"]).all()


def test_whole_numbers_of_a_text_file_are_one_name_with_and_without_a_point(stream):
    new, answers = pd.read_csv(stream / "new.csv"), []
    for number, form in enumerate(("{}", "{}.0", "{}.00")):
        new.assign(id=[form.format(row) for row in range(len(new))]).to_csv(stream / f"{number}.csv")
        call(*deciding(stream, f"{number}.csv"))
        answers.append(pd.read_csv(stream / "out.csv")["alert"].tolist())
    assert answers[0] == answers[1] == answers[2]


def test_a_wrong_date_is_told_and_harms_nothing(stream):
    new = pd.read_csv(stream / "new.csv")
    new.loc[7, "came"] = "2062-04-01 10:00:00"
    new.to_csv(stream / "typo.csv", index=False)
    before = (stream / "model.alert.db").read_bytes()
    said = call(*deciding(stream, "typo.csv"), code=2).stderr
    assert "is of 2062-04-01T00:00:00.000000, ahead of this machine's clock, and skips 13," in said
    assert said.endswith("; correct its date.\n")
    assert (stream / "model.alert.db").read_bytes() == before


def test_what_cannot_be_decided_is_told(stream, frame, monkeypatch):
    frame.assign(id=None, came="2026-05-01").to_csv(stream / "nameless.csv", index=False)
    (stream / "damaged.json").write_text("{}")
    began = (stream / "model.alert.db").read_bytes()
    once = "belongs to the beginning of the file: say it with --begin and past rows."
    for message, (rows, *given) in {
        f"--budget {once}": ["new.csv", *NEW, "--budget", "3/day"],
        f"--audit {once}": ["new.csv", *NEW, "--audit", "1/day"],
        f"--at-most {once}": ["new.csv", *NEW, "--at-most", "1:customer"],
        "--begin needs --budget 30/day": ["past.csv", "--begin", "--force"],
        "past.csv is an input, which the state would replace": [
            "past.csv", "--begin", "--budget", "3/day", "--state", stream / "past.csv", "--force"],
        "new.csv is no file of what was decided, and is not replaced": [
            "past.csv", "--begin", "--budget", "3/day", "--state", stream / "new.csv", "--force"],
        "no does not exist; make it first": [
            "past.csv", "--begin", "--budget", "3/day", "--state", stream / "no" / "a.db"],
        "--budget 30/day: how many alerts there are, and in which time": [
            "past.csv", "--begin", "--budget", "3", "--force"],
        "--id is for rows to decide on; --begin writes none": [
            "past.csv", "--begin", "--budget", "3/day", "--force", "--id", "id"],
        "model.alert.db exists; to forget what was decided in it: --force": [
            "past.csv", "--begin", "--budget", "3/day", "--time", "came"],
        "--audit 3/day must be a part of --budget 3/day, in the same unit": [
            "past.csv", "--begin", "--budget", "3/day", "--audit", "3/day", "--force"],
        "--audit 1/hour must be a part of --budget 3/day": [
            "past.csv", "--begin", "--budget", "3/day", "--audit", "1/hour", "--force"],
        "t.db does not exist; begin it with past rows: pushrank alert": [
            "new.csv", "--state", stream / "t.db", *NEW],
        "--at-most 'customer' is not understood": [
            "past.csv", "--begin", "--budget", "3/day", "--at-most", "customer", "--force"],
        "give --time COLUMN: when each row came": ["new.csv", "--id", "id"],
        "--id 'name' is no column": ["new.csv", "--id", "name", "--time", "came"],
        "--time 'when' is no column": ["new.csv", "--id", "id", "--time", "when"],
        "--id 'id' is empty in row 1": ["nameless.csv", *NEW],
        "Error: row 1 ('": ["past.csv", *NEW],
        "and its answer is not known: answers are kept for 60 days; leave it out": ["past.csv", *NEW],
        "no whole state of an alert threshold: it is of format 1, lines": [
            "new.csv", "--state", stream / "damaged.json", *NEW],
        "the result is written as": ["new.csv", *NEW, "-o", stream / "model.alert.db"],
    }.items():  # fmt: skip
        assert message in call("alert", stream / "model.skops", stream / rows, *given, code=2).stderr
    assert (stream / "model.alert.db").read_bytes() == began
    monkeypatch.setattr("pushrank.monitoring.state.SECONDS", 0.0)
    with closing(AlertThreshold.open(stream / "model.alert.db")):
        said = call(*deciding(stream, "new.csv"), code=2).stderr
        assert "model.alert.db: another process decides by this state" in said


def test_an_audit_is_begun_with_the_file_and_writes_why_rows_are_acted_on(stream):
    said = begin(stream, "--budget", "3/day", "--audit", "2/day", "--force").stdout.splitlines()
    assert said[1] == "Drawn from other rows: 2 of them, each with a chance of 0.087."
    found, said = decided(stream, "five_days.csv")
    assert found["acted"].fillna("").value_counts()["list"] == 5
    n_drawn = (found["acted"] == "audit").sum()
    assert (
        f"{5 + n_drawn} of 120 rows are alerts, {n_drawn} of them drawn for the audit; 0 of 1 a day" in said
    )
    np.testing.assert_array_equal(found["alert"], found["acted"].notna())
    np.testing.assert_array_equal(found["chance"], np.where(found["acted"] == "list", 1.0, 2 / 23))
    pd.testing.assert_frame_equal(decided(stream, "five_days.csv")[0], found)
    pd.read_csv(stream / "five_days.csv")[:0].to_csv(stream / "no_rows.csv", index=False)
    assert list(decided(stream, "no_rows.csv")[0])[:6] == list(found)[:6]


def test_no_customer_has_more_alerts_a_day_than_the_file_is_begun_with(stream):
    begin(stream, "--budget", "6/day", "--force", "--at-most", "1:customer")
    for _ in range(2):
        # The file knows the limit, and the column that it is on.
        found, _ = decided(stream, "five_days.csv")
        alerts = found[found["alert"]].assign(day=found["came"].str[:10])
        assert alerts.groupby(["customer", "day"]).size().tolist() == [1] * 10
        assert alerts["customer"].isna().sum() > 10
    facts = json.loads(call(*deciding(stream, "five_days.csv"), "--json").stdout)
    assert facts["at_most"] == "1:customer"
    pd.read_csv(stream / "new.csv").drop(columns="customer").to_csv(stream / "new.csv", index=False)
    assert "--at-most 'customer' is no column" in call(*deciding(stream, "new.csv"), code=2).stderr


def test_alerts_take_the_scores_of_the_model_that_they_were_begun_by(stream):
    again, other = stream / "again.skops", stream / "other.skops"
    call("fit", stream / "data.csv", *LABEL, "-o", again)
    shutil.copy(stream / "model.alert.db", stream / "again.alert.db")
    call(*[again if word == stream / "model.skops" else word for word in deciding(stream, "new.csv")])
    call("fit", stream / "data.csv", *LABEL, "--model", "logistic-regression", "-o", other)
    shutil.copy(stream / "model.alert.db", stream / "other.alert.db")
    words = [other if word == stream / "model.skops" else word for word in deciding(stream, "new.csv")]
    assert "other.alert.db was begun by the scores of another model" in call(*words, code=2).stderr


def test_days_that_come_whole_are_their_first_rows(stream):
    for name in ("past", "five_days"):
        rows = pd.read_csv(stream / f"{name}.csv")
        rows.assign(came=rows["came"].str[:10]).to_csv(stream / f"{name}.csv", index=False)
    whole = (
        "nearly all past rows of a day have one time, so that it comes whole: its first 3 by score are "
        "alerts. Give all rows of a day in one file.\n"
    )
    assert begin(stream, "--budget", "3/day", "--force").stdout == f"{stream / 'model.alert.db'}: {whole}"
    found, said = decided(stream, "five_days.csv")
    assert said.endswith(f"Here {whole}")
    first = found.groupby("came")["score"].rank(ascending=False, method="first") <= 3
    assert found["alert"].tolist() == first.tolist()


def test_the_same_rows_in_another_zone_have_the_same_answers(stream):
    """The days of a file of alerts are those of the zone that its past rows have."""
    for name in ("past", "five_days"):
        rows = pd.read_csv(stream / f"{name}.csv")
        zoned = pd.to_datetime(rows["came"]).dt.tz_localize("Asia/Kolkata")
        rows.assign(came=zoned.map(lambda moment: moment.isoformat())).to_csv(
            stream / f"{name}.csv", index=False
        )
    begin(stream, "--budget", "3/day", "--force")
    begun, answers = (stream / "model.alert.db").read_bytes(), []
    for zone in ("UTC", "Asia/Kolkata", "America/Lima"):
        (stream / "model.alert.db").write_bytes(begun)
        came = zoned.dt.tz_convert(zone).map(lambda moment: moment.isoformat())
        rows.assign(came=came).to_csv(stream / "zoned.csv", index=False)
        answers.append(decided(stream, "zoned.csv")[0]["alert"].tolist())
    assert answers[0] == answers[1] == answers[2]
    rows.assign(came=zoned.dt.tz_localize(None)).to_csv(stream / "zoned.csv", index=False)
    said = call(*deciding(stream, "zoned.csv"), code=2).stderr
    assert "has no zone, and the others have the zone +05" in said
