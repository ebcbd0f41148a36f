"""pushrank watch: what it says of rows since the fit, its exit code, and what it refuses."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from pushrank import monitoring
from pushrank.cli.model import SavedModel
from pushrank.cli.source.open import Source
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
    return call("watch", folder / "m.skops", folder / name, *more, code=code)


def test_hits_as_expected_are_one_sentence_and_no_alarm(folder):
    shown = watched(folder, "steady.csv").stdout
    assert re.fullmatch(
        r"as expected: of 1,050 rows looked at, 1,050 labelled: \d+ hits, \d+ expected\n", shown
    )
    table = watched(folder, "steady.csv", "--table").stdout
    assert table.endswith(shown)
    assert "in 70 days from 6 March to 14 May; 1,050 looked at (budget 1,050)." in table
    assert "week" in table
    assert "No column has moved by more than it did within the training rows." in table


def test_the_json_is_that_of_python_and_its_sums(folder):
    found = json.loads(watched(folder, "label.csv", "--json", "--level", "0.1", code=1).stdout)
    saved, table = SavedModel.load(folder / "m.skops"), Source(folder / "label.csv").table()
    features, y = saved.features(table), pd.read_csv(folder / "label.csv")["late"]
    arguments = saved.reference, saved.scores(features), table.times("came"), features, y
    expected = json.loads(json.dumps(monitoring.watch(*arguments, level=0.1).to_dict()))
    assert found | expected == found
    assert found["held_out"] == saved.reference.facts()
    assert (found["model"], found["needed"]) == ("pnorm-push", 20.0)
    records = pd.DataFrame(found["table"])
    assert (found["periods"], found["rows"]) == (len(records), len(y))
    assert found["tested"]["hits"] == records["hits"].sum()
    assert found["tested"]["evidence"] == records["evidence"].max() > found["needed"]


def test_a_list_is_measured_by_an_audit_of_rows_that_its_model_is_new_to(folder):
    frame = pd.read_csv(folder / "steady.csv")
    listed, drawn = np.arange(len(frame)) % 5 == 0, np.arange(len(frame)) % 5 == 1
    marks = {"acted": np.where(listed, "list", np.where(drawn, "audit", "")), "chance": 0.25}
    marks["late"] = frame["late"].where(listed | drawn).astype("Int64")
    learnt = pd.read_csv(folder / "learnt.csv").assign(acted="list", chance=1.0)
    # A fit learns from rows with a label, so that others beside them make no file of other rows.
    seen = pd.concat([learnt, frame.assign(late=None, acted="", chance=0.0).tail(1)])
    for rows, more, says in (
        (frame.assign(**marks), ["--budget", "15/week"], None),
        (seen, [], "was fitted to the very rows"),
        (pd.concat([seen.tail(300), frame.assign(**marks)]), ["--budget", "15/day"], "to rows up to 2026"),
    ):
        rows.to_csv(folder / "audited.csv", index=False)
        words = ["measure", folder / "audited.csv", "--model", folder / "m.skops", "--acted", "acted"]
        shown = call(*words, "--chance", "chance", *more, code=2 * bool(says))
        assert (says or "Hits below the list: at most") in " ".join(shown.output.split())


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("label", r"fewer hits than expected since \d+ (March|April): retrain"),
        ("rows", r"the rows have changed: column x2"),
    ],
)
def test_an_alarm_is_a_sentence_and_an_exit_code(folder, tmp_path, monkeypatch, name, says):
    page = tmp_path / "page.html"
    shown = watched(folder, f"{name}.csv", "-o", page, code=1).stdout
    assert re.fullmatch(says, shown.strip())
    verdict = re.search('aria-label="Verdict">\n<p>(.*)\\.</p>', page.read_text(encoding="utf-8"))[1]
    assert verdict.casefold() == shown.strip().casefold()
    if name == "rows":
        before = page.read_bytes()

        def killed(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr("pushrank._base.files.os.fsync", killed)
        watched(folder, "rows.csv", "-o", page, code=130)
        assert page.read_bytes() == before
        assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_labels_that_are_not_known_yet_are_left_empty(folder):
    frame = pd.read_csv(folder / "label.csv")
    days = pd.to_datetime(frame["came"]).dt.normalize()
    last = days >= days.max() - pd.Timedelta(days=4)
    known = ~last | (frame.index % 2 == 0)
    frame.assign(late=frame["late"].astype(object).where(known, "?")).to_csv(folder / "a.csv", index=False)
    found = json.loads(watched(folder, "a.csv", "--json", code=1).stdout)["table"]
    assert [record["hits"] is None for record in found] == [False] * 65 + [True] * 5
    assert found[-1]["looked_at"] == 15
    frame.drop(columns="late").to_csv(folder / "a.csv", index=False)
    assert watched(folder, "a.csv", code=3).stdout == "nothing is known of hits\n"
    top = frame.groupby(days)["x1"].rank(ascending=False) <= 15
    listed = frame.assign(late=frame["late"].where(top & known), acted=np.where(top, "list", ""))
    # The model's list is another: some of its rows never get a label, and by --labels-after they need none.
    never = "warning: rows looked at got no label in 30 days; say --acted COLUMN, which they are, or --labels"
    for column, more, n_days in (
        ("acted", [], 65),
        ("seen", ["--acted", "seen"], 65),
        ("seen", ["--labels-after", "5d"], 65),
        ("seen", [], 40),
    ):
        listed.rename(columns={"acted": column}).to_csv(folder / "a.csv", index=False)
        shown = watched(folder, "a.csv", "--json", *more, code=1)
        found = json.loads(shown.stdout)
        assert sum(record["hits"] is not None for record in found["table"]) == n_days
        assert (never in shown.stderr) == (n_days == 40)
        assert ("Rows looked at are those of the column 'acted'." in shown.stderr) == (column == "acted")
        unless = ": retrain, unless labels take more than 30 days"
        assert found["sentence"].endswith(unless if n_days == 40 else ": retrain")


def test_labels_of_another_kind_or_column_and_calm_days(folder):
    frame = pd.read_csv(folder / "label.csv")
    days = pd.to_datetime(frame["came"]).dt.normalize()
    frame.assign(late="no", outcome=frame["late"]).to_csv(folder / "a.csv", index=False)
    said = watched(folder, "a.csv", code=2).stderr
    assert "holds no 1 so far, but 'no'; name the positive label: --positive." in said
    renamed = watched(folder, "a.csv", "--label", "outcome", "--json", code=1).stdout
    found = json.loads(watched(folder, "label.csv", "--json", code=1).stdout)
    assert json.loads(renamed)["table"] == found["table"]
    frame[days < days.min() + pd.Timedelta(days=7)].assign(late=0).to_csv(folder / "a.csv", index=False)
    # Days without any positive say nothing of the list.
    assert "so far" not in watched(folder, "a.csv", code=3).stderr


def test_a_young_file_says_how_many_labels_lack(folder):
    frame = pd.read_csv(folder / "steady.csv")
    days = pd.to_datetime(frame["came"]).dt.normalize()
    young = frame[days < days.min() + pd.Timedelta(days=12)]
    young.assign(late=young["late"].where(young["late"] == 0)).to_csv(folder / "young.csv", index=False)
    known = json.loads(watched(folder, "young.csv", "--json", code=3).stdout)
    assert (known["looked_at"], known["tested"]["periods"]) == (180, 0)
    assert watched(folder, "young.csv", code=3).stdout == (
        f"nothing is known of hits: {180 - known['labelled']} of 180 rows looked at have no label yet; say "
        "how long labels take, --labels-after, or which rows were looked at, --acted\n"
    )
    said = watched(folder, "young.csv", "--labels-after", "30d", code=3).stdout
    assert said == "nothing is known of hits: no day is as old as --labels-after\n"
    # Hits that are missing for good are fewer hits.
    sure = watched(folder, "young.csv", "--labels-after", "0d", "--level", "0.5", code=1).stdout
    assert "fewer hits than expected since 6 March: retrain" in sure


def test_rows_of_alerts_are_those_looked_at(folder, tmp_path):
    """What alert and score --audit write names the rows that were acted on, whatever the list holds."""
    frame = pd.read_csv(folder / "steady.csv").query("came < '2026-03-15'")
    by_other = frame.groupby(frame["came"].str[:10])["x2"].rank(ascending=False) <= 15
    late = frame["late"].where(by_other)
    listed, audit = np.where(by_other, "list", ""), np.where(frame.index % 7 == 0, "no", "0")
    says, tables = "Rows looked at are those of the column {!r}.\n", []
    for shown_as, marks, more in (
        ("alert", {"alert": by_other}, []),
        ("acted", {"acted": listed}, []),
        ("alert", {"alert": by_other.astype(int)}, []),
        ("alert", {"alert": np.where(by_other, "yes", None)}, []),
        ("alert", {"alert": np.where(by_other, "audit", audit)}, []),
        # Where the data have such a column themselves, alert writes another name.
        ("pushrank_alert", {"alert": ~by_other, "pushrank_alert": by_other}, []),
        # Of both, the column of the audit is taken; another that is named, or is the label, is not.
        ("acted", {"alert": True, "acted": listed}, []),
        (None, {"alert": True, "seen": by_other}, ["--acted", "seen"]),
    ):
        frame.assign(**marks, late=late).to_csv(tmp_path / "marked.csv", index=False)
        shown = watched(folder, tmp_path / "marked.csv", "--json", *more)
        assert shown.stderr == ("" if shown_as is None else says.format(shown_as))
        tables.append(json.loads(shown.stdout)["table"])
    assert all(table == tables[0] for table in tables)
    assert {(record["looked_at"], record["labelled"]) for record in tables[0]} == {(15, 15)}
    assert sum(record["hits"] for record in tables[0]) == late.sum()
    # Of the list by the model many rows have no label, and nobody says that they were not looked at.
    frame.assign(Alert=by_other, late=late).to_csv(tmp_path / "marked.csv", index=False)
    unmarked = watched(folder, tmp_path / "marked.csv", "--json", code=3)
    assert (unmarked.stderr, json.loads(unmarked.stdout)["table"] == tables[0]) == ("", False)
    frame.rename(columns={"late": "alert"}).to_csv(tmp_path / "marked.csv", index=False)
    assert "Rows looked" not in watched(folder, tmp_path / "marked.csv", "--label", "alert").stderr


def test_a_column_of_the_model_says_nothing_of_who_looked(folder, tmp_path):
    for name in ("learnt", "steady"):
        renamed = pd.read_csv(folder / f"{name}.csv")[:4000].rename(columns={"x4": "alert"})
        renamed.to_csv(tmp_path / f"{name}.csv", index=False)
    of_column = ["--label", "late", "--budget", "15/day", "--time", "came", "-o", tmp_path / "m.skops"]
    call("fit", tmp_path / "learnt.csv", *of_column)
    shown = call("watch", tmp_path / "m.skops", tmp_path / "steady.csv")
    assert "Rows looked" not in shown.stderr
    assert re.search("as expected: of (\\d+) rows looked at, \\1 labelled: ", shown.stdout)


def test_days_that_are_few_seen_or_none(folder, tmp_path):
    frame = pd.read_csv(folder / "rows.csv")
    frame[frame["came"] < "2026-03-10"].to_csv(tmp_path / "four.csv", index=False)
    shown = watched(folder, tmp_path / "four.csv", "--table", "-o", tmp_path / "four.html").stdout
    assert "Columns are compared by 7 days, of which there are too few so far." in shown
    assert 'id="columns"' not in (tmp_path / "four.html").read_text(encoding="utf-8")
    assert "was fitted to these very rows" in watched(folder, "learnt.csv").stderr
    steady = pd.read_csv(folder / "steady.csv")
    both = pd.concat([pd.read_csv(folder / "learnt.csv"), steady])
    both.to_csv(tmp_path / "both.csv", index=False)
    assert "warning: 60 days, up to 2026-03-05, are of the time of the fit" in (
        watched(folder, tmp_path / "both.csv").stderr
    )
    # A day without rows is no error.
    steady[:0].to_csv(tmp_path / "names.csv", index=False)
    steady[:0].drop(columns="late").assign(alert=[]).to_csv(tmp_path / "bare.csv", index=False)
    steady[:0].to_parquet(tmp_path / "names.parquet", index=False)
    for name, more in (
        ("names.csv", ["-o", tmp_path / "page.html"]),
        ("bare.csv", ["--acted", "alert"]),
        ("names.parquet", ["--table"]),
        ("names.csv", ["--labels-after", "7d", "--label", "late"]),
    ):
        assert watched(folder, tmp_path / name, *more, code=3).stdout == "nothing is known of hits\n"
    assert not (tmp_path / "page.html").exists()
    found = json.loads(watched(folder, tmp_path / "names.csv", "--json", code=3).stdout)
    assert found["table"] == []


def test_what_cannot_be_watched_is_told(folder, tmp_path):
    frame = pd.read_csv(folder / "steady.csv")
    frame.drop(columns="x4").to_csv(tmp_path / "columns.csv", index=False)
    odd = frame.assign(came=np.where(frame.index == 7, "soon", frame["came"]))
    odd.to_csv(tmp_path / "soon.csv", index=False)
    (tmp_path / "nothing.csv").write_text("")
    steady, model = folder / "steady.csv", folder / "m.skops"
    for message, arguments in {
        "holds nothing to expect: fit it with a budget": [folder / "bare.skops", steady],
        "lacks the column 'x4'": [model, tmp_path / "columns.csv"],
        "row 8 of": [model, tmp_path / "soon.csv"],
        "nothing.csv": [model, tmp_path / "nothing.csv"],
        "--label 'fraud' is no column": [model, steady, "--label", "fraud"],
        "--time 'when' is no column": [model, steady, "--time", "when"],
        "level must be": [model, steady, "--level", "0"],
        "the result is written as .html or .htm": [model, steady, "-o", "page.pdf"],
    }.items():
        assert message in call("watch", *arguments, code=2).stderr


def test_a_list_of_a_whole_file_is_watched(folder, tmp_path):
    frame, model = pd.read_csv(folder / "label.csv"), tmp_path / "plain.skops"
    fitting = ["--label", "late", "--exclude", "came", "--budget", 300, "--probability", "-o", model]
    call("fit", folder / "learnt.csv", *fitting)
    came = pd.to_datetime(frame["came"]).dt.normalize()
    for days, code, says in ((slice(0, 15), 0, "as expected: of 300"), (slice(40, 70), 1, "fewer hits than")):
        part = frame[came.isin(sorted(came.unique())[days])]
        top = part["x1"].rank(ascending=False) <= 600
        part.drop(columns="came").assign(late=part["late"].where(top)).to_csv(tmp_path / "a.csv", index=False)
        shown = call("watch", model, tmp_path / "a.csv", "--labels-after", "0", code=code)
        assert shown.stdout.startswith(says)
    part.drop(columns=["came", "late"]).to_csv(tmp_path / "b.csv", index=False)
    assert call("watch", model, tmp_path / "b.csv", code=3).stdout == "nothing is known of hits\n"
    assert re.fullmatch(
        r"nothing is known of hits: \d\d of 300 rows looked at have no label yet; "
        "say how long labels take, --labels-after=0 if none will come, or which rows were looked at, "
        "--acted\n",
        call("watch", model, tmp_path / "a.csv", code=3).stdout,
    )
    said = call("watch", model, tmp_path / "a.csv", "--labels-after", "7d", code=2).stderr
    assert "--labels-after needs the time of every row: --time COLUMN." in said
    frame.assign(came=frame["came"].str[:7]).to_csv(tmp_path / "months.csv", index=False)
    shown = call("watch", model, tmp_path / "months.csv", "--time", "came", "--table", code=1).stdout
    assert "in 3 batches from batch 2026-03 to batch 2026-05" in shown
