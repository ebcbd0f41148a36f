"""Scores of saved models and of columns of a file: each measured, and each compared with the first."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from combinations import by_day
from pushrank import metrics
from pushrank.budgets import Budget
from pushrank.cli.measure import write_measures
from pushrank.cli.model import SavedModel
from pushrank.cli.source.open import Source
from pushrank.datasets import make_stream
from pushrank.plots.curves import enrichment_figure
from tests.cli.runner import LABEL, call, fitted


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr("pushrank.metrics._bootstrap.DEFAULT_RESAMPLES", 200)


@pytest.fixture
def scored(tmp_path):
    rng = np.random.default_rng(3)
    y = rng.random(300) < 0.2
    frame = pd.DataFrame({"good": y + rng.normal(size=300), "tied": np.round(y + 2 * rng.normal(size=300))})
    frame["double"] = 2 * frame["good"]
    frame["cost"], frame["found"] = -frame["good"], np.where(y, "yes", "no")
    frame["amount"] = rng.gamma(2.0, 50.0, 300).round(2)
    frame["most"] = np.minimum(np.arange(300), 1)
    frame["customer"] = [f"c{row % 40}" for row in range(300)]
    frame.to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path / "scores.csv", y, frame


def measured(path, *names, more=(), code=0):
    columns = [word for name in names for word in ("--score", name)]
    label = ["--label", "found", "--positive", "yes"]
    return call("measure", path, *label, "--budget", 30, *columns, *more, code=code)


@pytest.mark.parametrize(
    ("names", "more", "options"),
    [
        (["good", "tied", "double"], [], {}),
        (["good", "tied"], ["--group", "customer", "--seed", 1], {"groups": "customer", "random_state": 1}),
        (["good"], ["--all", "--no-intervals"], {"every": True, "confidence_level": None}),
        (["good"], ["--value", "amount"], {"value": "amount"}),
        (["good"], ["--weight", "amount"], {"sample_weight": "amount"}),
    ],
)
def test_columns_of_scores_are_measured_as_the_library_measures_them(scored, names, more, options):
    path, y, frame = scored
    found = json.loads(measured(path, *names, more=[*more, "--json"]).stdout)
    given = {name: frame.get(value, value) for name, value in options.items()}
    expected = metrics.measure(y, frame[names], k=30, **{"random_state": 0} | given)
    assert found == {"file": "scores.csv", **json.loads(json.dumps(expected.summary()))}
    counted = float if "sample_weight" in given else int
    assert {type(found[name]) for name in ("rows", "positives")} == {counted}


def test_saved_models_are_measured_by_their_scores_and_rows_of_the_fit_are_told(files, frame):
    model, data = fitted(files / "data.csv"), files / "data.parquet"
    saved = SavedModel.load(model)
    y, scores = frame["class"] == "malignant", saved.scores(saved.table(Source(data)))
    words = ["measure", data, "--model", model, "--budget", 200]
    shown = call(*words, "--seed", 1, "--json")
    expected = metrics.measure(y, {"pnorm-push": scores}, k=200, random_state=1).summary()
    assert json.loads(shown.stdout) == {"file": "data.parquet", **json.loads(json.dumps(expected))}
    assert "pnorm-push was fitted to these very rows: measures of rows that it has seen" in shown.stderr
    promise = ["--promise", 0.95, "--no-intervals"]
    refused = call(*words, *promise, code=2).stderr
    assert "the very rows of" in refused
    assert "which promise nothing: take rows that it has not seen" in refused
    frame[1:].to_csv(files / "fewer.csv", index=False)
    shown = call("measure", files / "fewer.csv", *words[2:], *promise)
    assert "very rows" not in shown.stderr
    assert "With 95 % confidence, of the next" in shown.stdout
    # Of few positives, few measures have an interval.
    for n, n_known in ((1, 0), (3, 3), (5, 9)):
        some = frame["class"].eq("malignant").cumsum().le(n) | frame["class"].eq("benign")
        frame[some].to_csv(files / "few.csv", index=False)
        found = json.loads(call("measure", files / "few.csv", "--model", model, "--json").stdout)
        assert (found["positives"], found["depth"]) == (n, 1)
        [measures] = found["scores"].values()
        known = [of for of in measures.values() if of["low"] is not None]
        assert len(known) == n_known
        assert all(of["low"] <= of["estimate"] <= of["high"] for of in known)
        assert (f"bedroc (it takes 5 positives, found {n})" in found["without_interval"]) == (n < 5)


def test_a_model_with_a_threshold_is_measured_on_rows_of_which_few_have_a_label(files, frame):
    model = fitted(files / "data.csv", *LABEL, "--budget", 50)
    frame.assign(**{"class": frame["class"].where(frame.index % 5 == 0)}).to_csv(files / "few.csv")
    shown = call("measure", files / "few.csv", "--model", model, "--budget", 30).stdout
    assert "114 looked at, 114 labelled" in shown
    assert "Labels are missing" not in shown
    assert re.search(r"\d+ of 569 rows reach the alert threshold, [-.\d]+; \d+ to", shown)


def test_the_first_screen_is_short_and_fits_eighty_columns(scored, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    path, _, frame = scored
    name = "[bold]tied"  # which is no markup
    frame.rename(columns={"tied": name}).to_csv(path, index=False)
    shown = measured(path, "good", name, "double").stdout.splitlines()
    assert shown[0].startswith("scores.csv: 300 rows, ")
    assert shown[0].endswith(" hits with found = yes. Looked at: the first 30.")
    heads, rows = shown[2:-6], shown[-6:-3]
    head = "hits in 30 rows precision recall average precision"
    assert sorted(" ".join(heads).split()) == sorted(head.split())
    assert [row.split()[0] for row in rows] == ["good", name, "double"]
    assert max(map(len, [*heads, *rows])) <= 80
    assert shown[-2].startswith(f"{name} against good: -")
    assert "(of all 2 differences together)" in shown[-2]
    assert shown[-1] == "double against good: as many hits in the first 30 rows."
    # What does not fit is turned on its side, and never cut short.
    longest = 30 * "x"
    frame.rename(columns={"tied": longest}).to_csv(path, index=False)
    sides = measured(path, "good", longest, more=["--no-intervals"]).stdout.splitlines()[2:-2]
    assert max(map(len, sides)) <= 80
    assert f"  {longest}" in "\n".join(sides)
    everything = measured(path, "good", more=["--no-intervals", "--all"]).stdout
    assert "positives_below" in everything
    assert "push_error" in everything
    assert "100.0 %" in everything  # of the positives, in the last tenth
    assert "interval" not in everything.lower()
    groups = measured(path, "good", more=["--group", "customer", "--all"]).stdout
    assert "Intervals take the 40 groups by customer to be independent of each other." in groups


def test_scores_that_are_the_better_the_lower_are_told(scored):
    warned = measured(scored[0], "good", "cost", more=["--no-intervals"]).stderr
    assert "column 'cost'" in warned
    assert "worse than a random order" in warned
    assert "'good'" not in warned


def test_what_cannot_be_measured_is_refused(scored):
    path, _, frame = scored
    holes = frame.assign(tied=frame["tied"].where(frame.index != 6))
    holes.to_csv(path.with_name("holes.csv"), index=False)
    path.with_name("own.tex").write_text("my paper")
    screening = ["--screening", ".1:20"]
    for message, arguments in {
        "say what is measured: --model MODEL, or --score COLUMN": [path],
        "m.skops does not exist; fit a model first": [path, "--model", path.with_name("m.skops")],
        "--score 'best' is no column of": [path, "--score", "best"],
        "csv is empty: fill it, or leave such rows out.": [path.with_name("holes.csv"), "--score", "tied"],
        "must hold a number in every row; row 1 of": [path, "--score", "found"],
        "--score 'good' is given twice": [path, "--score", "good", "--score", "good"],
        "--budget 301 exceeds the 300 rows": [path, "--score", "good", "--budget", 301],
        "--budget 300 exceeds the 299 rows": [path, "--score", "good", "--budget", 300, "--weight", "most"],
        "--budget 5/day needs --time": [path, "--score", "good", "--budget", "5/day"],
        "--group 'x' is no column": [path, "--score", "good", "--group", "x"],
        "--value 'x' is no column": [path, "--score", "good", "--value", "x"],
        "--weight 'good' must hold a number of at least 0": [path, "--score", "good", "--weight", "good"],
        "--weight must be whole numbers": [path, "--score", "good", "--all", "--weight", "amount"],
        "--screening '.1,x' must be shares and rates": [path, "--score", "good", "--screening", ".1,x"],
        "fraction must be": [path, "--score", "good", "--screening", "1.5"],
        "alpha must be": [path, "--score", "good", "--screening", ":0"],
        "is written as .pdf, .svg or .png": [path, "--score", "good", "--figure", path.with_name("e.html")],
        "the result is written as .csv": [path, "--score", "good", "-o", path.with_name("e.html")],
        "was not written by pushrank": [path, "--score", "good", "-o", path.with_name("own.tex")],
        "--screening is for a budget of the whole file": [
            path, "--score", "good", "--budget", "5/day", "--time", "most", *screening],
    }.items():  # fmt: skip
        refused = call("measure", *arguments, "--label", "found", "--positive", "yes", code=2).stderr
        assert message in refused, refused


def test_figures_are_without_the_noise_of_rounding(tmp_path):
    # 7 of 25: 25 * (7 / 25) is 7.000000000000001
    y = np.repeat([1, 0, 1], [7, 18, 5])
    pd.DataFrame({"y": y, "s": -np.arange(30)}).to_csv(tmp_path / "s.csv", index=False)
    own = ["measure", tmp_path / "s.csv", "--label", "y", "--score", "s", "--budget", 25]
    found = call(*own, "--json").stdout
    assert '"estimate": 7.0,' in found
    assert "0000000" not in found
    assert re.search(r"\n  s +7 \(\d", call(*own).stdout)


def test_what_is_promised_of_lists_to_come(scored):
    path, y, frame = scored
    more = ["--promise", 0.9, "--new-rows", 500, "--no-intervals"]
    found = json.loads(measured(path, "good", more=[*more, "--json"]).stdout)["promise"]
    known = metrics.guarantee(y, frame["good"], k=30, n_new=500, together=False, confidence_level=0.9)
    assert found["hits"] == {"good": known.hits_at(30)}
    assert known.sentence(30) in measured(path, "good", more=more).stdout
    said = measured(path, "good", "tied", more=more).stdout
    for name in ("good", "tied"):  # each at 95 %, both together at 90 %
        alone = metrics.guarantee(y, frame[name], k=30, n_new=500, together=False, confidence_level=0.95)
        start = f"{name}: With 90 % confidence, of the next 500 rows"
        assert f"{start} the first 30 hold at least {alone.hits_at(30)} h" in said
    assert "All of these promises hold together. This holds if no model has learnt from the labelled" in said
    # The depth of no budget is known from the labels: all depths are promised.
    own = ["measure", path, "--label", "found", "--positive", "yes", "--score", "good", "--no-intervals"]
    sentence = metrics.guarantee(y, frame["good"]).sentence(round(y.sum() / 4))
    assert sentence in call(*own, "--promise", 0.95).stdout
    assert "of the next 5 rows the first 5 are not" in call(*own, "--promise", 0.95, "--new-rows", 5).stdout
    for message, refused in {
        "nothing is promised of weighted rows: leave --weight out": ["--promise", 0.95, "--weight", "most"],
        "nothing is promised of rows in groups: keep": ["--require", "hits@30>=1", "--group", "customer"],
        "--new-rows is for --promise": ["--new-rows", 30],
        "there is no row 30 to come; --new-rows": ["--promise", 0.95, "--new-rows", 20],
        "--require judges one list": ["--require", "hits@9>=1", "--score", "tied"],
        **{f"--require '{text}' is not understood": ["--require", text] for text in (
            "precision@30>=1.2", "hits@30>=31", "hits@30>=0", "precision@0>=1", "recall@9>=.5", "hits")},
    }.items():  # fmt: skip
        assert message in measured(path, "good", more=["--no-intervals", *refused], code=2).stderr


def test_what_is_required_decides_the_exit_code(scored):
    path, y, frame = scored
    known = metrics.guarantee(y, frame["good"], k=[20, 30], together=False)
    hits, first = (int(known.hits_at(depth)) for depth in (30, 20))
    assert 1 < first < hits

    def judged(code, *texts, more=()):
        words = [word for text in texts for word in ("--require", text)]
        return measured(path, "good", more=["--no-intervals", *words, *more], code=code)

    kept = judged(0, f"hits@30 >= {hits}", f"precision@20>={first / 20}")
    assert f"precision@20>={first / 20} is reached: it takes {first} hits. With 95 %" in kept.stdout
    assert known.sentence(30) in kept.stdout
    assert "reached" not in kept.stderr
    failed = judged(1, f"precision@20>={first / 20}", f"hits@30>={hits + 1}", more=["--json"])
    assert failed.stderr == (
        f"hits@30>={hits + 1} is not reached: it takes {hits + 1} hits. {known.sentence(30)}\n"
    )
    required = json.loads(failed.stdout)["promise"]["required"]
    assert required[f"hits@30>={hits + 1}"] == {"hits": hits, "takes": hits + 1}
    # 7 % of 100 rows are 7 hits, not the 8 that floating-point numbers would make of them.
    assert "it takes 7 hits" in judged(0, "precision@100>=0.07").stdout
    assert "reached" in judged(1, "precision@30>=1").stderr


def test_the_words_of_what_promises_little_or_nothing(tmp_path):
    y, scores = np.arange(400) % 5 == 2, -np.arange(400.0)
    own = ["measure", tmp_path / "s.csv", "--label", "y", "--score", "s", "--budget", 20, "--no-intervals"]
    for says, columns, code in (
        ("the first 20 are not promised a single hit by 400 labelled rows, about", {"y": y, "s": scores}, 0),
        ("holds one class only", {"y": 0, "s": scores}, 2),
        ("row 8 of", {"y": y, "s": np.where(np.arange(400) == 7, np.nan, scores)}, 2),
    ):
        pd.DataFrame(columns).astype({"y": int}).to_csv(tmp_path / "s.csv", index=False)
        assert says in call(*own, "--promise", 0.95, code=code).output


def test_the_table_of_a_paper_is_printed_and_saved(scored):
    path, y, frame = scored
    table, tex = path.with_name("t.csv"), path.with_name("t.tex")
    more = ["--screening", ".01,.02,.05:20,80.5", "-o", table]
    for _ in range(2):  # what pushrank wrote it replaces
        shown = measured(path, "good", "tied", "double", more=more).stdout
    assert "enrichment factor at 5 %" in shown
    assert "tied − good" in shown
    assert "double − tied" in shown
    saved, blank = pd.read_csv(table, dtype={"note": str}), {"against": "", "note": ""}
    at = {"enrichment_factor": [0.01, 0.02, 0.05], "bedroc": [20.0, 80.5]}
    scores = frame[["good", "tied", "double"]]
    expected = metrics.measure(y, scores, k=30, at=at, pairs="all", random_state=0)
    pd.testing.assert_frame_equal(
        saved.fillna(blank), expected.to_paper().reset_index(drop=True), check_dtype=False
    )
    write_measures(expected, tex)
    text = tex.read_text(encoding="utf-8")
    assert text.startswith("% written by pushrank ")
    assert text.count(r"\\") == 1 + 5 * 6
    assert r"enrichment factor at 2 \% & good &" in text
    assert "double $-$ tied" in text
    assert r"\toprule" in text
    assert "−" not in text


@pytest.mark.parametrize(
    ("kind", "start"), by_day([("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")], 1)
)
def test_the_enrichment_is_drawn_for_print(scored, kind, start):
    path, y, frame = scored
    drawn = path.with_name(f"e.{kind}")
    for _ in range(2):  # what pushrank drew it replaces
        measured(path, "good", more=["--screening", ".01", "--figure", drawn])
        assert drawn.read_bytes().startswith(start)
    names = ["good", "tied", "cost"]
    found = metrics.measure(y, frame[names], k=30, random_state=0)
    [ax] = enrichment_figure(
        found, y, {name: frame[name].to_numpy() for name in names}, None, None, [], 0
    ).axes
    curves_drawn = [line for line in ax.get_lines() if line.get_gid() == "pushrank curve"]
    assert [line.get_label() for line in curves_drawn] == names
    assert len({line.get_linestyle() for line in curves_drawn}) == 3
    assert len({line.get_marker() for line in curves_drawn}) == 3
    assert ax.get_xlim() == (0.001, 1.0)
    assert len(ax.collections) == 2  # bands of the best two
    for line, name in zip(curves_drawn, names, strict=True):
        x, recalls = line.get_data()
        for share, recall in list(zip(x, recalls, strict=True))[:: len(x) // 7]:
            assert recall == pytest.approx(metrics.recall_at_k(y, frame[name], round(share * 300)))
    # The band is that of the interval, here at the first of its shares.
    options = {"fraction": 0.001, "random_state": 0}
    low, high, *_ = metrics.confidence_interval(y, frame["good"], "recall_at_k", **options)
    band = ax.collections[0].get_paths()[0].vertices
    ends = band[np.isclose(band[:, 0], 0.001), 1]
    assert (ends.min(), ends.max()) == pytest.approx((low, high))


@pytest.fixture(scope="module")
def acted_on(tmp_path_factory):
    """Rows of 20 days, of which a list of ten a day was looked at, and most of these have a label."""
    stream = make_stream(20, 60, random_state=0)
    frame = pd.DataFrame({"day": stream.day, "fraud": stream.target, "rule": stream.data[:, 0]})
    frame["model"] = stream.data[:, :3].sum(axis=1)
    listed = frame.groupby("day")["model"].rank(ascending=False) <= 10
    frame["acted"] = np.where(listed, "list", "")
    frame["fraud"] = frame["fraud"].where(listed & (frame.index % 9 > 0)).astype("Int64")
    path = tmp_path_factory.mktemp("acted") / "acted.csv"
    frame.to_csv(path, index=False)
    return path, frame


@pytest.mark.parametrize("by_day", [True, False])
def test_a_list_is_cut_from_all_rows_though_few_have_a_label(acted_on, by_day):
    path, frame = acted_on
    budget = ["--budget", "10/batch", "--time", "day"] if by_day else ["--budget", 200]
    words = ["measure", path, "--label", "fraud", "--score", "rule", "--score", "model", *budget]
    found = json.loads(call(*words, "--acted", "acted", "--json").stdout)
    for name, of in found["scores"].items():
        groups = frame.groupby("day")[name] if by_day else frame[name]
        on_list = frame[groups.rank(ascending=False) <= (10 if by_day else 200)]
        known = on_list["fraud"].dropna()
        shown = [of[key] for key in ("rows", "looked_at", "labelled", "hits", "hits_at_most")]
        n_acted, hits = (on_list["acted"] == "list").sum(), known.sum()
        assert shown == [200, n_acted, len(known), hits, hits + 200 - len(known)]
        assert of["precision"] == pytest.approx(known.mean())
        assert len(of["by_period"]) == (20 if by_day else 1)
    known, n_others = frame["fraud"].dropna(), (frame["acted"] == "").sum()
    assert (found["labelled"], found["hits"]) == (len(known), known.sum())
    said = f"200 looked at, {len(known)} labelled: {known.sum()} hits with fraud = 1; {n_others:,} others"
    shown = call(*words, "--acted", "acted").stdout
    assert f"{said} have no label.\n" in shown
    assert re.search(r"Labels are missing for \d+ % of the rows, mostly of low scores: somebody chose", shown)
    assert "Recall, lift, areas, average precision and intervals need the labels of all rows" in shown
    alone = call(*words).stdout
    assert f"{len(known)} looked at, {len(known)} labelled" in alone
    assert "late and missing labels cannot be told apart" in alone
    whole = [path.with_name("whole.csv"), *words[2:], "--acted", "acted"]
    frame.assign(fraud=np.arange(len(frame)) % 2).to_csv(whole[0], index=False)
    assert "Without --acted all measures are shown: every row has a label." in call("measure", *whole).stdout


@pytest.fixture(scope="module")
def audited(acted_on):
    """The same rows, of which three a day are drawn from those below the list, with the truth of these."""
    path, frame = acted_on
    frame = frame.assign(chance=1.0)
    for _, rows in frame[frame["acted"] == ""].groupby("day"):
        drawn = rows.sample(3, random_state=0).index
        frame.loc[rows.index, "chance"], frame.loc[drawn, "acted"] = 3 / len(rows), "audit"
        frame.loc[drawn, "fraud"] = make_stream(20, 60, random_state=0).target[drawn]
    path = path.with_name("audited.csv")
    frame.to_csv(path, index=False)
    return path, frame


def test_an_audit_says_what_a_list_and_another_one_miss(audited):
    path, frame = audited
    words = ["measure", path, "--label", "fraud", "--score", "model", "--score", "rule", "--acted", "acted"]
    words += ["--chance", "chance", "--budget", "10/batch", "--time", "day", "--looks", 3]
    found = json.loads(call(*words, "--json").stdout)
    scores, y = {name: frame[name] for name in ("model", "rule")}, frame["fraud"].astype(float)
    of = {"time": frame["day"], "budget": Budget(10, "batch"), "looks": 3, "scores": scores}
    expected = metrics.measure_acted(y, frame["acted"], frame["chance"], **of)
    assert found == {"file": "audited.csv", **json.loads(json.dumps(expected.summary()))}
    shown = call(*words).stdout
    assert all(f"{sentence}\n" in shown for sentence in expected.sentences())
    assert "batches, the last 20 of 20" in shown


def test_wrong_chances_are_refused_by_row_and_column(audited):
    path, frame = audited
    wrong = path.with_name("audited_wrong.csv")
    words = [
        "measure",
        wrong,
        "--label",
        "fraud",
        "--score",
        "model",
        "--acted",
        "acted",
        "--chance",
        "chance",
    ]
    for cell, more, says in (
        (0.0, [], r"--chance 'chance': chance is 0 of an audited row in row \d+ of .*audited_wrong.csv"),
        (1.5, [], r"--chance 'chance': chance is not between 0 and 1 in row \d+ of"),
        (None, [], r"--chance 'chance': chance is missing below the list in row \d+ of"),
        ("often", [], r"--chance 'chance' must hold a number .*; row \d+ of .* holds 'often'"),
        (0.1, ["--budget", 30], "leave --budget out, or say 30/day"),
        (0.1, ["--all"], "--all is not for --chance"),
    ):
        chance = frame["chance"].astype(object).where(frame["acted"] != "audit", cell)
        frame.assign(chance=chance).to_csv(wrong, index=False)
        assert re.search(says, call(*words, *more, code=2).stderr)
    assert "--chance goes with" in call(*words[:6], "--chance", "chance", code=2).stderr
    assert "--looks goes with" in call(*words[:6], "--looks", 3, code=2).stderr


def test_what_needs_the_labels_of_all_rows_is_refused(acted_on):
    words = ["measure", acted_on[0], "--label", "fraud", "--score", "model"]
    for more, says in (
        (["--promise", 0.95], "nothing is promised: labels are missing for .*: pushrank score --a"),
        (["--require", "hits@9>=1"], "somebody chose which rows got one"),
        (["--screening", 0.1], "--screening needs a label in every row"),
        (["--all"], "--all needs a label in every row"),
        (["--acted", "looked"], "--acted 'looked' is no column"),
    ):
        assert re.search(says, call(*words, "--budget", 30, *more, code=2).stderr)
    assert "say how long the list is, --budget N" in call(*words, code=2).stderr
