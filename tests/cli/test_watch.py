"""pushrank watch: what it says of rows since the fit, its exit code, and what it refuses."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from pushrank import monitoring
from pushrank.cli import known
from pushrank.cli.errors import InputError
from pushrank.cli.model import SavedModel
from pushrank.cli.read import read_table
from pushrank.datasets import make_stream
from tests.cli.runner import call

pytestmark = pytest.mark.fast

DAYS, LEARNT = 130, 60


def rows_of(**more):
    """Return rows of 130 days with dates, a label and features."""
    stream = make_stream(DAYS, 150, random_state=3, **more)
    frame = pd.DataFrame(stream.data, columns=stream.feature_names)
    return frame.assign(came=stream.time, late=stream.target, day=stream.day)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a model of the first days, and the rows after them: steady, and with drifts."""
    folder = tmp_path_factory.mktemp("watched")
    drift = {"drift_day": 75}
    for name, more in {"steady": {}, "label": drift, "rows": {**drift, "drift": "rows"}}.items():
        frame = rows_of(**more)
        frame[frame["day"] >= LEARNT].drop(columns="day").to_csv(folder / f"{name}.csv", index=False)
        if name == "steady":
            learnt = frame[frame["day"] < LEARNT].drop(columns="day")
            learnt.to_csv(folder / "learnt.csv", index=False)
            fitting = ["fit", folder / "learnt.csv", "--label", "late", "-o"]
            call(*fitting, folder / "m.skops", "--budget", "15/day", "--time", "came")
            call(*fitting, folder / "bare.skops", "--exclude", "came")
    return folder


def watched(folder, name, *more, code=0):
    return call("watch", folder / "m.skops", folder / name, "--time", "came", *more, code=code)


def test_hits_as_expected_are_no_alarm(folder):
    shown = watched(folder, "steady.csv").stdout
    assert re.fullmatch(
        r"as expected: of 1,050 rows looked at, 1,050 labelled: \d+ hits, \d+ expected",
        shown.splitlines()[-1],
    )
    assert "in 70 days from 6 March to 14 May; 1,050 looked at, of the 1,050 that 15 a day allow." in shown
    assert "week" in shown
    assert "No column has moved by more than it did within the training rows." in shown


def test_the_json_is_that_of_python(folder):
    found = json.loads(watched(folder, "label.csv", "--json", "--level", "0.1", code=1).stdout)
    saved = SavedModel.load(folder / "m.skops")
    table = read_table(folder / "label.csv")
    features, y = saved.features(table), pd.read_csv(folder / "label.csv")["late"]
    arguments = saved.reference, saved.scores(features), table.times("came"), features, y
    expected = monitoring.watch(*arguments, level=0.1)
    assert found.pop("held_out") == saved.reference.facts()
    assert found.pop("model") == "pnorm-push"
    assert found == json.loads(json.dumps(expected.to_dict()))
    assert found["needed"] == 20.0


def test_a_list_is_measured_by_an_audit_of_rows_that_its_model_is_new_to(folder):
    frame = pd.read_csv(folder / "steady.csv")
    listed, drawn = np.arange(len(frame)) % 5 == 0, np.arange(len(frame)) % 5 == 1
    marks = {"acted": np.where(listed, "list", np.where(drawn, "audit", "")), "chance": 0.25}
    marks["late"] = frame["late"].where(listed | drawn).astype("Int64")
    learnt = pd.read_csv(folder / "learnt.csv").assign(acted="list", chance=1.0)
    # A fit learns from rows with a label, so that others beside them make no file of other rows.
    seen = pd.concat([learnt, frame.assign(late=None, acted="", chance=0.0).tail(1)])
    audit = ["--acted", "acted", "--chance", "chance"]
    for name, rows, more, says in (
        ("new", frame.assign(**marks), ["--budget", "15/week", "--time", "came"], None),
        ("seen", seen, [], "was fitted to the very rows"),
        ("old", pd.concat([seen.tail(300), frame.assign(**marks)]), ["--budget", "15/day", "--time", "came"],
         "was fitted to rows up to 2026"),
    ):  # fmt: skip
        rows.to_csv(folder / "audited.csv", index=False)
        shown = call(
            "evaluate", folder / "m.skops", folder / "audited.csv", *audit, *more, code=2 * bool(says)
        )
        assert (says or "Hits below the list: at most") in " ".join(shown.output.split()), name


