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
from pushrank.cli.source.read import read_table
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
    assert "No day has final labels of rows looked at: nothing is known of hits." in shown
    assert shown.splitlines()[-1] == "nothing is known of hits"
    top = frame.groupby(days)["x1"].rank(ascending=False) <= 15
    listed = frame.assign(late=frame["late"].where(top), acted=np.where(top, "list", ""))
    listed.to_csv(folder / "acted.csv", index=False)
    shown = watched(folder, "acted.csv", code=1)
    assert shown.stdout.splitlines()[-1].startswith("fewer hits than expected since")
    assert "warning: rows looked at are those of the column 'acted', as by --acted acted." in shown.stderr
    known = ~last | (frame.index % 2 == 0)
    listed = listed.assign(late=listed["late"].where(known))
    listed.to_csv(folder / "acted_late.csv", index=False)
    listed.rename(columns={"acted": "seen"}).to_csv(folder / "seen_late.csv", index=False)
    # The model's list is another: some of its rows never get a label, and by --labels-after they need none.
    never = "warning: rows looked at got no label in 30 days; say --acted COLUMN, which they are, or --labels"
    for name, more, n_days in (
        ("acted_late", ["--acted", "acted"], 65),
        ("acted_late", [], 65),
        ("seen_late", ["--acted", "seen"], 65),
        ("seen_late", ["--labels-after", "5d"], 65),
        ("seen_late", [], 40),
    ):
        shown = watched(folder, f"{name}.csv", "--json", *more, code=1)
        found = json.loads(shown.stdout)["table"]
        assert sum(record["hits"] is not None for record in found) == n_days
        assert (never in shown.stderr) == (n_days == 40)
        unless = ": retrain, unless labels take more than 30 days"
        assert json.loads(shown.stdout)["sentence"].endswith(unless if n_days == 40 else ": retrain")
    frame.assign(late="no", outcome=frame["late"]).to_csv(folder / "other.csv", index=False)
    said = watched(folder, "other.csv", code=2).stderr
    assert "holds no 1 so far, but 'no'; name the positive label: --positive." in said
    frame[days < days.min() + pd.Timedelta(days=7)].assign(late=0).to_csv(folder / "calm.csv", index=False)
    # Days without any positive say nothing of the list.
    assert "so far" not in watched(folder, "calm.csv", code=3).stderr
    renamed = watched(folder, "other.csv", "--label", "outcome", "--json", code=1).stdout
    found = json.loads(watched(folder, "label.csv", "--json", code=1).stdout)
    assert json.loads(renamed)["table"] == found["table"]


def test_a_young_file_says_how_many_labels_lack(folder):
    frame = pd.read_csv(folder / "steady.csv")
    days = pd.to_datetime(frame["came"]).dt.normalize()
    young = frame[days < days.min() + pd.Timedelta(days=12)]
    young.assign(late=young["late"].where(young["late"] == 0)).to_csv(folder / "young.csv", index=False)
    shown = watched(folder, "young.csv", code=3).stdout.splitlines()[-1]
    n = int(re.match(r"nothing is known of hits: (\d+) of 180 rows looked at", shown)[1])
    assert shown.endswith(
        "rows looked at have no label yet; say how long labels take, --labels-after, or which rows were "
        "looked at, --acted"
    )
    known = json.loads(watched(folder, "young.csv", "--json", code=3).stdout)
    assert sum(record["labelled"] for record in known["table"]) == 180 - n
    assert known["sentence"] == shown
    said = watched(folder, "young.csv", "--labels-after", "30d", code=3).stdout.splitlines()[-1]
    assert said == "nothing is known of hits: no day is as old as --labels-after"
    # Hits that are missing for good are fewer hits.
    sure = watched(folder, "young.csv", "--labels-after", "0d", "--level", "0.5", code=1).stdout
    assert "fewer hits than expected since 6 March: retrain" in sure