def test_files_of_earlier_versions_say_up_to_when_they_have_learnt(monkeypatch):
    facts = {"promised": {"budget": "15/day", "until": "2026-05-01"}}
    monkeypatch.setattr(known, "read_facts", lambda _: {"facts": facts})
    time = np.array(["2026-04-30"], "datetime64[s]")
    rows = SimpleNamespace(table=SimpleNamespace(path="new.csv", times=lambda *_, **__: time))
    with pytest.raises(InputError, match="old was fitted to rows up to 2026-05-01"):
        known.check_new("old", Path("old.skops"), rows, SimpleNamespace(time="came"))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("label", r"fewer hits than expected since \d+ (March|April): retrain"),
        ("rows", r"the rows have changed: column x2"),
    ],
)
def test_an_alarm_is_a_sentence_and_an_exit_code(folder, tmp_path, name, says):
    shown = watched(folder, f"{name}.csv", "-o", tmp_path / "page.html", code=1).stdout
    assert re.fullmatch(says, shown.splitlines()[-1])
    assert ("x2" in shown) == (name == "rows")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    verdict = re.search('aria-label="Verdict">\n<p>(.*)\\.</p>', page)[1]
    assert verdict == shown.splitlines()[-1].capitalize().replace("march", "March").replace("april", "April")


def test_labels_that_are_not_known_yet_are_left_empty(folder):
    frame = pd.read_csv(folder / "label.csv")
    days = pd.to_datetime(frame["came"]).dt.normalize()
    last = days >= days.max() - pd.Timedelta(days=4)
    partly = frame.assign(late=frame["late"].astype(object).where(~last | (frame.index % 2 == 0), "?"))
    partly.to_csv(folder / "partly.csv", index=False)
    found = json.loads(watched(folder, "partly.csv", "--json", code=1).stdout)["table"]
    assert [record["hits"] is None for record in found] == [False] * 65 + [True] * 5
    assert found[-1]["looked_at"] == 15
    frame.drop(columns="late").to_csv(folder / "none.csv", index=False)
    shown = watched(folder, "none.csv", code=3).stdout
    assert "Labels of rows looked at are not known in any day: nothing is known of hits." in shown
    assert shown.splitlines()[-1] == "nothing is known of hits"
    top = frame.groupby(days)["x1"].rank(ascending=False) <= 15
    listed = frame.assign(late=frame["late"].where(top), acted=np.where(top, "list", ""))
    listed.to_csv(folder / "acted.csv", index=False)
    shown = watched(folder, "acted.csv", code=1)
    assert shown.stdout.splitlines()[-1].startswith("fewer hits than expected since")
    assert "Rows with a label count as looked at, for want of --acted" in shown.stderr
    known = ~last | (frame.index % 2 == 0)
    listed.assign(late=listed["late"].where(known)).to_csv(folder / "acted_late.csv", index=False)
    for more, n_days in ((["--acted", "acted"], 65), (["--labels-after", "5d"], 65), ([], 70)):
        found = json.loads(watched(folder, "acted_late.csv", "--json", *more, code=1).stdout)["table"]
        assert sum(record["hits"] is not None for record in found) == n_days
    frame.assign(late="no", outcome=frame["late"]).to_csv(folder / "other.csv", index=False)
    said = watched(folder, "other.csv", code=2).stderr
    assert "holds no 1 so far, but 'no'; name the positive label: --positive." in said
    frame[days < days.min() + pd.Timedelta(days=7)].assign(late=0).to_csv(folder / "calm.csv", index=False)
    # Days without any positive say nothing of the list.
    assert "so far" not in watched(folder, "calm.csv", code=3).stderr
    renamed = watched(folder, "other.csv", "--label", "outcome", "--json", code=1).stdout
    found = json.loads(watched(folder, "label.csv", "--json", code=1).stdout)
    assert json.loads(renamed)["table"] == found["table"]


def test_a_week_that_is_not_over_compares_no_columns(folder):
    frame = pd.read_csv(folder / "rows.csv")
    frame[frame["came"] < "2026-03-10"].to_csv(folder / "four.csv", index=False)
    shown = watched(folder, "four.csv", "-o", folder / "four.html").stdout
    assert "Columns are compared by 7 days, of which there are too few so far." in shown
    assert 'id="columns"' not in (folder / "four.html").read_text(encoding="utf-8")


def test_rows_of_the_fit_are_warned_of(folder):
    assert "was fitted to these very rows" in watched(folder, "learnt.csv").stderr
    both = pd.concat([pd.read_csv(folder / name) for name in ("learnt.csv", "steady.csv")])
    both.to_csv(folder / "both.csv", index=False)
    told = "warning: 60 days, up to 2026-03-05, are of the time of the fit"
    assert told in watched(folder, "both.csv").stderr


def test_what_cannot_be_watched_is_told(folder, tmp_path):
    frame = pd.read_csv(folder / "steady.csv")
    frame.drop(columns="x4").to_csv(tmp_path / "columns.csv", index=False)
    odd = frame.assign(came=np.where(frame.index == 7, "soon", frame["came"]))
    odd.to_csv(tmp_path / "soon.csv", index=False)
    frame[:0].to_csv(tmp_path / "nothing.csv", index=False)
    steady, model = folder / "steady.csv", folder / "m.skops"
    for message, arguments in {
        "has nothing to watch: fit it with a budget": [folder / "bare.skops", steady],
        "lacks the column 'x4'": [model, tmp_path / "columns.csv"],
        "row 8 of": [model, tmp_path / "soon.csv"],
        "nothing.csv": [model, tmp_path / "nothing.csv"],
        "--label 'fraud' is no column": [model, steady, "--label", "fraud"],
        "level must be": [model, steady, "--level", "0"],
        "--open is for a page": [model, steady, "--open"],
        "the result is written as .html or .htm": [model, steady, "-o", "page.pdf"],
    }.items():
        said = " ".join(call("watch", *arguments, "--time", "came", code=2).stderr.split())
        assert message in said
    assert "--time 'when' is no column" in call("watch", model, steady, "--time", "when", code=2).stderr
    assert "fitted for 15 a day: give --time COLUMN" in call("watch", model, steady, code=2).stderr


def test_a_list_of_a_whole_file_is_watched(folder, tmp_path):
    frame, model = pd.read_csv(folder / "label.csv"), tmp_path / "plain.skops"
    call(
        "fit",
        folder / "learnt.csv",
        "--label",
        "late",
        "--exclude",
        "came",
        "--budget",
        "300",
        "--probability",
        "-o",
        model,
    )
    for days, code, says in ((slice(0, 15), 0, "as expected: of 300"), (slice(40, 70), 1, "fewer hits than")):
        came = pd.to_datetime(frame["came"]).dt.normalize()
        part = frame[came.isin(sorted(came.unique())[days])]
        top = part["x1"].rank(ascending=False) <= 600
        part.drop(columns="came").assign(late=part["late"].where(top)).to_csv(tmp_path / "a.csv", index=False)
        assert call("watch", model, tmp_path / "a.csv", code=code).stdout.splitlines()[-1].startswith(says)
        part.drop(columns=["came", "late"]).to_csv(tmp_path / "b.csv", index=False)
        assert call("watch", model, tmp_path / "b.csv", code=3).stdout.endswith("nothing is known of hits\n")
    frame.assign(came=frame["came"].str[:7]).to_csv(tmp_path / "months.csv", index=False)
    shown = call("watch", model, tmp_path / "months.csv", "--time", "came", code=1).stdout
    assert "in 3 batches from batch 2026-03 to batch 2026-05" in shown


def test_a_killed_write_leaves_the_page_that_was_there(folder, tmp_path, monkeypatch):
    page = tmp_path / "page.html"
    watched(folder, "steady.csv", "-o", page)
    before = page.read_bytes()

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pushrank._base.files.os.fsync", killed)
    watched(folder, "steady.csv", "-o", page, code=130)
    assert page.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_score_alert_takes_the_model_that_is_watched(folder, tmp_path):
    """The commands of the day after: begin the state with past rows, decide on new ones, watch."""
    rows = pd.read_csv(folder / "steady.csv").assign(id=lambda frame: [f"r{row}" for row in frame.index])
    is_past = rows["came"] < "2026-05-01"
    rows[is_past].to_csv(tmp_path / "past.csv", index=False)
    rows[~is_past].to_csv(tmp_path / "new.csv", index=False)
    scoring = ["score", folder / "m.skops", "--alert", tmp_path / "state.db", "--time", "came"]
    call(*scoring, tmp_path / "past.csv", "--budget", "15/day", "-o", tmp_path / "past_scores.csv")
    call(*scoring, tmp_path / "new.csv", "--id", "id", "-o", tmp_path / "decided.csv")
    decided = pd.read_csv(tmp_path / "decided.csv")
    assert {"rank", "score", "threshold", "alert"} <= set(decided)
    assert decided["alert"].groupby(pd.to_datetime(decided["came"]).dt.date).sum().max() <= 15