def test_rows_of_alerts_are_those_looked_at(folder, tmp_path):
    """What score --alert and --audit write names the rows that were acted on, whatever the list holds."""
    frame = pd.read_csv(folder / "steady.csv").query("came < '2026-03-15'")
    day = frame["came"].str[:10]
    by_other = frame.groupby(day)["x2"].rank(ascending=False) <= 15
    late = frame["late"].where(by_other)
    says, tables = "warning: rows looked at are those of the column {0!r}, as by --acted {0}.", []
    for column, marks in (
        ("alert", by_other),
        ("acted", np.where(by_other, "list", "")),
        ("alert", by_other.astype(int)),
        ("alert", np.where(by_other, "yes", None)),
        ("alert", np.where(by_other, "audit", np.where(frame.index % 7 == 0, "no", "0"))),
        ("Alert", by_other),
    ):
        frame.assign(**{column: marks, "late": late}).to_csv(tmp_path / "marked.csv", index=False)
        # Of the list by the model many rows have no label, and nobody says that they were not looked at.
        code = 3 if column == "Alert" else 0
        shown = watched(folder, tmp_path / "marked.csv", "--json", code=code)
        assert (says.format(column) in shown.stderr) == (column != "Alert")
        tables.append(json.loads(shown.stdout)["table"])
    *tables, unmarked = tables
    assert all(table == tables[0] for table in tables)
    assert {(record["looked_at"], record["labelled"]) for record in tables[0]} == {(15, 15)}
    assert sum(record["hits"] for record in tables[0]) == late.sum()
    assert unmarked != tables[0]
    # Of both, the column of the audit is taken; another that is named, or is the label, is not.
    both = frame.assign(alert=True, acted=np.where(by_other, "list", ""), seen=by_other, late=late)
    both.to_csv(tmp_path / "both.csv", index=False)
    for more, table in (([], tables[0]), (["--acted", "seen"], tables[0])):
        shown = watched(folder, tmp_path / "both.csv", "--json", *more)
        assert json.loads(shown.stdout)["table"] == table
        assert ("as by --acted acted" in shown.stderr) == (not more)
    frame.rename(columns={"late": "alert"}).to_csv(tmp_path / "label.csv", index=False)
    assert "as by --acted" not in watched(folder, tmp_path / "label.csv", "--label", "alert").stderr
    # A column of the model says nothing of who looked.
    for name in ("learnt", "steady"):
        renamed = pd.read_csv(folder / f"{name}.csv")[:4000].rename(columns={"x4": "alert"})
        renamed.to_csv(tmp_path / f"{name}.csv", index=False)
    of_column = ["fit", tmp_path / "learnt.csv", "--label", "late", "--budget", "15/day", "--time", "came"]
    call(*of_column, "-o", tmp_path / "m.skops")
    shown = call("watch", tmp_path / "m.skops", tmp_path / "steady.csv", "--time", "came")
    assert "as by --acted" not in shown.stderr
    assert re.search("as expected: of (\\d+) rows looked at, \\1 labelled: ", shown.stdout)


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
    (tmp_path / "nothing.csv").write_text("")
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
        shown = call("watch", model, tmp_path / "a.csv", "--labels-after", "0", code=code)
        assert shown.stdout.splitlines()[-1].startswith(says)
        part.drop(columns=["came", "late"]).to_csv(tmp_path / "b.csv", index=False)
        assert call("watch", model, tmp_path / "b.csv", code=3).stdout.endswith("nothing is known of hits\n")
    said = call("watch", model, tmp_path / "a.csv", code=3).stdout.splitlines()[-1]
    assert re.fullmatch(
        r"nothing is known of hits: \d\d of 300 rows looked at have no label yet; "
        "say how long labels take, --labels-after=0 if none will come, or which rows were looked at, "
        "--acted",
        said,
    )
    said = call("watch", model, tmp_path / "a.csv", "--labels-after", "7d", code=2).stderr
    assert "--labels-after needs the time of every row: --time COLUMN." in said
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
    by_day = decided["alert"].groupby(pd.to_datetime(decided["came"]).dt.date).sum()
    assert by_day.max() <= 15
    shown = call("watch", folder / "m.skops", tmp_path / "decided.csv", "--time", "came")
    hits = decided["late"][decided["alert"]].sum()
    assert f"of {by_day.sum()} rows looked at, {by_day.sum()} labelled: {hits} hits" in shown.stdout
    assert "rows looked at are those of the column 'alert', as by --acted alert." in shown.stderr


def test_a_day_without_rows_is_no_error(folder, tmp_path):
    frame, nothing = pd.read_csv(folder / "steady.csv")[:0], "nothing is known of hits\n"
    frame.to_csv(tmp_path / "names.csv", index=False)
    frame.drop(columns="late").assign(alert=[]).to_csv(tmp_path / "bare.csv", index=False)
    frame.to_parquet(tmp_path / "names.parquet", index=False)
    for name, more in (
        ("names.csv", []),
        ("bare.csv", []),
        ("bare.csv", ["--acted", "alert"]),
        ("names.parquet", []),
        ("names.csv", ["-o", tmp_path / "page.html"]),
        ("names.csv", ["--labels-after", "7d", "--label", "late"]),
    ):
        shown = call("watch", folder / "m.skops", tmp_path / name, "--time", "came", *more, code=3)
        assert shown.stdout == nothing
    assert not (tmp_path / "page.html").exists()
    found = call("watch", folder / "m.skops", tmp_path / "names.csv", "--time", "came", "--json", code=3)
    assert json.loads(found.stdout)["table"] == []
